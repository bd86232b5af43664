/* SPDX-License-Identifier: MIT */
/*
 * GPU work (kernels, copies, fills) in order of time, trace by trace, each
 * with its class, device and stream.  Reads the column blocks of all streams
 * of one trace at a time: memory is one block per stream.
 *
 *	struct pf_gpu *g = pf_gpu_new(db, &window, 0, err);
 *	while ((rc = pf_gpu_next(g, &ev, err)) == 1)
 *		...
 *	pf_gpu_free(g);
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "events/traces.h"
#include "store/block.h"
#include "store/comm_rule.h"
#include "store/db.h"

/*
 * Which GPU work is communication because an operator of communication
 * launched it: its launch call lies in a range of record_param_comms, of
 * c10d::... or of a backend (nccl:..., gloo:...) on its thread, as ingest
 * found.  Work is asked about in the order of pf_gpu_next(), so nothing is kept
 * of it.
 */

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

/* The launch configurations of a database: what GPU work says beside time. */

/* A row of gpu_config; -1: unknown. */
struct pf_gpu_config {
	int64_t id, device, stream;
	int64_t grid[3], block[3];
	int64_t registers, shared_bytes;
	double blocks_per_sm;
	/*
	 * Percent.  A recorded 0 is unknown if the kernel has more shared
	 * memory than a block gets by default: CUPTI's estimate fails there.
	 */
	double occupancy;
	const char *op_name; /* what the trace calls its operator, or NULL */
};

struct pf_gpu_configs {
	struct pf_gpu_config *items; /* by id */
	size_t count;
	/* By id from the first one's: of the items; NULL: ids are far apart. */
	uint32_t *places;
	struct pf_arena texts;
};

/* Read once, and the database's until it is closed; NULL on error. */
const struct pf_gpu_configs *pf_gpu_configs(struct pf_db *db);

/* NULL if there is none of this id. */
const struct pf_gpu_config *pf_gpu_configs_find(const struct pf_gpu_configs *c,
						int64_t id);

/* In order of precedence where exposure is counted. */
enum pf_gpu_class {
	PF_GPU_COMPUTE, /* every other kernel */
	PF_GPU_COMM,    /* by its name, or by what launched it */
	PF_GPU_COPY,    /* between memories, also by a copy kernel */
	PF_GPU_MEMSET,
	PF_GPU_CLASSES
};

/* Between which memories a copy goes. */
enum pf_copy_way {
	PF_COPY_HTOD,
	PF_COPY_DTOH,
	PF_COPY_DTOD,
	PF_COPY_PTOP,
	PF_COPY_OTHER, /* neither the name nor "direction" of its args says */
	PF_COPY_WAYS
};

/* In sentences: GPU work whose origin is PF_GPU_BEFORE. */
#define PF_GPU_BEFORE_WORDS "GPU work launched before the capture"

/*
 * No launch takes so long.  A stream's first work that begins so long after its
 * call, on a device that is idle, is queued behind what was not recorded.
 */
#define PF_GPU_QUEUED_NS 1000000

/* Whether the trace holds the call that launched GPU work. */
enum pf_gpu_origin {
	PF_GPU_LAUNCHED,
	/*
	 * Before the capture: on the work's stream, or in the whole trace, the
	 * first work with a launch call comes later.
	 */
	PF_GPU_BEFORE,
	PF_GPU_MIGRATED, /* pages of unified memory, which no call launches */
	PF_GPU_NO_CALL,  /* and it is not known why */
};

struct pf_gpu_event {
	const struct pf_window_trace *trace;
	int64_t event_id;
	int64_t start_ns, end_ns;           /* cut to the window */
	int64_t dur_ns;                     /* the whole */
	uint32_t name;                      /* string.id or PF_ID_INLINE */
	uint32_t config;                    /* gpu_config.id, or PF_ID_NONE */
	const struct pf_gpu_config *launch; /* its row, or NULL */
	unsigned kind;                      /* enum pf_kind */
	enum pf_gpu_class class;
	enum pf_copy_way way;   /* of PF_GPU_COPY; of others OTHER */
	int64_t device, stream; /* -1: unknown */
	struct pf_comm_op comm; /* what launched it; rule: why it is COMM */
	bool is_first_of_trace;
	bool is_outside; /* of the window; with PF_GPU_OUTSIDE, not cut */
	/*
	 * Of TPUs: what computes and has others in it, such as a loop, does so
	 * only where none of them runs; what is under way keeps nothing busy.
	 */
	bool is_around, is_in_flight;
	int64_t bytes; /* with PF_GPU_BYTES; -1: unknown */
	/* With PF_GPU_LINKS, the call also with _CALLS; 0: none. */
	int64_t launch_id, op_id;
	enum pf_gpu_origin origin;
};

enum pf_gpu_want {
	PF_GPU_LINKS = 1,  /* launch call, origin and op: reads rows */
	PF_GPU_STARTS = 2, /* only work that starts in the window, not cut */
	PF_GPU_BYTES = 4,  /* bytes of copies and fills */
	PF_GPU_CALLS = 8,  /* launch call alone: reads less of the rows */
	/* Work outside of the window, too: its GPU was there to be used. */
	PF_GPU_OUTSIDE = 16,
	/*
	 * The operations of TPUs, too, and the communication and copies that
	 * they have under way.
	 */
	PF_GPU_TPUS = 32,
};

struct pf_gpu;
struct pf_gpu *pf_gpu_new(struct pf_db *db, const struct pf_window *window,
			  unsigned want);
void pf_gpu_free(struct pf_gpu *g);
PF_FREED(pf_gpu_free, struct pf_gpu)
/* 1 and *out, borrowed until the next call; 0 at the end; -1. */
int pf_gpu_next(struct pf_gpu *g, const struct pf_gpu_event **out);

/*
 * The rows of gpu_event beside the events of GPU tracks in order of time:
 * all links, or the launch call alone (what is asked for may be more).
 */
struct pf_ints;
struct pf_ints *pf_gpu_links_new(struct pf_db *db, bool with_all);
/* Read all of them once, for all who read them after this (store/kept.h). */
int pf_gpu_links_keep(struct pf_db *db);
/* The row of the next event; those of others before it are passed by. */
int pf_gpu_links_next(struct pf_ints *links, int64_t event_id,
		      const int64_t **row, struct pf_err *err);
/* The id of the launch call in such a row; 0: there is none. */
int64_t pf_gpu_links_call(const int64_t *row);

/* A row of gpu_config by its id; NULL if there is none. */
const struct pf_gpu_config *pf_gpu_find_config(const struct pf_gpu *g,
					       int64_t id);

/* The text of a name ("" if there is none); borrowed until the next call. */
const char *pf_gpu_name(struct pf_gpu *g, uint32_t name);

/* The class of GPU work by its kind and name alone. */
enum pf_gpu_class pf_gpu_classify(unsigned kind, const char *name);
/* Of an operation of a TPU by its name and what XLA calls its category. */
enum pf_gpu_class pf_gpu_classify_op(const char *name, const char *category);

/* "computation", "communication", "copy", "memset". */
const char *pf_gpu_class_name(enum pf_gpu_class class);
/* "HtoD", "DtoH", "DtoD", "PtoP", "other". */
const char *pf_copy_way_name(enum pf_copy_way way);

/*
 * Host events (launch calls, operators) and what belongs to them: GPU work
 * comes in order of time, the events that caused it lie on many threads.  So
 * records that begin with the id of an event are sorted by it (beyond a
 * budget on disk) and met with the events in one walk over their blocks.
 */

struct pf_by_event;

/*
 * A record begins with two int64_t: the id of an event, 0 for none, and what
 * orders the records of one; equal ones stay in order.  Columns of the events
 * that are wanted: PF_COLBIT(...) of store/block.h, no slots; 0: none.
 */
struct pf_by_event *pf_by_event_new(struct pf_db *db, size_t record_bytes,
				    uint64_t columns);
void pf_by_event_free(struct pf_by_event *e);
PF_FREED(pf_by_event_free, struct pf_by_event)
int pf_by_event_add(struct pf_by_event *e, const void *record);

/*
 * The next record, valid until the next call, with its event in *block
 * (borrowed as long) at *place; *block is NULL if there is no such event or
 * no column is wanted.  NULL: the end, or err says what failed.
 */
const void *pf_by_event_next(struct pf_by_event *e,
			     const struct pf_block **block, uint32_t *place);

/* What the next call of _next() will return, without its event. */
const void *pf_by_event_peek(struct pf_by_event *e);

/* Is the event of the next record one of this track?  False also on an error. */
bool pf_by_event_is_on(struct pf_by_event *e, uint32_t track_id);

/* GPU work by its launch call, in order of time; what has none comes first. */
struct pf_event_work {
	int64_t launch_id, start_ns;
	int64_t event_id, trace_id, end_ns, dur_ns; /* in the window */
	uint32_t name, zero;
};

/* All GPU work of a window as such records; NULL on an error. */
struct pf_by_event *pf_by_event_work(struct pf_db *db,
				     const struct pf_window *window,
				     uint64_t columns);

/* ---- do calls that launch GPU work return only when it is done? ---- */

struct pf_held {
	int64_t call_count, call_ns; /* that launched work of the window */
	int64_t work_ns;             /* their work, summed up */
	int64_t inside_ns; /* of it while the call that launched it ran */
	/* pieces, and those of which more than half is inside */
	int64_t count, inside_count;
};

/* Work, and the call that launched it. */
void pf_held_add(struct pf_held *h, int64_t start_ns, int64_t end_ns,
		 int64_t call_start_ns, int64_t call_end_ns);
/* They do.  Ask it only of calls that do not wait by their name. */
bool pf_held_is(const struct pf_held *h);
/* "99 % of the time of GPU work lies inside the call that launched it" */
void pf_held_say(const struct pf_held *h, struct pf_buf *out);
