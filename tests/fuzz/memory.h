/* SPDX-License-Identifier: MIT */
#ifndef PF_TESTS_FUZZ_MEMORY_H
#define PF_TESTS_FUZZ_MEMORY_H

#include "store/db.h"

/*
 * A new database of traces in memory, which is made once and forgets what was
 * written since fuzz_memory_begin().  Statements are compiled once (kept.h), and no
 * thread can be had, so that an input always does the same.
 */
struct pf_db *fuzz_memory_begin(struct pf_err *err);
void fuzz_memory_end(void);

/* The query gives no row. */
void fuzz_memory_has_no(const char *sql);

#endif
