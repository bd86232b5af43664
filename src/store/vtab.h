/* SPDX-License-Identifier: MIT */
/*
 * The column blocks as SQL tables, read-only: event, op, frame, arg (columns
 * in schema/README.md).  They prune blocks by id, trace, track, time and name
 * and decode only the columns that a statement uses.
 *
 * A connection's tables share caches of strings, so a connection may be used
 * by one thread at a time, as SQLite demands anyway.
 */
#pragma once

#include "store/db.h"

/*
 * Register the tables on a connection and make the temporary views of
 * schema/views_event.sql; PF_EDB on failure.
 */
int pf_vtab_register(sqlite3 *sql, struct pf_err *err);
