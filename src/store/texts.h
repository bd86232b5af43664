/* SPDX-License-Identifier: MIT */
/*
 * Texts by id.  Statements are prepared when they are first used; short texts
 * that were asked for last are remembered, a fixed number of them.
 */
#ifndef PF_STORE_TEXTS_H
#define PF_STORE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/db.h"

enum pf_texts_of {
	PF_TEXT_NAME, /* string.text */
	PF_TEXT_ARGS, /* argset.text: JSON in which what varies is $a, $b ... */
	PF_TEXT_TABLES
};

/* Zero but for db: nothing asked yet.  For one thread. */
struct pf_texts {
	struct pf_db *db;
	struct pf_texts_of_table {
		sqlite3_stmt *stmt;
		struct pf_texts_kept *kept; /* by id, or NULL */
	} of[PF_TEXT_TABLES];
};

/*
 * 1 and the text, borrowed until the next call for that table; 0 and "" if
 * there is none; -1.  len may be NULL.
 */
int pf_texts_get(struct pf_texts *t, enum pf_texts_of table, int64_t id,
		 const char **text, size_t *len, struct pf_err *err);
void pf_texts_release(struct pf_texts *t);

#endif
