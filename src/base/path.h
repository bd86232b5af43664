/* SPDX-License-Identifier: MIT */
/* Paths of files. */
#pragma once

#include <string.h>

/* What follows the last '/'; all of it if that is nothing. */
static inline const char *pf_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
