/* SPDX-License-Identifier: MIT */
/*
 * Two passes: GPU work in order of time gives each kernel its group (in order
 * of its operator where groups name one), and a sort by (group, duration)
 * gives medians.  Memory grows with the number of groups only.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gpu.h"
#include "analysis/intern.h"
#include "analysis/interval.h"
#include "analysis/kernels.h"
#include "analysis/reader.h"
#include "analysis/stats.h"
#include "analysis/tensor.h"
#include "analysis/trust.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/spool.h"
#include "store/named.h"
#include "trace/event.h"

#define SORT_BYTES (16u << 20)

enum { BY_NAME, BY_NAME_OP, BY_NAME_GEOMETRY, BY_OP_SHAPE, BY_OP };
#define VARIES       (-2)
#define NONE         (-1)
#define MOST_UNKNOWN 0.2 /* share of time, for tensor cores */

/* A kernel on its way to its group. */
struct item {
	int64_t op_id, order, dur_ns, config, device, stream;
	uint32_t name;
};

/* Nearest ranks of durations. */
enum { MEDIAN, P90, P99, RANKS };
static const unsigned percents[RANKS] = { 50, 90, 99 };

struct weighted {
	double sum, weight;
};

struct group {
	uint32_t first, second; /* numbers of texts: name and op, ... */
	struct pf_stats stats;
	int64_t ranks[RANKS];
	enum pf_tensor_use tensor; /* of the name, where the group has one */
	const char *first_text, *second_text; /* once all are known */
	int64_t grid, block, registers, shared, device, stream;
	struct weighted blocks_per_sm, occupancy;
};

/* What ran on one stream of one GPU. */
struct stream {
	int64_t trace_id, rank, device, stream;
	int64_t calls, total_ns;
};

struct kernels {
	struct pf_db *db;
	const struct pf_kernels_args *args;
	struct pf_gpu *gpu;
	struct pf_reader *reader;
	sqlite3_stmt *shapes;
	struct pf_tensor *tensor;
	struct pf_intern texts;
	struct pf_map configs; /* gpu_config.id -> texts of grid and block */
	struct pf_map names;   /* string.id -> number of text */
	struct pf_map uses;    /* string.id -> enum pf_tensor_use */
	struct pf_map argsets; /* argset.id -> number of text */
	struct pf_map places;  /* two numbers of texts -> group */
	struct group *groups;
	size_t group_count, group_cap;
	struct pf_sorter *by_op, *by_group;
	int64_t total_ns, calls, without_op, without_op_ns;
	int64_t use_ns[PF_TENSOR_USES], use_calls[PF_TENSOR_USES];
	struct pf_intern stream_keys;
	struct stream *streams; /* by number of their key */
	size_t stream_count, stream_cap;
};

/* ---- texts ---- */

static uint32_t add_text(struct kernels *k, const char *text)
{
	return pf_intern_add(&k->texts, text, strlen(text));
}

static int name_text(struct kernels *k, uint32_t name, uint32_t *out,
		     struct pf_err *err)
{
	uint64_t *place = pf_map_at(&k->names, name);
	const char *text;

	if (*place == UINT64_MAX) {
		text = pf_gpu_name(k->gpu, name, err);
		if (!text)
			return -1;
		*place = add_text(k, *text ? text : "(unnamed)");
	}
	*out = (uint32_t)*place;
	return 0;
}

static int shape_text(struct kernels *k, uint32_t args, uint32_t *out,
		      struct pf_err *err)
{
	uint64_t *place = pf_map_at(&k->argsets, args);
	int rc;

	if (*place == UINT64_MAX) {
		sqlite3_reset(k->shapes);
		sqlite3_bind_int64(k->shapes, 1, args);
		rc = pf_db_step(k->db, k->shapes, err);
		if (rc < 0)
			return -1;
		*place = add_text(
			k, rc ? (const char *)sqlite3_column_text(k->shapes, 0)
			      : "");
	}
	*out = (uint32_t)*place;
	return 0;
}

static int find_use(struct kernels *k, uint32_t name, enum pf_tensor_use *out,
		    struct pf_err *err)
{
	uint64_t *place = pf_map_at(&k->uses, name);
	const char *text;

	if (*place == UINT64_MAX) {
		text = pf_gpu_name(k->gpu, name, err);
		if (!text)
			return -1;
		*place = pf_tensor_find(k->tensor, text);
	}
	*out = (enum pf_tensor_use) * place;
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

/* Are groups of kernels, not of operators? */
static bool has_name(const struct kernels *k)
{
	return k->args->group != BY_OP_SHAPE && k->args->group != BY_OP;
}

static bool is_by_op(const struct kernels *k)
{
	return k->args->group == BY_NAME_OP || !has_name(k);
}

static int add_to_group(struct kernels *k, const struct item *item,
			uint32_t first, uint32_t second, struct pf_err *err)
{
	uint64_t *place = pf_map_at(&k->places, (uint64_t)first << 32 | second);
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
			(struct group){ .first = first, .second = second };
		if (has_name(k) &&
		    find_use(k, item->name, &k->groups[*place].tensor, err) < 0)
			return -1;
	}
	if (c)
		geometry_texts(k, c, &grid, &block);
	g = &k->groups[*place];
	pf_stats_add(&g->stats, item->dur_ns);
	note_same(&g->grid, grid, is_new);
	note_same(&g->block, block, is_new);
	note_same(&g->registers, c ? c->registers : NONE, is_new);
	note_same(&g->shared, c ? c->shared_bytes : NONE, is_new);
	note_same(&g->device, item->device, is_new);
	note_same(&g->stream, item->stream, is_new);
	add_weighted(&g->blocks_per_sm, c ? c->blocks_per_sm : NONE,
		     item->dur_ns);
	add_weighted(&g->occupancy, c ? c->occupancy : NONE, item->dur_ns);
	record[0] = (int64_t)*place;
	record[1] = item->dur_ns;
	return pf_sorter_add(k->by_group, record, err);
}

/* Grid and block as one text. */
static uint32_t geometry(struct kernels *k, const struct pf_gpu_config *c)
{
	struct pf_buf text = { 0 };
	uint32_t number, grid, block;

	if (!c)
		return add_text(k, "");
	geometry_texts(k, c, &grid, &block);
	pf_buf_addf(&text, "%s x ", pf_intern_text(&k->texts, grid, NULL));
	pf_buf_adds(&text, pf_intern_text(&k->texts, block, NULL));
	number = add_text(k, text.data);
	pf_buf_release(&text);
	return number;
}

static int put_kernel(struct kernels *k, const struct item *item,
		      struct pf_err *err)
{
	uint32_t name, second;

	if (is_by_op(k))
		return pf_sorter_add(k->by_op, item, err);
	if (name_text(k, item->name, &name, err) < 0)
		return -1;
	second =
		k->args->group == BY_NAME
			? 0
			: geometry(k, pf_gpu_find_config(k->gpu, item->config));
	return add_to_group(k, item, name, second, err);
}

/* What does not depend on groups. */
static int count_kernel(struct kernels *k, const struct pf_gpu_event *ev,
			struct pf_err *err)
{
	int64_t key[3] = { ev->trace->trace_id, ev->device, ev->stream };
	uint32_t n =
		pf_intern_add(&k->stream_keys, (const char *)key, sizeof(key));
	enum pf_tensor_use use;
	struct stream *s;

	k->streams = pf_grow(k->streams, &k->stream_cap, n + 1u,
			     sizeof(*k->streams));
	s = &k->streams[n];
	if (n + 1 > k->stream_count) {
		k->stream_count = n + 1;
		*s = (struct stream){ key[0], ev->trace->rank,
				      key[1], key[2],
				      0,      0 };
	}
	if (find_use(k, ev->name, &use, err) < 0)
		return -1;
	s->calls++;
	s->total_ns = pf_span_end(s->total_ns, ev->dur_ns);
	k->calls++;
	k->total_ns = pf_span_end(k->total_ns, ev->dur_ns);
	k->use_calls[use]++;
	k->use_ns[use] = pf_span_end(k->use_ns[use], ev->dur_ns);
	return 0;
}

static int gather(struct kernels *k, struct pf_err *err)
{
	const struct pf_gpu_event *ev;
	int64_t order = 0;
	int rc;

	while ((rc = pf_gpu_next(k->gpu, &ev, err)) == 1) {
		struct item item = { 0 };

		if (ev->kind != PF_KIND_KERNEL)
			continue;
		item.op_id = ev->op_id;
		item.order = order++;
		item.dur_ns = ev->dur_ns;
		item.config = ev->config;
		item.device = ev->device;
		item.stream = ev->stream;
		item.name = ev->name;
		if (count_kernel(k, ev, err) < 0 ||
		    put_kernel(k, &item, err) < 0)
			return -1;
	}
	return rc;
}

/* Kernels in order of their operators, to find what those are called. */
static int resolve_op(struct kernels *k, const struct item *item,
		      struct pf_err *err)
{
	const struct pf_block *block;
	uint32_t place, name, op = add_text(k, "(none)"), shapes = 0;
	int found = 0;

	if (item->op_id) {
		found = pf_reader_at(k->reader, item->op_id, &block, &place,
				     err);
		if (found < 0)
			return -1;
	}
	if (!found) {
		k->without_op++;
		k->without_op_ns += item->dur_ns;
	} else if (name_text(k, block->name[place], &op, err) < 0) {
		return -1;
	}
	if (k->args->group == BY_OP)
		return add_to_group(k, item, op, 0, err);
	if (k->args->group == BY_OP_SHAPE) {
		shapes = add_text(k, "");
		if (found && block->args[place] < PF_ID_INLINE &&
		    shape_text(k, block->args[place], &shapes, err) < 0)
			return -1;
		return add_to_group(k, item, op, shapes, err);
	}
	if (name_text(k, item->name, &name, err) < 0)
		return -1;
	return add_to_group(k, item, name, op, err);
}

static int resolve_ops(struct kernels *k, struct pf_err *err)
{
	const struct item *item;

	if (pf_sorter_finish(k->by_op, err) < 0)
		return -1;
	while ((item = pf_sorter_next(k->by_op, err)))
		if (resolve_op(k, item, err) < 0)
			return -1;
	return err->code ? -1 : 0;
}

static int find_ranks(struct kernels *k, struct pf_err *err)
{
	const int64_t *record;
	int64_t group = -1;
	size_t seen = 0;

	if (pf_sorter_finish(k->by_group, err) < 0)
		return -1;
	while ((record = pf_sorter_next(k->by_group, err))) {
		struct group *g = &k->groups[record[0]];

		seen = record[0] == group ? seen + 1 : 0;
		group = record[0];
		for (size_t i = 0; i < RANKS; i++)
			if (seen ==
			    pf_stats_rank((size_t)g->stats.count, percents[i]))
				g->ranks[i] = record[1];
	}
	return err->code ? -1 : 0;
}

/* ---- the table ---- */

static int by_total(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int rc;

	if (x->stats.sum != y->stats.sum)
		return x->stats.sum < y->stats.sum ? 1 : -1;
	rc = strcmp(x->first_text, y->first_text);
	return rc ? rc : strcmp(x->second_text, y->second_text);
}

/* No text is added any more: pointers to them hold. */
static void sort_groups(struct kernels *k)
{
	for (size_t i = 0; i < k->group_count; i++) {
		struct group *g = &k->groups[i];

		g->first_text = pf_intern_text(&k->texts, g->first, NULL);
		g->second_text = pf_intern_text(&k->texts, g->second, NULL);
	}
	if (k->group_count)
		qsort(k->groups, k->group_count, sizeof(*k->groups), by_total);
}

static void add_short_name(struct pf_table *t, const char *name)
{
	struct pf_buf text = { 0 };

	pf_kernel_short_name(&text, name);
	pf_table_string(t, text.data);
	pf_buf_release(&text);
}

static void add_same_text(struct kernels *k, struct pf_table *t, int64_t number)
{
	const char *text =
		number >= 0 ? pf_intern_text(&k->texts, (uint32_t)number, NULL)
			    : NULL;

	pf_table_string(t, text && *text ? text : NULL);
}

static void add_same(struct pf_table *t, int64_t value)
{
	if (value >= 0)
		pf_table_int(t, value);
	else
		pf_table_null(t);
}

static void add_mean(struct pf_table *t, const struct weighted *w)
{
	if (w->weight > 0)
		pf_table_real(t, w->sum / w->weight);
	else
		pf_table_null(t);
}

static bool has_second(const struct kernels *k)
{
	return k->args->group != BY_NAME && k->args->group != BY_OP;
}

static void add_row(struct kernels *k, struct pf_table *t,
		    const struct group *g, int64_t *so_far)
{
	double total = k->total_ns ? (double)k->total_ns : 1;

	*so_far += g->stats.sum;
	pf_table_string(t, g->first_text);
	if (has_name(k))
		add_short_name(t, g->first_text);
	if (has_second(k))
		pf_table_string(t, g->second_text);
	pf_table_int(t, g->stats.count);
	pf_table_int(t, g->stats.sum);
	pf_table_real(t, (double)g->stats.sum / total);
	pf_table_real(t, (double)*so_far / total);
	pf_table_int(t, pf_stats_mean(&g->stats));
	pf_table_int(t, g->ranks[MEDIAN]);
	pf_table_int(t, g->ranks[P90]);
	pf_table_int(t, g->ranks[P99]);
	pf_table_int(t, g->stats.max);
	pf_table_int(t, g->stats.min);
	pf_table_real(t, pf_stats_sd(&g->stats));
	add_mean(t, &g->blocks_per_sm);
	add_mean(t, &g->occupancy);
	add_same(t, g->registers);
	add_same(t, g->shared);
	add_same_text(k, t, g->grid);
	add_same_text(k, t, g->block);
	add_same(t, g->device);
	add_same(t, g->stream);
	if (has_name(k))
		pf_table_string(t, g->tensor == PF_TENSOR_UNKNOWN
					   ? NULL
					   : pf_tensor_word(g->tensor));
}

/* The columns that name a group, then its figures. */
static size_t choose_columns(const struct kernels *k, struct pf_col *out)
{
	static const struct pf_col second[] = {
		{ 0 },
		{ "op", "Operator", PF_TEXT },
		{ "geometry", "Grid x block", PF_TEXT },
		{ "input_shapes", "Input shapes", PF_TEXT },
		{ 0 },
	};
	static const struct pf_col figures[] = {
		{ "calls", "Calls", PF_COUNT },
		{ "total_ns", "Total", PF_NS },
		{ "share", "Share", PF_RATIO },
		{ "cumulative_share", "Cumulative", PF_RATIO | PF_FULL },
		{ "mean_ns", "Mean", PF_NS },
		{ "median_ns", "Median", PF_NS | PF_FULL },
		{ "p90_ns", "90th", PF_NS | PF_FULL },
		{ "p99_ns", "99th", PF_NS | PF_FULL },
		{ "max_ns", "Max", PF_NS },
		{ "min_ns", "Min", PF_NS | PF_FULL },
		{ "sd_ns", "Deviation", PF_REAL | PF_FULL },
		{ "blocks_per_sm", "Blocks per SM", PF_REAL | PF_FULL },
		{ "occupancy_percent", "Occupancy", PF_REAL | PF_FULL },
		{ "registers_per_thread", "Registers", PF_INT | PF_FULL },
		{ "shared_memory_bytes", "Shared", PF_BYTES | PF_FULL },
		{ "grid", "Grid", PF_TEXT | PF_FULL },
		{ "block", "Block", PF_TEXT | PF_FULL },
		{ "device", "GPU", PF_INT | PF_FULL },
		{ "stream", "Stream", PF_INT | PF_FULL },
	};
	enum { MAX_COLUMN = 8 }; /* only without a second is there room */
	size_t count = 0;

	if (!has_name(k)) {
		out[count++] = (struct pf_col){ "op", "Operator", PF_TEXT };
	} else {
		out[count++] =
			(struct pf_col){ "name", "Kernel", PF_TEXT | PF_FULL };
		out[count++] = (struct pf_col){ "short_name", "Kernel",
						PF_TEXT | PF_BRIEF };
	}
	if (has_second(k))
		out[count++] = second[k->args->group];
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		out[count] = figures[i];
		if (i == MAX_COLUMN && has_second(k))
			out[count].kind |= PF_FULL;
		count++;
	}
	if (has_name(k))
		out[count++] = (struct pf_col){ "tensor_cores", "TC", PF_TEXT };
	return count;
}

static void add_finding(struct kernels *k, struct pf_doc *doc)
{
	const struct group *top = NULL;
	struct pf_buf name = { 0 };
	char share[PF_NUM_MAX], total[PF_NUM_MAX];

	for (size_t i = 0; i < k->group_count; i++)
		if (!top || k->groups[i].stats.sum > top->stats.sum)
			top = &k->groups[i];
	if (!top) {
		pf_doc_finding(doc, "There are no kernels");
		return;
	}
	if (!has_name(k))
		pf_buf_adds(&name, top->first_text);
	else
		pf_kernel_short_name(&name, top->first_text);
	if (name.len > 60)
		memcpy(name.data + 57, "...", 4);
	pf_doc_finding(doc, "%s takes %s of the %s that kernels ran", name.data,
		       pf_num_show_ratio(
			       share, k->total_ns ? (double)top->stats.sum /
							    (double)k->total_ns
						  : 0),
		       pf_num_show_ns(total, k->total_ns));
	pf_buf_release(&name);
}

static double share_of(const struct kernels *k, int64_t ns)
{
	return k->total_ns ? (double)ns / (double)k->total_ns : 0;
}

/* Nothing is claimed where much is unknown. */
static void add_tensor_cores(const struct kernels *k, struct pf_doc *doc)
{
	static const char key[] = "tensor_core_share", title[] = "Tensor cores";
	double unknown = share_of(k, k->use_ns[PF_TENSOR_UNKNOWN]);
	char text[PF_NUM_MAX];

	if (!k->total_ns)
		return;
	if (unknown > MOST_UNKNOWN)
		pf_doc_null(doc, key, title, PF_RATIO);
	else
		pf_doc_real(doc, key, title, PF_RATIO,
			    share_of(k, k->use_ns[PF_TENSOR_YES]));
	pf_doc_int(doc, "tensor_core_ns", "Time in tensor core kernels", PF_NS,
		   k->use_ns[PF_TENSOR_YES]);
	pf_doc_int(doc, "tensor_unknown_ns", "Time in kernels not in our list",
		   PF_NS, k->use_ns[PF_TENSOR_UNKNOWN]);
	if (unknown > MOST_UNKNOWN)
		pf_doc_note(doc,
			    "whether %" PRId64 " kernels (%s of the time) use "
			    "tensor cores is not known from their names",
			    k->use_calls[PF_TENSOR_UNKNOWN],
			    pf_num_show_ratio(text, unknown));
}

static int by_place(const void *a, const void *b)
{
	const struct stream *x = a, *y = b;

	if (x->trace_id != y->trace_id)
		return x->trace_id < y->trace_id ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->stream > y->stream) - (x->stream < y->stream);
}

static void add_streams(struct kernels *k, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "rank", "Rank", PF_INT },
		{ "device", "GPU", PF_INT },
		{ "stream", "Stream", PF_INT },
		{ "calls", "Calls", PF_COUNT },
		{ "total_ns", "Total", PF_NS },
		{ "share", "Share", PF_RATIO },
		{ "trace_id", "Trace", PF_INT | PF_FULL },
	};
	struct pf_table *t = pf_doc_table(doc, "streams", "By stream", cols,
					  sizeof(cols) / sizeof(*cols));

	if (k->stream_count)
		qsort(k->streams, k->stream_count, sizeof(*k->streams),
		      by_place);
	for (size_t i = 0; i < k->stream_count; i++) {
		const struct stream *s = &k->streams[i];

		add_same(t, s->rank);
		add_same(t, s->device);
		add_same(t, s->stream);
		pf_table_int(t, s->calls);
		pf_table_int(t, s->total_ns);
		pf_table_real(t, share_of(k, s->total_ns));
		pf_table_int(t, s->trace_id);
	}
}

static void add_answer(struct kernels *k, struct pf_doc *doc)
{
	struct pf_col cols[28];
	size_t count = choose_columns(k, cols);
	struct pf_table *t;
	int64_t so_far = 0;
	char share[PF_NUM_MAX];

	sort_groups(k);
	add_finding(k, doc);
	pf_doc_int(doc, "kernel_ns", "Kernel time, summed", PF_NS, k->total_ns);
	pf_doc_int(doc, "kernel_count", "Kernels", PF_COUNT, k->calls);
	pf_doc_int(doc, "group_count", "Groups", PF_COUNT,
		   (int64_t)k->group_count);
	add_tensor_cores(k, doc);
	t = pf_doc_table(doc, "kernels", NULL, cols, count);
	for (size_t i = 0; i < k->group_count; i++)
		add_row(k, t, &k->groups[i], &so_far);
	add_streams(k, doc);
	if (k->without_op)
		pf_doc_note(doc,
			    "%" PRId64 " kernels (%s of their time) have no "
			    "operator",
			    k->without_op,
			    pf_num_show_ratio(share,
					      share_of(k, k->without_op_ns)));
}

/* ---- the whole ---- */

static int set_up(struct kernels *k, const struct pf_window *window,
		  struct pf_err *err)
{
	const char *dir = pf_analysis_temp_dir();

	pf_intern_init(&k->texts);
	pf_intern_init(&k->stream_keys);
	pf_map_init(&k->configs);
	pf_map_init(&k->uses);
	pf_map_init(&k->names);
	pf_map_init(&k->argsets);
	pf_map_init(&k->places);
	add_text(k, "");
	k->by_group = pf_sorter_new(2 * sizeof(int64_t), SORT_BYTES, dir);
	k->by_op = pf_sorter_new(sizeof(struct item), SORT_BYTES, dir);
	k->reader = pf_reader_new(k->db, PF_COLBIT(PF_COL_NAME) |
						 PF_COLBIT(PF_COL_ARGS));
	k->shapes = pf_named_prepare(k->db, "argset_shapes", err);
	k->gpu = pf_gpu_new(k->db, window,
			    PF_GPU_STARTS | (is_by_op(k) ? PF_GPU_LINKS : 0),
			    err);
	k->tensor = pf_tensor_new(err);
	return k->shapes && k->gpu && k->tensor ? 0 : -1;
}

static void tear_down(struct kernels *k)
{
	pf_gpu_free(k->gpu);
	pf_reader_free(k->reader);
	sqlite3_finalize(k->shapes);
	pf_sorter_free(k->by_op);
	pf_sorter_free(k->by_group);
	pf_intern_release(&k->texts);
	pf_intern_release(&k->stream_keys);
	pf_tensor_free(k->tensor);
	pf_map_release(&k->configs);
	pf_map_release(&k->uses);
	pf_map_release(&k->names);
	pf_map_release(&k->argsets);
	pf_map_release(&k->places);
	free(k->streams);
	free(k->groups);
}

static unsigned needs(const struct pf_kernels_args *args)
{
	switch (args->group) {
	case BY_OP_SHAPE:
		return PF_TRUST_WORK | PF_TRUST_LINKS | PF_TRUST_SHAPES;
	case BY_NAME_OP:
		return PF_TRUST_WORK | PF_TRUST_LINKS;
	default:
		return PF_TRUST_WORK;
	}
}

int pf_kernels(struct pf_db *db, const struct pf_kernels_args *args,
	       struct pf_doc *doc, struct pf_err *err)
{
	struct kernels k = { .db = db, .args = args };
	struct pf_window window = { 0 };
	int rc = pf_window_resolve(db, &args->window, &window, err);

	if (rc)
		return -1;
	if (set_up(&k, &window, err) < 0 || gather(&k, err) < 0 ||
	    resolve_ops(&k, err) < 0 || find_ranks(&k, err) < 0)
		rc = -1;
	else
		add_answer(&k, doc);
	if (!rc)
		rc = pf_trust_note(db, &window, needs(args), doc, err);
	tear_down(&k);
	pf_window_release(&window);
	return rc;
}
