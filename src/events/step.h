/* SPDX-License-Identifier: MIT */
/*
 * The profiler steps of a trace: ProfilerStep#N on the thread that has most of
 * them, or ranges of other names (below), each extended to the
 * end of the last GPU work launched in it.
 *
 * start = the larger of the step's start on the host and the end of the step
 * before; end = the larger of its end on the host and the end of the last GPU
 * work whose launch call lies entirely in it.  So steps never overlap.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "store/db.h"

struct pf_step {
	int64_t trace_id, step;
	int64_t track_id; /* its thread; 0: it is none's */
	int64_t host_start_ns, host_end_ns;
	int64_t start_ns, end_ns; /* extended */
	int64_t gpu_count;        /* GPU events launched in it */
	/*
	 * The last step of a trace with GPU work, if it has none or less than
	 * 0.8 times that of the step before: the capture ended within it.
	 */
	bool is_partial;
	/*
	 * It holds nothing of what the trace records: no operator begins in it,
	 * no GPU work was launched in it, and it lasts less than 1/100 of the
	 * median of the others.  prof.step() before the end of a capture begins
	 * such a one, at any place if a trace has several captures.  Then it is
	 * partial, too.  Who asks for it by its number, or for ranges of other
	 * names, gets it.
	 */
	bool is_empty;
};

struct pf_steps {
	struct pf_step *items; /* by trace_id, then start */
	size_t count;
};

/*
 * Regex NULL: ProfilerStep#N; *out may then be empty.  PF_EDATA if a regex
 * matches nothing, PF_EUSAGE if it is wrong.  After a failure *out is empty.
 */
int pf_steps_load(struct pf_db *db, const char *regex, struct pf_steps *out);
void pf_steps_release(struct pf_steps *steps);

/*
 * How many profiler steps say how long the profiler was on and not what a step
 * takes (schema/load/steps_alone.sql); 0 also after an error.
 */
int64_t pf_steps_alone(struct pf_db *db);

/*
 * The first step of a trace, or the number of steps: those of a trace are one
 * after the other, and of many traces each looks at its own alone.
 *
 *	for (i = pf_steps_first(s, id); pf_steps_is_of(s, i, id); i++)
 */
size_t pf_steps_first(const struct pf_steps *steps, int64_t trace_id);

static inline bool pf_steps_is_of(const struct pf_steps *steps, size_t i,
				  int64_t trace_id)
{
	return i < steps->count && steps->items[i].trace_id == trace_id;
}

/* The step on the host in which an instant lies, or the number of steps. */
size_t pf_steps_at(const struct pf_steps *steps, int64_t trace_id,
		   int64_t at_ns);

/*
 * "From its begin on the host to its end the step takes 51 ms", where that is a
 * twentieth longer than from the end of the step before: the host runs ahead
 * there, and what decides when it ends may lie before that.  Else nothing.
 */
void pf_step_say_ahead(int64_t count, int64_t ahead_ns, int64_t whole_ns,
		       struct pf_buf *out);

/*
 * Steps that are no ProfilerStep#N: ranges of the host whose name matches a
 * POSIX extended regular expression (--steps), as Lightning, Megatron, JAX and
 * others mark them.
 *
 * Per trace, the thread with most of them counts, or the lane of ranges that are
 * no thread's (traces.h) where that has more; and of ranges within each other, or
 * across, the first.  The number of a step is the one that its name ends in
 * ("train 7" is 7), if all do and the numbers ascend; else steps are counted
 * from 0.
 *
 * Neither patterns nor names are trusted: patterns have at most 256
 * characters, no back-references and repeat at most 1000 times in all (what
 * glibc's matcher does in linear time and small memory); of a name the first
 * 1024 bytes count, up to a NUL; at most 2^20 ranges may match.
 */

struct pf_step_regex;
/* PF_EUSAGE and NULL if the pattern is wrong or past a limit. */
struct pf_step_regex *pf_step_regex_new(const char *pattern,
					struct pf_err *err);
void pf_step_regex_free(struct pf_step_regex *r);
PF_FREED(pf_step_regex_free, struct pf_step_regex)
bool pf_step_regex_matches(const struct pf_step_regex *r, const char *name,
			   size_t len);
/* string.id of each name that matches -> the number it ends in + 1, or 0. */
int pf_step_regex_ids(const struct pf_step_regex *r, struct pf_db *db,
		      struct pf_map *ids);
