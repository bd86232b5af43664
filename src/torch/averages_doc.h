/* SPDX-License-Identifier: MIT */
/* Rows of key_averages() as a table: exact nanoseconds and bytes. */
#ifndef PF_ANALYSIS_AVERAGES_DOC_H
#define PF_ANALYSIS_AVERAGES_DOC_H

#include "torch/averages.h"
#include "show/doc.h"

#define PF_AVERAGES_TABLE "key_averages"

/*
 * An empty table of them at the end of the document; its last column is the
 * overload where rows were grouped by it.
 */
struct pf_table *pf_averages_table(struct pf_doc *doc, bool by_overload);
void pf_averages_add(struct pf_table *t, const struct pf_average *row);

#endif
