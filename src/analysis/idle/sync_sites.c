/* SPDX-License-Identifier: MIT */
/*
 * First the gaps, which say what each site let run dry and when devices were
 * busy; then every host thread, call by call.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/idle/gaps.h"
#include "base/order.h"
#include "base/stats.h"
#include "events/step.h"
#include "analysis/idle/sync_sites.h"
#include "base/mem.h"
#include "base/sat.h"
#include "base/search.h"
#include "store/cursor.h"

struct idle {
	int64_t start_ns, end_ns;
	int64_t before_ns; /* idle time of the gaps before it */
};

/* Gaps of one device are together, in order. */
struct device {
	int64_t trace_id, device;
	struct idle *gaps;
	size_t count, cap;
	int64_t idle_ns;
	int64_t first_ns, last_ns; /* of its work */
};

struct loader {
	struct pf_gap_sink sink;
	struct pf_sites *out;
	/* Of the gap whose pieces come in: */
	int64_t after_call_ns;
	struct own {
		uint32_t site;
		int64_t ns;
	} * own; /* what blocking calls took themselves */
	size_t own_count, own_cap;
	struct pf_err *err;
	struct device *devices;
	size_t device_count, device_cap;
};

static struct pf_site *site_of(struct pf_sites *s, const struct pf_place *place,
			       uint32_t *number)
{
	struct pf_place key = *place;
	uint32_t known = s->keys.count, n;

	if (key.frame != PF_ID_NONE)
		key.note = PF_ID_NONE;
	n = pf_intern_add(&s->keys, (const char *)&key, sizeof(key));
	if (s->keys.count != known) {
		s->items = pf_grow(s->items, &s->cap, n + (size_t)1,
				   sizeof(*s->items));
		s->items[n] =
			(struct pf_site){ .place = key, .last_step = SIZE_MAX };
	}
	if (number)
		*number = n;
	return &s->items[n];
}

/* ---- gaps ---- */

static struct device *device_of(struct loader *l, int64_t trace_id,
				int64_t device)
{
	struct device *d;

	for (size_t i = l->device_count;
	     i-- > 0 && l->devices[i].trace_id == trace_id;)
		if (l->devices[i].device == device)
			return &l->devices[i];
	l->devices = pf_grow(l->devices, &l->device_cap, l->device_count + 1,
			     sizeof(*l->devices));
	d = &l->devices[l->device_count++];
	*d = (struct device){ .trace_id = trace_id, .device = device };
	return d;
}

/* Is the place a blocking call, and no range that holds one? */
static bool is_blocking_call(struct loader *l, const struct pf_place *place)
{
	const struct pf_name_class *class;

	if ((place->cause != PF_CAUSE_SYNC && place->cause != PF_CAUSE_COPY &&
	     place->cause != PF_CAUSE_ALLOCATOR) ||
	    place->name == PF_ID_NONE || l->err->code)
		return false;
	class = pf_names_class(l->out->names, place->name, l->err);
	return class && (class->is_blocking || class->waits_by_memory);
}

static void on_piece(struct pf_gap_sink *sink, const struct pf_gap *gap,
		     const struct pf_place *place, int64_t ns)
{
	struct loader *l = (struct loader *)sink;
	struct own own = { .ns = ns };

	(void)gap;
	if (!pf_cause_is_after_call((enum pf_cause)place->cause))
		return;
	if (!is_blocking_call(l, place)) {
		l->after_call_ns += ns;
		return;
	}
	site_of(l->out, place, &own.site);
	l->own =
		pf_grow(l->own, &l->own_cap, l->own_count + 1, sizeof(*l->own));
	l->own[l->own_count++] = own;
}

static void on_gap(struct pf_gap_sink *sink, const struct pf_gap *gap)
{
	struct loader *l = (struct loader *)sink;
	struct device *d = device_of(l, gap->trace->trace_id, gap->device);
	int64_t ns = gap->end_ns - gap->start_ns, due = l->after_call_ns;
	size_t own_count = l->own_count;
	struct pf_site *site;

	l->after_call_ns = 0;
	l->own_count = 0;
	d->gaps = pf_grow(d->gaps, &d->cap, d->count + 1, sizeof(*d->gaps));
	d->gaps[d->count++] =
		(struct idle){ gap->start_ns, gap->end_ns, d->idle_ns };
	d->idle_ns += ns;
	if (gap->drained.end_ns == INT64_MIN)
		return;
	for (size_t i = 0; i < own_count; i++)
		l->out->items[l->own[i].site].idle_ns += l->own[i].ns;
	site = site_of(l->out, &gap->drained.place, NULL);
	site->idle_ns += due;
	site->drained_ns += ns;
	site->drained_count++;
}

static void on_device(struct pf_gap_sink *sink, const struct pf_gap_device *d)
{
	struct loader *l = (struct loader *)sink;

	struct device *own = device_of(l, d->trace->trace_id, d->device);

	own->first_ns = d->first_ns;
	own->last_ns = d->last_ns;
	pf_sat_sum(&l->out->window_ns, d->window_ns);
	l->out->device_count++;
}

/* Idle time of a device before an instant. */
static int64_t idle_before(const struct device *d, int64_t at_ns)
{
	size_t low = PF_SEARCH(i, d->count, d->gaps[i].start_ns <= at_ns);
	const struct idle *g;

	if (!low)
		return 0;
	g = &d->gaps[low - 1];
	return g->before_ns + (at_ns < g->end_ns ? at_ns : g->end_ns) -
	       g->start_ns;
}

/* Time of a call in which the device that was busy longest was busy. */
static int64_t useful_time(const struct loader *l, int64_t trace_id,
			   int64_t start_ns, int64_t end_ns)
{
	const struct device *all = l->devices;
	size_t at = PF_SEARCH(i, l->device_count, all[i].trace_id < trace_id);
	int64_t most = 0;

	for (; at < l->device_count && all[at].trace_id == trace_id; at++) {
		const struct device *d = &all[at];
		int64_t from = start_ns, to = end_ns, busy;

		if (from < d->first_ns)
			from = d->first_ns;
		if (to > d->last_ns)
			to = d->last_ns;
		if (from >= to)
			continue;
		busy = to - from - idle_before(d, to) + idle_before(d, from);
		if (busy > most)
			most = busy;
	}
	return most;
}

/* ---- calls ---- */

static void add_call(struct loader *l, const struct pf_window_trace *t,
		     const struct pf_block_call *b)
{
	struct pf_sites *s = l->out;
	int64_t ns = b->end_ns - b->start_ns;
	struct pf_site *site;
	uint32_t number;
	size_t step;

	if (b->start_ns < t->from_ns || b->start_ns >= t->to_ns) {
		s->outside_count += !b->is_stream_wait;
		return;
	}
	site = site_of(s, &b->place, &number);
	site->is_stream_wait = b->is_stream_wait;
	step = pf_steps_at(&s->steps, t->trace_id, b->start_ns);
	site->count++;
	site->blocked_ns += ns;
	if (ns > site->max_ns)
		site->max_ns = ns;
	site->useful_ns += useful_time(l, t->trace_id, b->start_ns, b->end_ns);
	if (step != s->steps.count && step != site->last_step) {
		site->step_count++;
		site->last_step = step;
	}
	s->calls = pf_grow(s->calls, &s->call_cap, s->call_count + 1,
			   sizeof(*s->calls));
	s->calls[s->call_count++] = (struct pf_site_call){ number, step, ns };
}

static int walk_track(struct pf_db *db, struct loader *l,
		      const struct pf_pageable *pageable,
		      const struct pf_window_trace *t, uint32_t track,
		      struct pf_err *err)
{
	struct pf_walk *w =
		pf_walk_new(db, l->out->names, pageable, track, err);
	struct pf_block_call call;
	int rc;

	if (!w)
		return -1;
	while ((rc = pf_walk_next_call(w, &call, err)) == 1)
		add_call(l, t, &call);
	pf_walk_free(w);
	return rc;
}

static int walk_trace(struct pf_db *db, struct loader *l,
		      const struct pf_pageable *pageable,
		      const struct pf_window_trace *t, struct pf_err *err)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(db, t->trace_id, &tracks, &count, err);

	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			rc = walk_track(db, l, pageable, t, tracks[i].id, err);
	pf_tracks_free(tracks, count);
	return rc;
}

static void count_steps(struct pf_sites *s, const struct pf_window_trace *t)
{
	size_t i = pf_steps_first(&s->steps, t->trace_id);

	for (; pf_steps_is_of(&s->steps, i, t->trace_id); i++) {
		const struct pf_step *step = &s->steps.items[i];

		s->step_count += step->host_end_ns > t->from_ns &&
				 step->host_start_ns < t->to_ns;
	}
}

PF_ORDER(by_site, struct pf_site_call, PF_UP(site) PF_UP(ns))

static void find_medians(struct pf_sites *s)
{
	pf_sort(s->calls, s->call_count, sizeof(*s->calls), by_site);
	for (size_t i = 0; i < s->call_count;) {
		struct pf_site *site = &s->items[s->calls[i].site];
		size_t count = (size_t)site->count;
		unsigned rest;
		size_t at = i + pf_stats_place(count, 50, &rest);

		site->median_ns = s->calls[at].ns;
		if (rest)
			site->median_ns = pf_stats_between(
				site->median_ns, s->calls[at + 1].ns, rest);
		i += count;
	}
}

/* ---- the whole ---- */

static int find_gaps(struct pf_db *db, const struct pf_window *window,
		     const struct pf_gap_source *gaps,
		     const struct pf_pageable *pageable, struct loader *l,
		     struct pf_err *err)
{
	if (gaps)
		return gaps->find(db, &l->sink, gaps->context, err);
	return pf_gap_find(db, window, l->out->names, pageable,
			   PF_GAPS_MICRO_NS, &l->sink, err);
}

int pf_sites_load(struct pf_db *db, const struct pf_window *window,
		  struct pf_steps *steps, bool with_idle,
		  const struct pf_gap_source *gaps, struct pf_sites *out,
		  struct pf_err *err)
{
	struct loader l = { .sink = { on_piece, on_gap, on_device },
			    .out = out };
	const struct pf_pageable *pageable = pf_pageable(db, err);
	int rc;

	*out = (struct pf_sites){ .steps = *steps };
	*steps = (struct pf_steps){ 0 };
	pf_intern_init(&out->keys);
	out->names = pf_names_new(db, err);
	l.err = err;
	rc = out->names && pageable ? 0 : -1;
	if (!rc && with_idle)
		rc = find_gaps(db, window, gaps, pageable, &l, err);
	if (err->code)
		rc = -1;
	for (size_t i = 0; !rc && i < window->count; i++)
		rc = walk_trace(db, &l, pageable, &window->traces[i], err);
	for (size_t i = 0; !rc && i < window->count; i++)
		count_steps(out, &window->traces[i]);
	if (!rc)
		find_medians(out);
	for (size_t i = 0; i < l.device_count; i++)
		free(l.devices[i].gaps);
	free(l.devices);
	free(l.own);
	return rc;
}

void pf_sites_release(struct pf_sites *s)
{
	pf_names_free(s->names);
	pf_intern_release(&s->keys);
	pf_steps_release(&s->steps);
	free(s->items);
	free(s->calls);
	*s = (struct pf_sites){ 0 };
}
