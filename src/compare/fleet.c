/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "compare/fleet.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analysis/ranks/digest.h"
#include "base/buf.h"
#include "base/mem.h"
#include "store/query.h"

char *pf_place_folder(const char *path, struct pf_err *err)
{
	char *copy = pf_strdup(path);
	char *folder = realpath(dirname(copy), NULL);

	if (!folder)
		pf_fail_errno(err, "cannot open the folder of '%s'", path);
	free(copy);
	return folder;
}

/* Append the parts of a path, which begins at "/". */
static void add_parts(struct pf_buf *out, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !strncmp(path, "..", 2)) {
			while (out->len && out->data[--out->len] != '/')
				;
			if (out->data)
				out->data[out->len] = '\0';
		} else if (len && !(len == 1 && *path == '.')) {
			pf_buf_addc(out, '/');
			pf_buf_add(out, path, len);
		}
		path += len + (path[len] == '/');
	}
}

char *pf_place_from(const char *folder, const char *path)
{
	struct pf_buf out = { 0 };

	if (*path != '/')
		add_parts(&out, folder);
	add_parts(&out, path);
	if (!out.len)
		pf_buf_addc(&out, '/');
	return out.data;
}

char *pf_place_relative(const char *folder, const char *path)
{
	struct pf_buf out = { 0 };
	size_t same = 0, i = 0;

	for (; folder[i] && folder[i] == path[i]; i++)
		if (folder[i] == '/')
			same = i;
	if (!folder[i] && path[i] == '/')
		same = i;
	if (!strcmp(folder, "/"))
		folder = "";
	for (const char *p = folder + (folder[0] ? same : 0); *p; p++)
		if (*p == '/' && p[1])
			pf_buf_adds(&out, "../");
	pf_buf_adds(&out, path + same + 1);
	return out.data;
}

/* ---- writing one ---- */

int pf_fleet_out_open(struct pf_fleet_out *out, struct pf_db *db)
{
	*out = (struct pf_fleet_out){ .db = db };
	pf_intern_init(&out->texts);
	out->text =
		pf_db_prepare(db, "INSERT INTO string VALUES(?1, ?2)", db->err);
	return out->text ? 0 : -1;
}

void pf_fleet_out_close(struct pf_fleet_out *out)
{
	sqlite3_finalize(out->text);
	pf_intern_release(&out->texts);
	*out = (struct pf_fleet_out){ 0 };
}

/* ---- strings ---- */

int pf_fleet_text(struct pf_fleet_out *out, const char *s, size_t len,
		  int64_t *id)
{
	uint32_t before = out->texts.count;
	uint32_t n = pf_intern_add(&out->texts, s, len);
	int rc;

	*id = (int64_t)n + 1;
	if (n < before)
		return 0;
	sqlite3_bind_int64(out->text, 1, *id);
	sqlite3_bind_text64(out->text, 2, s, len, SQLITE_STATIC, SQLITE_UTF8);
	rc = pf_db_step(out->db, out->text, out->db->err);
	sqlite3_reset(out->text);
	return rc < 0 ? -1 : 0;
}

/* ---- rows ---- */

static sqlite3_stmt *prepare(struct pf_fleet_out *out, const char *table,
			     const struct pf_field *fields, size_t count)
{
	struct pf_buf names = { 0 }, places = { 0 }, sql = { 0 };
	sqlite3_stmt *st;

	for (size_t i = 0; i < count; i++) {
		bool is_text = fields[i].type == PF_FIELD_TEXT;

		pf_buf_addf(&names, ", %s%s", fields[i].col.key,
			    is_text ? "_id" : "");
		pf_buf_adds(&places, ", ?");
	}
	pf_buf_addf(&sql, "INSERT INTO %s (id, rank_id%s) VALUES (?, ?%s)",
		    table, names.data, places.data);
	st = pf_db_prepare(out->db, sql.data, out->db->err);
	pf_buf_release(&sql);
	pf_buf_release(&places);
	pf_buf_release(&names);
	return st;
}

static int bind(struct pf_fleet_out *out, sqlite3_stmt *st, int at,
		const struct pf_cell *cell)
{
	int64_t id;

	switch (cell->type) {
	case PF_CELL_INT:
		sqlite3_bind_int64(st, at, cell->v.i);
		return 0;
	case PF_CELL_REAL:
		sqlite3_bind_double(st, at, cell->v.d);
		return 0;
	case PF_CELL_TEXT:
		if (pf_fleet_text(out, cell->v.text.s, cell->v.text.len, &id))
			return -1;
		sqlite3_bind_int64(st, at, id);
		return 0;
	default:
		sqlite3_bind_null(st, at);
		return 0;
	}
}

static int put_row(struct pf_fleet_out *out, sqlite3_stmt *st,
		   const struct pf_field *fields, size_t count, const void *row,
		   int64_t position)
{
	int rc;

	sqlite3_bind_int64(st, 1, out->rank_id << PF_FLEET_SHIFT | position);
	sqlite3_bind_int64(st, 2, out->rank_id);
	for (size_t i = 0; i < count; i++) {
		struct pf_cell cell = pf_field_cell(&fields[i], row);

		if (bind(out, st, (int)i + 3, &cell))
			return -1;
	}
	rc = pf_db_step(out->db, st, out->db->err);
	sqlite3_reset(st);
	return rc < 0 ? -1 : 0;
}

int pf_fleet_put(struct pf_fleet_out *out, const char *table,
		 const struct pf_field *fields, size_t count, const void *rows,
		 size_t row_count, size_t row_bytes)
{
	sqlite3_stmt *st;
	int rc = 0;

	if (!row_count)
		return 0;
	if (row_count >> PF_FLEET_SHIFT)
		return pf_fail(out->db->err, PF_ELIMIT,
			       "%zu rows of the table '%s' are too many for a "
			       "summary",
			       row_count, table);
	st = prepare(out, table, fields, count);
	if (!st)
		return -1;
	for (size_t i = 0; i < row_count && !rc; i++)
		rc = put_row(out, st, fields, count,
			     (const char *)rows + i * row_bytes, (int64_t)i);
	sqlite3_finalize(st);
	return rc;
}

int pf_fleet_figures_put(struct pf_fleet_out *out,
			 const struct pf_fleet_figures *figures,
			 const void *rows, size_t row_count, size_t row_bytes)
{
	struct pf_field fields[PF_FLEET_COLUMNS];
	size_t count = 0;

	for (size_t i = 0; i < figures->count; i++)
		fields[count++] = figures->items[i].of;
	for (size_t i = 0; i < figures->other_count; i++)
		fields[count++] = figures->others[i];
	return pf_fleet_put(out, figures->table, fields, count, rows, row_count,
			    row_bytes);
}

sqlite3_stmt *pf_fleet_sums_prepare(struct pf_db *db,
				    const struct pf_fleet_figures *figures)
{
	struct pf_buf sql = { 0 };
	sqlite3_stmt *st;

	pf_buf_addf(&sql, "SELECT r.capture_id, c.name, r.rank, %s",
		    figures->unit);
	for (size_t i = 0; i < figures->count; i++)
		pf_buf_addf(&sql, ", sum(t.%s)", figures->items[i].of.col.key);
	pf_buf_addf(&sql,
		    " FROM %s AS t JOIN rank AS r ON r.id = t.rank_id"
		    " JOIN capture AS c ON c.id = r.capture_id"
		    " WHERE r.error IS NULL AND %s GROUP BY %s ORDER BY %s",
		    figures->table, figures->of, figures->each, figures->each);
	st = pf_db_prepare(db, sql.data, db->err);
	pf_buf_release(&sql);
	return st;
}

/*
 * A digest is one zstd frame that says its length.  Nothing of it is trusted:
 * the length is bounded before memory is asked for, and what comes out is
 * checked by pf_digest_get().
 */

#define LEVEL     9 /* once a rank, and kept */
#define BYTES_MAX (UINT64_C(1) << 31)

/* ---- making ---- */

static int take(void *context, struct pf_digest *d, struct pf_err *err)
{
	(void)err;
	pf_digest_put(d, context);
	return 0;
}

int pf_fleet_digest_make(struct pf_db *db, struct pf_buf *bytes)
{
	const struct pf_window_args args = PF_WINDOW_DEFAULTS;
	const struct pf_digest_sink sink = { take, bytes };
	struct pf_window window;
	int rc = pf_window_resolve(db, &args, &window);

	if (!rc)
		rc = pf_digests_make(db, &window, &sink);
	pf_window_release(&window);
	return rc;
}

static int put(struct pf_fleet_out *out, const void *data, size_t len)
{
	sqlite3_stmt *st = pf_db_prepare(
		out->db, "INSERT INTO digest VALUES(?1, ?2, ?3)", out->db->err);
	int rc = -1;

	if (st) {
		sqlite3_bind_int64(st, 1, out->rank_id << PF_FLEET_SHIFT);
		sqlite3_bind_int64(st, 2, out->rank_id);
		sqlite3_bind_blob64(st, 3, data, len, SQLITE_STATIC);
		rc = pf_db_step(out->db, st, out->db->err);
	}
	sqlite3_finalize(st);
	return rc < 0 ? -1 : 0;
}

int pf_fleet_digest_put(struct pf_fleet_out *out, const struct pf_buf *bytes)
{
	struct pf_buf packed = { 0 };
	size_t len;
	int rc;

	if (!bytes->len)
		return 0;
	pf_buf_reserve(&packed, ZSTD_compressBound(bytes->len));
	len = ZSTD_compress(packed.data, ZSTD_compressBound(bytes->len),
			    bytes->data, bytes->len, LEVEL);
	rc = ZSTD_isError(len) ? pf_fail(out->db->err, PF_ELIMIT,
					 "a digest cannot be packed: %s",
					 ZSTD_getErrorName(len))
			       : put(out, packed.data, len);
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

static int no_capture(struct pf_db *db, const char *capture, int64_t count)
{
	if (capture)
		return pf_fail(db->err, PF_EUSAGE,
			       "'%s' has no capture '%s'; 'profan info %s' "
			       "lists them",
			       db->path, capture, db->path);
	return pf_fail(db->err, PF_EUSAGE,
		       "'%s' has %" PRId64 " captures, of which ranks are "
		       "compared with those of their own: choose it with "
		       "--capture",
		       db->path, count);
}

static int check_capture(struct pf_db *db, const char *capture)
{
	sqlite3_stmt *st = pf_db_prepare(
		db,
		"SELECT count(*) FROM capture WHERE ?1 IS NULL OR name = ?1",
		db->err);
	int64_t count = 0;
	int rc = -1;

	if (st) {
		sqlite3_bind_text(st, 1, capture, -1, SQLITE_STATIC);
		rc = pf_db_step(db, st, db->err);
		count = rc == 1 ? sqlite3_column_int64(st, 0) : 0;
	}
	sqlite3_finalize(st);
	if (rc < 0)
		return -1;
	/* an empty fleet has nothing to choose from */
	return count == 1 || (!count && !capture)
		       ? 0
		       : no_capture(db, capture, count);
}

int pf_fleet_digests_read(struct pf_db *db, const char *capture,
			  const struct pf_fleet_digest_sink *sink)
{
	struct pf_buf bytes = { 0 };
	sqlite3_stmt *st;
	int rc = check_capture(db, capture);

	st = rc ? NULL : pf_named_prepare(db, "fleet/digests", db->err);
	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, capture, -1, SQLITE_STATIC);
	while (!rc && (rc = pf_db_step(db, st, db->err)) == 1) {
		const void *data = sqlite3_column_blob(st, 0);

		rc = unpack(data, (size_t)sqlite3_column_bytes(st, 0), &bytes,
			    db->err);
		if (!rc)
			rc = sink->take(sink->context, bytes.data, bytes.len,
					db->err);
		if (rc)
			pf_while(db->err, "'%s'", db->path);
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
		      struct pf_arena *texts)
{
	sqlite3_stmt *st = pf_named_prepare(db, "fleet/label_of", db->err);
	int rc = st ? 0 : -1;

	if (st) {
		sqlite3_bind_text(st, 1, capture, -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 2, key, -1, SQLITE_STATIC);
	}
	while (!rc && (rc = pf_db_step(db, st, db->err)) == 1) {
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

static const char *const schemas[] = { "schema/fleet/tables.sql", NULL };

const struct pf_db_kind pf_fleet_kind = {
	.application_id = PF_FLEET_APPLICATION_ID,
	.version = PF_FLEET_VERSION,
	.what = "a fleet database",
	.other = "merge the ranks again",
	.schemas = schemas,
	.damaged = "schema/fleet/damaged.sql",
};

const char *const pf_fleet_tables[PF_FLEET_TABLES] = {
	"step",   "kernel",     "op",      "idle",   "idle_site",
	"device", "collective", "finding", "memory", "digest",
};

bool pf_fleet_is(const char *path)
{
	return pf_db_is_kind(path, &pf_fleet_kind);
}

bool pf_fleet_is_of_trace(const char *path, const char *digest,
			  struct pf_err *err)
{
	struct pf_db db = { 0 };
	sqlite3_stmt *st;
	bool is = false;

	if (pf_db_open(&db, path, false, err))
		return false;
	st = pf_db_prepare(&db, "SELECT xxh128 FROM trace LIMIT 2", err);
	if (st && pf_db_step(&db, st, err) == 1 &&
	    sqlite3_column_type(st, 0) == SQLITE_TEXT)
		is = !strcmp((const char *)sqlite3_column_text(st, 0), digest);
	is = is && pf_db_step(&db, st, err) == 0;
	sqlite3_finalize(st);
	pf_db_close(&db);
	return is;
}
