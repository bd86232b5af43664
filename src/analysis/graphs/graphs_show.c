/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/stats.h"
#include "events/hints.h"
#include "analysis/graphs/graphs.h"
#include "show/rows.h"

struct graph_row {
	int64_t trace_id, graph, replays, nodes, ns, mean_ns, layers, layer_ns;
	double share;
	int64_t how_ns[PF_HOWS];
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct graph_row, member, key, title, kind)
static const struct pf_field graph_fields[] = {
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
	FIELD(graph, "graph", "Graph", PF_INT),
	FIELD(replays, "replays", "Replays", PF_COUNT),
	FIELD(nodes, "nodes", "Nodes", PF_COUNT),
	FIELD(ns, "gpu_ns", "GPU time", PF_NS),
	FIELD(share, "share", "Share", PF_RATIO),
	FIELD(mean_ns, "mean_ns", "A replay", PF_NS),
	FIELD(layers, "layers", "Layers", PF_COUNT),
	FIELD(layer_ns, "layer_ns", "In layers", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_EXACT], "exact_ns", "Exact", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_ORDER], "order_ns", "Order", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_ALIGNED], "aligned_ns", "Aligned", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_FAMILY], "family_ns", "Family", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_POSITION], "position_ns", "Position",
	      PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_CLASS], "class_ns", "Class", PF_NS | PF_FULL),
	FIELD(how_ns[PF_HOW_NONE], "none_ns", "None", PF_NS | PF_FULL),
};
#undef FIELD

struct word_row {
	const char *word, *part;
	int64_t count, ns;
	double share;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct word_row, member, key, title, kind)
static const struct pf_field how_fields[] = {
	FIELD(word, "how", "How", PF_TEXT | PF_OURS),
	FIELD(part, "meaning", "What says so", PF_TEXT | PF_OURS),
	FIELD(count, "work_count", "GPU events", PF_COUNT),
	FIELD(ns, "gpu_ns", "GPU time", PF_NS),
	FIELD(share, "share", "Share", PF_RATIO),
};
static const struct pf_field role_fields[] = {
	FIELD(word, "role", "Role", PF_TEXT | PF_OURS),
	FIELD(part, "part", "Part", PF_TEXT | PF_OURS),
	FIELD(count, "work_count", "GPU events", PF_COUNT),
	FIELD(ns, "gpu_ns", "GPU time", PF_NS),
	FIELD(share, "share", "Share", PF_RATIO),
};
static const struct pf_field op_fields[] = {
	FIELD(word, "op", "Operator", PF_TEXT),
	FIELD(count, "work_count", "GPU events", PF_COUNT),
	FIELD(ns, "gpu_ns", "GPU time", PF_NS),
	FIELD(share, "share", "Share", PF_RATIO),
};
#undef FIELD

struct layer_row {
	int64_t trace_id, graph, layer, nodes, ns, attention_ns, gemm_ns;
	int64_t other_ns, usual_ns;
	double against; /* the layers with as many kernels: how much more */
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct layer_row, member, key, title, kind)
static const struct pf_field layer_fields[] = {
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
	FIELD(graph, "graph", "Graph", PF_INT),
	FIELD(layer, "layer", "Layer", PF_INT),
	FIELD(nodes, "nodes", "Nodes", PF_COUNT),
	FIELD(ns, "replay_ns", "A replay", PF_NS),
	FIELD(attention_ns, "attention_ns", "Attention", PF_NS),
	FIELD(gemm_ns, "gemm_ns", "Products", PF_NS),
	FIELD(other_ns, "other_ns", "Other", PF_NS),
	FIELD(usual_ns, "usual_ns", "Usual", PF_NS | PF_FULL),
	FIELD(against, "against_usual", "Against usual", PF_RATIO | PF_SIGNED),
};
#undef FIELD

struct node_row {
	int64_t trace_id, graph, node, stream, layer, place, ns, min_ns, max_ns;
	const char *role, *part, *how, *op, *module, *name;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct node_row, member, key, title, kind)
static const struct pf_field node_fields[] = {
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
	FIELD(graph, "graph", "Graph", PF_INT),
	FIELD(node, "node", "Node", PF_INT),
	FIELD(stream, "stream", "Stream", PF_INT | PF_KNOWN | PF_FULL),
	FIELD(layer, "layer", "Layer", PF_INT | PF_KNOWN),
	FIELD(place, "place", "Place", PF_INT | PF_KNOWN | PF_FULL),
	FIELD(role, "role", "Role", PF_TEXT | PF_OURS),
	FIELD(part, "part", "Part", PF_TEXT | PF_OURS | PF_FULL),
	FIELD(how, "how", "How", PF_TEXT | PF_OURS),
	FIELD(op, "op", "Operator", PF_TEXT),
	FIELD(module, "module", "Module", PF_TEXT | PF_FULL),
	FIELD(ns, "replay_ns", "A replay", PF_NS),
	FIELD(min_ns, "min_ns", "Min", PF_NS | PF_FULL),
	FIELD(max_ns, "max_ns", "Max", PF_NS | PF_FULL),
	FIELD(name, "name", "Kernel", PF_TEXT),
};
#undef FIELD

struct iteration_row {
	int64_t trace_id, start_ns, kernels, ns, replayed_ns, layers, layer_ns;
	const char *name;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct iteration_row, member, key, title, kind)
static const struct pf_field iteration_fields[] = {
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
	FIELD(start_ns, "start_ns", "Start", PF_INT | PF_FULL),
	FIELD(name, "iteration", "Iteration", PF_TEXT),
	FIELD(kernels, "work_count", "GPU events", PF_COUNT),
	FIELD(ns, "gpu_ns", "GPU time", PF_NS),
	FIELD(replayed_ns, "replayed_ns", "Replayed", PF_NS),
	FIELD(layers, "layers", "Layers", PF_COUNT | PF_MAYBE),
	FIELD(layer_ns, "layer_ns", "In layers", PF_NS | PF_MAYBE),
};
#undef FIELD

/* ---- the sentence and the figures ---- */

/* What is replayed of all that was recorded, by kernels or as a whole. */
static int64_t replayed(const struct pf_graphs *g)
{
	return pf_sat_add(g->replayed_ns, g->whole_ns);
}

static void find_whole(const struct pf_graphs *g, struct pf_doc *doc)
{
	char count[PF_NUM_MAX], ns[PF_NUM_MAX], part[PF_NUM_MAX];

	pf_doc_finding(
		doc,
		"Graphs were recorded as a whole, without their "
		"kernels: what %s launch%s of them replay%s is not "
		"known (%s, %s of the GPU time%s)",
		pf_num_show_count(count, g->whole_count),
		g->whole_count == 1 ? "" : "es", g->whole_count == 1 ? "s" : "",
		pf_num_show_ns(ns, g->whole_ns),
		pf_num_show_ratio(part, pf_num_share(g->whole_ns, g->gpu_ns)),
		pf_window_scope(&g->window));
}

static void add_none(const struct pf_graphs *g, struct pf_doc *doc)
{
	if (!g->recorded.has_work)
		pf_doc_finding(doc, "%s", pf_window_no_work(&g->window));
	else if (g->whole_count)
		find_whole(g, doc);
	else if (!g->recorded.has_calls)
		pf_doc_finding(doc, "There are no launch calls: whether graphs "
				    "replay GPU work is not known");
	else
		pf_doc_finding(doc, "No GPU work%s is replayed by a graph",
			       pf_window_scope(&g->window));
}

static void add_finding(const struct pf_graphs *g, const int64_t *how_ns,
			struct pf_doc *doc)
{
	char part[PF_NUM_MAX], ns[PF_NUM_MAX], all[PF_NUM_MAX];
	char known[PF_NUM_MAX];
	int64_t ops = how_ns[PF_HOW_EXACT] + how_ns[PF_HOW_ORDER] +
		      how_ns[PF_HOW_ALIGNED] + how_ns[PF_HOW_FAMILY];

	doc->is_nothing = !g->launches && !g->iteration_count;
	if (!g->launches) {
		add_none(g, doc);
		return;
	}
	pf_doc_finding(
		doc,
		"%s of the GPU time%s is replayed by graphs (%s of %s); the "
		"operator is known of %s of that",
		pf_num_show_ratio(part, pf_num_share(replayed(g), g->gpu_ns)),
		pf_window_scope(&g->window), pf_num_show_ns(ns, replayed(g)),
		pf_num_show_ns(all, g->gpu_ns),
		pf_num_show_ratio(known, pf_num_share(ops, replayed(g))));
}

static void add_figure(struct pf_doc *doc, const char *key, const char *title,
		       enum pf_col_kind kind, bool is_known, int64_t value)
{
	if (is_known)
		pf_doc_int(doc, key, title, kind, value);
	else
		pf_doc_null(doc, key, title, kind);
}

/* Launches are told by calls, graphs and what they replay by kernels. */
static void add_figures(const struct pf_graphs *g, struct pf_doc *doc)
{
	bool has_calls = g->recorded.has_calls || !g->recorded.has_work;
	bool has_kernels = has_calls && !g->whole_count;

	pf_doc_int(doc, "gpu_ns", "GPU time, summed", PF_NS, g->gpu_ns);
	add_figure(doc, "replayed_ns", "  replayed by graphs", PF_NS, has_calls,
		   replayed(g));
	pf_doc_int(doc, "whole_ns", "    recorded as a whole", PF_NS | PF_QUIET,
		   g->whole_ns);
	add_figure(doc, "replayed_count", "GPU events replayed", PF_COUNT,
		   has_kernels, g->replayed_count);
	add_figure(doc, "launch_count", "Launches of graphs", PF_COUNT,
		   has_calls, pf_sat_add(g->launches, g->whole_count));
	pf_doc_int(doc, "whole_count", "  recorded as a whole",
		   PF_COUNT | PF_QUIET, g->whole_count);
	add_figure(doc, "graph_count", "  different graphs", PF_COUNT,
		   has_kernels, (int64_t)g->count);
	pf_doc_int(doc, "capture_count", "Captures", PF_COUNT | PF_QUIET,
		   (int64_t)g->capture_count);
	pf_doc_int(doc, "past_ns", "Replayed, not looked at", PF_NS | PF_QUIET,
		   g->past_ns);
}

/* ---- tables ---- */

static void add_graphs(const struct pf_graphs *g, struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "graphs", "Graphs", PF_FIELDS(graph_fields));

	for (size_t i = 0; i < g->count; i++) {
		const struct pf_graph *graph = &g->graphs[i];
		struct graph_row row = {
			.trace_id = graph->trace_id,
			.graph = (int64_t)i,
			.replays = graph->replays,
			.nodes = (int64_t)graph->count,
			.ns = graph->ns,
			.mean_ns = graph->ns / graph->replays,
			.layers = graph->layers,
			.layer_ns = graph->layer_ns,
			.share = pf_ratio((double)graph->ns, g->gpu_ns),
		};

		memcpy(row.how_ns, graph->how_ns, sizeof(row.how_ns));
		PF_PUT(t, graph_fields, row);
	}
}

PF_ORDER(by_ns, struct word_row, PF_DOWN(ns) PF_ALPHA(word) PF_ALPHA(part))

static void put_words(const struct pf_graphs *g, struct pf_table *t,
		      const struct pf_field *fields, size_t field_count,
		      struct word_row *rows, size_t count)
{
	pf_sort(rows, count, sizeof(*rows), by_ns);
	for (size_t i = 0; i < count; i++) {
		rows[i].share = pf_ratio((double)rows[i].ns, g->replayed_ns);
		if (rows[i].count)
			pf_table_put(t, fields, field_count, &rows[i],
				     sizeof(rows[i]));
	}
}

static void add_hows(const struct pf_graphs *g, const struct word_row *hows,
		     struct pf_doc *doc)
{
	static const char *const meanings[PF_HOWS] = {
		[PF_HOW_EAGER] = "its own launch",
		[PF_HOW_EXACT] = "a capture of the same kernels",
		[PF_HOW_ORDER] = "a capture of as many calls",
		[PF_HOW_ALIGNED] = "the same kernel in an eager run",
		[PF_HOW_FAMILY] = "a like kernel in an eager run",
		[PF_HOW_POSITION] = "its place; no operator",
		[PF_HOW_CLASS] = "its name: a role, no operator",
		[PF_HOW_NONE] = "nothing",
	};
	struct pf_table *t =
		pf_doc_fields(doc, "evidence", "What says which operator",
			      PF_FIELDS(how_fields));

	for (size_t i = 0; i < PF_HOWS; i++) {
		struct word_row row = hows[i];

		row.part = meanings[i];
		row.share = pf_ratio((double)row.ns, g->replayed_ns);
		if (row.count)
			PF_PUT(t, how_fields, row);
	}
}

static void add_roles(const struct pf_graphs *g, struct pf_doc *doc)
{
	struct word_row rows[PF_ROLES * PF_PARTS] = { { 0 } };
	struct pf_table *t = pf_doc_fields(doc, "roles", "Replayed, by role",
					   PF_FIELDS(role_fields));

	for (size_t i = 0; i < PF_ROLES * PF_PARTS; i++) {
		rows[i].word = pf_role_word((enum pf_role)(i / PF_PARTS));
		rows[i].part = pf_part_word((enum pf_layer_part)(i % PF_PARTS));
	}
	for (size_t i = 0; i < g->count; i++)
		for (size_t j = 0; j < g->graphs[i].count; j++) {
			const struct pf_layer_node *n =
				&g->graphs[i].nodes[j].in;
			struct word_row *row =
				&rows[n->role * PF_PARTS + n->part];

			row->count += g->graphs[i].replays;
			pf_sat_sum(&row->ns, n->ns);
		}
	put_words(g, t, PF_FIELDS(role_fields), rows, PF_ROLES * PF_PARTS);
}

static void add_ops(const struct pf_graphs *g, struct pf_doc *doc)
{
	struct word_row *rows = NULL;
	size_t cap = 0, count = 0;
	struct pf_table *t;
	struct pf_map at;

	pf_map_init(&at);
	for (size_t i = 0; i < g->count; i++)
		for (size_t j = 0; j < g->graphs[i].count; j++) {
			const struct pf_graph_node *n = &g->graphs[i].nodes[j];
			uint64_t *place;

			if (n->op == PF_NO_TEXT)
				continue;
			place = pf_map_at(&at, n->op);
			if (*place == UINT64_MAX) {
				*place = count;
				rows = pf_grow(rows, &cap, count + 1,
					       sizeof(*rows));
				rows[count++] = (struct word_row){
					.word = pf_graphs_text(g, n->op)
				};
			}
			rows[*place].count += g->graphs[i].replays;
			pf_sat_sum(&rows[*place].ns, n->in.ns);
		}
	if (count) {
		t = pf_doc_fields(doc, "ops", "Replayed, by operator",
				  PF_FIELDS(op_fields));
		put_words(g, t, PF_FIELDS(op_fields), rows, count);
	}
	pf_map_release(&at);
	free(rows);
}

/* The median of layers with as many kernels; 0: there are no others. */
static int64_t usual(const struct layer_row *rows, size_t count, int64_t nodes)
{
	int64_t *values = pf_calloc(count + 1, sizeof(*values)), middle = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].nodes == nodes)
			values[n++] = rows[i].ns;
	pf_sort(values, n, sizeof(*values), pf_stats_compare);
	if (n > 2)
		middle = values[n / 2];
	free(values);
	return middle;
}

static bool is_attention(enum pf_role role)
{
	return role == PF_ROLE_ATTENTION || role == PF_ROLE_KV_CACHE ||
	       role == PF_ROLE_ROPE;
}

static void add_layers_of(const struct pf_graph *g, size_t number,
			  struct pf_table *t)
{
	size_t count = (size_t)g->layers;
	struct layer_row *rows = pf_calloc(count + 1, sizeof(*rows));

	for (size_t i = 0; i < g->count; i++) {
		const struct pf_layer_node *n = &g->nodes[i].in;
		struct layer_row *row;

		if (n->layer < 0)
			continue;
		row = &rows[n->layer];
		row->nodes++;
		pf_sat_sum(&row->ns, n->ns);
		pf_sat_sum(is_attention(n->role) ? &row->attention_ns
			   : n->role == PF_ROLE_GEMM ||
					   n->role == PF_ROLE_EXPERT_GEMM
				   ? &row->gemm_ns
				   : &row->other_ns,
			   n->ns);
	}
	for (size_t i = 0; i < count; i++) {
		struct layer_row row = rows[i];

		row.trace_id = g->trace_id;
		row.graph = (int64_t)number;
		row.layer = (int64_t)i;
		row.usual_ns = usual(rows, count, row.nodes);
		row.against =
			pf_ratio((double)(row.ns - row.usual_ns), row.usual_ns);
		row.usual_ns /= g->replays;
		row.attention_ns /= g->replays;
		row.gemm_ns /= g->replays;
		row.ns /= g->replays;
		row.other_ns = row.ns - row.attention_ns - row.gemm_ns;
		PF_PUT(t, layer_fields, row);
	}
	free(rows);
}

static void add_nodes(const struct pf_graphs *g, struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "nodes", "Nodes", PF_FIELDS(node_fields));

	for (size_t i = 0; i < g->count; i++)
		for (size_t j = 0; j < g->graphs[i].count; j++) {
			const struct pf_graph_node *n = &g->graphs[i].nodes[j];
			struct node_row row = {
				.trace_id = g->graphs[i].trace_id,
				.graph = (int64_t)i,
				.node = (int64_t)j,
				.stream = n->stream,
				.layer = n->in.layer,
				.place = n->in.place,
				.ns = n->in.ns / g->graphs[i].replays,
				.min_ns = n->min_ns,
				.max_ns = n->max_ns,
				.role = pf_role_word(n->in.role),
				.part = pf_part_word(n->in.part),
				.how = pf_graph_how_word(n->how),
				.op = pf_graphs_text(g, n->op),
				.module = pf_graphs_text(g, n->module),
				.name = pf_graphs_text(g, n->in.name),
			};

			PF_PUT(t, node_fields, row);
		}
}

static void add_iterations(const struct pf_graphs *g, struct pf_doc *doc)
{
	struct pf_table *t;

	if (!g->iteration_count)
		return;
	t = pf_doc_fields(doc, "iterations", "Iterations",
			  PF_FIELDS(iteration_fields));
	for (size_t i = 0; i < g->iteration_count; i++) {
		const struct pf_graph_iteration *it = &g->iterations[i];
		struct iteration_row row = {
			it->trace_id,    it->start_ns,
			it->kernels,     it->ns,
			it->replayed_ns, it->layers,
			it->layer_ns,    pf_graphs_text(g, it->name),
		};

		PF_PUT(t, iteration_fields, row);
	}
}

void pf_graphs_show(const struct pf_graphs *g,
		    const struct pf_graphs_args *args, struct pf_doc *doc)
{
	struct word_row hows[PF_HOWS] = { { 0 } };
	int64_t how_ns[PF_HOWS] = { 0 };
	struct pf_table *t;

	for (size_t i = 0; i < PF_HOWS; i++)
		hows[i].word = pf_graph_how_word((enum pf_graph_how)i);
	for (size_t i = 0; i < g->count; i++)
		for (size_t j = 0; j < g->graphs[i].count; j++) {
			const struct pf_graph_node *n = &g->graphs[i].nodes[j];

			hows[n->how].count += g->graphs[i].replays;
			pf_sat_sum(&hows[n->how].ns, n->in.ns);
			pf_sat_sum(&how_ns[n->how], n->in.ns);
		}
	add_finding(g, how_ns, doc);
	add_figures(g, doc);
	add_graphs(g, doc);
	add_hows(g, hows, doc);
	add_roles(g, doc);
	add_ops(g, doc);
	if (args->has_layers) {
		t = pf_doc_fields(doc, "layers", "Layers of graphs",
				  PF_FIELDS(layer_fields));
		for (size_t i = 0; i < g->count; i++)
			add_layers_of(&g->graphs[i], i, t);
	}
	if (args->has_nodes)
		add_nodes(g, doc);
	add_iterations(g, doc);
	if (g->whole_count)
		pf_doc_note(doc, "graphs recorded as a whole: %s",
			    pf_hint(g->recorded.producer, PF_HINT_GRAPHS));
}
