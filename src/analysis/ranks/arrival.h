/* SPDX-License-Identifier: MIT */
/*
 * Which rank comes last to collectives, and how long others wait for it: the
 * part of analysis/ranks/ranks.h that 'overlap' and the report show, with the same
 * meetings, clocks and reasons why nothing is compared.
 */
#ifndef PF_ANALYSIS_RANKS_ARRIVAL_H
#define PF_ANALYSIS_RANKS_ARRIVAL_H

#include "events/window.h"
#include "base/err.h"
#include "store/db.h"
#include "show/doc.h"

/* Times in ns, of collectives that were compared. */
struct pf_arrival_rank {
	int64_t trace_id, rank, window_ns;
	int64_t count, last_count;
	int64_t waited_ns; /* for others */
	int64_t late_ns; /* the longest wait of another for this one, summed */
	int64_t gain_ns; /* of it until the last but one had come */
};

/* A zero-initialised struct is an empty result; it owns its arrays. */
struct pf_arrivals {
	struct pf_arrival_rank *ranks; /* count 0: a single trace */
	size_t rank_count;
	char *withheld;     /* why ranks are not compared; NULL: they are */
	char *left_out;     /* ranks, and why; NULL: none */
	int64_t count;      /* of collectives of several ranks */
	int64_t left_count; /* that met no other */
	int64_t spread_ns, window_ns;
	int64_t clock_ns; /* the largest difference of clocks */
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

#endif
