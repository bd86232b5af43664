/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "embed/asset.h"
#include "store/named.h"

sqlite3_stmt *pf_named_prepare(struct pf_db *db, const char *name,
			       struct pf_err *err)
{
	char path[128];
	const char *sql;
	sqlite3_stmt *stmt;

	snprintf(path, sizeof(path), "schema/load/%s.sql", name);
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

/* Do the columns of the statement have the names of the table's keys? */
static int check_columns(sqlite3_stmt *stmt, const char *name,
			 const struct pf_table *table, struct pf_err *err)
{
	const struct pf_col *cols = pf_table_cols(table);
	size_t count = pf_table_col_count(table);

	if ((size_t)sqlite3_column_count(stmt) != count)
		return pf_fail(err, PF_EDB,
			       "query '%s' has %d columns, not %zu", name,
			       sqlite3_column_count(stmt), count);
	for (size_t i = 0; i < count; i++) {
		const char *key = sqlite3_column_name(stmt, (int)i);

		if (!key || strcmp(key, cols[i].key) != 0)
			return pf_fail(err, PF_EDB,
				       "query '%s': column %zu is '%s', "
				       "not '%s'",
				       name, i, key ? key : "", cols[i].key);
	}
	return 0;
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
