/* SPDX-License-Identifier: MIT */
/*
 * Frees that say no size, as those of TPUs: it is that of the allocation which
 * is open at the address, on the same device, known when all records are there
 * in order of time.  Until then what waits for it are the sums of ops.  Of
 * memory from before the capture nobody knows it.
 *
 * Memory grows with the number of distinct addresses of devices that have such
 * frees, and with the number of distinct sets of ops around them.
 */
#ifndef PF_ANALYSIS_ALLOC_SIZES_H
#define PF_ANALYSIS_ALLOC_SIZES_H

#include "analysis/memory/alloc_scan.h"

struct pf_alloc_sizes {
	struct pf_intern ops;      /* sets: uint32_t of allocs->ops */
	struct pf_map *by_address; /* of each device: bytes that are open */
	uint32_t device_count;
};

void pf_alloc_sizes_init(struct pf_alloc_sizes *t);
void pf_alloc_sizes_release(struct pf_alloc_sizes *t);

/* A record, to sums. */
void pf_alloc_sums_add(struct pf_alloc_sums *to, const struct pf_alloc *r);

/*
 * A record, to a set of ops: the innermost first, whose own it is.  That of a
 * free without a size waits, and r->ops says for which ops.
 */
void pf_alloc_sizes_sum(struct pf_alloc_sizes *t, struct pf_allocs *a,
			struct pf_alloc *r, const uint32_t *ops, size_t count);

/* Records, one after the other in order of time: what they free is set. */
void pf_alloc_sizes_settle(struct pf_alloc_sizes *t, struct pf_allocs *a,
			   struct pf_alloc *r);

#endif
