/* SPDX-License-Identifier: MIT */
/*
 * Sends and receives of ranks that are on one clock, and the bubbles of
 * pipelines (analysis/ranks/ranks.h says what these are).
 */
#ifndef PF_ANALYSIS_RANKS_PIPELINE_H
#define PF_ANALYSIS_RANKS_PIPELINE_H

#include "analysis/ranks/ranks_impl.h"

/* A kernel of sends and receives. */
struct p2p {
	uint32_t rank;            /* an index */
	int64_t start_ns, end_ns; /* aligned */
	/* The others had begun, so that it could move; if is_known. */
	int64_t begun_ns;
	uint32_t message_from, message_count;
	uint32_t quiet_from, quiet_count;
	bool sends, receives;
	bool is_known; /* all its messages met theirs */
	bool is_whole; /* and none of its quiet time is left out */
};

struct message {
	uint32_t p2p, group;
	uint32_t from_rank, to_rank; /* numbers of ranks, not indexes */
	int64_t bytes;
	uint32_t other; /* kernel on the other rank, or NONE */
	bool is_receive;
};

/* A time without computation, aligned. */
struct quiet {
	int64_t from_ns, to_ns;
};

struct pipe_step {
	uint32_t rank;
	int64_t step, start_ns, end_ns, computation_ns;
};

struct pipeline {
	struct pf_ranks_job *job;
	struct p2p *p2ps; /* by rank, then start */
	struct message *messages;
	struct quiet *quiets;
	struct pipe_step *steps;
	size_t p2p_count, message_count, quiet_count, step_count;
	size_t p2p_cap, message_cap, quiet_cap, step_cap;
	uint32_t *p2p_from, *step_from; /* of each rank, and the end */
	uint32_t *parent;               /* ranks that messages join */
	/* of each rank */
	int64_t *stage;       /* or PF_NO_INT */
	int64_t *stage_count; /* of its pipeline */
	bool *is_ring;
	bool *is_across; /* meetings of several stages */
};

/* Kernels that move messages of which some met theirs: is there one? */
int pf_pipeline_load(struct pipeline *p, struct pf_err *err);
void pf_pipeline_release(struct pipeline *p);

/* The other ends of messages, and when each kernel could move. */
void pf_pipeline_match(struct pipeline *p);

/* Which ranks are a pipeline, and its stages. */
void pf_pipeline_stages(struct pipeline *p);

/* The index of a rank by its number, or NONE. */
uint32_t pf_pipeline_rank(const struct pf_ranks_job *job, int64_t rank);

#endif
