/* SPDX-License-Identifier: MIT */
/*
 * The inside of usage: two passes over the records, and what they leave.
 * Only usage_*.c and usage.c files include this.
 */
#ifndef PF_ANALYSIS_USAGE_IMPL_H
#define PF_ANALYSIS_USAGE_IMPL_H

#include "memory/alloc_scan.h"
#include "events/hints.h"
#include "memory/usage.h"

/* An allocation that was not freed yet. */
struct pf_usage_block {
	int64_t time_ns, bytes;
	uint32_t site;
	bool is_inside; /* the window */
	bool is_used;   /* else the place is free */
};

struct pf_usage_device {
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
	int64_t twice_count;              /* freed although it was */
	int64_t reused_count;             /* allocated although it was */
	int64_t kept_count, kept_bytes;
	struct pf_map by_address; /* -> place in blocks, or FREED */
	struct pf_usage_block *blocks;
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
struct pf_usage_group {
	struct pf_usage_group_key {
		uint32_t device, site;
		int64_t size; /* of each; -1: any */
	} key;
	int64_t count, bytes, largest, oldest_ns;
};

struct pf_usage_groups {
	struct pf_intern keys;
	struct pf_usage_group *items;
	size_t cap;
};

struct pf_usage {
	struct pf_allocs allocs;
	struct pf_usage_device *devices; /* as allocs.devices */
	struct pf_usage_groups alive, kept;
	struct pf_map texts_by_name; /* of a string -> texts */
	struct pf_intern texts;      /* names as they are shown */
	const struct pf_usage_args *args;
	enum pf_producer producer;
	bool has_traces; /* more than one */
	struct pf_table *by_device, *alive_table, *kept_table, *op_table, *oom;
	struct pf_table *curve, *events; /* or NULL */
};

/* Levels and sums of every device. */
int pf_usage_levels(struct pf_usage *m, struct pf_err *err);

/* Blocks at the peak and at the end; the tables that follow the records. */
int pf_usage_blocks(struct pf_usage *m, struct pf_err *err);

/* All tables of a document, empty; the rows of the first four. */
void pf_usage_begin_tables(struct pf_usage *u, struct pf_doc *doc);
int pf_usage_fill_tables(struct pf_usage *u, struct pf_err *err);

/* The next cell: null unless it is known. */
void pf_usage_put(struct pf_table *t, int64_t n, bool is_known);

#define PF_USAGE_NAME_MAX 64

/*
 * "CPU", "GPU 0", "XPU 1", "device type 21, 0"; after the rank (or trace)
 * where there are several.
 */
const char *pf_usage_device_label(const struct pf_usage *u, uint32_t device,
				  char out[PF_USAGE_NAME_MAX]);

/* Cells: name of the device; device type, number, rank and trace. */
void pf_usage_put_device(const struct pf_usage *m, struct pf_table *t,
			 uint32_t device);
void pf_usage_put_ids(const struct pf_usage *m, struct pf_table *t,
		      uint32_t device);
/* Three cells: outermost op, frame or annotation, innermost op. */
int pf_usage_put_site(struct pf_usage *m, struct pf_table *t, uint32_t site,
		      struct pf_err *err);

#endif
