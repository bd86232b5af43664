/* SPDX-License-Identifier: MIT */
/*
 * Exports of Nsight Systems ("nsys export --type sqlite", schemas of 2020 to
 * 2026): the rows of its tables as events of the one model (trace/event.h),
 * named and placed as Kineto does it.
 *
 * Tables are read one after the other, each in the order of the file, and
 * given in batches of any size.  Whatever a column's type or version, every
 * row is an event, a metadata event, or counted as skipped; so are the rows
 * of tables that are not read.
 *
 * Texts are looked up by the numbers that events have, and no others: the
 * file also holds environments and command lines, which stay there.
 */
#ifndef PF_NSYS_NSYS_H
#define PF_NSYS_NSYS_H

#include "foreign/foreign.h"
#include "trace/batch.h"

struct pf_nsys_options {
	bool os_calls;   /* keep calls of the operating system's libraries */
	const char *dir; /* for temporary files */
};

struct pf_nsys;

/* Is it such a database, by its tables? */
bool pf_nsys_claims(const struct pf_foreign *f);

/* "f" is borrowed until free. */
struct pf_nsys *pf_nsys_new(struct pf_foreign *f,
			    const struct pf_nsys_options *options,
			    struct pf_err *err);
void pf_nsys_free(struct pf_nsys *n);

/* Where events go; settle it after each call of pf_nsys_fill(). */
struct pf_parsed *pf_nsys_parsed(struct pf_nsys *n);

/*
 * Empty the batch and fill it with the events of at most so many rows: 1 there
 * may be more, 0 this was the last, -1 a failure.
 */
int pf_nsys_fill(struct pf_nsys *n, size_t most, struct pf_err *err);

/* Counts for trace_fact, once all has been read; false: no more. */
bool pf_nsys_fact(struct pf_nsys *n, size_t i, char *key, size_t key_size,
		  int64_t *value);

#endif
