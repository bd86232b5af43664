/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/num.h"
#include "base/sat.h"
#include "events/by_event.h"
#include "events/interval.h"
#include "analysis/idle/held.h"

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
		pf_held_add(out, w->end_ns - w->dur_ns, w->end_ns,
			    b->start_ns[place],
			    pf_span_end(b->start_ns[place], b->dur_ns[place]));
	}
	pf_by_event_free(works);
	return err->code ? -1 : 0;
}

void pf_held_say(const struct pf_held *h, struct pf_doc *doc)
{
	char calls[PF_NUM_MAX], took[PF_NUM_MAX], share[PF_NUM_MAX];

	if (!pf_held_is(h)) {
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
