/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "events/names.h"
#include "report/figure.h"
#include "report/rules.h"
#include "report/say.h"
#include "table/find.h"

#define MANY        0.5 /* of an effect: its cause */
#define SOME        0.1 /* of an effect: the largest single cause */
#define ORPHANS_MAX 0.2 /* of GPU work without a launch call */

/* " of the step", " of 6 steps", " of the trace". */
static void say_span(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t n = pf_rule_steps(p);

	if (!p->steps_text.len) {
		pf_say(v, " between the first and the last GPU work");
	} else if (n == 1) {
		pf_say(v, " of the step");
	} else {
		pf_say(v, " of ");
		pf_say_count(v, n, "step", "steps");
	}
}

/* "file.py:12 f": the function and the place. */
static void say_frame(struct pf_verdict *v, const char *frame)
{
	const char *space = strrchr(frame, ' ');
	const char *colon =
		space ? memrchr(frame, ':', (size_t)(space - frame)) : NULL;

	if (!colon || colon + 1 == space ||
	    colon + 1 + strspn(colon + 1, "0123456789") != space) {
		pf_say_name(v, frame, strlen(frame)); /* an annotation */
		return;
	}
	pf_say_name(v, space + 1, strlen(space + 1));
	pf_say(v, " (");
	pf_say_name(v, frame, (size_t)(space - frame));
	pf_say(v, ")");
	pf_buf_clear(&v->place);
	pf_buf_add(&v->place, frame, (size_t)(space - frame));
}

/* A row of gaps' culprits. */
static void say_culprit(struct pf_verdict *v, const struct pf_table *t,
			size_t row)
{
	const char *frame = pf_table_text_at(t, row, "frame");
	const char *name = pf_table_text_at(t, row, "culprit");
	const char *cause = pf_table_text_at(t, row, "cause");

	if (frame && *frame) {
		say_frame(v, frame);
	} else if (name && *name) {
		pf_say_name(v, name, strlen(name));
		pf_buf_clear(&v->place);
		pf_buf_adds(&v->place, name);
	} else {
		return;
	}
	if (cause) {
		pf_say(v, ", cause: ");
		pf_say(v, cause);
	}
}

/* ---- idle time ---- */

struct cause {
	int64_t ns, count;
};

static struct cause find_cause(const struct pf_parts *p, enum pf_cause cause)
{
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_GAPS], "causes");
	int64_t row = pf_table_find_row(t, "cause", pf_cause_name(cause));

	if (row < 0)
		return (struct cause){ 0, 0 };
	return (struct cause){ pf_table_int_at(t, (size_t)row, "ns"),
			       pf_table_int_at(t, (size_t)row, "count") };
}

static double of_window(const struct pf_parts *p, int64_t ns)
{
	int64_t window = pf_doc_find_int(&p->doc[PF_PART_GAPS], "window_ns");

	return window > 0 ? (double)ns / (double)window : 0;
}

/* Point at the longest gap with this cause (PF_CAUSE_COUNT: any). */
static void point_at_gap(const struct pf_parts *p, struct pf_verdict *v,
			 enum pf_cause cause)
{
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_GAPS], "gaps");
	int64_t row =
		cause == PF_CAUSE_COUNT
			? 0
			: pf_table_find_row(t, "cause", pf_cause_name(cause));

	if (row < 0 || (size_t)row >= pf_table_rows(t))
		return;
	v->from_ns = pf_table_int_at(t, (size_t)row, "start_ns");
	v->to_ns = v->from_ns + pf_table_int_at(t, (size_t)row, "ns");
	v->trace_id = pf_table_int_at(t, (size_t)row, "trace_id");
}

/* Of several GPUs the one that is idle most. */
static void say_worst(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_GAPS], "devices");
	size_t worst = 0, n = pf_table_rows(t);

	if (n < 2)
		return;
	for (size_t r = 1; r < n; r++)
		if (pf_table_real_at(t, r, "idle_share") >
		    pf_table_real_at(t, worst, "idle_share"))
			worst = r;
	pf_say(v, ", sum of ");
	pf_say_count(v, (int64_t)n, "GPU", "GPUs");
	pf_say(v, ", most on");
	if (pf_table_at(t, worst, "rank"))
		pf_buf_addf(&v->sentence, " rank %" PRId64,
			    pf_table_int_at(t, worst, "rank"));
	pf_buf_addf(&v->sentence, " GPU %" PRId64 " with ",
		    pf_table_int_at(t, worst, "device"));
	pf_say_ratio(v, pf_table_real_at(t, worst, "idle_share"));
}

static void say_long_gaps(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_GAPS], "lengths");
	int64_t count = 0, ns = 0;
	int64_t idle = pf_doc_find_int(&p->doc[PF_PART_GAPS], "idle_ns");

	for (size_t r = 0; r < pf_table_rows(t); r++) {
		if (pf_table_int_at(t, r, "from_ns") < 1000000)
			continue;
		count += pf_table_int_at(t, r, "count");
		ns += pf_table_int_at(t, r, "ns");
	}
	if (!count || idle <= 0)
		return;
	pf_say(v, "; ");
	pf_say_ratio(v, (double)ns / (double)idle);
	pf_say(v, " of it in ");
	pf_say_count(v, count, "gap", "gaps");
	pf_say(v, " of 1 ms or more");
}

static void say_unknown(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t idle = pf_doc_find_int(&p->doc[PF_PART_GAPS], "idle_ns");
	int64_t ns = find_cause(p, PF_CAUSE_UNRECORDED).ns +
		     find_cause(p, PF_CAUSE_NO_LAUNCH).ns;
	const char *largest = pf_table_text_at(
		pf_doc_find_table(&p->doc[PF_PART_GAPS], "culprits"), 0,
		"cause");

	if (largest && !strcmp(largest, pf_cause_name(PF_CAUSE_UNRECORDED)))
		return; /* that was said */
	if (idle <= 0 || (double)ns < 0.01 * (double)idle)
		return;
	pf_say(v, "; ");
	pf_say_ratio(v, (double)ns / (double)idle);
	pf_say(v, " has no recorded cause");
}

static void say_largest(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_doc *gaps = &p->doc[PF_PART_GAPS];
	const struct pf_table *t = pf_doc_find_table(gaps, "culprits");
	const struct pf_table *causes = pf_doc_find_table(gaps, "causes");
	const char *cause = pf_table_text_at(causes, 0, "cause");
	double part = pf_table_real_at(t, 0, "idle_share");

	if (part >= SOME) {
		pf_say(v, part >= MANY ? "; " : "; largest single cause: ");
		pf_say_ratio(v, part);
		pf_say(v, " of it is ");
		if (!pf_table_text_at(t, 0, "culprit") &&
		    !pf_table_text_at(t, 0, "frame"))
			pf_say(v, cause ? cause : "of no known cause");
		else
			say_culprit(v, t, 0);
	} else if (cause) {
		pf_say(v, "; no single cause found, most of it (");
		pf_say_ratio(v, pf_table_real_at(causes, 0, "idle_share"));
		pf_say(v, ") is ");
		pf_say(v, cause);
	}
}

static int64_t sum_recoverable(const struct pf_doc *gaps)
{
	const struct pf_table *t = pf_doc_find_table(gaps, "causes");
	int64_t sum = 0;

	for (size_t r = 0; r < pf_table_rows(t); r++)
		sum += pf_table_int_at(t, r, "recoverable_ns");
	return sum;
}

static void apply_idle(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_doc *gaps = &p->doc[PF_PART_GAPS];
	int64_t idle = pf_doc_find_int(gaps, "idle_ns");

	if (!pf_rule_has_gpu(p, v))
		return;
	v->measured = pf_doc_find_real(gaps, "idle_share");
	v->affected_ns = idle;
	v->recoverable_ns = sum_recoverable(gaps);
	pf_say(v, "GPU idle ");
	pf_say_ratio(v, v->measured);
	say_span(p, v);
	pf_say(v, " (");
	pf_say_ns(v, idle);
	pf_say(v, " of ");
	pf_say_ns(v, pf_doc_find_int(gaps, "window_ns"));
	say_worst(p, v);
	pf_say(v, ")");
	say_long_gaps(p, v);
	say_largest(p, v);
	say_unknown(p, v);
	point_at_gap(p, v, PF_CAUSE_COUNT);
}

const struct pf_report_rule pf_rule_idle = { "V1",         "idle time", "idle",
					     PF_PART_GAPS, 0.10,        0.50,
					     apply_idle };

/* ---- parts of idle time ---- */

/* Idle time in and after calls that wait, but for copies: they are V7's. */
static int64_t sync_cost(const struct pf_parts *p)
{
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_SYNCS], "sites");
	int64_t sum = 0;

	for (size_t r = 0; r < pf_table_rows(t); r++) {
		const char *kind = pf_table_text_at(t, r, "kind");

		if (kind && strcmp(kind, pf_cause_name(PF_CAUSE_COPY)) != 0)
			sum += pf_table_int_at(t, r, "idle_ns");
	}
	return sum;
}

static void apply_sync(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_doc *syncs = &p->doc[PF_PART_SYNCS];
	const struct pf_table *t = pf_doc_find_table(syncs, "sites");
	int64_t count = pf_doc_find_int(syncs, "count"), n = pf_rule_steps(p);
	const char *op, *frame;

	if (!pf_rule_has_gpu(p, v))
		return;
	v->recoverable_ns = sync_cost(p);
	v->measured = of_window(p, v->recoverable_ns);
	v->affected_ns = pf_doc_find_int(syncs, "blocked_ns");
	pf_say_count(v, (count + n / 2) / n, "synchronization",
		     "synchronizations");
	pf_say(v, pf_rule_each(p));
	pf_say(v, " block the CPU for ");
	pf_say_ns(v, v->affected_ns / n);
	op = pf_table_text_at(t, 0, "op");
	frame = pf_table_text_at(t, 0, "frame");
	if (op) {
		pf_say(v, "; most costly from ");
		pf_say_name(v, op, strlen(op));
	}
	if (frame) {
		pf_say(v, op ? " at " : "; most costly at ");
		say_frame(v, frame);
	}
	pf_say(v, "; for them the GPU is idle ");
	pf_say_ns(v, v->recoverable_ns / n);
	pf_say(v, pf_rule_each(p));
	point_at_gap(p, v, PF_CAUSE_SYNC);
}

const struct pf_report_rule pf_rule_sync = {
	"V2", "synchronizations", "syncs", PF_PART_SYNCS, 0.02, 0.10, apply_sync
};

/* The culprit that holds most of a cause. */
static int64_t find_culprit(const struct pf_table *t, enum pf_cause cause)
{
	for (size_t r = 0; r < pf_table_rows(t); r++) {
		const char *s = pf_table_text_at(t, r, "cause");

		if (s && !strcmp(s, pf_cause_name(cause)) &&
		    (pf_table_text_at(t, r, "culprit") ||
		     pf_table_text_at(t, r, "frame")))
			return (int64_t)r;
	}
	return -1;
}

static void say_most(const struct pf_parts *p, struct pf_verdict *v,
		     enum pf_cause cause, int64_t whole_ns)
{
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_GAPS], "culprits");
	int64_t row = find_culprit(t, cause);
	double part;

	if (row < 0 || whole_ns <= 0)
		return;
	part = (double)pf_table_int_at(t, (size_t)row, "ns") / (double)whole_ns;
	if (part < SOME)
		return;
	pf_say(v, part >= MANY ? "; " : "; largest single cause: ");
	pf_say_ratio(v, part);
	pf_say(v, " of it in ");
	say_culprit(v, t, (size_t)row);
}

static void apply_input(const struct pf_parts *p, struct pf_verdict *v)
{
	struct cause c = find_cause(p, PF_CAUSE_DATA);

	if (!pf_rule_has_gpu(p, v))
		return;
	v->recoverable_ns = v->affected_ns = c.ns;
	v->measured = of_window(p, c.ns);
	pf_say(v, "The GPU waits for data ");
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
	static const enum pf_cause causes[] = { PF_CAUSE_LAUNCH,
						PF_CAUSE_RUNTIME, PF_CAUSE_OP,
						PF_CAUSE_MICRO };
	const struct pf_doc *kernels = &p->doc[PF_PART_KERNELS];
	const struct pf_doc *launches = &p->doc[PF_PART_LAUNCHES];
	int64_t count = pf_doc_find_int(kernels, "kernel_count"), ns = 0;
	int64_t orphans = pf_doc_find_int(launches, "orphan_count");
	int64_t known = pf_doc_find_int(launches, "launch_count"), after;

	if (!pf_rule_has_gpu(p, v))
		return;
	if ((double)orphans > ORPHANS_MAX * (double)(orphans + known)) {
		pf_rule_withhold(
			v, "more than a fifth of the GPU work has no launch "
			   "call in the trace");
		return;
	}
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		ns += find_cause(p, causes[i]).ns;
	/* what follows a synchronization is counted with it */
	after = sync_cost(p) - find_cause(p, PF_CAUSE_SYNC).ns;
	if (after > 0)
		ns -= after < ns ? after : ns;
	v->recoverable_ns = v->affected_ns = ns;
	v->measured = of_window(p, ns);
	pf_say(v, "Launch-bound: ");
	pf_say_count(v, count / pf_rule_steps(p), "kernel", "kernels");
	pf_say(v, pf_rule_each(p));
	if (count) {
		pf_say(v, ", ");
		pf_say_ns(v, pf_doc_find_int(kernels, "kernel_ns") / count);
		pf_say(v, " long on average");
	}
	pf_say(v, "; the GPU starves ");
	pf_say_ns(v, ns / pf_rule_steps(p));
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
	struct cause c = find_cause(p, PF_CAUSE_COPY);

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

static void apply_comm(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_doc *overlap = &p->doc[PF_PART_OVERLAP];
	const struct pf_table *t = pf_doc_find_table(overlap, "collectives");
	int64_t total = pf_doc_find_int(overlap, "total_ns");
	int64_t comm = pf_doc_find_int(overlap, "comm_ns"), longest = 0;
	int64_t exposed = pf_doc_find_int(overlap, "exposed_comm_ns");
	const char *name = NULL;

	if (!pf_rule_has_gpu(p, v))
		return;
	if (!comm) {
		pf_rule_withhold(v, "there is no communication in this trace");
		return;
	}
	v->measured = total > 0 ? (double)exposed / (double)total : 0;
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
	for (size_t r = 0; r < pf_table_rows(t); r++) {
		const char *s = pf_table_text_at(t, r, "collective");
		int64_t ns = pf_table_int_at(t, r, "max_ns");

		if (s && ns > longest) {
			longest = ns;
			name = s;
		}
	}
	if (!name)
		return;
	pf_say(v, "; longest call ");
	pf_say_name(v, name, strlen(name));
	pf_say(v, ", ");
	pf_say_ns(v, longest);
}

const struct pf_report_rule pf_rule_comm = { "V5",      "exposed communication",
					     "comm",    PF_PART_OVERLAP,
					     0.10,      0.30,
					     apply_comm };

/* The GPU whose peak is closest to its capacity, -1 if none is known. */
static int64_t fullest(const struct pf_table *t)
{
	int64_t best = -1;

	for (size_t r = 0; r < pf_table_rows(t); r++) {
		if (!pf_table_int_at(t, r, "device_type") ||
		    !pf_table_at(t, r, "capacity_share"))
			continue;
		if (best < 0 ||
		    pf_table_real_at(t, r, "capacity_share") >
			    pf_table_real_at(t, (size_t)best, "capacity_share"))
			best = (int64_t)r;
	}
	return best;
}

/* What holds most of the peak of a device. */
static void say_holder(const struct pf_doc *doc, struct pf_verdict *v,
		       const char *device)
{
	const struct pf_table *t = pf_doc_find_table(doc, "alive");
	int64_t row = pf_table_find_row(t, "device", device);
	const char *op, *frame;

	if (row < 0)
		return;
	op = pf_table_text_at(t, (size_t)row, "outer_op");
	frame = pf_table_text_at(t, (size_t)row, "frame");
	if (!op && !frame)
		return;
	pf_say(v, "; ");
	pf_say_ratio(v, pf_table_real_at(t, (size_t)row, "peak_share"));
	pf_say(v, " of the peak is held by ");
	if (op)
		pf_say_name(v, op, strlen(op));
	if (frame) {
		if (op)
			pf_say(v, " at ");
		say_frame(v, frame);
	}
}

static void apply_memory(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_doc *doc = &p->doc[PF_PART_MEMORY];
	const struct pf_table *t = pf_doc_find_table(doc, "devices");
	int64_t row = fullest(t);
	const char *device;

	if (row < 0) {
		pf_rule_withhold(
			v, pf_table_rows(t)
				   ? "the memory of the GPU is not known"
				   : "there are no memory events; record with "
				     "profile_memory=True");
		return;
	}
	device = pf_table_text_at(t, (size_t)row, "device");
	v->measured = pf_table_real_at(t, (size_t)row, "capacity_share");
	pf_say(v, "Peak memory ");
	pf_figure_bytes(&v->sentence,
			pf_table_int_at(t, (size_t)row, "peak_bytes"));
	pf_say(v, " of ");
	pf_figure_bytes(&v->sentence,
			pf_table_int_at(t, (size_t)row, "capacity_bytes"));
	pf_say(v, " (");
	pf_say_ratio(v, v->measured);
	pf_say(v, ")");
	if (device) {
		pf_say(v, " on ");
		pf_say(v, device);
		say_holder(doc, v, device);
	}
}

const struct pf_report_rule pf_rule_memory = {
	"V8", "memory", "memory", PF_PART_MEMORY, 0.90, 0.97, apply_memory
};

#define TRUST_NAMED 3

/* Worse checks first, then those that touch more. */
static int64_t next_check(const struct pf_table *t, const char *verdict,
			  double below, double *share)
{
	int64_t best = -1;

	*share = -1;
	for (size_t r = 0; r < pf_table_rows(t); r++) {
		const char *s = pf_table_text_at(t, r, "verdict");
		double mine = pf_table_real_at(t, r, "share");

		if (!s || strcmp(s, verdict) || mine >= below || mine <= *share)
			continue;
		*share = mine;
		best = (int64_t)r;
	}
	return best;
}

static void say_check(struct pf_verdict *v, const struct pf_table *t,
		      size_t row, int named)
{
	const char *name = pf_table_text_at(t, row, "check");

	pf_say(v, named ? ", " : "");
	pf_say(v, name ? name : "");
	pf_say(v, " (");
	pf_figure_count(&v->sentence, pf_table_int_at(t, row, "count"));
	if (pf_table_at(t, row, "share")) {
		pf_say(v, ", ");
		pf_say_ratio(v, pf_table_real_at(t, row, "share"));
		if (pf_table_int_at(t, row, "gpu_ns"))
			pf_say(v, " of GPU time");
	}
	pf_say(v, ")");
}

static void apply_trust(const struct pf_parts *p, struct pf_verdict *v)
{
	static const char *const verdicts[] = { "bad", "warn" };
	const struct pf_table *t =
		pf_doc_find_table(&p->doc[PF_PART_DOCTOR], "checks");
	int64_t count = 0, bad = 0;
	int named = 0;

	for (size_t r = 0; r < pf_table_rows(t); r++) {
		const char *s = pf_table_text_at(t, r, "verdict");

		bad += s && !strcmp(s, "bad");
		count += s && (!strcmp(s, "bad") || !strcmp(s, "warn"));
	}
	/* as on a scale: 1 is a warning, 2 is bad */
	v->measured = bad ? 2 : count ? 1 : 0;
	pf_say(v, "Trace quality: ");
	for (size_t i = 0; i < 2; i++) {
		double below = 1e300, share;
		int64_t row;

		while (named < TRUST_NAMED &&
		       (row = next_check(t, verdicts[i], below, &share)) >= 0) {
			say_check(v, t, (size_t)row, named++);
			below = share;
		}
	}
	if (count > named) {
		pf_say(v, " and ");
		pf_say_count(v, count - named, "more check", "more checks");
	}
	pf_say(v, "; figures that rest on this may be off");
}

const struct pf_report_rule pf_rule_trust = {
	"V9", "trace quality", "quality", PF_PART_DOCTOR, 0.5, 1.5, apply_trust
};

static void apply_warm_up(const struct pf_parts *p, struct pf_verdict *v)
{
	const struct pf_doc *steps = &p->doc[PF_PART_STEPS];
	const struct pf_table *t = pf_doc_find_table(steps, "steps");
	int64_t median = pf_doc_find_int(steps, "p50_ns");
	int64_t first = pf_table_int_at(t, 0, "dur_ns");

	if (!p->steps_text.len || pf_rule_steps(p) < 3) {
		pf_rule_withhold(v, "needs three profiler steps");
		return;
	}
	v->measured = median > 0 ? (double)first / (double)median : 0;
	v->affected_ns = first - median;
	pf_buf_addf(&v->sentence, "The first step takes %.1f", v->measured);
	pf_say(v, " times the median (");
	pf_say_ns(v, first);
	pf_say(v, " to ");
	pf_say_ns(v, median);
	pf_say(v, ") and is part of all figures; --skip-first 1 leaves it out");
}

const struct pf_report_rule pf_rule_warm_up = {
	"V11", "warm-up", "breakdown", PF_PART_STEPS, 1.5, 0, apply_warm_up
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
	const struct pf_doc *gaps = &p->doc[PF_PART_GAPS];
	const struct pf_table *t = pf_doc_find_table(gaps, "culprits");
	const char *cause = pf_table_text_at(t, 0, "cause");

	if (!out->count || out->all[0].state != PF_RULE_FIRED)
		return;
	if (pf_table_real_at(t, 0, "idle_share") < SOME)
		cause = pf_table_text_at(pf_doc_find_table(gaps, "causes"), 0,
					 "cause");
	for (size_t i = 0; cause && i < sizeof(owners) / sizeof(*owners); i++)
		for (size_t k = 0; k < out->count; k++)
			if (!strcmp(pf_cause_name(owners[i].cause), cause) &&
			    !strcmp(owners[i].id, out->all[k].id) &&
			    out->all[k].state == PF_RULE_FIRED)
				out->all[k].is_folded = true;
}
