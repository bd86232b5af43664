/* SPDX-License-Identifier: MIT */
/*
 * Figures about a set of int64 values: count, sum, minimum, maximum, mean and
 * standard deviation from a stream in any order; percentiles by nearest rank
 * from values in ascending order, read once.  Exact where a figure is an
 * integer; sums that do not fit are held at INT64_MAX.
 */
#ifndef PF_ANALYSIS_STATS_H
#define PF_ANALYSIS_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised: nothing yet. */
struct pf_stats {
	int64_t count, sum, min, max;
	double mean, m2; /* Welford's */
};

void pf_stats_add(struct pf_stats *s, int64_t value);

/* Of the values as a whole population (divided by count); 0 for none. */
double pf_stats_sd(const struct pf_stats *s);

/* The mean, rounded half up; 0 for none. */
int64_t pf_stats_mean(const struct pf_stats *s);

/*
 * The place, from 0, of a percentile in count > 0 ascending values: nearest
 * rank, ceil(percent / 100 * count) - 1.  50 is the lower median.
 */
size_t pf_stats_rank(size_t count, unsigned percent);

/* Ascending, for qsort() of int64_t. */
int pf_stats_compare(const void *a, const void *b);

#endif
