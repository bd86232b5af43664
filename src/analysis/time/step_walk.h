/* SPDX-License-Identifier: MIT */
/*
 * The whole steps of a trace, met by one of its threads in order of time: how
 * much of what a thread does lies in them.
 *
 * A step lasts on the host from its start to its end there.  Its own time ends
 * with the last of its GPU work and begins where that of the step before has
 * ended (events/step.h): the host's part of it is what is left of its time on
 * the host, and behind its end on the host there is only GPU work.
 */
#ifndef PF_ANALYSIS_TIME_STEP_WALK_H
#define PF_ANALYSIS_TIME_STEP_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/time/steps.h"

struct pf_step_walk {
	const struct pf_step_time *at, *end; /* steps, partial ones too */
};

/* The steps of a trace; none if it has none. */
struct pf_step_walk pf_step_walk_begin(const struct pf_step_times *all,
				       int64_t trace_id);

/*
 * Add to two sums what of a span lies in whole steps: of their time on the
 * host, and of the host's part of their own time.
 */
void pf_step_walk_add(struct pf_step_walk *w, int64_t from_ns, int64_t to_ns,
		      int64_t *host_ns, int64_t *own_ns);

/* The whole step on the host in which an instant lies, or NULL. */
const struct pf_step_time *pf_step_walk_at(struct pf_step_walk *w,
					   int64_t at_ns);

/* Instants never go back: the next call may forget what is before this one. */
void pf_step_walk_forget(struct pf_step_walk *w, int64_t before_ns);

#endif
