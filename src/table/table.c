/* SPDX-License-Identifier: MIT */
/*
 * Cells lie row after row in one array; texts lie in chunks that never move,
 * so a cell's pointer stays good while the array of cells grows.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "table/table.h"

#define CHUNK_BYTES 65536

struct chunk {
	struct chunk *next;
	size_t used, cap;
	char data[];
};

struct pf_table {
	char *name, *title;
	struct pf_col *cols;
	size_t col_count;
	struct pf_cell *cells;
	size_t cell_count, cell_cap;
	struct chunk *chunks; /* the newest first */
};

static char *copy_or_null(const char *s)
{
	return s ? pf_strdup(s) : NULL;
}

struct pf_table *pf_table_new(const char *name, const char *title,
			      const struct pf_col *cols, size_t count)
{
	struct pf_table *t = pf_calloc(1, sizeof(*t));

	t->name = pf_strdup(name);
	t->title = copy_or_null(title);
	t->cols = pf_calloc(count ? count : 1, sizeof(*t->cols));
	t->col_count = count;
	for (size_t i = 0; i < count; i++) {
		t->cols[i].key = pf_strdup(cols[i].key);
		t->cols[i].title =
			pf_strdup(cols[i].title ? cols[i].title : cols[i].key);
		t->cols[i].kind = cols[i].kind;
	}
	return t;
}

void pf_table_free(struct pf_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->col_count; i++) {
		free((char *)t->cols[i].key);
		free((char *)t->cols[i].title);
	}
	while (t->chunks) {
		struct chunk *next = t->chunks->next;

		free(t->chunks);
		t->chunks = next;
	}
	free(t->cols);
	free(t->cells);
	free(t->name);
	free(t->title);
	free(t);
}

static struct pf_cell *next_cell(struct pf_table *t)
{
	t->cells = pf_grow(t->cells, &t->cell_cap, t->cell_count + 1,
			   sizeof(*t->cells));
	return &t->cells[t->cell_count++];
}

static const char *keep_text(struct pf_table *t, const char *s, size_t len)
{
	struct chunk *c = t->chunks;
	char *place;

	if (!c || c->cap - c->used <= len) {
		size_t cap = len < CHUNK_BYTES ? CHUNK_BYTES : len + 1;

		c = pf_alloc(sizeof(*c) + cap);
		c->used = 0;
		c->cap = cap;
		c->next = t->chunks;
		t->chunks = c;
	}
	place = c->data + c->used;
	if (len)
		memcpy(place, s, len);
	place[len] = '\0';
	c->used += len + 1;
	return place;
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
	const char *copy = keep_text(t, s, len);

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

void pf_table_null(struct pf_table *t)
{
	*next_cell(t) = (struct pf_cell){ .type = PF_CELL_NULL };
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

size_t pf_table_row_count(const struct pf_table *t)
{
	return t->col_count ? t->cell_count / t->col_count : 0;
}

const struct pf_cell *pf_table_row(const struct pf_table *t, size_t r)
{
	return t->cells + r * t->col_count;
}
