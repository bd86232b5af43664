/* SPDX-License-Identifier: MIT */
/*
 * Operators by name, of traces that are not torch's: what they took on the
 * host with everything in them, and the GPU work that says it is theirs.
 */
#pragma once

#include "analysis/graphs/graphs.h"
#include "base/mem.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"
#include "torch/averages.h"

/* "window": of one trace */
int pf_operators(struct pf_db *db, const struct pf_window *window,
		 struct pf_doc *doc);

/*
 * Operations of XLA that TPUs ran: calls and time by name, by operator of the
 * framework or by category, with the operations and bytes that the compiler
 * recorded.
 *
 * A loop and what it repeats are both operations: total_ns has what is inside,
 * self_ns does not, so that self times add up to the time in which a core is
 * busy.  Counted are those that begin in the window.  Time is the device's own
 * where the profiler says it (device_duration_ps): events are put on the clock
 * of the host, which moves their ends.
 */
enum pf_hlo_group { PF_HLO_BY_NAME, PF_HLO_BY_OP, PF_HLO_BY_CATEGORY };

/* The table "operations", and a finding: 1, 0 if there are none, or -1. */
int pf_hlo_ops(struct pf_db *db, const struct pf_window *window,
	       enum pf_hlo_group group, bool has_finding, struct pf_doc *doc);

/* What a TPU does in a nanosecond at most; not a number: unknown. */
struct pf_hlo_peaks {
	double flops, bytes;
};

/*
 * The same against their roofs.  An operation in which no other ran, and that
 * is no begin or end of a transfer and no collective, has a roof: the time for
 * its recorded operations and bytes at the peaks, whichever is longer.
 */
struct pf_hlo_roofs;
/* NULL on an error, and if there are none. */
struct pf_hlo_roofs *pf_hlo_roofs_new(struct pf_db *db,
				      const struct pf_window *window,
				      enum pf_hlo_group group,
				      const struct pf_hlo_peaks *peaks);
void pf_hlo_roofs_free(struct pf_hlo_roofs *r);
/* The finding; peak: what the TPU is called. */
void pf_hlo_roofs_tell(const struct pf_hlo_roofs *r, const char *peak,
		       struct pf_doc *doc);
/* Figures, and the table "operations". */
void pf_hlo_roofs_show(const struct pf_hlo_roofs *r, struct pf_doc *doc);

/*
 * Work, what of its time has a known roof, and what of that is above it, of
 * calls that were faster, or too short for a roof to say anything.
 */
struct pf_roofed {
	const char *work; /* "the GPU work in the capture" */
	int64_t ns, roofed_ns, above_ns, over_ns, short_ns;
};

/* The finding: first whatever the most of the time is. */
void pf_roofed_tell(const struct pf_roofed *r, const char *peak,
		    struct pf_doc *doc);

/*
 * Operators of one trace with all of its GPU work, each piece once: under the
 * operator around its launch call, or, of what graphs replay, under the one
 * that evidence names.  The rows add up to the GPU time of the trace.
 */

struct pf_named_work_args {
	const struct pf_window *window; /* one trace, all of it */
	struct pf_graphs *graphs;       /* of the same window, explained */
	/* key_averages() of it, for what the host did */
	const struct pf_average_list *averages;
};

int pf_named_work(struct pf_db *db, const struct pf_named_work_args *args,
		  struct pf_doc *doc);
