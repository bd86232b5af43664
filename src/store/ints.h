/* SPDX-License-Identifier: MIT */
/*
 * The rows of a named statement whose columns are all integers.  Where blocks
 * are kept (store/kept.h) the rows of a statement are too, if there is room,
 * so that those who ask again need not ask SQLite.
 */
#ifndef PF_STORE_INTS_H
#define PF_STORE_INTS_H

#include <stdint.h>

#include "base/err.h"
#include "store/db.h"

#define PF_INTS_NULL INT64_MIN /* a cell that is null */

/* The statement takes no parameters; at most PF_INTS_COLUMNS columns. */
#define PF_INTS_COLUMNS 8
struct pf_ints;
struct pf_ints *pf_ints_new(struct pf_db *db, const char *name,
			    struct pf_err *err);
/*
 * Before the first row: from now on another thread reads rows ahead of who
 * takes them, where that helps and there is one.
 */
void pf_ints_ahead(struct pf_ints *s);
void pf_ints_free(struct pf_ints *s); /* or NULL */
/* The next row, borrowed until the next call: 1; 0 at the end; -1. */
int pf_ints_next(struct pf_ints *s, const int64_t **row, struct pf_err *err);

#endif
