/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/stats.h"
#include "show/fold.h"

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

static double number(const struct pf_cell *c)
{
	return c->type == PF_CELL_INT    ? (double)c->v.i
	       : c->type == PF_CELL_REAL ? c->v.d
					 : NAN;
}

/* ---- which tables ---- */

static size_t count_ranks(const struct fold *f)
{
	int64_t *values = pf_calloc(f->row_count, sizeof(*values));
	size_t count = 0, distinct = 0;

	for (size_t r = 0; r < f->row_count; r++)
		if (cell(f, r, f->by)->type == PF_CELL_INT)
			values[count++] = cell(f, r, f->by)->v.i;
	pf_sort(values, count, sizeof(*values), pf_stats_compare);
	for (size_t i = 0; i < count; i++)
		distinct += !i || values[i] != values[i - 1];
	free(values);
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
	size_t len = strlen(name);

	if (doc->order.limit < 0 && !doc->order.word)
		return false;
	for (const char *p = doc->lists; p && *p; p += strcspn(p, " ")) {
		p += strspn(p, " ");
		if (strcspn(p, " ") == len && !memcmp(p, name, len))
			return true;
	}
	return false;
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

static void put_reals(const struct fold *f, size_t col, unsigned percent,
		      struct pf_table *to)
{
	double *values = pf_calloc(f->row_count, sizeof(*values));
	size_t count = 0, at;
	unsigned rest;

	for (size_t r = 0; r < f->row_count; r++)
		if (!isnan(number(cell(f, r, col))))
			values[count++] = number(cell(f, r, col));
	pf_sort(values, count, sizeof(*values), by_number);
	if (!count) {
		pf_table_null(to);
	} else {
		at = pf_stats_place(count, percent, &rest);
		pf_table_real(
			to, rest ? values[at] + (values[at + 1] - values[at]) *
							rest / 100
				 : values[at]);
	}
	free(values);
}

static void put_ints(const struct fold *f, size_t col, unsigned percent,
		     struct pf_table *to)
{
	int64_t *values = pf_calloc(f->row_count, sizeof(*values));
	size_t count = 0;

	for (size_t r = 0; r < f->row_count; r++)
		if (cell(f, r, col)->type == PF_CELL_INT)
			values[count++] = cell(f, r, col)->v.i;
	pf_sort(values, count, sizeof(*values), pf_stats_compare);
	if (count)
		pf_table_int(to, pf_stats_quantile(values, count, percent));
	else
		pf_table_null(to);
	free(values);
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
	double *values = pf_calloc(f->row_count, sizeof(*values));
	double out = 0;
	size_t count = 0;

	for (size_t r = 0; r < f->row_count; r++)
		if (!isnan(number(cell(f, r, col))))
			values[count++] = number(cell(f, r, col));
	pf_sort(values, count, sizeof(*values), by_number);
	*middle = count ? values[(count - 1) / 2] : NAN;
	if (count && values[count - 1] > values[0])
		out = *middle != 0.0
			      ? (values[count - 1] - values[0]) / fabs(*middle)
			      : INFINITY;
	free(values);
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
	struct far *all = pf_calloc(f->row_count, sizeof(*all));

	for (size_t r = 0; r < f->row_count; r++) {
		double away = fabs(number(cell(f, r, col)) - middle);

		all[r] = (struct far){ isnan(away) ? -1 : away, r };
	}
	pf_sort(all, f->row_count, sizeof(*all), by_distance);
	for (size_t i = 0; i < PF_FOLD_OUTER && all[i].away > 0; i++)
		put_row(f, all[i].row, to);
	free(all);
}

/* ---- the whole ---- */

/* The same columns, but that what names a row is a text. */
static struct pf_table *new_table(const struct fold *f)
{
	struct pf_col *cols = pf_calloc(f->col_count, sizeof(*cols));
	struct pf_table *to;

	memcpy(cols, f->cols, f->col_count * sizeof(*cols));
	cols[f->label].kind &= ~0xff;
	cols[f->label].kind |= PF_TEXT;
	to = pf_table_new(pf_table_name(f->from), pf_table_title(f->from), cols,
			  f->col_count);
	free(cols);
	return to;
}

static void note(struct pf_doc *doc, const struct fold *f, size_t measure)
{
	const char *name = pf_table_name(f->from);
	const char *what = f->is_rank ? "ranks" : "traces";
	struct pf_buf of = { 0 };

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
	pf_buf_release(&of);
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
	for (size_t q = 0; q < sizeof(quantiles) / sizeof(*quantiles); q++)
		put_quantile(f, q, to);
	/* and the outermost rank */
	pf_table_keep(to, sizeof(quantiles) / sizeof(*quantiles) + 1);
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
