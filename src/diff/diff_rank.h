/* SPDX-License-Identifier: MIT */
/*
 * Are the captures of one side slower than those of the other?  Exact rank
 * statistics of a few values per side; nothing is assumed of how they are
 * distributed.
 */
#ifndef PF_ANALYSIS_DIFF_RANK_H
#define PF_ANALYSIS_DIFF_RANK_H

#include <stddef.h>
#include <stdint.h>

#define PF_RANK_MIN 4  /* values per side that a test needs */
#define PF_RANK_MAX 24 /* values per side that are looked at */

struct pf_rank {
	double p;                      /* two-sided, Mann-Whitney, exact */
	int64_t shift;                 /* Hodges-Lehmann: median of b - a */
	int64_t shift_low, shift_high; /* its interval */
	double confidence;             /* of the interval, at least 0.95 if
					  the numbers of values allow it */
};

/* Both at least PF_RANK_MIN and at most PF_RANK_MAX values. */
void pf_rank_compare(const int64_t *a, size_t a_count, const int64_t *b,
		     size_t b_count, struct pf_rank *out);

#endif
