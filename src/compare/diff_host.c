/* SPDX-License-Identifier: MIT */
/*
 * The stack holds the events around the one at hand, found by the parents
 * that ingest wrote.  Places are looked for only where something is launched.
 * A child's time is taken off the self time of what is around it when the
 * child comes, so nothing waits for the end of an event.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compare/diff_work.h"
#include "events/interval.h"
#include "events/nest.h"
#include "base/mem.h"
#include "base/sat.h"
#include "store/cursor.h"

#define DEPTH_MAX 4096 /* deeper events count for what is around them */
#define NO_PLACE  UINT32_MAX

struct entry {
	uint32_t seq, name, args, kind;
	uint32_t node;    /* PF_NODE_NONE: not looked for */
	uint32_t op;      /* innermost operator at or below, in the stack */
	uint32_t counted; /* innermost entry at or below with a row */
	uint32_t row;     /* of c->ops */
	int64_t end_ns;
};

struct host {
	struct pf_work *w;
	int64_t trace_id;
	uint32_t track_id;
	struct entry *stack;
	size_t depth, cap;
	size_t top; /* so many hold the event at hand, which is the last */
	bool is_one_step;             /* the trace has no steps */
	struct pf_capture_step *step; /* the last one that was found */
	const struct pf_block *block;
	uint32_t slots[PF_SLOT_COUNT]; /* values used up */
};

static struct pf_capture_step *step_at(struct host *h, int64_t at_ns)
{
	const struct pf_capture_step *s = h->step;

	if (s && at_ns >= s->time.host_start_ns && at_ns < s->time.host_end_ns)
		return h->step;
	h->step = pf_capture_step_at(h->w->c, h->trace_id, at_ns);
	return h->step;
}

/* The place of an entry of the stack. */
static int place_of(struct host *h, uint32_t at, uint32_t *out,
		    struct pf_err *err)
{
	uint32_t from = at + 1, node = PF_NODE_ROOT;

	while (from > 0 && h->stack[from - 1].node == PF_NODE_NONE)
		from--;
	if (from > 0)
		node = h->stack[from - 1].node;
	for (; from <= at; from++) {
		struct entry *e = &h->stack[from];
		struct pf_work_name *name = pf_work_name(h->w, e->name, err);

		if (!name)
			return -1;
		if (e->kind == PF_KIND_CPU_OP ||
		    (e->kind == PF_KIND_ANNOTATION && !name->is_step) ||
		    (e->kind == PF_KIND_PYTHON && name->is_module))
			node = pf_work_node(h->w, node, name->node_text,
					    e->kind);
		e->node = node;
	}
	*out = node;
	return 0;
}

/* GPU work of the launch call that is on top of the stack. */
static int take_launched(struct host *h, int64_t id, int64_t start_ns,
			 int64_t dur_ns, struct pf_err *err)
{
	struct pf_capture_step *step = step_at(h, start_ns);
	struct pf_work *w = h->w;
	uint32_t node = PF_NODE_ROOT, op = w->none, shapes = w->none, at;
	struct pf_work_name *name;

	while (w->next && w->next->launch_id < id)
		if (pf_work_add_orphan(w, w->next, err) < 0 ||
		    pf_work_next(w, err) < 0)
			return -1;
	if (!w->next || w->next->launch_id != id)
		return 0;
	if (h->top && place_of(h, (uint32_t)h->top - 1, &node, err) < 0)
		return -1;
	at = h->top ? h->stack[h->top - 1].op : NO_PLACE;
	if (at != NO_PLACE) {
		name = pf_work_name(w, h->stack[at].name, err);
		if (!name ||
		    pf_work_shapes(w, h->stack[at].args, &shapes, err) < 0)
			return -1;
		op = name->text;
	}
	/* as in events/step.h, the whole call lies in its step */
	if (step && step->time.step >= 0 &&
	    pf_span_end(start_ns, dur_ns) > step->time.host_end_ns)
		step = NULL;
	while (w->next && w->next->launch_id == id) {
		/* a trace without steps is one of what ran in it */
		if (h->is_one_step)
			step = pf_capture_step_over(w->c, h->trace_id,
						    w->next->start_ns);
		if (pf_work_add(w, w->next, node, op, shapes, step, err) < 0 ||
		    pf_work_next(w, err) < 0)
			return -1;
	}
	return 0;
}

static void count_call(struct pf_capture_step *s, struct pf_work_name *name)
{
	s->count[PF_COUNT_CALLS]++;
	s->count[PF_COUNT_LAUNCHES] += name->is_launch;
	s->count[PF_COUNT_GRAPHS] += name->is_graph;
	s->count[PF_COUNT_ALLOCATIONS] += name->is_allocator;
}

/* Of operators those of other shapes have rows of their own. */
static struct pf_op_row *row_of(struct host *h, const struct entry *e,
				struct pf_work_name *name, struct pf_err *err)
{
	struct pf_work *w = h->w;
	uint32_t shapes = w->none, *known;
	struct pf_op_row *row;
	uint64_t *place;

	if (e->kind != PF_KIND_CPU_OP) {
		known = &name->rows[e->kind == PF_KIND_ANNOTATION ? 0
				    : e->kind == PF_KIND_RUNTIME  ? 1
								  : 2];
		if (*known == UINT32_MAX)
			*known = (uint32_t)(pf_work_op(w, name->node_text,
						       shapes, e->kind) -
					    w->c->ops);
		return &w->c->ops[*known];
	}
	place = pf_map_at(&w->op_of, (uint64_t)e->name << 32 | e->args);
	if (*place != UINT64_MAX)
		return &w->c->ops[*place];
	if (pf_work_shapes(w, e->args, &shapes, err) < 0)
		return NULL;
	row = pf_work_op(w, name->node_text, shapes, e->kind);
	*place = (uint64_t)(row - w->c->ops);
	return row;
}

/* Operators, annotations and calls have rows. */
static int count_range(struct host *h, struct entry *e, int64_t start_ns,
		       int64_t dur_ns, struct pf_err *err)
{
	struct pf_capture_step *s = step_at(h, start_ns);
	struct pf_work_name *name;
	struct pf_capture *c = h->w->c;
	struct pf_op_row *row;

	if (!s)
		return 0;
	name = pf_work_name(h->w, e->name, err);
	if (!name)
		return -1;
	if (e->kind == PF_KIND_RUNTIME || e->kind == PF_KIND_DRIVER)
		count_call(s, name);
	s->count[PF_COUNT_OPS] += e->kind == PF_KIND_CPU_OP;
	if (s->time.is_partial || name->is_step)
		return 0;
	row = row_of(h, e, name, err);
	if (!row)
		return -1;
	row->count++;
	pf_capture_add(c, &row->ns, dur_ns);
	pf_capture_add(c, &row->self_ns, dur_ns);
	e->row = (uint32_t)(row - c->ops);
	if (e->counted != NO_PLACE) {
		const struct entry *up = &h->stack[e->counted];
		int64_t end = pf_span_end(start_ns, dur_ns);

		if (end > up->end_ns)
			end = up->end_ns;
		if (end > start_ns)
			pf_capture_add(c, &c->ops[up->row].self_ns,
				       -pf_sat_sub(end, start_ns));
	}
	return 0;
}

/*
 * Put an entry below those from a place on.  What they held next to it is part
 * of it from now on.
 */
static void insert(struct host *h, size_t at, struct entry e)
{
	const uint32_t beside = e.counted;

	if (e.kind == PF_KIND_CPU_OP)
		e.op = (uint32_t)at;
	if (e.row != NO_PLACE)
		e.counted = (uint32_t)at;
	h->stack = pf_grow(h->stack, &h->cap, h->depth + 1, sizeof(*h->stack));
	memmove(&h->stack[at + 1], &h->stack[at],
		(h->depth - at) * sizeof(*h->stack));
	h->stack[at] = e;
	h->depth++;
	for (size_t i = at + 1; i < h->depth; i++) {
		struct entry *over = &h->stack[i];

		over->op += over->op != NO_PLACE && over->op >= at;
		if (over->counted == beside)
			over->counted = e.counted;
		else
			over->counted += over->counted != NO_PLACE;
	}
}

/*
 * Take what ended off the stack and put the event on it, under the Python
 * functions that it outlives (events/nest.h).
 */
static int push(struct host *h, uint32_t seq, uint32_t i, unsigned kind,
		struct pf_err *err)
{
	const struct pf_block *b = h->block;
	int64_t start = b->start_ns[i], dur = b->dur_ns[i];
	uint32_t parent = b->parent[i] ? seq - b->parent[i] : UINT32_MAX;
	struct entry e = { .seq = seq,
			   .name = b->name[i],
			   .args = b->args[i],
			   .kind = kind,
			   .node = PF_NODE_NONE,
			   .op = NO_PLACE,
			   .counted = NO_PLACE,
			   .row = NO_PLACE };
	bool is_under = false;
	uint32_t ignored;
	size_t at;

	e.end_ns = pf_span_end(start, dur);
	while (h->depth && h->stack[h->depth - 1].end_ns <= start)
		h->depth--;
	for (at = h->depth;
	     at && (parent == UINT32_MAX || h->stack[at - 1].seq > parent ||
		    h->stack[at - 1].end_ns < e.end_ns);
	     at--)
		is_under |= h->stack[at - 1].kind == PF_KIND_PYTHON;
	is_under = is_under && h->depth - at <= PF_NEST_CROSSED;
	h->top = at;
	/* A function whose end was lost holds nothing of others. */
	if (is_under && kind == PF_KIND_PYTHON)
		return 0;
	if (is_under && place_of(h, (uint32_t)h->depth - 1, &ignored, err) < 0)
		return -1;
	if (!is_under)
		h->depth = at;
	if (at) {
		e.op = h->stack[at - 1].op;
		e.counted = h->stack[at - 1].counted;
	}
	if (kind == PF_KIND_CPU_OP || kind == PF_KIND_ANNOTATION ||
	    kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER)
		if (count_range(h, &e, start, dur, err) < 0)
			return -1;
	if (h->depth == DEPTH_MAX)
		return 0;
	insert(h, at, e);
	h->top = at + 1;
	return 0;
}

/* ---- memory ---- */

static int64_t slot_value(struct host *h, uint32_t mask, int slot)
{
	if (!(mask >> slot & 1) || h->slots[slot] >= h->block->slot_count[slot])
		return -1;
	return h->block->slot[slot][h->slots[slot]];
}

static int take_memory(struct host *h, uint32_t i, struct pf_err *err)
{
	const struct pf_block *b = h->block;
	struct pf_capture *c = h->w->c;
	uint32_t mask = b->mask[i];
	int64_t allocated = slot_value(h, mask, PF_SLOT_ALLOCATED);
	int64_t reserved = slot_value(h, mask, PF_SLOT_RESERVED);
	int64_t bytes = slot_value(h, mask, PF_SLOT_BYTES);
	struct pf_capture_step *s;
	int64_t device;

	if (pf_work_memory_device(h->w, b->args[i], &device, err) < 0)
		return -1;
	if (device < 0)
		return 0;
	s = step_at(h, b->start_ns[i]);
	if (s && bytes > 0)
		s->count[PF_COUNT_TENSORS]++;
	if (allocated > c->peak_bytes)
		c->peak_bytes = allocated;
	if (reserved > c->reserved_bytes)
		c->reserved_bytes = reserved;
	return 0;
}

static void use_slots(struct host *h, uint32_t mask)
{
	static const int used[] = { PF_SLOT_ALLOCATED, PF_SLOT_RESERVED,
				    PF_SLOT_BYTES };

	for (size_t k = 0; k < sizeof(used) / sizeof(*used); k++)
		h->slots[used[k]] += mask >> used[k] & 1;
}

/* ---- threads ---- */

static int walk_block(struct host *h, uint32_t first_seq, struct pf_err *err)
{
	const struct pf_block *b = h->block;
	bool has_memory = h->w->has_memory;
	int64_t track = (int64_t)((uint64_t)h->track_id << 32);

	memset(h->slots, 0, sizeof(h->slots));
	for (uint32_t i = 0; i < b->count; i++) {
		unsigned kind = pf_kinds_at(&h->w->kinds, b->type[i]);
		uint32_t seq = first_seq + i;

		if (kind == PF_KIND_MEMORY && take_memory(h, i, err) < 0)
			return -1;
		if (has_memory)
			use_slots(h, b->mask[i]);
		if (kind == PF_KIND_MEMORY || kind == PF_KIND_OOM ||
		    kind == PF_KIND_INSTANT)
			continue;
		if (push(h, seq, i, kind, err) < 0)
			return -1;
		if (h->w->next && h->w->next->launch_id <= (track | seq) &&
		    take_launched(h, track | seq, b->start_ns[i], b->dur_ns[i],
				  err) < 0)
			return -1;
	}
	return 0;
}

static int walk_track(struct host *h, const struct pf_track *track,
		      struct pf_err *err)
{
	uint64_t columns = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |
			   PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_PARENT);
	struct pf_cursor *cursor;
	uint32_t first;
	int rc;

	if (h->w->has_memory)
		columns |= PF_COLBIT(PF_COL_SLOT + PF_SLOT_ALLOCATED) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_RESERVED) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES);
	cursor = pf_cursor_new(h->w->db, track->id, columns, err);
	if (!cursor)
		return -1;
	h->track_id = track->id;
	h->depth = h->top = 0;
	while ((rc = pf_cursor_block(cursor, &h->block, &first, err)) == 1)
		if ((rc = walk_block(h, first, err)) < 0)
			break;
	pf_cursor_free(cursor);
	return rc;
}

int pf_work_walk(struct pf_work *w, int64_t trace_id, struct pf_err *err)
{
	struct host h = { .w = w, .trace_id = trace_id };
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(w->db, trace_id, &tracks, &count, err);

	for (size_t i = 0; i < w->c->step_count; i++)
		if (w->c->steps[i].time.trace_id == trace_id)
			h.is_one_step = w->c->steps[i].time.step < 0;
	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			rc = walk_track(&h, &tracks[i], err);
	if (tracks)
		pf_tracks_free(tracks, count);
	free(h.stack);
	return rc;
}
