/* SPDX-License-Identifier: MIT */
/*
 * Calls that launch GPU work: how long they take on the CPU, how long the
 * work waits after them, and how long it runs.  Only calls with GPU work
 * count; work without a call (launched before the capture) is left out and
 * said so.
 */
#ifndef PF_ANALYSIS_TIME_LAUNCHES_H
#define PF_ANALYSIS_TIME_LAUNCHES_H

#include "base/err.h"
#include "base/mem.h"
#include "events/trust.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

struct pf_launches_args {
	struct pf_window_args window;
	bool only_counts; /* no medians nor queues, and: */
	bool no_causes; /* neither operators of short kernels nor slow calls */
};

struct pf_launch_call {
	const char *name;
	int64_t count, cpu_ns, max_cpu_ns, gpu_ns;
	int64_t median_delay_ns, max_delay_ns; /* from its end to its work */
	int64_t short_count;   /* shorter on the GPU than the call */
	int64_t slow_count;    /* calls over 50 us */
	int64_t delayed_count; /* delays over 100 us */
	int64_t early_count;   /* work that began before the call ended */
};

/* Launches waiting on a stream, counted at each launch. */
struct pf_launch_stream {
	int64_t trace_id, device, stream;
	int64_t launch_count, max_length;
	double mean_length;
};

/* Delays of from_ns up to to_ns (-1: any). */
struct pf_launch_delay {
	int64_t from_ns, to_ns, count;
	int64_t negative_count; /* of them */
	double share;           /* of all launches */
};
#define PF_LAUNCH_DELAYS 13

#define PF_LAUNCH_SHORT_NS 10000 /* kernels under this are short */

/* Short kernels of operators of one name. */
struct pf_launch_op {
	const char *name;
	int64_t count, gpu_ns, mean_ns;
	double share; /* of all kernels */
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_launches {
	struct pf_window window;
	struct pf_launch_call *calls; /* the most CPU time first */
	size_t call_count;
	struct pf_launch_call all; /* name NULL; sums of the counts, cpu_ns */
	struct pf_launch_stream *streams;
	size_t stream_count;
	struct pf_launch_delay delays[PF_LAUNCH_DELAYS];
	size_t delay_count;
	struct pf_launch_op *ops; /* the most kernels first */
	size_t op_count;
	struct pf_table *slow; /* the slowest calls; not all are kept */
	double short_share;    /* of launches, of short_count */
	int64_t kernel_count, short_kernel_count;
	double short_kernel_share; /* of the time of kernels */
	int64_t orphan_count;      /* GPU events without a call */
	struct pf_arena texts;
};

/* The share of launches whose work begins over 100 us after the call. */
double pf_launches_late(const struct pf_launches *l);

#define PF_LAUNCHES_AHEAD 0.5 /* of them: the CPU runs ahead */

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

struct pf_call {
	const char *name;
	const char *inside; /* op or range; NULL: none, or not asked for */
	int64_t count, total_ns, self_ns, median_ns, min_ns, max_ns, mean_ns;
	double sd_ns, share;
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_calls {
	struct pf_window window;
	struct pf_arena texts;
	struct pf_call *items; /* by total time, the longest first */
	size_t item_count;
	int64_t count, total_ns, self_ns;
	struct pf_recorded recorded; /* set before it is shown */
};

int pf_calls_find(struct pf_db *db, const struct pf_calls_args *args,
		  struct pf_calls *out);
void pf_calls_release(struct pf_calls *calls);
/* by: enum pf_calls_by, as it was asked for. */
void pf_calls_show(const struct pf_calls *calls, int by, struct pf_doc *doc);

#endif
