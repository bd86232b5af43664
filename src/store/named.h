/* SPDX-License-Identifier: MIT */
/*
 * Statements of schema/load/NAME.sql, or schema/DIR/NAME.sql if the name is
 * "DIR/NAME", run into a table or structs whose
 * columns the caller declares: a statement whose column names differ from the
 * keys is an error, so SQL and C cannot drift apart.
 */
#ifndef PF_STORE_NAMED_H
#define PF_STORE_NAMED_H

#include "base/err.h"
#include "store/db.h"
#include "base/mem.h"
#include "show/rows.h"

/* Prepare it; NULL on error. */
sqlite3_stmt *pf_named_prepare(struct pf_db *db, const char *name,
			       struct pf_err *err);

/* Run it and add all rows to the table. */
int pf_named_fill(struct pf_db *db, const char *name, struct pf_table *table,
		  struct pf_err *err);

/*
 * Run it: an array of structs with these fields, to be freed; NULL on error.
 * Texts are kept in "texts" up to a NUL.  What is null or no number is
 * PF_NO_INT, not a number or NULL.
 */
void *pf_named_rows_take(struct pf_db *db, const char *name,
			 const struct pf_field *fields, size_t count,
			 struct pf_arena *texts, size_t *row_count,
			 struct pf_err *err);

#endif
