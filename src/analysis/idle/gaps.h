/* SPDX-License-Identifier: MIT */
/*
 * Where the idle time of GPUs comes from: totals by cause, the ops, calls and
 * lines that hold them, the longest gaps, lengths of gaps, and devices.  The
 * causes add up to the idle time exactly.
 */
#pragma once

#include "base/mem.h"
#include "events/names.h"
#include "events/trust.h"
#include "events/host.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

/*
 * The gaps of every device and what explains them, one after another: a gap
 * is a longest span of time, inside the window, in which no work runs on any
 * stream of a device.  Without a window it is the time between the first
 * start and the last end of work; a restricted window counts up to its edges.
 *
 * Each gap is given piece by piece; the pieces add up to the gap exactly.
 * Nothing is kept but one walk per device and thread.
 */

struct pf_gap {
	const struct pf_window_trace *trace;
	int64_t device; /* or -1 */
	int64_t start_ns, end_ns;
	uint32_t before, after; /* names of work, or PF_ID_NONE */
	bool is_inside_call;    /* between works of one call */
	/* The call by which the first work of a stream waits, or PF_ID_NONE. */
	uint32_t stream_wait;
	/* The call that let the GPU run dry; end_ns INT64_MIN if none did. */
	struct pf_block_call drained;
};

struct pf_gap_device {
	const struct pf_window_trace *trace;
	int64_t trace_id, rank, device; /* the last two -1: unknown */
	int64_t window_ns, busy_ns, idle_ns;
	double idle_share;         /* of the window */
	int64_t first_ns, last_ns; /* of work inside the window */
	int64_t gap_count, event_count;
	int64_t work_ns;                   /* sum of durations */
	int64_t outside_count, outside_ns; /* work that the window leaves out */
	bool is_unexplained; /* one behind PF_GAPS_DEVICES of its trace */
};

/*
 * For each device the host's threads are walked anew.  No host has so many:
 * gaps of more of them are time without records, which a note says.
 */
#define PF_GAPS_DEVICES 1024

/* Callbacks; each may be NULL.  A gap's pieces come before the gap. */
struct pf_gap_sink {
	void (*piece)(struct pf_gap_sink *s, const struct pf_gap *gap,
		      const struct pf_place *place, int64_t ns);
	void (*gap)(struct pf_gap_sink *s, const struct pf_gap *gap);
	void (*device)(struct pf_gap_sink *s, const struct pf_gap_device *d);
	/* Of a piece of host time: what was open, outermost first. */
	void (*inside)(struct pf_gap_sink *s, const uint32_t *names,
		       size_t count, int64_t ns);
};

/* Gaps shorter than micro_ns are one piece each. */
int pf_gap_find(struct pf_db *db, const struct pf_window *window,
		struct pf_names *names, const struct pf_pageable *pageable,
		int64_t micro_ns, struct pf_gap_sink *sink);

struct pf_gaps_args {
	struct pf_window_args window;
	int64_t limit;            /* how many of the longest gaps; -1: all */
	int64_t micro_ns;         /* shorter gaps are not explained */
	bool per_stream;          /* idle time of each stream, too */
	bool hta;                 /* and HTA's breakdown of it */
	struct pf_gap_sink *also; /* is told of every gap, too; or NULL */
};

#define PF_GAPS_MICRO_NS     5000
#define PF_GAPS_LAUNCHING_NS 1000000

/* ---- what is found ---- */

/* Count: gaps in which it has a part; longest: its largest part of one. */
struct pf_gap_cause {
	enum pf_cause cause;
	const char *name;
	int64_t ns, count, longest_ns;
	int64_t recoverable_ns;          /* 0 where there may be no cause */
	double idle_share, window_share; /* of all idle time, of all time */
};

/* An op, call or line that holds idle time.  Texts NULL: there is none. */
struct pf_gap_culprit {
	struct pf_place place;
	const char *cause, *name, *op;
	const char *short_name; /* the name, short if it is a kernel's */
	const char *frame;      /* the line, else the annotation */
	int64_t ns, count, longest_ns;
	double idle_share;
};

struct pf_gap_item {
	int64_t trace_id, rank, device; /* the last two -1: unknown */
	int64_t start_ns;               /* from the trace's first event */
	int64_t ns, cause_ns;           /* of it, of the main cause */
	const char *cause, *culprit, *frame;
	const char *drained_by;     /* the call that let the GPU run dry */
	const char *before, *after; /* names of work */
	const char *short_culprit, *short_before, *short_after;
};

/* Gaps of from_ns up to below_ns (-1: of any length). */
struct pf_gap_length {
	int64_t from_ns, below_ns, count, ns;
	double idle_share;
};
#define PF_GAP_LENGTHS 10

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_gaps {
	struct pf_window window;
	struct pf_names *names;   /* own the texts */
	struct pf_arena texts;    /* and these the short ones */
	struct pf_gap_device all; /* summed over devices */
	struct pf_gap_device *devices;
	size_t device_count;      /* one in several traces: several times */
	size_t unexplained_count; /* of them */
	struct pf_gpu_set gpus;   /* each once */
	struct pf_gap_cause causes[PF_CAUSE_COUNT]; /* the largest first */
	size_t cause_count;
	struct pf_gap_culprit *culprits; /* the largest first */
	size_t culprit_count;
	struct pf_gap_item *gaps; /* the longest, these first */
	size_t gap_count;
	struct pf_gap_length lengths[PF_GAP_LENGTHS]; /* those with gaps */
	size_t length_count;
	int64_t drained_count, drained_ns; /* gaps after a blocking call */
	struct pf_recorded recorded;       /* by pf_gaps() */
	struct pf_gap_culprit drain; /* the call that explains most of that */
	/*
	 * The host got on with launching, and not fast enough: launch calls,
	 * and in gaps of up to PF_GAPS_LAUNCHING_NS that no waiting call began
	 * operators and calls on the CPU.  In longer gaps it did other things.
	 */
	int64_t launching_ns;
	/* Holds half of the idle time or more, the innermost; name NULL: none. */
	struct pf_gap_inside {
		const char *name;
		int64_t ns;
		double idle_share;
	} inside;
	int64_t step_count; /* that make up the window, or 0 */
	int64_t micro_ns;   /* shorter gaps are not explained */
	bool is_default;    /* the window was not asked for */
	/*
	 * Most of the window may be one gap near its start in which queued work
	 * waited for what was not recorded.  0: it did not.
	 */
	int64_t head_wait_ns, head_wait_end_ns; /* from the first event */
	const char *head_wait_call; /* says that it waits; or NULL */
	int64_t captured_count;     /* launches into graphs: have no work */
	struct pf_gaps *before;     /* the first GPU work: that time, or NULL */
	int64_t lead_ns; /* of the first pieces, before the program begins */
};

int pf_gaps_find(struct pf_db *db, const struct pf_gaps_args *args,
		 struct pf_gaps *out);
void pf_gaps_release(struct pf_gaps *gaps);

/*
 * Both, idle time of streams, and what of the trace is not to be trusted.
 * What was found stays in "kept", or NULL.
 */
int pf_gaps(struct pf_db *db, const struct pf_gaps_args *args,
	    struct pf_gaps *kept, struct pf_doc *doc);
