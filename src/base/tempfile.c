/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

/* For file systems without O_TMPFILE: a name for a moment. */
static int open_and_unlink(const char *dir, struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };
	int fd;

	pf_buf_addf(&name, "%s/.profan-XXXXXX", dir);
	fd = mkostemp(name.data, O_CLOEXEC);
	if (fd >= 0)
		unlink(name.data);
	else
		pf_fail_errno(err, "no temporary file in '%s'", dir);
	return fd;
}

const char *pf_temp_dir_asked(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir && !access(dir, W_OK | X_OK) ? dir : NULL;
}

const char *pf_temp_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

int pf_tempfile_open(const char *dir, struct pf_err *err)
{
	int fd = -1;

	if (!dir || !dir[0])
		dir = ".";
#ifdef HAVE_O_TMPFILE
	fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
#endif
	return fd >= 0 ? fd : open_and_unlink(dir, err);
}

int pf_tempfile_write(int fd, const void *data, size_t len, uint64_t offset,
		      struct pf_err *err)
{
	const char *p = data;

	if (offset > INT64_MAX - len)
		return pf_fail(err, PF_EIO, "temporary file too large");
	while (len > 0) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return pf_fail_write(err, fd, len,
					     "temporary file not written");
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

int pf_tempfile_read(int fd, void *data, size_t len, uint64_t offset,
		     struct pf_err *err)
{
	char *p = data;

	if (offset > INT64_MAX - len)
		return pf_fail(err, PF_EIO, "temporary file too large");
	while (len > 0) {
		ssize_t n = pread(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pf_fail_errno(err, "temporary file not read");
		if (n == 0)
			return pf_fail(
				err, PF_EIO,
				"temporary file is shorter than written");
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* ---- memory first ---- */

int pf_scratch_open(struct pf_scratch *s, size_t room, const char *dir,
		    struct pf_err *err)
{
	s->fd = pf_tempfile_open(dir, err);
	PF_TRY(s->fd < 0);
	s->room = room;
	s->memory = pf_alloc(room); /* pages come as they are written */
	atomic_store(&s->len, 0);
	return 0;
}

void pf_scratch_close(struct pf_scratch *s)
{
	if (!s->memory)
		return;
	free(s->memory);
	s->memory = NULL;
	close(s->fd);
}

/* How many of the bytes at "at" are in memory. */
static size_t in_memory(const struct pf_scratch *s, uint64_t at, size_t len)
{
	uint64_t room = at < s->room ? s->room - at : 0;

	return room < len ? (size_t)room : len;
}

int pf_scratch_add(struct pf_scratch *s, const void *data, size_t len,
		   uint64_t *at, struct pf_err *err)
{
	size_t n;

	*at = atomic_fetch_add(&s->len, len);
	n = in_memory(s, *at, len);
	if (n)
		memcpy(s->memory + *at, data, n);
	return n == len ? 0
			: pf_tempfile_write(s->fd, (const char *)data + n,
					    len - n, *at + n - s->room, err);
}

int pf_scratch_read(const struct pf_scratch *s, void *data, size_t len,
		    uint64_t at, struct pf_err *err)
{
	size_t n = in_memory(s, at, len);

	if (n)
		memcpy(data, s->memory + at, n);
	return n == len ? 0
			: pf_tempfile_read(s->fd, (char *)data + n, len - n,
					   at + n - s->room, err);
}
