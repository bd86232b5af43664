/* SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/idle/gaps.h"
#include "events/interval.h"
#include "export/slice_impl.h"
#include "base/mem.h"
#include "base/sat.h"
#include "store/query.h"
#include "formats/event.h"

#define LEXICON_BYTES (1u << 20)
#define GAP_MARGIN_NS 50000 /* at least, and a tenth of the gap */
#define COLUMNS_EVENT ((PF_COLBIT(PF_COL_INLINE + 1) - 1))
#define COLUMNS_SLOTS (((UINT64_C(1) << PF_SLOT_COUNT) - 1) << PF_COL_SLOT)

struct slice {
	struct pf_db *db;
	const struct pf_slice_args *args;
	struct pf_slice_result *result;
	struct pf_slice_writer writer;
	struct pf_slice_used used;
	struct pf_slice_flows *flows;
	struct pf_track *tracks;
	bool *is_unwanted; /* by track: of another GPU than the chosen one */
	size_t track_count;
	struct pf_lanes lanes;
	struct pf_map moved; /* where ranges with a number went */
	int64_t from_ns, to_ns, device;
};

/* ---- the window ---- */

struct gap_sink {
	struct pf_gap_sink sink; /* first */
	int64_t *starts, *ends;  /* the longest, longest first */
	size_t count, max;
};

static bool is_longer(const struct gap_sink *s, size_t i,
		      const struct pf_gap *gap)
{
	int64_t a = s->ends[i] - s->starts[i];
	int64_t b = gap->end_ns - gap->start_ns;

	return a > b || (a == b && s->starts[i] <= gap->start_ns);
}

static void on_gap(struct pf_gap_sink *sink, const struct pf_gap *gap)
{
	struct gap_sink *s = (struct gap_sink *)sink;
	size_t at = s->count;

	while (at && !is_longer(s, at - 1, gap))
		at--;
	if (at == s->max)
		return;
	if (s->count < s->max)
		s->count++;
	memmove(s->starts + at + 1, s->starts + at,
		(s->count - at - 1) * sizeof(*s->starts));
	memmove(s->ends + at + 1, s->ends + at,
		(s->count - at - 1) * sizeof(*s->ends));
	s->starts[at] = gap->start_ns;
	s->ends[at] = gap->end_ns;
}

/* In the window of profan gaps.  Gaps are not explained: they are one piece each. */
static int find_gaps(struct pf_db *db, const struct pf_window *window,
		     struct gap_sink *s, struct pf_err *err)
{
	struct pf_pageable none = { 0 };
	struct pf_names *names = pf_names_new(db, err);
	int rc = names ? pf_gap_find(db, window, names, &none, INT64_MAX,
				     &s->sink, err)
		       : -1;

	pf_names_free(names);
	return rc;
}

static int cut_to_gap(struct slice *s, struct pf_window *window,
		      struct pf_err *err)
{
	struct gap_sink g = { .sink = { .gap = on_gap },
			      .max = (size_t)s->args->gap };
	int64_t ignored;
	int rc = pf_window_to_steps(s->db, window, &ignored, NULL, err);

	g.starts = pf_calloc(g.max + 1, sizeof(*g.starts));
	g.ends = pf_calloc(g.max + 1, sizeof(*g.ends));
	if (!rc)
		rc = find_gaps(s->db, window, &g, err);
	if (!rc && g.count < g.max)
		rc = pf_fail(err, PF_EDATA,
			     "there is no gap %" PRId64 ": %zu in all",
			     s->args->gap, g.count);
	if (!rc) {
		s->from_ns = g.starts[g.max - 1];
		s->to_ns = g.ends[g.max - 1];
	}
	free(g.starts);
	free(g.ends);
	return rc;
}

static void add_margin(struct slice *s, const struct pf_window_trace *t)
{
	int64_t margin = s->args->margin_ns, length = s->to_ns - s->from_ns;

	if (margin < 0 && s->args->gap)
		margin = length / 10 > GAP_MARGIN_NS ? length / 10
						     : GAP_MARGIN_NS;
	if (margin > 0) {
		s->from_ns = pf_sat_sub(s->from_ns, margin);
		pf_sat_sum(&s->to_ns, margin);
	}
	if (s->from_ns < t->first_ns)
		s->from_ns = t->first_ns;
	/* what begins with the last event belongs to all of the trace */
	if (s->to_ns > t->last_ns)
		s->to_ns = pf_sat_add(t->last_ns, 1);
}

/* The first event, but whole microseconds stay whole, and all times fit. */
static int64_t find_shift(const struct pf_window_trace *t)
{
	int64_t shift, span;

	if (__builtin_sub_overflow(
		    t->first_ns, (t->first_ns % 1000 + 1000) % 1000, &shift) ||
	    __builtin_sub_overflow(t->last_ns, shift, &span))
		return 0;
	return shift;
}

static int set_window(struct slice *s, struct pf_window *window,
		      struct pf_err *err)
{
	const struct pf_window_trace *t = window->traces;

	if (window->count != 1)
		return pf_fail(
			err, PF_EUSAGE,
			"there are %zu traces; choose one with --rank or "
			"--trace",
			window->count);
	s->device = window->device;
	s->from_ns = t->from_ns;
	s->to_ns = t->to_ns;
	if (s->args->gap && cut_to_gap(s, window, err) < 0)
		return -1;
	add_margin(s, t);
	if (s->from_ns >= s->to_ns)
		return pf_fail(err, PF_EDATA, "no event is in the window");
	s->result->from_ns = pf_sat_sub(s->from_ns, t->first_ns);
	s->result->to_ns = pf_sat_sub(s->to_ns, t->first_ns);
	s->writer.shift_ns = find_shift(t);
	return 0;
}

/* ---- events ---- */

static uint64_t moved_key(uint32_t track, int64_t start_ns, int64_t number)
{
	const int64_t key[] = { start_ns, number, track };

	return XXH3_64bits(key, sizeof(key));
}

/* Where a range is written. */
static int place_range(struct slice *s, const struct pf_span *e,
		       struct pf_slice_place *at, struct pf_err *err)
{
	int64_t number = -1;

	if (!s->args->whole) {
		if (at->start_ns < s->from_ns)
			at->start_ns = s->from_ns;
		if (at->end_ns > s->to_ns)
			at->end_ns = s->to_ns;
	}
	at->is_cut = at->start_ns != e->start_ns ||
		     at->end_ns != pf_span_end(e->start_ns, e->dur_ns);
	s->result->cut_count += at->is_cut;
	at->lane = pf_lanes_place(&s->lanes, at->start_ns, at->end_ns);
	if (at->lane < 0)
		return pf_fail(err, PF_ELIMIT,
			       "more than %d ranges of thread '%s' overlap",
			       PF_LANES_MAX, at->track->tid);
	if (!at->lane)
		return 0;
	s->result->moved_count++;
	if (e->mask >> PF_SLOT_CORRELATION & 1)
		number = e->slot[PF_SLOT_CORRELATION];
	*pf_map_at(&s->moved, moved_key(at->track->id, e->start_ns, number)) =
		(uint64_t)at->lane;
	return 0;
}

static bool is_range(const struct slice *s, const struct pf_span *e)
{
	const struct pf_lexicon *d = s->writer.lexicon;
	const char *ph = e->type < d->type_count ? d->type[e->type].ph : NULL;

	return ph && (*ph == 'X' || *ph == 'B');
}

static int write_event(struct slice *s, const struct pf_track *t,
		       const struct pf_span *e, struct pf_err *err)
{
	struct pf_slice_place at = { .track = t,
				     .start_ns = e->start_ns,
				     .end_ns = pf_span_end(e->start_ns,
							   e->dur_ns) };

	if (at.end_ns <= s->from_ns && e->start_ns < s->from_ns)
		return 0;
	if (is_range(s, e)) {
		if (place_range(s, e, &at, err) < 0)
			return -1;
	} else if (e->start_ns < s->from_ns) {
		return 0;
	}
	s->result->event_count++;
	return pf_slice_event(&s->writer, e, &at, err);
}

static struct pf_cursor *open_track(const struct slice *s,
				    const struct pf_track *t,
				    struct pf_err *err)
{
	struct pf_cursor *c =
		pf_cursor_new(s->db, t->id, COLUMNS_EVENT | COLUMNS_SLOTS, err);

	if (c)
		pf_cursor_overlap(c, s->from_ns, s->to_ns);
	return c;
}

static int write_track(struct slice *s, const struct pf_track *t,
		       struct pf_err *err)
{
	struct pf_cursor *c = open_track(s, t, err);
	int64_t before = s->result->event_count;
	struct pf_span e;
	int rc = -1;

	pf_lanes_clear(&s->lanes);
	while (c && (rc = pf_cursor_next(c, &e, err)) == 1) {
		if (e.start_ns >= s->to_ns) {
			rc = 0;
			break;
		}
		rc = write_event(s, t, &e, err);
		if (rc < 0)
			break;
	}
	pf_cursor_free(c);
	if (rc < 0 || s->result->event_count == before)
		return rc;
	pf_slice_use(&s->used, t);
	return pf_slice_lanes(&s->writer, t, s->lanes.count, err);
}

/* ---- flows ---- */

static bool is_flow_track(const struct pf_track *t)
{
	return !strcmp(t->class_name, "flow");
}

/* The lane of the range that a flow event is bound to. */
static int lane_of(struct slice *s, const struct pf_track *flow,
		   const struct pf_span *e)
{
	for (size_t i = 0; s->moved.count && i < s->track_count; i++) {
		const struct pf_track *t = &s->tracks[i];
		int64_t numbers[] = { e->slot[PF_SLOT_FLOW_ID], -1 };

		if (is_flow_track(t) || strcmp(t->pid, flow->pid) ||
		    strcmp(t->tid, flow->tid))
			continue;
		for (size_t k = 0; k < 2; k++) {
			uint64_t key =
				moved_key(t->id, e->start_ns, numbers[k]);
			uint64_t *lane = pf_map_at(&s->moved, key);

			if (*lane < PF_LANES_MAX)
				return (int)*lane;
		}
	}
	return 0;
}

static int write_flow(struct slice *s, const struct pf_track *t,
		      const struct pf_span *e, struct pf_err *err)
{
	struct pf_slice_place at = { .track = t,
				     .start_ns = e->start_ns,
				     .end_ns = e->start_ns };
	int rc = pf_slice_flows_take(s->flows, t->id, e->seq, err);

	if (rc < 0)
		return -1;
	if (!rc) {
		s->result->arrow_count++;
		return 0;
	}
	at.lane = lane_of(s, t, e);
	s->result->event_count++;
	return pf_slice_event(&s->writer, e, &at, err);
}

/* The arrows of such a GPU. */
static bool is_unwanted_flow(const struct slice *s, const struct pf_track *flow)
{
	for (size_t i = 0; i < s->track_count; i++) {
		const struct pf_track *t = &s->tracks[i];

		if (s->is_unwanted[i] && !strcmp(t->pid, flow->pid) &&
		    !strcmp(t->tid, flow->tid))
			return true;
	}
	return false;
}

/* Once to see which flow events have a partner, once to write them. */
static int read_flows(struct slice *s, const struct pf_track *t,
		      bool is_writing, struct pf_err *err)
{
	struct pf_cursor *c;
	struct pf_span e;
	int rc = -1;

	if (is_unwanted_flow(s, t))
		return 0;
	c = open_track(s, t, err);
	while (c && (rc = pf_cursor_next(c, &e, err)) == 1) {
		if (e.start_ns >= s->to_ns) {
			rc = 0;
			break;
		}
		if (e.start_ns < s->from_ns)
			continue;
		rc = is_writing
			     ? write_flow(s, t, &e, err)
			     : pf_slice_flows_see(s->flows, s->writer.lexicon,
						  t->id, &e, err);
		if (rc < 0)
			break;
	}
	pf_cursor_free(c);
	return rc;
}

static int write_flows(struct slice *s, struct pf_err *err)
{
	s->flows = pf_slice_flows_new();
	for (size_t i = 0; i < s->track_count; i++)
		if (is_flow_track(&s->tracks[i]) &&
		    read_flows(s, &s->tracks[i], false, err) < 0)
			return -1;
	if (pf_slice_flows_settle(s->flows, err) < 0)
		return -1;
	for (size_t i = 0; i < s->track_count; i++)
		if (is_flow_track(&s->tracks[i]) &&
		    read_flows(s, &s->tracks[i], true, err) < 0)
			return -1;
	return 0;
}

/* ---- the whole ---- */

static int write_all(struct slice *s, int64_t trace_id, struct pf_err *err)
{
	if (pf_slice_begin(&s->writer, s->db, trace_id, s->result, err) < 0)
		return -1;
	for (size_t i = 0; i < s->track_count; i++)
		if (!is_flow_track(&s->tracks[i]) && !s->is_unwanted[i] &&
		    write_track(s, &s->tracks[i], err) < 0)
			return -1;
	if (write_flows(s, err) < 0 ||
	    (s->args->path &&
	     pf_slice_path(&s->writer, s->db, s->args, s->result, err) < 0) ||
	    pf_slice_metadata(&s->writer, s->db, trace_id, &s->used, err) < 0)
		return -1;
	if (!s->result->event_count)
		return pf_fail(err, PF_EDATA, "no event is in the window");
	return pf_slice_end(&s->writer, err);
}

/* Is there a count above 0 of a key like this?  Or -1. */
static int has_fact(struct pf_db *db, int64_t trace_id, const char *key,
		    struct pf_err *err)
{
	sqlite3_stmt *stmt =
		pf_db_prepare(db,
			      "SELECT 1 FROM trace_fact WHERE trace_id = ?1"
			      " AND key GLOB ?2 AND value > 0",
			      err);
	int rc;

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, trace_id);
	sqlite3_bind_text(stmt, 2, key, -1, SQLITE_STATIC);
	rc = pf_db_step(db, stmt, err);
	sqlite3_finalize(stmt);
	return rc;
}

/* Which are of another GPU is asked before they get the file's numbers. */
static int load_tracks(struct slice *s, int64_t trace_id, struct pf_err *err)
{
	char device[24];

	if (pf_tracks_load(s->db, trace_id, &s->tracks, &s->track_count, err))
		return -1;
	s->is_unwanted = pf_calloc(s->track_count + 1, sizeof(bool));
	snprintf(device, sizeof(device), "%" PRId64, s->device);
	for (size_t i = 0; s->device >= 0 && i < s->track_count; i++)
		s->is_unwanted[i] = !strcmp(s->tracks[i].class_name, "gpu") &&
				    strcmp(s->tracks[i].pid, device) != 0;
	return pf_slice_file_ids(s->db, trace_id, s->tracks, s->track_count,
				 err);
}

static int set_up(struct slice *s, struct pf_window *window, struct pf_err *err)
{
	int64_t trace_id;
	int rc = set_window(s, window, err);

	if (rc < 0)
		return -1;
	trace_id = window->traces->trace_id;
	rc = has_fact(s->db, trace_id, "ts_fraction_digits", err);
	if (rc < 0)
		return -1;
	s->writer.is_whole_us = !rc;
	rc = has_fact(s->db, trace_id, "snap_untimed_*", err);
	if (rc < 0)
		return -1;
	s->result->is_untimed = rc;
	s->writer.lexicon = pf_lexicon_open(s->db->sql, LEXICON_BYTES);
	return pf_lexicon_load(s->writer.lexicon, err) < 0
		       ? -1
		       : load_tracks(s, trace_id, err);
}

static void tear_down(struct slice *s)
{
	if (s->writer.lexicon)
		pf_lexicon_close(s->writer.lexicon);
	pf_outfile_free(s->writer.file);
	pf_buf_release(&s->writer.buf);
	pf_buf_release(&s->writer.args);
	pf_slice_flows_free(s->flows);
	pf_intern_release(&s->used.pids);
	pf_intern_release(&s->used.tids);
	pf_map_release(&s->moved);
	pf_lanes_release(&s->lanes);
	pf_tracks_free(s->tracks, s->track_count);
	free(s->is_unwanted);
}

int pf_slice(struct pf_db *db, const struct pf_slice_args *args, FILE *out,
	     struct pf_slice_result *result, struct pf_err *err)
{
	struct pf_outrule rule = { .replace = args->force,
				   .option = "--force" };
	struct slice s = { .db = db, .args = args, .result = result };
	struct pf_window window = { 0 };
	int rc = -1;

	pf_db_protect(db, &rule);
	*result = (struct pf_slice_result){ 0 };
	if (pf_window_resolve(db, &args->window, &window, err) < 0)
		return -1;
	pf_intern_init(&s.used.pids);
	pf_intern_init(&s.used.tids);
	pf_map_init(&s.moved);
	if (!set_up(&s, &window, err))
		s.writer.file = pf_outfile_open(args->out, &rule, out, err);
	if (s.writer.file)
		rc = write_all(&s, window.traces->trace_id, err);
	tear_down(&s);
	pf_window_release(&window);
	return rc;
}
