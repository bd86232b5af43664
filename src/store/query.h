/* SPDX-License-Identifier: MIT */
/*
 * Ad-hoc SQL from a user: one statement that only reads.  Whatever it says,
 * nothing is written, attached or loaded.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/opt.h"
#include "show/doc.h"
#include "store/db.h"

/*
 * Statements of schema/load/NAME.sql, or schema/DIR/NAME.sql if the name is
 * "DIR/NAME", run into a table or structs whose
 * columns the caller declares: a statement whose column names differ from the
 * keys is an error, so SQL and C cannot drift apart.
 */

/* Prepare it; NULL on error. */
sqlite3_stmt *pf_named_prepare(struct pf_db *db, const char *name,
			       struct pf_err *err);

/* Run it and add all rows to the table; -1 and db->err. */
int pf_named_fill(struct pf_db *db, const char *name, struct pf_table *table);

/*
 * Run it: an array of structs with these fields, which are in "memory" as their
 * texts are, up to a NUL; NULL and db->err.  What is null or no number is
 * PF_NO_INT, not a number, false or NULL; members without a field are 0.
 */
void *pf_named_read(struct pf_db *db, const char *name,
		    const struct pf_field *fields, size_t count,
		    struct pf_arena *memory, size_t *row_count);

/* The same as what pf_memo_get() keeps: struct pf_named_rows. */
struct pf_named_rows {
	void *rows;
	size_t count;
	struct pf_arena memory;
};
void *pf_named_rows_new(struct pf_db *db, const char *name,
			const struct pf_field *fields, size_t count);
void pf_named_rows_free(void *rows);

/*
 * Many rows of whole numbers for one INSERT: SQLite reads them as the table
 * "feed" of this connection, whose columns are c0, c1, ...
 *
 *	INSERT INTO gpu_event(event_id, trace_id) SELECT c0, c1 FROM feed
 *
 * Bound values would cost a call and a lock each.  One feed a connection.
 */

#define PF_FEED_ROWS    128 /* others wait for the connection so long */
#define PF_FEED_COLUMNS 13

struct pf_feed_row {
	uint32_t nulls; /* bit i: cell i is NULL, whatever it holds */
	int64_t cell[PF_FEED_COLUMNS];
};

/* What it names when the statement is stepped is what that reads. */
struct pf_feed {
	size_t count; /* PF_FEED_ROWS at most */
	const struct pf_feed_row *rows;
};

/* Borrowed until pf_feed_drop(); from then on the table is empty. */
int pf_feed_register(struct pf_db *db, const struct pf_feed *feed,
		     struct pf_err *err);
void pf_feed_drop(struct pf_db *db);

/* Cell i is not known unless "known". */
static inline void pf_feed_set(struct pf_feed_row *row, int i, bool known,
			       int64_t value)
{
	row->cell[i] = value;
	row->nulls |= (uint32_t)!known << i;
}

/*
 * Run it and hand over the rows as they come; head() is called also when none
 * comes.  Blobs are handed over as text X'..' of hexadecimal digits.  A
 * statement that is wrong or does more than read is PF_EUSAGE.  Its parameters
 * are given as literals of SQL: 3, 'text', NULL.
 */
int pf_query_run(struct pf_db *db, const char *sql,
		 const struct pf_opt_list *params, struct pf_row_sink *sink,
		 struct pf_err *err);

/*
 * A database as plain tables: everything of it, with the column blocks as the
 * tables event and arg (schema/export.sql), for tools that have only SQLite.
 */

/*
 * Write a database opened with tables to the new file "out".  It is built as
 * OUT.partial and renamed when it is complete; on an error nothing is left.
 * A file at "out" is an error unless "replace".
 */
int pf_export_rows(struct pf_db *db, const char *out, bool replace,
		   struct pf_err *err);
