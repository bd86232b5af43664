/* SPDX-License-Identifier: MIT */
/* What a digest is made with (digest_make.c, digest_what.c, digest_more.c). */
#ifndef PF_ANALYSIS_RANKS_DIGEST_IMPL_H
#define PF_ANALYSIS_RANKS_DIGEST_IMPL_H

#include "base/intern.h"
#include "base/spool.h"
#include "events/by_event.h"
#include "events/collective.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/step.h"
#include "analysis/ranks/digest_make.h"
#include "store/texts.h"

#define PIECES_MAX  32       /* of a collective */
#define KERNELS_MAX 128      /* names of a trace; the rest is one */
#define NO_OP       SIZE_MAX /* communication that is not compared */
#define GATE_NS     10000    /* computation that waited begins so soon, */
#define BEFORE_NS   2000     /* and none ran in so long before */

/* What the GPU and its hosts have done so far. */
struct sums {
	int64_t ns[PF_DOING_COUNT];
	int64_t host_ns[PF_HOST_CAUSES]; /* while it was idle */
};

enum mark_kind { MARK_END, MARK_STEP_START, MARK_STEP_END };

struct mark {
	int64_t at_ns;
	enum mark_kind kind;
	size_t index; /* of the collective or the step */
};

struct op_end {
	int64_t end_ns;
	bool is_past;
	struct sums sums;
};

struct open_piece {
	size_t op;
	int64_t from_ns, ns;
};

/* A kernel of communication. */
struct running {
	size_t op;
	int64_t end_ns;
};

/* Computation, or the first kernel of a collective, by its launch call. */
struct launched {
	int64_t launch_id, event_id;
	int64_t start_ns, end_ns;
	int64_t op;   /* -1: computation */
	int64_t gate; /* of it: what is received, if this call is later; or -1 */
};

struct host_span {
	int64_t start_ns, end_ns, cause;
};

/* What a kernel belongs to. */
struct what {
	size_t group; /* of the digest */
	enum pf_sync sync;
	enum pf_p2p p2p; /* if sync is NONE */
	int64_t bytes, size;
	int64_t peer; /* of a send or receive; or -1 */
};

/* A kernel of messages that it does not say. */
struct unsaid {
	int64_t launch_id;
	size_t p2p;
};

/* The same of arguments, of all traces. */
struct said {
	uint32_t group; /* of the texts */
	enum pf_sync sync;
	enum pf_p2p p2p;
	int64_t bytes, size, peer;
};

struct source {
	int64_t trace_id, base_ns, world;
	char *host;
};

struct making {
	/* of the database */
	struct pf_db *db;
	struct pf_gpu *gpu;
	struct pf_names *names;
	struct pf_texts texts;
	const struct pf_steps *steps;
	struct pf_intern groups; /* texts */
	struct pf_map argsets;   /* argset.id -> said */
	struct pf_map syncs;     /* string.id -> pf_p2p << 8 | pf_sync */
	struct pf_map hashes;    /* string.id -> place of the hash */
	struct said *said;
	uint64_t *hash;
	size_t said_count, said_cap, hash_count, hash_cap;
	struct source *sources;
	size_t source_count, source_cap;
	/* of a trace; the first member is where they begin */
	const struct pf_window_trace *trace;
	struct pf_digest d;
	bool has_begun, has_computed;
	struct pf_sweep sweep;
	struct mark *marks; /* a heap */
	size_t mark_count, mark_cap;
	struct op_end *ends; /* as the collectives */
	size_t end_cap;
	struct sums *step_sums;     /* at their starts */
	struct pf_map records;      /* record_param_comms -> collective */
	struct pf_map group_places; /* text -> group of the digest */
	size_t *lasts;              /* of each group: its last collective */
	size_t last_count, last_cap;
	size_t *closed; /* that no computation has followed */
	size_t closed_count, closed_cap;
	struct running *running;
	size_t running_count, running_cap;
	struct open_piece *pieces;
	size_t piece_count, piece_cap;
	int64_t exposed_ns;  /* pieces are known up to here */
	int64_t computed_ns; /* computation ran up to here */
	struct pf_by_event *launches;
	struct pf_sorter *hosts;
	const struct host_span *host; /* the next one */
	struct pf_map kernel_places;  /* string.id -> kernel of the digest */
	/* sends and receives */
	struct pf_map p2p_records; /* record_param_comms -> one of them */
	struct unsaid *unsaid;
	size_t unsaid_count, unsaid_cap;
	size_t *received; /* that no computation has followed */
	size_t received_count, received_cap;
	int64_t busy_ns;                /* other work ran up to here */
	struct pf_digest_piece *quiets; /* since computation; from 0 on */
	size_t quiet_count, quiet_cap;
};

/* digest_what.c */
void pf_digest_init_words(struct making *m);
void pf_digest_release_words(struct making *m);
int pf_digest_find_what(struct making *m, const struct pf_gpu_event *ev,
			struct what *out, struct pf_err *err);
/* 1: what the arguments of a record say is a send or a receive; 0, -1. */
int pf_digest_find_message(struct making *m, uint32_t args, struct what *out,
			   struct pf_err *err);
int pf_digest_load_sources(struct making *m, struct pf_err *err);
const struct source *pf_digest_source(const struct making *m);

/* digest_more.c: what hosts do, kernels, what launches say */
int pf_digest_load_hosts(struct making *m, struct pf_err *err);
int pf_digest_count_kernel(struct making *m, const struct pf_gpu_event *ev,
			   struct pf_err *err);
void pf_digest_settle_kernels(struct making *m);
int pf_digest_settle_launches(struct making *m, struct pf_err *err);

/* digest_p2p.c: sends and receives */
void pf_digest_take_p2p(struct making *m, const struct pf_gpu_event *ev,
			const struct what *what, int64_t end_ns);
/* Work that is neither that nor computation. */
void pf_digest_take_other(struct making *m, int64_t start_ns, int64_t end_ns);
/* The receive that it waits for if its host did, or NO_OP. */
size_t pf_digest_compute(struct making *m, int64_t start_ns, int64_t end_ns);
void pf_digest_confirm_gate(struct making *m, size_t gate, bool has_call,
			    int64_t call_ns);
int pf_digest_settle_p2p(struct making *m, struct pf_err *err);
void pf_digest_end_p2p(struct making *m);

#endif
