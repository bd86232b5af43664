/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "compare/fleet_put.h"

int pf_fleet_out_open(struct pf_fleet_out *out, struct pf_db *db,
		      struct pf_err *err)
{
	*out = (struct pf_fleet_out){ .db = db };
	pf_intern_init(&out->texts);
	out->text = pf_db_prepare(db, "INSERT INTO string VALUES(?1, ?2)", err);
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
		  int64_t *id, struct pf_err *err)
{
	uint32_t before = out->texts.count;
	uint32_t n = pf_intern_add(&out->texts, s, len);
	int rc;

	*id = (int64_t)n + 1;
	if (n < before)
		return 0;
	sqlite3_bind_int64(out->text, 1, *id);
	sqlite3_bind_text64(out->text, 2, s, len, SQLITE_STATIC, SQLITE_UTF8);
	rc = pf_db_step(out->db, out->text, err);
	sqlite3_reset(out->text);
	return rc < 0 ? -1 : 0;
}

/* ---- rows ---- */

static sqlite3_stmt *prepare(struct pf_fleet_out *out, const char *table,
			     const struct pf_field *fields, size_t count,
			     struct pf_err *err)
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
	st = pf_db_prepare(out->db, sql.data, err);
	pf_buf_release(&sql);
	pf_buf_release(&places);
	pf_buf_release(&names);
	return st;
}

static int bind(struct pf_fleet_out *out, sqlite3_stmt *st, int at,
		const struct pf_cell *cell, struct pf_err *err)
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
		if (pf_fleet_text(out, cell->v.text.s, cell->v.text.len, &id,
				  err))
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
		   int64_t position, struct pf_err *err)
{
	int rc;

	sqlite3_bind_int64(st, 1, out->rank_id << PF_FLEET_SHIFT | position);
	sqlite3_bind_int64(st, 2, out->rank_id);
	for (size_t i = 0; i < count; i++) {
		struct pf_cell cell = pf_field_cell(&fields[i], row);

		if (bind(out, st, (int)i + 3, &cell, err))
			return -1;
	}
	rc = pf_db_step(out->db, st, err);
	sqlite3_reset(st);
	return rc < 0 ? -1 : 0;
}

int pf_fleet_put(struct pf_fleet_out *out, const char *table,
		 const struct pf_field *fields, size_t count, const void *rows,
		 size_t row_count, size_t row_bytes, struct pf_err *err)
{
	sqlite3_stmt *st;
	int rc = 0;

	if (!row_count)
		return 0;
	if (row_count >> PF_FLEET_SHIFT)
		return pf_fail(err, PF_ELIMIT,
			       "%zu rows of the table '%s' are too many for a "
			       "summary",
			       row_count, table);
	st = prepare(out, table, fields, count, err);
	if (!st)
		return -1;
	for (size_t i = 0; i < row_count && !rc; i++)
		rc = put_row(out, st, fields, count,
			     (const char *)rows + i * row_bytes, (int64_t)i,
			     err);
	sqlite3_finalize(st);
	return rc;
}
