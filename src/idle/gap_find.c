/* SPDX-License-Identifier: MIT */
/*
 * A gap is explained when the first event that starts after the one that
 * ended it is known: of several that start together, the lowest stream and
 * then the lowest correlation ended it.  It is a node of a graph if its launch
 * owns work before the gap, too.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "idle/gap_explain.h"
#include "events/gpu_config.h"
#include "events/interval.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "base/search.h"
#include "store/cursor.h"
#include "store/named.h"

#define RECENT 64 /* pieces of work of a device that are remembered */

struct device {
	struct pf_gap_device sum;
	int64_t lo, hi; /* the window */
	struct pf_union all;
	struct pf_union cut;     /* inside the window */
	struct pf_gap_work last; /* that ended last */
	bool is_hidden; /* not asked for: only what others waited for */
	bool is_pending;
	int64_t from_ns;         /* the pending gap's start */
	struct pf_gap_ends ends; /* what is around it */
	struct pf_gap_work recent[RECENT];
	size_t recent_at;
	struct pf_explain *explain;
};

struct finder {
	struct pf_explain_in in;
	const struct pf_window *window;
	int64_t micro_ns;
	struct pf_track *tracks; /* in.track_count of them */
	struct pf_gpu_configs configs;
	struct device *devices; /* of the current trace */
	size_t count, cap;
	const struct pf_window_trace *trace;
};

/* ---- gaps ---- */

/* The work of another device that ended last before the gap did. */
static void find_other(const struct finder *f, struct device *d,
		       const struct pf_gap *gap)
{
	d->ends.other.name = PF_ID_NONE;
	for (size_t i = 0; i < f->count; i++) {
		const struct device *o = &f->devices[i];

		for (size_t k = 0; o != d && k < RECENT && k < o->recent_at;
		     k++)
			if (o->recent[k].end_ns <= gap->end_ns &&
			    (d->ends.other.name == PF_ID_NONE ||
			     o->recent[k].end_ns > d->ends.other.end_ns))
				d->ends.other = o->recent[k];
	}
}

/* [from, to) of a device, which d->ends.next ended, cut to the window. */
static int end_gap(struct finder *f, struct device *d, int64_t from_ns,
		   int64_t to_ns, struct pf_err *err)
{
	struct pf_gap gap = {
		.trace = d->sum.trace,
		.device = d->sum.device,
		.start_ns = from_ns > d->lo ? from_ns : d->lo,
		.end_ns = to_ns < d->hi ? to_ns : d->hi,
		.before = d->ends.before.name,
		.after = d->ends.next.name,
		.drained = { .end_ns = INT64_MIN },
	};

	if (gap.start_ns >= gap.end_ns)
		return 0;
	d->sum.gap_count++;
	if (gap.end_ns - gap.start_ns < f->micro_ns)
		pf_explain_whole(d->explain, &gap, PF_CAUSE_MICRO, PF_ID_NONE);
	else {
		find_other(f, d, &gap);
		if (pf_explain_gap(d->explain, &gap, &d->ends, err) < 0)
			return -1;
	}
	if (f->in.sink->gap)
		f->in.sink->gap(f->in.sink, &gap);
	return 0;
}

static int end_pending(struct finder *f, struct device *d, struct pf_err *err)
{
	if (!d->is_pending)
		return 0;
	d->is_pending = false;
	return end_gap(f, d, d->from_ns, d->ends.next.start_ns, err);
}

/* Does the pending gap end with this event rather than with d->ends.next? */
static bool comes_first(const struct pf_gap_work *a,
			const struct pf_gap_work *b)
{
	if (a->stream != b->stream)
		return a->stream < b->stream;
	return a->correlation < b->correlation;
}

/*
 * What is known of the work that is about to end a gap: did its call launch
 * work before, and what was launched last on its stream?
 */
static void look_back(struct device *d, const struct pf_gap_work *e)
{
	size_t known = d->recent_at < RECENT ? d->recent_at : RECENT;
	bool has_stream = false;

	d->ends.is_graph = false;
	d->ends.stream_launch_id = 0;
	d->ends.is_stream_first = known == d->recent_at;
	for (size_t i = 1; i <= known; i++) {
		const struct pf_gap_work *r =
			&d->recent[(d->recent_at - i) % RECENT];

		if (r->start_ns == e->start_ns)
			continue;
		d->ends.is_graph |= r->launch_id == e->launch_id;
		if (r->stream != e->stream || has_stream)
			continue;
		has_stream = true;
		d->ends.is_stream_first = false;
		d->ends.stream_launch_id = r->launch_id;
	}
}

static int add_event(struct finder *f, struct device *d,
		     const struct pf_gap_work *e, struct pf_err *err)
{
	int64_t start = e->start_ns, end = e->end_ns, gap;
	int64_t out_ns = end - start; /* of it, outside of the window */

	if (d->is_pending && e->start_ns == d->ends.next.start_ns) {
		if (comes_first(e, &d->ends.next)) {
			d->ends.next = *e;
			look_back(d, e);
		}
	} else if (end_pending(f, d, err) < 0) {
		return -1;
	}
	gap = pf_union_add(&d->all, e->start_ns, e->end_ns);
	if (d->last.name == PF_ID_NONE && e->start_ns > d->lo) {
		gap = e->start_ns - d->lo;
		d->from_ns = d->lo;
	} else if (gap > 0) {
		d->from_ns = e->start_ns - gap;
	}
	if (gap > 0) {
		d->is_pending = true;
		d->ends.before = d->last;
		d->ends.next = *e;
		look_back(d, e);
	}
	if (d->last.name == PF_ID_NONE || e->end_ns >= d->last.end_ns)
		d->last = *e;
	if (pf_window_cut(d->sum.trace, &start, &end)) {
		pf_union_add(&d->cut, start, end);
		d->sum.event_count++;
		pf_sat_sum(&d->sum.work_ns, end - start);
		out_ns -= end - start;
	} else {
		d->sum.outside_count++;
	}
	pf_sat_sum(&d->sum.outside_ns, out_ns);
	return 0;
}

static int end_device(struct finder *f, struct device *d, struct pf_err *err)
{
	static const struct pf_gap_work none = { .name = PF_ID_NONE };
	int64_t from;

	if (end_pending(f, d, err) < 0)
		return -1;
	from = d->all.any ? d->all.end_ns : d->lo;
	if (from < d->hi) {
		d->ends.before = d->last;
		d->ends.next = none;
		if (end_gap(f, d, from, d->hi, err) < 0)
			return -1;
	}
	d->sum.window_ns = d->hi - d->lo;
	d->sum.first_ns = d->cut.first_ns;
	d->sum.last_ns = d->cut.end_ns;
	d->sum.busy_ns = d->cut.covered_ns;
	d->sum.idle_ns = d->sum.window_ns - d->sum.busy_ns;
	if (f->in.sink->device)
		f->in.sink->device(f->in.sink, &d->sum);
	return 0;
}

/* ---- events ---- */

static int end_trace(struct finder *f, struct pf_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < f->count; i++) {
		if (!rc && !f->devices[i].is_hidden)
			rc = end_device(f, &f->devices[i], err);
		pf_explain_free(f->devices[i].explain);
	}
	f->count = 0;
	return rc;
}

static int begin_trace(struct finder *f, const struct pf_window_trace *trace,
		       struct pf_err *err)
{
	if (end_trace(f, err) < 0)
		return -1;
	f->trace = trace;
	f->in.tracks = f->tracks;
	return pf_explain_open(&f->in, trace->trace_id, err);
}

static struct device *find_device(struct finder *f, int64_t device)
{
	const struct pf_window_trace *t = f->trace;
	struct device *d;

	for (size_t i = 0; i < f->count; i++)
		if (f->devices[i].sum.device == device)
			return &f->devices[i];
	f->devices =
		pf_grow(f->devices, &f->cap, f->count + 1, sizeof(*f->devices));
	d = &f->devices[f->count++];
	memset(d, 0, sizeof(*d));
	d->sum.trace = t;
	d->sum.trace_id = t->trace_id;
	d->sum.rank = t->rank;
	d->sum.device = device;
	d->lo = t->lo_ns;
	d->hi = t->hi_ns;
	d->last.name = d->ends.before.name = d->ends.next.name = PF_ID_NONE;
	d->explain = pf_explain_new(&f->in);
	d->is_hidden = f->window->device >= 0 && device != f->window->device;
	return d;
}

static void place_by_config(const struct finder *f, int64_t id,
			    struct pf_gap_work *e)
{
	const struct pf_gpu_config *c = pf_gpu_configs_find(&f->configs, id);

	e->device = c ? c->device : -1;
	e->stream = c ? c->stream : -1;
}

/* Where the configuration does not say it, the track does. */
static void place_on_track(const struct finder *f, struct pf_gap_work *e)
{
	uint32_t track = pf_track_of(e->event_id);
	size_t low = PF_SEARCH(i, f->in.track_count, f->tracks[i].id < track);

	if (low == f->in.track_count || f->tracks[low].id != track)
		return;
	if (e->device < 0)
		e->device = pf_num_or_none(f->tracks[low].pid);
	if (e->stream < 0)
		e->stream = pf_num_or_none(f->tracks[low].tid);
}

static const struct pf_window_trace *find_trace(const struct finder *f,
						int64_t id)
{
	if (f->trace && f->trace->trace_id == id)
		return f->trace;
	return pf_window_find(f->window, id);
}

static void read_work(const struct finder *f, sqlite3_stmt *stmt,
		      struct pf_gap_work *e)
{
	e->event_id = sqlite3_column_int64(stmt, 0);
	e->kind = (unsigned)sqlite3_column_int64(stmt, 2);
	e->start_ns = sqlite3_column_int64(stmt, 3);
	e->end_ns = pf_span_end(e->start_ns, sqlite3_column_int64(stmt, 4));
	e->name = (uint32_t)sqlite3_column_int64(stmt, 5);
	if (e->name == PF_ID_NONE)
		e->name = PF_ID_INLINE;
	place_by_config(f, pf_db_int_or(stmt, 6, -1), e);
	e->correlation = pf_db_int_or(stmt, 7, -1);
	e->launch_id = pf_db_int_or(stmt, 8, 0);
	if (!pf_track_of(e->launch_id))
		e->launch_id = 0; /* there is no such track */
	if (e->device < 0 || e->stream < 0)
		place_on_track(f, e);
}

static int add_row(struct finder *f, sqlite3_stmt *stmt, struct pf_err *err)
{
	const struct pf_window_trace *trace =
		find_trace(f, sqlite3_column_int64(stmt, 1));
	const struct pf_name_class *class;
	struct pf_gap_work e;

	if (!trace)
		return 0;
	if (trace != f->trace && begin_trace(f, trace, err) < 0)
		return -1;
	e.trace = trace;
	read_work(f, stmt, &e);
	if (pf_kind_is_gpu_work(e.kind)) {
		struct device *d = find_device(f, e.device);

		e.is_first = pf_explain_work(d->explain, &e);
		if (!d->is_hidden && add_event(f, d, &e, err) < 0)
			return -1;
		d->recent[d->recent_at++ % RECENT] = e;
		return 0;
	}
	class = pf_names_class(f->in.names, e.name, err);
	if (class && class->is_wait)
		pf_explain_wait(find_device(f, e.device)->explain, &e);
	return class ? 0 : -1;
}

int pf_gap_find(struct pf_db *db, const struct pf_window *window,
		struct pf_names *names, const struct pf_pageable *pageable,
		int64_t micro_ns, struct pf_gap_sink *sink, struct pf_err *err)
{
	struct finder f = { .in = { .db = db,
				    .names = names,
				    .pageable = pageable,
				    .sink = sink },
			    .window = window,
			    .micro_ns = micro_ns };
	sqlite3_stmt *stmt = pf_named_prepare(db, "gap_work", err);
	int rc = -1;

	if (stmt && !pf_gpu_configs_load(&f.configs, f.in.db, err))
		rc = pf_tracks_load(db, 0, &f.tracks, &f.in.track_count, err);
	while (!rc && (rc = pf_db_step(db, stmt, err)) == 1)
		rc = add_row(&f, stmt, err);
	if (!rc)
		rc = end_trace(&f, err);
	for (size_t i = 0; i < f.count; i++)
		pf_explain_free(f.devices[i].explain);
	free(f.devices);
	pf_gpu_configs_release(&f.configs);
	pf_explain_close(&f.in);
	pf_tracks_free(f.tracks, f.in.track_count);
	sqlite3_finalize(stmt);
	return rc;
}
