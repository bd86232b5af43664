/* SPDX-License-Identifier: MIT */
/*
 * What the allocation records of a trace say about memory, exact in bytes.
 *
 * A device's level is what is allocated on it: the total that a record says,
 * or, where records say none (before torch 1.10), the sum of all records so
 * far, which starts at 0 with the capture.  The level before the first record
 * is that record's total less its bytes.  The peak is the largest level in
 * the window, the one at its start included; the first of several.
 *
 * A free that says no size frees what was allocated at its address; of what the
 * capture did not see allocated the size is not known, nor then what the device
 * freed.  If such a free is the first record, levels begin with its total.
 *
 * Alive at the peak are the allocations, also those before the window, whose
 * address was not freed by then.  They and what was allocated before the
 * capture add up to the peak exactly.
 *
 * Memory grows with each step where, behind a warm-up of no more steps, what is
 * allocated at the end of each has grown by much the same, three times or more,
 * and at none has fallen.
 *
 * Tables: devices (peak, reserved, churn, what does not fit), alive, kept
 * (allocated in the window and not freed in it, by size), ops (columns of
 * TensorBoard's memory view), curve, oom, and events if asked for.
 *
 * Memory snapshots have records of the same kind, whose place is a call stack
 * instead of an op, and the final state of the allocator (analysis/memory/snap_state.h).
 * There, kept is what was never freed by stack, whatever the size.
 */
#pragma once

#include "base/mem.h"
#include "events/hints.h"
#include "events/names.h"
#include "events/window.h"
#include "analysis/memory/snap_state.h"
#include "store/db.h"
#include "show/doc.h"

struct pf_usage_where;
/* Told of the level after each record, also outside of the window. */
struct pf_level_sink {
	void (*level)(struct pf_level_sink *s, const struct pf_usage_where *at,
		      uint32_t device, int64_t at_ns, int64_t level,
		      int64_t reserved);
};

struct pf_usage_args {
	struct pf_window_args window;
	int64_t points; /* of the curve of each device, at most; 0: no curve */
	bool events;    /* a row for each allocation */
	int64_t stack;  /* this one alone, with all its lines; 0: none */
	bool no_sites;  /* how much, and not who */
	struct pf_level_sink *also; /* or NULL */
};

/* Of the memory: a peak above is close to where it runs out. */
#define PF_USAGE_EDGE 0.90

/* Enough for a picture. */
#define PF_USAGE_POINTS 1000

/* ---- what is found ---- */

/* Whose memory.  Numbers -1: not said. */
struct pf_usage_where {
	const char
		*device; /* "CPU", "GPU 0"; of several traces "rank 1 GPU 0" */
	int64_t device_type, device_number, rank, trace_id;
	bool is_untimed; /* what stands for times counts entries */
};

/* Who asked for it.  Texts NULL: there is none. */
struct pf_usage_site {
	const char *outer_op;
	const char *frame; /* the line, else the annotation */
	const char *op;    /* innermost */
	int64_t stack;     /* stack.id, of snapshots; or -1 */
};

/*
 * PF_NO_INT: not known.  Times are from the trace's first event.  Where there
 * are none (is_untimed) entries of the history are counted instead.
 */
struct pf_usage_device {
	struct pf_usage_where at;
	bool is_absolute;   /* records say totals: */
	int64_t level_peak; /* else from the capture's start on */
	int64_t peak, capacity, growth, peak_ns;
	int64_t peak_entry;    /* so many until the peak */
	double capacity_share; /* not a number: not known */
	/*
	 * Of allocators of XLA: the most that was allocated or reserved by
	 * programs, which then is peak_reserved, too; the peak since the
	 * process began; the largest fragmentation, or not a number.
	 */
	int64_t in_use, lifetime_peak;
	double fragmentation;
	int64_t peak_reserved, reserved_at_peak, unused_at_peak;
	int64_t unused, unused_ns; /* most reserved, not allocated */
	int64_t alive, alive_count, before, start_level, end_level;
	int64_t allocation_count, allocated, freed_count, freed;
	int64_t kept_count, kept;
	int64_t early_count, early; /* freed, allocated before */
	int64_t twice_count;        /* freed although it was */
	int64_t reused_count;       /* allocated although it was */
	int64_t jump_count, jump;   /* totals that do not continue */
	int64_t unsized_count;      /* of the frees, of unknown size */
	int64_t no_address_count, oom_count;
	/*
	 * The least that each of the last so many steps adds, of so many in
	 * all; and where most of it is allocated: what each adds there at least.
	 */
	int64_t step_growth, growing_steps, step_count;
	bool is_even; /* each adds as much */
	struct pf_usage_site grown_at;
	int64_t grown_there;
};

/* Blocks of one place together; of those kept of one size, too. */
struct pf_usage_group {
	struct pf_usage_where at;
	struct pf_usage_site site;
	int64_t bytes, count, size, largest, age_ns;
	double peak_share;
};

struct pf_usage_op {
	struct pf_usage_where at;
	const char *op;
	int64_t calls, self_count, self_bytes, self_increase;
	int64_t bytes, increase, count, self_freed_count, self_freed;
	int64_t stack; /* stack.id instead of an op, of snapshots; or -1 */
};

struct pf_usage_point {
	struct pf_usage_where at;
	int64_t time_ns, low, high, high_ns, last, reserved;
	int64_t entry; /* so many before it */
};

/* Bytes that were asked for in vain. */
struct pf_usage_oom {
	struct pf_usage_where at;
	struct pf_usage_site site;
	int64_t time_ns, bytes, allocated, reserved;
	/* Of snapshots; the rest follows: is what is free inside enough? */
	int64_t device_free, unused;
	const char *fragmented;
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_usage {
	struct pf_window window;
	struct pf_names *names; /* own texts, as: */
	struct pf_arena texts;
	struct pf_stack_lines lines;
	struct pf_snap_state snap;       /* of memory snapshots */
	struct pf_usage_device *devices; /* accelerators first */
	size_t device_count;
	struct pf_usage_group *alive; /* at the peak, the largest first */
	size_t alive_count;
	struct pf_usage_group *kept; /* not freed, the largest first */
	size_t kept_count;
	/*
	 * Each block of a GPU is a call to its runtime and none is recorded:
	 * how often, and the first calls' names.  NULL: that is not so.
	 */
	const char *alloc_call, *free_call;
	int64_t alloc_calls, free_calls;
	struct pf_usage_op *ops; /* the most bytes first */
	size_t op_count;
	struct pf_usage_oom *ooms;
	size_t oom_count, oom_cap;
	struct pf_usage_point *curve; /* by time, devices mixed */
	size_t point_count, point_cap;
	struct pf_table *events; /* or NULL; show gives it to the document */
	bool has_curve;
	enum pf_producer producer;
};

/* The accelerator whose peak is closest to its capacity; NULL: unknown. */
const struct pf_usage_device *pf_usage_fullest(const struct pf_usage *u);

/* The device whose memory grows most with each step, so that it matters, or NULL. */
const struct pf_usage_device *pf_usage_growing(const struct pf_usage *u);
/*
 * "Memory allocated on GPU 0 grows by 4 MiB with each of the last 5 steps. 98 %
 * of that is allocated by OP at LINE, and kept", in texts as shown, or NULL.
 */
void pf_usage_say_growth(const struct pf_usage_device *d, const char *op,
			 const char *line, struct pf_buf *out);

/* Of a snapshot, the first out-of-memory error whose cause is known, or NULL;
 * the finding tells it. */
const struct pf_usage_oom *pf_usage_told_oom(const struct pf_usage *u);

/* "1.2 ms into the capture", "after 3,698 entries of its history". */
#define PF_USAGE_WHEN_MAX 80
char *pf_usage_when(char *out, const struct pf_usage_device *d);

/* Events are put in "order" (NULL: all, as they end). */
int pf_usage_find(struct pf_db *db, const struct pf_usage_args *args,
		  const struct pf_order *order, struct pf_usage *out);
void pf_usage_release(struct pf_usage *usage);

/*
 * Both, and what of the trace is not to be trusted.  What was found stays in
 * "kept", or NULL.
 */
int pf_usage(struct pf_db *db, const struct pf_usage_args *args,
	     struct pf_usage *kept, struct pf_doc *doc);
