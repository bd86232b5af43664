/* SPDX-License-Identifier: MIT */
/*
 * What keeps GPUs busy, and what hides behind what: for each device, and for
 * all of them, the time from the first start to the last end of GPU work,
 * split without remainder into
 *
 *	computation		any computation runs
 *	exposed communication	else any communication
 *	exposed copy		else any copy
 *	exposed memset		else any fill
 *	idle			nothing
 *
 * Figures of all are sums over devices: what runs on one hides nothing on
 * another.  Of several traces also who waits for whom (analysis/arrival.h).
 */
#ifndef PF_ANALYSIS_OVERLAP_H
#define PF_ANALYSIS_OVERLAP_H

#include "events/window.h"
#include "base/err.h"
#include "store/db.h"
#include "table/doc.h"

struct pf_overlap_args {
	struct pf_window_args window;
};

int pf_overlap(struct pf_db *db, const struct pf_overlap_args *args,
	       struct pf_doc *doc, struct pf_err *err);

#endif
