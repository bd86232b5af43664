/* SPDX-License-Identifier: MIT */
/*
 * JSON Schemas (draft 2020-12) of documents in json: of one that is there
 * (--format schema), or of all that a command has (cmd/cmd_help.c).  A column
 * has its title and, as "kind", what its numbers are: columns may be null.
 * "people": false is said of those that text and md leave out.
 *
 *	pf_schema_begin(w, "gaps");
 *	pf_schema_col(w, ...);         figures
 *	pf_schema_tables(w);
 *	pf_schema_table(w, "causes", "Idle time by cause", false);
 *	                               and again
 *	pf_schema_col(w, ...);         its columns
 *	pf_schema_table_end(w);
 *	pf_schema_end(w);
 */
#pragma once

#include <stdbool.h>

#include "base/json.h"
#include "show/doc.h"

/* "ns", "bytes", "ratio", ...; flags of the kind are ignored. */
const char *pf_kind_word(enum pf_col_kind kind);
/* The kind that a word means, or -1. */
int pf_kind_of_word(const char *word);

void pf_schema_begin(struct pf_jsonw *w, const char *command);
void pf_schema_col(struct pf_jsonw *w, const struct pf_col *col);
void pf_schema_tables(struct pf_jsonw *w);
/* Without a title: NULL or "".  is_open: its columns are not known. */
void pf_schema_table(struct pf_jsonw *w, const char *name, const char *title,
		     bool is_open);
void pf_schema_table_end(struct pf_jsonw *w);
void pf_schema_end(struct pf_jsonw *w);

/* Of a command whose figures and tables nobody wrote down: any. */
void pf_schema_open(struct pf_jsonw *w, const char *command);
