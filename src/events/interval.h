/* SPDX-License-Identifier: MIT */
/*
 * Spans of time, in integer ns, that arrive in order of their start.  Nothing
 * here keeps a span: memory is fixed, so a stream of any length will do.
 * A span is [start, end); touching spans join; an empty one covers nothing.
 *
 * All sums are exact.  A span that starts before the one before it is taken
 * to start there (a damaged database must not break the sums).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* start + dur, held at the largest time there is. */
static inline int64_t pf_span_end(int64_t start_ns, int64_t dur_ns)
{
	int64_t end;

	if (dur_ns < 0)
		return start_ns;
	if (__builtin_add_overflow(start_ns, dur_ns, &end))
		return INT64_MAX;
	return end;
}

/* ---- the union of one set of spans ---- */

/* Zero-initialised: nothing yet. */
struct pf_union {
	bool any;           /* has a span been added? */
	int64_t first_ns;   /* start of the first */
	int64_t end_ns;     /* the running maximum of ends */
	int64_t covered_ns; /* length of the union so far */
};

/*
 * Add a span.  Returns the length of the gap between all spans before it and
 * it, which is [end_ns before the call, start_ns); 0 if there is none.
 */
int64_t pf_union_add(struct pf_union *u, int64_t start_ns, int64_t end_ns);

/* First start to last end; what of it is not covered. */
int64_t pf_union_total(const struct pf_union *u);
int64_t pf_union_idle(const struct pf_union *u);

/* ---- several sets at once ---- */

#define PF_SWEEP_SETS 8

/*
 * One pass over the spans of up to eight sets in order of start.  by_mask[m]
 * is the time in which exactly the sets of m's bits were active, so every
 * union, intersection and difference is a sum of some of its places, and all
 * places add up to the time swept: breakdowns are exact by construction.
 */
struct pf_sweep {
	bool any;
	int64_t at_ns;                 /* swept up to here */
	int64_t end_ns[PF_SWEEP_SETS]; /* running maximum of ends, per set */
	unsigned mask;                 /* sets that are active, */
	int64_t until_ns;              /* which holds up to here, or longer */
	int64_t by_mask[1 << PF_SWEEP_SETS];
};

void pf_sweep_init(struct pf_sweep *s);

/* Begin at this time: what is before it is not counted. */
void pf_sweep_begin(struct pf_sweep *s, int64_t at_ns);

/* Sweep up to a time; earlier than at_ns: nothing happens. */
void pf_sweep_to(struct pf_sweep *s, int64_t at_ns);

/* Add a span of a set; the first one begins the sweep if nothing did. */
void pf_sweep_add(struct pf_sweep *s, unsigned set, int64_t start_ns,
		  int64_t end_ns);
