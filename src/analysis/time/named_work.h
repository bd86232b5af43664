/* SPDX-License-Identifier: MIT */
/*
 * Operators of one trace with all of its GPU work, each piece once: under the
 * operator around its launch call, or, of what graphs replay, under the one
 * that evidence names.  The rows add up to the GPU time of the trace.
 */
#ifndef PF_ANALYSIS_TIME_NAMED_WORK_H
#define PF_ANALYSIS_TIME_NAMED_WORK_H

#include "events/window.h"
#include "analysis/graphs/graphs.h"
#include "store/db.h"
#include "show/doc.h"
#include "torch/averages.h"

struct pf_named_work_args {
	const struct pf_window *window; /* one trace, all of it */
	struct pf_graphs *graphs;       /* of the same window, explained */
	/* key_averages() of it, for what the host did */
	const struct pf_average_list *averages;
};

int pf_named_work(struct pf_db *db, const struct pf_named_work_args *args,
		  struct pf_doc *doc, struct pf_err *err);

#endif
