/* SPDX-License-Identifier: MIT */
/*
 * The database is open read-only and a statement that SQLite calls writing is
 * refused; the authorizer refuses what SQLite calls reading although it
 * touches files or the connection (ATTACH, PRAGMAs with a value).  It stays
 * only while the statement is prepared: virtual tables prepare their own.
 */
#include "config.h"

#include "store/query.h"

#include <stdio.h>

#include "base/asset.h"
#include "base/buf.h"
#include "base/outplace.h"

sqlite3_stmt *pf_named_prepare(struct pf_db *db, const char *name,
			       struct pf_err *err)
{
	const char *sql;
	sqlite3_stmt *stmt;

	const char *path = PF_PRINTED(128, "schema/%s%s.sql",
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

	PF_TRY(check_count(stmt, name, count, err));
	for (size_t i = 0; i < count; i++)
		PF_TRY(check_column(stmt, name, i, pf_table_cols(table)[i].key,
				    err));
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

int pf_named_fill(struct pf_db *db, const char *name, struct pf_table *table)
{
	PF_STMT(stmt) = pf_named_prepare(db, name, db->err);
	int rc;

	PF_TRY(!stmt);
	rc = check_columns(stmt, name, table, db->err);
	while (!rc) {
		rc = pf_db_step(db, stmt, db->err);
		if (rc <= 0)
			break;
		for (size_t i = 0; i < pf_table_col_count(table); i++)
			add_value(stmt, (int)i, table);
		rc = 0;
	}
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
	else if (field->type == PF_FIELD_BOOL)
		*(bool *)at = sqlite3_column_int64(stmt, i) != 0;
	else if (field->type == PF_FIELD_REAL)
		*(double *)at = sqlite3_column_type(stmt, i) == SQLITE_NULL
					? NAN
					: sqlite3_column_double(stmt, i);
	else
		*(const char **)at =
			pf_arena_string(texts, pf_sqlite_text(stmt, i));
}

void *pf_named_read(struct pf_db *db, const char *name,
		    const struct pf_field *fields, size_t count,
		    struct pf_arena *memory, size_t *row_count)
{
	size_t size = fields->row_bytes, cap = 1;
	PF_STMT(stmt) = pf_named_prepare(db, name, db->err);
	PF_OWN char *rows = pf_calloc(1, size);
	int rc = stmt ? check_count(stmt, name, count, db->err) : -1;

	for (size_t i = 0; !rc && i < count; i++)
		rc = check_column(stmt, name, i, fields[i].col.key, db->err);
	*row_count = 0;
	while (!rc && (rc = pf_db_step(db, stmt, db->err)) == 1) {
		rows = pf_grow_zero(rows, &cap, *row_count + 1, size);
		for (size_t i = 0; i < count; i++)
			take_value(stmt, (int)i, &fields[i], memory,
				   rows + *row_count * size);
		++*row_count;
		rc = 0;
	}
	return rc ? NULL
		  : memcpy(pf_arena_alloc(memory, *row_count * size), rows,
			   *row_count * size);
}

void *pf_named_rows_new(struct pf_db *db, const char *name,
			const struct pf_field *fields, size_t count)
{
	struct pf_named_rows *r = pf_calloc(1, sizeof(*r));

	r->rows = pf_named_read(db, name, fields, count, &r->memory, &r->count);
	if (r->rows)
		return r;
	pf_named_rows_free(r);
	return NULL;
}

void pf_named_rows_free(void *rows)
{
	pf_arena_release(&((struct pf_named_rows *)rows)->memory);
	free(rows);
}

/* ---- feed ---- */

struct feed_table {
	sqlite3_vtab base;
	const struct pf_db *db;
};

struct feed_cursor {
	sqlite3_vtab_cursor base;
	const struct pf_feed *feed; /* or NULL: there is none */
	size_t at;
};

static int connect(sqlite3 *sql, void *db, int argc, const char *const *argv,
		   sqlite3_vtab **out, char **message)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	struct feed_table *t;
	int rc;

	(void)argc;
	(void)argv;
	(void)message;
	pf_buf_adds(&text, "CREATE TABLE feed(");
	for (int i = 0; i < PF_FEED_COLUMNS; i++)
		pf_buf_addf(&text, "%sc%d", i ? "," : "", i);
	pf_buf_adds(&text, ")");
	rc = sqlite3_declare_vtab(sql, text.data);
	if (rc)
		return rc;
	t = pf_calloc(1, sizeof(*t));
	t->db = db;
	*out = &t->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	(void)base;
	info->estimatedRows = PF_FEED_ROWS;
	info->estimatedCost = PF_FEED_ROWS;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct feed_cursor *c = pf_calloc(1, sizeof(*c));

	c->feed = ((struct feed_table *)base)->db->feed;
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *text,
		  int argc, sqlite3_value **argv)
{
	(void)index;
	(void)text;
	(void)argc;
	(void)argv;
	((struct feed_cursor *)base)->at = 0;
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	((struct feed_cursor *)base)->at++;
	return SQLITE_OK;
}

static int is_end(sqlite3_vtab_cursor *base)
{
	const struct feed_cursor *c = (struct feed_cursor *)base;

	return !c->feed || c->at >= c->feed->count;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int i)
{
	const struct feed_cursor *c = (struct feed_cursor *)base;
	const struct pf_feed_row *row = &c->feed->rows[c->at];

	if (!(row->nulls >> i & 1))
		sqlite3_result_int64(out, row->cell[i]);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = (sqlite3_int64)((struct feed_cursor *)base)->at;
	return SQLITE_OK;
}

/* Without a way to create one it is there by its name alone. */
static const sqlite3_module module = {
	.xConnect = connect,
	.xDisconnect = disconnect,
	.xBestIndex = best_index,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = is_end,
	.xColumn = column,
	.xRowid = rowid,
};

/*
 * It stays with the connection: a module that goes takes with it how every
 * other statement was prepared.
 */
int pf_feed_register(struct pf_db *db, const struct pf_feed *feed,
		     struct pf_err *err)
{
	if (!db->has_feeds &&
	    sqlite3_create_module(db->sql, "feed", &module, db))
		return pf_db_fail(db, "cannot prepare a table", err);
	db->has_feeds = true;
	db->feed = feed;
	return 0;
}

void pf_feed_drop(struct pf_db *db)
{
	db->feed = NULL;
}

static bool is_listing_pragma(const char *name)
{
	static const char *const names[] = {
		"collation_list", "compile_options", "foreign_key_list",
		"function_list",  "index_info",      "index_list",
		"index_xinfo",    "table_info",      "table_list",
		"table_xinfo",
	};

	for (size_t i = 0; i < PF_LEN(names); i++) {
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
	PF_OWN struct pf_col *cols = pf_calloc(count, sizeof(*cols));

	for (size_t i = 0; i < count; i++) {
		const char *name = sqlite3_column_name(stmt, (int)i);

		cols[i] = (struct pf_col){ name ? name : "", name ? name : "",
					   PF_ANY };
	}
	return sink->head(sink, cols, count, err);
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

/* Parameter n, from 1, is what SQL says that this literal is. */
static int bind(struct pf_db *db, sqlite3_stmt *stmt, int n,
		const char *literal, struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf sql = { 0 };
	PF_STMT(value) = NULL;
	int rc = -1;

	pf_buf_addf(&sql, "SELECT (%s)", literal);
	value = prepare(db, sql.data, err);
	if (value && step(db, value, err) == 1)
		rc = sqlite3_bind_value(stmt, n, sqlite3_column_value(value, 0))
			     ? pf_db_fail(db, "cannot bind", err)
			     : 0;
	return rc ? pf_while(err, "parameter %d", n) : 0;
}

/* Without any they are NULL, as in every program that runs statements. */
static int bind_all(struct pf_db *db, sqlite3_stmt *stmt,
		    const struct pf_opt_list *params, struct pf_err *err)
{
	const int count = sqlite3_bind_parameter_count(stmt);

	if (params->count && params->count != (size_t)count)
		return pf_fail(err, PF_EUSAGE,
			       "the statement has %d parameters, and %zu are "
			       "given",
			       count, params->count);
	for (size_t i = 0; i < params->count; i++)
		PF_TRY(bind(db, stmt, (int)i + 1, params->items[i], err));
	return 0;
}

int pf_query_run(struct pf_db *db, const char *sql,
		 const struct pf_opt_list *params, struct pf_row_sink *sink,
		 struct pf_err *err)
{
	PF_STMT(stmt) = prepare(db, sql, err);
	PF_OWN struct pf_cell *cells = NULL;
	PF_OWN struct pf_buf *hex = NULL;
	size_t count;
	int rc;

	PF_TRY(!stmt);
	count = (size_t)sqlite3_column_count(stmt);
	cells = pf_calloc(count, sizeof(*cells));
	hex = pf_calloc(count, sizeof(*hex));
	rc = bind_all(db, stmt, params, err);
	if (!rc)
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
	return rc;
}

/*
 * Each table of the new database is filled from the table (or virtual table)
 * of the same name; which columns it has is asked of the new database, whose
 * schema is our own.
 */

/* ---- one table ---- */

/* Both statements, from the columns of the new table. */
static int make_sql(struct pf_db *to, const char *table, struct pf_buf *select,
		    struct pf_buf *insert, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		to, "SELECT name FROM pragma_table_info(?1) ORDER BY cid", err);
	PF_AUTO(pf_buf_release) struct pf_buf places = { 0 };
	int rc, count = 0;

	PF_TRY(!st);
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
	pf_buf_addf(select, " FROM \"%s\"", table);
	pf_buf_addf(insert, ") VALUES(%s)", places.data);
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
		PF_TRY(rc < 0);
	}
	return rc;
}

static int copy_table(struct pf_db *from, struct pf_db *to, const char *table,
		      struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf select = { 0 }, insert = { 0 };
	PF_STMT(get) = NULL;
	PF_STMT(put) = NULL;
	int rc = make_sql(to, table, &select, &insert, err);

	if (!rc) {
		get = pf_db_prepare(from, select.data, err);
		put = get ? pf_db_prepare(to, insert.data, err) : NULL;
		rc = put ? copy_rows(from, get, to, put, err) : -1;
	}
	return rc ? pf_while(err, "table '%s'", table) : 0;
}

/* ---- all of them ---- */

/* Names of the new tables, each followed by a NUL. */
static int list_tables(struct pf_db *to, struct pf_buf *names,
		       struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		to,
		"SELECT name FROM sqlite_schema WHERE type = 'table'"
		" AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
		err);
	int rc;

	while ((rc = pf_db_step(to, st, err)) > 0)
		pf_buf_add(names, sqlite3_column_text(st, 0),
			   (size_t)sqlite3_column_bytes(st, 0) + 1);
	return rc;
}

static int fill(struct pf_db *from, struct pf_db *to, struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf names = { 0 };

	/* It is no profan database any more: nothing of ours reads it. */
	PF_TRY(pf_db_run_file(to, "schema/export.sql", err));
	PF_TRY(pf_db_exec(to, "PRAGMA application_id=0", err));
	PF_TRY(list_tables(to, &names, err));
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1)
		PF_TRY(copy_table(from, to, names.data + at, err));
	return 0;
}

int pf_export_rows(struct pf_db *db, const char *out, bool replace,
		   struct pf_err *err)
{
	struct pf_outrule rule = { .replace = replace,
				   .option = "--force",
				   .is_database = true };
	PF_AUTO(pf_outplace_release) struct pf_outplace place = { 0 };
	PF_AUTO(pf_db_close) struct pf_db to = { 0 };

	pf_db_protect(db, &rule);
	PF_TRY(pf_outplace_open(&place, out, &rule, err));
	PF_TRY(pf_db_create(&to, place.partial, err));
	PF_TRY(fill(db, &to, err));
	PF_TRY(pf_db_finish_with(&to, "schema/export_indexes.sql", err));
	return pf_outplace_commit(&place, err);
}
