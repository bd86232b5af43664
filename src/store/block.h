/* SPDX-License-Identifier: MIT */
/*
 * Column blocks: up to PF_BLOCK_EVENTS events of one track, in the order
 * (start, -end, file order), one compressed byte string per column.
 *
 * Invariants: block k of a track holds the events k * PF_BLOCK_EVENTS on; all
 * but the last block of a track are full; so event id = track_id << 32 | seq,
 * seq = position in the track, finds its block by a shift.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "formats/event.h"
#include "store/db.h"

#define PF_BLOCK_SHIFT  14
#define PF_BLOCK_EVENTS (1u << PF_BLOCK_SHIFT)

/*
 * Column numbers as stored in block_column.column_id: append only.  Slot s is
 * column PF_COL_SLOT + s and holds only the values of the events whose args
 * have that slot ("dense"); which do is said by column MASK, the slot mask
 * (bit s set = the event has slot s).
 */
enum pf_column {
	PF_COL_START = 0,  /* start_ns, int64 */
	PF_COL_DUR = 1,    /* dur_ns, int64, >= 0 */
	PF_COL_ORDER = 2,  /* position among all events of the file, from 0 */
	PF_COL_NAME = 3,   /* string.id, or PF_ID_INLINE */
	PF_COL_TYPE = 4,   /* event_type.id */
	PF_COL_ARGS = 5,   /* argset.id, PF_ID_NONE or PF_ID_INLINE */
	PF_COL_PARENT = 6, /* seq - seq of the enclosing event, 0 = none */
	PF_COL_MASK = 7,   /* slot mask */
	PF_COL_INLINE = 8, /* inline strings: see pf_block.inline_text */
	PF_COL_SLOT = 16,  /* + enum pf_slot */
	PF_COL_COUNT = PF_COL_SLOT + PF_SLOT_COUNT
};

#define PF_COLS_ALL  UINT64_MAX
#define PF_COLBIT(c) (UINT64_C(1) << (c))

/*
 * One decoded block, struct of arrays.  Arrays have "capacity" places
 * (slot arrays: one place per event of the block, filled from the front, only
 * slot_count[s] used).  Columns that were not asked for are undefined.
 */
struct pf_block {
	uint32_t count, capacity;
	void *memory; /* of all arrays */
	int64_t *start_ns, *dur_ns, *order;
	uint32_t *name, *type, *args, *parent, *mask;
	int64_t *slot[PF_SLOT_COUNT];
	uint32_t slot_count[PF_SLOT_COUNT];
	/*
	 * Inline strings, in event order, name before args: for each a 32-bit
	 * little-endian length and the bytes.
	 */
	struct pf_buf inline_text;
};

/* Allocates every array, for as many events at most. */
void pf_block_init(struct pf_block *b, uint32_t events);
void pf_block_release(struct pf_block *b);

/*
 * Encode one column into "out" (appended): codec version byte, form byte,
 * body, 32-bit checksum of it all (schema/README.md says what the forms are).
 * The same values give the same bytes.  Any thread may encode any block: the
 * scratch memory is the thread's own.
 */
void pf_column_encode(const struct pf_block *b, enum pf_column column,
		      struct pf_buf *out);

/*
 * From the table block_column: decode "columns" (bits) of the block with this
 * id and number of events into b; others in b stay as they are.  MASK must be
 * among them or have been decoded if a slot is.  Nothing is trusted.  *st is
 * NULL at first, and the caller's to finalize.
 */
int pf_block_load(struct pf_db *db, sqlite3_stmt **st, int64_t block_id,
		  uint32_t count, uint64_t columns, struct pf_block *b,
		  struct pf_err *err);
