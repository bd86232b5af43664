/* SPDX-License-Identifier: MIT */
/*
 * Floating point operations of one call, as torch's profiler counts them (a
 * trace does not hold them): unsigned 64-bit arithmetic, wrapping, integer
 * division in the order written.  Operators torch does not know count 0.
 */
#ifndef PF_ANALYSIS_FLOPS_H
#define PF_ANALYSIS_FLOPS_H

#include <stddef.h>
#include <stdint.h>

#include "events/args.h"

enum pf_flop_op {
	PF_FLOP_NONE = 0,
	PF_FLOP_MM,
	PF_FLOP_ADDMM,
	PF_FLOP_BMM,
	PF_FLOP_BADDBMM,
	PF_FLOP_POINTWISE, /* aten::add, aten::mul */
	PF_FLOP_CONV2D,
};

/* Which formula an operator name has. */
enum pf_flop_op pf_flops_op(const char *name, size_t len);

/* FLOPs of one call from its argument object. */
uint64_t pf_flops(enum pf_flop_op op, struct pf_json args);

#endif
