/* SPDX-License-Identifier: MIT */
/*
 * What the names of host events say: which calls block, which ranges are
 * compilation, data loading and so on, which Python functions are the user's.
 * A name is looked at once; memory grows with the number of distinct names.
 */
#ifndef PF_ANALYSIS_NAMES_H
#define PF_ANALYSIS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/db.h"

/*
 * Why a GPU is idle.  Of the causes that fit an instant on the host the first
 * one counts; those up to COMM hold for all that runs inside such a range.
 */
enum pf_cause {
	PF_CAUSE_SYNC,
	PF_CAUSE_COPY,
	PF_CAUSE_ALLOCATOR,
	PF_CAUSE_MODULE,
	PF_CAUSE_COMPILE,
	PF_CAUSE_DATA,
	PF_CAUSE_GC,
	PF_CAUSE_PROFILER,
	PF_CAUSE_COMM,
	PF_CAUSE_RUNTIME,
	PF_CAUSE_OP,
	PF_CAUSE_PYTHON,
	PF_CAUSE_ANNOTATION,
	PF_CAUSE_UNRECORDED,
	/* not on the host */
	PF_CAUSE_LAUNCH,
	PF_CAUSE_DEPENDENCY,
	PF_CAUSE_GRAPH,
	PF_CAUSE_DEVICE,
	PF_CAUSE_NO_LAUNCH,
	PF_CAUSE_MICRO,
	PF_CAUSE_COUNT
};

/* "sync", "blocking copy", ... */
const char *pf_cause_name(enum pf_cause cause);

/*
 * In a gap after a call that drained the GPU: is time of this cause due to the
 * call?  What it took itself is, and what the host then needed to launch work
 * again; loading data, compiling and the like are not.
 */
bool pf_cause_is_after_call(enum pf_cause cause);

/* What GPU work a call launches, by its name. */
enum pf_launch_kind {
	PF_LAUNCHES_NONE,
	PF_LAUNCHES_KERNEL, /* kernels or graphs */
	PF_LAUNCHES_COPY    /* copies or fills */
};

/* What a call on the host waits for, by its name. */
enum pf_wait_for {
	PF_WAITS_NOT,
	PF_WAITS_ALL, /* all streams */
	PF_WAITS_STREAM,
	PF_WAITS_EVENT
};

#define PF_MODULE_PREFIX "nn.Module: " /* how torch names calls of modules */

struct pf_name_class {
	uint8_t call;     /* enum pf_cause of a runtime or driver call */
	uint8_t range;    /* of any other range: UNRECORDED if it says none */
	uint8_t overhead; /* of an overhead record; UNRECORDED: no matter */
	uint8_t launches; /* enum pf_launch_kind */
	uint8_t waits;    /* enum pf_wait_for */
	bool is_record;   /* a call that marks a place of a stream */
	bool is_module;   /* a call of nn.Module */
	/* A Python function in which a thread sleeps until it is woken. */
	bool is_asleep;
	/* An operator of such a name says only what is inside: "forward". */
	bool is_wrapper;
	bool is_sync;        /* a call that only waits for the GPU */
	bool is_stream_wait; /* a call that makes a stream wait, not the host */
	bool is_graph;       /* a call that launches a graph */
	bool is_blocking;    /* a call that waits for the GPU */
	/*
	 * It waits if its memory is such (struct pf_pageable): asynchronous
	 * copies, and fills, which return before the fill of a GPU's own memory.
	 */
	bool waits_by_memory;
	bool is_user_python; /* not torch, a library or Python's own */
	bool is_step;        /* ProfilerStep#N */
	bool is_optimizer;   /* a range that torch puts around one */
	bool is_wait;        /* a record, Stream Wait Event: the GPU waits */
	bool is_free;        /* of a memory record: it frees */
};

struct pf_names;
struct pf_names *pf_names_new(struct pf_db *db, struct pf_err *err);
void pf_names_free(struct pf_names *n);

/* Ids of names are below this, but for a damaged database's. */
size_t pf_names_count(const struct pf_names *n);

/* By string.id; NULL on error. */
const struct pf_name_class *pf_names_class(struct pf_names *n, uint32_t name,
					   struct pf_err *err);
/* The kind (enum pf_kind) of events of a type; PF_KIND_COUNT if unknown. */
unsigned pf_names_kind(const struct pf_names *n, uint32_t type);
/* Are they ranges of NVTX, which the program named itself? */
bool pf_names_is_nvtx(const struct pf_names *n, uint32_t type);
/* Its text, to be freed by the caller; NULL on error. */
char *pf_names_text_take(struct pf_names *n, uint32_t name, struct pf_err *err);
/* The same of a Python function: "file.py(12): f" as "file.py:12 f". */
char *pf_names_frame_take(struct pf_names *n, uint32_t name,
			  struct pf_err *err);
/*
 * The same, valid as long as the names; NULL of PF_ID_NONE and on error
 * (err->code).  Memory grows with the number of distinct names.
 */
const char *pf_names_frame(struct pf_names *n, uint32_t name,
			   struct pf_err *err);

/*
 * Append a name without what counts steps in it: "train_step 17" becomes
 * "train_step N", the same place in every step.
 */
void pf_name_without_counts(const char *s, struct pf_buf *out);

/*
 * Is a kernel's name that of a graph which was recorded as a whole?  Nsight
 * Systems' are "CUDA graph N", the agent's "graph N" (nsys/, pfr/).
 */
bool pf_name_is_whole_graph(const char *name);

/* Classify a text; pf_names_class() without a database. */
struct pf_name_class pf_name_classify(const char *name);

#endif
