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

size_t pf_stats_rank(size_t count, unsigned percent)
{
	size_t whole = count / 100, rest = count % 100;
	size_t rank = whole * percent + (rest * percent + 99) / 100;

	if (rank > count)
		rank = count;
	return rank ? rank - 1 : 0;
}

int pf_stats_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}
