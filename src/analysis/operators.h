/* SPDX-License-Identifier: MIT */
/*
 * Operators by name, of traces that are not torch's: what they took on the
 * host with everything in them, and the GPU work that says it is theirs.
 */
#ifndef PF_ANALYSIS_OPERATORS_H
#define PF_ANALYSIS_OPERATORS_H

#include "store/db.h"
#include "table/doc.h"

int pf_operators(struct pf_db *db, int64_t trace_id, struct pf_doc *doc,
		 struct pf_err *err);

#endif
