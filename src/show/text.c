/* SPDX-License-Identifier: MIT */
/*
 * Text for people.  The first rows are gathered to find where columns go
 * and how names are cut; then these and all later rows are
 * printed so.
 */
#include "config.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/utf8.h"
#include "show/escape.h"
#include "show/format.h"

/*
 * Where the columns of a table of text go: widths, columns that are left out
 * and columns that stand on a further line of each row.  Pure arithmetic on
 * widths.
 *
 * Names get the room first: columns that may be left out are, the rightmost
 * first, before a text has less than 40 columns; then texts but the first go
 * to a line below, the rightmost first, if not all have 20 columns; what room
 * is left goes to the narrowest texts first.  No line is wider than the limit, unless it is a single number.
 */

#define PF_LAYOUT_GAP 2 /* spaces between columns */

struct pf_place {
	/* In. */
	size_t natural; /* columns of the widest cell, and of the title */
	bool is_right;  /* numbers, which keep their width */
	bool is_spare;  /* may be left out */
	bool is_whole;  /* prose, the first to go below, alone on its line */
	/* Out. */
	bool is_hidden;
	size_t line, width;
};

struct pf_layout {
	struct pf_place *places;
	size_t count;
	size_t lines;  /* of a row */
	size_t indent; /* of those after the first */
};

#define NAME_COLUMNS 40 /* a text has these before a spare column has any */
#define TEXT_COLUMNS 20 /* and these before a column goes to another line */
#define INDENT       4  /* where no text says how much */

static size_t least(const struct pf_place *p, size_t text)
{
	return p->is_right || p->natural < text ? p->natural : text;
}

static size_t total(const struct pf_layout *l, size_t text)
{
	size_t sum = 0;

	for (size_t i = 0; i < l->count; i++)
		if (!l->places[i].is_hidden && !l->places[i].line)
			sum += (sum ? PF_LAYOUT_GAP : 0) +
			       least(&l->places[i], text);
	return sum;
}

static void hide_spares(struct pf_layout *l, size_t limit)
{
	for (size_t i = l->count; i-- > 0;)
		if (l->places[i].is_spare && total(l, NAME_COLUMNS) > limit)
			l->places[i].is_hidden = true;
}

/* Further lines begin below the first text, if that leaves them room. */
static void find_indent(struct pf_layout *l, size_t limit)
{
	size_t at = 0;

	for (size_t i = 0; i < l->count && l->places[i].is_right; i++)
		if (!l->places[i].is_hidden && !l->places[i].line)
			at += l->places[i].width + PF_LAYOUT_GAP;
	l->indent = at && at <= limit / 2 ? at : INDENT;
	if (l->indent >= limit)
		l->indent = 0;
}

/* Of those on the first line the one to go below: prose, the last text. */
static struct pf_place *last_to_go(struct pf_layout *l)
{
	struct pf_place *number = NULL, *text = NULL, *prose = NULL;
	size_t texts = 0, numbers = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct pf_place *p = &l->places[i];

		if (p->is_hidden || p->line)
			continue;
		*(p->is_right ? &number : &text) = p;
		++*(p->is_right ? &numbers : &texts);
		if (p->is_whole && p->natural > TEXT_COLUMNS)
			prose = p;
	}
	if (prose && numbers + texts > 1)
		return prose;
	if (texts > 1)
		return text;
	return numbers + texts > 1 ? number : NULL;
}

/* Give each column a line and the least width. */
static void fold(struct pf_layout *l, size_t limit)
{
	struct pf_place *gone;
	size_t room, used = 0;

	while (total(l, TEXT_COLUMNS) > limit && (gone = last_to_go(l)))
		gone->line = 1;
	for (size_t i = 0; i < l->count; i++)
		l->places[i].width = least(&l->places[i], TEXT_COLUMNS);
	find_indent(l, limit);
	room = limit - l->indent;
	l->lines = 1;
	for (size_t i = 0; i < l->count; i++) {
		struct pf_place *p = &l->places[i];

		if (!p->is_right && p->width > (p->line ? room : limit))
			p->width = p->line ? room : limit;
		if (p->is_hidden || !p->line)
			continue;
		if (l->lines == 1 || used + PF_LAYOUT_GAP + p->width > room) {
			l->lines++;
			used = 0;
		}
		if (p->is_whole)
			p->width = room < p->natural ? room : p->natural;
		p->line = l->lines - 1;
		used += (used ? PF_LAYOUT_GAP : 0) + p->width;
	}
}

/* The narrowest text of a line that wants more; NULL if there is none. */
static struct pf_place *neediest(const struct pf_layout *l, size_t line)
{
	struct pf_place *best = NULL;

	for (size_t i = 0; i < l->count; i++) {
		struct pf_place *p = &l->places[i];

		if (!p->is_hidden && p->line == line && !p->is_right &&
		    p->width < p->natural && (!best || p->width < best->width))
			best = p;
	}
	return best;
}

static void widen(struct pf_layout *l, size_t line, size_t limit)
{
	size_t used = line ? l->indent : 0, columns = 0;
	struct pf_place *p;

	for (size_t i = 0; i < l->count; i++)
		if (!l->places[i].is_hidden && l->places[i].line == line)
			used += l->places[i].width +
				(columns++ ? PF_LAYOUT_GAP : 0);
	for (; used < limit && (p = neediest(l, line)); used++)
		p->width++;
}

/* Fill in what is "out"; limit SIZE_MAX: everything on one line. */
static void layout_find(struct pf_layout *l, size_t limit)
{
	if (limit == SIZE_MAX) {
		for (size_t i = 0; i < l->count; i++)
			l->places[i].width = l->places[i].natural;
		l->lines = 1;
		return;
	}
	hide_spares(l, limit);
	fold(l, limit);
	for (size_t i = 0; i < l->lines; i++)
		widen(l, i, limit);
}

/*
 * Long texts in narrow columns: a text has two lines in its column; what is
 * longer loses its middle, but not what tells it from the other texts of the
 * column.  All texts here are masked (base/utf8.h).
 */

struct pf_fit_name {
	char *whole;     /* set by the caller, who owns it */
	char *shown;     /* the caller frees it */
	size_t row, col; /* for the caller */
	size_t columns;  /* at most so many columns are shown */
	bool is_path;    /* its end is what matters */
};

/* ---- fit ---- */

#define NARROW 16 /* below this no room is lost to indents */
#define LEAD   12 /* columns shown before the first difference */

/* Second and further lines of a cell begin with spaces, but in narrow ones. */
static size_t fit_indent(size_t width)
{
	return width < NARROW ? 0 : 2;
}

/* How many columns a text has in a column of this width. */
static size_t fit_columns(size_t width)
{
	return 2 * width - fit_indent(width);
}

/* Where a line ends well, at least half way: after one of these; or 0. */
static size_t last_of(const char *s, size_t most, const char *set)
{
	size_t at = most;

	while (at > most / 2 && !strchr(set, s[at - 1]))
		at--;
	return at > most / 2 ? at : 0;
}

/* As last_of() a space, or at one; a number keeps its unit if that can be. */
static size_t last_space(const char *s, size_t most, size_t len)
{
	size_t at = s[most] == ' ' ? most : last_of(s, most, " ");
	size_t gap = s[at] == ' ' ? at : at - 1;
	size_t before =
		at && pf_num_parts_unit(s, gap, len) ? last_of(s, gap, " ") : 0;

	return before ? before : at;
}

/* Where a quoted word begins that would be broken, but fits into a line; or 0. */
static size_t before_quoted(const char *s, size_t most, size_t width)
{
	size_t at = most;

	while (at && s[at - 1] != ' ')
		at--;
	return s[at] == '\'' &&
			       strcspn(s + at, " ") <= width - fit_indent(width)
		       ? at
		       : 0;
}

/* Bytes of the line that a text begins with; > 0 if len is. */
static size_t fit_line(const char *s, size_t len, size_t width, bool is_loose)
{
	size_t most = pf_utf8_fitting(s, len, width), at = 0;

	if (most == len)
		return len;
	if (!most)
		return pf_utf8_head(s, len, 1);
	if (is_loose && !(at = last_space(s, most, len)) &&
	    !(at = before_quoted(s, most, width)))
		at = last_of(s, most, ",<>:()/&#_");
	return at ? at : most;
}

/* May a text be cut at word ends, or does it then need a line more? */
static bool fit_is_loose(const char *s, size_t len, size_t width)
{
	size_t first = fit_line(s, len, width, true);
	size_t rest = pf_utf8_columns(s + first, len - first);

	return rest <= width - fit_indent(width) ||
	       pf_utf8_columns(s, len) > fit_columns(width);
}

/* ---- telling names apart ---- */

PF_ORDER(by_whole, struct pf_fit_name, PF_ALPHA(whole))

PF_ORDER(by_shown, struct pf_fit_name, PF_ALPHA(shown) PF_ALPHA(whole))

static void show_cut(struct pf_fit_name *n)
{
	struct pf_buf text = { 0 };

	pf_escape_text(&text, n->whole, strlen(n->whole), n->columns,
		       n->is_path);
	n->shown = text.data ? text.data : pf_strdup("");
}

static void show_whole(struct pf_fit_name *n)
{
	free(n->shown);
	n->shown = pf_strdup(n->whole);
}

/* Bytes that two texts have in common, up to a whole character. */
static size_t common(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	while (n && ((unsigned char)a[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* "BEGINNING...what is around the difference..." */
static void show_around(struct pf_fit_name *n, size_t difference)
{
	size_t len = strlen(n->whole), from = difference, used = 0;
	size_t first = n->columns / 3, rest = n->columns - first - 3;
	struct pf_buf text = { 0 };

	if (n->columns < 3 * LEAD) {
		show_whole(n);
		return;
	}
	while (from && used++ < LEAD)
		while (--from && ((unsigned char)n->whole[from] & 0xc0) == 0x80)
			;
	pf_buf_add(&text, n->whole, pf_utf8_fitting(n->whole, len, first));
	pf_buf_adds(&text, "...");
	if (pf_utf8_columns(n->whole + from, len - from) > rest) {
		pf_buf_add(
			&text, n->whole + from,
			pf_utf8_fitting(n->whole + from, len - from, rest - 3));
		pf_buf_adds(&text, "...");
	} else {
		pf_buf_add(&text, n->whole + from, len - from);
	}
	free(n->shown);
	n->shown = text.data;
}

/* Names that look alike, in the order of the whole ones. */
static void part(struct pf_fit_name *names, size_t count)
{
	size_t before = 0, after = 0;

	for (size_t i = 0, next; i < count; i = next, before = after) {
		for (next = i + 1;
		     next < count && !by_whole(&names[i], &names[next]);)
			next++;
		after = next < count ? common(names[i].whole, names[next].whole)
				     : 0;
		for (size_t k = i; k < next; k++)
			show_around(&names[k], before > after ? before : after);
	}
}

/* Does a run of names that look alike have different ones? */
static size_t run_of(const struct pf_fit_name *names, size_t count,
		     bool *differs)
{
	size_t n = 1;

	*differs = false;
	for (; n < count && !strcmp(names[n].shown, names->shown); n++)
		*differs |= strcmp(names[n].whole, names->whole) != 0;
	return n;
}

static void each_run(struct pf_fit_name *names, size_t count,
		     void (*mend)(struct pf_fit_name *names, size_t count))
{
	bool differs;

	pf_sort(names, count, sizeof(*names), by_shown);
	for (size_t i = 0, n; i < count; i += n) {
		n = run_of(names + i, count - i, &differs);
		if (differs)
			mend(names + i, n);
	}
}

static void all_whole(struct pf_fit_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		show_whole(&names[i]);
}

/*
 * Fill in "shown" so that names that differ do so as shown; puts the names
 * into another order.  Where nothing else helps a name is shown whole.
 */
static void fit_names(struct pf_fit_name *names, size_t count)
{
	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		show_cut(&names[i]);
	each_run(names, count, part);
	each_run(names, count, all_whole);
}

#define GAP    PF_LAYOUT_GAP
#define SAMPLE 10000 /* rows that widths are found from */

/* How a table looks. */
struct pf_text {
	struct pf_layout layout;
	struct pf_fit_name *names; /* long ones of the rows gathered */
	size_t name_count, name_cap;
	struct text_cell {
		struct pf_buf text; /* of the row being printed */
		size_t at;          /* printed so far */
		enum pf_paint paint;
		bool is_loose;
	} * cells;
};

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
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_utf8_mask(&text, title, strlen(title));
	return pf_utf8_columns(text.data, text.len);
}

/*
 * Wrapped at spaces, below its beginning; "limit" 0: not at all.  A number and
 * its unit are one word.
 */
static void wrap(struct pf_buf *out, const char *s, size_t limit, size_t indent)
{
	size_t used = 0, left = indent, rest = strlen(s);

	while (rest) {
		size_t len = strcspn(s, " ");
		size_t columns;

		if (pf_num_parts_unit(s, len, rest))
			len += 1 + strcspn(s + len + 1, " ");
		columns = pf_utf8_columns(s, len);
		if (used && limit && left + used + 1 + columns > limit) {
			pf_buf_addc(out, '\n');
			add_spaces(out, indent);
			used = 0;
		}
		if (used)
			pf_buf_addc(out, ' ');
		used += used > 0;
		if (limit && left + columns > limit) {
			len = fit_line(s, len, limit - left, true);
			columns = limit - left;
		}
		pf_buf_add(out, s, len);
		used += columns;
		s += len;
		len = strspn(s, " ");
		s += len;
		rest = strlen(s);
	}
	pf_buf_addc(out, '\n');
}

static void add_wrapped(struct pf_printer *p, const char *s, size_t indent,
			enum pf_paint paint)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	wrap(&text, s, (size_t)p->style.width, indent);
	for (const char *line = text.data; *line;) {
		size_t spaces = strspn(line, " "), len = strcspn(line, "\n");

		add_spaces(&p->buf, spaces);
		pf_paint(&p->buf, &p->style, paint, line + spaces,
			 len - spaces);
		pf_buf_addc(&p->buf, '\n');
		line += len + 1;
	}
}

/* The sentence that an answer begins with. */
static void finding(struct pf_printer *p, const struct pf_cell *cell)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_printer_section(p);
	pf_escape_text(&text, cell->v.text.s, cell->v.text.len, 0, false);
	pf_buf_addc(&text, '.');
	add_wrapped(p, text.data, 0, PF_PAINT_NONE);
	p->section++;
}

/* A tenth and more of a whole is what to look at. */
static enum pf_paint paint_of(const struct pf_cell *cell, enum pf_col_kind kind)
{
	if (cell->type == PF_CELL_TEXT)
		return pf_paint_of_word(cell->v.text.s);
	return kind == PF_RATIO && pf_cell_real(cell) >= 0.1 ? PF_PAINT_HEAD
							     : PF_PAINT_NONE;
}

static void scalars(struct pf_printer *p, const struct pf_scalar *s,
		    size_t count)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	size_t widest = 0;

	if (count && !strcmp(s->col.key, PF_DOC_FINDING) &&
	    s->cell.type == PF_CELL_TEXT) {
		finding(p, &s->cell);
		s++;
		count--;
		if (count)
			pf_printer_section(p);
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
		pf_buf_clear(&text);
		show(&text, &s[i].cell, s[i].col.kind, 0);
		add_wrapped(p, text.data, widest + GAP,
			    paint_of(&s[i].cell, s[i].col.kind));
	}
	p->section += count > 0;
}

/* ---- tables ---- */

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
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	for (size_t r = 0; r < rows; r++) {
		const struct pf_cell *row = pf_table_row(p->gathered, r);
		size_t columns;

		pf_buf_clear(&text);
		show(&text, &row[col], p->cols[col].kind, 0);
		columns = pf_utf8_columns(text.data, text.len);
		PF_AT_LEAST(widest, columns);
	}
	return widest;
}

static void find_layout(struct pf_printer *p)
{
	struct pf_layout *l = &p->text->layout;

	l->count = p->col_count;
	l->places = pf_calloc(p->col_count + 1, sizeof(*l->places));
	for (size_t i = 0; i < p->col_count; i++) {
		l->places[i].natural = natural_width(p, i);
		l->places[i].is_right = is_number(p, i);
		l->places[i].is_whole = p->is_whole && p->is_whole[i];
		l->places[i].is_spare = p->is_spare && p->is_spare[i];
	}
	layout_find(l, p->style.width > 0 ? (size_t)p->style.width : SIZE_MAX);
}

static struct pf_fit_name *next_name(struct pf_text *t)
{
	PF_ROOM(t->names, t->name_cap, t->name_count + 1);
	t->names[t->name_count] = (struct pf_fit_name){ 0 };
	return &t->names[t->name_count++];
}

static void row(struct pf_printer *p, const struct pf_cell *cells);

PF_ORDER(by_place, struct pf_fit_name, PF_UP(row) PF_UP(col))

/* Cut the texts of a column that are too long for it. */
static void cut_column(struct pf_printer *p, size_t col)
{
	size_t rows = pf_table_row_count(p->gathered);
	size_t first = p->text->name_count;
	const struct pf_place *place = &p->text->layout.places[col];
	size_t most = fit_columns(place->width);
	struct pf_buf text = { 0 };

	if (place->is_hidden || place->is_right || place->is_whole ||
	    place->natural <= most)
		return;
	for (size_t r = 0; r < rows; r++) {
		const struct pf_cell *cell = &pf_table_row(p->gathered, r)[col];
		struct pf_fit_name *name;

		pf_buf_clear(&text);
		show(&text, cell, p->cols[col].kind, 0);
		if (pf_utf8_columns(text.data, text.len) <= most)
			continue;
		name = next_name(p->text);
		*name = (struct pf_fit_name){ .whole = pf_strdup(text.data),
					      .row = r,
					      .col = col,
					      .columns = most,
					      .is_path = p->cols[col].kind ==
							 PF_PATH };
	}
	pf_buf_release(&text);
	fit_names(p->text->names + first, p->text->name_count - first);
}

static void release(struct pf_printer *p)
{
	struct pf_text *t = p->text;

	if (!t)
		return;
	for (size_t i = 0; i < t->name_count; i++) {
		free(t->names[i].whole);
		free(t->names[i].shown);
	}
	for (size_t i = 0; t->cells && i < t->layout.count; i++)
		pf_buf_release(&t->cells[i].text);
	free(t->cells);
	free(t->names);
	free(t->layout.places);
	free(t);
	p->text = NULL;
}

static void end_line(struct pf_buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	pf_buf_addc(out, '\n');
}

/* The next piece of a cell; returns whether more of it is to come. */
static bool add_piece(struct pf_printer *p, size_t col)
{
	const struct pf_place *place = &p->text->layout.places[col];
	struct text_cell *c = &p->text->cells[col];
	size_t indent = c->at ? fit_indent(place->width) : 0;
	const char *s;
	size_t rest, columns, pad;

	while (c->at && c->at < c->text.len && c->text.data[c->at] == ' ')
		c->at++;
	s = c->text.data + c->at;
	rest = c->text.len - c->at;
	if (!place->is_right)
		rest = fit_line(s, rest, place->width - indent, c->is_loose);
	columns = pf_utf8_columns(s, rest) + (rest ? indent : 0);
	pad = place->width > columns ? place->width - columns : 0;
	if (place->is_right)
		add_spaces(&p->buf, pad);
	add_spaces(&p->buf, rest ? indent : 0);
	pf_paint(&p->buf, &p->style, c->paint, s, rest);
	if (!place->is_right)
		add_spaces(&p->buf, pad);
	c->at += rest;
	return c->at < c->text.len;
}

/* What stands on one line of the layout, on as many as its texts need. */
static void print_cells(struct pf_printer *p, size_t line)
{
	const struct pf_layout *l = &p->text->layout;
	bool is_more = true;

	while (is_more) {
		bool is_first = true;

		is_more = false;
		add_spaces(&p->buf, line ? l->indent : 0);
		for (size_t i = 0; i < l->count; i++) {
			if (l->places[i].is_hidden || l->places[i].line != line)
				continue;
			add_spaces(&p->buf, is_first ? 0 : GAP);
			is_first = false;
			is_more |= add_piece(p, i);
		}
		end_line(&p->buf);
	}
}

static void set_cell(struct pf_printer *p, size_t col, const char *s,
		     size_t len, enum pf_paint paint)
{
	const struct pf_place *place = &p->text->layout.places[col];
	struct text_cell *c = &p->text->cells[col];

	pf_buf_clear(&c->text);
	pf_buf_add(&c->text, s, len);
	c->at = 0;
	c->paint = paint;
	/* what has as many lines as it needs ends them between words */
	c->is_loose = place->is_whole || fit_is_loose(s, len, place->width);
}

static void print_heading(struct pf_printer *p)
{
	const struct pf_layout *l = &p->text->layout;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	for (size_t i = 0; i < p->col_count; i++) {
		pf_buf_clear(&text);
		pf_escape_text(&text, p->cols[i].title,
			       strlen(p->cols[i].title), l->places[i].width,
			       false);
		set_cell(p, i, text.data, text.len, PF_PAINT_HEAD);
	}
	for (size_t i = 0; i < l->lines; i++)
		print_cells(p, i);
	for (size_t i = 0; i < p->col_count; i++) {
		pf_buf_clear(&text);
		for (size_t c = 0; c < l->places[i].width; c++)
			pf_buf_addc(&text, '-');
		set_cell(p, i, text.data, text.len, PF_PAINT_DIM);
	}
	for (size_t i = 0; i < l->lines; i++)
		print_cells(p, i);
}

/* Is there anything on this line of the layout? */
static bool has_cells(const struct pf_printer *p, const struct pf_cell *cells,
		      size_t line)
{
	const struct pf_layout *l = &p->text->layout;

	for (size_t i = 0; i < l->count; i++)
		if (!l->places[i].is_hidden && l->places[i].line == line &&
		    cells[i].type != PF_CELL_NULL &&
		    !(cells[i].type == PF_CELL_TEXT && !cells[i].v.text.len))
			return true;
	return false;
}

/* "name": the first long name of this row or a later one. */
static void print_row(struct pf_printer *p, const struct pf_cell *cells,
		      size_t name, size_t number)
{
	const struct pf_text *t = p->text;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	for (size_t i = 0; i < p->col_count; i++) {
		size_t width = t->layout.places[i].width;

		pf_buf_clear(&text);
		if (name < t->name_count && t->names[name].row == number &&
		    t->names[name].col == i)
			pf_buf_adds(&text, t->names[name++].shown);
		else
			show(&text, &cells[i], p->cols[i].kind,
			     p->style.width > 0 &&
					     !t->layout.places[i].is_right &&
					     !t->layout.places[i].is_whole
				     ? fit_columns(width)
				     : 0);
		set_cell(p, i, text.data ? text.data : "", text.len,
			 paint_of(&cells[i], p->cols[i].kind));
	}
	for (size_t i = 0; i < t->layout.lines; i++)
		if (!i || has_cells(p, cells, i))
			print_cells(p, i);
}

/* Decide how the table looks and print what was gathered. */
static void start_printing(struct pf_printer *p)
{
	size_t rows = pf_table_row_count(p->gathered), name = 0;
	struct pf_text *t = p->text = pf_calloc(1, sizeof(*t));

	t->cells = pf_calloc(p->col_count + 1, sizeof(*t->cells));
	find_layout(p);
	for (size_t i = 0; p->style.width > 0 && i < p->col_count; i++)
		cut_column(p, i);
	pf_sort(t->names, t->name_count, sizeof(*t->names), by_place);
	print_heading(p);
	for (size_t r = 0; r < rows; r++) {
		while (name < t->name_count && t->names[name].row < r)
			name++;
		print_row(p, pf_table_row(p->gathered, r), name, r);
	}
}

static void print_title(struct pf_printer *p)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_printer_section(p);
	if (!p->title)
		return;
	pf_escape_text(&text, p->title, strlen(p->title), 0, false);
	add_wrapped(p, text.data, 0, PF_PAINT_HEAD);
}

static void row(struct pf_printer *p, const struct pf_cell *cells)
{
	if (!p->row_count)
		print_title(p);
	if (p->text) {
		print_row(p, cells, p->text->name_count, p->row_count);
		return;
	}
	for (size_t i = 0; i < p->col_count; i++)
		pf_table_cell(p->gathered, &cells[i]);
	if (pf_table_row_count(p->gathered) == SAMPLE)
		start_printing(p);
}

static void tail(struct pf_printer *p)
{
	if (!p->row_count && p->title)
		return;
	p->section++;
	if (!p->text)
		start_printing(p);
	if (p->col_count && !p->row_count)
		pf_buf_adds(&p->buf, "(no rows)\n");
}

static void notes(struct pf_printer *p, const char *const *texts, size_t count)
{
	static const char failed[] = "failed: ";
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	bool is_first = !p->section;

	if (count > p->failed_count)
		pf_printer_section(p);
	for (size_t i = p->failed_count; i < count; i++) {
		pf_buf_clear(&text);
		pf_buf_adds(&text, is_first ? "" : "Note: ");
		pf_escape_text(&text, texts[i], strlen(texts[i]), 0, false);
		add_wrapped(p, text.data, 0,
			    strncmp(texts[i], failed, strlen(failed)) != 0
				    ? PF_PAINT_DIM
				    : PF_PAINT_ALARM);
	}
}

/* A table without rows has no title either: there is no head. */
static const struct pf_format_ops ops = {
	.scalars = scalars,
	.row = row,
	.tail = tail,
	.release = release,
	.notes = notes,
};

PF_FORMAT(10, text) = { "text", PF_FOR_PEOPLE | PF_SHORT, &ops };
