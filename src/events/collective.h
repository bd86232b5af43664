/* SPDX-License-Identifier: MIT */
/*
 * What a profiler records of a collective in the arguments of its kernel or
 * of record_param_comms: which one, in which process group, how much data.
 */
#ifndef PF_ANALYSIS_COLLECTIVE_H
#define PF_ANALYSIS_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "events/args.h"
#include "base/buf.h"

struct pf_collective {
	struct pf_json name;        /* "Collective name" */
	struct pf_json group;       /* "Process Group Name" */
	struct pf_json description; /* "Process Group Description" */
	struct pf_json dtype;
	int64_t group_size;          /* or -1 */
	int64_t in_bytes, out_bytes; /* or -1 */
};

/*
 * False if the arguments (JSON text, borrowed by "out") say nothing of a
 * collective.
 */
bool pf_collective_read(const char *args, size_t len,
			struct pf_collective *out);

/*
 * The data that bandwidth is counted of: what goes in or what comes out of
 * this rank, whichever is more, in bytes; -1: unknown.
 */
int64_t pf_collective_bytes(const struct pf_collective *c);

/*
 * Bus bandwidth over algorithm bandwidth for n ranks: 2(n-1)/n of an
 * all-reduce, (n-1)/n of gathers, scatters and all-to-all, 1 of the others;
 * negative if the collective or n is unknown.
 */
double pf_collective_factor(const struct pf_collective *c);

/* Collectives that no rank can leave before all ranks have come. */
enum pf_sync {
	PF_SYNC_NONE,
	PF_SYNC_ALL_REDUCE,
	PF_SYNC_ALL_GATHER,
	PF_SYNC_REDUCE_SCATTER,
	PF_SYNC_ALL_TO_ALL,
	PF_SYNC_BARRIER
};

/* By the name of a collective, a range ("nccl:all_reduce") or a kernel. */
enum pf_sync pf_collective_sync(struct pf_json name);

/* What goes from one rank to another, not between all of a group. */
enum pf_p2p {
	PF_P2P_NONE,
	PF_P2P_SEND,
	PF_P2P_RECEIVE,
	/* several at once; collectives are made of such kernels, too */
	PF_P2P_SEVERAL
};

/* By the name of an operation ("send"), a range ("nccl:recv 0<-1") or kernel. */
enum pf_p2p pf_collective_p2p(struct pf_json name);

/*
 * The rank of the job that a send goes to or a receive is from, by the same
 * arguments; -1: they do not say it.
 */
int64_t pf_collective_peer(const char *args, size_t len, enum pf_p2p way);

#endif
