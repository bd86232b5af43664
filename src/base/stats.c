/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>

#include "base/sat.h"
#include "base/stats.h"

void pf_stats_add(struct pf_stats *s, int64_t value)
{
	double before = (double)value - s->mean;

	if (!s->count || value < s->min)
		s->min = value;
	if (!s->count || value > s->max)
		s->max = value;
	s->count++;
	pf_sat_sum(&s->sum, value);
	s->mean += before / (double)s->count;
	s->m2 += before * ((double)value - s->mean);
}

double pf_stats_sd(const struct pf_stats *s)
{
	return s->count ? sqrt(s->m2 / (double)s->count) : 0;
}

int64_t pf_stats_mean(const struct pf_stats *s)
{
	int64_t whole, rest;

	if (!s->count)
		return 0;
	whole = s->sum / s->count;
	rest = s->sum % s->count;
	if (rest < 0) {
		whole--;
		rest += s->count;
	}
	return whole + (rest >= s->count - rest);
}

size_t pf_stats_place(size_t count, unsigned percent, unsigned *rest)
{
	size_t last = count - 1;
	size_t over = last % 100 * percent;

	*rest = (unsigned)(over % 100);
	return last / 100 * percent + over / 100;
}

int64_t pf_stats_between(int64_t low, int64_t high, unsigned rest)
{
	__int128 way = ((__int128)high - low) * rest;

	return (int64_t)(low + (way + 50) / 100);
}

int64_t pf_stats_quantile(const int64_t *values, size_t count, unsigned percent)
{
	unsigned rest;
	size_t at;

	if (!count)
		return 0;
	at = pf_stats_place(count, percent, &rest);
	return rest ? pf_stats_between(values[at], values[at + 1], rest)
		    : values[at];
}

bool pf_stats_carries(size_t count, unsigned percent)
{
	return count >= 100 / (100 - percent);
}

int pf_stats_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}
