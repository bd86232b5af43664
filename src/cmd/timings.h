/* SPDX-License-Identifier: MIT */
/*
 * Where the time of an ingest went: for each phase the time that passed, the
 * CPU time of all threads, and that of the first of them, which is what more
 * threads do not share.
 */
#ifndef PF_CMD_TIMINGS_H
#define PF_CMD_TIMINGS_H

#include <stdio.h>

/* The first phase begins. */
void pf_timings_start(void);
/* What pf_ingest_options.phase calls: a phase by name, NULL: reading. */
void pf_timings_phase(const char *name);
/* The last phase has ended: a line for each. */
void pf_timings_show(FILE *f);

#endif
