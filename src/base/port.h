/* SPDX-License-Identifier: MIT */
/*
 * What systems have under other names, or not at all.  Where it costs nothing
 * all of them run the same code.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __APPLE__
#include <sys/random.h> /* getentropy() */
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#undef PF_NS /* a family of protocols */
#endif

/* memrchr() of glibc. */
void *pf_memrchr(const void *p, int c, size_t len);

/*
 * strverscmp() of glibc: a number in the texts as a number, but one that begins
 * with 0 as what stands behind a decimal point.
 */
int pf_strverscmp(const char *a, const char *b);

/* The name of an open file; false: nobody says. */
bool pf_path_of_fd(int fd, char path[PATH_MAX]);
