/* SPDX-License-Identifier: MIT */
/*
 * A counter that threads wait on.  Posting is safe in a signal handler and
 * never waits; waiting takes a deadline on the monotonic clock.
 */
#ifndef PF_AGENT_WAKE_H
#define PF_AGENT_WAKE_H

#include <stdatomic.h>
#include <stdint.h>

struct pf_wake {
	_Atomic uint32_t count;
};

/* Nanoseconds of CLOCK_MONOTONIC, and of any clock. */
uint64_t pf_now_ns(void);
uint64_t pf_clock_ns(int clock);

/* Let everyone who waits go on. */
void pf_wake_post(struct pf_wake *w);

/*
 * Wait until somebody posted after `seen` was read, or the deadline has
 * passed.  Returns the count now.
 */
uint32_t pf_wake_wait(struct pf_wake *w, uint32_t seen, uint64_t deadline_ns);

#endif
