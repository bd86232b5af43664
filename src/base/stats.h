/* SPDX-License-Identifier: MIT */
/*
 * Figures about a set of int64 values: count, sum, minimum, maximum, mean and
 * standard deviation from a stream in any order; percentiles from values in
 * ascending order, read once.  Exact where a figure is an integer; sums that
 * do not fit are held at INT64_MAX.
 */
#pragma once

#include <stdbool.h>
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
 * A percentile (0 to 100) of ascending values as numpy and pandas have it by
 * default: linear between the two values around (count - 1) * percent / 100,
 * so that 50 is the mean of the two middle ones; rounded half up.  0 for none.
 */
int64_t pf_stats_quantile(const int64_t *values, size_t count,
			  unsigned percent);

/*
 * The same of values that are read one by one: the place from 0 of the lower
 * of the two in count > 0 values, and hundredths of the way to the next; with
 * rest 0 the next does not matter.
 */
size_t pf_stats_place(size_t count, unsigned percent, unsigned *rest);
int64_t pf_stats_between(int64_t low, int64_t high, unsigned rest);

/*
 * Do so many values carry a percentile above the median?  Only if one of them
 * may lie above it: 10 for 90, 20 for 95, 100 for 99.
 */
bool pf_stats_carries(size_t count, unsigned percent);

/* Ascending, for pf_sort() of int64_t. */
int pf_stats_compare(const void *a, const void *b);
