/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/find.h"

/* An analysis has another name for it than those who read it. */
_Noreturn static void unknown(const char *key)
{
	fprintf(stderr, "profan: bug: no document has '%s' here\n", key);
	abort();
}

const struct pf_scalar *pf_doc_find(const struct pf_doc *doc, const char *key)
{
	for (size_t i = 0; i < doc->scalar_count; i++)
		if (!strcmp(doc->scalars[i].col.key, key))
			return &doc->scalars[i];
	return NULL;
}

const struct pf_table *pf_doc_find_table(const struct pf_doc *doc,
					 const char *name)
{
	for (size_t i = 0; i < doc->table_count; i++)
		if (!strcmp(pf_table_name(doc->tables[i]), name))
			return doc->tables[i];
	return NULL;
}

int pf_table_find(const struct pf_table *t, const char *key)
{
	size_t count = t ? pf_table_col_count(t) : 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(pf_table_cols(t)[i].key, key))
			return (int)i;
	return -1;
}

int pf_table_need(const struct pf_table *t, const char *key)
{
	int col = pf_table_find(t, key);

	if (t && col < 0 && !pf_table_is_absent(t, key))
		unknown(key);
	return col;
}

const struct pf_cell *pf_table_at(const struct pf_table *t, size_t row,
				  const char *key)
{
	int col = pf_table_need(t, key);
	const struct pf_cell *cell;

	if (col < 0 || row >= pf_table_row_count(t))
		return NULL;
	cell = &pf_table_row(t, row)[col];
	return cell->type == PF_CELL_NULL ? NULL : cell;
}

static int64_t cell_int(const struct pf_cell *cell)
{
	if (!cell)
		return 0;
	if (cell->type == PF_CELL_REAL && cell->v.d > -9e18 && cell->v.d < 9e18)
		return (int64_t)cell->v.d;
	return cell->type == PF_CELL_INT ? cell->v.i : 0;
}

double pf_cell_real(const struct pf_cell *cell)
{
	if (!cell)
		return 0;
	if (cell->type == PF_CELL_INT)
		return (double)cell->v.i;
	return cell->type == PF_CELL_REAL ? cell->v.d : 0;
}

int64_t pf_table_int_at(const struct pf_table *t, size_t row, const char *key)
{
	return cell_int(pf_table_at(t, row, key));
}

double pf_table_real_at(const struct pf_table *t, size_t row, const char *key)
{
	return pf_cell_real(pf_table_at(t, row, key));
}

static const char *cell_text(const struct pf_cell *cell)
{
	return cell && cell->type == PF_CELL_TEXT ? cell->v.text.s : NULL;
}

const char *pf_table_text_at(const struct pf_table *t, size_t row,
			     const char *key)
{
	return cell_text(pf_table_at(t, row, key));
}

const char *pf_doc_find_finding(const struct pf_doc *doc)
{
	const struct pf_scalar *s = pf_doc_find(doc, PF_DOC_FINDING);

	return s ? cell_text(&s->cell) : NULL;
}

size_t pf_table_rows(const struct pf_table *t)
{
	return t ? pf_table_row_count(t) : 0;
}
