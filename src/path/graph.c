/* SPDX-License-Identifier: MIT */
/*
 * Nodes and edges, and the order in which a replay can work them out.  Edges
 * to a node are a list while the graph is built; settling lays them beside
 * each other in the order of the nodes, so that a replay reads on and on.
 */
#include "path/path_impl.h"

uint32_t path_node(struct path_graph *g, int64_t at_ns, uint32_t thread)
{
	g->nodes = pf_grow(g->nodes, &g->node_cap, (size_t)g->node_count + 1,
			   sizeof(*g->nodes));
	g->nodes[g->node_count] =
		(struct path_node){ at_ns, PF_PATH_NONE, 0, thread };
	return g->node_count++;
}

struct path_edge *path_edge(struct path_graph *g, uint32_t to, uint32_t from,
			    enum path_kind kind, int64_t floor_ns,
			    uint32_t what)
{
	struct path_edge *e;

	g->edges = pf_grow(g->edges, &g->edge_cap, (size_t)g->edge_count + 1,
			   sizeof(*g->edges));
	e = &g->edges[g->edge_count];
	*e = (struct path_edge){
		.from = from,
		.next = g->nodes[to].first,
		.floor_ns = floor_ns,
		.what = what,
		.kind = (uint8_t)kind,
	};
	g->order_edges += kind == PATH_ORDER;
	g->nodes[to].first = g->edge_count++;
	g->nodes[to].count++;
	return e;
}

/* ---- order ---- */

enum { UNSEEN, OPEN, DONE };

struct visit {
	uint32_t node, edge; /* the next edge to follow */
};

/* It would close a circle: what bound the node is then where time began. */
static void cut(struct path_edge *e)
{
	if (e->is_binding) {
		e->from = PATH_ORIGIN;
		e->kind = PATH_START;
		e->floor_ns = PATH_RIGID;
	} else {
		e->kind = PATH_GONE;
	}
}

struct sort {
	struct path_graph *g;
	unsigned char *state;
	struct visit *stack;
	size_t depth, cap;
};

static void push(struct sort *s, uint32_t node)
{
	s->stack = pf_grow(s->stack, &s->cap, s->depth + 1, sizeof(*s->stack));
	s->stack[s->depth++] = (struct visit){ node, s->g->nodes[node].first };
	s->state[node] = OPEN;
}

static void visit(struct sort *s, uint32_t node)
{
	struct path_graph *g = s->g;

	if (s->state[node] != UNSEEN)
		return;
	push(s, node);
	while (s->depth) {
		struct visit *v = &s->stack[s->depth - 1];
		struct path_edge *e;

		if (v->edge == PF_PATH_NONE) {
			s->state[v->node] = DONE;
			g->order[g->order_count++] = v->node;
			s->depth--;
			continue;
		}
		e = &g->edges[v->edge];
		v->edge = e->next;
		if (e->kind == PATH_GONE)
			continue;
		if (s->state[e->from] == OPEN)
			cut(e);
		if (e->kind != PATH_GONE && s->state[e->from] == UNSEEN)
			push(s, e->from);
	}
}

/* Lay edges beside each other, in the order in which they were added. */
static void lay_out(struct path_graph *g)
{
	struct path_edge *out =
		pf_calloc((size_t)g->edge_count + 1, sizeof(*out));
	uint32_t at = 0;

	for (uint32_t i = 0; i < g->order_count; i++) {
		struct path_node *n = &g->nodes[g->order[i]];
		uint32_t k = n->count, e = n->first;

		n->first = at;
		for (; e != PF_PATH_NONE; e = g->edges[e].next)
			out[at + --k] = g->edges[e];
		at += n->count;
	}
	free(g->edges);
	g->edges = out;
	g->edge_count = at;
}

void path_settle(struct path_graph *g)
{
	struct sort s = { .g = g };

	s.state = pf_calloc((size_t)g->node_count + 1, 1);
	g->order = pf_calloc((size_t)g->node_count + 1, sizeof(*g->order));
	g->order_count = 0;
	visit(&s, PATH_ORIGIN);
	for (uint32_t n = 0; n < g->node_count; n++)
		visit(&s, n);
	lay_out(g);
	free(s.state);
	free(s.stack);
}

/* ---- what bound a node, and what edges take ---- */

const struct path_edge *path_binding(const struct path_graph *g, uint32_t node)
{
	const struct path_node *n = &g->nodes[node];

	for (uint32_t i = 0; i < n->count; i++)
		if (g->edges[n->first + i].is_binding)
			return &g->edges[n->first + i];
	return NULL;
}

int64_t path_weight(const struct path_graph *g, uint32_t to,
		    const struct path_edge *e)
{
	int64_t measured = g->nodes[to].at_ns - g->nodes[e->from].at_ns;

	switch ((enum path_kind)e->kind) {
	case PATH_END:
		return 0;
	case PATH_START:
		return e->is_binding ? measured : 0;
	case PATH_HOST:
	case PATH_QUEUE:
		if (!e->is_binding && e->floor_ns != PATH_RIGID)
			return e->floor_ns;
		return measured;
	case PATH_LAUNCH:
	case PATH_GAP:
	case PATH_OVERLAP:
	case PATH_WAIT:
	case PATH_INFERRED:
	case PATH_ORDER:
		if (!e->is_binding && e->floor_ns < measured)
			return e->floor_ns;
		return measured;
	default:
		return measured;
	}
}

void path_graph_release(struct path_graph *g)
{
	free(g->nodes);
	free(g->edges);
	free(g->order);
	*g = (struct path_graph){ 0 };
}
