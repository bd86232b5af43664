/* SPDX-License-Identifier: MIT */
/*
 * The options that restrict every analysis in the same way, and what they
 * come to: a span of time of each trace, and a device.
 *
 *	struct gaps_args { struct pf_window_args window; int64_t limit; };
 *	static const struct gaps_args defaults = { PF_WINDOW_DEFAULTS, 20 };
 *	static const struct pf_opt opts[] = {
 *		PF_WINDOW_OPTS(struct gaps_args, window),
 *		...
 *
 * --steps says what a step is (events/step_names.h), and restricts only what
 * holds for steps by default.  A step reaches from its start on the host to
 * the end of the last GPU work that was launched in it (events/step.h), so
 * that --step takes in the work of a step and not the work that a call of it
 * happened to see.
 */
#ifndef PF_ANALYSIS_WINDOW_H
#define PF_ANALYSIS_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/opt.h"
#include "store/db.h"
#include "show/doc.h"

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

/* Rows for a table of options; "field" is a struct pf_window_args of type. */
#define PF_WINDOW_OPTS(type, field)                                             \
	{ 0,                                                                    \
	  "steps",                                                              \
	  "REGEX",                                                              \
	  "steps are the host's ranges of such names, not ProfilerStep#N",      \
	  PF_OPT_STRING,                                                        \
	  offsetof(type, field.steps),                                          \
	  0,                                                                    \
	  0 },                                                                  \
		{ 0,                                                            \
		  "step",                                                       \
		  "N|A..B",                                                     \
		  "only this step, or these",                                   \
		  PF_OPT_STRING,                                                \
		  offsetof(type, field.step),                                   \
		  0,                                                            \
		  0 },                                                          \
		{ 0,          "skip-first",                                     \
		  "N",        "leave out the first N steps of each trace",      \
		  PF_OPT_INT, offsetof(type, field.skip_first),                 \
		  0,          0 },                                              \
		{ 0,           "whole-capture",                                 \
		  NULL,        "all of the capture, not only its steps",        \
		  PF_OPT_FLAG, offsetof(type, field.whole),                     \
		  0,           0 },                                             \
		{ 0,         "from",                                            \
		  "TIME",    "only from this time after the first event on",    \
		  PF_OPT_NS, offsetof(type, field.from_ns),                     \
		  0,         0 },                                               \
		{ 0,         "to",                                              \
		  "TIME",    "only up to this time after the first event",      \
		  PF_OPT_NS, offsetof(type, field.to_ns),                       \
		  0,         0 },                                               \
		{ 0,                                                            \
		  "rank",                                                       \
		  "LIST",                                                       \
		  "only traces of these ranks: 3 or 0..7,64",                   \
		  PF_OPT_STRING,                                                \
		  offsetof(type, field.rank),                                   \
		  0,                                                            \
		  0 },                                                          \
		{ 0,          "trace",                                          \
		  "N",        "only this trace, as 'profan info' numbers them", \
		  PF_OPT_INT, offsetof(type, field.trace),                      \
		  0,          0 },                                              \
		{ 0,                                                            \
		  "cycle",                                                      \
		  "N",                                                          \
		  "only the Nth capture of each process, by its file's name",   \
		  PF_OPT_INT,                                                   \
		  offsetof(type, field.cycle),                                  \
		  1,                                                            \
		  1000000000 },                                                 \
	{                                                                       \
		0, "device", "N", "only this GPU", PF_OPT_INT,                  \
			offsetof(type, field.device), 0, 0                      \
	}

/* Append a window as options: " --step 5..10". */
void pf_window_options(const struct pf_window_args *w, struct pf_buf *out);

/*
 * The next numbers of a list ("0..7,64") from *list on, which moves behind
 * them: 1, 0 at the end, -1 if there are none that can be read.
 */
int pf_window_range(const char **list, int64_t *first, int64_t *last);

/* Is it a list of ranks, or NULL?  PF_EUSAGE if not. */
int pf_window_check_ranks(const char *list, struct pf_err *err);
bool pf_window_names_rank(const char *list, int64_t rank);

struct pf_window_trace {
	int64_t trace_id;
	int64_t rank;  /* or -1 */
	bool is_side;  /* a log, or rows: no time of a program */
	bool is_tpu;   /* its devices are TPUs (events/device_work.h) */
	bool is_empty; /* it has no event */
	/* The first trace of the same process: its captures are several. */
	int64_t worker_id;
	int64_t from_ns, to_ns; /* [from, to); all time if not restricted */
	int64_t first_ns;       /* of the trace's events */
	int64_t last_ns;
	/* What times are shares of, once pf_window_settle() was called. */
	int64_t lo_ns, hi_ns;
};

/*
 * The GPUs that work was seen on.  Traces of one process are captures of the
 * same GPUs; of others nothing is known, and their GPUs are others.
 */
struct pf_gpu_set {
	struct pf_gpu_id {
		int64_t worker_id, device;
	} * items; /* in order of both */
	size_t count, cap;
};
void pf_gpu_set_add(struct pf_gpu_set *set, const struct pf_window_trace *trace,
		    int64_t device);
void pf_gpu_set_release(struct pf_gpu_set *set);

struct pf_window {
	struct pf_window_trace *traces; /* by trace_id; at least one */
	size_t count;
	int64_t device;     /* or -1 */
	bool is_restricted; /* in time */
	bool is_whole;      /* steps do not restrict it */
	const char *steps;  /* of the arguments, borrowed; or NULL */
	int64_t tpu_count;  /* events of TPUs, which are no GPU work */
	bool is_tpu;        /* every program of it ran on TPUs alone */
	/* tables are in versions that are not known: what seems not to be there
	 * may be in these (pf_trust_versions() names them) */
	bool has_unread;
	/* From the first step to the last, what part is in none of them? */
	double between_share;
};

/* Less than that between steps need not be said. */
#define PF_WINDOW_BETWEEN 0.01

/* The trace of this number, or NULL if it is not in the window. */
const struct pf_window_trace *pf_window_find(const struct pf_window *w,
					     int64_t trace_id);

/*
 * How a sentence begins where there is no GPU work: "There is no GPU work", or
 * what there is of another device.
 */
const char *pf_window_no_work(const struct pf_window *w);

/*
 * "GPU", or "TPU" where that is what all devices are; and a title that says
 * "GPU" in the words of the window.
 */
const char *pf_window_device(const struct pf_window *w);
const char *pf_window_title(const struct pf_window *w, const char *title);

/* Are there traces of more than one process? */
bool pf_window_has_processes(const struct pf_window *w);

/* Has every trace a rank, and no two the same?  Else its number names it. */
bool pf_window_has_ranks(const struct pf_window *w);

/*
 * PF_ROWS() of rows of traces: of several, the field that tells them apart is
 * shown in every format, "rank" or "trace_id", which are PF_FULL otherwise.
 * Titles are those of pf_window_title().
 */
#define PF_WINDOW_ROWS(w, doc, name, title, fields, rows, row_count)           \
	pf_window_rows(w, doc, name, title, PF_FIELDS(fields), rows,           \
		       row_count, sizeof(*(rows)))
/* PF_SCALARS() with such titles. */
#define PF_WINDOW_SCALARS(w, doc, fields, row)                                 \
	pf_window_put(w, doc, PF_FIELDS(fields), &(row), sizeof(row))
struct pf_field;
void pf_window_put(const struct pf_window *w, struct pf_doc *doc,
		   const struct pf_field *fields, size_t count, const void *row,
		   size_t row_bytes);
struct pf_table *pf_window_rows(const struct pf_window *w, struct pf_doc *doc,
				const char *name, const char *title,
				const struct pf_field *fields, size_t count,
				const void *rows, size_t row_count,
				size_t row_bytes);

/*
 * PF_EUSAGE if the options make no sense, PF_EDATA if nothing is left: no
 * such rank, no such step.
 */
int pf_window_resolve(struct pf_db *db, const struct pf_window_args *args,
		      struct pf_window *out, struct pf_err *err);

/*
 * Set the span of each trace that its times are shares of: what was asked for,
 * within the trace; where all time was, from the first to the last GPU work of
 * any device, and all of the trace if there is no such work.
 */
int pf_window_settle(struct pf_db *db, struct pf_window *w, struct pf_err *err);

/*
 * The one window of all commands that speak of busy and idle GPUs.  Where time
 * is not restricted, restrict it to the profiler steps of each trace (less a
 * partial last one; a trace that has none stays as it is), and settle it.
 * *step_count: the steps from its start to its end; 0 if it begins or ends
 * with other time.  *steps, if it is not NULL: all steps there are, which the
 * caller releases.
 */
struct pf_steps;
int pf_window_to_steps(struct pf_db *db, struct pf_window *w,
		       int64_t *step_count, struct pf_steps *steps,
		       struct pf_err *err);
/* Set between_share: of the steps of these that are whole in the window. */
void pf_window_note_steps(struct pf_window *w, const struct pf_steps *steps);
void pf_window_release(struct pf_window *w);

/*
 * " in the capture" if that is what a sentence speaks of, where others speak
 * of the steps; "" where what is meant was asked for.
 */
const char *pf_window_scope(const struct pf_window *w);

/*
 * "12.00 % of 6 steps (1 ms of 8 ms)", or "of 6 steps and the time between
 * them (...)", as sentences name a window and a part of it; of other time than
 * steps (step_count 0) "12.00 % of 8 ms".
 */
void pf_window_say_part(const struct pf_window *w, struct pf_buf *out,
			int64_t part_ns, int64_t window_ns, int64_t step_count);

/* The steps of all traces: profiler steps, or those that --steps names. */
struct pf_steps;
int pf_window_steps(struct pf_db *db, const struct pf_window *w,
		    struct pf_steps *out, struct pf_err *err);

/* Cut a span to the window: false if nothing (or no instant) is left. */
static inline bool pf_window_cut(const struct pf_window_trace *t,
				 int64_t *start_ns, int64_t *end_ns)
{
	if (*start_ns >= t->to_ns ||
	    (*end_ns <= t->from_ns && *start_ns < t->from_ns))
		return false;
	if (*start_ns < t->from_ns)
		*start_ns = t->from_ns;
	if (*end_ns > t->to_ns)
		*end_ns = t->to_ns;
	return true;
}

#endif
