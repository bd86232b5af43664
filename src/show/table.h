/* SPDX-License-Identifier: MIT */
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
#ifndef PF_SHOW_TABLE_H
#define PF_SHOW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

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
#define PF_KNOWN          0x400 /* of a field: null if negative (show/rows.h) */
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

/* The number of the column that a word (with or without "-") names, or -1. */
int pf_table_find_col(const struct pf_table *t, const char *word);

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
/* Is this key one of those that were declared as PF_ABSENT? */
bool pf_table_is_absent(const struct pf_table *t, const char *key);
/* Ends the program if the cells do not fill their rows: that is a bug. */
size_t pf_table_row_count(const struct pf_table *t);
/* The first "rows" stay when a page is made of it; 1 if nothing is said. */
void pf_table_keep(struct pf_table *t, size_t rows);
size_t pf_table_least(const struct pf_table *t);
/* The cells of row r; borrowed until the next cell is added. */
const struct pf_cell *pf_table_row(const struct pf_table *t, size_t r);

#endif
