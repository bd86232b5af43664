/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "store/block_load.h"

sqlite3_stmt *pf_block_statement(struct pf_db *db, struct pf_err *err)
{
	return pf_db_prepare(db,
			     "SELECT column_id, data FROM main.block_column"
			     " WHERE block_id = ?1 AND ?2 >> column_id & 1"
			     " ORDER BY column_id",
			     err);
}

static int decode_rows(struct pf_db *db, sqlite3_stmt *st, uint64_t columns,
		       struct pf_block *b, uint64_t *seen, struct pf_err *err)
{
	uint32_t count = b->count;
	int rc;

	while ((rc = pf_db_step(db, st, err)) > 0) {
		int64_t c = sqlite3_column_int64(st, 0);
		const void *data = sqlite3_column_blob(st, 1);
		int len = sqlite3_column_bytes(st, 1);

		if (c < 0 || c >= PF_COL_COUNT || !(columns >> c & 1))
			continue;
		if (pf_column_decode(b, (enum pf_column)c, count, data,
				     data ? (size_t)len : 0, err))
			return -1;
		*seen |= PF_COLBIT(c);
	}
	return rc;
}

/* Slots that no event has and inline texts may lack, others may not. */
static uint64_t required(uint64_t columns, const struct pf_block *b)
{
	uint64_t bits = columns & (PF_COLBIT(PF_COL_INLINE) - 1);

	for (int s = 0; s < PF_SLOT_COUNT; s++)
		if (b->slot_count[s])
			bits |= columns & PF_COLBIT(PF_COL_SLOT + s);
	return bits;
}

int pf_block_load(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		  uint32_t count, uint64_t columns, struct pf_block *b,
		  struct pf_err *err)
{
	uint64_t seen = 0;
	int rc;

	b->count = count;
	if (columns & PF_COLBIT(PF_COL_MASK))
		memset(b->slot_count, 0, sizeof(b->slot_count));
	if (columns & PF_COLBIT(PF_COL_INLINE))
		pf_buf_clear(&b->inline_text);
	sqlite3_bind_int64(st, 1, block_id);
	sqlite3_bind_int64(st, 2, (int64_t)columns);
	rc = decode_rows(db, st, columns, b, &seen, err);
	sqlite3_reset(st);
	if (!rc && (required(columns, b) & ~seen))
		rc = pf_fail(err, PF_EDB, "a column is missing");
	return rc ? pf_while(err, "block %" PRId64, block_id) : 0;
}
