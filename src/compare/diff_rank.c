/* SPDX-License-Identifier: MIT */
/*
 * Differences are found by counting those up to a limit, so that memory grows
 * with the values and not with their pairs.
 *
 * U counts the pairs in which b is larger, a tie as half.  Without ties the
 * number of orders that give each U is known by recursion: the largest value
 * is of one side or the other.  With ties that distribution is wider than the
 * true one, so p is too large if anything.
 */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compare/diff_rank.h"
#include "base/order.h"
#include "base/stats.h"
#include "base/mem.h"

/*
 * The shares of all orders that give U = 0, 1, ... m * n.  ways[j][u] for i
 * values of a and j of b, one i after the other:
 * w(i, j, u) = w(i, j - 1, u - i) + w(i - 1, j, u).
 */
static double *shares_take(size_t m, size_t n)
{
	size_t width = m * n + 1;
	double *ways = pf_calloc((n + 1) * width, sizeof(*ways));
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
	free(ways);
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
	double *shares = is_less ? shares_take(s->a_count, s->b_count)
				 : shares_take(s->b_count, s->a_count);
	double sum = 0;
	size_t cut = 0, pairs = s->a_count * s->b_count;

	out->p = 2 * tail(shares, u);
	while (cut < pairs / 2 && sum + shares[cut] <= PF_RANK_SIGNIFICANT / 2)
		sum += shares[cut++];
	out->confidence = 1 - 2 * (cut ? sum : shares[0]);
	free(shares);
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

void pf_rank_compare(const int64_t *a, size_t a_count, const int64_t *b,
		     size_t b_count, struct pf_rank *out)
{
	const struct sides s = { sorted_take(a, a_count),
				 sorted_take(b, b_count), a_count, b_count };
	size_t pairs = a_count * b_count, cut;
	size_t not_above = count_up_to(&s, 0), below = count_up_to(&s, -1);
	double u =
		(double)(pairs - not_above) + (double)(not_above - below) / 2;
	const int64_t middle[2] = { difference(&s, (pairs + 1) / 2),
				    difference(&s, pairs / 2 + 1) };

	if (u > (double)pairs - u)
		u = (double)pairs - u;
	cut = is_exact(a_count, b_count) ? test_exactly(&s, u, out)
					 : test_many(&s, u, out);
	if (out->p > 1)
		out->p = 1;
	out->shift = pf_stats_quantile(middle, 2, 50);
	out->shift_low = difference(&s, 1 + cut);
	out->shift_high = difference(&s, pairs - cut);
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
