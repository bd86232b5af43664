/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asset.h"
#include "store/named.h"

sqlite3_stmt *pf_named_prepare(struct pf_db *db, const char *name,
			       struct pf_err *err)
{
	char path[128];
	const char *sql;
	sqlite3_stmt *stmt;

	snprintf(path, sizeof(path), "schema/%s%s.sql",
		 strchr(name, '/') ? "" : "load/", name);
	sql = pf_asset(path, NULL);
	if (!sql) {
		pf_fail(err, PF_EDB, "'%s' is missing", path);
		return NULL;
	}
	stmt = pf_db_prepare(db, sql, err);
	if (!stmt)
		pf_while(err, "'%s'", path);
	return stmt;
}

/* Has column i of the statement the name of its key? */
static int check_column(sqlite3_stmt *stmt, const char *name, size_t i,
			const char *key, struct pf_err *err)
{
	const char *have = sqlite3_column_name(stmt, (int)i);

	if (have && !strcmp(have, key))
		return 0;
	return pf_fail(err, PF_EDB, "query '%s': column %zu is '%s', not '%s'",
		       name, i, have ? have : "", key);
}

static int check_count(sqlite3_stmt *stmt, const char *name, size_t count,
		       struct pf_err *err)
{
	if ((size_t)sqlite3_column_count(stmt) == count)
		return 0;
	return pf_fail(err, PF_EDB, "query '%s' has %d columns, not %zu", name,
		       sqlite3_column_count(stmt), count);
}

static int check_columns(sqlite3_stmt *stmt, const char *name,
			 const struct pf_table *table, struct pf_err *err)
{
	size_t count = pf_table_col_count(table);
	int rc = check_count(stmt, name, count, err);

	for (size_t i = 0; !rc && i < count; i++)
		rc = check_column(stmt, name, i, pf_table_cols(table)[i].key,
				  err);
	return rc;
}

static void add_value(sqlite3_stmt *stmt, int i, struct pf_table *table)
{
	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		pf_table_int(table, sqlite3_column_int64(stmt, i));
		break;
	case SQLITE_FLOAT:
		pf_table_real(table, sqlite3_column_double(stmt, i));
		break;
	case SQLITE_NULL:
		pf_table_null(table);
		break;
	default:
		pf_table_text(table, sqlite3_column_blob(stmt, i),
			      (size_t)sqlite3_column_bytes(stmt, i));
	}
}

int pf_named_fill(struct pf_db *db, const char *name, struct pf_table *table,
		  struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, name, err);
	int rc;

	if (!stmt)
		return -1;
	rc = check_columns(stmt, name, table, err);
	while (!rc) {
		rc = pf_db_step(db, stmt, err);
		if (rc <= 0)
			break;
		for (size_t i = 0; i < pf_table_col_count(table); i++)
			add_value(stmt, (int)i, table);
		rc = 0;
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int64_t whole_of(sqlite3_stmt *stmt, int i)
{
	double d = sqlite3_column_double(stmt, i);

	if (sqlite3_column_type(stmt, i) == SQLITE_INTEGER)
		return sqlite3_column_int64(stmt, i);
	return sqlite3_column_type(stmt, i) == SQLITE_FLOAT && d > -9e18 &&
			       d < 9e18 && d == (double)(int64_t)d
		       ? (int64_t)d
		       : PF_NO_INT;
}

static void take_value(sqlite3_stmt *stmt, int i, const struct pf_field *field,
		       struct pf_arena *texts, void *row)
{
	void *at = (char *)row + field->at;

	if (field->type == PF_FIELD_INT)
		*(int64_t *)at = whole_of(stmt, i);
	else if (field->type == PF_FIELD_REAL)
		*(double *)at = sqlite3_column_type(stmt, i) == SQLITE_NULL
					? NAN
					: sqlite3_column_double(stmt, i);
	else
		*(const char **)at = pf_arena_string(
			texts, (const char *)sqlite3_column_text(stmt, i));
}

void *pf_named_rows_take(struct pf_db *db, const char *name,
			 const struct pf_field *fields, size_t count,
			 struct pf_arena *texts, size_t *row_count,
			 struct pf_err *err)
{
	size_t size = fields->row_bytes, cap = 1;
	sqlite3_stmt *stmt = pf_named_prepare(db, name, err);
	char *rows = pf_calloc(1, size);
	int rc = stmt ? check_count(stmt, name, count, err) : -1;

	for (size_t i = 0; !rc && i < count; i++)
		rc = check_column(stmt, name, i, fields[i].col.key, err);
	*row_count = 0;
	while (!rc && (rc = pf_db_step(db, stmt, err)) == 1) {
		rows = pf_grow(rows, &cap, *row_count + 1, size);
		for (size_t i = 0; i < count; i++)
			take_value(stmt, (int)i, &fields[i], texts,
				   rows + *row_count * size);
		++*row_count;
		rc = 0;
	}
	sqlite3_finalize(stmt);
	if (!rc)
		return rows;
	free(rows);
	return NULL;
}
