/* SPDX-License-Identifier: MIT */
/*
 * The user's ranges (record_function, NVTX, torch's own annotations) by name,
 * on the host and in what they launched on GPUs, as nsys has them in nvtx_sum
 * and nvtx_gpu_proj_sum.
 *
 * A trace without operators and annotations of torch (of JAX, or any other
 * that has but threads and what runs on them): all ranges of its threads.
 *
 * A range counts where it begins, with all of its length.  Steps of the
 * profiler are one name, ProfilerStep*.  Self is the time of a range in which
 * no range that began later is open on its thread.
 *
 * GPU work is a range's if its launch call begins in the range, on the same
 * thread; also if it is another's, too, further in or out.  The projection of
 * a range reaches from the first start to the last end of its work; busy is
 * the time in which any of it ran (its union).  Work that autograd launches
 * from a thread of its own is in no range of the forward thread.
 *
 * Ranges that are no thread's (events/traces.h) are a list of their own, as in
 * nsys' nvtx_startend_sum: with what they last, and neither self time nor work.
 */
#ifndef PF_ANALYSIS_TIME_RANGES_H
#define PF_ANALYSIS_TIME_RANGES_H

#include "base/err.h"
#include "base/mem.h"
#include "events/ask.h"
#include "events/hints.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

struct pf_step_times;

struct pf_ranges_args {
	struct pf_window_args window;
	/*
	 * Or NULL: only of the thread of these steps; ranges count if they
	 * begin in a whole one, and their self time is that in whole ones.
	 */
	const struct pf_step_times *steps;
};

struct pf_range {
	struct pf_spread ns;
	const char *name;
	int64_t self_ns;
	double self_share; /* of the self times of all */
	/* Of those ranges that launched GPU work. */
	struct pf_spread projected_ns;
	int64_t work_count, busy_ns;
	int64_t step_ns;  /* self in the steps' own time (steps.c) */
	uint32_t name_id; /* of a name; of all steps another */
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_ranges {
	struct pf_window window;
	enum pf_producer producer; /* set before it is shown */
	struct pf_arena texts;
	struct pf_keyed items; /* struct pf_range, the longest first */
	struct pf_range *gpu;  /* of them with GPU work, by projection */
	size_t gpu_count;
	/* Of no thread.  With steps: those that begin in a whole one. */
	struct pf_keyed spans; /* struct pf_range, as items */
	int64_t half_count;    /* begins or ends without the other */
	int64_t self_ns;       /* of all: each instant of a thread once */
	bool has_user_self;    /* of others than ProfilerStep* */
	bool has_plain;        /* of a trace whose ranges all count */
};

int pf_ranges_find(struct pf_db *db, const struct pf_ranges_args *args,
		   struct pf_ranges *out);
void pf_ranges_release(struct pf_ranges *ranges);
void pf_ranges_show(const struct pf_ranges *ranges, struct pf_doc *doc);

#endif
