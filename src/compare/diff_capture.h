/* SPDX-License-Identifier: MIT */
/*
 * What one database says about its full steps, ready to be compared: the
 * time of steps by class, exact counts per step, GPU work by where it was
 * launched, host operators, idle time by cause, blocking calls by site and
 * memory.  Sums are integer ns over all full steps, and so are means, rounded
 * so that those of parts add up to that of the whole.
 *
 * A trace without profiler steps is one step.  What a host thread does and
 * launches belongs to the step on the host in which it began.  GPU work without
 * a launch call belongs to the step in which it ran.
 *
 * Memory grows with the number of steps, names and distinct keys only; past
 * PF_CAPTURE_ROWS_MAX keys the rest is one row "(other)", so that sums hold.
 */
#ifndef PF_ANALYSIS_DIFF_CAPTURE_H
#define PF_ANALYSIS_DIFF_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/advise/advise.h"
#include "analysis/time/steps.h"
#include "base/intern.h"
#include "events/ask.h"
#include "events/names.h"
#include "events/trust.h"
#include "events/window.h"
#include "analysis/path/path.h"
#include "base/buf.h"
#include "base/err.h"
#include "store/db.h"

#define PF_CAPTURE_ROWS_MAX 65536

/*
 * Sums are at most this (two years of ns), so that nothing that is worked out
 * of those of a few captures overflows.  A capture with more is refused.
 */
#define PF_CAPTURE_SUM_MAX  (INT64_C(1) << 56)
#define PF_CAPTURE_SIDE_MAX 64 /* captures of a side */

/*
 * The figures of a step, of which everything that compares captures has its
 * columns, lines and checks (pf_step_figures).  Of a capture they are sums over
 * its full steps, but for the two of its memory.  GPU work is of the step that
 * launched it, where steps.h counts it in the one in which it starts.
 */
enum pf_step_figure {
	PF_FIGURE_TIME, /* of the step */
	PF_FIGURE_BUSY, /* a GPU is, or none: */
	PF_FIGURE_IDLE,
	PF_FIGURE_PEAK, /* of one GPU in the whole capture; -1: unknown */
	PF_FIGURE_RESERVED,
	PF_FIGURE_COPIES, /* of all ways */
	PF_FIGURE_KERNELS,
	PF_FIGURE_COLLECTIVES, /* kernels of communication */
	PF_FIGURE_LAUNCHES,    /* calls that launch kernels or graphs */
	PF_FIGURE_GRAPHS,      /* of them, of graphs */
	PF_FIGURE_SYNCS,       /* blocking calls */
	PF_FIGURE_ALLOCATIONS, /* calls that allocate or free GPU memory */
	PF_FIGURE_TENSORS,     /* allocations that the profiler recorded */
	PF_FIGURE_HTOD,        /* copies in the order of enum pf_copy_way */
	PF_FIGURE_DTOH,
	PF_FIGURE_DTOD,
	PF_FIGURE_PTOP,
	PF_FIGURE_OTHER_COPIES,
	PF_FIGURE_HTOD_BYTES,
	PF_FIGURE_DTOH_BYTES,
	PF_FIGURE_DTOD_BYTES,
	PF_FIGURE_PTOP_BYTES,
	PF_FIGURE_OTHER_BYTES,
	PF_FIGURE_MEMSETS,
	PF_FIGURE_OPS,     /* operators */
	PF_FIGURE_CALLS,   /* calls of the runtime and the driver */
	PF_FIGURE_GPU_NS,  /* durations of all GPU work */
	PF_FIGURE_WORK_NS, /* of kernels */
	PF_FIGURE_CLASS,   /* of enum pf_step_class, one after the other */
	PF_FIGURES = PF_FIGURE_CLASS + PF_STEP_CLASSES
};

/* Of the durations of full steps, the percentile as in base/stats.h. */
struct pf_capture_times {
	int64_t p50_ns, min_ns, max_ns;
};

struct pf_capture_step {
	struct pf_step_time time;
	int64_t of[PF_FIGURES];
};

/* Where GPU work was launched from, and what it was; numbers of texts. */
struct pf_work_key {
	uint32_t path;   /* modules, annotations and ops from the root */
	uint32_t region; /* the path's modules and annotations */
	uint32_t module, annotation; /* the innermost, or "" */
	uint32_t op, shapes;         /* that launched it, its input shapes */
	uint32_t kernel;
	uint32_t role;  /* 0: on its device's main stream, else 1 */
	uint32_t class; /* enum pf_gpu_class */
	uint32_t kind;  /* enum pf_kind */
};

/*
 * What is summed by key.  Rows begin with their sums, and their key follows:
 * see pf_capture_row().
 */
struct pf_row_sums {
	int64_t count, ns; /* calls, launches or pieces, and their time */
	/*
	 * Of operators their own time, without those inside; of blocking calls
	 * the idle time of gaps that they drained.
	 */
	int64_t part_ns;
};

struct pf_work_row {
	struct pf_row_sums sum;
	struct pf_work_key key;
	uint64_t first; /* its place in the order of launches */
};

/* A host operator, annotation, call or Python function. */
struct pf_op_row {
	struct pf_row_sums sum;
	struct pf_op_key {
		/* Numbers of texts; of a function that is built in its caller. */
		uint32_t name, shapes;
		uint32_t kind; /* enum pf_kind */
	} key;
};

/* Idle time by cause and culprit, or blocking calls by site. */
struct pf_wait_row {
	struct pf_row_sums sum;
	struct pf_wait_key {
		uint32_t cause;           /* enum pf_cause */
		uint32_t name, op, frame; /* numbers of texts */
	} key;
};

/* A row of key_averages(): count, then times and memory (groups.h). */
#define PF_AVERAGE_VALUES 9
struct pf_average_row {
	uint32_t name; /* number of a text */
	bool is_device;
	int64_t value[PF_AVERAGE_VALUES];
};

/* What texts of a trace are shown as. */
struct pf_text_filter {
	/* Append it; called by several threads at once.  NULL: as they are. */
	void (*write)(const void *context, const char *s, size_t len,
		      struct pf_buf *out);
	const void *context;
};

/* A rule of advice; its sentences name nothing of the trace. */
struct pf_capture_advice {
	const char *id, *title;
	enum pf_advice_state state;
	/* Per step, and of its window; not given, or no bound: PF_NO_INT, NAN. */
	int64_t at_most_ns;
	double share;
	uint32_t reason; /* number of a text */
};

/* One, or a side of a comparison: the sums of several, and not their steps. */
struct pf_capture {
	char *path;
	struct pf_text_filter filter;             /* set before it is loaded */
	struct pf_intern texts;                   /* of a side: those of both */
	const struct pf_capture *const *captures; /* of a side, borrowed */
	size_t capture_count;
	struct pf_capture_step *each_step; /* by trace, then start */
	size_t step_count;
	int64_t steps; /* full ones */
	struct pf_capture_times time;
	bool is_too_large; /* a sum passed PF_CAPTURE_SUM_MAX */
	bool has_steps;    /* else the window is one */
	bool is_untimed;   /* there is not even that */
	int64_t of[PF_FIGURES];
	double busy_share;    /* of the window, as steps has it; -1: unknown */
	double between_share; /* of it, the time between steps */
	int64_t cause_ns[PF_CAUSE_COUNT];
	/* the same per step, in whole ns: parts add up to what they are of */
	int64_t mean[PF_FIGURES], cause_mean_ns[PF_CAUSE_COUNT];
	int64_t path_ns[PF_PATH_CATEGORIES]; /* of the critical path */
	int64_t path_window_ns, path_steps;  /* its window; 0: not asked for */
	struct pf_capture_advice advice[PF_ADVICE_MAX]; /* if asked for */
	size_t advice_count;
	int64_t device_count; /* that have work */
	int64_t gpu_events;   /* of the whole capture */
	/*
	 * Of them: launched before it began, pages of unified memory, and
	 * without a call otherwise.
	 */
	int64_t before_count, migrated_count, without_launch;
	int64_t outside_count; /* GPU events in no full step */
	struct pf_keyed work;  /* struct pf_work_row */
	/* struct pf_op_row; Python and steps only where no GPU works */
	struct pf_keyed ops;
	struct pf_keyed idle, sites;     /* struct pf_wait_row */
	struct pf_average_row *averages; /* by name; of the whole capture */
	size_t average_count;
	/* What can be compared: numbers of texts, "" unknown. */
	uint32_t device_name, hardware, platform, versions, options, xxh128;
	int64_t trace_count, world_size; /* -1: unknown */
	struct pf_trust_lost lost;
	struct pf_recorded recorded;
	bool has_shapes;
	bool has_code; /* ops has Python functions */
};

#define PF_STEP_ITSELF "(the step itself)"

enum pf_capture_want {
	PF_CAPTURE_STEPS = 0, /* always */
	PF_CAPTURE_WORK = 1,  /* work, ops, counts, memory */
	PF_CAPTURE_WAITS = 2, /* idle, sites */
	PF_CAPTURE_ALL = 3,
	PF_CAPTURE_AVERAGES = 4, /* key_averages(), beside these */
	PF_CAPTURE_PATH = 8,     /* the critical path */
	PF_CAPTURE_ADVICE = 16,  /* what to try */
};

/* What a figure is of: where that is not recorded a 0 says nothing. */
enum pf_figure_of {
	PF_OF_TIME, /* which is always known */
	PF_OF_CALLS,
	PF_OF_OPS,
	PF_OF_MEMORY,
	PF_OF_WORK, /* of GPUs */
};

/* What checks call it, "trend", and people; its unit: ns, bytes or a count. */
extern const struct pf_step_figure_words {
	const char *key, *column, *title;
	enum pf_col_kind kind;
	enum pf_figure_of of;
} pf_step_figures[PF_FIGURES];

/* Is it of the capture, and no sum over its steps? */
static inline bool pf_figure_is_peak(size_t figure)
{
	return figure == PF_FIGURE_PEAK || figure == PF_FIGURE_RESERVED;
}

/* A part of a sum that is refused if it is too large to be compared. */
static inline void pf_capture_add(struct pf_capture *c, int64_t *sum, int64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum) || *sum > PF_CAPTURE_SUM_MAX ||
	    *sum < -PF_CAPTURE_SUM_MAX)
		c->is_too_large = true;
}

static inline void pf_row_sums_add(struct pf_row_sums *to,
				   const struct pf_row_sums *from)
{
	to->count += from->count;
	to->ns += from->ns;
	to->part_ns += from->part_ns;
}

/* All sums are there. */
void pf_capture_find_means(struct pf_capture *c);

void pf_capture_rows_begin(struct pf_capture *c);
void pf_capture_rows_end(struct pf_capture *c);
/* The row with a key; a new one is zero else. */
static inline void *pf_capture_row(struct pf_keyed *rows, const void *key,
				   size_t key_bytes)
{
	size_t n = pf_keyed_at_text(rows, key, key_bytes);
	char *row = (char *)rows->rows + n * rows->width;

	memcpy(row + sizeof(struct pf_row_sums), key, key_bytes);
	return row;
}

/* A row; NULL of PF_NO_ROW. */
#define PF_NO_ROW UINT32_MAX
static inline const struct pf_work_row *pf_work_at(const struct pf_capture *c,
						   size_t i)
{
	return i == PF_NO_ROW ? NULL
			      : PF_KEYED_ROW(&c->work, struct pf_work_row, i);
}
static inline const struct pf_op_row *pf_op_at(const struct pf_capture *c,
					       size_t i)
{
	return i == PF_NO_ROW ? NULL
			      : PF_KEYED_ROW(&c->ops, struct pf_op_row, i);
}

/* Of a text that is made of such, or of no trace. */
static inline uint32_t pf_capture_own_text(struct pf_capture *c, const char *s)
{
	return pf_intern_add(&c->texts, s, strlen(s));
}

/* What to say of one without a full step, after its path. */
const char *pf_capture_no_step(const struct pf_capture *c);

/*
 * Load captures from databases, two at a time; a file that is given twice is
 * loaded once.  Each is called by its name (the trace that it was made of),
 * by its path if names is NULL.
 */
struct pf_captures {
	struct pf_text_filter filter; /* set before */
	struct pf_capture *own;
	const struct pf_capture **items;
	size_t count;
};
int pf_captures_load(const char *const *paths, char *const *names, size_t count,
		     const struct pf_window_args *window, unsigned want,
		     struct pf_captures *out, struct pf_err *err);
void pf_captures_release(struct pf_captures *c);

#endif
