/* SPDX-License-Identifier: MIT */
/*
 * Many rows of whole numbers for one INSERT: SQLite reads them as the table
 * "feed" of this connection, whose columns are c0, c1, ...
 *
 *	INSERT INTO gpu_event(event_id, trace_id) SELECT c0, c1 FROM feed
 *
 * Bound values would cost a call and a lock each.  One feed a connection.
 */
#ifndef PF_STORE_FEED_H
#define PF_STORE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/db.h"

#define PF_FEED_ROWS    128 /* others wait for the connection so long */
#define PF_FEED_COLUMNS 13

struct pf_feed_row {
	uint32_t nulls; /* bit i: cell i is NULL, whatever it holds */
	int64_t cell[PF_FEED_COLUMNS];
};

/* What it names when the statement is stepped is what that reads. */
struct pf_feed {
	size_t count; /* PF_FEED_ROWS at most */
	const struct pf_feed_row *rows;
};

/* Borrowed until pf_feed_drop(); statements that read it go before that. */
int pf_feed_register(struct pf_db *db, const struct pf_feed *feed,
		     struct pf_err *err);
void pf_feed_drop(struct pf_db *db);

/* Cell i is not known unless "known". */
static inline void pf_feed_set(struct pf_feed_row *row, int i, bool known,
			       int64_t value)
{
	row->cell[i] = value;
	row->nulls |= (uint32_t)!known << i;
}

#endif
