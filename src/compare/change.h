/* SPDX-License-Identifier: MIT */
/*
 * Since when is a figure another?  Change points of a series, a value a
 * capture in order of time: the place whose two sides differ the most by Mann
 * and Whitney's test (diff_rank.h), then the same in each part.
 *
 * A rank test, so neither one bad night nor how values are distributed
 * matters.  A place is a change if its p, times the places there were to
 * choose from, is at most "rate": that is the chance, at most, that a series
 * whose values vary independently about one level is said to have changed.
 * Whoever looks at many series divides the rate by their number.
 */
#ifndef PF_COMPARE_CHANGE_H
#define PF_COMPARE_CHANGE_H

#include "compare/diff_rank.h"

/* Of all that is looked at together. */
#define PF_CHANGE_RATE 0.01

struct pf_change {
	size_t from, at, to;   /* values [from, at) against [at, to) */
	int64_t before, after; /* their medians */
	struct pf_rank rank;   /* and how they differ */
};

/* In order; the sides of a change end where the next changes are. */
struct pf_changes {
	struct pf_change *items;
	size_t count;
};

/* Each value less than 2^62. */
void pf_changes_find(const int64_t *values, size_t count, double rate,
		     struct pf_changes *out);
void pf_changes_release(struct pf_changes *c);

/* So many values it takes before any change can be told from chance. */
size_t pf_changes_least(double rate);

#endif
