/* SPDX-License-Identifier: MIT */
/*
 * Both sides of a comparison as one timeline: the first trace of the first
 * capture of each, moved so that their first full steps begin together.
 */
#ifndef PF_PAGE_DIFF_TIMELINE_H
#define PF_PAGE_DIFF_TIMELINE_H

#include "events/window.h"
#include "base/err.h"
#include "page/page_args.h"
#include "page/redact.h"
#include "page/timeline.h"

struct pf_diff_timeline_args {
	const char *paths[PF_TIMELINE_SIDES]; /* the databases of A and B */
	size_t captures;                      /* of both sides together */
	const struct pf_window_args *window;
	const struct pf_page_args *page;
	const struct pf_redact *redact;
};

/* *out is to be released, also after a failure. */
int pf_diff_timeline(const struct pf_diff_timeline_args *args,
		     struct pf_timelines *out, struct pf_err *err);

#endif
