/* SPDX-License-Identifier: MIT */
/*
 * Begin and end events (ph B and E) of a track become spans.  In time order a
 * stack holds the open begins; an end closes the top one whatever its name
 * (counted if it differs); an end without a begin is dropped and counted; a
 * begin that stays open ends with the last event of the track.  Arguments of
 * both are kept: the end's are stored as those of the span if the begin has
 * none.  Finished spans come in order of their ends, so they are gathered and
 * written as new sorted runs; other events pass through.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "ingest/ingest_impl.h"

#define GATHER_EVENTS 65536u
#define GATHER_BYTES  (8u << 20)

/* An event that owns its slots and texts, as one piece of memory. */
struct held {
	struct pf_run_event ev;
};

struct pairing {
	struct pf_ingest *in;
	struct held **open;
	size_t open_count, open_cap;
	struct held **done;
	size_t done_count, done_cap, done_bytes;
	struct pf_run *runs; /* new ones */
	size_t run_count, runs_cap;
	int64_t last_ns;
};

static size_t held_bytes(const struct pf_run_event *ev)
{
	return sizeof(struct held) +
	       (size_t)__builtin_popcount(ev->mask) * sizeof(int64_t) +
	       ev->inline_name_len + ev->inline_args_len;
}

static struct held *hold(const struct pf_run_event *ev)
{
	struct held *h = pf_alloc(held_bytes(ev));
	size_t slots = (size_t)__builtin_popcount(ev->mask);
	int64_t *values = (int64_t *)(void *)(h + 1);
	char *text = (char *)(values + slots);

	h->ev = *ev;
	if (slots)
		memcpy(values, ev->slots, slots * sizeof(*values));
	if (ev->inline_name_len)
		memcpy(text, ev->inline_name, ev->inline_name_len);
	if (ev->inline_args_len)
		memcpy(text + ev->inline_name_len, ev->inline_args,
		       ev->inline_args_len);
	h->ev.slots = values;
	h->ev.inline_name = text;
	h->ev.inline_args = text + ev->inline_name_len;
	return h;
}

static int compare_held(const void *a, const void *b)
{
	const struct held *const *x = a, *const *y = b;

	return pf_run_compare(&(*x)->ev, &(*y)->ev);
}

/* Write what was gathered as one sorted run. */
static int flush(struct pairing *p, struct pf_err *err)
{
	struct pf_run_memory memory = { 0 };
	struct pf_buf bytes = { 0 };
	struct pf_run run = { 0 };
	int rc;

	if (!p->done_count)
		return 0;
	pf_sort(p->done, p->done_count, sizeof(struct held *), compare_held);
	run.first_start_ns = p->done[0]->ev.start_ns;
	run.last_start_ns = p->done[p->done_count - 1]->ev.start_ns;
	run.count = (uint32_t)p->done_count;
	for (size_t i = 0; i < p->done_count; i++) {
		pf_run_put(&memory, &p->done[i]->ev, &bytes);
		free(p->done[i]);
	}
	p->done_count = p->done_bytes = 0;
	run.bytes = (uint32_t)bytes.len;
	rc = pf_scratch_add(p->in->runs, bytes.data, bytes.len, &run.offset,
			    err);
	pf_buf_release(&bytes);
	p->runs = pf_grow(p->runs, &p->runs_cap, p->run_count + 1,
			  sizeof(*p->runs));
	p->runs[p->run_count++] = run;
	return rc;
}

static int gather(struct pairing *p, struct held *h, struct pf_err *err)
{
	p->done = pf_grow(p->done, &p->done_cap, p->done_count + 1,
			  sizeof(struct held *));
	p->done[p->done_count++] = h;
	p->done_bytes += held_bytes(&h->ev);
	if (p->done_count < GATHER_EVENTS && p->done_bytes < GATHER_BYTES)
		return 0;
	return flush(p, err);
}

static bool same_name(const struct pf_run_event *a,
		      const struct pf_run_event *b)
{
	return a->name == b->name && a->name != PF_ID_INLINE;
}

static int close_top(struct pairing *p, const struct pf_run_event *end,
		     struct pf_err *err)
{
	struct held *h = p->open[--p->open_count], *with_args;

	h->ev.dur_ns = end->start_ns - h->ev.start_ns;
	if (!same_name(&h->ev, end) && end->name != p->in->empty_name)
		pf_repair_note(&p->in->repairs, PF_REPAIR_END_MISMATCH, 1,
			       PF_OFFSET_UNKNOWN);
	p->in->paired_count++;
	if (h->ev.args != PF_ID_NONE || end->args == PF_ID_NONE)
		return gather(p, h, err);
	h->ev.args = end->args;
	h->ev.mask = end->mask;
	h->ev.slots = end->slots;
	h->ev.inline_args = end->inline_args;
	h->ev.inline_args_len = end->inline_args_len;
	with_args = hold(&h->ev);
	free(h);
	return gather(p, with_args, err);
}

static int take(struct pairing *p, const struct pf_run_event *ev,
		struct pf_err *err)
{
	p->last_ns = ev->start_ns + ev->dur_ns > p->last_ns
			     ? ev->start_ns + ev->dur_ns
			     : p->last_ns;
	switch (p->in->type[ev->type].ph) {
	case 'B':
		p->open = pf_grow(p->open, &p->open_cap, p->open_count + 1,
				  sizeof(struct held *));
		p->open[p->open_count++] = hold(ev);
		return 0;
	case 'E':
		if (p->open_count)
			return close_top(p, ev, err);
		pf_repair_note(&p->in->repairs, PF_SKIP_LONE_END, 1,
			       PF_OFFSET_UNKNOWN);
		return 0;
	default:
		return gather(p, hold(ev), err);
	}
}

static int close_rest(struct pairing *p, struct pf_err *err)
{
	while (p->open_count) {
		struct held *h = p->open[--p->open_count];

		h->ev.dur_ns = p->last_ns - h->ev.start_ns;
		pf_repair_note(&p->in->repairs, PF_REPAIR_OPEN_BEGIN, 1,
			       PF_OFFSET_UNKNOWN);
		if (gather(p, h, err))
			return -1;
	}
	return flush(p, err);
}

int pf_ingest_pair(struct pf_ingest *in, struct pf_ingest_track *t,
		   struct pf_err *err)
{
	struct pairing p = { .in = in, .last_ns = INT64_MIN };
	struct pf_run_heap *m =
		pf_run_heap_new(in->runs, t->runs, t->run_count);
	const struct pf_run_event *ev;
	int rc;

	while ((rc = pf_run_heap_next(m, &ev, err)) > 0)
		if (take(&p, ev, err)) {
			rc = -1;
			break;
		}
	if (!rc)
		rc = close_rest(&p, err);
	pf_run_heap_free(m);
	while (p.open_count)
		free(p.open[--p.open_count]);
	while (p.done_count)
		free(p.done[--p.done_count]);
	free(p.open);
	free(p.done);
	free(t->runs);
	t->runs = p.runs;
	t->run_count = p.run_count;
	t->runs_cap = p.runs_cap;
	return rc;
}
