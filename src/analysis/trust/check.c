/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "analysis/trust/check.h"
#include "store/cursor.h"

/* SQLite's own words have several lines; the last says what is wrong. */
static const char *last_line(const char *text)
{
	const char *newline = strrchr(text, '\n');

	return newline ? newline + 1 : text;
}

static int check_pages(struct pf_db *db, struct pf_err *err)
{
	sqlite3_stmt *st =
		pf_db_prepare(db, "PRAGMA main.integrity_check(1)", err);
	const char *said;
	int rc;

	if (!st)
		return -1;
	rc = pf_db_step(db, st, err);
	said = rc == 1 ? (const char *)sqlite3_column_text(st, 0) : NULL;
	if (rc >= 0 && (!said || strcmp(said, "ok") != 0))
		rc = pf_fail(err, PF_EDB, "damaged: %s",
			     said ? last_line(said) : "nothing can be said");
	sqlite3_finalize(st);
	return rc < 0 ? -1 : 0;
}

static int check_track(struct pf_db *db, const struct pf_track *track,
		       int64_t *event_count, struct pf_err *err)
{
	struct pf_cursor *c = pf_cursor_new(db, track->id, PF_COLS_ALL, err);
	const struct pf_block *block;
	uint32_t first;
	int64_t count = 0;
	int rc;

	if (!c)
		return -1;
	while ((rc = pf_cursor_block(c, &block, &first, err)) == 1)
		count += block->count;
	pf_cursor_free(c);
	if (!rc && count != track->event_count)
		rc = pf_fail(err, PF_EDB,
			     "damaged: track %u holds %lld of %lld events",
			     track->id, (long long)count,
			     (long long)track->event_count);
	*event_count += count;
	return rc;
}

static int check_tracks(struct pf_db *db, int64_t *event_count,
			struct pf_err *err)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(db, 0, &tracks, &count, err);

	for (size_t i = 0; !rc && i < count; i++)
		rc = check_track(db, &tracks[i], event_count, err);
	pf_tracks_free(tracks, count);
	return rc;
}

/* Tracks that are gone as a whole are missed by the traces alone. */
static int check_traces(struct pf_db *db, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		db,
		"SELECT id, stored_count, (SELECT coalesce(sum(event_count), 0)"
		" FROM track WHERE trace_id = trace.id) AS held FROM trace"
		" WHERE stored_count <> held ORDER BY id LIMIT 1",
		err);
	int rc;

	if (!st)
		return -1;
	rc = pf_db_step(db, st, err);
	if (rc == 1)
		rc = pf_fail(err, PF_EDB,
			     "damaged: trace %lld holds %lld of %lld events",
			     (long long)sqlite3_column_int64(st, 0),
			     (long long)sqlite3_column_int64(st, 2),
			     (long long)sqlite3_column_int64(st, 1));
	sqlite3_finalize(st);
	return rc;
}

int pf_check(struct pf_db *db, int64_t *event_count, struct pf_err *err)
{
	*event_count = 0;
	if (check_pages(db, err) || check_tracks(db, event_count, err) ||
	    check_traces(db, err))
		return pf_while(err, "'%s'", db->path);
	return 0;
}
