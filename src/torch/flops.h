/* SPDX-License-Identifier: MIT */
/*
 * Floating point operations of one call, as torch's profiler counts them (a
 * trace does not hold them): unsigned 64-bit arithmetic, wrapping, integer
 * division in the order written.  Operators torch does not know count 0.
 *
 * Traces hold no shapes of tensors whose sizes are symbolic (compiled and
 * exported code), which are recorded as if there were no tensor: where a
 * formula needs one its FLOPs are unknown.  So they are where the trace has no
 * shapes or, of convolutions, no concrete inputs.
 *
 * Sums have 128 bits, as Python's have no end.
 */
#ifndef PF_ANALYSIS_FLOPS_H
#define PF_ANALYSIS_FLOPS_H

#include <stdbool.h>
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

/* FLOPs of one call from its argument object; false if they are unknown. */
bool pf_flops(enum pf_flop_op op, struct pf_json args, uint64_t *out);

struct pf_flops_sum {
	uint64_t low, high;
	uint64_t unknown_count; /* calls that are not in it */
};

void pf_flops_add(struct pf_flops_sum *sum, const struct pf_flops_sum *part);
/* <0, 0 or >0; what is not all known is less than anything else. */
int pf_flops_compare(const struct pf_flops_sum *a,
		     const struct pf_flops_sum *b);
/* The nearest double, as Python's float() of the sum. */
double pf_flops_double(const struct pf_flops_sum *sum);

#define PF_FLOPS_DIGITS 40
/* Its decimal digits. */
char *pf_flops_digits(char out[PF_FLOPS_DIGITS],
		      const struct pf_flops_sum *sum);

/*
 * The sum, or -1 where it is not known or not below 2^63: what columns of
 * databases can hold.
 */
int64_t pf_flops_known(const struct pf_flops_sum *sum);

#endif
