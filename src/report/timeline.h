/* SPDX-License-Identifier: MIT */
/*
 * The timeline of a page: a place to draw in and the data, as blocks that no
 * browser runs.
 */
#ifndef PF_REPORT_TIMELINE_H
#define PF_REPORT_TIMELINE_H

#include "base/buf.h"
#include "base/err.h"
#include "report/report.h"
#include "report/slices.h"

/*
 * Append the section's HTML and the data blocks of at most "room" bytes; what
 * does not fit is left out and named.  Without events there is only a line
 * that says so.
 */
int pf_timeline_html(struct pf_report *r, int64_t room, struct pf_buf *section,
		     struct pf_buf *data, struct pf_err *err);

#endif
