/* SPDX-License-Identifier: MIT */
/*
 * SQLite databases that other programs made, read row by row: opened read-only
 * and immutable, nothing in them is run (no view, no trigger, no generated
 * column, no virtual table), and only what is stored in a table is seen.
 *
 * Which columns a table has differs from version to version: one that it lacks
 * is NULL in every row, and cells have the types that they have.  A damaged
 * page ends the reading with an error that names the table.  One thread at a
 * time may use a database and what was opened from it.
 */
#ifndef PF_FORMATS_SQLITE_FOREIGN_H
#define PF_FORMATS_SQLITE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sqlite3;
struct sqlite3_stmt;

struct pf_foreign {
	struct sqlite3 *sql;
	char **tables; /* by name, as in the file */
	size_t table_count, tables_cap;
	int64_t application_id;
	int keyed_count; /* copies of tables that can be searched */
	/* what so many bytes can hold, and take to read, at most */
	int64_t rows_left, operations_left;
};

/*
 * Open the file of a descriptor.  PF_EDATA if it is no database or has rows in
 * a journal beside it.  Closed also after a failure.
 */
int pf_foreign_open(struct pf_foreign *f, int fd, struct pf_err *err);
void pf_foreign_close(struct pf_foreign *f);

/* The name as the file spells it, of a table (no view); NULL: it has none. */
const char *pf_foreign_table(const struct pf_foreign *f, const char *name);
bool pf_foreign_has_prefix(const struct pf_foreign *f, const char *prefix);
int pf_foreign_count(struct pf_foreign *f, const char *table, int64_t *rows,
		     struct pf_err *err);

/* ---- rows ---- */

struct pf_rows {
	struct pf_foreign *from;
	struct sqlite3_stmt *st;
	const char *table;
	uint64_t has; /* bit i: the table has column i */
};

/*
 * All rows of a table in the order of the file, or those of which a condition
 * holds ("\"end\" IS NULL"; NULL: all) whose columns the table must have.  At
 * most 64 columns.  The table's name is borrowed.
 */
int pf_rows_open(struct pf_rows *r, struct pf_foreign *f, const char *table,
		 const char *const *columns, size_t count, const char *where,
		 struct pf_err *err);
void pf_rows_close(struct pf_rows *r);
/* 1 a row, 0 the end, -1 a failure. */
int pf_rows_next(struct pf_rows *r, struct pf_err *err);

enum pf_cell { PF_CELL_NULL, PF_CELL_INT, PF_CELL_OTHER };

/* A whole number (also a real one that is whole), nothing, or neither. */
enum pf_cell pf_rows_int(const struct pf_rows *r, int column, int64_t *value);
/* A number or what there is instead of one. */
int64_t pf_rows_int_or(const struct pf_rows *r, int column, int64_t instead);
/* Borrowed until the next row; false if it is no text. */
bool pf_rows_text(const struct pf_rows *r, int column, const char **text,
		  size_t *len);
bool pf_rows_real(const struct pf_rows *r, int column, double *value);

/* ---- rows by number ---- */

/* A table looked up by a number, whatever its size. */
struct pf_lookup {
	struct pf_rows rows; /* after 1: the row that was found */
	/* the row at hand, after which the next ones follow */
	bool has_row;
	int64_t current;
	int key_column;
};

/* Finds nothing if there is no such table (NULL) or it lacks the key. */
int pf_lookup_open(struct pf_lookup *l, struct pf_foreign *f, const char *table,
		   const char *key, const char *const *columns, size_t count,
		   struct pf_err *err);
void pf_lookup_close(struct pf_lookup *l);
/* 1: columns are in l->rows until the next call, 0: there is none. */
int pf_lookup_find(struct pf_lookup *l, int64_t key, struct pf_err *err);

#endif
