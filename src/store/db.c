/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/asset.h"
#include "store/cursor.h"
#include "store/db.h"
#include "store/kept.h"
#include "store/vtab.h"

static const char *const schemas_of_traces[] = { "schema/tables.sql",
						 "schema/views.sql", NULL };

const struct pf_db_kind pf_db_of_traces = {
	.application_id = PF_APPLICATION_ID,
	.version = PF_SCHEMA_VERSION,
	.what = "a profan database",
	.other = "ingest the trace again",
	.schemas = schemas_of_traces,
	.damaged = "schema/load/damaged.sql",
	.views = "schema/views_read.sql",
};

#define LENT_MAX 4 /* connections for threads that read ahead */

struct pf_db_spare {
	struct pf_db db; /* the first: what is lent is this */
	struct pf_db_spare *next;
};

/* ---- errors ---- */

int pf_db_fail(struct pf_db *db, const char *what, struct pf_err *err)
{
	int rc = db->sql ? sqlite3_errcode(db->sql) : SQLITE_NOMEM;
	enum pf_code code = PF_EDB;

	if (rc == SQLITE_FULL || rc == SQLITE_IOERR || rc == SQLITE_CANTOPEN ||
	    rc == SQLITE_READONLY || rc == SQLITE_PERM)
		code = PF_EIO;
	return pf_fail(err, code, "%s: %s", what,
		       db->sql ? sqlite3_errmsg(db->sql) : "out of memory");
}

/* ---- statements ---- */

sqlite3_stmt *pf_db_prepare(struct pf_db *db, const char *sql,
			    struct pf_err *err)
{
	sqlite3_stmt *st = NULL;
	const char *rest;

	if (sqlite3_prepare_v2(db->sql, sql, -1, &st, &rest)) {
		pf_db_fail(db, "cannot prepare a statement", err);
		return NULL;
	}
	rest += strspn(rest, " \t\r\n;");
	if (!st || *rest) {
		sqlite3_finalize(st);
		pf_fail(err, PF_EDB, "not exactly one statement");
		return NULL;
	}
	return st;
}

/*
 * SQLite's mutex goes to whoever comes first, most often the one that has just
 * left it.  Who waits for it in pf_db_lock() holds the gate.
 */
struct pf_db_gate {
	pthread_mutex_t lock;
};

static void add_gate(struct pf_db *db)
{
	db->gate = pf_calloc(1, sizeof(*db->gate));
	pthread_mutex_init(&db->gate->lock, NULL);
}

static void free_gate(struct pf_db_gate *gate)
{
	if (!gate)
		return;
	pthread_mutex_destroy(&gate->lock);
	free(gate);
}

/* Of a connection for one thread the mutex is NULL, which is as well. */
void pf_db_lock(struct pf_db *db)
{
	if (db->gate)
		pthread_mutex_lock(&db->gate->lock);
	sqlite3_mutex_enter(sqlite3_db_mutex(db->sql));
	if (db->gate)
		pthread_mutex_unlock(&db->gate->lock);
}

void pf_db_give_way(struct pf_db *db)
{
	if (!db->gate)
		return;
	pthread_mutex_lock(&db->gate->lock);
	pthread_mutex_unlock(&db->gate->lock);
}

void pf_db_unlock(struct pf_db *db)
{
	sqlite3_mutex_leave(sqlite3_db_mutex(db->sql));
}

int pf_db_step(struct pf_db *db, sqlite3_stmt *stmt, struct pf_err *err)
{
	switch (sqlite3_step(stmt)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return pf_db_fail(db, "database", err);
	}
}

int pf_db_put(struct pf_db *db, sqlite3_stmt *stmt, struct pf_err *err)
{
	int rc = pf_db_step(db, stmt, err);

	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return rc < 0 ? -1 : 0;
}

int pf_db_number(struct pf_db *db, const char *sql, int64_t *number,
		 struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(db, sql, err);
	int rc = st ? pf_db_step(db, st, err) : -1;

	*number = rc > 0 ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_finalize(st);
	return rc < 0 ? -1 : 0;
}

int64_t pf_db_int_or(sqlite3_stmt *stmt, int column, int64_t other)
{
	int64_t value = sqlite3_column_int64(stmt, column);

	/* null is 0, which is rare */
	return !value && sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? other
		       : value;
}

int pf_db_exec(struct pf_db *db, const char *sql, struct pf_err *err)
{
	if (sqlite3_exec(db->sql, sql, NULL, NULL, NULL))
		return pf_db_fail(db, "database", err);
	return 0;
}

static int64_t pragma_value(struct pf_db *db, const char *sql, bool *ok)
{
	sqlite3_stmt *st = NULL;
	int64_t value = 0;

	*ok = !sqlite3_prepare_v2(db->sql, sql, -1, &st, NULL) &&
	      sqlite3_step(st) == SQLITE_ROW;
	if (*ok)
		value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return value;
}

/* ---- opening ---- */

/* A path that SQLite would not take for a file name is made to be one. */
static char *file_name(const char *path)
{
	struct pf_buf name = { 0 };

	if (path[0] && path[0] != '/')
		pf_buf_adds(&name, "./");
	pf_buf_adds(&name, path);
	return name.data;
}

static int open_sqlite(struct pf_db *db, const char *path, int flags,
		       const char *vfs, struct pf_err *err)
{
	char *name = file_name(path);
	int rc;

	memset(db, 0, sizeof(*db));
	db->err = err;
	db->path = pf_strdup(path);
	db->memo = pf_memo_new();
	rc = sqlite3_open_v2(name, &db->sql, flags, vfs);
	free(name);
	return rc ? pf_db_fail(db, "cannot open", err) : 0;
}

/* A hostile database may hold anything: trust no schema, no cell. */
static int set_limits(struct pf_db *db, struct pf_err *err)
{
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_limit(db->sql, SQLITE_LIMIT_LENGTH, 256 << 20);
	sqlite3_limit(db->sql, SQLITE_LIMIT_ATTACHED, 0);
	return pf_db_exec(db, "PRAGMA cell_size_check=1; PRAGMA mmap_size=0;",
			  err);
}

/* Of any version.  Sets err to a sentence that begins with the path. */
static int check_is_kind(struct pf_db *db, const struct pf_db_kind *kind,
			 struct pf_err *err)
{
	bool ok;
	int64_t id = pragma_value(db, "PRAGMA application_id", &ok);

	if (!ok && sqlite3_errcode(db->sql) != SQLITE_NOTADB) {
		pf_db_fail(db, "cannot read", err);
		return pf_while(err, "'%s'", db->path);
	}
	if (!ok || id != kind->application_id)
		return pf_fail(err, PF_EDB, "'%s' is not %s", db->path,
			       kind->what);
	return 0;
}

static int check_identity(struct pf_db *db, const struct pf_db_kind *kind,
			  struct pf_err *err)
{
	bool ok;
	int64_t version;

	PF_TRY(check_is_kind(db, kind, err));
	version = pragma_value(db, "PRAGMA user_version", &ok);
	if (!ok || version < 1)
		return pf_fail(err, PF_EDB, "'%s' is a damaged profan database",
			       db->path);
	if (version > kind->version)
		return pf_fail(err, PF_EDB,
			       "'%s' was written by a newer profan (version "
			       "%lld of the schema, this one reads %d)",
			       db->path, (long long)version, kind->version);
	if (version < kind->version)
		return pf_fail(err, PF_EDB,
			       "'%s' was written by an older profan (version "
			       "%lld of the schema, this one reads %d); %s",
			       db->path, (long long)version, kind->version,
			       kind->other);
	return 0;
}

/* Figures of a database that no ingest wrote could be anything. */
static int check_damage(struct pf_db *db, const struct pf_db_kind *kind,
			struct pf_err *err)
{
	/* not by name: the extension has no tables of documents */
	sqlite3_stmt *st =
		pf_db_prepare(db, pf_asset(kind->damaged, NULL), err);
	int rc = st ? pf_db_step(db, st, err) : -1;

	if (rc == 1)
		rc = pf_fail(err, PF_EDB, "'%s' is damaged: %s", db->path,
			     (const char *)sqlite3_column_text(st, 0));
	else if (rc)
		pf_while(err, "'%s'%s", db->path,
			 err->code == PF_EIO ? "" : " is damaged");
	sqlite3_finalize(st);
	return rc;
}

/*
 * The temporary views are made before the connection is shut for writing.
 * What is read after is one transaction: else SQLite locks the file and looks
 * for a journal anew for every block and every text.
 */
static int set_up_reading(struct pf_db *db, const struct pf_db_kind *kind,
			  bool with_tables, struct pf_err *err)
{
	if (set_limits(db, err) ||
	    (kind->views && pf_db_exec(db, pf_asset(kind->views, NULL), err)) ||
	    (with_tables && pf_vtab_register(db->sql, err)) ||
	    pf_db_exec(db, "PRAGMA query_only=1; BEGIN;", err))
		return pf_while(err, "'%s'", db->path);
	return 0;
}

static int open_kind(struct pf_db *db, const char *path,
		     const struct pf_db_kind *kind, bool with_tables,
		     struct pf_err *err)
{
	struct stat info;

	memset(db, 0, sizeof(*db));
	db->err = err;
	if (stat(path, &info))
		return pf_fail_errno(err, "cannot open '%s'", path);
	if (S_ISDIR(info.st_mode))
		return pf_fail(err, PF_EIO, "cannot open '%s': is a directory",
			       path);
	if (open_sqlite(db, path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
			"unix-none", err)) {
		pf_db_close(db);
		return pf_while(err, "'%s'", path);
	}
	if (check_identity(db, kind, err) || check_damage(db, kind, err) ||
	    set_up_reading(db, kind, with_tables, err)) {
		pf_db_close(db);
		return -1;
	}
	db->is_readable = true;
	db->device = info.st_dev;
	db->inode = info.st_ino;
	return 0;
}

int pf_db_open(struct pf_db *db, const char *path, bool with_tables,
	       struct pf_err *err)
{
	return open_kind(db, path, &pf_db_of_traces, with_tables, err);
}

int pf_db_open_kind(struct pf_db *db, const char *path,
		    const struct pf_db_kind *kind, struct pf_err *err)
{
	return open_kind(db, path, kind, false, err);
}

static void close_spare(struct pf_db *db)
{
	struct pf_db_spare *next;

	for (struct pf_db_spare *s = db->spare; s; s = next) {
		next = s->next;
		pf_db_close(&s->db);
		free(s);
	}
}

void pf_db_close(struct pf_db *db)
{
	close_spare(db);
	pf_cursor_forget(db);
	sqlite3_close_v2(db->sql);
	if (!db->is_beside) {
		pf_memo_free(db->memo);
		pf_kept_free(db->kept);
	}
	free_gate(db->gate);
	free(db->path);
	*db = (struct pf_db){ .err = db->err };
}

/* Figures of two files must not meet.  Asked when the second is open. */
static int check_is_same(const struct pf_db *db, struct pf_err *err)
{
	struct stat info;

	if (!stat(db->path, &info) && info.st_dev == db->device &&
	    info.st_ino == db->inode)
		return 0;
	return pf_fail(err, PF_EIO, "'%s' was replaced while it was read",
		       db->path);
}

int pf_db_open_beside(struct pf_db *db, const struct pf_db *open,
		      struct pf_err *err)
{
	PF_TRY(pf_db_open(db, open->path, false, err));
	if (check_is_same(open, err)) {
		pf_db_close(db);
		return -1;
	}
	pf_memo_free(db->memo);
	db->memo = open->memo;
	db->kept = open->kept;
	db->is_beside = true;
	return 0;
}

static struct pf_db *take_spare(struct pf_db *db)
{
	struct pf_db_spare *s = db->spare;
	struct pf_err ignored = { 0 }; /* who asks reads without */

	if (s) {
		db->spare = s->next;
		return &s->db;
	}
	s = pf_calloc(1, sizeof(*s));
	/* what is read once needs no pages kept */
	if (!pf_db_open_beside(&s->db, db, &ignored) &&
	    !pf_db_exec(&s->db, "PRAGMA cache_size=-256", &ignored)) {
		s->db.err = NULL; /* that of who asks is given to it */
		return &s->db;
	}
	pf_db_close(&s->db);
	free(s);
	return NULL;
}

struct pf_db *pf_db_lend(struct pf_db *db)
{
	struct pf_db *lent = NULL;

	if (db->is_for_one || db->lent == LENT_MAX)
		return NULL;
	if (db->gate)
		lent = db;
	else if (db->is_readable)
		lent = take_spare(db);
	db->lent += lent != NULL;
	return lent;
}

void pf_db_give_back(struct pf_db *db, struct pf_db *beside)
{
	struct pf_db_spare *s = (struct pf_db_spare *)beside;

	db->lent--;
	if (beside == db)
		return;
	s->next = db->spare;
	db->spare = s;
}

/* ---- creating ---- */

int pf_db_run_file(struct pf_db *db, const char *name, struct pf_err *err)
{
	size_t len;
	const char *sql = pf_asset(name, &len);

	if (!sql)
		return pf_fail(err, PF_EDB, "%s is missing", name);
	return pf_db_exec(db, sql, err) ? pf_while(err, "%s", name) : 0;
}

static int create_schema(struct pf_db *db, const struct pf_db_kind *kind,
			 struct pf_err *err)
{
	char *identity;
	int rc;

	PF_TRY(pf_db_exec(
		db,
		"PRAGMA page_size=4096; PRAGMA journal_mode=OFF;"
		"PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
		"PRAGMA cache_size=-8192; PRAGMA temp_store=FILE;",
		err));
	identity = sqlite3_mprintf("PRAGMA application_id=%d;"
				   "PRAGMA user_version=%d; BEGIN;",
				   kind->application_id, kind->version);
	if (!identity)
		return pf_db_fail(db, "cannot create", err);
	rc = pf_db_exec(db, identity, err);
	sqlite3_free(identity);
	for (size_t i = 0; !rc && kind->schemas[i]; i++)
		rc = pf_db_run_file(db, kind->schemas[i], err);
	return rc;
}

int pf_db_create_kind(struct pf_db *db, const char *path,
		      const struct pf_db_kind *kind, struct pf_err *err)
{
	struct stat info;

	memset(db, 0, sizeof(*db));
	db->err = err;
	if (!stat(path, &info) && info.st_size)
		return pf_fail(err, PF_EIO, "'%s' is not empty", path);
	/* The caller's lock is enough, and others may not go with it. */
	if (open_sqlite(db, path,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				SQLITE_OPEN_FULLMUTEX,
			"unix-none", err) ||
	    create_schema(db, kind, err))
		return pf_while(err, "'%s'", path);
	add_gate(db);
	return 0;
}

int pf_db_create(struct pf_db *db, const char *path, struct pf_err *err)
{
	return pf_db_create_kind(db, path, &pf_db_of_traces, err);
}

static int sync_file(const char *path, struct pf_err *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), rc = 0;

	if (fd < 0 || fsync(fd))
		rc = pf_fail_errno(err, "cannot write '%s'", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

void pf_db_start_sync(struct pf_db *db)
{
	int fd = open(db->path, O_RDWR | O_CLOEXEC);

	sqlite3_db_cacheflush(db->sql); /* a failure shows when it ends */
	if (fd < 0)
		return;
	sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	close(fd);
}

int pf_db_finish_with(struct pf_db *db, const char *indexes, struct pf_err *err)
{
	int rc = 0;

	if (pf_db_run_file(db, indexes, err) ||
	    pf_db_exec(db, "ANALYZE; COMMIT;", err))
		rc = pf_while(err, "'%s'", db->path);
	pf_cursor_forget(db);
	if (!rc && sqlite3_close(db->sql) == SQLITE_OK) {
		db->sql = NULL;
		rc = sync_file(db->path, err);
	}
	pf_db_close(db);
	return rc;
}

int pf_db_finish(struct pf_db *db, struct pf_err *err)
{
	return pf_db_finish_with(db, "schema/indexes.sql", err);
}

/* ---- what may be replaced ---- */

bool pf_db_is_kind(const char *path, const struct pf_db_kind *kind)
{
	struct pf_err ignored = { 0 };
	struct pf_db db = { 0 };
	bool is =
		!open_sqlite(&db, path, SQLITE_OPEN_READONLY, NULL, &ignored) &&
		!check_is_kind(&db, kind, &ignored);

	pf_db_close(&db);
	return is;
}

bool pf_db_is_ours(const char *path)
{
	return pf_db_is_kind(path, &pf_db_of_traces);
}

/* By the format of SQLite's files, which does not change. */
int64_t pf_db_peek(const char *path)
{
	static const char magic[] = "SQLite format 3";
	unsigned char head[72];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

	if (fd >= 0)
		close(fd);
	if (n != sizeof(head) || memcmp(head, magic, sizeof(magic)) != 0)
		return 0;
	return (int64_t)head[68] << 24 | head[69] << 16 | head[70] << 8 |
	       head[71];
}

void pf_db_protect(const struct pf_db *db, struct pf_outrule *rule)
{
	rule->inputs =
		db->input_count ? db->inputs : (const char *const *)&db->path;
	rule->input_count = db->input_count ? db->input_count : 1;
}

/* ---- caches ---- */

char *pf_db_cache_mark(struct pf_db *db)
{
	struct pf_err ignored = { 0 };
	sqlite3_stmt *st = pf_db_prepare(
		db, "SELECT value FROM meta WHERE key = 'cache'", &ignored);
	char *mark = NULL;

	if (st && pf_db_step(db, st, &ignored) == 1 &&
	    sqlite3_column_type(st, 0) == SQLITE_TEXT)
		mark = pf_strdup((const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	return mark;
}

bool pf_db_is_cache(const char *path)
{
	struct pf_err ignored = { 0 };
	struct pf_db db = { 0 };
	char *mark = NULL;

	if (!open_sqlite(&db, path, SQLITE_OPEN_READONLY, NULL, &ignored) &&
	    !check_is_kind(&db, &pf_db_of_traces, &ignored))
		mark = pf_db_cache_mark(&db);
	pf_db_close(&db);
	free(mark);
	return mark;
}
