/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "fuzz/kept.h"

#include <stdbool.h>
#include <string.h>

#include "fuzz/fuzz.h"

#define CONNECTIONS 32
#define STATEMENTS  4096 /* places of a table that is never full */
#define PAGE_BYTES  4608 /* with SQLite's head */
#define PAGES       1000

static sqlite3 *connections[CONNECTIONS];

static struct known {
	sqlite3 *sql;
	char *text; /* that was given, with what follows */
	size_t len; /* of this statement */
	sqlite3_stmt *statement;
	bool is_free;
} known[STATEMENTS];
static size_t known_count;
static struct known *of[STATEMENTS]; /* by the statement */

int __real_sqlite3_prepare_v2(sqlite3 *sql, const char *text, int len,
			      sqlite3_stmt **statement, const char **rest);
int __real_sqlite3_finalize(sqlite3_stmt *statement);
int __real_sqlite3_exec(sqlite3 *sql, const char *text,
			int (*row)(void *, int, char **, char **), void *arg,
			char **message);
int __wrap_sqlite3_prepare_v2(sqlite3 *sql, const char *text, int len,
			      sqlite3_stmt **statement, const char **rest);
int __wrap_sqlite3_finalize(sqlite3_stmt *statement);
int __wrap_sqlite3_exec(sqlite3 *sql, const char *text,
			int (*row)(void *, int, char **, char **), void *arg,
			char **message);

void fuzz_keep_pages(void)
{
	static long long pages[PAGES * PAGE_BYTES / sizeof(long long)];

	FUZZ_CHECK(!sqlite3_config(SQLITE_CONFIG_PAGECACHE, pages, PAGE_BYTES,
				   PAGES));
	/* as in main() */
	FUZZ_CHECK(!sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0));
}

void fuzz_keep_statements(sqlite3 *sql)
{
	size_t i = 0;

	while (connections[i])
		i++;
	FUZZ_CHECK(i + 1 < CONNECTIONS);
	connections[i] = sql;
}

static bool is_kept(const sqlite3 *sql)
{
	size_t i = 0;

	while (connections[i] && connections[i] != sql)
		i++;
	return connections[i];
}

/* Its first place; it may be in one of the next, up to an empty one.  Texts that
 * begin alike are few.
 */
static size_t place_of_text(const char *text)
{
	size_t hash = 5381;

	for (size_t i = 0; i < 80 && text[i]; i++)
		hash = hash * 33 + (unsigned char)text[i];
	return hash;
}

static size_t place_of(const sqlite3_stmt *statement)
{
	return (size_t)statement >> 4;
}

static void keep(size_t at, struct known k)
{
	size_t i = place_of(k.statement);

	FUZZ_CHECK(k.text);
	known[at % STATEMENTS] = k;
	while (of[i % STATEMENTS])
		i++;
	of[i % STATEMENTS] = &known[at % STATEMENTS];
	known_count++;
}

/* One that waits; NULL: *at is where it will be. */
static struct known *find(const sqlite3 *sql, const char *text, size_t *at)
{
	for (*at = place_of_text(text); known[*at % STATEMENTS].text; ++*at) {
		struct known *k = &known[*at % STATEMENTS];

		if (k->sql == sql && k->is_free && !strcmp(k->text, text))
			return k;
	}
	return NULL;
}

int __wrap_sqlite3_prepare_v2(sqlite3 *sql, const char *text, int len,
			      sqlite3_stmt **statement, const char **rest)
{
	struct known *k;
	const char *end;
	size_t at;
	int rc;

	if (!is_kept(sql))
		return __real_sqlite3_prepare_v2(sql, text, len, statement,
						 rest);
	k = find(sql, text, &at);
	if (k) {
		k->is_free = false;
		*statement = k->statement;
		if (rest)
			*rest = text + k->len;
		return SQLITE_OK;
	}
	rc = __real_sqlite3_prepare_v2(sql, text, len, statement, &end);
	if (!rc && *statement && known_count < STATEMENTS / 2)
		keep(at,
		     (struct known){ sql, strdup(text), (size_t)(end - text),
				     *statement, false });
	if (rest)
		*rest = end;
	return rc;
}

int __wrap_sqlite3_finalize(sqlite3_stmt *statement)
{
	if (!statement || !is_kept(sqlite3_db_handle(statement)))
		return __real_sqlite3_finalize(statement);
	for (size_t i = place_of(statement); of[i % STATEMENTS]; i++) {
		if (of[i % STATEMENTS]->statement != statement)
			continue;
		of[i % STATEMENTS]->is_free = true;
		sqlite3_clear_bindings(statement);
		return sqlite3_reset(statement);
	}
	return __real_sqlite3_finalize(statement);
}

int __wrap_sqlite3_exec(sqlite3 *sql, const char *text,
			int (*row)(void *, int, char **, char **), void *arg,
			char **message)
{
	sqlite3_stmt *st;
	int rc = SQLITE_OK;

	if (row || message || !is_kept(sql))
		return __real_sqlite3_exec(sql, text, row, arg, message);
	while (!rc && *text) {
		size_t at;
		struct known *k = find(sql, text, &at);

		/* it lasts, and setting it again expires all statements */
		if (k && !strncmp(text, "PRAGMA", 6)) {
			text += k->len;
			continue;
		}
		rc = __wrap_sqlite3_prepare_v2(sql, text, -1, &st, &text);
		if (rc)
			break;
		while ((rc = sqlite3_step(st)) == SQLITE_ROW)
			;
		rc = __wrap_sqlite3_finalize(st);
	}
	return rc;
}
