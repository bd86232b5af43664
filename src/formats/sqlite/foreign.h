/* SPDX-License-Identifier: MIT */
/*
 * SQLite databases that other programs made, read row by row: opened read-only
 * and immutable, nothing in them is run (no view, no trigger, no generated
 * column, no virtual table), and only what is stored in a table is seen.
 *
 * Which columns a table has differs from version to version: one that it lacks
 * is NULL in every row, and cells have the types that they have.  A damaged
 * page ends the reading with an error that names the table: it stays in the
 * database's err, and from then on nothing is found.  One thread at a time may
 * use a database and what was opened from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/spool.h"
#include "formats/sink.h"

struct sqlite3;
struct sqlite3_stmt;

struct pf_foreign {
	struct pf_err *err; /* of who opened it, for all that is asked of it */
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
void pf_rows_open(struct pf_rows *r, struct pf_foreign *f, const char *table,
		  const char *const *columns, size_t count, const char *where);
void pf_rows_close(struct pf_rows *r);
/* False: the end, or an error. */
bool pf_rows_next(struct pf_rows *r);

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
void pf_lookup_open(struct pf_lookup *l, struct pf_foreign *f,
		    const char *table, const char *key,
		    const char *const *columns, size_t count);
void pf_lookup_close(struct pf_lookup *l);
/* True: columns are in l->rows until the next call. */
bool pf_lookup_find(struct pf_lookup *l, int64_t key);

/*
 * Numbers by number, on disk if there are many: added while one table is
 * read, found while another is.  Of one key the first counts, or their sum;
 * 0 is no key.  After an error none is added or found.
 */

struct pf_keys {
	struct pf_sorter *sorter;
	struct pf_spool *spool;
	bool sums;
	bool is_sealed;
};

void pf_keys_init(struct pf_keys *k, const char *dir);
void pf_keys_release(struct pf_keys *k);
void pf_keys_add(struct pf_keys *k, int64_t key, int64_t value,
		 struct pf_err *err);
/* What is added from now on, or once one was looked for, is left out. */
void pf_keys_seal(struct pf_keys *k, struct pf_err *err);
/* False: it was not added. */
bool pf_keys_find(struct pf_keys *k, int64_t key, int64_t *value,
		  struct pf_err *err);

/*
 * A database read table by table, each in the order of the file, into batches
 * of any size.  Every row becomes an event, a metadata event, or is counted
 * as skipped; so are the rows of tables that are not read.
 */

/*
 * A table: its columns (times first) and what becomes of a row whose times can
 * be stored; all others have been counted as skipped.
 */
struct pf_reading_table {
	const char *name;
	const char *const *columns;
	size_t column_count;
	const char *where; /* only of these rows, which are no new ones */
	void (*map)(void *reader, const struct pf_rows *r,
		    struct pf_sink_put *put);
	bool is_untimed;                    /* map looks for the times itself */
	bool (*wanted)(const void *reader); /* NULL: yes */
	/*
	 * Where there is no table NAME, NAME_V2 and so on are it, the latest
	 * that has so many of the first columns; 0: no other name is.
	 */
	unsigned must;
};
#define PF_COLUMNS(list) list, sizeof(list) / sizeof(*(list))
/* One of them; after map what else is to be said: ".must = 3". */
#define PF_READ(table, list, its_map, ...)                                     \
	{                                                                      \
		.name = table, PF_COLUMNS(list), .map = its_map, __VA_ARGS__   \
	}

struct pf_reading { /* the first member of who reads: the "reader" */
	struct pf_reader base;
	const char *name; /* of the format: "nsys" */
	struct pf_foreign *f;
	struct pf_sink *sink;
	const struct pf_reading_table *tables;
	size_t table_count;
	const char *suffix; /* of all names, or NULL */
	/* tables that describe and hold no events: as LIKE has it; NULL ends */
	const char *const *describe;
	void (*begin)(struct pf_reading *g);  /* before the first table */
	void (*finish)(struct pf_reading *g); /* behind the last, or NULL */
	bool has_begun;
	/* where it is */
	size_t at;
	struct pf_rows rows;
};

void pf_reading_release(struct pf_reading *g);

/* A reader's fill(): begins, goes on, counts what is not read, finishes. */
int pf_reading_run(struct pf_reader *base, size_t most, struct pf_err *err);
/* Go on: 1 the batch is full, 0 the tables have no more, -1 an error. */
int pf_reading_fill(struct pf_reading *g, size_t most);

/* The name as the file spells it; NULL: there is no such table. */
const char *pf_reading_find(const struct pf_reading *g, const char *name);
/* The same of a table, also of one of its versions. */
const char *pf_reading_version(const struct pf_reading *g,
			       const struct pf_reading_table *t);
/* Call for each row of a table that may be missing, while that is true. */
void pf_reading_each(struct pf_reading *g, const char *name,
		     const char *const *columns, size_t count,
		     bool (*row)(void *reader, const struct pf_rows *));

/*
 * Times of an event from its first two columns; false if it cannot be stored,
 * and then it has been counted as skipped.
 */
bool pf_reading_times(struct pf_reading *g, const struct pf_rows *r,
		      struct pf_sink_put *put);

/*
 * The text of a number in a column, by a table of texts: borrowed until the
 * next call, or "string 4711" in own, and then it is counted as lost.
 */
void pf_reading_text(struct pf_reading *g, struct pf_lookup *texts,
		     const struct pf_rows *r, int column, char own[48],
		     const char **text, size_t *len);
/* The same as an entry of names, which most rows repeat. */
uint32_t pf_reading_name(struct pf_reading *g, struct pf_lookup *texts,
			 const struct pf_rows *r, int column);

/* Count the rows of all tables but those read and those that describe. */
void pf_reading_count_rest(struct pf_reading *g);
/* They are facts: "NAME_unread_TABLE". */
bool pf_reading_fact(struct pf_reader *base, size_t i, char *key,
		     size_t key_size, int64_t *value);
