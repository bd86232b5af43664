/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "events/track_read.h"

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
