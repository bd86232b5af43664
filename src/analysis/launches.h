/* SPDX-License-Identifier: MIT */
/*
 * Calls that launch GPU work: how long they take on the CPU, how long the
 * work waits after them, and how long it runs.  Only calls with GPU work
 * count; work without a call (launched before the capture) is left out and
 * said so.
 */
#ifndef PF_ANALYSIS_LAUNCHES_H
#define PF_ANALYSIS_LAUNCHES_H

#include "events/window.h"
#include "base/err.h"
#include "store/db.h"
#include "table/doc.h"

struct pf_launches_args {
	struct pf_window_args window;
};

int pf_launches(struct pf_db *db, const struct pf_launches_args *args,
		struct pf_doc *doc, struct pf_err *err);

#endif
