/* SPDX-License-Identifier: MIT */
/*
 * A writer holds a lock on its unfinished file for as long as it lives, so
 * that what a killed one left can be told from what another is writing.
 */
#include "config.h"

#include "base/outplace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/tempfile.h"

/* ---- signals ---- */

#define SLOTS     1024 /* a merge has two of each thread */
#define SIGNALS   3
#define ENDING_MS 1000 /* that a signal waits for what threads make */

/* Of the process, as signals are: files to remove when one ends it. */
static _Atomic(const char *) unfinished[SLOTS];
static const int ending[SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

/* Threads that make a file which is not among them yet. */
static atomic_int making;
static atomic_bool is_ending; /* a signal came: none is made any more */

/* A shell's prompt does not belong behind "^C" and a line of progress. */
static volatile sig_atomic_t is_on_terminal;

static void end_line(void)
{
	ssize_t ignored = is_on_terminal ? write(STDERR_FILENO, "\n", 1) : 0;

	(void)ignored;
}

static void remove_unfinished(int signal)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };
	const struct timespec moment = { .tv_nsec = 1000000 };
	int before = errno;
	const char *path;

	is_ending = true;
	for (int i = 0; i < ENDING_MS && making; i++)
		nanosleep(&moment, NULL);
	for (size_t i = 0; i < SLOTS; i++)
		if ((path = unfinished[i]))
			unlink(path);
	for (size_t i = 0; i < SLOTS; i++)
		if ((path = unfinished[i]))
			rmdir(path);
	end_line();
	sigaction(signal, &action, NULL);
	raise(signal);
	errno = before;
}

static void set_handlers(void (*from)(int), void (*to)(int))
{
	struct sigaction action = { .sa_handler = to }, old;

	for (size_t i = 0; i < SIGNALS; i++)
		if (!sigaction(ending[i], NULL, &old) &&
		    !(old.sa_flags & SA_SIGINFO) && old.sa_handler == from)
			sigaction(ending[i], &action, NULL);
}

/* Who begins and who ends agree on whether a signal is handled. */
static pthread_mutex_t handling = PTHREAD_MUTEX_INITIALIZER;

static void begin_handling(void)
{
	pthread_mutex_lock(&handling);
	is_on_terminal = isatty(STDERR_FILENO);
	set_handlers(SIG_DFL, remove_unfinished);
	pthread_mutex_unlock(&handling);
}

static void end_handling(void)
{
	bool is_needed;

	pthread_mutex_lock(&handling);
	is_needed = making > 0;
	for (size_t i = 0; i < SLOTS && !is_needed; i++)
		is_needed = unfinished[i];
	if (!is_needed)
		set_handlers(remove_unfinished, SIG_DFL);
	pthread_mutex_unlock(&handling);
}

size_t pf_outplace_watch(const char *path)
{
	const char *none = NULL;
	size_t i = 0;

	while (i < SLOTS &&
	       !atomic_compare_exchange_strong(&unfinished[i], &none, path)) {
		none = NULL;
		i++;
	}
	if (i < SLOTS)
		begin_handling();
	return i;
}

void pf_outplace_unwatch(size_t slot)
{
	if (slot < SLOTS)
		unfinished[slot] = NULL;
	end_handling();
}

int pf_outfolder_open(struct pf_outfolder *folder, struct pf_err *err)
{
	struct pf_buf name = { 0 };

	pf_buf_addf(&name, "%s/profan-XXXXXX", pf_temp_dir());
	if (!mkdtemp(name.data)) {
		pf_fail_errno(err, "cannot make the folder '%s'", name.data);
		pf_buf_release(&name);
		return -1;
	}
	folder->path = name.data;
	folder->slot = pf_outplace_watch(folder->path);
	return 0;
}

void pf_outfolder_release(struct pf_outfolder *folder)
{
	if (!folder->path)
		return;
	if (rmdir(folder->path) && errno != ENOENT)
		pf_log_warn("cannot remove '%s': %s", folder->path,
			    strerror(errno));
	pf_outplace_unwatch(folder->slot);
	free(folder->path);
	folder->path = NULL;
}

/* ---- what is there ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_input(const struct pf_outrule *rule, const struct stat *there)
{
	struct stat input;

	for (size_t i = 0; i < rule->input_count; i++)
		if (!stat(rule->inputs[i], &input) && is_same(&input, there))
			return true;
	return false;
}

/* SQLite would take it for part of the new database. */
static int check_journals(const char *path, struct pf_err *err)
{
	static const char *const tails[] = { "-wal", "-journal", "-shm" };
	struct stat info;

	for (size_t i = 0; i < PF_LEN(tails); i++) {
		PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };

		pf_buf_addf(&name, "%s%s", path, tails[i]);
		if (!lstat(name.data, &info))
			return pf_fail(err, PF_EIO,
				       "'%s' is there, of another database of "
				       "this name: remove it first",
				       name.data);
	}
	return 0;
}

static int check_file(const char *path, const struct stat *there,
		      const struct pf_outrule *rule, struct pf_err *err)
{
	if (S_ISDIR(there->st_mode))
		return pf_fail(err, PF_EIO, "'%s' is a folder", path);
	if (!S_ISREG(there->st_mode))
		return pf_fail(err, PF_EIO, "'%s' is not a regular file", path);
	if (is_input(rule, there))
		return pf_fail(err, PF_EIO,
			       "'%s' is an input, which is never overwritten",
			       path);
	if (rule->replace || (rule->is_ours && rule->is_ours(path)))
		return 0;
	if (rule->option)
		return pf_fail(err, PF_EIO, "'%s' exists; %s replaces it", path,
			       rule->option);
	return pf_fail(err, PF_EIO, "'%s' exists%s; it is left as it is", path,
		       rule->is_ours ? " and is not a profan database" : "");
}

/* ---- the unfinished file ---- */

/* Does another hold it?  Where nothing can be locked, nobody does. */
static bool is_locked(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
}

/* Is an open file still what the path leads to? */
static bool is_at(int fd, const char *path)
{
	struct stat own, named;

	return !fstat(fd, &own) && !lstat(path, &named) &&
	       is_same(&own, &named);
}

bool pf_outplace_is_busy(const char *path)
{
	PF_AUTO(pf_buf_release) struct pf_buf partial = { 0 };
	bool is;
	int fd;

	pf_buf_addf(&partial, "%s.partial", path);
	fd = open(partial.data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	is = fd >= 0 && is_locked(fd);
	if (fd >= 0)
		close(fd);
	return is;
}

int pf_outplace_lock(const char *path, bool is_alone)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const int how = is_alone ? LOCK_EX : LOCK_SH;

	if (fd < 0)
		return -1;
	if (flock(fd, how | LOCK_NB) && errno == EWOULDBLOCK) {
		close(fd);
		errno = EWOULDBLOCK;
		return -1;
	}
	/* Another may have removed or replaced it until now. */
	if (is_at(fd, path))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

/* 0, or -1 if its writer still lives, or it is none of ours. */
static int remove_left_over(const char *partial, struct pf_err *err)
{
	int fd = open(partial, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;
	int rc = 0;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &info) || !S_ISREG(info.st_mode))
		rc = pf_fail(err, PF_EIO,
			     "'%s' is in the way: it is no file of a profan "
			     "that was stopped",
			     partial);
	else if (is_locked(fd))
		rc = pf_fail(err, PF_EBUSY, "another profan is writing '%s'",
			     partial);
	/* its writer may have ended well, and another one begun, until now */
	else if (is_at(fd, partial) && unlink(partial) && errno != ENOENT)
		rc = pf_fail_errno(err, "cannot remove '%s'", partial);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int open_unwatched(struct pf_outplace *p, struct pf_err *err)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

	for (;;) {
		PF_TRY(remove_left_over(p->partial, err));
		p->fd = open(p->partial, flags, 0666);
		if (p->fd < 0 && errno == EEXIST)
			continue;
		if (p->fd < 0)
			return pf_fail_errno(err, "cannot write '%s'",
					     p->partial);
		/* Another may have taken it for left over until now. */
		if (!is_locked(p->fd) && is_at(p->fd, p->partial))
			break;
		close(p->fd);
	}
	return 0;
}

/*
 * A signal that comes between making the file and watching it waits, on
 * whichever thread it comes.
 */
static int open_partial(struct pf_outplace *p, struct pf_err *err)
{
	sigset_t held, before;
	int rc;

	sigemptyset(&held);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(&held, ending[i]);
	pthread_sigmask(SIG_BLOCK, &held, &before);
	making++;
	if (is_ending) {
		making--;
		for (;;)
			pause(); /* another thread ends the process */
	}
	begin_handling();
	rc = open_unwatched(p, err);
	if (!rc)
		p->slot = pf_outplace_watch(p->partial);
	making--;
	if (rc)
		end_handling();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* ---- opening ---- */

static bool is_device_path(const char *path)
{
	return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
}

static int open_stream(struct pf_outplace *p, const struct stat *there,
		       struct pf_err *err)
{
	struct stat out;

	if (!fstat(STDOUT_FILENO, &out) && is_same(&out, there))
		p->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		p->fd = open(p->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return p->fd < 0 ? pf_fail_errno(err, "cannot write '%s'", p->path) : 0;
}

static int open_place(struct pf_outplace *p, const struct pf_outrule *rule,
		      struct pf_err *err)
{
	struct stat there, link;
	struct pf_buf partial = { 0 };
	char *target;

	if (!stat(p->path, &there)) {
		if (!rule->is_database && !S_ISDIR(there.st_mode) &&
		    (!S_ISREG(there.st_mode) || is_device_path(p->path)))
			return open_stream(p, &there, err);
		PF_TRY(check_file(p->path, &there, rule, err));
		target = realpath(p->path, NULL);
		if (!target)
			return pf_fail_errno(err, "cannot write '%s'", p->path);
		free(p->path);
		p->path = target;
	} else if (!lstat(p->path, &link)) {
		return pf_fail(err, PF_EIO, "'%s' is a link to nothing",
			       p->path);
	}
	PF_TRY(rule->is_database && check_journals(p->path, err));
	pf_buf_addf(&partial, "%s.partial", p->path);
	p->partial = partial.data;
	return open_partial(p, err);
}

int pf_outplace_open(struct pf_outplace *place, const char *path,
		     const struct pf_outrule *rule, struct pf_err *err)
{
	*place = (struct pf_outplace){ .path = pf_strdup(path),
				       .fd = -1,
				       .slot = SLOTS,
				       .is_database = rule->is_database };
	if (!open_place(place, rule, err))
		return 0;
	free(place->path);
	free(place->partial);
	*place = (struct pf_outplace){ .fd = -1, .slot = SLOTS };
	return -1;
}

int pf_outplace_check(const char *path, const struct pf_outrule *rule,
		      struct pf_err *err)
{
	struct stat there;

	PF_TRY(!stat(path, &there) && check_file(path, &there, rule, err));
	return rule->is_database ? check_journals(path, err) : 0;
}

int pf_outplace_commit(struct pf_outplace *place, struct pf_err *err)
{
	if (!place->partial)
		return 0;
	PF_TRY(place->is_database && check_journals(place->path, err));
	if (rename(place->partial, place->path))
		return pf_fail_errno(err, "cannot write '%s'", place->path);
	pf_outplace_unwatch(place->slot);
	free(place->partial);
	place->partial = NULL;
	return 0;
}

void pf_outplace_release(struct pf_outplace *place)
{
	if (place->partial) {
		unlink(place->partial);
		pf_outplace_unwatch(place->slot);
	}
	if (place->path && place->fd >= 0)
		close(place->fd);
	free(place->partial);
	free(place->path);
	*place = (struct pf_outplace){ .fd = -1, .slot = SLOTS };
}

/* ---- outfile ---- */

#define GZIP_WINDOW (15 + 16) /* largest window, gzip's header */
#define GZIP_LEVEL  6
#define GZIP_OS     255 /* unknown */
#define CHUNK_BYTES 65536

struct pf_outfile {
	FILE *file;
	struct pf_outplace place; /* of no path: standard output */
	bool is_gzip, is_zlib_ready;
	z_stream zlib;
	gz_header header;
	unsigned char chunk[CHUNK_BYTES];
};

static int start_gzip(struct pf_outfile *f, struct pf_err *err)
{
	if (deflateInit2(&f->zlib, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return pf_fail(err, PF_EIO, "zlib cannot begin");
	f->is_zlib_ready = true;
	f->header.os = GZIP_OS;
	if (deflateSetHeader(&f->zlib, &f->header) != Z_OK)
		return pf_fail(err, PF_EIO, "zlib cannot write a header");
	return 0;
}

struct pf_outfile *pf_outfile_open(const char *path,
				   const struct pf_outrule *rule, FILE *out,
				   struct pf_err *err)
{
	struct pf_outfile *f = pf_calloc(1, sizeof(*f));
	size_t len = strlen(path);
	int rc = 0;

	if (!strcmp(path, "-")) {
		f->file = out;
		return f;
	}
	f->is_gzip = len > 3 && !strcmp(path + len - 3, ".gz");
	rc = pf_outplace_open(&f->place, path, rule, err);
	if (!rc) {
		/* The lock stays with the descriptor of the place. */
		int fd = fcntl(f->place.fd, F_DUPFD_CLOEXEC, 0);

		f->file = fd < 0 ? NULL : fdopen(fd, "w");
		if (!f->file)
			rc = pf_fail_errno(err, "cannot write '%s'", path);
	}
	if (!rc && f->is_gzip)
		rc = start_gzip(f, err);
	if (!rc)
		return f;
	pf_outfile_free(f);
	return NULL;
}

static int put(struct pf_outfile *f, const void *data, size_t len,
	       struct pf_err *err)
{
	if (fwrite(data, 1, len, f->file) == len)
		return 0;
	return pf_fail_write(err, fileno(f->file), len, "cannot write '%s'",
			     f->place.path ? f->place.path : "standard output");
}

static int deflate_some(struct pf_outfile *f, int flush, struct pf_err *err)
{
	int rc;

	do {
		f->zlib.next_out = f->chunk;
		f->zlib.avail_out = CHUNK_BYTES;
		rc = deflate(&f->zlib, flush);
		if (rc == Z_STREAM_ERROR)
			return pf_fail(err, PF_EIO, "zlib failed");
		if (put(f, f->chunk, CHUNK_BYTES - f->zlib.avail_out, err) < 0)
			return -1;
	} while (f->zlib.avail_out == 0);
	return 0;
}

int pf_outfile_write(struct pf_outfile *f, const void *data, size_t len,
		     struct pf_err *err)
{
	const unsigned char *p = data;

	if (!f->is_gzip)
		return put(f, data, len, err);
	while (len) {
		unsigned part = len < 1u << 30 ? (unsigned)len : 1u << 30;

		f->zlib.next_in = (unsigned char *)p;
		f->zlib.avail_in = part;
		PF_TRY(deflate_some(f, Z_NO_FLUSH, err));
		p += part;
		len -= part;
	}
	return 0;
}

int pf_outfile_commit(struct pf_outfile *f, struct pf_err *err)
{
	PF_TRY(f->is_gzip && deflate_some(f, Z_FINISH, err) < 0);
	if (!f->place.path)
		return 0;
	if (fflush(f->file))
		return pf_fail_write(err, fileno(f->file), 0,
				     "cannot write '%s'", f->place.path);
	if (fclose(f->file)) {
		f->file = NULL;
		return pf_fail_errno(err, "cannot write '%s'", f->place.path);
	}
	f->file = NULL;
	return pf_outplace_commit(&f->place, err);
}

void pf_outfile_free(struct pf_outfile *f)
{
	if (!f)
		return;
	if (f->is_zlib_ready)
		deflateEnd(&f->zlib);
	if (f->place.path && f->file)
		fclose(f->file);
	if (f->place.path)
		pf_outplace_release(&f->place);
	free(f);
}
