/* SPDX-License-Identifier: MIT */
/*
 * Which call of an operator GPU work belongs to: the innermost one around its
 * launch that has a model; of families whose outermost call has the arguments
 * (data/op_models.csv) the outermost of the family.  Threads are walked once,
 * and what they launched is sorted by its call, beyond a budget on disk:
 * memory grows with different arguments alone.
 */
#ifndef PF_ANALYSIS_ROOFLINE_WALK_H
#define PF_ANALYSIS_ROOFLINE_WALK_H

#include "analysis/roofline/models.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/spool.h"
#include "events/step.h"
#include "events/window.h"
#include "store/db.h"

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
	struct pf_op_types *types;
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
struct pf_json;   /* events/args.h */

/*
 * Zero *out first, and release it also after an error.  graphs: of all time of
 * the same traces and device, explained, with arguments; or NULL.
 */
int pf_roof_walk(struct pf_db *db, const struct pf_window_args *args,
		 bool is_dense, struct pf_graphs *graphs,
		 struct pf_roof_walk *out);
/* Work that turned out to belong to no call, because of its shapes. */
void pf_roof_walk_rest(struct pf_roof_walk *w, const char *op,
		       enum pf_roof_why why, int64_t count, int64_t ns);
void pf_roof_walk_release(struct pf_roof_walk *w);

/*
 * What backward does a second time because forward did not keep it
 * (activation checkpointing): such calls are work of the GPU, and no progress
 * of the model.  Told by what is open around a call: a node of autograd whose
 * checkpoint runs forward again, torch's own functions that do, or an operator
 * that only forward calls inside a node of torch's.
 */

enum pf_recompute {
	PF_RECOMPUTE_NONE,
	PF_RECOMPUTE_BACKWARD, /* in a node of torch's */
	PF_RECOMPUTE_OTHER,    /* in a node that may call anything */
	PF_RECOMPUTE_AGAIN,
};

/* What the name of a range says. */
struct pf_recompute_word {
	uint8_t of; /* enum pf_recompute: of what is inside a node */
	uint8_t is_forward, is_frame; /* an operator; a Python function */
};

struct pf_recompute_word pf_recompute_word(const char *name);

/* The state inside a range (kind: enum pf_kind) from that around it. */
enum pf_recompute pf_recompute_next(enum pf_recompute around,
				    struct pf_recompute_word word,
				    unsigned kind);

#endif
