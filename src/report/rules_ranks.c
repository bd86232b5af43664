/* SPDX-License-Identifier: MIT */
/* The rule about ranks that wait for each other. */
#include "config.h"

#include <inttypes.h>

#include "report/figure.h"
#include "report/rules.h"
#include "report/say.h"
#include "table/find.h"

/* The steps of one trace. */
static int64_t steps_of(const struct pf_parts *p, int64_t trace_id)
{
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_STEPS], "steps");
	int64_t n = 0;

	for (size_t r = 0; p->steps_text.len && r < pf_table_rows(t); r++)
		n += pf_table_int_at(t, r, "trace_id") == trace_id;
	return n ? n : 1;
}

/* How often it was the last, in how many collectives. */
static void say_last(const struct pf_doc *doc, struct pf_verdict *v,
		     int64_t trace_id)
{
	const struct pf_table *t = pf_doc_find_table(doc, "arrivals");

	for (size_t r = 0; r < pf_table_rows(t); r++) {
		if (pf_table_int_at(t, r, "trace_id") != trace_id)
			continue;
		pf_say(v, "; it comes last to ");
		pf_say_count(v, pf_table_int_at(t, r, "last_count"),
			     "collective", "collectives");
		pf_say(v, " of ");
		pf_figure_count(&v->sentence, pf_table_int_at(t, r, "count"));
	}
}

static void apply_straggler(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_doc *doc = &p->doc[PF_PART_OVERLAP];
	const struct pf_scalar *withheld = pf_doc_find(doc, "arrival_withheld");
	const char *why = withheld ? withheld->cell.v.text.s : NULL;
	int64_t trace_id, window, ns;

	if (!pf_rule_has_gpu(p, v))
		return;
	if (why && !*why) /* it may quote names of process groups */
		why = "ranks cannot be compared, as 'profan overlap' explains";
	if (p->traces.count < 2 || why) {
		pf_rule_withhold(v, why ? why
					: "needs traces of several "
					  "ranks");
		return;
	}
	if (!pf_doc_find(doc, "straggler_ns")) /* nobody waits */
		return;
	v->measured = pf_doc_find_real(doc, "straggler_share");
	trace_id = pf_doc_find_int(doc, "straggler_trace_id");
	window = pf_doc_find_int(doc, "arrival_window_ns");
	ns = v->affected_ns = pf_doc_find_int(doc, "straggler_ns");
	v->recoverable_ns = pf_doc_find_int(doc, "straggler_gain_ns");
	if (v->recoverable_ns > window) /* groups may wait at one time */
		v->recoverable_ns = window;
	pf_buf_addf(&v->sentence, "Rank %" PRId64 " is the straggler",
		    pf_doc_find_int(doc, "straggler_rank"));
	pf_say(v, ": others wait ");
	pf_say_ns(v, ns / steps_of(p, trace_id));
	pf_say(v, pf_rule_each(p));
	pf_say(v, " for it (");
	pf_say_ratio(v, v->measured);
	pf_say(v, ")");
	say_last(doc, v, trace_id);
	v->trace_id = pf_doc_find_int(doc, "longest_wait_trace_id");
	v->from_ns = pf_doc_find_int(doc, "longest_wait_start_ns");
	v->to_ns = v->from_ns + pf_doc_find_int(doc, "longest_wait_ns");
}

const struct pf_report_rule pf_rule_straggler = {
	"V6", "stragglers", "comm", PF_PART_OVERLAP, 0.05, 0.15, apply_straggler
};
