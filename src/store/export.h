/* SPDX-License-Identifier: MIT */
/*
 * A database as plain tables: everything of it, with the column blocks as the
 * tables event and arg (schema/export.sql), for tools that have only SQLite.
 */
#ifndef PF_STORE_EXPORT_H
#define PF_STORE_EXPORT_H

#include <stdbool.h>

#include "store/db.h"

/*
 * Write a database opened with tables to the new file "out".  It is built as
 * OUT.partial and renamed when it is complete; on an error nothing is left.
 * A file at "out" is an error unless "replace".
 */
int pf_export_rows(struct pf_db *db, const char *out, bool replace,
		   struct pf_err *err);

#endif
