/* SPDX-License-Identifier: MIT */
/*
 * Where an output goes, and what may be there: the one rule of all commands.
 *
 * A file is written as PATH.partial, which must not be there or be left over,
 * is no link and belongs to one writer at a time, and takes its place when it
 * is complete.  An input is never overwritten, nothing else that is there
 * without leave.  Devices, pipes and what is under /dev and /proc are written
 * as they are.  SIGINT, SIGTERM and SIGHUP remove what is unfinished, unless
 * the program has other plans for them.
 */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

struct pf_outrule {
	bool replace;       /* what is there, unless it is an input */
	const char *option; /* that says so, for the refusal; NULL: none */
	const char *const *inputs; /* files that are never written */
	size_t input_count;
	/* May this file be replaced without leave?  NULL: none may. */
	bool (*is_ours)(const char *path);
	bool is_database; /* no device will do, and no stale journal */
};

struct pf_outplace {
	char *path;    /* what the link leads to, if it is one */
	char *partial; /* write here; NULL: fd is the output itself */
	int fd;        /* open for writing; -1: none */
	size_t slot;   /* for signals */
	bool is_database;
};

/* After a failure (PF_EIO, PF_EBUSY) there is nothing to release. */
int pf_outplace_open(struct pf_outplace *place, const char *path,
		     const struct pf_outrule *rule, struct pf_err *err);

/* What pf_outplace_open() would say before it opens anything. */
int pf_outplace_check(const char *path, const struct pf_outrule *rule,
		      struct pf_err *err);

/* Put what was written in its place. */
int pf_outplace_commit(struct pf_outplace *place, struct pf_err *err);

/*
 * Hold a finished file, alone or with others who do not change it: -1 and errno
 * EWOULDBLOCK where another holds it, else ENOENT or why it cannot be opened.
 * Where nothing can be locked, nobody holds anything.  Closing it ends that.
 */
int pf_outplace_lock(const char *path, bool is_alone);

/* Is another writing it at this moment? */
bool pf_outplace_is_busy(const char *path);

/*
 * Remove a file, or a folder that is empty then, when a signal ends the
 * program; the path is borrowed until it is no longer watched.
 */
#define PF_OUTPLACE_UNWATCHED ((size_t)-1)
size_t pf_outplace_watch(const char *path);
void pf_outplace_unwatch(size_t slot);

/* A new folder for temporary files, removed if it is empty at the end. */
struct pf_outfolder {
	char *path; /* NULL: none */
	size_t slot;
};
int pf_outfolder_open(struct pf_outfolder *folder, struct pf_err *err);
void pf_outfolder_release(struct pf_outfolder *folder);

/* What was not committed is removed. */
void pf_outplace_release(struct pf_outplace *place);

/*
 * A file that is there when it is complete and not before, under the rules of
 * base/outplace.h.  A path that ends in ".gz" is
 * compressed, with a header that says no time and no system, so that the same
 * bytes in give the same bytes out (of one zlib).  The path "-" is standard
 * output, never compressed.
 */

struct pf_outfile;

/* NULL on error. */
struct pf_outfile *pf_outfile_open(const char *path,
				   const struct pf_outrule *rule, FILE *out,
				   struct pf_err *err);
int pf_outfile_write(struct pf_outfile *f, const void *data, size_t len,
		     struct pf_err *err);
/* Write what is left and put the file in its place. */
int pf_outfile_commit(struct pf_outfile *f, struct pf_err *err);
/* Free it; what was not committed is removed.  NULL is fine. */
void pf_outfile_free(struct pf_outfile *f);
PF_FREED(pf_outfile_free, struct pf_outfile)
