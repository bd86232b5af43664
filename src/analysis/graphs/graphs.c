/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "analysis/graphs/graphs.h"

void pf_graphs_init(struct pf_graphs *g)
{
	*g = (struct pf_graphs){ 0 };
	pf_intern_init(&g->texts);
}

void pf_graphs_release(struct pf_graphs *g)
{
	pf_window_release(&g->window);
	pf_intern_release(&g->texts);
	pf_roles_free(g->roles);
	for (size_t i = 0; i < g->count; i++)
		free(g->graphs[i].nodes);
	for (size_t i = 0; i < g->capture_count; i++)
		free(g->captures[i].calls);
	free(g->role_of);
	free(g->graphs);
	free(g->iterations);
	free(g->captures);
	free(g->arounds);
	free(g->eager);
	free(g->launches_by_id);
	*g = (struct pf_graphs){ 0 };
}

const char *pf_graphs_text(const struct pf_graphs *g, uint32_t text)
{
	size_t len;

	return text == PF_NO_TEXT ? NULL
				  : pf_intern_text(&g->texts, text, &len);
}

enum pf_role pf_graphs_role(struct pf_graphs *g, uint32_t text)
{
	g->role_of =
		pf_grow_zero(g->role_of, &g->role_cap, (size_t)text + 1, 1);
	if (!g->role_of[text])
		g->role_of[text] =
			(uint8_t)(1 + pf_role_of(g->roles,
						 pf_graphs_text(g, text)));
	return (enum pf_role)(g->role_of[text] - 1);
}

const char *pf_graph_how_word(enum pf_graph_how how)
{
	static const char *const words[PF_HOWS] = {
		"eager",  "exact",    "order", "aligned",
		"family", "position", "class", "none",
	};

	return words[how];
}

static void find_layers(struct pf_graph *g)
{
	struct pf_layer_node *nodes = pf_calloc(g->count + 1, sizeof(*nodes));

	for (size_t i = 0; i < g->count; i++)
		nodes[i] = g->nodes[i].in;
	g->layers = pf_layers_find(nodes, g->count);
	for (size_t i = 0; i < g->count; i++) {
		g->nodes[i].in = nodes[i];
		if (nodes[i].layer >= 0)
			pf_sat_sum(&g->layer_ns, nodes[i].ns);
	}
	free(nodes);
}

/* The capture of its place first: the n-th launch is of the n-th. */
static bool match(struct pf_graphs *g, struct pf_graph *graph)
{
	for (size_t i = 0; i < g->capture_count; i++) {
		size_t at = ((size_t)graph->place + i) % g->capture_count;

		if (pf_graph_match(g, graph, &g->captures[at]))
			return true;
	}
	return false;
}

PF_ORDER(by_first, struct pf_graph,
	 PF_UP(trace_id) PF_UP(first_ns) PF_UP(place))

PF_ORDER(by_launch, struct pf_graph_launch, PF_UP(launch_id))

/* Graphs got their order: launches know them by index. */
static void settle_launches(struct pf_graphs *g)
{
	uint32_t *at = pf_calloc(g->count + 1, sizeof(*at));

	for (size_t i = 0; i < g->count; i++)
		at[g->graphs[i].number] = (uint32_t)i;
	for (size_t i = 0; i < g->launch_count; i++)
		g->launches_by_id[i].graph = at[g->launches_by_id[i].graph];
	pf_sort(g->launches_by_id, g->launch_count, sizeof(*g->launches_by_id),
		by_launch);
	free(at);
}

void pf_graphs_explain(struct pf_graphs *g)
{
	pf_sort(g->graphs, g->count, sizeof(*g->graphs), by_first);
	settle_launches(g);
	for (size_t i = 0; i < g->count; i++) {
		struct pf_graph *graph = &g->graphs[i];

		if (!g->is_brief)
			find_layers(graph);
		if (!match(g, graph))
			pf_graph_align(g, graph);
		for (size_t j = 0; j < graph->count; j++)
			pf_sat_sum(&graph->how_ns[graph->nodes[j].how],
				   graph->nodes[j].in.ns);
	}
}
