/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "fuzz/memory.h"

#include <errno.h>
#include <pthread.h>

#include "fuzz/fuzz.h"
#include "fuzz/kept.h"
#include "store/cursor.h"

static struct pf_db db;

/* ---- what it does without: GNU ld's --wrap ---- */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how,
			  void *(*run)(void *), void *arg);
void __wrap_pf_db_start_sync(struct pf_db *written);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how,
			  void *(*run)(void *), void *arg)
{
	(void)thread;
	(void)how;
	(void)run;
	(void)arg;
	return EAGAIN;
}

/* It would be written to a file, and what it was before, too, when it forgets. */
void __wrap_pf_db_start_sync(struct pf_db *written)
{
	(void)written;
}

/* ---- the database ---- */

static void run(const char *sql)
{
	struct pf_err err = { 0 };

	if (pf_db_exec(&db, sql, &err))
		fprintf(stderr, "%s\n", err.text);
	FUZZ_CHECK(!err.code);
}

struct pf_db *fuzz_memory_begin(struct pf_err *err)
{
	if (!db.sql) {
		fuzz_keep_pages();
		FUZZ_CHECK(!pf_db_create_kind(&db, "", &pf_db_of_traces, err));
		FUZZ_CHECK(!pf_db_run_file(&db, "schema/indexes.sql", err));
		run("COMMIT; PRAGMA journal_mode=MEMORY");
		fuzz_keep_statements(db.sql);
	}
	run("BEGIN");
	db.err = err;
	return &db;
}

void fuzz_memory_end(void)
{
	run("ROLLBACK");
}

void fuzz_memory_has_no(const char *sql)
{
	struct pf_err err = { 0 };
	sqlite3_stmt *st = pf_db_prepare(&db, sql, &err);
	int rc = st ? pf_db_step(&db, st, &err) : -1;

	if (rc)
		fprintf(stderr, "%s: %s\n", sql,
			rc < 0 ? err.text
			       : (const char *)sqlite3_column_text(st, 0));
	FUZZ_CHECK(!rc);
	sqlite3_finalize(st);
}
