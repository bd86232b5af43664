/* SPDX-License-Identifier: MIT */
/*
 * Text for people.  The first rows are gathered to find the widths; then
 * these and all later rows are printed with them.  If the columns do not fit
 * although texts are shortened to MIN_TEXT, rows become records: one line per
 * cell, whole texts.
 */
#include "config.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "render/escape.h"
#include "render/format.h"

#define GAP      2 /* spaces between columns */
#define MIN_TEXT 16
#define SAMPLE   10000 /* rows that widths are found from */

static void begin(struct pf_printer *p)
{
	(void)p;
}

static void begin_section(struct pf_printer *p)
{
	if (p->section)
		pf_buf_addc(&p->buf, '\n');
}

static void add_spaces(struct pf_buf *out, size_t count)
{
	while (count-- > 0)
		pf_buf_addc(out, ' ');
}

/* The cell as printed, at most "columns" wide if it is a text. */
static void show(struct pf_buf *out, const struct pf_cell *cell,
		 enum pf_col_kind kind, size_t columns)
{
	if (cell->type == PF_CELL_TEXT)
		pf_escape_text(out, cell->v.text.s, cell->v.text.len, columns,
			       kind == PF_PATH);
	else if (cell->type == PF_CELL_NULL)
		pf_buf_addc(out, '-');
	else
		pf_cell_show(out, cell, kind);
}

static size_t title_columns(const char *title)
{
	struct pf_buf text = { 0 };
	size_t columns;

	pf_utf8_mask(&text, title, strlen(title));
	columns = pf_utf8_columns(text.data, text.len);
	pf_buf_release(&text);
	return columns;
}

/* Wrapped at spaces; "limit" 0: not at all. */
static void add_wrapped(struct pf_buf *out, const char *s, size_t limit)
{
	size_t used = 0;

	while (*s) {
		size_t len = strcspn(s, " ");
		size_t columns = pf_utf8_columns(s, len);

		if (used && limit && used + 1 + columns > limit) {
			pf_buf_addc(out, '\n');
			used = 0;
		}
		if (used)
			pf_buf_addc(out, ' ');
		pf_buf_add(out, s, len);
		used += columns + (used > 0);
		s += len;
		s += strspn(s, " ");
	}
	pf_buf_addc(out, '\n');
}

/* The sentence that an answer begins with. */
static void finding(struct pf_printer *p, const struct pf_cell *cell)
{
	struct pf_buf text = { 0 };

	begin_section(p);
	pf_escape_text(&text, cell->v.text.s, cell->v.text.len, 0, false);
	pf_buf_addc(&text, '.');
	add_wrapped(&p->buf, text.data, (size_t)p->style.width);
	pf_buf_release(&text);
	p->section++;
}

static void scalars(struct pf_printer *p, const struct pf_scalar *s,
		    size_t count)
{
	size_t widest = 0;

	if (count && !strcmp(s->col.key, PF_DOC_FINDING) &&
	    s->cell.type == PF_CELL_TEXT) {
		finding(p, &s->cell);
		s++;
		count--;
		if (count)
			begin_section(p);
	}
	for (size_t i = 0; i < count; i++) {
		size_t columns = title_columns(s[i].col.title);

		if (!(s[i].col.kind & PF_FULL) && columns > widest)
			widest = columns;
	}
	for (size_t i = 0; i < count; i++) {
		if (s[i].col.kind & PF_FULL)
			continue;
		pf_escape_text(&p->buf, s[i].col.title, strlen(s[i].col.title),
			       0, false);
		add_spaces(&p->buf,
			   widest + GAP - title_columns(s[i].col.title));
		show(&p->buf, &s[i].cell, s[i].col.kind, 0);
		pf_buf_addc(&p->buf, '\n');
	}
	p->section += count > 0;
}

/* An ad-hoc column is one of numbers if no text is among the first rows. */
static bool is_number(const struct pf_printer *p, size_t col)
{
	size_t rows = pf_table_row_count(p->gathered);

	if (p->cols[col].kind != PF_ANY)
		return p->cols[col].kind != PF_TEXT &&
		       p->cols[col].kind != PF_PATH;
	for (size_t r = 0; r < rows; r++) {
		if (pf_table_row(p->gathered, r)[col].type == PF_CELL_TEXT)
			return false;
	}
	return rows > 0;
}

static size_t natural_width(const struct pf_printer *p, size_t col)
{
	size_t widest = title_columns(p->cols[col].title);
	size_t rows = pf_table_row_count(p->gathered);
	struct pf_buf text = { 0 };

	for (size_t r = 0; r < rows; r++) {
		const struct pf_cell *row = pf_table_row(p->gathered, r);
		size_t columns;

		pf_buf_clear(&text);
		show(&text, &row[col], p->cols[col].kind, 0);
		columns = pf_utf8_columns(text.data, text.len);
		if (columns > widest)
			widest = columns;
	}
	pf_buf_release(&text);
	return widest;
}

/* The text column that is widest and may still lose; col_count if none. */
static size_t widest_text(const struct pf_printer *p)
{
	size_t best = p->col_count;

	for (size_t i = 0; i < p->col_count; i++) {
		if (p->is_right[i] || p->widths[i] <= MIN_TEXT ||
		    p->widths[i] <= title_columns(p->cols[i].title))
			continue;
		if (best == p->col_count || p->widths[i] > p->widths[best])
			best = i;
	}
	return best;
}

static void find_widths(struct pf_printer *p)
{
	size_t limit = p->style.width > 0 ? (size_t)p->style.width : SIZE_MAX;
	size_t total = 0;

	p->widths = pf_calloc(p->col_count + 1, sizeof(*p->widths));
	p->is_right = pf_calloc(p->col_count + 1, sizeof(*p->is_right));
	for (size_t i = 0; i < p->col_count; i++) {
		p->is_right[i] = is_number(p, i);
		p->widths[i] = natural_width(p, i);
		total += p->widths[i] + (i ? GAP : 0);
	}
	while (total > limit) {
		size_t col = widest_text(p);

		if (col == p->col_count) {
			p->is_record = true;
			return;
		}
		p->widths[col]--;
		total--;
	}
}

static void add_padded(struct pf_printer *p, size_t col,
		       const struct pf_buf *text)
{
	size_t columns = pf_utf8_columns(text->data, text->len);
	size_t width = p->widths[col];
	size_t pad = width > columns ? width - columns : 0;

	if (col)
		add_spaces(&p->buf, GAP);
	if (p->is_right[col])
		add_spaces(&p->buf, pad);
	pf_buf_add(&p->buf, text->data, text->len);
	if (!p->is_right[col])
		add_spaces(&p->buf, pad);
}

static void end_line(struct pf_buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	pf_buf_addc(out, '\n');
}

static void print_heading(struct pf_printer *p)
{
	struct pf_buf text = { 0 };

	for (size_t i = 0; i < p->col_count; i++) {
		pf_buf_clear(&text);
		pf_escape_text(&text, p->cols[i].title,
			       strlen(p->cols[i].title), 0, false);
		add_padded(p, i, &text);
	}
	end_line(&p->buf);
	for (size_t i = 0; i < p->col_count; i++) {
		pf_buf_clear(&text);
		for (size_t c = 0; c < p->widths[i]; c++)
			pf_buf_addc(&text, '-');
		add_padded(p, i, &text);
	}
	end_line(&p->buf);
	pf_buf_release(&text);
}

static void print_line(struct pf_printer *p, const struct pf_cell *cells)
{
	struct pf_buf text = { 0 };

	for (size_t i = 0; i < p->col_count; i++) {
		pf_buf_clear(&text);
		pf_buf_add(&text, "", 0);
		show(&text, &cells[i], p->cols[i].kind, p->widths[i]);
		add_padded(p, i, &text);
	}
	end_line(&p->buf);
	pf_buf_release(&text);
}

static void print_record(struct pf_printer *p, const struct pf_cell *cells,
			 size_t number)
{
	size_t widest = 0;

	for (size_t i = 0; i < p->col_count; i++) {
		size_t columns = title_columns(p->cols[i].title);

		if (columns > widest)
			widest = columns;
	}
	if (number)
		pf_buf_addc(&p->buf, '\n');
	for (size_t i = 0; i < p->col_count; i++) {
		const char *title = p->cols[i].title;

		pf_escape_text(&p->buf, title, strlen(title), 0, false);
		add_spaces(&p->buf, widest + GAP - title_columns(title));
		show(&p->buf, &cells[i], p->cols[i].kind, 0);
		end_line(&p->buf);
	}
}

static void print_row(struct pf_printer *p, const struct pf_cell *cells,
		      size_t number)
{
	if (p->is_record)
		print_record(p, cells, number);
	else
		print_line(p, cells);
}

/* Decide the widths and print what was gathered. */
static void start_printing(struct pf_printer *p)
{
	size_t rows = pf_table_row_count(p->gathered);

	find_widths(p);
	if (!p->is_record || rows == 0)
		print_heading(p);
	for (size_t r = 0; r < rows; r++)
		print_row(p, pf_table_row(p->gathered, r), r);
}

static void head(struct pf_printer *p)
{
	begin_section(p);
	if (!p->title)
		return;
	pf_escape_text(&p->buf, p->title, strlen(p->title), 0, false);
	pf_buf_addc(&p->buf, '\n');
}

static void row(struct pf_printer *p, const struct pf_cell *cells)
{
	if (p->widths) {
		print_row(p, cells, p->row_count);
		return;
	}
	for (size_t i = 0; i < p->col_count; i++)
		pf_table_cell(p->gathered, &cells[i]);
	if (pf_table_row_count(p->gathered) == SAMPLE)
		start_printing(p);
}

static void tail(struct pf_printer *p)
{
	size_t rows = pf_table_row_count(p->gathered);

	if (!p->widths && (rows > 0 || !p->title))
		start_printing(p);
	if (p->col_count && rows == 0)
		pf_buf_adds(&p->buf, p->title ? "(none)\n" : "(no rows)\n");
}

static void notes(struct pf_printer *p, char *const *texts, size_t count)
{
	struct pf_buf text = { 0 };
	bool is_first = !p->section;

	if (count > p->failed_count)
		begin_section(p);
	for (size_t i = p->failed_count; i < count; i++) {
		pf_buf_clear(&text);
		pf_buf_adds(&text, is_first ? "" : "Note: ");
		pf_escape_text(&text, texts[i], strlen(texts[i]), 0, false);
		add_wrapped(&p->buf, text.data, (size_t)p->style.width);
	}
	pf_buf_release(&text);
}

static void end(struct pf_printer *p)
{
	(void)p;
}

static const struct pf_format_ops ops = { begin, scalars, head, row,
					  tail,  notes,   end,  NULL };

PF_FORMAT(10, text) = { "text", PF_FOR_PEOPLE | PF_SHORT, &ops };
