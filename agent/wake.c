/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "wake.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t pf_clock_ns(int clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t pf_now_ns(void)
{
	return pf_clock_ns(CLOCK_MONOTONIC);
}

void pf_wake_post(struct pf_wake *w)
{
	atomic_fetch_add_explicit(&w->count, 1, memory_order_release);
	syscall(SYS_futex, &w->count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL,
		0);
}

uint32_t pf_wake_wait(struct pf_wake *w, uint32_t seen, uint64_t deadline_ns)
{
	struct timespec until = { (time_t)(deadline_ns / 1000000000u),
				  (long)(deadline_ns % 1000000000u) };
	uint32_t now;

	while ((now = atomic_load_explicit(&w->count, memory_order_acquire)) ==
		       seen &&
	       pf_now_ns() < deadline_ns)
		syscall(SYS_futex, &w->count,
			FUTEX_WAIT_BITSET_PRIVATE, /* an absolute deadline */
			seen, &until, NULL, FUTEX_BITSET_MATCH_ANY);
	return now;
}
