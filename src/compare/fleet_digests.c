/* SPDX-License-Identifier: MIT */
/*
 * A digest is one zstd frame that says its length.  Nothing of it is trusted:
 * the length is bounded before memory is asked for, and what comes out is
 * checked by pf_digest_get().
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>
#include <zstd.h>

#include "compare/fleet_digests.h"
#include "analysis/ranks/digest.h"
#include "store/query.h"

#define LEVEL     9 /* once a rank, and kept */
#define BYTES_MAX (UINT64_C(1) << 31)

/* ---- making ---- */

static int take(void *context, struct pf_digest *d, struct pf_err *err)
{
	(void)err;
	pf_digest_put(d, context);
	return 0;
}

int pf_fleet_digest_make(struct pf_db *db, struct pf_buf *bytes,
			 struct pf_err *err)
{
	const struct pf_window_args args = PF_WINDOW_DEFAULTS;
	const struct pf_digest_sink sink = { take, bytes };
	struct pf_window window;
	int rc = pf_window_resolve(db, &args, &window, err);

	if (!rc)
		rc = pf_digests_make(db, &window, &sink, err);
	pf_window_release(&window);
	return rc;
}

static int put(struct pf_fleet_out *out, const void *data, size_t len,
	       struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		out->db, "INSERT INTO digest VALUES(?1, ?2, ?3)", err);
	int rc = -1;

	if (st) {
		sqlite3_bind_int64(st, 1, out->rank_id << PF_FLEET_SHIFT);
		sqlite3_bind_int64(st, 2, out->rank_id);
		sqlite3_bind_blob64(st, 3, data, len, SQLITE_STATIC);
		rc = pf_db_step(out->db, st, err);
	}
	sqlite3_finalize(st);
	return rc < 0 ? -1 : 0;
}

int pf_fleet_digest_put(struct pf_fleet_out *out, const struct pf_buf *bytes,
			struct pf_err *err)
{
	struct pf_buf packed = { 0 };
	size_t len;
	int rc;

	if (!bytes->len)
		return 0;
	pf_buf_reserve(&packed, ZSTD_compressBound(bytes->len));
	len = ZSTD_compress(packed.data, ZSTD_compressBound(bytes->len),
			    bytes->data, bytes->len, LEVEL);
	rc = ZSTD_isError(len)
		     ? pf_fail(err, PF_ELIMIT, "a digest cannot be packed: %s",
			       ZSTD_getErrorName(len))
		     : put(out, packed.data, len, err);
	pf_buf_release(&packed);
	return rc;
}

/* ---- reading ---- */

static int damaged(struct pf_err *err)
{
	return pf_fail(err, PF_EDATA, "a digest of a rank is damaged");
}

static int unpack(const void *data, size_t len, struct pf_buf *out,
		  struct pf_err *err)
{
	unsigned long long size = ZSTD_getFrameContentSize(data, len);
	size_t got;

	/* both words for what is not known are above this */
	if (!data || size > BYTES_MAX)
		return damaged(err);
	pf_buf_clear(out);
	pf_buf_reserve(out, size + 1);
	got = ZSTD_decompress(out->data, size, data, len);
	if (ZSTD_isError(got) || got != size)
		return damaged(err);
	out->len = got;
	return 0;
}

static int no_capture(struct pf_db *db, const char *capture, int64_t count,
		      struct pf_err *err)
{
	if (capture)
		return pf_fail(err, PF_EUSAGE,
			       "'%s' has no capture '%s'; 'profan info %s' "
			       "lists them",
			       db->path, capture, db->path);
	return pf_fail(err, PF_EUSAGE,
		       "'%s' has %" PRId64 " captures, of which ranks are "
		       "compared with those of their own: choose it with "
		       "--capture",
		       db->path, count);
}

static int check_capture(struct pf_db *db, const char *capture,
			 struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		db,
		"SELECT count(*) FROM capture WHERE ?1 IS NULL OR name = ?1",
		err);
	int64_t count = 0;
	int rc = -1;

	if (st) {
		sqlite3_bind_text(st, 1, capture, -1, SQLITE_STATIC);
		rc = pf_db_step(db, st, err);
		count = rc == 1 ? sqlite3_column_int64(st, 0) : 0;
	}
	sqlite3_finalize(st);
	if (rc < 0)
		return -1;
	/* an empty fleet has nothing to choose from */
	return count == 1 || (!count && !capture)
		       ? 0
		       : no_capture(db, capture, count, err);
}

int pf_fleet_digests_read(struct pf_db *db, const char *capture,
			  const struct pf_fleet_digest_sink *sink,
			  struct pf_err *err)
{
	struct pf_buf bytes = { 0 };
	sqlite3_stmt *st;
	int rc = check_capture(db, capture, err);

	st = rc ? NULL : pf_named_prepare(db, "fleet/digests", err);
	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, capture, -1, SQLITE_STATIC);
	while (!rc && (rc = pf_db_step(db, st, err)) == 1) {
		const void *data = sqlite3_column_blob(st, 0);

		rc = unpack(data, (size_t)sqlite3_column_bytes(st, 0), &bytes,
			    err);
		if (!rc)
			rc = sink->take(sink->context, bytes.data, bytes.len,
					err);
		if (rc)
			pf_while(err, "'%s'", db->path);
	}
	sqlite3_finalize(st);
	pf_buf_release(&bytes);
	return rc;
}

/* ---- labels ---- */

static size_t find_rank(const int64_t *ranks, size_t count, int64_t rank)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranks[middle] < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && ranks[low] == rank ? low : count;
}

int pf_fleet_label_of(struct pf_db *db, const char *capture, const char *key,
		      const int64_t *ranks, size_t count, const char **values,
		      struct pf_arena *texts, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(db, "fleet/label_of", err);
	int rc = st ? 0 : -1;

	if (st) {
		sqlite3_bind_text(st, 1, capture, -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 2, key, -1, SQLITE_STATIC);
	}
	while (!rc && (rc = pf_db_step(db, st, err)) == 1) {
		size_t i = find_rank(ranks, count, sqlite3_column_int64(st, 0));

		if (i < count)
			values[i] = pf_arena_string(
				texts,
				(const char *)sqlite3_column_text(st, 1));
		rc = 0;
	}
	sqlite3_finalize(st);
	return rc;
}
