/* SPDX-License-Identifier: MIT */
/*
 * Both sides of a comparison as one timeline: the first trace of the first
 * capture of each, moved so that their first full steps begin together.
 */
#ifndef PF_REPORT_DIFF_TIMELINE_H
#define PF_REPORT_DIFF_TIMELINE_H

#include "analysis/window.h"
#include "base/err.h"
#include "report/timeline.h"

/*
 * paths: the databases of A and B; captures: of both sides together.  *out is
 * to be released, also after a failure.
 */
int pf_diff_timeline(const char *const paths[2], size_t captures,
		     const struct pf_window_args *window,
		     struct pf_timelines *out, struct pf_err *err);

#endif
