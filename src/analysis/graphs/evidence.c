/* SPDX-License-Identifier: MIT */
/*
 * A capture has the calls of a graph in its order, so the two must be of one
 * length; where names are recorded, what was captured and not replayed may be
 * passed over.  An eager run is aligned as sequences are: equal names are
 * worth most, places that nothing faces cost something.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "analysis/graphs/graphs.h"

#define ALIGN_CELLS (64u << 20) /* bytes that an alignment may take */

/* ---- captures ---- */

static bool is_same(const struct pf_graph_call *c,
		    const struct pf_graph_node *n)
{
	if (c->kernel != PF_NO_TEXT)
		return c->kernel == n->in.name;
	return c->is_copy == (n->in.role == PF_ROLE_COPY);
}

static void claim(struct pf_graph_node *n, const struct pf_graph_call *c,
		  enum pf_graph_how how)
{
	n->op = c->op;
	n->module = c->module;
	n->path = c->path;
	n->around = c->around;
	n->how = how;
}

static bool match_all(struct pf_graph *g, const struct pf_graph_capture *c)
{
	bool has_names = true;

	if (g->count != c->count)
		return false;
	for (size_t i = 0; i < g->count; i++) {
		if (!is_same(&c->calls[i], &g->nodes[i]))
			return false;
		has_names &=
			c->calls[i].kernel != PF_NO_TEXT || c->calls[i].is_copy;
	}
	for (size_t i = 0; i < g->count; i++)
		claim(&g->nodes[i], &c->calls[i],
		      has_names ? PF_HOW_EXACT : PF_HOW_ORDER);
	return true;
}

/* The call of each node, or c->count; how many have one. */
static size_t match_some(const struct pf_graph *g,
			 const struct pf_graph_capture *c, size_t *at)
{
	size_t from = 0, met = 0;

	for (size_t i = 0; i < g->count; i++) {
		size_t j = from;

		while (j < c->count && !is_same(&c->calls[j], &g->nodes[i]))
			j++;
		at[i] = j;
		if (j == c->count)
			continue;
		met++;
		from = j + 1;
	}
	return met;
}

bool pf_graph_match(struct pf_graphs *g, struct pf_graph *graph,
		    const struct pf_graph_capture *c)
{
	size_t apart = graph->count > c->count ? graph->count - c->count
					       : c->count - graph->count;
	bool has_names = false;
	size_t *at;

	(void)g;
	if (!c->count || apart > 2 + graph->count / 50)
		return false;
	if (match_all(graph, c))
		return true;
	for (size_t i = 0; i < c->count; i++)
		has_names |= c->calls[i].kernel != PF_NO_TEXT;
	if (!has_names)
		return false;
	at = pf_calloc(graph->count + 1, sizeof(*at));
	if (50 * match_some(graph, c, at) < 49 * graph->count) {
		free(at);
		return false;
	}
	for (size_t i = 0; i < graph->count; i++)
		if (at[i] < c->count)
			claim(&graph->nodes[i], &c->calls[at[i]], PF_HOW_EXACT);
	free(at);
	return true;
}

/* ---- an eager run ---- */

enum step { BOTH, NODE, OTHER };

struct side {
	uint32_t name, family;
	enum pf_role role;
};

static int worth(const struct side *a, const struct side *b)
{
	if (a->name == b->name)
		return 4;
	if (a->family == b->family)
		return 3;
	return a->role == b->role && a->role != PF_ROLE_OTHER ? 1 : -3;
}

static uint32_t family_of(struct pf_graphs *g, struct pf_intern *families,
			  uint32_t name, enum pf_role role)
{
	struct pf_buf text = { 0 };
	uint32_t n;

	pf_role_family(pf_graphs_text(g, name), role, &text);
	n = pf_intern_add(families, text.data, text.len);
	pf_buf_release(&text);
	return n;
}

/* Which step leads to each cell, row by row. */
static uint8_t *fill(const struct side *a, size_t n, const struct side *b,
		     size_t m)
{
	uint8_t *back = pf_alloc((n + 1) * (m + 1));
	int *row = pf_calloc(m + 1, sizeof(*row));

	memset(back, OTHER, m + 1);
	for (size_t j = 0; j <= m; j++)
		row[j] = -(int)j;
	for (size_t i = 1; i <= n; i++) {
		uint8_t *to = back + i * (m + 1);
		int diagonal = row[0];

		row[0] = -(int)i;
		to[0] = NODE;
		for (size_t j = 1; j <= m; j++) {
			int both = diagonal + worth(&a[i - 1], &b[j - 1]);
			int node = row[j] - 1, other = row[j - 1] - 1;

			diagonal = row[j];
			if (both >= node && both >= other) {
				row[j] = both;
				to[j] = BOTH;
			} else {
				row[j] = node >= other ? node : other;
				to[j] = node >= other ? NODE : OTHER;
			}
		}
	}
	free(row);
	return back;
}

static void claim_eager(struct pf_graph_node *n, const struct pf_graph_eager *e,
			int value)
{
	if (value < 1)
		return;
	n->module = e->module;
	n->path = e->path;
	/* Its place is known; what computes there may be another operator. */
	n->op = value > 1 ? e->op : PF_NO_TEXT;
	n->how = value == 4   ? PF_HOW_ALIGNED
		 : value == 3 ? PF_HOW_FAMILY
			      : PF_HOW_POSITION;
}

static void align(struct pf_graph *graph, const struct pf_graph_eager *eager,
		  const struct side *a, const struct side *b, size_t m)
{
	size_t i = graph->count, j = m;
	uint8_t *back = fill(a, i, b, m);

	while (i > 0 && j > 0) {
		switch (back[i * (m + 1) + j]) {
		case BOTH:
			claim_eager(&graph->nodes[i - 1], &eager[j - 1],
				    worth(&a[i - 1], &b[j - 1]));
			i--;
			j--;
			break;
		case NODE:
			i--;
			break;
		default:
			j--;
		}
	}
	free(back);
}

void pf_graph_align(struct pf_graphs *g, struct pf_graph *graph)
{
	size_t n = graph->count, m = ALIGN_CELLS / (n + 1);
	struct pf_intern families;
	struct side *a, *b;

	if (m > g->eager_count)
		m = g->eager_count;
	if (!m)
		return;
	pf_intern_init(&families);
	a = pf_calloc(n + 1, sizeof(*a));
	b = pf_calloc(m + 1, sizeof(*b));
	for (size_t i = 0; i < n; i++)
		a[i] = (struct side){
			graph->nodes[i].in.name,
			family_of(g, &families, graph->nodes[i].in.name,
				  graph->nodes[i].in.role),
			graph->nodes[i].in.role,
		};
	for (size_t i = 0; i < m; i++)
		b[i] = (struct side){
			g->eager[i].name,
			family_of(g, &families, g->eager[i].name,
				  g->eager[i].role),
			g->eager[i].role,
		};
	align(graph, g->eager, a, b, m);
	free(a);
	free(b);
	pf_intern_release(&families);
}
