/* SPDX-License-Identifier: MIT */
/*
 * Reading the argument text of an event (argset.text): one JSON object whose
 * numbers may be replaced by $a .. $z.  Everything is borrowed from the text;
 * nothing allocates but pf_json_text().  Broken text ends the walk early and
 * never reads past the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A piece of JSON text; p is NULL when there is none. */
struct pf_json {
	const char *p;
	size_t len;
};

/* Is the piece exactly this text? */
bool pf_json_is(struct pf_json v, const char *text);

/*
 * The next member of an object: keys without quotes, escapes not decoded.
 * "rest" starts as the whole object and is advanced; false at the end.
 */
bool pf_json_member(struct pf_json *rest, struct pf_json *key,
		    struct pf_json *value);

/* The value of a member of an object; p NULL when it is not there. */
struct pf_json pf_json_get(struct pf_json object, const char *key);

/* The next item of a list, as pf_json_member(). */
bool pf_json_item(struct pf_json *rest, struct pf_json *value);

/* Item n of a list, from 0; p NULL when it is not there. */
struct pf_json pf_json_at(struct pf_json list, size_t n);

/* A plain integer ("12", also quoted); false for anything else. */
bool pf_json_int(struct pf_json v, int64_t *out);

/* The sizes of a tensor, as traces record them. */
#define PF_DIMS_MAX 64 /* torch's own limit */
struct pf_dims {
	uint64_t size[PF_DIMS_MAX];
	size_t count;
};

/* Read a list of integers, also as the text of one; false for all else. */
bool pf_json_dims(struct pf_json v, struct pf_dims *out);

/* Append a string's text with escapes decoded; anything else as it is. */
void pf_json_text(struct pf_json v, struct pf_buf *out);

/*
 * What a profiler records of a collective in the arguments of its kernel or
 * of record_param_comms: which one, in which process group, how much data.
 */

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
