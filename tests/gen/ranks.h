/* SPDX-License-Identifier: MIT */
/* A job of ranks as it happens (ranks.c); those of a pipeline (pipeline.c). */
#ifndef PF_TESTS_GEN_RANKS_H
#define PF_TESTS_GEN_RANKS_H

#include "gen/gen.h"

enum gen_rank_kind {
	LOADER,
	STEP,
	GARBAGE,
	MM,
	MORE,
	OPTIMIZER,
	GATHER,
	REDUCE,
	NORM, /* of all ranks */
	SEND,
	RECEIVE,
	EXCHANGE, /* kernel of messages that were recorded before it */
	SENT,     /* such a message */
	RECEIVED,
	SYNC
};

struct event {
	uint8_t kind;
	int32_t corr, group, size;    /* ranks of the group */
	int32_t peer, lane;           /* of a message; its stream */
	int64_t host_ns, host_dur_ns; /* of the operator or range */
	int64_t start_ns, dur_ns;     /* of the kernel */
};

struct rank {
	int64_t host_ns;                          /* its thread is here */
	int64_t compute_ns, gather_ns, reduce_ns; /* streams end */
	int64_t offset_ns;
	double drift;
	int32_t corr;
	struct event *events;
	size_t count, cap;
	/* of a pipeline, all steps */
	int64_t bubble_ns, computation_ns, step_ns, wait_ns;
};

struct job {
	const struct gen_opts *o;
	struct rank *ranks;
	uint64_t random;
	bool is_planted;
	int64_t first_ns, last_ns; /* of collectives */
	int64_t *starts;
};

int64_t gen_later(int64_t a, int64_t b);
int64_t gen_jitter(struct job *j, int64_t mean);
/* A host event; what the host launches and could start behind free_ns. */
struct event *gen_happen(struct rank *r, enum gen_rank_kind kind, int64_t from,
			 int64_t to);
struct event *gen_start(struct job *j, struct rank *r, enum gen_rank_kind kind,
			int64_t free_ns);
void gen_compute(struct job *j, struct rank *r, enum gen_rank_kind kind,
		 double ns);
/* A collective of ranks first, first + every, ... */
void gen_meet(struct job *j, enum gen_rank_kind kind, int first, int count,
	      int every);
void gen_begin_step(struct job *j, int64_t step);
void gen_end_step(struct job *j);

/* A step of a pipeline; its truth, beside truth.csv. */
void gen_pipeline_step(struct job *j);
int gen_pipeline_truth(const struct job *j, FILE *f);

#endif
