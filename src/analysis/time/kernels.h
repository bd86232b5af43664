/* SPDX-License-Identifier: MIT */
/*
 * Kernels by name, by name and operator, by name and launch geometry, by
 * operator and shapes of its inputs, or by operator; and by stream.  Figures of a launch configuration are
 * given where they are the same for all calls, rates as means weighted by
 * duration over the calls that have them.
 */
#pragma once

#include "base/buf.h"
#include "base/intern.h"
#include "base/mem.h"
#include "events/ask.h"
#include "events/names.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

/*
 * What the names of kernels say that traces do not: whether a kernel uses
 * tensor cores, what it is for, and the precision of its inputs.  By the
 * patterns of data/kernels.csv: for each of the three the first row counts
 * that fits a name and says something.  What no row says is unknown.
 */

enum pf_tensor_use {
	PF_TENSOR_NO,
	PF_TENSOR_YES,
	PF_TENSOR_UNKNOWN,
	PF_TENSOR_USES
};

enum pf_kernel_class {
	PF_CLASS_UNKNOWN,
	PF_CLASS_GEMM, /* matrix by matrix or vector */
	PF_CLASS_CONV,
	PF_CLASS_ATTENTION,
	PF_CLASS_COMM,
	PF_CLASS_NORM,
	PF_CLASS_SOFTMAX,
	PF_CLASS_POINTWISE,
	PF_CLASS_REDUCTION,
	PF_CLASS_COPY,  /* and changes of layout: moves elements */
	PF_CLASS_OTHER, /* none of these */
	PF_CLASSES
};

/* Of what is multiplied, as it is stored; TF32: as it is rounded. */
enum pf_precision {
	PF_PRECISION_UNKNOWN,
	PF_PRECISION_FP64,
	PF_PRECISION_FP32,
	PF_PRECISION_TF32,
	PF_PRECISION_FP16,
	PF_PRECISION_BF16,
	PF_PRECISION_FP8,
	PF_PRECISION_INT8,
	PF_PRECISION_INT4,
	PF_PRECISION_MIXED, /* the inputs differ */
	PF_PRECISIONS
};

struct pf_kernel_kind {
	enum pf_tensor_use use;
	enum pf_kernel_class class;
	enum pf_precision precision; /* only of products */
};

/* Does a kernel of this class multiply: is there a precision to know? */
static inline bool pf_class_multiplies(enum pf_kernel_class class)
{
	return class == PF_CLASS_GEMM || class == PF_CLASS_CONV ||
	       class == PF_CLASS_ATTENTION;
}

/* What data/kernels.csv says; the database's; NULL on error. */
struct pf_tensor;
const struct pf_tensor *pf_tensor_of(struct pf_db *db);

struct pf_kernel_kind pf_tensor_kind(const struct pf_tensor *t,
				     const char *name);

/*
 * Is this an operator whose matrix products and convolutions may run in
 * another precision: one of data/matrix_ops.csv?
 */
bool pf_tensor_op(const struct pf_tensor *t, const char *op);

struct pf_graphs; /* analysis/graphs/graphs.h */

/* What a group is; the order of PF_KERNELS_GROUPS. */
enum pf_kernels_group {
	PF_KERNELS_BY_NAME,
	PF_KERNELS_BY_NAME_OP,
	PF_KERNELS_BY_NAME_GEOMETRY,
	PF_KERNELS_BY_OP_SHAPE,
	PF_KERNELS_BY_OP,
	PF_KERNELS_BY_CATEGORY /* of XLA: operations of TPUs alone */
};
#define PF_KERNELS_GROUPS "name|name,op|name,grid,block|op,shape|op|category"

struct pf_kernels_args {
	struct pf_window_args window;
	int group; /* enum pf_kernels_group */
	/* Operators of replayed kernels, explained; or NULL. */
	struct pf_graphs *graphs;
	bool no_ranks; /* of durations: no median nor others */
};

/*
 * Calls of one group.  Where calls differ, or nothing is known: a text is
 * NULL, an integer negative, a double not a number.
 */
struct pf_kernel_row {
	struct pf_spread ns;    /* share: of the time of all kernels */
	const char *first;      /* name of the kernel, or the operator */
	const char *short_name; /* of the kernel */
	const char *second;     /* operator, geometry or shapes */
	int64_t replayed;       /* of the calls, whose operator a graph has */
	double cumulative_share;
	double blocks_per_sm, occupancy_percent;
	double blocks_weight, occupancy_weight; /* time they are known of */
	int64_t registers, shared_bytes, device, stream;
	const char *grid, *block;
	const char *tensor_cores, *class_word, *precision; /* by name */
	const char *op_eligible; /* may the op run in another precision? */
	/* If it has one name; of unknown class if those of calls differ. */
	struct pf_kernel_kind kind;
	uint32_t first_id, second_id; /* texts; of these also -2: they differ */
	int64_t grid_id, block_id;
};

struct pf_kernel_class_row {
	const char *class_word, *precision;
	int64_t calls, total_ns;
	double share;
};

struct pf_kernel_stream {
	struct pf_spread ns;
	int64_t trace_id, rank, device, stream; /* -1: unknown */
};

/* If more of the time is unknown, nothing is said of tensor cores. */
#define PF_KERNELS_MOST_UNKNOWN 0.2

/* A zero-initialised struct is an empty result; it owns all it points to. */
struct pf_kernels {
	struct pf_window window;
	enum pf_kernels_group group;
	int64_t total_ns, calls;
	struct pf_keyed by_key;
	struct pf_kernel_row *rows; /* of by_key, the most time first */
	int64_t row_count;
	double tensor_core_share; /* not a number: too much is unknown */
	int64_t tensor_core_ns, tensor_unknown_ns, tensor_unknown_calls;
	/* By name and operator: products that may run in another precision. */
	int64_t product_ns, product_fp32_ns, product_unknown_ns;
	struct pf_kernel_class_row classes[PF_CLASSES * PF_PRECISIONS];
	size_t class_count;
	struct pf_keyed streams; /* struct pf_kernel_stream */
	int64_t without_op, without_op_ns;
	const struct pf_graphs *graphs; /* borrowed: of the arguments */
	struct pf_intern names;         /* own texts, as: */
	struct pf_arena texts;
};

int pf_kernels_find(struct pf_db *db, const struct pf_kernels_args *args,
		    struct pf_kernels *out);
void pf_kernels_release(struct pf_kernels *kernels);

/*
 * Both, and what of the trace is not to be trusted.  What was found stays in
 * "kept", or NULL.
 */
int pf_kernels(struct pf_db *db, const struct pf_kernels_args *args,
	       struct pf_kernels *kept, struct pf_doc *doc);
