/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "show/rows.h"

/* What speaks of the cell is not for the column. */
static struct pf_col column(const struct pf_field *field)
{
	struct pf_col col = field->col;

	col.kind &= ~(unsigned)(PF_KNOWN | PF_MAYBE);
	return col;
}

struct pf_cell pf_field_cell(const struct pf_field *field, const void *row)
{
	const void *at = (const char *)row + field->at;
	struct pf_cell cell = { .type = PF_CELL_NULL };

	switch (field->type) {
	case PF_FIELD_INT:
		cell.v.i = *(const int64_t *)at;
		if (!(field->col.kind & PF_KNOWN && cell.v.i < 0) &&
		    !(field->col.kind & PF_MAYBE && cell.v.i == PF_NO_INT))
			cell.type = PF_CELL_INT;
		break;
	case PF_FIELD_BOOL:
		cell.v.i = *(const bool *)at;
		cell.type = PF_CELL_INT;
		break;
	case PF_FIELD_REAL:
		cell.v.d = *(const double *)at;
		if (!isnan(cell.v.d))
			cell.type = PF_CELL_REAL;
		break;
	case PF_FIELD_TEXT:
		cell.v.text.s = *(const char *const *)at;
		if (cell.v.text.s) {
			cell.v.text.len = strlen(cell.v.text.s);
			cell.type = PF_CELL_TEXT;
		}
		break;
	}
	return cell;
}

static struct pf_col *cols_take(const struct pf_field *fields, size_t count)
{
	struct pf_col *cols = pf_calloc(count ? count : 1, sizeof(*cols));

	for (size_t i = 0; i < count; i++)
		cols[i] = column(&fields[i]);
	return cols;
}

struct pf_table *pf_doc_fields(struct pf_doc *doc, const char *name,
			       const char *title, const struct pf_field *fields,
			       size_t count)
{
	struct pf_col *cols = cols_take(fields, count);
	struct pf_table *t = pf_doc_table(doc, name, title, cols, count);

	free(cols);
	return t;
}

struct pf_table *pf_fields_table(const char *name, const char *title,
				 const struct pf_field *fields, size_t count)
{
	struct pf_col *cols = cols_take(fields, count);
	struct pf_table *t = pf_table_new(name, title, cols, count);

	free(cols);
	return t;
}

void pf_table_put(struct pf_table *t, const struct pf_field *fields,
		  size_t count, const void *row, size_t row_bytes)
{
	for (size_t i = 0; i < count; i++) {
		struct pf_cell cell;

		if (fields[i].row_bytes != row_bytes)
			abort();
		if (fields[i].col.kind & PF_ABSENT)
			continue;
		cell = pf_field_cell(&fields[i], row);
		pf_table_cell(t, &cell);
	}
}

struct pf_table *pf_doc_rows(struct pf_doc *doc, const char *name,
			     const char *title, const struct pf_field *fields,
			     size_t count, const void *rows, size_t row_count,
			     size_t row_bytes)
{
	struct pf_table *t = pf_doc_fields(doc, name, title, fields, count);

	for (size_t i = 0; i < row_count; i++)
		pf_table_put(t, fields, count,
			     (const char *)rows + i * row_bytes, row_bytes);
	return t;
}

void pf_doc_put(struct pf_doc *doc, const struct pf_field *fields, size_t count,
		const void *row, size_t row_bytes)
{
	for (size_t i = 0; i < count; i++) {
		struct pf_col col = column(&fields[i]);
		struct pf_cell cell;

		if (fields[i].row_bytes != row_bytes)
			abort();
		if (col.kind & PF_ABSENT)
			continue;
		cell = pf_field_cell(&fields[i], row);
		pf_doc_cell(doc, &col, &cell);
	}
}
