/* SPDX-License-Identifier: MIT */
/*
 * Each table of the new database is filled from the table (or virtual table)
 * of the same name; which columns it has is asked of the new database, whose
 * schema is our own.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/outplace.h"
#include "store/export.h"

/* ---- one table ---- */

/* Both statements, from the columns of the new table. */
static int make_sql(struct pf_db *to, const char *table, struct pf_buf *select,
		    struct pf_buf *insert, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		to, "SELECT name FROM pragma_table_info(?1) ORDER BY cid", err);
	struct pf_buf places = { 0 };
	int rc, count = 0;

	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, table, -1, SQLITE_STATIC);
	pf_buf_adds(select, "SELECT ");
	pf_buf_addf(insert, "INSERT INTO \"%s\"(", table);
	while ((rc = pf_db_step(to, st, err)) > 0) {
		const char *comma = count++ ? ", " : "";
		const unsigned char *name = sqlite3_column_text(st, 0);

		pf_buf_addf(select, "%s\"%s\"", comma, name);
		pf_buf_addf(insert, "%s\"%s\"", comma, name);
		pf_buf_addf(&places, "%s?%d", comma, count);
	}
	sqlite3_finalize(st);
	pf_buf_addf(select, " FROM \"%s\"", table);
	pf_buf_addf(insert, ") VALUES(%s)", places.data);
	pf_buf_release(&places);
	return rc;
}

static int copy_rows(struct pf_db *from, sqlite3_stmt *get, struct pf_db *to,
		     sqlite3_stmt *put, struct pf_err *err)
{
	int columns = sqlite3_column_count(get), rc;

	while ((rc = pf_db_step(from, get, err)) > 0) {
		for (int i = 0; i < columns; i++)
			sqlite3_bind_value(put, i + 1,
					   sqlite3_column_value(get, i));
		rc = pf_db_step(to, put, err);
		sqlite3_reset(put);
		if (rc < 0)
			return -1;
	}
	return rc;
}

static int copy_table(struct pf_db *from, struct pf_db *to, const char *table,
		      struct pf_err *err)
{
	struct pf_buf select = { 0 }, insert = { 0 };
	sqlite3_stmt *get = NULL, *put = NULL;
	int rc = make_sql(to, table, &select, &insert, err);

	if (!rc) {
		get = pf_db_prepare(from, select.data, err);
		put = get ? pf_db_prepare(to, insert.data, err) : NULL;
		rc = put ? copy_rows(from, get, to, put, err) : -1;
	}
	sqlite3_finalize(get);
	sqlite3_finalize(put);
	pf_buf_release(&select);
	pf_buf_release(&insert);
	return rc ? pf_while(err, "table '%s'", table) : 0;
}

/* ---- all of them ---- */

/* Names of the new tables, each followed by a NUL. */
static int list_tables(struct pf_db *to, struct pf_buf *names,
		       struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		to,
		"SELECT name FROM sqlite_schema WHERE type = 'table'"
		" AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
		err);
	int rc = st ? 0 : -1;

	while (st && (rc = pf_db_step(to, st, err)) > 0)
		pf_buf_add(names, sqlite3_column_text(st, 0),
			   (size_t)sqlite3_column_bytes(st, 0) + 1);
	sqlite3_finalize(st);
	return rc;
}

static int fill(struct pf_db *from, struct pf_db *to, struct pf_err *err)
{
	struct pf_buf names = { 0 };
	int rc = 0;

	/* It is no profan database any more: nothing of ours reads it. */
	if (pf_db_run_file(to, "schema/export.sql", err) ||
	    pf_db_exec(to, "PRAGMA application_id=0", err) ||
	    list_tables(to, &names, err))
		rc = -1;
	for (size_t at = 0; at < names.len && !rc;
	     at += strlen(names.data + at) + 1)
		rc = copy_table(from, to, names.data + at, err);
	pf_buf_release(&names);
	return rc;
}

int pf_export_rows(struct pf_db *db, const char *out, bool replace,
		   struct pf_err *err)
{
	struct pf_outrule rule = { .replace = replace,
				   .option = "--force",
				   .is_database = true };
	struct pf_outplace place;
	struct pf_db to = { 0 };
	int rc;

	pf_db_protect(db, &rule);
	if (pf_outplace_open(&place, out, &rule, err))
		return -1;
	rc = pf_db_create(&to, place.partial, err);
	if (!rc)
		rc = fill(db, &to, err);
	if (!rc)
		rc = pf_db_finish_with(&to, "schema/export_indexes.sql", err);
	if (!rc)
		rc = pf_outplace_commit(&place, err);
	pf_db_close(&to);
	pf_outplace_release(&place);
	return rc;
}
