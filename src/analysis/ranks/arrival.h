/* SPDX-License-Identifier: MIT */
/*
 * Which rank comes last to collectives, and how long others wait for it: the
 * part of analysis/ranks/ranks.h that 'overlap' and the report show, with the same
 * meetings, clocks and reasons why nothing is compared.
 */
#pragma once

#include "analysis/ranks/ranks.h"

/* A zero-initialised struct is an empty result. */
struct pf_arrivals {
	/* No rank: a single trace.  Of windows of ranks, what was asked for. */
	struct pf_ranks of;
	const char *withheld; /* why ranks are not compared; NULL: they are */
	int64_t spread_ns, window_ns;
	const char *machine;
	/* The straggler of ranks.h, if it names one, and what it costs. */
	bool has_straggler;
	int64_t straggler_rank, straggler_trace_id;
	int64_t straggler_ns, straggler_gain_ns;
	double straggler_share; /* of window_ns that others wait for it */
	int64_t straggler_saved_ns;
	double straggler_saved_share; /* of total_ns */
	int64_t total_ns; /* PF_NO_INT: what ranks cost is not known */
	/* for the straggler, or of all where there is none */
	int64_t longest_wait_ns, longest_wait_trace_id;
	int64_t longest_wait_start_ns; /* from the trace's first event */
};

/* Nothing for a single trace. */
int pf_arrivals_find(struct pf_db *db, const struct pf_window *window,
		     struct pf_arrivals *out);
void pf_arrivals_release(struct pf_arrivals *a);

/*
 * Add scalars and the table "arrivals", a row for each rank, or the scalar
 * "arrival_withheld" with the reason.
 */
void pf_arrivals_show(const struct pf_arrivals *a, struct pf_doc *doc);
