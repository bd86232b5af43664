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

/*
 * Add scalars and the table "arrivals", a row for each rank, or the scalar
 * "arrival_withheld" with the reason.  Nothing for a single trace.  Memory
 * grows with the number of groups and of distinct arguments.
 */
int pf_arrivals(struct pf_db *db, const struct pf_window *window,
		struct pf_doc *doc, struct pf_err *err);

#endif
