/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/port.h"

static const char **folders;
static size_t count, cap;

void pf_inside_add(const char *folder)
{
	*PF_ONE_MORE(folders, count, cap) = folder;
}

static bool is_inside(int fd)
{
	char path[PATH_MAX];
	struct stat st;

	if (fstat(fd, &st) || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) ||
	    !pf_path_of_fd(fd, path))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(folders[i]);

		while (len && folders[i][len - 1] == '/')
			len--;
		if (!strncmp(path, folders[i], len) &&
		    (path[len] == '/' || !path[len]))
			return true;
	}
	return false;
}

int pf_inside_open(const char *path, int flags, int mode)
{
	/* a pipe would be waited for */
	int fd = open(path, count ? flags | O_NONBLOCK : flags, mode);

	if (fd < 0 || !count || flags & O_CREAT || is_inside(fd))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

FILE *pf_inside_fopen(const char *path)
{
	int fd = pf_inside_open(path, O_RDONLY | O_CLOEXEC, 0);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f && fd >= 0)
		close(fd);
	return f;
}
