/* SPDX-License-Identifier: MIT */
/*
 * Means of sums over steps, in whole units, without losing any: exact
 * integers throughout.
 */
#ifndef PF_ANALYSIS_DIFF_MEAN_H
#define PF_ANALYSIS_DIFF_MEAN_H

#include <stddef.h>
#include <stdint.h>

/* sum / steps, rounded half up; 0 for no steps. */
int64_t pf_mean(int64_t sum, int64_t steps);

/*
 * The means of the parts of a whole: out[i] is sums[i] / steps rounded down
 * or up, so that they add up to pf_mean() of the sum of all.  The parts with
 * the largest remainders are rounded up, the first of equal ones.
 */
void pf_mean_parts(const int64_t *sums, size_t count, int64_t steps,
		   int64_t *out);

/*
 * (n_B - n_A) * m_A in ns, rounded half away from zero: the part of a
 * difference that is "more of it".  Counts and times are sums over steps.
 */
int64_t pf_mean_more(int64_t a_count, int64_t a_ns, int64_t a_steps,
		     int64_t b_count, int64_t b_steps);

/* -1, 0, 1: how b / b_steps compares to a / a_steps. */
int pf_mean_compare(int64_t a, int64_t a_steps, int64_t b, int64_t b_steps);

#endif
