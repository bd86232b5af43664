/* SPDX-License-Identifier: MIT */
#ifndef PF_TESTS_FUZZ_KEPT_H
#define PF_TESTS_FUZZ_KEPT_H

#include <sqlite3.h>

/*
 * From now on what is compiled for this connection is compiled once, also what
 * sqlite3_exec() runs: a statement that is finalized waits for the next that asks
 * for the same text.  What is linked with this is linked so that its calls of
 * SQLite come by here (GNU ld's --wrap).
 */
void fuzz_keep_statements(sqlite3 *sql);

/*
 * Before the first connection: SQLite's pages have a place that the sanitizers
 * need not poison and watch each time.
 */
void fuzz_keep_pages(void);

#endif
