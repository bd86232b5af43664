/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a fleet that is merged: refused with a message, or a fleet
 * (of one rank that failed, where they are none) that stays the same, byte for
 * byte, when it is merged again.
 */
#include "config.h"

#include "fuzz/fuzz.h"
#include "fuzz/path.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "compare/merge.h"
#include "store/db.h"

/*
 * ---- empty databases, made once: GNU ld's --wrap ----
 *
 * One that is in no file lives on, and forgets what was written; one that is in
 * a file is a copy of the first of its kind.
 */

int __real_pf_db_create_kind(struct pf_db *db, const char *path,
			     const struct pf_db_kind *kind, struct pf_err *err);
void __real_pf_db_close(struct pf_db *db);
int __wrap_pf_db_create_kind(struct pf_db *db, const char *path,
			     const struct pf_db_kind *kind, struct pf_err *err);
int __wrap_pf_db_create(struct pf_db *db, const char *path, struct pf_err *err);
void __wrap_pf_db_close(struct pf_db *db);

static struct empty {
	const struct pf_db_kind *kind;
	struct pf_db db;
	bool is_lent;
} empties[4];

static struct empty *empty_of(const struct pf_db_kind *kind)
{
	struct pf_err err = { 0 };
	struct empty *m = empties;

	while (m->kind && m->kind != kind)
		m++;
	FUZZ_CHECK(m < empties + sizeof(empties) / sizeof(*empties));
	FUZZ_CHECK(!m->is_lent);
	if (m->kind)
		return m;
	m->kind = kind;
	FUZZ_CHECK(!__real_pf_db_create_kind(&m->db, "", kind, &err));
	FUZZ_CHECK(!pf_db_exec(&m->db, "COMMIT; PRAGMA journal_mode=MEMORY",
			       &err));
	return m;
}

int __wrap_pf_db_create_kind(struct pf_db *db, const char *path,
			     const struct pf_db_kind *kind, struct pf_err *err)
{
	static const char *const none[] = { NULL };
	struct empty *m = empty_of(kind);
	struct pf_db_kind bare = *kind;
	sqlite3_backup *copying;

	bare.schemas = none;
	if (!path[0]) {
		m->is_lent = true;
		*db = m->db;
		db->err = err;
		return pf_db_exec(db, "BEGIN", err);
	}
	if (__real_pf_db_create_kind(db, path, &bare, err) ||
	    pf_db_exec(db, "COMMIT", err))
		return -1;
	copying = sqlite3_backup_init(db->sql, "main", m->db.sql, "main");
	FUZZ_CHECK(copying);
	FUZZ_CHECK(sqlite3_backup_step(copying, -1) == SQLITE_DONE);
	FUZZ_CHECK(!sqlite3_backup_finish(copying));
	return pf_db_exec(db, "BEGIN", err);
}

int __wrap_pf_db_create(struct pf_db *db, const char *path, struct pf_err *err)
{
	return __wrap_pf_db_create_kind(db, path, &pf_db_of_traces, err);
}

void __wrap_pf_db_close(struct pf_db *db)
{
	struct pf_err err = { 0 };

	for (struct empty *m = empties; m->kind; m++)
		if (m->is_lent && m->db.sql == db->sql) {
			FUZZ_CHECK(!pf_db_exec(db, "ROLLBACK", &err));
			m->db = *db;
			m->is_lent = false;
			*db = (struct pf_db){ .err = db->err };
			return;
		}
	__real_pf_db_close(db);
}

/* ---- merging ---- */

enum { GIVEN, ONCE, TWICE };

/* 0: OUT is made. */
static int merge(unsigned in, unsigned out, struct pf_fleet_count *made)
{
	char path[128], *argument = path;
	struct pf_fleet_merge m = {
		.arguments = &argument,
		.count = 1,
		.out = fuzz_path(out),
		.capture = "one", /* else it is called as its file is */
		.threads = 1,
	};
	struct pf_err err = { 0 };
	int rc;

	snprintf(path, sizeof(path), "%s", fuzz_path(in));
	rc = pf_fleet_merge(&m, &err);
	FUZZ_CHECK(!rc == (err.code == PF_OK));
	FUZZ_CHECK(!rc || err.text[0]);
	*made = m.made;
	return rc;
}

static bool is_same(const char *a, const char *b)
{
	static char x[1 << 16], y[1 << 16];
	FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
	size_t m, n;

	FUZZ_CHECK(f && g);
	do {
		m = fread(x, 1, sizeof(x), f);
		n = fread(y, 1, sizeof(y), g);
	} while (m == n && m && !memcmp(x, y, m));
	FUZZ_CHECK(!ferror(f) && !ferror(g));
	fclose(f);
	fclose(g);
	return !m && !n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pf_fleet_count once, twice;
	int fd;

	if (size > 1 << 18)
		return 0;
	if (!empties->kind)
		sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* as in main() */
	pf_log_set_level(PF_LOG_ERROR);
	fd = open(fuzz_path(GIVEN), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		  0600);
	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	close(fd);
	if (merge(GIVEN, ONCE, &once))
		return 0;
	FUZZ_CHECK(once.errors <= once.ranks);
	FUZZ_CHECK(!merge(ONCE, TWICE, &twice));
	FUZZ_CHECK(once.ranks == twice.ranks && once.errors == twice.errors);
	FUZZ_CHECK(is_same(fuzz_path(ONCE), fuzz_path(TWICE)));
	return 0;
}
