/* SPDX-License-Identifier: MIT */
/*
 * The traces of a database that are looked at, each in a span of time; what
 * their tracks are, and reading these.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/event.h"
#include "store/block.h"
#include "store/cursor.h"
#include "store/db.h"

struct pf_window_args {
	const char *steps;      /* regex of ranges that are steps, or NULL */
	const char *step;       /* "3", "3..8", or NULL */
	int64_t skip_first;     /* steps of each trace */
	bool whole;             /* not only steps where that is the default */
	int64_t from_ns, to_ns; /* after the first event of a trace, or -1 */
	const char *rank;       /* "3", "0..7,64", or NULL */
	int64_t device;         /* or -1 */
	int64_t trace;          /* number of the only one, or -1 */
	int64_t cycle;          /* of the captures of each process, or 0 */
	/*
	 * Set by analyses of these: also snapshots and logs that are beside the
	 * traces of programs.  Without, they are left out unless named.
	 */
	bool beside;
};

#define PF_WINDOW_DEFAULTS                                                     \
	{                                                                      \
		.from_ns = -1, .to_ns = -1, .device = -1, .trace = -1          \
	}

/*
 * The next numbers of a list ("0..7,64") from *list on, which moves behind
 * them: 1, 0 at the end, -1 if there are none that can be read.
 */
int pf_window_range(const char **list, int64_t *first, int64_t *last);

/* Is it in such a list? */
bool pf_window_names_rank(const char *list, int64_t rank);

struct pf_window_trace {
	int64_t trace_id;
	int64_t rank; /* or -1 */
	bool is_side; /* a log, or rows: no time of a program */
	bool is_tpu;  /* its devices are TPUs */
	/* XLA's runtime: what one of its threads does not do, another may */
	bool is_pooled;
	bool is_empty; /* it has no event */
	/* The first trace of the same process: its captures are several. */
	int64_t worker_id;
	int64_t from_ns, to_ns; /* [from, to); all time if not restricted */
	int64_t first_ns;       /* of the trace's events */
	int64_t last_ns;
	int64_t program_ns; /* the first of a thread or device */
	/* What times are shares of, once pf_window_settle() was called. */
	int64_t lo_ns, hi_ns;
};

struct pf_window {
	struct pf_window_trace *traces; /* by trace_id; at least one */
	size_t count;
	int64_t device;     /* or -1 */
	bool is_restricted; /* in time */
	bool is_asked;      /* and somebody said so */
	bool is_whole;      /* steps do not restrict it */
	const char *steps;  /* of the arguments, borrowed; or NULL */
	int64_t tpu_count;  /* events of TPUs, which are no GPU work */
	bool is_tpu;        /* every program of it ran on TPUs alone */
	/* tables are in versions that are not known: what seems not to be there
	 * may be in these (events/trust.h names them) */
	bool has_unread;
	/* From the first step to the last, what part is in none of them? */
	double between_share;
	int64_t cut_count; /* last steps that are cut off and left out */
};

/*
 * The traces that are asked for, with all their time; PF_EDATA if there is none.
 * *w: zero, or what else is known of it.
 */
int pf_window_load(struct pf_db *db, const struct pf_window_args *args,
		   struct pf_window *w);
void pf_window_release(struct pf_window *w);

/* The trace of this number, or NULL if it is not in the window. */
const struct pf_window_trace *pf_window_find(const struct pf_window *w,
					     int64_t trace_id);

/* Cut a span to the window: false if nothing (or no instant) is left. */
static inline bool pf_window_cut(const struct pf_window_trace *t,
				 int64_t *start_ns, int64_t *end_ns)
{
	if (*start_ns >= t->to_ns ||
	    (*end_ns <= t->from_ns && *start_ns < t->from_ns))
		return false;
	PF_AT_LEAST(*start_ns, t->from_ns);
	PF_AT_MOST(*end_ns, t->to_ns);
	return true;
}

/*
 * Which events of a device's tracks are its work.  Of GPUs their kinds say it
 * (formats/event.h).  Of TPUs it is the operations of XLA, which a core runs one
 * after the other, some inside of others (a loop and what it repeats): the
 * device is busy while any of them runs.  Beside them stand what operations
 * have begun and others will wait for, while it is under way.
 *
 * Traces that have GPUs, too, are asked for these alone: numbers of both would
 * meet.
 */

enum pf_device_row {
	PF_WORK_NONE,
	PF_WORK_GPU,      /* a stream: work by the kinds of its events */
	PF_WORK_OPS,      /* the operations of a TPU */
	PF_WORK_FLIGHT,   /* what they have begun: keeps nothing busy */
	PF_WORK_PROGRAMS, /* the programs that they are of: their time again */
};

/* is_tpu: as the window says it of the track's trace. */
enum pf_device_row pf_work_row(const struct pf_track *track, bool is_tpu);

/* Of which number the device is, and the stream; -1: unknown. */
int64_t pf_work_device(const struct pf_track *track);
int64_t pf_work_stream(const struct pf_track *track);

/* Does the event keep its device busy? */
static inline bool pf_is_work(enum pf_device_row row, unsigned kind)
{
	return row == PF_WORK_GPU   ? pf_kind_is_gpu_work(kind)
	       : row == PF_WORK_OPS ? kind == PF_KIND_GPU_OTHER
				    : false;
}

/*
 * What the lines of a device of TensorFlow, JAX and torch_npu are.  Their
 * profilers (and what is made of an XSpace) have no categories: a process
 * "/device:GPU:0" or "Ascend Hardware" is a device, and its lines are streams,
 * or the same time again by step, module or operator.  formats/planes.h says
 * which.
 */

enum pf_device_line {
	PF_LINE_HOST = 0, /* no line of a device, or one without a name */
	PF_LINE_STREAM,   /* "Stream #7(Kernel)": GPU work */
	PF_LINE_DERIVED,  /* "XLA Modules": the time of others again */
	PF_LINE_OTHER,    /* of a TPU: what it runs, as no stream of a GPU */
	PF_LINE_THREAD,   /* of the process "/host:CPU": no device at all */
	PF_LINE_POOL,     /* such a thread, of the runtime's own */
	PF_LINE_STEPS,    /* "Steps": as derived, and its names are numbers */
	PF_LINE_TASKS,    /* a stream of an NPU: work by "Task Type" */
	PF_LINE_COLLECTIVES, /* of an NPU: communication */
	PF_LINE_CALLS,       /* of the process "CANN": calls of the host */
};

struct pf_device_place {
	enum pf_device_line line;
	char pid[24]; /* "0" of /device:GPU:0, "TPU 0" of /device:TPU:0 */
	char tid[24]; /* "7" of a stream; "": the name of the line */
};

struct pf_device_place pf_device_place(const char *process, const char *line);
/*
 * The same of torch_npu and msprof, whose streams have numbers alone and may
 * have no name: what a line of a process is.
 */
enum pf_device_line pf_device_npu_line(const char *process, const char *line);

/*
 * What a range on such a line is by its name and the text of its arguments
 * (JSON, whose values are texts).
 */
struct pf_device_event {
	unsigned kind; /* enum pf_kind: work on a stream, and never elsewhere */
	int64_t correlation; /* of a call or its work, or 0 */
	int64_t step;        /* that it is, or -1 */
	bool is_sure;        /* of an annotation: see pf_range_in() */
};
struct pf_device_event pf_device_event(enum pf_device_line line,
				       const char *name, size_t name_len,
				       const char *args, size_t args_len);

/*
 * The events of a thread, one after the other in the order of tracks: by
 * start, and of one start the longest first.  Who follows what is open on the
 * thread (events/nest.h), and what its events launched (events/gpu.h),
 * reads it so.
 */

struct pf_track_reader {
	/* Event "i" of the block, which has START, DUR, NAME and TYPE; or -1. */
	int (*event)(void *context, const struct pf_block *b, uint32_t i,
		     int64_t event_id);
	/* Asked before each block: is there more to do?  NULL: there is. */
	bool (*wants_more)(void *context, const struct pf_track *t);
	const struct pf_window_trace *within; /* what overlaps it; NULL: all */
	uint64_t columns;                     /* more of them: PF_COLBIT(...) */
};

int pf_track_read(struct pf_db *db, const struct pf_track *t,
		  const struct pf_track_reader *reader, void *context);

/* Each thread of the host of a trace, in the order of tracks, until it is -1. */
int pf_host_tracks(struct pf_db *db, int64_t trace_id,
		   int (*track)(void *context, const struct pf_track *t),
		   void *context);

/* ---- ranges of no thread ---- */

/*
 * Ranges that are no thread's: start/end ranges of NVTX and roctx, and paired
 * asynchronous events of Chrome traces (schema/load/async_ranges.sql says how).
 * They may begin on one thread and end on another, overlap and cross: none is
 * inside of another, and none has a time of its own.
 */
struct pf_async_range {
	uint32_t track_id; /* of its lane, no thread's */
	const char *name;  /* until the next one */
	int64_t start_ns, dur_ns;
};

struct pf_async {
	struct pf_db db;
	sqlite3_stmt *st;
	int64_t half_count; /* begins and ends without the other, so far */
};

/* Those of a trace, by lane and start.  Close it after an error, too. */
int pf_async_open(struct pf_async *a, struct pf_db *db, int64_t trace_id);
/* 1, 0 at the end, -1 on an error. */
int pf_async_next(struct pf_async *a, struct pf_async_range *out);
void pf_async_close(struct pf_async *a);
