/* SPDX-License-Identifier: MIT */
/* From the table block_column into a struct pf_block; trusts nothing. */
#ifndef PF_STORE_BLOCK_LOAD_H
#define PF_STORE_BLOCK_LOAD_H

#include "store/block.h"
#include "store/db.h"

/* The statement that pf_block_load() needs; NULL on error. */
sqlite3_stmt *pf_block_statement(struct pf_db *db, struct pf_err *err);

/*
 * Decode "columns" (bits) of the block with this id and number of events into
 * b; others in b stay as they are.  MASK must be among them or have been
 * decoded if a slot is.
 */
int pf_block_load(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		  uint32_t count, uint64_t columns, struct pf_block *b,
		  struct pf_err *err);

#endif
