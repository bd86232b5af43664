/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "show/doc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/order.h"
#include "base/stats.h"

/*
 * Cells lie row after row in one array; texts lie where they never move, so a
 * cell's pointer stays good while the array of cells grows.
 */

#define SPARE_ROWS 512 /* kept past the limit before rows are dropped */

struct pf_table {
	char *name, *title;
	struct pf_col *cols; /* those that are absent come last */
	size_t col_count, absent_count;
	struct pf_cell *cells;
	size_t cell_count, cell_cap;
	struct pf_arena texts;
	int64_t limit; /* rows that stay, or -1 */
	int64_t dropped;
	size_t least;    /* rows that stay on a page; 0: nothing was said */
	int order;       /* column to order by, or -1 */
	bool is_turned;  /* the other way round */
	bool is_settled; /* in order, nothing added since */
};

struct pf_table *pf_table_new(const char *name, const char *title,
			      const struct pf_col *cols, size_t count)
{
	struct pf_table *t = pf_calloc(1, sizeof(*t));

	t->limit = -1;
	t->order = -1;
	t->name = pf_strdup(name);
	t->title = title ? pf_strdup(title) : NULL;
	t->cols = pf_calloc(count ? count : 1, sizeof(*t->cols));
	for (size_t i = 0; i < count; i++) {
		bool is_absent = cols[i].kind & PF_ABSENT;
		struct pf_col *col =
			is_absent ? &t->cols[count - ++t->absent_count]
				  : &t->cols[t->col_count++];

		col->key = pf_strdup(cols[i].key);
		col->title =
			pf_strdup(cols[i].title ? cols[i].title : cols[i].key);
		col->kind = cols[i].kind;
	}
	return t;
}

void pf_table_free(struct pf_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->col_count + t->absent_count; i++) {
		free((char *)t->cols[i].key);
		free((char *)t->cols[i].title);
	}
	pf_arena_release(&t->texts);
	free(t->cols);
	free(t->cells);
	free(t->name);
	free(t->title);
	free(t);
}

static void settle(struct pf_table *t);

static struct pf_cell *next_cell(struct pf_table *t)
{
	size_t rows = t->col_count ? t->cell_count / t->col_count : 0;

	if (t->limit >= 0 && rows * t->col_count == t->cell_count &&
	    rows / 2 > (uint64_t)t->limit + SPARE_ROWS)
		settle(t);
	t->is_settled = false;
	return PF_ONE_MORE(t->cells, t->cell_count, t->cell_cap);
}

void pf_table_int(struct pf_table *t, int64_t value)
{
	*next_cell(t) = (struct pf_cell){ PF_CELL_INT, { .i = value } };
}

void pf_table_real(struct pf_table *t, double value)
{
	*next_cell(t) = (struct pf_cell){ PF_CELL_REAL, { .d = value } };
}

void pf_table_text(struct pf_table *t, const char *s, size_t len)
{
	const char *copy = pf_arena_text(&t->texts, s, len);

	*next_cell(t) =
		(struct pf_cell){ PF_CELL_TEXT, { .text = { copy, len } } };
}

void pf_table_string(struct pf_table *t, const char *s)
{
	if (s)
		pf_table_text(t, s, strlen(s));
	else
		pf_table_null(t);
}

void pf_table_digits(struct pf_table *t, const char *digits)
{
	pf_table_text(t, digits, strlen(digits));
}

void pf_table_null(struct pf_table *t)
{
	*next_cell(t) = (struct pf_cell){ .type = PF_CELL_NULL };
}

void pf_table_known(struct pf_table *t, int64_t value)
{
	if (value >= 0)
		pf_table_int(t, value);
	else
		pf_table_null(t);
}

void pf_table_cell(struct pf_table *t, const struct pf_cell *cell)
{
	if (cell->type == PF_CELL_TEXT)
		pf_table_text(t, cell->v.text.s, cell->v.text.len);
	else
		*next_cell(t) = *cell;
}

const char *pf_table_name(const struct pf_table *t)
{
	return t->name;
}

const char *pf_table_title(const struct pf_table *t)
{
	return t->title;
}

size_t pf_table_col_count(const struct pf_table *t)
{
	return t->col_count;
}

const struct pf_col *pf_table_cols(const struct pf_table *t)
{
	return t->cols;
}

size_t pf_table_declared(const struct pf_table *t)
{
	return t->col_count + t->absent_count;
}

/* Is this key one of those that were declared as PF_ABSENT? */
static bool is_absent(const struct pf_table *t, const char *key)
{
	for (size_t i = 0; i < t->absent_count; i++)
		if (!strcmp(t->cols[t->col_count + i].key, key))
			return true;
	return false;
}

size_t pf_table_least(const struct pf_table *t)
{
	return t->least ? t->least : 1;
}

size_t pf_table_row_count(const struct pf_table *t)
{
	/* Cells that do not fill their row are a bug of who added them. */
	if (t->col_count ? t->cell_count % t->col_count : t->cell_count)
		abort();
	return t->col_count ? t->cell_count / t->col_count : 0;
}

const struct pf_cell *pf_table_row(const struct pf_table *t, size_t r)
{
	return t->cells + r * t->col_count;
}

/* ---- order ---- */

static bool is_col(const char *key, const char *word)
{
	static const char *const units[] = { "",       "_ns",    "_bytes",
					     "_count", "_share", "_percent" };
	size_t len = strlen(word);

	if (strncmp(key, word, len) != 0)
		return false;
	for (size_t i = 0; i < PF_LEN(units); i++)
		if (!strcmp(key + len, units[i]))
			return true;
	return false;
}

/* The number of the column that a word (with or without "-") names, or -1. */
static int table_find_col(const struct pf_table *t, const char *word)
{
	word += *word == '-';
	for (size_t i = 0; i < t->col_count; i++)
		if (!strcmp(t->cols[i].key, word))
			return (int)i;
	for (size_t i = 0; i < t->col_count; i++)
		if (is_col(t->cols[i].key, word))
			return (int)i;
	return -1;
}

void pf_table_order(struct pf_table *t, const struct pf_order *order)
{
	t->limit = order->limit < 0 ? -1 : order->limit;
	t->order = order->word ? table_find_col(t, order->word) : -1;
	t->is_turned = order->word && *order->word == '-';
}

/* A row on its way to its place. */
struct place {
	const struct pf_cell *cells;
	int order;
	bool is_turned;
};

static double number(const struct pf_cell *c)
{
	return c->type == PF_CELL_INT    ? (double)c->v.i
	       : c->type == PF_CELL_REAL ? c->v.d
					 : NAN;
}

/* Ascending; cells of one column mostly have one type. */
static int compare_cells(const struct pf_cell *a, const struct pf_cell *b)
{
	size_t len;
	int rc;

	if (a->type == PF_CELL_TEXT || b->type == PF_CELL_TEXT) {
		if (a->type != b->type)
			return a->type == PF_CELL_TEXT ? 1 : -1;
		len = a->v.text.len < b->v.text.len ? a->v.text.len
						    : b->v.text.len;
		rc = memcmp(a->v.text.s, b->v.text.s, len);
		if (rc)
			return rc;
		return (a->v.text.len > b->v.text.len) -
		       (a->v.text.len < b->v.text.len);
	}
	if (a->type == PF_CELL_INT && b->type == PF_CELL_INT)
		return (a->v.i > b->v.i) - (a->v.i < b->v.i);
	return (number(a) > number(b)) - (number(a) < number(b));
}

static int compare_places(const void *x, const void *y)
{
	const struct place *a = x, *b = y;
	const struct pf_cell *p = &a->cells[a->order];
	const struct pf_cell *q = &b->cells[b->order];
	int rc;

	if (p->type == PF_CELL_NULL || q->type == PF_CELL_NULL)
		rc = (p->type == PF_CELL_NULL) - (q->type == PF_CELL_NULL);
	else if ((p->type != PF_CELL_TEXT) != a->is_turned)
		rc = compare_cells(q, p);
	else
		rc = compare_cells(p, q);
	return rc ? rc : (a->cells > b->cells) - (a->cells < b->cells);
}

/* Put complete rows in order and keep no more than the limit. */
static void settle(struct pf_table *t)
{
	size_t rows = pf_table_row_count(t), keep = rows;
	struct pf_cell *cells = t->cells;
	struct pf_arena texts = t->texts;
	PF_OWN struct place *places = NULL;

	if (t->limit >= 0 && (uint64_t)t->limit < rows)
		keep = (size_t)t->limit;
	if (t->is_settled || (t->order < 0 && keep == rows))
		return;
	places = pf_calloc(rows ? rows : 1, sizeof(*places));
	for (size_t r = 0; r < rows; r++)
		places[r] = (struct place){ cells + r * t->col_count, t->order,
					    t->is_turned };
	if (t->order >= 0)
		pf_sort(places, rows, sizeof(*places), compare_places);
	t->dropped += (int64_t)(rows - keep);
	t->cells = NULL;
	t->texts = (struct pf_arena){ 0 };
	t->cell_count = t->cell_cap = 0;
	t->is_settled = true; /* while cells are put back */
	for (size_t r = 0; r < keep; r++)
		for (size_t c = 0; c < t->col_count; c++)
			pf_table_cell(t, &places[r].cells[c]);
	t->is_settled = true;
	free(cells);
	pf_arena_release(&texts);
}

int64_t pf_table_settle(struct pf_table *t)
{
	settle(t);
	return t->dropped;
}

enum list { NO_LIST, FIRST_LIST, OTHER_LIST };

void pf_doc_release(struct pf_doc *doc)
{
	for (size_t i = 0; i < doc->table_count; i++)
		pf_table_free(doc->tables[i]);
	free(doc->scalars);
	free(doc->tables);
	free(doc->notes);
	free(doc->checks);
	pf_arena_release(&doc->texts);
	memset(doc, 0, sizeof(*doc));
}

/* Add a figure; both are copied.  One of kind PF_FULL is for csv and json. */
static void doc_cell(struct pf_doc *doc, const struct pf_col *col,
		     const struct pf_cell *cell)
{
	struct pf_scalar *s;

	s = PF_ONE_MORE(doc->scalars, doc->scalar_count, doc->scalar_cap);
	s->col = (struct pf_col){ pf_arena_string(&doc->texts, col->key),
				  pf_arena_string(&doc->texts, col->title),
				  col->kind };
	s->cell = *cell;
	if (cell->type == PF_CELL_TEXT)
		s->cell.v.text.s = pf_arena_text(&doc->texts, cell->v.text.s,
						 cell->v.text.len);
}

void pf_doc_int(struct pf_doc *doc, const char *key, const char *title,
		enum pf_col_kind kind, int64_t value)
{
	doc_cell(doc, &(struct pf_col){ key, title, kind },
		 &(struct pf_cell){ PF_CELL_INT, { .i = value } });
}

void pf_doc_real(struct pf_doc *doc, const char *key, const char *title,
		 enum pf_col_kind kind, double value)
{
	doc_cell(doc, &(struct pf_col){ key, title, kind },
		 &(struct pf_cell){ PF_CELL_REAL, { .d = value } });
}

void pf_doc_null(struct pf_doc *doc, const char *key, const char *title,
		 enum pf_col_kind kind)
{
	doc_cell(doc, &(struct pf_col){ key, title, kind },
		 &(struct pf_cell){ .type = PF_CELL_NULL });
}

void pf_doc_string(struct pf_doc *doc, const char *key, const char *title,
		   const char *s)
{
	struct pf_cell cell = { PF_CELL_TEXT,
				{ .text = { s, s ? strlen(s) : 0 } } };

	if (s)
		doc_cell(doc, &(struct pf_col){ key, title, PF_TEXT }, &cell);
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
		s->cell.v.text.s = pf_arena_string(&doc->texts, text);
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
	*PF_ONE_MORE(doc->tables, doc->table_count, doc->table_cap) = t;
}

/* A table that is ours, in the order of the lists. */
static struct pf_table *take_table(struct pf_doc *doc, struct pf_table *t)
{
	struct pf_order limit_only = { NULL, doc->order.limit };
	enum list list = find_list(doc, t->name);

	pf_doc_adopt(doc, t);
	if (list != NO_LIST)
		pf_table_order(t,
			       list == FIRST_LIST ? &doc->order : &limit_only);
	return t;
}

struct pf_table *pf_doc_table(struct pf_doc *doc, const char *name,
			      const char *title, const struct pf_col *cols,
			      size_t count)
{
	return take_table(doc, pf_table_new(name, title, cols, count));
}

static int no_such_column(const struct pf_table *t, const char *word,
			  struct pf_err *err)
{
	const struct pf_col *cols = pf_table_cols(t);
	struct pf_suggest s = { .word = word + (*word == '-') };
	PF_AUTO(pf_buf_release) struct pf_buf all = { 0 };

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
		    table_find_col(t, doc->order.word) < 0)
			return no_such_column(t, doc->order.word, err);
		dropped = pf_table_settle(t);
		if (dropped)
			pf_doc_note(doc,
				    "%" PRId64 " more row%s of '%s'; "
				    "--limit -1 shows all",
				    dropped, pf_plural(dropped),
				    pf_table_name(t));
	}
	return 0;
}

static void add_note(struct pf_doc *doc, size_t place, const char *before,
		     const char *fmt, va_list ap)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	char small[1024];

	vsnprintf(small, sizeof(small), fmt, ap);
	pf_buf_adds(&text, before);
	pf_buf_adds(&text, small);
	PF_ROOM(doc->notes, doc->note_cap, doc->note_count + 1);
	memmove(doc->notes + place + 1, doc->notes + place,
		(doc->note_count - place) * sizeof(*doc->notes));
	doc->notes[place] = pf_arena_string(&doc->texts, text.data);
	doc->note_count++;
}

void pf_doc_note(struct pf_doc *doc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(doc, doc->note_count, "", fmt, ap);
	va_end(ap);
}

static void add_check(struct pf_doc *doc, const char *name, const char *note,
		      bool is_failed)
{
	const char *why = note ? strstr(note, "failed: ") : NULL;

	*PF_ONE_MORE(doc->checks, doc->check_count, doc->check_cap) =
		(struct pf_check){
			pf_arena_string(&doc->texts, name),
			why ? why + strlen("failed: ") : NULL,
			is_failed,
		};
}

void pf_doc_failed(struct pf_doc *doc, const char *name, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(doc, doc->failed_count, "failed: ", fmt, ap);
	va_end(ap);
	add_check(doc, name, doc->notes[doc->failed_count++], true);
}

void pf_doc_unjudged(struct pf_doc *doc, const char *name, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(doc, doc->note_count, "not failed: ", fmt, ap);
	va_end(ap);
	add_check(doc, name, doc->notes[doc->note_count - 1], false);
}

void pf_doc_passed(struct pf_doc *doc, const char *name)
{
	add_check(doc, name, NULL, false);
}

/* ---- fold ---- */

#define FIRST_ROWS 10 /* of rows that have no quantiles */
#define MANY_ROWS  40 /* of a table that no rank is in, beside folded ones */

static const struct {
	const char *name;
	unsigned percent;
} quantiles[] = { { "min", 0 }, { "p50", 50 }, { "p90", 90 }, { "max", 100 } };

/* A table that is folded. */
struct fold {
	const struct pf_table *from;
	const struct pf_col *cols;
	size_t col_count, row_count;
	size_t by;    /* the column of ranks or traces */
	size_t label; /* the column that names rows */
	size_t rank_count;
	bool is_rank;
};

static bool is_measure(const struct pf_col *c)
{
	enum pf_col_kind kind = PF_COL_KIND(c->kind);

	return kind == PF_NS || kind == PF_COUNT || kind == PF_BYTES ||
	       kind == PF_RATIO || kind == PF_REAL;
}

static const struct pf_cell *cell(const struct fold *f, size_t row, size_t col)
{
	return &pf_table_row(f->from, row)[col];
}

static bool is_equal(const struct pf_cell *a, const struct pf_cell *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == PF_CELL_TEXT)
		return a->v.text.len == b->v.text.len &&
		       !memcmp(a->v.text.s, b->v.text.s, a->v.text.len);
	return a->type == PF_CELL_NULL ||
	       (a->type == PF_CELL_INT ? a->v.i == b->v.i : a->v.d == b->v.d);
}

static bool is_constant(const struct fold *f, size_t col)
{
	for (size_t r = 1; r < f->row_count; r++)
		if (!is_equal(cell(f, 0, col), cell(f, r, col)))
			return false;
	return true;
}

/* ---- which tables ---- */

/* The whole numbers of a column, in order; to free. */
static int64_t *sorted_ints(const struct fold *f, size_t col, size_t *count)
{
	int64_t *values = pf_calloc(f->row_count, sizeof(*values));

	*count = 0;
	for (size_t r = 0; r < f->row_count; r++)
		if (cell(f, r, col)->type == PF_CELL_INT)
			values[(*count)++] = cell(f, r, col)->v.i;
	pf_sort(values, *count, sizeof(*values), pf_stats_compare);
	return values;
}

static size_t count_ranks(const struct fold *f)
{
	size_t count, distinct = 0;
	PF_OWN int64_t *values = sorted_ints(f, f->by, &count);

	for (size_t i = 0; i < count; i++)
		distinct += !i || values[i] != values[i - 1];
	return distinct;
}

static bool find_by(struct fold *f, const char *key)
{
	f->by = 0;
	while (f->by < f->col_count && strcmp(f->cols[f->by].key, key) != 0)
		f->by++;
	if (f->by == f->col_count)
		return false;
	f->rank_count = count_ranks(f);
	f->label = f->by;
	/* where a text for people says it, that names the row */
	if (f->cols[f->by].kind & PF_FULL)
		for (size_t c = f->col_count; c-- > 0;)
			if (PF_COL_KIND(f->cols[c].kind) == PF_TEXT &&
			    !(f->cols[c].kind & PF_FULL))
				f->label = c;
	return f->rank_count > PF_FOLD_RANKS &&
	       !(f->cols[f->label].kind & PF_FULL);
}

/* Is it cut, or was its order asked for? */
static bool is_list(const struct pf_doc *doc, const char *name)
{
	return (doc->order.limit >= 0 || doc->order.word) &&
	       find_list(doc, name) != NO_LIST;
}

/* Rows of a rank that a text tells apart are of different things. */
static bool is_mixed(const struct fold *f)
{
	if (f->row_count == f->rank_count)
		return false;
	for (size_t c = 0; c < f->col_count; c++)
		if (c != f->label && PF_COL_KIND(f->cols[c].kind) <= PF_PATH &&
		    !is_constant(f, c))
			return true;
	return false;
}

/* ---- quantiles ---- */

PF_ORDER(by_number, double, PF_UP_VALUE)

/* The numbers of a column, in order; to free. */
static double *sorted_numbers(const struct fold *f, size_t col, size_t *count)
{
	double *values = pf_calloc(f->row_count, sizeof(*values));

	*count = 0;
	for (size_t r = 0; r < f->row_count; r++)
		if (!isnan(number(cell(f, r, col))))
			values[(*count)++] = number(cell(f, r, col));
	pf_sort(values, *count, sizeof(*values), by_number);
	return values;
}

static void put_reals(const struct fold *f, size_t col, unsigned percent,
		      struct pf_table *to)
{
	size_t count, at;
	PF_OWN double *values = sorted_numbers(f, col, &count);
	unsigned rest;

	if (!count) {
		pf_table_null(to);
	} else {
		at = pf_stats_place(count, percent, &rest);
		pf_table_real(
			to, rest ? values[at] + (values[at + 1] - values[at]) *
							rest / 100
				 : values[at]);
	}
}

static void put_ints(const struct fold *f, size_t col, unsigned percent,
		     struct pf_table *to)
{
	size_t count;
	PF_OWN int64_t *values = sorted_ints(f, col, &count);

	if (count)
		pf_table_int(to, pf_stats_quantile(values, count, percent));
	else
		pf_table_null(to);
}

static bool has_reals(const struct fold *f, size_t col)
{
	for (size_t r = 0; r < f->row_count; r++)
		if (cell(f, r, col)->type == PF_CELL_REAL)
			return true;
	return false;
}

static void put_quantile(const struct fold *f, size_t q, struct pf_table *to)
{
	for (size_t c = 0; c < f->col_count; c++) {
		if (c == f->label)
			pf_table_string(to, quantiles[q].name);
		else if (is_constant(f, c))
			pf_table_cell(to, cell(f, 0, c));
		else if (!is_measure(&f->cols[c]))
			pf_table_null(to);
		else if (has_reals(f, c))
			put_reals(f, c, quantiles[q].percent, to);
		else
			put_ints(f, c, quantiles[q].percent, to);
	}
}

/* ---- the rows that are farthest out ---- */

struct far {
	double away;
	size_t row;
};

PF_ORDER(by_distance, struct far, PF_DOWN(away) PF_UP(row))

/* The middle value and how far the others spread in proportion to it. */
static double spread(const struct fold *f, size_t col, double *middle)
{
	size_t count;
	PF_OWN double *values = sorted_numbers(f, col, &count);
	double out = 0;

	*middle = count ? values[(count - 1) / 2] : NAN;
	if (count && values[count - 1] > values[0])
		out = *middle != 0.0
			      ? (values[count - 1] - values[0]) / fabs(*middle)
			      : INFINITY;
	return out;
}

/* Times before all else; col_count: nothing varies. */
static size_t find_measure(const struct fold *f, double *middle)
{
	size_t best = f->col_count;
	bool best_is_time = false;
	double most = 0;

	for (size_t c = 0; c < f->col_count; c++) {
		bool is_time = PF_COL_KIND(f->cols[c].kind) == PF_NS;
		double own, wide;

		if (!is_measure(&f->cols[c]) || f->cols[c].kind & PF_FULL ||
		    (best_is_time && !is_time))
			continue;
		wide = spread(f, c, &own);
		if (wide <= 0 || (wide <= most && is_time == best_is_time))
			continue;
		best = c;
		best_is_time = is_time;
		most = wide;
		*middle = own;
	}
	return best;
}

static void put_row(const struct fold *f, size_t row, struct pf_table *to)
{
	for (size_t c = 0; c < f->col_count; c++) {
		const struct pf_cell *own = cell(f, row, c);
		char text[PF_NUM_MAX];

		if (c == f->label && own->type == PF_CELL_INT) {
			snprintf(text, sizeof(text), "%" PRId64, own->v.i);
			pf_table_string(to, text);
		} else {
			pf_table_cell(to, own);
		}
	}
}

static void put_outer(const struct fold *f, size_t col, double middle,
		      struct pf_table *to)
{
	PF_OWN struct far *all = pf_calloc(f->row_count, sizeof(*all));

	for (size_t r = 0; r < f->row_count; r++) {
		double away = fabs(number(cell(f, r, col)) - middle);

		all[r] = (struct far){ isnan(away) ? -1 : away, r };
	}
	pf_sort(all, f->row_count, sizeof(*all), by_distance);
	for (size_t i = 0; i < PF_FOLD_OUTER && all[i].away > 0; i++)
		put_row(f, all[i].row, to);
}

/* ---- the whole ---- */

/* The same columns, but that what names a row is a text. */
static struct pf_table *new_table(const struct fold *f)
{
	PF_OWN struct pf_col *cols = pf_calloc(f->col_count, sizeof(*cols));

	memcpy(cols, f->cols, f->col_count * sizeof(*cols));
	cols[f->label].kind &= ~0xff;
	cols[f->label].kind |= PF_TEXT;
	return pf_table_new(pf_table_name(f->from), pf_table_title(f->from),
			    cols, f->col_count);
}

static void note(struct pf_doc *doc, const struct fold *f, size_t measure)
{
	const char *name = pf_table_name(f->from);
	const char *what = f->is_rank ? "ranks" : "traces";
	PF_AUTO(pf_buf_release) struct pf_buf of = { 0 };

	if (f->row_count == f->rank_count)
		pf_buf_addf(&of, "%zu %s", f->rank_count, what);
	else
		pf_buf_addf(&of, "%zu rows of %zu %s", f->row_count,
			    f->rank_count, what);
	if (measure == f->col_count)
		pf_doc_note(doc, "'%s' is over %s; --format csv has each", name,
			    of.data);
	else
		pf_doc_note(doc,
			    "'%s' is over %s, and has those farthest from p50 "
			    "in '%s'; --format csv has each",
			    name, of.data, f->cols[measure].title);
}

static void note_rest(struct pf_doc *doc, const struct fold *f)
{
	pf_doc_note(doc, "%zu more rows of '%s'; --format csv has each",
		    f->row_count - FIRST_ROWS, pf_table_name(f->from));
}

static struct pf_table *fold_table(struct pf_doc *doc, const struct fold *f)
{
	struct pf_table *to = new_table(f);
	size_t measure = f->col_count;
	double middle = 0;

	if (is_mixed(f)) {
		for (size_t r = 0; r < FIRST_ROWS; r++)
			put_row(f, r, to);
		note_rest(doc, f);
		return to;
	}
	for (size_t q = 0; q < PF_LEN(quantiles); q++)
		put_quantile(f, q, to);
	/* and the outermost rank */
	to->least = PF_LEN(quantiles) + 1;
	measure = find_measure(f, &middle);
	if (measure < f->col_count)
		put_outer(f, measure, middle, to);
	note(doc, f, measure);
	return to;
}

static struct fold fold_of(const struct pf_table *t)
{
	return (struct fold){ .from = t,
			      .cols = pf_table_cols(t),
			      .col_count = pf_table_col_count(t),
			      .row_count = pf_table_row_count(t) };
}

/* Groups of ranks are as many as ranks are: the first of them stay. */
static void cut_tables(struct pf_doc *doc)
{
	for (size_t i = 0; i < doc->table_count; i++) {
		struct fold f = fold_of(doc->tables[i]);
		struct pf_table *to;

		if (f.row_count <= MANY_ROWS ||
		    is_list(doc, pf_table_name(f.from)))
			continue;
		to = pf_table_new(pf_table_name(f.from), pf_table_title(f.from),
				  f.cols, f.col_count);
		for (size_t r = 0; r < FIRST_ROWS; r++)
			for (size_t c = 0; c < f.col_count; c++)
				pf_table_cell(to, cell(&f, r, c));
		note_rest(doc, &f);
		pf_table_free(doc->tables[i]);
		doc->tables[i] = to;
	}
}

bool pf_doc_fold(struct pf_doc *doc)
{
	bool is_folded = false;

	for (size_t i = 0; i < doc->table_count; i++) {
		struct pf_table *t = doc->tables[i], *folded;
		struct fold f = fold_of(t);

		if (f.row_count <= PF_FOLD_RANKS ||
		    is_list(doc, pf_table_name(t)))
			continue;
		f.is_rank = find_by(&f, "rank");
		if (!f.is_rank && !find_by(&f, "trace_id"))
			continue;
		folded = fold_table(doc, &f);
		pf_table_free(t);
		doc->tables[i] = folded;
		is_folded = true;
	}
	if (is_folded)
		cut_tables(doc);
	return is_folded;
}

/* ---- rows ---- */

/* What speaks of the cell is not for the column. */
static struct pf_col column(const struct pf_field *field)
{
	struct pf_col col = field->col;

	col.kind &= ~(unsigned)(PF_KNOWN | PF_MAYBE);
	return col;
}

struct pf_cell pf_field_cell(const struct pf_field *field, const void *row)
{
	const void *at = (const char *)row + field->at;
	struct pf_cell cell = { .type = PF_CELL_NULL };

	switch (field->type) {
	case PF_FIELD_INT:
		cell.v.i = *(const int64_t *)at;
		if (!(field->col.kind & PF_KNOWN && cell.v.i < 0) &&
		    !(field->col.kind & PF_MAYBE && cell.v.i == PF_NO_INT))
			cell.type = PF_CELL_INT;
		break;
	case PF_FIELD_BOOL:
		cell.v.i = *(const bool *)at;
		cell.type = PF_CELL_INT;
		break;
	case PF_FIELD_REAL:
		cell.v.d = *(const double *)at;
		if (!isnan(cell.v.d))
			cell.type = PF_CELL_REAL;
		break;
	case PF_FIELD_TEXT:
		cell.v.text.s = *(const char *const *)at;
		if (cell.v.text.s) {
			cell.v.text.len = strlen(cell.v.text.s);
			cell.type = PF_CELL_TEXT;
		}
		break;
	}
	return cell;
}

struct pf_table *pf_fields_table(const char *name, const char *title,
				 const struct pf_field *fields, size_t count)
{
	PF_OWN struct pf_col *cols =
		pf_calloc(count ? count : 1, sizeof(*cols));

	for (size_t i = 0; i < count; i++)
		cols[i] = column(&fields[i]);
	return pf_table_new(name, title, cols, count);
}

struct pf_table *pf_doc_fields(struct pf_doc *doc, const char *name,
			       const char *title, const struct pf_field *fields,
			       size_t count)
{
	return take_table(doc, pf_fields_table(name, title, fields, count));
}

void pf_table_put(struct pf_table *t, const struct pf_field *fields,
		  size_t count, const void *row, size_t row_bytes)
{
	for (size_t i = 0; i < count; i++) {
		struct pf_cell cell;

		if (fields[i].row_bytes != row_bytes)
			abort();
		if (fields[i].col.kind & PF_ABSENT)
			continue;
		cell = pf_field_cell(&fields[i], row);
		pf_table_cell(t, &cell);
	}
}

struct pf_table *pf_doc_rows(struct pf_doc *doc, const char *name,
			     const char *title, const struct pf_field *fields,
			     size_t count, const void *rows, size_t row_count,
			     size_t row_bytes)
{
	struct pf_table *t = pf_doc_fields(doc, name, title, fields, count);

	for (size_t i = 0; i < row_count; i++)
		pf_table_put(t, fields, count,
			     (const char *)rows + i * row_bytes, row_bytes);
	return t;
}

void pf_doc_put(struct pf_doc *doc, const struct pf_field *fields, size_t count,
		const void *row, size_t row_bytes)
{
	for (size_t i = 0; i < count; i++) {
		struct pf_col col = column(&fields[i]);
		struct pf_cell cell;

		if (fields[i].row_bytes != row_bytes)
			abort();
		if (col.kind & PF_ABSENT)
			continue;
		cell = pf_field_cell(&fields[i], row);
		doc_cell(doc, &col, &cell);
	}
}

/* ---- find ---- */

const struct pf_scalar *pf_doc_find(const struct pf_doc *doc, const char *key)
{
	for (size_t i = 0; i < doc->scalar_count; i++)
		if (!strcmp(doc->scalars[i].col.key, key))
			return &doc->scalars[i];
	return NULL;
}

const struct pf_table *pf_doc_find_table(const struct pf_doc *doc,
					 const char *name)
{
	for (size_t i = 0; i < doc->table_count; i++)
		if (!strcmp(pf_table_name(doc->tables[i]), name))
			return doc->tables[i];
	return NULL;
}

int pf_table_find(const struct pf_table *t, const char *key)
{
	size_t count = t ? pf_table_col_count(t) : 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(pf_table_cols(t)[i].key, key))
			return (int)i;
	return -1;
}

int pf_table_need(const struct pf_table *t, const char *key)
{
	int col = pf_table_find(t, key);

	if (!t || col >= 0 || is_absent(t, key))
		return col;
	/* an analysis has another name for it than those who read it */
	fprintf(stderr, "profan: bug: no document has '%s' here\n", key);
	abort();
}

const struct pf_cell *pf_table_at(const struct pf_table *t, size_t row,
				  const char *key)
{
	int col = pf_table_need(t, key);
	const struct pf_cell *cell;

	if (col < 0 || row >= pf_table_row_count(t))
		return NULL;
	cell = &pf_table_row(t, row)[col];
	return cell->type == PF_CELL_NULL ? NULL : cell;
}

static int64_t cell_int(const struct pf_cell *cell)
{
	if (!cell)
		return 0;
	if (cell->type == PF_CELL_REAL && cell->v.d > -9e18 && cell->v.d < 9e18)
		return (int64_t)cell->v.d;
	return cell->type == PF_CELL_INT ? cell->v.i : 0;
}

double pf_cell_real(const struct pf_cell *cell)
{
	if (!cell)
		return 0;
	if (cell->type == PF_CELL_INT)
		return (double)cell->v.i;
	return cell->type == PF_CELL_REAL ? cell->v.d : 0;
}

int64_t pf_table_int_at(const struct pf_table *t, size_t row, const char *key)
{
	return cell_int(pf_table_at(t, row, key));
}

double pf_table_real_at(const struct pf_table *t, size_t row, const char *key)
{
	return pf_cell_real(pf_table_at(t, row, key));
}

static const char *cell_text(const struct pf_cell *cell)
{
	return cell && cell->type == PF_CELL_TEXT ? cell->v.text.s : NULL;
}

const char *pf_table_text_at(const struct pf_table *t, size_t row,
			     const char *key)
{
	return cell_text(pf_table_at(t, row, key));
}

const char *pf_doc_find_finding(const struct pf_doc *doc)
{
	const struct pf_scalar *s = pf_doc_find(doc, PF_DOC_FINDING);

	return s ? cell_text(&s->cell) : NULL;
}

size_t pf_table_rows(const struct pf_table *t)
{
	return t ? pf_table_row_count(t) : 0;
}
