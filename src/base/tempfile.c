/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

/* For file systems without O_TMPFILE: a name for a moment. */
static int open_and_unlink(const char *dir, struct pf_err *err)
{
	struct pf_buf name = { 0 };
	int fd;

	pf_buf_addf(&name, "%s/.profan-XXXXXX", dir);
	fd = mkostemp(name.data, O_CLOEXEC);
	if (fd >= 0)
		unlink(name.data);
	else
		pf_fail_errno(err, "no temporary file in '%s'", dir);
	pf_buf_release(&name);
	return fd;
}

const char *pf_temp_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

int pf_tempfile_open(const char *dir, struct pf_err *err)
{
	int fd;

	if (!dir || !dir[0])
		dir = ".";
	fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
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
			return pf_fail_errno(err, "temporary file not written");
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
