/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"
#include "show/doc.h"

enum list { NO_LIST, FIRST_LIST, OTHER_LIST };

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

void pf_doc_cell(struct pf_doc *doc, const struct pf_col *col,
		 const struct pf_cell *cell)
{
	struct pf_scalar *s;

	doc->scalars = pf_grow(doc->scalars, &doc->scalar_cap,
			       doc->scalar_count + 1, sizeof(*doc->scalars));
	s = &doc->scalars[doc->scalar_count++];
	s->col = (struct pf_col){ pf_strdup(col->key), pf_strdup(col->title),
				  col->kind };
	s->cell = *cell;
	if (cell->type == PF_CELL_TEXT)
		s->cell.v.text.s = pf_memdup0(cell->v.text.s, cell->v.text.len);
}

void pf_doc_int(struct pf_doc *doc, const char *key, const char *title,
		enum pf_col_kind kind, int64_t value)
{
	pf_doc_cell(doc, &(struct pf_col){ key, title, kind },
		    &(struct pf_cell){ PF_CELL_INT, { .i = value } });
}

void pf_doc_real(struct pf_doc *doc, const char *key, const char *title,
		 enum pf_col_kind kind, double value)
{
	pf_doc_cell(doc, &(struct pf_col){ key, title, kind },
		    &(struct pf_cell){ PF_CELL_REAL, { .d = value } });
}

void pf_doc_null(struct pf_doc *doc, const char *key, const char *title,
		 enum pf_col_kind kind)
{
	pf_doc_cell(doc, &(struct pf_col){ key, title, kind },
		    &(struct pf_cell){ .type = PF_CELL_NULL });
}

void pf_doc_string(struct pf_doc *doc, const char *key, const char *title,
		   const char *s)
{
	struct pf_cell cell = { PF_CELL_TEXT,
				{ .text = { s, s ? strlen(s) : 0 } } };

	if (s)
		pf_doc_cell(doc, &(struct pf_col){ key, title, PF_TEXT },
			    &cell);
	else
		pf_doc_null(doc, key, title, PF_TEXT);
}

void pf_doc_finding(struct pf_doc *doc, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < doc->scalar_count; i++) {
		struct pf_scalar *s = &doc->scalars[i];

		if (strcmp(s->col.key, PF_DOC_FINDING) != 0 ||
		    s->cell.type != PF_CELL_TEXT)
			continue;
		free((char *)s->cell.v.text.s);
		s->cell.v.text.s = pf_strdup(text);
		s->cell.v.text.len = strlen(text);
		return;
	}
	pf_doc_string(doc, PF_DOC_FINDING, "Finding", text);
}

/* Is a table one of those that are cut and put in order? */
static enum list find_list(const struct pf_doc *doc, const char *name)
{
	const char *s = doc->lists;

	while (s && *s) {
		size_t len = strcspn(s, " ");

		if (strlen(name) == len && !memcmp(s, name, len))
			return s == doc->lists ? FIRST_LIST : OTHER_LIST;
		s += len;
		s += strspn(s, " ");
	}
	return NO_LIST;
}

void pf_doc_adopt(struct pf_doc *doc, struct pf_table *t)
{
	doc->tables = pf_grow(doc->tables, &doc->table_cap,
			      doc->table_count + 1, sizeof(*doc->tables));
	doc->tables[doc->table_count++] = t;
}

struct pf_table *pf_doc_table(struct pf_doc *doc, const char *name,
			      const char *title, const struct pf_col *cols,
			      size_t count)
{
	struct pf_table *t = pf_table_new(name, title, cols, count);
	struct pf_order limit_only = { NULL, doc->order.limit };

	pf_doc_adopt(doc, t);
	switch (find_list(doc, name)) {
	case NO_LIST:
		break;
	case FIRST_LIST:
		pf_table_order(t, &doc->order);
		break;
	case OTHER_LIST:
		pf_table_order(t, &limit_only);
		break;
	}
	return t;
}

static int no_such_column(const struct pf_table *t, const char *word,
			  struct pf_err *err)
{
	const struct pf_col *cols = pf_table_cols(t);
	struct pf_suggest s = { .word = word + (*word == '-') };
	struct pf_buf all = { 0 };

	for (size_t i = 0; i < pf_table_col_count(t); i++) {
		pf_suggest_offer(&s, cols[i].key);
		pf_buf_addf(&all, "%s%s", i ? ", " : "", cols[i].key);
	}
	if (s.best)
		pf_fail(err, PF_EUSAGE,
			"there is no column '%s' to sort by; did you mean "
			"'%s'?",
			s.word, s.best);
	else
		pf_fail(err, PF_EUSAGE,
			"there is no column '%s' to sort by; the columns are "
			"%s",
			s.word, all.data ? all.data : "none");
	pf_buf_release(&all);
	return -1;
}

int pf_doc_settle(struct pf_doc *doc, struct pf_err *err)
{
	for (size_t i = 0; i < doc->table_count; i++) {
		struct pf_table *t = doc->tables[i];
		enum list list = find_list(doc, pf_table_name(t));
		int64_t dropped;

		if (list == NO_LIST)
			continue;
		if (list == FIRST_LIST && doc->order.word &&
		    pf_table_find_col(t, doc->order.word) < 0)
			return no_such_column(t, doc->order.word, err);
		dropped = pf_table_settle(t);
		if (dropped)
			pf_doc_note(doc,
				    "%" PRId64 " more row%s of '%s'; "
				    "--limit -1 shows all",
				    dropped, dropped == 1 ? "" : "s",
				    pf_table_name(t));
	}
	return 0;
}

static void add_note(struct pf_doc *doc, size_t place, const char *before,
		     const char *fmt, va_list ap)
{
	struct pf_buf text = { 0 };
	char small[1024];

	vsnprintf(small, sizeof(small), fmt, ap);
	pf_buf_adds(&text, before);
	pf_buf_adds(&text, small);
	doc->notes = pf_grow(doc->notes, &doc->note_cap, doc->note_count + 1,
			     sizeof(*doc->notes));
	memmove(doc->notes + place + 1, doc->notes + place,
		(doc->note_count - place) * sizeof(*doc->notes));
	doc->notes[place] = text.data;
	doc->note_count++;
}

void pf_doc_note(struct pf_doc *doc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(doc, doc->note_count, "", fmt, ap);
	va_end(ap);
}

void pf_doc_failed(struct pf_doc *doc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(doc, doc->failed_count++, "failed: ", fmt, ap);
	va_end(ap);
}
