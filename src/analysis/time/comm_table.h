/* SPDX-License-Identifier: MIT */
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
#ifndef PF_ANALYSIS_TIME_COMM_TABLE_H
#define PF_ANALYSIS_TIME_COMM_TABLE_H

#include "events/gpu.h"
#include "base/err.h"
#include "base/stats.h"
#include "show/doc.h"

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

/* Add an event of class PF_GPU_COMM that came from gpu. */
int pf_comm_table_add(struct pf_comm_table *t, struct pf_gpu *gpu,
		      const struct pf_gpu_event *ev, struct pf_err *err);

/* All were added: the rows, the most time first; borrowed. */
const struct pf_comm_row *pf_comm_table_rows(struct pf_comm_table *t,
					     size_t *count);

/* Add the tables "collectives" of those rows and "comm_rules". */
void pf_comm_table_show(const struct pf_comm_table *t,
			const struct pf_window *window, struct pf_doc *doc);

#endif
