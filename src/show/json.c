/* SPDX-License-Identifier: MIT */
/*
 * One object per document, one line per row.  Levels: 1 the document, 2
 * "scalars", "tables" and "notes", 3 the rows of a table.
 */
#include "config.h"

#include <string.h>

#include "show/format.h"

static void add_cell(struct pf_jsonw *w, const struct pf_cell *cell)
{
	switch (cell->type) {
	case PF_CELL_NULL:
		pf_jsonw_null(w);
		break;
	case PF_CELL_INT:
		pf_jsonw_int(w, cell->v.i);
		break;
	case PF_CELL_REAL:
		pf_jsonw_real(w, cell->v.d);
		break;
	case PF_CELL_TEXT:
		pf_jsonw_string(w, cell->v.text.s, cell->v.text.len);
		break;
	}
}

static void begin(struct pf_printer *p)
{
	p->json.indent_depth = 3;
	pf_jsonw_object(&p->json);
	pf_jsonw_key(&p->json, "command");
	pf_jsonw_string(&p->json, p->style.command, strlen(p->style.command));
	pf_jsonw_key(&p->json, "version");
	pf_jsonw_int(&p->json, PF_DOC_VERSION);
}

static void scalars(struct pf_printer *p, const struct pf_scalar *s,
		    size_t count)
{
	pf_jsonw_key(&p->json, "scalars");
	pf_jsonw_object(&p->json);
	for (size_t i = 0; i < count; i++) {
		pf_jsonw_key(&p->json, s[i].col.key);
		add_cell(&p->json, &s[i].cell);
	}
	pf_jsonw_end(&p->json);
	pf_jsonw_key(&p->json, "tables");
	pf_jsonw_object(&p->json);
}

static void head(struct pf_printer *p)
{
	pf_jsonw_key(&p->json, p->name);
	pf_jsonw_array(&p->json);
}

/* A number that 64 bits cannot hold (pf_table_digits()). */
static bool is_digits(enum pf_col_kind kind, const struct pf_cell *cell)
{
	return PF_COL_KIND(kind) == PF_COUNT && cell->type == PF_CELL_TEXT;
}

static void row(struct pf_printer *p, const struct pf_cell *cells)
{
	pf_jsonw_object(&p->json);
	for (size_t i = 0; i < p->col_count; i++) {
		pf_jsonw_key(&p->json, p->cols[i].key);
		if (is_digits(p->cols[i].kind, &cells[i]))
			pf_jsonw_digits(&p->json, cells[i].v.text.s);
		else
			add_cell(&p->json, &cells[i]);
	}
	pf_jsonw_end(&p->json);
}

static void tail(struct pf_printer *p)
{
	pf_jsonw_end(&p->json);
}

static void notes(struct pf_printer *p, char *const *texts, size_t count)
{
	pf_jsonw_end(&p->json);
	pf_jsonw_key(&p->json, "notes");
	pf_jsonw_array(&p->json);
	for (size_t i = 0; i < count; i++)
		pf_jsonw_string(&p->json, texts[i], strlen(texts[i]));
	pf_jsonw_end(&p->json);
}

static void end(struct pf_printer *p)
{
	pf_jsonw_end(&p->json);
}

static const struct pf_format_ops ops = { begin, scalars, head, row,
					  tail,  notes,   end,  NULL };

PF_FORMAT(30, json) = { "json", PF_WIDE, &ops };
