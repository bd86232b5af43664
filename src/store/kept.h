/* SPDX-License-Identifier: MIT */
/*
 * Columns of blocks that were decoded, kept for whoever reads them next, most
 * values in two bytes or one: a report has ten analyses of one database.
 * What comes when the room is used up is not kept.  Connections beside each
 * other share them (store/db.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "store/block.h"
#include "store/db.h"

/* From now on keep up to so many bytes, until the database is closed. */
void pf_kept_start(struct pf_db *db, size_t max_bytes);
/* Drop the columns of blocks, which nobody reads any more, and keep none. */
void pf_kept_stop(struct pf_db *db);

/* Room for something else that is kept as long; false: there is not so much. */
bool pf_kept_take(struct pf_db *db, size_t bytes);
void pf_kept_give_back(struct pf_db *db, size_t bytes);

/*
 * What several analyses of one database need and is worked out once: kept
 * with the connection, and shared by those that were opened beside it
 * (pf_db_open_beside()), whichever thread they belong to.  Only what is
 * bounded or small belongs here: it is kept until the database is closed.
 */

/* Returns what will be kept, or NULL and db->err; arg may be NULL. */
typedef void *pf_memo_make(struct pf_db *db, const char *arg);

/*
 * What make() makes of arg: made by the first who asks, while others wait;
 * borrowed until the database is closed.  It may ask for other things.  NULL
 * on error, which is not kept.
 */
const void *pf_memo_get(struct pf_db *db, pf_memo_make *make,
			void (*release)(void *), const char *arg);
