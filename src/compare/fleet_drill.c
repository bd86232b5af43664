/* SPDX-License-Identifier: MIT */
/* From a fleet to the database of a rank. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/fleet.h"
#include "compare/fleet_places.h"
#include "compare/fleet_show.h"
#include "store/query.h"

enum { DB, XXH128, ERROR, PATH, READ_COUNT };

static const char *text_of(sqlite3_stmt *st, int column)
{
	return (const char *)sqlite3_column_text(st, column);
}

static int check_row(sqlite3_stmt *st, int64_t rank, struct pf_err *err)
{
	int64_t count = sqlite3_column_int64(st, READ_COUNT);

	if (text_of(st, ERROR))
		return pf_fail(err, PF_EDATA,
			       "rank %" PRId64 " could not be read when it was "
			       "merged: %s",
			       rank, text_of(st, ERROR));
	if (count > 1)
		return pf_fail(err, PF_EUSAGE,
			       "the fleet has %" PRId64 " traces of rank "
			       "%" PRId64 ", of several captures; name a "
			       "database, such as that of '%s'",
			       count, rank, text_of(st, PATH));
	if (!text_of(st, DB))
		return pf_fail(err, PF_EDATA,
			       "the database of rank %" PRId64 " was not kept "
			       "('profan merge --keep DIR' does); its trace is "
			       "'%s'",
			       rank, text_of(st, PATH));
	return 0;
}

static int find(struct pf_db *db, sqlite3_stmt *st, int64_t rank,
		const char *folder, char **path, struct pf_err *err)
{
	int rc;

	sqlite3_bind_int64(st, 1, rank);
	rc = pf_db_step(db, st, err);
	if (rc < 0)
		return -1;
	if (!rc)
		return pf_fail(err, PF_EUSAGE,
			       "there is no rank %" PRId64 " in this fleet",
			       rank);
	if (check_row(st, rank, err))
		return -1;
	*path = pf_place_from(folder, text_of(st, DB));
	if (text_of(st, XXH128) &&
	    !pf_fleet_is_of_trace(*path, text_of(st, XXH128), err)) {
		free(*path);
		*path = NULL;
		if (err->code)
			return -1;
		return pf_fail(err, PF_EDATA,
			       "'%s' is no more the database of rank %" PRId64
			       " that was merged: its trace is another",
			       text_of(st, DB), rank);
	}
	return 0;
}

int pf_fleet_rank_take(const char *fleet, int64_t rank, char **path,
		       struct pf_err *err)
{
	struct pf_db db = { 0 };
	char *folder = pf_place_folder(fleet, err);
	sqlite3_stmt *st = NULL;
	int rc = folder ? pf_db_open_kind(&db, fleet, &pf_fleet_kind, err) : -1;

	*path = NULL;
	if (!rc)
		st = pf_named_prepare(&db, "fleet/rank", err);
	rc = st ? find(&db, st, rank, folder, path, err) : -1;
	sqlite3_finalize(st);
	pf_db_close(&db);
	free(folder);
	return rc;
}
