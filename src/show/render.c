/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "show/choose.h"
#include "show/format.h"

#define FLUSH_BYTES 65536

const struct pf_format pf_format_page = { "html", PF_WIDE, NULL };

#define PF_ENTRY(name) extern const struct pf_format pf_format_##name;
#include "show/formats.inc"
#undef PF_ENTRY
#define PF_ENTRY(name) &pf_format_##name,
const struct pf_format *const pf_formats[] = {
#include "show/formats.inc"
	&pf_format_page,
};
#undef PF_ENTRY
#define PF_ENTRY(name) "|" #name
const char pf_format_names[] = "html"
#include "show/formats.inc"
	;
const char pf_format_names_page[] =
#include "show/formats.inc"
	"|html";

static void flush(struct pf_printer *p)
{
	if (p->buf.len)
		fwrite(p->buf.data, 1, p->buf.len, p->out);
	pf_buf_clear(&p->buf);
}

void pf_cell_raw(struct pf_buf *out, const struct pf_cell *cell)
{
	char text[PF_NUM_MAX];

	switch (cell->type) {
	case PF_CELL_NULL:
		break;
	case PF_CELL_INT:
		pf_buf_addf(out, "%" PRId64, cell->v.i);
		break;
	case PF_CELL_REAL:
		pf_buf_adds(out, pf_num_exact(text, cell->v.d));
		break;
	case PF_CELL_TEXT:
		pf_buf_add(out, cell->v.text.s, cell->v.text.len);
		break;
	}
}

static char *show_int(char out[PF_NUM_MAX], int64_t n, enum pf_col_kind kind)
{
	switch (kind) {
	case PF_COUNT:
		return pf_num_show_count(out, n);
	case PF_NS:
		return pf_num_show_ns(out, n);
	case PF_BYTES:
		return pf_num_show_bytes(out, n);
	case PF_RATIO:
		return pf_num_show_ratio(out, (double)n);
	default:
		snprintf(out, PF_NUM_MAX, "%" PRId64, n);
		return out;
	}
}

static char *show_real(char out[PF_NUM_MAX], double d, enum pf_col_kind kind)
{
	switch (kind) {
	case PF_RATIO:
		return pf_num_show_ratio(out, d);
	case PF_ANY:
		return pf_num_exact(out, d);
	default:
		return pf_num_show_real(out, d);
	}
}

void pf_cell_show(struct pf_buf *out, const struct pf_cell *cell,
		  enum pf_col_kind kind)
{
	char text[PF_NUM_MAX];

	if (kind & PF_SIGNED &&
	    (cell->type == PF_CELL_INT ? cell->v.i > 0 : cell->v.d > 0))
		pf_buf_addc(out, '+');
	kind = PF_COL_KIND(kind);
	if (cell->type == PF_CELL_INT)
		pf_buf_adds(out, show_int(text, cell->v.i, kind));
	else if (cell->type == PF_CELL_REAL)
		pf_buf_adds(out, show_real(text, cell->v.d, kind));
	else
		pf_cell_raw(out, cell);
}

static bool is_key_taken(const struct pf_col *cols, size_t count,
			 const char *key)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(cols[i].key, key))
			return true;
	}
	return false;
}

/* Copy the columns with keys that differ: "n", "n_2", "n_3". */
static void take_cols(struct pf_printer *p, const struct pf_col *cols,
		      size_t count)
{
	struct pf_col *unique = pf_calloc(count ? count : 1, sizeof(*unique));

	for (size_t i = 0; i < count; i++) {
		struct pf_buf key = { 0 };

		pf_buf_adds(&key, cols[i].key);
		for (size_t n = 2; is_key_taken(unique, i, key.data); n++) {
			pf_buf_clear(&key);
			pf_buf_addf(&key, "%s_%zu", cols[i].key, n);
		}
		unique[i] = (struct pf_col){ key.data, cols[i].title,
					     cols[i].kind };
	}
	p->gathered = pf_table_new(p->name, p->title, unique, count);
	p->cols = pf_table_cols(p->gathered);
	p->col_count = count;
	for (size_t i = 0; i < count; i++)
		free((char *)unique[i].key);
	free(unique);
}

static int sink_head(struct pf_row_sink *sink, const struct pf_col *cols,
		     size_t count, struct pf_err *err)
{
	struct pf_printer *p = (struct pf_printer *)sink;

	(void)err;
	take_cols(p, cols, count);
	p->row_count = 0;
	p->ops->head(p);
	return 0;
}

static int sink_row(struct pf_row_sink *sink, const struct pf_cell *cells,
		    struct pf_err *err)
{
	struct pf_printer *p = (struct pf_printer *)sink;

	p->ops->row(p, cells);
	p->row_count++;
	if (p->buf.len >= FLUSH_BYTES)
		flush(p);
	if (ferror(p->out))
		return pf_fail_errno(err, "cannot write output");
	return 0;
}

static void end_table(struct pf_printer *p)
{
	if (!p->gathered)
		return;
	p->ops->tail(p);
	pf_table_free(p->gathered);
	pf_text_free(p->text);
	p->gathered = NULL;
	p->text = NULL;
}

static struct pf_printer *printer_new(const struct pf_style *style, FILE *out)
{
	struct pf_printer *p = pf_calloc(1, sizeof(*p));

	p->sink.head = sink_head;
	p->sink.row = sink_row;
	p->ops = style->format->ops;
	p->style = *style;
	p->out = out;
	p->json.out = &p->buf;
	p->ops->begin(p);
	return p;
}

static int print_table(struct pf_printer *p, const struct pf_table *t,
		       size_t most, struct pf_err *err)
{
	size_t rows = pf_table_row_count(t);
	struct pf_choice c;
	struct pf_cell *cells;
	int rc;

	rows = rows < most ? rows : most;
	pf_choice_make(&c, t, p->style.format->flags & PF_WIDE);
	cells = pf_calloc(c.count + 1, sizeof(*cells));
	p->is_spare = c.is_spare;
	p->is_whole = c.is_whole;
	p->name = pf_table_name(t);
	p->title = pf_table_title(t);
	rc = sink_head(&p->sink, c.cols, c.count, err);
	for (size_t r = 0; !rc && r < rows; r++) {
		if (pf_choice_is_quiet(&c, r))
			continue;
		for (size_t i = 0; i < c.count; i++)
			cells[i] = *pf_choice_cell(&c, r, i);
		rc = sink_row(&p->sink, cells, err);
	}
	end_table(p);
	p->is_spare = p->is_whole = NULL;
	free(cells);
	pf_choice_release(&c);
	return rc;
}

int pf_render_doc(const struct pf_style *style, const struct pf_doc *doc,
		  FILE *out, struct pf_err *err)
{
	struct pf_printer *p = printer_new(style, out);
	bool is_brief = doc->is_nothing && doc->scalar_count &&
			style->format->flags & PF_FOR_PEOPLE;
	size_t tables = is_brief ? 0 : doc->table_count;
	bool folds =
		p->ops->fold && doc->main_tables && doc->main_tables < tables;
	size_t figure_count = doc->scalar_count;
	struct pf_scalar *figures = pf_choose_scalars(
		doc->scalars, &figure_count, style->format->flags & PF_WIDE);
	int rc = 0;

	if (style->format->flags & PF_FOR_PEOPLE && doc->failed_count) {
		p->ops->notes(p, doc->notes, doc->failed_count);
		p->section++;
	}
	p->failed_count = doc->failed_count;
	p->ops->scalars(p, figures, is_brief ? 1 : figure_count);
	free(figures);
	for (size_t i = 0; !rc && i < tables; i++) {
		if (style->is_page && !style->rows[i] &&
		    pf_table_row_count(doc->tables[i]))
			continue;
		if (folds && i == doc->main_tables)
			p->ops->fold(p, true);
		rc = print_table(p, doc->tables[i],
				 style->rows ? style->rows[i] : SIZE_MAX, err);
	}
	if (folds)
		p->ops->fold(p, false);
	p->ops->notes(p, doc->notes, doc->note_count);
	p->ops->end(p);
	flush(p);
	pf_render_free(&p->sink);
	return rc;
}

struct pf_row_sink *pf_render_rows(const struct pf_style *style,
				   const char *name, FILE *out)
{
	struct pf_printer *p = printer_new(style, out);

	p->name = name;
	p->ops->scalars(p, NULL, 0);
	return &p->sink;
}

int pf_render_finish(struct pf_row_sink *sink, struct pf_err *err)
{
	struct pf_printer *p = (struct pf_printer *)sink;
	int rc = 0;

	end_table(p);
	p->ops->notes(p, NULL, 0);
	p->ops->end(p);
	flush(p);
	if (ferror(p->out))
		rc = pf_fail_errno(err, "cannot write output");
	pf_render_free(sink);
	return rc;
}

void pf_render_free(struct pf_row_sink *sink)
{
	struct pf_printer *p = (struct pf_printer *)sink;

	if (!p)
		return;
	pf_text_free(p->text);
	pf_table_free(p->gathered);
	pf_buf_release(&p->buf);
	free(p);
}
