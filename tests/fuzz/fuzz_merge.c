/* SPDX-License-Identifier: MIT */
/*
 * Any bytes that say they are a fleet (all else is read as a trace: fuzz_ingest),
 * merged: refused with a message, or a fleet (of one rank that failed, where they
 * cannot be read) that stays the same, byte for byte, when it is merged again.
 */
#include "config.h"

#include "fuzz/fuzz.h"
#include "fuzz/kept.h"
#include "fuzz/path.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/buf.h"
#include "compare/fleet.h"
#include "compare/merge.h"
#include "store/db.h"

/*
 * ---- connections that live on: GNU ld's --wrap ----
 *
 * Empty databases are made once, are in no file, and forget what was written;
 * what would be in a file is written there in one piece.  A file that is read by
 * the name and the schema of one before, its head but for its counters too, is
 * read by the connection of that one, whose statements are compiled.
 */

enum { GIVEN, ONCE, AGAIN, TWICE };

int __real_pf_db_create_kind(struct pf_db *db, const char *path,
			     const struct pf_db_kind *kind, struct pf_err *err);
void __real_pf_db_close(struct pf_db *db);
int __real_sqlite3_open_v2(const char *path, sqlite3 **sql, int flags,
			   const char *vfs);
int __real_sqlite3_close_v2(sqlite3 *sql);
int __wrap_pf_db_create_kind(struct pf_db *db, const char *path,
			     const struct pf_db_kind *kind, struct pf_err *err);
int __wrap_pf_db_finish_with(struct pf_db *db, const char *indexes,
			     struct pf_err *err);
void __wrap_pf_db_close(struct pf_db *db);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **sql, int flags,
			   const char *vfs);
int __wrap_sqlite3_close_v2(sqlite3 *sql);

/* ---- empty ones ---- */

static struct empty {
	const struct pf_db_kind *kind;
	struct pf_db db;
	bool is_lent;
} empties[4];

static void run(struct pf_db *db, const char *sql)
{
	struct pf_err err = { 0 };

	FUZZ_CHECK(!pf_db_exec(db, sql, &err));
}

static struct empty *empty_of(const struct pf_db_kind *kind)
{
	struct pf_err err = { 0 };
	struct empty *m = empties;

	while (m->kind && (m->kind != kind || m->is_lent))
		m++;
	FUZZ_CHECK(m < empties + sizeof(empties) / sizeof(*empties));
	if (m->kind)
		return m;
	m->kind = kind;
	FUZZ_CHECK(!__real_pf_db_create_kind(&m->db, "", kind, &err));
	if (kind == &pf_fleet_kind)
		FUZZ_CHECK(!pf_db_run_file(&m->db, "schema/fleet/indexes.sql",
					   &err));
	/* small pages, of which there is less to write */
	run(&m->db, "COMMIT; PRAGMA page_size=512; VACUUM;"
		    "PRAGMA journal_mode=MEMORY");
	fuzz_keep_statements(m->db.sql);
	return m;
}

int __wrap_pf_db_create_kind(struct pf_db *db, const char *path,
			     const struct pf_db_kind *kind, struct pf_err *err)
{
	struct empty *m = empty_of(kind);

	m->is_lent = true;
	*db = m->db;
	db->path = strdup(path);
	db->err = err;
	return pf_db_exec(db, "BEGIN", err);
}

void __wrap_pf_db_close(struct pf_db *db)
{
	for (struct empty *m = empties; m->kind; m++)
		if (m->is_lent && m->db.sql == db->sql) {
			run(db, "ROLLBACK");
			free(db->path);
			db->path = m->db.path;
			m->db = *db;
			m->is_lent = false;
			*db = (struct pf_db){ .err = db->err };
			return;
		}
	__real_pf_db_close(db);
}

/* Its indexes are there, and what SQLite says of them is its own affair. */
int __wrap_pf_db_finish_with(struct pf_db *db, const char *indexes,
			     struct pf_err *err)
{
	sqlite3_int64 size;
	unsigned char *data = sqlite3_serialize(db->sql, "main", &size, 0);
	int fd = open(db->path, O_WRONLY | O_CLOEXEC);

	(void)indexes;
	(void)err;
	FUZZ_CHECK(data && fd >= 0);
	FUZZ_CHECK(write(fd, data, (size_t)size) == size);
	close(fd);
	sqlite3_free(data);
	__wrap_pf_db_close(db);
	return 0;
}

/* ---- those that are read ---- */

static bool is_fleet(const char *path)
{
	struct pf_err ignored = { 0 };

	return pf_db_peek(path, &ignored) == PF_FLEET_APPLICATION_ID;
}

static struct reader {
	char *path;
	int flags;
	sqlite3 *sql;
	unsigned char head[100];
	struct pf_buf schema;
	bool is_lent;
} readers[12];

/* Its head but for counters of changes and pages. */
static bool read_head(const char *path, unsigned char head[100])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, head, 100);

	close(fd);
	memset(head + 24, 0, 16);
	memset(head + 92, 0, 8);
	return n == 100;
}

/* Compare the schema, or take it down first; false: it is another, or none. */
static bool has_schema(sqlite3 *sql, struct pf_buf *schema)
{
	sqlite3_stmt *st = NULL;
	bool is_new = !schema->len, is = true;
	size_t at = 0;
	int rc = sqlite3_prepare_v2(sql, "SELECT * FROM sqlite_schema", -1, &st,
				    NULL);

	while (!rc && is && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		for (int i = 0; is && i < 5; i++) {
			const void *text = sqlite3_column_text(st, i);
			size_t n = (size_t)sqlite3_column_bytes(st, i) + 1;

			if (!text)
				text = "", n = 1;
			if (is_new)
				pf_buf_add(schema, text, n);
			is = at + n <= schema->len &&
			     !memcmp(schema->data + at, text, n);
			at += n;
		}
		rc = SQLITE_OK;
	}
	sqlite3_finalize(st);
	return is && rc == SQLITE_DONE && at && at == schema->len;
}

static bool is_of(struct reader *r)
{
	unsigned char head[100];

	FUZZ_CHECK(!sqlite3_file_control(r->sql, "main",
					 SQLITE_FCNTL_RESET_CACHE, NULL));
	return read_head(r->path, head) &&
	       !memcmp(head, r->head, sizeof(head)) &&
	       has_schema(r->sql, &r->schema);
}

static struct reader *const readers_end =
	readers + sizeof(readers) / sizeof(*readers);

int __wrap_sqlite3_open_v2(const char *path, sqlite3 **sql, int flags,
			   const char *vfs)
{
	struct reader *r = readers;
	int rc;

	for (; r < readers_end && r->sql; r++)
		if (!r->is_lent && r->flags == flags &&
		    !strcmp(r->path, path) && is_of(r)) {
			r->is_lent = true;
			*sql = r->sql;
			return SQLITE_OK;
		}
	rc = __real_sqlite3_open_v2(path, sql, flags, vfs);
	/* only these two stay the same file, whatever is in them */
	if (rc || r == readers_end || !is_fleet(path) ||
	    (strcmp(path, fuzz_path(GIVEN)) &&
	     strcmp(path, fuzz_path(AGAIN))) ||
	    !read_head(path, r->head))
		return rc;
	pf_buf_clear(&r->schema);
	if (!has_schema(*sql, &r->schema))
		return rc;
	r->path = strdup(path);
	r->flags = flags;
	r->sql = *sql;
	r->is_lent = true;
	fuzz_keep_statements(*sql);
	return rc;
}

int __wrap_sqlite3_close_v2(sqlite3 *sql)
{
	struct reader *r = readers;

	while (r < readers_end && (!sql || r->sql != sql))
		r++;
	if (r == readers_end)
		return __real_sqlite3_close_v2(sql);
	if (!sqlite3_get_autocommit(sql))
		sqlite3_exec(sql, "ROLLBACK", NULL, NULL, NULL);
	r->is_lent = false;
	return SQLITE_OK;
}

/* ---- merging ---- */

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

/* Into a file that stays the same one. */
static void copy(const char *from, const char *to)
{
	static char bytes[1 << 16];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t n;

	FUZZ_CHECK(in >= 0 && out >= 0);
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		FUZZ_CHECK(write(out, bytes, (size_t)n) == n);
	FUZZ_CHECK(!n);
	close(in);
	close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pf_fleet_count once, twice;
	int fd;

	if (size > 1 << 18)
		return 0;
	if (!empties->kind)
		fuzz_keep_pages();
	pf_log_set_level(PF_LOG_ERROR);
	fd = open(fuzz_path(GIVEN), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		  0600);
	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	close(fd);
	unlink(fuzz_path(ONCE));
	unlink(fuzz_path(TWICE));
	if (!is_fleet(fuzz_path(GIVEN)) || merge(GIVEN, ONCE, &once))
		return 0;
	FUZZ_CHECK(once.errors <= once.ranks);
	/* where nothing could be read there is an error to copy: seldom enough */
	if (once.errors == once.ranks && data[size - 1] % 8)
		return 0;
	copy(fuzz_path(ONCE), fuzz_path(AGAIN));
	FUZZ_CHECK(!merge(AGAIN, TWICE, &twice));
	FUZZ_CHECK(once.ranks == twice.ranks && once.errors == twice.errors);
	FUZZ_CHECK(is_same(fuzz_path(ONCE), fuzz_path(TWICE)));
	return 0;
}
