/* SPDX-License-Identifier: MIT */
/*
 * The database is open read-only and a statement that SQLite calls writing is
 * refused; the authorizer refuses what SQLite calls reading although it
 * touches files or the connection (ATTACH, PRAGMAs with a value).  It stays
 * only while the statement is prepared: virtual tables prepare their own.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/query.h"

static bool is_listing_pragma(const char *name)
{
	static const char *const names[] = {
		"collation_list", "compile_options", "foreign_key_list",
		"function_list",  "index_info",      "index_list",
		"index_xinfo",    "table_info",      "table_list",
		"table_xinfo",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!sqlite3_stricmp(names[i], name))
			return true;
	}
	return false;
}

static int authorize(void *unused, int action, const char *a, const char *b,
		     const char *schema, const char *source)
{
	(void)unused;
	(void)schema;
	(void)source;
	switch (action) {
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
	case SQLITE_SAVEPOINT:
	case SQLITE_TRANSACTION:
		return SQLITE_DENY;
	case SQLITE_FUNCTION:
		return sqlite3_stricmp(b, "load_extension") ? SQLITE_OK
							    : SQLITE_DENY;
	case SQLITE_PRAGMA:
		return is_listing_pragma(a) || !b ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_OK;
	}
}

static sqlite3_stmt *prepare(struct pf_db *db, const char *sql,
			     struct pf_err *err)
{
	sqlite3_stmt *stmt;
	int rc;

	sqlite3_set_authorizer(db->sql, authorize, NULL);
	stmt = pf_db_prepare(db, sql, err);
	rc = sqlite3_errcode(db->sql);
	sqlite3_set_authorizer(db->sql, NULL, NULL);
	if (!stmt) {
		if (rc == SQLITE_AUTH)
			pf_fail(err, PF_EUSAGE,
				"only statements that read are run here");
		else if (rc == SQLITE_ERROR)
			pf_fail(err, PF_EUSAGE, "%s", sqlite3_errmsg(db->sql));
		else if (rc == SQLITE_OK)
			pf_fail(err, PF_EUSAGE,
				"there must be exactly one statement");
		return NULL;
	}
	if (!sqlite3_stmt_readonly(stmt) || !sqlite3_column_count(stmt)) {
		sqlite3_finalize(stmt);
		pf_fail(err, PF_EUSAGE,
			"only statements that read are run here");
		return NULL;
	}
	return stmt;
}

static int send_head(sqlite3_stmt *stmt, size_t count, struct pf_row_sink *sink,
		     struct pf_err *err)
{
	struct pf_col *cols = pf_calloc(count, sizeof(*cols));
	int rc;

	for (size_t i = 0; i < count; i++) {
		const char *name = sqlite3_column_name(stmt, (int)i);

		cols[i] = (struct pf_col){ name ? name : "", name ? name : "",
					   PF_ANY };
	}
	rc = sink->head(sink, cols, count, err);
	free(cols);
	return rc;
}

static void add_hex(struct pf_buf *out, const unsigned char *bytes, size_t len)
{
	static const char digits[] = "0123456789ABCDEF";

	pf_buf_reserve(out, 2 * len + 3);
	pf_buf_adds(out, "X'");
	for (size_t i = 0; i < len; i++) {
		pf_buf_addc(out, digits[bytes[i] >> 4]);
		pf_buf_addc(out, digits[bytes[i] & 15]);
	}
	pf_buf_addc(out, '\'');
}

static struct pf_cell text_cell(const char *s, size_t len)
{
	return (struct pf_cell){ PF_CELL_TEXT,
				 { .text = { s ? s : "", len } } };
}

/* The value of column i; a blob's text lives in "hex". */
static struct pf_cell value_of(sqlite3_stmt *stmt, int i, struct pf_buf *hex)
{
	const void *bytes;

	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		return (struct pf_cell){
			PF_CELL_INT, { .i = sqlite3_column_int64(stmt, i) }
		};
	case SQLITE_FLOAT:
		return (struct pf_cell){
			PF_CELL_REAL, { .d = sqlite3_column_double(stmt, i) }
		};
	case SQLITE_TEXT:
		bytes = sqlite3_column_text(stmt, i);
		return text_cell(bytes, (size_t)sqlite3_column_bytes(stmt, i));
	case SQLITE_BLOB:
		bytes = sqlite3_column_blob(stmt, i);
		pf_buf_clear(hex);
		add_hex(hex, bytes, (size_t)sqlite3_column_bytes(stmt, i));
		return text_cell(hex->data, hex->len);
	default:
		return (struct pf_cell){ .type = PF_CELL_NULL };
	}
}

/* What the statement itself does wrong, as the planner did not see. */
static int step(struct pf_db *db, sqlite3_stmt *stmt, struct pf_err *err)
{
	int rc = pf_db_step(db, stmt, err);

	switch (rc < 0 ? sqlite3_errcode(db->sql) : SQLITE_OK) {
	case SQLITE_ERROR:
	case SQLITE_MISMATCH:
	case SQLITE_RANGE:
	case SQLITE_TOOBIG:
		return pf_fail(err, PF_EUSAGE, "%s", sqlite3_errmsg(db->sql));
	}
	return rc;
}

int pf_query_run(struct pf_db *db, const char *sql, struct pf_row_sink *sink,
		 struct pf_err *err)
{
	sqlite3_stmt *stmt = prepare(db, sql, err);
	struct pf_cell *cells;
	struct pf_buf *hex;
	size_t count;
	int rc;

	if (!stmt)
		return -1;
	count = (size_t)sqlite3_column_count(stmt);
	cells = pf_calloc(count, sizeof(*cells));
	hex = pf_calloc(count, sizeof(*hex));
	rc = send_head(stmt, count, sink, err);
	while (!rc) {
		rc = step(db, stmt, err);
		if (rc != 1)
			break;
		for (size_t i = 0; i < count; i++)
			cells[i] = value_of(stmt, (int)i, &hex[i]);
		rc = sink->row(sink, cells, err);
	}
	for (size_t i = 0; i < count; i++)
		pf_buf_release(&hex[i]);
	free(hex);
	free(cells);
	sqlite3_finalize(stmt);
	return rc;
}
