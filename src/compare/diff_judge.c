/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "compare/diff_capture.h"

#include <math.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/order.h"
#include "base/stats.h"

/*
 * Differences are found by counting those up to a limit, so that memory grows
 * with the values and not with their pairs.
 *
 * U counts the pairs in which b is larger, a tie as half.  Without ties the
 * number of orders that give each U is known by recursion: the largest value
 * is of one side or the other.  With ties that distribution is wider than the
 * true one, so p is too large if anything.
 */

/*
 * The shares of all orders that give U = 0, 1, ... m * n.  ways[j][u] for i
 * values of a and j of b, one i after the other:
 * w(i, j, u) = w(i, j - 1, u - i) + w(i - 1, j, u).
 */
static double *shares_take(size_t m, size_t n)
{
	size_t width = m * n + 1;
	PF_OWN double *ways = pf_calloc((n + 1) * width, sizeof(*ways));
	double *out = pf_calloc(width, sizeof(*out)), all = 0;

	for (size_t j = 0; j <= n; j++)
		ways[j * width] = 1;
	for (size_t i = 1; i <= m; i++)
		for (size_t j = 1; j <= n; j++)
			for (size_t u = width; u-- > i;)
				ways[j * width + u] +=
					ways[(j - 1) * width + u - i];
	for (size_t u = 0; u < width; u++)
		all += ways[n * width + u];
	for (size_t u = 0; u < width; u++)
		out[u] = ways[n * width + u] / all;
	return out;
}

static double tail(const double *shares, double u)
{
	double sum = 0;

	for (size_t i = 0; (double)i <= u; i++)
		sum += shares[i];
	return sum;
}

static int64_t *sorted_take(const int64_t *values, size_t count)
{
	int64_t *out = pf_calloc(count + 1, sizeof(*out));

	memcpy(out, values, count * sizeof(*out));
	pf_sort(out, count, sizeof(*out), pf_stats_compare);
	return out;
}

/* Both sides, ascending. */
struct sides {
	int64_t *a, *b;
	size_t a_count, b_count;
};

/* The pairs with b - a <= limit. */
static size_t count_up_to(const struct sides *s, int64_t limit)
{
	size_t i = 0, out = 0;

	for (size_t j = 0; j < s->b_count; j++) {
		while (i < s->a_count && s->a[i] < s->b[j] - limit)
			i++;
		out += s->a_count - i;
	}
	return out;
}

/* The k-th smallest of all b - a, k from 1, without a list of them. */
static int64_t difference(const struct sides *s, size_t k)
{
	int64_t low = s->b[0] - s->a[s->a_count - 1];
	int64_t high = s->b[s->b_count - 1] - s->a[0];

	while (low < high) {
		int64_t middle =
			low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);

		if (count_up_to(s, middle) >= k)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* p, the confidence, and how many differences are dropped at each end. */
static size_t test_exactly(const struct sides *s, double u, struct pf_rank *out)
{
	bool is_less = s->b_count < s->a_count;
	/* the same either way, and smaller in memory */
	PF_OWN double *shares = is_less ? shares_take(s->a_count, s->b_count)
					: shares_take(s->b_count, s->a_count);
	double sum = 0;
	size_t cut = 0, pairs = s->a_count * s->b_count;

	out->p = 2 * tail(shares, u);
	while (cut < pairs / 2 && sum + shares[cut] <= PF_RANK_SIGNIFICANT / 2)
		sum += shares[cut++];
	out->confidence = 1 - 2 * (cut ? sum : shares[0]);
	return cut ? cut - 1 : 0;
}

static size_t test_many(const struct sides *s, double u, struct pf_rank *out)
{
	double m = (double)s->a_count, n = (double)s->b_count;
	double sd = sqrt(m * n * (m + n + 1) / 12);
	double cut = floor(m * n / 2 - 1.959964 * sd);

	out->p = erfc((m * n / 2 - u - 0.5) / sd / sqrt(2));
	out->confidence = 1 - PF_RANK_SIGNIFICANT;
	return cut > 1 ? (size_t)cut - 1 : 0;
}

static bool is_exact(size_t m, size_t n)
{
	size_t few = m < n ? m : n;

	return few <= PF_RANK_FEW ? m * n <= PF_RANK_PAIRS
				  : m <= PF_RANK_MAX && n <= PF_RANK_MAX;
}

static void rank_sorted(const struct sides *s, struct pf_rank *out)
{
	size_t pairs = s->a_count * s->b_count, cut;
	size_t not_above = count_up_to(s, 0), below = count_up_to(s, -1);
	double u =
		(double)(pairs - not_above) + (double)(not_above - below) / 2;
	const int64_t middle[2] = { difference(s, (pairs + 1) / 2),
				    difference(s, pairs / 2 + 1) };

	PF_AT_MOST(u, (double)pairs - u);
	cut = is_exact(s->a_count, s->b_count) ? test_exactly(s, u, out)
					       : test_many(s, u, out);
	PF_AT_MOST(out->p, 1);
	out->shift = pf_stats_quantile(middle, 2, 50);
	out->shift_low = difference(s, 1 + cut);
	out->shift_high = difference(s, pairs - cut);
}

/* At least one value on both sides, in any order; each less than 2^62. */
static void rank_compare(const int64_t *a, size_t a_count, const int64_t *b,
			 size_t b_count, struct pf_rank *out)
{
	const struct sides s = { sorted_take(a, a_count),
				 sorted_take(b, b_count), a_count, b_count };

	rank_sorted(&s, out);
	free(s.a);
	free(s.b);
}

double pf_rank_least_p(size_t a_count, size_t b_count)
{
	double orders = 1;

	for (size_t i = 1; i <= a_count; i++)
		orders *= (double)(b_count + i) / (double)i;
	return orders < 2 ? 1 : 2 / orders;
}

/*
 * Of all places U is known from sums of ranks; the one that is furthest from
 * its mean in standard deviations is tested.  Its p is no less than the least
 * of all places, so the bound over places holds.  Ranks know that there is a
 * change and not quite where: values next to it that are large by chance draw
 * it to the middle.  So the place is where distances from the levels of both
 * sides are least; no value counts for more than the levels are apart.  Parts
 * wait in a list: no recursion, and as a part is split at most once between
 * two values, an end.
 */

struct ranked {
	int64_t value;
	size_t at;
};

PF_ORDER(by_value, struct ranked, PF_UP(value) PF_UP(at))

/* The rank of each value from 1 on; of equal ones their mean. */
static double *ranks_take(const int64_t *values, size_t count)
{
	PF_OWN struct ranked *order = pf_calloc(count + 1, sizeof(*order));
	double *ranks = pf_calloc(count + 1, sizeof(*ranks));

	for (size_t i = 0; i < count; i++)
		order[i] = (struct ranked){ values[i], i };
	pf_sort(order, count, sizeof(*order), by_value);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count; end++)
			if (order[end].value != order[i].value)
				break;
		for (size_t k = i; k < end; k++)
			ranks[order[k].at] = (double)(i + end + 1) / 2;
	}
	return ranks;
}

/* Where the sides differ the most: values before it, or 0. */
static size_t find_place(const int64_t *values, size_t count)
{
	PF_OWN double *ranks = ranks_take(values, count);
	double sum = 0, most = 0;
	size_t place = 0;

	for (size_t t = 1; t < count; t++) {
		double m = (double)t, n = (double)(count - t), far;

		sum += ranks[t - 1];
		/* (U - mn/2)^2, by the part of its variance that differs */
		far = sum - m * (m + 1) / 2 - m * n / 2;
		far = far * far / (m * n);
		if (far > most) {
			most = far;
			place = t;
		}
	}
	return place;
}

static bool is_change(const int64_t *values, size_t count, size_t place,
		      double rate)
{
	struct pf_rank rank;

	if (!place)
		return false;
	rank_compare(values, place, values + place, count - place, &rank);
	return rank.p * (double)(count - 1) <= rate;
}

#define MOVES 8

static int64_t median_of(const int64_t *values, size_t count)
{
	PF_OWN int64_t *sorted = sorted_take(values, count);
	int64_t out = pf_stats_quantile(sorted, count, 50);

	return out;
}

/* Where values are nearest to the levels of the sides of "place". */
static size_t nearest_place(const int64_t *values, size_t count, size_t place)
{
	int64_t before = median_of(values, place);
	int64_t after = median_of(values + place, count - place);
	double sum = 0, least = INFINITY;
	size_t best = place;

	for (size_t t = 1; t < count; t++) {
		sum += fabs((double)(values[t - 1] - before)) -
		       fabs((double)(values[t - 1] - after));
		if (sum < least) {
			least = sum;
			best = t;
		}
	}
	return best;
}

static size_t settle_place(const int64_t *values, size_t count, size_t place)
{
	for (int i = 0; i < MOVES; i++) {
		size_t next = nearest_place(values, count, place);

		if (next == place)
			break;
		place = next;
	}
	return place;
}

/* Is a place between these two?  Then the list has it, too. */
static bool split(const int64_t *values, size_t from, size_t to, double rate,
		  size_t *place)
{
	if (to - from < 2)
		return false;
	*place = find_place(values + from, to - from);
	if (!is_change(values + from, to - from, *place, rate))
		return false;
	*place = from + settle_place(values + from, to - from, *place);
	return true;
}

static void compare(const int64_t *values, struct pf_change *c)
{
	rank_compare(values + c->from, c->at - c->from, values + c->at,
		     c->to - c->at, &c->rank);
	c->before = median_of(values + c->from, c->at - c->from);
	c->after = median_of(values + c->at, c->to - c->at);
}

void pf_changes_find(const int64_t *values, size_t count, double rate,
		     struct pf_changes *out)
{
	/* ends of parts: ends[i] to ends[i + 1] is looked at next */
	PF_OWN size_t *ends = pf_calloc(count + 2, sizeof(*ends));
	size_t parts = 1, i = 0;

	ends[1] = count;
	while (i < parts) {
		size_t place;

		if (!split(values, ends[i], ends[i + 1], rate, &place)) {
			i++;
			continue;
		}
		memmove(&ends[i + 2], &ends[i + 1],
			(parts - i) * sizeof(*ends));
		ends[i + 1] = place;
		parts++;
	}
	*out = (struct pf_changes){
		.items = pf_calloc(parts, sizeof(*out->items)),
		.count = parts - 1,
	};
	for (i = 0; i < out->count; i++) {
		out->items[i] = (struct pf_change){ .from = ends[i],
						    .at = ends[i + 1],
						    .to = ends[i + 2] };
		compare(values, &out->items[i]);
	}
}

void pf_changes_release(struct pf_changes *c)
{
	free(c->items);
	*c = (struct pf_changes){ 0 };
}

size_t pf_changes_least(double rate)
{
	size_t n = 2;

	while (pf_rank_least_p(n / 2, n - n / 2) * (double)(n - 1) > rate)
		n++;
	return n;
}

#define WIDE 2 /* times the spread of steps is between sides far apart */
#define KEPT 2 /* steps of a trace that are never warm-up */

/* ---- values ---- */

/* Of full steps but the first ones of each trace; the caller frees them. */
static int64_t *values_take(const struct pf_capture *c, size_t warm_up,
			    enum pf_step_figure figure, size_t *count)
{
	int64_t *list = pf_calloc(c->step_count + 1, sizeof(*list));
	int64_t trace_id = -1;
	size_t place = 0;

	*count = 0;
	for (size_t i = 0; i < c->step_count; i++) {
		const struct pf_capture_step *s = &c->each_step[i];

		if (s->time.is_partial)
			continue;
		if (s->time.trace_id != trace_id)
			place = 0;
		trace_id = s->time.trace_id;
		if (place++ >= warm_up)
			list[(*count)++] = s->of[figure];
	}
	return list;
}

int64_t pf_judge_median(const struct pf_capture *c, size_t warm_up,
			enum pf_step_figure figure)
{
	size_t count;
	PF_OWN int64_t *list = values_take(c, warm_up, figure, &count);

	return median_of(list, count);
}

/* Of one capture its steps, of several the median of each. */
static int64_t *side_take(const struct pf_capture *s, size_t warm_up,
			  enum pf_step_figure figure, size_t *count)
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
			const struct pf_capture *a, const struct pf_capture *b)
{
	const struct pf_capture *const sides[] = { a, b };
	struct pf_steps_warm_up w = { .least = SIZE_MAX };
	size_t most;

	/* who says which steps has said it */
	if (window->step || window->skip_first)
		return 0;
	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; i < sides[s]->capture_count; i++)
			pf_steps_find_warm_up(
				&sides[s]->captures[i]->each_step->time,
				sizeof(*sides[s]->captures[i]->each_step),
				sides[s]->captures[i]->step_count, false, &w);
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

/* Of sides that have values. */
/*
 * Is the space between sides, the lower first, wide?  By differences, or by
 * ratios: the longer steps are, the more they scatter.
 */
static bool is_wide(int64_t low_min, int64_t low_max, int64_t high_min,
		    int64_t high_max)
{
	int64_t low = low_max - low_min, high = high_max - high_min;
	double times = fmax((double)low_max / (double)low_min,
			    (double)high_max / (double)high_min);

	return high_min - low_max > WIDE * (low > high ? low : high) ||
	       (low_min > 0 &&
		(double)high_min / (double)low_max > pow(times, WIDE));
}

static void find_space(const struct sides *s, struct pf_judged *out)
{
	int64_t a_min = s->a[0], a_max = s->a[s->a_count - 1];
	int64_t b_min = s->b[0], b_max = s->b[s->b_count - 1];

	out->is_above = b_min > a_max;
	out->is_below = b_max < a_min;
	out->is_wide = out->is_above   ? is_wide(a_min, a_max, b_min, b_max)
		       : out->is_below ? is_wide(b_min, b_max, a_min, a_max)
				       : false;
}

/* "most": beyond what, as a part of the longer step, a shift is large. */
static bool is_large(const struct pf_judge *by, const struct pf_judged *j,
		     double shift, double shorter_ns, double alike, double most)
{
	int64_t longer = j->a_ns > j->b_ns ? j->a_ns : j->b_ns;

	return shift - alike * shorter_ns >=
	       most * (double)(by->step_ns ? by->step_ns : longer);
}

bool pf_judge_is_large(const struct pf_judge *by, const struct pf_judged *j)
{
	bool is_slower = j->rank.shift > 0;
	/* how much longer the longer side takes for the same */
	double alike = is_slower ? by->alike.high : 1 / (1 + by->alike.low) - 1;
	double unsure = 1 - 1 / sqrt(sqrt(1 + alike));
	double most = unsure > PF_CAPTURES_DIFFER ? unsure : PF_CAPTURES_DIFFER;
	double mean = j->b_mean_ns - j->a_mean_ns;

	if (!is_large(by, j, fabs((double)j->rank.shift),
		      (double)(is_slower ? j->a_ns : j->b_ns), alike, most))
		return false;
	return alike <= 0 ||
	       is_large(by, j, is_slower ? mean : -mean,
			is_slower ? j->a_mean_ns : j->b_mean_ns, alike, most);
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

static double mean_of(const int64_t *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)values[i];
	return count ? sum / (double)count : 0;
}

void pf_judge_figure(const struct pf_judge *by, enum pf_step_figure figure,
		     struct pf_judged *out)
{
	struct pf_judge without = *by;
	struct sides s;

	without.alike = (struct pf_alike){ 0 };
	*out = (struct pf_judged){ .is_tested =
					   pf_judge_can_test(by->a, by->b) };
	s.a = side_take(by->a, by->warm_up, figure, &s.a_count);
	s.b = side_take(by->b, by->warm_up, figure, &s.b_count);
	pf_sort(s.a, s.a_count, sizeof(*s.a), pf_stats_compare);
	pf_sort(s.b, s.b_count, sizeof(*s.b), pf_stats_compare);
	out->a_count = s.a_count;
	out->b_count = s.b_count;
	out->a_ns = pf_stats_quantile(s.a, s.a_count, 50);
	out->b_ns = pf_stats_quantile(s.b, s.b_count, 50);
	out->a_mean_ns = mean_of(s.a, s.a_count);
	out->b_mean_ns = mean_of(s.b, s.b_count);
	if (s.a_count && s.b_count) {
		find_space(&s, out);
		rank_sorted(&s, &out->rank);
	}
	out->grade = grade_of(by, out);
	out->is_alike = out->grade == PF_GRADE_AS_CAPTURES &&
			grade_of(&without, out) == PF_GRADE_LIKELY;
	free(s.a);
	free(s.b);
}

/* ---- figures of checks ---- */

/* Figure n of those that can be checked; false past the last. */
static bool figure_at(const void *of, size_t n, struct pf_gate_figure *out)
{
	const struct pf_gate_sides *sides = of;
	const struct pf_capture *a = sides->a, *b = sides->b;
	enum pf_step_figure figure = (enum pf_step_figure)n;

	if (n >= PF_FIGURES)
		return false;
	*out = (struct pf_gate_figure){
		.key = pf_step_figures[n].key,
		.kind = pf_step_figures[n].kind,
		.a = a->of[n],
		.b = b->of[n],
		.a_steps = pf_side_knows(a, b, figure) ? a->steps : 0,
		.b_steps = pf_side_knows(b, a, figure) ? b->steps : 0,
		.of = figure,
	};
	if (pf_figure_is_peak(n)) {
		out->a_steps = out->a >= 0;
		out->b_steps = out->b >= 0;
	}
	return true;
}

/* ---- expressions ---- */

static int bad(const char *expression, const char *why, struct pf_err *err)
{
	return pf_fail(err, PF_EUSAGE,
		       "'%s' is no check: %s; write for example "
		       "'step_time>5%%', 'syncs>0', 'kernels>+3', 'copy>100us'",
		       expression, why);
}

static bool find_figure(const char *name, const struct pf_gate_figures *all,
			struct pf_gate_figure *out)
{
	for (size_t n = 0; all->at(all->of, n, out); n++)
		if (!strcmp(out->key, name))
			return true;
	return false;
}

static int no_figure(const char *expression, const char *name,
		     const struct pf_gate_figures *figures, struct pf_err *err)
{
	struct pf_suggest s = { .word = name };
	struct pf_gate_figure f;
	PF_AUTO(pf_buf_release) struct pf_buf all = { 0 };

	for (size_t n = 0; figures->at(figures->of, n, &f); n++) {
		pf_suggest_offer(&s, f.key);
		pf_buf_addf(&all, "%s%s", n ? ", " : "", f.key);
	}
	if (s.best)
		pf_fail(err, PF_EUSAGE,
			"'%s': there is no figure '%s'; did you mean '%s'?",
			expression, name, s.best);
	else
		pf_fail(err, PF_EUSAGE,
			"'%s': there is no figure '%s'; the figures are %s",
			expression, name, all.data);
	return -1;
}

/* Factors of units; a plain number is in the figure's own unit. */
static int64_t factor_of(const char *unit, enum pf_col_kind kind)
{
	static const struct {
		const char *unit;
		enum pf_col_kind kind;
		int64_t factor;
	} units[] = {
		{ "ns", PF_NS, 1 },           { "us", PF_NS, 1000 },
		{ "ms", PF_NS, 1000000 },     { "s", PF_NS, 1000000000 },
		{ "B", PF_BYTES, 1 },         { "kB", PF_BYTES, 1000 },
		{ "MB", PF_BYTES, 1000000 },  { "GB", PF_BYTES, 1000000000 },
		{ "KiB", PF_BYTES, 1 << 10 }, { "MiB", PF_BYTES, 1 << 20 },
		{ "GiB", PF_BYTES, 1 << 30 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (kind == units[i].kind && !strcmp(units[i].unit, unit))
			return units[i].factor;
	return 0;
}

/* "+1.5" into limit and scale: at most six digits after the point. */
static const char *read_number(const char *s, struct pf_gate *g)
{
	bool is_negative = *s == '-', has_digit = false;
	int64_t n = 0;

	s += *s == '-' || *s == '+';
	g->scale = 1;
	for (bool after = false;; s++) {
		if (*s == '.' && !after) {
			after = true;
			continue;
		}
		if (*s < '0' || *s > '9')
			break;
		if (n > INT64_C(1000000000000) ||
		    (after && g->scale == 1000000))
			return NULL;
		n = 10 * n + (*s - '0');
		g->scale *= after ? 10 : 1;
		has_digit = true;
	}
	g->limit = is_negative ? -n : n;
	return has_digit ? s : NULL;
}

int pf_gate_read(const char *expression, const struct pf_gate_figures *figures,
		 struct pf_gate *g, struct pf_gate_figure *f,
		 struct pf_err *err)
{
	size_t len = strcspn(expression, "<>= ");
	const char *s = expression + len;
	int64_t factor;

	*g = (struct pf_gate){ 0 };
	if (!len || len >= sizeof(g->name))
		return bad(expression, "a name of a figure comes first", err);
	memcpy(g->name, expression, len);
	if (!find_figure(g->name, figures, f))
		return no_figure(expression, g->name, figures, err);
	s += strspn(s, " ");
	if (*s != '<' && *s != '>')
		return bad(expression, "'>' or '<' follows the name", err);
	g->is_less = *s++ == '<';
	g->or_equal = *s == '=';
	s += g->or_equal;
	s += strspn(s, " ");
	s = read_number(s, g);
	if (!s)
		return bad(expression, "a number follows", err);
	s += strspn(s, " ");
	g->is_percent = !strcmp(s, "%");
	if (g->is_percent || !*s)
		return 0;
	factor = factor_of(s, f->kind);
	if (!factor || __builtin_mul_overflow(g->limit, factor, &g->limit))
		return bad(expression, "the unit does not fit", err);
	return 0;
}

static int parse(const char *expression, const struct pf_gate_sides *sides,
		 struct pf_gate *g, struct pf_gate_figure *f,
		 struct pf_err *err)
{
	const struct pf_gate_figures figures = { figure_at, sides };

	return pf_gate_read(expression, &figures, g, f, err);
}

int pf_gate_parse(const char *expression, struct pf_err *err)
{
	static const struct pf_capture none;
	static const struct pf_gate_sides nothing = { .a = &none, .b = &none };
	struct pf_gate_figure f;
	struct pf_gate g;

	return parse(expression, &nothing, &g, &f, err);
}

/* ---- checks ---- */

bool pf_gate_holds(const struct pf_gate *g, const struct pf_gate_figure *f)
{
	__int128_t a = (__int128_t)f->a * f->b_steps;
	__int128_t b = (__int128_t)f->b * f->a_steps;
	__int128_t change = (b - a) * g->scale, limit;

	if (g->is_percent) {
		change *= 100;
		limit = a * g->limit;
		/* from nothing to something is more than any share */
		if (!a && b)
			return (b > 0) != g->is_less;
	} else {
		limit = (__int128_t)f->a_steps * f->b_steps * g->limit;
	}
	if (change == limit)
		return g->or_equal;
	return (change < limit) == g->is_less;
}

static void show(char out[PF_NUM_MAX], const struct pf_gate_figure *f,
		 int64_t sum, int64_t steps)
{
	switch (f->kind) {
	case PF_NS:
		pf_num_show_ns(out, pf_mean(sum, steps));
		break;
	case PF_BYTES:
		pf_num_show_bytes(out, pf_mean(sum, steps));
		break;
	default:
		pf_num_show_real(out, (double)sum / (double)steps);
	}
}

void pf_gate_say_change(struct pf_buf *out, const struct pf_gate_figure *f)
{
	char from[PF_NUM_MAX], to[PF_NUM_MAX];
	double a = (double)f->a / (double)f->a_steps;
	double b = (double)f->b / (double)f->b_steps;

	show(from, f, f->a, f->a_steps);
	show(to, f, f->b, f->b_steps);
	pf_buf_addf(out, "%s was %s and is %s per step", f->key, from, to);
	if (a > 0)
		pf_buf_addf(out, " (%s%s)", b > a ? "+" : "",
			    PF_SHOW_RATIO(b / a - 1));
}

static void say_grade(struct pf_buf *out, const struct pf_judged *j)
{
	switch (j->grade) {
	case PF_GRADE_UNKNOWN:
		pf_buf_adds(out, ", but noise is unknown (one step)");
		break;
	case PF_GRADE_AS_CAPTURES:
		if (j->is_alike) {
			pf_buf_addf(out,
				    ", but what both do as often takes %s, too",
				    j->rank.shift > 0 ? "longer" : "less time");
			break;
		}
		pf_buf_addf(out,
			    ", but captures of one program differ by up to "
			    "%.0f %% of the longer step",
			    100 * PF_CAPTURES_DIFFER);
		break;
	default:
		pf_buf_adds(out, ", but that is no clear change");
	}
}

/* What is compared of a time: the median of A, and it with the shift. */
static void judge_time(const struct pf_gate_times *times,
		       struct pf_gate_figure *f, struct pf_judged *out)
{
	if (f->of == PF_FIGURE_TIME)
		*out = *times->total;
	else
		pf_judge_figure(times->judge, f->of, out);
	f->a = out->a_ns;
	f->b = out->a_ns + out->rank.shift;
	f->a_steps = f->b_steps = 1;
}

/* why: what failed; nothing: it passed */
static int say_result(const char *expression, const struct pf_buf *why,
		      struct pf_doc *doc, bool *is_failed)
{
	if (!why->len) {
		pf_doc_passed(doc, expression);
		return 0;
	}
	*is_failed = true;
	pf_doc_failed(doc, expression, "%s: %s", expression, why->data);
	return 0;
}

static int check_time(const char *expression, const struct pf_gate *g,
		      struct pf_gate_figure *f,
		      const struct pf_gate_times *times, struct pf_doc *doc,
		      bool *is_failed)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	struct pf_judged judged;

	judge_time(times, f, &judged);
	if (pf_gate_holds(g, f))
		pf_gate_say_change(&text, f);
	if (!text.len || judged.grade >= PF_GRADE_LIKELY)
		return say_result(expression, &text, doc, is_failed);
	say_grade(&text, &judged);
	pf_doc_unjudged(doc, expression, "%s: %s", expression, text.data);
	return 0;
}

static const char *where_unknown(const struct pf_gate_figure *f)
{
	return f->a_steps > 0   ? "side B"
	       : f->b_steps > 0 ? "side A"
				: "either side";
}

int pf_gate_check(const char *expression, const struct pf_gate_sides *sides,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err)
{
	const struct pf_gate_times *times = sides->times;
	PF_AUTO(pf_buf_release) struct pf_buf why = { 0 };
	struct pf_gate_figure f;
	struct pf_gate g;

	PF_TRY(parse(expression, sides, &g, &f, err));
	if (sides->is_cut)
		pf_buf_adds(&why, "a side is cut off or damaged; --force "
				  "compares what is there");
	else if (f.a_steps <= 0 || f.b_steps <= 0)
		pf_buf_addf(&why, "%s is not recorded on %s", f.key,
			    where_unknown(&f));
	else if (f.kind == PF_NS && !times)
		pf_buf_adds(&why, "times are not comparable; --force compares "
				  "them all the same");
	else if (f.kind == PF_NS)
		return check_time(expression, &g, &f, times, doc, is_failed);
	else if (pf_gate_holds(&g, &f))
		pf_gate_say_change(&why, &f);
	return say_result(expression, &why, doc, is_failed);
}
