/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "compare/fleet.h"

static const char *const schemas[] = { "schema/fleet/tables.sql", NULL };

const struct pf_db_kind pf_fleet_kind = {
	.application_id = PF_FLEET_APPLICATION_ID,
	.version = PF_FLEET_VERSION,
	.what = "a fleet database",
	.other = "merge the ranks again",
	.schemas = schemas,
	.damaged = "schema/fleet/damaged.sql",
};

const char *const pf_fleet_tables[PF_FLEET_TABLES] = {
	"step",   "kernel",     "op",      "idle",   "idle_site",
	"device", "collective", "finding", "memory", "digest",
};

bool pf_fleet_is(const char *path)
{
	return pf_db_is_kind(path, &pf_fleet_kind);
}

bool pf_fleet_is_of_trace(const char *path, const char *digest,
			  struct pf_err *err)
{
	struct pf_db db = { 0 };
	sqlite3_stmt *st;
	bool is = false;

	if (pf_db_open(&db, path, false, err))
		return false;
	st = pf_db_prepare(&db, "SELECT xxh128 FROM trace LIMIT 2", err);
	if (st && pf_db_step(&db, st, err) == 1 &&
	    sqlite3_column_type(st, 0) == SQLITE_TEXT)
		is = !strcmp((const char *)sqlite3_column_text(st, 0), digest);
	is = is && pf_db_step(&db, st, err) == 0;
	sqlite3_finalize(st);
	pf_db_close(&db);
	return is;
}
