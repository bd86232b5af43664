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
 *	pf_lane_free(lane);
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
 * While the lane's thread has nothing to finish it helps to read: it calls
 * "help" until that says that there is no more.  When pf_lane_thank() returns
 * it does so no longer.
 */
typedef bool pf_lane_help(void *arg);
void pf_lane_ask(struct pf_ingest_lane *lane, pf_lane_help *help, void *arg);
void pf_lane_thank(struct pf_ingest_lane *lane);

/*
 * The lane takes the job over; waits while PF_LANE_WAITING of them wait.
 * -1: this or an earlier trace failed, of which pf_lane_finish() tells.
 */
#define PF_LANE_WAITING 2
int pf_lane_put(struct pf_ingest_lane *lane, struct pf_ingest *job);

/*
 * A part of finishing that is done by who waits for the lane, or in the end by
 * who wants it: two threads have no need of a third.
 */
struct pf_lane_task {
	void (*run)(void *arg);
	void *arg;
	bool is_taken, is_done; /* the lane's */
};

/* Are there others who could wait?  If not, nothing is to be offered. */
bool pf_lane_is_beside(const struct pf_ingest_lane *lane);
/* One at a time; it is the lane's until it is collected. */
void pf_lane_offer(struct pf_ingest_lane *lane, struct pf_lane_task *task);
void pf_lane_collect(struct pf_ingest_lane *lane, struct pf_lane_task *task);

/*
 * Wait until all are finished.  The first that failed is the one that the
 * error is of; those behind it were not finished.  What is still offered can be
 * collected until the lane is freed.
 */
int pf_lane_finish(struct pf_ingest_lane *lane, struct pf_err *err);
void pf_lane_free(struct pf_ingest_lane *lane);

#endif
