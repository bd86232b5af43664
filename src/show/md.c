/* SPDX-License-Identifier: MIT */
/* GitHub tables: texts are code spans, numbers read as in text output. */
#include "config.h"

#include <string.h>

#include "show/escape.h"
#include "show/format.h"

static void add_cell(struct pf_printer *p, const struct pf_cell *cell,
		     enum pf_col_kind kind)
{
	pf_buf_adds(&p->buf, "| ");
	if (cell->type == PF_CELL_TEXT)
		pf_escape_md(&p->buf, cell->v.text.s, cell->v.text.len);
	else
		pf_cell_show(&p->buf, cell, kind);
	pf_buf_addc(&p->buf, ' ');
}

static void scalars(struct pf_printer *p, const struct pf_scalar *s,
		    size_t count)
{
	if (count && !strcmp(s->col.key, PF_DOC_FINDING) &&
	    s->cell.type == PF_CELL_TEXT) {
		pf_printer_section(p);
		pf_escape_md_sentence(&p->buf, s->cell.v.text.s,
				      s->cell.v.text.len);
		pf_buf_adds(&p->buf, ".\n");
		p->section++;
		s++;
		count--;
		if (count)
			pf_printer_section(p);
	}
	if (!count)
		return;
	pf_buf_adds(&p->buf, "| What | Value |\n| :--- | :--- |\n");
	for (size_t i = 0; i < count; i++) {
		if (s[i].col.kind & PF_FULL)
			continue;
		pf_buf_adds(&p->buf, "| ");
		pf_escape_md_words(&p->buf, s[i].col.title,
				   strlen(s[i].col.title));
		pf_buf_addc(&p->buf, ' ');
		add_cell(p, &s[i].cell, s[i].col.kind);
		pf_buf_adds(&p->buf, "|\n");
	}
	p->section++;
}

static bool is_left(enum pf_col_kind kind)
{
	return kind == PF_TEXT || kind == PF_PATH || kind == PF_ANY;
}

static void print_title(struct pf_printer *p)
{
	pf_printer_section(p);
	p->section++;
	if (!p->title)
		return;
	pf_buf_adds(&p->buf, "**");
	pf_escape_md_sentence(&p->buf, p->title, strlen(p->title));
	pf_buf_adds(&p->buf, "**\n\n");
}

static void print_heading(struct pf_printer *p)
{
	print_title(p);
	for (size_t i = 0; i < p->col_count; i++) {
		pf_buf_adds(&p->buf, "| ");
		pf_escape_md_words(&p->buf, p->cols[i].title,
				   strlen(p->cols[i].title));
		pf_buf_addc(&p->buf, ' ');
	}
	pf_buf_adds(&p->buf, "|\n");
	for (size_t i = 0; i < p->col_count; i++)
		pf_buf_adds(&p->buf,
			    is_left(p->cols[i].kind) ? "| :--- " : "| ---: ");
	pf_buf_adds(&p->buf, "|\n");
}

static void row(struct pf_printer *p, const struct pf_cell *cells)
{
	if (!p->row_count)
		print_heading(p);
	for (size_t i = 0; i < p->col_count; i++)
		add_cell(p, &cells[i], p->cols[i].kind);
	pf_buf_adds(&p->buf, "|\n");
}

static void tail(struct pf_printer *p)
{
	if (!p->row_count && !p->title)
		print_heading(p);
}

static void notes(struct pf_printer *p, const char *const *texts, size_t count)
{
	if (count <= p->failed_count)
		return;
	pf_printer_section(p);
	for (size_t i = p->failed_count; i < count; i++) {
		pf_buf_adds(&p->buf, "- ");
		pf_escape_md_sentence(&p->buf, texts[i], strlen(texts[i]));
		pf_buf_addc(&p->buf, '\n');
	}
}

static void fold(struct pf_printer *p, bool is_begin)
{
	pf_printer_section(p);
	pf_buf_adds(&p->buf, is_begin ? "<details><summary>More</summary>\n"
				      : "</details>\n");
}

/* A table without rows has no title either: there is no head. */
static const struct pf_format_ops ops = { .scalars = scalars,
					  .row = row,
					  .tail = tail,
					  .notes = notes,
					  .fold = fold };

PF_FORMAT(40, md) = { "md", PF_FOR_PEOPLE, &ops };
