/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "compare/diff_judge.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/stats.h"

#define WIDE 2 /* times the spread of steps is between sides far apart */
#define KEPT 2 /* steps of a trace that are never warm-up */

int64_t pf_step_total(const struct pf_capture_step *step, size_t unused)
{
	(void)unused;
	return step->time.dur_ns;
}

int64_t pf_step_busy(const struct pf_capture_step *step, size_t unused)
{
	(void)unused;
	return step->time.busy_ns;
}

int64_t pf_step_idle(const struct pf_capture_step *step, size_t unused)
{
	(void)unused;
	return step->time.dur_ns - step->time.busy_ns;
}

int64_t pf_step_class(const struct pf_capture_step *step, size_t n)
{
	return step->time.class_ns[n];
}

int64_t pf_step_counted(const struct pf_capture_step *step, size_t n)
{
	return step->count[n];
}

/* ---- values ---- */

/* Of full steps but the first ones of each trace; the caller frees them. */
static int64_t *values_take(const struct pf_capture *c, size_t warm_up,
			    const struct pf_step_figure *figure, size_t *count)
{
	int64_t *list = pf_calloc(c->step_count + 1, sizeof(*list));
	int64_t trace_id = -1;
	size_t place = 0;

	*count = 0;
	for (size_t i = 0; i < c->step_count; i++) {
		const struct pf_capture_step *s = &c->steps[i];

		if (s->time.is_partial)
			continue;
		if (s->time.trace_id != trace_id)
			place = 0;
		trace_id = s->time.trace_id;
		if (place++ >= warm_up)
			list[(*count)++] = figure->value(s, figure->n);
	}
	return list;
}

int64_t pf_judge_median(const struct pf_capture *c, size_t warm_up,
			const struct pf_step_figure *figure)
{
	size_t count;
	int64_t *list = values_take(c, warm_up, figure, &count), out;

	pf_sort(list, count, sizeof(*list), pf_stats_compare);
	out = pf_stats_quantile(list, count, 50);
	free(list);
	return out;
}

/* Of one capture its steps, of several the median of each. */
static int64_t *side_take(const struct pf_side *s, size_t warm_up,
			  const struct pf_step_figure *figure, size_t *count)
{
	int64_t *list;

	if (s->capture_count == 1)
		return values_take(s->captures[0], warm_up, figure, count);
	list = pf_calloc(s->capture_count + 1, sizeof(*list));
	for (size_t i = 0; i < s->capture_count; i++)
		list[i] = pf_judge_median(s->captures[i], warm_up, figure);
	*count = s->capture_count;
	return list;
}

/* ---- warm-up ---- */

size_t pf_judge_warm_up(const struct pf_window_args *window,
			const struct pf_side *a, const struct pf_side *b)
{
	const struct pf_side *const sides[] = { a, b };
	struct pf_steps_warm_up w = { 0, SIZE_MAX };
	size_t most;

	/* who says which steps has said it */
	if (window->step || window->skip_first)
		return 0;
	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s]->capture_count; i++)
			pf_steps_find_warm_up(
				&sides[s]->captures[i]->steps->time,
				sizeof(*sides[s]->captures[i]->steps),
				sides[s]->captures[i]->step_count, &w);
	most = w.least > KEPT ? w.least - KEPT : 0;
	return w.most < most ? w.most : most;
}

void pf_judge_say_warm_up(struct pf_buf *out, size_t steps)
{
	if (steps == 1)
		pf_buf_adds(out, "; the first step of each is left out "
				 "(warm-up)");
	else if (steps)
		pf_buf_addf(out,
			    "; the first %zu steps of each are left out "
			    "(warm-up)",
			    steps);
}

/* ---- grades ---- */

struct range {
	int64_t min, max;
};

static struct range sort_and_median(int64_t *list, size_t count,
				    int64_t *median)
{
	pf_sort(list, count, sizeof(*list), pf_stats_compare);
	*median = pf_stats_quantile(list, count, 50);
	return count ? (struct range){ list[0], list[count - 1] }
		     : (struct range){ 0 };
}

static void find_space(struct range a, struct range b, struct pf_judged *out)
{
	int64_t a_spread = a.max - a.min, b_spread = b.max - b.min;
	int64_t spread = a_spread > b_spread ? a_spread : b_spread;

	out->is_above = b.min > a.max;
	out->is_below = b.max < a.min;
	out->is_wide = (out->is_above && b.min - a.max > WIDE * spread) ||
		       (out->is_below && a.min - b.max > WIDE * spread);
}

bool pf_judge_is_large(const struct pf_judge *by, const struct pf_judged *j)
{
	int64_t longer = j->a_ns > j->b_ns ? j->a_ns : j->b_ns;
	int64_t size = j->rank.shift < 0 ? -j->rank.shift : j->rank.shift;

	return (double)size >=
	       PF_CAPTURES_DIFFER *
		       (double)(by->step_ns ? by->step_ns : longer);
}

static bool is_apart(const struct pf_judged *j)
{
	if (j->is_wide)
		return true;
	return j->rank.confidence >= 1 - PF_RANK_SIGNIFICANT &&
	       (j->rank.shift_low > 0 || j->rank.shift_high < 0);
}

static enum pf_grade grade_of(const struct pf_judge *by,
			      const struct pf_judged *j)
{
	bool has_one = by->a->capture_count == 1 && by->b->capture_count == 1;

	if (j->is_tested)
		return j->rank.p < PF_RANK_SIGNIFICANT && j->rank.shift
			       ? PF_GRADE_TESTED
			       : PF_GRADE_NONE;
	if (has_one && (j->a_count < 2 || j->b_count < 2))
		return PF_GRADE_UNKNOWN;
	/* of a few captures it is enough that no median reaches the others */
	if (has_one ? !is_apart(j) : !j->is_above && !j->is_below)
		return PF_GRADE_NONE;
	return pf_judge_is_large(by, j) ? PF_GRADE_LIKELY
					: PF_GRADE_AS_CAPTURES;
}

void pf_judge_figure(const struct pf_judge *by,
		     const struct pf_step_figure *figure, struct pf_judged *out)
{
	int64_t *a, *b;

	*out = (struct pf_judged){ .is_tested =
					   pf_judge_can_test(by->a, by->b) };
	a = side_take(by->a, by->warm_up, figure, &out->a_count);
	b = side_take(by->b, by->warm_up, figure, &out->b_count);
	find_space(sort_and_median(a, out->a_count, &out->a_ns),
		   sort_and_median(b, out->b_count, &out->b_ns), out);
	if (out->a_count && out->b_count)
		pf_rank_compare(a, out->a_count, b, out->b_count, &out->rank);
	out->grade = grade_of(by, out);
	free(a);
	free(b);
}
