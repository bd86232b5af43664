/* SPDX-License-Identifier: MIT */
/*
 * profan_sqlite.so: the virtual tables and views of a profan database in any
 * program that loads SQLite extensions:
 *
 *	sqlite3 job.db
 *	.load profan_sqlite
 *	SELECT name, count(*) FROM event GROUP BY name;
 */
#include "config.h"

#define PF_EXTENSION_MAIN
#include "store/vtab.h"

int sqlite3_profansqlite_init(sqlite3 *sql, char **message,
			      const sqlite3_api_routines *api);

int sqlite3_profansqlite_init(sqlite3 *sql, char **message,
			      const sqlite3_api_routines *api)
{
	struct pf_err err = { 0 };

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < 3038000) {
		*message = sqlite3_mprintf("profan needs SQLite 3.38 or newer");
		return SQLITE_ERROR;
	}
	if (pf_vtab_register(sql, &err)) {
		*message = sqlite3_mprintf("%s", err.text);
		return SQLITE_ERROR;
	}
	/* Threads may outlive the connection: their scratch is freed by us. */
	return SQLITE_OK_LOAD_PERMANENTLY;
}
