/* SPDX-License-Identifier: MIT */
/*
 * Threads that events speak of, and their names: NVTX's, else the system's,
 * looked up from time to time by the ticker.  Adding never waits.
 */
#ifndef PF_AGENT_THREADS_H
#define PF_AGENT_THREADS_H

#include "counts.h"
#include "defs.h"

#define PF_THREADS 4096u

struct pf_thread {
	_Atomic uint32_t tid;   /* 0: free */
	_Atomic uint32_t named; /* by the program: the system's name is idle */
	uint32_t looked, wait;  /* the ticker's: looks so far, ticks to go */
	char name[16];
};

struct pf_threads {
	struct pf_thread slots[PF_THREADS];
};

/* Enter a thread; `named` if the program named it. */
void pf_threads_add(struct pf_threads *t, uint32_t tid, bool named);

/*
 * Look names up and define those that are new.  `all` asks for every thread,
 * else each is asked for less and less often.
 */
void pf_threads_look(struct pf_threads *t, struct pf_defs *d,
		     struct pf_counts *c, bool all);

#endif
