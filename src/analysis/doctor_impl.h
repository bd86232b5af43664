/* SPDX-License-Identifier: MIT */
/* What the parts of "doctor" share.  Not for others. */
#ifndef PF_ANALYSIS_DOCTOR_IMPL_H
#define PF_ANALYSIS_DOCTOR_IMPL_H

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
	struct pf_tally work, head, orphan, no_op, early, clock, overlap, zero;
	int64_t most_early_ns; /* the longest time before a launch call */
};

int pf_doctor_gpu(struct pf_db *db, struct pf_doctor_gpu *out,
		  struct pf_err *err);

/* What the threads and streams say (doctor_tracks.c). */
struct pf_doctor_tracks {
	int64_t range_count; /* host ranges that take time */
	int64_t crossing_count;
	bool is_crossing_least; /* more ranges were open than are kept */
	int64_t event_count;    /* looked at for duplicates */
	struct pf_tally duplicate;
	struct pf_tally overhead; /* host time, summed over threads */
	int64_t call_count, idle_call_count; /* launches; without work */
};

int pf_doctor_tracks(struct pf_db *db, struct pf_doctor_tracks *out,
		     struct pf_err *err);

/* Does the name of a call say that it gives work to a GPU? */
bool pf_doctor_is_launch(const char *name);

#endif
