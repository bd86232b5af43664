/* SPDX-License-Identifier: MIT */
/*
 * Reading tables back from a document by their keys: the pages show them in
 * columns of their choice (page/html.h).  Who wants a figure reads the
 * struct of its analysis.
 */
#ifndef PF_SHOW_FIND_H
#define PF_SHOW_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "show/doc.h"

/* NULL if there is none: for figures and tables that are there at times. */
const struct pf_scalar *pf_doc_find(const struct pf_doc *doc, const char *key);
const struct pf_table *pf_doc_find_table(const struct pf_doc *doc,
					 const char *name);

/* The number of a column, -1 if the table (or NULL) has none of this key. */
int pf_table_find(const struct pf_table *t, const char *key);
/*
 * The same of a key that tables of this kind have: one that was not declared,
 * not even as PF_ABSENT, is a bug of the caller and ends the program.
 */
int pf_table_need(const struct pf_table *t, const char *key);

/*
 * A cell; NULL if there is no table, no such row, the column is absent, or it
 * holds null.  The key is needed (pf_table_need()), here and below.
 */
const struct pf_cell *pf_table_at(const struct pf_table *t, size_t row,
				  const char *key);

/* Numbers; 0 for what is null or a text, and for a row that is not there. */
double pf_cell_real(const struct pf_cell *cell);
int64_t pf_table_int_at(const struct pf_table *t, size_t row, const char *key);
double pf_table_real_at(const struct pf_table *t, size_t row, const char *key);

/* A text; NULL for what is null or a number; the key is needed as above. */
const char *pf_table_text_at(const struct pf_table *t, size_t row,
			     const char *key);

/* The sentence of a document, NULL if it has none. */
const char *pf_doc_find_finding(const struct pf_doc *doc);

/* Rows of a table; 0 for NULL. */
size_t pf_table_rows(const struct pf_table *t);

#endif
