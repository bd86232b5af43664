/* SPDX-License-Identifier: MIT */
/* A job in memory (analysis/ranks/ranks.h says what becomes of it). */
#pragma once

#include "analysis/ranks/ranks.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/mem.h"

#define NONE    UINT32_MAX
#define OPS_MAX (UINT32_C(1) << 25) /* of all ranks: some 5 GB */

/*
 * A collective of a rank.  Times are its own clock's until they are aligned,
 * and then count from the first end of all, on the reference's.
 */
struct op {
	int64_t start_ns, end_ns, ready_ns;
	int64_t since_ns[PF_DOING_COUNT];
	uint32_t host_us[PF_HOST_CAUSES];
	uint32_t rank; /* an index */
	int64_t step, stream, bytes;
	uint32_t meeting; /* or NONE */
	uint32_t before;  /* in its group on its rank, or NONE */
	uint32_t group;   /* of the job */
	int32_t size;     /* or -1 */
	uint8_t kind;
	bool gates, has_since;
};

/* A group's collectives on one rank: of job.listed. */
struct member {
	uint32_t group, rank;
	uint32_t from, count;
	uint32_t before_steps; /* at its beginning; all: it is in no steps */
};

struct meeting {
	uint32_t from, count; /* of job.parts: collectives, by rank */
	uint32_t group, number;
	uint32_t order; /* by the lowest rank that it was seen on, then time */
	uint32_t last, middle; /* collectives; last NONE: no rank alone */
	uint32_t root;         /* rank where it begins */
	uint8_t cause, root_cause;
	bool is_early;
	bool is_replayed; /* all ranks are in their captures */
	int64_t first_ns, last_ns, second_ns, end_ns; /* latest end */
	int64_t transfer_ns;
	int64_t why_ns[PF_LATE_PARTS]; /* if has_why */
	bool has_why;
};

struct rank {
	int64_t rank, trace_id, world;
	char *host;
	struct pf_buf bytes;  /* the digest */
	uint32_t from, count; /* of job.ops */
	int64_t start_ns, end_ns;
	int64_t first_ns;        /* event of the trace, local */
	uint32_t reference;      /* rank that its clock is measured by */
	double offset_ns, drift; /* true = local - offset - drift * local */
	double scatter_ns, slope_bound;
	uint32_t seen_count;
	bool knows_p2p, has_p2p; /* messages that it sends or receives */
	bool receives;
	uint64_t hash; /* of the digest, whatever the number of the trace */
	/* Collectives of a group, where most ranks have another number, or
	 * (is_unlike) others: the trace may be damaged. */
	bool is_odd, is_unlike;
	uint32_t odd_group, odd_count, most_count;
};

struct pf_ranks_job {
	struct pf_ranks_args args;
	struct pf_err *err; /* once ranks are found */
	struct pf_intern groups;
	struct rank *ranks;
	size_t rank_count, rank_cap;
	struct pf_arena
		memory; /* of what follows: looked at anew, it is empty */
	struct op *ops; /* by rank, as their digests have them */
	uint32_t op_count;
	struct member *members; /* by group, then rank */
	uint32_t member_count;
	uint32_t *listed; /* collectives by member, in order of time */
	struct meeting *meetings;
	uint32_t meeting_count;
	uint32_t *parts;
	uint32_t *sorted; /* meetings by time, once they are aligned */
	int64_t zero_ns;  /* the first end of a meeting, local */
	int64_t left_count, early_count;
	bool is_of_hosts;       /* all of them are of ranks without GPU work */
	struct pf_buf why;      /* nothing can be said, and why */
	struct pf_buf partly;   /* what cannot */
	struct pf_buf left_out; /* ranks, and why */
	uint32_t unlike_end_count; /* of those that are matched from the end */
	uint32_t unlike_count;     /* groups whose collectives do not match */
};

/* A time of a rank on its reference's clock, from the first end on. */
int64_t pf_ranks_time(const struct pf_ranks_job *job, const struct rank *r,
		      int64_t ns);

/* The digest of a rank, to be released; false: there is an error. */
static inline bool open_digest(const struct pf_ranks_job *job, size_t rank,
			       struct pf_digest *out)
{
	const struct pf_buf *bytes = &job->ranks[rank].bytes;

	return !job->err->code &&
	       !pf_digest_get(bytes->data, bytes->len, out, job->err);
}

/* replay.c: what gaps cost. */
void pf_ranks_replay(struct pf_ranks_job *job, struct pf_ranks *out);

/* pipeline.c: sends and receives, once all is aligned. */
void pf_ranks_pipeline(struct pf_ranks_job *job, struct pf_ranks *out);

/* "computation", "data loading", ... */
const char *pf_late_cause_name(unsigned cause);

/* Ranks that something joins: the lowest is the root of all its parents. */
static inline uint32_t root_of(uint32_t *parent, uint32_t r)
{
	while (parent[r] != r)
		r = parent[r] = parent[parent[r]];
	return r;
}

static inline void join(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = root_of(parent, a);
	b = root_of(parent, b);
	parent[a < b ? b : a] = a < b ? a : b;
}

/* Of values that are put in another order. */
double pf_ranks_median(double *values, size_t count);
