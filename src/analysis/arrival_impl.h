/* SPDX-License-Identifier: MIT */
/* What analysis/arrival.h gathers (arrival.c) and shows (arrival_show.c). */
#ifndef PF_ANALYSIS_ARRIVAL_IMPL_H
#define PF_ANALYSIS_ARRIVAL_IMPL_H

#include <stdbool.h>

#include "analysis/arrival.h"
#include "events/collective.h"
#include "events/gpu.h"
#include "base/intern.h"
#include "base/buf.h"
#include "base/spool.h"
#include "store/texts.h"

/* A kernel of a collective, on its way to the others of it. */
struct arrival {
	int64_t group, number;    /* which collective: the order of sorting */
	int64_t rank;             /* index of its trace */
	int64_t start_ns, end_ns; /* on the clock of all traces */
	int64_t sync;             /* enum pf_sync */
};

/* Collectives of one process group on one rank. */
struct member {
	uint32_t group;
	size_t rank;
	int64_t count;
};

/* One collective, on all ranks that it has been seen on. */
struct meeting {
	int64_t group, number;
	struct arrival *at; /* of each rank; group -1: not there */
	size_t count;
};

struct arrivals {
	struct pf_db *db;
	struct pf_gpu *gpu;
	struct pf_texts texts;
	struct pf_sorter *sorter;
	struct pf_intern groups;
	struct pf_map argsets; /* argset.id -> group and kind */
	struct pf_map names;   /* string.id -> kind */
	struct pf_map records; /* record_param_comms -> number */
	struct pf_map places;  /* group and rank -> member */
	struct member *members;
	size_t member_count, member_cap;
	struct pf_arrival_rank *ranks;
	size_t rank_count;
	struct meeting meeting;
	int64_t count, spread_ns, early_count, mixed_count;
	bool is_named_mixed;  /* in a group that has a name */
	struct arrival worst; /* whose wait is the longest */
	int64_t worst_ns;
	struct pf_buf why; /* nothing can be said, and why */
};

/* Fill in what was met, or why it says nothing; takes the ranks. */
void pf_arrivals_settle(struct arrivals *a, struct pf_arrivals *out);

#endif
