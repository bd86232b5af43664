/* SPDX-License-Identifier: MIT */
/*
 * Gaps are looked for from the first full step to the last and their pieces
 * cut to full steps, so that causes add up to the idle time of these steps,
 * device by device.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compare/diff_capture.h"
#include "analysis/idle/gaps.h"
#include "events/interval.h"
#include "base/mem.h"
#include "base/sat.h"
#include "base/search.h"
#include "store/cursor.h"

struct waits {
	struct pf_gap_sink sink;
	struct pf_capture *c;
	struct pf_gpu_set gpus;
	struct pf_db *db;
	struct pf_names *names;
	struct pf_intern idle_keys, site_keys; /* bytes of a place */
	struct pf_place *idle_places, *site_places;
	size_t idle_cap, site_cap, idle_place_cap, site_place_cap;
	const struct pf_gap *gap;
	int64_t at_ns; /* where the next piece of the gap begins */
};

static struct pf_wait_row *row_of(struct pf_intern *keys,
				  struct pf_wait_row **rows, size_t *count,
				  size_t *cap, struct pf_place **places,
				  size_t *place_cap,
				  const struct pf_place *place)
{
	uint32_t n = pf_intern_add(keys, (const char *)place, sizeof(*place));

	if (n < *count)
		return &(*rows)[n];
	*rows = pf_grow(*rows, cap, n + (size_t)1, sizeof(**rows));
	*places = pf_grow(*places, place_cap, n + (size_t)1, sizeof(**places));
	(*rows)[n] = (struct pf_wait_row){ .cause = place->cause };
	(*places)[n] = *place;
	*count = n + (size_t)1;
	return &(*rows)[n];
}

static struct pf_wait_row *idle_row(struct waits *w, struct pf_place place)
{
	struct pf_capture *c = w->c;

	place.outer_op = PF_ID_NONE;
	if (w->idle_keys.count >= PF_CAPTURE_ROWS_MAX)
		place = (struct pf_place){
			place.cause, PF_ID_NONE, PF_ID_NONE,
			PF_ID_NONE,  PF_ID_NONE, PF_ID_NONE
		};
	return row_of(&w->idle_keys, &c->idle, &c->idle_count, &w->idle_cap,
		      &w->idle_places, &w->idle_place_cap, &place);
}

static struct pf_wait_row *site_row(struct waits *w, struct pf_place place)
{
	struct pf_capture *c = w->c;

	place.outer_op = PF_ID_NONE;
	if (place.frame != PF_ID_NONE)
		place.note = PF_ID_NONE;
	if (w->site_keys.count >= PF_CAPTURE_ROWS_MAX)
		place = (struct pf_place){
			place.cause, place.name, PF_ID_NONE,
			PF_ID_NONE,  PF_ID_NONE, PF_ID_NONE
		};
	return row_of(&w->site_keys, &c->sites, &c->site_count, &w->site_cap,
		      &w->site_places, &w->site_place_cap, &place);
}

/* What of a span lies in full steps of its trace. */
static int64_t in_full_steps(struct pf_capture *c, int64_t trace_id,
			     int64_t from_ns, int64_t to_ns)
{
	const struct pf_capture_step *step = c->steps;
	size_t low = PF_SEARCH(i, c->step_count,
			       step[i].time.trace_id < trace_id ||
				       (step[i].time.trace_id == trace_id &&
					step[i].time.end_ns <= from_ns));
	int64_t ns = 0;

	for (; low < c->step_count; low++) {
		const struct pf_step_time *s = &c->steps[low].time;
		int64_t from = s->start_ns > from_ns ? s->start_ns : from_ns;
		int64_t to = s->end_ns < to_ns ? s->end_ns : to_ns;

		if (s->trace_id != trace_id || s->start_ns >= to_ns)
			break;
		if (!s->is_partial && to > from)
			pf_capture_add(c, &ns, pf_sat_sub(to, from));
	}
	return ns;
}

static void on_piece(struct pf_gap_sink *sink, const struct pf_gap *gap,
		     const struct pf_place *place, int64_t ns)
{
	struct waits *w = (struct waits *)sink;
	struct pf_wait_row *row;
	int64_t inside;

	if (w->gap != gap) {
		w->gap = gap;
		w->at_ns = gap->start_ns;
	}
	inside = in_full_steps(w->c, gap->trace->trace_id, w->at_ns,
			       pf_span_end(w->at_ns, ns));
	w->at_ns = pf_span_end(w->at_ns, ns);
	if (!inside)
		return;
	row = idle_row(w, *place);
	row->count++;
	pf_capture_add(w->c, &row->ns, inside);
	pf_capture_add(w->c, &w->c->cause_ns[place->cause], inside);
}

static void on_gap(struct pf_gap_sink *sink, const struct pf_gap *gap)
{
	struct waits *w = (struct waits *)sink;
	int64_t inside;

	w->gap = NULL;
	if (gap->drained.end_ns == INT64_MIN)
		return;
	inside = in_full_steps(w->c, gap->trace->trace_id, gap->start_ns,
			       gap->end_ns);
	if (inside)
		pf_capture_add(w->c, &site_row(w, gap->drained.place)->idle_ns,
			       inside);
}

static void on_device(struct pf_gap_sink *sink, const struct pf_gap_device *d)
{
	struct waits *w = (struct waits *)sink;

	if (d->event_count)
		pf_gpu_set_add(&w->gpus, d->trace, d->device);
	w->c->device_count = (int64_t)w->gpus.count;
}

/* ---- blocking calls ---- */

static void add_call(struct waits *w, int64_t trace_id,
		     const struct pf_block_call *call)
{
	struct pf_capture_step *s =
		pf_capture_step_at(w->c, trace_id, call->start_ns);
	struct pf_wait_row *row;

	if (!s)
		return;
	s->count[PF_COUNT_SYNCS]++;
	if (s->time.is_partial)
		return;
	row = site_row(w, call->place);
	row->count++;
	pf_capture_add(w->c, &row->ns,
		       pf_sat_sub(call->end_ns, call->start_ns));
}

static int walk_track(struct waits *w, const struct pf_pageable *pageable,
		      const struct pf_track *track, struct pf_err *err)
{
	struct pf_walk *walk =
		pf_walk_new(w->db, w->names, pageable, track->id, err);
	struct pf_block_call call;
	int rc;

	if (!walk)
		return -1;
	while ((rc = pf_walk_next_call(walk, &call, err)) == 1)
		if (!call.is_stream_wait)
			add_call(w, track->trace_id, &call);
	pf_walk_free(walk);
	return rc;
}

static int walk_tracks(struct waits *w, const struct pf_pageable *pageable,
		       const struct pf_window *window, struct pf_err *err)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < window->count; i++) {
		rc = pf_tracks_load(w->db, window->traces[i].trace_id, &tracks,
				    &count, err);
		for (size_t k = 0; !rc && k < count; k++)
			if (!strcmp(tracks[k].class_name, "host"))
				rc = walk_track(w, pageable, &tracks[k], err);
		if (tracks)
			pf_tracks_free(tracks, count);
		tracks = NULL;
	}
	return rc;
}

/* ---- names ---- */

static int name_text(struct waits *w, uint32_t name, uint32_t *out,
		     struct pf_err *err)
{
	char *text = NULL;

	if (name != PF_ID_NONE) {
		text = pf_names_frame_take(w->names, name, err);
		if (!text)
			return -1;
	}
	*out = pf_capture_text(w->c, text ? text : "");
	free(text);
	return 0;
}

static int take_names(struct waits *w, struct pf_wait_row *rows,
		      const struct pf_place *places, size_t count,
		      struct pf_err *err)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t frame = places[i].frame != PF_ID_NONE ? places[i].frame
							       : places[i].note;

		if (name_text(w, places[i].name, &rows[i].name, err) < 0 ||
		    name_text(w, places[i].op, &rows[i].op, err) < 0 ||
		    name_text(w, frame, &rows[i].frame, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the whole ---- */

/* From the first full step of each trace to its last. */
static void narrow(struct pf_window *window, const struct pf_capture *c)
{
	window->is_restricted = true;
	for (size_t i = 0; i < window->count; i++) {
		struct pf_window_trace *t = &window->traces[i];
		bool any = false;

		for (size_t k = 0; k < c->step_count; k++) {
			const struct pf_step_time *s = &c->steps[k].time;

			if (s->trace_id != t->trace_id || s->is_partial)
				continue;
			if (!any)
				t->from_ns = s->start_ns;
			t->to_ns = s->end_ns;
			any = true;
		}
		if (!any)
			t->to_ns = t->from_ns = t->first_ns;
	}
}

int pf_capture_waits(struct pf_db *db, const struct pf_window *window,
		     struct pf_capture *c, struct pf_err *err)
{
	struct waits w = { .sink = { on_piece, on_gap, on_device },
			   .c = c,
			   .db = db };
	struct pf_window_trace *traces =
		pf_calloc(window->count + 1, sizeof(*traces));
	struct pf_window own = *window;
	const struct pf_pageable *pageable = pf_pageable(db, err);
	int rc;

	pf_intern_init(&w.idle_keys);
	pf_intern_init(&w.site_keys);
	memcpy(traces, window->traces, window->count * sizeof(*traces));
	own.traces = traces;
	narrow(&own, c);
	w.names = pf_names_new(db, err);
	rc = w.names && pageable ? pf_window_settle(db, &own, err) : -1;
	if (!rc)
		rc = pf_gap_find(db, &own, w.names, pageable, PF_GAPS_MICRO_NS,
				 &w.sink, err);
	if (!rc)
		rc = walk_tracks(&w, pageable, window, err);
	if (!rc)
		rc = take_names(&w, c->idle, w.idle_places, c->idle_count, err);
	if (!rc)
		rc = take_names(&w, c->sites, w.site_places, c->site_count,
				err);
	pf_names_free(w.names);
	pf_gpu_set_release(&w.gpus);
	pf_intern_release(&w.idle_keys);
	pf_intern_release(&w.site_keys);
	free(w.idle_places);
	free(w.site_places);
	free(traces);
	return rc;
}
