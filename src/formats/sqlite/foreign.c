/* SPDX-License-Identifier: MIT */
/*
 * Every statement is made here, of names that are quoted; none of them is of
 * the file.  A tree of pages that goes in circles, or in which pages occur
 * many times, ends at as many rows as the file could hold (a cell takes at
 * least six bytes).
 */
#include "config.h"

#include "formats/sqlite/foreign.h"

#include <ctype.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/port.h"
#include "base/sqlite.h"

#define CELL_BYTES_MIN     6
#define OPERATIONS_AT_ONCE (1 << 20)
#define NEAR               16 /* rows that are stepped over */
#define TABLES_MAX         4096
#define TEXT_BYTES_MAX     (16 << 20)

static int fail(struct pf_foreign *f, const char *what)
{
	int code = sqlite3_errcode(f->sql), cause = pf_sqlite_errno(f->sql);

	if (cause) {
		errno = cause;
		return pf_fail_errno(f->err, "%s cannot be read", what);
	}
	if (code == SQLITE_NOTADB)
		return pf_fail(f->err, PF_EDATA,
			       "is no SQLite database, though it begins as one "
			       "(SQLITE_NOTADB)");
	if (code == SQLITE_CORRUPT || code == SQLITE_INTERRUPT)
		return pf_fail(f->err, PF_EDATA,
			       "the SQLite database is damaged or cut off: %s "
			       "cannot be read (SQLITE_CORRUPT)",
			       what);
	return pf_fail(f->err, PF_EDATA, "%s cannot be read: %s", what,
		       sqlite3_errmsg(f->sql));
}

/* What is asked whether it is there may fail, but not as a fact of the file. */
static void keep_fault(struct pf_foreign *f, const struct pf_err *why)
{
	if (why->code && !pf_err_is_of_input(why) && !f->err->code)
		*f->err = *why;
}

static int fail_table(struct pf_foreign *f, const char *table)
{
	return fail(f, PF_PRINTED(128, "table '%.100s'", table));
}

/* ---- opening ---- */

/* Its newest rows would be there, and an immutable file has none. */
static int check_journals(const char *path, struct pf_err *err)
{
	static const char *const suffixes[] = { "-wal", "-journal" };
	struct stat info;

	for (size_t i = 0; i < 2; i++) {
		PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };
		int rc;

		pf_buf_addf(&name, "%s%s", path, suffixes[i]);
		rc = stat(name.data, &info);
		if (!rc && info.st_size > 0)
			return pf_fail(
				err, PF_EDATA,
				"the database is still being written, or "
				"was not closed: there is a '%s' file "
				"beside it",
				suffixes[i]);
	}
	return 0;
}

static int add_tables(struct pf_foreign *f)
{
	PF_STMT(st) = NULL;
	int rc = sqlite3_prepare_v2(f->sql,
				    "SELECT name FROM sqlite_schema WHERE type "
				    "= 'table' AND rootpage > 0 ORDER BY name",
				    -1, &st, NULL);

	if (rc)
		return fail(f, "its list of tables");
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = pf_sqlite_text(st, 0);

		if (!name || f->table_count == TABLES_MAX)
			continue;
		*PF_ONE_MORE(f->tables, f->table_count, f->tables_cap) =
			pf_strdup(name);
	}
	if (rc != SQLITE_DONE)
		fail(f, "its list of tables");
	return rc == SQLITE_DONE ? 0 : -1;
}

/* Operations of SQLite's machine: more than any reading of the file takes. */
static int is_spent(void *arg)
{
	struct pf_foreign *f = arg;

	f->operations_left -= OPERATIONS_AT_ONCE;
	return f->operations_left < 0;
}

static void restrict_all(sqlite3 *sql)
{
	static const int off[] = {
		SQLITE_DBCONFIG_ENABLE_TRIGGER,
		SQLITE_DBCONFIG_ENABLE_VIEW,
		SQLITE_DBCONFIG_TRUSTED_SCHEMA,
		SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
	};

	for (size_t i = 0; i < PF_LEN(off); i++)
		sqlite3_db_config(sql, off[i], 0, NULL);
	sqlite3_db_config(sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_limit(sql, SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX);
	sqlite3_exec(sql,
		     "PRAGMA cell_size_check = 1; PRAGMA cache_size = -2048;"
		     "PRAGMA mmap_size = 0; PRAGMA query_only = 1",
		     NULL, NULL, NULL);
}

static int read_application_id(struct pf_foreign *f)
{
	PF_STMT(st) = NULL;
	int rc = sqlite3_prepare_v2(f->sql, "PRAGMA application_id", -1, &st,
				    NULL);

	if (!rc && sqlite3_step(st) == SQLITE_ROW)
		f->application_id = sqlite3_column_int64(st, 0);
	else
		rc = fail(f, "its head");
	return rc ? -1 : 0;
}

static bool is_file(const char *path, const struct stat *info)
{
	struct stat found;

	return !stat(path, &found) && found.st_dev == info->st_dev &&
	       found.st_ino == info->st_ino;
}

static void add_path(struct pf_buf *uri, const char *path)
{
	for (; *path; path++)
		pf_buf_addf(uri,
			    isalnum((unsigned char)*path) ||
					    strchr("/._-", *path)
				    ? "%c"
				    : "%%%02X",
			    (unsigned char)*path);
}

/*
 * SQLite opens names alone, and resolves the link of a descriptor to one: it
 * may be another file's by now, before it is opened or after.
 */
static int open_it(struct pf_foreign *f, const char *path,
		   const struct stat *info)
{
	struct pf_err *err = f->err;
	struct pf_buf uri = { 0 };
	int rc;

	pf_buf_adds(&uri, "file:");
	add_path(&uri, path);
	pf_buf_adds(&uri, "?mode=ro&immutable=1");
	rc = sqlite3_open_v2(uri.data, &f->sql,
			     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI |
				     SQLITE_OPEN_NOMUTEX,
			     NULL);
	pf_buf_release(&uri);
	if (!is_file(path, info)) {
		pf_foreign_close(f);
		return pf_fail(err, PF_EIO, "was replaced while it was read");
	}
	if (!rc)
		return 0;
	errno = f->sql ? pf_sqlite_errno(f->sql) : ENOMEM;
	if (errno)
		pf_fail_errno(f->err, "cannot be opened as a database");
	else
		pf_fail(f->err, PF_EDATA, "cannot be opened as a database: %s",
			sqlite3_errmsg(f->sql));
	pf_foreign_close(f);
	return -1;
}

int pf_foreign_open(struct pf_foreign *f, int fd, struct pf_err *err)
{
	char path[PATH_MAX];
	struct stat info;

	*f = (struct pf_foreign){ .err = err };
	if (!pf_path_of_fd(fd, path) || fstat(fd, &info))
		return pf_fail_errno(err, "cannot find the file");
	PF_TRY(check_journals(path, err));
	PF_TRY(open_it(f, path, &info));
	f->rows_left = info.st_size / CELL_BYTES_MIN;
	f->operations_left = info.st_size * 16 + 100 * OPERATIONS_AT_ONCE;
	sqlite3_progress_handler(f->sql, OPERATIONS_AT_ONCE, is_spent, f);
	restrict_all(f->sql);
	if (!read_application_id(f) && !add_tables(f))
		return 0;
	pf_foreign_close(f);
	return -1;
}

void pf_foreign_close(struct pf_foreign *f)
{
	for (size_t i = 0; i < f->table_count; i++)
		free(f->tables[i]);
	free(f->tables);
	sqlite3_close(f->sql);
	*f = (struct pf_foreign){ 0 };
}

const char *pf_foreign_table(const struct pf_foreign *f, const char *name)
{
	for (size_t i = 0; i < f->table_count; i++)
		if (!strcasecmp(f->tables[i], name))
			return f->tables[i];
	return NULL;
}

bool pf_foreign_has_prefix(const struct pf_foreign *f, const char *prefix)
{
	for (size_t i = 0; i < f->table_count; i++)
		if (!strncasecmp(f->tables[i], prefix, strlen(prefix)))
			return true;
	return false;
}

/* ---- statements ---- */

static void add_quoted(struct pf_buf *sql, const char *name)
{
	pf_buf_addc(sql, '"');
	for (; *name; name++) {
		if (*name == '"')
			pf_buf_addc(sql, '"');
		pf_buf_addc(sql, *name);
	}
	pf_buf_addc(sql, '"');
}

/* NULL: it cannot be, or there was an error before. */
static sqlite3_stmt *prepare(struct pf_foreign *f, struct pf_buf *sql,
			     const char *table)
{
	sqlite3_stmt *st = NULL;

	if (!f->err->code &&
	    sqlite3_prepare_v2(f->sql, sql->data, (int)sql->len, &st, NULL))
		fail_table(f, table);
	pf_buf_release(sql);
	return st;
}

/* ---- columns ---- */

static sqlite3_stmt *list_columns(struct pf_foreign *f, const char *table)
{
	struct pf_buf sql = { 0 };

	pf_buf_adds(&sql, "PRAGMA table_info(");
	add_quoted(&sql, table);
	pf_buf_addc(&sql, ')');
	return prepare(f, &sql, table);
}

/* Which columns of a list a table has; generated ones are not told. */
static uint64_t find_columns(struct pf_foreign *f, const char *table,
			     const char *const *columns, size_t count)
{
	PF_STMT(st) = list_columns(f, table);
	uint64_t has = 0;
	int rc = SQLITE_DONE;

	while (st && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		const char *name = pf_sqlite_text(st, 1);

		for (size_t i = 0; i < count && name; i++)
			if (!strcasecmp(name, columns[i]))
				has |= UINT64_C(1) << i;
	}
	if (rc != SQLITE_DONE)
		fail_table(f, table);
	return has;
}

/* "SELECT 1", the columns that the table has, and a key or none. */
static void add_select(struct pf_buf *sql, uint64_t has,
		       const char *const *columns, size_t count,
		       const char *key)
{
	pf_buf_adds(sql, "SELECT 1");
	for (size_t i = 0; i < count; i++) {
		pf_buf_addc(sql, ',');
		if (has >> i & 1)
			add_quoted(sql, columns[i]);
		else
			pf_buf_adds(sql, "NULL");
	}
	if (key) {
		pf_buf_addc(sql, ',');
		add_quoted(sql, key);
	}
	pf_buf_adds(sql, " FROM ");
}

void pf_rows_open(struct pf_rows *r, struct pf_foreign *f, const char *table,
		  const char *const *columns, size_t count, const char *where)
{
	struct pf_buf sql = { 0 };

	*r = (struct pf_rows){ .from = f, .table = table };
	r->has = find_columns(f, table, columns, count);
	add_select(&sql, r->has, columns, count, NULL);
	add_quoted(&sql, table);
	pf_buf_adds(&sql, " NOT INDEXED");
	if (where)
		pf_buf_addf(&sql, " WHERE %s", where);
	r->st = prepare(f, &sql, table);
}

void pf_rows_close(struct pf_rows *r)
{
	sqlite3_finalize(r->st);
	*r = (struct pf_rows){ 0 };
}

bool pf_rows_next(struct pf_rows *r)
{
	int rc = SQLITE_DONE;

	if (r->st && !r->from->err->code)
		rc = sqlite3_step(r->st);
	if (rc == SQLITE_DONE)
		return false;
	if (rc != SQLITE_ROW)
		fail_table(r->from, r->table);
	else if (--r->from->rows_left < 0)
		pf_fail(r->from->err, PF_EDATA,
			"the SQLite database is damaged: table '%.100s' "
			"has more rows than the file can hold",
			r->table);
	return !r->from->err->code;
}

/* The first of the statement is a constant; NULL: the table lacks it. */
static sqlite3_value *value_of(const struct pf_rows *r, int column)
{
	if (!(r->has >> column & 1))
		return NULL;
	return sqlite3_column_value(r->st, column + 1);
}

enum pf_cell pf_rows_int(const struct pf_rows *r, int column, int64_t *value)
{
	sqlite3_value *v = value_of(r, column);
	double real;

	*value = 0;
	switch (v ? sqlite3_value_type(v) : SQLITE_NULL) {
	case SQLITE_INTEGER:
		*value = sqlite3_value_int64(v);
		return PF_CELL_INT;
	case SQLITE_NULL:
		return PF_CELL_NULL;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(v);
		if (!(real >= -9e15 && real <= 9e15) ||
		    real != (double)(int64_t)real)
			return PF_CELL_OTHER;
		*value = (int64_t)real;
		return PF_CELL_INT;
	default:
		return PF_CELL_OTHER;
	}
}

int64_t pf_rows_int_or(const struct pf_rows *r, int column, int64_t instead)
{
	int64_t value;

	return pf_rows_int(r, column, &value) == PF_CELL_INT ? value : instead;
}

static bool text_of(sqlite3_stmt *st, int column, const char **text,
		    size_t *len)
{
	int type = sqlite3_column_type(st, column);

	if (type != SQLITE_TEXT && type != SQLITE_BLOB)
		return false;
	*text = pf_sqlite_text(st, column);
	*len = (size_t)sqlite3_column_bytes(st, column);
	if (!*text)
		*text = "";
	return true;
}

bool pf_rows_text(const struct pf_rows *r, int column, const char **text,
		  size_t *len)
{
	return r->has >> column & 1 && text_of(r->st, column + 1, text, len);
}

bool pf_rows_real(const struct pf_rows *r, int column, double *value)
{
	sqlite3_value *v = value_of(r, column);
	int type = v ? sqlite3_value_type(v) : SQLITE_NULL;

	if (type != SQLITE_FLOAT && type != SQLITE_INTEGER)
		return false;
	*value = sqlite3_value_double(v);
	return true;
}

/* ---- rows by number ---- */

/* Is the key what the table is ordered by? */
static bool is_keyed(struct pf_foreign *f, const char *table, const char *key)
{
	struct pf_err ignored = { 0 }, *given = f->err;
	int keys = 0;
	bool is = false;
	PF_STMT(st) = NULL;

	f->err = &ignored;
	st = list_columns(f, table);
	f->err = given;
	keep_fault(f, &ignored);
	while (st && sqlite3_step(st) == SQLITE_ROW) {
		const char *name = pf_sqlite_text(st, 1);
		const char *type = pf_sqlite_text(st, 2);

		if (!sqlite3_column_int(st, 5))
			continue;
		keys++;
		is = name && type && !strcasecmp(name, key) &&
		     !strcasecmp(type, "INTEGER");
	}
	return is && keys == 1;
}

static void run_all(struct pf_foreign *f, struct pf_buf *sql, const char *table)
{
	PF_STMT(st) = prepare(f, sql, table);

	if (st && sqlite3_step(st) != SQLITE_DONE)
		fail_table(f, table);
}

/*
 * Copies made by CREATE TABLE AS have no key: one that can be searched, with
 * the key as its rowid.
 */
static void make_keyed(struct pf_foreign *f, const char *table, const char *key,
		       uint64_t has, const char *const *columns, size_t count)
{
	struct pf_buf make = { 0 }, fill = { 0 }, names = { 0 };

	pf_buf_adds(&names, "");
	for (size_t i = 0; i < count; i++)
		if (has >> i & 1 && strcasecmp(columns[i], "x") != 0) {
			pf_buf_addc(&names, ',');
			add_quoted(&names, columns[i]);
		}
	sqlite3_exec(f->sql, "PRAGMA query_only = 0", NULL, NULL, NULL);
	pf_buf_addf(&make, "CREATE TEMP TABLE keyed_%d(x%s)", ++f->keyed_count,
		    names.data);
	pf_buf_addf(&fill,
		    "INSERT OR IGNORE INTO temp.keyed_%d(x%s, rowid) "
		    "SELECT 1%s,",
		    f->keyed_count, names.data, names.data);
	add_quoted(&fill, key);
	pf_buf_adds(&fill, " FROM main.");
	add_quoted(&fill, table);
	pf_buf_adds(&fill, " NOT INDEXED WHERE typeof(");
	add_quoted(&fill, key);
	pf_buf_adds(&fill, ") = 'integer'");
	pf_buf_release(&names);
	run_all(f, &make, table);
	run_all(f, &fill, table);
}

void pf_lookup_open(struct pf_lookup *l, struct pf_foreign *f,
		    const char *table, const char *key,
		    const char *const *columns, size_t count)
{
	struct pf_rows *r = &l->rows;
	struct pf_buf sql = { 0 };
	bool keyed;

	*l = (struct pf_lookup){ .rows = { .from = f, .table = table },
				 .key_column = (int)count + 1 };
	if (!table || !find_columns(f, table, &key, 1))
		return;
	r->has = find_columns(f, table, columns, count);
	keyed = is_keyed(f, table, key);
	if (!keyed) {
		make_keyed(f, table, key, r->has, columns, count);
		key = "rowid";
	}
	add_select(&sql, r->has, columns, count, key);
	if (keyed)
		add_quoted(&sql, table);
	else
		pf_buf_addf(&sql, "temp.keyed_%d", f->keyed_count);
	pf_buf_adds(&sql, " WHERE ");
	add_quoted(&sql, key);
	pf_buf_adds(&sql, " >= ?1 ORDER BY ");
	add_quoted(&sql, key);
	r->st = prepare(f, &sql, table);
}

void pf_lookup_close(struct pf_lookup *l)
{
	pf_rows_close(&l->rows);
	l->has_row = false;
}

static void step_lookup(struct pf_lookup *l)
{
	int rc = sqlite3_step(l->rows.st);

	l->has_row = rc == SQLITE_ROW;
	if (l->has_row)
		l->current = sqlite3_column_int64(l->rows.st, l->key_column);
	else if (rc != SQLITE_DONE)
		fail_table(l->rows.from, l->rows.table);
}

/* Rows that are looked up mostly stand in the order of those that do. */
bool pf_lookup_find(struct pf_lookup *l, int64_t key)
{
	sqlite3_stmt *st = l->rows.st;
	bool is_near = l->has_row && key >= l->current &&
		       (uint64_t)key - (uint64_t)l->current <= NEAR;

	if (!st || l->rows.from->err->code)
		return false;
	while (is_near && l->has_row && l->current < key) {
		const int64_t before = l->current;

		step_lookup(l);
		if (l->has_row && l->current <= before) {
			pf_fail(l->rows.from->err, PF_EDATA,
				"the SQLite database is damaged: rows "
				"of table '%.100s' are out of order",
				l->rows.table);
			return false;
		}
	}
	if (!is_near) {
		sqlite3_reset(st);
		sqlite3_bind_int64(st, 1, key);
		step_lookup(l);
	}
	return l->has_row && l->current == key;
}

/* ---- keys ---- */

#define SORTER_BYTES (4u << 20)
#define SPOOL_BYTES  (2u << 20)

struct record {
	int64_t key, order, value;
};

void pf_keys_init(struct pf_keys *k, const char *dir)
{
	k->sorter = pf_sorter_new(sizeof(struct record), SORTER_BYTES, dir);
	k->spool = pf_spool_new(sizeof(struct record), SPOOL_BYTES, dir);
}

void pf_keys_release(struct pf_keys *k)
{
	pf_sorter_free(k->sorter);
	pf_spool_free(k->spool);
	*k = (struct pf_keys){ 0 };
}

void pf_keys_add(struct pf_keys *k, int64_t key, int64_t value,
		 struct pf_err *err)
{
	const struct record r = { key, 0, value };

	if (key && !k->is_sealed && !err->code)
		pf_sorter_add(k->sorter, &r, err);
}

void pf_keys_seal(struct pf_keys *k, struct pf_err *err)
{
	struct record kept = { 0 };
	const struct record *r;

	if (k->is_sealed || err->code)
		return;
	k->is_sealed = true;
	if (pf_sorter_finish(k->sorter, err))
		return;
	while ((r = pf_sorter_next(k->sorter, err))) {
		if (r->key == kept.key) {
			kept.value += k->sums ? r->value : 0;
			continue;
		}
		if (kept.key && pf_spool_add(k->spool, &kept, err))
			return;
		kept = *r;
	}
	if (kept.key && !err->code)
		pf_spool_add(k->spool, &kept, err);
}

bool pf_keys_find(struct pf_keys *k, int64_t key, int64_t *value,
		  struct pf_err *err)
{
	const struct record *r = NULL;
	uint64_t count, i;

	pf_keys_seal(k, err);
	count = pf_spool_count(k->spool);
	if (!key || !count || err->code)
		return false;
	i = pf_spool_lower_bound(k->spool, key, err);
	if (i < count)
		r = pf_spool_at(k->spool, i, err);
	if (!r || r->key != key)
		return false;
	*value = r->value;
	return true;
}

/* ---- reading ---- */

void pf_reading_release(struct pf_reading *g)
{
	pf_rows_close(&g->rows);
	*g = (struct pf_reading){ 0 };
}

const char *pf_reading_find(const struct pf_reading *g, const char *name)
{
	if (!g->suffix)
		return pf_foreign_table(g->f, name);
	return pf_foreign_table(g->f, PF_PRINTED(256, "%s%s", name, g->suffix));
}

/* "NVTX_EVENTS_V2" of "NVTX_EVENTS": 2; 0: it is none. */
static int64_t version_of(const char *table, const char *name)
{
	size_t n = strlen(name);

	return strncasecmp(table, name, n) || strncasecmp(table + n, "_V", 2)
		       ? 0
		       : pf_num_or_none(table + n + 2);
}

static bool has_columns(const struct pf_reading *g, const char *table,
			const struct pf_reading_table *t)
{
	struct pf_err ignored = { 0 }, *given = g->f->err;
	uint64_t must = (UINT64_C(1) << t->must) - 1;
	PF_AUTO(pf_rows_close) struct pf_rows r = { 0 };
	bool has;

	g->f->err = &ignored;
	pf_rows_open(&r, g->f, table, t->columns, t->column_count, NULL);
	has = r.st && (r.has & must) == must;
	g->f->err = given;
	keep_fault(g->f, &ignored);
	return has;
}

const char *pf_reading_version(const struct pf_reading *g,
			       const struct pf_reading_table *t)
{
	const char *found = pf_reading_find(g, t->name);
	int64_t last = 0;

	for (size_t i = 0; !found && t->must && i < g->f->table_count; i++)
		if (version_of(g->f->tables[i], t->name) > last &&
		    has_columns(g, g->f->tables[i], t))
			last = version_of(g->f->tables[i], t->name);
	for (size_t i = 0; last > 0 && i < g->f->table_count; i++)
		if (version_of(g->f->tables[i], t->name) == last)
			found = g->f->tables[i];
	return found;
}

/* ---- tables ---- */

static void put_row(struct pf_reading *g, const struct pf_reading_table *t)
{
	struct pf_sink_put put = { 0 };

	if (t->is_untimed || pf_reading_times(g, &g->rows, &put))
		t->map(g, &g->rows, &put);
}

/* True: the batch is full, false: the table has no more. */
static bool read_table(struct pf_reading *g, size_t most)
{
	const struct pf_reading_table *t = &g->tables[g->at];

	if (!g->rows.st) {
		const char *name = pf_reading_version(g, t);

		if (!name || (t->wanted && !t->wanted(g)))
			return false;
		pf_rows_open(&g->rows, g->f, name, t->columns, t->column_count,
			     t->where);
	}
	while (!pf_sink_is_full(g->sink, most)) {
		if (!pf_rows_next(&g->rows)) {
			pf_rows_close(&g->rows);
			return false;
		}
		put_row(g, t);
		g->sink->parsed.batch.event_count++;
	}
	return true;
}

int pf_reading_fill(struct pf_reading *g, size_t most)
{
	while (g->at < g->table_count && !read_table(g, most))
		g->at++;
	return g->f->err->code ? -1 : g->at < g->table_count;
}

void pf_reading_each(struct pf_reading *g, const char *name,
		     const char *const *columns, size_t count,
		     bool (*row)(void *, const struct pf_rows *))
{
	const char *table = pf_reading_find(g, name);
	struct pf_rows r;

	if (!table)
		return;
	pf_rows_open(&r, g->f, table, columns, count, NULL);
	while (pf_rows_next(&r) && row(g, &r))
		;
	pf_rows_close(&r);
}

/* ---- rows ---- */

bool pf_reading_times(struct pf_reading *g, const struct pf_rows *r,
		      struct pf_sink_put *put)
{
	int64_t start_ns, end_ns;
	enum pf_cell start = pf_rows_int(r, 0, &start_ns);
	enum pf_cell end = pf_rows_int(r, 1, &end_ns);

	if (start == PF_CELL_NULL) {
		pf_sink_note(g->sink, PF_SKIP_NO_TIME);
		return false;
	}
	if (start == PF_CELL_OTHER || end == PF_CELL_OTHER) {
		pf_sink_note(g->sink, PF_SKIP_MALFORMED);
		return false;
	}
	if (end == PF_CELL_NULL) {
		pf_sink_note(g->sink, PF_REPAIR_NO_DURATION);
		end_ns = start_ns;
	}
	return pf_sink_times(g->sink, start_ns, end_ns, put);
}

/* ---- texts ---- */

static bool find_text(struct pf_lookup *texts, const struct pf_rows *r,
		      int column, const char **text, size_t *len)
{
	int64_t id;

	return pf_rows_int(r, column, &id) == PF_CELL_INT &&
	       pf_lookup_find(texts, id) &&
	       pf_rows_text(&texts->rows, 0, text, len);
}

void pf_reading_text(struct pf_reading *g, struct pf_lookup *texts,
		     const struct pf_rows *r, int column, char own[48],
		     const char **text, size_t *len)
{
	int64_t id;

	if (find_text(texts, r, column, text, len))
		return;
	snprintf(own, 48, "no name");
	if (pf_rows_int(r, column, &id) == PF_CELL_INT)
		snprintf(own, 48, "string %" PRId64, id);
	pf_sink_note(g->sink, PF_REPAIR_LOST_NAME);
	*text = own;
	*len = strlen(own);
}

uint32_t pf_reading_name(struct pf_reading *g, struct pf_lookup *texts,
			 const struct pf_rows *r, int column)
{
	uint32_t *memo, none;
	const char *text;
	char own[48];
	size_t len;
	int64_t id;

	if (pf_rows_int(r, column, &id) != PF_CELL_INT)
		memo = &none;
	else if (pf_sink_memo(g->sink, PF_MEMO_NAME, 0, (uint64_t)id, &memo))
		return *memo;
	pf_reading_text(g, texts, r, column, own, &text, &len);
	/* Each time that it is met is counted. */
	if (text == own && memo != &none)
		pf_sink_forget(g->sink, PF_MEMO_NAME, 0, (uint64_t)id);
	return *memo = pf_sink_text(g->sink, text, len);
}

/* ---- what is not read ---- */

static bool is_read(const struct pf_reading *g, const char *table)
{
	for (size_t i = 0; i < g->table_count; i++) {
		const struct pf_reading_table *t = &g->tables[i];
		const char *name = pf_reading_version(g, t);

		if (name && !strcasecmp(name, table) &&
		    (!t->wanted || t->wanted(g) || t->where))
			return true;
	}
	return false;
}

static bool is_of_suffix(const struct pf_reading *g, const char *table)
{
	size_t len = strlen(table), n = g->suffix ? strlen(g->suffix) : 0;

	return len > n && (!n || !strcasecmp(table + len - n, g->suffix));
}

/* By rows: counting by pages cannot be stopped where they go in circles. */
static int64_t count_rows(struct pf_foreign *f, const char *table)
{
	PF_AUTO(pf_rows_close) struct pf_rows r = { 0 };
	int64_t rows = 0;

	pf_rows_open(&r, f, table, NULL, 0, NULL);
	while (pf_rows_next(&r))
		rows++;
	return rows;
}

static bool describes(const struct pf_reading *g, const char *table)
{
	for (const char *const *d = g->describe; *d; d++)
		if (!sqlite3_strlike(*d, table, 0))
			return true;
	return !sqlite3_strlike("sqlite_%", table, 0);
}

/* By kind of table: those of several suffixes are one. */
void pf_reading_count_rest(struct pf_reading *g)
{
	size_t suffix = g->suffix ? strlen(g->suffix) : 0;

	for (size_t i = 0; i < g->f->table_count; i++) {
		const char *name = g->f->tables[i];

		if (is_of_suffix(g, name) && !describes(g, name) &&
		    !is_read(g, name))
			pf_sink_unread(g->sink, name, strlen(name) - suffix,
				       count_rows(g->f, name),
				       PF_OFFSET_UNKNOWN);
	}
}

bool pf_reading_fact(struct pf_reader *base, size_t i, char *key,
		     size_t key_size, int64_t *value)
{
	const struct pf_reading *g = (struct pf_reading *)base;

	return pf_sink_fact(g->sink, g->name, i, key, key_size, value);
}

int pf_reading_run(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct pf_reading *g = (struct pf_reading *)base;
	int rc;

	g->f->err = err;
	pf_sink_begin(g->sink);
	if (!g->has_begun)
		g->begin(g);
	g->has_begun = true;
	rc = pf_reading_fill(g, most);
	if (!rc)
		pf_reading_count_rest(g);
	if (!rc && g->finish)
		g->finish(g);
	return err->code ? -1 : rc;
}
