/* SPDX-License-Identifier: MIT */
/*
 * Reading a database back, before what it was made of is removed: the pages
 * and indexes of the file as SQLite checks them, every column of every block
 * with its checksum, and the events of each track and trace against what was
 * counted while they were written.
 */
#ifndef PF_ANALYSIS_TRUST_CHECK_H
#define PF_ANALYSIS_TRUST_CHECK_H

#include "base/err.h"
#include "store/db.h"

/*
 * *event_count: events that were read back.  PF_EDB and where, if anything is
 * not as it was written.
 */
int pf_check(struct pf_db *db, int64_t *event_count, struct pf_err *err);

#endif
