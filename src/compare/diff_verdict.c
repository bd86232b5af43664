/* SPDX-License-Identifier: MIT */
/*
 * What is judged are medians and shifts of steps (diff_judge.h); tables show
 * means, which add up.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "compare/diff_impl.h"
#include "events/gpu.h"

#define MOST_OF_CHANGE 0.8
#define SHAPES_PERCENT 10 /* of GPU time with other shapes: other work */

static enum pf_diff_result compare_text(const struct pf_diff_run *d, uint32_t a,
					uint32_t b)
{
	if (!*pf_diff_text(d, a) || !*pf_diff_text(d, b))
		return PF_DIFF_UNKNOWN;
	return a == b ? PF_DIFF_EQUAL : PF_DIFF_DIFFERENT;
}

static enum pf_diff_result compare_number(int64_t a, int64_t b)
{
	if (a < 0 || b < 0)
		return PF_DIFF_UNKNOWN;
	return a == b ? PF_DIFF_EQUAL : PF_DIFF_DIFFERENT;
}

/*
 * Is more than a tenth of GPU time spent on other shapes?  Where no GPU works,
 * of the operators' own time on the CPU.
 */
static bool has_other_shapes(const struct pf_diff_run *d)
{
	int64_t other = 0, all = 0;

	if (!d->pairs.count)
		return d->op_shape_ns > d->op_ns / 100 * SHAPES_PERCENT;
	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_pair *p = &d->pairs.items[i];

		all += p->a.ns + p->b.ns;
		if (p->match == PF_MATCH_SHAPE)
			other += p->a.ns + p->b.ns;
	}
	return other > all / 100 * SHAPES_PERCENT;
}

static enum pf_diff_result compare_shapes(const struct pf_diff_run *d)
{
	if (!d->a.has_shapes || !d->b.has_shapes)
		return PF_DIFF_UNKNOWN;
	for (size_t i = 0; i < d->pairs.count; i++)
		if (d->pairs.items[i].match == PF_MATCH_SHAPE)
			return PF_DIFF_DIFFERENT;
	if (!d->pairs.count && d->op_shape_ns)
		return PF_DIFF_DIFFERENT;
	return PF_DIFF_EQUAL;
}

static void word_check(struct pf_diff_run *d, enum pf_diff_what n,
		       const char *what, enum pf_diff_result is, const char *a,
		       const char *b, const char *obstacle)
{
	d->out->checks[n] = (struct pf_diff_check){
		.what = what, .a = a, .b = b, .is = is, .obstacle = obstacle
	};
}

/* NULL: it is not known. */
static const char *number_text(struct pf_diff_run *d, int64_t n)
{
	char text[PF_NUM_MAX];

	return n < 0 ? NULL : pf_diff_keep_text(d, pf_num_show_count(text, n));
}

static void number_check(struct pf_diff_run *d, enum pf_diff_what n,
			 const char *what, int64_t a, int64_t b,
			 const char *obstacle)
{
	word_check(d, n, what, compare_number(a, b), number_text(d, a),
		   number_text(d, b), obstacle);
}

static void text_check(struct pf_diff_run *d, enum pf_diff_what n,
		       const char *what, uint32_t a, uint32_t b,
		       const char *obstacle)
{
	word_check(d, n, what, compare_text(d, a, b), pf_diff_keep_known(d, a),
		   pf_diff_keep_known(d, b), obstacle);
}

static void check_gpus(struct pf_diff_run *d)
{
	text_check(d, PF_CHECK_GPU, "GPU", d->a.device_name, d->b.device_name,
		   "the GPUs are different models");
	text_check(d, PF_CHECK_HARDWARE, "compute, SMs, memory", d->a.hardware,
		   d->b.hardware, "the GPUs are different models");
	text_check(d, PF_CHECK_PLATFORM, "platform", d->a.platform,
		   d->b.platform, "the platforms are different");
	number_check(d, PF_CHECK_DEVICES, "GPUs at work", d->a.device_count,
		     d->b.device_count, "another number of GPUs is at work");
	if (pf_diff_is_one_sided(d->out)) {
		struct pf_diff_check *c = &d->out->checks[PF_CHECK_DEVICES];

		c->obstacle = d->out->a_has_gpu ? "only A has GPU work"
						: "only B has GPU work";
		*(d->out->a_has_gpu ? &c->b : &c->a) = NULL;
	}
	number_check(d, PF_CHECK_WORLD, "world size", d->a.world_size,
		     d->b.world_size, "the world sizes are different");
}

static void check_work(struct pf_diff_run *d)
{
	enum pf_diff_result ops = !d->a.ops.count || !d->b.ops.count
					  ? PF_DIFF_UNKNOWN
				  : d->has_same_ops ? PF_DIFF_EQUAL
						    : PF_DIFF_DIFFERENT;
	enum pf_diff_result shapes = compare_shapes(d);

	word_check(d, PF_CHECK_OPS,
		   pf_diff_is_of_captures(d->out) ? "operators"
						  : "operators per step",
		   ops, NULL, NULL, NULL);
	word_check(d, PF_CHECK_SHAPES, "shapes", shapes, NULL, NULL,
		   shapes == PF_DIFF_DIFFERENT && has_other_shapes(d)
			   ? "the shapes are different"
			   : NULL);
}

static void check_whole(struct pf_diff_run *d)
{
	static const char *const words[] = { "yes", "cut off or damaged" };
	bool a = d->a.lost.cut_count, b = d->b.lost.cut_count;

	word_check(d, PF_CHECK_WHOLE, "whole files",
		   a == b ? PF_DIFF_EQUAL : PF_DIFF_DIFFERENT, words[a],
		   words[b], NULL);
}

void pf_diff_find_checks(struct pf_diff_run *d)
{
	static const char *const results[] = {
		[PF_DIFF_EQUAL] = "equal",
		[PF_DIFF_DIFFERENT] = "different",
		[PF_DIFF_UNKNOWN] = "unknown",
	};
	struct pf_diff *out = d->out;

	check_gpus(d);
	number_check(d, PF_CHECK_TRACES, "traces", d->a.trace_count,
		     d->b.trace_count, NULL);
	check_whole(d);
	word_check(d, PF_CHECK_HAS_STEPS, "profiler steps",
		   d->a.has_steps == d->b.has_steps ? PF_DIFF_EQUAL
						    : PF_DIFF_DIFFERENT,
		   d->a.has_steps ? "yes" : "no", d->b.has_steps ? "yes" : "no",
		   "only one side has profiler steps");
	number_check(d, PF_CHECK_STEPS, "full steps",
		     d->a.has_steps ? d->a.steps : -1,
		     d->b.has_steps ? d->b.steps : -1, NULL);
	text_check(d, PF_CHECK_VERSIONS, "versions", d->a.versions,
		   d->b.versions, NULL);
	text_check(d, PF_CHECK_OPTIONS, "profiler options", d->a.options,
		   d->b.options, NULL);
	check_work(d);
	for (size_t i = 0; i < PF_CHECKS; i++) {
		struct pf_diff_check *c = &out->checks[i];

		c->result = results[c->is];
		if (c->is == PF_DIFF_DIFFERENT && !out->obstacle)
			out->obstacle = c->obstacle;
	}
	if (d->has_cut)
		out->obstacle = !d->b.lost.cut_count ? "A is cut off or damaged"
				: !d->a.lost.cut_count
					? "B is cut off or damaged"
					: "both are cut off or damaged";
	d->is_other = out->obstacle;
	if (!out->obstacle && !d->a.has_steps)
		out->obstacle = "captures without profiler steps have no step "
				"to compare, and their length says nothing";
	out->is_comparable = !out->obstacle;
}

/* What each call of the same GPU work takes on both sides. */

#define UNIFORM_LEAST  0.02 /* a smaller change may be noise */
#define UNIFORM_SPREAD 0.5  /* of the change: what kernels may differ by */
#define UNIFORM_COVERS 0.9  /* of the time of kernels on both sides */
#define UNIFORM_COUNT  5    /* kernels at least, and none of most time */

/*
 * What the work of A, as often as A does it, would take at the mean duration
 * that each has in B: of pairs of the same kernel, with other shapes too.
 * Collectives wait for other ranks: how long they take says nothing of work.
 */
static void find_share(struct pf_diff_run *d)
{
	double a = 0, b = 0;

	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_pair *p = &d->pairs.items[i];

		if (p->match > PF_MATCH_SHAPE || !p->a.count || !p->b.count ||
		    pf_diff_work_key(d, p)->class == PF_GPU_COMM)
			continue;
		a += (double)p->a.ns;
		b += (double)p->b.ns * (double)p->a.count / (double)p->b.count;
	}
	d->out->has_each = a > 0;
	d->out->each_share = a > 0 ? b / a - 1 : 0;
}

/* ---- all by one factor? ---- */

/* A kernel that both launch as often per step. */
struct same {
	double change, a_ns; /* of each; of all of them */
};

struct kernels {
	struct same *items;
	size_t count;
	double a_ns, b_ns;           /* of all kernels, per step */
	double same_a_ns, same_b_ns; /* of the same */
	double most_ns;              /* of one of them */
};

static bool is_kernel(const struct pf_diff_run *d, const struct pf_pair *p)
{
	return pf_diff_work_key(d, p)->class == PF_GPU_COMPUTE;
}

static void add_pair(struct pf_diff_run *d, const struct pf_pair *p,
		     struct kernels *k)
{
	double a_ns = (double)p->a.ns / (double)d->a.steps;
	double b_ns = (double)p->b.ns / (double)d->b.steps;

	k->a_ns += a_ns;
	k->b_ns += b_ns;
	if (p->match > PF_MATCH_STREAM || p->a.ns <= 0 || p->b.ns <= 0 ||
	    pf_mean_compare(p->a.count, d->a.steps, p->b.count, d->b.steps))
		return;
	pf_alike_add(&d->gpu_alike, a_ns, b_ns);
	k->same_a_ns += a_ns;
	k->same_b_ns += b_ns;
	if (a_ns > k->most_ns)
		k->most_ns = a_ns;
	k->items[k->count++] = (struct same){ b_ns / a_ns - 1, a_ns };
}

PF_ORDER(by_change, struct same, PF_UP(change) PF_UP(a_ns))

/* The change below which kernels of such a part of the time are. */
static double quantile(const struct kernels *k, double part)
{
	double ns = 0;

	for (size_t i = 0; i < k->count; i++) {
		ns += k->items[i].a_ns;
		if (ns >= part * k->same_a_ns)
			return k->items[i].change;
	}
	return k->items[k->count - 1].change;
}

/* Another model of GPU explains it better. */
static bool has_other_gpu(const struct pf_diff *out)
{
	return out->checks[PF_CHECK_GPU].is == PF_DIFF_DIFFERENT ||
	       out->checks[PF_CHECK_HARDWARE].is == PF_DIFF_DIFFERENT ||
	       out->checks[PF_CHECK_PLATFORM].is == PF_DIFF_DIFFERENT;
}

static void judge_uniform(struct kernels *k, struct pf_diff *out)
{
	double size;

	if (k->count < UNIFORM_COUNT || k->most_ns > k->same_a_ns / 2 ||
	    k->same_a_ns < UNIFORM_COVERS * k->a_ns ||
	    k->same_b_ns < UNIFORM_COVERS * k->b_ns || has_other_gpu(out))
		return;
	pf_sort(k->items, k->count, sizeof(*k->items), by_change);
	out->kernels_share = k->same_b_ns / k->same_a_ns - 1;
	out->kernels_low = quantile(k, 0.05);
	out->kernels_high = quantile(k, 0.95);
	size = fabs(out->kernels_share);
	out->is_uniform =
		size >= UNIFORM_LEAST &&
		out->kernels_high - out->kernels_low <= UNIFORM_SPREAD * size;
}

/* Sets each_share, and whether all kernels changed alike. */
static void diff_find_each(struct pf_diff_run *d)
{
	struct kernels k = { .items = pf_calloc(d->pairs.count + 1,
						sizeof(*k.items)) };

	find_share(d);
	for (size_t i = 0; i < d->pairs.count; i++)
		if (is_kernel(d, &d->pairs.items[i]))
			add_pair(d, &d->pairs.items[i], &k);
	judge_uniform(&k, d->out);
	free(k.items);
}

#define NOT_THE_LIMIT  5    /* kernels change so many times more than steps */
#define SOME_OF_A_STEP 0.01 /* a class that changes by less is not named */

static bool is_all_same(const struct pf_diff_run *d)
{
	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_pair *p = &d->pairs.items[i];

		if (p->match != PF_MATCH_EXACT ||
		    pf_mean_compare(p->a.ns, d->a.steps, p->b.ns, d->b.steps))
			return false;
	}
	for (size_t i = PF_FIGURE_COPIES; i < PF_FIGURES; i++)
		if (pf_mean_compare(d->a.of[i], d->a.steps, d->b.of[i],
				    d->b.steps))
			return false;
	return d->has_same_ops;
}

/* ---- judging ---- */

/*
 * Steps of which a few were disturbed may overlap although a part of them,
 * say data loading, is far apart: then the change is as likely.
 */
static bool is_likely_by_class(const struct pf_diff_run *d)
{
	int64_t shift = d->out->total.rank.shift;
	struct pf_judge whole = d->judge;

	/* what both do alike is held against the class itself */
	whole.alike = (struct pf_alike){ 0 };
	if (!pf_judge_is_large(&whole, &d->out->total) ||
	    d->out->total.grade != PF_GRADE_NONE || d->out->total.is_tested)
		return false;
	for (size_t i = 0; i < PF_STEP_CLASSES; i++) {
		const struct pf_judged *c = &d->classes[i];

		if (c->is_wide && c->grade == PF_GRADE_LIKELY &&
		    (c->rank.shift < 0) == (shift < 0))
			return true;
	}
	return false;
}

/*
 * Of what both do alike, where it holds ALIKE_HOLDS of the longer step: as a
 * ratio of B to A, without what changed most.
 */
#define ALIKE_HOLDS 0.05
#define ALIKE_COUNT 5

static struct pf_alike alike_of(const struct pf_diff_run *d,
				const struct pf_alike_sums *s)
{
	double a_ns = s->a_ns - s->most_a_ns, b_ns = s->b_ns - s->most_b_ns;
	double step_ns = (double)(d->out->a_ns > d->out->b_ns ? d->out->a_ns
							      : d->out->b_ns);
	struct pf_alike out = { 0 };
	double share;

	if (has_other_gpu(d->out) || s->count < ALIKE_COUNT || a_ns <= 0 ||
	    b_ns <= 0 || (a_ns > b_ns ? a_ns : b_ns) < ALIKE_HOLDS * step_ns)
		return out;
	share = b_ns / a_ns - 1;
	*(share < 0 ? &out.low : &out.high) = share;
	return out;
}

static struct pf_alike either(struct pf_alike x, struct pf_alike y)
{
	return (struct pf_alike){ x.low < y.low ? x.low : y.low,
				  x.high > y.high ? x.high : y.high };
}

/* What it explains of a step, of which a GPU may be all that matters. */
#define GPU_DECIDES 0.9

static void judge_all(struct pf_diff_run *d)
{
	const struct pf_alike host = alike_of(d, &d->host_alike);
	const struct pf_alike gpu = alike_of(d, &d->gpu_alike);
	bool is_of_gpu = true;

	for (int s = 0; s < 2; s++) {
		const struct pf_capture *side = s ? &d->b : &d->a;

		is_of_gpu &= (double)side->of[PF_FIGURE_BUSY] >=
			     GPU_DECIDES * (double)side->of[PF_FIGURE_TIME];
	}
	d->judge = (struct pf_judge){
		.a = &d->a,
		.b = &d->b,
		.warm_up = pf_judge_warm_up(&d->args->window, &d->a, &d->b),
		.alike = is_of_gpu ? gpu : either(host, gpu),
	};
	pf_judge_figure(&d->judge, PF_FIGURE_TIME, &d->out->total);
	d->judge.step_ns = d->out->total.a_ns > d->out->total.b_ns
				   ? d->out->total.a_ns
				   : d->out->total.b_ns;
	for (size_t i = 0; i < PF_STEP_CLASSES; i++) {
		struct pf_judge judge = d->judge;

		judge.alike = i < PF_STEP_RUNTIME ? gpu : host;
		pf_judge_figure(&judge, PF_FIGURE_CLASS + i, &d->classes[i]);
	}
	d->is_by_class = is_likely_by_class(d);
	if (d->is_by_class)
		d->out->total.grade = PF_GRADE_LIKELY;
}

static enum pf_verdict verdict_of(const struct pf_diff_run *d)
{
	const struct pf_rank *rank = &d->out->total.rank;
	bool is_faster = rank->shift < 0;

	/* a capture of any length is the same as itself */
	if (is_all_same(d) && (!d->is_other || d->args->force))
		return PF_SAME;
	if (!d->out->is_comparable && !d->args->force)
		return PF_WITHHELD;
	switch (d->out->total.grade) {
	case PF_GRADE_UNKNOWN:
		return PF_UNKNOWN;
	case PF_GRADE_AS_CAPTURES:
		return PF_AS_CAPTURES;
	case PF_GRADE_LIKELY:
		if (d->is_by_class && rank->shift_low <= 0 &&
		    rank->shift_high >= 0)
			return is_faster ? PF_PARTLY_FASTER : PF_PARTLY_SLOWER;
		return is_faster ? PF_LIKELY_FASTER : PF_LIKELY_SLOWER;
	case PF_GRADE_TESTED:
		return is_faster ? PF_FASTER : PF_SLOWER;
	default:
		return PF_NO_CLAIM;
	}
}

static const struct {
	const char *word, *says;
} verdicts[] = {
	[PF_SAME] = { "no change", "No change" },
	[PF_UNKNOWN] = { "unknown", "Not known whether it is a change" },
	[PF_NO_CLAIM] = { "no clear change", "No clear change" },
	[PF_AS_CAPTURES] = { "differs as captures of one program do",
			     "Differs as captures of one program do" },
	[PF_LIKELY_FASTER] = { "likely faster", "Likely faster" },
	[PF_LIKELY_SLOWER] = { "likely slower", "Likely slower" },
	[PF_PARTLY_FASTER] = { "likely faster in part",
			       "Likely faster in part" },
	[PF_PARTLY_SLOWER] = { "likely slower in part",
			       "Likely slower in part" },
	[PF_FASTER] = { "faster", "Faster" },
	[PF_SLOWER] = { "slower", "Slower" },
	[PF_WITHHELD] = { "withheld", "" },
};

/* ---- classes ---- */

/* Clear are changes that are more than noise of steps, and not tiny. */
static bool is_clear(const struct pf_diff_run *d, const struct pf_judged *c)
{
	return c->grade >= PF_GRADE_AS_CAPTURES &&
	       (double)llabs(c->rank.shift) >=
		       SOME_OF_A_STEP * (double)d->judge.step_ns;
}

/* "not clear", "clear, 0.3 % of step"; NULL: there is nothing to say. */
static char *diff_class_take(const struct pf_diff_run *d,
			     const struct pf_judged *c)
{
	double share = pf_num_share(llabs(c->rank.shift), d->judge.step_ns);
	struct pf_buf out = { 0 };

	if (d->out->verdict == PF_WITHHELD || (!c->rank.shift && !c->is_wide) ||
	    c->grade == PF_GRADE_UNKNOWN)
		return NULL;
	if (c->grade == PF_GRADE_NONE) {
		pf_buf_adds(&out, "not clear");
	} else if (!is_clear(d, c)) {
		pf_buf_addf(&out,
			    share < 0.001 ? "clear, <0.1 %% of step"
					  : "clear, %.1f %% of step",
			    100 * share);
	} else if (c->grade == PF_GRADE_AS_CAPTURES) {
		pf_buf_adds(&out, "as captures differ");
	} else if (c->is_tested) {
		pf_buf_adds(&out, "significant");
	} else if (c->is_above || c->is_below) {
		pf_buf_addf(&out, "clear, B %s A",
			    c->is_above ? "above" : "below");
	} else {
		pf_buf_adds(&out, "clear");
	}
	return out.data;
}

/* The clear class that changed most; PF_STEP_CLASSES: there is none. */
static size_t main_class(const struct pf_diff_run *d)
{
	size_t out = PF_STEP_CLASSES;
	int64_t most = 0;

	for (size_t i = 0; i < PF_STEP_CLASSES; i++) {
		int64_t size = llabs(d->classes[i].rank.shift);

		if (is_clear(d, &d->classes[i]) && size > most) {
			most = size;
			out = i;
		}
	}
	return out;
}

/* Causes whose idle time the host spends in a call of the runtime. */
#define CAUSES_IN_CALLS                                                        \
	(1u << PF_CAUSE_SYNC | 1u << PF_CAUSE_COPY |                           \
	 1u << PF_CAUSE_ALLOCATOR | 1u << PF_CAUSE_MODULE |                    \
	 1u << PF_CAUSE_RUNTIME | 1u << PF_CAUSE_LAUNCH)

/* Of a class without GPU work: the cause of idleness, or PF_CAUSE_COUNT. */
static enum pf_cause main_cause(const struct pf_diff_run *d, size_t cls,
				int64_t sign)
{
	uint32_t of = cls == PF_STEP_RUNTIME ? CAUSES_IN_CALLS : UINT32_MAX;
	enum pf_cause out = PF_CAUSE_COUNT;
	int64_t most = 0;

	for (size_t i = 0; i < PF_CAUSE_COUNT; i++) {
		int64_t part =
			(d->b.cause_mean_ns[i] - d->a.cause_mean_ns[i]) * sign;

		if (part > most && of & 1u << i) {
			most = part;
			out = (enum pf_cause)i;
		}
	}
	return out;
}

/* The Python function that most of the change by a cause is in; or "". */
static const char *main_frame(const struct pf_diff_run *d, enum pf_cause cause,
			      int64_t sign)
{
	const struct pf_capture *const sides[] = { &d->a, &d->b };
	size_t count = d->texts.count + (size_t)1, best = 0;
	PF_OWN double *changes = pf_calloc(count, sizeof(*changes));
	double all = 0;
	bool is_most;

	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s]->idle.count; i++) {
			const struct pf_wait_row *r = PF_KEYED_ROW(
				&sides[s]->idle, struct pf_wait_row, i);

			if (r->key.cause != (uint32_t)cause)
				continue;
			changes[r->key.frame] +=
				(double)r->sum.ns *
				pf_ratio((double)(s ? sign : -sign),
					 sides[s]->steps);
		}
	for (size_t i = 0; i < count; i++) {
		all += changes[i] > 0 ? changes[i] : 0;
		if (changes[i] > changes[best])
			best = i;
	}
	is_most = all > 0 && changes[best] >= MOST_OF_CHANGE * all;
	return is_most ? pf_diff_text(d, (uint32_t)best) : "";
}

/* "operators in train.py:12 step", or NULL. */
static char *idle_take(const struct pf_diff_run *d, size_t cls, int64_t sign)
{
	enum pf_cause cause = main_cause(d, cls, sign);
	bool is_said = cls == PF_STEP_DATA && cause == PF_CAUSE_DATA;
	struct pf_buf out = { 0 };
	const char *frame;

	if (cause == PF_CAUSE_COUNT)
		return NULL;
	frame = main_frame(d, cause, sign);
	if (!is_said)
		pf_buf_adds(&out, pf_cause_name(cause));
	if (*frame)
		pf_buf_addf(&out, "%s%s", is_said ? "" : " in ", frame);
	return out.data;
}

/* What a name of the host, over all of its rows, is in an average step. */
struct named {
	const struct pf_op_key *key; /* one of them; NULL: there is none */
	double self, whole;          /* the change, up as the class's */
	double most;                 /* of A and B, what it takes as a whole */
};

static struct named *names_take(const struct pf_diff_run *d, int64_t sign)
{
	const struct pf_capture *const sides[] = { &d->a, &d->b };
	size_t count = d->texts.count + (size_t)1;
	struct named *out = pf_calloc(count, sizeof(*out));
	PF_OWN double *b = pf_calloc(count, sizeof(*b));

	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s]->ops.count; i++) {
			const struct pf_op_row *r = pf_op_at(sides[s], i);
			struct named *n = &out[r->key.name];
			double per = pf_ratio((double)(s ? sign : -sign),
					      sides[s]->steps);

			if (!n->key)
				n->key = &r->key;
			n->self += (double)r->sum.part_ns * per;
			n->whole += (double)r->sum.ns * per;
			*(s ? &b[r->key.name] : &n->most) +=
				fabs((double)r->sum.ns * per);
		}
	for (size_t i = 0; i < count; i++)
		if (b[i] > out[i].most)
			out[i].most = b[i];
	return out;
}

/* Is it of this class, of time in which no GPU works? */
static bool is_of_class(const struct pf_diff_run *d, const struct named *n,
			size_t cls)
{
	const char *text = pf_diff_text(d, n->key->name);
	struct pf_name_class class = pf_name_classify(text);

	if (!strcmp(text, PF_STEP_ITSELF) || class.is_asleep)
		return false;
	if (cls == PF_STEP_OTHER || n->key->kind == PF_KIND_PYTHON)
		return cls == PF_STEP_OTHER && n->key->kind == PF_KIND_PYTHON;
	return cls == PF_STEP_COMM   ? class.range == PF_CAUSE_COMM
	       : cls == PF_STEP_DATA ? class.range == PF_CAUSE_DATA
				     : class.range != PF_CAUSE_COMM &&
					       class.range != PF_CAUSE_DATA;
}

/*
 * Of operators and calls on the CPU, or of Python functions that do not sleep
 * till others wake them: whose self time changed most; what loads data is a
 * range around others.
 */
static const struct named *main_name(const struct pf_diff_run *d,
				     const struct named *names, size_t cls)
{
	const struct named *out = NULL;
	double most = 0;

	for (size_t i = 0; i <= d->texts.count; i++) {
		const struct named *n = &names[i];
		double part = cls == PF_STEP_DATA ? n->whole : n->self;

		if (n->key && part > most && is_of_class(d, n, cls)) {
			most = part;
			out = n;
		}
	}
	return out;
}

/*
 * The shortest range or Python function that has most of the class's change:
 * around an operator or a function that has not itself, and of what is in a
 * range.  Or NULL.
 */
static const struct named *main_range(const struct pf_diff_run *d,
				      const struct named *names,
				      const struct named *name, double change)
{
	bool is_range = name->key->kind == PF_KIND_ANNOTATION;
	const struct named *out = NULL;

	if (name->key->kind == PF_KIND_PYTHON &&
	    name->whole >= MOST_OF_CHANGE * change)
		return NULL;
	for (size_t i = 0; i <= d->texts.count; i++) {
		const struct named *n = &names[i];

		if (n->key && n != name &&
		    n->whole >= MOST_OF_CHANGE * change &&
		    (n->key->kind == PF_KIND_PYTHON ||
		     (n->key->kind == PF_KIND_ANNOTATION && !is_range)) &&
		    (is_range ? n->most <= name->most
			      : n->most >= name->most) &&
		    !*pf_diff_text(d, n->key->shapes) &&
		    strcmp(pf_diff_text(d, n->key->name), PF_STEP_ITSELF) !=
			    0 &&
		    (!out || n->most < out->most))
			out = n;
	}
	return out;
}

/* Would both be more than all that changed so, if none were in the other? */
static bool is_sure_to_meet(const struct pf_diff_run *d,
			    const struct named *names, const struct named *a,
			    const struct named *b)
{
	double all = 0;

	for (size_t i = 0; i <= d->texts.count; i++)
		all += names[i].self > 0 ? names[i].self : 0;
	return a->whole + b->whole > all;
}

/* "aten::mul in Optimizer.step#Adam.step" */
static char *main_op_take(const struct pf_diff_run *d, size_t cls, int64_t sign)
{
	PF_OWN struct named *names = names_take(d, sign);
	const struct named *in = main_name(d, names, cls), *around = NULL;
	struct pf_buf out = { 0 };
	char *own;

	if (in && cls != PF_STEP_COMM)
		around =
			main_range(d, names, in,
				   (double)((d->b.mean[PF_FIGURE_CLASS + cls] -
					     d->a.mean[PF_FIGURE_CLASS + cls]) *
					    sign));
	if (around && around->most < in->most) {
		const struct named *outer = in;

		in = around;
		around = outer;
	}
	if (around && !is_sure_to_meet(d, names, in, around)) {
		in = around;
		around = NULL;
	}
	/* of an operator all shapes are meant */
	own = !in ? NULL
	      : in->key->kind == PF_KIND_PYTHON
		      ? pf_diff_code_take(d, in->key)
		      : pf_strdup(pf_diff_text(d, in->key->name));
	if (own)
		pf_buf_adds(&out, own);
	free(own);
	if (around)
		pf_buf_addf(&out, " in %s", pf_diff_text(d, around->key->name));
	return out.data;
}

static char *culprit_take(const struct pf_diff_run *d, size_t cls)
{
	int64_t sign = d->classes[cls].rank.shift < 0 ? -1 : 1;

	if (cls == PF_STEP_KERNEL) {
		for (size_t i = 0; i < d->pairs.count; i++)
			if (d->rows[i].delta_ns * sign > 0)
				return pf_diff_key_take(d, d->rows[i].pair);
	}
	/* of time in which no operator ran none is to blame */
	if (!d->a.gpu_events && !d->b.gpu_events)
		return cls == PF_STEP_OTHER && d->a.has_code != d->b.has_code
			       ? NULL
			       : main_op_take(d, cls, sign);
	return cls < PF_STEP_RUNTIME ? NULL : idle_take(d, cls, sign);
}

/* ---- the sentence ---- */

static void add_signed_ns(struct pf_buf *out, int64_t ns)
{
	char text[PF_NUM_MAX];

	pf_buf_addf(out, "%s%s", ns > 0 ? "+" : "", pf_num_show_ns(text, ns));
}

/* "75.2 ms -> 26.2 ms" */
static void add_medians(struct pf_buf *out, const struct pf_judged *j)
{
	char a[PF_NUM_MAX], b[PF_NUM_MAX];

	pf_buf_addf(out, "%s -> %s", pf_num_show_ns(a, j->a_ns),
		    pf_num_show_ns(b, j->b_ns));
}

/* ", shift -49 ms (-28 %; 97 %: -57 ms to -12 ms)" */
static void add_shift(struct pf_buf *out, const struct pf_judged *j)
{
	const struct pf_rank *r = &j->rank;
	char text[PF_NUM_MAX];

	pf_buf_adds(out, ", shift ");
	add_signed_ns(out, r->shift);
	pf_buf_adds(out, " (");
	if (j->a_ns)
		pf_buf_addf(out, "%s%s", r->shift > 0 ? "+" : "",
			    pf_num_show_ratio(text, (double)r->shift /
							    (double)j->a_ns));
	if (j->grade != PF_GRADE_UNKNOWN) {
		pf_buf_addf(out, "%s%.0f %%: ", j->a_ns ? "; " : "",
			    100 * r->confidence);
		add_signed_ns(out, r->shift_low);
		pf_buf_adds(out, " to ");
		add_signed_ns(out, r->shift_high);
	}
	pf_buf_adds(out, ")");
}

/* ". The largest clear change is in kernels: 57 ms -> 40 ms (conv)", and what
 * the verdict is of if steps overlap. */
static void add_class(struct pf_buf *out, const struct pf_diff_run *d)
{
	size_t cls = main_class(d);
	PF_OWN char *culprit = NULL;

	if (cls == PF_STEP_CLASSES)
		return;
	culprit = culprit_take(d, cls);
	pf_buf_addf(out, ". %s is %s: ",
		    d->is_by_class ? "Steps overlap, but a clear change"
		    : d->classes[cls].grade > PF_GRADE_AS_CAPTURES
			    ? "The largest clear change"
			    : "The largest change",
		    pf_step_class_phrase((enum pf_step_class)cls));
	add_medians(out, &d->classes[cls]);
	if (culprit)
		pf_buf_addf(out, " (%s)", culprit);
}

/*
 * ". The same kernels and copies, as often as in A, take 4.20 % more time in
 * B, without communication"
 */
static void add_each(struct pf_buf *out, const struct pf_diff_run *d)
{
	double more = d->out->each_share;
	char share[PF_NUM_MAX];

	if (d->out->has_each)
		pf_buf_addf(out,
			    ". The same kernels and copies, as often as in A, "
			    "take %s %s time in B, without communication",
			    pf_num_show_ratio(share, fabs(more)),
			    more < 0 ? "less" : "more");
}

/* ". Of what both hosts do aten::mm changed most: self +3.2 ms per step" */
static void add_host(struct pf_buf *out, const struct pf_diff *diff)
{
	const struct pf_diff_op *op = diff->ops;
	size_t left = diff->op_count;
	int64_t delta;

	for (; left && (!op->calls.a || !op->calls.b); op++)
		left--;
	if (!left)
		return;
	delta = diff->has_self ? op->self_ns.delta : op->ns.delta;
	if (!delta)
		return;
	pf_buf_addf(out, ". Of what both hosts do %s changed most: %s ",
		    op->shown, diff->has_self ? "self" : "total");
	add_signed_ns(out, delta);
	pf_buf_addf(out, " per %s", pf_diff_unit(diff));
}

static void add_withheld(struct pf_buf *out, const struct pf_diff_run *d)
{
	pf_buf_addf(out, "Times are not compared, as %s", d->out->obstacle);
	if (d->reshaped &&
	    d->out->obstacle == d->out->checks[PF_CHECK_SHAPES].obstacle)
		pf_buf_addf(out, " (%s)", d->reshaped);
	if (pf_diff_is_one_sided(d->out))
		add_host(out, d->out);
	else
		add_each(out, d);
	pf_buf_adds(out, d->out->is_cut
				 ? ". What is below is of what is there"
				 : ". What changed in structure is below");
}

/*
 * ". Without what changed most, what both do as often takes +46 %, as on a
 * machine that is slower or busier"
 */
static void add_alike(struct pf_buf *out, const struct pf_diff_run *d)
{
	bool is_slower = d->out->total.rank.shift > 0;
	double share = is_slower ? d->judge.alike.high : d->judge.alike.low;
	char text[PF_NUM_MAX];

	if (d->out->verdict == PF_AS_CAPTURES && d->out->total.is_alike)
		pf_buf_addf(
			out,
			". Without what changed most, what both do as often "
			"takes %s%s, as on a machine that is %s",
			is_slower ? "+" : "", pf_num_show_ratio(text, share),
			is_slower ? "slower or busier" : "faster or less busy");
}

/* Nothing here needs escaping in Markdown but names. */
static void find_finding(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;
	struct pf_buf text = { 0 };
	char ns[PF_NUM_MAX];

	if (out->verdict == PF_WITHHELD) {
		add_withheld(&text, d);
		out->finding = pf_diff_keep_made(d, text.data);
		return;
	}
	pf_buf_addf(&text, "%s: median %s ", verdicts[out->verdict].says,
		    pf_diff_unit(out));
	if (out->verdict == PF_SAME) {
		pf_buf_adds(&text, pf_num_show_ns(ns, out->total.a_ns));
	} else {
		add_medians(&text, &out->total);
		add_shift(&text, &out->total);
		pf_judge_say_warm_up(&text, d->judge.warm_up);
		if (out->verdict == PF_UNKNOWN)
			pf_buf_adds(&text, "; noise is unknown (one step)");
		add_alike(&text, d);
		add_class(&text, d);
	}
	out->finding = pf_diff_keep_made(d, text.data);
}

void pf_diff_judge(struct pf_diff_run *d)
{
	diff_find_each(d);
	judge_all(d);
	d->out->warm_up = d->judge.warm_up;
	d->out->verdict = verdict_of(d);
	d->out->verdict_word = verdicts[d->out->verdict].word;
	find_finding(d);
}

/* ---- notes ---- */

static void note_limit(struct pf_diff_run *d)
{
	int64_t kernel =
		d->b.mean[PF_FIGURE_WORK_NS] - d->a.mean[PF_FIGURE_WORK_NS];
	int64_t step = d->out->b_ns - d->out->a_ns;
	char k[PF_NUM_MAX], s[PF_NUM_MAX];

	if (d->out->verdict == PF_WITHHELD ||
	    llabs(kernel) < d->out->a_ns / 50 ||
	    llabs(step) > llabs(kernel) / NOT_THE_LIMIT)
		return;
	pf_diff_note(d,
		     "%s of kernel time %s per step, but the step changes by "
		     "%s: the GPU is not the limit",
		     pf_num_show_ns(k, llabs(kernel)),
		     kernel < 0 ? "saved" : "added", pf_num_show_ns(s, step));
}

/* Smaller differences of the two, of the larger, are not told apart. */
#define SAME_CHANGE 0.05

static void find_two_changes(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;
	int64_t shift = out->total.rank.shift, mean = out->b_ns - out->a_ns;
	int64_t most = llabs(shift) > llabs(mean) ? llabs(shift) : llabs(mean);
	struct pf_buf text = { 0 };

	if (out->verdict == PF_WITHHELD || out->verdict == PF_SAME ||
	    (double)llabs(shift - mean) <= SAME_CHANGE * (double)most)
		return;
	pf_buf_addf(&text, "%ss shift by ", pf_diff_unit(out));
	add_signed_ns(&text, shift);
	pf_buf_adds(&text, ", the median of all differences, which odd ones "
			   "do not move. Their mean, which the parts add up "
			   "to, changes by ");
	add_signed_ns(&text, mean);
	out->two_changes = pf_diff_keep_made(d, text.data);
}

static void note_captures(struct pf_diff_run *d)
{
	size_t a = d->a.capture_count, b = d->b.capture_count;

	if (d->out->verdict == PF_WITHHELD || d->out->verdict == PF_SAME ||
	    d->out->total.is_tested)
		return;
	if (a == 1 && b == 1)
		pf_diff_note(d,
			     "one capture a side: captures of one program "
			     "differ by up to %.0f %% of the longer step. "
			     "Repeat to be sure: A1 A2 A3 A4 -- B1 B2 B3 B4",
			     100 * PF_CAPTURES_DIFFER);
	else
		pf_diff_note(d,
			     "%zu and %zu captures are too few for a test (p "
			     "is %.2g at least): it takes %d a side",
			     a, b, pf_rank_least_p(a, b), PF_TEST_MIN);
}

/* "A, 3 GPU events WHAT" */
static void note_events(struct pf_diff_run *d, const char *side, int64_t count,
			const char *one, const char *many)
{
	char text[PF_NUM_MAX];

	if (count)
		pf_diff_note(d, "%s, %s %s", side,
			     pf_num_show_count(text, count),
			     count == 1 ? one : many);
}

static void note_left_out(struct pf_diff_run *d, const struct pf_capture *s,
			  const char *name)
{
	if (s->outside_count)
		pf_diff_note(d,
			     "%s, %lld of %lld GPU events are in no full step "
			     "and left out of counts and rows",
			     name, (long long)s->outside_count,
			     (long long)s->gpu_events);
	note_events(d, name, s->before_count,
		    "GPU event was launched before the capture and counts for "
		    "the step it ran in",
		    "GPU events were launched before the capture and count for "
		    "the step they ran in");
	note_events(d, name, s->migrated_count,
		    "GPU event moves pages of unified memory, which no call "
		    "launches, and counts for the step it ran in",
		    "GPU events move pages of unified memory, which no call "
		    "launches, and count for the step they ran in");
	note_events(d, name, s->without_launch,
		    "GPU event has no launch call and counts for the step it "
		    "ran in",
		    "GPU events have no launch call and count for the step "
		    "they ran in");
	note_events(d, name, s->lost.dropped_count,
		    "event was lost while capturing",
		    "events were lost while capturing");
	note_events(d, name, s->lost.skipped_count, "event could not be read",
		    "events could not be read");
}

static void note_one_sided(struct pf_diff_run *d)
{
	if (!pf_diff_is_one_sided(d->out) || d->out->is_cut)
		return;
	pf_diff_note(d,
		     "%s has no GPU work: it ran without a GPU, or was "
		     "recorded without ProfilerActivity.CUDA. Compared is "
		     "what the host does; GPU work, idle time and waits are "
		     "not",
		     d->out->a_has_gpu ? "B" : "A");
}

static void note_uniform(struct pf_diff_run *d)
{
	const struct pf_diff *out = d->out;
	char share[PF_NUM_MAX], low[PF_NUM_MAX], high[PF_NUM_MAX];
	const char *sign = out->kernels_share > 0 ? "+" : "";

	if (!out->is_uniform)
		return;
	pf_diff_note(d,
		     "the same kernels, launched as often, take %s%s each, and "
		     "nearly all alike: %s%s to %s%s for 90 %% of their time. "
		     "One factor for all fits another clock or power limit of "
		     "the GPU",
		     sign, pf_num_show_ratio(share, out->kernels_share), sign,
		     pf_num_show_ratio(low, out->kernels_low), sign,
		     pf_num_show_ratio(high, out->kernels_high));
}

void pf_diff_find_notes(struct pf_diff_run *d)
{
	find_two_changes(d);
	if (d->out->two_changes)
		pf_diff_note(d, "%s", d->out->two_changes);
	note_limit(d);
	note_uniform(d);
	note_one_sided(d);
	note_captures(d);
	note_left_out(d, &d->a, "A");
	note_left_out(d, &d->b, "B");
	if (!d->a.has_shapes && !d->b.has_shapes && d->a.ops.count)
		pf_diff_note(d, "shapes are not recorded (record_shapes=True): "
				"whether both did the same work is not known");
}

/* ---- the waterfall ---- */

static struct pf_diff_class class_of(struct pf_diff_run *d, size_t cls)
{
	const struct pf_judged *j = &d->classes[cls];
	size_t i = PF_FIGURE_CLASS + cls;

	return (struct pf_diff_class){
		.name = pf_step_figures[i].title,
		.verdict = pf_diff_keep_made(d, diff_class_take(d, j)),
		.ns = pf_both(d->a.mean[i], d->b.mean[i]),
		.sum_ns = pf_both(d->a.of[i], d->b.of[i]),
		.median_ns = pf_both(j->a_ns, j->b_ns),
		.shift_ns = j->rank.shift,
	};
}

void pf_diff_find_classes(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;
	const struct pf_judged *j = &out->total;

	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		out->classes[i] = class_of(d, i);
	out->classes[PF_STEP_CLASSES] = (struct pf_diff_class){
		.name = "sum",
		.verdict =
			out->verdict == PF_WITHHELD ? NULL : out->verdict_word,
		.ns = pf_both(out->a_ns, out->b_ns),
		.sum_ns = pf_both(d->a.of[PF_FIGURE_TIME],
				  d->b.of[PF_FIGURE_TIME]),
		.median_ns = pf_both(j->a_ns, j->b_ns),
		.shift_ns = j->rank.shift,
	};
}
