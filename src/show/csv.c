/* SPDX-License-Identifier: MIT */
/*
 * Comma-separated values (RFC 4180 with "\n").  Null is an empty cell, an
 * empty text is "".  Texts keep their bytes, except on a terminal.  Notes are
 * no data: they go to stderr.
 */
#include "config.h"

#include <csv.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "base/utf8.h"
#include "show/format.h"

static void begin(struct pf_printer *p)
{
	p->is_terminal = isatty(fileno(p->out));
}

static bool needs_quotes(const char *s, size_t len)
{
	if (!len || s[0] == ' ' || s[0] == '\t' || s[len - 1] == ' ' ||
	    s[len - 1] == '\t')
		return true;
	for (size_t i = 0; i < len; i++) {
		if (strchr(",\"\r\n", s[i]))
			return true; /* NUL too: it ends the set */
	}
	return false;
}

static void add_quoted(struct pf_buf *out, const char *s, size_t len)
{
	pf_buf_reserve(out, 2 * len + 2);
	out->len += csv_write(out->data + out->len, 2 * len + 2, s, len);
}

/* csv_write() quotes always, so it gets only what needs quotes. */
static void add_text(struct pf_printer *p, const char *s, size_t len)
{
	PF_AUTO(pf_buf_release) struct pf_buf masked = { 0 };

	if (p->is_terminal) {
		pf_utf8_mask(&masked, s, len);
		s = masked.data ? masked.data : "";
		len = masked.len;
	}
	if (needs_quotes(s, len))
		add_quoted(&p->buf, s, len);
	else
		pf_buf_add(&p->buf, s, len);
}

/* The raw value: digits that read back the same. */
static void add_cell(struct pf_printer *p, const struct pf_cell *cell)
{
	char text[PF_NUM_MAX];

	if (cell->type == PF_CELL_TEXT)
		add_text(p, cell->v.text.s, cell->v.text.len);
	else if (cell->type == PF_CELL_INT)
		pf_buf_addi(&p->buf, cell->v.i);
	else if (cell->type == PF_CELL_REAL)
		pf_buf_adds(&p->buf, pf_num_exact(text, cell->v.d));
}

static void scalars(struct pf_printer *p, const struct pf_scalar *s,
		    size_t count)
{
	if (!count)
		return;
	pf_buf_adds(&p->buf, "key,value\n");
	for (size_t i = 0; i < count; i++) {
		add_text(p, s[i].col.key, strlen(s[i].col.key));
		pf_buf_addc(&p->buf, ',');
		add_cell(p, &s[i].cell);
		pf_buf_addc(&p->buf, '\n');
	}
	p->section++;
}

static void head(struct pf_printer *p)
{
	pf_printer_section(p);
	for (size_t i = 0; i < p->col_count; i++) {
		if (i)
			pf_buf_addc(&p->buf, ',');
		add_text(p, p->cols[i].key, strlen(p->cols[i].key));
	}
	pf_buf_addc(&p->buf, '\n');
}

static void row(struct pf_printer *p, const struct pf_cell *cells)
{
	for (size_t i = 0; i < p->col_count; i++) {
		if (i)
			pf_buf_addc(&p->buf, ',');
		add_cell(p, &cells[i]);
	}
	pf_buf_addc(&p->buf, '\n');
}

static void tail(struct pf_printer *p)
{
	p->section++;
}

static void notes(struct pf_printer *p, const char *const *texts, size_t count)
{
	/* the command itself says what failed */
	for (size_t i = p->failed_count; i < count; i++)
		pf_log(PF_LOG_NOTE, "%s", texts[i]);
}

static const struct pf_format_ops ops = { .begin = begin,
					  .scalars = scalars,
					  .head = head,
					  .row = row,
					  .tail = tail,
					  .notes = notes };

PF_FORMAT(20, csv) = { "csv", PF_WIDE, &ops };
