/* SPDX-License-Identifier: MIT */
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
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/stats.h"
#include "compare/change.h"

struct ranked {
	int64_t value;
	size_t at;
};

PF_ORDER(by_value, struct ranked, PF_UP(value) PF_UP(at))

/* The rank of each value from 1 on; of equal ones their mean. */
static double *ranks_take(const int64_t *values, size_t count)
{
	struct ranked *order = pf_calloc(count + 1, sizeof(*order));
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
	free(order);
	return ranks;
}

/* Where the sides differ the most: values before it, or 0. */
static size_t find_place(const int64_t *values, size_t count)
{
	double *ranks = ranks_take(values, count), sum = 0, most = 0;
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
	free(ranks);
	return place;
}

static bool is_change(const int64_t *values, size_t count, size_t place,
		      double rate)
{
	struct pf_rank rank;

	if (!place)
		return false;
	pf_rank_compare(values, place, values + place, count - place, &rank);
	return rank.p * (double)(count - 1) <= rate;
}

#define MOVES 8

static int64_t median_of(const int64_t *values, size_t count)
{
	int64_t *sorted = pf_calloc(count + 1, sizeof(*sorted)), out;

	memcpy(sorted, values, count * sizeof(*sorted));
	pf_sort(sorted, count, sizeof(*sorted), pf_stats_compare);
	out = pf_stats_quantile(sorted, count, 50);
	free(sorted);
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

static size_t settle(const int64_t *values, size_t count, size_t place)
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
	*place = from + settle(values + from, to - from, *place);
	return true;
}

static void compare(const int64_t *values, struct pf_change *c)
{
	pf_rank_compare(values + c->from, c->at - c->from, values + c->at,
			c->to - c->at, &c->rank);
	c->before = median_of(values + c->from, c->at - c->from);
	c->after = median_of(values + c->at, c->to - c->at);
}

void pf_changes_find(const int64_t *values, size_t count, double rate,
		     struct pf_changes *out)
{
	/* ends of parts: ends[i] to ends[i + 1] is looked at next */
	size_t *ends = pf_calloc(count + 2, sizeof(*ends)), parts = 1, i = 0;

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
	free(ends);
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
