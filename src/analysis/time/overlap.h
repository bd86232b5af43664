/* SPDX-License-Identifier: MIT */
/*
 * What keeps GPUs busy, and what hides behind what: for each device, and for
 * all of them, the time from the first start to the last end of GPU work,
 * split without remainder into
 *
 *	computation		any computation runs
 *	exposed communication	else any communication
 *	exposed copy		else any copy
 *	exposed memset		else any fill
 *	idle			nothing
 *
 * On TPUs these are operations of XLA, by their names and categories; what is
 * under way between two of them (asynchronous collectives and copies) is
 * communication or a copy, and keeps no device busy.
 *
 * Figures of all are sums over devices: what runs on one hides nothing on
 * another.  Of several traces also who waits for whom (analysis/ranks/arrival.h).
 */
#pragma once

#include "analysis/ranks/arrival.h"
#include "base/mem.h"
#include "base/stats.h"
#include "events/gpu.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

/*
 * Communication by process group and collective: how often, how much data,
 * how long, how fast; and by the rule that made it communication.  Memory
 * grows with the number of distinct collectives and of collectives that
 * launched something.
 *
 * A collective is what the kernel's own arguments say, else those of the
 * record_param_comms that launched it (whose data count once, however many
 * kernels it launches), else the nccl:, gloo: or c10d:: range around the
 * launch call, else the kernel's name.
 */

/* Collectives that the table shows as one.  Texts NULL: not known. */
struct pf_comm_row {
	const char *collective, *group, *description, *dtype;
	int64_t group_size; /* negative: not known, as are bytes */
	double factor;
	struct pf_stats dur;
	int64_t in_bytes, out_bytes, message_count;
	/* Of messages whose size is known: for bandwidths. */
	int64_t rated_bytes, rated_ns, rated_count;
	int64_t mean_ns;
	double algorithm_rate, bus_rate; /* not a number: unknown */
};

struct pf_comm_table;

struct pf_comm_table *pf_comm_table_new(struct pf_db *db);
void pf_comm_table_free(struct pf_comm_table *t);

/* Add an event of class PF_GPU_COMM that came from gpu; errors: the db's. */
void pf_comm_table_add(struct pf_comm_table *t, struct pf_gpu *gpu,
		       const struct pf_gpu_event *ev);

/* All were added: the rows, the most time first; borrowed. */
const struct pf_comm_row *pf_comm_table_rows(struct pf_comm_table *t,
					     size_t *count);

struct pf_overlap_args {
	struct pf_window_args window;
};

/* Times in ns.  What is exposed is what nothing above it hides. */
struct pf_overlap_figures {
	int64_t total_ns, busy_ns, idle_ns, computation_ns;
	int64_t exposed_comm_ns, exposed_copy_ns, exposed_memset_ns;
	int64_t comm_ns, copy_ns, memset_ns;
	int64_t overlap_ns; /* communication behind computation */
	int64_t event_count;
	/* Of the total; not a number: there is none. */
	double computation_share, exposed_comm_share, exposed_copy_share;
	double exposed_memset_share, idle_share;
	double overlap_share;                     /* of communication */
	int64_t together_ns[1 << PF_GPU_CLASSES]; /* just these classes run */
};

struct pf_overlap_device {
	int64_t trace_id, rank, device; /* the last two -1: unknown */
	struct pf_overlap_figures f;
};

struct pf_overlap_together {
	const char *classes;
	int64_t ns;
	double busy_share;
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_overlap {
	struct pf_window window;
	struct pf_overlap_figures all; /* summed over devices */
	struct pf_overlap_device *devices;
	size_t device_count;    /* one in several traces: several times */
	struct pf_gpu_set gpus; /* each once */
	struct pf_overlap_together together[1 << PF_GPU_CLASSES];
	size_t together_count;
	struct pf_comm_table *comm; /* owns: */
	const struct pf_comm_row *collectives;
	size_t collective_count;
	struct pf_arrivals arrivals; /* of all of the window asked for */
	struct pf_arena texts;
	int64_t step_count; /* that make up the window, or 0 */
};

int pf_overlap_find(struct pf_db *db, const struct pf_overlap_args *args,
		    struct pf_overlap *out);
void pf_overlap_release(struct pf_overlap *overlap);

/*
 * Both, and what of the trace is not to be trusted.  What was found stays in
 * "kept", or NULL.
 */
int pf_overlap(struct pf_db *db, const struct pf_overlap_args *args,
	       struct pf_overlap *kept, struct pf_doc *doc);
