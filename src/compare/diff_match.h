/* SPDX-License-Identifier: MIT */
/*
 * Which GPU work of one side is which of the other.  Every row is in exactly
 * one pair, so sums over pairs are sums over rows.  The first rule that fits
 * counts:
 *
 *	exact		same place, operator, shapes, kernel, role of stream
 *	stream		the same on another stream
 *	shape		the same with other shapes
 *	position	another kernel at the same place in the order of
 *			launches under the same path
 *	family		kernels that compute the same (compare/family.h) of
 *			one path, else operator, module or annotation, else
 *			anywhere
 *	group		all that is left under one path, else one module or
 *			annotation: so many kernels became so many
 *	added, removed	the rest
 */
#ifndef PF_ANALYSIS_DIFF_MATCH_H
#define PF_ANALYSIS_DIFF_MATCH_H

#include "compare/diff_side.h"

enum pf_match {
	PF_MATCH_EXACT,
	PF_MATCH_STREAM,
	PF_MATCH_SHAPE,
	PF_MATCH_POSITION,
	PF_MATCH_FAMILY,
	PF_MATCH_GROUP,
	PF_MATCH_ADDED,
	PF_MATCH_REMOVED,
};

/* "exact", ... */
const char *pf_match_name(enum pf_match match);

#define PF_NO_ROW UINT32_MAX

struct pf_pair {
	enum pf_match match;
	uint32_t a_row, b_row;   /* with most time, or PF_NO_ROW */
	uint32_t a_rows, b_rows; /* how many */
	int64_t a_count, b_count, a_ns, b_ns;
};

struct pf_pairs {
	struct pf_pair *items;
	size_t count, cap;
	uint32_t *of_a, *of_b; /* the pair of each row */
};

/* By: what the sides were pooled by. */
int pf_match(struct pf_intern *texts, const struct pf_side *a,
	     const struct pf_side *b, enum pf_diff_by by, struct pf_pairs *out,
	     struct pf_err *err);
void pf_pairs_release(struct pf_pairs *p);

#endif
