/* SPDX-License-Identifier: MIT */
/*
 * The same figures of several captures, one row each, in the order given:
 * how a program changes over commits, releases or configurations.  Means over
 * full steps, as diff/diff_capture.h has them.
 */
#ifndef PF_ANALYSIS_TREND_H
#define PF_ANALYSIS_TREND_H

#include <stdbool.h>

#include "diff/diff_capture.h"
#include "table/doc.h"

struct pf_trend_args {
	struct pf_window_args window;
	int64_t samples_per_step; /* 0: not known */
	bool wide;                /* for csv and json: no lines of bars */
};

/* Captures loaded with PF_CAPTURE_ALL.  PF_EDATA if one has no full step. */
int pf_trend(const struct pf_capture *const *captures, size_t count,
	     const struct pf_trend_args *args, struct pf_doc *doc,
	     struct pf_err *err);

#endif
