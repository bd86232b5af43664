/* SPDX-License-Identifier: MIT */
/*
 * A database that is kept is named after its trace and the digest of it, so
 * that no two traces want one name, and what is there need not be made again.
 * Others are made in a temporary folder, one a worker, and removed at once.
 */
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
#include "base/outplace.h"
#include "base/tempfile.h"
#include "base/xxh128.h"
#include "compare/fleet_places.h"
#include "compare/fleet_summary.h"
#include "compare/fleet_work.h"
#include "ingest/files.h"
#include "ingest/ingest.h"
#include "ingest/source_name.h"
#include "store/query.h"
#include "torch/averages.h"

#define NAME_DIGITS 12 /* of the digest, in the name of a database */

struct shared {
	struct pf_fleet_work *work;
	_Atomic size_t next, failed, passed;
	_Atomic bool is_stopped;
	char *folder; /* temporary */
	size_t folder_slot;
};

struct worker {
	struct shared *shared;
	struct pf_fleet_out out;
	char *temporary; /* database */
	size_t slot;
	int64_t named_rank; /* of the input at hand */
	pthread_t thread;
	struct pf_err err; /* that ends the merge */
	int rc;
};

/* ---- which file it is ---- */

static int read_digest(const char *path, char digest[PF_XXH128_TEXT],
		       struct pf_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	char *bytes = pf_alloc(1 << 18);
	struct pf_xxh128 *d = pf_xxh128_new();
	struct stat info;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &info))
		rc = pf_fail_errno(err, "cannot open '%s'", path);
	else if (!S_ISREG(info.st_mode))
		rc = pf_fail(err, PF_EIO, "'%s' is not a regular file", path);
	while (!rc && n) {
		n = read(fd, bytes, 1 << 18);
		if (n > 0)
			pf_xxh128_add(d, bytes, (size_t)n);
		else if (n < 0 && errno != EINTR)
			rc = pf_fail_errno(err, "cannot read '%s'", path);
	}
	pf_xxh128_text(d, digest);
	pf_xxh128_free(d);
	free(bytes);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* ---- its database ---- */

static char *kept_path(const struct pf_fleet_work *work, const char *trace,
		       const char *digest)
{
	const char *base = strrchr(trace, '/');
	struct pf_buf path = { 0 };

	pf_buf_addf(&path, "%s/%s-%.*s.db", work->keep, base ? base + 1 : trace,
		    NAME_DIGITS, digest);
	return path.data;
}

/* Is it there, and whole? */
static bool is_made(const char *path, const char *digest)
{
	struct pf_err ignored = { 0 };

	return !access(path, F_OK) &&
	       pf_fleet_is_of_trace(path, digest, &ignored);
}

/* process: of a file that was made of several, from 1; 0: all of it */
static int ingest(const struct worker *w, const char *trace, unsigned process,
		  const char *out, struct pf_err *err)
{
	const struct pf_ingest_options options = {
		.paths = &trace,
		.path_count = 1,
		.ranks = &w->named_rank,
		.out = out,
		.rank = -1,
		.process = process,
		.threads = w->shared->work->threads > 1 ? 1 : 0,
		.extra = &pf_averages_extra,
	};

	return pf_ingest(&options, err);
}

static int make_database(struct worker *w, const char *trace, unsigned process,
			 const char *digest, char **path, struct pf_err *err)
{
	const struct pf_fleet_work *work = w->shared->work;

	if (!work->keep) {
		*path = pf_strdup(w->temporary);
		return ingest(w, trace, process, *path, err);
	}
	*path = kept_path(work, trace, digest);
	return is_made(*path, digest) ? 0
				      : ingest(w, trace, process, *path, err);
}

/* Of how many processes the traces were made into one that is read: or 1. */
static int count_processes(const char *path, unsigned *count,
			   struct pf_err *err)
{
	struct pf_db db = { 0 };
	sqlite3_stmt *st;
	int rc;

	*count = 1;
	if (pf_db_open(&db, path, false, err))
		return -1;
	st = pf_db_prepare(&db,
			   "SELECT max(value) FROM trace_fact"
			   " WHERE key = 'merged_count'"
			   " AND (SELECT count(*) FROM trace) = value",
			   err);
	rc = st ? pf_db_step(&db, st, err) : -1;
	if (rc == 1 && sqlite3_column_type(st, 0) == SQLITE_INTEGER)
		*count = (unsigned)sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	pf_db_close(&db);
	return rc < 0 ? -1 : 0;
}

/* ---- its summary ---- */

/* db_path as it is seen from anywhere. */
static int summarise(struct worker *w, const char *path, bool is_kept,
		     bool *is_fatal, struct pf_err *err)
{
	struct pf_db db = { 0 };
	char *folder = is_kept ? pf_place_folder(path, err) : NULL;
	const char *base = strrchr(path, '/');
	char *full = NULL;
	int rc = is_kept && !folder ? -1 : 0;

	if (folder)
		full = pf_place_from(folder, base ? base + 1 : path);
	if (!rc)
		rc = pf_db_open(&db, path, false, err);
	if (!rc)
		rc = pf_fleet_summarise(&w->out, &db, w->shared->work->capture,
					full, is_fatal, err);
	pf_db_close(&db);
	free(full);
	free(folder);
	return rc;
}

static int add_process(struct worker *w, const char *trace, unsigned process,
		       const char *file, bool *is_fatal, struct pf_err *err)
{
	char digest[PF_XXH128_TEXT], *path = NULL;
	bool is_kept = w->shared->work->keep;
	int rc;

	pf_ingest_process_digest(file, process, digest);
	rc = make_database(w, trace, process, digest, &path, err);
	if (!rc)
		rc = summarise(w, path, is_kept, is_fatal, err);
	if (!is_kept)
		unlink(w->temporary);
	free(path);
	return rc;
}

/* A file that was made of those of several ranks is read again for each. */
static int add_trace(struct worker *w, const char *trace, const char *digest,
		     bool *is_fatal, struct pf_err *err)
{
	char *path = NULL;
	bool is_kept = w->shared->work->keep;
	unsigned count = 1;
	int rc = make_database(w, trace, 0, digest, &path, err);

	if (!rc)
		rc = count_processes(path, &count, err);
	if (!rc && count == 1)
		rc = summarise(w, path, is_kept, is_fatal, err);
	if (!rc && count > 1 && is_kept)
		unlink(path);
	if (!is_kept)
		unlink(w->temporary);
	for (unsigned i = 1; count > 1 && i <= count && !rc; i++)
		rc = add_process(w, trace, i, digest, is_fatal, err);
	free(path);
	return rc;
}

/* ---- what cannot be read ---- */

static int put_failed(struct worker *w, const char *path, const char *digest,
		      const char *why, struct pf_err *err)
{
	char *name = pf_fleet_capture_name(path);
	const char *capture = w->shared->work->capture;
	struct pf_fleet_rank rank = {
		.capture = capture ? capture : name,
		.rank = w->named_rank < 0 ? PF_NO_INT : w->named_rank,
		.world_size = PF_NO_INT,
		.error = why,
		.path = path,
		.xxh128 = digest,
		.file_bytes = PF_NO_INT,
		.json_bytes = PF_NO_INT,
		.base_ns = PF_NO_INT,
		.first_ns = PF_NO_INT,
		.last_ns = PF_NO_INT,
		.event_count = PF_NO_INT,
		.stored_count = PF_NO_INT,
		.metadata_count = PF_NO_INT,
		.paired_count = PF_NO_INT,
		.skipped_count = PF_NO_INT,
	};
	struct stat info;
	int rc;

	if (!stat(path, &info) && S_ISREG(info.st_mode))
		rank.file_bytes = info.st_size;
	w->shared->failed++;
	rc = pf_fleet_put_rank(&w->out, &rank, err);
	free(name);
	return rc;
}

/* ---- one input ---- */

/* A name that says a rank is meant for one. */
static bool is_of_rank(const char *path)
{
	struct pf_source_name name;

	pf_source_name_read(&name, path);
	free(name.worker);
	return name.rank >= 0;
}

/* A file of a folder that is called as traces are, and holds something else. */
static bool is_passed(const struct pf_fleet_input *input)
{
	struct pf_err ignored = { 0 };

	return !input->is_named && input->source == PF_SOURCE_TRACE &&
	       !is_of_rank(input->path) &&
	       !pf_ingest_probe(input->path, NULL, &ignored);
}

static int add_input(struct worker *w, const struct pf_fleet_input *input,
		     struct pf_err *err)
{
	char digest[PF_XXH128_TEXT] = "";
	struct pf_err why = { 0 };
	bool is_fatal = false;
	int rc;

	if (is_passed(input)) {
		w->shared->passed++;
		return 0;
	}
	w->named_rank = input->rank;
	rc = read_digest(input->path, digest, &why);
	if (rc)
		digest[0] = '\0';
	else if (input->source == PF_SOURCE_TRACE)
		rc = add_trace(w, input->path, digest, &is_fatal, &why);
	else
		rc = summarise(w, input->path, true, &is_fatal, &why);
	if (!rc)
		return 0;
	if (!is_fatal && why.code != PF_ESTOP)
		return put_failed(w, input->path, *digest ? digest : NULL,
				  why.text, err);
	*err = why;
	return -1;
}

static void *work_off(void *arg)
{
	struct worker *w = arg;
	struct shared *s = w->shared;
	const struct pf_fleet_inputs *in = s->work->inputs;
	size_t i;

	while (!w->rc && !s->is_stopped && (i = s->next++) < in->count) {
		if (in->items[i].source != PF_SOURCE_FLEET)
			w->rc = add_input(w, &in->items[i], &w->err);
	}
	if (w->rc)
		s->is_stopped = true;
	return NULL;
}

/* ---- workers ---- */

static int set_up_worker(struct worker *w, struct shared *s, struct pf_db *db,
			 struct pf_err *err)
{
	struct pf_buf path = { 0 };

	w->shared = s;
	w->slot = PF_OUTPLACE_UNWATCHED;
	if (pf_db_create_kind(db, "", &pf_fleet_kind, err) ||
	    pf_fleet_out_open(&w->out, db, err))
		return -1;
	if (s->folder) {
		pf_buf_addf(&path, "%s/%zu.db", s->folder, s->work->part_count);
		w->temporary = path.data;
		w->slot = pf_outplace_watch(w->temporary);
	}
	return 0;
}

static void release_worker(struct worker *w)
{
	pf_fleet_out_close(&w->out);
	if (w->temporary)
		pf_outplace_unwatch(w->slot);
	free(w->temporary);
}

/* The first takes no thread. */
static int run_workers(struct worker *workers, size_t count, struct pf_err *err)
{
	size_t started = 1;
	int rc = 0;

	pf_mem_keep_below(PF_MEM_KEEP_LITTLE);
	while (started < count &&
	       !pthread_create(&workers[started].thread, NULL, work_off,
			       &workers[started]))
		started++;
	work_off(&workers[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	for (size_t i = 0; i < count && !rc; i++) {
		rc = workers[i].rc;
		if (rc)
			*err = workers[i].err;
	}
	return rc;
}

static int set_up_folder(struct shared *s, struct pf_err *err)
{
	struct pf_buf name = { 0 };

	if (s->work->keep)
		return pf_is_folder(s->work->keep)
			       ? 0
			       : pf_fail(err, PF_EUSAGE,
					 "'--keep %s': there is no such folder",
					 s->work->keep);
	pf_buf_addf(&name, "%s/profan-XXXXXX", pf_temp_dir());
	if (!mkdtemp(name.data)) {
		pf_fail_errno(err, "cannot make the folder '%s'", name.data);
		pf_buf_release(&name);
		return -1;
	}
	s->folder = name.data;
	s->folder_slot = pf_outplace_watch(s->folder);
	return 0;
}

static void release_folder(struct shared *s)
{
	if (!s->folder)
		return;
	rmdir(s->folder);
	pf_outplace_unwatch(s->folder_slot);
	free(s->folder);
}

int pf_fleet_work(struct pf_fleet_work *work, struct pf_err *err)
{
	struct shared s = { .work = work };
	struct worker workers[PF_FLEET_WORKERS] = { 0 };
	size_t count = work->threads < work->inputs->count
			       ? work->threads
			       : work->inputs->count;
	int rc = set_up_folder(&s, err);

	for (; !rc && work->part_count < count; work->part_count++)
		rc = set_up_worker(&workers[work->part_count], &s,
				   &work->parts[work->part_count], err);
	if (!rc && count)
		rc = run_workers(workers, count, err);
	work->failed = s.failed;
	work->passed = s.passed;
	for (size_t i = 0; i < count; i++)
		release_worker(&workers[i]);
	release_folder(&s);
	return rc;
}

void pf_fleet_work_release(struct pf_fleet_work *work)
{
	for (size_t i = 0; i < PF_FLEET_WORKERS; i++)
		pf_db_close(&work->parts[i]);
}
