/* SPDX-License-Identifier: MIT */
/*
 * Are the values of one side larger than those of the other?  Rank statistics
 * of a few values per side; nothing is assumed of how they are distributed.
 *
 * The shift is that of Hodges and Lehmann, the median of all differences
 * b - a; its interval goes from the k-th smallest to the k-th largest of them,
 * with k from the distribution of Mann and Whitney's U (Moses; Hollander,
 * Wolfe: Nonparametric Statistical Methods, 1999, sections 4.2 and 4.3).
 */
#ifndef PF_ANALYSIS_DIFF_RANK_H
#define PF_ANALYSIS_DIFF_RANK_H

#include <stddef.h>
#include <stdint.h>

/*
 * Up to so many values per side U's distribution is exact, and where one side
 * has few up to so many pairs; beyond it is taken as normal.
 */
#define PF_RANK_MAX   24
#define PF_RANK_FEW   8
#define PF_RANK_PAIRS 4096

#define PF_RANK_SIGNIFICANT 0.05

struct pf_rank {
	double p;                      /* two-sided, Mann-Whitney */
	int64_t shift;                 /* Hodges-Lehmann: median of b - a */
	int64_t shift_low, shift_high; /* its interval */
	double confidence;             /* of the interval: 0.95 and more, or
					  what the numbers of values allow */
};

/* At least one value on both sides, in any order; each less than 2^62. */
void pf_rank_compare(const int64_t *a, size_t a_count, const int64_t *b,
		     size_t b_count, struct pf_rank *out);

/* The least p that so many values can have: when no value of a is above b. */
double pf_rank_least_p(size_t a_count, size_t b_count);

#endif
