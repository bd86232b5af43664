/* SPDX-License-Identifier: MIT */
/*
 * What is wrong is what the advice says (analysis/advise): here it becomes
 * verdicts, beside facts of the capture that no advice is about.
 */
#include "config.h"

#include "page/verdict.h"

#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/port.h"
#include "show/escape.h"

/* ---- what rules write their sentences with ---- */

/* Append words of ours, or a figure as people read it. */
static void say(struct pf_verdict *v, const char *words)
{
	pf_buf_adds(&v->sentence, words);
}

static void say_ratio(struct pf_verdict *v, double ratio)
{
	say(v, PF_SHOW_RATIO(ratio));
}

static void say_ns(struct pf_verdict *v, int64_t ns)
{
	say(v, PF_SHOW_NS(ns));
}

static void say_bytes(struct pf_verdict *v, int64_t bytes)
{
	say(v, PF_SHOW_BYTES(bytes));
}

static void say_count(struct pf_verdict *v, int64_t n, const char *one,
		      const char *many)
{
	say(v, PF_SHOW_COUNT(n));
	pf_buf_addc(&v->sentence, ' ');
	say(v, n == 1 ? one : many);
}

/* Append a text of the trace as a name, and also to "place", or NULL. */
static void say_text(const struct pf_parts *p, struct pf_verdict *v,
		     const char *text, struct pf_buf *place)
{
	PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 };

	pf_say_name(&v->sentence, pf_parts_text(p, text, &shown));
	if (place)
		pf_buf_adds(place, shown.data);
}

/* The rule cannot be applied: the reason instead of a sentence. */
static void rule_withhold(struct pf_verdict *v, const char *why)
{
	v->state = PF_RULE_WITHHELD;
	pf_buf_clear(&v->sentence);
	say(v, why);
}

/* Why there is no GPU work to speak of, where there is none. */
static const char *rule_no_gpu(const struct pf_parts *p)
{
	if (p->steps.window.has_unread)
		return "no GPU activity could be read";
	if (p->steps.recorded.producer == PF_FROM_TABLES)
		return "there is no trace, only what stands beside one";
	return p->steps.is_untimed ? "a memory snapshot has no GPU work"
				   : "there is no GPU activity in this trace";
}

#define CAPTURED 0.5 /* of launches: a capture of graphs, and of no program */

/* Is there any GPU work to judge?  If not, the rule is withheld. */
static bool rule_has_gpu(const struct pf_parts *p, struct pf_verdict *v)
{
	if (p->doctor.captured_share > CAPTURED)
		rule_withhold(v, "graphs are captured here, and run when they "
				 "are replayed");
	else if (!p->overlap.all.event_count)
		rule_withhold(v, rule_no_gpu(p));
	return v->state != PF_RULE_WITHHELD;
}

/* How many steps figures are of; without steps 1, all of the window. */
static int64_t rule_steps(const struct pf_parts *p)
{
	int64_t n = p->steps.full_count;

	return p->steps_text.len && n > 0 ? n : 1;
}

/* " per step" or " in the trace". */
static const char *rule_each(const struct pf_parts *p)
{
	return p->steps_text.len ? " per step" : " in the trace";
}

/* ---- what a rule is ---- */

struct pf_report_rule {
	const char *id, *title, *section;
	enum pf_part part;
	double warn, bad; /* it fires above; 0: it decides itself */
	/*
	 * Fill in what was measured, and the sentence as if it had fired; or
	 * state PF_RULE_WITHHELD and why.
	 */
	void (*apply)(const struct pf_parts *p, struct pf_verdict *v);
};

/*
 * The rules about the trace as a whole: what to trust, its first steps, what
 * decides how long it takes.
 */

#define TRUST_NAMED 2

static void apply_trust(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_doctor *d = &p->doctor;
	const struct pf_doctor_check *c = pf_doctor_next(d, NULL);
	int64_t count = 0;

	/* as on a scale: 1 is a warning, 2 is bad */
	v->measured = !c ? 0 : strcmp(c->verdict, "bad") ? 1 : 2;
	v->is_first = v->measured == 2;
	say(v, "Trace quality: ");
	for (; c; c = pf_doctor_next(d, c)) {
		if (++count > TRUST_NAMED)
			continue;
		say(v, count > 1 ? ", " : "");
		pf_doctor_say(c, &v->sentence);
	}
	if (count > TRUST_NAMED) {
		say(v, " and ");
		say_count(v, count - TRUST_NAMED, "more", "more");
	}
	say(v, ". Figures that rest on this may be off");
}

static const struct pf_report_rule rule_trust = {
	"V9", "trace quality", "quality", PF_PART_DOCTOR, 0.5, 1.5, apply_trust
};

/* What the trace is of, before what is in it. */
static void apply_captured(const struct pf_parts *p, struct pf_verdict *v)
{
	if (p->doctor.captured_share < 0) {
		rule_withhold(v, "there are no launches in this trace");
		return;
	}
	v->measured = p->doctor.captured_share;
	say(v, "This is a capture of graphs: ");
	v->is_note = v->is_first =
		pf_captured_say(p->gaps.captured_count, p->gaps.all.event_count,
				&v->sentence) &&
		v->measured > CAPTURED;
	say(v, "'profan graphs --capture' names that work by this");
}

static const struct pf_report_rule rule_captured = {
	"V17", "capture of graphs", "launches", PF_PART_LAUNCHES, 0,
	0,     apply_captured
};

/* What holds most of the path where no advice is about as much: a fact. */
static void apply_rest(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_path *path = &p->path;

	if (!p->advise->has_path) {
		rule_withhold(v, p->traces.count > 1
					 ? "a critical path is one trace's"
					 : "there is no critical path");
		return;
	}
	v->measured = path->row_count ? path->rows->share : 0;
	v->is_note = pf_advise_say_rest(p->advise, &p->judged, &v->sentence);
	v->affected_ns = v->is_note ? path->rows->ns : -1;
}

static const struct pf_report_rule rule_rest = {
	"V15", "critical path", "path", PF_PART_PATH, 0, 0, apply_rest
};

#define DOMINANT 0.5 /* of GPU time */

/* A fact, no fault: nothing else is worth as much. */
static void apply_dominant(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_kernel_row *top = p->callers.rows;
	const char *tpus = pf_doc_find_finding(&p->doc[PF_PART_CALLERS]);
	const int64_t all = p->callers.total_ns;

	if (!rule_has_gpu(p, v))
		return;
	if (p->advise->has_path) {
		rule_withhold(v, "what holds most of the critical path is "
				 "said");
		return;
	}
	if (p->traces.is_tpu && tpus) { /* which have operations */
		v->is_note = true;
		say(v, tpus);
		return;
	}
	if (!p->callers.row_count || all <= 0) {
		rule_withhold(v, "there are no kernels in this trace");
		return;
	}
	v->affected_ns = top->ns.of.sum;
	v->measured = (double)v->affected_ns / (double)all;
	v->is_note = v->measured > DOMINANT;
	say_ratio(v, v->measured);
	say(v, " of the time in kernels is one, ");
	say_text(p, v, top->short_name ? top->short_name : top->first,
		 &v->place);
	say(v, " (");
	say_count(v, top->ns.of.count, "call", "calls");
	say(v, ")");
}

static const struct pf_report_rule rule_dominant = {
	"V16", "one kernel", "kernels", PF_PART_CALLERS, 0, 0, apply_dominant
};

/* The rule about ranks that wait for each other. */

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
	for (size_t i = 0; i < a->of.rank_count; i++) {
		const struct pf_ranks_rank *r = &a->of.ranks[i];

		if (r->trace_id != a->straggler_trace_id)
			continue;
		say(v, "; it comes last to ");
		say_count(v, r->last_count, "collective", "collectives");
		say(v, " of ");
		say(v, PF_SHOW_COUNT(r->count));
	}
}

/* The reason may quote names of process groups. */
static void withhold(const struct pf_parts *p, struct pf_verdict *v)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (p->redact && pf_redact_is_strict(p->redact))
		rule_withhold(v, "ranks cannot be compared, as 'profan "
				 "overlap' explains");
	else
		rule_withhold(v, pf_parts_text(p, p->overlap.arrivals.withheld,
					       &text));
}

/* "; others wait 80 us per step for it" */
static void say_rank_waits(const struct pf_parts *p,
			   const struct pf_arrivals *a, struct pf_verdict *v)
{
	if (!a->straggler_ns)
		return;
	say(v, "; others wait ");
	say_ns(v, a->straggler_ns / steps_of(p, a->straggler_trace_id));
	say(v, rule_each(p));
	say(v, " for it");
}

/*
 * Whom 'profan ranks' names, by what it would save: others may wait for a rank
 * and lose nothing, where they wait in several groups at one time, or nothing
 * then waits for them.
 */
static void apply_straggler(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_arrivals *a = &p->overlap.arrivals;

	if (!rule_has_gpu(p, v))
		return;
	if (a->withheld) {
		withhold(p, v);
		return;
	}
	if (p->traces.count < 2) {
		rule_withhold(v, "needs traces of several ranks");
		return;
	}
	if (a->total_ns == PF_NO_INT) {
		rule_withhold(v, "what differences of ranks cost is not "
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
	say(v, ": like the others it would save ");
	say_ns(v, a->straggler_saved_ns);
	say(v, " of ");
	say_ns(v, a->total_ns);
	say(v, " (");
	say_ratio(v, v->measured);
	say(v, ")");
	say_rank_waits(p, a, v);
	say_last(a, v);
	v->trace_id = a->longest_wait_trace_id;
	v->from_ns = a->longest_wait_start_ns;
	v->to_ns = v->from_ns + a->longest_wait_ns;
}

static const struct pf_report_rule rule_straggler = {
	"V6", "stragglers", "comm", PF_PART_OVERLAP, 0.05, 0.15, apply_straggler
};

/*
 * The rules for traces without GPU work: what the CPU does.  Where there is
 * any, the time of the host matters as far as GPUs wait for it, which the
 * other rules say.
 */

#define WORTH_SAYING 0.1 /* of self CPU time */

static bool is_host_only(const struct pf_parts *p, struct pf_verdict *v)
{
	if (!p->overlap.all.event_count)
		return true;
	rule_withhold(v, "the trace has GPU work; this is for those without");
	return false;
}

static void say_threads(const struct pf_parts *p, struct pf_verdict *v)
{
	for (size_t i = 0; i < p->info.tracks_count; i++) {
		const struct pf_info_tracks *t = &p->info.tracks[i];

		if (!t->class || strcmp(t->class, "host") != 0)
			continue;
		say(v, "; ");
		say_count(v, t->track_count, "thread is", "threads are");
		say(v, " recorded");
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

		while (k < PF_LEN(others) &&
		       (!category || strcmp(category, others[k]) != 0))
			k++;
		if (k == PF_LEN(others))
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
		rule_withhold(v, "there are no operators in this trace");
		return;
	}
	v->measured = (double)most / (double)all;
	/* a fact, no fault: some operator is always the first */
	v->is_note = v->measured > WORTH_SAYING;
	v->affected_ns = most;
	say_text(p, v, top->name, &v->place);
	say(v, " takes ");
	say_ratio(v, v->measured);
	say(v, " of the capture's self CPU time");
	say_first(p, v);
	say(v, " (");
	say_ns(v, most);
	say(v, " of ");
	say_ns(v, all);
	say(v, ", ");
	say_count(v, (int64_t)top->count, "call", "calls");
	say(v, ")");
	if (p->traces.count < 2)
		say_threads(p, v);
}

static const struct pf_report_rule rule_operators = {
	"V12", "operators", "ops", PF_PART_OPS, 0, 0, apply_operators
};
/* ---- rules ---- */

#define MANY 0.5 /* of an effect: its cause */
#define SOME 0.1 /* of an effect: the largest piece in one place */

/* " of the step", " of 6 steps", what is between them, " of the trace". */
static void say_span(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t n = p->gaps.step_count ? p->gaps.step_count : rule_steps(p);

	if (!p->steps_text.len) {
		pf_buf_addf(&v->sentence,
			    " between the first and the last %s work",
			    pf_window_device(&p->traces));
	} else if (n == 1) {
		say(v, " of the step");
	} else {
		say(v, " of ");
		say_count(v, n, "step", "steps");
		if (p->gaps.window.between_share >= PF_WINDOW_BETWEEN)
			say(v, " and the time between them");
	}
}

/* "file.py:12 f": the function and the place. */
static void say_frame(const struct pf_parts *p, struct pf_verdict *v,
		      const char *text)
{
	PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 };
	const char *frame = pf_parts_text(p, text, &shown);
	const char *space = strrchr(frame, ' ');
	const char *colon =
		space ? pf_memrchr(frame, ':', (size_t)(space - frame)) : NULL;

	if (!colon || colon + 1 == space ||
	    colon + 1 + strspn(colon + 1, "0123456789") != space) {
		pf_say_name(&v->sentence, frame); /* an annotation */
	} else {
		shown.data[space - frame] = '\0';
		pf_say_name(&v->sentence, space + 1);
		say(v, " (");
		pf_say_name(&v->sentence, frame);
		say(v, ")");
		pf_buf_clear(&v->place);
		pf_buf_adds(&v->place, frame);
	}
}

static void say_culprit(const struct pf_parts *p, struct pf_verdict *v,
			const struct pf_gap_culprit *c)
{
	/* an annotation is no line: the call or operator says more */
	if (c->frame && *c->frame &&
	    (c->place.frame != PF_ID_NONE || !c->name || !*c->name)) {
		say_frame(p, v, c->frame);
	} else if (c->name && *c->name) {
		pf_buf_clear(&v->place);
		say_text(p, v, c->name, &v->place);
	} else {
		return;
	}
	say(v, ", cause: ");
	say(v, c->cause);
}

/* ---- idle time ---- */

static struct pf_gap_cause find_cause(const struct pf_parts *p,
				      enum pf_cause cause)
{
	for (size_t i = 0; i < p->gaps.cause_count; i++)
		if (p->gaps.causes[i].cause == cause)
			return p->gaps.causes[i];
	return (struct pf_gap_cause){ 0 };
}

/* Point at the longest gap with this cause (PF_CAUSE_COUNT: any). */
static void point_at_gap(const struct pf_parts *p, struct pf_verdict *v,
			 enum pf_cause cause)
{
	for (size_t i = 0; i < p->gaps.gap_count; i++) {
		const struct pf_gap_item *gap = &p->gaps.gaps[i];

		if (cause != PF_CAUSE_COUNT &&
		    strcmp(gap->cause, pf_cause_name(cause)) != 0)
			continue;
		v->from_ns = gap->start_ns;
		v->to_ns = gap->start_ns + gap->ns;
		v->trace_id = gap->trace_id;
		return;
	}
}

/* Of several GPUs the one that is idle most. */
static void say_worst(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_gap_device *worst = p->gaps.devices;
	size_t n = p->gaps.device_count;

	if (p->gaps.gpus.count < 2)
		return;
	for (size_t i = 1; i < n; i++)
		if (p->gaps.devices[i].idle_share > worst->idle_share)
			worst = &p->gaps.devices[i];
	say(v, ", sum of ");
	say_count(v, (int64_t)p->gaps.gpus.count, pf_window_device(&p->traces),
		  pf_window_title(&p->traces, "GPUs"));
	say(v, ", most on");
	if (worst->rank >= 0)
		pf_buf_addf(&v->sentence, " rank %" PRId64, worst->rank);
	pf_buf_addf(&v->sentence, " %s %" PRId64 " with ",
		    pf_window_device(&p->traces),
		    worst->device < 0 ? 0 : worst->device);
	say_ratio(v, worst->idle_share);
}

static void say_long_gaps(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t count = 0, ns = 0;

	for (size_t i = 0; i < p->gaps.length_count; i++) {
		const struct pf_gap_length *length = &p->gaps.lengths[i];

		if (length->from_ns < 1000000)
			continue;
		count += length->count;
		ns += length->ns;
	}
	if (!count || p->gaps.all.idle_ns <= 0)
		return;
	say(v, ". ");
	say_ratio(v, (double)ns / (double)p->gaps.all.idle_ns);
	say(v, " of it is in ");
	say_count(v, count, "gap", "gaps");
	say(v, " of 1 ms or more");
}

static void say_unknown(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t idle = p->gaps.all.idle_ns;
	int64_t ns = find_cause(p, PF_CAUSE_UNRECORDED).ns +
		     find_cause(p, PF_CAUSE_NO_LAUNCH).ns;

	if (p->gaps.culprit_count &&
	    (p->gaps.culprits[0].place.cause == PF_CAUSE_UNRECORDED ||
	     p->gaps.culprits[0].place.cause == PF_CAUSE_NO_LAUNCH))
		return; /* that was said */
	if (idle <= 0 || (double)ns < 0.01 * (double)idle)
		return;
	say(v, ". ");
	say_ratio(v, (double)ns / (double)idle);
	say(v, " has no recorded cause");
}

/* What idle time is in: work that it was before is none of it. */
static void say_piece(const struct pf_parts *p, struct pf_verdict *v,
		      const struct pf_gap_culprit *c)
{
	enum pf_cause cause = (enum pf_cause)c->place.cause;
	bool is_before =
		cause == PF_CAUSE_NO_LAUNCH || cause == PF_CAUSE_DEVICE;

	if ((c->name || c->frame) && !is_before) {
		say_culprit(p, v, c);
		return;
	}
	say(v, pf_cause_phrase(cause));
	if (c->name) {
		say(v, cause == PF_CAUSE_NO_LAUNCH ? ", " : ", before ");
		say_text(p, v, c->name, NULL);
	}
}

static void say_largest(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_gap_culprit *most = p->gaps.culprits;
	const struct pf_gap_cause *cause = p->gaps.causes;
	double part =
		p->gaps.culprit_count ? p->gaps.culprits[0].idle_share : 0;

	if (part >= SOME && cause->idle_share >= MANY &&
	    cause->cause != (enum pf_cause)most->place.cause) {
		say(v, ". ");
		say_ratio(v, cause->idle_share);
		say(v, " of it is ");
		say(v, pf_cause_phrase(cause->cause));
	}
	if (part >= SOME) {
		say(v, part >= MANY ? ". " : ". The largest in one place: ");
		say_ratio(v, part);
		say(v, " of it is ");
		say_piece(p, v, most);
	} else if (p->gaps.cause_count) {
		say(v, ". No single cause was found, the largest part (");
		say_ratio(v, cause->idle_share);
		say(v, ") is ");
		say(v, pf_cause_phrase(cause->cause));
	}
}

static void say_before_most(const struct pf_parts *p, struct pf_verdict *v,
			    const struct pf_gap_culprit *most)
{
	const enum pf_cause cause = (enum pf_cause)most->place.cause;

	say(v, ", ");
	say_ratio(v, most->idle_share);
	say(v, " of it ");
	say(v, pf_cause_phrase(cause));
	if (cause >= PF_CAUSE_DEPENDENCY || !most->name)
		return;
	say(v, ", ");
	say_text(p, v, most->name, NULL);
}

/*
 * Of the time before the first GPU work, which is no part of idle time: first,
 * for what holds the time is what is said last.  Where the profiler itself
 * began most of that time, nothing of the program is to be said.
 */
static void say_before(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_gaps *before = p->gaps.before;

	if (!before || (before->culprit_count &&
			before->culprits[0].place.cause == PF_CAUSE_PROFILER &&
			before->culprits[0].idle_share >= 0.5))
		return;
	say_ns(v, before->all.window_ns);
	pf_buf_addf(&v->sentence, " pass before the first %s work",
		    pf_window_device(&p->traces));
	if (before->culprit_count)
		say_before_most(p, v, &before->culprits[0]);
	say(v, ". ");
}

/* A wait for what began before the capture: that is left out. */
static void apply_idle_rest(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t wait = p->gaps.head_wait_ns;
	int64_t window = p->gaps.all.window_ns - wait;

	v->is_note = true;
	v->affected_ns = p->gaps.all.idle_ns - wait;
	v->measured = pf_num_share(v->affected_ns, window);
	say(v, "A stream waits ");
	say_ns(v, wait);
	pf_buf_addf(&v->sentence,
		    " for what began before the capture: --from %" PRId64
		    "us leaves that out. In the rest the %s is idle ",
		    p->gaps.head_wait_end_ns / 1000,
		    pf_window_device(&p->traces));
	say_ratio(v, v->measured);
	say(v, " (");
	say_ns(v, v->affected_ns);
	say(v, " of ");
	say_ns(v, window);
	say(v, ")");
}

static void apply_idle(const struct pf_parts *p, struct pf_verdict *v)
{
	if (!rule_has_gpu(p, v))
		return;
	if (p->steps.is_alone) {
		rule_withhold(v, "steps say how long the profiler was on, not "
				 "what a step takes");
		return;
	}
	point_at_gap(p, v, PF_CAUSE_COUNT);
	if (p->gaps.head_wait_ns) {
		apply_idle_rest(p, v);
		return;
	}
	v->measured = p->gaps.all.idle_share;
	v->affected_ns = p->gaps.all.idle_ns;
	say_before(p, v);
	say(v, pf_window_title(&p->traces, "GPU idle"));
	say(v, " ");
	say_ratio(v, v->measured);
	say_span(p, v);
	say(v, " (");
	say_ns(v, v->affected_ns);
	say(v, " of ");
	say_ns(v, p->gaps.all.window_ns);
	say_worst(p, v);
	say(v, ")");
	say_long_gaps(p, v);
	say_largest(p, v);
	say_unknown(p, v);
}

static const struct pf_report_rule rule_idle = {
	"V1", "idle time", "idle", PF_PART_GAPS, 0.10, 0.50, apply_idle
};

/* ---- the rest ---- */

/* What holds most of the peak of a device. */
static void say_holder(const struct pf_parts *p, struct pf_verdict *v,
		       const char *device)
{
	const struct pf_usage_group *g = NULL;

	for (size_t i = 0; !g && i < p->memory.alive_count; i++)
		if (!strcmp(p->memory.alive[i].at.device, device))
			g = &p->memory.alive[i];
	if (!g || (!g->site.outer_op && !g->site.frame))
		return;
	say(v, "; ");
	say_ratio(v, g->peak_share);
	if (g->count == PF_NO_INT) { /* no block of the capture */
		say(v, " of the peak dates from before the capture");
		return;
	}
	say(v, " of the peak is held by ");
	if (g->site.outer_op)
		say_text(p, v, g->site.outer_op, NULL);
	if (g->site.frame) {
		if (g->site.outer_op)
			say(v, " at ");
		say_frame(p, v, g->site.frame);
	}
}

static void say_growth(const struct pf_parts *p, struct pf_verdict *v,
		       const struct pf_usage_device *d)
{
	PF_AUTO(pf_buf_release) struct pf_buf op = { 0 }, line = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 };
	const struct pf_usage_site *at = &d->grown_at;

	if (at->outer_op)
		pf_say_name(&op, pf_parts_text(p, at->outer_op, &shown));
	pf_buf_clear(&shown);
	if (at->frame)
		pf_say_name(&line, pf_parts_text(p, at->frame, &shown));
	pf_usage_say_growth(d, op.data, line.data, &v->sentence);
}

static void apply_memory(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_usage_device *d = pf_usage_fullest(&p->memory);
	const struct pf_usage_device *growing = pf_usage_growing(&p->memory);

	if (pf_usage_told_oom(&p->memory)) {
		v->warn = v->bad = 0; /* it happened: no threshold */
		v->is_note = true;
		v->severity = PF_BAD;
		say(v, pf_doc_find_finding(&p->doc[PF_PART_MEMORY]));
		return;
	}
	if (growing) {
		v->is_note = true;
		v->severity = PF_WARN;
		say_growth(p, v, growing);
		if (!d || d->capacity_share < PF_USAGE_EDGE) {
			v->warn = v->bad = 0; /* of the peak, which is low */
			return;
		}
		say(v, ". ");
	} else if (!d) {
		rule_withhold(
			v, p->memory.device_count
				   ? "how much is allocated in all, or how "
				     "much there is, is not recorded"
				   : "there are no memory events; record with "
				     "profile_memory=True");
		return;
	}
	v->measured = d->capacity_share;
	say(v, "Peak memory ");
	say_bytes(v, d->peak);
	say(v, " of ");
	say_bytes(v, d->capacity);
	say(v, " (");
	say_ratio(v, v->measured);
	say(v, ") on ");
	say(v, d->at.device);
	say_holder(p, v, d->at.device);
}

static const struct pf_report_rule rule_memory = {
	"V8",          "memory", "memory",    PF_PART_MEMORY,
	PF_USAGE_EDGE, 0.97,     apply_memory
};

/* ---- one cause, one verdict ---- */

static const struct pf_report_rule *const rules[] = {
	&rule_idle,  &rule_rest,      &rule_straggler, &rule_memory,
	&rule_trust, &rule_operators, &rule_dominant,  &rule_captured,
};

_Static_assert(PF_LEN(rules) + PF_ADVICE_MAX < PF_VERDICTS, "one for V0");

static struct pf_verdict *verdict_of(struct pf_verdicts *out,
				     const struct pf_report_rule *rule)
{
	size_t i = 0;

	while (rules[i] != rule)
		i++;
	return &out->all[i];
}

/* Is some advice, worth a first line, about this cause of idle time? */
static bool is_advised(const struct pf_advise *a, enum pf_cause cause)
{
	for (size_t i = 0; i < a->given; i++)
		if (a->all[i].causes & 1u << cause &&
		    a->all[i].measured >= PF_ADVISE_FIRST)
			return true;
	return false;
}

/*
 * Where advice is about what most idle time is, that says it.  What holds more
 * of the path than any advice would save is first, unless more than that is
 * idle, or there is nothing to save, as in a capture of graphs.
 */
static void rules_fold(const struct pf_parts *p, struct pf_verdicts *out)
{
	struct pf_verdict *idle = verdict_of(out, &rule_idle);
	struct pf_verdict *rest = verdict_of(out, &rule_rest);

	idle->is_folded = idle->state == PF_RULE_FIRED && p->gaps.cause_count &&
			  !p->gaps.before && !p->gaps.head_wait_ns &&
			  is_advised(p->advise, p->gaps.causes[0].cause);
	rest->is_first = rest->state == PF_RULE_FIRED &&
			 p->doctor.captured_share <= CAPTURED &&
			 (idle->state != PF_RULE_FIRED || idle->is_folded ||
			  idle->measured < rest->measured);
}

const char *pf_severity_word(enum pf_severity s)
{
	static const char *const words[] = { "note", "warning", "severe" };

	return words[s];
}

/* ---- advice ---- */

#define SEVERE 0.25 /* of the window, that would be saved or is idle */

/* Where its figures are, by the command that shows them. */
static const struct {
	const char *command, *section;
	enum pf_part part;
} shown[] = {
	{ "path", "path", PF_PART_PATH },
	{ "gaps", "idle", PF_PART_GAPS },
	{ "steps", "breakdown", PF_PART_STEPS },
	{ "syncs", "syncs", PF_PART_SYNCS },
	{ "overlap", "comm", PF_PART_OVERLAP },
	{ "kernels", "kernels", PF_PART_CALLERS },
	{ "ranges", "ops", PF_PART_OPS },
	{ "memory", "memory", PF_PART_MEMORY },
	{ "roofline", "roofline", PF_PART_ROOFLINE },
	{ "doctor", "quality", PF_PART_DOCTOR },
};

/* Point at the longest piece of it, or gap with a cause of its own. */
static void point_at(const struct pf_parts *p, const struct pf_advice *a,
		     struct pf_verdict *v)
{
	const struct pf_advice_place *most = a->places;

	if (p->advise->has_path && a->place_count) {
		v->from_ns = most->from_ns;
		v->to_ns = most->from_ns + most->longest_ns;
		v->trace_id = p->path.trace_id;
		return;
	}
	for (int cause = 0; cause < PF_CAUSE_COUNT && v->from_ns < 0; cause++)
		if (a->causes & 1u << cause)
			point_at_gap(p, v, (enum pf_cause)cause);
}

/* By what ranks it: no advice is less severe than one behind it. */
static enum pf_severity severity_of(const struct pf_advice *a)
{
	double share = a->measured;

	if (a->unsure_ns)
		share -= pf_num_share(a->unsure_ns, a->whole_ns);
	if (a->is_last || !(share >= PF_ADVISE_FIRST) ||
	    (a->at_most_ns == PF_NO_INT && !a->on_path_ns))
		return PF_NOTE;
	return share >= SEVERE ? PF_BAD : PF_WARN;
}

static void take_advice(const struct pf_parts *p, const struct pf_advice *a,
			struct pf_verdict *v)
{
	static const enum pf_rule_state states[] = {
		[PF_ADVICE_GIVEN] = PF_RULE_FIRED,
		[PF_ADVICE_FINE] = PF_RULE_FINE,
		[PF_ADVICE_NOT_JUDGED] = PF_RULE_WITHHELD,
	};
	PF_AUTO(pf_buf_release) struct pf_buf place = { 0 };
	size_t i = 0;

	while (i + 1 < PF_LEN(shown) &&
	       strcmp(shown[i].command, a->shown_by) != 0)
		i++;
	*v = (struct pf_verdict){
		.id = a->id,
		.title = a->kind,
		.section = shown[i].section,
		.part = shown[i].part,
		.state = states[a->state],
		.severity = severity_of(a),
		.recoverable_ns =
			a->at_most_ns == PF_NO_INT ? -1 : a->at_most_ns,
		.affected_ns = a->on_path_ns > 0 ? a->on_path_ns : -1,
		.measured = a->measured,
		.warn = isnan(a->threshold) ? 0 : PF_ADVISE_FIRST,
		.bad = isnan(a->threshold) ? 0 : SEVERE,
		.from_ns = -1,
		.advice = a,
	};
	pf_buf_add(&v->sentence, a->sentence.data, a->sentence.len);
	if (v->state != PF_RULE_FIRED)
		return;
	if (a->detail.len)
		pf_buf_addf(&v->sentence, ". %s", a->detail.data);
	if (a->place_count && a->places->at)
		pf_buf_adds(&v->place, pf_parts_text(p, a->places->at, &place));
	point_at(p, a, v);
}

/*
 * What the trace is of, or trouble with it, comes first, then the severe; of
 * those alike the advice in its own order, then what touches most.
 */
static int by_rank(const void *a, const void *b)
{
	const struct pf_verdict *x = a, *y = b;

	if (x->state != y->state)
		return (int)x->state - (int)y->state;
	if (x->state == PF_RULE_FIRED && x->is_folded != y->is_folded)
		return x->is_folded - y->is_folded;
	if (x->state == PF_RULE_FIRED && x->is_first != y->is_first)
		return y->is_first - x->is_first;
	if (x->state == PF_RULE_FIRED && x->severity != y->severity)
		return (int)y->severity - (int)x->severity;
	if (!x->advice != !y->advice)
		return x->advice ? -1 : 1;
	if (x->advice && x->state == PF_RULE_FIRED)
		return x->advice < y->advice ? -1 : x->advice > y->advice;
	if (x->state == PF_RULE_FIRED && x->affected_ns != y->affected_ns)
		return x->affected_ns > y->affected_ns ? -1 : 1;
	if (strlen(x->id) != strlen(y->id))
		return strlen(x->id) < strlen(y->id) ? -1 : 1;
	return strcmp(x->id, y->id);
}

static void set_state(struct pf_verdict *v)
{
	if (v->state == PF_RULE_WITHHELD)
		return;
	v->state = v->is_note ? PF_RULE_FIRED : PF_RULE_FINE;
	if (v->warn > 0 && v->measured > v->warn) {
		v->state = PF_RULE_FIRED;
		v->severity =
			v->bad > 0 && v->measured > v->bad ? PF_BAD : PF_WARN;
	}
	if (v->state == PF_RULE_FINE)
		pf_buf_clear(&v->sentence);
}

/* What is left when nothing fired. */
static void add_clean(const struct pf_parts *p, struct pf_verdicts *out)
{
	struct pf_verdict *v = &out->all[out->count++];
	double busy = 1 - p->gaps.all.idle_share;

	*v = (struct pf_verdict){ .id = "V0",
				  .title = "nothing found",
				  .section = "fine",
				  .part = PF_PART_GAPS,
				  .recoverable_ns = -1,
				  .affected_ns = -1,
				  .from_ns = -1 };
	pf_buf_adds(&v->sentence, "Nothing is above its threshold");
	if (p->gaps.all.window_ns) {
		pf_buf_addf(&v->sentence, "; the %s is busy ",
			    pf_window_device(&p->traces));
		say_ratio(v, busy);
		pf_buf_adds(&v->sentence, " of the time");
	} else if (p->steps.recorded.producer != PF_FROM_TABLES) {
		/* That a log of a GPU has no work in it means nothing. */
		pf_buf_adds(&v->sentence, "; ");
		pf_buf_adds(&v->sentence, rule_no_gpu(p));
	}
}

void pf_verdicts_find(const struct pf_parts *p, struct pf_verdicts *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < PF_LEN(rules); i++) {
		struct pf_verdict *v = &out->all[out->count++];

		*v = (struct pf_verdict){ .id = rules[i]->id,
					  .title = rules[i]->title,
					  .section = rules[i]->section,
					  .part = rules[i]->part,
					  .severity = PF_NOTE,
					  .recoverable_ns = -1,
					  .affected_ns = -1,
					  .from_ns = -1,
					  .warn = rules[i]->warn,
					  .bad = rules[i]->bad };
		rules[i]->apply(p, v);
		set_state(v);
	}
	for (size_t i = 0; i < p->advise->count; i++)
		take_advice(p, &p->advise->all[i], &out->all[out->count++]);
	rules_fold(p, out);
	for (size_t i = 0; i < out->count; i++)
		out->fired += out->all[i].state == PF_RULE_FIRED &&
			      !out->all[i].is_folded;
	if (!out->fired) {
		add_clean(p, out);
		out->fired = 1;
	}
	pf_sort(out->all, out->count, sizeof(*out->all), by_rank);
}

void pf_verdicts_release(struct pf_verdicts *v)
{
	for (size_t i = 0; i < v->count; i++) {
		pf_buf_release(&v->all[i].sentence);
		pf_buf_release(&v->all[i].place);
	}
	v->count = 0;
}

void pf_verdict_command(const struct pf_verdict *v, const struct pf_parts *p,
			struct pf_buf *out)
{
	char from[PF_NUM_MAX], to[PF_NUM_MAX];

	if (v->from_ns < 0)
		return;
	pf_buf_adds(out, "profan slice ");
	pf_shell_word(out, p->db_name);
	if (p->traces.count > 1)
		pf_buf_addf(out, " --trace %" PRId64, v->trace_id);
	pf_buf_addf(out, " --from %s --to %s",
		    pf_num_option_ns(from, v->from_ns),
		    pf_num_option_ns(to, v->to_ns));
	pf_buf_adds(out, " -o slice.json");
}

void pf_verdict_say_gain(const struct pf_verdict *v, const char *before,
			 struct pf_buf *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf gain = { 0 };

	if (v->advice)
		pf_advice_say_gain(v->advice, &gain);
	if (gain.len)
		pf_buf_addf(out, "%s%s", before, gain.data);
}

static const char *const states[] = { "fired", "fine", "withheld" };

/* How a rule came out. */
static const char *state_word(const struct pf_verdict *v)
{
	return v->is_folded ? "said by advice" : states[v->state];
}

/* The quality of a trace is graded: there is no figure. */
static bool is_measured(const struct pf_verdict *v)
{
	return v->state != PF_RULE_WITHHELD && v->warn > 0 &&
	       v->part != PF_PART_DOCTOR;
}

/* A rule, whether it fired or not: what tables show of it. */
struct row {
	const char *id, *title, *state, *severity, *place, *query, *remedy;
	const char *part_command, *command; /* that shows its part, its place */
	const char *sentence, *reason,
		*found;             /* of a verdict, why not, either */
	double measured, warn, bad; /* not a number: there is none */
	int64_t recoverable_ns, affected_ns, from_ns, to_ns, trace_id;
	int64_t least_ns; /* PF_NO_INT: not known */
};

/* The texts that are made here; they are kept in "texts". */
static void add_texts(const struct pf_verdict *v, const struct pf_parts *p,
		      struct pf_arena *texts, struct row *row)
{
	PF_AUTO(pf_buf_release) struct pf_buf place = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf part = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf sentence = { 0 };

	if (v->advice)
		pf_buf_adds(&part, v->advice->command.data);
	else
		pf_parts_command(p, v->part, &part);
	pf_verdict_command(v, p, &place);
	pf_buf_adds(&sentence, "");
	pf_say_plain(&sentence, &v->sentence);
	row->part_command = pf_arena_string(texts, part.data);
	row->command = place.len ? pf_arena_string(texts, place.data)
				 : row->part_command;
	if (sentence.len)
		row->found = pf_arena_string(texts, sentence.data);
	if (v->state == PF_RULE_FIRED)
		row->sentence = row->found;
	else
		row->reason = row->found;
}

static struct row row_of(const struct pf_verdict *v, const struct pf_parts *p,
			 struct pf_arena *texts)
{
	bool has_fired = v->state == PF_RULE_FIRED;
	bool has_place = has_fired && v->from_ns >= 0;
	bool has_scale = v->part != PF_PART_DOCTOR;
	struct row row = {
		.id = v->id,
		.title = v->title,
		.state = state_word(v),
		.severity = has_fired ? pf_severity_word(v->severity) : NULL,
		.place = has_fired && v->place.len ? v->place.data : NULL,
		.remedy = has_fired && v->advice ? v->advice->remedy : NULL,
		.least_ns = has_fired && v->advice ? v->advice->likely_ns
						   : PF_NO_INT,
		.query = v->advice ? NULL : pf_parts_query(v->part),
		.measured = is_measured(v) ? v->measured : NAN,
		.warn = has_scale && v->warn > 0 ? v->warn : NAN,
		.bad = has_scale && v->bad > 0 ? v->bad : NAN,
		.recoverable_ns = has_fired ? v->recoverable_ns : -1,
		.affected_ns = has_fired ? v->affected_ns : -1,
		.from_ns = has_place ? v->from_ns : -1,
		.to_ns = has_place ? v->to_ns : -1,
		.trace_id = has_place ? v->trace_id : -1
	};

	add_texts(v, p, texts, &row);
	return row;
}

#define FIELD(...) PF_FIELD(struct row, __VA_ARGS__)
static const struct pf_field verdict_fields[] = {
	FIELD(severity, "Severity", PF_TEXT),
	FIELD(sentence, "Verdict", PF_TEXT | PF_WHOLE),
	FIELD(remedy, "How", PF_TEXT | PF_OURS | PF_SPARE),
	FIELD(id, "Rule", PF_TEXT),
	FIELD(title, "kind", "Cause", PF_TEXT | PF_SPARE),
	FIELD(recoverable_ns, "At most", PF_NS | PF_KNOWN),
	FIELD(least_ns, "at_least_ns", "At least", PF_NS | PF_MAYBE | PF_SPARE),
	FIELD(affected_ns, "Affected", PF_NS | PF_KNOWN),
	FIELD(place, "Place", PF_PATH | PF_SPARE),
	FIELD(from_ns, "From", PF_NS | PF_KNOWN | PF_SPARE),
	FIELD(to_ns, "To", PF_NS | PF_KNOWN | PF_SPARE),
	FIELD(query, "Query", PF_TEXT | PF_SPARE),
	FIELD(command, "Shown by", PF_TEXT | PF_WHOLE),
};

static const struct pf_field check_fields[] = {
	FIELD(id, "Rule", PF_TEXT),
	FIELD(title, "Checked", PF_TEXT),
	FIELD(state, "Result", PF_TEXT),
	FIELD(measured, "Measured", PF_RATIO),
	FIELD(warn, "threshold", "Threshold", PF_RATIO),
	FIELD(reason, "Why not", PF_TEXT | PF_WHOLE),
};

static const struct pf_field rule_fields[] = {
	FIELD(id, "Rule", PF_TEXT),
	FIELD(title, "Checked", PF_TEXT),
	FIELD(state, "Result", PF_TEXT),
	FIELD(severity, "Severity", PF_TEXT),
	FIELD(measured, "Measured", PF_RATIO),
	FIELD(warn, "warn_above", "Warns above", PF_RATIO | PF_FULL),
	FIELD(bad, "bad_above", "Severe above", PF_RATIO | PF_FULL),
	FIELD(recoverable_ns, "Recoverable", PF_NS | PF_KNOWN),
	FIELD(affected_ns, "Affected", PF_NS | PF_FULL | PF_KNOWN),
	FIELD(place, "Place", PF_PATH | PF_FULL),
	FIELD(from_ns, "t0_ns", "From", PF_NS | PF_FULL | PF_KNOWN),
	FIELD(to_ns, "t1_ns", "To", PF_NS | PF_FULL | PF_KNOWN),
	FIELD(trace_id, "Trace", PF_INT | PF_FULL | PF_KNOWN),
	FIELD(query, "Query", PF_TEXT | PF_FULL),
	FIELD(part_command, "command", "Shown by", PF_TEXT | PF_FULL),
	FIELD(sentence, "Verdict", PF_TEXT | PF_FULL),
	FIELD(reason, "Why not", PF_TEXT | PF_FULL),
	FIELD(found, "Verdict, or why not", PF_TEXT | PF_BRIEF | PF_WHOLE),
};
#undef FIELD

void pf_verdicts_tables(const struct pf_verdicts *v, const struct pf_parts *p,
			struct pf_doc *doc)
{
	struct pf_table *fired = pf_doc_fields(doc, "verdicts", "Verdicts",
					       PF_FIELDS(verdict_fields));
	struct pf_table *checks = pf_doc_fields(doc, "checks", "Checked",
						PF_FIELDS(check_fields));
	PF_AUTO(pf_arena_release) struct pf_arena texts = { 0 };

	for (size_t i = 0; i < v->count; i++) {
		struct row row = row_of(&v->all[i], p, &texts);

		if (i < v->fired)
			PF_PUT(fired, verdict_fields, row);
		else
			PF_PUT(checks, check_fields, row);
	}
}

void pf_verdicts_list(const struct pf_verdicts *v, const struct pf_parts *p,
		      struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "verdicts", NULL, PF_FIELDS(rule_fields));
	PF_AUTO(pf_arena_release) struct pf_arena texts = { 0 };

	for (size_t i = 0; i < v->count; i++) {
		struct row row = row_of(&v->all[i], p, &texts);

		PF_PUT(t, rule_fields, row);
	}
}
