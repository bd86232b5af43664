/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/mem.h"
#include "base/port.h"

static void mark_cut(struct pf_err *err, int len)
{
	if (len >= (int)sizeof(err->text))
		memcpy(err->text + sizeof(err->text) - 4, "...", 4);
}

__attribute__((format(printf, 2, 0))) static void set_text(struct pf_err *err,
							   const char *fmt,
							   va_list ap)
{
	mark_cut(err, vsnprintf(err->text, sizeof(err->text), fmt, ap));
}

int pf_fail(struct pf_err *err, enum pf_code code, const char *fmt, ...)
{
	va_list ap;

	err->code = code;
	va_start(ap, fmt);
	set_text(err, fmt, ap);
	va_end(ap);
	return -1;
}

static void add_cause(struct pf_err *err, const char *cause)
{
	size_t len = strlen(err->text);

	mark_cut(err,
		 (int)len + snprintf(err->text + len, sizeof(err->text) - len,
				     ": %s", cause));
}

static void set_errno(struct pf_err *err, enum pf_code code, int cause,
		      const char *fmt, va_list ap)
{
	err->code = code;
	set_text(err, fmt, ap);
	add_cause(err, strerror(cause));
}

int pf_fail_errno(struct pf_err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	set_errno(err, PF_EIO, saved, fmt, ap);
	va_end(ap);
	return -1;
}

/* Causes that lie in the path, whatever machine looks at it. */
static bool is_of_path(int code)
{
	static const int codes[] = { ENOENT, ENOTDIR,      EISDIR, EACCES,
				     EPERM,  ENAMETOOLONG, ELOOP,  ENXIO };

	for (size_t i = 0; i < PF_LEN(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

int pf_fail_open(struct pf_err *err, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	set_errno(err, is_of_path(saved) ? PF_EOPEN : PF_EIO, saved, fmt, ap);
	va_end(ap);
	return -1;
}

bool pf_err_is_of_input(const struct pf_err *err)
{
	switch (err->code) {
	case PF_EOPEN:
	case PF_EUSAGE: /* an option that this input does not take */
	case PF_EDATA:
	case PF_EDB:
	case PF_ELIMIT:
		return true;
	default:
		return false;
	}
}

/* ---- room ---- */

/* Cut the path of a file to that of the file system that its folder is on. */
static void cut_to_mount(char *path)
{
	struct stat folder = { 0 }, above;
	bool is_first = true;
	char *slash;

	while ((slash = strrchr(path, '/')) && slash > path) {
		*slash = '\0';
		if (stat(path, &above))
			return;
		if (!is_first && above.st_dev != folder.st_dev) {
			*slash = '/';
			return;
		}
		folder = above;
		is_first = false;
	}
	if (!stat("/", &above) && (is_first || above.st_dev == folder.st_dev))
		path[1] = '\0';
}

static int add_room(struct pf_err *err, const struct statvfs *room, char *path,
		    size_t missing_bytes)
{
	const uint64_t unit = room->f_frsize;
	char text[PATH_MAX + 160], missing[64] = "";

	cut_to_mount(path);
	if (missing_bytes)
		snprintf(missing, sizeof(missing),
			 ", and %zu more were to be written", missing_bytes);
	snprintf(text, sizeof(text),
		 "the file system '%s' has %" PRIu64 " of %" PRIu64
		 " bytes free%s",
		 path, room->f_bavail * unit, room->f_blocks * unit, missing);
	add_cause(err, text);
	return -1;
}

int pf_add_room(struct pf_err *err, const char *path)
{
	char real[PATH_MAX];
	struct statvfs room;

	if (!realpath(path, real) || statvfs(real, &room))
		return -1;
	return add_room(err, &room, real, 0);
}

int pf_fail_write(struct pf_err *err, int fd, size_t missing_bytes,
		  const char *fmt, ...)
{
	const int saved = errno;
	char path[PATH_MAX];
	struct statvfs room;
	va_list ap;

	va_start(ap, fmt);
	set_errno(err, PF_EIO, saved, fmt, ap);
	va_end(ap);
	if (saved != ENOSPC && saved != EDQUOT)
		return -1;
	if (!pf_path_of_fd(fd, path) || *path != '/' || fstatvfs(fd, &room) ||
	    !room.f_blocks)
		return -1;
	return add_room(err, &room, path, missing_bytes);
}

int pf_while(struct pf_err *err, const char *fmt, ...)
{
	struct pf_err inner = *err;
	va_list ap;

	va_start(ap, fmt);
	set_text(err, fmt, ap);
	va_end(ap);
	add_cause(err, inner.text);
	return -1;
}
