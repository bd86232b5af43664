/* SPDX-License-Identifier: MIT */
/*
 * What the files of this room share: GPU work, the calls and threads of the
 * host that it has to do with, and the graph of them.  Every index is one of
 * an array here; PF_PATH_NONE is none.
 */
#ifndef PF_PATH_PATH_IMPL_H
#define PF_PATH_PATH_IMPL_H

#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/intern.h"
#include "base/mem.h"
#include "events/gpu.h"
#include "events/names.h"
#include "events/step.h"
#include "events/walk.h"
#include "path/path.h"
#include "store/cursor.h"

#define PF_PATH_NONE UINT32_MAX

/* A call may return so long before the recorded end of what it waited for. */
#define PF_PATH_CLOCK_NS 20000
/* A shorter time of nothing on a thread is the thread's own. */
#define PF_PATH_HANDOFF_NS 20000
/* No launch, and no gap behind work, takes longer by nature. */
#define PF_PATH_LAUNCH_NS 50000

/* Far from where a sum of two times would not fit. */
#define PF_PATH_TIME_MAX_NS (INT64_C(1) << 61)

/* A kernel, copy or fill. */
struct path_work {
	int64_t start_ns, end_ns;
	int64_t launch_id; /* 0: none */
	uint32_t name;     /* string.id or PF_ID_INLINE */
	uint32_t stream;   /* of streams */
	uint32_t call;     /* that launched it */
	uint32_t prev;     /* before it on its stream */
	uint8_t class;     /* enum pf_gpu_class */
	bool is_in;        /* part of the graph */
};

/* A stream and its work that is in, in three orders (of path_load.orders). */
struct path_stream {
	int64_t device, stream;
	uint32_t *by_start, *by_end; /* "count" each */
	uint32_t *by_launch;         /* with a call: launched_count */
	uint32_t count, launched_count;
	uint32_t orphan; /* the last work without a call */
};

/* A call that launches, waits, or marks a place of a stream. */
struct path_call {
	int64_t start_ns, end_ns, correlation; /* -1: none */
	uint32_t thread, name, op, frame, module;
	uint32_t first_work, work_count; /* of by_call */
	uint32_t node, end_node;         /* of the graph */
	uint32_t waits_for, queued_for;  /* work */
	uint8_t waits;                   /* enum pf_wait_for */
	bool is_record, is_stream_wait;
};

/* A time in which a thread works, and may have been woken for. */
struct path_busy {
	int64_t start_ns, end_ns;
	bool can_wake; /* what was open before says that it slept */
};

struct path_thread {
	uint32_t track_id;
	const char *pid; /* borrowed of tracks */
	bool has_op, has_call;
	int64_t first_ns, last_ns; /* of operators and calls */
	uint32_t first_call, call_count, launch_count;
	uint32_t first_busy, busy_count;
	uint32_t first_node, end_node; /* [first, end) */
};

/* A record of what a stream or call waited for. */
struct path_sync {
	int64_t correlation, device, stream;
	int64_t on_stream, on_record; /* correlation of the call; or -1 */
	bool is_stream_wait;
};

enum path_kind {
	PATH_DUR,
	PATH_HOST,
	PATH_LAUNCH,
	PATH_GAP,
	PATH_OVERLAP,
	PATH_WAIT,
	PATH_INFERRED,
	PATH_CONTENDED,
	PATH_RETURN,
	PATH_QUEUE,
	PATH_HANDOFF,
	PATH_START,
	PATH_END,   /* to the sink, takes no time */
	PATH_ORDER, /* as it was seen: of pessimistic answers alone */
	PATH_GONE   /* would have closed a circle */
};

#define PATH_RIGID INT64_MIN /* a floor: all that was measured */

struct path_edge {
	uint32_t from;
	uint32_t next; /* the next edge to the same node; until settled */
	int64_t floor_ns;
	uint32_t what; /* work, of RETURN and QUEUE the call */
	uint8_t kind;  /* enum path_kind */
	bool is_binding;
};

struct path_node {
	int64_t at_ns;
	uint32_t first; /* edge to it; settled: of these, "count" */
	uint32_t count;
	uint32_t thread; /* of host nodes */
};

/* Node 0 is where the window begins; then two of each work; then the host's. */
#define PATH_ORIGIN        0u
#define PATH_START_OF(i)   (1u + 2u * (i))
#define PATH_END_OF(i)     (2u + 2u * (i))
#define PATH_WORK_OF(n)    (((n)-1u) / 2u)
#define PATH_IS_END(g, n)  ((n) < (g)->host_first && (n) && !((n)&1u))
#define PATH_IS_HOST(g, n) ((n) >= (g)->host_first && (n) != (g)->sink)
#define PATH_IS_WORK(g, n) ((n) != PATH_ORIGIN && (n) < (g)->host_first)

struct path_graph {
	struct path_node *nodes;
	uint32_t node_count, host_first, sink;
	size_t node_cap;
	struct path_edge *edges;
	uint32_t edge_count;
	size_t edge_cap;
	uint32_t *order; /* of nodes: what they need comes before them */
	uint32_t order_count;
	uint32_t order_edges; /* PATH_ORDER: none change no answer */
};

struct path {
	struct pf_db *db;
	const struct pf_path_args *args;
	struct pf_path *out;
	struct pf_names *names;
	const struct pf_window_trace *trace;
	bool with_order; /* edges of pessimistic answers, too */
	/* the window: from W0; H; do steps or times bound it? */
	int64_t w0_ns, h_ns;
	bool has_bounds;
	uint32_t main_track;
	struct pf_step *steps; /* that it is made of */
	size_t step_count;
	struct path_work *works; /* by start, then place in the file */
	uint32_t work_count;
	uint32_t *by_call; /* works in order of their launch calls */
	uint32_t with_call;
	struct path_stream *streams;
	uint32_t stream_count;
	uint32_t *orders; /* of streams, one block */
	struct path_sync *syncs;
	size_t sync_count, sync_cap;
	struct pf_map sync_at, record_at, wait_at; /* correlation -> index */
	struct pf_track *tracks;
	size_t track_count;
	struct path_thread *threads;
	uint32_t thread_count;
	uint32_t main; /* thread, or none */
	struct path_call *calls;
	uint32_t call_count;
	size_t call_cap;
	struct path_busy *busy;
	uint32_t busy_count;
	size_t busy_cap;
	struct path_phi {
		uint32_t name;
		int64_t ns;
	} * phi; /* by name: what such a call takes that waits for nothing */
	size_t phi_count, phi_cap;
	int64_t launch_floor_ns, gap_floor_ns;
	int64_t queue_floor_ns, queue_length, queue_call_ns;
	struct path_graph graph;
};

/* ---- load.c ---- */
/* Times beyond that are refused: PF_EDATA. */
int path_check_time(int64_t start_ns, int64_t end_ns, struct pf_err *err);
int path_load_works(struct path *p, struct pf_err *err);
int path_load_syncs(struct path *p, struct pf_err *err);

/* ---- host.c ---- */
int path_load_host(struct path *p, struct pf_err *err);
/* Does the thread take part in hand-offs and the end? */
bool path_is_compute(const struct path *p, const struct path_thread *t);

/* ---- streams.c: work that is in, by stream ---- */
void path_order_streams(struct path *p);
void path_measure_floors(struct path *p);
/* The last work of a stream that was launched before an instant, or none. */
uint32_t path_last_launched(const struct path *p, const struct path_stream *s,
			    int64_t at_ns);
/* The work of a stream that ended last at or before an instant, or none. */
uint32_t path_last_ended(const struct path *p, const struct path_stream *s,
			 int64_t at_ns);
/* The stream of these numbers that has work, or NULL; device -1: any. */
const struct path_stream *path_find_stream(const struct path *p, int64_t device,
					   int64_t stream);
/* Nearest rank; the values are put in order.  0 of none. */
int64_t path_quantile(int64_t *values, size_t count, unsigned percent);

/* ---- waits.c, queue.c ---- */
void path_find_waits(struct path *p);
int64_t path_phi(const struct path *p, uint32_t name);
void path_find_queue(struct path *p);

/* ---- build.c, works.c ---- */
void path_build(struct path *p);
void path_add_works(struct path *p);

/* ---- graph.c ---- */
uint32_t path_node(struct path_graph *g, int64_t at_ns, uint32_t thread);
struct path_edge *path_edge(struct path_graph *g, uint32_t to, uint32_t from,
			    enum path_kind kind, int64_t floor_ns,
			    uint32_t what);
/* Puts nodes in order and the edges beside each other. */
void path_settle(struct path_graph *g);
const struct path_edge *path_binding(const struct path_graph *g, uint32_t node);
/* What an edge takes when nothing is changed. */
int64_t path_weight(const struct path_graph *g, uint32_t to,
		    const struct path_edge *e);
void path_graph_release(struct path_graph *g);

/* ---- tiles.c ---- */
/* Every tile of the path, in order of time, to add(). */
typedef int path_add_tile(void *context, const struct pf_path_tile *tile,
			  struct pf_err *err);
int path_find_tiles(struct path *p, path_add_tile *add_tile, void *context,
		    struct pf_err *err);

/* ---- rows.c ---- */
struct path_rows;
struct path_rows *path_rows_new(struct path *p);
path_add_tile path_rows_add;
int path_rows_finish(struct path_rows *r, struct pf_err *err);
void path_rows_free(struct path_rows *r);
/* Operators, or GPU work, that hold most of the path: how many of at most max. */
size_t path_rows_top(const struct path_rows *r, bool of_work, uint32_t *names,
		     size_t max);

/* ---- whatif.c ---- */
int path_what_if(struct path *p, const struct path_rows *rows,
		 struct pf_err *err);

static inline bool path_is_in(const struct path *p, uint32_t work)
{
	return work != PF_PATH_NONE && p->works[work].is_in;
}

static inline int64_t path_launched_ns(const struct path *p,
				       const struct path_work *w)
{
	return p->calls[w->call].start_ns;
}

#endif
