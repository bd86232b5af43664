/* SPDX-License-Identifier: MIT */
/* The launch configurations of a database: what GPU work says beside time. */
#ifndef PF_EVENTS_GPU_CONFIG_H
#define PF_EVENTS_GPU_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "store/db.h"

/* A row of gpu_config; -1: unknown. */
struct pf_gpu_config {
	int64_t id, device, stream;
	int64_t grid[3], block[3];
	int64_t registers, shared_bytes;
	double blocks_per_sm;
	/*
	 * Percent.  A recorded 0 is unknown if the kernel has more shared
	 * memory than a block gets by default: CUPTI's estimate fails there.
	 */
	double occupancy;
	const char *op_name; /* what the trace calls its operator, or NULL */
};

struct pf_gpu_configs {
	struct pf_gpu_config *items; /* by id */
	size_t count;
	/* By id from the first one's: of the items; NULL: ids are far apart. */
	uint32_t *places;
	struct pf_arena texts;
};

/* Zero *c first, and release it also after an error. */
int pf_gpu_configs_load(struct pf_gpu_configs *c, struct pf_db *db,
			struct pf_err *err);
void pf_gpu_configs_release(struct pf_gpu_configs *c);

/* NULL if there is none of this id. */
const struct pf_gpu_config *pf_gpu_configs_find(const struct pf_gpu_configs *c,
						int64_t id);

#endif
