/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/num.h"
#include "base/sat.h"
#include "events/by_event.h"
#include "events/interval.h"
#include "idle/held.h"

/* The part of work that ran while its call did. */
static int64_t inside(const struct pf_event_work *w, const struct pf_block *b,
		      uint32_t place)
{
	int64_t from = w->end_ns - w->dur_ns, to = w->end_ns;
	int64_t end_ns = pf_span_end(b->start_ns[place], b->dur_ns[place]);

	if (from < b->start_ns[place])
		from = b->start_ns[place];
	if (to > end_ns)
		to = end_ns;
	return to > from ? to - from : 0;
}

int pf_held_find(struct pf_db *db, const struct pf_window *window,
		 struct pf_held *out, struct pf_err *err)
{
	struct pf_by_event *works = pf_by_event_work(
		db, window, PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR),
		err);
	const struct pf_event_work *w;
	const struct pf_block *b;
	int64_t last = 0;
	uint32_t place;

	*out = (struct pf_held){ 0 };
	if (!works)
		return -1;
	while ((w = pf_by_event_next(works, &b, &place, err))) {
		if (!b)
			continue;
		if (w->launch_id != last) {
			out->call_count++;
			pf_sat_sum(&out->call_ns, b->dur_ns[place]);
		}
		last = w->launch_id;
		pf_sat_sum(&out->work_ns, w->dur_ns);
		pf_sat_sum(&out->inside_ns, inside(w, b, place));
	}
	pf_by_event_free(works);
	return err->code ? -1 : 0;
}

void pf_held_say(const struct pf_held *h, struct pf_doc *doc)
{
	char calls[PF_NUM_MAX], took[PF_NUM_MAX], share[PF_NUM_MAX];

	if (h->inside_ns <= h->work_ns / 2) {
		pf_doc_finding(doc, "No call waits for a GPU");
		return;
	}
	pf_num_show_count(calls, h->call_count);
	pf_num_show_ns(took, h->call_ns);
	pf_num_show_ratio(share, pf_num_share(h->inside_ns, h->work_ns));
	pf_doc_finding(
		doc,
		"No call waits for a GPU by its name, but the calls that "
		"launch work hold the host until it is done: %s of the "
		"time of GPU work lies inside the call that launched it "
		"(%s calls, %s)",
		share, calls, took);
}
