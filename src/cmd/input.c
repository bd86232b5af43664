/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/tempfile.h"
#include "cmd/cmd.h"
#include "cmd/input.h"
#include "store/db.h"

/* 1: an SQLite file, 0: anything else, -1: it cannot be read. */
static int is_sqlite(const char *path, struct pf_err *err)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof(magic)];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return pf_fail_errno(err, "cannot open '%s'", path);
	n = read(fd, head, sizeof(head));
	if (n < 0)
		pf_fail_errno(err, "cannot read '%s'", path);
	close(fd);
	if (n < 0)
		return -1;
	return n == (ssize_t)sizeof(head) && !memcmp(head, magic, sizeof(head));
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec >= b->st_mtim.tv_nsec;
}

/* Is there a database of this very trace? */
static bool is_fresh(const char *database, const struct stat *trace)
{
	struct pf_err ignored = { 0 };
	struct pf_db db = { 0 };
	sqlite3_stmt *stmt = NULL;
	struct stat own;
	bool is_same = false;

	if (stat(database, &own) || !is_newer(&own, trace))
		return false;
	if (!pf_db_open(&db, database, false, &ignored))
		stmt = pf_db_prepare(
			&db, "SELECT file_bytes FROM trace LIMIT 2", &ignored);
	if (stmt && pf_db_step(&db, stmt, &ignored) == 1)
		is_same = sqlite3_column_int64(stmt, 0) == trace->st_size;
	sqlite3_finalize(stmt);
	pf_db_close(&db);
	return is_same;
}

static bool can_write_beside(const char *path)
{
	char *copy = pf_strdup(path);
	bool can = !access(dirname(copy), W_OK | X_OK);

	free(copy);
	return can;
}

static int make_folder(struct pf_input_db *in, struct pf_err *err)
{
	struct pf_buf name = { 0 };

	pf_buf_addf(&name, "%s/profan-XXXXXX", pf_temp_dir());
	if (!mkdtemp(name.data)) {
		pf_fail_errno(err, "cannot make the folder '%s'", name.data);
		pf_buf_release(&name);
		return -1;
	}
	in->folder = name.data;
	return 0;
}

static int read_trace(struct pf_input_db *in, const char *trace,
		      struct pf_err *err)
{
	struct pf_buf path = { 0 };
	struct stat info;

	if (stat(trace, &info))
		return pf_fail_errno(err, "cannot open '%s'", trace);
	if (S_ISDIR(info.st_mode))
		return pf_fail(err, PF_EDATA,
			       "'%s' is a folder: ingest it first", trace);
	pf_buf_addf(&path, "%s.profan.db", trace);
	if (!is_fresh(path.data, &info)) {
		if (!can_write_beside(trace)) {
			pf_buf_clear(&path);
			if (make_folder(in, err) < 0) {
				pf_buf_release(&path);
				return -1;
			}
			pf_buf_addf(&path, "%s/trace.db", in->folder);
		}
		if (pf_cmd_ingest_files(&trace, 1, path.data, err) < 0) {
			pf_buf_release(&path);
			return -1;
		}
	}
	in->path = path.data;
	return 0;
}

static int open_one(struct pf_input_db *in, const char *path,
		    struct pf_err *err)
{
	int rc = is_sqlite(path, err);

	if (rc < 0)
		return -1;
	if (!rc)
		return read_trace(in, path, err);
	in->path = pf_strdup(path);
	return 0;
}

int pf_inputs_open(struct pf_inputs *in, char *const *arguments, size_t count,
		   struct pf_err *err)
{
	*in = (struct pf_inputs){
		.items = pf_calloc(count + 1, sizeof(*in->items)),
		.paths = pf_calloc(count + 1, sizeof(*in->paths)),
		.count = count,
	};
	for (size_t i = 0; i < count; i++) {
		if (open_one(&in->items[i], arguments[i], err) < 0)
			return -1;
		in->paths[i] = in->items[i].path;
	}
	return 0;
}

void pf_inputs_close(struct pf_inputs *in)
{
	for (size_t i = 0; i < in->count; i++) {
		struct pf_input_db *one = &in->items[i];

		if (one->folder) {
			if (one->path)
				unlink(one->path);
			rmdir(one->folder);
		}
		free(one->path);
		free(one->folder);
	}
	free(in->items);
	free(in->paths);
	*in = (struct pf_inputs){ 0 };
}
