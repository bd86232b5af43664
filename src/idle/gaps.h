/* SPDX-License-Identifier: MIT */
/*
 * Where the idle time of GPUs comes from: totals by cause, the ops, calls and
 * lines that hold them, the longest gaps, lengths of gaps, and devices.  The
 * causes add up to the idle time exactly.
 */
#ifndef PF_ANALYSIS_GAPS_H
#define PF_ANALYSIS_GAPS_H

#include <stdbool.h>

#include "events/window.h"
#include "base/err.h"
#include "store/db.h"
#include "table/doc.h"

struct pf_gaps_args {
	struct pf_window_args window;
	int64_t limit;    /* how many of the longest gaps; -1: all */
	int64_t micro_ns; /* shorter gaps are not explained */
	bool per_stream;  /* idle time of each stream, too */
	bool hta;         /* and HTA's breakdown of it */
};

#define PF_GAPS_MICRO_NS 5000

int pf_gaps(struct pf_db *db, const struct pf_gaps_args *args,
	    struct pf_doc *doc, struct pf_err *err);

#endif
