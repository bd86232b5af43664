/* SPDX-License-Identifier: MIT */
/*
 * Digests of the traces of a database, one after the other: what is held at a
 * time is one digest; launch calls are met on disk beyond a budget.
 */
#ifndef PF_ANALYSIS_RANKS_DIGEST_MAKE_H
#define PF_ANALYSIS_RANKS_DIGEST_MAKE_H

#include "events/window.h"
#include "analysis/ranks/digest.h"
#include "store/db.h"

struct pf_digest_sink {
	/* A digest in the order of traces; it may be emptied by taking it. */
	int (*take)(void *context, struct pf_digest *d, struct pf_err *err);
	void *context;
};

/*
 * Of each trace of the window, also of those without GPU work; what is looked
 * at is the work that starts in the window.
 */
int pf_digests_make(struct pf_db *db, const struct pf_window *window,
		    const struct pf_digest_sink *sink, struct pf_err *err);

#endif
