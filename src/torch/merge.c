/* SPDX-License-Identifier: MIT */
/*
 * A binary heap of tracks by their current event.  A track's stored order is
 * (start, -end, file order); events that tie in start and end are put into
 * torch's order in a small window (TIES_MAX; longer ties keep file order).
 *
 * Invariants: heap[0..live) are tracks with at least one event in their
 * window, the smallest key on top; a window never spans two blocks, because
 * inline texts are borrowed from the block.
 */
#include "config.h"

#include "torch/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"

#define TIES_MAX 256

struct source {
	struct pf_cursor *cursor;
	const struct pf_block *block;
	struct pf_fe *window;
	uint32_t at, filled, window_cap;
	uint32_t pos;                    /* next event of the block */
	uint32_t slot_at[PF_SLOT_COUNT]; /* values used of each slot */
	size_t inline_at;
	uint32_t track;
};

struct pf_merge {
	struct pf_facts *facts;
	struct source *sources;
	struct source **heap;
	size_t count, live;
	int64_t rival_ns; /* the earliest start below the top of the heap */
	uint32_t kinds, slots;
	bool names, args, started;
};

static bool is_before(const struct pf_fe *a, const struct pf_fe *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns;
	if (a->is_late != b->is_late)
		return b->is_late;
	if (a->position != b->position)
		return a->position < b->position;
	return a->track < b->track;
}

/* ---- one track ---- */

static void take_inline(struct source *s, struct pf_text_ref *ref)
{
	const struct pf_buf *text = &s->block->inline_text;
	uint32_t len;

	if (text->len < s->inline_at + 4)
		return;
	len = (uint32_t)(unsigned char)text->data[s->inline_at] |
	      (uint32_t)(unsigned char)text->data[s->inline_at + 1] << 8 |
	      (uint32_t)(unsigned char)text->data[s->inline_at + 2] << 16 |
	      (uint32_t)(unsigned char)text->data[s->inline_at + 3] << 24;
	if (len > text->len - s->inline_at - 4)
		return;
	ref->inline_text = text->data + s->inline_at + 4;
	ref->inline_len = len;
	s->inline_at += 4 + (size_t)len;
}

static int64_t take_slot(struct source *s, unsigned slot)
{
	uint32_t at = s->slot_at[slot]++;

	return at < s->block->slot_count[slot] ? s->block->slot[slot][at] : 0;
}

static int64_t end_ns(const struct pf_block *b, uint32_t i)
{
	int64_t dur = b->dur_ns[i] > 0 ? b->dur_ns[i] : 0, end;

	if (__builtin_add_overflow(b->start_ns[i], dur, &end))
		return INT64_MAX;
	return end;
}

/* Kinds that torch knows before it reads Kineto's own events. */
static bool is_torch_event(unsigned kind)
{
	return kind == PF_KIND_CPU_OP || kind == PF_KIND_ANNOTATION ||
	       kind == PF_KIND_PYTHON || kind == PF_KIND_MEMORY ||
	       kind == PF_KIND_OOM;
}

/* Pass over the slots of an event that is not wanted. */
static void skip_slots(const struct pf_merge *m, struct source *s,
		       uint32_t mask)
{
	for (uint32_t left = mask & m->slots; left; left &= left - 1)
		s->slot_at[__builtin_ctz(left)]++;
}

/* The ids of the event's texts; inline ones lie in event order. */
static void take_texts(const struct pf_merge *m, struct source *s, uint32_t i,
		       struct pf_fe *e)
{
	const struct pf_block *b = s->block;

	e->name.id = m->names ? b->name[i] : PF_ID_NONE;
	e->args.id = m->args ? b->args[i] : PF_ID_NONE;
	e->name.inline_text = e->args.inline_text = NULL;
	e->name.inline_len = e->args.inline_len = 0;
	if (!m->args || !b->inline_text.len)
		return;
	if (e->name.id == PF_ID_INLINE)
		take_inline(s, &e->name);
	if (e->args.id == PF_ID_INLINE)
		take_inline(s, &e->args);
}

/* Decode event s->pos into "e" and go on; false: not a kind asked for. */
static bool take_event(const struct pf_merge *m, struct source *s,
		       struct pf_fe *e)
{
	const struct pf_block *b = s->block;
	uint32_t i = s->pos++;
	unsigned kind = pf_facts_kind(m->facts, b->type[i]);
	uint32_t mask = b->mask[i], has = mask & m->slots;
	int64_t ev_idx = 0;

	if (!(m->kinds >> kind & 1)) {
		skip_slots(m, s, mask);
		if (m->args && b->inline_text.len)
			take_texts(m, s, i, e);
		return false;
	}
	e->kind = (uint8_t)kind;
	e->external_id = e->correlation = e->bytes = 0;
	e->sequence = e->forward_thread = 0;
	e->python_id = e->python_parent = 0;
	if (has & 1u << PF_SLOT_EXTERNAL_ID)
		e->external_id = take_slot(s, PF_SLOT_EXTERNAL_ID);
	if (has & 1u << PF_SLOT_CORRELATION)
		e->correlation = take_slot(s, PF_SLOT_CORRELATION);
	if (has & 1u << PF_SLOT_EV_IDX)
		ev_idx = take_slot(s, PF_SLOT_EV_IDX);
	if (has & 1u << PF_SLOT_SEQUENCE)
		e->sequence = take_slot(s, PF_SLOT_SEQUENCE);
	if (has & 1u << PF_SLOT_FWD_THREAD)
		e->forward_thread = take_slot(s, PF_SLOT_FWD_THREAD);
	if (has & 1u << PF_SLOT_PY_ID)
		e->python_id = take_slot(s, PF_SLOT_PY_ID);
	if (has & 1u << PF_SLOT_PY_PARENT)
		e->python_parent = take_slot(s, PF_SLOT_PY_PARENT);
	if (has & 1u << PF_SLOT_BYTES)
		e->bytes = take_slot(s, PF_SLOT_BYTES);
	take_texts(m, s, i, e);
	e->start_ns = b->start_ns[i];
	e->end_ns = end_ns(b, i);
	e->mask = mask;
	e->track = s->track;
	e->is_late = !(mask & 1u << PF_SLOT_EV_IDX) || !is_torch_event(kind);
	e->position = e->is_late || !(has & 1u << PF_SLOT_EV_IDX) ? b->order[i]
								  : ev_idx;
	return true;
}

static int next_block(struct source *s, struct pf_err *err)
{
	uint32_t first_seq;
	int rc = pf_cursor_block(s->cursor, &s->block, &first_seq, err);

	s->pos = 0;
	s->inline_at = 0;
	memset(s->slot_at, 0, sizeof(s->slot_at));
	return rc;
}

/* Does the next event of the block tie with the one just read? */
static bool ties_with(const struct source *s, const struct pf_fe *e)
{
	const struct pf_block *b = s->block;

	return s->pos < b->count && s->filled < TIES_MAX &&
	       b->start_ns[s->pos] == e->start_ns &&
	       end_ns(b, s->pos) == e->end_ns;
}

/* Put the last event of the window in its place among the ties. */
static void sort_in(struct source *s)
{
	uint32_t i = s->filled - 1;
	struct pf_fe e = s->window[i];

	for (; i && is_before(&e, &s->window[i - 1]); i--)
		s->window[i] = s->window[i - 1];
	s->window[i] = e;
}

/* Fill the window again: 1, 0 at the end of the track, -1 on error. */
static int refill(const struct pf_merge *m, struct source *s,
		  struct pf_err *err)
{
	s->at = s->filled = 0;
	for (;;) {
		if (!s->block || s->pos >= s->block->count) {
			int rc = next_block(s, err);

			if (rc <= 0)
				return rc;
			continue;
		}
		if (take_event(m, s, &s->window[0]))
			break;
	}
	s->filled = 1;
	while (ties_with(s, &s->window[0])) {
		if (s->filled == s->window_cap) {
			s->window_cap = TIES_MAX;
			s->window = pf_realloc(s->window, TIES_MAX,
					       sizeof(*s->window));
		}
		if (!take_event(m, s, &s->window[s->filled]))
			continue;
		s->filled++;
		sort_in(s);
	}
	return 1;
}

/* ---- the heap ---- */

static const struct pf_fe *head(const struct source *s)
{
	return &s->window[s->at];
}

static bool head_is_before(const void *a, const void *b)
{
	const struct source *const *x = a, *const *y = b;

	return is_before(head(*x), head(*y));
}

/* The top may be too large for its place. */
static void settle_top(struct pf_merge *m)
{
	pf_heap_sink(m->heap, sizeof(*m->heap), m->live, 0, head_is_before);
	m->rival_ns = INT64_MAX;
	for (size_t i = 1; i < m->live && i <= 2; i++)
		if (head(m->heap[i])->start_ns < m->rival_ns)
			m->rival_ns = head(m->heap[i])->start_ns;
}

static int open_source(struct pf_merge *m, struct pf_db *db,
		       const struct pf_merge_args *args, uint32_t track,
		       struct pf_err *err)
{
	struct source *s = &m->sources[m->count++];
	uint64_t columns = args->columns | PF_COLBIT(PF_COL_START) |
			   PF_COLBIT(PF_COL_DUR) | PF_COLBIT(PF_COL_ORDER) |
			   PF_COLBIT(PF_COL_TYPE) | PF_COLBIT(PF_COL_MASK);
	int rc;

	if (m->args)
		columns |= PF_COLBIT(PF_COL_INLINE) | PF_COLBIT(PF_COL_NAME);
	s->track = track;
	s->window_cap = 4;
	s->window = pf_alloc(s->window_cap * sizeof(*s->window));
	s->cursor = pf_cursor_new(db, args->tracks[track].id, columns, err);
	if (!s->cursor)
		return -1;
	if (args->first_ns != INT64_MIN)
		pf_cursor_seek(s->cursor, args->first_ns);
	pf_cursor_ahead(s->cursor);
	rc = refill(m, s, err);
	if (rc == 1)
		m->heap[m->live++] = s;
	return rc < 0 ? -1 : 0;
}

struct pf_merge *pf_merge_new(struct pf_db *db, struct pf_facts *facts,
			      const struct pf_merge_args *args,
			      struct pf_err *err)
{
	struct pf_merge *m = pf_calloc(1, sizeof(*m));

	m->facts = facts;
	m->kinds = args->kinds;
	m->slots = (uint32_t)(args->columns >> PF_COL_SLOT);
	m->args = args->columns >> PF_COL_ARGS & 1;
	/* Inline texts can only be told apart when both are read. */
	m->names = m->args || args->columns >> PF_COL_NAME & 1;
	m->sources = pf_calloc(args->count + 1, sizeof(*m->sources));
	m->heap = pf_calloc(args->count + 1, sizeof(struct source *));
	for (uint32_t i = 0; i < args->count; i++) {
		if (args->use && !args->use[i])
			continue;
		if (open_source(m, db, args, i, err)) {
			pf_merge_free(m);
			return NULL;
		}
	}
	pf_heap_make(m->heap, sizeof(*m->heap), m->live, head_is_before);
	settle_top(m);
	return m;
}

void pf_merge_free(struct pf_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++) {
		pf_cursor_free(m->sources[i].cursor);
		free(m->sources[i].window);
	}
	free(m->sources);
	free(m->heap);
	free(m);
}

/* Leave the event that was handed out last. */
static int step(struct pf_merge *m, struct pf_err *err)
{
	struct source *s = m->heap[0];

	if (++s->at >= s->filled) {
		int rc = refill(m, s, err);

		if (rc < 0)
			return -1;
		if (rc == 0)
			m->heap[0] = m->heap[--m->live];
		/* one thread is mostly at work: its next event comes next */
		else if (head(s)->start_ns < m->rival_ns)
			return 0;
	}
	settle_top(m);
	return 0;
}

const struct pf_fe *pf_merge_next(struct pf_merge *m, struct pf_err *err)
{
	if (m->started && m->live && step(m, err))
		return NULL;
	m->started = true;
	return m->live ? head(m->heap[0]) : NULL;
}
