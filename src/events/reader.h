/* SPDX-License-Identifier: MIT */
/*
 * Events by their id, asked for in ascending order: one walk over the column
 * blocks of the tracks that are asked for.  Memory is one block.
 */
#ifndef PF_ANALYSIS_READER_H
#define PF_ANALYSIS_READER_H

#include <stdint.h>

#include "base/err.h"
#include "store/block.h"
#include "store/db.h"

struct pf_reader;

/* Columns: PF_COLBIT(...) of store/block.h; no slots. */
struct pf_reader *pf_reader_new(struct pf_db *db, uint64_t columns);
void pf_reader_free(struct pf_reader *r);

/*
 * The event of this id, which is not less than the last one: 1 and its block
 * (borrowed until the next call) and place in it; 0 if there is none; -1.
 */
int pf_reader_at(struct pf_reader *r, int64_t event_id,
		 const struct pf_block **block, uint32_t *place,
		 struct pf_err *err);

/* Where large analyses keep what does not fit: $TMPDIR or /tmp. */
const char *pf_analysis_temp_dir(void);

#endif
