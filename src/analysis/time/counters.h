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
#pragma once

#include "events/window.h"
#include "show/doc.h"

struct pf_counters_args {
	struct pf_window_args window;
};

struct pf_counter {
	const struct pf_window_trace *trace; /* on whose clock its times are */
	uint32_t number;                     /* from 0 */
	const char *track, *name, *key;
};
struct pf_counter_sink {
	/* Of a series in order of time; "of" is of this call. */
	void (*sample)(struct pf_counter_sink *s, const struct pf_counter *of,
		       int64_t at_ns, double value);
};

/*
 * Tell all numbers; those of a log on the clock of the first trace of a
 * program, if both say what time of day it was.
 */
int pf_counters_tell(struct pf_db *db, const struct pf_window_args *window,
		     struct pf_counter_sink *sink);

int pf_counters(struct pf_db *db, const struct pf_counters_args *args,
		struct pf_doc *doc);
