/* SPDX-License-Identifier: MIT */
/*
 * The inside of usage: two passes over the records, and what they leave.
 * Only usage_*.c and usage.c files include this.
 */
#ifndef PF_ANALYSIS_USAGE_IMPL_H
#define PF_ANALYSIS_USAGE_IMPL_H

#include "base/sat.h"
#include "analysis/memory/alloc_scan.h"
#include "show/rows.h"
#include "analysis/memory/usage.h"

/* An allocation that was not freed yet. */
struct usage_block {
	int64_t time_ns, bytes;
	uint32_t site;
	bool is_inside; /* the window */
	bool is_used;   /* else the place is free */
};

struct usage_device {
	struct pf_usage_where at;
	/* ---- levels: the first pass ---- */
	bool has_any;     /* record */
	bool has_inside;  /* record inside the window */
	bool is_absolute; /* levels are totals that were recorded */
	bool has_reserved;
	int64_t level, reserved; /* after the last record */
	int64_t start_level;     /* at the start of the window */
	int64_t end_level;       /* at its end */
	int64_t peak, peak_ns;   /* first time of the largest level */
	uint64_t peak_at;        /* records, of all devices, before it */
	int64_t reserved_at_peak;
	int64_t peak_reserved;
	int64_t unused, unused_ns;      /* most reserved, not allocated */
	int64_t first_ns, last_ns;      /* records inside the window */
	int64_t jump_count, jump_bytes; /* totals that do not continue */
	int64_t no_address_count, oom_count, record_count;
	struct pf_alloc_sums sums; /* inside the window */
	int64_t capacity;          /* -1: not known */
	/* ---- blocks: the second ---- */
	bool is_settled; /* the peak was passed */
	int64_t alive, alive_count;
	int64_t early_count, early_bytes; /* freed, allocated before */
	bool has_early_unsized;           /* some of unknown size */
	int64_t twice_count;              /* freed although it was */
	int64_t reused_count;             /* allocated although it was */
	int64_t kept_count, kept_bytes;
	struct pf_map by_address; /* -> place in blocks, or FREED */
	struct usage_block *blocks;
	size_t block_count, block_cap;
	size_t *free_places;
	size_t free_count, free_cap;
	/* the part of the curve that is being gathered */
	int64_t part; /* or -1 */
	int64_t low, high, high_ns, last, high_reserved;
	int64_t curve_level;
	bool has_curve_level;
};

/* Blocks of one place (and, of those kept, one size) together. */
struct usage_group {
	struct usage_group_key {
		uint32_t device, site;
		int64_t size; /* of each; -1: any */
	} key;
	int64_t count, bytes, largest, oldest_ns;
};

struct usage_groups {
	struct pf_intern keys;
	struct usage_group *items;
	size_t cap;
};

struct usage {
	struct pf_allocs allocs;
	struct usage_device *devices; /* as allocs.devices */
	struct usage_groups alive, kept;
	const struct pf_usage_args *args;
	struct pf_usage *out;
};

/* Levels and sums of every device. */
int pf_usage_levels(struct usage *u, struct pf_err *err);

/* Blocks at the peak and at the end; what follows the records. */
int pf_usage_blocks(struct usage *u, struct pf_err *err);

/* An allocation as a row of events. */
struct usage_event {
	struct pf_usage_where at;
	struct pf_usage_site site;
	int64_t bytes, allocated_ns, freed_ns, lifetime_ns;
};
struct pf_table *pf_usage_events_new(bool by_stack);
void pf_usage_events_add(struct pf_table *t, const struct usage_event *event,
			 bool by_stack);

/* Texts of a place; -1. */
int pf_usage_site(struct usage *u, uint32_t site, struct pf_usage_site *out,
		  struct pf_err *err);

/* n, or not known. */
static inline int64_t pf_usage_maybe(int64_t n, bool is_known)
{
	return is_known ? n : PF_NO_INT;
}

/* The time between two records of a device, if they have any. */
static inline int64_t pf_usage_since(const struct pf_usage_where *at,
				     int64_t ns, int64_t from_ns)
{
	return pf_usage_maybe(pf_sat_sub(ns, from_ns), !at->is_untimed);
}

/* The entries between them, if these stand for times. */
static inline int64_t pf_usage_entries(const struct pf_usage_where *at,
				       int64_t n, int64_t from)
{
	return pf_usage_maybe(pf_sat_sub(n, from), at->is_untimed);
}

#endif
