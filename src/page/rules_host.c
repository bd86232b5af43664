/* SPDX-License-Identifier: MIT */
/*
 * The rules for traces without GPU work: what the CPU does.  Where there is
 * any, the time of the host matters as far as GPUs wait for it, which the
 * other rules say.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "page/rules.h"
#include "page/say.h"
#include "show/find.h"

#define WORTH_SAYING 0.1 /* of self CPU time */

static bool is_host_only(const struct pf_parts *p, struct pf_verdict *v)
{
	if (!p->overlap.all.event_count)
		return true;
	pf_rule_withhold(v,
			 "the trace has GPU work; this is for those without");
	return false;
}

static void say_threads(const struct pf_parts *p, struct pf_verdict *v)
{
	for (size_t i = 0; i < p->info.tracks_count; i++) {
		const struct pf_info_tracks *t = &p->info.tracks[i];

		if (!t->class || strcmp(t->class, "host") != 0)
			continue;
		pf_say(v, "; ");
		pf_say_count(v, t->track_count, "thread is", "threads are");
		pf_say(v, " recorded");
	}
}

/* Of several traces averages are of the first. */
static void say_first(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_window_trace *first = p->traces.traces;

	if (p->traces.count < 2)
		return;
	if (first->rank >= 0)
		pf_buf_addf(&v->sentence, " of rank %" PRId64, first->rank);
	else
		pf_buf_addf(&v->sentence, " of trace %" PRId64,
			    first->trace_id);
}

/* Is there anything on the host but calls of runtimes and the profiler? */
static bool has_operators(const struct pf_parts *p)
{
	static const char *const others[] = { "overhead", "cuda_runtime",
					      "cuda_driver", "cuda_sync" };
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_INFO], "categories");

	for (size_t i = 0; i < pf_table_rows(t); i++) {
		const char *category = pf_table_text_at(t, i, "category");
		size_t k = 0;

		while (k < sizeof(others) / sizeof(*others) &&
		       (!category || strcmp(category, others[k]) != 0))
			k++;
		if (k == sizeof(others) / sizeof(*others))
			return true;
	}
	return !t;
}

/* By self CPU time, as in the table of operators; labels are none. */
static void apply_operators(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_average_list *list = &p->averages.list[0];
	const struct pf_average *top = NULL;
	int64_t all = 0, most = 0;

	if (!is_host_only(p, v))
		return;
	for (size_t i = 0; i < list->count; i++) {
		int64_t ns = list->rows[i].sum.ns[PF_FIG_SELF_CPU];

		all += ns;
		if (ns <= most || list->rows[i].is_annotation)
			continue;
		most = ns;
		top = &list->rows[i];
	}
	if (!top || !has_operators(p)) {
		pf_rule_withhold(v, "there are no operators in this trace");
		return;
	}
	v->measured = (double)most / (double)all;
	/* a fact, no fault: some operator is always the first */
	v->is_note = v->measured > WORTH_SAYING;
	v->affected_ns = most;
	pf_say_text(p, v, top->name, &v->place);
	pf_say(v, " takes ");
	pf_say_ratio(v, v->measured);
	pf_say(v, " of self CPU time");
	say_first(p, v);
	pf_say(v, " (");
	pf_say_ns(v, most);
	pf_say(v, " of ");
	pf_say_ns(v, all);
	pf_say(v, ", ");
	pf_say_count(v, (int64_t)top->count, "call", "calls");
	pf_say(v, ")");
	if (p->traces.count < 2)
		say_threads(p, v);
}

/* A class of the steps: its share of them. */
static void apply_class(const struct pf_parts *p, struct pf_verdict *v,
			enum pf_step_class class, const char *what)
{
	const struct pf_step_spread *c = &p->steps.classes[class];

	if (!is_host_only(p, v))
		return;
	if (!p->steps.full_count) {
		pf_rule_withhold(v, "there are no complete steps");
		return;
	}
	v->affected_ns = c->sum_ns;
	v->measured = c->share;
	pf_say(v, what);
	pf_say_ratio(v, v->measured);
	pf_say(v, !p->steps_text.len      ? " of the trace ("
		  : pf_rule_steps(p) == 1 ? " of the step ("
					  : " of the steps (");
	pf_say_ns(v, c->mean_ns);
	pf_say(v, pf_rule_steps(p) == 1 ? ")" : " per step)");
}

static void apply_data(const struct pf_parts *p, struct pf_verdict *v)
{
	apply_class(p, v, PF_STEP_DATA, "The CPU loads data for ");
	/* what others wait for; communication may hide behind operators */
	v->recoverable_ns = v->affected_ns;
}

static void apply_comm(const struct pf_parts *p, struct pf_verdict *v)
{
	apply_class(p, v, PF_STEP_COMM,
		    "Communication, or waiting for it, takes ");
}

const struct pf_report_rule pf_rule_operators = {
	"V12", "operators", "ops", PF_PART_OPS, 0, 0, apply_operators
};
const struct pf_report_rule pf_rule_host_data = { "V13",       "data loading",
						  "breakdown", PF_PART_STEPS,
						  0.10,        0.25,
						  apply_data };
const struct pf_report_rule pf_rule_host_comm = { "V14",       "communication",
						  "breakdown", PF_PART_STEPS,
						  0.10,        0.25,
						  apply_comm };
