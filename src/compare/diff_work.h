/* SPDX-License-Identifier: MIT */
/*
 * The inside of pf_capture_work(): GPU work is sorted by its launch call, so
 * that one walk over each host thread finds where every launch came from.
 * Only diff_work.c and diff_host.c include this.
 *
 * A node is a place in the tree of modules, annotations and operators; equal
 * places are one node.
 */
#ifndef PF_ANALYSIS_DIFF_WORK_H
#define PF_ANALYSIS_DIFF_WORK_H

#include "compare/diff_capture.h"
#include "events/names.h"
#include "base/spool.h"
#include "store/texts.h"

#define PF_NODE_ROOT  0          /* nothing around */
#define PF_NODE_OTHER 1          /* more places than are kept */
#define PF_NODE_NONE  UINT32_MAX /* not looked for yet */

struct pf_node_place {
	uint32_t parent;
	uint32_t name;               /* number of a text */
	uint32_t kind;               /* enum pf_kind */
	uint32_t module, annotation; /* nodes; ROOT: none */
};

/* What a string.id stands for. */
struct pf_work_name {
	uint32_t text;      /* number, UINT32_MAX: not looked up */
	uint32_t node_text; /* the same without numbers of steps */
	bool is_step, is_module, is_allocator, is_launch, is_graph;
	uint32_t rows[3]; /* of an annotation, a call; UINT32_MAX: none yet */
};

/* GPU work on its way to its launch call; the first two are sorted by. */
struct pf_launched {
	int64_t launch_id, order;
	int64_t trace_id, start_ns, dur_ns, bytes;
	uint32_t name, slot;
	uint8_t kind, class, way, origin; /* as of struct pf_gpu_event */
	uint32_t unused;
};

struct pf_work_slot { /* a stream of a device */
	int64_t device, stream, ns;
};

struct pf_work {
	struct pf_db *db;
	const struct pf_window *window;
	struct pf_capture *c;
	struct pf_texts texts;
	struct pf_kinds kinds;
	struct pf_work_name *names;
	size_t name_count; /* ids below it are looked up once */
	struct pf_work_name other_name;
	struct pf_map shapes;        /* argset.id -> number of text */
	struct pf_map memories;      /* argset.id -> device + 1, 0: no GPU */
	struct pf_intern node_keys;  /* bytes of (parent, name, kind) */
	struct pf_node_place *nodes; /* by number in node_keys + 2 */
	size_t node_cap;
	struct pf_intern row_keys; /* bytes of a struct row_key */
	size_t work_cap, op_cap;
	struct pf_intern op_keys;
	struct pf_map op_of; /* name and arguments -> row of c->ops */
	struct pf_sorter *launched;
	const struct pf_launched *next; /* NULL: no more */
	struct pf_work_slot *slots;
	size_t slot_count, slot_cap;
	struct pf_map slot_of; /* track and configuration -> slot */
	uint64_t order;
	bool has_memory;
	uint32_t none; /* number of the empty text */
	struct pf_buf text;
};

/* NULL on an error. */
struct pf_work_name *pf_work_name(struct pf_work *w, uint32_t name,
				  struct pf_err *err);
/* The shapes and types of the inputs in arguments; "" if they say none. */
int pf_work_shapes(struct pf_work *w, uint32_t args, uint32_t *out,
		   struct pf_err *err);
/* The device of a memory record's arguments; -1: no GPU. */
int pf_work_memory_device(struct pf_work *w, uint32_t args, int64_t *device,
			  struct pf_err *err);
uint32_t pf_work_node(struct pf_work *w, uint32_t parent, uint32_t name,
		      uint32_t kind);
/* Take in GPU work that was launched from a place. */
int pf_work_add(struct pf_work *w, const struct pf_launched *l, uint32_t node,
		uint32_t op, uint32_t shapes, struct pf_capture_step *step,
		struct pf_err *err);
/* The same of work without a launch call. */
int pf_work_add_orphan(struct pf_work *w, const struct pf_launched *l,
		       struct pf_err *err);
/* w->next, in order of launch calls. */
int pf_work_next(struct pf_work *w, struct pf_err *err);
/* The row of an operator, which is counted by the caller. */
struct pf_op_row *pf_work_op(struct pf_work *w, uint32_t name, uint32_t shapes,
			     uint32_t kind);

/* Walk the host threads of a trace; diff_host.c. */
int pf_work_walk(struct pf_work *w, int64_t trace_id, struct pf_err *err);

#endif
