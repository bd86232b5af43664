/* SPDX-License-Identifier: MIT */
/*
 * How long each profiler step took and what that time went to.  Each instant
 * of a step goes to the first of these that was active, so that the classes
 * sum to the step exactly: kernels (no communication), copies, memsets,
 * communication, calls of the runtime or driver, loading of data, operators
 * and annotations, other.  A trace without steps is one step.
 */
#ifndef PF_ANALYSIS_STEPS_H
#define PF_ANALYSIS_STEPS_H

#include "events/window.h"
#include "base/err.h"
#include "store/db.h"
#include "table/doc.h"

struct pf_steps_args {
	struct pf_window_args window;
	int64_t samples_per_step; /* 0: not known */
};

int pf_steps_answer(struct pf_db *db, const struct pf_steps_args *args,
		    struct pf_doc *doc, struct pf_err *err);

#endif
