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
 * --steps says what a step is (events/step.h), and restricts only what
 * holds for steps by default.  A step reaches from its start on the host to
 * the end of the last GPU work that was launched in it (events/step.h), so
 * that --step takes in the work of a step and not the work that a call of it
 * happened to see.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/opt.h"
#include "events/traces.h"
#include "store/db.h"
#include "show/doc.h"

/* Rows for a table of options; "field" is a struct pf_window_args of type. */
#define PF_WINDOW_OPT(word, arg, help, kind, at, min, max)                     \
	{                                                                      \
		0, word, arg, help, kind, at, min, max                         \
	}
#define PF_WINDOW_TIMES(type, from, to)                                        \
	PF_WINDOW_OPT("from", "TIME",                                          \
		      "only from this time after the first event on",          \
		      PF_OPT_NS, offsetof(type, from), 0, 0),                  \
		PF_WINDOW_OPT("to", "TIME",                                    \
			      "only up to this time after the first event",    \
			      PF_OPT_NS, offsetof(type, to), 0, 0)
#define PF_WINDOW_OPTS(type, field)                                            \
	PF_WINDOW_OPT("steps", "REGEX",                                        \
		      "steps are the host's ranges of such names, not "        \
		      "ProfilerStep#N",                                        \
		      PF_OPT_STRING, offsetof(type, field.steps), 0, 0),       \
		PF_WINDOW_OPT("step", "N|A..B", "only this step, or these",    \
			      PF_OPT_STRING, offsetof(type, field.step), 0,    \
			      0),                                              \
		PF_WINDOW_OPT("skip-first", "N",                               \
			      "leave out the first N steps of each trace",     \
			      PF_OPT_INT, offsetof(type, field.skip_first), 0, \
			      0),                                              \
		PF_WINDOW_OPT("whole-capture", NULL,                           \
			      "all of the capture, not only its steps",        \
			      PF_OPT_FLAG, offsetof(type, field.whole), 0, 0), \
		PF_WINDOW_TIMES(type, field.from_ns, field.to_ns),             \
		PF_WINDOW_OPT("rank", "LIST",                                  \
			      "only traces of these ranks: 3 or 0..7,64",      \
			      PF_OPT_STRING, offsetof(type, field.rank), 0,    \
			      0),                                              \
		PF_WINDOW_OPT("trace", "N",                                    \
			      "only this trace, as 'profan info' numbers "     \
			      "them",                                          \
			      PF_OPT_INT, offsetof(type, field.trace), 0, 0),  \
		PF_WINDOW_OPT("cycle", "N",                                    \
			      "only the Nth capture of each process, by its "  \
			      "file's name",                                   \
			      PF_OPT_INT, offsetof(type, field.cycle), 1,      \
			      1000000000),                                     \
		PF_WINDOW_OPT("device", "N", "only this GPU", PF_OPT_INT,      \
			      offsetof(type, field.device), 0, 0)

/* Append a window as options: " --step 5..10". */
void pf_window_options(const struct pf_window_args *w, struct pf_buf *out);

/* Is it a list of ranks, or NULL?  PF_EUSAGE if not. */
int pf_window_check_ranks(const char *list, struct pf_err *err);
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

/* Less than that between steps need not be said. */
#define PF_WINDOW_BETWEEN 0.01

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
 * As pf_window_load(), and then cut.  PF_EUSAGE if the options make no sense,
 * PF_EDATA if nothing is left: no such rank, no such step.
 */
int pf_window_resolve(struct pf_db *db, const struct pf_window_args *args,
		      struct pf_window *out);

/*
 * Set the span of each trace that its times are shares of: what was asked for,
 * within the trace; where all time was, from the first to the last GPU work of
 * any device; without such work from the first to the last operator or call of
 * the host, or what else bounds the time of its threads (pf_name_bounds()), as the
 * critical path counts; and all of the trace if there is none.
 */
int pf_window_settle(struct pf_db *db, struct pf_window *w);

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
		       int64_t *step_count, struct pf_steps *steps);
/*
 * Where the steps are those of the line of one GPU, and others have their own at
 * other times, restrict it to that GPU; pf_window_to_steps() does so, too.
 */
int pf_window_to_device(struct pf_db *db, struct pf_window *w);
/*
 * Restrict a trace to its steps, as that does: from the first to the last that
 * is whole.  Those that are cut off are counted.
 */
void pf_window_to_whole_steps(struct pf_window *w, struct pf_window_trace *t,
			      const struct pf_steps *steps);
/* "1 step at the end of its trace is cut off and left out"; nothing of 0. */
void pf_window_say_cut(int64_t count, struct pf_buf *out);
/* Set between_share: of the steps of these that are whole in the window. */
void pf_window_note_steps(struct pf_window *w, const struct pf_steps *steps);
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
		    struct pf_steps *out);
