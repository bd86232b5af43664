/* SPDX-License-Identifier: MIT */
/*
 * How long each profiler step took and what that time went to.  Each instant
 * of a step goes to the first of these that was active, so that the classes
 * sum to the step exactly: kernels (no communication), copies, memsets,
 * communication, calls of the runtime or driver, loading of data, operators
 * and annotations, other.  A trace without steps is one step.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "events/ask.h"
#include "events/gpu.h"
#include "events/trust.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

/*
 * How well kernels fill one GPU: the estimates that TensorBoard made known.
 * At each instant blocks per SM of the kernels that run are added up; what
 * exceeds 1 adds nothing to the efficiency.  Kernels come in order of their
 * start; memory grows with the number that run at once.
 */

struct pf_sm_sums {
	int64_t covered_ns;   /* any kernel runs */
	int64_t kernel_ns;    /* durations of kernels, summed */
	int64_t sized_ns;     /* of it, with known blocks per SM */
	int64_t occupied_ns;  /* of it, with known occupancy */
	double efficiency_ns; /* integral of min(sum of blocks per SM, 1) */
	double occupancy_ns;  /* integral of the sum of occupancies, percent */
};

struct pf_steps_args {
	struct pf_window_args window;
	int64_t samples_per_step; /* 0: not known */
	bool by_range;            /* also by range (ranges.c) */
	bool only_times;          /* of steps; not what they are made of */
	/* left out already, by who set the window: such as hold nothing */
	int64_t empty_count;
	int64_t cut_count; /* and such as are cut off */
};

/* What a step's time goes to, in order of precedence. */
enum pf_step_class {
	PF_STEP_KERNEL,
	PF_STEP_COPY,
	PF_STEP_MEMSET,
	PF_STEP_COMM,
	PF_STEP_RUNTIME,
	PF_STEP_DATA,
	PF_STEP_CPU,
	PF_STEP_OTHER, /* none of them */
	PF_STEP_CLASSES
};

/* For tables of all of them: their names, and titles of columns. */
#define PF_STEP_CLASSES_OF(CLASS)                                              \
	CLASS(KERNEL, "kernel", "Kernel"), CLASS(COPY, "copy", "Copy"),        \
		CLASS(MEMSET, "memset", "Memset"),                             \
		CLASS(COMM, "comm", "Comm"),                                   \
		CLASS(RUNTIME, "runtime", "Runtime"),                          \
		CLASS(DATA, "data", "Data"), CLASS(CPU, "cpu", "CPU"),         \
		CLASS(OTHER, "other", "Other")

/* "most of the time is" this: "in kernels" */
const char *pf_step_class_phrase(enum pf_step_class c);

/* How well GPUs were used; not a number: not known, or no time. */
struct pf_step_use {
	double utilization_share;     /* of the time in kernels */
	double sm_efficiency_share;   /* estimated; known of all kernels */
	double occupancy_percent;     /* estimated, where it is known: */
	double occupancy_known_share; /* of the kernels' time */
};

struct pf_step_time {
	int64_t trace_id, rank, step; /* rank -1: unknown; step -1: no steps */
	int64_t track_id;             /* its thread; 0: no steps */
	int64_t host_start_ns, host_end_ns; /* what the host does belongs */
	int64_t start_ns, end_ns, dur_ns;
	int64_t class_ns[PF_STEP_CLASSES];   /* their sum is dur_ns */
	double class_share[PF_STEP_CLASSES]; /* of dur_ns */
	int64_t busy_ns;                     /* a GPU does anything */
	int64_t kernel_union_ns; /* a kernel runs, communication too */
	/* work launched before the capture runs, or waits for such work */
	int64_t before_ns;
	/* What begins in it; calls: in it on the host. */
	int64_t kernels, copies, memsets;
	int64_t launches, syncs; /* calls that launch work, synchronize */
	int64_t kernel_launches; /* of the former, kernels or graphs */
	struct {
		int64_t count, bytes, ns;
	} ways[PF_COPY_WAYS]; /* of a whole step only */
	int64_t gpu_ns;       /* its duration times the number of GPUs */
	struct pf_sm_sums sm; /* of all GPUs */
	struct pf_step_use use;
	bool is_partial; /* the capture ended within it, or: */
	bool is_empty;   /* as in events/step.h */
};

/* Over whole steps; a percentile is -1 where they are too few for it. */
struct pf_step_spread {
	const char *name; /* of the class; NULL: of the duration */
	int64_t sum_ns, mean_ns, min_ns, max_ns, p50_ns, p90_ns, p95_ns, p99_ns;
	double share; /* of the time of all whole steps */
};

/* A GPU from the first to the last whole step. */
struct pf_step_device {
	int64_t trace_id, rank, device; /* the last two -1: unknown */
	int64_t window_ns;
	struct pf_sm_sums sm;
	struct pf_step_use use;
};

/* A zero-initialised struct is an empty result; it owns its arrays. */
struct pf_step_times {
	struct pf_window window;
	struct pf_step_time *steps; /* by trace, then start */
	size_t count, cap;
	struct pf_step_device *devices;
	size_t device_count, device_cap;
	struct pf_keyed copies; /* by direction and kinds of memory */
	struct pf_arena texts;
	int64_t full_count, partial_count, empty_count; /* disjoint */
	/*
	 * Of each trace from its first to its last whole step, summed: as in
	 * all commands.  Without a GPU the shares are not known.
	 */
	int64_t window_ns, busy_ns;
	double busy_share;
	struct pf_step_use use;
	/* Of whole steps only. */
	struct pf_step_spread dur, classes[PF_STEP_CLASSES];
	/*
	 * A backlog of before the capture is no part of what a step takes:
	 * steps that hold one (below), what of them is one, and what the others
	 * take in the mean (-1: there are none).
	 */
	int64_t backlog_count, backlog_ns, settled_mean_ns;
	/*
	 * Operators and ranges of other threads of a host alone behind the
	 * last step of all, summed.
	 */
	int64_t behind_ns;
	bool has_later;
	double steps_per_second;
	double samples_per_second;     /* not a number: not known */
	bool has_steps, has_many_gpus; /* a trace of several GPUs */
	struct pf_recorded recorded;
	bool is_untimed; /* only memory was recorded: its span is no step */
	bool is_instant; /* a trace's window takes no time: it is no step */
	bool is_alone;   /* all steps are such as pf_steps_alone() counts */
};

/* What it takes without a backlog. */
int64_t pf_step_own_ns(const struct pf_step_time *s);

int pf_step_times_find(struct pf_db *db, const struct pf_steps_args *args,
		       struct pf_step_times *out);
void pf_step_times_release(struct pf_step_times *times);

/* Do steps only start most of what is done, and end before it? */
bool pf_step_times_only_start(const struct pf_step_times *times);

/* Is anything recorded that could divide the time into classes? */
bool pf_step_times_is_divided(const struct pf_step_times *times);

/*
 * Warm-up: the leading steps that each take more than so many times the
 * median of all.  What allocates, compiles and fills caches is in them.  Where
 * more than a part of the later ones is as long, but for the last, steps scatter,
 * and none is.
 */
#define PF_WARM_UP_TIMES 1.25
#define PF_WARM_UP_PARTS 10

/* The same of whole steps, by trace: start with { 0, SIZE_MAX }. */
struct pf_steps_warm_up {
	size_t most;  /* leading steps of a trace that are */
	size_t least; /* steps that a trace has */
	/* what they, or the first step, take beyond the median */
	int64_t excess_ns;
};

/*
 * "first" is in the first of so many structs of stride_bytes; is_own: without
 * backlogs, which are no warm-up.
 */
void pf_steps_find_warm_up(const struct pf_step_time *first,
			   size_t stride_bytes, size_t count, bool is_own,
			   struct pf_steps_warm_up *out);
/*
 * Of what is listed, without backlogs; "most" is 0 where the first step listed
 * is no warm-up, or nothing is marked as a step.
 */
struct pf_steps_warm_up pf_step_times_warm_up(const struct pf_step_times *s);

/*
 * Both, and what of the trace is not to be trusted.  What was found stays in
 * "kept", or NULL.
 */
int pf_steps_answer(struct pf_db *db, const struct pf_steps_args *args,
		    struct pf_step_times *kept, struct pf_doc *doc);
