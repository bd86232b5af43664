/* SPDX-License-Identifier: MIT */
/*
 * How well kernels fill one GPU: the estimates that TensorBoard made known.
 * At each instant blocks per SM of the kernels that run are added up; what
 * exceeds 1 adds nothing to the efficiency.  Kernels come in order of their
 * start; memory grows with the number that run at once.
 */
#ifndef PF_ANALYSIS_TIME_SM_H
#define PF_ANALYSIS_TIME_SM_H

#include <stddef.h>
#include <stdint.h>

struct pf_sm_sums {
	int64_t covered_ns;   /* any kernel runs */
	int64_t kernel_ns;    /* durations of kernels, summed */
	int64_t sized_ns;     /* of it, with known blocks per SM */
	int64_t occupied_ns;  /* of it, with known occupancy */
	double efficiency_ns; /* integral of min(sum of blocks per SM, 1) */
	double occupancy_ns;  /* integral of the sum of occupancies, percent */
};

void pf_sm_sums_add(struct pf_sm_sums *to, const struct pf_sm_sums *more);

struct pf_sm {
	struct pf_sm_kernel *heap; /* those that run, by end */
	size_t count, cap;
	int64_t at_ns;
	/* Of those that run; blocks and occupancy in fixed point. */
	int64_t blocks, occupancy, sized, occupied;
	struct pf_sm_sums sums;
};

void pf_sm_init(struct pf_sm *s);
void pf_sm_release(struct pf_sm *s);

/* A kernel; blocks per SM and occupancy (percent) negative: unknown. */
void pf_sm_add(struct pf_sm *s, int64_t start_ns, int64_t end_ns,
	       double blocks_per_sm, double occupancy);

/* Go on to a time, then take the sums since the last call of this. */
struct pf_sm_sums pf_sm_take(struct pf_sm *s, int64_t at_ns);

#endif
