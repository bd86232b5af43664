/* SPDX-License-Identifier: MIT */
/* GPU work by the call of an operator that it belongs to (models.c). */
#pragma once

#include "analysis/roofline/gpus.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/spool.h"
#include "events/args.h"
#include "events/step.h"
#include "events/window.h"
#include "store/db.h"

/*
 * What a call must do at least: operations in products of matrices (a product
 * and a sum are two), all other arithmetic, and bytes between the GPU and its
 * memory when every tensor that it is given is read once and every result
 * written once.  In 64 bits, exactly: what does not fit has no answer.
 */

struct pf_op_work {
	uint64_t matrix, vector, bytes;
	/* Of one product: rows of its first matrix, bytes of its second. */
	uint64_t rows, weights; /* 0: it is no such thing */
	enum pf_peak precision; /* of its first tensor */
};

#define PF_MODEL_TENSORS 3
#define PF_MODEL_WITHOUT 2

/* One line of data/op_models.csv; -1: no such position. */
struct pf_op_model {
	const char *op;
	const char *family; /* "": has no model, but teaches */
	bool is_outermost;
	const struct pf_formula *formula; /* NULL: none */
	int tensors[PF_MODEL_TENSORS];
	int extra; /* position; what of, the formula says */
	uint64_t ops;
	int without[PF_MODEL_WITHOUT]; /* must be empty, or -1 */
	int teaches[3];                /* input, weight, result */
};

/*
 * Which call of an operator GPU work belongs to: the innermost one around its
 * launch that has a model; of families whose outermost call has the arguments
 * (data/op_models.csv) the outermost of the family.  Threads are walked once,
 * and what they launched is sorted by its call, beyond a budget on disk:
 * memory grows with different arguments alone.
 */

/* Calls with the same arguments; texts are JSON, or NULL: not recorded. */
struct pf_roof_shape {
	const char *op, *dims, *types, *values;
	const char *parent_dims, *parent_types; /* where they count */
	const struct pf_op_model *model;
	int64_t trace_id; /* of which it learns, or 0: it need not */
	bool is_modelled;
	struct pf_op_work work;
};

/* GPU work of a call; records of one call follow each other. */
struct pf_roof_work {
	int64_t call_id, start_ns, end_ns;
	uint32_t shape, name; /* in shapes; string.id of the work */
	uint32_t trace;       /* in the window's */
	uint32_t step;        /* in steps, or their count */
	bool is_recomputed;   /* in backward, what forward did before */
	bool is_host;         /* a copy from or to the host */
};

/* Why work belongs to no call. */
enum pf_roof_why {
	PF_ROOF_NO_MODEL,
	PF_ROOF_NO_SHAPES, /* not recorded */
	PF_ROOF_ODD,       /* arguments of a form that its model is not for */
	PF_ROOF_NO_OP,     /* no operator is around its launch */
	PF_ROOF_COMM,      /* communication moves what shapes do not say */
	PF_ROOF_WHYS
};

struct pf_roof_rest {
	const char *op; /* NULL: none */
	enum pf_roof_why why;
	int64_t count, ns;
};

struct pf_roof_walk {
	struct pf_window window;
	struct pf_steps steps;
	struct pf_op_models *models;
	struct pf_data *types;
	struct pf_roof_shape *shapes;
	size_t shape_count, shape_cap;
	struct pf_intern shape_keys; /* all that tells shapes apart */
	struct pf_roof_rest *rest;
	size_t rest_count, rest_cap;
	int64_t started_ns;     /* work that starts in the window */
	int64_t *how_ns;        /* of it, of graphs: by pf_graph_how; or NULL */
	int64_t *device_counts; /* of GPUs that work of a trace ran on */
	struct pf_sorter *works; /* struct pf_roof_work, sorted */
	struct pf_arena texts;
};

struct pf_graphs; /* analysis/graphs/graphs.h */

/*
 * Zero *out first, and release it also after an error.  graphs: of all time of
 * the same traces and device, explained, with arguments; or NULL.
 */
int pf_roof_walk(struct pf_db *db, const struct pf_window_args *args,
		 bool is_dense, struct pf_graphs *graphs,
		 struct pf_roof_walk *out);
void pf_roof_walk_release(struct pf_roof_walk *w);
/* Work that turned out to belong to no call, because of its shapes. */
void pf_roof_walk_rest(struct pf_roof_walk *w, const char *op,
		       enum pf_roof_why why, int64_t count, int64_t ns);
