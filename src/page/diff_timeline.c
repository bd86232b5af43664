/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>

#include "events/step.h"
#include "page/diff_timeline.h"
#include "store/db.h"
#include "page/path_track.h"

#define SLICE_BYTES 8 /* of the largest page for each slice */

/* What a side tells beside its slices. */
struct found {
	int64_t step, at_ns; /* the first full step, if there is one */
	bool has_step;
	size_t traces;
};

static int add_steps(struct pf_db *db, const struct pf_window *w,
		     struct pf_timeline_side *s, struct found *f,
		     struct pf_err *err)
{
	struct pf_buf label = { 0 };
	struct pf_steps steps;

	if (pf_window_steps(db, w, &steps, err))
		return -1;
	for (size_t i = 0; i < steps.count; i++) {
		const struct pf_step *step = &steps.items[i];
		int64_t at = step->host_start_ns - s->slices.first_ns;

		if (step->trace_id != s->slices.trace_id)
			continue;
		pf_buf_clear(&label);
		pf_buf_addf(&label, "%" PRId64, step->step);
		pf_timeline_add_span(&s->steps, at,
				     step->host_end_ns - s->slices.first_ns,
				     label.data);
		if (step->is_partial || f->has_step)
			continue;
		f->has_step = true;
		f->step = step->step;
		f->at_ns = at;
	}
	pf_buf_release(&label);
	pf_steps_release(&steps);
	return 0;
}

static int load(struct pf_db *db, const struct pf_diff_timeline_args *args,
		struct pf_timeline_side *s, struct found *f, struct pf_err *err)
{
	const struct pf_page_args *page = args->page;
	const int64_t slices =
		page->max_html_bytes / SLICE_BYTES / PF_TIMELINE_SIDES;
	struct pf_window w = { 0 };
	int rc = pf_window_resolve(db, args->window, &w, err);

	if (!rc) {
		f->traces = w.count;
		rc = pf_timeline_load(db, &w.traces[0], args->redact,
				      (enum pf_timeline_want)page->timeline,
				      slices, &s->slices, err);
	}
	if (!rc)
		rc = pf_path_track_add(db, args->window, slices, args->redact,
				       &s->slices, err);
	if (!rc)
		rc = add_steps(db, &w, s, f, err);
	pf_window_release(&w);
	return rc;
}

static void add_note(struct pf_buf *out, const struct found found[2],
		     size_t captures)
{
	const struct found *a = &found[0], *b = &found[1];

	if (a->has_step && b->has_step)
		pf_buf_addf(out,
			    "A above, B below, moved so that step %" PRId64
			    " of A and step %" PRId64 " of B begin together.",
			    a->step, b->step);
	else
		pf_buf_adds(out, "A above, B below, moved so that their first "
				 "events begin together.");
	if (captures > 2 || a->traces > 1 || b->traces > 1)
		pf_buf_adds(out, " Of each side it is the first trace, and "
				 "its critical path.");
}

int pf_diff_timeline(const struct pf_diff_timeline_args *args,
		     struct pf_timelines *out, struct pf_err *err)
{
	static const char *const keys[] = { "a", "b" },
				 *labels[] = { "A", "B" };
	struct found found[2] = { { 0 } };
	int64_t later;

	if (args->page->timeline == PF_TIMELINE_NONE)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		struct pf_timeline_side *s = &out->side[i];
		struct pf_db db;
		int rc;

		if (pf_db_open(&db, args->paths[i], false, err))
			return -1;
		out->count = i + 1;
		pf_buf_adds(&s->key, keys[i]);
		pf_buf_adds(&s->label, labels[i]);
		rc = load(&db, args, s, &found[i], err);
		pf_db_close(&db);
		if (rc)
			return -1;
	}
	later = found[0].has_step && found[1].has_step
			? found[0].at_ns - found[1].at_ns
			: 0;
	out->side[0].shift_ns = later < 0 ? -later : 0;
	out->side[1].shift_ns = later > 0 ? later : 0;
	add_note(&out->note, found, args->captures);
	out->more = PF_TIMELINE_MORE;
	return 0;
}
