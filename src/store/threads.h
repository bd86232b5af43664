/* SPDX-License-Identifier: MIT */
/*
 * Work for two threads.  What comes out never depends on how many there are:
 * where a second cannot be had, the caller's does all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * How many threads a command uses where nobody says: one for each processor
 * that the process may use (taskset, a job's share), at most 4.
 */
size_t pf_threads_default(void);

/* Two things at once, or one after the other; returns when both are done. */
void pf_threads_both(void (*one)(void *), void *of_one, void (*other)(void *),
		     void *of_other);

/*
 * Items that a thread makes ahead of who takes them, a few at a time, in
 * their order.  They lie in places of the caller's, numbered from 0.
 */
struct pf_ahead;

/* Make the next item in a place that is free: 1, 0 at the end, or -1. */
typedef int pf_ahead_make(void *context, size_t place, struct pf_err *err);

/*
 * From now on make() runs in a thread of its own; where there is none, or not
 * "beside", pf_ahead_next() calls it.
 */
struct pf_ahead *pf_ahead_new(pf_ahead_make *make, void *context, size_t places,
			      bool beside);
/* The place of the next item, which is the caller's until the next call. */
int pf_ahead_next(struct pf_ahead *a, size_t *place, struct pf_err *err);
/* Also before the end: make() runs no more after that. */
void pf_ahead_free(struct pf_ahead *a); /* or NULL */
