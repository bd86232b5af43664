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

#include "analysis/kernels_impl.h"
#include "events/trust.h"
#include "base/mem.h"
#include "base/sat.h"
#include "base/spool.h"
#include "store/named.h"
#include "trace/event.h"

static const unsigned percents[RANKS] = { 50, 90, 99 };

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

/* By its name, but for communication, which GPU work says of itself. */
static int find_kind(struct kernels *k, uint32_t name, bool is_comm,
		     struct pf_kernel_kind *out, struct pf_err *err)
{
	uint64_t *place = pf_map_at(&k->kinds, (uint64_t)name << 1 | is_comm);
	const char *text;

	if (*place == UINT64_MAX) {
		struct pf_kernel_kind kind;

		text = pf_gpu_name(k->gpu, name, err);
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
	return k->args->group == BY_NAME_OP || !has_name(k);
}

static int add_to_group(struct kernels *k, const struct item *item,
			uint32_t first, uint32_t second, struct pf_err *err)
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
			(struct group){ .first = first, .second = second };
		if (has_name(k) && find_kind(k, item->name, item->is_comm,
					     &k->groups[*place].kind, err) < 0)
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
		return pf_by_event_add(k->by_op, item, err);
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
	struct pf_kernel_kind kind;
	struct tally *tally;
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
	if (find_kind(k, ev->name, ev->class == PF_GPU_COMM, &kind, err) < 0)
		return -1;
	tally = &k->by_kind[kind.class][kind.precision];
	tally->calls++;
	pf_sat_sum(&tally->ns, ev->dur_ns);
	s->calls++;
	pf_sat_sum(&s->total_ns, ev->dur_ns);
	k->calls++;
	pf_sat_sum(&k->total_ns, ev->dur_ns);
	k->use_calls[kind.use]++;
	pf_sat_sum(&k->use_ns[kind.use], ev->dur_ns);
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
		item.is_comm = ev->class == PF_GPU_COMM;
		if (count_kernel(k, ev, err) < 0 ||
		    put_kernel(k, &item, err) < 0)
			return -1;
	}
	return rc;
}

/* Kernels in order of their operators, to find what those are called. */
static int resolve_op(struct kernels *k, const struct item *item,
		      const struct pf_block *block, uint32_t place,
		      struct pf_err *err)
{
	uint32_t name, op = add_text(k, "(none)"), shapes = 0;

	if (!block) {
		k->without_op++;
		k->without_op_ns += item->dur_ns;
	} else if (name_text(k, block->name[place], &op, err) < 0) {
		return -1;
	}
	if (k->args->group == BY_OP)
		return add_to_group(k, item, op, 0, err);
	if (k->args->group == BY_OP_SHAPE) {
		shapes = add_text(k, "");
		if (block && block->args[place] < PF_ID_INLINE &&
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
	const struct pf_block *block;
	uint32_t place;

	while ((item = pf_by_event_next(k->by_op, &block, &place, err)))
		if (resolve_op(k, item, block, place, err) < 0)
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

/* ---- the whole ---- */

static int set_up(struct kernels *k, const struct pf_window *window,
		  struct pf_err *err)
{
	pf_intern_init(&k->texts);
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
	sqlite3_finalize(k->shapes);
	pf_by_event_free(k->by_op);
	pf_sorter_free(k->by_group);
	pf_intern_release(&k->texts);
	pf_intern_release(&k->stream_keys);
	pf_tensor_free(k->tensor);
	pf_map_release(&k->configs);
	pf_map_release(&k->kinds);
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
		pf_kernels_show(&k, doc);
	if (!rc)
		rc = pf_trust_note(db, &window, needs(args), doc, err);
	tear_down(&k);
	pf_window_release(&window);
	return rc;
}
