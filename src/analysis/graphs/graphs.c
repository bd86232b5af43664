/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/graphs/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/outplace.h"
#include "base/sat.h"
#include "base/stats.h"
#include "events/hints.h"

/*
 * A capture has the calls of a graph in its order, so the two must be of one
 * length; where names are recorded, what was captured and not replayed may be
 * passed over.  An eager run is aligned as sequences are: equal names are
 * worth most, places that nothing faces cost something.
 */

#define ALIGN_CELLS (64u << 20) /* bytes that an alignment may take */

static const char *const part_words[PF_PARTS] = { NULL,     "qkv", "out",
						  "router", "up",  "down" };

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

/* The operators of a graph by a capture; false: it is another. */
static bool graph_match(struct pf_graphs *g, struct pf_graph *graph,
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

/* And by kernels of an eager run. */
static void graph_align(struct pf_graphs *g, struct pf_graph *graph)
{
	size_t n = graph->count, m = ALIGN_CELLS / (n + 1);
	struct pf_intern families = { 0 };
	struct side *a, *b;

	if (m > g->eager_count)
		m = g->eager_count;
	if (!m)
		return;
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

static const char *graph_how_word(enum pf_graph_how how)
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

		if (graph_match(g, graph, &g->captures[at]))
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
			graph_align(g, graph);
		for (size_t j = 0; j < graph->count; j++)
			pf_sat_sum(&graph->how_ns[graph->nodes[j].how],
				   graph->nodes[j].in.ns);
	}
}

/* What was found of graphs, for analyses of something else. */

static struct pf_graph_launch *find_launch(const struct pf_graphs *g,
					   int64_t launch_id)
{
	size_t from = 0, to = g->launch_count;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (g->launches_by_id[at].launch_id < launch_id)
			from = at + 1;
		else
			to = at;
	}
	if (from == g->launch_count ||
	    g->launches_by_id[from].launch_id != launch_id)
		return NULL;
	return &g->launches_by_id[from];
}

const struct pf_graph *pf_graphs_of(const struct pf_graphs *g,
				    int64_t launch_id)
{
	const struct pf_graph_launch *l = find_launch(g, launch_id);

	return l ? &g->graphs[l->graph] : NULL;
}

int64_t pf_graphs_launch_ns(const struct pf_graphs *g, int64_t launch_id)
{
	const struct pf_graph_launch *l = find_launch(g, launch_id);

	return l ? l->start_ns : 0;
}

int64_t pf_graphs_launch_at(const struct pf_graphs *g, int64_t launch_id)
{
	const struct pf_graph_launch *l = find_launch(g, launch_id);

	return l ? l - g->launches_by_id : 0;
}

const struct pf_graph_node *pf_graphs_next(struct pf_graphs *g,
					   int64_t launch_id)
{
	struct pf_graph_launch *l = find_launch(g, launch_id);
	const struct pf_graph *graph = l ? &g->graphs[l->graph] : NULL;

	return graph && l->next < graph->count ? &graph->nodes[l->next++]
					       : NULL;
}

const char *pf_graphs_op(const struct pf_graphs *g,
			 const struct pf_graph_node *n)
{
	if (n->how > PF_HOW_FAMILY)
		return NULL;
	return pf_graphs_text(g, n->op);
}

void pf_graphs_say_how(const int64_t *how_ns, int64_t of_ns, struct pf_buf *out)
{
	char share[PF_NUM_MAX];
	const char *before = "";

	for (size_t h = 0; h < PF_HOWS; h++) {
		if (!how_ns[h])
			continue;
		pf_buf_addf(out, "%s%s %s", before,
			    graph_how_word((enum pf_graph_how)h),
			    pf_num_show_ratio(share,
					      pf_num_share(how_ns[h], of_ns)));
		before = ", ";
	}
}

void pf_graphs_note(const struct pf_graphs *g, struct pf_doc *doc)
{
	int64_t how_ns[PF_HOWS] = { 0 };
	char share[PF_NUM_MAX];
	struct pf_buf parts = { 0 };

	if (!g->replayed_ns)
		return;
	for (size_t i = 0; i < g->count; i++)
		for (size_t h = 0; h < PF_HOWS; h++)
			how_ns[h] += g->graphs[i].how_ns[h];
	how_ns[PF_HOW_NONE] += g->past_ns;
	pf_graphs_say_how(how_ns, g->replayed_ns, &parts);
	pf_doc_note(doc, "%s of GPU time is replayed by graphs: %s",
		    pf_num_show_ratio(share,
				      pf_num_share(g->replayed_ns, g->gpu_ns)),
		    parts.data ? parts.data : "");
	pf_buf_release(&parts);
}

/* The nodes of all launches as a table of a new file, for SQL. */

static const char *const schemas[] = { "schema/graph_node.sql", NULL };

/* It is no profan database: nothing of ours reads it. */
static const struct pf_db_kind kind_of_store = {
	.application_id = 0,
	.version = 1,
	.what = "a file of nodes",
	.schemas = schemas,
};

/* What is not bound is null. */
static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	if (text)
		sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

static int put_launch(const struct pf_graphs *g, struct pf_db *to,
		      sqlite3_stmt *st, const struct pf_graph_launch *l)
{
	const struct pf_graph *graph = &g->graphs[l->graph];

	for (size_t i = 0; i < graph->count; i++) {
		const struct pf_graph_node *n = &graph->nodes[i];

		sqlite3_bind_int64(st, 1, graph->trace_id);
		sqlite3_bind_int64(st, 2, l->launch_id);
		sqlite3_bind_int64(st, 3, (int64_t)i);
		bind_text(st, 4, pf_role_word(n->in.role));
		if (n->in.layer >= 0)
			sqlite3_bind_int64(st, 5, n->in.layer);
		bind_text(st, 6, part_words[n->in.part]);
		bind_text(st, 7, pf_graphs_text(g, n->op));
		bind_text(st, 8, pf_graphs_text(g, n->module));
		bind_text(st, 9, graph_how_word(n->how));
		PF_TRY(pf_db_put(to, st, to->err));
	}
	return 0;
}

static int fill_store(const struct pf_graphs *g, struct pf_db *to)
{
	sqlite3_stmt *st = pf_db_prepare(
		to, "INSERT INTO graph_node VALUES(?,?,?,?,?,?,?,?,?)",
		to->err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < g->launch_count; i++)
		rc = put_launch(g, to, st, &g->launches_by_id[i]);
	sqlite3_finalize(st);
	return rc;
}

int pf_graphs_store(const struct pf_graphs *g, const struct pf_db *db,
		    const char *path)
{
	struct pf_outrule rule = { .is_database = true };
	struct pf_outplace place;
	struct pf_db to = { 0 };
	int rc;

	pf_db_protect(db, &rule);
	if (pf_outplace_open(&place, path, &rule, db->err))
		return -1;
	rc = pf_db_create_kind(&to, place.partial, &kind_of_store, db->err);
	if (!rc)
		rc = fill_store(g, &to);
	if (!rc)
		rc = pf_db_finish_with(&to, "schema/graph_node_indexes.sql",
				       db->err);
	if (!rc)
		rc = pf_outplace_commit(&place, db->err);
	pf_db_close(&to);
	pf_outplace_release(&place);
	return rc;
}

/* ---- graphs show ---- */

struct graph_row {
	int64_t trace_id, graph, replays, nodes, ns, mean_ns, layers, layer_ns;
	double share;
	int64_t how_ns[PF_HOWS];
};

#define FIELD(...) PF_FIELD(struct graph_row, __VA_ARGS__)
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

#define FIELD(...) PF_FIELD(struct word_row, __VA_ARGS__)
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

#define FIELD(...) PF_FIELD(struct layer_row, __VA_ARGS__)
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

#define FIELD(...) PF_FIELD(struct node_row, __VA_ARGS__)
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
	FIELD(min_ns, "min_ns", "Shortest", PF_NS | PF_FULL),
	FIELD(max_ns, "max_ns", "Longest", PF_NS | PF_FULL),
	FIELD(name, "name", "Kernel", PF_TEXT),
};
#undef FIELD

struct iteration_row {
	int64_t trace_id, start_ns, kernels, ns, replayed_ns, layers, layer_ns;
	const char *name;
};

#define FIELD(...) PF_FIELD(struct iteration_row, __VA_ARGS__)
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
		rows[i].part = part_words[i % PF_PARTS];
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
	struct pf_map at = { 0 };

	for (size_t i = 0; i < g->count; i++)
		for (size_t j = 0; j < g->graphs[i].count; j++) {
			const struct pf_graph_node *n = &g->graphs[i].nodes[j];
			uint64_t *place;

			if (n->op == PF_NO_TEXT)
				continue;
			place = pf_map_at(&at, n->op);
			if (*place == UINT64_MAX) {
				*place = count;
				*PF_ONE_MORE(rows, count, cap) =
					(struct word_row){
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
				.part = part_words[n->in.part],
				.how = graph_how_word(n->how),
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
		hows[i].word = graph_how_word((enum pf_graph_how)i);
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
