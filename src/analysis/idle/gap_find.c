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

#include "analysis/idle/gap_explain.h"
#include "analysis/idle/tpu_calls.h"
#include "events/device_work.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "base/mem.h"
#include "base/sat.h"
#include "store/cursor.h"
#include "store/texts.h"

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
	/* Of a TPU: the program that began last, and the call that brought it. */
	struct program {
		int64_t start_ns, end_ns, call;
	} program;
	struct pf_explain *explain;
};

struct finder {
	struct pf_explain_in in;
	const struct pf_window *window;
	int64_t micro_ns;
	struct pf_track *tracks; /* of the trace: in.track_count of them */
	struct pf_gpu_configs configs;
	struct pf_ints *links;
	struct pf_tpu_calls tpu_calls; /* of the current trace, as are: */
	struct device *devices;
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
static void look_back(struct device *d, const struct pf_gap_work *e,
		      int64_t micro_ns)
{
	size_t known = d->recent_at < RECENT ? d->recent_at : RECENT;
	bool has_stream = false;

	if (pf_sat_sub(e->start_ns, d->from_ns) < micro_ns)
		return; /* nothing will ask */
	d->ends.launched_before = false;
	d->ends.stream_launch_id = 0;
	d->ends.is_stream_first = known == d->recent_at;
	for (size_t i = 1; i <= known; i++) {
		const struct pf_gap_work *r =
			&d->recent[(d->recent_at - i) % RECENT];

		if (r->start_ns == e->start_ns)
			continue;
		d->ends.launched_before |= r->launch_id == e->launch_id;
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
			look_back(d, e, f->micro_ns);
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
		look_back(d, e, f->micro_ns);
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
		/* of a GPU without work there are records of waits alone */
		if (!rc && !f->devices[i].is_hidden && f->devices[i].all.any)
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
	pf_tracks_free(f->tracks, f->in.track_count);
	f->trace = trace;
	if (pf_tracks_load(f->in.db, trace->trace_id, &f->tracks,
			   &f->in.track_count, err) < 0)
		return -1;
	f->in.tracks = f->tracks;
	if (trace->is_tpu &&
	    pf_tpu_calls_load(&f->tpu_calls, f->in.db, f->tracks,
			      f->in.track_count, err))
		return -1;
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

static void place(const struct finder *f, const struct pf_track *on,
		  const struct pf_span *s, struct pf_gap_work *e)
{
	const struct pf_gpu_config *c = NULL;

	if (s->args < PF_ID_INLINE)
		c = pf_gpu_configs_find(&f->configs, s->args);
	e->device = c ? c->device : -1;
	e->stream = c ? c->stream : -1;
	/* where the configuration does not say it, the track does */
	if (e->device < 0)
		e->device = pf_work_device(on);
	if (e->stream < 0)
		e->stream = pf_work_stream(on);
}

static int read_work(const struct finder *f, const struct pf_track *on,
		     const struct pf_span *s, struct pf_gap_work *e,
		     struct pf_err *err)
{
	const int64_t *row;

	e->trace = f->trace;
	e->event_id = (int64_t)((uint64_t)on->id << 32 | s->seq);
	e->start_ns = s->start_ns;
	e->end_ns = pf_span_end(s->start_ns, s->dur_ns);
	e->name = s->name == PF_ID_NONE ? PF_ID_INLINE : s->name;
	e->correlation = -1;
	if (s->mask >> PF_SLOT_CORRELATION & 1)
		e->correlation = s->slot[PF_SLOT_CORRELATION];
	place(f, on, s, e);
	if (pf_gpu_links_next(f->links, e->event_id, &row, err) < 0)
		return -1;
	e->launch_id = pf_gpu_links_call(row);
	if (!pf_track_of(e->launch_id))
		e->launch_id = 0; /* there is no such track */
	return 0;
}

static int take_program(struct finder *f, const struct pf_track *on,
			const struct pf_span *s, struct pf_err *err)
{
	struct program *p = &find_device(f, pf_work_device(on))->program;

	p->start_ns = s->start_ns;
	p->end_ns = pf_span_end(s->start_ns, s->dur_ns);
	return pf_tpu_calls_find(&f->tpu_calls, s, &p->call, err);
}

/* All operations of a program came with it. */
static int64_t call_of(const struct device *d, const struct pf_gap_work *e)
{
	const struct program *p = &d->program;

	return e->start_ns >= p->start_ns && e->start_ns < p->end_ns ? p->call
								     : 0;
}

/* What ran on a GPU, or a record of what its streams waited for. */
static int take(struct finder *f, const struct pf_track *on,
		const struct pf_span *s, struct pf_err *err)
{
	const struct pf_name_class *class;
	struct pf_gap_work e = { .kind = pf_names_kind(f->in.names, s->type) };
	enum pf_work_row row =
		f->trace->is_tpu ? pf_work_row(on, true) : PF_WORK_GPU;
	bool is_work = pf_is_work(row, e.kind);

	if (row == PF_WORK_PROGRAMS)
		return take_program(f, on, s, err);
	if (!is_work && e.kind != PF_KIND_GPU_SYNC)
		return 0;
	if (read_work(f, on, s, &e, err) < 0)
		return -1;
	if (is_work) {
		struct device *d = find_device(f, e.device);

		if (row == PF_WORK_OPS)
			e.launch_id = call_of(d, &e);
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

static int open_streams(struct finder *f, struct pf_cursors *streams,
			struct pf_err *err)
{
	static const uint64_t usual =
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
		PF_COLBIT(PF_COL_ORDER) | PF_COLBIT(PF_COL_NAME) |
		PF_COLBIT(PF_COL_TYPE) | PF_COLBIT(PF_COL_ARGS) |
		PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION);

	for (size_t i = 0; i < f->in.track_count; i++) {
		uint64_t columns = usual;

		if (strcmp(f->tracks[i].class_name, "gpu") != 0)
			continue;
		if (f->trace->is_tpu &&
		    pf_work_row(&f->tracks[i], true) == PF_WORK_PROGRAMS)
			columns |= PF_TPU_CALL_COLUMNS;
		if (pf_cursors_add(streams, f->in.db, f->tracks[i].id, columns,
				   i, err) < 0)
			return -1;
	}
	return 0;
}

static int find_in_trace(struct finder *f, const struct pf_window_trace *trace,
			 struct pf_err *err)
{
	struct pf_cursors streams = { 0 };
	const struct pf_span *s;
	size_t track;
	int rc = begin_trace(f, trace, err);

	if (!rc)
		rc = open_streams(f, &streams, err);
	while (!rc && (rc = pf_cursors_next(&streams, &track, &s, err)) == 1)
		rc = take(f, &f->tracks[track], s, err);
	pf_cursors_release(&streams);
	return rc;
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
	int rc = -1;

	f.links = pf_gpu_links_new(db, false, err);
	if (f.links && !pf_gpu_configs_load(&f.configs, f.in.db, err))
		rc = 0;
	for (size_t i = 0; !rc && i < window->count; i++)
		rc = find_in_trace(&f, &window->traces[i], err);
	if (!rc)
		rc = end_trace(&f, err);
	for (size_t i = 0; i < f.count; i++)
		pf_explain_free(f.devices[i].explain);
	free(f.devices);
	pf_gpu_configs_release(&f.configs);
	pf_explain_close(&f.in);
	pf_tracks_free(f.tracks, f.in.track_count);
	pf_ints_free(f.links);
	pf_tpu_calls_release(&f.tpu_calls);
	return rc;
}
