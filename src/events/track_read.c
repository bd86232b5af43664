/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "events/track_read.h"
#include "store/query.h"

static int read_block(const struct pf_track_reader *reader, void *context,
		      const struct pf_block *b, int64_t first_id,
		      struct pf_err *err)
{
	for (uint32_t i = 0; i < b->count; i++)
		if (reader->event(context, b, i, first_id + i, err) < 0)
			return -1;
	return 0;
}

int pf_track_read(struct pf_db *db, const struct pf_track *t,
		  const struct pf_track_reader *reader, void *context,
		  struct pf_err *err)
{
	struct pf_cursor *c =
		pf_cursor_new(db, t->id,
			      PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
				      PF_COLBIT(PF_COL_NAME) |
				      PF_COLBIT(PF_COL_TYPE) | reader->columns,
			      err);
	const struct pf_block *b;
	uint32_t first;
	int rc = c ? 1 : -1;

	if (c && reader->within)
		pf_cursor_overlap(c, reader->within->from_ns,
				  reader->within->to_ns);
	if (c)
		pf_cursor_ahead(c);
	while (rc == 1) {
		if (reader->wants_more && !reader->wants_more(context, t, err))
			rc = 0;
		else
			rc = pf_cursor_block(c, &b, &first, err);
		if (rc == 1 &&
		    read_block(reader, context, b,
			       (int64_t)((uint64_t)t->id << 32 | first),
			       err) < 0)
			rc = -1;
	}
	pf_cursor_free(c);
	return rc;
}

/* ---- ranges of no thread ---- */

/* Has the trace any?  Most have none, and cost no more than this. */
static int has_lanes(struct pf_db *db, int64_t trace_id, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(db, "async_lanes", err);
	int rc = -1;

	if (st) {
		sqlite3_bind_int64(st, 1, trace_id);
		rc = pf_db_step(db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

int pf_async_open(struct pf_async *a, struct pf_db *db, int64_t trace_id,
		  struct pf_err *err)
{
	int rc = has_lanes(db, trace_id, err);

	*a = (struct pf_async){ 0 };
	if (rc <= 0)
		return rc;
	/* a connection of its own, which has the tables of events */
	if (pf_db_open(&a->db, db->path, true, err))
		return -1;
	a->st = pf_named_prepare(&a->db, "async_ranges", err);
	if (!a->st)
		return -1;
	sqlite3_bind_int64(a->st, 1, trace_id);
	return 0;
}

int pf_async_next(struct pf_async *a, struct pf_async_range *out,
		  struct pf_err *err)
{
	int rc = 0;

	while (a->st && (rc = pf_db_step(&a->db, a->st, err)) == 1) {
		const char *name = (const char *)sqlite3_column_text(a->st, 1);

		if (sqlite3_column_type(a->st, 3) == SQLITE_NULL) {
			a->half_count++;
			continue;
		}
		*out = (struct pf_async_range){
			.track_id = (uint32_t)sqlite3_column_int64(a->st, 0),
			.name = name ? name : "",
			.start_ns = sqlite3_column_int64(a->st, 2),
			.dur_ns = sqlite3_column_int64(a->st, 3),
		};
		return 1;
	}
	return rc;
}

void pf_async_close(struct pf_async *a)
{
	sqlite3_finalize(a->st);
	pf_db_close(&a->db);
	*a = (struct pf_async){ .half_count = a->half_count };
}
