/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "page/html.h"

#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/port.h"
#include "base/utf8.h"
#include "show/escape.h"
#include "show/glossary.h"

static const int64_t powers[] = { 1, 10, 100, 1000 };

/* value / unit with "decimals" digits, half up; the value is not negative. */
static int64_t scaled(int64_t value, int64_t unit, int decimals)
{
	int64_t whole = value / unit, rest = value % unit;
	int64_t power = powers[decimals];

	return whole * power + (rest * power + unit / 2) / unit;
}

static void add_scaled(struct pf_buf *out, int64_t n, int decimals,
		       const char *unit)
{
	pf_buf_addf(out, "%" PRId64, n / powers[decimals]);
	if (decimals)
		pf_buf_addf(out, ".%0*" PRId64, decimals, n % powers[decimals]);
	pf_buf_adds(out, unit);
}

void pf_figure_ns(struct pf_buf *out, int64_t ns)
{
	static const struct {
		int64_t unit, limit;
		int decimals;
	} units[PF_NUM_TIME_UNITS - 1] = {
		{ 1000, 1000, 2 },
		{ 1000000, 1000, 2 },
		{ 1000000000, 10000, 3 },
	};

	if (ns < 0 && ns != INT64_MIN) {
		pf_buf_addc(out, '-');
		ns = -ns;
	}
	if (ns < 1000) {
		pf_buf_addf(out, "%" PRId64 " %s", ns, pf_num_time_units[0]);
		return;
	}
	for (size_t i = 0; i < PF_LEN(units); i++) {
		for (int d = units[i].decimals; d >= 0; d--) {
			int64_t n = scaled(ns, units[i].unit, d);

			if (n >= units[i].limit && (d > 0 || i < 2))
				continue;
			add_scaled(out, n, d, "");
			pf_buf_addf(out, " %s", pf_num_time_units[i + 1]);
			return;
		}
	}
}

void pf_figure_bytes(struct pf_buf *out, int64_t bytes)
{
	static const char *const names[] = { " KiB", " MiB", " GiB",
					     " TiB", " PiB", " EiB" };
	int64_t unit = 1024;
	int i = 0;

	if (bytes < 0 && bytes != INT64_MIN) {
		pf_buf_addc(out, '-');
		bytes = -bytes;
	}
	if (bytes < 1024) {
		pf_buf_addf(out, "%" PRId64 " B", bytes);
		return;
	}
	/* what would round to 1024.0 is one of the next unit */
	while (i < 5 && bytes / unit >= 1023 &&
	       scaled(bytes / (unit / 1024), 1024, 1) >= 10240) {
		unit *= 1024;
		i++;
	}
	add_scaled(out, scaled(bytes / (unit / 1024), 1024, 1), 1, names[i]);
}

void pf_figure_ratio(struct pf_buf *out, double ratio)
{
	double percent = 100 * ratio;

	if (!isfinite(ratio))
		pf_buf_adds(out, "n/a");
	else if (percent > 0 && percent < 0.05)
		pf_buf_adds(out, "<0.1 %");
	else if (percent < 0 && percent > -0.05)
		pf_buf_adds(out, "> -0.1 %");
	else if (percent > 99.95 && percent < 100)
		pf_buf_adds(out, ">99.9 %");
	else
		pf_buf_addf(out, "%.1f %%", percent);
}

void pf_figure_count(struct pf_buf *out, int64_t n)
{
	pf_buf_adds(out, PF_SHOW_COUNT(n));
}

static void add_real(struct pf_buf *out, double d)
{
	if ((fabs(d) >= 1000 || d == floor(d)) && fabs(d) < 9e15)
		pf_figure_count(out, (int64_t)(d < 0 ? d - 0.5 : d + 0.5));
	else if (fabs(d) >= 100)
		pf_buf_addf(out, "%.0f", d);
	else if (fabs(d) >= 10)
		pf_buf_addf(out, "%.1f", d);
	else if (fabs(d) >= 0.01)
		pf_buf_addf(out, "%.2f", d);
	else
		pf_buf_adds(out, PF_SHOW_REAL(d));
}

void pf_figure_cell(struct pf_buf *out, const struct pf_cell *cell,
		    enum pf_col_kind kind)
{
	double d;

	kind = PF_COL_KIND(kind);
	if (!cell || cell->type == PF_CELL_NULL || cell->type == PF_CELL_TEXT)
		return;
	d = cell->type == PF_CELL_INT ? (double)cell->v.i : cell->v.d;
	if (kind == PF_RATIO)
		pf_figure_ratio(out, d);
	else if (kind == PF_NS && fabs(d) < 9e18)
		pf_figure_ns(out, cell->type == PF_CELL_INT ? cell->v.i
							    : (int64_t)d);
	else if (cell->type == PF_CELL_REAL)
		add_real(out, d);
	else if (kind == PF_BYTES)
		pf_figure_bytes(out, cell->v.i);
	else if (kind == PF_INT)
		pf_buf_addf(out, "%" PRId64, cell->v.i);
	else
		pf_figure_count(out, cell->v.i);
}

void pf_figure_exact(struct pf_buf *out, const struct pf_cell *cell)
{
	char shown[PF_NUM_MAX];

	if (cell->type == PF_CELL_INT)
		pf_buf_addf(out, "%" PRId64, cell->v.i);
	else if (cell->type == PF_CELL_REAL && isfinite(cell->v.d))
		pf_buf_adds(out, pf_num_exact(shown, cell->v.d));
}

/* ---- titles ---- */

int pf_titles_init(struct pf_titles *t, struct pf_err *err)
{
	*t = (struct pf_titles){ .words = pf_glossary_new(err) };
	PF_TRY(!t->words);
	t->is_used = pf_calloc(pf_data_rows(t->words), sizeof(*t->is_used));
	return 0;
}

void pf_titles_release(struct pf_titles *t)
{
	pf_intern_release(&t->texts);
	free(t->in_force);
	pf_data_free(t->words);
	free(t->is_used);
	*t = (struct pf_titles){ 0 };
}

static uint32_t number_of(struct pf_titles *t, const struct pf_buf *text)
{
	uint32_t had = t->texts.count, n;

	n = pf_intern_add(&t->texts, text->len ? text->data : "", text->len);
	if (n == had) {
		PF_ROOM(t->in_force, t->cap, (size_t)n + 1);
		t->in_force[n] = n;
	}
	return n;
}

/* Append ' title="..."' if it is needed.  Both texts are escaped. */
static void titles_add(struct pf_titles *t, const struct pf_buf *shown,
		       const struct pf_buf *title, struct pf_buf *out)
{
	uint32_t key = number_of(t, shown), value = number_of(t, title);

	if (t->in_force[key] == value)
		return;
	t->in_force[key] = value;
	pf_buf_adds(out, " title=\"");
	pf_buf_add(out, title->data, title->len);
	pf_buf_addc(out, '"');
}

/* What a word means (pf_glossary_find), or NULL; from now on it is used. */
static const char *explain(struct pf_titles *t, const char *key,
			   const char *word, size_t len)
{
	size_t row = pf_glossary_find(t->words, key, word, len);

	if (row == SIZE_MAX)
		return NULL;
	t->is_used[row] = true;
	return pf_data_cell(t->words, row, PF_GLOSSARY_MEANING);
}

void pf_titles_list(const struct pf_titles *t, struct pf_buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < pf_data_rows(t->words); i++) {
		if (!t->is_used[i])
			continue;
		if (!n++)
			pf_buf_adds(out, "<details><summary>Words of this page"
					 "</summary>\n<dl id=words>\n");
		pf_buf_adds(out, "<dt><b>");
		pf_html_text(out, pf_data_cell(t->words, i, PF_GLOSSARY_WORD));
		pf_buf_adds(out, "</b><dd>");
		pf_html_text(out,
			     pf_data_cell(t->words, i, PF_GLOSSARY_MEANING));
		pf_buf_addc(out, '\n');
	}
	if (n)
		pf_buf_adds(out, "</dl></details>\n");
}

#define CELL_MAX  160 /* characters of a name in a cell */
#define OTHER_MAX 80  /* of a kernel in a row that is not about it */
#define TITLE_MAX 384 /* and in its tooltip */
#define TOP_ROWS  10  /* before "show all" */

void pf_html_text(struct pf_buf *out, const char *s)
{
	if (s)
		pf_escape_html(out, s, strlen(s));
}

void pf_html_prose(struct pf_buf *out, const char *s, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] != ' ' || !pf_num_parts_unit(s, i, len))
			continue;
		pf_escape_html(out, s + from, i - from);
		pf_buf_adds(out, "\xc2\xa0");
		from = i + 1;
	}
	if (from < len)
		pf_escape_html(out, s + from, len - from);
}

#define DIGEST_DIGITS 12

void pf_html_digest(struct pf_buf *out, const char *digest)
{
	if (!digest || strspn(digest, "0123456789abcdef") != strlen(digest) ||
	    strlen(digest) < DIGEST_DIGITS)
		return;
	pf_buf_addf(out, "<span title=\"%s\">xxh128 %.*s</span>", digest,
		    DIGEST_DIGITS, digest);
}

/* A figure (page/html.h): "<0.1 %" must be escaped, too. */
static void html_cell(struct pf_buf *out, const struct pf_cell *cell,
		      enum pf_col_kind kind)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_figure_cell(&text, cell, kind);
	pf_html_text(out, text.data);
}

void pf_html_ratio(struct pf_buf *out, double ratio)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_figure_ratio(&text, ratio);
	pf_html_prose(out, text.data, text.len);
}

/* The first characters, escaped. */
static void escape_head(struct pf_buf *out, const char *s, size_t len,
			size_t max)
{
	size_t cut = pf_utf8_head(s, len, max);

	pf_escape_html(out, s, cut);
	if (cut < len)
		pf_buf_adds(out, "…");
}

/* Bytes of "DIR/" in "DIR/FILE:LINE NAME", or 0. */
static size_t folder_bytes(const char *s, size_t len)
{
	const char *space = memchr(s, ' ', len), *slash, *colon;

	if (!space)
		return 0;
	slash = pf_memrchr(s, '/', (size_t)(space - s));
	colon = pf_memrchr(s, ':', (size_t)(space - s));
	if (!slash || !colon || colon < slash || colon[1] < '0' ||
	    colon[1] > '9')
		return 0;
	return (size_t)(slash + 1 - s);
}

/* The folder of a line of code gives way where there is little room. */
static size_t add_folder(struct pf_buf *out, const char *s, size_t len)
{
	size_t folder = folder_bytes(s, len);

	if (folder) {
		pf_buf_adds(out, "<i>");
		pf_escape_html(out, s, folder);
		pf_buf_adds(out, "</i>");
	}
	return folder;
}

/* <td>: what is shown, and the whole as a tooltip where it differs. */
static void add_text(struct pf_buf *out, const struct pf_html_page *page,
		     const char *tag, const char *s, size_t len, size_t max,
		     const struct pf_cell *whole)
{
	PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 }, title = { 0 };
	size_t cut = pf_utf8_head(s, len, max), folder;

	escape_head(&shown, s, len, max);
	escape_head(&title, whole->v.text.s, whole->v.text.len, TITLE_MAX);
	pf_buf_addf(out, "<%s", tag);
	titles_add(page->titles, &shown, &title, out);
	pf_buf_addc(out, '>');
	folder = add_folder(out, s, cut);
	pf_escape_html(out, s + folder, cut - folder);
	if (cut < len)
		pf_buf_adds(out, "…");
}

static void add_whole(struct pf_buf *out, const struct pf_html_page *page,
		      const char *tag, const struct pf_cell *cell)
{
	add_text(out, page, tag, cell->v.text.s, cell->v.text.len, CELL_MAX,
		 cell);
}

void pf_html_word(struct pf_buf *out, const struct pf_html_page *page,
		  const char *key, const char *word, size_t len)
{
	const char *meaning = explain(page->titles, key, word, len);

	if (meaning) {
		pf_buf_adds(out, "<abbr title=\"");
		pf_html_text(out, meaning);
		pf_buf_adds(out, "\">");
	}
	pf_escape_html(out, word, len);
	if (meaning)
		pf_buf_adds(out, "</abbr>");
}

void pf_html_tile(struct pf_buf *out, const struct pf_html_page *page,
		  const struct pf_col *col, const struct pf_cell *cell,
		  const struct pf_buf *detail)
{
	pf_buf_adds(out, "<div><dt>");
	pf_html_word(out, page, NULL, col->title, strlen(col->title));
	pf_buf_addf(out, "</dt> <dd data-k=%s data-v=", col->key);
	pf_figure_exact(out, cell);
	pf_buf_adds(out, "><b>");
	if (col->kind & PF_SIGNED && pf_cell_real(cell) > 0)
		pf_buf_addc(out, '+');
	html_cell(out, cell, col->kind);
	pf_buf_adds(out, "</b>");
	if (detail && detail->len) {
		pf_buf_adds(out, " <small>");
		pf_escape_html(out, detail->data, detail->len);
		pf_buf_adds(out, "</small>");
	}
	pf_buf_adds(out, "</dd></div>\n");
}

/* A text that no trace wrote. */
static void add_ours(struct pf_buf *out, const struct pf_html_page *page,
		     const char *tag, const struct pf_cell *cell,
		     const char *key)
{
	const char *text = cell->v.text.s;
	size_t len = cell->v.text.len;

	if (!explain(page->titles, key, text, len)) {
		add_whole(out, page, tag, cell);
		return;
	}
	pf_buf_addf(out, "<%s>", tag);
	pf_html_word(out, page, key, text, len);
}

static void add_kernel(struct pf_buf *out, const struct pf_html_page *page,
		       const char *tag, const struct pf_cell *cell,
		       bool is_first)
{
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };

	pf_kernel_short_name(&name, cell->v.text.s);
	add_text(out, page, tag, name.data ? name.data : "", name.len,
		 is_first ? CELL_MAX : OTHER_MAX, cell);
}

/* One character as it may stand in the path of a URL. */
static void add_url_byte(struct pf_buf *out, unsigned char c)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";

	if (c && strchr(plain, c))
		pf_buf_addc(out, (char)c);
	else
		pf_buf_addf(out, "%%%02X", c);
}

/* Nothing may climb out of the folder that the pattern names. */
static bool is_plain_path(const char *s, size_t len)
{
	return len && *s != '/' && !memmem(s, len, "..", 2);
}

static void add_source_url(struct pf_buf *out, const char *pattern,
			   const char *file, size_t file_len, const char *line,
			   size_t line_len)
{
	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'f') {
			for (size_t i = 0; i < file_len; i++)
				add_url_byte(out, (unsigned char)file[i]);
			pattern++;
		} else if (pattern[0] == '%' && pattern[1] == 'l') {
			pf_buf_add(out, line, line_len);
			pattern++;
		} else {
			pf_escape_html(out, pattern, 1);
		}
	}
}

/* "file.py:12 f" */
static void add_frame(struct pf_buf *out, const struct pf_html_page *page,
		      const struct pf_cell *cell)
{
	const char *s = cell->v.text.s, *space = strrchr(s, ' ');
	const char *colon =
		space ? pf_memrchr(s, ':', (size_t)(space - s)) : NULL;
	size_t line_len = colon ? (size_t)(space - colon - 1) : 0;

	if (!page->source_url || !line_len ||
	    strspn(colon + 1, "0123456789") != line_len ||
	    !is_plain_path(s, (size_t)(colon - s))) {
		add_whole(out, page, "td", cell);
		return;
	}
	pf_buf_adds(out, "<td><a rel=noreferrer href=\"");
	add_source_url(out, page->source_url, s, (size_t)(colon - s), colon + 1,
		       line_len);
	pf_buf_adds(out, "\">");
	line_len = add_folder(out, s, cell->v.text.len);
	pf_escape_html(out, s + line_len, (size_t)(space - s) - line_len);
	pf_buf_adds(out, "</a>");
	pf_escape_html(out, space,
		       pf_utf8_head(space, strlen(space), CELL_MAX));
}

const struct pf_timeline_side *pf_html_side(const struct pf_html_page *page,
					    int64_t trace_id)
{
	const struct pf_timelines *all = page->timelines;

	for (size_t i = 0; all && i < all->count; i++)
		if (all->side[i].slices.trace_id == trace_id)
			return &all->side[i];
	return NULL;
}

void pf_html_span(struct pf_buf *out, const struct pf_html_page *page,
		  int64_t trace_id, int64_t from_ns, int64_t to_ns,
		  const char *text)
{
	const struct pf_timeline_side *side = pf_html_side(page, trace_id);

	if (from_ns < 0 || to_ns < from_ns)
		side = NULL;
	if (side)
		pf_buf_addf(out,
			    "<a href=\"#timeline\" data-t0=%" PRId64
			    " data-t1=%" PRId64 ">",
			    from_ns + side->shift_ns, to_ns + side->shift_ns);
	pf_buf_adds(out, text);
	if (side)
		pf_buf_adds(out, "</a>");
}

#define START_KEY "start_ns"

/* Times of steps are on the trace's clock. */
static void add_time(struct pf_buf *out, const struct pf_html_page *page,
		     const struct pf_html_table *spec, const struct pf_table *t,
		     size_t row)
{
	int64_t at = pf_table_int_at(t, row, START_KEY);
	int64_t ns = pf_table_int_at(t, row, spec->span);
	int64_t trace_id = pf_table_int_at(t, row, "trace_id");
	const struct pf_timeline_side *side = pf_html_side(page, trace_id);
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_addf(out, "<td data-v=%" PRId64 ">", at);
	if (spec->part == PF_PART_STEPS)
		at -= side ? side->slices.first_ns : page->first_ns;
	pf_figure_ns(&text, at);
	pf_html_span(out, page, trace_id, at, at + ns, text.data);
}

/* A mean or a deviation of times is a time. */
static enum pf_col_kind kind_of(const struct pf_col *col)
{
	enum pf_col_kind kind = PF_COL_KIND(col->kind);
	size_t len = strlen(col->key);

	return kind == PF_REAL && len > 3 && !strcmp(col->key + len - 3, "_ns")
		       ? PF_NS
		       : kind;
}

static bool is_blank(const struct pf_cell *cell)
{
	return cell->type == PF_CELL_TEXT &&
	       strspn(cell->v.text.s, " \t\n") == cell->v.text.len;
}

static bool is_zero(const struct pf_cell *cell)
{
	return cell->type != PF_CELL_TEXT && pf_cell_real(cell) == 0;
}

static void add_number(struct pf_buf *out, const struct pf_cell *cell,
		       const struct pf_col *col)
{
	double share = pf_cell_real(cell);

	pf_buf_adds(out, "<td data-v=");
	pf_figure_exact(out, cell);
	pf_buf_addc(out, '>');
	if (col->kind & PF_BAR && share >= 0.005 && share <= 1)
		pf_buf_addf(out,
			    "<svg class=b width=48 height=8 viewBox=\"0 0 "
			    "100 8\" aria-hidden="
			    "true><rect width=\"%.1f\" height=\"8\"/></svg>",
			    100 * share);
	if (col->kind & PF_SIGNED && pf_cell_real(cell) > 0)
		pf_buf_addc(out, '+');
	html_cell(out, cell, kind_of(col));
}

size_t pf_html_count(const struct pf_parts *p, const struct pf_html_table *t)
{
	const struct pf_table *table =
		pf_doc_find_table(&p->doc[t->part], t->name);
	size_t n = 0;

	for (size_t r = 0; r < pf_table_rows(table); r++)
		n += !t->is_wanted || t->is_wanted(table, r);
	return n;
}

/* ---- tables ---- */

#define COLS_MAX 24

struct column {
	const struct pf_col *col; /* the table's own */
	const char *title;
	size_t title_len;
};

/* A table and those of its columns in which something stands. */
struct view {
	const struct pf_html_page *page;
	const struct pf_html_table *spec;
	const struct pf_table *t;
	struct column cols[COLS_MAX];
	size_t count;
};

static bool is_wanted(const struct view *v, size_t row)
{
	return !v->spec->is_wanted || v->spec->is_wanted(v->t, row);
}

/* Does a row that is shown have something there? */
static bool has_content(const struct view *v, const struct pf_col *col)
{
	size_t shown = 0;

	for (size_t r = 0; r < pf_table_rows(v->t); r++) {
		const struct pf_cell *cell = pf_table_at(v->t, r, col->key);

		if (!is_wanted(v, r))
			continue;
		if (shown++ == v->spec->rows_max)
			return false;
		if (cell && !is_blank(cell) &&
		    !(col->kind & PF_UNUSED && is_zero(cell)))
			return true;
	}
	return false;
}

/* "key" or "key=Title". */
static void find_column(struct view *v, const char *s, size_t len)
{
	const char *equals = memchr(s, '=', len);
	char *key = pf_memdup0(s, equals ? (size_t)(equals - s) : len);
	int number = pf_table_need(v->t, key);
	struct column c = { 0 };

	free(key);
	if (number < 0)
		return;
	c.col = &pf_table_cols(v->t)[number];
	if (!has_content(v, c.col))
		return;
	c.title = c.col->kind & PF_FRAME ? "Line or range" : c.col->title;
	if (equals)
		c.title = equals + 1;
	c.title_len = equals ? (size_t)(s + len - c.title) : strlen(c.title);
	if (v->count == COLS_MAX)
		abort(); /* of a section that is too wide */
	v->cols[v->count++] = c;
}

static void find_columns(struct view *v)
{
	const char *s = v->spec->cols;

	while (*s) {
		size_t len = strcspn(s, ";");

		find_column(v, s, len);
		s += len;
		s += strspn(s, "; ");
	}
}

static void add_head(struct pf_buf *out, const struct view *v)
{
	pf_buf_adds(out, "<thead><tr>");
	for (size_t i = 0; i < v->count; i++) {
		const struct column *c = &v->cols[i];
		enum pf_col_kind kind = PF_COL_KIND(c->col->kind);

		const char *meaning =
			explain(v->page->titles, NULL, c->title, c->title_len);

		pf_buf_addf(out, "<th scope=col%s data-k=%s",
			    kind == PF_TEXT || kind == PF_PATH || kind == PF_ANY
				    ? ""
				    : " class=n",
			    c->col->key);
		if (meaning) {
			pf_buf_adds(out, " title=\"");
			pf_html_text(out, meaning);
			pf_buf_addc(out, '"');
		}
		pf_buf_addc(out, '>');
		pf_escape_html(out, c->title, c->title_len);
		pf_buf_adds(out, "</th>");
	}
	pf_buf_adds(out, "</tr></thead>\n");
}

/* The first column names the row. */
static void add_cell(struct pf_buf *out, const struct view *v, size_t row,
		     size_t number)
{
	const struct pf_col *col = v->cols[number].col;
	const struct pf_cell *cell = pf_table_at(v->t, row, col->key);
	bool is_first = number == 0;
	const char *tag =
		is_first && cell && !is_blank(cell) ? "th scope=row" : "td";

	if (!cell)
		pf_buf_adds(out, "<td>");
	else if (cell->type != PF_CELL_TEXT && v->spec->span &&
		 !strcmp(col->key, START_KEY))
		add_time(out, v->page, v->spec, v->t, row);
	else if (cell->type != PF_CELL_TEXT)
		add_number(out, cell, col);
	else if (col->kind & PF_SYMBOL)
		add_kernel(out, v->page, tag, cell, is_first);
	else if (col->kind & PF_FRAME && !is_first)
		add_frame(out, v->page, cell);
	else if (col->kind & PF_OURS)
		add_ours(out, v->page, tag, cell, col->key);
	else
		add_whole(out, v->page, tag, cell);
}

/* What the rows that are not here amount to, and where they are. */
static void add_rest(struct pf_buf *out, const struct view *v, size_t left,
		     double rest)
{
	PF_AUTO(pf_buf_release) struct pf_buf command = { 0 };

	pf_buf_addf(out, "<tfoot><tr><td colspan=%zu>and ", v->count);
	pf_figure_count(out, (int64_t)left);
	pf_buf_adds(out, " more");
	if (v->spec->share) {
		pf_buf_adds(out, ", ");
		pf_html_ratio(out, rest);
		pf_buf_adds(out, " together");
	}
	if (v->page->command)
		pf_buf_adds(&command, v->page->command);
	else
		pf_parts_command(v->page->parts, v->spec->part, &command);
	pf_buf_adds(out, ": <code>");
	pf_html_text(out, command.data);
	pf_buf_adds(out, "</code></td></tr></tfoot>");
}

static void add_rows(struct pf_buf *out, const struct view *v)
{
	size_t shown = 0, left = 0;
	double rest = 0;

	for (size_t r = 0; r < pf_table_rows(v->t); r++) {
		if (!is_wanted(v, r))
			continue;
		if (shown == v->spec->rows_max) {
			left++;
			if (v->spec->share)
				rest += pf_table_real_at(v->t, r,
							 v->spec->share);
			continue;
		}
		if (!shown)
			pf_buf_adds(out, "<tbody>");
		else if (shown == TOP_ROWS)
			pf_buf_adds(out, "</tbody><tbody class=more>");
		shown++;
		pf_buf_adds(out, "<tr>");
		for (size_t i = 0; i < v->count; i++)
			add_cell(out, v, r, i);
		pf_buf_addc(out, '\n');
	}
	pf_buf_adds(out, "</tbody>");
	if (left)
		add_rest(out, v, left, rest);
}

/*
 * What defines the figures of a table: nothing those that stand beside traces,
 * and views for them have no work of TPUs.
 */
static const char *query_of(const struct pf_parts *p,
			    const struct pf_html_table *spec)
{
	return strncmp(spec->name, "training_", 9) != 0 && !p->traces.is_tpu
		       ? pf_parts_query(spec->part)
		       : NULL;
}

void pf_html_table(struct pf_buf *out, const struct pf_html_page *page,
		   const struct pf_html_table *spec)
{
	const char *query = query_of(page->parts, spec);
	struct view v = { .page = page, .spec = spec };

	if (!pf_html_count(page->parts, spec))
		return;
	v.t = pf_doc_find_table(&page->parts->doc[spec->part], spec->name);
	find_columns(&v);
	pf_buf_addf(out, "<div class=t><table id=%s", spec->id);
	if (!page->command && query)
		pf_buf_addf(out, " data-q=%s", query);
	pf_buf_addf(out, ">\n<caption>%s</caption>\n", spec->caption);
	add_head(out, &v);
	add_rows(out, &v);
	pf_buf_adds(out, "</table></div>\n");
}
