/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "compare/diff_mean.h"
#include "base/mem.h"
#include "base/order.h"

static int64_t floor_div(int64_t n, int64_t d, int64_t *rest)
{
	int64_t q = n / d;

	*rest = n % d;
	if (*rest < 0) {
		*rest += d;
		q--;
	}
	return q;
}

int64_t pf_mean(int64_t sum, int64_t steps)
{
	int64_t rest, mean;

	if (steps <= 0)
		return 0;
	mean = floor_div(sum, steps, &rest);
	return mean + (rest >= steps - rest);
}

struct part {
	int64_t rest;
	size_t place;
};

PF_ORDER(by_rest, struct part, PF_DOWN(rest) PF_UP(place))

void pf_mean_parts(const int64_t *sums, size_t count, int64_t steps,
		   int64_t *out)
{
	struct part *parts = pf_calloc(count + 1, sizeof(*parts));
	int64_t left, sum = 0;

	for (size_t i = 0; i < count; i++)
		sum = (int64_t)((uint64_t)sum + (uint64_t)sums[i]);
	left = pf_mean(sum, steps);
	for (size_t i = 0; i < count; i++) {
		parts[i].place = i;
		out[i] = steps > 0 ? floor_div(sums[i], steps, &parts[i].rest)
				   : 0;
		left -= out[i];
	}
	pf_sort(parts, count, sizeof(*parts), by_rest);
	for (size_t i = 0; i < count && left > 0; i++, left--)
		out[parts[i].place]++;
	free(parts);
}

int64_t pf_mean_more(int64_t a_count, int64_t a_ns, int64_t a_steps,
		     int64_t b_count, int64_t b_steps)
{
	__int128_t more, whole;

	if (!a_count || a_steps <= 0 || b_steps <= 0)
		return 0;
	more = ((__int128_t)b_count * a_steps - (__int128_t)a_count * b_steps) *
	       a_ns;
	whole = (__int128_t)a_steps * b_steps * a_count;
	return (int64_t)((2 * more + (more < 0 ? -whole : whole)) /
			 (2 * whole));
}

int pf_mean_compare(int64_t a, int64_t a_steps, int64_t b, int64_t b_steps)
{
	__int128_t x = (__int128_t)a * b_steps, y = (__int128_t)b * a_steps;

	return (y > x) - (y < x);
}
