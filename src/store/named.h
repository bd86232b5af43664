/* SPDX-License-Identifier: MIT */
/*
 * Statements of schema/load/NAME.sql, run into a table whose columns the
 * caller declares: a statement whose column names differ from the keys is an
 * error, so SQL and C cannot drift apart.
 */
#ifndef PF_STORE_NAMED_H
#define PF_STORE_NAMED_H

#include "base/err.h"
#include "store/db.h"
#include "table/table.h"

/* Prepare it; NULL on error. */
sqlite3_stmt *pf_named_prepare(struct pf_db *db, const char *name,
			       struct pf_err *err);

/* Run it and add all rows to the table. */
int pf_named_fill(struct pf_db *db, const char *name, struct pf_table *table,
		  struct pf_err *err);

#endif
