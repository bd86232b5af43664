/* SPDX-License-Identifier: MIT */
/*
 * Calls that wait for a GPU, by site: the call, the innermost and outermost
 * op above it and the user's line.  Each with what it cost the host (time in
 * the call) and the GPU: of the gaps that it drained what it took itself and
 * what the host then needed to launch again.  Checks of them for use in CI.
 * Waits of streams, which hold up no host, are listed apart.
 */
#ifndef PF_ANALYSIS_SYNCS_H
#define PF_ANALYSIS_SYNCS_H

#include <stdbool.h>

#include "events/window.h"
#include "base/err.h"
#include "base/opt.h"
#include "store/db.h"
#include "table/doc.h"

struct pf_syncs_args {
	struct pf_window_args window;
	int64_t max_per_step;     /* or -1 */
	int fail_on;              /* 0: sites that baseline lacks; or -1 */
	const char *baseline;     /* a database, or NULL */
	const char *allow_file;   /* with one such part a line, or NULL */
	struct pf_opt_list allow; /* parts of names: such sites are meant */
};

#define PF_SYNCS_FAIL_ON "new"

/* *is_failed: a check that was asked for failed. */
int pf_syncs(struct pf_db *db, const struct pf_syncs_args *args,
	     struct pf_doc *doc, bool *is_failed, struct pf_err *err);

#endif
