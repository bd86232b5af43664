/* SPDX-License-Identifier: MIT */
/*
 * Calls of the runtime and the driver (CUDA, HIP, ...) by name, as nsys has
 * them in cuda_api_sum, or by name and the innermost operator or range of the
 * user they are made in.
 *
 * A call counts where it begins, with all of its length.  The total has what
 * other calls take inside of it (a driver's in the runtime's): shares are of
 * the sum of all totals.  Self is without those.
 */
#ifndef PF_ANALYSIS_TIME_CALLS_H
#define PF_ANALYSIS_TIME_CALLS_H

#include "base/err.h"
#include "base/mem.h"
#include "events/trust.h"
#include "events/window.h"
#include "store/db.h"
#include "show/doc.h"

enum pf_calls_by { PF_CALLS_BY_NAME, PF_CALLS_BY_OP, PF_CALLS_BY_RANGE };

struct pf_calls_args {
	struct pf_window_args window;
	int by; /* enum pf_calls_by */
};

struct pf_call {
	const char *name;
	const char *inside; /* op or range; NULL: none, or not asked for */
	int64_t count, total_ns, self_ns, median_ns, min_ns, max_ns, mean_ns;
	double sd_ns, share;
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_calls {
	struct pf_window window;
	struct pf_arena texts;
	struct pf_call *items; /* by total time, the longest first */
	size_t item_count;
	int64_t count, total_ns, self_ns;
	struct pf_recorded recorded; /* set before it is shown */
};

int pf_calls_find(struct pf_db *db, const struct pf_calls_args *args,
		  struct pf_calls *out, struct pf_err *err);
void pf_calls_release(struct pf_calls *calls);
/* by: enum pf_calls_by, as it was asked for. */
void pf_calls_show(const struct pf_calls *calls, int by, struct pf_doc *doc);

#endif
