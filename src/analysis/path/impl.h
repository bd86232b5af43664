/* SPDX-License-Identifier: MIT */
/*
 * What the files of this room share: GPU work, the calls and threads of the
 * host that it has to do with, and the graph of them.  Every index is one of
 * an array here; PF_PATH_NONE is none.
 */
#pragma once

#include <pthread.h>
#include <regex.h>

#include "analysis/graphs/graphs.h"
#include "analysis/path/path.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/tempfile.h"
#include "events/gpu.h"
#include "events/names.h"
#include "events/step.h"
#include "events/host.h"
#include "store/cursor.h"

#define PF_PATH_NONE UINT32_MAX

/* A call may return so long before the recorded end of what it waited for. */
#define PF_PATH_CLOCK_NS 20000
/* A shorter time of nothing on a thread is the thread's own. */
#define PF_PATH_HANDOFF_NS 20000
/* A hole is longer, and what is done for it begins and ends as it does. */
#define PF_PATH_HOLE_PARTS 16
#define PF_PATH_HOLE_NS    (PF_PATH_HOLE_PARTS * PF_PATH_HANDOFF_NS)
/* No launch, and no gap behind work, takes longer by nature. */
#define PF_PATH_LAUNCH_NS 50000

/* Far from where a sum of two times would not fit. */
#define PF_PATH_TIME_MAX_NS (INT64_C(1) << 61)

/* So many at most: their numbers fit their bits. */
#define PATH_WORKS_MAX   (PF_PATH_NONE / 8)
#define PATH_STREAMS_MAX (1u << 22)
#define PATH_OF_CALL_MAX ((1u << 23) - 1)

/* A kernel, copy or fill. */
struct path_work {
	int64_t start_ns, end_ns;
	uint32_t name; /* string.id or PF_ID_INLINE */
	/* that launched it, and what is before it on its stream; until the
	 * host has been read: event and track of the launch */
	uint32_t call, prev;
	uint32_t stream : 22; /* of streams */
	uint32_t class : 2;   /* enum pf_gpu_class */
	uint32_t is_in : 1;   /* part of the graph */
	uint32_t bound : 4;   /* by an edge of this kind */
	/* such an edge is none: it would have closed a circle */
	uint32_t no_launch : 1, no_prev : 1;
	/* queued behind what was not recorded; until the graph is built: of
	 * its stream nothing was recorded before */
	uint32_t is_queued : 1;
};

/*
 * A stream and its work that is in, in three orders: where all work began,
 * ended and was launched one after the other they are one.
 */
struct path_stream {
	int64_t device, stream;
	uint32_t *by_start, *by_end; /* "count" each */
	uint32_t *by_launch;         /* with a call: launched_count */
	uint32_t count, launched_count;
	uint32_t orphan; /* the last work without a call */
};

/* What calls have in common: their name, their thread, names around them. */
struct path_around {
	uint32_t name, thread, op, frame, module;
};

/* A call that launches, waits, or marks a place of a stream. */
struct path_call {
	int64_t start_ns, end_ns;
	uint32_t around; /* of arounds */
	union {
		uint32_t first_work; /* of by_call; until the graph is built: */
		uint32_t point;      /* where it launches */
	};
	uint32_t needs; /* work that it waits for, or is queued for */
	uint32_t work_count : 23;
	uint32_t waits : 3; /* enum pf_wait_for */
	uint32_t is_record : 1, is_stream_wait : 1, is_queued : 1;
	uint32_t is_allocation : 1; /* of memory, or it gives it back */
	uint32_t is_late : 1;       /* it launches when it ends */
	uint32_t is_first : 1;      /* it loads code, or starts the driver */
};

/* What a thread was in that did nothing. */
enum path_slept {
	PATH_AWAKE,         /* a function of Python, as far as is known */
	PATH_SLEPT_SOMEHOW, /* nothing says: no function is recorded */
	PATH_SLEPT_ENGINE,  /* one that waits for autograd's threads */
};

/* A time in which a thread works, and may have been woken for. */
struct path_busy {
	int64_t start_ns, end_ns;
	uint8_t slept; /* enum path_slept: before it */
	bool waits;    /* a call in it may wait for GPU work */
};

/* A time in which a thread is in a range and nothing begins or ends. */
struct path_hole {
	int64_t from_ns, to_ns;
	uint32_t thread;
};

/* A function in which a thread sleeps until another wakes it. */
struct path_nap {
	int64_t from_ns, to_ns;
	uint32_t thread;
	uint32_t woken_by; /* enum pf_woken_by: a lock, or autograd */
};

/* A function that lets go of one. */
struct path_wake {
	int64_t at_ns;
	uint32_t thread, process;
};

struct path_thread {
	uint32_t track_id;
	const char *pid; /* borrowed of tracks */
	bool has_op, has_call, has_python, is_on_path;
	bool has_node, is_engine;  /* autograd's operators; its thread */
	int64_t first_ns, last_ns; /* of operators and calls */
	uint32_t first_call, call_count, launch_count;
	uint32_t first_busy, busy_count, process;
	uint32_t first_point, end_point; /* [first, end) */
};

/* A time in which a thread of a process communicates. */
struct path_comm {
	int64_t start_ns, end_ns;
	const char *pid; /* borrowed of tracks */
	uint32_t name;
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

/* As it is asked for; edges are not kept one by one. */
struct path_edge {
	uint32_t from;
	uint32_t what; /* work; of RETURN and QUEUE the call; HOST: the point */
	int64_t floor_ns;
	uint8_t kind; /* enum path_kind */
	bool is_binding;
};

/* An edge to the start of work that is not of its launch nor its stream. */
struct path_extra {
	uint32_t from; /* node */
	uint8_t kind;
	bool is_binding;
};

/* Where something of the host begins or ends. */
enum path_point_kind {
	PATH_AT_FIRST, /* where the window begins; what: the thread */
	PATH_AT_FROM,  /* it wakes another; what: a hand-off */
	PATH_AT_WAKE,  /* it is woken; what: a hand-off */
	PATH_AT_CALL,  /* what: the call */
	PATH_AT_RETURN, /* the end of a call that may have waited, or launched late */
	PATH_AT_LAST, /* the window's end */
};

/* When, says what it is of; or, where that was before a point before it: */
struct path_late {
	uint32_t point;
	int64_t at_ns; /* of that one */
};

struct path_point {
	uint32_t what;
	uint32_t kind : 3;
	uint32_t is_late : 1; /* one of lates */
	/* something else than the thread's own time leads here, and binds */
	uint32_t has_other : 1, is_bound : 1;
	/* such an edge is none: it would have closed a circle */
	uint32_t no_host : 1, no_other : 1;
	uint32_t is_start : 1; /* bound by where the window begins instead */
};

/* A thread that woke another: it stopped when the other had done nothing. */
struct path_handoff {
	uint32_t to, from; /* threads */
	int64_t at_ns, from_ns;
	int64_t idle_ns; /* idle since */
	uint32_t from_point, to_point;
};

/*
 * Nodes have numbers: 0 is where the window begins; then two of each work;
 * then the host's points; then the sink.  What leads to a node is worked out
 * when it is asked for, so that memory is works and points.
 */
#define PATH_ORIGIN        0u
#define PATH_START_OF(i)   (1u + 2u * (i))
#define PATH_END_OF(i)     (2u + 2u * (i))
#define PATH_WORK_OF(n)    (((n)-1u) / 2u)
#define PATH_IS_END(g, n)  ((n) < (g)->host_first && (n) && !((n)&1u))
#define PATH_IS_HOST(g, n) ((n) >= (g)->host_first && (n) != (g)->sink)
#define PATH_IS_WORK(g, n) ((n) != PATH_ORIGIN && (n) < (g)->host_first)

/* Of each kind so many of those that were worked out last are at hand. */
#define PATH_RING 4096

/* Items that a replay asks for again after that. */
struct path_far {
	uint32_t *items; /* ascending */
	size_t count, cap;
	unsigned char *bits; /* is it one?  By item */
};

struct path_graph {
	uint32_t host_first, sink;
	struct path_point *points; /* thread by thread */
	uint32_t point_count;
	size_t point_cap;
	struct path_late *lates; /* by point */
	size_t late_count, late_cap;
	struct path_handoff *handoffs;
	uint32_t handoff_count;
	size_t handoff_cap;
	/* of work i: extras[first_extra[i]] up to first_extra[i + 1] */
	struct path_extra *extras;
	uint32_t *first_extra; /* NULL: there are none */
	uint32_t extra_count;
	size_t extra_cap;
	uint32_t order_edges; /* PATH_ORDER: none change no answer */
	uint32_t last;        /* node that ends last: it binds the sink */
	uint32_t tail;        /* point of the window's end, or none */
	/*
	 * Work (its number) and points (theirs behind all work): what they
	 * need comes before them.  Of each kind mostly one after the other:
	 * how far from that, and the kind, as varints.
	 */
	unsigned char *order;
	size_t order_len, order_cap;
	struct path_far far;
};

/* That order, read on; zeros: it has not begun. */
struct path_turn {
	const unsigned char *at;
	uint32_t next[2]; /* of work, of points */
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
	/* GPU work without steps or functions, as of servers: its threads wait
	 * for each other all the time */
	bool is_served;
	uint32_t main_track;
	struct pf_step *steps; /* that it is made of */
	size_t step_count;
	struct path_work *works; /* by start, then place in the file */
	uint32_t work_count;
	/* by work: what a graph replays; NULL: nobody asked for it */
	const struct pf_graph_node **nodes;
	/* works in order of their launch calls; until the graph is built */
	uint32_t *by_call;
	uint32_t with_call;
	struct path_stream *streams;
	uint32_t stream_count;
	uint32_t *orders; /* of streams by start, one block; the same */
	struct path_sync *syncs;
	size_t sync_count, sync_cap;
	struct pf_map sync_at, record_at, wait_at; /* correlation -> index */
	struct pf_track *tracks;
	size_t track_count;
	struct path_thread *threads;
	uint32_t thread_count;
	uint32_t main; /* thread, or none */
	bool has_ops;  /* of any thread */
	bool is_held;  /* launch calls wait for their work (events/gpu.h) */
	const struct pf_pageable *pageable; /* before the host is walked */
	const struct pf_first_uses *firsts;
	struct pf_overheads overheads;
	struct path_call *calls;
	uint32_t call_count;
	size_t call_cap;
	int64_t *correlations; /* of calls, -1: none; NULL: no records */
	size_t correlation_cap;
	struct pf_intern arounds; /* struct path_around */
	struct path_busy *busy;
	uint32_t busy_count;
	size_t busy_cap;
	struct path_hole
		*holes; /* by thread and time; until the graph is built */
	uint32_t hole_count;
	size_t hole_cap;
	struct path_nap *naps; /* by thread and time, as holes */
	size_t nap_count, nap_cap;
	struct path_wake *wakes; /* the same */
	size_t wake_count, wake_cap;
	struct path_comm *comms; /* where no GPU works */
	size_t comm_count, comm_cap;
	struct path_phi {
		uint32_t name;
		int64_t ns;
	} * phi; /* by name: what such a call takes that waits for nothing */
	size_t phi_count, phi_cap;
	int64_t launch_floor_ns, gap_floor_ns, infer_ns;
	int64_t queue_floor_ns, queue_length, queue_call_ns;
	struct path_graph graph;
	unsigned char *on_path; /* by node: is it of the path?  As bits */
};

/* ---- records ---- */
/* Times beyond that are refused: PF_EDATA. */
int path_check_time(int64_t start_ns, int64_t end_ns, struct pf_err *err);
int path_load_works(struct path *p);
int path_load_syncs(struct path *p);

/* ---- threads of the host ---- */
int path_load_host(struct path *p);
/* Does the thread take part in hand-offs and the end? */
bool path_is_compute(const struct path *p, const struct path_thread *t);

/* The first of a process that ends after an instant, or NULL. */
const struct path_comm *path_comm_after(const struct path *p, const char *pid,
					int64_t at_ns);

/* ---- work that is in, by stream ---- */
void path_order_streams(struct path *p);
void path_measure_floors(struct path *p);
/* qsort(), faster for what is nearly in order, as most is. */
void path_sort(void *items, size_t count, size_t bytes,
	       int (*compare)(const void *a, const void *b));

/* ---- what calls waited for ---- */
void path_find_waits(struct path *p);
/* What was recorded of what a call waited for, or NULL. */
const struct path_sync *path_record_of(const struct path *p,
				       const struct path_call *c);
int64_t path_phi(const struct path *p, uint32_t name);
void path_find_queue(struct path *p);

/* ---- edges ---- */
void path_build(struct path *p);

/* ---- order ---- */
/* Puts work and points in order. */
void path_settle(struct path *p);
bool path_next_turn(const struct path *p, struct path_turn *t, uint32_t *item);
int64_t path_at(const struct path *p, uint32_t node);
int64_t path_point_ns(const struct path *p, uint32_t point);
uint32_t path_thread_of(const struct path *p, uint32_t point);
/* What leads to a point: at most two, the thread's own time first. */
unsigned path_point_edges(const struct path *p, uint32_t point,
			  struct path_edge out[2]);
/* The thread's own time; false: that does not lead here. */
bool path_host_edge(const struct path *p, uint32_t point,
		    struct path_edge *out);
/*
 * What leads to the start of work: those of its launch and its stream, which
 * are at most two; behind them come its extras.
 */
unsigned path_work_edges(const struct path *p, uint32_t work,
			 struct path_edge out[2]);
struct path_edge path_extra_edge(const struct path *p, uint32_t work,
				 uint32_t extra);
/* What bound a node; false: nothing did, it is the origin. */
bool path_binding(const struct path *p, uint32_t node, struct path_edge *out);
/* What an edge takes when nothing is changed, of what was measured. */
int64_t path_weight(const struct path_edge *e, int64_t measured_ns);
void path_graph_release(struct path_graph *g);

/* ---- tiles ---- */
/* Every tile of the path, in order of time, to add(). */
typedef int path_add_tile(void *context, const struct pf_path_tile *tile,
			  struct pf_err *err);
struct path_folder;
int path_find_tiles(struct path *p, path_add_tile *add_tile, void *context,
		    struct path_folder *folder);
/* Before that: finds the nodes of the path. */
void path_mark_nodes(struct path *p);

/*
 * They one after the other, as what bound one comes before it in that order;
 * zeros: it has not begun.
 */
struct path_trail {
	struct path_turn turn;
	uint32_t then; /* the end of work whose start was given; or 0 */
	bool is_over;
};

bool path_next_node(const struct path *p, struct path_trail *t, uint32_t *node);

/* ---- rows ---- */
struct path_rows;
struct path_rows *path_rows_new(struct path *p);
path_add_tile path_rows_add;
int path_rows_finish(struct path_rows *r);
void path_rows_free(struct path_rows *r);
/* Operators, or GPU work, that hold most of the path: how many of at most max. */
size_t path_rows_top(const struct path_rows *r, bool of_work, uint32_t *names,
		     size_t max);

/* The operator that a graph has for work, as its text; or PF_NO_TEXT. */
static inline uint32_t path_replayed_op(const struct path *p,
					const struct pf_graph_node *node)
{
	return node && pf_graphs_op(p->args->graphs, node) ? node->op
							   : PF_NO_TEXT;
}

/* The module in which the call of a replayed kernel was captured; likewise. */
static inline uint32_t path_replayed_module(const struct pf_graph_node *node)
{
	return node ? node->module : PF_NO_TEXT;
}

/* Work (its number) or a point (behind all work), and its place in a ring. */
static inline uint32_t path_item_of(const struct path *p, uint32_t node)
{
	return node < p->graph.host_first
		       ? PATH_WORK_OF(node)
		       : p->work_count + (node - p->graph.host_first);
}

static inline size_t path_slot_of(const struct path *p, uint32_t item)
{
	return (item & (PATH_RING - 1)) +
	       (item < p->work_count ? 0 : PATH_RING);
}

static inline bool path_is_in(const struct path *p, uint32_t work)
{
	return work != PF_PATH_NONE && p->works[work].is_in;
}

static inline int64_t path_launched_ns(const struct path *p,
				       const struct path_work *w)
{
	return p->calls[w->call].start_ns;
}

/* What a call waits for; else the launch queue may have held it back. */
static inline uint32_t path_waits_for(const struct path_call *c)
{
	return c->is_queued ? PF_PATH_NONE : c->needs;
}

static inline struct path_around path_around(const struct path *p,
					     const struct path_call *c)
{
	struct path_around out;

	memcpy(&out, pf_intern_text(&p->arounds, c->around, NULL), sizeof(out));
	return out;
}

/*
 * What a question of "what if" changes: how long GPU work takes, how long the
 * host's own time, and which edges there are.
 */

/* One of the questions that are asked without being asked for. */
#define PATH_NO_CODE PF_PATH_CODE " take no time, as in one GPU graph"

/* Kinds of the host's time, as bits. */
enum {
	PATH_IS_DATA = 1,  /* in what loads data */
	PATH_IS_GC = 2,    /* collecting garbage */
	PATH_IS_ALLOC = 4, /* in the allocator */
	PATH_IS_CODE = 8,  /* op, call that does not wait, Python, annotation */
	PATH_IS_FIRST = 16, /* a first use */
	PATH_IS_ANY = 32,
};

struct path_change {
	const char *text;                /* as asked, or as shown */
	double by_class[PF_GPU_CLASSES]; /* factors of GPU work */
	uint32_t work_name;              /* of this name alone: work_factor */
	double work_factor;              /* or of those that the regex fits */
	regex_t work_regex, host_regex, op_regex;
	bool has_work_regex, has_host_regex, has_op_regex;
	unsigned host_kinds;
	double host_factor;
	bool has_gpu, has_host; /* does it change such time? */
	bool no_waits;          /* calls do not wait, but for own copies */
	bool no_copy_waits;     /* nor for own copies that are gone */
	bool no_allocs;       /* nor do those of the allocator: not no_waits */
	bool least_launch;    /* launches take their least */
	bool no_comm;         /* only its stream waits for communication */
	uint32_t key;         /* of entries of the ledger: of the host's time */
	unsigned char *below; /* calls in operators that the regex fits */
	bool *graph_ops;      /* by text of graphs: the same of replayed work */
	/* by string.id: fits (1 work, 2 host, 4 op); 0: not known yet */
	_Atomic unsigned char *names;
};

/* Has it time of the host that is not all of it? */
static inline bool path_change_is_folded(const struct path_change *q)
{
	return q->has_host && !(q->host_kinds & PATH_IS_ANY);
}

struct path_changes {
	struct path_change *items;
	size_t count, cap;
	size_t own_count; /* before those that are answered beside */
};

void path_changes_release(struct path_changes *c);

/* ---- what may be changed ---- */

/*
 * What may be changed of the host's own time: for each edge of a thread, in
 * the order of its points, how much of it has which key, as bytes.  A key is
 * one of the questions that were known before, or (by_op) an innermost
 * operator.
 */
struct path_ledger {
	struct path *p;
	struct path_changes *changes;
	uint32_t asked; /* keys of questions; behind them operators' */
	uint32_t key_count;
	bool is_on; /* is there a question of the host's time at all? */
	bool by_op;
	/* of time of the host that is not all of it: by its kinds, and by names */
	uint32_t *by_kinds, *named;
	uint32_t named_count;
	bool has_host_names; /* some ask for what runs there itself */
	uint32_t *of_ops;    /* questions that ask for enclosing operators */
	uint32_t of_ops_count;
	_Atomic unsigned char *op_names; /* by string.id: fits any of these? */
	_Atomic int64_t *folded_ns;      /* by question: time of the host */
	size_t name_count;
	struct path_entries {
		unsigned char *bytes; /* the last of them; before these: */
		size_t len, cap;
		struct path_piece {
			uint64_t at; /* in the scratch */
			size_t len;
		} * pieces;
		size_t piece_count, piece_cap;
	} * threads;
	pthread_mutex_t lock; /* of the opening of */
	struct pf_scratch scratch;
};

/* Call it when the questions that are asked for are known. */
int path_ledger_init(struct path_ledger *l, struct path *p,
		     struct path_changes *c, bool by_op);
void path_ledger_release(struct path_ledger *l);
/*
 * Fill it in.  Follow() follows the path meanwhile, and folds what is on the
 * threads that it is on; folder NULL: nothing is asked of the host.
 */

typedef int path_follow(void *context, struct path_folder *folder,
			struct pf_err *err);
int path_ledger_read(struct path_ledger *l, path_follow *follow, void *context);

/* Where the walk over a thread stands. */
struct path_stand {
	struct pf_walk *walk; /* or NULL: it has not begun */
	uint32_t thread;
	uint32_t point; /* up to it edges have been taken in */
	uint32_t call;  /* the next to be looked at */
};

int path_stand_begin(struct path_stand *s, const struct path *p,
		     struct pf_db *db, struct pf_names *names, uint32_t thread);

/* Is told what runs on a thread, in order of time. */
struct path_pieces {
	int (*add)(void *context, const struct path_stand *s,
		   const struct pf_place *place, const struct pf_inner *inner,
		   int64_t from_ns, int64_t to_ns, struct pf_err *err);
	void *context;
};

/* The thread's own time up to a point; folder or pieces may be NULL. */
int path_fold_edge(const struct path *p, struct path_folder *folder,
		   struct path_stand *s, uint32_t point,
		   const struct path_pieces *pieces, struct pf_err *err);
/* That of all points before "end"; of the last of them the pieces are told. */
int path_fold_to(struct path_folder *folder, struct path_stand *s, uint32_t end,
		 const struct path_pieces *pieces);
/* The key of an operator, or PF_PATH_NONE. */
uint32_t path_ledger_key(const struct path_ledger *l, uint32_t op);

/* ---- replays ---- */

/* A question that is answered, with others beside it in one pass. */
struct path_lane {
	const struct path_change *change; /* NULL: nothing */
	/*
	 * Work of other streams that had ended before work began has ended
	 * before it begins then, too.
	 */
	bool is_pessimistic;
	int64_t ns;                  /* out */
	bool is_open;                /* of bounds: a cause is taken away */
	int64_t work_count, work_ns; /* of bounds: GPU work that it changes */
};

/* How long the window would take, of any number of questions. */
int path_answer(const struct path *p, const struct path_ledger *l,
		struct path_lane *lanes, size_t count);
/* The most that each can save: what it takes off the path; -1: not bounded. */
int path_bound(const struct path *p, const struct path_ledger *l,
	       struct path_lane *lanes, size_t count);

/* ---- questions ---- */
/* The questions that are known before the path is. */
int path_ask(struct path *p, struct path_changes *c);
int path_what_if(struct path *p, const struct path_rows *rows,
		 struct path_changes *c, const struct path_ledger *l);
