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
#include <stdlib.h>
#include <string.h>

#include "analysis/graphs/graphs.h"
#include "analysis/time/operators.h"
#include "base/data.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/spool.h"
#include "base/stats.h"
#include "base/utf8.h"
#include "events/gpu.h"
#include "events/trust.h"
#include "formats/event.h"
#include "show/doc.h"
#include "store/query.h"

enum { PATTERN, TENSOR_CORES, CLASS, PRECISION, COLUMNS };

struct row {
	unsigned char words[COLUMNS]; /* numbers of words, each plus one */
	char *part;                   /* the longest that has no wildcard */
	bool is_whole;                /* the pattern is "*part*" */
};

struct pf_tensor {
	struct pf_data *data, *ops;
	struct row *rows; /* of data */
};

static const char *const uses[PF_TENSOR_USES] = { "no", "yes", "unknown" };
static const char *const class_words[PF_CLASSES] = {
	"unknown", "gemm", "conv", "attention", "communication", "other"
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

const char *pf_tensor_word(enum pf_tensor_use use)
{
	return uses[use];
}

const char *pf_class_word(enum pf_kernel_class class)
{
	return class ? class_words[class] : NULL;
}

const char *pf_precision_word(enum pf_precision precision)
{
	return precision ? precisions[precision] : NULL;
}

/* Looking for a part first is many times faster. */
static bool row_fits(const struct row *row, const char *pattern,
		     const char *name)
{
	return strstr(name, row->part) &&
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

struct pf_tensor *pf_tensor_new(struct pf_err *err)
{
	struct pf_tensor *t = pf_calloc(1, sizeof(*t));

	t->data = pf_data_new("data/kernels.csv",
			      "pattern,tensor_cores,class,precision,what", err);
	t->ops = t->data ? pf_data_new("data/matrix_ops.csv", "pattern,what",
				       err)
			 : NULL;
	if (t->ops && !take_rows(t, err))
		return t;
	pf_tensor_free(t);
	return NULL;
}

void pf_tensor_free(struct pf_tensor *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->rows && i < pf_data_rows(t->data); i++)
		free(t->rows[i].part);
	pf_data_free(t->data);
	pf_data_free(t->ops);
	free(t->rows);
	free(t);
}

struct pf_kernel_kind pf_tensor_kind(const struct pf_tensor *t,
				     const char *name)
{
	int found[COLUMNS] = { 0 }, missing = COLUMNS - 1;
	struct pf_kernel_kind kind = { .use = PF_TENSOR_UNKNOWN };

	for (size_t i = 0; missing && i < pf_data_rows(t->data); i++) {
		const struct row *row = &t->rows[i];

		if (!row_fits(row, pf_data_cell(t->data, i, PATTERN), name))
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

bool pf_tensor_op(const struct pf_tensor *t, const char *op)
{
	for (size_t i = 0; i < pf_data_rows(t->ops); i++)
		if (!fnmatch(pf_data_cell(t->ops, i, PATTERN), op, 0))
			return true;
	return false;
}

/* Where calls of a group differ, and where nothing is known. */
#define VARIES (-2)
#define NONE   (-1)

/* A kernel on its way to its group. */
struct item {
	int64_t op_id, order, dur_ns, config, device, stream;
	uint32_t name, is_comm;
	uint32_t replayed, zero; /* text of the operator that a graph has */
};

/* Nearest ranks of durations. */
enum { MEDIAN, P90, P99, RANKS };

struct weighted {
	double sum, weight;
};

struct group {
	uint32_t first, second; /* numbers of texts: name and op, ... */
	struct pf_stats stats;
	int64_t ranks[RANKS];
	struct pf_kernel_kind kind; /* of its first, if it has one name */
	int64_t grid, block, registers, shared, device, stream;
	struct weighted blocks_per_sm, occupancy;
	int64_t replayed;
};

struct tally {
	int64_t calls, ns;
};

struct kernels {
	struct pf_db *db;
	struct pf_kernels *out;
	struct pf_gpu *gpu;
	struct pf_graphs *graphs;
	bool no_ranks;
	sqlite3_stmt *shapes;
	struct pf_tensor *tensor;
	struct pf_map configs; /* gpu_config.id -> texts of grid and block */
	struct pf_map names;   /* string.id -> number of text */
	struct pf_map kinds;   /* string.id, is_comm -> its kind */
	struct pf_map argsets; /* argset.id -> number of text */
	struct pf_map places;  /* two numbers of texts -> group */
	struct group *groups;
	size_t group_count, group_cap;
	struct pf_by_event *by_op;
	struct pf_sorter *by_group;
	int64_t use_ns[PF_TENSOR_USES], use_calls[PF_TENSOR_USES];
	struct tally by_kind[PF_CLASSES][PF_PRECISIONS];
	struct pf_intern stream_keys;
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

static const unsigned percents[RANKS] = { 50, 90, 99 };

/* ---- texts ---- */

static uint32_t add_text(struct kernels *k, const char *text)
{
	return pf_intern_add(&k->out->names, text, strlen(text));
}

static int name_text(struct kernels *k, uint32_t name, uint32_t *out)
{
	uint64_t *place = pf_map_at(&k->names, name);
	const char *text;

	if (*place == UINT64_MAX) {
		text = pf_gpu_name(k->gpu, name);
		if (!text)
			return -1;
		*place = add_text(k, *text ? text : "(unnamed)");
	}
	*out = (uint32_t)*place;
	return 0;
}

static int shape_text(struct kernels *k, uint32_t args, uint32_t *out)
{
	uint64_t *place = pf_map_at(&k->argsets, args);
	int rc;

	if (*place == UINT64_MAX) {
		sqlite3_reset(k->shapes);
		sqlite3_bind_int64(k->shapes, 1, args);
		rc = pf_db_step(k->db, k->shapes, k->db->err);
		if (rc < 0)
			return -1;
		*place = add_text(
			k, rc ? (const char *)sqlite3_column_text(k->shapes, 0)
			      : "");
	}
	*out = (uint32_t)*place;
	return 0;
}

/* By its name, but for communication, which GPU work says of itself. */
static int find_kind(struct kernels *k, uint32_t name, bool is_comm,
		     struct pf_kernel_kind *out)
{
	uint64_t *place = pf_map_at(&k->kinds, (uint64_t)name << 1 | is_comm);
	const char *text;

	if (*place == UINT64_MAX) {
		struct pf_kernel_kind kind;

		text = pf_gpu_name(k->gpu, name);
		if (!text)
			return -1;
		kind = pf_tensor_kind(k->tensor, text);
		if (is_comm) {
			kind.class = PF_CLASS_COMM;
			kind.precision = PF_PRECISION_UNKNOWN;
			if (kind.use == PF_TENSOR_UNKNOWN)
				kind.use = PF_TENSOR_NO;
		}
		*place = (uint64_t)kind.use | (uint64_t)kind.class << 8 |
			 (uint64_t)kind.precision << 16;
	}
	out->use = (enum pf_tensor_use)(*place & 0xff);
	out->class = (enum pf_kernel_class)(*place >> 8 & 0xff);
	out->precision = (enum pf_precision)(*place >> 16 & 0xff);
	return 0;
}

/* ---- launch configurations ---- */

/* "x,y,z", or no text. */
static uint32_t dims_text(struct kernels *k, const int64_t dims[3])
{
	struct pf_buf text = { 0 };
	uint32_t number;

	pf_buf_adds(&text, "");
	if (dims[0] >= 0 && dims[1] >= 0 && dims[2] >= 0)
		pf_buf_addf(&text, "%" PRId64 ",%" PRId64 ",%" PRId64, dims[0],
			    dims[1], dims[2]);
	number = add_text(k, text.data);
	pf_buf_release(&text);
	return number;
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

static void add_weighted(struct weighted *w, double value, int64_t weight)
{
	if (value < 0)
		return;
	w->sum += value * (double)weight;
	w->weight += (double)weight;
}

static bool is_by_op(const struct kernels *k)
{
	return k->out->group == PF_KERNELS_BY_NAME_OP || !has_name(k);
}

static int add_to_group(struct kernels *k, const struct item *item,
			uint32_t first, uint32_t second)
{
	bool is_comm = has_name(k) && item->is_comm;
	uint64_t *place =
		pf_map_at(&k->places, (uint64_t)first << 33 |
					      (uint64_t)second << 1 | is_comm);
	const struct pf_gpu_config *c =
		pf_gpu_find_config(k->gpu, item->config);
	bool is_new = *place == UINT64_MAX;
	uint32_t grid = 0, block = 0;
	struct group *g;
	int64_t record[2];

	if (is_new) {
		*place = k->group_count++;
		k->groups = pf_grow(k->groups, &k->group_cap, k->group_count,
				    sizeof(*k->groups));
		k->groups[*place] =
			(struct group){ .first = first,
					.second = second,
					.ranks = { NONE, NONE, NONE } };
		if (has_name(k) && find_kind(k, item->name, item->is_comm,
					     &k->groups[*place].kind) < 0)
			return -1;
	}
	if (c)
		geometry_texts(k, c, &grid, &block);
	g = &k->groups[*place];
	pf_stats_add(&g->stats, item->dur_ns);
	g->replayed += item->replayed != 0;
	note_same(&g->grid, grid, is_new);
	note_same(&g->block, block, is_new);
	note_same(&g->registers, c ? c->registers : NONE, is_new);
	note_same(&g->shared, c ? c->shared_bytes : NONE, is_new);
	note_same(&g->device, item->device, is_new);
	note_same(&g->stream, item->stream, is_new);
	add_weighted(&g->blocks_per_sm, c ? c->blocks_per_sm : NONE,
		     item->dur_ns);
	add_weighted(&g->occupancy, c ? c->occupancy : NONE, item->dur_ns);
	if (k->no_ranks)
		return 0;
	record[0] = (int64_t)*place;
	record[1] = item->dur_ns;
	return pf_sorter_add(k->by_group, record, k->db->err);
}

/* Grid and block as one text. */
static uint32_t geometry(struct kernels *k, const struct pf_gpu_config *c)
{
	struct pf_buf text = { 0 };
	uint32_t number, grid, block;

	if (!c)
		return add_text(k, "");
	geometry_texts(k, c, &grid, &block);
	pf_buf_addf(&text, "%s x ", pf_intern_text(&k->out->names, grid, NULL));
	pf_buf_adds(&text, pf_intern_text(&k->out->names, block, NULL));
	number = add_text(k, text.data);
	pf_buf_release(&text);
	return number;
}

static int put_kernel(struct kernels *k, const struct item *item)
{
	uint32_t name, second;

	if (is_by_op(k))
		return pf_by_event_add(k->by_op, item);
	if (name_text(k, item->name, &name) < 0)
		return -1;
	second =
		k->out->group == PF_KERNELS_BY_NAME
			? 0
			: geometry(k, pf_gpu_find_config(k->gpu, item->config));
	return add_to_group(k, item, name, second);
}

/* The operator that a graph has for the work, as a text; or 0. */
static uint32_t replayed_op(struct kernels *k, const struct pf_gpu_event *ev)
{
	const struct pf_graph_node *n;
	const char *op;

	if (!k->graphs || !is_by_op(k) || !ev->launch_id)
		return 0;
	n = pf_graphs_next(k->graphs, ev->launch_id);
	op = n ? pf_graphs_op(k->graphs, n) : NULL;
	return op && *op ? add_text(k, op) : 0;
}

/* What does not depend on groups. */
static int count_kernel(struct kernels *k, const struct pf_gpu_event *ev)
{
	int64_t key[3] = { ev->trace->trace_id, ev->device, ev->stream };
	uint32_t n =
		pf_intern_add(&k->stream_keys, (const char *)key, sizeof(key));
	struct pf_kernel_kind kind;
	struct tally *tally;
	struct pf_kernels *out = k->out;
	struct pf_kernel_stream *s;

	out->streams = pf_grow(out->streams, &out->stream_cap, n + 1u,
			       sizeof(*out->streams));
	s = &out->streams[n];
	if (n + 1 > out->stream_count) {
		out->stream_count = n + 1;
		*s = (struct pf_kernel_stream){ .trace_id = key[0],
						.rank = ev->trace->rank,
						.device = key[1],
						.stream = key[2] };
	}
	if (find_kind(k, ev->name, ev->class == PF_GPU_COMM, &kind) < 0)
		return -1;
	tally = &k->by_kind[kind.class][kind.precision];
	tally->calls++;
	pf_sat_sum(&tally->ns, ev->dur_ns);
	s->calls++;
	pf_sat_sum(&s->total_ns, ev->dur_ns);
	out->calls++;
	pf_sat_sum(&out->total_ns, ev->dur_ns);
	k->use_calls[kind.use]++;
	pf_sat_sum(&k->use_ns[kind.use], ev->dur_ns);
	return 0;
}

static int gather(struct kernels *k)
{
	const struct pf_gpu_event *ev;
	int64_t order = 0;
	int rc;

	while ((rc = pf_gpu_next(k->gpu, &ev)) == 1) {
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
		if (count_kernel(k, ev) < 0 || put_kernel(k, &item) < 0)
			return -1;
	}
	return rc;
}

/* Kernels in order of their operators, to find what those are called. */
static int resolve_op(struct kernels *k, const struct item *item,
		      const struct pf_block *block, uint32_t place)
{
	uint32_t name, op = add_text(k, "(none)"), shapes = 0;
	const struct pf_gpu_config *c =
		pf_gpu_find_config(k->gpu, (int64_t)item->config);

	if (item->replayed) {
		op = item->replayed;
		block = NULL; /* that of the launch */
	} else if (!block && c && c->op_name) {
		op = add_text(k, c->op_name);
	} else if (!block) {
		k->out->without_op++;
		k->out->without_op_ns += item->dur_ns;
	} else if (name_text(k, block->name[place], &op) < 0) {
		return -1;
	}
	if (k->out->group == PF_KERNELS_BY_OP)
		return add_to_group(k, item, op, 0);
	if (k->out->group == PF_KERNELS_BY_OP_SHAPE) {
		shapes = add_text(k, "");
		if (block && block->args[place] < PF_ID_INLINE &&
		    shape_text(k, block->args[place], &shapes) < 0)
			return -1;
		return add_to_group(k, item, op, shapes);
	}
	if (name_text(k, item->name, &name) < 0)
		return -1;
	return add_to_group(k, item, name, op);
}

static int resolve_ops(struct kernels *k)
{
	const struct item *item;
	const struct pf_block *block;
	uint32_t place;

	while ((item = pf_by_event_next(k->by_op, &block, &place)))
		if (resolve_op(k, item, block, place) < 0)
			return -1;
	return k->db->err->code ? -1 : 0;
}

/* The value at place "seen" of a group. */
static void take_rank(struct group *g, size_t i, size_t seen, int64_t ns)
{
	unsigned rest;
	size_t at = pf_stats_place((size_t)g->stats.count, percents[i], &rest);

	if (seen == at)
		g->ranks[i] = ns;
	else if (rest && seen == at + 1)
		g->ranks[i] = pf_stats_between(g->ranks[i], ns, rest);
}

static int find_ranks(struct kernels *k)
{
	const int64_t *record;
	int64_t group = -1;
	size_t seen = 0;

	if (pf_sorter_finish(k->by_group, k->db->err) < 0)
		return -1;
	while ((record = pf_sorter_next(k->by_group, k->db->err))) {
		struct group *g = &k->groups[record[0]];

		seen = record[0] == group ? seen + 1 : 0;
		group = record[0];
		for (size_t i = 0; i < RANKS; i++)
			take_rank(g, i, seen, record[1]);
	}
	return k->db->err->code ? -1 : 0;
}

/* -1: the calls are too few. */
static int64_t carried_rank(const struct group *g, size_t i)
{
	return pf_stats_carries((size_t)g->stats.count, percents[i])
		       ? g->ranks[i]
		       : -1;
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
	pf_sat_sum(&out->product_ns, row->total_ns);
	if (row->kind.precision == PF_PRECISION_FP32)
		pf_sat_sum(&out->product_fp32_ns, row->total_ns);
	if (row->kind.precision == PF_PRECISION_UNKNOWN)
		pf_sat_sum(&out->product_unknown_ns, row->total_ns);
}

static void add_kind(struct kernels *k, struct pf_kernel_row *row)
{
	struct pf_buf text = { 0 };

	pf_kernel_short_name(&text, row->first);
	row->short_name = pf_arena_string(&k->out->texts, text.data);
	pf_buf_release(&text);
	if (row->kind.use != PF_TENSOR_UNKNOWN)
		row->tensor_cores = pf_tensor_word(row->kind.use);
	row->class_word = pf_class_word(row->kind.class);
	row->precision = pf_precision_word(row->kind.precision);
}

static double mean_of(const struct weighted *w)
{
	return w->weight > 0 ? w->sum / w->weight : NAN;
}

static struct pf_kernel_row row_of(struct kernels *k, const struct group *g)
{
	struct pf_kernel_row row = {
		.first = text_of(k, g->first),
		.second = text_of(k, g->second),
		.calls = g->stats.count,
		.replayed = g->replayed,
		.total_ns = g->stats.sum,
		.share = share_of(k, g->stats.sum),
		.mean_ns = pf_stats_mean(&g->stats),
		.median_ns = g->ranks[MEDIAN],
		.p90_ns = carried_rank(g, P90),
		.p99_ns = carried_rank(g, P99),
		.max_ns = g->stats.max,
		.min_ns = g->stats.min,
		.sd_ns = pf_stats_sd(&g->stats),
		.blocks_per_sm = mean_of(&g->blocks_per_sm),
		.occupancy_percent = mean_of(&g->occupancy),
		.registers = g->registers,
		.shared_bytes = g->shared,
		.device = g->device,
		.stream = g->stream,
		.grid = same_text(k, g->grid),
		.block = same_text(k, g->block),
		.kind = g->kind,
	};

	if (has_name(k))
		add_kind(k, &row);
	if (k->out->group == PF_KERNELS_BY_NAME_OP)
		add_product(k, &row);
	return row;
}

PF_ORDER(by_total, struct pf_kernel_row,
	 PF_DOWN(total_ns) PF_ALPHA(first) PF_ALPHA(second) PF_UP(kind.class))

/* No text is added any more: pointers to them hold. */
static void take_kernel_rows(struct kernels *k, struct pf_kernels *out)
{
	int64_t so_far = 0;

	out->row_count = (int64_t)k->group_count;
	out->rows = pf_calloc(k->group_count + 1, sizeof(*out->rows));
	for (size_t i = 0; i < k->group_count; i++)
		out->rows[i] = row_of(k, &k->groups[i]);
	pf_sort(out->rows, k->group_count, sizeof(*out->rows), by_total);
	for (size_t i = 0; i < k->group_count; i++) {
		pf_sat_sum(&so_far, out->rows[i].total_ns);
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
						pf_class_word((
							enum pf_kernel_class)c),
						pf_precision_word(
							(enum pf_precision)p),
						t->calls, t->ns,
						share_of(k, t->ns)
					};
		}
	for (size_t i = 0; i < out->stream_count; i++)
		out->streams[i].share = share_of(k, out->streams[i].total_ns);
	pf_sort(out->streams, out->stream_count, sizeof(*out->streams),
		by_place);
}

/* ---- the whole ---- */

static int set_up(struct kernels *k, const struct pf_window *window)
{
	pf_intern_init(&k->stream_keys);
	pf_map_init(&k->configs);
	pf_map_init(&k->kinds);
	pf_map_init(&k->names);
	pf_map_init(&k->argsets);
	pf_map_init(&k->places);
	add_text(k, "");
	k->by_group = pf_sorter_temp(2 * sizeof(int64_t));
	k->by_op = pf_by_event_new(k->db, sizeof(struct item),
				   PF_COLBIT(PF_COL_NAME) |
					   PF_COLBIT(PF_COL_ARGS));
	k->shapes = pf_named_prepare(k->db, "argset_shapes", k->db->err);
	k->gpu = pf_gpu_new(k->db, window,
			    PF_GPU_STARTS | (is_by_op(k) ? PF_GPU_LINKS : 0));
	k->tensor = pf_tensor_new(k->db->err);
	return k->shapes && k->gpu && k->tensor ? 0 : -1;
}

static void tear_down(struct kernels *k)
{
	pf_gpu_free(k->gpu);
	sqlite3_finalize(k->shapes);
	pf_by_event_free(k->by_op);
	pf_sorter_free(k->by_group);
	pf_intern_release(&k->stream_keys);
	pf_tensor_free(k->tensor);
	pf_map_release(&k->configs);
	pf_map_release(&k->kinds);
	pf_map_release(&k->names);
	pf_map_release(&k->argsets);
	pf_map_release(&k->places);
	free(k->groups);
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
	struct kernels k = { .db = db, .out = out, .no_ranks = args->no_ranks };

	out->group = (enum pf_kernels_group)args->group;
	out->graphs = k.graphs = args->graphs;
	pf_intern_init(&out->names);
	if (pf_window_resolve(db, &args->window, &out->window))
		return -1;
	if (set_up(&k, &out->window) < 0 || gather(&k) < 0 ||
	    resolve_ops(&k) < 0 || find_ranks(&k) < 0) {
		tear_down(&k);
		return -1;
	}
	take_kernel_rows(&k, out);
	take_sums(&k, out);
	tear_down(&k);
	return 0;
}

void pf_kernels_release(struct pf_kernels *k)
{
	pf_intern_release(&k->names);
	pf_arena_release(&k->texts);
	free(k->rows);
	free(k->streams);
	pf_window_release(&k->window);
	*k = (struct pf_kernels){ 0 };
}

/* Of TPUs, which have operations: 1, 0 if there are none, or -1. */
static int show_tpus(struct pf_db *db, const struct pf_kernels *k,
		     struct pf_doc *doc)
{
	struct pf_hlo_ops ops = { 0 };
	int rc = pf_hlo_ops_find(db, &k->window,
				 k->group == PF_KERNELS_BY_CATEGORY
					 ? PF_HLO_BY_CATEGORY
				 : has_name_group(k->group) ? PF_HLO_BY_NAME
							    : PF_HLO_BY_OP,
				 NULL, &ops);

	if (!rc && ops.count) {
		pf_hlo_ops_tell(&ops, doc);
		pf_hlo_ops_show(&ops, doc);
		rc = pf_trust_note(db, &k->window, PF_TRUST_TPUS, doc);
		rc = rc ? rc : 1;
	}
	pf_hlo_ops_release(&ops);
	return rc;
}

static void kernels_show(const struct pf_kernels *k, struct pf_doc *doc);

int pf_kernels(struct pf_db *db, const struct pf_kernels_args *args,
	       struct pf_kernels *kept, struct pf_doc *doc)
{
	struct pf_kernels own = { 0 }, *k = kept ? kept : &own;
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
	pf_kernels_release(&own);
	return shown < 0 ? -1 : rc;
}

/* ---- kernels show ---- */

#define LONG_NAME 120 /* in a sentence */

/* "matrix products 46.69 %, other kernels 53.13 %", the largest first. */
static void say_classes(const struct pf_kernels *k, struct pf_buf *out)
{
	static const struct {
		const char *word, *plain;
	} words[] = {
		{ "gemm", "matrix products" },
		{ "conv", "convolutions" },
		{ "attention", "attention" },
		{ "communication", "communication" },
		{ "other", "other kernels" },
		{ NULL, "of unknown class" },
	};
	enum { WORDS = sizeof(words) / sizeof(*words) };
	int64_t ns[WORDS] = { 0 };
	char share[PF_NUM_MAX];

	for (size_t i = 0; i < k->class_count; i++) {
		const char *word = k->classes[i].class_word;
		size_t w = 0;

		while (words[w].word &&
		       (!word || strcmp(words[w].word, word) != 0))
			w++;
		pf_sat_sum(&ns[w], k->classes[i].total_ns);
	}
	pf_buf_adds(out, "");
	for (size_t n = 0; n < WORDS; n++) {
		size_t most = 0;

		for (size_t w = 1; w < WORDS; w++)
			if (ns[w] > ns[most])
				most = w;
		if (!ns[most])
			break;
		pf_num_show_ratio(share, pf_num_share(ns[most], k->total_ns));
		pf_buf_addf(out, "%s%s %s", n ? ", " : "", words[most].plain,
			    share);
		ns[most] = 0;
	}
}

static void add_finding(const struct pf_kernels *k, struct pf_doc *doc)
{
	const struct pf_kernel_row *top = k->rows;
	struct pf_buf name = { 0 }, classes = { 0 };
	char share[PF_NUM_MAX], total[PF_NUM_MAX];

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
	pf_doc_finding(doc, "Kernels ran %s%s: %s; the largest is %s with %s",
		       pf_num_show_ns(total, k->total_ns),
		       pf_window_scope(&k->window), classes.data, name.data,
		       pf_num_show_ratio(share, top->share));
	pf_buf_release(&classes);
	pf_buf_release(&name);
}

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_kernels, member, key, title, kind)
static void add_scalars(const struct pf_kernels *k, struct pf_doc *doc)
{
	int of_products = k->group == PF_KERNELS_BY_NAME_OP ? PF_NS : PF_ABSENT;
	double unknown = pf_num_share(k->tensor_unknown_ns, k->total_ns);
	char text[PF_NUM_MAX], count[PF_NUM_MAX];
	const struct pf_field fields[] = {
		FIELD(total_ns, "kernel_ns", "Kernel time, summed", PF_NS),
		FIELD(calls, "kernel_count", "Kernels", PF_COUNT),
		FIELD(row_count, "group_count", "Groups", PF_COUNT),
		FIELD(tensor_core_share, "tensor_core_share", "Tensor cores",
		      PF_RATIO),
		FIELD(tensor_core_ns, "tensor_core_ns", "  time that uses them",
		      PF_NS),
		FIELD(tensor_unknown_ns, "tensor_unknown_ns",
		      "  time that may use them", PF_NS),
		FIELD(product_ns, "product_ns", "Matrix products, convolutions",
		      of_products),
		FIELD(product_fp32_ns, "product_fp32_ns",
		      "  in single precision", of_products),
		FIELD(product_unknown_ns, "product_unknown_ns",
		      "  of unknown precision", of_products),
	};

	bool is_one = k->tensor_unknown_calls == 1;

	PF_SCALARS(doc, fields, *k);
	if (unknown > PF_KERNELS_MOST_UNKNOWN)
		pf_doc_note(doc,
			    "whether %s %s (%s of the time) use%s "
			    "tensor cores is not known from %s",
			    pf_num_show_count(count, k->tensor_unknown_calls),
			    is_one ? "kernel" : "kernels",
			    pf_num_show_ratio(text, unknown), is_one ? "s" : "",
			    is_one ? "its name" : "their names");
}
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_kernel_row, member, key, title, kind)
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
		FIELD(short_name, "short_name", "Kernel",
		      PF_TEXT | PF_BRIEF | by_name),
		FIELD(second, second[k->group][0], second[k->group][1],
		      is_one ? PF_ABSENT : PF_TEXT),
		FIELD(calls, "calls", "Calls", PF_COUNT),
		FIELD(replayed, "replayed_calls", "Replayed",
		      k->graphs ? PF_COUNT : PF_ABSENT),
		FIELD(total_ns, "total_ns", "Total", PF_NS),
		FIELD(share, "share", "Share", PF_RATIO | PF_BAR),
		FIELD(cumulative_share, "cumulative_share", "Cumulative",
		      PF_RATIO | PF_FULL),
		FIELD(mean_ns, "mean_ns", "Mean", PF_NS | PF_SPARE),
		FIELD(median_ns, "median_ns", "Median", PF_NS | PF_FULL),
		FIELD(p90_ns, "p90_ns", "90th", PF_NS | PF_KNOWN | PF_FULL),
		FIELD(p99_ns, "p99_ns", "99th", PF_NS | PF_KNOWN | PF_FULL),
		/* only without a second text is there room */
		FIELD(max_ns, "max_ns", "Max",
		      is_one ? PF_NS | PF_SPARE : PF_NS | PF_FULL),
		FIELD(min_ns, "min_ns", "Min", PF_NS | PF_FULL),
		FIELD(sd_ns, "sd_ns", "Deviation", PF_REAL | PF_FULL),
		FIELD(blocks_per_sm, "blocks_per_sm", "Blocks per SM",
		      PF_REAL | PF_FULL),
		FIELD(occupancy_percent, "occupancy_percent", "Occupancy",
		      PF_REAL | PF_FULL),
		FIELD(registers, "registers_per_thread", "Registers",
		      PF_INT | PF_FULL | PF_KNOWN),
		FIELD(shared_bytes, "shared_memory_bytes", "Shared",
		      PF_BYTES | PF_FULL | PF_KNOWN),
		FIELD(grid, "grid", "Grid", PF_TEXT | PF_FULL),
		FIELD(block, "block", "Block", PF_TEXT | PF_FULL),
		FIELD(device, "device", "GPU", PF_INT | PF_FULL | PF_KNOWN),
		FIELD(stream, "stream", "Stream", PF_INT | PF_FULL | PF_KNOWN),
		FIELD(tensor_cores, "tensor_cores", "TC",
		      PF_TEXT | PF_SPARE | by_name),
		FIELD(class_word, "class", "Class",
		      PF_TEXT | PF_OURS | PF_FULL | by_name),
		FIELD(precision, "precision", "Precision",
		      PF_TEXT | PF_OURS | PF_FULL | by_name),
		FIELD(op_eligible, "op_eligible", "Eligible",
		      k->group == PF_KERNELS_BY_NAME_OP ? PF_TEXT | PF_FULL
							: PF_ABSENT),
	};

	PF_ROWS(doc, "kernels", NULL, fields, k->rows, (size_t)k->row_count);
}
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_kernel_class_row, member, key, title, kind)
static const struct pf_field class_fields[] = {
	FIELD(class_word, "class", "Class", PF_TEXT | PF_OURS),
	FIELD(precision, "precision", "Precision", PF_TEXT | PF_OURS),
	FIELD(calls, "calls", "Calls", PF_COUNT),
	FIELD(total_ns, "total_ns", "Total", PF_NS),
	FIELD(share, "share", "Share", PF_RATIO),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_kernel_stream, member, key, title, kind)
static const struct pf_field stream_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT | PF_KNOWN),
	FIELD(device, "device", "GPU", PF_INT | PF_KNOWN),
	FIELD(stream, "stream", "Stream", PF_INT | PF_KNOWN),
	FIELD(calls, "calls", "Calls", PF_COUNT),
	FIELD(total_ns, "total_ns", "Total", PF_NS),
	FIELD(share, "share", "Share", PF_RATIO),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
};

static void kernels_show(const struct pf_kernels *k, struct pf_doc *doc)
{
	char share[PF_NUM_MAX], count[PF_NUM_MAX];

	add_finding(k, doc);
	add_scalars(k, doc);
	add_rows(k, doc);
	PF_ROWS(doc, "classes", "By class and precision", class_fields,
		k->classes, k->class_count);
	PF_WINDOW_ROWS(&k->window, doc, "streams", "By stream", stream_fields,
		       k->streams, k->stream_count);
	if (k->graphs)
		pf_graphs_note(k->graphs, doc);
	if (k->without_op)
		pf_doc_note(
			doc, "%s kernel%s (%s of kernel time) %s no operator",
			pf_num_show_count(count, k->without_op),
			k->without_op == 1 ? "" : "s",
			pf_num_show_ratio(share, pf_num_share(k->without_op_ns,
							      k->total_ns)),
			k->without_op == 1 ? "has" : "have");
}
