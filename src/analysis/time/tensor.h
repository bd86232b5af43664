/* SPDX-License-Identifier: MIT */
/*
 * What the names of kernels say that traces do not: whether a kernel uses
 * tensor cores, what it is for, and the precision of its inputs.  By the
 * patterns of data/kernels.csv: for each of the three the first row counts
 * that fits a name and says something.  What no row says is unknown.
 */
#ifndef PF_ANALYSIS_TIME_TENSOR_H
#define PF_ANALYSIS_TIME_TENSOR_H

#include <stdbool.h>

#include "base/err.h"

enum pf_tensor_use {
	PF_TENSOR_NO,
	PF_TENSOR_YES,
	PF_TENSOR_UNKNOWN,
	PF_TENSOR_USES
};

enum pf_kernel_class {
	PF_CLASS_UNKNOWN,
	PF_CLASS_GEMM, /* matrix by matrix or vector */
	PF_CLASS_CONV,
	PF_CLASS_ATTENTION,
	PF_CLASS_COMM,
	PF_CLASS_OTHER, /* none of these */
	PF_CLASSES
};

/* Of what is multiplied, as it is stored; TF32: as it is rounded. */
enum pf_precision {
	PF_PRECISION_UNKNOWN,
	PF_PRECISION_FP64,
	PF_PRECISION_FP32,
	PF_PRECISION_TF32,
	PF_PRECISION_FP16,
	PF_PRECISION_BF16,
	PF_PRECISION_FP8,
	PF_PRECISION_INT8,
	PF_PRECISION_INT4,
	PF_PRECISION_MIXED, /* the inputs differ */
	PF_PRECISIONS
};

/* "no", "yes", "unknown". */
const char *pf_tensor_word(enum pf_tensor_use use);
/* "gemm", "conv", ...; unknown: NULL. */
const char *pf_class_word(enum pf_kernel_class class);
/* "fp32", "tf32", ...; unknown: NULL. */
const char *pf_precision_word(enum pf_precision precision);

struct pf_kernel_kind {
	enum pf_tensor_use use;
	enum pf_kernel_class class;
	enum pf_precision precision; /* only of products */
};

/* Does a kernel of this class multiply: is there a precision to know? */
static inline bool pf_class_multiplies(enum pf_kernel_class class)
{
	return class == PF_CLASS_GEMM || class == PF_CLASS_CONV ||
	       class == PF_CLASS_ATTENTION;
}

struct pf_tensor;
struct pf_tensor *pf_tensor_new(struct pf_err *err);
void pf_tensor_free(struct pf_tensor *t);

struct pf_kernel_kind pf_tensor_kind(const struct pf_tensor *t,
				     const char *name);

/*
 * Is this an operator whose matrix products and convolutions may run in
 * another precision: one of data/matrix_ops.csv?
 */
bool pf_tensor_op(const struct pf_tensor *t, const char *op);

#endif
