/* SPDX-License-Identifier: MIT */
/*
 * What idle/gaps.h sums up (gaps.c) and how it is said (gaps_show.c).
 * "Count" is the number of gaps in which a cause has a part and "longest" its
 * largest part of one gap.
 */
#ifndef PF_ANALYSIS_GAPS_IMPL_H
#define PF_ANALYSIS_GAPS_IMPL_H

#include "idle/gap_find.h"
#include "idle/gaps.h"
#include "base/intern.h"

struct sum {
	int64_t ns, count, longest_ns;
	int64_t gap, gap_ns; /* the gap that was added to last; its part */
};

struct culprit {
	struct pf_place place;
	struct sum sum;
};

/* Sums by place. */
struct culprits {
	struct pf_intern keys; /* bytes of a struct pf_place -> culprit */
	struct culprit *items;
	size_t cap;
};

struct listed {
	struct pf_gap gap;
	struct pf_place place;
	int64_t cause_ns;
};

#define BINS 10

struct gaps {
	struct pf_gap_sink sink;
	const struct pf_gaps_args *args;
	struct pf_names *names;
	struct sum causes[PF_CAUSE_COUNT];
	struct culprits culprits;
	struct culprits drains; /* by blocking call, of time that it explains */
	/* of the gap whose pieces come in */
	int64_t at;
	int64_t here_ns[PF_CAUSE_COUNT];
	struct pf_place largest[PF_CAUSE_COUNT];
	int64_t largest_ns[PF_CAUSE_COUNT];
	/* the longest: a heap, the least of them first */
	struct listed *list;
	size_t listed, limit, list_cap;
	int64_t bin_count[BINS], bin_ns[BINS];
	int64_t drained_ns, drained_count;
	struct pf_gap_device *devices;
	size_t device_count, device_cap;
	struct pf_gap_device all;
	int64_t step_count; /* that make up the window, or 0 */
	bool is_default;    /* the window was not asked for */
};

static inline size_t culprits_count(const struct culprits *c)
{
	return c->keys.count;
}

/* In the order of the tables, for qsort(). */
int pf_gaps_by_time(const void *a, const void *b);
int pf_gaps_by_length(const void *a, const void *b);

/* Put the sums into a document. */
int pf_gaps_show(struct gaps *g, struct pf_doc *doc, struct pf_err *err);

#endif
