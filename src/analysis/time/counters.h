/* SPDX-License-Identifier: MIT */
/*
 * What counters say: power, clocks, utilization and memory as nvidia-smi and
 * dcgmi log them, and the counters of any other trace.  A series is a number
 * of a track under one name; a sample is an event that has it.  Means are over
 * samples, not over time.
 *
 * Samples of one file belong to the steps of another where both say what time
 * of day it was.
 */
#ifndef PF_ANALYSIS_TIME_COUNTERS_H
#define PF_ANALYSIS_TIME_COUNTERS_H

#include "events/window.h"
#include "show/doc.h"

struct pf_counters_args {
	struct pf_window_args window;
};

int pf_counters(struct pf_db *db, const struct pf_counters_args *args,
		struct pf_doc *doc);

#endif
