/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/steps.h"
#include "base/mem.h"
#include "base/num.h"
#include "page/figure.h"
#include "page/rules.h"
#include "page/say.h"
#include "show/find.h"

#define MANY        0.5 /* of an effect: its cause */
#define SOME        0.1 /* of an effect: the largest piece in one place */
#define ORPHANS_MAX 0.2 /* of GPU work without a launch call */

/* A slow link between ranks: GB/s (bytes per ns) on the bus, ns for a call. */
#define SLOW_LINK    10.0
#define SLOW_CALL_NS 50000.0
#define WAITING      3 /* times longer than that: ranks wait */

/* " of the step", " of 6 steps", what is between them, " of the trace". */
static void say_span(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t n = p->gaps.step_count ? p->gaps.step_count : pf_rule_steps(p);

	if (!p->steps_text.len) {
		pf_buf_addf(&v->sentence,
			    " between the first and the last %s work",
			    pf_window_device(&p->traces));
	} else if (n == 1) {
		pf_say(v, " of the step");
	} else {
		pf_say(v, " of ");
		pf_say_count(v, n, "step", "steps");
		if (p->gaps.window.between_share >= PF_WINDOW_BETWEEN)
			pf_say(v, " and the time between them");
	}
}

/* "file.py:12 f": the function and the place. */
static void say_frame(const struct pf_parts *p, struct pf_verdict *v,
		      const char *text)
{
	struct pf_buf shown = { 0 };
	const char *frame = pf_parts_text(p, text, &shown);
	const char *space = strrchr(frame, ' ');
	const char *colon =
		space ? memrchr(frame, ':', (size_t)(space - frame)) : NULL;

	if (!colon || colon + 1 == space ||
	    colon + 1 + strspn(colon + 1, "0123456789") != space) {
		pf_say_name(v, frame); /* an annotation */
	} else {
		shown.data[space - frame] = '\0';
		pf_say_name(v, space + 1);
		pf_say(v, " (");
		pf_say_name(v, frame);
		pf_say(v, ")");
		pf_buf_clear(&v->place);
		pf_buf_adds(&v->place, frame);
	}
	pf_buf_release(&shown);
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
		pf_say_text(p, v, c->name, &v->place);
	} else {
		return;
	}
	pf_say(v, ", cause: ");
	pf_say(v, c->cause);
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

static double of_window(const struct pf_parts *p, int64_t ns)
{
	return pf_num_share(ns, p->gaps.all.window_ns);
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
	pf_say(v, ", sum of ");
	pf_say_count(v, (int64_t)p->gaps.gpus.count,
		     pf_window_device(&p->traces),
		     pf_window_title(&p->traces, "GPUs"));
	pf_say(v, ", most on");
	if (worst->rank >= 0)
		pf_buf_addf(&v->sentence, " rank %" PRId64, worst->rank);
	pf_buf_addf(&v->sentence, " %s %" PRId64 " with ",
		    pf_window_device(&p->traces),
		    worst->device < 0 ? 0 : worst->device);
	pf_say_ratio(v, worst->idle_share);
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
	pf_say(v, "; ");
	pf_say_ratio(v, (double)ns / (double)p->gaps.all.idle_ns);
	pf_say(v, " of it in ");
	pf_say_count(v, count, "gap", "gaps");
	pf_say(v, " of 1 ms or more");
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
	pf_say(v, "; ");
	pf_say_ratio(v, (double)ns / (double)idle);
	pf_say(v, " has no recorded cause");
}

static double largest_share(const struct pf_parts *p)
{
	return p->gaps.culprit_count ? p->gaps.culprits[0].idle_share : 0;
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
	pf_say(v, pf_gap_phrase(cause));
	if (c->name) {
		pf_say(v, cause == PF_CAUSE_NO_LAUNCH ? ", " : ", before ");
		pf_say_text(p, v, c->name, NULL);
	}
}

static void say_largest(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_gap_culprit *most = p->gaps.culprits;
	const struct pf_gap_cause *cause = p->gaps.causes;
	double part = largest_share(p);

	if (part >= SOME && cause->idle_share >= MANY &&
	    cause->cause != (enum pf_cause)most->place.cause) {
		pf_say(v, "; ");
		pf_say_ratio(v, cause->idle_share);
		pf_say(v, " of it is ");
		pf_say(v, pf_gap_phrase(cause->cause));
	}
	if (part >= SOME) {
		pf_say(v, part >= MANY ? "; " : "; largest in one place: ");
		pf_say_ratio(v, part);
		pf_say(v, " of it is ");
		say_piece(p, v, most);
	} else if (p->gaps.cause_count) {
		pf_say(v, "; no single cause found, the largest part (");
		pf_say_ratio(v, cause->idle_share);
		pf_say(v, ") is ");
		pf_say(v, pf_gap_phrase(cause->cause));
	}
}

/* Of the cause that say_largest() names, that part of it. */
static int64_t named_recoverable(const struct pf_parts *p)
{
	struct pf_gap_cause cause;

	if (!p->gaps.cause_count)
		return 0;
	if (largest_share(p) < SOME)
		return p->gaps.causes[0].recoverable_ns;
	cause = find_cause(p, p->gaps.culprits[0].place.cause);
	return cause.recoverable_ns < p->gaps.culprits[0].ns
		       ? cause.recoverable_ns
		       : p->gaps.culprits[0].ns;
}

static void say_before_most(const struct pf_parts *p, struct pf_verdict *v,
			    const struct pf_gap_culprit *most)
{
	const enum pf_cause cause = (enum pf_cause)most->place.cause;
	const char *queued = pf_gap_queued(cause);

	pf_say(v, ", ");
	pf_say_ratio(v, most->idle_share);
	pf_say(v, " of it ");
	pf_say(v, queued ? queued : pf_gap_phrase(cause));
	if (queued || !most->name)
		return;
	pf_say(v, ", ");
	pf_say_text(p, v, most->name, NULL);
}

/*
 * Of the time before the first GPU work, which is no part of idle time: first,
 * for what is at stake is of what is said last.
 */
static void say_before(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_gaps *before = p->gaps.before;

	if (!before)
		return;
	pf_say_ns(v, before->all.window_ns);
	pf_buf_addf(&v->sentence, " pass before the first %s work",
		    pf_window_device(&p->traces));
	if (before->culprit_count)
		say_before_most(p, v, &before->culprits[0]);
	pf_say(v, "; ");
}

/* The capture began in the middle of a wait: that is left out. */
static void apply_idle_rest(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t wait = p->gaps.head_wait_ns;
	int64_t window = p->gaps.all.window_ns - wait;

	v->is_note = true;
	v->affected_ns = p->gaps.all.idle_ns - wait;
	v->measured = pf_num_share(v->affected_ns, window);
	v->recoverable_ns = 0;
	pf_say(v, "The capture began in the middle of a wait of ");
	pf_say_ns(v, wait);
	pf_buf_addf(&v->sentence,
		    ", which --from %" PRId64 "us leaves out; in the rest the "
		    "%s is idle ",
		    p->gaps.head_wait_end_ns / 1000,
		    pf_window_device(&p->traces));
	pf_say_ratio(v, v->measured);
	pf_say(v, " (");
	pf_say_ns(v, v->affected_ns);
	pf_say(v, " of ");
	pf_say_ns(v, window);
	pf_say(v, ")");
}

static void apply_idle(const struct pf_parts *p, struct pf_verdict *v)
{
	if (!pf_rule_has_gpu(p, v))
		return;
	point_at_gap(p, v, PF_CAUSE_COUNT);
	if (p->gaps.head_wait_ns) {
		apply_idle_rest(p, v);
		return;
	}
	v->measured = p->gaps.all.idle_share;
	v->affected_ns = p->gaps.all.idle_ns;
	v->recoverable_ns = named_recoverable(p);
	say_before(p, v);
	pf_say(v, pf_window_title(&p->traces, "GPU idle"));
	pf_say(v, " ");
	pf_say_ratio(v, v->measured);
	say_span(p, v);
	pf_say(v, " (");
	pf_say_ns(v, v->affected_ns);
	pf_say(v, " of ");
	pf_say_ns(v, p->gaps.all.window_ns);
	say_worst(p, v);
	pf_say(v, ")");
	say_long_gaps(p, v);
	say_largest(p, v);
	say_unknown(p, v);
}

const struct pf_report_rule pf_rule_idle = { "V1",         "idle time", "idle",
					     PF_PART_GAPS, 0.10,        0.50,
					     apply_idle };

/* ---- parts of idle time ---- */

/* Calls that wait, and idle time due to them, but for copies: V7's. */
struct waits {
	int64_t count, blocked_ns, idle_ns;
	int64_t in_steps_count, in_steps_ns; /* calls between steps left out */
	const struct pf_sync_site *most;
};

static struct waits find_waits(const struct pf_syncs *syncs)
{
	struct waits w = { 0 };

	for (size_t i = 0; i < syncs->site_count; i++) {
		const struct pf_sync_site *site = &syncs->all[i];

		if (!strcmp(site->kind, pf_cause_name(PF_CAUSE_COPY)))
			continue;
		if (!w.most)
			w.most = site;
		w.count += site->count;
		w.blocked_ns += site->blocked_ns;
		w.idle_ns += site->idle_ns;
		w.in_steps_count += site->in_steps_count;
		w.in_steps_ns += site->in_steps_ns;
	}
	return w;
}

static void say_dearest(const struct pf_parts *p, struct pf_verdict *v,
			const struct pf_sync_site *most)
{
	if (most && most->op) {
		pf_say(v, ", most from ");
		pf_say_text(p, v, most->op, NULL);
	}
	if (most && most->frame) {
		pf_say(v, most->op ? " at " : ", most at ");
		say_frame(p, v, most->frame);
	}
}

/*
 * A host that does not wait is that much earlier in all, and no GPU can gain
 * more by it.  Of several GPUs to a program nothing says which of them gains.
 */
static int64_t most_to_win(const struct pf_parts *p, const struct waits *w)
{
	if (p->syncs.device_count > (int64_t)p->syncs.window.count ||
	    w->idle_ns < w->blocked_ns)
		return w->idle_ns;
	return w->blocked_ns;
}

/* "4 synchronizations per step block the CPU for 2 ms per step" */
static void say_waits(const struct pf_parts *p, struct pf_verdict *v,
		      const struct waits *w)
{
	int64_t n = pf_rule_steps(p), ns = w->blocked_ns, count = w->count;
	int64_t idle_ns = w->idle_ns, few = 0;
	const char *each = pf_rule_each(p);

	if (p->steps_text.len && w->in_steps_count < n) {
		few = n; /* less than one a step: of all of them */
		each = "";
	} else if (p->steps_text.len) {
		count = (w->in_steps_count + n / 2) / n;
		ns = w->in_steps_ns / n;
		idle_ns /= n;
	}
	pf_say_count(v, count, "synchronization", "synchronizations");
	if (w->count < p->syncs.count)
		pf_say(v, " besides copies");
	if (few)
		pf_buf_addf(&v->sentence, " in %" PRId64 " steps", few);
	pf_say(v, each);
	pf_say(v, count == 1 ? " blocks" : " block");
	pf_say(v, " the CPU for ");
	pf_say_ns(v, ns);
	pf_say(v, count == 1 ? "; it leaves the GPU idle "
			     : "; they leave the GPU idle ");
	pf_say_ns(v, idle_ns);
	pf_say(v, each);
}

static void apply_sync(const struct pf_parts *p, struct pf_verdict *v)
{
	struct waits w = find_waits(&p->syncs);

	if (!pf_rule_has_gpu(p, v))
		return;
	if (!p->syncs.has_calls) {
		pf_rule_withhold(v, "the trace has no runtime calls");
		return;
	}
	v->recoverable_ns = most_to_win(p, &w);
	v->measured = of_window(p, v->recoverable_ns);
	v->affected_ns = w.blocked_ns;
	say_waits(p, v, &w);
	say_dearest(p, v, w.most);
	point_at_gap(p, v, PF_CAUSE_SYNC);
}

const struct pf_report_rule pf_rule_sync = {
	"V2", "synchronizations", "syncs", PF_PART_SYNCS, 0.02, 0.10, apply_sync
};

/* The culprit that holds most of a cause. */
static const struct pf_gap_culprit *find_culprit(const struct pf_parts *p,
						 enum pf_cause cause)
{
	for (size_t i = 0; i < p->gaps.culprit_count; i++) {
		const struct pf_gap_culprit *c = &p->gaps.culprits[i];

		if (c->place.cause == cause && (c->name || c->frame))
			return c;
	}
	return NULL;
}

static void say_most(const struct pf_parts *p, struct pf_verdict *v,
		     enum pf_cause cause, int64_t whole_ns)
{
	const struct pf_gap_culprit *c = find_culprit(p, cause);
	double part = c ? pf_num_share(c->ns, whole_ns) : 0;

	if (part < SOME)
		return;
	pf_say(v, part >= MANY ? "; " : "; largest in one place: ");
	pf_say_ratio(v, part);
	pf_say(v, " of it in ");
	say_culprit(p, v, c);
}

static void apply_input(const struct pf_parts *p, struct pf_verdict *v)
{
	struct pf_gap_cause c = find_cause(p, PF_CAUSE_DATA);

	if (!pf_rule_has_gpu(p, v))
		return;
	v->recoverable_ns = v->affected_ns = c.ns;
	v->measured = of_window(p, c.ns);
	pf_buf_addf(&v->sentence, "The %s waits for data ",
		    pf_window_device(&p->traces));
	pf_say_ratio(v, v->measured);
	say_span(p, v);
	pf_say(v, " (");
	pf_say_ns(v, c.ns);
	pf_say(v, ")");
	say_most(p, v, PF_CAUSE_DATA, c.ns);
	point_at_gap(p, v, PF_CAUSE_DATA);
}

const struct pf_report_rule pf_rule_input = { "V3",         "input", "input",
					      PF_PART_GAPS, 0.05,    0.20,
					      apply_input };

static void apply_launch(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t count = p->callers.calls, timed = p->launches.kernel_count;
	int64_t orphans = p->launches.orphan_count;
	int64_t known = p->launches.all.count;
	bool is_all;

	if (!pf_rule_has_gpu(p, v))
		return;
	if (p->traces.is_tpu) {
		pf_rule_withhold(v, "TPUs are given whole programs");
		return;
	}
	if ((double)orphans > ORPHANS_MAX * (double)(orphans + known)) {
		pf_rule_withhold(
			v, "more than a fifth of the GPU work has no launch "
			   "call in the trace");
		return;
	}
	v->recoverable_ns = v->affected_ns = p->gaps.launching_ns;
	v->measured = of_window(p, v->affected_ns);
	/* where the CPU is ahead for the most part it is not what bounds */
	is_all = v->measured > v->bad &&
		 pf_launches_late(&p->launches) < PF_LAUNCHES_AHEAD;
	pf_say(v, is_all ? "Launch-bound: " : "Launch-bound in places: ");
	pf_say_count(v, count / pf_rule_steps(p), "kernel", "kernels");
	pf_say(v, pf_rule_each(p));
	if (timed) {
		pf_say(v, ", ");
		if (p->launches.short_kernel_count)
			pf_say_ratio(
				v, pf_num_share(p->launches.short_kernel_count,
						timed));
		else
			pf_say(v, "none");
		pf_say(v, " of them under ");
		pf_say_ns(v, PF_LAUNCH_SHORT_NS);
	}
	pf_say(v, "; the GPU starves ");
	pf_say_ns(v, v->affected_ns / pf_rule_steps(p));
	pf_say(v, pf_rule_each(p));
	pf_say(v, " while the CPU launches (");
	pf_say_ratio(v, v->measured);
	pf_say(v, ")");
	point_at_gap(p, v, PF_CAUSE_LAUNCH);
}

const struct pf_report_rule pf_rule_launch = {
	"V4", "launch overhead", "idle", PF_PART_GAPS, 0.03, 0.15, apply_launch
};

static void apply_copies(const struct pf_parts *p, struct pf_verdict *v)
{
	struct pf_gap_cause c = find_cause(p, PF_CAUSE_COPY);

	if (!pf_rule_has_gpu(p, v))
		return;
	v->recoverable_ns = v->affected_ns = c.ns;
	v->measured = of_window(p, c.ns);
	pf_say(v, "Pageable or synchronous copies leave the GPU idle for ");
	pf_say_ns(v, c.ns);
	pf_say(v, " (");
	pf_say_ratio(v, v->measured);
	say_span(p, v);
	pf_say(v, ") in ");
	pf_say_count(v, c.count, "gap", "gaps");
	say_most(p, v, PF_CAUSE_COPY, c.ns);
	point_at_gap(p, v, PF_CAUSE_COPY);
}

const struct pf_report_rule pf_rule_copies = {
	"V7", "blocking copies", "idle", PF_PART_GAPS, 0.01, 0.05, apply_copies
};

/* ---- the rest ---- */

/*
 * Where most of the communication takes far longer than its bytes would even
 * over a slow link, ranks wait for each other.
 */
static void say_waiting(const struct pf_parts *p, struct pf_verdict *v)
{
	double bytes = 0, ns = 0, due = 0;

	for (size_t i = 0; i < p->overlap.collective_count; i++) {
		const struct pf_comm_row *row = &p->overlap.collectives[i];

		if (isnan(row->bus_rate))
			continue;
		bytes += (double)row->rated_bytes * row->factor;
		ns += (double)row->rated_ns;
		due += (double)row->rated_count * SLOW_CALL_NS;
	}
	due += bytes / SLOW_LINK;
	if (ns < MANY * (double)p->overlap.all.comm_ns || ns < WAITING * due)
		return;
	pf_buf_addf(&v->sentence,
		    "; at %.1f GB/s of bus bandwidth most of it is waiting for "
		    "other ranks, not transfer",
		    bytes / ns);
}

static void apply_comm(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_overlap_figures *all = &p->overlap.all;
	const struct pf_comm_row *longest = NULL;
	int64_t comm = all->comm_ns, exposed = all->exposed_comm_ns;

	if (!pf_rule_has_gpu(p, v))
		return;
	if (!comm) {
		pf_rule_withhold(v,
				 "no GPU work of this trace is communication");
		return;
	}
	v->measured = pf_num_share(exposed, all->total_ns);
	v->recoverable_ns = v->affected_ns = exposed;
	pf_say(v, "Communication takes ");
	pf_say_ns(v, comm / pf_rule_steps(p));
	pf_say(v, pf_rule_each(p));
	pf_say(v, ", ");
	pf_say_ratio(v, (double)exposed / (double)comm);
	pf_say(v, " of it exposed (");
	pf_say_ratio(v, v->measured);
	say_span(p, v);
	pf_say(v, ")");
	say_waiting(p, v);
	for (size_t i = 0; i < p->overlap.collective_count; i++) {
		const struct pf_comm_row *row = &p->overlap.collectives[i];

		if (row->collective &&
		    row->dur.max > (longest ? longest->dur.max : 0))
			longest = row;
	}
	if (!longest)
		return;
	pf_say(v, "; longest call ");
	pf_say_text(p, v, longest->collective, NULL);
	pf_say(v, ", ");
	pf_say_ns(v, longest->dur.max);
}

const struct pf_report_rule pf_rule_comm = { "V5",      "exposed communication",
					     "comm",    PF_PART_OVERLAP,
					     0.10,      0.30,
					     apply_comm };

/* The GPU whose peak is closest to its capacity; NULL: none is known. */
static const struct pf_usage_device *fullest(const struct pf_usage *u)
{
	const struct pf_usage_device *best = NULL;

	for (size_t i = 0; i < u->device_count; i++) {
		const struct pf_usage_device *d = &u->devices[i];

		if (d->at.device_type > 0 && !isnan(d->capacity_share) &&
		    (!best || d->capacity_share > best->capacity_share))
			best = d;
	}
	return best;
}

/* What holds most of the peak of a device. */
static void say_holder(const struct pf_parts *p, struct pf_verdict *v,
		       const char *device)
{
	const struct pf_usage_group *g = p->memory.alive;
	const struct pf_usage_group *end = g + p->memory.alive_count;

	while (g < end && strcmp(g->at.device, device) != 0)
		g++;
	if (g == end || (!g->site.outer_op && !g->site.frame))
		return;
	pf_say(v, "; ");
	pf_say_ratio(v, g->peak_share);
	if (g->count == PF_NO_INT) { /* no block of the capture */
		pf_say(v, " of the peak dates from before the capture");
		return;
	}
	pf_say(v, " of the peak is held by ");
	if (g->site.outer_op)
		pf_say_text(p, v, g->site.outer_op, NULL);
	if (g->site.frame) {
		if (g->site.outer_op)
			pf_say(v, " at ");
		say_frame(p, v, g->site.frame);
	}
}

static void apply_memory(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_usage_device *d = fullest(&p->memory);

	if (pf_usage_told_oom(&p->memory)) {
		v->warn = v->bad = 0; /* it happened: no threshold */
		v->is_note = true;
		v->severity = PF_BAD;
		pf_say(v, pf_doc_find_finding(&p->doc[PF_PART_MEMORY]));
		return;
	}
	if (!d) {
		pf_rule_withhold(
			v, p->memory.device_count
				   ? "how much is allocated in all, or how "
				     "much there is, is not recorded"
				   : "there are no memory events; record with "
				     "profile_memory=True");
		return;
	}
	v->measured = d->capacity_share;
	pf_say(v, "Peak memory ");
	pf_figure_bytes(&v->sentence, d->peak);
	pf_say(v, " of ");
	pf_figure_bytes(&v->sentence, d->capacity);
	pf_say(v, " (");
	pf_say_ratio(v, v->measured);
	pf_say(v, ") on ");
	pf_say(v, d->at.device);
	say_holder(p, v, d->at.device);
}

const struct pf_report_rule pf_rule_memory = {
	"V8", "memory", "memory", PF_PART_MEMORY, 0.90, 0.97, apply_memory
};

/* ---- one cause, one verdict ---- */

void pf_rules_fold(const struct pf_parts *p, struct pf_verdicts *out)
{
	static const struct {
		enum pf_cause cause;
		const char *id;
	} owners[] = {
		{ PF_CAUSE_DATA, "V3" },   { PF_CAUSE_SYNC, "V2" },
		{ PF_CAUSE_LAUNCH, "V4" }, { PF_CAUSE_RUNTIME, "V4" },
		{ PF_CAUSE_OP, "V4" },     { PF_CAUSE_MICRO, "V4" },
		{ PF_CAUSE_COPY, "V7" },
	};
	enum pf_cause cause;

	if (!out->count || out->all[0].state != PF_RULE_FIRED ||
	    !p->gaps.cause_count)
		return;
	cause = largest_share(p) < SOME
			? p->gaps.causes[0].cause
			: (enum pf_cause)p->gaps.culprits[0].place.cause;
	for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); i++)
		for (size_t k = 0; k < out->count; k++)
			if (owners[i].cause == cause &&
			    !strcmp(owners[i].id, out->all[k].id) &&
			    out->all[k].state == PF_RULE_FIRED)
				out->all[k].is_folded = true;
}
