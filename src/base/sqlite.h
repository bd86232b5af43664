/* SPDX-License-Identifier: MIT */
/*
 * What two rooms share of SQLite, behind its own header: statements that end
 * with their block, and which failures are the machine's: no room, no memory, a
 * file that the system does not read or write.  They say nothing of the
 * database that was asked (pf_err_is_of_input()).
 */
#pragma once

#include <errno.h>

#include "base/mem.h"

/* PF_STMT(st) = pf_db_prepare(...): finalized where its block is left. */
PF_FREED(sqlite3_finalize, sqlite3_stmt)
#define PF_STMT(st) PF_AUTO(sqlite3_finalized) sqlite3_stmt *st

/* A column of the row; NULL of null. */
static inline const char *pf_sqlite_text(sqlite3_stmt *st, int column)
{
	return (const char *)sqlite3_column_text(st, column);
}

/*
 * What the system said when the last call failed; 0: it was not the system.
 * A page that could not be read makes SQLite call the database damaged.
 */
static inline int pf_sqlite_errno(sqlite3 *sql)
{
	int own = 0;

	switch (sqlite3_errcode(sql)) {
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_CANTOPEN:
		return sqlite3_system_errno(sql);
	case SQLITE_IOERR:
		own = sqlite3_system_errno(sql);
		return own ? own : EIO;
	case SQLITE_CORRUPT:
		sqlite3_file_control(sql, "main", SQLITE_FCNTL_LAST_ERRNO,
				     &own);
		return own == EIO || own == ENXIO || own == ERANGE ? own : 0;
	default:
		return 0;
	}
}
