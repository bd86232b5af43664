/* SPDX-License-Identifier: MIT */
/*
 * While a trace is read, those that were read before it are finished: merged
 * and written, one after the other, by a thread of their own.  So several
 * small files keep all processors busy, and the database is written in the
 * order of the files whatever the number of threads.
 *
 *	struct pf_ingest_lane *lane = pf_lane_new(finish, arg, true);
 *	for each trace: read it; pf_lane_put(lane, job, &err);
 *	pf_lane_finish(lane, &err);
 */
#ifndef PF_INGEST_LANE_H
#define PF_INGEST_LANE_H

#include <stdbool.h>

#include "base/err.h"

struct pf_ingest;
struct pf_ingest_lane;

/* Finishes a trace and frees it, also when it fails. */
typedef int pf_lane_work(void *arg, struct pf_ingest *job, struct pf_err *err);

/*
 * Without a thread of its own (or when none can be had) each trace is
 * finished by who puts it.
 */
struct pf_ingest_lane *pf_lane_new(pf_lane_work *finish, void *arg,
				   bool beside);

/* Has a trace failed?  Then what is read now will not be wanted. */
bool pf_lane_failed(const struct pf_ingest_lane *lane);

/* Wait until all that were put are finished. */
void pf_lane_wait(struct pf_ingest_lane *lane);

/*
 * The lane takes the job over; waits while PF_LANE_WAITING of them wait.
 * -1: this or an earlier trace failed, of which pf_lane_finish() tells.
 */
#define PF_LANE_WAITING 2
int pf_lane_put(struct pf_ingest_lane *lane, struct pf_ingest *job);

/*
 * Wait until all are finished, and free the lane.  The first that failed is
 * the one that the error is of; those behind it were not finished.
 */
int pf_lane_finish(struct pf_ingest_lane *lane, struct pf_err *err);

#endif
