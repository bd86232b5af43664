/* SPDX-License-Identifier: MIT */
/*
 * Ad-hoc SQL from a user: one statement that only reads.  Whatever it says,
 * nothing is written, attached or loaded.
 */
#ifndef PF_STORE_QUERY_H
#define PF_STORE_QUERY_H

#include "base/err.h"
#include "store/db.h"
#include "show/table.h"

/*
 * Run it and hand over the rows as they come; head() is called also when none
 * comes.  Blobs are handed over as text X'..' of hexadecimal digits.  A
 * statement that is wrong or does more than read is PF_EUSAGE.
 */
int pf_query_run(struct pf_db *db, const char *sql, struct pf_row_sink *sink,
		 struct pf_err *err);

#endif
