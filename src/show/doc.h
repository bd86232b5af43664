/* SPDX-License-Identifier: MIT */
/*
 * A document: what an analysis answers.  Scalars (single figures with a key,
 * a title and a kind), tables in order, and notes (sentences for people, such
 * as what was left out).  A zero-initialised struct is an empty document; it
 * owns all that is added to it.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

/*
 * The one table type: typed columns, rows of cells.  Analyses and queries
 * fill tables (or a row sink); renderers print them and decide everything
 * about looks from the column's kind alone.
 *
 * A column's key is the CSV header, JSON key and SQL column name alike, with
 * its unit in it (gap_ns, size_bytes, share); text output shows the title and
 * turns ns, bytes and ratios into units, csv and json show the raw numbers.
 *
 *	static const struct pf_col cols[] = {
 *		{ "stream", "Stream", PF_INT },
 *		{ "gap_ns", "Idle", PF_NS },
 *		{ "after", "After", PF_TEXT },
 *	};
 *	struct pf_table *t = pf_doc_table(doc, "gaps", "Idle time", cols, 3);
 *	pf_table_int(t, 7);
 *	pf_table_int(t, gap_ns);
 *	pf_table_text(t, name, name_len);
 *
 * Cells are added left to right; after the last column the next row begins.
 * Texts are copied, may hold any bytes, NUL too, and are NOT escaped here:
 * renderers do that.
 */

enum pf_col_kind {
	PF_TEXT,  /* left-aligned; may be shortened in text output */
	PF_PATH,  /* the same, but its end is what matters */
	PF_INT,   /* an id or number shown as it is: 1234567 */
	PF_COUNT, /* a number of things: 1,234,567 in text */
	PF_NS,    /* int64 ns: "1.235 ms" in text */
	PF_BYTES, /* int64 bytes: "1.50 GB" in text */
	PF_RATIO, /* double 0..1: "12.35 %" in text */
	PF_REAL,  /* double */
	PF_ANY,   /* whatever the cell holds (ad-hoc queries) */
};

/*
 * Or'ed to a column's kind where only some formats have the column: text and
 * md have room for little.  Renderers leave such columns out; a table keeps
 * them, so that --sort takes every one of them.  Both: a short text for people,
 * only where it tells rows apart; before the column that has it in full.
 */
#define PF_COL_KIND(kind) ((enum pf_col_kind)((kind)&0xff))
#define PF_FULL           0x100 /* csv and json only */
#define PF_BRIEF          0x200 /* text and md only */
#define PF_KNOWN          0x400 /* of a field: null if negative (below) */
#define PF_ABSENT         0x800 /* not this time: the table is made without it */
#define PF_MAYBE          0x1000 /* of a field: null if PF_NO_INT */
#define PF_SIGNED         0x8000 /* a change: text and md show its '+' */
#define PF_SPARE          0x2000 /* text leaves it out before names are cut */
#define PF_WHOLE          0x4000 /* prose: text cuts nothing of it */
/*
 * People see no row that is 0 or null in such a column, and no such figure:
 * there is nothing of it.
 */
#define PF_QUIET  0x10000
#define PF_OURS   0x20000 /* words of ours, none of a trace: never redacted */
#define PF_NO_INT INT64_MIN
/* How pages show it; other formats do not ask. */
#define PF_BAR    0x40000  /* a share, with a bar as long */
#define PF_SYMBOL 0x80000  /* a kernel's name: short, whole as a tooltip */
#define PF_FRAME  0x100000 /* "file.py:12 f": a link to the source */
#define PF_UNUSED 0x200000 /* left out if all rows are 0: nothing of it */

struct pf_col {
	const char *key, *title;
	enum pf_col_kind kind;
};

enum pf_cell_type { PF_CELL_NULL, PF_CELL_INT, PF_CELL_REAL, PF_CELL_TEXT };

struct pf_cell {
	enum pf_cell_type type;
	union {
		int64_t i;
		double d;
		struct {
			const char *s; /* followed by a NUL */
			size_t len;
		} text;
	} v;
};

/*
 * Where rows go one at a time, so that a query of millions of rows needs no
 * memory: a renderer's stream or a table.  head() is called once, before the
 * first row; everything passed is borrowed until the call returns.
 */
struct pf_row_sink {
	int (*head)(struct pf_row_sink *s, const struct pf_col *cols,
		    size_t count, struct pf_err *err);
	int (*row)(struct pf_row_sink *s, const struct pf_cell *cells,
		   struct pf_err *err);
};

/* Opaque; owns copies of its columns and texts. */
struct pf_table;

struct pf_table *pf_table_new(const char *name, const char *title,
			      const struct pf_col *cols, size_t count);
void pf_table_free(struct pf_table *t);

/* Add the next cell. */
void pf_table_int(struct pf_table *t, int64_t value);
void pf_table_real(struct pf_table *t, double value);
void pf_table_text(struct pf_table *t, const char *s, size_t len);
void pf_table_string(struct pf_table *t, const char *s); /* NULL: null */
void pf_table_null(struct pf_table *t);
/*
 * A whole number that 64 bits cannot hold, in a column of numbers: a text to
 * renderers, but JSON has it as the number that it is.
 */
void pf_table_digits(struct pf_table *t, const char *digits);
/* Null if negative: not known. */
void pf_table_known(struct pf_table *t, int64_t value);
void pf_table_cell(struct pf_table *t, const struct pf_cell *cell);

/*
 * Which rows stay, and in which order.  A word names a column: its key, or
 * the key without "_ns", "_bytes", "_count", "_share" or "_percent".  Numbers
 * come largest first and texts from A to Z; a "-" before the word reverses
 * that.  Empty cells come last, equal ones in the order of adding.
 */
struct pf_order {
	const char *word; /* borrowed; NULL: in the order of adding */
	int64_t limit;    /* rows that stay; -1: all */
};

/*
 * Call before the first row.  Rows that do not stay are dropped as others
 * come, so that memory depends on the limit only.  A word that names no
 * column orders nothing.
 */
void pf_table_order(struct pf_table *t, const struct pf_order *order);

/* All rows are there: put them in order.  Returns how many were dropped. */
int64_t pf_table_settle(struct pf_table *t);

/* Name: [a-z0-9_]+, the JSON key.  Title: for people, or NULL. */
const char *pf_table_name(const struct pf_table *t);
const char *pf_table_title(const struct pf_table *t);
size_t pf_table_col_count(const struct pf_table *t);
const struct pf_col *pf_table_cols(const struct pf_table *t);
/* With those that were declared as PF_ABSENT, which come last. */
size_t pf_table_declared(const struct pf_table *t);
/* Ends the program if the cells do not fill their rows: that is a bug. */
size_t pf_table_row_count(const struct pf_table *t);
size_t pf_table_least(const struct pf_table *t);
/* The cells of row r; borrowed until the next cell is added. */
const struct pf_cell *pf_table_row(const struct pf_table *t, size_t r);

struct pf_scalar {
	struct pf_col col;
	struct pf_cell cell;
};

/* A check that was asked for. */
struct pf_check {
	const char *name;
	const char *why; /* it failed, or was not judged; NULL: it passed */
	bool is_failed;
};

struct pf_doc {
	struct pf_scalar *scalars;
	size_t scalar_count, scalar_cap;
	struct pf_table **tables;
	size_t table_count, table_cap;
	/* The finding is all there is to say: no empty tables for people. */
	bool is_nothing;
	/* Of many ranks: people get a page of it, as of folded tables. */
	bool is_of_many;
	/* Tables after these may be folded away; 0: none. */
	size_t main_tables;
	const char **notes;
	size_t note_count, note_cap;
	size_t failed_count; /* of the notes, the first: checks that failed */
	struct pf_check *checks; /* all that were asked for */
	size_t check_count, check_cap;
	struct pf_arena texts; /* but those of tables */
	/*
	 * Set by who asks for the document, or not at all: names of tables
	 * with a space between them.  Those are cut to the limit of "order",
	 * and the first is put in its order.  Both are borrowed.
	 */
	const char *lists;
	struct pf_order order;
};

void pf_doc_release(struct pf_doc *doc);

void pf_doc_int(struct pf_doc *doc, const char *key, const char *title,
		enum pf_col_kind kind, int64_t value);
void pf_doc_real(struct pf_doc *doc, const char *key, const char *title,
		 enum pf_col_kind kind, double value);
/* A figure that is not known. */
void pf_doc_null(struct pf_doc *doc, const char *key, const char *title,
		 enum pf_col_kind kind);
/* s NULL: null. */
void pf_doc_string(struct pf_doc *doc, const char *key, const char *title,
		   const char *s);

/*
 * The answer in one sentence without a full stop, under the key "finding":
 * for people it stands above everything else.  Call it first.
 */
#define PF_DOC_FINDING "finding"
void pf_doc_finding(struct pf_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * All rows of the lists are there: put them in order, and note how many were
 * left out.  PF_EUSAGE if the first list has no column of order.word.
 */
int pf_doc_settle(struct pf_doc *doc, struct pf_err *err);

/* A new table at the end; borrowed, the document frees it. */
struct pf_table *pf_doc_table(struct pf_doc *doc, const char *name,
			      const char *title, const struct pf_col *cols,
			      size_t count);
/* The same of a table that has its rows, in the order of the lists. */
void pf_doc_adopt(struct pf_doc *doc, struct pf_table *t);

/*
 * A sentence without a full stop; may quote texts from traces.  Cut at 1023
 * bytes.
 */
void pf_doc_note(struct pf_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * A check that was asked for, called what was asked, failed: "failed: " and the
 * reason, before all other notes.  Formats for people begin with them.
 */
void pf_doc_failed(struct pf_doc *doc, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* It was not judged: a note "not failed: " and why. */
void pf_doc_unjudged(struct pf_doc *doc, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void pf_doc_passed(struct pf_doc *doc, const char *name);

/*
 * Tables and figures out of structs: a column is a field, so what is declared
 * and what is shown cannot differ.
 *
 *	struct gap { int64_t stream, gap_ns; const char *after; };
 *	static const struct pf_field gap_fields[] = {
 *		PF_FIELD(struct gap, stream, "Stream", PF_INT),
 *		PF_FIELD(struct gap, gap_ns, "Idle", PF_NS),
 *		PF_FIELD(struct gap, after, "after_op", "After", PF_TEXT),
 *	};
 *	PF_ROWS(doc, "gaps", "Idle time", gap_fields, gaps, gap_count);
 *
 * A field is an int64_t, a double, a bool or a const char *; a member of
 * another type does not compile.  Null are: an integer of kind PF_KNOWN that
 * is negative or of kind PF_MAYBE that is PF_NO_INT, a double that is not a number, a text that is NULL.  Texts are
 * copied.
 *
 * Columns that are not there in all cases: put fields into an array of one's
 * own and add PF_ABSENT to the kind of some.
 */

enum pf_field_type {
	PF_FIELD_INT,
	PF_FIELD_REAL,
	PF_FIELD_BOOL,
	PF_FIELD_TEXT
};

struct pf_field {
	struct pf_col col;
	enum pf_field_type type;
	size_t at, row_bytes; /* of the member; of its struct */
};

#define PF_FIELD_TYPE(member)                                                  \
	_Generic((member), int64_t                                 \
		 : PF_FIELD_INT, double                            \
		 : PF_FIELD_REAL, bool                             \
		 : PF_FIELD_BOOL, const char *                     \
		 : PF_FIELD_TEXT)

/* "row" is the type of the struct; without a key it is the member's name. */
#define PF_FIELD(...)                                                          \
	PF_FIELD_AS(__VA_ARGS__, PF_FIELD_KEYED, PF_FIELD_NAMED, )(__VA_ARGS__)
#define PF_FIELD_AS(row, member, a, b, c, which, ...) which
#define PF_FIELD_NAMED(row, member, title, kind)                               \
	PF_FIELD_KEYED(row, member, #member, title, kind)
#define PF_FIELD_KEYED(row, member, key, title, kind)                          \
	{                                                                      \
		{ key, title, kind }, PF_FIELD_TYPE(((row *)NULL)->member),    \
			offsetof(row, member), sizeof(row)                     \
	}

/* An array of fields, as two arguments. */
#define PF_FIELDS(fields) (fields), (sizeof(fields) / sizeof(*(fields)))

/* An empty table with these columns, as pf_doc_table(). */
struct pf_table *pf_doc_fields(struct pf_doc *doc, const char *name,
			       const char *title, const struct pf_field *fields,
			       size_t count);

/* The same of no document, as pf_table_new(). */
struct pf_table *pf_fields_table(const char *name, const char *title,
				 const struct pf_field *fields, size_t count);

/* Add one row; "row" is an lvalue.  A row of another size is a bug: abort. */
#define PF_PUT(t, fields, row)                                                 \
	pf_table_put(t, PF_FIELDS(fields), &(row), sizeof(row))
void pf_table_put(struct pf_table *t, const struct pf_field *fields,
		  size_t count, const void *row, size_t row_bytes);

/* A table of an array; borrowed, as pf_doc_table(). */
#define PF_ROWS(doc, name, title, fields, rows, row_count)                     \
	pf_doc_rows(doc, name, title, PF_FIELDS(fields), rows, row_count,      \
		    sizeof(*(rows)))
struct pf_table *pf_doc_rows(struct pf_doc *doc, const char *name,
			     const char *title, const struct pf_field *fields,
			     size_t count, const void *rows, size_t row_count,
			     size_t row_bytes);

/* The fields of one struct as figures of the document. */
#define PF_SCALARS(doc, fields, row)                                           \
	pf_doc_put(doc, PF_FIELDS(fields), &(row), sizeof(row))
void pf_doc_put(struct pf_doc *doc, const struct pf_field *fields, size_t count,
		const void *row, size_t row_bytes);

/* A share or a mean; not a number, so null, if there is no whole. */
static inline double pf_ratio(double part, int64_t whole)
{
	return whole > 0 ? part / (double)whole : NAN;
}

/* What a field of a row holds; a text is borrowed. */
struct pf_cell pf_field_cell(const struct pf_field *field, const void *row);

/*
 * Reading tables back from a document by their keys: the pages show them in
 * columns of their choice (page/html.h).  Who wants a figure reads the
 * struct of its analysis.
 */

/* NULL if there is none: for figures and tables that are there at times. */
const struct pf_scalar *pf_doc_find(const struct pf_doc *doc, const char *key);
const struct pf_table *pf_doc_find_table(const struct pf_doc *doc,
					 const char *name);

/* The number of a column, -1 if the table (or NULL) has none of this key. */
int pf_table_find(const struct pf_table *t, const char *key);
/*
 * The same of a key that tables of this kind have: one that was not declared,
 * not even as PF_ABSENT, is a bug of the caller and ends the program.
 */
int pf_table_need(const struct pf_table *t, const char *key);

/*
 * A cell; NULL if there is no table, no such row, the column is absent, or it
 * holds null.  The key is needed (pf_table_need()), here and below.
 */
const struct pf_cell *pf_table_at(const struct pf_table *t, size_t row,
				  const char *key);

/* Numbers; 0 for what is null or a text, and for a row that is not there. */
double pf_cell_real(const struct pf_cell *cell);
int64_t pf_table_int_at(const struct pf_table *t, size_t row, const char *key);
double pf_table_real_at(const struct pf_table *t, size_t row, const char *key);

/* A text; NULL for what is null or a number; the key is needed as above. */
const char *pf_table_text_at(const struct pf_table *t, size_t row,
			     const char *key);

/* The sentence of a document, NULL if it has none. */
const char *pf_doc_find_finding(const struct pf_doc *doc);

/* Rows of a table; 0 for NULL. */
size_t pf_table_rows(const struct pf_table *t);

/*
 * Tables with rows of many ranks, for people: instead of a row per rank the
 * quantiles over the rows, and the rows that are farthest out.  Lists, which
 * are cut to a length anyway, stay as they are, and so does every document
 * that is for programs.
 */

#define PF_FOLD_RANKS 16 /* a row each of so many is read at a glance */
#define PF_FOLD_OUTER 5  /* rows that stay */

/*
 * False: there is none.  Fold each table but the lists whose column "rank", or else "trace_id", has
 * more than PF_FOLD_RANKS values, and note what was done.  Rows min, p50, p90
 * and max hold quantiles of each measured column, and of others what is the
 * same in every row.  The rows that stay are those farthest from p50 in the
 * time that varies most in proportion, or else in another measure.  Of rows
 * of different things (several of a rank that a text tells apart) there are no
 * quantiles: the first of them stay, as of long
 * tables of groups of ranks beside folded ones.
 */
bool pf_doc_fold(struct pf_doc *doc);
