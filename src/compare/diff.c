/* SPDX-License-Identifier: MIT */
/*
 * What changed between two captures: the verdict, the tables, and what makes up
 * the change.  What is judged are medians and shifts of steps (diff_capture.h);
 * tables show means, which add up.
 */
#include "config.h"

#include "compare/diff.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "compare/diff_impl.h"
#include "events/gpu.h"
#include "formats/event.h"

#define MOST_OF_CHANGE 0.8
#define HALF_OF_CHANGE 0.5
#define A_PART         0.25 /* of a change: less does not say what it is */
#define SHAPES_PERCENT 10   /* of GPU time with other shapes: other work */
#define PLACES_PERCENT 10   /* of GPU time: less says not what is the same */

/* ---- texts of the result ---- */

#define NOTE_MAX 1024 /* as a document cuts them */

static const char *diff_keep_made(struct pf_diff_run *d, char *text)
{
	const char *out = pf_diff_keep_text(d, text);

	free(text);
	return out;
}

/* For rows of the result. */
static void *diff_room(struct pf_diff_run *d, size_t count, size_t bytes)
{
	return pf_arena_calloc(&d->out->texts, count, bytes);
}

/* Of a row of the result. */
static const char *diff_keep(struct pf_diff_run *d, uint32_t n)
{
	PF_ROOM_ZERO(d->kept, d->kept_cap, n + (size_t)1);
	if (!d->kept[n])
		d->kept[n] = pf_diff_keep_text(d, pf_diff_text(d, n));
	return d->kept[n];
}

/* The same, or NULL if it is empty. */
static const char *diff_keep_known(struct pf_diff_run *d, uint32_t n)
{
	return *pf_diff_text(d, n) ? diff_keep(d, n) : NULL;
}

/* One of the sentences at the end. */
static void diff_note(struct pf_diff_run *d, const char *fmt, ...)
{
	struct pf_diff *out = d->out;
	char text[NOTE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	*PF_ONE_MORE(out->notes, out->note_count, out->note_cap) =
		pf_diff_keep_text(d, text);
}

static void add_short(struct pf_buf *out, const struct pf_diff_run *d,
		      uint32_t n)
{
	pf_kernel_short_name(out, pf_diff_text(d, n));
}

/* "3 kernels -> 1 in aten::linear" */
static void add_many(struct pf_buf *out, const struct pf_diff_run *d,
		     const struct pf_pair *p, const struct pf_work_key *key)
{
	const char *path = pf_diff_text(
		d, p->match == PF_MATCH_GROUP && *pf_diff_text(d, key->region)
			   ? key->region
			   : key->path);
	const char *last = path, *at;

	for (at = path; (at = strstr(at, " > ")); at += 3)
		last = at + 3;
	pf_buf_addf(out, "%u -> %u kernels", (unsigned)p->a_rows,
		    (unsigned)p->b_rows);
	if (*last) {
		pf_buf_adds(out, " in ");
		pf_buf_adds(out, last);
	}
}

static void add_kernels(struct pf_buf *out, const struct pf_diff_run *d,
			const struct pf_pair *p, const struct pf_work_key *a,
			const struct pf_work_key *b)
{
	if (p->a_rows > 1 || p->b_rows > 1) {
		if (a && b && a->kernel == b->kernel &&
		    p->match != PF_MATCH_GROUP)
			add_short(out, d, a->kernel);
		else
			add_many(out, d, p, a ? a : b);
		return;
	}
	if (a)
		add_short(out, d, a->kernel);
	if (a && b && a->kernel != b->kernel)
		pf_buf_adds(out, " -> ");
	if (b && (!a || a->kernel != b->kernel))
		add_short(out, d, b->kernel);
}

/* What a row is about, for people; the caller frees it. */
static char *diff_key_take(const struct pf_diff_run *d, const struct pf_pair *p)
{
	const struct pf_work_row *in_a = pf_work_at(&d->a, p->a_row);
	const struct pf_work_row *in_b = pf_work_at(&d->b, p->b_row);
	const struct pf_work_key *a = in_a ? &in_a->key : NULL;
	const struct pf_work_key *b = in_b ? &in_b->key : NULL;
	const struct pf_work_key *k = a ? a : b;
	enum pf_diff_by by =
		d->args->by < 0 ? PF_BY_ALL : (enum pf_diff_by)d->args->by;
	const struct {
		uint32_t text;
		const char *none;
	} named[PF_BY_ALL + 1] = {
		[PF_BY_OP] = { k->op, "(no op)" },
		[PF_BY_SHAPE] = { k->op, "(no op)" },
		[PF_BY_MODULE] = { k->module, "(no module)" },
		[PF_BY_ANNOTATION] = { k->annotation, "(no annotation)" },
		[PF_BY_STACK] = { k->path, "(root)" },
		[PF_BY_CLASS] = { k->kernel, "" },
		[PF_BY_CATEGORY] = { k->kernel, "" },
	};
	const char *text = pf_diff_text(d, named[by].text);
	struct pf_buf out = { 0 };

	pf_buf_adds(&out, "");
	if (!named[by].none)
		add_kernels(&out, d, p, a, b);
	else
		pf_buf_adds(&out, *text ? text : named[by].none);
	if (by == PF_BY_SHAPE)
		pf_buf_addf(&out, " %s", pf_diff_text(d, k->shapes));
	return out.data;
}

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

/* Is it at the same place on both sides, not only of the same kind of name? */
static bool is_placed(const struct pf_pair *p)
{
	return p->match < PF_MATCH_FAMILY || p->match == PF_MATCH_GROUP;
}

/* Is enough of the GPU work of both sides? */
static bool has_places(const struct pf_diff_run *d)
{
	int64_t placed = 0, all = 0;

	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_pair *p = &d->pairs.items[i];

		all += p->a.ns + p->b.ns;
		if (is_placed(p))
			placed += p->a.ns + p->b.ns;
	}
	return placed > all / 100 * PLACES_PERCENT;
}

/*
 * Is more than a tenth of GPU time spent on other shapes?  Where no GPU works,
 * or hardly anything is where it was, of the operators' own time on the CPU.
 */
static bool has_other_shapes(const struct pf_diff_run *d)
{
	int64_t other = 0, all = 0;

	if (!has_places(d))
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
	if (!has_places(d) && d->op_shape_ns)
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
	word_check(d, n, what, compare_text(d, a, b), diff_keep_known(d, a),
		   diff_keep_known(d, b), obstacle);
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

static const struct pf_op_key *op_of(const struct pf_diff_run *d,
				     const struct pf_pair *x)
{
	return x->a_row != PF_NO_ROW ? &pf_op_at(&d->a, x->a_row)->key
				     : &pf_op_at(&d->b, x->b_row)->key;
}

/* Is there no operator that both sides have, and no GPU work at one place? */
static bool has_nothing_shared(const struct pf_diff_run *d)
{
	size_t a_only = 0, b_only = 0;

	for (size_t i = 0; i < d->pairs.count; i++)
		if (is_placed(&d->pairs.items[i]))
			return false;
	for (size_t i = 0; i < d->ops.count; i++) {
		const struct pf_pair *x = &d->ops.items[i];
		const struct pf_op_key *key = op_of(d, x);

		/* all programs have calls */
		if (key->kind == PF_KIND_RUNTIME ||
		    key->kind == PF_KIND_DRIVER ||
		    !strcmp(pf_diff_text(d, key->name), PF_STEP_ITSELF))
			continue;
		if (x->match < PF_MATCH_ADDED)
			return false;
		a_only += x->match == PF_MATCH_REMOVED;
		b_only += x->match == PF_MATCH_ADDED;
	}
	return a_only && b_only;
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
		   ops, NULL, NULL,
		   has_nothing_shared(d) ? "they have no operator in common"
					 : NULL);
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

/* Sets checks, obstacle and is_comparable. */
static void diff_find_checks(struct pf_diff_run *d)
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
		out->obstacle =
			d->args->window.whole
				? "all of a capture is no step to compare, and "
				  "its length says nothing"
				: "captures without profiler steps have no "
				  "step to compare, and their length says "
				  "nothing";
	if (!out->obstacle && (d->a.only_starts || d->b.only_starts))
		out->obstacle =
			!d->b.only_starts ? "steps of A end before most of "
					    "what they start"
			: !d->a.only_starts
				? "steps of B end before most of what they "
				  "start"
				: "steps end before most of what they start";
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
	PF_AT_LEAST(k->most_ns, a_ns);
	k->items[k->count++] = (struct same){ b_ns / a_ns - 1, a_ns };
}

PF_ORDER(by_verdict_change, struct same, PF_UP(change) PF_UP(a_ns))

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
	pf_sort(k->items, k->count, sizeof(*k->items), by_verdict_change);
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

static int compare_ratios(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
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

/*
 * The same, but no more than half of them change by, where that is far less: a
 * machine does not leave out what is small.
 */
static struct pf_alike explained(struct pf_alike x, struct pf_alike_sums *s)
{
	double share = x.low < 0 ? x.low : x.high, most;

	if (!share)
		return x;
	pf_sort(s->ratios, s->count, sizeof(*s->ratios), compare_ratios);
	/* of two in the middle the one nearer to 1, whichever side is A */
	most = s->ratios[(s->count - 1) / 2];
	if (fabs(log(most)) > fabs(log(s->ratios[s->count / 2])))
		most = s->ratios[s->count / 2];
	if (share < 0 ? 1 / most - 1 >= A_PART * (1 / (1 + share) - 1)
		      : most - 1 >= A_PART * share)
		return x;
	return (struct pf_alike){ share < 0 && most < 1 ? most - 1 : 0,
				  share > 0 && most > 1 ? most - 1 : 0 };
}

static struct pf_alike either(struct pf_alike x, struct pf_alike y)
{
	return (struct pf_alike){ x.low < y.low ? x.low : y.low,
				  x.high > y.high ? x.high : y.high };
}

/*
 * Where all takes longer than captures of one program differ by, some class of
 * the step must be beyond that.
 */
static bool is_beyond_alike(const struct pf_diff_run *d)
{
	const int64_t shift = d->out->total.rank.shift;

	if ((shift > 0 ? d->alike.high : 1 / (1 + d->alike.low) - 1) <
	    PF_CAPTURES_DIFFER)
		return true;
	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		if (d->classes[i].grade > PF_GRADE_AS_CAPTURES &&
		    (d->classes[i].rank.shift < 0) == (shift < 0))
			return true;
	return false;
}

/* What it explains of a step, of which a GPU may be all that matters. */
#define GPU_DECIDES 0.9

static void judge_all(struct pf_diff_run *d)
{
	const struct pf_alike of_host = alike_of(d, &d->host_alike);
	const struct pf_alike of_gpu = alike_of(d, &d->gpu_alike);
	const struct pf_alike host = explained(of_host, &d->host_alike);
	const struct pf_alike gpu = explained(of_gpu, &d->gpu_alike);
	bool is_of_gpu = true;

	for (int s = 0; s < 2; s++) {
		const struct pf_capture *side = s ? &d->b : &d->a;

		is_of_gpu &= (double)side->of[PF_FIGURE_BUSY] >=
			     GPU_DECIDES * (double)side->of[PF_FIGURE_TIME];
	}
	d->alike = is_of_gpu ? of_gpu : either(of_host, of_gpu);
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
	else if (d->out->total.grade == PF_GRADE_LIKELY &&
		 !is_beyond_alike(d)) {
		d->out->total.grade = PF_GRADE_AS_CAPTURES;
		d->out->total.is_alike = true;
	}
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

static bool is_part_of(const struct pf_rank *part, const struct pf_rank *all)
{
	return (part->shift < 0) == (all->shift < 0) &&
	       fabs((double)part->shift) >= A_PART * fabs((double)all->shift);
}

/*
 * The clear class that changed most, what captures of one program differ by
 * behind what they do not; PF_STEP_CLASSES: there is none that says what the
 * shift is of.
 */
static size_t main_class(const struct pf_diff_run *d)
{
	size_t out = PF_STEP_CLASSES;

	for (size_t i = 0; i < PF_STEP_CLASSES; i++) {
		const struct pf_judged *c = &d->classes[i], *most;

		if (!is_clear(d, c) ||
		    (!d->is_by_class &&
		     !is_part_of(&c->rank, &d->out->total.rank)))
			continue;
		most = out < PF_STEP_CLASSES ? &d->classes[out] : NULL;
		if (!most ||
		    (most->grade == PF_GRADE_AS_CAPTURES &&
		     c->grade > PF_GRADE_AS_CAPTURES) ||
		    ((most->grade == PF_GRADE_AS_CAPTURES) ==
			     (c->grade == PF_GRADE_AS_CAPTURES) &&
		     llabs(c->rank.shift) > llabs(most->rank.shift)))
			out = i;
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
		PF_AT_LEAST(out[i].most, b[i]);
	return out;
}

/* Is it of this class, of time in which no GPU works? */
static bool is_of_class(const struct pf_diff_run *d, const struct named *n,
			size_t cls)
{
	const char *text = pf_diff_text(d, n->key->name);
	struct pf_name_class class = pf_name_classify(text);

	if (!strcmp(text, PF_STEP_ITSELF) ||
	    (n->key->kind == PF_KIND_PYTHON && class.is_asleep))
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
	    name->whole > HALF_OF_CHANGE * change)
		return NULL;
	for (size_t i = 0; i <= d->texts.count; i++) {
		const struct named *n = &names[i];

		if (n->key && n != name && n->whole > HALF_OF_CHANGE * change &&
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

/* Is part of what changed in a name in the range, wherever the rest is? */
static bool is_sure_to_meet(const struct pf_diff_run *d,
			    const struct named *names, const struct named *name,
			    const struct named *range)
{
	double all = 0;

	for (size_t i = 0; i <= d->texts.count; i++)
		all += names[i].self > 0 ? names[i].self : 0;
	return name->whole + range->whole - all > A_PART * name->whole;
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
		if (in->whole < HALF_OF_CHANGE * around->whole)
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

/* Is GPU work of a class of steps? */
static bool is_work_of(const struct pf_diff_run *d, const struct pf_pair *p,
		       size_t cls)
{
	static const enum pf_gpu_class of[] = {
		[PF_STEP_KERNEL] = PF_GPU_COMPUTE,
		[PF_STEP_COPY] = PF_GPU_COPY,
		[PF_STEP_MEMSET] = PF_GPU_MEMSET,
		[PF_STEP_COMM] = PF_GPU_COMM,
	};
	const struct pf_work_row *row = pf_work_at(&d->a, p->a_row);

	if (!row)
		row = pf_work_at(&d->b, p->b_row);
	return cls < PF_LEN(of) && row->key.class == of[cls];
}

static char *culprit_take(const struct pf_diff_run *d, size_t cls)
{
	int64_t sign = d->classes[cls].rank.shift < 0 ? -1 : 1;

	for (size_t i = 0; i < d->pairs.count; i++)
		if (d->rows[i].delta_ns * sign > 0 &&
		    is_work_of(d, d->rows[i].pair, cls))
			return diff_key_take(d, d->rows[i].pair);
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
	pf_buf_addf(out, "%s%s", ns > 0 ? "+" : "", PF_SHOW_NS(ns));
}

/* "75.2 ms -> 26.2 ms" */
static void add_medians(struct pf_buf *out, const struct pf_judged *j)
{
	pf_buf_addf(out, "%s -> %s", PF_SHOW_NS(j->a_ns), PF_SHOW_NS(j->b_ns));
}

/* ", shift -49 ms (-28 %; 97 %: -57 ms to -12 ms)" */
static void add_shift(struct pf_buf *out, const struct pf_judged *j)
{
	const struct pf_rank *r = &j->rank;

	pf_buf_adds(out, ", shift ");
	add_signed_ns(out, r->shift);
	pf_buf_adds(out, " (");
	if (j->a_ns)
		pf_buf_addf(out, "%s%s", r->shift > 0 ? "+" : "",
			    PF_SHOW_RATIO((double)r->shift / (double)j->a_ns));
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

	if (d->out->has_each)
		pf_buf_addf(out,
			    ". The same kernels and copies, as often as in A, "
			    "take %s %s time in B, without communication",
			    PF_SHOW_RATIO(fabs(more)),
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
	const struct pf_alike *by = &d->judge.alike;
	double share = is_slower ? d->alike.high : d->alike.low;

	/* all of it, or more of it than captures of one program differ by */
	if ((d->out->verdict == PF_AS_CAPTURES && d->out->total.is_alike) ||
	    ((d->out->verdict == PF_LIKELY_FASTER ||
	      d->out->verdict == PF_LIKELY_SLOWER) &&
	     share == (is_slower ? by->high : by->low) &&
	     (is_slower ? share : -share) >= PF_CAPTURES_DIFFER))
		pf_buf_addf(
			out,
			". Without what changed most, what both do as often "
			"takes %s%s, as on a machine that is %s",
			is_slower ? "+" : "", PF_SHOW_RATIO(share),
			is_slower ? "slower or busier" : "faster or less busy");
}

/* Was a side told to record that, or did it? */
static bool has_option(const struct pf_diff_run *d, const struct pf_capture *c,
		       const char *option)
{
	const char *at = strstr(pf_diff_text(d, c->options), option);

	return (at && at[strlen(option)] == ' ' &&
		at[strlen(option) + 1] != '0') ||
	       (c->has_code && !strcmp(option, "with_stack")) ||
	       (c->has_shapes && !strcmp(option, "record_shapes"));
}

/*
 * ". Only B was recorded with with_stack, which slows its host": before any
 * culprit is named.
 */
static void add_options(struct pf_buf *out, const struct pf_diff_run *d)
{
	static const char *const options[] = { "record_shapes",
					       "profile_memory", "with_stack",
					       "with_flops", "with_modules" };
	const struct pf_capture *const sides[] = { &d->a, &d->b };
	size_t count;

	for (int s = 0; s < 2; s++) {
		count = 0;
		for (size_t i = 0; i < PF_LEN(options); i++) {
			if (!*pf_diff_text(d, sides[s]->options) ||
			    !has_option(d, sides[s], options[i]) ||
			    has_option(d, sides[!s], options[i]))
				continue;
			if (!count++)
				pf_buf_addf(out, ". Only %c was recorded with ",
					    'A' + s);
			else
				pf_buf_adds(out, ", ");
			pf_buf_adds(out, options[i]);
		}
		if (count)
			pf_buf_adds(out, ", which slows its host");
	}
}

/* Nothing here needs escaping in Markdown but names. */
static void find_finding(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;
	struct pf_buf text = { 0 };

	if (out->verdict == PF_WITHHELD) {
		add_withheld(&text, d);
		out->finding = diff_keep_made(d, text.data);
		return;
	}
	pf_buf_addf(&text, "%s: median %s ", verdicts[out->verdict].says,
		    pf_diff_unit(out));
	if (out->verdict == PF_SAME) {
		pf_buf_adds(&text, PF_SHOW_NS(out->total.a_ns));
		pf_judge_say_warm_up(&text, d->judge.warm_up);
	} else {
		add_medians(&text, &out->total);
		add_shift(&text, &out->total);
		pf_judge_say_warm_up(&text, d->judge.warm_up);
		if (out->verdict == PF_UNKNOWN)
			pf_buf_adds(&text, "; noise is unknown (one step)");
		add_options(&text, d);
		add_alike(&text, d);
		add_class(&text, d);
	}
	out->finding = diff_keep_made(d, text.data);
}

/* What is comparable is found. */
static void diff_judge(struct pf_diff_run *d)
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

	if (d->out->verdict == PF_WITHHELD ||
	    llabs(kernel) < d->out->a_ns / 50 ||
	    llabs(step) > llabs(kernel) / NOT_THE_LIMIT)
		return;
	diff_note(d,
		  "%s of kernel time %s per step, but the step changes by "
		  "%s: the GPU is not the limit",
		  PF_SHOW_NS(llabs(kernel)), kernel < 0 ? "saved" : "added",
		  PF_SHOW_NS(step));
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
	pf_buf_addf(
		&text,
		", the median of all differences, which odd ones do not "
		"move. Their mean%s, which the parts add up to, changes by ",
		out->warm_up ? " over all steps, also those of the warm-up"
			     : "");
	add_signed_ns(&text, mean);
	out->two_changes = diff_keep_made(d, text.data);
}

static void note_captures(struct pf_diff_run *d)
{
	size_t a = d->a.capture_count, b = d->b.capture_count;

	if (d->out->verdict == PF_WITHHELD || d->out->verdict == PF_SAME ||
	    d->out->total.is_tested)
		return;
	if (a == 1 && b == 1)
		diff_note(d,
			  "one capture a side: captures of one program "
			  "differ by up to %.0f %% of the longer step. "
			  "Repeat to be sure: A1 A2 A3 A4 -- B1 B2 B3 B4",
			  100 * PF_CAPTURES_DIFFER);
	else
		diff_note(d,
			  "%zu and %zu captures are too few for a test (p "
			  "is %.2g at least): it takes %d a side",
			  a, b, pf_rank_least_p(a, b), PF_TEST_MIN);
}

/* "A, 3 GPU events WHAT" */
static void note_events(struct pf_diff_run *d, const char *side, int64_t count,
			const char *one, const char *many)
{
	if (count)
		diff_note(d, "%s, %s %s", side, PF_SHOW_COUNT(count),
			  count == 1 ? one : many);
}

static void note_left_out(struct pf_diff_run *d, const struct pf_capture *s,
			  const char *name)
{
	if (s->outside_count)
		diff_note(d,
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
	diff_note(d,
		  "%s has no GPU work: it ran without a GPU, or was "
		  "recorded without ProfilerActivity.CUDA. Compared is "
		  "what the host does; GPU work, idle time and waits are "
		  "not",
		  d->out->a_has_gpu ? "B" : "A");
}

static void note_uniform(struct pf_diff_run *d)
{
	const struct pf_diff *out = d->out;
	const char *sign = out->kernels_share > 0 ? "+" : "";

	if (!out->is_uniform)
		return;
	diff_note(d,
		  "the same kernels, launched as often, take %s%s each, and "
		  "nearly all alike: %s%s to %s%s for 90 %% of their time. "
		  "One factor for all fits another clock or power limit of "
		  "the GPU",
		  sign, PF_SHOW_RATIO(out->kernels_share), sign,
		  PF_SHOW_RATIO(out->kernels_low), sign,
		  PF_SHOW_RATIO(out->kernels_high));
}

static void diff_find_notes(struct pf_diff_run *d)
{
	find_two_changes(d);
	if (d->out->two_changes)
		diff_note(d, "%s", d->out->two_changes);
	note_limit(d);
	note_uniform(d);
	note_one_sided(d);
	note_captures(d);
	note_left_out(d, &d->a, "A");
	note_left_out(d, &d->b, "B");
	if (!d->a.has_shapes && !d->b.has_shapes && d->a.ops.count)
		diff_note(d, "shapes are not recorded (record_shapes=True): "
			     "whether both did the same work is not known");
}

/* ---- the waterfall ---- */

static struct pf_diff_class class_of(struct pf_diff_run *d, size_t cls)
{
	const struct pf_judged *j = &d->classes[cls];
	size_t i = PF_FIGURE_CLASS + cls;

	return (struct pf_diff_class){
		.name = pf_step_figures[i].title,
		.verdict = diff_keep_made(d, diff_class_take(d, j)),
		.ns = pf_both(d->a.mean[i], d->b.mean[i]),
		.sum_ns = pf_both(d->a.of[i], d->b.of[i]),
		.median_ns = pf_both(j->a_ns, j->b_ns),
		.shift_ns = j->rank.shift,
	};
}

static void diff_find_classes(struct pf_diff_run *d)
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

/*
 * The critical paths of both sides by what they are made of.  A path adds up
 * to its window, so the differences add up to that of the windows: figures are
 * per step of it.
 */

static int by_change(const void *a, const void *b)
{
	const struct pf_diff_time *x = a, *y = b;
	int64_t dx = llabs(x->ns.delta), dy = llabs(y->ns.delta);

	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (x->ns.a != y->ns.a)
		return x->ns.a > y->ns.a ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void find_path(struct pf_diff_run *d)
{
	int64_t a[PF_PATH_CATEGORIES], b[PF_PATH_CATEGORIES];
	struct pf_diff *out = d->out;

	if (!d->args->path || !d->a.path_steps || !d->b.path_steps)
		return;
	pf_mean_parts(d->a.path_ns, PF_PATH_CATEGORIES, d->a.path_steps, a);
	pf_mean_parts(d->b.path_ns, PF_PATH_CATEGORIES, d->b.path_steps, b);
	for (size_t i = 0; i < PF_PATH_CATEGORIES; i++)
		if (d->a.path_ns[i] || d->b.path_ns[i])
			out->path[out->path_count++] = (struct pf_diff_time){
				pf_path_category_name((enum pf_path_category)i),
				pf_both(a[i], b[i]),
				pf_both(d->a.path_ns[i], d->b.path_ns[i])
			};
	pf_sort(out->path, out->path_count, sizeof(*out->path), by_change);
	out->path[out->path_count++] = (struct pf_diff_time){
		"the window",
		pf_both(pf_mean(d->a.path_window_ns, d->a.path_steps),
			pf_mean(d->b.path_window_ns, d->b.path_steps)),
		pf_both(d->a.path_window_ns, d->b.path_window_ns)
	};
}

/*
 * Which advice is done: A is given it, and B is not, as its cause is not there
 * or too small, or has a tenth left.  What one side cannot judge is neither done nor new.
 */

enum change { DONE, NEW, OPEN, NOT_JUDGED, NEVER };
static const char *const changes[] = { "done", "new", "open", "not judged" };

/* By the state in A and in B: given, fine, not judged. */
static const enum change table[3][3] = {
	{ OPEN, DONE, NOT_JUDGED },
	{ NEW, NEVER, NEVER },
	{ NOT_JUDGED, NEVER, NEVER },
};

static void add(struct pf_diff_run *d, enum change change,
		const struct pf_capture_advice *a,
		const struct pf_capture_advice *b)
{
	const struct pf_capture *in_a = d->a.captures[0],
				*in_b = d->b.captures[0];
	struct pf_diff *out = d->out;
	const char *reason = NULL;

	if (b->state != PF_ADVICE_GIVEN)
		reason = pf_intern_text(&in_b->texts, b->reason, NULL);
	else if (a->state != PF_ADVICE_GIVEN)
		reason = pf_intern_text(&in_a->texts, a->reason, NULL);
	out->advice[out->advice_count++] = (struct pf_diff_advice){
		.change = changes[change],
		.id = a->id,
		.title = a->title,
		.a_at_most_ns = a->at_most_ns,
		.b_at_most_ns = b->at_most_ns,
		.a_share = a->share,
		.b_share = b->share,
		.reason = pf_diff_keep_text(d, reason),
	};
}

static const struct pf_capture_advice *find(const struct pf_capture *c,
					    const char *id)
{
	for (size_t i = 0; i < c->advice_count; i++)
		if (!strcmp(c->advice[i].id, id))
			return &c->advice[i];
	return NULL;
}

/* "done: A1, A5; new: A3" */
static void say(struct pf_diff_run *d)
{
	const struct pf_diff *out = d->out;
	PF_AUTO(pf_buf_release) struct pf_buf line = { 0 };
	const char *last = NULL;

	for (size_t i = 0; i < out->advice_count; i++) {
		const struct pf_diff_advice *v = &out->advice[i];

		if (last != v->change)
			pf_buf_addf(&line, "%s%s: ", last ? "; " : "",
				    v->change);
		pf_buf_addf(&line, "%s%s", last == v->change ? ", " : "",
			    v->id);
		last = v->change;
	}
	diff_note(d, "advice: %s",
		  line.len ? line.data : "neither side is given any");
}

/* Twice what is shown at all: between the two captures differ by chance. */
#define CLEAR_SHARE 0.02
#define DONE_PARTS  10

static enum change change_of_advice(const struct pf_capture_advice *a,
				    const struct pf_capture_advice *b)
{
	enum change change = table[a->state][b->state];

	/* hardly any of it is left, though of a step that is as much shorter */
	if (change == OPEN && a->at_most_ns > 0 && b->at_most_ns >= 0 &&
	    b->at_most_ns <= a->at_most_ns / DONE_PARTS)
		return DONE;
	if ((change == DONE && a->share < CLEAR_SHARE) ||
	    (change == NEW && b->share < CLEAR_SHARE))
		return NEVER;
	return change;
}

static void find_advice(struct pf_diff_run *d)
{
	const struct pf_capture *a = d->a.captures[0], *b = d->b.captures[0];

	if (!d->args->advice || !a->advice_count || !b->advice_count)
		return;
	for (int change = DONE; change < NEVER; change++) {
		/* what A is given in its order, then what B alone is */
		for (size_t i = 0; i < a->advice_count + b->advice_count; i++) {
			bool of_b = i >= a->advice_count;
			const char *id =
				of_b ? b->advice[i - a->advice_count].id
				     : a->advice[i].id;
			const struct pf_capture_advice *x = find(a, id),
						       *y = find(b, id);

			if (x && y && of_b == (x->state != PF_ADVICE_GIVEN) &&
			    change_of_advice(x, y) == (enum change)change)
				add(d, (enum change)change, x, y);
		}
	}
	say(d);
}

#define DIMS_MAX 3 /* inputs that tell kernels apart */

/* ---- names that differ ---- */

/*
 * " 32x64x56x56 64x64x3x3": the first inputs that have dimensions, of those
 * from there on.
 */
static void diff_add_dims(struct pf_buf *out, const char *shapes, size_t from)
{
	int depth = from > 0, lists = 0;

	if (from)
		pf_buf_adds(out, " ...");
	/* types follow: ["float"] */
	for (const char *s = shapes + from; *s && *s != '"' && lists < DIMS_MAX;
	     s++) {
		bool is_digit = *s >= '0' && *s <= '9';

		if (*s == '[' && ++depth == 2 && s[1] != ']')
			pf_buf_addc(out, ' ');
		if (depth == 2 && is_digit)
			pf_buf_addc(out, *s);
		if (depth == 2 && *s == ',')
			pf_buf_addc(out, 'x');
		if (*s == ']' && depth-- == 2)
			lists += s[-1] != '[';
	}
}

enum { BY_SHAPES, BY_MODULE, BY_OP, BY_PATH, BY_NUMBER, WAYS };

/* What may tell a pair from others of its name. */
static void add_origin(struct pf_buf *out, const struct pf_diff_run *d,
		       const struct pf_pair *p, int way, size_t number)
{
	const struct pf_work_key *k = pf_diff_work_key(d, p);
	const uint32_t texts[WAYS] = { k->shapes, k->module, k->op, k->path,
				       k->path };
	uint32_t text = texts[way];

	if (way == BY_NUMBER)
		pf_buf_addf(out, " (%zu)", number);
	else if (way == BY_SHAPES)
		diff_add_dims(out, pf_diff_text(d, text), 0);
	else if (*pf_diff_text(d, text))
		pf_buf_addf(out, " in %s", pf_diff_text(d, text));
}

/* Room for what follows: templates of kernels are long and alike. */
static void add_base(struct pf_buf *out, const char *name, int way)
{
	size_t len = way == BY_SHAPES ? strcspn(name, "<") : strlen(name);

	if (name[len] && !strstr(name, " -> "))
		pf_buf_addf(out, "%.*s<>", (int)len, name);
	else
		pf_buf_adds(out, name);
}

/* Of all names that are alike, add what tells them apart. */
static void tell_apart(const struct pf_diff_run *d, char **names, int way)
{
	size_t count = d->pairs.count;
	PF_OWN uint32_t *uses = pf_calloc(count + 1, sizeof(*uses));
	PF_OWN uint32_t *number = pf_calloc(count + 1, sizeof(*number));
	PF_AUTO(pf_intern_release) struct pf_intern texts = { 0 };

	for (size_t i = 0; i < count; i++) {
		number[i] = pf_intern_add(&texts, names[i], strlen(names[i]));
		uses[number[i]]++;
	}
	for (size_t i = 0; i < count; i++) {
		struct pf_buf text = { 0 };

		if (uses[number[i]] < 2)
			continue;
		add_base(&text, names[i], way);
		add_origin(&text, d, d->rows[i].pair, way, i + 1);
		free(names[i]);
		names[i] = text.data;
	}
}

/* For people. */
static void name_rows(struct pf_diff_run *d)
{
	size_t count = d->pairs.count;
	PF_OWN char **names = pf_calloc(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = diff_key_take(d, d->rows[i].pair);
	for (int way = 0; way < WAYS; way++)
		tell_apart(d, names, way);
	d->names = pf_calloc(count + 1, sizeof(*d->names));
	for (size_t i = 0; i < count; i++)
		d->names[i] = diff_keep_made(d, names[i]);
}

static void set_origin(struct pf_diff_run *d, struct pf_diff_work *row,
		       const struct pf_pair *p)
{
	const struct pf_work_row *in_a = pf_work_at(&d->a, p->a_row);
	const struct pf_work_row *in_b = pf_work_at(&d->b, p->b_row);
	const struct pf_work_key *a = in_a ? &in_a->key : NULL;
	const struct pf_work_key *b = in_b ? &in_b->key : NULL;
	const struct pf_work_key *k = a ? a : b;

	row->op = diff_keep_known(d, k->op);
	row->path = diff_keep_known(d, k->path);
	if (a) {
		row->a_kernel = diff_keep_known(d, a->kernel);
		row->a_shapes = diff_keep_known(d, a->shapes);
	}
	if (b) {
		row->b_kernel = diff_keep_known(d, b->kernel);
		row->b_shapes = diff_keep_known(d, b->shapes);
	}
	if (d->args->by < 0 || d->args->by == PF_BY_KERNEL ||
	    d->args->by == PF_BY_CLASS)
		row->class_word =
			pf_gpu_class_name((enum pf_gpu_class)k->class);
}

static struct pf_diff_work figures_of(const struct pf_diff_run *d,
				      const char *key,
				      const struct pf_diff_row *r)
{
	const struct pf_pair *p = r->pair;
	struct pf_both ns = pf_both(r->a_ns, r->b_ns);
	int64_t more = p->a_rows && p->b_rows
			       ? pf_mean_more(p->a.count, p->a.ns, d->a.steps,
					      p->b.count, d->b.steps)
			       : ns.delta;

	int64_t a_each = p->a.count ? pf_mean(p->a.ns, p->a.count) : PF_NO_INT;
	int64_t b_each = p->b.count ? pf_mean(p->b.ns, p->b.count) : PF_NO_INT;

	return (struct pf_diff_work){
		.name = key,
		.key = key,
		.match = pf_match_names[p->match],
		.count = pf_both_counts(d, p->a.count, p->b.count),
		.ns = ns,
		.calls = pf_both(p->a.count, p->b.count),
		.sum_ns = pf_both(p->a.ns, p->b.ns),
		.rows = pf_both(p->a_rows, p->b_rows),
		.count_effect_ns = more,
		.duration_effect_ns = ns.delta - more,
		.each_ns = { a_each, b_each, PF_NO_INT, NAN },
		.each_delta_ns =
			p->a.count && p->b.count ? b_each - a_each : PF_NO_INT,
		.step_share = pf_ratio((double)ns.delta, d->out->a_ns),
	};
}

static void add_to(struct pf_pair *sum, const struct pf_pair *p)
{
	pf_row_sums_add(&sum->a, &p->a);
	pf_row_sums_add(&sum->b, &p->b);
	sum->a_rows += p->a_rows;
	sum->b_rows += p->b_rows;
}

static void find_rows(struct pf_diff_run *d)
{
	/* what is smaller than --min-delta, as one row, so that sums hold */
	struct pf_pair pair = { .match = PF_MATCH_EXACT };
	struct pf_diff_row small = { .pair = &pair };
	size_t small_count = 0;
	struct pf_diff *out = d->out;
	struct pf_buf text = { 0 };

	out->rows = diff_room(d, d->pairs.count + 1, sizeof(*out->rows));
	/* of one side alone nothing is a change */
	for (size_t i = 0; !pf_diff_is_one_sided(out) && i < d->pairs.count;
	     i++) {
		const struct pf_diff_row *r = &d->rows[i];
		struct pf_diff_work *row = &out->rows[out->row_count];
		char *key;

		if (!d->args->wide && !r->delta_ns)
			continue;
		if (llabs(r->delta_ns) < d->args->min_delta_ns) {
			add_to(&pair, r->pair);
			small.a_ns += r->a_ns;
			small.b_ns += r->b_ns;
			small_count++;
			continue;
		}
		key = diff_key_take(d, r->pair);
		*row = figures_of(d, diff_keep_made(d, key), r);
		row->name = d->names[i];
		set_origin(d, row, r->pair);
		out->row_count++;
	}
	if (!small_count)
		return;
	pf_buf_addf(&text, "(%zu rows with less change)", small_count);
	out->rows[out->row_count++] =
		figures_of(d, diff_keep_made(d, text.data), &small);
}

/* ---- counts ---- */

struct range {
	int64_t min, max;
};

static struct range range_of(const struct pf_capture *s, size_t figure)
{
	struct range r = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < s->capture_count; i++)
		for (size_t k = 0; k < s->captures[i]->step_count; k++) {
			const struct pf_capture_step *step =
				&s->captures[i]->each_step[k];

			if (step->time.is_partial)
				continue;
			PF_AT_MOST(r.min, step->of[figure]);
			PF_AT_LEAST(r.max, step->of[figure]);
		}
	return r;
}

static const char *range_text(struct pf_diff_run *d, struct range r)
{
	struct pf_buf text = { 0 };

	if (r.min >= r.max)
		return NULL;
	pf_buf_addf(&text, "%s to %s", PF_SHOW_COUNT(r.min),
		    PF_SHOW_COUNT(r.max));
	return diff_keep_made(d, text.data);
}

/* A count of both sides; without a change where it is not known. */
static struct pf_diff_count count_of(struct pf_diff_run *d, size_t i)
{
	enum pf_step_figure what = (enum pf_step_figure)i;
	bool has_a = pf_side_knows(&d->a, &d->b, what);
	bool has_b = pf_side_knows(&d->b, &d->a, what);
	int64_t a = d->a.of[i], b = d->b.of[i];
	struct pf_diff_count out = {
		.key = pf_step_figures[i].key,
		.title = pf_step_figures[i].title,
		.a = has_a ? pf_ratio((double)a, d->a.steps) : NAN,
		.b = has_b ? pf_ratio((double)b, d->b.steps) : NAN,
		.a_range = range_text(d, range_of(&d->a, i)),
		.b_range = range_text(d, range_of(&d->b, i)),
		.a_sum = has_a ? a : PF_NO_INT,
		.b_sum = has_b ? b : PF_NO_INT,
	};

	out.delta = d->out->is_cut ? NAN : out.b - out.a;
	if (has_a && has_b && !d->out->is_cut &&
	    !pf_mean_compare(a, d->a.steps, b, d->b.steps))
		out.delta = 0;
	out.share = a ? out.delta / out.a : NAN;
	return out;
}

static void find_counts(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;

	for (size_t i = PF_FIGURE_KERNELS; i < PF_FIGURE_GPU_NS; i++)
		if (d->args->wide || (pf_step_figures[i].kind == PF_COUNT &&
				      (d->a.of[i] || d->b.of[i])))
			out->counts[out->count_count++] = count_of(d, i);
}

/* What is copied per step, or most that is allocated; -1: unknown. */
static int64_t bytes_of(const struct pf_capture *s,
			const struct pf_capture *other, size_t figure)
{
	return pf_side_knows(s, other, (enum pf_step_figure)figure)
		       ? s->mean[figure]
		       : -1;
}

static void find_bytes(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;

	for (size_t i = 0; i < PF_FIGURES; i++) {
		int64_t a = bytes_of(&d->a, &d->b, i);
		int64_t b = bytes_of(&d->b, &d->a, i);
		int64_t least = pf_figure_is_peak(i) ? 0
				: d->args->wide      ? -1
						     : 1;
		struct pf_both bytes = pf_both(a, b);

		if (pf_step_figures[i].kind != PF_BYTES ||
		    (a < least && b < least))
			continue;
		if (a < 0 || b < 0 || out->is_cut)
			bytes = (struct pf_both){ a, b, PF_NO_INT, NAN };
		out->bytes[out->bytes_count++] =
			(struct pf_diff_bytes){ pf_step_figures[i].title,
						bytes };
	}
}

static void add_captures_of(struct pf_diff_run *d, const struct pf_capture *s,
			    const char *side)
{
	for (size_t i = 0; i < s->capture_count; i++) {
		const struct pf_capture *c = s->captures[i];
		const char *xxh128 = pf_intern_text(&c->texts, c->xxh128, NULL);

		d->out->captures[d->out->capture_count++] =
			(struct pf_diff_capture){
				.side = side,
				.path = pf_diff_keep_text(d, c->path),
				.xxh128 = *xxh128 ? pf_diff_keep_text(d, xxh128)
						  : NULL,
				.steps = c->steps,
				.cut_off = (int64_t)(c->step_count - c->steps),
				.mean_ns = c->mean[PF_FIGURE_TIME],
				.time = c->time,
				.sum_ns = c->of[PF_FIGURE_TIME],
			};
	}
}

static void find_captures(struct pf_diff_run *d)
{
	d->out->captures = diff_room(d, d->a.capture_count + d->b.capture_count,
				     sizeof(*d->out->captures));
	add_captures_of(d, &d->a, "A");
	add_captures_of(d, &d->b, "B");
}

/* ---- ranks ---- */

/* Whole steps of a rank on both sides. */
struct of_rank {
	int64_t rank, steps[2], of[2][PF_STEP_CLASSES];
	int64_t mean[2][PF_STEP_CLASSES], step_ns[2];
};

static void add_ranks_of(const struct pf_capture *s, size_t side,
			 struct pf_keyed *ranks, bool *has_all)
{
	for (size_t i = 0; i < s->capture_count; i++) {
		const struct pf_capture *c = s->captures[i];

		for (size_t k = 0; k < c->step_count; k++) {
			const struct pf_step_time *t = &c->each_step[k].time;
			struct of_rank *r;

			if (t->is_partial)
				continue;
			*has_all &= t->rank >= 0;
			r = PF_KEYED_ROW(ranks, struct of_rank,
					 pf_keyed_at(ranks, (uint64_t)t->rank));
			r->rank = t->rank;
			r->steps[side]++;
			for (size_t n = 0; n < PF_STEP_CLASSES; n++)
				pf_sat_sum(&r->of[side][n], t->class_ns[n]);
		}
	}
}

/* Most of any class but communication, in which it waits for other ranks. */
static int64_t moved_by(const struct of_rank *r)
{
	int64_t most = 0;

	if (!r->steps[0] || !r->steps[1])
		return INT64_MAX;
	for (size_t i = 0; i < PF_STEP_CLASSES; i++) {
		int64_t moved = llabs(r->mean[1][i] - r->mean[0][i]);

		if (i != PF_STEP_COMM && moved > most)
			most = moved;
	}
	return most;
}

static int by_moved(const void *a, const void *b)
{
	const struct of_rank *x = a, *y = b;

	if (moved_by(x) != moved_by(y))
		return moved_by(x) > moved_by(y) ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct pf_both both_of_rank(const struct of_rank *r, int64_t a,
				   int64_t b)
{
	struct pf_both both = pf_both(a, b);

	if (r->steps[0] && r->steps[1])
		return both;
	return (struct pf_both){ r->steps[0] ? a : PF_NO_INT,
				 r->steps[1] ? b : PF_NO_INT, PF_NO_INT, NAN };
}

static void put_rank(struct pf_diff_run *d, const struct of_rank *r,
		     const char *name, struct pf_both ns, int64_t a_sum,
		     int64_t b_sum)
{
	d->out->ranks[d->out->rank_count++] = (struct pf_diff_rank){
		.rank = r->rank,
		.name = name,
		.ns = ns,
		.sum_ns = both_of_rank(r, a_sum, b_sum),
		.a_steps = r->steps[0],
		.b_steps = r->steps[1],
	};
}

/* Its step, and then the classes that it has, as they come. */
static void put_classes(struct pf_diff_run *d, const struct of_rank *r)
{
	const size_t at = d->out->rank_count;
	int64_t sums[2] = { 0 };

	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		for (size_t s = 0; s < 2; s++)
			pf_sat_sum(&sums[s], r->of[s][i]);
	put_rank(d, r, "step", both_of_rank(r, r->step_ns[0], r->step_ns[1]),
		 sums[0], sums[1]);
	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		if (r->of[0][i] || r->of[1][i])
			put_rank(d, r, d->out->classes[i].name,
				 both_of_rank(r, r->mean[0][i], r->mean[1][i]),
				 r->of[0][i], r->of[1][i]);
	if (d->out->ranks[at].ns.delta == PF_NO_INT)
		return;
	/* the class that changes most is said first */
	for (size_t i = at + 2; i < d->out->rank_count; i++)
		for (size_t k = i;
		     k > at + 1 && llabs(d->out->ranks[k].ns.delta) >
					   llabs(d->out->ranks[k - 1].ns.delta);
		     k--) {
			struct pf_diff_rank swap = d->out->ranks[k];

			d->out->ranks[k] = d->out->ranks[k - 1];
			d->out->ranks[k - 1] = swap;
		}
}

/* Of several ranks, where at least one is on both sides. */
static void find_ranks(struct pf_diff_run *d)
{
	PF_AUTO(pf_keyed_end) struct pf_keyed ranks = { 0 };
	bool has_all = true, is_shared = false;

	pf_keyed_begin(&ranks, sizeof(struct of_rank), PF_KEYED_SUMS);
	add_ranks_of(&d->a, 0, &ranks, &has_all);
	add_ranks_of(&d->b, 1, &ranks, &has_all);
	if (!has_all || ranks.count < 2 || d->out->is_cut)
		return;
	for (size_t i = 0; i < ranks.count; i++) {
		struct of_rank *r = PF_KEYED_ROW(&ranks, struct of_rank, i);

		for (size_t s = 0; s < 2; s++) {
			pf_mean_parts(r->of[s], PF_STEP_CLASSES, r->steps[s],
				      r->mean[s]);
			for (size_t n = 0; n < PF_STEP_CLASSES; n++)
				r->step_ns[s] += r->mean[s][n];
		}
		is_shared |= r->steps[0] && r->steps[1];
	}
	if (!is_shared)
		return;
	pf_keyed_sort(&ranks, by_moved);
	d->out->ranks = diff_room(d, ranks.count * (PF_STEP_CLASSES + 1),
				  sizeof(*d->out->ranks));
	for (size_t i = 0; i < ranks.count; i++)
		put_classes(d, PF_KEYED_ROW(&ranks, struct of_rank, i));
}

/*
 * Lists of operators, idle time and blocking calls as outer joins of both
 * sides.  What is left of one name on both sides after equal keys were joined
 * is one row: the same operator with other shapes, the same place on another
 * line.
 */

/* Like PF_MATCH_SHAPE: what of the key may differ does. */
#define JOIN_OTHER PF_MATCH_SHAPE

/* A member of sums, by where it is. */
#define SUM(member) offsetof(struct pf_row_sums, member)

static int64_t sum_at(const struct pf_row_sums *sums, size_t at)
{
	return *(const int64_t *)(const void *)((const char *)sums + at);
}

PF_ORDER(by_weight, struct pf_pair, PF_DOWN(weight) PF_UP(a_row) PF_UP(b_row))

/* Order by how much a sum changes per step. */
static void order(struct pf_diff_run *d, struct pf_pairs *j, size_t sum)
{
	for (size_t i = 0; i < j->count; i++) {
		struct pf_pair *x = &j->items[i];

		x->weight = llabs(pf_mean(sum_at(&x->b, sum), d->b.steps) -
				  pf_mean(sum_at(&x->a, sum), d->a.steps));
	}
	pf_sort(j->items, j->count, sizeof(*j->items), by_weight);
}

/* Means of a sum of all items, that add up: of A, then of B. */
static int64_t *means_take(const struct pf_diff_run *d,
			   const struct pf_pairs *j, size_t sum)
{
	PF_OWN int64_t *sums = pf_calloc(2 * j->count + 1, sizeof(*sums));
	int64_t *out = pf_calloc(2 * j->count + 1, sizeof(*out));

	for (size_t i = 0; i < j->count; i++) {
		sums[i] = sum_at(&j->items[i].a, sum);
		sums[j->count + i] = sum_at(&j->items[i].b, sum);
	}
	pf_mean_parts(sums, j->count, d->a.steps, out);
	pf_mean_parts(sums + j->count, j->count, d->b.steps, out + j->count);
	return out;
}

static bool is_changed(const struct pf_diff_run *d, const struct pf_pair *x,
		       size_t sum)
{
	return pf_mean_compare(sum_at(&x->a, sum), d->a.steps,
			       sum_at(&x->b, sum), d->b.steps);
}

/* has_part: also in the last of the sums. */
static bool is_unchanged(const struct pf_diff_run *d, const struct pf_pair *x,
			 bool has_part)
{
	return x->match == PF_MATCH_EXACT && !is_changed(d, x, SUM(count)) &&
	       !is_changed(d, x, SUM(ns)) &&
	       (!has_part || !is_changed(d, x, SUM(part_ns)));
}

/* "model.py:12 forward" without the line. */
static uint32_t without_line(struct pf_diff_run *d, uint32_t frame)
{
	const char *text = pf_diff_text(d, frame), *colon = strrchr(text, ':');
	PF_AUTO(pf_buf_release) struct pf_buf out = { 0 };
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

	if (!digits)
		return frame;
	pf_buf_add(&out, text, (size_t)(colon - text));
	pf_buf_adds(&out, colon + 1 + digits);
	frame = pf_intern_add(&d->texts, out.data, out.len);
	return frame;
}

/* ---- operators ---- */

static size_t op_whole(void *d, const void *row, uint32_t out[PF_PART_MAX])
{
	const struct pf_op_row *r = row;

	(void)d;
	memcpy(out, &r->key, sizeof(r->key));
	return sizeof(r->key);
}

static bool is_code(const struct pf_op_key *key)
{
	return key->kind == PF_KIND_PYTHON;
}

static size_t op_part(void *d, const void *row, uint32_t out[PF_PART_MAX])
{
	const struct pf_op_row *r = row;

	out[0] = is_code(&r->key) ? without_line(d, r->key.name) : r->key.name;
	out[1] = r->key.kind;
	return 2 * sizeof(*out);
}

static const char *category_of(uint32_t kind)
{
	switch (kind) {
	case PF_KIND_CPU_OP:
		return "op";
	case PF_KIND_ANNOTATION:
		return "annotation";
	case PF_KIND_PYTHON:
		return "python";
	default:
		return "call";
	}
}

static struct pf_diff_op op_row(struct pf_diff_run *d, const struct pf_pair *x)
{
	const struct pf_op_row *a = pf_op_at(&d->a, x->a_row);
	const struct pf_op_row *b = pf_op_at(&d->b, x->b_row);
	const struct pf_op_key *any = op_of(d, x);

	return (struct pf_diff_op){
		.name = is_code(any)
				? diff_keep_made(d, pf_diff_code_take(d, any))
				: diff_keep_known(d, any->name),
		.kind = category_of(any->kind),
		.is_call = any->kind != PF_KIND_CPU_OP &&
			   any->kind != PF_KIND_ANNOTATION && !is_code(any),
		.match = x->match == JOIN_OTHER && is_code(any)
				 ? "line"
				 : pf_match_names[x->match],
		.a_shapes =
			a && !is_code(any) ? diff_keep(d, a->key.shapes) : NULL,
		.b_shapes =
			b && !is_code(any) ? diff_keep(d, b->key.shapes) : NULL,
		.count = pf_both_counts(d, x->a.count, x->b.count),
		.ns = pf_both(pf_mean(x->a.ns, d->a.steps),
			      pf_mean(x->b.ns, d->b.steps)),
		.calls = pf_both(x->a.count, x->b.count),
		.sum_ns = pf_both(x->a.ns, x->b.ns),
	};
}

static void make_ops(struct pf_diff_run *d)
{
	d->ops = pf_pairs_take(&d->a.ops, &d->b.ops, op_whole, op_part, d);
	d->op_uses = pf_calloc(d->texts.count + (size_t)1, sizeof(uint32_t));
	d->has_same_ops = true;
	for (size_t i = 0; i < d->ops.count; i++) {
		const struct pf_pair *x = &d->ops.items[i];

		d->op_uses[op_of(d, x)->name]++;
		d->has_same_ops &= op_of(d, x)->kind != PF_KIND_CPU_OP ||
				   (x->match == PF_MATCH_EXACT &&
				    !is_changed(d, x, SUM(count)));
	}
}

/* " float" of "[[3,224]] ["float","Bool"]": the type of the first input. */
static void add_type(struct pf_buf *out, const char *shapes)
{
	const char *type = strchr(shapes, '"');
	size_t len = type ? strcspn(type + 1, "\"") : 0;

	if (len)
		pf_buf_addf(out, " %.*s", (int)len, type + 1);
}

/* An operator's name, with its shapes if there are several of the name. */
static const char *shown_op(struct pf_diff_run *d, const struct pf_pair *x)
{
	const struct pf_op_key *op = op_of(d, x);
	struct pf_buf out = { 0 };

	if (is_code(op))
		return diff_keep_made(d, pf_diff_code_take(d, op));
	if (d->op_uses[op->name] < 2)
		return diff_keep(d, op->name);
	pf_buf_adds(&out, pf_diff_text(d, op->name));
	diff_add_dims(&out, pf_diff_text(d, op->shapes), 0);
	add_type(&out, pf_diff_text(d, op->shapes));
	return diff_keep_made(d, out.data);
}

/* A row that a side has none of, as a GPU works or Python is not recorded. */
static bool is_of_one_side(const struct pf_diff_run *d,
			   const struct pf_op_key *key)
{
	if (is_code(key))
		return !d->out->has_code;
	return (!d->out->has_self || pf_diff_is_one_sided(d->out)) &&
	       !strcmp(pf_diff_text(d, key->name), PF_STEP_ITSELF);
}

/* Where the first input begins that differs; 0: where all do. */
static size_t first_other(const char *a, const char *b)
{
	size_t at = 0, from = 0;

	for (int depth = 0; a[at] && a[at] == b[at] && a[at] != '"'; at++) {
		depth += (a[at] == '[') - (a[at] == ']');
		if (a[at] == '[' && depth == 2)
			from = at;
	}
	return a[at] == '"' || from <= 1 ? 0 : from;
}

/* "aten::mm 4x256 256x256 -> 64x256 256x256" */
/* Are their inputs as large, and of another type? */
static bool is_retyped(const struct pf_diff_run *d, const struct pf_pair *x)
{
	const char *a = pf_diff_text(d, pf_op_at(&d->a, x->a_row)->key.shapes);
	const char *b = pf_diff_text(d, pf_op_at(&d->b, x->b_row)->key.shapes);
	const size_t len = strcspn(a, "\"");

	return a[len] && len == strcspn(b, "\"") && !strncmp(a, b, len);
}

static const char *keep_reshaped(struct pf_diff_run *d, const struct pf_pair *x)
{
	const struct pf_op_key *a = &pf_op_at(&d->a, x->a_row)->key,
			       *b = &pf_op_at(&d->b, x->b_row)->key;
	const char *in_a = pf_diff_text(d, a->shapes);
	const char *in_b = pf_diff_text(d, b->shapes);
	const size_t from = first_other(in_a, in_b);
	struct pf_buf out = { 0 };

	pf_buf_adds(&out, pf_diff_text(d, a->name));
	diff_add_dims(&out, in_a, from);
	pf_buf_adds(&out, " ->");
	diff_add_dims(&out, in_b, from);
	return diff_keep_made(d, out.data);
}

static void find_ops(struct pf_diff_run *d)
{
	struct pf_pairs *j = &d->ops;
	const struct pf_pair *reshaped = NULL;
	struct pf_diff *out = d->out;
	PF_OWN int64_t *self_ns = NULL;
	int64_t most_ns = 0;

	/* what is not recorded, calls or functions, counts for what is around */
	out->has_code = d->a.has_code && d->b.has_code;
	out->has_self = pf_side_knows(&d->a, &d->b, PF_FIGURE_CALLS) &&
			pf_side_knows(&d->b, &d->a, PF_FIGURE_CALLS) &&
			d->a.has_code == d->b.has_code;
	order(d, j, out->has_self ? SUM(part_ns) : SUM(ns));
	self_ns = means_take(d, j, SUM(part_ns));
	for (size_t i = 0; i < j->count; i++) {
		const struct pf_pair *x = &j->items[i];
		int64_t ns = x->a.part_ns + x->b.part_ns;

		/* a range is the program's own, and may hold anything */
		if (out->has_self && x->match == PF_MATCH_EXACT &&
		    op_of(d, x)->kind != PF_KIND_ANNOTATION &&
		    !is_changed(d, x, SUM(count)))
			pf_alike_add(&d->host_alike, (double)self_ns[i],
				     (double)self_ns[j->count + i]);
		if (op_of(d, x)->kind != PF_KIND_CPU_OP)
			continue;
		d->op_ns += ns;
		/* what another precision takes is what people want to know */
		if (x->match != PF_MATCH_SHAPE || is_retyped(d, x))
			continue;
		d->op_shape_ns += ns;
		if (ns > most_ns) {
			most_ns = ns;
			reshaped = x;
		}
	}
	if (reshaped)
		d->reshaped = keep_reshaped(d, reshaped);
	out->ops = diff_room(d, j->count, sizeof(*out->ops));
	for (size_t i = 0; !out->is_cut && i < j->count; i++) {
		const struct pf_pair *x = &j->items[i];
		struct pf_diff_op *row = &out->ops[out->op_count];

		if (!d->args->wide && is_unchanged(d, x, out->has_self))
			continue;
		*row = op_row(d, x);
		if ((row->is_call && !out->has_self) ||
		    is_of_one_side(d, op_of(d, x)))
			continue;
		row->self_ns = pf_both(self_ns[i], self_ns[j->count + i]);
		if (!out->has_self) {
			row->self_ns.delta = PF_NO_INT;
			row->self_ns.share = NAN;
		}
		row->shown = shown_op(d, x);
		out->op_count++;
	}
}

/* ---- changes of structure ---- */

static void put_change(struct pf_diff_run *d, const char *change,
		       const char *what, double a, double b)
{
	struct pf_diff *out = d->out;

	out->changes[out->change_count++] =
		(struct pf_diff_change){ change, what, a / (double)d->a.steps,
					 b / (double)d->b.steps };
}

/* What happened to a pair of GPU work; NULL: nothing. */
static const char *change_of(const struct pf_diff_run *d,
			     const struct pf_pair *p)
{
	switch (p->match) {
	case PF_MATCH_SHAPE:
		return "shape changed";
	case PF_MATCH_STREAM:
		return "stream changed";
	case PF_MATCH_POSITION:
	case PF_MATCH_FAMILY:
		return p->a_rows != p->b_rows || p->a.count * d->b.steps !=
							 p->b.count * d->a.steps
			       ? "kernels changed"
			       : "kernel changed";
	case PF_MATCH_GROUP:
		return p->b_rows < p->a_rows ? "kernels fused"
					     : "kernels changed";
	case PF_MATCH_ADDED:
		return "kernel added";
	case PF_MATCH_REMOVED:
		return "kernel removed";
	default:
		return pf_mean_compare(p->a.count, d->a.steps, p->b.count,
				       d->b.steps)
			       ? "number of kernels"
			       : NULL;
	}
}

static void add_gpu_changes(struct pf_diff_run *d)
{
	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_pair *p = d->rows[i].pair;
		const char *change = change_of(d, p);

		if (change)
			put_change(d, change, d->names[i], (double)p->a.count,
				   (double)p->b.count);
	}
}

static const char *op_change(const struct pf_diff_run *d,
			     const struct pf_pair *x)
{
	switch (x->match) {
	case PF_MATCH_ADDED:
		return "op added";
	case PF_MATCH_REMOVED:
		return "op removed";
	case JOIN_OTHER:
		/* none are no others */
		if (d->out->checks[PF_CHECK_SHAPES].is != PF_DIFF_UNKNOWN)
			return "op with other shapes";
		/* fall through */
	default:
		return is_changed(d, x, SUM(count)) ? "number of ops" : NULL;
	}
}

static void add_op_changes(struct pf_diff_run *d)
{
	order(d, &d->ops, SUM(count));
	for (size_t i = 0; i < d->ops.count; i++) {
		const struct pf_pair *x = &d->ops.items[i];
		const char *change = op_change(d, x);

		if (change && op_of(d, x)->kind == PF_KIND_CPU_OP)
			put_change(d, change, shown_op(d, x),
				   (double)x->a.count, (double)x->b.count);
	}
}

static void find_changes(struct pf_diff_run *d)
{
	/* what is missing may be what was cut off */
	if (d->out->is_cut)
		return;
	d->out->changes = diff_room(d, d->pairs.count + d->ops.count,
				    sizeof(*d->out->changes));
	if (!pf_diff_is_one_sided(d->out))
		add_gpu_changes(d);
	add_op_changes(d);
}

/* ---- idle time and blocking calls ---- */

static size_t wait_whole(void *d, const void *row, uint32_t out[PF_PART_MAX])
{
	const struct pf_wait_row *r = row;

	(void)d;
	memcpy(out, &r->key, sizeof(r->key));
	return sizeof(r->key);
}

static size_t wait_part(void *d, const void *row, uint32_t out[PF_PART_MAX])
{
	const struct pf_wait_row *r = row;

	out[3] = without_line(d, r->key.frame);
	memcpy(out, &r->key, offsetof(struct pf_wait_key, frame));
	return 4 * sizeof(*out);
}

static struct pf_diff_wait wait_row(struct pf_diff_run *d,
				    const struct pf_pairs *j,
				    const struct pf_pair *x)
{
	const struct pf_wait_key *key =
		x->a_row != PF_NO_ROW
			? &PF_KEYED_ROW(j->rows[0], struct pf_wait_row,
					x->a_row)
				   ->key
			: &PF_KEYED_ROW(j->rows[1], struct pf_wait_row,
					x->b_row)
				   ->key;
	struct pf_diff_wait row = {
		.why = (enum pf_cause)key->cause,
		.cause = pf_cause_name((enum pf_cause)key->cause),
		.name = diff_keep_known(d, key->name),
		.frame = diff_keep_known(d, key->frame),
		.op = diff_keep_known(d, key->op),
		.match = x->match == JOIN_OTHER ? "line"
						: pf_match_names[x->match],
		.count = pf_both_counts(d, x->a.count, x->b.count),
		.calls = pf_both(x->a.count, x->b.count),
		.sum_ns = pf_both(x->a.ns, x->b.ns),
	};

	row.where = row.frame ? row.frame : row.op;
	return row;
}

/* A list of holders of idle time, or (is_calls) of blocking calls. */
static struct pf_diff_wait *sites_take(struct pf_diff_run *d,
				       const struct pf_keyed *a,
				       const struct pf_keyed *b, bool is_calls,
				       size_t *count)
{
	PF_AUTO(pf_pairs_release)
	struct pf_pairs j = pf_pairs_take(a, b, wait_whole, wait_part, d);
	struct pf_diff_wait *rows = diff_room(d, j.count, sizeof(*rows));
	PF_OWN int64_t *ns = NULL, *idle_ns = NULL;

	order(d, &j, is_calls ? SUM(count) : SUM(ns));
	ns = means_take(d, &j, SUM(ns));
	idle_ns = means_take(d, &j, SUM(part_ns));
	for (size_t i = 0; i < j.count; i++) {
		struct pf_diff_wait *row = &rows[*count];

		if (!d->args->wide &&
		    (is_calls ? is_unchanged(d, &j.items[i], true)
			      : ns[i] == ns[j.count + i]))
			continue;
		*row = wait_row(d, &j, &j.items[i]);
		row->ns = pf_both(ns[i], ns[j.count + i]);
		row->idle_ns = pf_both(idle_ns[i], idle_ns[j.count + i]);
		++*count;
	}
	return rows;
}

static void find_waits(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;

	if (pf_diff_is_one_sided(out) || out->is_cut)
		return;
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		if (d->a.cause_ns[i] || d->b.cause_ns[i])
			out->causes[out->cause_count++] = (struct pf_diff_time){
				pf_cause_name((enum pf_cause)i),
				pf_both(d->a.cause_mean_ns[i],
					d->b.cause_mean_ns[i]),
				pf_both(d->a.cause_ns[i], d->b.cause_ns[i])
			};
	out->idle_sites = sites_take(d, &d->a.idle, &d->b.idle, false,
				     &out->idle_site_count);
	out->sync_sites = sites_take(d, &d->a.sites, &d->b.sites, true,
				     &out->sync_site_count);
}

/*
 * key_averages() of both sides by name.  They are of whole captures, as torch
 * has them, not per step; of several captures of a side the mean.
 */

struct both {
	uint32_t name;
	bool is_device;
	int64_t sums[2][PF_AVERAGE_VALUES];
	int64_t weight;
};

static void add_side(struct pf_diff_run *d, struct pf_keyed *rows,
		     const struct pf_capture *s, int side)
{
	for (size_t i = 0; i < s->capture_count; i++) {
		const struct pf_capture *c = s->captures[i];

		for (size_t k = 0; k < c->average_count; k++) {
			const struct pf_average_row *r = &c->averages[k];
			size_t len;
			const char *text =
				pf_intern_text(&c->texts, r->name, &len);
			uint32_t key[2] = { pf_intern_add(&d->texts, text, len),
					    r->is_device };
			size_t n = pf_keyed_at_text(rows, (const char *)key,
						    sizeof(key));
			struct both *x = PF_KEYED_ROW(rows, struct both, n);

			x->name = key[0];
			x->is_device = r->is_device;
			for (size_t v = 0; v < PF_AVERAGE_VALUES; v++)
				x->sums[side][v] += r->value[v];
		}
	}
}

PF_ORDER(by_average, struct both, PF_DOWN(weight) PF_UP(name) PF_UP(is_device))

static int64_t mean_of(const struct pf_diff_run *d, const struct both *x,
		       int side, size_t v)
{
	const struct pf_capture *s = side ? &d->b : &d->a;

	return pf_mean(x->sums[side][v], (int64_t)s->capture_count);
}

/* Those whose first column changed most come first. */
static void find_averages(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;
	struct pf_keyed rows;

	if (!d->args->column_count)
		return;
	pf_keyed_begin(&rows, sizeof(struct both), PF_KEYED_SUMS);
	add_side(d, &rows, &d->a, 0);
	add_side(d, &rows, &d->b, 1);
	for (size_t i = 0; i < rows.count; i++) {
		struct both *x = PF_KEYED_ROW(&rows, struct both, i);
		size_t v = (size_t)d->args->column[0];

		x->weight = llabs(mean_of(d, x, 1, v) - mean_of(d, x, 0, v));
	}
	pf_keyed_sort(&rows, by_average);
	out->averages = diff_room(d, rows.count, sizeof(*out->averages));
	out->average_count = rows.count;
	for (size_t i = 0; i < rows.count; i++) {
		const struct both *x = PF_KEYED_ROW(&rows, struct both, i);
		struct pf_diff_average *row = &out->averages[i];

		row->name = diff_keep(d, x->name);
		row->device = x->is_device ? "CUDA" : "CPU";
		for (size_t v = 0; v < PF_AVERAGE_VALUES; v++) {
			row->a[v] = mean_of(d, x, 0, v);
			row->b[v] = mean_of(d, x, 1, v);
		}
	}
	pf_keyed_end(&rows);
}

static int check_side(const struct pf_capture *s, const char *name,
		      struct pf_err *err)
{
	if (!s->steps)
		return pf_fail(err, PF_EDATA, "side %s: '%s' %s", name,
			       s->captures[0]->path,
			       pf_capture_no_step(s->captures[0]));
	return 0;
}

static bool is_same_capture(const struct pf_capture *a,
			    const struct pf_capture *b)
{
	const char *x = pf_intern_text(&a->texts, a->xxh128, NULL);

	return a == b ||
	       (*x && !strcmp(x, pf_intern_text(&b->texts, b->xxh128, NULL)));
}

static const struct pf_capture *capture_at(const struct pf_diff_run *d,
					   size_t i)
{
	return i < d->a.capture_count ? d->a.captures[i]
				      : d->b.captures[i - d->a.capture_count];
}

/* Where captures are counted each counts once. */
static int check_twice(const struct pf_diff_run *d, struct pf_err *err)
{
	size_t count = d->a.capture_count + d->b.capture_count;

	for (size_t i = 0; count > 2 && i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (is_same_capture(capture_at(d, k), capture_at(d, i)))
				return pf_fail(
					err, PF_EUSAGE,
					"'%s' and '%s' are the same capture: "
					"it would count twice",
					capture_at(d, k)->path,
					capture_at(d, i)->path);
	return 0;
}

static int check_sides(const struct pf_diff_run *d, struct pf_err *err)
{
	PF_TRY(check_twice(d, err));
	if (d->a.capture_count > PF_CAPTURE_SIDE_MAX ||
	    d->b.capture_count > PF_CAPTURE_SIDE_MAX)
		return pf_fail(err, PF_EUSAGE, "a side has at most %d captures",
			       PF_CAPTURE_SIDE_MAX);
	PF_TRY(check_side(&d->a, "A", err));
	return check_side(&d->b, "B", err);
}

PF_ORDER(by_delta, struct pf_diff_row,
	 PF_FAR(delta_ns) PF_UP(pair->a_row) PF_UP(pair->b_row))

static void make_rows(struct pf_diff_run *d)
{
	size_t count = d->pairs.count;
	PF_OWN int64_t *means = means_take(d, &d->pairs, SUM(ns));

	d->rows = pf_calloc(count + 1, sizeof(*d->rows));
	for (size_t i = 0; i < count; i++) {
		int64_t a = means[i], b = means[count + i];

		d->rows[i] =
			(struct pf_diff_row){ &d->pairs.items[i], a, b, b - a };
	}
	pf_sort(d->rows, count, sizeof(*d->rows), by_delta);
}

/* ---- the result ---- */

void pf_diff_release(struct pf_diff *diff)
{
	pf_arena_release(&diff->texts);
	free(diff->notes);
	*diff = (struct pf_diff){ 0 };
}

/* ---- the whole ---- */

static void find_all(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;

	out->a_has_steps = d->a.has_steps;
	out->b_has_steps = d->b.has_steps;
	out->a_steps = d->a.steps;
	out->b_steps = d->b.steps;
	out->a_has_gpu = d->a.gpu_events;
	out->b_has_gpu = d->b.gpu_events;
	out->a_ns = d->a.mean[PF_FIGURE_TIME];
	out->b_ns = d->b.mean[PF_FIGURE_TIME];
	d->has_cut = (d->a.lost.cut_count || d->b.lost.cut_count) &&
		     !is_same_capture(d->a.captures[0], d->b.captures[0]);
	out->is_cut = d->has_cut && !d->args->force;
	make_rows(d);
	name_rows(d);
	make_ops(d);
	find_ops(d);
	diff_find_checks(d);
	diff_judge(d);
	diff_find_classes(d);
	find_rows(d);
	find_counts(d);
	find_changes(d);
	find_waits(d);
	find_path(d);
	find_advice(d);
	find_averages(d);
	find_bytes(d);
	find_captures(d);
	find_ranks(d);
	diff_find_notes(d);
}

static int check_gates(const struct pf_diff_run *d, struct pf_doc *doc,
		       bool *is_failed, struct pf_err *err)
{
	const struct pf_gate_times times = { &d->judge, &d->out->total };
	bool has_times = d->out->is_comparable || d->args->force;
	const struct pf_gate_sides sides = { &d->a, &d->b,
					     has_times ? &times : NULL,
					     d->out->is_cut };

	for (size_t i = 0; i < d->args->fail_on.count; i++)
		PF_TRY(pf_gate_check(d->args->fail_on.items[i], &sides, doc,
				     is_failed, err) < 0);
	return 0;
}

static int answer(struct pf_diff_run *d, struct pf_doc *doc, bool *is_failed,
		  struct pf_err *err)
{
	find_all(d);
	pf_diff_show(d->out, doc);
	doc->is_of_many = d->a.trace_count > PF_FOLD_RANKS ||
			  d->b.trace_count > PF_FOLD_RANKS;
	PF_TRY(check_gates(d, doc, is_failed, err));
	for (size_t i = 0; i < d->out->note_count; i++)
		pf_doc_note(doc, "%s", d->out->notes[i]);
	return 0;
}

int pf_diff(const struct pf_capture *const *a, size_t a_count,
	    const struct pf_capture *const *b, size_t b_count,
	    const struct pf_diff_args *args, struct pf_diff *kept,
	    struct pf_doc *doc, bool *is_failed, struct pf_err *err)
{
	enum pf_diff_by by =
		args->by < 0 ? PF_BY_ALL : (enum pf_diff_by)args->by;
	struct pf_diff own = { 0 }, *out = kept ? kept : &own;
	struct pf_diff_run d = { .args = args, .out = out };
	int rc;

	*is_failed = false;
	out->args = *args;
	pf_side_pool(&d.a, &d.texts, a, a_count, by);
	pf_side_pool(&d.b, &d.texts, b, b_count, by);
	rc = check_sides(&d, err);
	if (!rc)
		rc = pf_match(&d.texts, &d.a, &d.b, by, &d.pairs, err);
	if (!rc)
		rc = answer(&d, doc, is_failed, err);
	free(d.host_alike.ratios);
	free(d.gpu_alike.ratios);
	free(d.names);
	free(d.rows);
	free(d.kept);
	free(d.op_uses);
	pf_pairs_release(&d.pairs);
	pf_pairs_release(&d.ops);
	pf_capture_rows_end(&d.a);
	pf_capture_rows_end(&d.b);
	pf_intern_release(&d.texts);
	pf_diff_release(&own);
	return rc;
}
