/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/asset.h"
#include "base/buf.h"
#include "base/inside.h"
#include "base/mem.h"
#include "base/tempfile.h"
#include "store/kept.h"
#include "store/vtab.h"

/* ---- what a database keeps ---- */

/*
 * A thing that is being made has an entry already, so that two threads never
 * make it twice; the lock is free meanwhile, for other things and for what the
 * thing is made of.  What fails leaves no entry: who waited makes it then.
 */

struct entry {
	struct entry *next;
	pf_memo_make *make;
	void (*release)(void *);
	char *arg;  /* or NULL */
	void *made; /* NULL: somebody is at it */
};

struct pf_memo {
	pthread_mutex_t lock;
	pthread_cond_t settled; /* something was made, or was not */
	struct entry *first;
};

static struct pf_memo *memo_new(void)
{
	struct pf_memo *m = pf_calloc(1, sizeof(*m));

	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->settled, NULL);
	return m;
}

static struct entry *find(struct pf_memo *m, pf_memo_make *make,
			  const char *arg)
{
	struct entry *e = m->first;

	while (e && (e->make != make || !e->arg != !arg ||
		     (arg && strcmp(e->arg, arg) != 0)))
		e = e->next;
	return e;
}

static struct entry *add(struct pf_memo *m, pf_memo_make *make,
			 void (*release)(void *), const char *arg)
{
	struct entry *e = pf_calloc(1, sizeof(*e));

	e->make = make;
	e->release = release;
	e->arg = arg ? pf_strdup(arg) : NULL;
	e->next = m->first;
	m->first = e;
	return e;
}

static void drop(struct pf_memo *m, struct entry *e)
{
	struct entry **at = &m->first;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	free(e->arg);
	free(e);
}

const void *pf_memo_get(struct pf_db *db, pf_memo_make *make,
			void (*release)(void *), const char *arg)
{
	struct pf_memo *m = db->memo;
	struct entry *e;
	void *made;

	pthread_mutex_lock(&m->lock);
	while ((e = find(m, make, arg)) && !e->made)
		pthread_cond_wait(&m->settled, &m->lock);
	if (e) {
		pthread_mutex_unlock(&m->lock);
		return e->made;
	}
	e = add(m, make, release, arg);
	pthread_mutex_unlock(&m->lock);
	made = make(db, arg);
	pthread_mutex_lock(&m->lock);
	e->made = made;
	if (!made)
		drop(m, e);
	pthread_cond_broadcast(&m->settled);
	pthread_mutex_unlock(&m->lock);
	return made;
}

/* or NULL */
static void memo_free(struct pf_memo *m)
{
	struct entry *next;

	if (!m)
		return;
	for (struct entry *e = m->first; e; e = next) {
		next = e->next;
		e->release(e->made);
		free(e->arg);
		free(e);
	}
	pthread_cond_destroy(&m->settled);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

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

/* A file that is read sooner than another connection to it is opened. */
#define SMALL_BYTES (256 << 10)

struct pf_db_spare {
	struct pf_db db; /* the first: what is lent is this */
	struct pf_db_spare *next;
};

/* ---- errors ---- */

/* The database's own file system, or that of SQLite's temporary files. */
static int add_room(struct pf_db *db, struct pf_err *err)
{
	const char *fuller = pf_temp_dir();
	struct statvfs own, other;

	if (*db->path && !statvfs(db->path, &own) &&
	    (statvfs(fuller, &other) ||
	     own.f_bavail * own.f_frsize <= other.f_bavail * other.f_frsize))
		fuller = db->path;
	return pf_add_room(err, fuller);
}

int pf_db_fail(struct pf_db *db, const char *what, struct pf_err *err)
{
	int rc = db->sql ? sqlite3_errcode(db->sql) : SQLITE_NOMEM;
	int cause = db->sql ? pf_sqlite_errno(db->sql) : ENOMEM;

	if (rc == SQLITE_CANTOPEN && db->is_readable) {
		/* a file of its own that it makes for sorting */
		pf_fail(err, PF_EIO, "%s: %s", what, sqlite3_errmsg(db->sql));
	} else if (rc == SQLITE_CANTOPEN) {
		errno = cause;
		pf_fail_open(err, "%s", what);
	} else if (rc == SQLITE_CORRUPT && cause) {
		errno = cause;
		pf_fail_errno(err, "%s: cannot read", what);
	} else {
		/* what is written is one transaction: undone, it was full */
		bool is_undone = db->gate && sqlite3_get_autocommit(db->sql);

		pf_fail(err,
			cause || rc == SQLITE_READONLY || rc == SQLITE_PERM ||
					is_undone
				? PF_EIO
				: PF_EDB,
			"%s: %s", what,
			db->sql ? sqlite3_errmsg(db->sql) : "out of memory");
	}
	return rc == SQLITE_FULL ? add_room(db, err) : -1;
}

/* ---- statements ---- */

struct pf_db_idle {
	struct pf_db_idle *next;
	sqlite3_stmt *stmt;
};

/* The whole list is taken and what is not used given back: no ABA. */
static void add_idle(struct pf_db *db, struct pf_db_idle *list)
{
	struct pf_db_idle *last = list, *head = atomic_load(&db->idle);

	if (!list)
		return;
	while (last->next)
		last = last->next;
	do
		last->next = head;
	while (!atomic_compare_exchange_weak(&db->idle, &head, list));
}

/* SQLite remembers a text without what follows the statement. */
static bool is_text_of(sqlite3_stmt *stmt, const char *sql)
{
	const char *own = sqlite3_sql(stmt);

	while (*own && *own == *sql)
		own++, sql++;
	return !*own && !sql[strspn(sql, " \t\r\n;")];
}

static sqlite3_stmt *take_idle(struct pf_db *db, const char *sql)
{
	struct pf_db_idle *list = atomic_exchange(&db->idle, NULL), *found;
	struct pf_db_idle **at = &list;
	sqlite3_stmt *stmt = NULL;

	while (*at && !is_text_of((*at)->stmt, sql))
		at = &(*at)->next;
	found = *at;
	if (found) {
		*at = found->next;
		stmt = found->stmt;
		free(found);
	}
	add_idle(db, list);
	return stmt;
}

void pf_db_keep(struct pf_db *db, sqlite3_stmt *stmt)
{
	struct pf_db_idle *idle;

	if (!stmt)
		return;
	pf_db_lock(db);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	pf_db_unlock(db);
	idle = pf_alloc(sizeof(*idle));
	*idle = (struct pf_db_idle){ NULL, stmt };
	add_idle(db, idle);
}

static void drop_idle(struct pf_db *db)
{
	struct pf_db_idle *i = atomic_exchange(&db->idle, NULL), *next;

	for (; i; i = next) {
		next = i->next;
		sqlite3_finalize(i->stmt);
		free(i);
	}
}

sqlite3_stmt *pf_db_prepare(struct pf_db *db, const char *sql,
			    struct pf_err *err)
{
	sqlite3_mutex *mutex = sqlite3_db_mutex(db->sql);
	sqlite3_stmt *st = take_idle(db, sql);
	const char *rest;
	int rc;

	if (st)
		return st;
	sqlite3_mutex_enter(mutex);
	rc = sqlite3_prepare_v2(db->sql, sql, -1, &st, &rest);
	if (rc)
		pf_db_fail(db, "cannot prepare a statement", err);
	sqlite3_mutex_leave(mutex);
	if (rc)
		return NULL;
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
	/* why it failed is the connection's, which others would ask meanwhile */
	sqlite3_mutex *mutex = sqlite3_db_mutex(db->sql);
	int rc;

	PF_TRY(!stmt);
	sqlite3_mutex_enter(mutex);
	rc = sqlite3_step(stmt);
	rc = rc == SQLITE_ROW    ? 1
	     : rc == SQLITE_DONE ? 0
				 : pf_db_fail(db, "database", err);
	sqlite3_mutex_leave(mutex);
	return rc;
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
	PF_STMT(st) = pf_db_prepare(db, sql, err);
	int rc = pf_db_step(db, st, err);

	*number = rc > 0 ? sqlite3_column_int64(st, 0) : 0;
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
	sqlite3_mutex *mutex = sqlite3_db_mutex(db->sql);
	int rc = 0;

	sqlite3_mutex_enter(mutex);
	if (sqlite3_exec(db->sql, sql, NULL, NULL, NULL))
		rc = pf_db_fail(db, "database", err);
	sqlite3_mutex_leave(mutex);
	return rc;
}

static int64_t pragma_value(struct pf_db *db, const char *sql, bool *ok)
{
	PF_STMT(st) = NULL;
	int64_t value = 0;

	*ok = !sqlite3_prepare_v2(db->sql, sql, -1, &st, NULL) &&
	      sqlite3_step(st) == SQLITE_ROW;
	if (*ok)
		value = sqlite3_column_int64(st, 0);
	return value;
}

/* ---- opening ---- */

/*
 * What SQLite opened last, which it does not tell.  Names tell nothing: another
 * file may have this one's before and after.
 */
static __thread struct stat opened;

static int open_and_see(const char *path, int flags, int mode)
{
	int fd = pf_inside_open(path, flags, mode);

	if (fd >= 0 && fstat(fd, &opened))
		opened = (struct stat){ 0 };
	return fd;
}

int pf_db_see_files(struct pf_err *err)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	if (!vfs || vfs->iVersion < 3 ||
	    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_and_see))
		return pf_fail(err, PF_EIO,
			       "SQLite does not let its files be chosen");
	return 0;
}

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
	PF_OWN char *name = file_name(path);
	int rc;

	memset(db, 0, sizeof(*db));
	db->err = err;
	db->path = pf_strdup(path);
	db->memo = memo_new();
	rc = sqlite3_open_v2(name, &db->sql, flags, vfs);
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
	if (!ok && pf_sqlite_errno(db->sql)) {
		pf_db_fail(db, "cannot read", err);
		return pf_while(err, "'%s'", db->path);
	}
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

/*
 * Every table was made in our words, and in this order: so it is one, nothing in
 * it is computed, and no column takes what it should not.  A row of the schema
 * may name what another row makes, in other case, but not in these words.
 */
static int check_tables(struct pf_db *db, const struct pf_db_kind *kind,
			struct pf_err *err)
{
	static const char begin[] = "\nCREATE TABLE ";
	const char *at = pf_asset(kind->schemas[0], NULL), *sql;
	PF_STMT(st) = pf_db_prepare(
		db, "SELECT sql FROM sqlite_schema WHERE type = 'table'", err);

	while ((at = strstr(at, begin))) {
		size_t len = strcspn(++at, ";");

		PF_TRY(pf_db_step(db, st, err) < 0);
		sql = pf_sqlite_text(st, 0);
		if (sql && !strncmp(sql, at, len) && !sql[len])
			continue;
		at += strlen(begin + 1);
		return pf_fail(err, PF_EDB, "table %.*s", (int)strcspn(at, " "),
			       at);
	}
	return 0;
}

static int check_rows(struct pf_db *db, const struct pf_db_kind *kind,
		      struct pf_err *err)
{
	/* not by name: the extension has no tables of documents */
	PF_STMT(st) = pf_db_prepare(db, pf_asset(kind->damaged, NULL), err);
	int rc = pf_db_step(db, st, err);

	return rc == 1 ? pf_fail(err, PF_EDB, "%s", pf_sqlite_text(st, 0)) : rc;
}

/* Figures of a database that no ingest wrote could be anything. */
static int check_damage(struct pf_db *db, const struct pf_db_kind *kind,
			struct pf_err *err)
{
	if (check_tables(db, kind, err) ||
	    (kind->damaged && check_rows(db, kind, err)))
		return pf_while(err, "'%s'%s", db->path,
				err->code == PF_EIO ? "" : " is damaged");
	return 0;
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

/* is_sound: another connection to the file has looked at it. */
static int open_kind(struct pf_db *db, const char *path,
		     const struct pf_db_kind *kind, bool with_tables,
		     bool is_sound, struct pf_err *err)
{
	memset(db, 0, sizeof(*db));
	db->err = err;
	if (stat(path, &opened))
		return pf_fail_open(err, "cannot open '%s'", path);
	if (S_ISDIR(opened.st_mode))
		return pf_fail(err, PF_EOPEN,
			       "cannot open '%s': is a directory", path);
	if (open_sqlite(db, path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
			"unix-none", err)) {
		pf_db_close(db);
		return pf_while(err, "'%s'", path);
	}
	db->file = opened;
	if (check_identity(db, kind, err) ||
	    (!is_sound && check_damage(db, kind, err)) ||
	    set_up_reading(db, kind, with_tables, err)) {
		pf_db_close(db);
		return -1;
	}
	db->is_readable = true;
	db->is_for_one = db->file.st_size <= SMALL_BYTES;
	return 0;
}

int pf_db_open(struct pf_db *db, const char *path, bool with_tables,
	       struct pf_err *err)
{
	return open_kind(db, path, &pf_db_of_traces, with_tables, false, err);
}

int pf_db_open_kind(struct pf_db *db, const char *path,
		    const struct pf_db_kind *kind, struct pf_err *err)
{
	return open_kind(db, path, kind, false, false, err);
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
	drop_idle(db);
	sqlite3_close_v2(db->sql);
	if (!db->is_beside)
		memo_free(db->memo);
	free_gate(db->gate);
	free(db->path);
	*db = (struct pf_db){ .err = db->err };
}

int pf_db_open_beside(struct pf_db *db, const struct pf_db *open,
		      struct pf_err *err)
{
	PF_TRY(open_kind(db, open->path, &pf_db_of_traces, false, true, err));
	/* figures of two files must not meet */
	if (db->file.st_dev != open->file.st_dev ||
	    db->file.st_ino != open->file.st_ino) {
		pf_db_close(db);
		return pf_fail(err, PF_EIO,
			       "'%s' was replaced while it was read",
			       open->path);
	}
	memo_free(db->memo);
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
		rc = pf_fail_write(err, fd, 0, "cannot write '%s'", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

void pf_db_start_sync(struct pf_db *db)
{
	sqlite3_db_cacheflush(db->sql); /* a failure shows when it ends */
#ifdef HAVE_SYNC_FILE_RANGE
	int fd = open(db->path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	close(fd);
#endif
}

int pf_db_finish_with(struct pf_db *db, const char *indexes, struct pf_err *err)
{
	int rc = 0;

	if (pf_db_run_file(db, indexes, err) ||
	    pf_db_exec(db, "ANALYZE; COMMIT;", err))
		rc = pf_while(err, "'%s'", db->path);
	drop_idle(db);
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
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };
	bool is =
		!open_sqlite(&db, path, SQLITE_OPEN_READONLY, NULL, &ignored) &&
		!check_is_kind(&db, kind, &ignored);

	return is;
}

bool pf_db_is_ours(const char *path)
{
	return pf_db_is_kind(path, &pf_db_of_traces);
}

/* By the format of SQLite's files, which does not change. */
int64_t pf_db_peek(const char *path, struct pf_err *err)
{
	static const char magic[] = "SQLite format 3";
	unsigned char head[72];
	int fd = pf_inside_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

	if (n < 0 && errno != EISDIR && errno != ESPIPE)
		pf_fail_open(err, "cannot read '%s'", path);
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

/* What it was made of, which the caller frees; NULL: it is no such one. */
static char *cache_mark(struct pf_db *db, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		db, "SELECT value FROM meta WHERE key = 'cache'", err);
	char *mark = NULL;

	if (st && pf_db_step(db, st, err) == 1 &&
	    sqlite3_column_type(st, 0) == SQLITE_TEXT)
		mark = pf_strdup(pf_sqlite_text(st, 0));
	return mark;
}

int pf_db_is_cache(const char *path, struct pf_err *err)
{
	struct pf_err why = { 0 };
	struct pf_db db = { 0 };
	PF_OWN char *mark = NULL;
	bool is;

	if (!open_sqlite(&db, path, SQLITE_OPEN_READONLY, NULL, &why) &&
	    !check_is_kind(&db, &pf_db_of_traces, &why))
		mark = cache_mark(&db, &why);
	pf_db_close(&db);
	is = mark;
	if (!why.code || pf_err_is_of_input(&why))
		return is;
	*err = why;
	return -1;
}

bool pf_db_is_cache_of(const char *path, const char *mark)
{
	struct pf_err ignored = { 0 };
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };
	struct stat info;
	PF_OWN char *own = NULL;

	if (lstat(path, &info) || !S_ISREG(info.st_mode) ||
	    info.st_uid != geteuid() || info.st_mode & S_IWOTH)
		return false;
	if (!pf_db_open(&db, path, false, &ignored) &&
	    db.file.st_dev == info.st_dev && db.file.st_ino == info.st_ino)
		own = cache_mark(&db, &ignored);
	return own && !strcmp(own, mark);
}
