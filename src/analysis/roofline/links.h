/* SPDX-License-Identifier: MIT */
/*
 * Collectives against the link between GPUs of one machine.  Of several ranks
 * that can be compared the rate is of the transfer alone, from the last rank's
 * start on (analysis/ranks/ranks.h); else of whole kernels, which wait for other ranks
 * too.  A share of the link is given where all ranks of a collective were
 * traced and ran on one machine: the network is not in a trace.
 */
#ifndef PF_ANALYSIS_ROOFLINE_LINKS_H
#define PF_ANALYSIS_ROOFLINE_LINKS_H

#include "analysis/roofline/roofline.h"

/* Collectives alike; text NULL, number negative, not a number: unknown. */
struct pf_roof_link {
	const char *collective, *group;
	int64_t group_size, bytes; /* of one */
	int64_t count, ns;         /* median transfer, or mean of kernels */
	const char *timed;         /* "transfer" or "kernel" */
	const char *is_within;     /* one machine: "yes", "no" */
	double bus_rate, link_rate, share;
};

/* Fill in the links of *o, which has its peaks and its window. */
int pf_roof_links_find(struct pf_db *db, const struct pf_window_args *window,
		       struct pf_roofline *o, struct pf_err *err);

#endif
