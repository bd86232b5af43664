/* SPDX-License-Identifier: MIT */
/*
 * Which formula an operator has, by data/op_models.csv: another library is
 * another line there.
 */
#ifndef PF_ANALYSIS_ROOFLINE_MODELS_H
#define PF_ANALYSIS_ROOFLINE_MODELS_H

#include "base/err.h"
#include "analysis/roofline/formulas.h"

struct pf_op_models;
struct pf_op_models *pf_op_models_new(struct pf_err *err);
void pf_op_models_free(struct pf_op_models *m);

/*
 * Does work in a call of "in" count as that of "outer", a call around it?  In
 * some families it is the outermost that owns it, else the innermost.
 */
bool pf_op_model_owns(const struct pf_op_model *outer,
		      const struct pf_op_model *in);
/* By the operator's whole name; NULL: it has none. */
const struct pf_op_model *pf_op_models_find(const struct pf_op_models *m,
					    const char *op);

#endif
