/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>

#include "page/figure.h"
#include "page/html.h"
#include "page/ranks.h"

#define SLICE_BYTES 8 /* of the largest page for each slice */

/* How the clocks of two traces were put on one. */
enum clock {
	CLOCK_OWN,  /* they overlap: as recorded */
	CLOCK_STEP, /* the start of a step that both have */
	CLOCK_FIRST /* their first events */
};

int64_t pf_ranks_slices(const struct pf_page_args *page)
{
	return page->timeline == PF_TIMELINE_NONE
		       ? 0
		       : page->max_html_bytes / SLICE_BYTES;
}

static int load(struct pf_db *db, const struct pf_window *w, size_t which,
		struct pf_report *r, size_t side, struct pf_err *err)
{
	int64_t slices = pf_ranks_slices(&r->args.page);

	if (w->count > 1)
		slices /= PF_TIMELINE_SIDES;
	r->timelines.count = side + 1;
	return pf_timeline_load(db, &w->traces[which], r->redact,
				(enum pf_timeline_want)r->args.page.timeline,
				slices, &r->timelines.side[side].slices, err);
}

int pf_ranks_load_first(struct pf_db *db, const struct pf_parts *p,
			struct pf_report *r, struct pf_err *err)
{
	return load(db, &p->traces, 0, r, 0, err);
}

/* The place of the trace whose GPU is idle most, the first aside; 0: none. */
static size_t find_idle(const struct pf_report *r, double *share)
{
	const struct pf_gaps *gaps = &r->parts.gaps;
	const struct pf_window *w = &r->parts.traces;
	size_t best = 0;

	*share = -1;
	for (size_t i = 1; i < w->count; i++)
		for (size_t k = 0; k < gaps->device_count; k++) {
			const struct pf_gap_device *d = &gaps->devices[k];

			if (d->trace_id == w->traces[i].trace_id &&
			    d->idle_share > *share) {
				*share = d->idle_share;
				best = i;
			}
		}
	return best;
}

/* ---- one clock ---- */

/* Where a step of a trace begins; -1: it has none such. */
static int64_t step_start(const struct pf_step_times *s, int64_t trace_id,
			  int64_t step)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->steps[i].trace_id == trace_id &&
		    s->steps[i].step == step)
			return s->steps[i].start_ns;
	return -1;
}

/* By how much the second trace is moved to meet the first. */
static enum clock find_clock(const struct pf_report *r, int64_t *move_ns)
{
	const struct pf_timeline *a = &r->timelines.side[0].slices;
	const struct pf_timeline *b = &r->timelines.side[1].slices;
	const struct pf_step_times *s = &r->parts.steps;

	*move_ns = 0;
	if (a->first_ns < b->last_ns && b->first_ns < a->last_ns)
		return CLOCK_OWN;
	for (size_t i = 0; i < s->count; i++) {
		const struct pf_step_time *step = &s->steps[i];
		int64_t other;

		if (step->trace_id != a->trace_id || step->step < 0)
			continue;
		other = step_start(s, b->trace_id, step->step);
		if (other < 0)
			continue;
		*move_ns = step->start_ns - other;
		return CLOCK_STEP;
	}
	*move_ns = a->first_ns - b->first_ns;
	return CLOCK_FIRST;
}

static enum clock set_clock(struct pf_report *r)
{
	struct pf_timeline_side *a = &r->timelines.side[0];
	struct pf_timeline_side *b = &r->timelines.side[1];
	int64_t move_ns;
	enum clock clock = find_clock(r, &move_ns);
	int64_t later = b->slices.first_ns + move_ns - a->slices.first_ns;

	a->shift_ns = later < 0 ? -later : 0;
	b->shift_ns = later > 0 ? later : 0;
	return clock;
}

/* ---- steps and marks ---- */

static void add_steps(const struct pf_report *r, struct pf_timeline_side *s)
{
	const struct pf_step_times *steps = &r->parts.steps;
	struct pf_buf label = { 0 };

	for (size_t i = 0; i < steps->count; i++) {
		const struct pf_step_time *step = &steps->steps[i];
		int64_t at = step->start_ns - s->slices.first_ns;

		if (step->step < 0 || step->trace_id != s->slices.trace_id)
			continue;
		pf_buf_clear(&label);
		pf_buf_addf(&label, "%" PRId64, step->step);
		pf_timeline_add_span(&s->steps, at, at + step->dur_ns,
				     label.data);
	}
	pf_buf_release(&label);
}

/* The places of verdicts and the longest gaps. */
static void add_marks(const struct pf_report *r, struct pf_timeline_side *s)
{
	const struct pf_gaps *gaps = &r->parts.gaps;

	for (size_t i = 0; i < r->verdicts.fired; i++) {
		const struct pf_verdict *v = &r->verdicts.all[i];

		if (v->from_ns >= 0 && v->trace_id == s->slices.trace_id)
			pf_timeline_add_span(&s->marks, v->from_ns, v->to_ns,
					     v->title);
	}
	for (size_t i = 0; i < gaps->gap_count && i < PF_TIMELINE_MARKS / 2;
	     i++) {
		const struct pf_gap_item *gap = &gaps->gaps[i];

		if (gap->trace_id == s->slices.trace_id)
			pf_timeline_add_span(&s->marks, gap->start_ns,
					     gap->start_ns + gap->ns,
					     gap->cause);
	}
}

/* Of several traces each has a path of its own. */
static int add_paths(struct pf_report *r, struct pf_err *err)
{
	struct pf_timelines *all = &r->timelines;
	int64_t pieces = pf_ranks_slices(&r->args.page) / PF_TIMELINE_SIDES;
	int rc = 0;

	if (r->parts.traces.count == 1)
		return 0;
	for (size_t i = 0; i < all->count && !rc; i++)
		rc = pf_path_track_add(r->db, &r->parts.window, pieces,
				       r->redact, &all->side[i].slices, err);
	return rc;
}

static bool has_path(const struct pf_timelines *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->side[i].slices.group[PF_SLICES_PATH].count)
			return true;
	return false;
}

/* ---- names of sides, and the note ---- */

static void name_side(const struct pf_report *r, size_t which,
		      struct pf_timeline_side *s)
{
	const struct pf_window *w = &r->parts.traces;
	bool is_rank = pf_window_has_ranks(w);
	int64_t n = is_rank ? w->traces[which].rank : (int64_t)which + 1;

	pf_buf_addf(&s->label, "%s %" PRId64, is_rank ? "rank" : "trace", n);
	if (r->timelines.count > 1)
		pf_buf_addf(&s->key, "%c%" PRId64, is_rank ? 'r' : 't', n);
}

static void add_clock(struct pf_buf *out, enum clock clock)
{
	static const char *const words[] = {
		[CLOCK_OWN] = "on the clock that they were recorded with",
		[CLOCK_STEP] = ("moved so that a step begins in both at the "
				"same time, for they were not recorded at the "
				"same time"),
		[CLOCK_FIRST] = ("moved so that both begin at the same time, "
				 "for they were not recorded at the same time"),
	};

	pf_buf_adds(out, words[clock]);
}

static void add_note(struct pf_report *r, double share, enum clock clock)
{
	struct pf_timelines *all = &r->timelines;
	struct pf_buf *out = &all->note;
	const struct pf_window *w = &r->parts.traces;
	struct pf_buf db = { 0 };

	pf_buf_addf(out, "The timeline shows %s, the first of ",
		    all->side[0].label.data);
	pf_figure_count(out, (int64_t)w->count);
	pf_buf_adds(out, " traces");
	if (all->count > 1) {
		pf_buf_addf(out, ", and %s, ", all->side[1].label.data);
		if (w->count > 2)
			pf_buf_adds(out, "of the others the one "
					 "whose GPU is idle most (");
		else
			pf_buf_adds(out, "the other (GPU idle ");
		pf_html_ratio(out, share);
		pf_buf_adds(out, "), ");
		add_clock(out, clock);
	}
	pf_buf_addc(out, '.');
	if (has_path(all))
		pf_buf_adds(out, " A critical path is of its trace alone: "
				 "what other traces do is not on it.");
	if (pf_window_has_ranks(w)) {
		pf_shell_word(&db, r->parts.db_name);
		pf_buf_adds(out, " One rank alone: <code>profan report ");
		pf_html_text(out, db.data);
		pf_buf_adds(out, " --rank N</code>.");
	}
	pf_buf_release(&db);
}

int pf_ranks_finish(struct pf_report *r, struct pf_err *err)
{
	struct pf_timelines *all = &r->timelines;
	enum clock clock = CLOCK_OWN;
	double share = 0;
	size_t other = find_idle(r, &share);

	if (r->parts.traces.count == 1 &&
	    pf_path_track_put(&r->parts.track, r->parts.path.names, r->redact,
			      &all->side[0].slices, err) < 0)
		return -1;
	if (other) {
		if (load(r->db, &r->parts.traces, other, r, 1, err))
			return -1;
		clock = set_clock(r);
		name_side(r, other, &all->side[1]);
	}
	if (add_paths(r, err))
		return -1;
	name_side(r, 0, &all->side[0]);
	all->more = PF_TIMELINE_MORE;
	for (size_t i = 0; i < all->count; i++) {
		add_steps(r, &all->side[i]);
		add_marks(r, &all->side[i]);
	}
	if (r->parts.traces.count > 1)
		add_note(r, share, clock);
	return 0;
}
