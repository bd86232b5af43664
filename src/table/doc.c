/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "table/doc.h"

void pf_doc_release(struct pf_doc *doc)
{
	for (size_t i = 0; i < doc->scalar_count; i++) {
		struct pf_scalar *s = &doc->scalars[i];

		free((char *)s->col.key);
		free((char *)s->col.title);
		if (s->cell.type == PF_CELL_TEXT)
			free((char *)s->cell.v.text.s);
	}
	for (size_t i = 0; i < doc->table_count; i++)
		pf_table_free(doc->tables[i]);
	for (size_t i = 0; i < doc->note_count; i++)
		free(doc->notes[i]);
	free(doc->scalars);
	free(doc->tables);
	free(doc->notes);
	memset(doc, 0, sizeof(*doc));
}

static struct pf_cell *add_scalar(struct pf_doc *doc, const char *key,
				  const char *title, enum pf_col_kind kind)
{
	struct pf_scalar *s;

	doc->scalars = pf_grow(doc->scalars, &doc->scalar_cap,
			       doc->scalar_count + 1, sizeof(*doc->scalars));
	s = &doc->scalars[doc->scalar_count++];
	s->col = (struct pf_col){ pf_strdup(key), pf_strdup(title), kind };
	s->cell = (struct pf_cell){ .type = PF_CELL_NULL };
	return &s->cell;
}

void pf_doc_int(struct pf_doc *doc, const char *key, const char *title,
		enum pf_col_kind kind, int64_t value)
{
	*add_scalar(doc, key, title, kind) =
		(struct pf_cell){ PF_CELL_INT, { .i = value } };
}

void pf_doc_real(struct pf_doc *doc, const char *key, const char *title,
		 enum pf_col_kind kind, double value)
{
	*add_scalar(doc, key, title, kind) =
		(struct pf_cell){ PF_CELL_REAL, { .d = value } };
}

void pf_doc_string(struct pf_doc *doc, const char *key, const char *title,
		   const char *s)
{
	struct pf_cell *cell = add_scalar(doc, key, title, PF_TEXT);

	if (!s)
		return;
	*cell = (struct pf_cell){ PF_CELL_TEXT,
				  { .text = { pf_strdup(s), strlen(s) } } };
}

void pf_doc_finding(struct pf_doc *doc, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pf_doc_string(doc, PF_DOC_FINDING, "Finding", text);
}

struct pf_table *pf_doc_table(struct pf_doc *doc, const char *name,
			      const char *title, const struct pf_col *cols,
			      size_t count)
{
	struct pf_table *t = pf_table_new(name, title, cols, count);

	doc->tables = pf_grow(doc->tables, &doc->table_cap,
			      doc->table_count + 1, sizeof(*doc->tables));
	doc->tables[doc->table_count++] = t;
	return t;
}

void pf_doc_note(struct pf_doc *doc, const char *fmt, ...)
{
	struct pf_buf text = { 0 };
	char small[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	pf_buf_adds(&text, small);
	doc->notes = pf_grow(doc->notes, &doc->note_cap, doc->note_count + 1,
			     sizeof(*doc->notes));
	doc->notes[doc->note_count++] = text.data;
}
