/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "compare/diff_impl.h"
#include "base/mem.h"
#include "base/num.h"

#define SHAPES_PERCENT 10 /* of GPU time with other shapes: other work */

static const char *result_word(enum pf_diff_result result)
{
	static const char *const words[] = {
		[PF_DIFF_EQUAL] = "equal",
		[PF_DIFF_DIFFERENT] = "different",
		[PF_DIFF_UNKNOWN] = "unknown",
	};

	return words[result];
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

/* Is more than a tenth of GPU time spent on other shapes? */
static bool has_other_shapes(const struct pf_diff_run *d)
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

static enum pf_diff_result compare_shapes(const struct pf_diff_run *d)
{
	if (!d->a.has_shapes || !d->b.has_shapes)
		return PF_DIFF_UNKNOWN;
	for (size_t i = 0; i < d->pairs.count; i++)
		if (d->pairs.items[i].match == PF_MATCH_SHAPE)
			return PF_DIFF_DIFFERENT;
	return PF_DIFF_EQUAL;
}

static void number_check(struct pf_diff_run *d, enum pf_diff_what n,
			 const char *what, int64_t a, int64_t b,
			 const char *obstacle)
{
	char text[PF_NUM_MAX];

	d->out->checks[n] = (struct pf_diff_check){
		.what = what,
		.a = a < 0 ? NULL
			   : pf_diff_keep_text(d, pf_num_show_count(text, a)),
		.b = b < 0 ? NULL
			   : pf_diff_keep_text(d, pf_num_show_count(text, b)),
		.is = compare_number(a, b),
		.obstacle = obstacle,
	};
}

static void text_check(struct pf_diff_run *d, enum pf_diff_what n,
		       const char *what, uint32_t a, uint32_t b,
		       const char *obstacle)
{
	d->out->checks[n] =
		(struct pf_diff_check){ .what = what,
					.a = pf_diff_keep_known(d, a),
					.b = pf_diff_keep_known(d, b),
					.is = compare_text(d, a, b),
					.obstacle = obstacle };
}

static void word_check(struct pf_diff_run *d, enum pf_diff_what n,
		       const char *what, enum pf_diff_result is, const char *a,
		       const char *b, const char *obstacle)
{
	d->out->checks[n] = (struct pf_diff_check){
		.what = what, .a = a, .b = b, .is = is, .obstacle = obstacle
	};
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
	enum pf_diff_result ops = !d->a.op_count || !d->b.op_count
					  ? PF_DIFF_UNKNOWN
				  : pf_diff_same_ops(d) ? PF_DIFF_EQUAL
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

		c->result = result_word(c->is);
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
