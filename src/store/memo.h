/* SPDX-License-Identifier: MIT */
/*
 * What several analyses of one database need and is worked out once: kept
 * with the connection, and shared by those that were opened beside it
 * (pf_db_open_beside()), whichever thread they belong to.  Only what is
 * bounded or small belongs here: it is kept until the database is closed.
 */
#ifndef PF_STORE_MEMO_H
#define PF_STORE_MEMO_H

#include "base/err.h"
#include "store/db.h"

/* Returns what will be kept, or NULL and an error; arg may be NULL. */
typedef void *pf_memo_make(struct pf_db *db, const char *arg,
			   struct pf_err *err);

/*
 * What make() makes of arg: made by the first who asks, while others wait;
 * borrowed until the database is closed.  It may ask for other things.  NULL
 * on error, which is not kept.
 */
const void *pf_memo_get(struct pf_db *db, pf_memo_make *make,
			void (*release)(void *), const char *arg,
			struct pf_err *err);

struct pf_memo *pf_memo_new(void);
void pf_memo_free(struct pf_memo *m); /* or NULL */

#endif
