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
 * Alive at the peak are the allocations, also those before the window, whose
 * address was not freed by then.  They and what was allocated before the
 * capture add up to the peak exactly.
 *
 * Tables: devices (peak, reserved, churn, what does not fit), alive, kept
 * (allocated in the window and not freed in it, by size), ops (columns of
 * TensorBoard's memory view), curve, oom, and events if asked for.
 */
#ifndef PF_ANALYSIS_USAGE_H
#define PF_ANALYSIS_USAGE_H

#include <stdbool.h>

#include "events/window.h"
#include "base/err.h"
#include "store/db.h"
#include "table/doc.h"

struct pf_usage_args {
	struct pf_window_args window;
	int64_t points; /* of the curve of each device, at most; 0: no curve */
	bool events;    /* a row for each allocation */
};

/* Enough for a picture. */
#define PF_USAGE_POINTS 1000

int pf_usage(struct pf_db *db, const struct pf_usage_args *args,
	     struct pf_doc *doc, struct pf_err *err);

#endif
