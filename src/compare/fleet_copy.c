/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "compare/fleet_copy.h"

/* ---- columns ---- */

static bool is_text_column(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && !strcmp(name + n - 3, "_id") && strcmp(name, "rank_id");
}

/* Those of the schema that is written. */
static int read_columns(struct pf_fleet_copy *c, int table, struct pf_err *err)
{
	struct pf_fleet_columns *of = &c->columns[table];
	sqlite3_stmt *st = pf_db_prepare(
		c->out->db, "SELECT name FROM pragma_table_info(?1)", err);
	int rc = st ? 1 : -1;

	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, pf_fleet_tables[table], -1, SQLITE_STATIC);
	while (of->count < PF_FLEET_COLUMNS &&
	       (rc = pf_db_step(c->out->db, st, err)) == 1) {
		const char *name = (const char *)sqlite3_column_text(st, 0);

		pf_buf_addf(&of->list, "%s%s", of->count ? ", " : "", name);
		of->is_text[of->count++] = is_text_column(name);
	}
	sqlite3_finalize(st);
	return rc < 0 ? -1 : 0;
}

static int prepare_insert(struct pf_fleet_copy *c, int table,
			  struct pf_err *err)
{
	struct pf_buf sql = { 0 };

	pf_buf_addf(&sql, "INSERT INTO %s VALUES(?", pf_fleet_tables[table]);
	for (int i = 1; i < c->columns[table].count; i++)
		pf_buf_adds(&sql, ", ?");
	pf_buf_adds(&sql, ")");
	c->insert[table] = pf_db_prepare(c->out->db, sql.data, err);
	pf_buf_release(&sql);
	return c->insert[table] ? 0 : -1;
}

int pf_fleet_copy_init(struct pf_fleet_copy *c, struct pf_fleet_out *out,
		       struct pf_fleet_part *parts, size_t part_count,
		       struct pf_err *err)
{
	*c = (struct pf_fleet_copy){ .out = out,
				     .parts = parts,
				     .part_count = part_count };
	for (int t = 0; t < PF_FLEET_TABLES; t++)
		if (read_columns(c, t, err) || prepare_insert(c, t, err))
			return -1;
	return 0;
}

/* ---- parts ---- */

static void close_part(struct pf_fleet_copy *c, struct pf_fleet_part *p)
{
	if (!p->is_open)
		return;
	for (int t = 0; t < PF_FLEET_TABLES; t++)
		sqlite3_finalize(p->rows[t]);
	sqlite3_finalize(p->text);
	memset(p->rows, 0, sizeof(p->rows));
	p->text = NULL;
	pf_map_release(&p->texts);
	pf_db_close(&p->own);
	p->is_open = false;
	c->open_count -= !p->given;
}

void pf_fleet_copy_release(struct pf_fleet_copy *c)
{
	for (size_t i = 0; i < c->part_count; i++)
		close_part(c, &c->parts[i]);
	for (int t = 0; t < PF_FLEET_TABLES; t++) {
		sqlite3_finalize(c->insert[t]);
		pf_buf_release(&c->columns[t].list);
	}
	*c = (struct pf_fleet_copy){ 0 };
}

static struct pf_db *db_of(struct pf_fleet_part *p)
{
	return p->given ? p->given : &p->own;
}

static int prepare_rows(struct pf_fleet_copy *c, struct pf_fleet_part *p,
			int table, struct pf_err *err)
{
	struct pf_buf sql = { 0 };

	pf_buf_addf(&sql,
		    "SELECT %s FROM %s WHERE id >= ?1 AND id < ?2 ORDER BY id",
		    c->columns[table].list.data, pf_fleet_tables[table]);
	p->rows[table] = pf_db_prepare(db_of(p), sql.data, err);
	pf_buf_release(&sql);
	return p->rows[table] ? 0 : -1;
}

static int open_part(struct pf_fleet_copy *c, struct pf_fleet_part *p,
		     struct pf_err *err)
{
	if (!p->given && pf_db_open_kind(&p->own, p->path, &pf_fleet_kind, err))
		return -1;
	p->is_open = true;
	c->open_count += !p->given;
	pf_map_init(&p->texts);
	return 0;
}

/* Only of parts that are copied from: they are listed first. */
static int prepare_part(struct pf_fleet_copy *c, struct pf_fleet_part *p,
			struct pf_err *err)
{
	int rc = 0;

	if (p->text)
		return 0;
	for (int t = 0; t < PF_FLEET_TABLES && !rc; t++)
		rc = prepare_rows(c, p, t, err);
	if (!rc)
		p->text = pf_db_prepare(
			db_of(p), "SELECT text FROM string WHERE id = ?1", err);
	return p->text ? 0 : -1;
}

/* The one that was not asked for longest. */
static void close_oldest(struct pf_fleet_copy *c)
{
	struct pf_fleet_part *oldest = NULL;

	for (size_t i = 0; i < c->part_count; i++)
		if (c->parts[i].is_open && !c->parts[i].given &&
		    (!oldest || c->parts[i].used < oldest->used))
			oldest = &c->parts[i];
	if (oldest)
		close_part(c, oldest);
}

struct pf_db *pf_fleet_part_db(struct pf_fleet_copy *c, size_t part,
			       struct pf_err *err)
{
	struct pf_fleet_part *p = &c->parts[part];

	p->used = ++c->clock;
	if (!p->is_open) {
		if (c->open_count >= PF_FLEET_OPEN)
			close_oldest(c);
		if (open_part(c, p, err))
			return NULL;
	}
	return db_of(p);
}

/* ---- rows ---- */

static int copy_text(struct pf_fleet_copy *c, struct pf_fleet_part *p,
		     int64_t from, int64_t *to, struct pf_err *err)
{
	uint64_t *place = pf_map_at(&p->texts, (uint64_t)from);
	int rc;

	if (*place != UINT64_MAX) {
		*to = (int64_t)*place;
		return 0;
	}
	sqlite3_bind_int64(p->text, 1, from);
	rc = pf_db_step(db_of(p), p->text, err);
	if (rc == 1 && sqlite3_column_type(p->text, 0) == SQLITE_TEXT)
		rc = pf_fleet_text(
			c->out, (const char *)sqlite3_column_text(p->text, 0),
			(size_t)sqlite3_column_bytes(p->text, 0), to, err);
	else if (rc >= 0)
		rc = pf_fail(err, PF_EDB, "string %lld is missing",
			     (long long)from);
	sqlite3_reset(p->text);
	if (!rc)
		*place = (uint64_t)*to;
	return rc;
}

static int bind_row(struct pf_fleet_copy *c, struct pf_fleet_part *p, int table,
		    int64_t position, struct pf_err *err)
{
	const struct pf_fleet_columns *of = &c->columns[table];
	sqlite3_stmt *to = c->insert[table], *from = p->rows[table];
	int64_t text;

	sqlite3_bind_int64(to, 1, c->out->rank_id << PF_FLEET_SHIFT | position);
	sqlite3_bind_int64(to, 2, c->out->rank_id);
	for (int i = 2; i < of->count; i++)
		if (!of->is_text[i] ||
		    sqlite3_column_type(from, i) != SQLITE_INTEGER) {
			sqlite3_bind_value(to, i + 1,
					   sqlite3_column_value(from, i));
		} else {
			if (copy_text(c, p, sqlite3_column_int64(from, i),
				      &text, err))
				return -1;
			sqlite3_bind_int64(to, i + 1, text);
		}
	return 0;
}

static int copy_table(struct pf_fleet_copy *c, struct pf_fleet_part *p,
		      int table, int64_t rank_id, struct pf_err *err)
{
	sqlite3_stmt *from = p->rows[table], *to = c->insert[table];
	int64_t first = rank_id << PF_FLEET_SHIFT, position = 0;
	int rc;

	sqlite3_bind_int64(from, 1, first);
	sqlite3_bind_int64(from, 2, first + (INT64_C(1) << PF_FLEET_SHIFT));
	while ((rc = pf_db_step(db_of(p), from, err)) == 1) {
		if (bind_row(c, p, table, position++, err) ||
		    pf_db_step(c->out->db, to, err) < 0) {
			rc = -1;
			break;
		}
		sqlite3_reset(to);
	}
	sqlite3_reset(to);
	sqlite3_reset(from);
	return rc;
}

int pf_fleet_copy_rank(struct pf_fleet_copy *c, size_t part, int64_t rank_id,
		       struct pf_err *err)
{
	struct pf_fleet_part *p = &c->parts[part];
	int rc = pf_fleet_part_db(c, part, err) ? 0 : -1;

	if (!rc && (rank_id < 1 || rank_id >> (62 - PF_FLEET_SHIFT)))
		rc = pf_fail(err, PF_EDB, "rank %lld is damaged",
			     (long long)rank_id);
	if (!rc)
		rc = prepare_part(c, p, err);
	for (int t = 0; t < PF_FLEET_TABLES && !rc; t++)
		rc = copy_table(c, p, t, rank_id, err);
	return rc && p->path ? pf_while(err, "'%s'", p->path) : rc;
}
