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

#define FIRST_BYTES (64u << 10) /* few blocks are larger */

/* Where a column's bytes lie among those that were fetched. */
struct packed {
	int column;
	size_t at, len;
};

struct fetched {
	struct packed of[PF_COL_COUNT];
	size_t count;
	struct pf_buf bytes;
};

/*
 * The rows of a block, and no more: while one thread has the connection the
 * others wait, so nothing is decoded here.
 */
static int fetch(struct pf_db *db, sqlite3_stmt *st, uint64_t columns,
		 struct fetched *f, struct pf_err *err)
{
	int rc;

	while ((rc = pf_db_step(db, st, err)) > 0) {
		int64_t c = sqlite3_column_int64(st, 0);
		const void *data = sqlite3_column_blob(st, 1);
		size_t len = data ? (size_t)sqlite3_column_bytes(st, 1) : 0;

		if (c < 0 || c >= PF_COL_COUNT || !(columns >> c & 1) ||
		    f->count == PF_COL_COUNT)
			continue;
		f->of[f->count++] =
			(struct packed){ (int)c, f->bytes.len, len };
		if (len)
			pf_buf_add(&f->bytes, data, len);
	}
	return rc;
}

static int fetch_block(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		       uint64_t columns, struct fetched *f, struct pf_err *err)
{
	int rc;

	pf_buf_reserve(&f->bytes, FIRST_BYTES);
	pf_db_lock(db);
	sqlite3_bind_int64(st, 1, block_id);
	sqlite3_bind_int64(st, 2, (int64_t)columns);
	rc = fetch(db, st, columns, f, err);
	sqlite3_reset(st);
	pf_db_unlock(db);
	return rc;
}

static int decode(const struct fetched *f, struct pf_block *b, uint64_t *seen,
		  struct pf_err *err)
{
	uint32_t count = b->count;

	for (size_t i = 0; i < f->count; i++) {
		const struct packed *p = &f->of[i];

		if (pf_column_decode(b, (enum pf_column)p->column, count,
				     f->bytes.data + p->at, p->len, err))
			return -1;
		*seen |= PF_COLBIT(p->column);
	}
	return 0;
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
	struct fetched f = { .count = 0 };
	uint64_t seen = 0;
	int rc;

	b->count = count;
	if (columns & PF_COLBIT(PF_COL_MASK))
		memset(b->slot_count, 0, sizeof(b->slot_count));
	if (columns & PF_COLBIT(PF_COL_INLINE))
		pf_buf_clear(&b->inline_text);
	rc = fetch_block(db, st, block_id, columns, &f, err);
	if (!rc)
		rc = decode(&f, b, &seen, err);
	pf_buf_release(&f.bytes);
	if (!rc && (required(columns, b) & ~seen))
		rc = pf_fail(err, PF_EDB, "a column is missing");
	return rc ? pf_while(err, "block %" PRId64, block_id) : 0;
}
