/* SPDX-License-Identifier: MIT */
/*
 * Whether kernels use tensor cores, which a trace does not say: by the
 * patterns of data/kernels.csv, of which the first that fits a name counts.
 */
#ifndef PF_ANALYSIS_TENSOR_H
#define PF_ANALYSIS_TENSOR_H

#include "base/err.h"

enum pf_tensor_use {
	PF_TENSOR_NO,
	PF_TENSOR_YES,
	PF_TENSOR_UNKNOWN,
	PF_TENSOR_USES
};

/* "no", "yes", "unknown". */
const char *pf_tensor_word(enum pf_tensor_use use);

struct pf_tensor;
struct pf_tensor *pf_tensor_new(struct pf_err *err);
void pf_tensor_free(struct pf_tensor *t);

enum pf_tensor_use pf_tensor_find(const struct pf_tensor *t, const char *name);

#endif
