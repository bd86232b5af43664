/* SPDX-License-Identifier: MIT */
/*
 * The same figures of several captures, one row each, in the order given:
 * how a program changes over commits, releases or configurations.
 *
 * What is said of steps is their median and shift, found as "diff" finds them
 * (compare/diff_capture.h): of leading warm-up steps as many as any capture has are
 * left out of all.  Sums and the parts of a step are means over full steps, as
 * compare/diff_capture.h has them.
 */
#pragma once

#include <stdbool.h>

#include "base/opt.h"
#include "compare/diff_capture.h"
#include "show/doc.h"
#include "store/db.h"

struct pf_trend_args {
	struct pf_window_args window;
	const char *samples_per_step; /* "64", or one each: "32,64"; or NULL */
	struct pf_opt_list checks;    /* of the last change of a figure */
	bool wide;                    /* for csv and json: no lines of bars */
};

/*
 * Captures loaded with PF_CAPTURE_ALL, each with a full step: 1 if a check
 * failed.  PF_EUSAGE for numbers of samples that make no sense.
 */
int pf_trend(const struct pf_capture *const *captures, size_t count,
	     const struct pf_trend_args *args, struct pf_doc *doc,
	     struct pf_err *err);

/*
 * Captures one after the other, of a fleet or as they are given ("nights"), and
 * since when they are not what they were before: change points
 * (compare/diff_capture.h) of the figures of a step and of each kernel's time per
 * call.
 *
 * Half of PF_CHANGE_RATE is shared by the figures of steps, half by the
 * kernels: of captures that only vary by chance, at most that part shows any
 * change at all.
 *
 * Of a fleet; limit: of nights for people, the last ones; -1: all.
 */
int pf_trend_of_fleet(struct pf_db *db, const struct pf_opt_list *checks,
		      int64_t limit, struct pf_doc *doc);

/* PF_EUSAGE if one is no check of a figure. */
int pf_trend_checks_parse(const struct pf_opt_list *checks, struct pf_err *err);
