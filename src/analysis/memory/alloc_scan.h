/* SPDX-License-Identifier: MIT */
/*
 * The allocation records of traces ("[memory]", "[OutOfMemory]") in order of
 * time, each with the place in the program that made it, and their sums by
 * op.  Which op a record belongs to: the innermost one of the same thread
 * with start <= time < end, as in TensorBoard's memory view; an op's totals
 * also have the records of ops inside it, each record once per name.
 *
 * Memory grows with the number of distinct places, ops and devices; records
 * themselves are kept in a spool.
 */
#ifndef PF_ANALYSIS_MEMORY_ALLOC_SCAN_H
#define PF_ANALYSIS_MEMORY_ALLOC_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/sat.h"
#include "events/names.h"
#include "events/window.h"
#include "base/err.h"
#include "base/spool.h"
#include "store/db.h"

/* Ids of strings, or PF_ID_NONE. */
struct pf_alloc_site {
	uint32_t op;       /* innermost op */
	uint32_t outer_op; /* outermost op */
	uint32_t frame;    /* user's Python function, else the innermost */
	uint32_t note;     /* annotation, where there is no frame */
	uint32_t stack;    /* stack.id, of snapshots */
};

/*
 * What an allocator of XLA or TensorFlow says of itself with each record, in
 * the window.  Programs reserve memory beside what is allocated; what is in use
 * is both.
 */
struct pf_alloc_pool {
	bool is_said;
	int64_t in_use, reserved, capacity, lifetime_peak; /* the largest */
	double fragmentation; /* of what is free, 0 to 1: the largest */
};

struct pf_alloc_device {
	const struct pf_window_trace *trace;
	int64_t type;   /* c10::DeviceType: 0 CPU, 1 CUDA, ...; -1: not said */
	int64_t number; /* or -1 */
	struct pf_alloc_pool pool; /* of accelerators */
	/* Private to the scan: what is allocated, whether anything was seen. */
	int64_t own, shared;
	bool has_own;
	bool has_unsized; /* frees that say no size */
	/* Shared memory that was freed and dates from before the records. */
	int64_t shared_before;
};

/* Records inside the window.  Sums that do not fit are held at the limit. */
struct pf_alloc_sums {
	int64_t count, bytes;             /* of allocations */
	int64_t freed_count, freed_bytes; /* bytes >= 0 */
	/* Of those freed: nobody knows their size, freed_bytes lack it. */
	int64_t unsized_count;
};

struct pf_alloc_op {
	uint32_t device; /* in devices */
	uint32_t name;   /* PF_ID_NONE: outside of every op */
	uint32_t stack;  /* stack.id instead, of snapshots; or PF_ID_NONE */
	struct pf_alloc_sums self, total;
	uint64_t last; /* private: the last record that was added */
};

enum pf_alloc_flag {
	PF_ALLOC_ADDRESS = 1, /* address is set, and so on */
	PF_ALLOC_TOTAL = 2,
	PF_ALLOC_RESERVED = 4,
	PF_ALLOC_OOM = 8,      /* bytes were asked for in vain */
	PF_ALLOC_INSIDE = 16,  /* the window */
	PF_ALLOC_UNSIZED = 32, /* a free, nobody knows of what size: bytes 0 */
};

struct pf_alloc {
	int64_t time_ns, order; /* first: they are what records sort by */
	int64_t bytes;          /* positive: allocated, negative: freed */
	int64_t address;
	/*
	 * Of the device, after the record.  The total has the tensors in
	 * shared memory that came since the first record; those from before
	 * are shared_before of the device.
	 */
	int64_t total, reserved;
	int64_t device_free; /* of what was asked for in vain, or -1 */
	uint32_t device;     /* in devices */
	uint32_t site;       /* in sites */
	uint32_t flags;      /* enum pf_alloc_flag */
	uint32_t ops;        /* private: alloc_scan.c */
};

struct pf_allocs {
	struct pf_names *names;
	struct pf_spool *records;        /* struct pf_alloc, in order of time */
	struct pf_alloc_device *devices; /* by trace, type, number */
	uint32_t device_count;
	struct pf_intern sites; /* bytes of struct pf_alloc_site */
	struct pf_alloc_op *ops;
	uint32_t op_count;
	struct pf_map calls; /* name of an op -> starts inside the window */
	size_t device_cap, op_cap;
};

/*
 * Window is kept: it must outlive *out.  Release *out after an error too.
 * no_sites: who allocated, which takes most of the time, is not found.
 */
int pf_allocs_load(struct pf_db *db, const struct pf_window *window,
		   bool no_sites, struct pf_allocs *out);
void pf_allocs_release(struct pf_allocs *a);

/* The total of a record that has one. */
static inline int64_t pf_allocs_total(const struct pf_allocs *a,
				      const struct pf_alloc *r)
{
	return pf_sat_add(r->total, a->devices[r->device].shared_before);
}

struct pf_alloc_site pf_allocs_site(const struct pf_allocs *a, uint32_t site);

#endif
