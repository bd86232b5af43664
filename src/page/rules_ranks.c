/* SPDX-License-Identifier: MIT */
/* The rule about ranks that wait for each other. */
#include "config.h"

#include <inttypes.h>

#include "page/figure.h"
#include "page/rules.h"
#include "page/say.h"

/* The steps of one trace. */
static int64_t steps_of(const struct pf_parts *p, int64_t trace_id)
{
	int64_t n = 0;

	for (size_t i = 0; p->steps_text.len && i < p->steps.count; i++)
		n += p->steps.steps[i].trace_id == trace_id;
	return n ? n : 1;
}

/* How often it was the last, in how many collectives. */
static void say_last(const struct pf_arrivals *a, struct pf_verdict *v)
{
	for (size_t i = 0; i < a->rank_count; i++) {
		if (a->ranks[i].trace_id != a->straggler_trace_id)
			continue;
		pf_say(v, "; it comes last to ");
		pf_say_count(v, a->ranks[i].last_count, "collective",
			     "collectives");
		pf_say(v, " of ");
		pf_figure_count(&v->sentence, a->ranks[i].count);
	}
}

/* The reason may quote names of process groups. */
static void withhold(const struct pf_parts *p, struct pf_verdict *v)
{
	struct pf_buf text = { 0 };

	if (p->redact && pf_redact_is_strict(p->redact))
		pf_rule_withhold(v, "ranks cannot be compared, as 'profan "
				    "overlap' explains");
	else
		pf_rule_withhold(
			v,
			pf_parts_text(p, p->overlap.arrivals.withheld, &text));
	pf_buf_release(&text);
}

/* "; others wait 80 us per step for it" */
static void say_waits(const struct pf_parts *p, const struct pf_arrivals *a,
		      struct pf_verdict *v)
{
	if (!a->straggler_ns)
		return;
	pf_say(v, "; others wait ");
	pf_say_ns(v, a->straggler_ns / steps_of(p, a->straggler_trace_id));
	pf_say(v, pf_rule_each(p));
	pf_say(v, " for it");
}

/*
 * Whom 'profan ranks' names, by what it would save: others may wait for a rank
 * and lose nothing, where they wait in several groups at one time, or nothing
 * then waits for them.
 */
static void apply_straggler(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_arrivals *a = &p->overlap.arrivals;

	if (!pf_rule_has_gpu(p, v))
		return;
	if (a->withheld) {
		withhold(p, v);
		return;
	}
	if (p->traces.count < 2) {
		pf_rule_withhold(v, "needs traces of several ranks");
		return;
	}
	if (a->total_ns == PF_NO_INT) {
		pf_rule_withhold(v, "what differences of ranks cost is not "
				    "known");
		return;
	}
	if (!a->has_straggler)
		return;
	v->measured = a->straggler_saved_share;
	v->affected_ns = a->straggler_ns;
	v->recoverable_ns = a->straggler_saved_ns;
	pf_buf_addf(&v->sentence, "Rank %" PRId64 " is the straggler",
		    a->straggler_rank);
	pf_say(v, ": like the others it would save ");
	pf_say_ns(v, a->straggler_saved_ns);
	pf_say(v, " of ");
	pf_say_ns(v, a->total_ns);
	pf_say(v, " (");
	pf_say_ratio(v, v->measured);
	pf_say(v, ")");
	say_waits(p, a, v);
	say_last(a, v);
	v->trace_id = a->longest_wait_trace_id;
	v->from_ns = a->longest_wait_start_ns;
	v->to_ns = v->from_ns + a->longest_wait_ns;
}

const struct pf_report_rule pf_rule_straggler = {
	"V6", "stragglers", "comm", PF_PART_OVERLAP, 0.05, 0.15, apply_straggler
};
