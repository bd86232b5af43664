/* SPDX-License-Identifier: MIT */
/*
 * What one rank did, as far as other ranks can be compared with it: its
 * collectives that no rank leaves before all came, the work between them, its
 * steps.  A digest is made of one trace, takes about 50 bytes a collective as
 * bytes, and is all that ranks.h looks at: so ranks of a large job can be
 * digested each on its own and compared elsewhere.
 *
 * Digests hold names of process groups, of the machine, and nothing else of
 * the program: kernels are hashes of their names.
 *
 * Sends and receives are beside the collectives: they end on two ranks at
 * unlike times, and so align nothing, but ranks wait for each other in them.
 *
 * Bytes: "PFRK", a version, LEB128 numbers (signed ones in zigzag, times as
 * differences), and a 64-bit checksum of all before it.  The same digest
 * gives the same bytes.  Nothing is trusted when they are read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "events/names.h"
#include "events/window.h"
#include "store/db.h"

/* What a GPU does, in order of precedence. */
enum pf_digest_doing {
	PF_DOING_COMPUTATION,
	PF_DOING_COMMUNICATION,
	PF_DOING_COPY, /* and memsets */
	PF_DOING_IDLE,
	PF_DOING_COUNT
};

/* What a host did while its GPU was idle: a few causes of 'profan gaps'. */
enum pf_digest_host {
	PF_HOST_LOADS,     /* data loading */
	PF_HOST_COLLECTS,  /* garbage collection */
	PF_HOST_COMPILES,  /* compilation */
	PF_HOST_ALLOCATES, /* memory of the GPU */
	PF_HOST_LOADS_CODE,
	PF_HOST_CAUSES
};

/* As 'profan gaps' has them. */
extern const enum pf_cause pf_digest_causes[PF_HOST_CAUSES];

/* Exposed communication in a collective: from its start, and how long. */
struct pf_digest_piece {
	int64_t after_ns, ns;
};

/*
 * Where there is no GPU work collectives are those of hosts (gloo), which do not
 * say their group, and computation is operators: each kind is a stream of its
 * own, from this number down.
 */
#define PF_DIGEST_HOSTS (-1000)

/* A collective; times in ns on the rank's own clock, as in the trace. */
struct pf_digest_op {
	int64_t start_ns, end_ns; /* first start, last end of its kernels */
	int64_t ready_ns;         /* what it needed was done; <= start_ns */
	int64_t step;             /* launched in it; -1: in none */
	int64_t stream;
	int64_t bytes, size; /* -1: unknown */
	uint32_t group;      /* number of its name */
	uint32_t kind;       /* enum pf_sync of events/args.h */
	bool gates;          /* computation began as it ended */
	/*
	 * The time between the end of the one before it in its group and its
	 * start; has_since false: it is the first.  Host causes are within
	 * idle.
	 */
	bool has_since;
	int64_t since_ns[PF_DOING_COUNT];
	int64_t host_ns[PF_HOST_CAUSES];
	/* Of pieces of the digest: its exposed communication. */
	size_t piece_from, piece_count;
	int64_t unsplit_ns; /* exposed, in pieces too many to keep */
};

/* A kernel of sends and receives; times as of collectives. */
struct pf_digest_p2p {
	int64_t start_ns, end_ns;
	/* Of messages of the digest; none: what it moves is not recorded. */
	size_t message_from, message_count;
	/*
	 * Of quiets: computation began as it ended; the time since computation
	 * had ended before, but for other work than sends and receives.  Pieces
	 * are from its start on, most of them before it.
	 */
	size_t quiet_from, quiet_count;
	int64_t unsplit_ns; /* in pieces too many to keep */
};

struct pf_digest_message {
	int64_t peer;  /* rank of the job; -1: not recorded */
	int64_t bytes; /* -1: not recorded */
	uint32_t group;
	bool is_receive;
};

struct pf_digest_step {
	int64_t step, start_ns, end_ns; /* extended, as events/step.h has it */
	int64_t ns[PF_DOING_COUNT];     /* that sum up to its length */
};

/* Kernels of one name. */
struct pf_digest_kernel {
	uint64_t name_hash;
	int64_t count, ns;
};

struct pf_digest {
	int64_t rank, world;      /* -1: not recorded */
	int64_t trace_id;         /* in the database that it was made of */
	char *host;               /* NULL: not recorded */
	int64_t start_ns, end_ns; /* of what was looked at */
	int64_t first_ns;         /* first event of the trace, same clock */
	int64_t ns[PF_DOING_COUNT];
	char **groups;            /* "" is one without a name */
	struct pf_digest_op *ops; /* by start */
	struct pf_digest_piece *pieces;
	struct pf_digest_step *steps;     /* by start */
	struct pf_digest_kernel *kernels; /* computation, by hash */
	size_t group_count, op_count, piece_count, step_count, kernel_count;
	size_t group_cap, op_cap, piece_cap, step_cap, kernel_cap;
	/* Digests of version 1 do not know of sends and receives. */
	bool knows_p2p;
	struct pf_digest_p2p *p2ps; /* by start */
	struct pf_digest_message *messages;
	struct pf_digest_piece *quiets;
	size_t p2p_count, message_count, quiet_count;
	size_t p2p_cap, message_cap, quiet_cap;
};

/* What kernels' names become. */
uint64_t pf_digest_hash(const void *data, size_t len);

void pf_digest_release(struct pf_digest *d);

/* Append its bytes.  False: times are too large, and nobody can read them. */
bool pf_digest_put(const struct pf_digest *d, struct pf_buf *out);

/* From bytes; PF_EDATA if they are damaged or of another version. */
int pf_digest_get(const void *data, size_t len, struct pf_digest *out,
		  struct pf_err *err);

/*
 * Digests of the traces of a database, one after the other: what is held at a
 * time is one digest; launch calls are met on disk beyond a budget.
 */

struct pf_digest_sink {
	/* A digest in the order of traces; it may be emptied by taking it. */
	int (*take)(void *context, struct pf_digest *d, struct pf_err *err);
	void *context;
};

/*
 * Of each trace of the window, also of those without GPU work; what is looked
 * at is the work that starts in the window.
 */
int pf_digests_make(struct pf_db *db, const struct pf_window *window,
		    const struct pf_digest_sink *sink);
