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
#include "analysis/kernels.h"
#include "analysis/reader.h"
#include "analysis/stats.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/spool.h"
#include "store/named.h"
#include "trace/event.h"

#define SORT_BYTES     (16u << 20)
#define DEFAULT_SHARED 49152 /* above it an occupancy of 0 is no answer */

enum { BY_NAME, BY_NAME_OP, BY_NAME_GEOMETRY, BY_OP_SHAPE };
#define VARIES (-2)
#define NONE   (-1)

struct config {
	int64_t id;
	uint32_t grid, block; /* numbers of texts */
	int64_t registers, shared;
	double blocks_per_sm, occupancy; /* negative: unknown */
};

/* A kernel on its way to its group. */
struct item {
	int64_t op_id, order, dur_ns, config, device, stream;
	uint32_t name;
};

struct weighted {
	double sum, weight;
};

struct group {
	uint32_t first, second; /* numbers of texts: name and op, ... */
	struct pf_stats stats;
	int64_t median;
	const char *first_text, *second_text; /* once all are known */
	int64_t grid, block, registers, shared, device, stream;
	struct weighted blocks_per_sm, occupancy;
};

struct kernels {
	struct pf_db *db;
	const struct pf_kernels_args *args;
	struct pf_gpu *gpu;
	struct pf_reader *reader;
	sqlite3_stmt *shapes;
	struct config *configs;
	size_t config_count, config_cap;
	struct pf_intern texts;
	struct pf_map names;   /* string.id -> number of text */
	struct pf_map argsets; /* argset.id -> number of text */
	struct pf_map places;  /* two numbers of texts -> group */
	struct group *groups;
	size_t group_count, group_cap;
	struct pf_sorter *by_op, *by_group;
	int64_t total_ns, calls, without_op, without_op_ns;
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

/* ---- launch configurations ---- */

static uint32_t column_text(struct kernels *k, sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return add_text(k, text ? text : "");
}

static int64_t int_or_none(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? NONE
		       : sqlite3_column_int64(stmt, column);
}

static double real_or_none(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? NONE
		       : sqlite3_column_double(stmt, column);
}

static int load_configs(struct kernels *k, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(k->db, "kernel_configs", err);
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(k->db, stmt, err)) == 1) {
		struct config *c;

		k->configs = pf_grow(k->configs, &k->config_cap,
				     k->config_count + 1, sizeof(*k->configs));
		c = &k->configs[k->config_count++];
		c->id = sqlite3_column_int64(stmt, 0);
		c->grid = column_text(k, stmt, 1);
		c->block = column_text(k, stmt, 2);
		c->registers = int_or_none(stmt, 3);
		c->shared = int_or_none(stmt, 4);
		c->blocks_per_sm = real_or_none(stmt, 5);
		c->occupancy = real_or_none(stmt, 6);
		if (c->occupancy == 0 && c->shared > DEFAULT_SHARED)
			c->occupancy = NONE;
	}
	sqlite3_finalize(stmt);
	return rc;
}

static const struct config *find_config(const struct kernels *k, int64_t id)
{
	size_t low = 0, high = k->config_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->configs[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < k->config_count && k->configs[low].id == id)
		return &k->configs[low];
	return NULL;
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

static int add_to_group(struct kernels *k, const struct item *item,
			uint32_t first, uint32_t second, struct pf_err *err)
{
	uint64_t *place = pf_map_at(&k->places, (uint64_t)first << 32 | second);
	const struct config *c = find_config(k, item->config);
	bool is_new = *place == UINT64_MAX;
	struct group *g;
	int64_t record[2];

	if (is_new) {
		*place = k->group_count++;
		k->groups = pf_grow(k->groups, &k->group_cap, k->group_count,
				    sizeof(*k->groups));
		k->groups[*place] =
			(struct group){ .first = first, .second = second };
	}
	g = &k->groups[*place];
	pf_stats_add(&g->stats, item->dur_ns);
	note_same(&g->grid, c ? (int64_t)c->grid : NONE, is_new);
	note_same(&g->block, c ? (int64_t)c->block : NONE, is_new);
	note_same(&g->registers, c ? c->registers : NONE, is_new);
	note_same(&g->shared, c ? c->shared : NONE, is_new);
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
static uint32_t geometry(struct kernels *k, const struct config *c)
{
	struct pf_buf text = { 0 };
	uint32_t number;

	if (!c)
		return add_text(k, "");
	pf_buf_addf(&text, "%s x ", pf_intern_text(&k->texts, c->grid, NULL));
	pf_buf_adds(&text, pf_intern_text(&k->texts, c->block, NULL));
	number = add_text(k, text.data);
	pf_buf_release(&text);
	return number;
}

static int put_kernel(struct kernels *k, const struct item *item,
		      struct pf_err *err)
{
	uint32_t name, second;

	if (k->args->group == BY_NAME_OP || k->args->group == BY_OP_SHAPE)
		return pf_sorter_add(k->by_op, item, err);
	if (name_text(k, item->name, &name, err) < 0)
		return -1;
	second = k->args->group == BY_NAME
			 ? 0
			 : geometry(k, find_config(k, item->config));
	return add_to_group(k, item, name, second, err);
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
		k->calls++;
		if (__builtin_add_overflow(k->total_ns, ev->dur_ns,
					   &k->total_ns))
			k->total_ns = INT64_MAX;
		if (put_kernel(k, &item, err) < 0)
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

static int find_medians(struct kernels *k, struct pf_err *err)
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
		if (seen == pf_stats_rank((size_t)g->stats.count, 50))
			g->median = record[1];
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

static void add_row(struct kernels *k, struct pf_table *t,
		    const struct group *g, int64_t *so_far)
{
	double total = k->total_ns ? (double)k->total_ns : 1;

	*so_far += g->stats.sum;
	pf_table_string(t, g->first_text);
	if (k->args->group != BY_OP_SHAPE)
		add_short_name(t, g->first_text);
	if (k->args->group != BY_NAME)
		pf_table_string(t, g->second_text);
	pf_table_int(t, g->stats.count);
	pf_table_int(t, g->stats.sum);
	pf_table_real(t, (double)g->stats.sum / total);
	pf_table_real(t, (double)*so_far / total);
	pf_table_int(t, pf_stats_mean(&g->stats));
	pf_table_int(t, g->median);
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
}

/* The columns that name a group, then its figures. */
static size_t choose_columns(const struct kernels *k, struct pf_col *out)
{
	static const struct pf_col second[] = {
		{ 0 },
		{ "op", "Operator", PF_TEXT },
		{ "geometry", "Grid x block", PF_TEXT },
		{ "input_shapes", "Input shapes", PF_TEXT },
	};
	static const struct pf_col figures[] = {
		{ "calls", "Calls", PF_COUNT },
		{ "total_ns", "Total", PF_NS },
		{ "share", "Share", PF_RATIO },
		{ "cumulative_share", "Cumulative", PF_RATIO | PF_FULL },
		{ "mean_ns", "Mean", PF_NS },
		{ "median_ns", "Median", PF_NS | PF_FULL },
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
	enum { MAX_COLUMN = 6 }; /* only with names alone is there room */
	bool is_op = k->args->group == BY_OP_SHAPE;
	size_t count = 0;

	if (is_op) {
		out[count++] = (struct pf_col){ "op", "Operator", PF_TEXT };
	} else {
		out[count++] =
			(struct pf_col){ "name", "Kernel", PF_TEXT | PF_FULL };
		out[count++] = (struct pf_col){ "short_name", "Kernel",
						PF_TEXT | PF_BRIEF };
	}
	if (k->args->group != BY_NAME)
		out[count++] = second[k->args->group];
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		out[count] = figures[i];
		if (i == MAX_COLUMN && k->args->group != BY_NAME)
			out[count].kind |= PF_FULL;
		count++;
	}
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
	if (k->args->group == BY_OP_SHAPE)
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

static void add_answer(struct kernels *k, struct pf_doc *doc)
{
	struct pf_col cols[24];
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
	t = pf_doc_table(doc, "kernels", NULL, cols, count);
	for (size_t i = 0; i < k->group_count; i++)
		add_row(k, t, &k->groups[i], &so_far);
	if (k->without_op)
		pf_doc_note(doc,
			    "%" PRId64 " kernels (%s of their time) have no "
			    "operator",
			    k->without_op,
			    pf_num_show_ratio(
				    share, k->total_ns
						   ? (double)k->without_op_ns /
							     (double)k->total_ns
						   : 0));
}

/* ---- the whole ---- */

static int set_up(struct kernels *k, const struct pf_window *window,
		  struct pf_err *err)
{
	bool by_op =
		k->args->group == BY_NAME_OP || k->args->group == BY_OP_SHAPE;
	const char *dir = pf_analysis_temp_dir();

	pf_intern_init(&k->texts);
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
			    PF_GPU_STARTS | (by_op ? PF_GPU_LINKS : 0), err);
	return k->shapes && k->gpu ? load_configs(k, err) : -1;
}

static void tear_down(struct kernels *k)
{
	pf_gpu_free(k->gpu);
	pf_reader_free(k->reader);
	sqlite3_finalize(k->shapes);
	pf_sorter_free(k->by_op);
	pf_sorter_free(k->by_group);
	pf_intern_release(&k->texts);
	pf_map_release(&k->names);
	pf_map_release(&k->argsets);
	pf_map_release(&k->places);
	free(k->configs);
	free(k->groups);
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
	    resolve_ops(&k, err) < 0 || find_medians(&k, err) < 0)
		rc = -1;
	else
		add_answer(&k, doc);
	tear_down(&k);
	pf_window_release(&window);
	return rc;
}
