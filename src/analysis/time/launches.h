/* SPDX-License-Identifier: MIT */
/*
 * Calls that launch GPU work: how long they take on the CPU, how long the
 * work waits after them, and how long it runs.  Only calls with GPU work
 * count; work without a call (launched before the capture) is left out and
 * said so.
 */
#pragma once

#include "base/mem.h"
#include "events/ask.h"
#include "events/gpu.h"
#include "events/trust.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

struct pf_launches_args {
	struct pf_window_args window;
	/* No medians, queues nor, of one trace, why calls are slow, and: */
	bool only_counts;
	bool no_causes; /* neither operators of short kernels nor slow calls */
};

struct pf_launch_call {
	struct pf_spread delay_ns; /* from its end to its work */
	const char *name;
	struct pf_stats cpu_ns, gpu_ns;
	int64_t short_count;   /* shorter on the GPU than the call */
	int64_t slow_count;    /* calls over 50 us: they wait, load code, ... */
	int64_t slow_ns;       /* their time */
	int64_t delayed_count; /* delays over 100 us */
	int64_t early_count;   /* work that began before the call ended */
	struct pf_held held;   /* its times of work alone */
	uint32_t name_id;
};

/* Of all calls. */
struct pf_launch_sums {
	int64_t count, cpu_ns;
	int64_t short_count, slow_count, delayed_count, early_count;
	int64_t slow_ns;
	/* Of it: of calls that wait for a GPU, as for "syncs"; of first uses. */
	int64_t slow_wait_ns, slow_first_ns;
	int64_t full_count;    /* slow calls that find the queue full */
	double queued_share;   /* of the time, with launched work that waits */
	int64_t median_cpu_ns; /* PF_NO_INT: not asked for */
	int64_t gpu_ns, graph_count, graph_ns; /* of work; of graphs */
	const char *slow;    /* the call with most of slow_ns; or NULL */
	struct pf_held held; /* the same, of calls that do not copy */
};

/* Launches waiting on a stream, counted at each launch. */
struct pf_launch_stream {
	struct pf_spread length;
	int64_t trace_id, rank, device, stream;
	int64_t first_ns; /* of the trace */
	int64_t waiting;
	size_t queue; /* of its device */
};

/* Delays of from_ns up to to_ns (-1: any). */
struct pf_launch_delay {
	int64_t from_ns, to_ns, count;
	int64_t negative_count; /* of them */
	double share;           /* of all launches */
};
#define PF_LAUNCH_DELAYS 13

#define PF_LAUNCH_SHORT_NS 10000 /* kernels under this are short */

/* Short kernels of operators of one name; PF_ID_NONE: of none. */
struct pf_launch_op {
	struct pf_spread gpu_ns;
	const char *name;
	int64_t mean_ns;
	double share; /* of all kernels */
	uint32_t name_id;
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_launches {
	struct pf_window window;
	struct pf_keyed calls; /* pf_launch_call, the most CPU time first */
	struct pf_launch_sums all;
	struct pf_keyed streams; /* pf_launch_stream */
	struct pf_launch_delay delays[PF_LAUNCH_DELAYS];
	size_t delay_count;
	struct pf_keyed ops;   /* pf_launch_op, the most kernels first */
	struct pf_table *slow; /* the slowest calls; not all are kept */
	double short_share;    /* of launches, of short_count */
	int64_t kernel_count, short_kernel_count;
	double short_kernel_share; /* of the time of kernels */
	int64_t orphan_count;      /* GPU events without a call */
	int64_t captured_count;    /* launches into graphs: not in all */
	struct pf_arena texts;
};

/* Keep this many of the slowest calls; -1: all. */
int pf_launches_find(struct pf_db *db, const struct pf_launches_args *args,
		     int64_t limit, struct pf_launches *out);
void pf_launches_release(struct pf_launches *launches);

/*
 * Both, and what of the trace is not to be trusted.  What was found stays in
 * "kept", or NULL.
 */
int pf_launches(struct pf_db *db, const struct pf_launches_args *args,
		struct pf_launches *kept, struct pf_doc *doc);

/*
 * Calls of the runtime and the driver (CUDA, HIP, ...) by name, as nsys has
 * them in cuda_api_sum, or by name and the innermost operator or range of the
 * user they are made in.
 *
 * A call counts where it begins, with all of its length.  The total has what
 * other calls take inside of it (a driver's in the runtime's): shares are of
 * the sum of all totals.  Self is without those.
 */

enum pf_calls_by { PF_CALLS_BY_NAME, PF_CALLS_BY_OP, PF_CALLS_BY_RANGE };

struct pf_calls_args {
	struct pf_window_args window;
	int by; /* enum pf_calls_by */
};

int pf_calls(struct pf_db *db, const struct pf_calls_args *args,
	     struct pf_doc *doc);
