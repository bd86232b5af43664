/* SPDX-License-Identifier: MIT */
/*
 * The sites of blocking calls and their sums.  Memory grows with the number
 * of sites, calls (24 bytes each) and gaps (24 bytes each).
 */
#ifndef PF_ANALYSIS_SYNC_SITES_H
#define PF_ANALYSIS_SYNC_SITES_H

#include "analysis/idle/gap_find.h"
#include "base/intern.h"
#include "events/step.h"
#include "analysis/idle/syncs.h"

struct pf_site {
	struct pf_place place; /* name: the call */
	int64_t count, blocked_ns, max_ns, median_ns;
	int64_t useful_ns;                 /* a device was busy meanwhile */
	int64_t idle_ns;                   /* of a GPU, due to the call */
	int64_t drained_ns, drained_count; /* gaps that it drained, whole */
	int64_t step_count;                /* steps that have it */
	size_t last_step;
	bool is_stream_wait; /* streams wait there, not the host */
	bool is_allowed, is_new;
};

struct pf_site_call {
	uint32_t site;
	size_t step; /* in steps.items; steps.count: in none */
	int64_t ns;
};

struct pf_sites {
	struct pf_names *names;
	struct pf_intern keys; /* bytes of a place -> site */
	struct pf_site *items;
	size_t cap;
	struct pf_steps steps;
	int64_t step_count;         /* of them in the window */
	struct pf_site_call *calls; /* by site, then ns */
	size_t call_count, call_cap;
	int64_t outside_count; /* blocking calls that the window leaves out */
	int64_t window_ns;     /* of all devices */
	int64_t device_count;
};

/*
 * With_idle: what the gaps of GPUs say, too; gaps, or NULL, finds them for
 * others as well.  The steps, which were loaded, become part of *out and are
 * empty then.
 */
int pf_sites_load(struct pf_db *db, const struct pf_window *window,
		  struct pf_steps *steps, bool with_idle,
		  const struct pf_gap_source *gaps, struct pf_sites *out,
		  struct pf_err *err);
void pf_sites_release(struct pf_sites *s);

static inline size_t pf_sites_count(const struct pf_sites *s)
{
	return s->keys.count;
}

#endif
