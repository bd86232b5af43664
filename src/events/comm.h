/* SPDX-License-Identifier: MIT */
/*
 * Which GPU work is communication because an operator of communication
 * launched it: its launch call lies in a range of record_param_comms, of
 * c10d::... or of a backend (nccl:..., gloo:...) on its thread, as ingest
 * found.  Work is asked about in the order of pf_gpu_next(), so nothing is kept
 * of it.
 */
#ifndef PF_ANALYSIS_COMM_H
#define PF_ANALYSIS_COMM_H

#include <stdint.h>

#include "base/err.h"
#include "store/comm_rule.h"
#include "store/db.h"

/* "", "name of the kernel", "launched in record_param_comms", ... */
const char *pf_comm_rule_words(enum pf_comm_rule rule);

/* What is around a launch call. */
struct pf_comm_op {
	enum pf_comm_rule rule; /* NONE: nothing of the kind */
	int64_t record_id;      /* event id of the innermost
				   record_param_comms, or 0 */
	uint32_t record_args;   /* argset.id of it, or PF_ID_NONE */
	uint32_t name;          /* string.id of the innermost backend's range,
				   else c10d::; or PF_ID_NONE */
};

struct pf_comm;

/* NULL on error. */
struct pf_comm *pf_comm_new(struct pf_db *db, struct pf_err *err);
void pf_comm_free(struct pf_comm *c);

/*
 * What launched an event of a GPU track.  Every event of the GPU tracks of a
 * trace must be asked about, in the order of time.  0 or -1.
 */
int pf_comm_at(struct pf_comm *c, int64_t trace_id, int64_t event_id,
	       struct pf_comm_op *out, struct pf_err *err);

#endif
