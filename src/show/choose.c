/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "show/choose.h"

static bool is_text(const struct pf_col *col)
{
	enum pf_col_kind kind = PF_COL_KIND(col->kind);

	return kind == PF_TEXT || kind == PF_PATH;
}

/* What printing a cell asks for. */
static enum pf_col_kind bare(enum pf_col_kind kind)
{
	return (enum pf_col_kind)(PF_COL_KIND(kind) |
				  ((unsigned)kind & PF_SIGNED));
}

static bool is_brief(const struct pf_col *col)
{
	return (col->kind & (PF_BRIEF | PF_FULL)) == PF_BRIEF;
}

/* For people: the column of programs that says the same in full. */
static size_t find_instead(const struct pf_table *t, size_t col)
{
	const struct pf_col *cols = pf_table_cols(t);
	size_t count = pf_table_col_count(t);

	for (size_t i = 0; is_brief(&cols[col]) && i < count; i++)
		if ((cols[i].kind & (PF_BRIEF | PF_FULL)) == PF_FULL &&
		    is_text(&cols[i]) &&
		    !strcmp(cols[i].title, cols[col].title))
			return i;
	return count;
}

static void choose(struct pf_choice *c, const bool *is_shown)
{
	const struct pf_col *all = pf_table_cols(c->table);

	c->count = 0;
	for (size_t i = 0; i < pf_table_col_count(c->table); i++) {
		if (!is_shown[i])
			continue;
		c->cols[c->count] = all[i];
		c->cols[c->count].kind = bare(all[i].kind);
		c->is_spare[c->count] = all[i].kind & PF_SPARE;
		c->is_whole[c->count] = all[i].kind & PF_WHOLE;
		c->tells[c->count] = c->is_same && all[i].kind & PF_FULL;
		c->instead[c->count] = find_instead(c->table, i);
		c->places[c->count++] = i;
	}
}

const struct pf_cell *pf_choice_cell(const struct pf_choice *c, size_t row,
				     size_t i)
{
	static const struct pf_cell blank = { .type = PF_CELL_TEXT,
					      .v.text.s = "" };
	const struct pf_cell *cells = pf_table_row(c->table, row);
	bool is_same = c->is_same && c->is_same[row];

	if (is_same && c->instead[i] < pf_table_col_count(c->table))
		return &cells[c->instead[i]];
	if (!is_same && c->tells[i])
		return &blank;
	return &cells[c->places[i]];
}

static bool is_nothing(const struct pf_cell *cell)
{
	switch (cell->type) {
	case PF_CELL_NULL:
		return true;
	case PF_CELL_INT:
		return !cell->v.i;
	case PF_CELL_REAL:
		return cell->v.d == 0;
	default:
		return false;
	}
}

bool pf_choice_is_quiet(const struct pf_choice *c, size_t row)
{
	const struct pf_col *cols = pf_table_cols(c->table);
	const struct pf_cell *cells = pf_table_row(c->table, row);

	for (size_t i = 0; !c->is_wide && i < pf_table_col_count(c->table); i++)
		if (cols[i].kind & PF_QUIET && is_nothing(&cells[i]))
			return true;
	return false;
}

struct pf_scalar *pf_choose_scalars(const struct pf_scalar *all, size_t *count,
				    bool is_wide)
{
	struct pf_scalar *out = pf_calloc(*count + 1, sizeof(*out));
	unsigned hidden = is_wide ? PF_BRIEF : PF_FULL;
	size_t n = 0;

	for (size_t i = 0; i < *count; i++) {
		if (all[i].col.kind & hidden ||
		    (!is_wide && all[i].col.kind & PF_QUIET &&
		     is_nothing(&all[i].cell)))
			continue;
		out[n] = all[i];
		out[n++].col.kind = bare(all[i].col.kind);
	}
	*count = n;
	return out;
}

/* ---- rows that look the same ---- */

static int compare_cells(const struct pf_cell *a, const struct pf_cell *b)
{
	if (a->type != PF_CELL_TEXT || b->type != PF_CELL_TEXT)
		return (a->type == PF_CELL_TEXT) - (b->type == PF_CELL_TEXT);
	return strcmp(a->v.text.s, b->v.text.s);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct pf_choice *c = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = 0;

	for (size_t i = 0; !order && i < c->count; i++)
		if (is_text(&c->cols[i]) && !c->is_spare[i])
			order = compare_cells(pf_choice_cell(c, x, i),
					      pf_choice_cell(c, y, i));
	return order;
}

static void put_in_order(struct pf_choice *c, size_t *order)
{
	for (size_t i = 0; i < pf_table_row_count(c->table); i++)
		order[i] = i;
	qsort_r(order, pf_table_row_count(c->table), sizeof(*order),
		compare_rows, c);
}

/* Mark rows that look like their neighbours; returns whether there are any. */
static bool mark_same(struct pf_choice *c, const size_t *order, bool *is_same)
{
	size_t rows = pf_table_row_count(c->table);
	bool any = false;

	memset(is_same, 0, rows * sizeof(*is_same));
	for (size_t i = 1; i < rows; i++)
		if (!compare_rows(&order[i - 1], &order[i], c))
			any = is_same[order[i - 1]] = is_same[order[i]] = true;
	return any;
}

/* Does a column differ between rows that look the same? */
static bool tells(struct pf_choice *c, const size_t *order, size_t col)
{
	for (size_t i = 1; i < pf_table_row_count(c->table); i++)
		if (!compare_rows(&order[i - 1], &order[i], c) &&
		    compare_cells(&pf_table_row(c->table, order[i - 1])[col],
				  &pf_table_row(c->table, order[i])[col]) != 0)
			return true;
	return false;
}

static void tell_apart(struct pf_choice *c, bool *is_shown)
{
	const struct pf_col *all = pf_table_cols(c->table);
	size_t rows = pf_table_row_count(c->table);
	size_t *order = pf_calloc(rows + 1, sizeof(*order));
	bool *is_same = pf_calloc(rows + 1, sizeof(*is_same));
	bool more;

	put_in_order(c, order);
	more = mark_same(c, order, is_same);
	c->is_same = is_same;
	if (more)
		put_in_order(c, order);
	for (size_t i = 0; more && i < pf_table_col_count(c->table); i++) {
		if (is_shown[i] || !is_text(&all[i]) || is_brief(&all[i]) ||
		    !tells(c, order, i))
			continue;
		is_shown[i] = true;
		choose(c, is_shown);
		put_in_order(c, order);
	}
	free(order);
}

/* Texts that are no tree (hard spaces): where a row of a tree stands tells which it is. */
static bool has_list(const struct pf_choice *c)
{
	for (size_t i = 0; i < c->count; i++) {
		if (!is_text(&c->cols[i]))
			continue;
		for (size_t r = 0; r < pf_table_row_count(c->table); r++) {
			const struct pf_cell *cell = pf_choice_cell(c, r, i);

			if (cell->type == PF_CELL_TEXT &&
			    !strncmp(cell->v.text.s, "\xc2\xa0", 2))
				return false;
		}
		return true;
	}
	return false;
}

void pf_choice_make(struct pf_choice *c, const struct pf_table *t, bool is_wide)
{
	const struct pf_col *all = pf_table_cols(t);
	size_t count = pf_table_col_count(t);
	bool *is_shown = pf_calloc(count + 1, sizeof(*is_shown));

	*c = (struct pf_choice){
		.table = t,
		.is_wide = is_wide,
		.cols = pf_calloc(count + 1, sizeof(*c->cols)),
		.places = pf_calloc(count + 1, sizeof(*c->places)),
		.is_spare = pf_calloc(count + 1, sizeof(*c->is_spare)),
		.is_whole = pf_calloc(count + 1, sizeof(*c->is_whole)),
		.tells = pf_calloc(count + 1, sizeof(*c->tells)),
		.instead = pf_calloc(count + 1, sizeof(*c->instead)),
	};
	for (size_t i = 0; i < count; i++)
		is_shown[i] = !(all[i].kind & (is_wide ? PF_BRIEF : PF_FULL));
	choose(c, is_shown);
	if (!is_wide && has_list(c))
		tell_apart(c, is_shown);
	free(is_shown);
}

void pf_choice_release(struct pf_choice *c)
{
	free(c->cols);
	free(c->places);
	free(c->is_spare);
	free(c->instead);
	free(c->is_whole);
	free(c->tells);
	free(c->is_same);
	*c = (struct pf_choice){ 0 };
}
