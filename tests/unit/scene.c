/* SPDX-License-Identifier: MIT */
#include "unit/scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRACES_MAX = 2 };

#define NAME(table) ((table) ? (table) : "scalars")

static void open_database(struct scene *s)
{
	memset(&s->db, 0, sizeof(s->db));
	pf_db_open(&s->db, s->path, false, &s->err);
	support_no_error(&s->err);
	s->db.err = &s->err;
}

void scene_open_with(struct scene *s, const char *const *jsons, size_t count,
		     const struct pf_ingest_options *options)
{
	static const char *const names[TRACES_MAX] = { "a.json", "b.json" };
	struct pf_ingest_options o = *options;
	struct pf_err err = { 0 };
	char *paths[TRACES_MAX];

	assert_true(count <= TRACES_MAX);
	memset(s, 0, sizeof(*s));
	s->dir = support_tmp_take();
	s->path = support_path_take(s->dir, "t.db");
	for (size_t i = 0; i < count; i++) {
		paths[i] = support_path_take(s->dir, names[i]);
		support_write(paths[i], jsons[i], strlen(jsons[i]));
	}
	o.paths = (const char *const *)paths;
	o.path_count = count;
	o.out = s->path;
	pf_ingest(&o, &err);
	support_no_error(&err);
	for (size_t i = 0; i < count; i++)
		free(paths[i]);
	open_database(s);
}

void scene_open_two(struct scene *s, const char *first, const char *second)
{
	const struct pf_ingest_options options = { .rank = -1 };
	const char *const jsons[] = { first, second };

	scene_open_with(s, jsons, second ? 2 : 1, &options);
}

void scene_open(struct scene *s, const char *json)
{
	scene_open_two(s, json, NULL);
}

void scene_clear(struct scene *s)
{
	pf_doc_release(&s->doc);
}

void scene_close(struct scene *s)
{
	scene_clear(s);
	pf_db_close(&s->db);
	support_tmp_release(s->dir);
	free(s->path);
}

void scene_change(struct scene *s, const char *sql)
{
	sqlite3 *db;

	pf_db_close(&s->db);
	assert_int_equal(sqlite3_open(s->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	open_database(s);
}

const struct pf_table *scene_table(const struct scene *s, const char *name)
{
	for (size_t i = 0; i < s->doc.table_count; i++)
		if (!strcmp(pf_table_name(s->doc.tables[i]), name))
			return s->doc.tables[i];
	fail_msg("no table %s", name);
	return NULL;
}

size_t scene_row_count(const struct scene *s, const char *table)
{
	return pf_table_row_count(scene_table(s, table));
}

static const struct pf_cell *scalar(const struct scene *s, const char *key)
{
	for (size_t i = 0; i < s->doc.scalar_count; i++)
		if (!strcmp(s->doc.scalars[i].col.key, key))
			return &s->doc.scalars[i].cell;
	fail_msg("no scalar %s", key);
	return NULL;
}

const struct pf_cell *scene_cell(const struct scene *s, const char *table,
				 size_t row, const char *key)
{
	const struct pf_table *t;

	if (!table)
		return scalar(s, key);
	t = scene_table(s, table);
	if (row >= pf_table_row_count(t))
		fail_msg("%s has no row %zu", table, row);
	for (size_t i = 0; i < pf_table_col_count(t); i++)
		if (!strcmp(pf_table_cols(t)[i].key, key))
			return &pf_table_row(t, row)[i];
	fail_msg("%s has no column %s", table, key);
	return NULL;
}

bool scene_has_note(const struct scene *s, const char *part)
{
	for (size_t i = 0; i < s->doc.note_count; i++)
		if (strstr(s->doc.notes[i], part))
			return true;
	return false;
}

static const struct pf_cell *typed(const struct scene *s, const char *table,
				   size_t row, const char *key,
				   enum pf_cell_type type)
{
	const struct pf_cell *cell = scene_cell(s, table, row, key);

	if (cell->type != type)
		fail_msg("%s, row %zu: %s is of type %d, not %d", NAME(table),
			 row, key, (int)cell->type, (int)type);
	return cell;
}

void scene_int(const struct scene *s, const char *table, size_t row,
	       const char *key, int64_t want)
{
	int64_t got = typed(s, table, row, key, PF_CELL_INT)->v.i;

	if (got != want)
		fail_msg("%s, row %zu: %s is %" PRId64 ", not %" PRId64,
			 NAME(table), row, key, got, want);
}

void scene_real(const struct scene *s, const char *table, size_t row,
		const char *key, double want)
{
	double got = typed(s, table, row, key, PF_CELL_REAL)->v.d;

	if (fabs(got - want) > 1e-9 * (1 + fabs(want)))
		fail_msg("%s, row %zu: %s is %.17g, not %.17g", NAME(table),
			 row, key, got, want);
}

void scene_text(const struct scene *s, const char *table, size_t row,
		const char *key, const char *want)
{
	const char *got = typed(s, table, row, key, PF_CELL_TEXT)->v.text.s;

	if (strcmp(got, want) != 0)
		fail_msg("%s, row %zu: %s is '%s', not '%s'", NAME(table), row,
			 key, got, want);
}

void scene_null(const struct scene *s, const char *table, size_t row,
		const char *key)
{
	typed(s, table, row, key, PF_CELL_NULL);
}
