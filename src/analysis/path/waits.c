/* SPDX-License-Identifier: MIT */
/*
 * What each call that blocks waited for: one piece of work, or nothing.  What
 * such a call takes when it waits for nothing is the least that it takes.
 */
#include "analysis/path/path_impl.h"

#include "base/order.h"
#include "base/search.h"

/* The stream of the thread's last launch so far. */
struct turn {
	struct path *p;
	const struct path_stream *last;
	uint32_t call, best;
	bool has_own; /* work of its own that the call waits for */
};

/* Could the call have waited for it?  Of several, what ends last. */
static void offer(struct turn *t, uint32_t work)
{
	struct path *p = t->p;
	const struct path_call *c = &p->calls[t->call];
	const struct path_work *w;

	if (!path_is_in(p, work))
		return;
	w = &p->works[work];
	if (w->end_ns > c->end_ns + PF_PATH_CLOCK_NS ||
	    w->start_ns >= c->end_ns ||
	    (w->end_ns <= c->start_ns && !t->has_own))
		return;
	if (t->best == PF_PATH_NONE || w->end_ns > p->works[t->best].end_ns)
		t->best = work;
}

static bool find_own(struct turn *t)
{
	struct path *p = t->p;
	const struct path_call *c = &p->calls[t->call];

	for (uint32_t k = c->first_work; k < c->first_work + c->work_count;
	     k++) {
		uint32_t i = p->by_call[k];
		const struct path_work *w = &p->works[i];

		if ((w->class != PF_GPU_COPY && !p->is_held) || !w->is_in ||
		    w->end_ns > c->end_ns + PF_PATH_CLOCK_NS)
			continue;
		t->has_own = true;
		offer(t, i);
	}
	return t->has_own;
}

const struct path_sync *path_record_of(const struct path *p,
				       const struct path_call *c)
{
	int64_t key = p->correlations ? p->correlations[c - p->calls] : -1;

	if (key < 0 || !pf_map_has(&p->sync_at, (uint64_t)key))
		return NULL;
	return &p->syncs[*pf_map_at((struct pf_map *)&p->sync_at,
				    (uint64_t)key)];
}

static void of_all(struct turn *t)
{
	struct path *p = t->p;

	for (uint32_t i = 0; i < p->stream_count; i++)
		if (p->streams[i].count)
			offer(t,
			      path_last_launched(p, &p->streams[i],
						 p->calls[t->call].start_ns));
}

/* Without a record, if the thread's stream does not fit, those that do. */
static void of_stream(struct turn *t)
{
	struct path *p = t->p;
	const struct path_call *c = &p->calls[t->call];
	const struct path_sync *s = path_record_of(p, c);
	const struct path_stream *on =
		s ? path_find_stream(p, s->device, s->stream) : NULL;
	uint32_t w = PF_PATH_NONE;

	on = on ? on : t->last;
	if (on)
		w = path_last_launched(p, on, c->start_ns);
	if (s || (w != PF_PATH_NONE &&
		  p->works[w].end_ns <= c->end_ns + PF_PATH_CLOCK_NS)) {
		offer(t, w);
		return;
	}
	for (uint32_t i = 0; i < p->stream_count; i++) {
		if (!p->streams[i].count)
			continue;
		w = path_last_launched(p, &p->streams[i], c->start_ns);
		if (w != PF_PATH_NONE && p->works[w].end_ns <= c->end_ns)
			offer(t, w);
	}
}

static void of_event(struct turn *t)
{
	struct path *p = t->p;
	const struct path_call *c = &p->calls[t->call];
	const struct path_sync *s = path_record_of(p, c);
	const struct path_stream *on;

	if (s && pf_map_has(&p->record_at, (uint64_t)s->on_record)) {
		const struct path_call *r = &p->calls[*pf_map_at(
			&p->record_at, (uint64_t)s->on_record)];

		on = path_find_stream(p, s->device, s->on_stream);
		if (on)
			offer(t, path_last_launched(p, on, r->start_ns));
		return;
	}
	for (uint32_t i = 0; i < p->stream_count; i++) {
		uint32_t w = path_last_ended(p, &p->streams[i], c->end_ns);

		if (w != PF_PATH_NONE &&
		    (p->works[w].call == PF_PATH_NONE ||
		     path_launched_ns(p, &p->works[w]) < c->start_ns))
			offer(t, w);
	}
}

/* ---- what a call takes that waits for nothing ---- */

struct short_call {
	uint32_t name;
	int64_t ns;
};

PF_ORDER(by_name, struct short_call, PF_UP(name) PF_UP(ns))

static void measure_phi(struct path *p, struct short_call *all, size_t count)
{
	pf_sort(all, count, sizeof(*all), by_name);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && all[end].name == all[i].name;)
			end++;
		p->phi = pf_grow(p->phi, &p->phi_cap, p->phi_count + 1,
				 sizeof(*p->phi));
		p->phi[p->phi_count++] = (struct path_phi){
			all[i].name, all[i + ((end - i) * 10 + 99) / 100 - 1].ns
		};
	}
}

int64_t path_phi(const struct path *p, uint32_t name)
{
	size_t i = PF_SEARCH(k, p->phi_count, p->phi[k].name < name);

	return i < p->phi_count && p->phi[i].name == name ? p->phi[i].ns : 0;
}

/* ---- calls ---- */

static void (*const of[])(struct turn *t) = {
	[PF_WAITS_ALL] = of_all,
	[PF_WAITS_STREAM] = of_stream,
	[PF_WAITS_EVENT] = of_event,
};

static void find(struct turn *t)
{
	struct path_call *c = &t->p->calls[t->call];

	t->best = PF_PATH_NONE;
	t->has_own = false;
	if (!find_own(t) && c->waits)
		of[c->waits](t);
	c->needs = t->best;
}

void path_find_waits(struct path *p)
{
	struct short_call *shorts = NULL;
	size_t count = 0, cap = 0;

	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct path_thread *th = &p->threads[i];
		struct turn t = { .p = p, .call = th->first_call };

		for (; t.call < th->first_call + th->call_count; t.call++) {
			struct path_call *c = &p->calls[t.call];

			if (c->work_count)
				t.last =
					&p->streams
						 [p->works[p->by_call
								   [c->first_work]]
							  .stream];
			if (c->start_ns < p->w0_ns || c->start_ns >= p->h_ns)
				continue;
			find(&t);
			if (t.best != PF_PATH_NONE || t.has_own || !c->waits)
				continue;
			shorts = pf_grow(shorts, &cap, count + 1,
					 sizeof(*shorts));
			shorts[count++] =
				(struct short_call){ path_around(p, c).name,
						     c->end_ns - c->start_ns };
		}
	}
	measure_phi(p, shorts, count);
	free(shorts);
}
