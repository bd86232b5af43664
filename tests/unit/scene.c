/* SPDX-License-Identifier: MIT */
#include "unit/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/ingest.h"

void scene_open(struct scene *s, const char *json)
{
	struct pf_ingest_options o = { .path_count = 1, .rank = -1 };
	struct pf_err err = { 0 };
	const char *paths[1];

	memset(s, 0, sizeof(*s));
	s->dir = support_tmp_take();
	s->trace = support_path_take(s->dir, "t.json");
	s->path = support_path_take(s->dir, "t.db");
	support_write(s->trace, json, strlen(json));
	paths[0] = s->trace;
	o.paths = paths;
	o.out = s->path;
	pf_ingest(&o, &err);
	support_no_error(&err);
	pf_db_open(&s->db, s->path, false, &err);
	support_no_error(&err);
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
	free(s->trace);
	free(s->path);
}

const struct pf_table *scene_table(const struct scene *s, const char *name)
{
	for (size_t i = 0; i < s->doc.table_count; i++)
		if (!strcmp(pf_table_name(s->doc.tables[i]), name))
			return s->doc.tables[i];
	fail_msg("no table %s", name);
	return NULL;
}

const struct pf_cell *scene_cell(const struct scene *s, const char *table,
				 size_t row, const char *key)
{
	const struct pf_table *t = scene_table(s, table);
	const struct pf_col *cols = pf_table_cols(t);

	assert_true(row < pf_table_row_count(t));
	for (size_t i = 0; i < pf_table_col_count(t); i++)
		if (!strcmp(cols[i].key, key))
			return &pf_table_row(t, row)[i];
	fail_msg("no column %s", key);
	return NULL;
}

const struct pf_cell *scene_scalar(const struct scene *s, const char *key)
{
	for (size_t i = 0; i < s->doc.scalar_count; i++)
		if (!strcmp(s->doc.scalars[i].col.key, key))
			return &s->doc.scalars[i].cell;
	fail_msg("no scalar %s", key);
	return NULL;
}

void scene_int(const struct pf_cell *cell, int64_t want)
{
	assert_int_equal(cell->type, PF_CELL_INT);
	assert_int_equal(cell->v.i, want);
}

void scene_real(const struct pf_cell *cell, double want)
{
	assert_int_equal(cell->type, PF_CELL_REAL);
	if (fabs(cell->v.d - want) > 1e-9 * (1 + fabs(want)))
		fail_msg("%.17g, not %.17g", cell->v.d, want);
}

void scene_text(const struct pf_cell *cell, const char *want)
{
	assert_int_equal(cell->type, PF_CELL_TEXT);
	assert_string_equal(cell->v.text.s, want);
}

void scene_null(const struct pf_cell *cell)
{
	assert_int_equal(cell->type, PF_CELL_NULL);
}
