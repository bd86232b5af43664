/* SPDX-License-Identifier: MIT */
/*
 * Steps of one capture are not independent, and two captures of one program
 * can differ by more than ten percent: so one capture per side is never
 * called significant, and a change is called one only beyond the larger of
 * 5 % and twice the spread of steps.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "diff/diff_impl.h"
#include "diff/diff_rank.h"
#include "base/stats.h"
#include "base/mem.h"
#include "base/num.h"

#define COLS(c)        c, sizeof(c) / sizeof(*(c))
#define NOISE_PERCENT  5
#define SHAPES_PERCENT 10 /* of GPU time with other shapes: other work */
#define SIGNIFICANT    0.05
#define NOT_THE_LIMIT  5 /* kernels change so many times more than steps */

/* ---- comparability ---- */

enum { EQUAL, DIFFERENT, UNKNOWN };
static const char *const results[] = { "equal", "different", "unknown" };

static int compare_text(const struct pf_diff *d, uint32_t a, uint32_t b)
{
	if (!*pf_diff_text(d, a) || !*pf_diff_text(d, b))
		return UNKNOWN;
	return a == b ? EQUAL : DIFFERENT;
}

static int compare_number(int64_t a, int64_t b)
{
	if (a < 0 || b < 0)
		return UNKNOWN;
	return a == b ? EQUAL : DIFFERENT;
}

/* Is more than a tenth of GPU time spent on other shapes? */
static bool has_other_shapes(const struct pf_diff *d)
{
	int64_t other = 0, all = 0;

	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_pair *p = &d->pairs.items[i];

		all += p->a_ns + p->b_ns;
		if (p->match == PF_MATCH_SHAPE)
			other += p->a_ns + p->b_ns;
	}
	return other > all / 100 * SHAPES_PERCENT;
}

static int compare_shapes(const struct pf_diff *d)
{
	if (!d->a.has_shapes || !d->b.has_shapes)
		return UNKNOWN;
	for (size_t i = 0; i < d->pairs.count; i++)
		if (d->pairs.items[i].match == PF_MATCH_SHAPE)
			return DIFFERENT;
	return EQUAL;
}

struct check {
	const char *what;
	int result;
	const char *obstacle; /* why times cannot be compared, or NULL */
	char a[PF_NUM_MAX], b[PF_NUM_MAX];
	const char *a_text, *b_text; /* instead */
};

#define CHECKS 10

static void number_check(struct check *c, const char *what, int64_t a,
			 int64_t b, const char *obstacle)
{
	*c = (struct check){ .what = what,
			     .result = compare_number(a, b),
			     .obstacle = obstacle };
	if (a >= 0)
		pf_num_show_count(c->a, a);
	if (b >= 0)
		pf_num_show_count(c->b, b);
}

static void text_check(const struct pf_diff *d, struct check *c,
		       const char *what, uint32_t a, uint32_t b,
		       const char *obstacle)
{
	*c = (struct check){ .what = what,
			     .result = compare_text(d, a, b),
			     .obstacle = obstacle,
			     .a_text = pf_diff_text(d, a),
			     .b_text = pf_diff_text(d, b) };
}

static void word_check(struct check *c, const char *what, int result,
		       const char *a, const char *b, const char *obstacle)
{
	*c = (struct check){ .what = what,
			     .result = result,
			     .obstacle = obstacle,
			     .a_text = a,
			     .b_text = b };
}

static void find_checks(const struct pf_diff *d, struct check c[CHECKS])
{
	int ops = !d->a.op_count || !d->b.op_count ? UNKNOWN
		  : pf_diff_same_ops(d)            ? EQUAL
						   : DIFFERENT;
	int shapes = compare_shapes(d);

	text_check(d, &c[0], "GPU", d->a.device_name, d->b.device_name,
		   "the GPUs are different models");
	number_check(&c[1], "GPUs at work", d->a.device_count,
		     d->b.device_count, "another number of GPUs is at work");
	number_check(&c[2], "world size", d->a.world_size, d->b.world_size,
		     "the world sizes are different");
	number_check(&c[3], "traces", d->a.trace_count, d->b.trace_count, NULL);
	word_check(&c[4], "profiler steps",
		   d->a.has_steps == d->b.has_steps ? EQUAL : DIFFERENT,
		   d->a.has_steps ? "yes" : "no", d->b.has_steps ? "yes" : "no",
		   "only one side has profiler steps");
	number_check(&c[5], "full steps", d->a.steps, d->b.steps, NULL);
	text_check(d, &c[6], "versions", d->a.versions, d->b.versions, NULL);
	text_check(d, &c[7], "profiler options", d->a.options, d->b.options,
		   NULL);
	word_check(&c[8], "operators per step", ops, "", "", NULL);
	word_check(&c[9], "shapes", shapes, "", "",
		   shapes == DIFFERENT && has_other_shapes(d)
			   ? "the shapes are different"
			   : NULL);
}

void pf_diff_add_comparability(struct pf_diff *d, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "check", "Comparable in", PF_TEXT },
		{ "result", "Result", PF_TEXT },
		{ "a", "A", PF_TEXT },
		{ "b", "B", PF_TEXT },
	};
	struct pf_table *t =
		pf_doc_table(doc, "comparability",
			     "What both sides have in common", COLS(cols));
	struct check checks[CHECKS];

	find_checks(d, checks);
	for (size_t i = 0; i < CHECKS; i++) {
		const struct check *c = &checks[i];
		const char *a = c->a_text ? c->a_text : c->a;
		const char *b = c->b_text ? c->b_text : c->b;

		pf_table_string(t, c->what);
		pf_table_string(t, results[c->result]);
		pf_table_string(t, *a ? a : NULL);
		pf_table_string(t, *b ? b : NULL);
	}
}

/* ---- the verdict ---- */

static int64_t largest_spread(const struct pf_side *s)
{
	int64_t most = 0;

	for (size_t i = 0; i < s->capture_count; i++) {
		int64_t spread = pf_capture_spread(s->captures[i]);

		if (spread > most)
			most = spread;
	}
	return most;
}

static int64_t *medians_take(const struct pf_side *s)
{
	int64_t *list = pf_calloc(s->capture_count + 1, sizeof(*list));

	for (size_t i = 0; i < s->capture_count; i++)
		list[i] = pf_capture_percentile(s->captures[i], 50);
	return list;
}

static bool can_test(const struct pf_diff *d)
{
	size_t a = d->a.capture_count, b = d->b.capture_count;

	return a >= PF_RANK_MIN && b >= PF_RANK_MIN && a <= PF_RANK_MAX &&
	       b <= PF_RANK_MAX;
}

/* Is the change more than noise may be? */
static bool is_change(struct pf_diff *d, struct pf_doc *doc)
{
	int64_t delta = d->b_ns - d->a_ns, size = delta < 0 ? -delta : delta;
	int64_t a_spread = largest_spread(&d->a);
	int64_t b_spread = largest_spread(&d->b);
	int64_t spread = a_spread > b_spread ? a_spread : b_spread;
	struct pf_rank rank;

	if (can_test(d)) {
		int64_t *a = medians_take(&d->a), *b = medians_take(&d->b);

		pf_rank_compare(a, d->a.capture_count, b, d->b.capture_count,
				&rank);
		free(a);
		free(b);
		pf_doc_real(doc, "p", "p (Mann-Whitney, exact)", PF_REAL,
			    rank.p);
		pf_doc_int(doc, "shift_ns", "Shift of medians", PF_NS,
			   rank.shift);
		pf_doc_int(doc, "shift_low_ns", "Shift, at least", PF_NS,
			   rank.shift_low);
		pf_doc_int(doc, "shift_high_ns", "Shift, at most", PF_NS,
			   rank.shift_high);
		pf_doc_real(doc, "confidence", "Confidence", PF_RATIO,
			    rank.confidence);
		d->noise_ns = -1;
		return rank.p < SIGNIFICANT && (rank.shift < 0) == (delta < 0);
	}
	d->noise_ns = d->a_ns / 100 * NOISE_PERCENT;
	if (2 * spread > d->noise_ns)
		d->noise_ns = 2 * spread;
	pf_doc_int(doc, "noise_ns", "Noise may be", PF_NS, d->noise_ns);
	return size > d->noise_ns;
}

static bool is_all_same(const struct pf_diff *d)
{
	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_pair *p = &d->pairs.items[i];

		if (p->match != PF_MATCH_EXACT ||
		    pf_mean_compare(p->a_ns, d->a.steps, p->b_ns, d->b.steps))
			return false;
	}
	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		if (pf_mean_compare(d->a.class_ns[i], d->a.steps,
				    d->b.class_ns[i], d->b.steps))
			return false;
	for (size_t i = 0; i < PF_COUNT_COUNTS; i++)
		if (pf_mean_compare(d->a.count[i], d->a.steps, d->b.count[i],
				    d->b.steps))
			return false;
	return pf_diff_same_ops(d);
}

/* The class that changed most in the direction of the whole. */
static size_t main_class(const struct pf_diff *d)
{
	int64_t sign = d->b_ns < d->a_ns ? -1 : 1, most = 0;
	size_t out = PF_STEP_CLASSES;

	for (size_t i = 0; i < PF_STEP_CLASSES; i++) {
		int64_t part = (d->b_class_ns[i] - d->a_class_ns[i]) * sign;

		if (part > most) {
			most = part;
			out = i;
		}
	}
	return out;
}

/* Of the classes without GPU work: the cause of idleness; or NULL. */
static const char *main_cause(const struct pf_diff *d)
{
	int64_t sign = d->b_ns < d->a_ns ? -1 : 1, most = 0;
	const char *out = NULL;

	for (size_t i = 0; i < PF_CAUSE_COUNT; i++) {
		int64_t part = (d->b_cause_ns[i] - d->a_cause_ns[i]) * sign;

		if (part > most) {
			most = part;
			out = pf_cause_name((enum pf_cause)i);
		}
	}
	return out;
}

static char *culprit_take(const struct pf_diff *d, size_t cls)
{
	const char *cause;

	if (cls == PF_STEP_KERNEL) {
		int64_t sign = d->b_ns < d->a_ns ? -1 : 1;

		for (size_t i = 0; i < d->pairs.count; i++)
			if (pf_diff_delta(&d->rows[i]) * sign > 0)
				return pf_diff_key_take(d, d->rows[i].pair);
	}
	if (cls < PF_STEP_RUNTIME || cls >= PF_STEP_CLASSES)
		return NULL;
	cause = main_cause(d);
	return cause ? pf_strdup(cause) : NULL;
}

static const char *const verdicts[] = {
	[PF_SAME] = "no change",    [PF_NO_CLAIM] = "no clear change",
	[PF_FASTER] = "faster",     [PF_SLOWER] = "slower",
	[PF_WITHHELD] = "withheld",
};

static int64_t size_of(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

/* "36.524 ms (20.57 %)", of A. */
static void add_size(struct pf_buf *out, const struct pf_diff *d)
{
	char ns[PF_NUM_MAX], percent[PF_NUM_MAX];
	int64_t size = size_of(d->b_ns - d->a_ns);

	pf_buf_adds(out, pf_num_show_ns(ns, size));
	if (d->a_ns)
		pf_buf_addf(out, " (%s)",
			    pf_num_show_ratio(percent,
					      (double)size / (double)d->a_ns));
}

/* "; most of it is data, -58.076 ms (data loading)" */
static void add_most(struct pf_buf *out, const struct pf_diff *d)
{
	size_t cls = main_class(d);
	char part[PF_NUM_MAX], *culprit;

	if (cls == PF_STEP_CLASSES)
		return;
	culprit = culprit_take(d, cls);
	pf_buf_addf(
		out, "; most of it is %s, %s",
		pf_step_class_name((enum pf_step_class)cls),
		pf_num_show_ns(part, d->b_class_ns[cls] - d->a_class_ns[cls]));
	if (culprit)
		pf_buf_addf(out, " (%s)", culprit);
	free(culprit);
}

/* More than a quiet program's noise, though steps may vary by more. */
static bool is_large(const struct pf_diff *d)
{
	return size_of(d->b_ns - d->a_ns) > d->a_ns / 100 * NOISE_PERCENT;
}

/* "; the difference is 36.524 ms (20.57 %) less; most of it is data, ..." */
static void add_unclear(struct pf_buf *out, const struct pf_diff *d)
{
	pf_buf_adds(out, "; the difference is ");
	add_size(out, d);
	pf_buf_adds(out, d->b_ns < d->a_ns ? " less" : " more");
	add_most(out, d);
}

/* Nothing here needs escaping in Markdown but names. */
static void add_finding(const struct pf_diff *d, struct pf_doc *doc)
{
	char a[PF_NUM_MAX], b[PF_NUM_MAX], noise[PF_NUM_MAX];
	const char *what =
		d->a.has_steps && d->b.has_steps ? "a step" : "the capture";
	struct pf_buf text = { 0 };

	switch (d->verdict) {
	case PF_WITHHELD:
		pf_buf_addf(&text,
			    "Times are not compared, as %s; what "
			    "changed in structure is below; %s",
			    d->obstacle, what);
		break;
	case PF_SAME:
		pf_buf_addf(&text, "No change, %s", what);
		break;
	case PF_NO_CLAIM:
		pf_buf_addf(&text, "No clear change, %s", what);
		break;
	default:
		pf_buf_adds(&text, d->verdict == PF_FASTER ? "Faster by "
							   : "Slower by ");
		add_size(&text, d);
		pf_buf_addf(&text, ", %s", what);
	}
	pf_buf_addf(&text, " takes %s before and %s after",
		    pf_num_show_ns(a, d->a_ns), pf_num_show_ns(b, d->b_ns));
	if (d->verdict == PF_NO_CLAIM && d->noise_ns >= 0)
		pf_buf_addf(&text, "; noise may be %s",
			    pf_num_show_ns(noise, d->noise_ns));
	if (d->verdict == PF_FASTER || d->verdict == PF_SLOWER)
		add_most(&text, d);
	else if (d->verdict == PF_NO_CLAIM && is_large(d))
		add_unclear(&text, d);
	pf_doc_finding(doc, "%s", text.data);
	pf_buf_release(&text);
}

static void add_scalars(const struct pf_diff *d, struct pf_doc *doc)
{
	pf_doc_int(doc, "step_a_ns", "Step of A", PF_NS, d->a_ns);
	pf_doc_int(doc, "step_b_ns", "Step of B", PF_NS, d->b_ns);
	pf_doc_int(doc, "delta_ns", "Change", PF_NS, d->b_ns - d->a_ns);
	if (d->a_ns)
		pf_doc_real(doc, "delta_share", "Change of A", PF_RATIO,
			    (double)(d->b_ns - d->a_ns) / (double)d->a_ns);
	pf_doc_string(doc, "comparable", "Comparable",
		      d->is_comparable ? "yes" : "no");
	pf_doc_string(doc, "verdict", "Verdict", verdicts[d->verdict]);
	pf_doc_int(doc, "steps_a", "Steps of A", PF_COUNT, d->a.steps);
	pf_doc_int(doc, "steps_b", "Steps of B", PF_COUNT, d->b.steps);
}

void pf_diff_judge(struct pf_diff *d, struct pf_doc *doc)
{
	struct check checks[CHECKS];
	struct pf_doc rank = { 0 };
	bool changed;

	find_checks(d, checks);
	for (size_t i = 0; i < CHECKS && !d->obstacle; i++)
		if (checks[i].result == DIFFERENT)
			d->obstacle = checks[i].obstacle;
	d->is_comparable = !d->obstacle;
	changed = is_change(d, &rank);
	pf_doc_release(&rank);
	if (!d->is_comparable && !d->args->force)
		d->verdict = PF_WITHHELD;
	else if (is_all_same(d))
		d->verdict = PF_SAME;
	else if (!changed)
		d->verdict = PF_NO_CLAIM;
	else
		d->verdict = d->b_ns < d->a_ns ? PF_FASTER : PF_SLOWER;
	add_finding(d, doc);
	add_scalars(d, doc);
	is_change(d, doc);
}

/* ---- notes ---- */

static void note_limit(const struct pf_diff *d, struct pf_doc *doc)
{
	int64_t kernel = pf_mean(d->b.count[PF_COUNT_WORK_NS], d->b.steps) -
			 pf_mean(d->a.count[PF_COUNT_WORK_NS], d->a.steps);
	int64_t step = d->b_ns - d->a_ns;
	int64_t kernel_size = kernel < 0 ? -kernel : kernel;
	int64_t step_size = step < 0 ? -step : step;
	char k[PF_NUM_MAX], s[PF_NUM_MAX];

	if (d->verdict == PF_WITHHELD || kernel_size < d->a_ns / 50 ||
	    step_size > kernel_size / NOT_THE_LIMIT)
		return;
	pf_doc_note(doc,
		    "%s of kernel time %s per step, but the step changes by "
		    "%s: the GPU is not the limit",
		    pf_num_show_ns(k, kernel_size),
		    kernel < 0 ? "saved" : "added", pf_num_show_ns(s, step));
}

static void note_captures(const struct pf_diff *d, struct pf_doc *doc)
{
	size_t a = d->a.capture_count, b = d->b.capture_count;

	if (d->verdict == PF_WITHHELD || d->verdict == PF_SAME || can_test(d))
		return;
	if (a == 1 && b == 1)
		pf_doc_note(doc, "single capture per side; another run of one "
				 "program can differ by 10 %% and more; give "
				 "several as A1 A2 -- B1 B2");
	else
		pf_doc_note(doc,
			    "~ %zu and %zu captures: a test takes %d to %d "
			    "per side",
			    a, b, PF_RANK_MIN, PF_RANK_MAX);
}

static void note_left_out(const struct pf_side *s, const char *name,
			  struct pf_doc *doc)
{
	if (s->outside_count)
		pf_doc_note(doc,
			    "%s, %lld of %lld GPU events are in no full step "
			    "and left out of counts and rows",
			    name, (long long)s->outside_count,
			    (long long)s->gpu_events);
	if (s->before_count)
		pf_doc_note(doc,
			    "%s, %lld GPU events were launched before the "
			    "capture and count for the step they ran in",
			    name, (long long)s->before_count);
	if (s->without_launch)
		pf_doc_note(doc,
			    "%s, %lld GPU events have no launch call and "
			    "count for the step they ran in",
			    name, (long long)s->without_launch);
}

void pf_diff_add_notes(struct pf_diff *d, struct pf_doc *doc)
{
	note_limit(d, doc);
	note_captures(d, doc);
	note_left_out(&d->a, "A", doc);
	note_left_out(&d->b, "B", doc);
	if (!d->a.has_shapes && !d->b.has_shapes && d->a.op_count)
		pf_doc_note(doc,
			    "shapes are not recorded (record_shapes=True): "
			    "whether both did the same work is not known");
}
