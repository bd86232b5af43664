/* SPDX-License-Identifier: MIT */
/*
 * The database file: opening, creating, statements, error text.  store/ is
 * the only folder that includes sqlite3.h (this header does so for it and for
 * the few callers in analysis/ that step statements).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* The loadable extension calls the SQLite of the program that loads it. */
#ifdef PF_EXTENSION
#include <sqlite3ext.h>
#ifdef PF_EXTENSION_MAIN
SQLITE_EXTENSION_INIT1
#else
SQLITE_EXTENSION_INIT3
#endif
#else
#include <sqlite3.h>
#endif

#include "base/err.h"
#include "base/outplace.h"
#include "base/sqlite.h"

#define PF_APPLICATION_ID 0x70664e01 /* "pfN\1": PRAGMA application_id */
#define PF_SCHEMA_VERSION 7          /* PRAGMA user_version */

/* What a database is: that of traces, or one of another kind of ours. */
struct pf_db_kind {
	int application_id, version;
	const char *what;           /* "a profan database" */
	const char *other;          /* what to do if it is of an older schema */
	const char *const *schemas; /* files of schema/, tables first; NULL */
	const char *damaged; /* the one that finds rows not ours, or NULL */
	const char *views;   /* the one of each connection, or NULL */
};

/* That of traces: schema/tables.sql. */
extern const struct pf_db_kind pf_db_of_traces;

struct pf_db_idle;  /* db.c: a statement that waits to be used again */
struct pf_memo;     /* what has been worked out */
struct pf_kept;     /* decoded blocks, or NULL */
struct pf_db_spare; /* db.c: connections beside that nobody uses now */

struct pf_db {
	sqlite3 *sql;
	/*
	 * Where who asks something of it finds what went wrong: of the thread
	 * that asks.  Given when it is opened.
	 */
	struct pf_err *err;
	char *path;       /* as given, for messages */
	struct stat file; /* that was opened, whatever has its name by now */
	/* Files that no output may replace, borrowed; none: only path. */
	const char *const *inputs;
	size_t input_count;
	_Atomic(struct pf_db_idle *) idle;
	struct pf_memo *memo;
	struct pf_kept *kept;
	bool is_beside;          /* memo and kept are another's */
	bool is_readable;        /* by other connections, too */
	struct pf_db_gate *gate; /* several threads may use this one; or NULL */
	struct pf_db_spare *spare;
	unsigned lent;
	bool is_for_one;            /* no thread helps: it lends nothing */
	const struct pf_feed *feed; /* store/query.h; or NULL */
	bool has_feeds;             /* its table is there */
};

/*
 * What SQLite opens, too, is held to base/inside.h, and is seen: which file a
 * database was read from does not depend on who has its name meanwhile.  Before
 * there are threads.
 */
int pf_db_see_files(struct pf_err *err);

/*
 * Open an existing profan database read-only.  A missing file, a file that is
 * no SQLite database, a foreign one (other application_id), or a newer
 * user_version: one clear sentence.  With_tables registers the virtual tables
 * (store/vtab.h).
 */
int pf_db_open(struct pf_db *db, const char *path, bool with_tables,
	       struct pf_err *err);

/* The same of any kind, without virtual tables. */
int pf_db_open_kind(struct pf_db *db, const char *path,
		    const struct pf_db_kind *kind, struct pf_err *err);

/*
 * Another connection to the file of an open database, for another thread.
 * They share what is worked out and read (kept.h), so it is closed before
 * that.  PF_EIO: by now another file has its name.
 */
int pf_db_open_beside(struct pf_db *db, const struct pf_db *open,
		      struct pf_err *err);

/*
 * One of these for a thread that reads ahead of this one: itself while it is
 * made, for then it serves several threads; else of those that were
 * given back, or a new one.  NULL: there is none, or enough are lent.
 */
struct pf_db *pf_db_lend(struct pf_db *db);
void pf_db_give_back(struct pf_db *db, struct pf_db *beside);

/*
 * Make an empty file (base/outplace.h) a new database with the whole schema of
 * schema/tables.sql and views.sql: journal off, synchronous off, no locks but
 * the caller's; one transaction is open on return.  The caller puts it in its
 * place after pf_db_finish().
 */
int pf_db_create(struct pf_db *db, const char *path, struct pf_err *err);

/*
 * The same of any kind.  Path "": one that is in no folder, and is gone when
 * it is closed.
 */
int pf_db_create_kind(struct pf_db *db, const char *path,
		      const struct pf_db_kind *kind, struct pf_err *err);

/*
 * Run a file of schema/ ("schema/indexes.sql"), which may hold several
 * statements.
 */
int pf_db_run_file(struct pf_db *db, const char *name, struct pf_err *err);

/*
 * Run the index file (normally "schema/indexes.sql"), ANALYZE, commit, close
 * and fsync the file.
 */
int pf_db_finish_with(struct pf_db *db, const char *indexes,
		      struct pf_err *err);
int pf_db_finish(struct pf_db *db, struct pf_err *err);

/*
 * What is in memory goes to the file, and what is in the file to the disk,
 * while more is made: there is less to wait for at the end.
 */
void pf_db_start_sync(struct pf_db *db);

void pf_db_close(struct pf_db *db); /* safe on a zero-initialised struct */

/* Is this file a profan database, which an ingest may replace? */
bool pf_db_is_ours(const char *path);
/* Is it one of this kind, of any version? */
bool pf_db_is_kind(const char *path, const struct pf_db_kind *kind);

/*
 * What a file says it is, without opening it: an application_id, or 0.  Then
 * err says why, if it cannot be read.
 */
int64_t pf_db_peek(const char *path, struct pf_err *err);

/*
 * Is it one that a command made for itself of a trace (cmd/cache.h)?  -1 if the
 * machine cannot say.
 */
int pf_db_is_cache(const char *path, struct pf_err *err);
/*
 * Is it one with this mark, which says what it was made of, and the user's own
 * file?  Who can write a folder can put any database there under any name.
 */
bool pf_db_is_cache_of(const char *path, const char *mark);

/* No output may take the place of the database or of what it was made of. */
void pf_db_protect(const struct pf_db *db, struct pf_outrule *rule);

/*
 * Several calls in one go: where threads share a connection each call waits
 * for it alone, and may wait each time.
 */
void pf_db_lock(struct pf_db *db);
void pf_db_unlock(struct pf_db *db);
/* Whoever waits in pf_db_lock() goes first, also before who never pauses. */
void pf_db_give_way(struct pf_db *db);

/*
 * Prepare one statement, or take one of the same text that is kept; trailing
 * text is an error.  NULL on error.
 */
sqlite3_stmt *pf_db_prepare(struct pf_db *db, const char *sql,
			    struct pf_err *err);
/*
 * Instead of sqlite3_finalize(), of what several ask: for the next of them, of
 * whichever thread, before the database is closed.  A connection has as many
 * as are used at once.
 */
void pf_db_keep(struct pf_db *db, sqlite3_stmt *stmt);
/*
 * sqlite3_step: 1 row, 0 done, -1 error.  NULL is a statement that could not be
 * prepared, which has said why; binding to it does nothing.
 */
int pf_db_step(struct pf_db *db, sqlite3_stmt *stmt, struct pf_err *err);
/* Bind whole numbers, the first as ?1. */
#define PF_BIND(stmt, ...)                                                     \
	pf_db_bind(stmt, (const int64_t[]){ __VA_ARGS__ },                     \
		   PF_LEN(((const int64_t[]){ __VA_ARGS__ })))
static inline void pf_db_bind(sqlite3_stmt *stmt, const int64_t *numbers,
			      size_t count)
{
	for (size_t i = 0; i < count; i++)
		sqlite3_bind_int64(stmt, (int)i + 1, numbers[i]);
}
/* A statement that gives no row is run, and made ready for the next. */
int pf_db_put(struct pf_db *db, sqlite3_stmt *stmt, struct pf_err *err);
/* The one number that a query gives; 0 without a row. */
int pf_db_number(struct pf_db *db, const char *sql, int64_t *number,
		 struct pf_err *err);
/* A cell of the row; "other" if it is null. */
int64_t pf_db_int_or(sqlite3_stmt *stmt, int column, int64_t other);
/* Run statements without results. */
int pf_db_exec(struct pf_db *db, const char *sql, struct pf_err *err);
/* Turn the connection's last error into err (of the machine: PF_EIO). */
int pf_db_fail(struct pf_db *db, const char *what, struct pf_err *err);
