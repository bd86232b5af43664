/* SPDX-License-Identifier: MIT */
/*
 * Operators by name, of traces that are not torch's: what they took on the
 * host with everything in them, and the GPU work that says it is theirs.
 */
#ifndef PF_ANALYSIS_TIME_OPERATORS_H
#define PF_ANALYSIS_TIME_OPERATORS_H

#include "analysis/graphs/graphs.h"
#include "base/mem.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"
#include "torch/averages.h"

int pf_operators(struct pf_db *db, int64_t trace_id, struct pf_doc *doc);

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

/* Texts NULL: not said, or they differ.  -1, not a number: not recorded. */
struct pf_hlo_op {
	const char *name, *op, *category;
	int64_t calls, self_ns, total_ns, flops, bytes;
	double share;                 /* of all self time */
	double flops_per_s, gb_per_s; /* while it ran itself */
	/*
	 * Of the self time: what has a roof, which is the time at the roof and
	 * that above it, and what was faster than its roof.
	 */
	int64_t roofed_ns, roof_ns, above_ns, over_ns;
	int64_t compute_ns; /* of roofed_ns: arithmetic bounds it */
};

/* What a TPU does in a nanosecond at most; not a number: unknown. */
struct pf_hlo_peaks {
	double flops, bytes;
};

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_hlo_ops {
	enum pf_hlo_group group;
	struct pf_hlo_op *rows; /* the most self time first */
	size_t count, cap;
	int64_t calls, self_ns;
	struct pf_hlo_peaks peaks;
	struct pf_arena texts;
};

/*
 * An operation in which no other ran, and that is no begin or end of a
 * transfer and no collective, has a roof: the time for its recorded operations and bytes at the
 * peaks, whichever is longer.  peaks NULL: none are known.
 */
int pf_hlo_ops_find(struct pf_db *db, const struct pf_window *window,
		    enum pf_hlo_group group, const struct pf_hlo_peaks *peaks,
		    struct pf_hlo_ops *out);
void pf_hlo_ops_release(struct pf_hlo_ops *ops);
/* The finding, where there are any; the table "operations". */
void pf_hlo_ops_tell(const struct pf_hlo_ops *ops, struct pf_doc *doc);
void pf_hlo_ops_show(const struct pf_hlo_ops *ops, struct pf_doc *doc);
/* Against their roofs: figures, and the table "operations". */
void pf_hlo_ops_show_roofs(const struct pf_hlo_ops *ops, struct pf_doc *doc);
/* The sentence of these; peak: what the TPU is called. */
void pf_hlo_ops_tell_roofs(const struct pf_hlo_ops *ops, const char *peak,
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

#endif
