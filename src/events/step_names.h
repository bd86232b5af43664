/* SPDX-License-Identifier: MIT */
/*
 * Steps that are no ProfilerStep#N: ranges of the host whose name matches a
 * POSIX extended regular expression (--steps), as Lightning, Megatron, JAX and
 * others mark them.
 *
 * Per trace, the thread with most of them counts, or the lane of ranges that are
 * no thread's (track_read.h) where that has more; and of ranges within each other, or
 * across, the first.  The number of a step is the one that its name ends in
 * ("train 7" is 7), if all do and the numbers ascend; else steps are counted
 * from 0.
 *
 * Neither patterns nor names are trusted: patterns have at most 256
 * characters, no back-references and repeat at most 1000 times in all (what
 * glibc's matcher does in linear time and small memory); of a name the first
 * 1024 bytes count, up to a NUL; at most 2^20 ranges may match.
 */
#ifndef PF_ANALYSIS_STEP_NAMES_H
#define PF_ANALYSIS_STEP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "events/step.h"
#include "base/err.h"
#include "store/db.h"

struct pf_step_regex;
/* PF_EUSAGE and NULL if the pattern is wrong or past a limit. */
struct pf_step_regex *pf_step_regex_new(const char *pattern,
					struct pf_err *err);
void pf_step_regex_free(struct pf_step_regex *r);
bool pf_step_regex_matches(const struct pf_step_regex *r, const char *name,
			   size_t len);

/*
 * The ranges as steps by trace and start: only trace_id, track_id, step and
 * the times on the host are set.  PF_EDATA if no range matches.
 */
int pf_step_names_load(struct pf_db *db, const char *pattern,
		       struct pf_steps *out, struct pf_err *err);

#endif
