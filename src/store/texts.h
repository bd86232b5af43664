/* SPDX-License-Identifier: MIT */
/*
 * Texts by id.  Statements are prepared when they are first used; short texts
 * that were asked for last are remembered, a fixed number of them.
 */
#pragma once

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

/*
 * The rows of a named statement whose columns are all integers.  Where blocks
 * are kept (store/kept.h) the rows of a statement are too, if there is room,
 * so that those who ask again need not ask SQLite.
 */

#define PF_INTS_NULL INT64_MIN /* a cell that is null */

/*
 * The statement takes no parameters; at most PF_INTS_COLUMNS columns.  NULL and
 * db->err.
 */
#define PF_INTS_COLUMNS 8
struct pf_ints;
struct pf_ints *pf_ints_new(struct pf_db *db, const char *name);
/*
 * Before the first row: from now on another thread reads rows ahead of who
 * takes them, where that helps and there is one.
 */
void pf_ints_ahead(struct pf_ints *s);
void pf_ints_free(struct pf_ints *s); /* or NULL */
PF_FREED(pf_ints_free, struct pf_ints)
/* The next row, borrowed until the next call: 1; 0 at the end; -1. */
int pf_ints_next(struct pf_ints *s, const int64_t **row, struct pf_err *err);
