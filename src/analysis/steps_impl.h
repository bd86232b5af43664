/* SPDX-License-Identifier: MIT */
/* What analysis/steps.h finds (steps.c) and how it is said (steps_show.c). */
#ifndef PF_ANALYSIS_STEPS_IMPL_H
#define PF_ANALYSIS_STEPS_IMPL_H

#include "analysis/copies.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "analysis/sm.h"
#include "analysis/steps.h"

/* In order of precedence; sets of the sweep, and "other" is none of them. */
enum { KERNEL, COPY, MEMSET, COMM, RUNTIME, DATA, CPU, OTHER, CLASSES };
#define ANY_KERNEL 7 /* one more set: kernels of every class */
#define BIT(class) (1u << (class))

struct row {
	int64_t trace_id, rank, step; /* step -1: the whole trace */
	int64_t start_ns, end_ns;
	int64_t class_ns[CLASSES], busy_ns, kernel_union_ns;
	int64_t kernels, copies, memsets, launches, syncs;
	struct {
		int64_t count, bytes, ns;
	} ways[PF_COPY_WAYS];
	struct pf_sm_sums sm; /* of all GPUs */
	int64_t gpu_ns;       /* its duration times the number of GPUs */
	bool is_partial;
	bool is_begun; /* the sweep has come to its start */
};

struct device {
	int64_t trace_id, rank, device;
	int64_t window_ns; /* from the first to the last whole step */
	struct pf_sm sm;
	struct pf_sm_sums sums;
};

struct steps {
	struct pf_db *db;
	struct pf_window window;
	struct row *rows;
	size_t count, cap;
	size_t at, end; /* rows of the trace being swept */
	struct pf_sweep sweep;
	struct row between; /* what was swept between two whole steps */
	struct row outside; /* and before, behind and beside them; not used */
	struct device *devices;
	size_t device_count, device_cap;
	size_t first_device, first_row; /* of the trace being swept */
	struct pf_copies *copies;
	struct pf_gpu *gpu;
};

/* Add what was found to a document. */
void pf_steps_show(const struct steps *s, const struct pf_steps_args *args,
		   struct pf_doc *doc);

#endif
