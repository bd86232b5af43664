/* SPDX-License-Identifier: MIT */
/*
 * What the time of a step goes to by the user's own ranges: each instant of a
 * whole step goes to the innermost range (analysis/time/ranges.h) that is open on
 * the step's thread, or to none of them, as long as the host is in the step,
 * and to "after" from then to the end of the step's GPU work.  So the parts
 * sum to the steps exactly.  The same is split of the steps' time on the host,
 * which has no "after" but also what passes while the GPU is still at the step
 * before.
 *
 * Ranges are counted, with the GPU work that was launched in them, where they
 * begin in a whole step on the host.  Without steps the window is one, and its
 * thread the one on which ranges are open longest.
 */
#ifndef PF_ANALYSIS_TIME_STEP_RANGES_H
#define PF_ANALYSIS_TIME_STEP_RANGES_H

#include "analysis/time/steps.h"
#include "base/err.h"
#include "events/window.h"
#include "store/db.h"
#include "show/doc.h"

/* Add the table "ranges" of these steps to the document. */
int pf_step_ranges(struct pf_db *db, const struct pf_window_args *args,
		   const struct pf_step_times *steps, struct pf_doc *doc,
		   struct pf_err *err);

#endif
