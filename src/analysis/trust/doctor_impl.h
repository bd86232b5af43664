/* SPDX-License-Identifier: MIT */
/* What the parts of "doctor" share.  Not for others. */
#ifndef PF_ANALYSIS_TRUST_DOCTOR_IMPL_H
#define PF_ANALYSIS_TRUST_DOCTOR_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/spool.h"
#include "store/db.h"

struct pf_tally {
	int64_t count, ns;
};

/* What GPU work says (doctor_gpu.c). */
struct pf_doctor_gpu {
	struct pf_tally work, head, migrated, orphan, no_op, early, clock,
		overlap, zero;
	int64_t most_early_ns;   /* the longest time before a launch call */
	struct pf_tally backlog; /* of traces where all work waited so long */
	int64_t least_delay_ns;  /* the shortest wait of it */
};
#define PF_DOCTOR_BACKLOG_NS 1000000

/* Samples of a log's clocks while GPUs worked (doctor_gpu.c). */
struct pf_doctor_clocks {
	int64_t count, low_count;
	double least_mhz, most_mhz;
};

/* What the threads and streams say (doctor_tracks.c). */
struct pf_doctor_tracks {
	int64_t range_count; /* host ranges that take time */
	int64_t crossing_count;
	bool is_crossing_least; /* more ranges were open than are kept */
	int64_t event_count;    /* looked at for duplicates */
	struct pf_tally duplicate;
	struct pf_tally overhead; /* host time, summed over threads */
	int64_t overhead_of_ns;   /* how long these threads were recorded */
	int64_t unknown_count;    /* host events of no known category, and
				     work of devices that are not known */
	int64_t tpu_count;        /* events of TPUs, which are */
	/* Calls, and those of them without GPU work. */
	int64_t launch_count, idle_launch_count;
	int64_t copy_count, idle_copy_count; /* fills too */
	int64_t crowded_count;      /* work of calls that launch but one */
	int64_t silent_trace_count; /* launches, but no GPU work at all */
	int64_t step_count, empty_step_count; /* events/step.h */
};

#endif
