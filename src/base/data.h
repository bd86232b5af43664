/* SPDX-License-Identifier: MIT */
/*
 * The tables of data/, which are compiled in as CSV text.  They are ours, so
 * a table that is not as its reader wants it is an error of the build, found
 * by the tests, but still reported and not trusted.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"

struct pf_data;

/*
 * Read a file such as "data/kernels.csv", whose first line must be "header"
 * ("pattern,tensor_cores,what").  PF_EDATA and NULL if it is not so, or if a
 * row has another number of cells.
 */
struct pf_data *pf_data_new(const char *name, const char *header,
			    struct pf_err *err);
void pf_data_free(struct pf_data *d);
PF_FREED(pf_data_free, struct pf_data)

/* Rows after the header, and their cells, borrowed from d. */
size_t pf_data_rows(const struct pf_data *d);
const char *pf_data_cell(const struct pf_data *d, size_t row, size_t column);
