/* SPDX-License-Identifier: MIT */
/*
 * The gaps of every device and what explains them, one after another: a gap
 * is a longest span of time, inside the window, in which no work runs on any
 * stream of a device.  Without a window it is the time between the first
 * start and the last end of work; a restricted window counts up to its edges.
 *
 * Each gap is given piece by piece; the pieces add up to the gap exactly.
 * Nothing is kept but one walk per device and thread.
 */
#ifndef PF_ANALYSIS_GAP_FIND_H
#define PF_ANALYSIS_GAP_FIND_H

#include "events/walk.h"
#include "events/window.h"
#include "base/err.h"
#include "store/db.h"

struct pf_gap {
	const struct pf_window_trace *trace;
	int64_t device; /* or -1 */
	int64_t start_ns, end_ns;
	uint32_t before, after; /* names of work, or PF_ID_NONE */
	/* The call that let the GPU run dry; end_ns INT64_MIN if none did. */
	struct pf_block_call drained;
};

struct pf_gap_device {
	const struct pf_window_trace *trace;
	int64_t trace_id, rank, device; /* the last two -1: unknown */
	int64_t window_ns, busy_ns, idle_ns;
	double idle_share;         /* of the window */
	int64_t first_ns, last_ns; /* of work inside the window */
	int64_t gap_count, event_count;
	int64_t work_ns;                   /* sum of durations */
	int64_t outside_count, outside_ns; /* work that the window leaves out */
};

/* Callbacks; each may be NULL.  A gap's pieces come before the gap. */
struct pf_gap_sink {
	void (*piece)(struct pf_gap_sink *s, const struct pf_gap *gap,
		      const struct pf_place *place, int64_t ns);
	void (*gap)(struct pf_gap_sink *s, const struct pf_gap *gap);
	void (*device)(struct pf_gap_sink *s, const struct pf_gap_device *d);
	/* Of a piece of host time: what was open, outermost first. */
	void (*inside)(struct pf_gap_sink *s, const uint32_t *names,
		       size_t count, int64_t ns);
};

/* Gaps shorter than micro_ns are one piece each. */
int pf_gap_find(struct pf_db *db, const struct pf_window *window,
		struct pf_names *names, const struct pf_pageable *pageable,
		int64_t micro_ns, struct pf_gap_sink *sink, struct pf_err *err);

#endif
