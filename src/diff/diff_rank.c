/* SPDX-License-Identifier: MIT */
/*
 * U counts the pairs in which b is larger, a tie as half.  Without ties the
 * number of orders that give each U is known by recursion: the largest value
 * is of one side or the other.  With ties that distribution is wider than the
 * true one, so p is too large if anything.
 */
#include "config.h"

#include <stdlib.h>

#include "diff/diff_rank.h"
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

void pf_rank_compare(const int64_t *a, size_t a_count, const int64_t *b,
		     size_t b_count, struct pf_rank *out)
{
	size_t pairs = a_count * b_count, k = 0, cut = 0;
	int64_t *shifts = pf_calloc(pairs + 1, sizeof(*shifts));
	double *shares = shares_take(a_count, b_count), u = 0, sum = 0;

	for (size_t i = 0; i < a_count; i++)
		for (size_t j = 0; j < b_count; j++) {
			shifts[k++] = b[j] - a[i];
			u += b[j] > a[i] ? 1 : b[j] == a[i] ? 0.5 : 0;
		}
	qsort(shifts, pairs, sizeof(*shifts), pf_stats_compare);
	if (u > (double)pairs - u)
		u = (double)pairs - u;
	out->p = 2 * tail(shares, u);
	if (out->p > 1)
		out->p = 1;
	/* drop as many at each end as 2.5 % allow */
	while (cut < pairs / 2 && sum + shares[cut] <= 0.025)
		sum += shares[cut++];
	out->shift = pairs % 2
			     ? shifts[pairs / 2]
			     : shifts[pairs / 2 - 1] + (shifts[pairs / 2] -
							shifts[pairs / 2 - 1]) /
							       2;
	out->shift_low = shifts[cut ? cut - 1 : 0];
	out->shift_high = shifts[pairs - (cut ? cut : 1)];
	out->confidence = 1 - 2 * (cut ? sum : 0);
	free(shifts);
	free(shares);
}
