/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into the program: one call of one function fails, or is short.
 *
 *	FAULT=NAME:N:HOW   the Nth call of NAME (from 1) by the program's main
 *	                   executable or a library it loads; HOW is EIO, ENOSPC,
 *	                   EINTR, EMFILE, ENOMEM or short
 *	FAULT_HIT=FILE     made when the call came
 *	FAULT_COUNTS=FILE  how often each is called, "NAME COUNT" a line; written
 *			   at the end, in the place of a fault
 *
 * Programs that it runs are spared.
 */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	char name[24];
	long n;
	int error; /* 0: short */
} fault;
static atomic_long calls;
static struct {
	const char *name;
	atomic_long count;
} counted[] = {
	{ "close" },  { "fstat" },    { "fsync" },  { "ftruncate" },
	{ "mkdir" },  { "mmap" },     { "openat" }, { "opendir" },
	{ "pread" },  { "pwrite" },   { "read" },   { "readdir" },
	{ "rename" }, { "realpath" }, { "stat" },   { "unlink" },
	{ "write" },
};
#define COUNTED (sizeof(counted) / sizeof(*counted))
static char counts_path[4096];

__attribute__((constructor)) static void read_fault(void)
{
	static const struct {
		const char *word;
		int error;
	} hows[] = { { "EIO", EIO },       { "ENOSPC", ENOSPC },
		     { "EINTR", EINTR },   { "EMFILE", EMFILE },
		     { "ENOMEM", ENOMEM }, { "short", 0 } };
	const char *s = getenv("FAULT_COUNTS");
	char how[24] = "";

	if (s && strlen(s) < sizeof(counts_path)) {
		strcpy(counts_path, s);
		unsetenv("FAULT_COUNTS");
	}
	s = getenv("FAULT");
	if (!s || sscanf(s, "%23[^:]:%ld:%23s", fault.name, &fault.n, how) != 3)
		return;
	for (size_t i = 0; i < sizeof(hows) / sizeof(*hows); i++)
		if (!strcmp(hows[i].word, how))
			fault.error = hows[i].error;
	unsetenv("FAULT");
}

/* By the kernel's own door, so that no call of this file counts. */
static void say_hit(void)
{
	const char *path = getenv("FAULT_HIT");
	long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT,
				 0600)
		       : -1;

	if (fd >= 0)
		syscall(SYS_close, fd);
}

__attribute__((destructor)) static void write_counts(void)
{
	FILE *f = *counts_path ? fopen(counts_path, "w") : NULL;

	*counts_path = 0;
	if (!f)
		return;
	for (size_t i = 0; i < COUNTED; i++)
		fprintf(f, "%s %ld\n", counted[i].name,
			atomic_load(&counted[i].count));
	fclose(f);
}

/* Is it this call's turn?  errno is set if it is to fail. */
static bool is_hit(const char *name)
{
	for (size_t i = 0; *counts_path && i < COUNTED; i++)
		if (!strcmp(name, counted[i].name))
			atomic_fetch_add(&counted[i].count, 1);
	if (!fault.n || strcmp(name, fault.name) != 0 ||
	    atomic_fetch_add(&calls, 1) + 1 != fault.n)
		return false;
	say_hit();
	errno = fault.error;
	return true;
}

static void *next_of(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Bytes of a call that may be short. */
#define TRANSFER(name, type, args, ...)                                        \
	ssize_t name args                                                      \
	{                                                                      \
		static ssize_t(*next) args;                                    \
		if (!next)                                                     \
			*(void **)&next = next_of(#name);                      \
		if (is_hit(type)) {                                            \
			if (fault.error || !len)                               \
				return -1;                                     \
			len = len > 1 ? len / 2 : len;                         \
		}                                                              \
		return next(__VA_ARGS__);                                      \
	}

TRANSFER(read, "read", (int fd, void *p, size_t len), fd, p, len)
TRANSFER(write, "write", (int fd, const void *p, size_t len), fd, p, len)
TRANSFER(pread, "pread", (int fd, void *p, size_t len, off_t at), fd, p, len,
	 at)
TRANSFER(pread64, "pread", (int fd, void *p, size_t len, off64_t at), fd, p,
	 len, at)
TRANSFER(pwrite, "pwrite", (int fd, const void *p, size_t len, off_t at), fd, p,
	 len, at)
TRANSFER(pwrite64, "pwrite", (int fd, const void *p, size_t len, off64_t at),
	 fd, p, len, at)

/* Calls that only fail. */
#define FAILS(ret, bad, name, type, args, ...)                                 \
	ret name args                                                          \
	{                                                                      \
		static ret(*next) args;                                        \
		if (!next)                                                     \
			*(void **)&next = next_of(#name);                      \
		if (is_hit(type) && fault.error)                               \
			return bad;                                            \
		return next(__VA_ARGS__);                                      \
	}

FAILS(int, -1, fsync, "fsync", (int fd), fd)
FAILS(int, -1, fdatasync, "fsync", (int fd), fd)
FAILS(int, -1, fstat, "fstat", (int fd, struct stat *s), fd, s)
FAILS(int, -1, fstat64, "fstat", (int fd, struct stat64 *s), fd, s)
FAILS(int, -1, ftruncate, "ftruncate", (int fd, off_t len), fd, len)
FAILS(int, -1, ftruncate64, "ftruncate", (int fd, off64_t len), fd, len)
FAILS(int, -1, stat, "stat", (const char *p, struct stat *s), p, s)
FAILS(int, -1, stat64, "stat", (const char *p, struct stat64 *s), p, s)
FAILS(int, -1, lstat, "stat", (const char *p, struct stat *s), p, s)
FAILS(int, -1, lstat64, "stat", (const char *p, struct stat64 *s), p, s)
FAILS(int, -1, mkdir, "mkdir", (const char *p, mode_t mode), p, mode)
FAILS(char *, NULL, mkdtemp, "mkdir", (char *p), p)
FAILS(char *, NULL, realpath, "realpath", (const char *p, char *to), p, to)
FAILS(void *, NULL, opendir, "opendir", (const char *p), p)
FAILS(void *, NULL, fdopendir, "opendir", (int fd), fd)
FAILS(void *, NULL, readdir, "readdir", (void *d), d)
FAILS(void *, NULL, readdir64, "readdir", (void *d), d)
FAILS(int, -1, rename, "rename", (const char *a, const char *b), a, b)
FAILS(int, -1, unlink, "unlink", (const char *a), a)
FAILS(int, -1, rmdir, "unlink", (const char *a), a)
FAILS(void *, MAP_FAILED, mmap, "mmap",
      (void *a, size_t len, int prot, int flags, int fd, off_t at), a, len,
      prot, flags, fd, at)
FAILS(void *, MAP_FAILED, mmap64, "mmap",
      (void *a, size_t len, int prot, int flags, int fd, off64_t at), a, len,
      prot, flags, fd, at)

/* The file is closed all the same, as Linux does. */
int close(int fd)
{
	static int (*next)(int);
	bool hit = is_hit("close");
	int saved = errno, rc;

	if (!next)
		*(void **)&next = next_of("close");
	rc = next(fd);
	if (!hit || !fault.error)
		return rc;
	errno = saved;
	return -1;
}

#define OPENS(name, args, ...)                                                 \
	int name args                                                          \
	{                                                                      \
		static int(*next) args;                                        \
		va_list list;                                                  \
		int mode;                                                      \
		va_start(list, flags);                                         \
		mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0;  \
		va_end(list);                                                  \
		if (!next)                                                     \
			*(void **)&next = next_of(#name);                      \
		if (is_hit("openat") && fault.error)                           \
			return -1;                                             \
		return next(__VA_ARGS__, flags, mode);                         \
	}

OPENS(open, (const char *path, int flags, ...), path)
OPENS(open64, (const char *path, int flags, ...), path)
OPENS(openat, (int dir, const char *path, int flags, ...), dir, path)
OPENS(openat64, (int dir, const char *path, int flags, ...), dir, path)
