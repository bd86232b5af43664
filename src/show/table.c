/* SPDX-License-Identifier: MIT */
/*
 * Cells lie row after row in one array; texts lie where they never move, so a
 * cell's pointer stays good while the array of cells grows.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "show/table.h"
#include "base/order.h"

#define SPARE_ROWS 512 /* kept past the limit before rows are dropped */

struct pf_table {
	char *name, *title;
	struct pf_col *cols; /* those that are absent come last */
	size_t col_count, absent_count;
	struct pf_cell *cells;
	size_t cell_count, cell_cap;
	struct pf_arena texts;
	int64_t limit; /* rows that stay, or -1 */
	int64_t dropped;
	size_t least;    /* rows of a page; 0: nothing was said */
	int order;       /* column to order by, or -1 */
	bool is_turned;  /* the other way round */
	bool is_settled; /* in order, nothing added since */
};

static char *copy_or_null(const char *s)
{
	return s ? pf_strdup(s) : NULL;
}

struct pf_table *pf_table_new(const char *name, const char *title,
			      const struct pf_col *cols, size_t count)
{
	struct pf_table *t = pf_calloc(1, sizeof(*t));

	t->limit = -1;
	t->order = -1;
	t->name = pf_strdup(name);
	t->title = copy_or_null(title);
	t->cols = pf_calloc(count ? count : 1, sizeof(*t->cols));
	for (size_t i = 0; i < count; i++) {
		bool is_absent = cols[i].kind & PF_ABSENT;
		struct pf_col *col =
			is_absent ? &t->cols[count - ++t->absent_count]
				  : &t->cols[t->col_count++];

		col->key = pf_strdup(cols[i].key);
		col->title =
			pf_strdup(cols[i].title ? cols[i].title : cols[i].key);
		col->kind = cols[i].kind;
	}
	return t;
}

void pf_table_free(struct pf_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->col_count + t->absent_count; i++) {
		free((char *)t->cols[i].key);
		free((char *)t->cols[i].title);
	}
	pf_arena_release(&t->texts);
	free(t->cols);
	free(t->cells);
	free(t->name);
	free(t->title);
	free(t);
}

static void settle(struct pf_table *t);

static struct pf_cell *next_cell(struct pf_table *t)
{
	size_t rows = t->col_count ? t->cell_count / t->col_count : 0;

	if (t->limit >= 0 && rows * t->col_count == t->cell_count &&
	    rows / 2 > (uint64_t)t->limit + SPARE_ROWS)
		settle(t);
	t->is_settled = false;
	t->cells = pf_grow(t->cells, &t->cell_cap, t->cell_count + 1,
			   sizeof(*t->cells));
	return &t->cells[t->cell_count++];
}

void pf_table_int(struct pf_table *t, int64_t value)
{
	*next_cell(t) = (struct pf_cell){ PF_CELL_INT, { .i = value } };
}

void pf_table_real(struct pf_table *t, double value)
{
	*next_cell(t) = (struct pf_cell){ PF_CELL_REAL, { .d = value } };
}

void pf_table_text(struct pf_table *t, const char *s, size_t len)
{
	const char *copy = pf_arena_text(&t->texts, s, len);

	*next_cell(t) =
		(struct pf_cell){ PF_CELL_TEXT, { .text = { copy, len } } };
}

void pf_table_string(struct pf_table *t, const char *s)
{
	if (s)
		pf_table_text(t, s, strlen(s));
	else
		pf_table_null(t);
}

void pf_table_digits(struct pf_table *t, const char *digits)
{
	pf_table_text(t, digits, strlen(digits));
}

void pf_table_null(struct pf_table *t)
{
	*next_cell(t) = (struct pf_cell){ .type = PF_CELL_NULL };
}

void pf_table_known(struct pf_table *t, int64_t value)
{
	if (value >= 0)
		pf_table_int(t, value);
	else
		pf_table_null(t);
}

void pf_table_cell(struct pf_table *t, const struct pf_cell *cell)
{
	if (cell->type == PF_CELL_TEXT)
		pf_table_text(t, cell->v.text.s, cell->v.text.len);
	else
		*next_cell(t) = *cell;
}

const char *pf_table_name(const struct pf_table *t)
{
	return t->name;
}

const char *pf_table_title(const struct pf_table *t)
{
	return t->title;
}

size_t pf_table_col_count(const struct pf_table *t)
{
	return t->col_count;
}

const struct pf_col *pf_table_cols(const struct pf_table *t)
{
	return t->cols;
}

size_t pf_table_declared(const struct pf_table *t)
{
	return t->col_count + t->absent_count;
}

bool pf_table_is_absent(const struct pf_table *t, const char *key)
{
	for (size_t i = 0; i < t->absent_count; i++)
		if (!strcmp(t->cols[t->col_count + i].key, key))
			return true;
	return false;
}

/* Cells that do not fill their row are a bug of who added them. */
void pf_table_keep(struct pf_table *t, size_t rows)
{
	t->least = rows;
}

size_t pf_table_least(const struct pf_table *t)
{
	return t->least ? t->least : 1;
}

size_t pf_table_row_count(const struct pf_table *t)
{
	if (t->col_count ? t->cell_count % t->col_count : t->cell_count)
		abort();
	return t->col_count ? t->cell_count / t->col_count : 0;
}

const struct pf_cell *pf_table_row(const struct pf_table *t, size_t r)
{
	return t->cells + r * t->col_count;
}

/* ---- order ---- */

static bool is_col(const char *key, const char *word)
{
	static const char *const units[] = { "",       "_ns",    "_bytes",
					     "_count", "_share", "_percent" };
	size_t len = strlen(word);

	if (strncmp(key, word, len) != 0)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(key + len, units[i]))
			return true;
	return false;
}

int pf_table_find_col(const struct pf_table *t, const char *word)
{
	word += *word == '-';
	for (size_t i = 0; i < t->col_count; i++)
		if (!strcmp(t->cols[i].key, word))
			return (int)i;
	for (size_t i = 0; i < t->col_count; i++)
		if (is_col(t->cols[i].key, word))
			return (int)i;
	return -1;
}

void pf_table_order(struct pf_table *t, const struct pf_order *order)
{
	t->limit = order->limit < 0 ? -1 : order->limit;
	t->order = order->word ? pf_table_find_col(t, order->word) : -1;
	t->is_turned = order->word && *order->word == '-';
}

/* A row on its way to its place. */
struct place {
	const struct pf_cell *cells;
	int order;
	bool is_turned;
};

static double number(const struct pf_cell *cell)
{
	return cell->type == PF_CELL_INT ? (double)cell->v.i : cell->v.d;
}

/* Ascending; cells of one column mostly have one type. */
static int compare_cells(const struct pf_cell *a, const struct pf_cell *b)
{
	size_t len;
	int rc;

	if (a->type == PF_CELL_TEXT || b->type == PF_CELL_TEXT) {
		if (a->type != b->type)
			return a->type == PF_CELL_TEXT ? 1 : -1;
		len = a->v.text.len < b->v.text.len ? a->v.text.len
						    : b->v.text.len;
		rc = memcmp(a->v.text.s, b->v.text.s, len);
		if (rc)
			return rc;
		return (a->v.text.len > b->v.text.len) -
		       (a->v.text.len < b->v.text.len);
	}
	if (a->type == PF_CELL_INT && b->type == PF_CELL_INT)
		return (a->v.i > b->v.i) - (a->v.i < b->v.i);
	return (number(a) > number(b)) - (number(a) < number(b));
}

static int compare_places(const void *x, const void *y)
{
	const struct place *a = x, *b = y;
	const struct pf_cell *p = &a->cells[a->order];
	const struct pf_cell *q = &b->cells[b->order];
	int rc;

	if (p->type == PF_CELL_NULL || q->type == PF_CELL_NULL)
		rc = (p->type == PF_CELL_NULL) - (q->type == PF_CELL_NULL);
	else if ((p->type != PF_CELL_TEXT) != a->is_turned)
		rc = compare_cells(q, p);
	else
		rc = compare_cells(p, q);
	return rc ? rc : (a->cells > b->cells) - (a->cells < b->cells);
}

/* Put complete rows in order and keep no more than the limit. */
static void settle(struct pf_table *t)
{
	size_t rows = pf_table_row_count(t), keep = rows;
	struct pf_cell *cells = t->cells;
	struct pf_arena texts = t->texts;
	struct place *places;

	if (t->limit >= 0 && (uint64_t)t->limit < rows)
		keep = (size_t)t->limit;
	if (t->is_settled || (t->order < 0 && keep == rows))
		return;
	places = pf_calloc(rows ? rows : 1, sizeof(*places));
	for (size_t r = 0; r < rows; r++)
		places[r] = (struct place){ cells + r * t->col_count, t->order,
					    t->is_turned };
	if (t->order >= 0)
		pf_sort(places, rows, sizeof(*places), compare_places);
	t->dropped += (int64_t)(rows - keep);
	t->cells = NULL;
	t->texts = (struct pf_arena){ 0 };
	t->cell_count = t->cell_cap = 0;
	t->is_settled = true; /* while cells are put back */
	for (size_t r = 0; r < keep; r++)
		for (size_t c = 0; c < t->col_count; c++)
			pf_table_cell(t, &places[r].cells[c]);
	t->is_settled = true;
	free(places);
	free(cells);
	pf_arena_release(&texts);
}

int64_t pf_table_settle(struct pf_table *t)
{
	settle(t);
	return t->dropped;
}
