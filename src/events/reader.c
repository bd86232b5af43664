/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "events/reader.h"
#include "base/mem.h"
#include "store/cursor.h"

struct pf_reader {
	struct pf_db *db;
	uint64_t columns;
	struct pf_cursor *cursor; /* over this track, or NULL */
	uint32_t track_id;
	const struct pf_block *block; /* or NULL: before the first, or end */
	uint32_t first_seq;
};

struct pf_reader *pf_reader_new(struct pf_db *db, uint64_t columns)
{
	struct pf_reader *r = pf_calloc(1, sizeof(*r));

	r->db = db;
	r->columns = columns;
	return r;
}

void pf_reader_free(struct pf_reader *r)
{
	if (!r)
		return;
	pf_cursor_free(r->cursor);
	free(r);
}

static int open_track(struct pf_reader *r, uint32_t track_id,
		      struct pf_err *err)
{
	if (r->cursor)
		pf_cursor_free(r->cursor);
	r->block = NULL;
	r->first_seq = 0;
	r->track_id = track_id;
	r->cursor = pf_cursor_new(r->db, track_id, r->columns, err);
	return r->cursor ? 0 : -1;
}

int pf_reader_at(struct pf_reader *r, int64_t event_id,
		 const struct pf_block **block, uint32_t *place,
		 struct pf_err *err)
{
	uint32_t track_id = pf_track_of(event_id);
	uint32_t seq = (uint32_t)((uint64_t)event_id & UINT32_MAX);

	if ((!r->cursor || r->track_id != track_id) &&
	    open_track(r, track_id, err) < 0)
		return -1;
	while (!r->block || seq >= r->first_seq + r->block->count) {
		int rc = pf_cursor_block(r->cursor, &r->block, &r->first_seq,
					 err);

		if (rc <= 0) {
			r->block = NULL;
			return rc;
		}
	}
	if (seq < r->first_seq)
		return 0;
	*block = r->block;
	*place = seq - r->first_seq;
	return 1;
}

const char *pf_analysis_temp_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}
