/* SPDX-License-Identifier: MIT */
/*
 * Arguments of events under Kineto's keys and in its order, of readers of
 * other formats, so that one analysis serves all.
 */
#ifndef PF_FORMATS_PFR_KINETO_H
#define PF_FORMATS_PFR_KINETO_H

#include "formats/pfr/defs.h"
#include "formats/pfr/words.h"
#include "formats/argline.h"

/* What blocks and warps per SM are worked out from; -1: not known. */
struct pf_kineto_device {
	int64_t sms, warp;
};

/* A launch's registers, dynamic_bytes or grid[0] that are not known. */
#define PF_KINETO_UNKNOWN UINT32_MAX

/* Registers, shared memory, grid, block and what else differs from 0. */
void pf_kineto_launch(struct pf_argline *a, const struct pf_pfr_launch *l,
		      const struct pf_kineto_device *device);
/* Bytes, and how fast they were copied or filled if that took any time. */
void pf_kineto_bytes(struct pf_argline *a, uint64_t bytes, int64_t dur_ns);
/* What torch's emit_nvtx() put in the name of a range. */
void pf_kineto_torch(struct pf_argline *a, const struct pf_pfr_torch_name *t);

#endif
