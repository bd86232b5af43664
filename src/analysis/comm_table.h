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
#ifndef PF_ANALYSIS_COMM_TABLE_H
#define PF_ANALYSIS_COMM_TABLE_H

#include "events/gpu.h"
#include "base/err.h"
#include "table/doc.h"

struct pf_comm_table;

struct pf_comm_table *pf_comm_table_new(struct pf_db *db);
void pf_comm_table_free(struct pf_comm_table *t);

/* Add an event of class PF_GPU_COMM that came from gpu. */
int pf_comm_table_add(struct pf_comm_table *t, struct pf_gpu *gpu,
		      const struct pf_gpu_event *ev, struct pf_err *err);

/* Add the tables "collectives" and "comm_rules". */
void pf_comm_table_show(struct pf_comm_table *t, struct pf_doc *doc);

#endif
