/* SPDX-License-Identifier: MIT */
/* What analysis/kernels.h sums up (kernels.c), and how (kernels_show.c). */
#ifndef PF_ANALYSIS_KERNELS_IMPL_H
#define PF_ANALYSIS_KERNELS_IMPL_H

#include "events/gpu.h"
#include "base/intern.h"
#include "analysis/kernels.h"
#include "base/stats.h"
#include "analysis/tensor.h"
#include "base/spool.h"
#include "events/by_event.h"

/* Where calls of a group differ, and where nothing is known. */
#define VARIES (-2)
#define NONE   (-1)

enum { BY_NAME, BY_NAME_OP, BY_NAME_GEOMETRY, BY_OP_SHAPE, BY_OP };

/* A kernel on its way to its group. */
struct item {
	int64_t op_id, order, dur_ns, config, device, stream;
	uint32_t name, is_comm;
};

/* Nearest ranks of durations. */
enum { MEDIAN, P90, P99, RANKS };

struct weighted {
	double sum, weight;
};

struct group {
	uint32_t first, second; /* numbers of texts: name and op, ... */
	struct pf_stats stats;
	int64_t ranks[RANKS];
	struct pf_kernel_kind kind; /* of its first, if it has one name */
	const char *first_text, *second_text; /* once all are known */
	int64_t grid, block, registers, shared, device, stream;
	struct weighted blocks_per_sm, occupancy;
};

struct tally {
	int64_t calls, ns;
};

/* What ran on one stream of one GPU. */
struct stream {
	int64_t trace_id, rank, device, stream;
	int64_t calls, total_ns;
};

struct kernels {
	struct pf_db *db;
	const struct pf_kernels_args *args;
	struct pf_gpu *gpu;
	sqlite3_stmt *shapes;
	struct pf_tensor *tensor;
	struct pf_intern texts;
	struct pf_map configs; /* gpu_config.id -> texts of grid and block */
	struct pf_map names;   /* string.id -> number of text */
	struct pf_map
		kinds; /* string.id and is_comm -> struct pf_kernel_kind */
	struct pf_map argsets; /* argset.id -> number of text */
	struct pf_map places;  /* two numbers of texts -> group */
	struct group *groups;
	size_t group_count, group_cap;
	struct pf_by_event *by_op;
	struct pf_sorter *by_group;
	int64_t total_ns, calls, without_op, without_op_ns;
	int64_t use_ns[PF_TENSOR_USES], use_calls[PF_TENSOR_USES];
	struct tally by_kind[PF_CLASSES][PF_PRECISIONS];
	struct pf_intern stream_keys;
	struct stream *streams; /* by number of their key */
	size_t stream_count, stream_cap;
};

/* Are groups of kernels, not of operators? */
static inline bool has_name(const struct kernels *k)
{
	return k->args->group != BY_OP_SHAPE && k->args->group != BY_OP;
}

/* Add what was found to a document; puts groups in order. */
void pf_kernels_show(struct kernels *k, struct pf_doc *doc);

#endif
