/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/texts.h"

#include "base/mem.h"
#include "store/kept.h"
#include "store/query.h"
#include "store/threads.h"
#include "store/varint.h"

#define KEPT       256 /* a power of 2 */
#define KEPT_BYTES 240

/* The last text of those whose ids share this place. */
struct pf_texts_kept {
	int64_t id;
	uint32_t is_there, len;
	char text[KEPT_BYTES];
};

static void keep(struct pf_texts_kept *k, int64_t id, const char *text,
		 size_t len)
{
	k->is_there = len < KEPT_BYTES;
	if (!k->is_there)
		return;
	k->id = id;
	k->len = (uint32_t)len;
	memcpy(k->text, text, len + 1);
}

static int load(struct pf_db *db, sqlite3_stmt *st, int64_t id,
		const char **text, size_t *len, struct pf_err *err)
{
	const char *found = NULL;
	int rc;

	sqlite3_reset(st);
	sqlite3_bind_int64(st, 1, id);
	rc = pf_db_step(db, st, err);
	if (rc == 1)
		found = pf_sqlite_text(st, 0);
	*text = found ? found : "";
	*len = found ? (size_t)sqlite3_column_bytes(st, 0) : 0;
	return rc;
}

int pf_texts_get(struct pf_texts *t, enum pf_texts_of table, int64_t id,
		 const char **text, size_t *len, struct pf_err *err)
{
	static const char *const queries[] = { "string_text", "argset_text" };
	struct pf_texts_of_table *of = &t->of[table];
	struct pf_texts_kept *kept;
	size_t found_len;
	int rc = 1;

	if (!of->stmt) {
		of->stmt = pf_named_prepare(t->db, queries[table], err);
		PF_TRY(!of->stmt);
		of->kept = pf_calloc(KEPT, sizeof(*of->kept));
	}
	kept = &of->kept[(uint64_t)id & (KEPT - 1)];
	if (kept->is_there && kept->id == id) {
		*text = kept->text;
		found_len = kept->len;
	} else {
		rc = load(t->db, of->stmt, id, text, &found_len, err);
		if (rc == 1)
			keep(kept, id, *text, found_len);
	}
	if (len)
		*len = found_len;
	return rc;
}

void pf_texts_release(struct pf_texts *t)
{
	for (int i = 0; i < PF_TEXT_TABLES; i++) {
		sqlite3_finalize(t->of[i].stmt);
		free(t->of[i].kept);
	}
	*t = (struct pf_texts){ 0 };
}

/* ---- ints ---- */

#define ROOM_BYTES   (64u << 10) /* that is asked for at once */
#define AHEAD_ROWS   4096
#define AHEAD_CHUNKS 3 /* of which one is being read */

/*
 * All rows of a statement: of each two bits a cell, that say in how many bytes
 * its step from the cell above follows; none: it is that of the row above.
 * is_whole: there was room for them.
 */
static const unsigned char step_bytes[] = { 0, 1, 2, 8 };
static const uint64_t step_mask[] = { 0, 0xff, 0xffff, UINT64_MAX };
_Static_assert(2 * PF_INTS_COLUMNS == 16, "these bits are two bytes");

struct cells {
	int64_t row[PF_INTS_COLUMNS], step[PF_INTS_COLUMNS];
};

struct kept_rows {
	struct pf_buf cells;
	size_t rows, columns, taken_bytes;
	bool is_whole;
};

/* Rows that another thread reads, with a connection of its own. */
struct ahead {
	struct pf_ahead *maker;
	struct pf_db *db;
	sqlite3_stmt *stmt;
	size_t columns;
	bool is_over;
	struct chunk {
		size_t rows;
		int64_t cells[AHEAD_ROWS * PF_INTS_COLUMNS];
	} places[AHEAD_CHUNKS], *now; /* NULL: before the first */
	size_t at;                    /* in now */
};

struct pf_ints {
	struct pf_db *db;
	const struct kept_rows *kept; /* or NULL: */
	struct ahead *ahead;          /* or NULL: */
	sqlite3_stmt *stmt;
	const unsigned char *next; /* of the kept cells */
	size_t at, columns;
	struct cells now;
};

static void read_row(sqlite3_stmt *stmt, size_t columns, int64_t *row)
{
	for (size_t i = 0; i < columns; i++)
		row[i] = pf_db_int_or(stmt, (int)i, PF_INTS_NULL);
}

static void free_rows(void *rows)
{
	pf_buf_release(&((struct kept_rows *)rows)->cells);
	free(rows);
}

#define ROW_BYTES (2 + PF_INTS_COLUMNS * 8) /* at the most */

/* false: there is no room for one more. */
static bool add_row(struct pf_db *db, struct kept_rows *k, size_t columns,
		    const int64_t *row, struct cells *above)
{
	unsigned char *p, *at;
	unsigned bits = 0;

	if (k->cells.len + 2 * ROW_BYTES > k->taken_bytes) {
		if (!pf_kept_take(db, ROOM_BYTES))
			return false;
		k->taken_bytes += ROOM_BYTES;
	}
	pf_buf_reserve(&k->cells, 2 * ROW_BYTES);
	p = (unsigned char *)k->cells.data + k->cells.len;
	at = p + 2;
	for (size_t i = 0; i < columns; i++) {
		uint64_t d = (uint64_t)row[i] - (uint64_t)above->row[i];
		uint64_t step = d << 1 ^ (0 - (d >> 63));
		unsigned size = step <= 0xff ? 1 : step <= 0xffff ? 2 : 3;

		above->row[i] = row[i];
		if ((int64_t)d == above->step[i])
			continue;
		above->step[i] = (int64_t)d;
		bits |= size << 2 * i;
		pf_store64(at, step);
		at += step_bytes[size];
	}
	p[0] = bits & 0xff;
	p[1] = bits >> 8 & 0xff;
	memset(at, 0, 8); /* it may be read so far */
	k->cells.len = (size_t)(at - (unsigned char *)k->cells.data);
	k->rows++;
	return true;
}

static void *make_rows(struct pf_db *db, const char *name)
{
	struct kept_rows *k = pf_calloc(1, sizeof(*k));
	sqlite3_stmt *stmt = pf_named_prepare(db, name, db->err);
	struct cells above = { { 0 }, { 0 } };
	int64_t row[PF_INTS_COLUMNS];
	int rc = stmt ? 1 : -1;

	k->columns = (size_t)sqlite3_column_count(stmt);
	while (rc > 0 && (rc = pf_db_step(db, stmt, db->err)) == 1) {
		read_row(stmt, k->columns, row);
		if (!add_row(db, k, k->columns, row, &above))
			break;
	}
	pf_db_keep(db, stmt);
	k->is_whole = !rc;
	if (!rc)
		return k;
	pf_kept_give_back(db, k->taken_bytes);
	pf_buf_release(&k->cells);
	if (rc > 0)
		return k;
	free(k);
	return NULL;
}

/* The rows were made here, so they are sound. */
static const int64_t *next_row(struct pf_ints *s)
{
	const unsigned char *at = s->next + 2;
	unsigned bits = s->next[0] | (unsigned)s->next[1] << 8;

	for (size_t i = 0; i < s->columns; i++, bits >>= 2) {
		const unsigned size = bits & 3;
		uint64_t step = pf_load64(at) & step_mask[size];

		if (size)
			s->now.step[i] =
				(int64_t)(step >> 1 ^ (0 - (step & 1)));
		at += step_bytes[size];
		s->now.row[i] = (int64_t)((uint64_t)s->now.row[i] +
					  (uint64_t)s->now.step[i]);
	}
	s->next = at;
	s->at++;
	return s->now.row;
}

struct pf_ints *pf_ints_new(struct pf_db *db, const char *name)
{
	struct pf_ints *s = pf_calloc(1, sizeof(*s));

	s->db = db;
	if (db->kept) {
		s->kept = pf_memo_get(db, make_rows, free_rows, name);
		if (!s->kept) {
			free(s);
			return NULL;
		}
	}
	if (s->kept && s->kept->is_whole) {
		s->columns = s->kept->columns;
		s->next = (const unsigned char *)s->kept->cells.data;
		return s;
	}
	s->kept = NULL;
	s->stmt = pf_named_prepare(db, name, db->err);
	s->columns = (size_t)sqlite3_column_count(s->stmt);
	if (s->stmt)
		return s;
	pf_ints_free(s);
	return NULL;
}

/* ---- ahead ---- */

static int make_chunk(void *context, size_t place, struct pf_err *err)
{
	struct ahead *a = context;
	struct chunk *c = &a->places[place];
	int rc = a->is_over ? 0 : 1;

	for (c->rows = 0; rc == 1 && c->rows < AHEAD_ROWS;) {
		rc = pf_db_step(a->db, a->stmt, err);
		if (rc == 1)
			read_row(a->stmt, a->columns,
				 &c->cells[c->rows++ * a->columns]);
	}
	a->is_over = rc != 1; /* a statement that is done would begin anew */
	return rc < 0 ? -1 : c->rows > 0;
}

static void free_ahead(struct pf_db *db, struct ahead *a)
{
	if (!a)
		return;
	pf_ahead_free(a->maker);
	pf_db_keep(a->db, a->stmt);
	pf_db_give_back(db, a->db);
	free(a);
}

void pf_ints_ahead(struct pf_ints *s)
{
	struct pf_db *beside =
		s->db->kept || s->ahead ? NULL : pf_db_lend(s->db);
	struct pf_err ignored = { 0 };
	struct ahead *a;

	if (!beside)
		return;
	a = pf_calloc(1, sizeof(*a));
	a->db = beside;
	a->columns = s->columns;
	a->stmt = pf_db_prepare(beside, sqlite3_sql(s->stmt), &ignored);
	if (!a->stmt) {
		free_ahead(s->db, a);
		return;
	}
	s->ahead = a;
	a->maker = pf_ahead_new(make_chunk, a, AHEAD_CHUNKS, true);
}

static int take_made(struct ahead *a, const int64_t **row, struct pf_err *err)
{
	if (!a->now || a->at == a->now->rows) {
		size_t place;
		int rc = pf_ahead_next(a->maker, &place, err);

		if (rc != 1)
			return rc;
		a->now = &a->places[place];
		a->at = 0;
	}
	*row = &a->now->cells[a->at++ * a->columns];
	return 1;
}

void pf_ints_free(struct pf_ints *s)
{
	if (!s)
		return;
	free_ahead(s->db, s->ahead);
	pf_db_keep(s->db, s->stmt);
	free(s);
}

int pf_ints_next(struct pf_ints *s, const int64_t **row, struct pf_err *err)
{
	int rc;

	if (s->kept) {
		if (s->at == s->kept->rows)
			return 0;
		*row = next_row(s);
		return 1;
	}
	if (s->ahead)
		return take_made(s->ahead, row, err);
	rc = pf_db_step(s->db, s->stmt, err);
	if (rc == 1)
		read_row(s->stmt, s->columns, s->now.row);
	*row = s->now.row;
	return rc;
}
