/* SPDX-License-Identifier: MIT */
/*
 * Which traces of a database the timeline shows: the first, and of the others
 * the one whose GPU is idle most.
 */
#ifndef PF_PAGE_RANKS_H
#define PF_PAGE_RANKS_H

#include "page/report.h"

/* How many slices a page has room for. */
int64_t pf_ranks_slices(const struct pf_page_args *page);

/* Load the first trace, which needs no other part of the report. */
int pf_ranks_load_first(struct pf_db *db, const struct pf_parts *p,
			struct pf_report *r, struct pf_err *err);

/* With all parts there: the path, the other trace, the clock, steps, marks. */
int pf_ranks_finish(struct pf_report *r, struct pf_err *err);

#endif
