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
#pragma once

#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

struct pf_step_times;

/*
 * What the time of a step goes to by the user's own ranges: each instant of a
 * whole step goes to the innermost range that is open on
 * the step's thread, or to none of them, as long as the host is in the step,
 * and to "after" from then to the end of the step's GPU work.  So the parts
 * sum to the steps exactly.  The same is split of the steps' time on the host,
 * which has no "after" but also what passes while the GPU is still at the step
 * before.
 *
 * Ranges are counted, with the GPU work that was launched in them, where they
 * begin in a whole step on the host.  Without steps the window is one, and its
 * thread the one on which ranges are open longest.
 */
struct pf_ranges_args {
	struct pf_window_args window;
	const struct pf_step_times *steps; /* NULL: ranges on their own */
};

int pf_ranges(struct pf_db *db, const struct pf_ranges_args *args,
	      struct pf_doc *doc);
