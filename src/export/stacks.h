/* SPDX-License-Identifier: MIT */
/*
 * Where time goes, by stack: Python functions, annotations, ops and calls as
 * they are nested on a thread.
 *
 *	gpu	GPU work by the stack of its launch call, innermost the
 *		work's name: the sum of durations, cut to the window.  Work
 *		without a launch call is in "(no launch call)".
 *	cpu	ranges of host threads, each instant of a thread in its
 *		innermost range: the time that ranges cover.
 *	idle	time in which a GPU is idle, by cause and by what holds it
 *		(analysis/idle/gaps.h), in the window of profan gaps.
 *	memory	bytes of a memory snapshot: its blocks when it was taken, a
 *		line each as torch's _memory_viz.memory() has them, or what
 *		was alive at the peak of each device by stack.
 *
 *	samples	what files of folded stacks count; also where there is nothing
 *		else and GPU work is asked for.
 *
 * Lines add up to the total exactly.  All ProfilerStep#N are one frame.  A
 * range that outlasts the one around it is no part of it, but of what holds
 * it whole.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "events/hints.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

/* In the order of PF_STACKS_WEIGHTS. */
enum pf_stacks_weight {
	PF_STACKS_GPU,
	PF_STACKS_CPU,
	PF_STACKS_IDLE,
	PF_STACKS_MEMORY,
	PF_STACKS_SAMPLES
};
#define PF_STACKS_WEIGHTS "gpu|cpu|idle|memory|samples"

/*
 * Each line has all that it is in, so the output grows with the square of how
 * deep ranges lie.  Python itself ends programs at 1,000 calls.
 */
#define PF_STACKS_DEPTH 4096

struct pf_stacks_args {
	struct pf_window_args window;
	int weight;      /* enum pf_stacks_weight */
	int at_peak;     /* of memory: 0 at the end, 1 at the peak */
	bool threads;    /* an outermost frame for each thread (idle: GPU) */
	bool force;      /* replace what is there */
	const char *out; /* FILE, FILE.gz or "-" */
};

struct pf_stacks_result {
	int64_t total_ns, line_count; /* of memory: bytes; of samples: what
				       * their file counts */
	int64_t deep_count; /* ranges below PF_STACKS_DEPTH others: part of
			     * what they lie in */
	bool is_samples;
	bool has_python;     /* some stack has a Python function */
	const char *nothing; /* why there are no stacks, or NULL */
	enum pf_hint hint;   /* what to do then, or PF_HINT_NONE */
};

/* Where there are no stacks the output is empty, and the result says why. */
int pf_stacks(struct pf_db *db, const struct pf_stacks_args *args, FILE *out,
	      struct pf_stacks_result *result);

/*
 * The document's finding: where most of what files of folded stacks count
 * ends.  None where there are no such files.
 */
int pf_stacks_samples_most(struct pf_db *db, struct pf_doc *doc);
