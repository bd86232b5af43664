/* SPDX-License-Identifier: MIT */
/*
 * Which rank comes last to collectives, and how long others wait for it.
 *
 * Compared are collectives that no rank can leave before all have come
 * (all-reduce, all-gather, reduce-scatter, all-to-all, barrier).  A rank comes
 * to one when its first kernel of it starts; the n-th of a process group on
 * one rank is the n-th on the others, so all must have as many.  A rank waits
 * from its own start to the latest one.
 *
 * That takes one clock.  Ranks that are known to be of one machine have one.
 * Where the machine is not recorded, collectives must end on all ranks at the
 * same time but for what would not matter; nothing may end on one rank before
 * it has begun on another.  Where this is not so, nothing is printed but why.
 */
#ifndef PF_ANALYSIS_ARRIVAL_H
#define PF_ANALYSIS_ARRIVAL_H

#include "events/window.h"
#include "base/err.h"
#include "store/db.h"
#include "table/doc.h"

/* Times in ns, of collectives that were compared. */
struct pf_arrival_rank {
	int64_t trace_id, rank, base_ns, first_ns, window_ns;
	char *host; /* NULL: not recorded */
	int64_t count, last_count;
	int64_t waited_ns; /* for others */
	int64_t late_ns; /* the longest wait of another for this one, summed */
	int64_t gain_ns; /* of it until the last but one had come */
	int64_t end_ns;  /* ends after the mean end of all ranks, summed */
};

/* A zero-initialised struct is an empty result; it owns its arrays. */
struct pf_arrivals {
	struct pf_arrival_rank *ranks; /* count 0: a single trace */
	size_t rank_count;
	char *withheld; /* why ranks are not compared; NULL: they are */
	int64_t count;  /* of collectives of several ranks */
	int64_t spread_ns, window_ns, clock_ns;
	const char *machine;
	/* Whom others wait for most; straggler_ns 0: nobody waits. */
	int64_t straggler_rank, straggler_trace_id;
	int64_t straggler_ns, straggler_gain_ns;
	double straggler_share; /* of window_ns */
	int64_t longest_wait_ns, longest_wait_trace_id;
	int64_t longest_wait_start_ns; /* from the trace's first event */
};

/*
 * Nothing for a single trace.  Memory grows with the number of groups and of
 * distinct arguments.
 */
int pf_arrivals_find(struct pf_db *db, const struct pf_window *window,
		     struct pf_arrivals *out, struct pf_err *err);
void pf_arrivals_release(struct pf_arrivals *a);

/*
 * Add scalars and the table "arrivals", a row for each rank, or the scalar
 * "arrival_withheld" with the reason.
 */
void pf_arrivals_show(const struct pf_arrivals *a, struct pf_doc *doc);

#endif
