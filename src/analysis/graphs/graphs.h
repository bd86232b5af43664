/* SPDX-License-Identifier: MIT */
/*
 * GPU work that graphs replay, back to layers and operators.  One call of
 * cudaGraphLaunch or hipGraphLaunch owns hundreds of kernels and no operator;
 * launches with the same kernels in the same order are replays of one graph,
 * whose kernels are its nodes.  Nothing is claimed beyond what "how" says.
 *
 * Memory grows with the nodes of different graphs, up to a limit; what is past
 * it is counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/opt.h"
#include "events/trust.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

/*
 * What a kernel is for in a model, by its name alone (data/roles.csv), and
 * what stays of a name when shapes, tiles and counters change.
 */

/* Those that layers are found by; the others are only named. */
enum pf_role {
	PF_ROLE_OTHER,
	PF_ROLE_COMM,
	PF_ROLE_COPY,
	PF_ROLE_KV_CACHE,
	PF_ROLE_ATTENTION,
	PF_ROLE_ROPE,
	PF_ROLE_ROUTING,
	PF_ROLE_EXPERT_GEMM,
	PF_ROLE_NORM,
	PF_ROLE_ACTIVATION,
	PF_ROLE_QUANTIZE,
	PF_ROLE_GEMM,
	PF_ROLE_EMBEDDING,
	PF_ROLE_SAMPLING,
	PF_ROLE_ELEMENTWISE,
	PF_ROLE_REDUCTION,
	PF_ROLES
};

struct pf_roles;

/*
 * The layers of a model in a sequence of kernels, from nothing but their names
 * and roles: what repeats is a layer, or a few of them.  A stretch repeats
 * with period p if each kernel is the one p places on; the longest stretches
 * count.  A period whose kernels mostly occur m times holds m layers.  A layer
 * begins at the norm before the product that leads to attention.  What is
 * nearly a layer before the first of a stretch is one, too.
 */

#define PF_LAYERS_MAX_KERNELS 20000 /* longer sequences are not looked at */

/* What of a layer a product is. */
enum pf_layer_part {
	PF_PART_NONE,
	PF_PART_QKV, /* before the first attention */
	PF_PART_OUT, /* behind it, before the next norm */
	PF_PART_ROUTER,
	PF_PART_UP, /* before the activation */
	PF_PART_DOWN,
	PF_PARTS
};

struct pf_layer_node {
	uint32_t name; /* equal kernels have equal numbers */
	enum pf_role role;
	int64_t ns;
	/* Found; layer -1: outside. */
	int64_t layer, place;
	enum pf_layer_part part;
};

/* What says which operator a node is of, the strongest first. */
enum pf_graph_how {
	PF_HOW_EAGER,    /* its own call launched it */
	PF_HOW_EXACT,    /* a capture has the same kernels, by name */
	PF_HOW_ORDER,    /* the same number of calls, of the same kinds */
	PF_HOW_ALIGNED,  /* an eager run has the same name at this place */
	PF_HOW_FAMILY,   /* a name of the same family */
	PF_HOW_POSITION, /* one of the same role: no operator is claimed */
	PF_HOW_CLASS,    /* the role by its name alone */
	PF_HOW_NONE,
	PF_HOWS
};

#define PF_NO_TEXT UINT32_MAX

struct pf_graph_node {
	struct pf_layer_node in; /* name: in texts */
	uint32_t op, module;     /* in texts, or PF_NO_TEXT */
	uint32_t path;           /* of modules, a line each; the same */
	uint32_t around;         /* of captures: in arounds; the same */
	enum pf_graph_how how;
	int64_t stream, min_ns, max_ns;
};

struct pf_graph {
	int64_t trace_id, first_ns, replays, ns;
	int64_t place;   /* of its first launch among all of its trace */
	uint32_t number; /* that launches know it by */
	struct pf_graph_node *nodes;
	size_t count;
	int64_t layers, layer_ns;
	int64_t how_ns[PF_HOWS];
};

/* A replay. */
struct pf_graph_launch {
	int64_t launch_id;
	uint32_t graph;   /* its number, then its index (pf_graphs_explain()) */
	uint32_t next;    /* node that pf_graphs_next() gives next */
	int64_t start_ns; /* of the call */
};

/* A call of an operator in which others were captured. */
struct pf_graph_around {
	uint32_t parent;     /* that it is in: of arounds, or PF_NO_TEXT */
	uint32_t name, args; /* in texts; of arguments PF_NO_TEXT: none */
};

/* Work by the outermost range of an iteration around its launch. */
struct pf_graph_iteration {
	int64_t trace_id, start_ns, kernels, ns, replayed_ns;
	int64_t layers, layer_ns; /* PF_NO_INT: not looked at */
	uint32_t name;            /* in texts */
};

/* A call that was made while a graph was captured. */
struct pf_graph_call {
	uint32_t kernel; /* in texts; PF_NO_TEXT: not recorded */
	uint32_t op, module, path;
	uint32_t around; /* the innermost: in arounds */
	bool is_copy;
};
struct pf_graph_capture {
	struct pf_graph_call *calls;
	size_t count, cap;
};

/* A kernel with an operator that its own call launched. */
struct pf_graph_eager {
	int64_t start_ns;
	uint32_t name, op, module, path;
	enum pf_role role;
};

struct pf_graphs_args {
	struct pf_window_args window;
	struct pf_opt_list captures; /* traces or databases */
	const char *with;            /* a trace or a database, or NULL */
	const char *iteration;       /* regex, or NULL: the usual names */
	bool has_layers, has_nodes;  /* these tables are wanted */
	const char *store;           /* a file to write nodes to, or NULL */
	bool is_brief; /* operators alone: no layers, no iterations */
	bool has_args; /* of captured operators, with those around them */
};

/* What other commands take to name what graphs replay. */
struct pf_graph_evidence {
	bool is_wanted; /* by captures in the trace itself */
	struct pf_opt_list captures;
	const char *with;
};

/* clang-format off */
#define PF_GRAPH_OPTS(type, member)                                            \
	{ 0, "graphs", NULL,                                                   \
	  "name what graphs replay, by captures in the trace",                 \
	  PF_OPT_FLAG, offsetof(type, member.is_wanted), 0, 0 },               \
	{ 0, "capture", "FILE",                                                \
	  "the same by a trace of the capture; may be repeated",               \
	  PF_OPT_LIST, offsetof(type, member.captures), 0, 0 },                \
	{ 0, "with", "FILE",                                                   \
	  "the same by a trace without graphs",                                \
	  PF_OPT_STRING, offsetof(type, member.with), 0, 0 }
/* clang-format on */

struct pf_graphs {
	bool is_brief;
	struct pf_window window;
	struct pf_recorded recorded; /* set before it is shown */
	struct pf_intern texts;      /* names of kernels, operators, modules */
	struct pf_roles *roles;
	uint8_t *role_of; /* by text: enum pf_role + 1, 0: not asked */
	size_t role_cap;
	struct pf_graph *graphs; /* by trace and first launch */
	size_t count, cap, node_count;
	struct pf_graph_launch *launches_by_id;
	size_t launch_count, launch_cap;
	struct pf_graph_iteration *iterations;
	size_t iteration_count, iteration_cap;
	struct pf_graph_capture *captures;
	size_t capture_count, capture_cap;
	struct pf_graph_around *arounds; /* parents come first */
	size_t around_count, around_cap;
	struct pf_graph_eager *eager; /* of the reference, by start */
	size_t eager_count, eager_cap;
	int64_t gpu_ns, replayed_ns, replayed_count, launches;
	int64_t past_ns, past_count; /* of replays past the limit of nodes */
	/* Graphs of which one record says all: a launch each, of no kernels. */
	int64_t whole_ns, whole_count;
};

/*
 * Read a database: its graphs and iterations, and captures; or as a reference,
 * captures and kernels with operators alone.
 */
enum pf_graphs_read { PF_GRAPHS_OWN, PF_GRAPHS_CAPTURE, PF_GRAPHS_EAGER };
int pf_graphs_read(struct pf_db *db, const struct pf_graphs_args *args,
		   enum pf_graphs_read what, struct pf_graphs *out);

/* All was read: layers, and operators by what is there. */
void pf_graphs_explain(struct pf_graphs *g);
void pf_graphs_show(const struct pf_graphs *g,
		    const struct pf_graphs_args *args, struct pf_doc *doc);
void pf_graphs_release(struct pf_graphs *g);

/*
 * Names for other analyses of the same window, once all is explained.  The
 * graph that a call launched, all of whose work starts in the window; or NULL.
 */
const struct pf_graph *pf_graphs_of(const struct pf_graphs *g,
				    int64_t launch_id);
/* When a call that launched a graph began, and its number; 0 of others. */
int64_t pf_graphs_launch_ns(const struct pf_graphs *g, int64_t launch_id);
int64_t pf_graphs_launch_at(const struct pf_graphs *g, int64_t launch_id);
/* The node of the next work of a call, in order of time; or NULL. */
const struct pf_graph_node *pf_graphs_next(struct pf_graphs *g,
					   int64_t launch_id);
/* Its operator, if what says it does say operators; or NULL. */
const char *pf_graphs_op(const struct pf_graphs *g,
			 const struct pf_graph_node *n);
/* "exact 97.1 %, class 2.9 %": how much of a time is known how (PF_HOWS). */
void pf_graphs_say_how(const int64_t *how_ns, int64_t of_ns,
		       struct pf_buf *out);
/* How much is replayed, and how that is known; nothing without graphs. */
void pf_graphs_note(const struct pf_graphs *g, struct pf_doc *doc);

/*
 * Write the nodes of all launches to a new file, as the table graph_node
 * (schema/graph_node.sql).  What is there already is not replaced.
 */
int pf_graphs_store(const struct pf_graphs *g, const struct pf_db *db,
		    const char *path);

/* The text of a number, or NULL of PF_NO_TEXT. */
const char *pf_graphs_text(const struct pf_graphs *g, uint32_t text);
