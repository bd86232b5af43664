/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "diff/diff_impl.h"
#include "base/num.h"

#define SHAPES_PERCENT 10 /* of GPU time with other shapes: other work */

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

#define CHECKS 12

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

static const char *ops_title(const struct pf_diff *d)
{
	return d->a.has_steps || d->b.has_steps ? "operators per step"
						: "operators";
}

/* All of them, in order. */
static void find_checks(const struct pf_diff *d, struct check *c)
{
	int ops = !d->a.op_count || !d->b.op_count ? UNKNOWN
		  : pf_diff_same_ops(d)            ? EQUAL
						   : DIFFERENT;
	int shapes = compare_shapes(d);

	text_check(d, c++, "GPU", d->a.device_name, d->b.device_name,
		   "the GPUs are different models");
	text_check(d, c++, "compute, SMs, memory", d->a.hardware, d->b.hardware,
		   "the GPUs are different models");
	text_check(d, c++, "platform", d->a.platform, d->b.platform,
		   "the platforms are different");
	number_check(c++, "GPUs at work", d->a.device_count, d->b.device_count,
		     "another number of GPUs is at work");
	number_check(c++, "world size", d->a.world_size, d->b.world_size,
		     "the world sizes are different");
	number_check(c++, "traces", d->a.trace_count, d->b.trace_count, NULL);
	word_check(c++, "profiler steps",
		   d->a.has_steps == d->b.has_steps ? EQUAL : DIFFERENT,
		   d->a.has_steps ? "yes" : "no", d->b.has_steps ? "yes" : "no",
		   "only one side has profiler steps");
	number_check(c++, "full steps", d->a.has_steps ? d->a.steps : -1,
		     d->b.has_steps ? d->b.steps : -1, NULL);
	text_check(d, c++, "versions", d->a.versions, d->b.versions, NULL);
	text_check(d, c++, "profiler options", d->a.options, d->b.options,
		   NULL);
	word_check(c++, ops_title(d), ops, "", "", NULL);
	word_check(c++, "shapes", shapes, "", "",
		   shapes == DIFFERENT && has_other_shapes(d)
			   ? "the shapes are different"
			   : NULL);
}

void pf_diff_add_comparability(struct pf_diff *d, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "check", "Comparable in", PF_TEXT },
		{ "result", "Result", PF_TEXT },
		{ "a", "A", PF_TEXT | PF_WHOLE },
		{ "b", "B", PF_TEXT | PF_WHOLE },
	};
	struct pf_table *t = pf_doc_table(doc, "comparability",
					  "What both sides have in common",
					  cols, sizeof(cols) / sizeof(*cols));
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

void pf_diff_find_obstacle(struct pf_diff *d)
{
	struct check checks[CHECKS];

	find_checks(d, checks);
	for (size_t i = 0; i < CHECKS && !d->obstacle; i++)
		if (checks[i].result == DIFFERENT)
			d->obstacle = checks[i].obstacle;
	d->is_other = d->obstacle;
	if (!d->obstacle && !d->a.has_steps)
		d->obstacle = "captures without profiler steps have no step "
			      "to compare, and their length says nothing";
	d->is_comparable = !d->obstacle;
}
