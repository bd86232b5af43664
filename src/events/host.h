/* SPDX-License-Identifier: MIT */
/*
 * What the threads of one trace do, as spans of three classes in order of
 * time.  Within a thread, spans that lie in an earlier one of their class are
 * left out: unions stay the same, and there are far fewer.  Memory is one
 * block per thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "events/names.h"
#include "formats/event.h"
#include "store/db.h"

enum pf_host_class {
	PF_HOST_RUNTIME, /* calls of the runtime or the driver */
	PF_HOST_DATA,    /* enumerate(DataLoader)#..., enumerate(DataPipe)#...,
			    IteratorGetNext... of TensorFlow */
	PF_HOST_COMM,    /* communication of the host, or waiting for it */
	PF_HOST_CPU,     /* other operators and annotations; no ProfilerStep */
	PF_HOST_CLASSES
};

struct pf_host_span {
	int64_t start_ns, end_ns, track_id;
	enum pf_host_class class;
	bool is_sync, is_launch; /* a call that waits, or launches work, */
	bool is_kernel_launch;   /* which is kernels or a graph */
};

struct pf_track; /* events/traces.h */
struct pf_host;
/* Steps: the pattern of --steps, or NULL; its ranges are of no class. */
struct pf_host *pf_host_new(struct pf_db *db, int64_t trace_id,
			    const char *steps);
void pf_host_free(struct pf_host *h);
/* 1, 0 at the end, -1. */
int pf_host_next(struct pf_host *h, struct pf_host_span *out);

/*
 * Walking one host thread in order of time: what runs on it at an instant,
 * and which blocking calls it makes.  Memory is one block and the stack of
 * what is open.
 */

/* What holds an instant, or a piece of time; ids of strings or PF_ID_NONE. */
struct pf_place {
	uint32_t cause;    /* enum pf_cause */
	uint32_t name;     /* the op, call or range that is the cause */
	uint32_t op;       /* innermost op */
	uint32_t outer_op; /* outermost op */
	uint32_t frame;    /* user's Python function, else the innermost */
	uint32_t note;     /* annotation, where there are no stacks */
};

struct pf_block_call {
	int64_t event_id, start_ns, end_ns;
	struct pf_place place; /* name: the call */
	bool is_stream_wait;   /* a stream waits, not the host */
	bool is_first_use;     /* it may wait, but most of it is that */
};

/*
 * Ids of the calls whose copies are from or to pageable memory, or whose fills
 * are of memory that the host sees (pinned, managed), ascending.
 */
struct pf_pageable {
	int64_t *ids;
	size_t count;
};
/* Read once, and the database's until it is closed; NULL on error. */
const struct pf_pageable *pf_pageable(struct pf_db *db);

/*
 * Ids of the calls that start the driver or load code, ascending: of their name
 * one of the first, or the first to launch a kernel, and so much longer than the
 * others as nothing else makes them while the GPU has little to do.  And of the
 * operators whose own time is such.
 */
struct pf_first_uses {
	int64_t *ids;
	size_t count;
};
#define PF_FIRST_LEAST_NS 100000 /* none is shorter */
/* The same.  Of who asks for calls alone operators may be left out, or not. */
const struct pf_first_uses *pf_first_uses(struct pf_db *db, bool with_ops);
bool pf_is_first_use(const struct pf_first_uses *f, int64_t event_id);

/* What a call of the runtime or the driver does. */
struct pf_call_way {
	bool is_blocking; /* by its name, or by its memory */
	bool is_first_use;
	uint8_t cause; /* enum pf_cause of its time */
};
struct pf_call_way pf_call_way(const struct pf_pageable *pageable,
			       const struct pf_first_uses *firsts,
			       const struct pf_name_class *class,
			       int64_t event_id);

/* The innermost range at an instant itself. */
struct pf_inner {
	uint32_t seq;
	uint32_t op_seq; /* of the innermost operator or range; UINT32_MAX */
	uint32_t name;   /* PF_ID_NONE: nothing is open */
	uint32_t module; /* the innermost call of nn.Module, or PF_ID_NONE */
	uint8_t kind;    /* enum pf_kind */
	bool is_in_data; /* it is or is inside of one that loads data */
	bool waits;      /* a call that may wait for GPU work */
};

/*
 * What the driver and the profiler did while the threads of a trace were in
 * something else, as overhead records say, which Kineto puts on no thread: in
 * order, without overlap.
 */
struct pf_overheads {
	struct pf_overhead {
		int64_t start_ns, end_ns;
		uint32_t name;
		uint32_t cause;
	} * items;
	size_t count, cap;
};

/*
 * Those of a trace, which has the tracks; and the time in which managed memory
 * is paged back to the host.
 */
int pf_overheads_load(struct pf_overheads *o, struct pf_db *db,
		      struct pf_names *names, int64_t trace_id,
		      const struct pf_track *tracks, size_t count);
void pf_overheads_release(struct pf_overheads *o);

/* May one of them go on in [from, to)?  Most traces have none, or a few. */
static inline bool pf_overheads_any(const struct pf_overheads *o,
				    int64_t from_ns, int64_t to_ns)
{
	return o->count && to_ns > o->items[0].start_ns &&
	       from_ns < o->items[o->count - 1].end_ns;
}

/*
 * Where the first part of host time [from, to) ends, in which one of them goes
 * on or none does.  It is the place then, unless what the thread was in says
 * more: *place has another cause.
 */
int64_t pf_overheads_part(const struct pf_overheads *o, int64_t from_ns,
			  int64_t to_ns, struct pf_place *place);

struct pf_walk;
struct pf_walk *pf_walk_new(struct pf_db *db, struct pf_names *names,
			    const struct pf_pageable *pageable,
			    uint32_t track_id);
void pf_walk_free(struct pf_walk *w);
PF_FREED(pf_walk_free, struct pf_walk)

/* Take in every event that starts at or before "at_ns". */
int pf_walk_to(struct pf_walk *w, int64_t at_ns, struct pf_err *err);

/* Has the event been taken in? */
bool pf_walk_is_past(const struct pf_walk *w, uint32_t seq);

/* Is the event, which was taken in, still open then?  Its place and end. */
bool pf_walk_is_open(const struct pf_walk *w, uint32_t seq, int64_t at_ns,
		     struct pf_place *out, int64_t *end_ns);

/*
 * The next piece of time from at_ns on in which the place does not change:
 * up to *end_ns, at most to the start of event stop_seq or limit_ns.  1, or 0
 * (and *end_ns is at_ns) when there is none left; then *out is the place of
 * stop_seq itself.  Call pf_walk_to(at_ns) before the first.
 */
int pf_walk_piece(struct pf_walk *w, int64_t at_ns, uint32_t stop_seq,
		  int64_t limit_ns, struct pf_place *out, int64_t *end_ns,
		  struct pf_err *err);

/*
 * Does the thread say what goes on, at the piece that pf_walk_piece() gave last?
 * Not in a step alone, nor asleep until another thread wakes it.  1, 0 or -1.
 */
int pf_walk_says(const struct pf_walk *w, const struct pf_place *place);

/*
 * The threads of a trace whose runtime passes work on among them, those with
 * most events first: where one of them says nothing, another may.
 */
struct pf_others;
/* NULL on error. */
struct pf_others *pf_others_new(struct pf_db *db, struct pf_names *names,
				const struct pf_track *tracks, size_t count);
void pf_others_free(struct pf_others *o);
/*
 * The next piece of time from at_ns on, which never goes back, of the first of
 * them that is in something (no step) and not asleep: its walk, whose place is
 * *out; or NULL, and *out stays.  Where each is asleep, of the first that is so
 * in an operator: the place is that.  Who waits for the runtime's threads does
 * not for what others do in Python (no_python).  -1 on error.
 */
int pf_others_piece(struct pf_others *o, bool no_python, int64_t at_ns,
		    int64_t limit_ns, const struct pf_walk **of,
		    struct pf_place *out, int64_t *end_ns, struct pf_err *err);

uint32_t pf_walk_track(const struct pf_walk *w);

/* Of the piece that pf_walk_piece() gave last; until the walk goes on. */
const struct pf_inner *pf_walk_inner(const struct pf_walk *w);

/*
 * The operators, functions of the user's and ranges that are open, outermost
 * first, steps apart: at most max names; how many there are.
 */
size_t pf_walk_open(const struct pf_walk *w, uint32_t *names, size_t max);

/*
 * What is open at place i from outermost 0; NULL: no more is.  While one stays
 * at its place nothing below it changes.
 */
const struct pf_inner *pf_walk_at(const struct pf_walk *w, size_t i);

/* Where the event ends at whose start pf_walk_piece() had none left. */
int64_t pf_walk_stop_end(const struct pf_walk *w);

/*
 * The place of a call that launched a graph and was taken in: false if it is
 * none, or not one of the last that were.
 */
bool pf_walk_graph(const struct pf_walk *w, uint32_t seq, struct pf_place *out);

/*
 * Of the calls between two events that made a stream wait, and were taken in:
 * *out is set to the place of the last one, if it is among the last at all.
 */
bool pf_walk_stream_wait(const struct pf_walk *w, uint32_t after_seq,
			 uint32_t before_seq, struct pf_place *out);

/* The last blocking call that began; end_ns INT64_MIN if there was none. */
const struct pf_block_call *pf_walk_last_block(const struct pf_walk *w);

/*
 * Walk on to the next call that makes host or stream wait, or would but for
 * being a first use: 1, 0 at the end.
 */
int pf_walk_next_call(struct pf_walk *w, struct pf_block_call *out,
		      struct pf_err *err);

/* ---- launches into graphs ---- */

struct pf_window; /* events/window.h */

/*
 * Launches that are recorded into graphs in a window: they have no work of
 * their own.  Threads are read for it only where a call begins a capture.
 */
int pf_captured_find(struct pf_db *db, const struct pf_window *window,
		     struct pf_names *names, int64_t *count);

/*
 * Where they are more than what worked: "5 launches are recorded into graphs and
 * run when these are replayed. ".  False: it says nothing.
 */
bool pf_captured_say(int64_t captured_count, int64_t work_count,
		     struct pf_buf *out);
