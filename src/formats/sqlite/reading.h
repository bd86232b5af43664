/* SPDX-License-Identifier: MIT */
/*
 * A database read table by table, each in the order of the file, into batches
 * of any size.  Every row becomes an event, a metadata event, or is counted
 * as skipped; so are the rows of tables that are not read.
 */
#ifndef PF_FORMATS_SQLITE_READING_H
#define PF_FORMATS_SQLITE_READING_H

#include "formats/sqlite/foreign.h"
#include "formats/sink.h"

/*
 * A table: its columns (times first) and what becomes of a row: 0, or -1 and
 * err.  "reader" is who reads.
 */
struct pf_reading_table {
	const char *name;
	const char *const *columns;
	size_t column_count;
	const char *where; /* only of these rows, which are no new ones */
	int (*map)(void *reader, const struct pf_rows *r, struct pf_err *err);
	/* behind the last row, or NULL */
	int (*end)(void *reader, struct pf_err *err);
	bool (*wanted)(const void *reader); /* NULL: yes */
	/*
	 * Where there is no table NAME, NAME_V2 and so on are it, the latest
	 * that has so many of the first columns; 0: no other name is.
	 */
	unsigned must;
};
#define PF_COLUMNS(list) list, sizeof(list) / sizeof(*(list))

struct pf_reading {
	struct pf_foreign *f;
	struct pf_sink *sink;
	void *reader;
	const struct pf_reading_table *const *tables;
	size_t table_count;
	const char *suffix; /* of all names, or NULL */
	/* where it is */
	size_t at;
	bool is_open;
	struct pf_rows rows;
	struct pf_reading_rest { /* rows of a table that is not read */
		const char *table;
		int64_t rows;
	} * rest;
	size_t rest_count, rest_cap;
};

void pf_reading_release(struct pf_reading *g);

/* Go on: 1 the batch is full, 0 the tables have no more. */
int pf_reading_fill(struct pf_reading *g, size_t most, struct pf_err *err);

/* The name as the file spells it; NULL: there is no such table. */
const char *pf_reading_find(const struct pf_reading *g, const char *name);
/* The same of a table, also of one of its versions. */
const char *pf_reading_version(const struct pf_reading *g,
			       const struct pf_reading_table *t);
/* Call for each row of a table that may be missing; 1 ends the reading. */
int pf_reading_each(struct pf_reading *g, const char *name,
		    const char *const *columns, size_t count,
		    int (*row)(void *reader, const struct pf_rows *,
			       struct pf_err *),
		    struct pf_err *err);

/*
 * Times of an event from its first two columns; false if it cannot be stored,
 * and then it has been counted as skipped.
 */
bool pf_reading_times(struct pf_reading *g, const struct pf_rows *r,
		      struct pf_sink_put *put);

/* Count the rows of all tables but those read and those that describe. */
int pf_reading_count_rest(struct pf_reading *g,
			  bool (*describes)(const char *table),
			  struct pf_err *err);

#endif
