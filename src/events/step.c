/* SPDX-License-Identifier: MIT */
/*
 * A step's number need not be unique in a trace (several captures in one
 * file): what another thread launched in it belongs to the last listed step
 * of its number that began before that ended.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/kinds.h"
#include "events/step.h"
#include "events/step_names.h"
#include "events/track_read.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/spool.h"
#include "base/stats.h"
#include "events/by_event.h"
#include "store/kept.h"
#include "store/query.h"

/* How many steps begin at or before an instant of a trace; all before it. */
static size_t begun(const struct pf_steps *steps, int64_t trace_id,
		    int64_t at_ns)
{
	const struct pf_step *s = steps->items;

	return PF_SEARCH(i, steps->count,
			 s[i].trace_id < trace_id ||
				 (s[i].trace_id == trace_id &&
				  s[i].host_start_ns <= at_ns));
}

/* The last step of this number that begins at or before start_ns. */
static struct pf_step *find_step(struct pf_steps *steps, int64_t trace_id,
				 int64_t number, int64_t start_ns)
{
	size_t low = begun(steps, trace_id, start_ns);

	while (low-- > 0 && steps->items[low].trace_id == trace_id)
		if (steps->items[low].step == number)
			return &steps->items[low];
	return NULL;
}

/* What a step of another thread launched belongs to the listed one. */
static void add_other(struct pf_steps *steps, const struct pf_step *other)
{
	struct pf_step *s =
		find_step(steps, other->trace_id, other->step, other->end_ns);

	if (!s)
		return;
	s->gpu_count += other->gpu_count;
	if (s->end_ns < other->end_ns)
		s->end_ns = other->end_ns;
}

static struct pf_step read_step(sqlite3_stmt *st)
{
	struct pf_step s = {
		.trace_id = sqlite3_column_int64(st, 0),
		.step = sqlite3_column_int64(st, 1),
		.host_start_ns = sqlite3_column_int64(st, 2),
		.gpu_count = sqlite3_column_int64(st, 4),
		.track_id = sqlite3_column_int64(st, 7),
	};

	s.host_end_ns =
		pf_span_end(s.host_start_ns, sqlite3_column_int64(st, 3));
	s.start_ns = s.host_start_ns;
	s.end_ns = s.host_end_ns;
	if (s.gpu_count && sqlite3_column_int64(st, 5) > s.end_ns)
		s.end_ns = sqlite3_column_int64(st, 5);
	return s;
}

static int load_rows(struct pf_db *db, struct pf_steps *out, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "step_list", err);
	size_t cap = 0;
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(db, stmt, err)) == 1) {
		struct pf_step s = read_step(stmt);

		if (!sqlite3_column_int(stmt, 6)) {
			add_other(out, &s);
			continue;
		}
		out->items = pf_grow(out->items, &cap, out->count + 1,
				     sizeof(*out->items));
		out->items[out->count++] = s;
	}
	sqlite3_finalize(stmt);
	return rc;
}

/* ---- steps of other names: the call of each piece of GPU work is read ---- */

/* The step of a trace that a call lies in entirely. */
static struct pf_step *step_around(struct pf_steps *steps, int64_t trace_id,
				   int64_t at_ns, int64_t dur_ns)
{
	size_t i = pf_steps_at(steps, trace_id, at_ns);

	if (i == steps->count ||
	    steps->items[i].host_end_ns < pf_span_end(at_ns, dur_ns))
		return NULL;
	return &steps->items[i];
}

static int extend_named(struct pf_db *db, struct pf_steps *steps,
			struct pf_err *err)
{
	static const struct pf_window_args all = PF_WINDOW_DEFAULTS;
	struct pf_window window = { 0 };
	struct pf_by_event *works = NULL;
	const struct pf_event_work *w;
	const struct pf_block *b;
	uint32_t i;

	if (!pf_window_resolve(db, &all, &window, err))
		works = pf_by_event_work(
			db, &window,
			PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR), err);
	while (works && (w = pf_by_event_next(works, &b, &i, err))) {
		struct pf_step *s = NULL;

		if (b)
			s = step_around(steps, w->trace_id, b->start_ns[i],
					b->dur_ns[i]);
		if (!s)
			continue;
		s->gpu_count++;
		if (w->end_ns > s->end_ns)
			s->end_ns = w->end_ns;
	}
	pf_by_event_free(works);
	pf_window_release(&window);
	return err->code ? -1 : 0;
}

/* Steps first..end-1 are those of one trace. */
static void settle(struct pf_step *steps, size_t count)
{
	struct pf_step *last = &steps[count - 1];
	int64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		total += steps[i].gpu_count;
		if (i && steps[i].start_ns < steps[i - 1].end_ns)
			steps[i].start_ns = steps[i - 1].end_ns;
		if (steps[i].end_ns < steps[i].start_ns)
			steps[i].end_ns = steps[i].start_ns;
	}
	if (total && count > 1)
		last->is_partial =
			!last->gpu_count ||
			(double)last->gpu_count <
				0.8 * (double)steps[count - 2].gpu_count;
}

/* ---- steps that hold nothing ---- */

#define EMPTY_PART 100

/* Of all but one, which is in the shorter half. */
static int64_t median_of_others(const struct pf_step *steps, size_t count)
{
	int64_t *list = pf_calloc(count, sizeof(*list)), median;

	for (size_t i = 0; i < count; i++)
		list[i] = steps[i].end_ns - steps[i].start_ns;
	pf_sort(list, count, sizeof(*list), pf_stats_compare);
	median = list[count / 2];
	free(list);
	return median;
}

/* Operators of a trace, and the steps that they begin in. */
struct operators {
	struct pf_db *db;
	struct pf_kinds kinds;
	struct pf_track *tracks;
	size_t track_count;
	const struct pf_step *steps; /* of this trace, by start */
	size_t count;
	bool *hold; /* of each of them */
	bool is_any, is_enough;
};

static int note_operator(void *context, const struct pf_block *b, uint32_t i,
			 int64_t event_id, struct pf_err *err)
{
	struct operators *o = context;
	const struct pf_step *s = o->steps;
	int64_t at_ns = b->start_ns[i];
	size_t n;

	(void)event_id;
	(void)err;
	if (pf_kinds_at(&o->kinds, b->type[i]) != PF_KIND_CPU_OP)
		return 0;
	o->is_any = true;
	n = PF_SEARCH(k, o->count, s[k].host_start_ns <= at_ns);
	if (n && at_ns < s[n - 1].host_end_ns)
		o->hold[n - 1] = true;
	return 0;
}

static bool is_more_wanted(void *context, const struct pf_track *t,
			   struct pf_err *err)
{
	const struct operators *o = context;

	(void)t;
	(void)err;
	return !o->is_enough || !o->is_any;
}

/* On all threads; within NULL: until the first is found. */
static int find_operators(struct operators *o,
			  const struct pf_window_trace *within,
			  struct pf_err *err)
{
	const struct pf_track_reader reader = { .event = note_operator,
						.wants_more = is_more_wanted,
						.within = within };
	int rc = 0;

	o->is_enough = !within;
	for (size_t i = 0; i < o->track_count && rc >= 0; i++)
		if (!strcmp(o->tracks[i].class_name, "host"))
			rc = pf_track_read(o->db, &o->tracks[i], &reader, o,
					   err);
	return rc < 0 ? -1 : 0;
}

/* Of those that may be empty, where the first begins and the last ends. */
static int read_operators(struct operators *o,
			  const struct pf_window_trace *within, bool is_known,
			  struct pf_err *err)
{
	if (pf_kinds_load(&o->kinds, o->db, err) < 0 ||
	    pf_tracks_load(o->db, within->trace_id, &o->tracks, &o->track_count,
			   err) < 0 ||
	    find_operators(o, within, err) < 0)
		return -1;
	return is_known || o->is_any ? 0 : find_operators(o, NULL, err);
}

static bool may_be_empty(const struct pf_step *s, int64_t median_ns)
{
	return !s->gpu_count &&
	       s->end_ns - s->start_ns < median_ns / EMPTY_PART;
}

/* Steps of one trace: where it has neither operators nor work, who knows? */
static int mark_empty(struct pf_db *db, struct pf_step *steps, size_t count,
		      struct pf_err *err)
{
	struct operators o = { .db = db, .steps = steps, .count = count };
	struct pf_window_trace within = { .trace_id = steps->trace_id,
					  .from_ns = INT64_MAX };
	int64_t median_ns = median_of_others(steps, count), launched = 0;
	int rc = 0;

	for (size_t i = 0; i < count; i++) {
		launched += steps[i].gpu_count;
		if (!may_be_empty(&steps[i], median_ns))
			continue;
		if (within.from_ns == INT64_MAX)
			within.from_ns = steps[i].host_start_ns;
		within.to_ns = steps[i].host_end_ns;
	}
	if (within.from_ns == INT64_MAX)
		return 0;
	o.hold = pf_calloc(count, sizeof(*o.hold));
	rc = read_operators(&o, &within, launched > 0, err);
	for (size_t i = 0; !rc && (launched || o.is_any) && i < count; i++)
		if (may_be_empty(&steps[i], median_ns) && !o.hold[i])
			steps[i].is_empty = steps[i].is_partial = true;
	pf_tracks_free(o.tracks, o.track_count);
	pf_kinds_release(&o.kinds);
	free(o.hold);
	return rc;
}

static int load(struct pf_db *db, const char *regex, struct pf_steps *out,
		struct pf_err *err)
{
	if (!regex)
		return load_rows(db, out, err);
	if (pf_step_names_load(db, regex, out, err) < 0)
		return -1;
	return out->count ? extend_named(db, out, err) : 0;
}

static void free_steps(void *steps)
{
	pf_steps_release(steps);
	free(steps);
}

static void *make_steps(struct pf_db *db, const char *regex, struct pf_err *err)
{
	struct pf_steps *s = pf_calloc(1, sizeof(*s));

	if (load(db, regex, s, err) < 0) {
		free_steps(s);
		return NULL;
	}
	for (size_t i = 0, end; i < s->count; i = end) {
		for (end = i + 1;
		     end < s->count &&
		     s->items[end].trace_id == s->items[i].trace_id;)
			end++;
		settle(&s->items[i], end - i);
		if (!regex && mark_empty(db, &s->items[i], end - i, err) < 0) {
			free_steps(s);
			return NULL;
		}
	}
	return s;
}

int pf_steps_load(struct pf_db *db, const char *regex, struct pf_steps *out,
		  struct pf_err *err)
{
	const struct pf_steps *s =
		pf_memo_get(db, make_steps, free_steps, regex, err);

	*out = (struct pf_steps){ 0 };
	if (!s)
		return -1;
	out->items = pf_calloc(s->count, sizeof(*s->items));
	out->count = s->count;
	if (s->count)
		memcpy(out->items, s->items, s->count * sizeof(*s->items));
	return 0;
}

size_t pf_steps_first(const struct pf_steps *steps, int64_t trace_id)
{
	const struct pf_step *s = steps->items;
	size_t first = PF_SEARCH(i, steps->count, s[i].trace_id < trace_id);

	return pf_steps_is_of(steps, first, trace_id) ? first : steps->count;
}

size_t pf_steps_at(const struct pf_steps *steps, int64_t trace_id,
		   int64_t at_ns)
{
	size_t low = begun(steps, trace_id, at_ns);

	if (!low || steps->items[low - 1].trace_id != trace_id ||
	    steps->items[low - 1].host_end_ns <= at_ns)
		return steps->count;
	return low - 1;
}

void pf_steps_release(struct pf_steps *steps)
{
	free(steps->items);
	*steps = (struct pf_steps){ 0 };
}
