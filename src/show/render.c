/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "show/render.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "show/format.h"

/*
 * Which columns of a table a format shows.  csv and json have all but those
 * for people; text and md leave out those that are for programs, as long as
 * no two rows look the same for it: rows do if all their texts are equal.
 */

struct pf_choice {
	const struct pf_table *table;
	bool is_wide;
	struct pf_col *cols; /* with their bare kinds */
	size_t *places;      /* of them in the table */
	bool *is_spare;      /* PF_SPARE */
	bool *is_whole;      /* PF_WHOLE */
	size_t count;
	bool *tells; /* only there to tell rows apart */
	/*
	 * A short text for people has the whole one in another column of the
	 * same title (count of columns: none); rows that look the same
	 * with it show that one.
	 */
	size_t *instead;
	bool *is_same; /* by row: looks like another one */
	struct pf_arena memory;
};

static bool is_text(const struct pf_col *col)
{
	enum pf_col_kind kind = PF_COL_KIND(col->kind);

	return kind == PF_TEXT || kind == PF_PATH;
}

/* What printing a cell asks for. */
static enum pf_col_kind bare(enum pf_col_kind kind)
{
	return (enum pf_col_kind)(PF_COL_KIND(kind) |
				  ((unsigned)kind & PF_SIGNED));
}

static bool is_brief(const struct pf_col *col)
{
	return (col->kind & (PF_BRIEF | PF_FULL)) == PF_BRIEF;
}

/* Of programs' columns: PF_FULL if people do not see it, not even in brief. */
static unsigned only_full(const struct pf_table *t, size_t col)
{
	const struct pf_col *cols = pf_table_cols(t);

	for (size_t i = 0; i < pf_table_col_count(t); i++)
		if (is_brief(&cols[i]) &&
		    !strcmp(cols[i].title, cols[col].title))
			return 0;
	return cols[col].kind & PF_FULL;
}

/* For people: the column of programs that says the same in full. */
static size_t find_instead(const struct pf_table *t, size_t col)
{
	const struct pf_col *cols = pf_table_cols(t);
	size_t count = pf_table_col_count(t);

	for (size_t i = 0; is_brief(&cols[col]) && i < count; i++)
		if ((cols[i].kind & (PF_BRIEF | PF_FULL)) == PF_FULL &&
		    is_text(&cols[i]) &&
		    !strcmp(cols[i].title, cols[col].title))
			return i;
	return count;
}

static void choose(struct pf_choice *c, const bool *is_shown)
{
	const struct pf_col *all = pf_table_cols(c->table);

	c->count = 0;
	for (size_t i = 0; i < pf_table_col_count(c->table); i++) {
		if (!is_shown[i])
			continue;
		c->cols[c->count] = all[i];
		c->cols[c->count].kind = bare(all[i].kind);
		if (c->is_wide)
			c->cols[c->count].kind |= only_full(c->table, i);
		c->is_spare[c->count] = all[i].kind & PF_SPARE;
		c->is_whole[c->count] = all[i].kind & PF_WHOLE;
		c->tells[c->count] = c->is_same && all[i].kind & PF_FULL;
		c->instead[c->count] = find_instead(c->table, i);
		c->places[c->count++] = i;
	}
}

/* The cell of a row to be shown in chosen column i; borrowed. */
static const struct pf_cell *choice_cell(const struct pf_choice *c, size_t row,
					 size_t i)
{
	static const struct pf_cell blank = { .type = PF_CELL_TEXT,
					      .v.text.s = "" };
	const struct pf_cell *cells = pf_table_row(c->table, row);
	bool is_same = c->is_same && c->is_same[row];

	if (is_same && c->instead[i] < pf_table_col_count(c->table))
		return &cells[c->instead[i]];
	if (!is_same && c->tells[i])
		return &blank;
	return &cells[c->places[i]];
}

static bool is_nothing(const struct pf_cell *cell)
{
	switch (cell->type) {
	case PF_CELL_NULL:
		return true;
	case PF_CELL_INT:
		return !cell->v.i;
	case PF_CELL_REAL:
		return cell->v.d == 0;
	default:
		return false;
	}
}

/* Is there nothing to say in this row (PF_QUIET)? */
static bool choice_is_quiet(const struct pf_choice *c, size_t row)
{
	const struct pf_col *cols = pf_table_cols(c->table);
	const struct pf_cell *cells = pf_table_row(c->table, row);

	for (size_t i = 0; !c->is_wide && i < pf_table_col_count(c->table); i++)
		if (cols[i].kind & PF_QUIET && is_nothing(&cells[i]))
			return true;
	return false;
}

/* The figures that this format shows: copies of structs, the caller frees. */
static struct pf_scalar *choose_scalars(const struct pf_scalar *all,
					size_t *count, bool is_wide)
{
	struct pf_scalar *out = pf_calloc(*count + 1, sizeof(*out));
	unsigned hidden = is_wide ? PF_BRIEF : PF_FULL;
	size_t n = 0;

	for (size_t i = 0; i < *count; i++) {
		if (all[i].col.kind & hidden ||
		    (!is_wide && all[i].col.kind & PF_QUIET &&
		     is_nothing(&all[i].cell)))
			continue;
		out[n] = all[i];
		out[n].col.kind = bare(all[i].col.kind);
		if (is_wide) /* a schema says so */
			out[n].col.kind |= all[i].col.kind & PF_FULL;
		n++;
	}
	*count = n;
	return out;
}

/* ---- rows that look the same ---- */

static int compare_cells(const struct pf_cell *a, const struct pf_cell *b)
{
	if (a->type != PF_CELL_TEXT || b->type != PF_CELL_TEXT)
		return (a->type == PF_CELL_TEXT) - (b->type == PF_CELL_TEXT);
	return strcmp(a->v.text.s, b->v.text.s);
}

static int compare_rows(const struct pf_choice *c, size_t x, size_t y)
{
	int order = 0;

	for (size_t i = 0; !order && i < c->count; i++)
		if (is_text(&c->cols[i]) && !c->is_spare[i])
			order = compare_cells(choice_cell(c, x, i),
					      choice_cell(c, y, i));
	return order;
}

struct placed_row {
	const struct pf_choice *c;
	size_t row;
};

static int by_looks(const struct placed_row *x, const struct placed_row *y)
{
	return compare_rows(x->c, x->row, y->row);
}

PF_ORDER(by_looks_and_row, struct placed_row, PF_THEN(by_looks) PF_UP(row))

static void put_in_order(struct pf_choice *c, size_t *order)
{
	size_t rows = pf_table_row_count(c->table);
	PF_OWN struct placed_row *placed = pf_calloc(rows + 1, sizeof(*placed));

	for (size_t i = 0; i < rows; i++)
		placed[i] = (struct placed_row){ c, i };
	pf_sort(placed, rows, sizeof(*placed), by_looks_and_row);
	for (size_t i = 0; i < rows; i++)
		order[i] = placed[i].row;
}

/* Mark rows that look like their neighbours; returns whether there are any. */
static bool mark_same(struct pf_choice *c, const size_t *order, bool *is_same)
{
	size_t rows = pf_table_row_count(c->table);
	bool any = false;

	memset(is_same, 0, rows * sizeof(*is_same));
	for (size_t i = 1; i < rows; i++)
		if (!compare_rows(c, order[i - 1], order[i]))
			any = is_same[order[i - 1]] = is_same[order[i]] = true;
	return any;
}

/* Does a column differ between rows that look the same? */
static bool tells(struct pf_choice *c, const size_t *order, size_t col)
{
	for (size_t i = 1; i < pf_table_row_count(c->table); i++)
		if (!compare_rows(c, order[i - 1], order[i]) &&
		    compare_cells(&pf_table_row(c->table, order[i - 1])[col],
				  &pf_table_row(c->table, order[i])[col]) != 0)
			return true;
	return false;
}

static void tell_apart(struct pf_choice *c, bool *is_shown)
{
	const struct pf_col *all = pf_table_cols(c->table);
	size_t rows = pf_table_row_count(c->table);
	PF_OWN size_t *order = pf_calloc(rows + 1, sizeof(*order));
	bool *is_same = pf_arena_calloc(&c->memory, rows + 1, sizeof(*is_same));
	bool more;

	put_in_order(c, order);
	more = mark_same(c, order, is_same);
	c->is_same = is_same;
	if (more)
		put_in_order(c, order);
	for (size_t i = 0; more && i < pf_table_col_count(c->table); i++) {
		if (is_shown[i] || !is_text(&all[i]) || is_brief(&all[i]) ||
		    !tells(c, order, i))
			continue;
		is_shown[i] = true;
		choose(c, is_shown);
		put_in_order(c, order);
	}
}

/* Texts that are no tree (hard spaces): where a row of a tree stands tells which it is. */
static bool has_list(const struct pf_choice *c)
{
	for (size_t i = 0; i < c->count; i++) {
		if (!is_text(&c->cols[i]))
			continue;
		for (size_t r = 0; r < pf_table_row_count(c->table); r++) {
			const struct pf_cell *cell = choice_cell(c, r, i);

			if (cell->type == PF_CELL_TEXT &&
			    !strncmp(cell->v.text.s, "\xc2\xa0", 2))
				return false;
		}
		return true;
	}
	return false;
}

static void choice_make(struct pf_choice *c, const struct pf_table *t,
			bool is_wide)
{
	const struct pf_col *all = pf_table_cols(t);
	size_t count = pf_table_col_count(t);
	PF_OWN bool *is_shown = pf_calloc(count + 1, sizeof(*is_shown));

	*c = (struct pf_choice){ .table = t, .is_wide = is_wide };
	c->cols = pf_arena_calloc(&c->memory, count + 1, sizeof(*c->cols));
	c->places = pf_arena_calloc(&c->memory, count + 1, sizeof(*c->places));
	c->is_spare =
		pf_arena_calloc(&c->memory, count + 1, sizeof(*c->is_spare));
	c->is_whole =
		pf_arena_calloc(&c->memory, count + 1, sizeof(*c->is_whole));
	c->tells = pf_arena_calloc(&c->memory, count + 1, sizeof(*c->tells));
	c->instead =
		pf_arena_calloc(&c->memory, count + 1, sizeof(*c->instead));
	for (size_t i = 0; i < count; i++)
		is_shown[i] = !(all[i].kind & (is_wide ? PF_BRIEF : PF_FULL));
	choose(c, is_shown);
	if (!is_wide && has_list(c))
		tell_apart(c, is_shown);
}

static void choice_release(struct pf_choice *c)
{
	pf_arena_release(&c->memory);
	*c = (struct pf_choice){ 0 };
}

#define FLUSH_BYTES 65536

const struct pf_format pf_format_page = { "html", PF_WIDE, NULL };

#define PF_ENTRY(name) extern const struct pf_format pf_format_##name;
#include "show/formats.inc"
#undef PF_ENTRY
#define PF_ENTRY(name) &pf_format_##name,
const struct pf_format *const pf_formats[] = {
#include "show/formats.inc"
	&pf_format_page,
	&pf_format_junit,
	&pf_format_github,
	NULL,
};
#undef PF_ENTRY
#define PF_ENTRY(name) "|" #name
const char pf_format_names[] = "html"
#include "show/formats.inc"
	;
const char pf_format_words[4][64] = {
#include "show/formats.inc"
	,
#include "show/formats.inc"
	"|html",
#include "show/formats.inc"
	"|junit|github",
#include "show/formats.inc"
	"|junit|github|html",
};

static void flush(struct pf_printer *p)
{
	if (p->buf.len)
		fwrite(p->buf.data, 1, p->buf.len, p->out);
	pf_buf_clear(&p->buf);
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
	else if (cell->type == PF_CELL_TEXT)
		pf_buf_add(out, cell->v.text.s, cell->v.text.len);
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
	PF_OWN struct pf_col *unique =
		pf_calloc(count ? count : 1, sizeof(*unique));

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
}

static void call(struct pf_printer *p, void (*op)(struct pf_printer *p))
{
	if (op)
		op(p);
}

static int sink_head(struct pf_row_sink *sink, const struct pf_col *cols,
		     size_t count, struct pf_err *err)
{
	struct pf_printer *p = (struct pf_printer *)sink;

	(void)err;
	take_cols(p, cols, count);
	p->row_count = 0;
	call(p, p->ops->head);
	return 0;
}

static int sink_row(struct pf_row_sink *sink, const struct pf_cell *cells,
		    struct pf_err *err)
{
	struct pf_printer *p = (struct pf_printer *)sink;

	if (p->ops->row)
		p->ops->row(p, cells);
	p->row_count++;
	if (p->buf.len >= FLUSH_BYTES)
		flush(p);
	if (ferror(p->out))
		return pf_fail_write(err, fileno(p->out), 0,
				     "cannot write output");
	return 0;
}

static void end_table(struct pf_printer *p)
{
	if (!p->gathered)
		return;
	call(p, p->ops->tail);
	call(p, p->ops->release);
	pf_table_free(p->gathered);
	p->gathered = NULL;
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
	call(p, p->ops->begin);
	return p;
}

static int print_table(struct pf_printer *p, const struct pf_table *t,
		       size_t most, struct pf_err *err)
{
	size_t rows = pf_table_row_count(t);
	struct pf_choice c;
	PF_OWN struct pf_cell *cells = NULL;
	int rc;

	rows = rows < most ? rows : most;
	choice_make(&c, t, p->style.format->flags & PF_WIDE);
	cells = pf_calloc(c.count + 1, sizeof(*cells));
	p->is_spare = c.is_spare;
	p->is_whole = c.is_whole;
	p->name = pf_table_name(t);
	p->title = pf_table_title(t);
	rc = sink_head(&p->sink, c.cols, c.count, err);
	for (size_t r = 0; !rc && r < rows; r++) {
		if (choice_is_quiet(&c, r))
			continue;
		for (size_t i = 0; i < c.count; i++)
			cells[i] = *choice_cell(&c, r, i);
		rc = sink_row(&p->sink, cells, err);
	}
	end_table(p);
	p->is_spare = p->is_whole = NULL;
	choice_release(&c);
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
	struct pf_scalar *figures = choose_scalars(
		doc->scalars, &figure_count, style->format->flags & PF_WIDE);
	int rc = 0;

	if (p->ops->checks) {
		p->ops->checks(p, doc);
		tables = figure_count = 0;
	}
	if (style->format->flags & PF_FOR_PEOPLE && doc->failed_count) {
		p->ops->notes(p, doc->notes, doc->failed_count);
		p->section++;
	}
	p->failed_count = doc->failed_count;
	if (p->ops->scalars)
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
	if (p->ops->notes)
		p->ops->notes(p, doc->notes, doc->note_count);
	call(p, p->ops->end);
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
	if (p->ops->notes)
		p->ops->notes(p, NULL, 0);
	call(p, p->ops->end);
	flush(p);
	if (ferror(p->out))
		rc = pf_fail_write(err, fileno(p->out), 0,
				   "cannot write output");
	pf_render_free(sink);
	return rc;
}

void pf_render_free(struct pf_row_sink *sink)
{
	PF_OWN struct pf_printer *p = (struct pf_printer *)sink;

	if (!p)
		return;
	call(p, p->ops->release);
	pf_table_free(p->gathered);
	pf_buf_release(&p->buf);
	pf_buf_release(&p->keys);
}

/*
 * In so many bytes every table keeps its first N rows, with the largest N that
 * fits; in so many lines tables give rows one by one.  Both are found by
 * printing into memory.  What is left out is said in notes, which count as
 * well.
 */

/* Notes of what N rows a table leave out; returns how many notes there were. */
static size_t add_notes(struct pf_doc *doc, size_t rows)
{
	size_t before = doc->note_count;

	for (size_t i = 0; i < doc->table_count; i++) {
		const struct pf_table *t = doc->tables[i];
		size_t count = pf_table_row_count(t);

		if (count > rows)
			pf_doc_note(doc,
				    "%s row%s of '%s' left out for --budget; "
				    "--table %s shows all",
				    PF_SHOW_COUNT((int64_t)(count - rows)),
				    pf_plural(count - rows), pf_table_name(t),
				    pf_table_name(t));
	}
	return before;
}

/* The document as a text, which the caller frees. */
static char *text_take(const struct pf_style *style, const struct pf_doc *doc,
		       size_t *bytes, struct pf_err *err)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, bytes);
	int rc = -1;

	if (!f)
		pf_fail_errno(err, "cannot write output");
	else
		rc = pf_render_doc(style, doc, f, err);
	if (f && fclose(f) && !rc)
		rc = pf_fail_errno(err, "cannot write output");
	if (!rc)
		return text;
	free(text);
	return NULL;
}

/* Print with at most so many rows a table; out NULL: only count the bytes. */
static int print(struct pf_style style, struct pf_doc *doc, size_t rows,
		 FILE *out, size_t *bytes, struct pf_err *err)
{
	PF_OWN size_t *each = pf_calloc(doc->table_count + 1, sizeof(*each));
	size_t before = add_notes(doc, rows);
	PF_OWN char *text = NULL;

	for (size_t i = 0; i < doc->table_count; i++)
		each[i] = rows;
	style.rows = each;
	text = text_take(&style, doc, bytes, err);
	if (text && out)
		fwrite(text, 1, *bytes, out);
	doc->note_count = before;
	PF_TRY(!text);
	return 0;
}

static size_t most_rows(const struct pf_doc *doc)
{
	size_t most = 0;

	for (size_t i = 0; i < doc->table_count; i++)
		PF_AT_LEAST(most, pf_table_row_count(doc->tables[i]));
	return most;
}

int pf_render_budget(const struct pf_style *style, struct pf_doc *doc,
		     FILE *out, size_t budget, struct pf_err *err)
{
	size_t low = 0, high = most_rows(doc), bytes;

	PF_TRY(print(*style, doc, high, NULL, &bytes, err));
	if (bytes <= budget)
		return print(*style, doc, high, out, &bytes, err);
	PF_TRY(print(*style, doc, 0, NULL, &bytes, err));
	if (bytes > budget)
		return pf_fail(err, PF_EUSAGE,
			       "without any rows it has %zu bytes, more than "
			       "'--budget %zu'",
			       bytes, budget);
	/* low fits, high does not */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		PF_TRY(print(*style, doc, middle, NULL, &bytes, err));
		if (bytes <= budget)
			low = middle;
		else
			high = middle;
	}
	return print(*style, doc, low, out, &bytes, err);
}

/* ---- lines ---- */

struct page {
	const struct pf_style *style;
	struct pf_doc *doc;
	size_t *rows; /* of each table */
	size_t left;  /* rows that are left out */
};

/* "out" NULL: only count. */
static int print_page(const struct page *p, FILE *out, size_t *lines,
		      struct pf_err *err)
{
	struct pf_style style = *p->style;
	size_t before = p->doc->note_count, bytes;
	PF_OWN char *text = NULL;

	style.rows = p->rows;
	style.is_page = true;
	if (p->left)
		pf_doc_note(p->doc,
			    "%s row%s of tables left out, to be a page; "
			    "--limit -1 shows all",
			    PF_SHOW_COUNT((int64_t)p->left),
			    pf_plural(p->left));
	text = text_take(&style, p->doc, &bytes, err);
	p->doc->note_count = before;
	PF_TRY(!text);
	*lines = 0;
	for (size_t i = 0; i < bytes; i++)
		*lines += text[i] == '\n';
	if (out)
		fwrite(text, 1, bytes, out);
	return 0;
}

/* The last small table but the first goes; 1: there is none. */
static int leave_out(struct page *p)
{
	for (size_t i = p->doc->table_count; i-- > 1;) {
		if (p->rows[i] != 1)
			continue;
		p->rows[i] = 0;
		p->left++;
		return 0;
	}
	return 1;
}

/* A row less of the table with the most lines to give; 1: none has any. */
static int shorten(struct page *p, size_t lines, struct pf_err *err)
{
	size_t best = 0, most = 0;

	for (size_t i = 0; i < p->doc->table_count; i++) {
		size_t least = pf_table_least(p->doc->tables[i]), fewer, gain;

		if (p->rows[i] <= least)
			continue;
		p->rows[i]--;
		PF_TRY(print_page(p, NULL, &fewer, err));
		p->rows[i]++;
		/* at least something: a row may share its lines */
		gain = (p->rows[i] - least) *
		       (fewer < lines ? lines - fewer : 1);
		if (gain >= most) {
			most = gain;
			best = i;
		}
	}
	if (!most)
		return leave_out(p);
	p->rows[best]--;
	p->left++;
	return 0;
}

int pf_render_lines(const struct pf_style *style, struct pf_doc *doc, FILE *out,
		    size_t lines, struct pf_err *err)
{
	struct page p = { .style = style, .doc = doc };
	size_t count;
	int rc;

	p.rows = pf_calloc(doc->table_count + 1, sizeof(*p.rows));
	for (size_t i = 0; i < doc->table_count; i++)
		p.rows[i] = pf_table_row_count(doc->tables[i]);
	rc = print_page(&p, NULL, &count, err);
	while (!rc && count > lines && !(rc = shorten(&p, count, err)))
		rc = print_page(&p, NULL, &count, err);
	if (rc >= 0)
		rc = print_page(&p, out, &count, err);
	free(p.rows);
	return rc;
}
