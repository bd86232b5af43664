/* SPDX-License-Identifier: MIT */
/*
 * A gap is explained when the first event that starts after the one that
 * ended it is known: of several that start together, the lowest stream and
 * then the lowest correlation ended it, and a launch that owns the next event
 * too is a graph.
 *
 * Gaps of a device do not overlap and come in order, so a walk over a thread
 * that launches for it only goes forward.  A launch call that the walk has
 * passed when it stands at the gap's start had begun by then.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/gap_find.h"
#include "analysis/interval.h"
#include "base/mem.h"
#include "base/num.h"
#include "store/cursor.h"
#include "store/named.h"

#define DRAIN_SLACK_NS 20000 /* a call may return before its work ends */
#define WAIT_MAX       64    /* streams whose last wait is known */

struct work {
	const struct pf_window_trace *trace;
	int64_t event_id, start_ns, end_ns, device, stream, correlation;
	int64_t launch_id; /* 0: none */
	uint32_t name;
	unsigned kind;
};

struct wait {
	int64_t stream, start_ns, end_ns;
	uint32_t name;
};

struct device {
	struct pf_gap_device sum;
	int64_t lo, hi; /* the window; INT64_MIN, INT64_MAX: all time */
	struct pf_union all;
	struct pf_union cut; /* inside the window */
	struct work last;    /* that ended last */
	bool is_pending;
	bool is_graph;
	int64_t from_ns; /* the pending gap's start */
	struct work before, next;
	struct wait waits[WAIT_MAX];
	size_t wait_count;
	struct pf_walk **walks; /* by track */
	uint32_t *tracks;
	size_t walk_count, walk_cap, track_cap;
};

struct finder {
	struct pf_db *db;
	const struct pf_window *window;
	struct pf_names *names;
	const struct pf_pageable *pageable;
	int64_t micro_ns;
	struct pf_gap_sink *sink;
	struct pf_track *tracks;
	size_t track_count;
	struct device *devices; /* of the current trace */
	size_t count, cap;
	const struct pf_window_trace *trace;
};

/* ---- pieces ---- */

static void emit(struct finder *f, const struct pf_gap *gap,
		 struct pf_place place, int64_t ns)
{
	if (ns > 0 && f->sink->piece)
		f->sink->piece(f->sink, gap, &place, ns);
}

static struct pf_place gpu_place(enum pf_cause cause, uint32_t name)
{
	return (struct pf_place){ cause,      name,       PF_ID_NONE,
				  PF_ID_NONE, PF_ID_NONE, PF_ID_NONE };
}

static struct pf_walk *walk_of(struct finder *f, struct device *d,
			       int64_t launch_id, struct pf_err *err)
{
	uint32_t track = (uint32_t)((uint64_t)launch_id >> 32);
	struct pf_walk *w;

	for (size_t i = d->walk_count; i-- > 0;)
		if (d->tracks[i] == track)
			return d->walks[i];
	w = pf_walk_new(f->db, f->names, f->pageable, track, err);
	if (!w)
		return NULL;
	d->walks = pf_grow(d->walks, &d->walk_cap, d->walk_count + 1,
			   sizeof(struct pf_walk *));
	d->tracks = pf_grow(d->tracks, &d->track_cap, d->walk_count + 1,
			    sizeof(*d->tracks));
	d->tracks[d->walk_count] = track;
	d->walks[d->walk_count++] = w;
	return w;
}

/*
 * The last blocking call of a thread that stands at the gap's start; not one
 * that had returned when the last work before the gap was launched.
 */
static void look_for_drain(struct pf_gap *gap, const struct pf_walk *w,
			   int64_t launch_id)
{
	const struct pf_block_call *b = pf_walk_last_block(w);
	int64_t earliest;

	if (__builtin_sub_overflow(gap->start_ns, DRAIN_SLACK_NS, &earliest))
		earliest = INT64_MIN;
	if (b->end_ns < gap->start_ns && launch_id > b->event_id &&
	    launch_id >> 32 == b->event_id >> 32)
		return;
	if (gap->drained.end_ns == INT64_MIN && b->end_ns != INT64_MIN &&
	    b->end_ns <= gap->end_ns && b->end_ns >= earliest)
		gap->drained = *b;
}

/* The launch call began before the gap: what did the GPU wait for? */
static struct pf_place queued_place(const struct device *d,
				    const struct pf_gap *gap)
{
	for (size_t i = 0; i < d->wait_count; i++) {
		const struct wait *w = &d->waits[i];

		if (w->stream == d->next.stream && w->start_ns < gap->end_ns &&
		    w->end_ns >= gap->start_ns)
			return gpu_place(PF_CAUSE_DEPENDENCY, w->name);
	}
	if (gap->before != PF_ID_NONE && d->before.stream != d->next.stream)
		return gpu_place(PF_CAUSE_DEPENDENCY, gap->before);
	return gpu_place(d->is_graph ? PF_CAUSE_GRAPH : PF_CAUSE_DEVICE,
			 gap->after);
}

static int host_pieces(struct finder *f, struct pf_walk *w,
		       const struct device *d, const struct pf_gap *gap,
		       struct pf_err *err)
{
	uint32_t stop = (uint32_t)d->next.launch_id;
	int64_t at = gap->start_ns, end;
	struct pf_place place;
	int rc;

	while ((rc = pf_walk_piece(w, at, stop, gap->end_ns, &place, &end,
				   err)) == 1) {
		emit(f, gap, place, end - at);
		at = end;
		if (at >= gap->end_ns)
			return 0;
	}
	place.cause = PF_CAUSE_LAUNCH;
	emit(f, gap, place, gap->end_ns - at);
	return rc;
}

static int explain(struct finder *f, struct device *d, struct pf_gap *gap,
		   struct pf_err *err)
{
	struct pf_walk *w, *other;
	struct pf_place place;

	if (!d->next.launch_id) {
		emit(f, gap, gpu_place(PF_CAUSE_NO_LAUNCH, gap->after),
		     gap->end_ns - gap->start_ns);
		return 0;
	}
	w = walk_of(f, d, d->next.launch_id, err);
	if (!w || pf_walk_to(w, gap->start_ns, err) < 0)
		return -1;
	look_for_drain(gap, w, d->before.launch_id);
	if (d->before.launch_id &&
	    d->before.launch_id >> 32 != d->next.launch_id >> 32) {
		other = walk_of(f, d, d->before.launch_id, err);
		if (!other || pf_walk_to(other, gap->start_ns, err) < 0)
			return -1;
		look_for_drain(gap, other, d->before.launch_id);
	}
	if (!pf_walk_is_past(w, (uint32_t)d->next.launch_id))
		return host_pieces(f, w, d, gap, err);
	/* a call that has not returned has not queued anything in time */
	if (pf_walk_is_open(w, (uint32_t)d->next.launch_id, gap->start_ns,
			    &place))
		place.cause = PF_CAUSE_LAUNCH;
	else
		place = queued_place(d, gap);
	emit(f, gap, place, gap->end_ns - gap->start_ns);
	return 0;
}

/* ---- gaps ---- */

/* [from, to) of a device, which d->next ended, cut to the window. */
static int end_gap(struct finder *f, struct device *d, int64_t from_ns,
		   int64_t to_ns, struct pf_err *err)
{
	struct pf_gap gap = {
		.trace = d->sum.trace,
		.device = d->sum.device,
		.start_ns = from_ns > d->lo ? from_ns : d->lo,
		.end_ns = to_ns < d->hi ? to_ns : d->hi,
		.before = d->before.name,
		.after = d->next.name,
		.drained = { .end_ns = INT64_MIN },
	};

	if (gap.start_ns >= gap.end_ns)
		return 0;
	d->sum.gap_count++;
	if (gap.end_ns - gap.start_ns < f->micro_ns)
		emit(f, &gap, gpu_place(PF_CAUSE_MICRO, PF_ID_NONE),
		     gap.end_ns - gap.start_ns);
	else if (explain(f, d, &gap, err) < 0)
		return -1;
	if (f->sink->gap)
		f->sink->gap(f->sink, &gap);
	return 0;
}

static int end_pending(struct finder *f, struct device *d, struct pf_err *err)
{
	if (!d->is_pending)
		return 0;
	d->is_pending = false;
	return end_gap(f, d, d->from_ns, d->next.start_ns, err);
}

/* Does the pending gap end with this event rather than with d->next? */
static bool comes_first(const struct work *a, const struct work *b)
{
	if (a->stream != b->stream)
		return a->stream < b->stream;
	return a->correlation < b->correlation;
}

static int add_event(struct finder *f, struct device *d, const struct work *e,
		     struct pf_err *err)
{
	bool is_restricted = d->lo != INT64_MIN;
	int64_t start = e->start_ns, end = e->end_ns, gap;

	if (d->is_pending && e->start_ns == d->next.start_ns) {
		if (comes_first(e, &d->next))
			d->next = *e;
	} else if (d->is_pending) {
		d->is_graph |= e->launch_id == d->next.launch_id;
		if (end_pending(f, d, err) < 0)
			return -1;
	}
	gap = pf_union_add(&d->all, e->start_ns, e->end_ns);
	if (d->last.name == PF_ID_NONE && is_restricted &&
	    e->start_ns > d->lo) {
		gap = e->start_ns - d->lo;
		d->from_ns = d->lo;
	} else if (gap > 0) {
		d->from_ns = e->start_ns - gap;
	}
	if (gap > 0) {
		d->is_pending = true;
		d->before = d->last;
		d->next = *e;
		d->is_graph = e->launch_id == d->last.launch_id;
	}
	if (d->last.name == PF_ID_NONE || e->end_ns >= d->last.end_ns)
		d->last = *e;
	if (pf_window_cut(d->sum.trace, &start, &end)) {
		pf_union_add(&d->cut, start, end);
		d->sum.event_count++;
		d->sum.work_ns += end - start;
		if (!e->launch_id) {
			d->sum.orphan_count++;
			d->sum.orphan_ns += end - start;
		}
	}
	return 0;
}

static void release_device(struct device *d)
{
	for (size_t i = 0; i < d->walk_count; i++)
		pf_walk_free(d->walks[i]);
	free(d->walks);
	free(d->tracks);
}

static int end_device(struct finder *f, struct device *d, struct pf_err *err)
{
	static const struct work none = { .name = PF_ID_NONE };
	int64_t from;

	if (end_pending(f, d, err) < 0)
		return -1;
	from = d->all.any ? d->all.end_ns : d->lo;
	if (d->lo != INT64_MIN && from < d->hi) {
		d->before = d->last;
		d->next = none;
		if (end_gap(f, d, from, d->hi, err) < 0)
			return -1;
	}
	d->sum.window_ns =
		d->lo != INT64_MIN ? d->hi - d->lo : pf_union_total(&d->cut);
	d->sum.first_ns = d->cut.first_ns;
	d->sum.last_ns = d->cut.end_ns;
	d->sum.busy_ns = d->cut.covered_ns;
	d->sum.idle_ns = d->sum.window_ns - d->sum.busy_ns;
	if (f->sink->device)
		f->sink->device(f->sink, &d->sum);
	return 0;
}

/* ---- events ---- */

static int end_trace(struct finder *f, struct pf_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < f->count; i++) {
		if (!rc)
			rc = end_device(f, &f->devices[i], err);
		release_device(&f->devices[i]);
	}
	f->count = 0;
	return rc;
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
	d->sum.device = device;
	d->lo = INT64_MIN;
	d->hi = INT64_MAX;
	d->last.name = d->before.name = d->next.name = PF_ID_NONE;
	if (f->window->is_restricted) {
		d->lo = t->from_ns > t->first_ns ? t->from_ns : t->first_ns;
		d->hi = t->to_ns < t->last_ns ? t->to_ns : t->last_ns;
		if (d->hi < d->lo)
			d->hi = d->lo;
	}
	return d;
}

static void add_wait(struct device *d, const struct work *e)
{
	size_t i = 0;

	while (i < d->wait_count && d->waits[i].stream != e->stream)
		i++;
	if (i == WAIT_MAX)
		return;
	if (i == d->wait_count)
		d->wait_count++;
	d->waits[i] =
		(struct wait){ e->stream, e->start_ns, e->end_ns, e->name };
}

static int64_t number_or_none(const char *text)
{
	int64_t n;

	return pf_num_int(text, &n) || n < 0 ? -1 : n;
}

/* Where the configuration does not say it, the track does. */
static void place_on_track(const struct finder *f, struct work *e)
{
	uint32_t track = (uint32_t)((uint64_t)e->event_id >> 32);
	size_t low = 0, high = f->track_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->tracks[middle].id < track)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == f->track_count || f->tracks[low].id != track)
		return;
	if (e->device < 0)
		e->device = number_or_none(f->tracks[low].pid);
	if (e->stream < 0)
		e->stream = number_or_none(f->tracks[low].tid);
}

static int64_t int_or(sqlite3_stmt *stmt, int column, int64_t other)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? other
		       : sqlite3_column_int64(stmt, column);
}

static const struct pf_window_trace *find_trace(const struct finder *f,
						int64_t id)
{
	if (f->trace && f->trace->trace_id == id)
		return f->trace;
	for (size_t i = 0; i < f->window->count; i++)
		if (f->window->traces[i].trace_id == id)
			return &f->window->traces[i];
	return NULL;
}

static void read_work(const struct finder *f, sqlite3_stmt *stmt,
		      struct work *e)
{
	e->event_id = sqlite3_column_int64(stmt, 0);
	e->kind = (unsigned)sqlite3_column_int64(stmt, 2);
	e->start_ns = sqlite3_column_int64(stmt, 3);
	e->end_ns = pf_span_end(e->start_ns, sqlite3_column_int64(stmt, 4));
	e->name = (uint32_t)sqlite3_column_int64(stmt, 5);
	if (e->name == PF_ID_NONE)
		e->name = PF_ID_INLINE;
	e->device = int_or(stmt, 6, -1);
	e->stream = int_or(stmt, 7, -1);
	e->correlation = int_or(stmt, 8, -1);
	e->launch_id = int_or(stmt, 9, 0);
	if (e->device < 0 || e->stream < 0)
		place_on_track(f, e);
}

static int add_row(struct finder *f, sqlite3_stmt *stmt, struct pf_err *err)
{
	const struct pf_window_trace *trace =
		find_trace(f, sqlite3_column_int64(stmt, 1));
	const struct pf_name_class *class;
	struct work e;

	if (!trace)
		return 0;
	if (trace != f->trace && end_trace(f, err) < 0)
		return -1;
	f->trace = e.trace = trace;
	read_work(f, stmt, &e);
	if (f->window->device >= 0 && e.device != f->window->device)
		return 0;
	if (pf_kind_is_gpu_work(e.kind))
		return add_event(f, find_device(f, e.device), &e, err);
	class = pf_names_class(f->names, e.name, err);
	if (class && class->is_wait)
		add_wait(find_device(f, e.device), &e);
	return class ? 0 : -1;
}

int pf_gap_find(struct pf_db *db, const struct pf_window *window,
		struct pf_names *names, const struct pf_pageable *pageable,
		int64_t micro_ns, struct pf_gap_sink *sink, struct pf_err *err)
{
	struct finder f = { .db = db,
			    .window = window,
			    .names = names,
			    .pageable = pageable,
			    .micro_ns = micro_ns,
			    .sink = sink };
	sqlite3_stmt *stmt = pf_named_prepare(db, "gap_work", err);
	int rc = -1;

	if (stmt)
		rc = pf_tracks_load(db, 0, &f.tracks, &f.track_count, err);
	while (!rc && (rc = pf_db_step(db, stmt, err)) == 1)
		rc = add_row(&f, stmt, err);
	if (!rc)
		rc = end_trace(&f, err);
	for (size_t i = 0; i < f.count; i++)
		release_device(&f.devices[i]);
	free(f.devices);
	pf_tracks_free(f.tracks, f.track_count);
	sqlite3_finalize(stmt);
	return rc;
}
