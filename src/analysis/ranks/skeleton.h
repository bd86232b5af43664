/* SPDX-License-Identifier: MIT */
/* What a replay of a job goes by (skeleton.c), and all ranks alone at once. */
#ifndef PF_ANALYSIS_RANKS_SKELETON_H
#define PF_ANALYSIS_RANKS_SKELETON_H

#include "analysis/ranks/ranks_impl.h"

#define PF_BEHIND 2

/* How a collective came to start when it did. */
struct step {
	uint32_t gate; /* a collective, or NONE, as these: */
	/* the one before it on its stream, and another that it waits for */
	uint32_t behind[PF_BEHIND];
	uint32_t role;
	bool is_own; /* its gate is not in the capture */
	int64_t gap_ns, rest_ns;
};

struct skeleton {
	struct pf_ranks_job *job;
	struct step *steps; /* as the collectives */
	uint32_t role_count;
	uint32_t *at;      /* collective of a rank in a role, or NONE */
	uint32_t *gates;   /* role of the gate of a role, or NONE */
	double *median_ns; /* of the gaps of a role */
	double *start_ns;  /* of ranks: the first start on their clock */
	double *end_ns;    /* of collectives, replayed */
};

/*
 * The length of the job where each rank alone takes median gaps, exactly as
 * replaying it for each of them would have it.  False, and nothing is written:
 * that is too much work.
 */
bool pf_skeleton_alone(const struct skeleton *s, double *length);

#endif
