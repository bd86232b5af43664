/* SPDX-License-Identifier: MIT */
/*
 * Preloaded: counts the steps of SQLite's machine that all statements of a
 * program took, and prints them to $PROFAN_SQL_STEPS when it ends.  It is a
 * measure of work that is the same on every machine and in every run.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic long long steps;

int sqlite3_finalize(sqlite3_stmt *st)
{
	int (*next)(sqlite3_stmt *) = dlsym(RTLD_NEXT, "sqlite3_finalize");

	if (st)
		atomic_fetch_add(
			&steps,
			sqlite3_stmt_status(st, SQLITE_STMTSTATUS_VM_STEP, 0));
	return next(st);
}

__attribute__((destructor)) static void say(void)
{
	const char *path = getenv("PROFAN_SQL_STEPS");
	FILE *out = path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	fprintf(out, "%lld\n", (long long)steps);
	fclose(out);
}
