/* SPDX-License-Identifier: MIT */
/*
 * Two passes: GPU work in order of time gives each kernel its group (in order
 * of its operator where groups name one), and a sort by (group, duration)
 * gives medians.  Memory grows with the number of groups only.
 */
#include "config.h"

#include "analysis/time/kernels.h"

#include <fnmatch.h>
#include <inttypes.h>

#include "analysis/graphs/graphs.h"
#include "analysis/time/operators.h"
#include "base/data.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/utf8.h"
#include "events/gpu.h"
#include "events/trust.h"
#include "formats/event.h"
#include "store/kept.h"
#include "store/query.h"

enum { PATTERN, TENSOR_CORES, CLASS, PRECISION, COLUMNS };
enum { OP_PATTERN, OP_CLASS }; /* data/matrix_ops.csv */

struct row {
	unsigned char words[COLUMNS]; /* numbers of words, each plus one */
	char *part;                   /* the longest that has no wildcard */
	unsigned pair;                /* how that begins */
	bool is_whole;                /* the pattern is "*part*" */
};

struct pf_tensor {
	struct pf_data *data, *ops;
	struct row *rows; /* of data */
};

static const char *const uses[PF_TENSOR_USES] = { "no", "yes", "unknown" };
static const char *const class_words[PF_CLASSES] = {
	"unknown",       "gemm",          "conv",    "attention",
	"communication", "normalization", "softmax", "pointwise",
	"reduction",     "copy",          "other"
};
static const char *const precisions[PF_PRECISIONS] = {
	"unknown", "fp64", "fp32", "tf32", "fp16",
	"bf16",    "fp8",  "int8", "int4", "mixed"
};

/* The words of each column. */
static const struct {
	const char *const *words;
	int count;
} columns[COLUMNS] = {
	[TENSOR_CORES] = { uses, PF_TENSOR_USES },
	[CLASS] = { class_words, PF_CLASSES },
	[PRECISION] = { precisions, PF_PRECISIONS },
};

static const char *tensor_word(enum pf_tensor_use use)
{
	return uses[use];
}

static const char *class_word(enum pf_kernel_class class)
{
	return class ? class_words[class] : NULL;
}

static const char *precision_word(enum pf_precision precision)
{
	return precision ? precisions[precision] : NULL;
}

/* Two letters that follow each other, as a bit: which of them a name has. */
#define PAIRS 4096

struct pairs {
	uint64_t has[PAIRS / 64];
};

static inline unsigned pair_of(const char *s)
{
	return ((unsigned)(unsigned char)s[0] << 5 ^ (unsigned char)s[1]) &
	       (PAIRS - 1);
}

static struct pairs pairs_of(const char *name)
{
	struct pairs p = { { 0 } };

	for (; *name && name[1]; name++)
		p.has[pair_of(name) / 64] |= UINT64_C(1) << pair_of(name) % 64;
	return p;
}

/* Looking for a part first, and for how that begins, is many times faster. */
static bool row_fits(const struct row *row, const char *pattern,
		     const char *name, const struct pairs *p)
{
	return (!row->part[0] || !row->part[1] ||
		p->has[row->pair / 64] >> row->pair % 64 & 1) &&
	       strstr(name, row->part) &&
	       (row->is_whole || !fnmatch(pattern, name, 0));
}

static void take_part(struct row *row, const char *pattern)
{
	const char *best = pattern;
	size_t longest = 0, len;

	for (const char *s = pattern; *s; s += len + (s[len] != '\0')) {
		len = strcspn(s, "*?");
		if (len > longest) {
			longest = len;
			best = s;
		}
	}
	row->part = pf_memdup0(best, longest);
	row->pair = longest ? pair_of(row->part) : 0;
	row->is_whole = best == pattern + 1 && *pattern == '*' &&
			!strcmp(best + longest, "*");
}

/* The number of a word plus one; 0: no word, -1: none of these. */
static int find_word(int column, const char *word)
{
	for (int i = 0; *word && i < columns[column].count; i++)
		if (!strcmp(columns[column].words[i], word))
			return i + 1;
	return *word ? -1 : 0;
}

static int take_rows(struct pf_tensor *t, struct pf_err *err)
{
	size_t count = pf_data_rows(t->data);

	t->rows = pf_calloc(count + 1, sizeof(*t->rows));
	for (size_t i = 0; i < count; i++) {
		take_part(&t->rows[i], pf_data_cell(t->data, i, PATTERN));
		for (int column = TENSOR_CORES; column < COLUMNS; column++) {
			const char *word =
				pf_data_cell(t->data, i, (size_t)column);
			int n = find_word(column, word);

			if (n < 0)
				return pf_fail(err, PF_EDATA,
					       "data/kernels.csv: '%s' is no "
					       "word of its column",
					       word);
			t->rows[i].words[column] = (unsigned char)n;
		}
	}
	return 0;
}

static void tensor_free(void *p)
{
	PF_OWN struct pf_tensor *t = p;

	for (size_t i = 0; t->rows && i < pf_data_rows(t->data); i++)
		free(t->rows[i].part);
	pf_data_free(t->data);
	pf_data_free(t->ops);
	free(t->rows);
}

static void *tensor_new(struct pf_db *db, const char *ignored)
{
	struct pf_tensor *t = pf_calloc(1, sizeof(*t));

	(void)db;
	(void)ignored;
	t->data = pf_data_new("data/kernels.csv",
			      "pattern,tensor_cores,class,precision,what",
			      db->err);
	t->ops = t->data ? pf_data_new("data/matrix_ops.csv",
				       "pattern,class,what", db->err)
			 : NULL;
	if (t->ops && !take_rows(t, db->err))
		return t;
	tensor_free(t);
	return NULL;
}

const struct pf_tensor *pf_tensor_of(struct pf_db *db)
{
	return pf_memo_get(db, tensor_new, tensor_free, NULL);
}

struct pf_kernel_kind pf_tensor_kind(const struct pf_tensor *t,
				     const char *name)
{
	int found[COLUMNS] = { 0 }, missing = COLUMNS - 1;
	struct pf_kernel_kind kind = { .use = PF_TENSOR_UNKNOWN };
	const struct pairs pairs = pairs_of(name);

	for (size_t i = 0; missing && i < pf_data_rows(t->data); i++) {
		const struct row *row = &t->rows[i];

		if (!row_fits(row, pf_data_cell(t->data, i, PATTERN), name,
			      &pairs))
			continue;
		for (int column = TENSOR_CORES; column < COLUMNS; column++) {
			if (found[column] || !row->words[column])
				continue;
			found[column] = row->words[column];
			missing--;
		}
		if (found[CLASS] && !found[PRECISION] &&
		    !pf_class_multiplies(
			    (enum pf_kernel_class)(found[CLASS] - 1))) {
			found[PRECISION] = PF_PRECISION_UNKNOWN + 1;
			missing--;
		}
	}
	if (found[TENSOR_CORES])
		kind.use = (enum pf_tensor_use)(found[TENSOR_CORES] - 1);
	if (found[CLASS])
		kind.class = (enum pf_kernel_class)(found[CLASS] - 1);
	if (found[PRECISION] && pf_class_multiplies(kind.class))
		kind.precision = (enum pf_precision)(found[PRECISION] - 1);
	return kind;
}

/* The class that data/matrix_ops.csv gives an operator; NULL: it has it not. */
static const char *op_class(const struct pf_tensor *t, const char *op)
{
	for (size_t i = 0; i < pf_data_rows(t->ops); i++)
		if (!fnmatch(pf_data_cell(t->ops, i, OP_PATTERN), op, 0))
			return pf_data_cell(t->ops, i, OP_CLASS);
	return NULL;
}

bool pf_tensor_op(const struct pf_tensor *t, const char *op)
{
	return op_class(t, op) != NULL;
}

/*
 * The class of a kernel by its name, which an operator launched: libraries
 * compute convolutions also with kernels that are named as matrix products.
 */
static enum pf_kernel_class class_in(const struct pf_tensor *t,
				     enum pf_kernel_class by_name,
				     const char *op)
{
	const char *word =
		by_name == PF_CLASS_GEMM && *op ? op_class(t, op) : NULL;

	return word && !strcmp(word, class_words[PF_CLASS_CONV]) ? PF_CLASS_CONV
								 : by_name;
}

/* Where calls of a group differ, and where nothing is known. */
#define VARIES (-2)
#define NONE   (-1)

/* A kernel on its way to its group. */
struct item {
	int64_t op_id, order, dur_ns, config, device, stream;
	uint32_t name, is_comm;
	uint32_t replayed,
		op; /* texts of operators: what a graph has, its own */
};

struct tally {
	int64_t calls, ns;
};

struct kernels {
	struct pf_ask ask;
	struct pf_kernels *out;
	struct pf_graphs *graphs;
	sqlite3_stmt *shapes;
	const struct pf_tensor *tensor;
	struct pf_map configs; /* gpu_config.id -> texts of grid and block */
	struct pf_map names;   /* string.id -> number of text */
	struct pf_map kinds;   /* string.id, is_comm -> its kind */
	struct pf_map argsets; /* argset.id -> number of text */
	struct pf_map
		products; /* text of an operator -> class of its product */
	struct pf_by_event *by_op;
	int64_t use_ns[PF_TENSOR_USES], use_calls[PF_TENSOR_USES];
	struct tally by_kind[PF_CLASSES][PF_PRECISIONS];
};

static bool has_name_group(enum pf_kernels_group group)
{
	return group != PF_KERNELS_BY_OP_SHAPE && group != PF_KERNELS_BY_OP;
}

/* Are groups of kernels, not of operators? */
static inline bool has_name(const struct kernels *k)
{
	return has_name_group(k->out->group);
}

/* ---- texts ---- */

static uint32_t add_text(struct kernels *k, const char *text)
{
	return pf_intern_add(&k->out->names, text, strlen(text));
}

/* "" after an error. */
static const char *gpu_name(struct kernels *k, uint32_t name)
{
	const char *text =
		k->ask.err->code ? NULL : pf_gpu_name(k->ask.gpu, name);

	return text ? text : "";
}

static uint32_t name_text(struct kernels *k, uint32_t name)
{
	uint64_t *place = pf_map_at(&k->names, name);

	if (*place == UINT64_MAX) {
		const char *text = gpu_name(k, name);

		*place = add_text(k, *text ? text : "(unnamed)");
	}
	return (uint32_t)*place;
}

static uint32_t shape_text(struct kernels *k, uint32_t args)
{
	uint64_t *place = pf_map_at(&k->argsets, args);

	if (*place == UINT64_MAX) {
		sqlite3_reset(k->shapes);
		sqlite3_bind_int64(k->shapes, 1, args);
		*place = add_text(
			k, pf_db_step(k->ask.db, k->shapes, k->ask.err) == 1
				   ? pf_sqlite_text(k->shapes, 0)
				   : "");
	}
	return (uint32_t)*place;
}

/* By its name, but for communication, which GPU work says of itself. */
static struct pf_kernel_kind find_kind(struct kernels *k, uint32_t name,
				       bool is_comm)
{
	uint64_t *place = pf_map_at(&k->kinds, (uint64_t)name << 1 | is_comm);

	if (*place == UINT64_MAX) {
		struct pf_kernel_kind kind =
			pf_tensor_kind(k->tensor, gpu_name(k, name));

		if (is_comm) {
			kind.class = PF_CLASS_COMM;
			kind.precision = PF_PRECISION_UNKNOWN;
			if (kind.use == PF_TENSOR_UNKNOWN)
				kind.use = PF_TENSOR_NO;
		}
		*place = (uint64_t)kind.use | (uint64_t)kind.class << 8 |
			 (uint64_t)kind.precision << 16;
	}
	return (struct pf_kernel_kind){
		.use = (enum pf_tensor_use)(*place & 0xff),
		.class = (enum pf_kernel_class)(*place >> 8 & 0xff),
		.precision = (enum pf_precision)(*place >> 16 & 0xff),
	};
}

/* ---- launch configurations ---- */

/* "x,y,z", or no text. */
static uint32_t dims_text(struct kernels *k, const int64_t dims[3])
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_adds(&text, "");
	if (dims[0] >= 0 && dims[1] >= 0 && dims[2] >= 0)
		pf_buf_addf(&text, "%" PRId64 ",%" PRId64 ",%" PRId64, dims[0],
			    dims[1], dims[2]);
	return add_text(k, text.data);
}

static void geometry_texts(struct kernels *k, const struct pf_gpu_config *c,
			   uint32_t *grid, uint32_t *block)
{
	uint64_t *place = pf_map_at(&k->configs, (uint64_t)c->id);

	if (*place == UINT64_MAX)
		*place = (uint64_t)dims_text(k, c->grid) << 32 |
			 dims_text(k, c->block);
	*grid = (uint32_t)(*place >> 32);
	*block = (uint32_t)*place;
}

/* ---- groups ---- */

static void note_same(int64_t *held, int64_t value, bool is_new)
{
	if (is_new)
		*held = value;
	else if (*held != value)
		*held = VARIES;
}

static void add_weighted(double *sum, double *all, double value, int64_t weight)
{
	if (value < 0)
		return;
	*sum += value * (double)weight;
	*all += (double)weight;
}

static bool is_by_op(const struct kernels *k)
{
	return k->out->group == PF_KERNELS_BY_NAME_OP || !has_name(k);
}

/* Does the operator say more of this kernel than its name? */
static bool wants_op(struct kernels *k, const struct pf_gpu_event *ev)
{
	bool is_comm = ev->class == PF_GPU_COMM;

	return is_by_op(k) ||
	       find_kind(k, ev->name, is_comm).class == PF_CLASS_GEMM;
}

static void count_kind(struct kernels *k, const struct item *item,
		       struct pf_kernel_kind kind)
{
	struct tally *tally = &k->by_kind[kind.class][kind.precision];

	tally->calls++;
	pf_sat_sum(&tally->ns, item->dur_ns);
}

/* By its name and its operator, if that is asked for. */
static struct pf_kernel_kind kind_of(struct kernels *k, const struct item *item)
{
	struct pf_kernel_kind kind = find_kind(k, item->name, item->is_comm);
	uint64_t *place;

	if (kind.class != PF_CLASS_GEMM)
		return kind;
	place = pf_map_at(&k->products, item->op);
	if (*place == UINT64_MAX)
		*place = class_in(k->tensor, kind.class,
				  item->op ? pf_intern_text(&k->out->names,
							    item->op, NULL)
					   : "");
	kind.class = (enum pf_kernel_class) * place;
	return kind;
}

static void add_to_row(struct kernels *k, const struct item *item,
		       uint32_t first, uint32_t second)
{
	struct pf_kernel_kind kind = kind_of(k, item);
	bool is_comm = has_name(k) && item->is_comm;
	struct pf_keyed *rows = &k->out->by_key;
	size_t n = pf_keyed_at(rows, (uint64_t)first << 33 |
					     (uint64_t)second << 1 | is_comm);
	struct pf_kernel_row *g = PF_KEYED_ROW(rows, struct pf_kernel_row, n);
	const struct pf_gpu_config *c =
		pf_gpu_find_config(k->ask.gpu, item->config);
	bool is_new = !g->ns.of.count;
	uint32_t grid = 0, block = 0;

	count_kind(k, item, kind);
	if (is_new) {
		g->first_id = first;
		g->second_id = second;
		if (has_name(k))
			g->kind = kind;
	} else if (has_name(k) && g->kind.class != kind.class) {
		g->kind.class = PF_CLASS_UNKNOWN;
	}
	if (c)
		geometry_texts(k, c, &grid, &block);
	g->replayed += item->replayed != 0;
	note_same(&g->grid_id, grid, is_new);
	note_same(&g->block_id, block, is_new);
	note_same(&g->registers, c ? c->registers : NONE, is_new);
	note_same(&g->shared_bytes, c ? c->shared_bytes : NONE, is_new);
	note_same(&g->device, item->device, is_new);
	note_same(&g->stream, item->stream, is_new);
	add_weighted(&g->blocks_per_sm, &g->blocks_weight,
		     c ? c->blocks_per_sm : NONE, item->dur_ns);
	add_weighted(&g->occupancy_percent, &g->occupancy_weight,
		     c ? c->occupancy : NONE, item->dur_ns);
	pf_keyed_add(rows, &k->ask, n, item->dur_ns);
}

/* Grid and block as one text. */
static uint32_t geometry(struct kernels *k, const struct pf_gpu_config *c)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	uint32_t grid, block;

	if (!c)
		return add_text(k, "");
	geometry_texts(k, c, &grid, &block);
	pf_buf_addf(&text, "%s x ", pf_intern_text(&k->out->names, grid, NULL));
	pf_buf_adds(&text, pf_intern_text(&k->out->names, block, NULL));
	return add_text(k, text.data);
}

/* To a group that is named by the kernel, not by its operator. */
static void put_kernel(struct kernels *k, const struct item *item)
{
	uint32_t second = 0;

	if (k->out->group != PF_KERNELS_BY_NAME)
		second = geometry(k,
				  pf_gpu_find_config(k->ask.gpu, item->config));
	add_to_row(k, item, name_text(k, item->name), second);
}

/* The operator that a graph has for the work, as a text; or 0. */
static uint32_t replayed_op(struct kernels *k, const struct pf_gpu_event *ev)
{
	const struct pf_graph_node *n;
	const char *op;

	if (!k->graphs || !ev->launch_id)
		return 0;
	n = pf_graphs_next(k->graphs, ev->launch_id);
	op = n ? pf_graphs_op(k->graphs, n) : NULL;
	return op && *op ? add_text(k, op) : 0;
}

static struct pf_kernel_stream *stream_at(const struct pf_kernels *k, size_t i)
{
	return PF_KEYED_ROW(&k->streams, struct pf_kernel_stream, i);
}

/* What does not depend on groups. */
static void count_kernel(struct kernels *k, const struct pf_gpu_event *ev)
{
	int64_t key[3] = { ev->trace->trace_id, ev->device, ev->stream };
	struct pf_kernels *out = k->out;
	size_t n =
		pf_keyed_at_text(&out->streams, (const char *)key, sizeof(key));
	struct pf_kernel_stream *s = stream_at(out, n);
	struct pf_kernel_kind kind;

	s->trace_id = key[0];
	s->rank = ev->trace->rank;
	s->device = key[1];
	s->stream = key[2];
	kind = find_kind(k, ev->name, ev->class == PF_GPU_COMM);
	pf_keyed_add(&out->streams, &k->ask, n, ev->dur_ns);
	out->calls++;
	pf_sat_sum(&out->total_ns, ev->dur_ns);
	k->use_calls[kind.use]++;
	pf_sat_sum(&k->use_ns[kind.use], ev->dur_ns);
}

static void gather(struct kernels *k)
{
	const struct pf_gpu_event *ev;
	int64_t order = 0;

	while ((ev = pf_ask_gpu(&k->ask, PF_GPU_STARTS | PF_GPU_LINKS))) {
		struct item item = { .replayed = replayed_op(k, ev) };

		if (ev->kind != PF_KIND_KERNEL)
			continue;
		item.op_id = ev->op_id;
		item.order = order++;
		item.dur_ns = ev->dur_ns;
		item.config = ev->config;
		item.device = ev->device;
		item.stream = ev->stream;
		item.name = ev->name;
		item.is_comm = ev->class == PF_GPU_COMM;
		count_kernel(k, ev);
		if (wants_op(k, ev))
			pf_by_event_add(k->by_op, &item);
		else
			put_kernel(k, &item);
	}
}

/* The operator as a text; *block is NULL if it is not that of the event. */
static uint32_t op_text(struct kernels *k, const struct item *item,
			const struct pf_block **block, uint32_t place)
{
	const struct pf_gpu_config *c =
		pf_gpu_find_config(k->ask.gpu, (int64_t)item->config);

	if (item->replayed) {
		*block = NULL; /* that of the launch */
		return item->replayed;
	}
	if (*block)
		return name_text(k, (*block)->name[place]);
	if (c && c->op_name)
		return add_text(k, c->op_name);
	k->out->without_op += is_by_op(k);
	k->out->without_op_ns += is_by_op(k) ? item->dur_ns : 0;
	return add_text(k, "(none)");
}

/* Kernels in order of their operators, to find what those are called. */
static void resolve_op(struct kernels *k, const struct item *found,
		       const struct pf_block *block, uint32_t place)
{
	struct item item = *found;
	uint32_t shapes = 0;

	item.op = op_text(k, &item, &block, place);
	if (!is_by_op(k)) {
		put_kernel(k, &item);
		return;
	}
	if (k->out->group == PF_KERNELS_BY_OP_SHAPE)
		shapes = block && block->args[place] < PF_ID_INLINE
				 ? shape_text(k, block->args[place])
				 : add_text(k, "");
	if (has_name(k))
		add_to_row(k, &item, name_text(k, item.name), item.op);
	else
		add_to_row(k, &item, item.op, shapes);
}

static void resolve_ops(struct kernels *k)
{
	struct pf_err *err = k->ask.err;
	const struct item *item;
	const struct pf_block *block;
	uint32_t place;

	while (!err->code &&
	       (item = pf_by_event_next(k->by_op, &block, &place)))
		resolve_op(k, item, block, place);
}

/* ---- what was found ---- */

static double share_of(const struct kernels *k, int64_t ns)
{
	return pf_ratio((double)ns, k->out->total_ns);
}

static const char *text_of(const struct kernels *k, int64_t number)
{
	return pf_intern_text(&k->out->names, (uint32_t)number, NULL);
}

/* The text that all calls have, unless it is empty. */
static const char *same_text(const struct kernels *k, int64_t number)
{
	const char *text = number >= 0 ? text_of(k, number) : NULL;

	return text && *text ? text : NULL;
}

/* May the products of an operator run in another precision? */
enum op_word {
	OP_OPEN, /* not known: no operator of PyTorch, or none at all */
	OP_LISTED,
	OP_FIXED
};

static enum op_word op_word(const struct kernels *k, const char *op)
{
	if (strncmp(op, "aten::", 6) != 0)
		return OP_OPEN;
	return pf_tensor_op(k->tensor, op) ? OP_LISTED : OP_FIXED;
}

/* Are there figures of a kernel of this kind and operator to add up? */
static bool is_product(enum pf_kernel_class cls, enum op_word word)
{
	if (cls == PF_CLASS_GEMM || cls == PF_CLASS_CONV)
		return word != OP_FIXED;
	return cls == PF_CLASS_UNKNOWN && word == OP_LISTED;
}

/*
 * Time in matrix products and convolutions that may run in another precision.
 * A kernel of unknown purpose is one if its operator says so.
 */
static void add_product(struct kernels *k, struct pf_kernel_row *row)
{
	static const char *const words[] = { NULL, "yes", "no" };
	enum op_word word = op_word(k, row->second);
	struct pf_kernels *out = k->out;

	row->op_eligible = words[word];
	if (!is_product(row->kind.class, word))
		return;
	pf_sat_sum(&out->product_ns, row->ns.of.sum);
	if (row->kind.precision == PF_PRECISION_FP32)
		pf_sat_sum(&out->product_fp32_ns, row->ns.of.sum);
	if (row->kind.precision == PF_PRECISION_UNKNOWN)
		pf_sat_sum(&out->product_unknown_ns, row->ns.of.sum);
}

static void add_kind(struct kernels *k, struct pf_kernel_row *row)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_kernel_short_name(&text, row->first);
	row->short_name = pf_arena_string(&k->ask.memory, text.data);
	if (row->kind.use != PF_TENSOR_UNKNOWN)
		row->tensor_cores = tensor_word(row->kind.use);
	row->class_word = class_word(row->kind.class);
	row->precision = precision_word(row->kind.precision);
}

static void settle_row(struct kernels *k, struct pf_kernel_row *row)
{
	row->first = text_of(k, row->first_id);
	row->second = text_of(k, row->second_id);
	row->blocks_per_sm = row->blocks_weight > 0
				     ? row->blocks_per_sm / row->blocks_weight
				     : NAN;
	row->occupancy_percent =
		row->occupancy_weight > 0
			? row->occupancy_percent / row->occupancy_weight
			: NAN;
	row->grid = same_text(k, row->grid_id);
	row->block = same_text(k, row->block_id);
	if (has_name(k))
		add_kind(k, row);
	if (k->out->group == PF_KERNELS_BY_NAME_OP)
		add_product(k, row);
}

PF_ORDER(by_total, struct pf_kernel_row,
	 PF_DOWN(ns.of.sum) PF_ALPHA(first) PF_ALPHA(second) PF_UP(kind.class))

/* No text is added any more: pointers to them hold. */
static void take_kernel_rows(struct kernels *k, struct pf_kernels *out)
{
	int64_t so_far = 0;

	pf_keyed_finish(&out->by_key, &k->ask);
	out->rows = out->by_key.rows;
	out->row_count = (int64_t)out->by_key.count;
	for (int64_t i = 0; i < out->row_count; i++)
		settle_row(k, &out->rows[i]);
	pf_keyed_sort(&out->by_key, by_total);
	for (int64_t i = 0; i < out->row_count; i++) {
		pf_sat_sum(&so_far, out->rows[i].ns.of.sum);
		out->rows[i].cumulative_share = share_of(k, so_far);
	}
}

PF_ORDER(by_place, struct pf_kernel_stream,
	 PF_UP(trace_id) PF_UP(device) PF_UP(stream))

/* Nothing is claimed of tensor cores where much is unknown. */
static void take_sums(struct kernels *k, struct pf_kernels *out)
{
	out->tensor_core_ns = k->use_ns[PF_TENSOR_YES];
	out->tensor_unknown_ns = k->use_ns[PF_TENSOR_UNKNOWN];
	out->tensor_unknown_calls = k->use_calls[PF_TENSOR_UNKNOWN];
	out->tensor_core_share =
		!out->total_ns || share_of(k, out->tensor_unknown_ns) >
					  PF_KERNELS_MOST_UNKNOWN
			? NAN
			: share_of(k, out->tensor_core_ns);
	for (int c = 0; c < PF_CLASSES; c++)
		for (int p = 0; p < PF_PRECISIONS; p++) {
			const struct tally *t = &k->by_kind[c][p];

			if (t->calls)
				out->classes[out->class_count++] =
					(struct pf_kernel_class_row){
						class_word((
							enum pf_kernel_class)c),
						precision_word(
							(enum pf_precision)p),
						t->calls, t->ns,
						share_of(k, t->ns)
					};
		}
	pf_keyed_finish(&out->streams, &k->ask);
	pf_keyed_sort(&out->streams, by_place);
}

/* ---- the whole ---- */

static int find(struct kernels *k)
{
	k->by_op = pf_by_event_new(k->ask.db, sizeof(struct item),
				   PF_COLBIT(PF_COL_NAME) |
					   PF_COLBIT(PF_COL_ARGS));
	k->shapes =
		pf_named_prepare(k->ask.db, "argset_shapes", k->ask.db->err);
	k->tensor = pf_tensor_of(k->ask.db);
	PF_TRY(k->ask.db->err->code);
	gather(k);
	resolve_ops(k);
	take_kernel_rows(k, k->out);
	take_sums(k, k->out);
	return 0;
}

static unsigned needs(const struct pf_kernels_args *args)
{
	switch (args->group) {
	case PF_KERNELS_BY_OP_SHAPE:
		return PF_TRUST_WORK | PF_TRUST_LINKS | PF_TRUST_SHAPES;
	case PF_KERNELS_BY_NAME_OP:
		return PF_TRUST_WORK | PF_TRUST_LINKS;
	default:
		return PF_TRUST_WORK;
	}
}

int pf_kernels_find(struct pf_db *db, const struct pf_kernels_args *args,
		    struct pf_kernels *out)
{
	struct kernels k = { .out = out };

	out->group = (enum pf_kernels_group)args->group;
	out->graphs = k.graphs = args->graphs;
	pf_keyed_begin(&out->by_key, sizeof(struct pf_kernel_row),
		       args->no_ranks ? PF_KEYED_SUMS : PF_KEYED_PERCENTILES);
	pf_keyed_begin(&out->streams, sizeof(struct pf_kernel_stream),
		       PF_KEYED_SUMS);
	add_text(&k, "");
	if (!pf_ask_begin(&k.ask, db, &args->window))
		find(&k);
	sqlite3_finalize(k.shapes);
	pf_by_event_free(k.by_op);
	pf_map_release(&k.configs);
	pf_map_release(&k.kinds);
	pf_map_release(&k.names);
	pf_map_release(&k.argsets);
	pf_map_release(&k.products);
	return pf_ask_keep(&k.ask, &out->window, &out->texts);
}

void pf_kernels_release(struct pf_kernels *k)
{
	pf_intern_release(&k->names);
	pf_arena_release(&k->texts);
	pf_keyed_end(&k->by_key);
	pf_keyed_end(&k->streams);
	pf_window_release(&k->window);
	*k = (struct pf_kernels){ 0 };
}

/* Of TPUs, which have operations: 1, 0 if there are none, or -1. */
static int show_tpus(struct pf_db *db, const struct pf_kernels *k,
		     struct pf_doc *doc)
{
	int rc = pf_hlo_ops(db, &k->window,
			    k->group == PF_KERNELS_BY_CATEGORY
				    ? PF_HLO_BY_CATEGORY
			    : has_name_group(k->group) ? PF_HLO_BY_NAME
						       : PF_HLO_BY_OP,
			    true, doc);

	if (rc == 1 && pf_trust_note(db, &k->window, PF_TRUST_TPUS, doc))
		return -1;
	return rc;
}

static void kernels_show(const struct pf_kernels *k, struct pf_doc *doc);

int pf_kernels(struct pf_db *db, const struct pf_kernels_args *args,
	       struct pf_kernels *kept, struct pf_doc *doc)
{
	PF_AUTO(pf_kernels_release) struct pf_kernels own = { 0 };
	struct pf_kernels *k = kept ? kept : &own;
	int rc = pf_kernels_find(db, args, k), shown = 0;

	if (!rc && k->window.is_tpu)
		shown = show_tpus(db, k, doc);
	if (!rc && !shown && args->group == PF_KERNELS_BY_CATEGORY)
		rc = pf_fail(db->err, PF_EUSAGE,
			     "--group category is of operations of TPUs, which "
			     "this trace does not have");
	if (!rc && !shown) {
		kernels_show(k, doc);
		rc = pf_trust_note(db, &k->window, needs(args), doc);
	}
	return shown < 0 ? -1 : rc;
}

/* ---- how it is said ---- */

#define LONG_NAME 120 /* in a sentence */

/* What a class is called; those that say something before those that do not. */
static const struct {
	const char *word, *plain;
} plain[] = {
	{ "gemm", "matrix products" },
	{ "conv", "convolutions" },
	{ "attention", "attention" },
	{ "communication", "communication" },
	{ "normalization", "normalization" },
	{ "softmax", "softmax" },
	{ "pointwise", "pointwise kernels" },
	{ "reduction", "sums" },
	{ "copy", "copies and transposes" },
	{ NULL, "of unknown class" },
	{ "other", "other kernels" },
};
enum { OTHER = PF_LEN(plain) - 1, UNKNOWN = OTHER - 1 };

static size_t plain_of(const char *word)
{
	size_t w = 0;

	while (w < OTHER &&
	       (word ? !plain[w].word || strcmp(plain[w].word, word) != 0
		     : plain[w].word != NULL))
		w++;
	return w;
}

/*
 * ": matrix products 46.69 %, attention 5.1 %, other kernels 48.13 %": the
 * largest three that have a name, but not where most is of unknown class; that,
 * and all others as one; nothing where none has a name.
 */
static void say_classes(const struct pf_kernels *k, struct pf_buf *out)
{
	enum { SAID = 3 };
	int64_t ns[OTHER + 1] = { 0 };
	const char *before = ": ";
	bool is_dark;

	for (size_t i = 0; i < k->class_count; i++)
		pf_sat_sum(&ns[plain_of(k->classes[i].class_word)],
			   k->classes[i].total_ns);
	pf_buf_adds(out, "");
	if (ns[UNKNOWN] + ns[OTHER] >= k->total_ns)
		return;
	is_dark = ns[UNKNOWN] > k->total_ns / 2;
	for (size_t n = is_dark ? SAID : 0; n <= SAID + 1; n++) {
		size_t most = n < SAID ? 0 : UNKNOWN + n - SAID;

		for (size_t w = 1; n < SAID && w < UNKNOWN; w++)
			if (ns[w] > ns[most])
				most = w;
		for (size_t w = 0; n == SAID && w < UNKNOWN; w++)
			pf_sat_sum(&ns[OTHER], ns[w]);
		if (!ns[most])
			continue;
		pf_buf_addf(out, "%s%s %s", before, plain[most].plain,
			    PF_SHOW_SHARE(ns[most], k->total_ns));
		before = ", ";
		ns[most] = 0;
	}
}

static void add_finding(const struct pf_kernels *k, struct pf_doc *doc)
{
	const struct pf_kernel_row *top = k->rows;
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 }, classes = { 0 };

	if (!k->row_count) {
		pf_doc_finding(
			doc, "%s",
			k->window.tpu_count    ? pf_window_no_work(&k->window)
			: k->window.has_unread ? "No kernels could be read"
					       : "There are no kernels");
		doc->is_nothing = true;
		return;
	}
	if (!k->total_ns) {
		pf_doc_finding(doc, "Kernels take no time%s",
			       pf_window_scope(&k->window));
		return;
	}
	pf_buf_adds(&name, top->short_name ? top->short_name : top->first);
	if (name.len > LONG_NAME) {
		name.len = pf_utf8_head(name.data, LONG_NAME, LONG_NAME - 3);
		pf_buf_adds(&name, "...");
	}
	say_classes(k, &classes);
	const char *total = PF_SHOW_NS(k->total_ns);
	if (k->row_count == 1)
		pf_doc_finding(doc, "Kernels ran %s%s%s. All are %s", total,
			       pf_window_scope(&k->window), classes.data,
			       name.data);
	else
		pf_doc_finding(doc,
			       "Kernels ran %s%s%s. The largest is %s with "
			       "%s",
			       total, pf_window_scope(&k->window), classes.data,
			       name.data, PF_SHOW_RATIO(top->ns.share));
}

#define FIELD(...) PF_FIELD(struct pf_kernels, __VA_ARGS__)
static void add_scalars(const struct pf_kernels *k, struct pf_doc *doc)
{
	int of_products = k->group == PF_KERNELS_BY_NAME_OP ? PF_NS : PF_ABSENT;
	double unknown = pf_num_share(k->tensor_unknown_ns, k->total_ns);
	const struct pf_field fields[] = {
		FIELD(total_ns, "kernel_ns", "Kernel time, summed", PF_NS),
		FIELD(calls, "kernel_count", "Kernels", PF_COUNT),
		FIELD(row_count, "group_count", "Groups", PF_COUNT),
		FIELD(tensor_core_share, "Tensor cores", PF_RATIO),
		FIELD(tensor_core_ns, "  time that uses them", PF_NS),
		FIELD(tensor_unknown_ns, "  time that may use them", PF_NS),
		FIELD(product_ns, "Matrix products, convolutions", of_products),
		FIELD(product_fp32_ns, "  in single precision", of_products),
		FIELD(product_unknown_ns, "  of unknown precision",
		      of_products),
	};

	bool is_one = k->tensor_unknown_calls == 1;

	PF_SCALARS(doc, fields, *k);
	if (unknown > PF_KERNELS_MOST_UNKNOWN)
		pf_doc_note(doc,
			    "whether %s %s (%s of the time) use%s "
			    "tensor or matrix cores is not known from %s",
			    PF_SHOW_COUNT(k->tensor_unknown_calls),
			    is_one ? "kernel" : "kernels",
			    PF_SHOW_RATIO(unknown), is_one ? "s" : "",
			    is_one ? "its name" : "their names");
}
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_kernel_row, __VA_ARGS__)
/* The columns that name a group, then its figures. */
static void add_rows(const struct pf_kernels *k, struct pf_doc *doc)
{
	static const char *const second[][2] = {
		[PF_KERNELS_BY_NAME] = { "op", "Operator" },
		[PF_KERNELS_BY_NAME_OP] = { "op", "Operator" },
		[PF_KERNELS_BY_NAME_GEOMETRY] = { "geometry", "Grid x block" },
		[PF_KERNELS_BY_OP_SHAPE] = { "input_shapes", "Input shapes" },
		[PF_KERNELS_BY_OP] = { "input_shapes", "Input shapes" },
	};
	bool of_op = k->group == PF_KERNELS_BY_OP_SHAPE ||
		     k->group == PF_KERNELS_BY_OP;
	bool is_one =
		k->group == PF_KERNELS_BY_NAME || k->group == PF_KERNELS_BY_OP;
	int by_name = of_op ? PF_ABSENT : 0;
	const struct pf_field fields[] = {
		FIELD(first, of_op ? "op" : "name",
		      of_op ? "Operator" : "Kernel",
		      of_op ? PF_TEXT : PF_TEXT | PF_FULL | PF_SYMBOL),
		FIELD(short_name, "Kernel", PF_TEXT | PF_BRIEF | by_name),
		FIELD(second, second[k->group][0], second[k->group][1],
		      is_one ? PF_ABSENT : PF_TEXT),
		FIELD(ns.of.count, "calls", "Calls", PF_COUNT),
		FIELD(replayed, "replayed_calls", "Replayed",
		      k->graphs ? PF_COUNT : PF_ABSENT),
		FIELD(ns.of.sum, "total_ns", "Total", PF_NS),
		FIELD(ns.share, "share", "Share", PF_RATIO | PF_BAR),
		FIELD(cumulative_share, "Cumulative", PF_RATIO | PF_FULL),
		FIELD(ns.mean, "mean_ns", "Mean", PF_NS | PF_SPARE),
		FIELD(ns.median, "median_ns", "Median", PF_NS | PF_FULL),
		FIELD(ns.p90, "p90_ns", "90th", PF_NS | PF_KNOWN | PF_FULL),
		FIELD(ns.p99, "p99_ns", "99th", PF_NS | PF_KNOWN | PF_FULL),
		/* only without a second text is there room */
		FIELD(ns.of.max, "max_ns", "Longest",
		      is_one ? PF_NS | PF_SPARE : PF_NS | PF_FULL),
		FIELD(ns.of.min, "min_ns", "Shortest", PF_NS | PF_FULL),
		FIELD(ns.sd, "sd_ns", "Deviation", PF_REAL | PF_FULL),
		FIELD(blocks_per_sm, "Blocks per SM", PF_REAL | PF_FULL),
		FIELD(occupancy_percent, "Occupancy", PF_REAL | PF_FULL),
		FIELD(registers, "registers_per_thread", "Registers",
		      PF_INT | PF_FULL | PF_KNOWN),
		FIELD(shared_bytes, "shared_memory_bytes", "Shared",
		      PF_BYTES | PF_FULL | PF_KNOWN),
		FIELD(grid, "Grid", PF_TEXT | PF_FULL),
		FIELD(block, "Block", PF_TEXT | PF_FULL),
		FIELD(device, "GPU", PF_INT | PF_FULL | PF_KNOWN),
		FIELD(stream, "Stream", PF_INT | PF_FULL | PF_KNOWN),
		FIELD(tensor_cores, "TC", PF_TEXT | PF_SPARE | by_name),
		FIELD(class_word, "class", "Class",
		      PF_TEXT | PF_OURS | PF_FULL | by_name),
		FIELD(precision, "Precision",
		      PF_TEXT | PF_OURS | PF_FULL | by_name),
		FIELD(op_eligible, "Eligible",
		      k->group == PF_KERNELS_BY_NAME_OP ? PF_TEXT | PF_FULL
							: PF_ABSENT),
	};

	PF_ROWS(doc, "kernels", NULL, fields, k->rows, (size_t)k->row_count);
}
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_kernel_class_row, __VA_ARGS__)
static const struct pf_field class_fields[] = {
	FIELD(class_word, "class", "Class", PF_TEXT | PF_OURS),
	FIELD(precision, "Precision", PF_TEXT | PF_OURS),
	FIELD(calls, "Calls", PF_COUNT),
	FIELD(total_ns, "Total", PF_NS),
	FIELD(share, "Share", PF_RATIO),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_kernel_stream, __VA_ARGS__)
static const struct pf_field stream_fields[] = {
	FIELD(rank, "Rank", PF_INT | PF_KNOWN),
	FIELD(device, "GPU", PF_INT | PF_KNOWN),
	FIELD(stream, "Stream", PF_INT | PF_KNOWN),
	FIELD(ns.of.count, "calls", "Calls", PF_COUNT),
	FIELD(ns.of.sum, "total_ns", "Total", PF_NS),
	FIELD(ns.share, "share", "Share", PF_RATIO),
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
};

static void kernels_show(const struct pf_kernels *k, struct pf_doc *doc)
{
	add_finding(k, doc);
	add_scalars(k, doc);
	add_rows(k, doc);
	PF_ROWS(doc, "classes", "By class and precision", class_fields,
		k->classes, k->class_count);
	PF_WINDOW_ROWS(&k->window, doc, "streams", "By stream", stream_fields,
		       stream_at(k, 0), k->streams.count);
	if (k->graphs)
		pf_graphs_note(k->graphs, doc);
	if (k->without_op)
		pf_doc_note(
			doc, "%s kernel%s (%s of kernel time) %s no operator",
			PF_SHOW_COUNT(k->without_op), pf_plural(k->without_op),
			PF_SHOW_SHARE(k->without_op_ns, k->total_ns),
			k->without_op == 1 ? "has" : "have");
}
