/* SPDX-License-Identifier: MIT */
/* A comparison (diff/diff.h) as a page of HTML. */
#ifndef PF_REPORT_DIFF_PAGE_H
#define PF_REPORT_DIFF_PAGE_H

#include "base/buf.h"
#include "base/err.h"
#include "report/page_args.h"
#include "report/timeline.h"
#include "table/doc.h"

/*
 * The document must be settled, with texts as they may be shown; command: the
 * line that made it; timelines: of both sides, whose names are numbered anew.
 */
int pf_diff_page(const struct pf_doc *doc, const char *command,
		 const struct pf_page_args *args,
		 struct pf_timelines *timelines, struct pf_buf *out,
		 struct pf_err *err);

#endif
