/* SPDX-License-Identifier: MIT */
/*
 * What leads to a node, what that takes, and the order in which a replay can
 * work them out.  No edge but those of extras is stored: calls know their
 * work, work knows what is before it on its stream, points of a thread follow
 * each other.
 */
#include "analysis/path/path_impl.h"

#include "base/search.h"
#include "store/varint.h"

/* ---- edges ---- */

static int64_t late_ns(const struct path_graph *g, uint32_t point)
{
	size_t i = PF_SEARCH(k, g->late_count, g->lates[k].point < point);

	return g->lates[i].at_ns;
}

int64_t path_point_ns(const struct path *p, uint32_t point)
{
	const struct path_graph *g = &p->graph;
	const struct path_point *pt = &g->points[point];

	if (pt->is_late)
		return late_ns(g, point);
	switch ((enum path_point_kind)pt->kind) {
	case PATH_AT_CALL:
		return p->calls[pt->what].start_ns;
	case PATH_AT_RETURN:
		return p->calls[pt->what].end_ns;
	case PATH_AT_FROM:
		return g->handoffs[pt->what].from_ns;
	case PATH_AT_WAKE:
		return g->handoffs[pt->what].at_ns;
	case PATH_AT_LAST:
		return p->h_ns;
	default:
		return p->w0_ns;
	}
}

int64_t path_at(const struct path *p, uint32_t node)
{
	const struct path_graph *g = &p->graph;

	if (node == g->sink)
		node = g->last;
	if (node == PATH_ORIGIN)
		return p->w0_ns;
	if (node >= g->host_first)
		return path_point_ns(p, node - g->host_first);
	return PATH_IS_END(g, node) ? p->works[PATH_WORK_OF(node)].end_ns
				    : p->works[PATH_WORK_OF(node)].start_ns;
}

uint32_t path_thread_of(const struct path *p, uint32_t point)
{
	const struct path_graph *g = &p->graph;
	const struct path_point *pt = &g->points[point];

	switch ((enum path_point_kind)pt->kind) {
	case PATH_AT_FROM:
		return g->handoffs[pt->what].from;
	case PATH_AT_WAKE:
		return g->handoffs[pt->what].to;
	case PATH_AT_LAST:
		return p->main;
	case PATH_AT_FIRST:
		break;
	default:
		return path_around(p, &p->calls[pt->what]).thread;
	}
	return pt->what;
}

static bool launch_edge(const struct path *p, uint32_t work,
			struct path_edge *out)
{
	const struct path_graph *g = &p->graph;
	const struct path_work *w = &p->works[work];
	uint32_t point;

	if (w->call == PF_PATH_NONE || w->no_launch)
		return false;
	point = p->calls[w->call].point;
	if (point == PF_PATH_NONE || path_point_ns(p, point) > w->start_ns)
		return false;
	*out = (struct path_edge){ .from = g->host_first + point,
				   .what = work,
				   .floor_ns = p->launch_floor_ns,
				   .kind = PATH_LAUNCH,
				   .is_binding = w->bound == PATH_LAUNCH };
	return true;
}

static bool stream_edge(const struct path *p, uint32_t work,
			struct path_edge *out)
{
	const struct path_work *w = &p->works[work];
	bool is_gap;

	if (w->prev == PF_PATH_NONE || w->no_prev)
		return false;
	is_gap = p->works[w->prev].end_ns <= w->start_ns;
	*out = (struct path_edge){
		.from = is_gap ? PATH_END_OF(w->prev) : PATH_START_OF(w->prev),
		.what = work,
		.floor_ns = is_gap ? p->gap_floor_ns : 0,
		.kind = is_gap ? PATH_GAP : PATH_OVERLAP,
	};
	out->is_binding = w->bound == out->kind;
	return true;
}

unsigned path_work_edges(const struct path *p, uint32_t work,
			 struct path_edge out[2])
{
	unsigned n = launch_edge(p, work, out);

	return n + stream_edge(p, work, out + n);
}

struct path_edge path_extra_edge(const struct path *p, uint32_t work,
				 uint32_t extra)
{
	const struct path_extra *x = &p->graph.extras[extra];

	return (struct path_edge){
		.from = x->from,
		.what = work,
		.floor_ns = x->kind == PATH_WAIT ? p->gap_floor_ns : 0,
		.kind = x->kind,
		.is_binding = x->is_binding,
	};
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What the thread's own time takes at least, where something else bound. */
static int64_t host_floor(const struct path *p, uint32_t point)
{
	const struct path_point *pt = &p->graph.points[point];
	const int64_t before = path_point_ns(p, point - 1);
	const int64_t at = path_point_ns(p, point);
	const struct path_call *c;
	int64_t since;

	if (pt->kind == PATH_AT_WAKE) {
		since = least(p->graph.handoffs[pt->what].idle_ns, at);
		return since > before ? since - before : 0;
	}
	c = &p->calls[pt->what];
	return least(c->is_queued ? p->queue_call_ns
				  : path_phi(p, path_around(p, c).name),
		     at - before);
}

bool path_host_edge(const struct path *p, uint32_t point, struct path_edge *out)
{
	const struct path_point *pt = &p->graph.points[point];

	if (pt->kind == PATH_AT_FIRST || pt->no_host)
		return false;
	*out = (struct path_edge){
		.from = p->graph.host_first + point - 1,
		.what = point,
		.floor_ns = pt->is_bound ? host_floor(p, point) : PATH_RIGID,
		.kind = PATH_HOST,
		.is_binding = !pt->is_bound && !pt->is_start
	};
	return true;
}

static bool other_edge(const struct path *p, uint32_t point,
		       struct path_edge *out)
{
	const struct path_graph *g = &p->graph;
	const struct path_point *pt = &g->points[point];
	const struct path_call *c;
	int64_t at;
	bool is_wait;
	uint32_t w;

	if (!pt->has_other || pt->no_other)
		return false;
	*out = (struct path_edge){ .what = pt->what,
				   .floor_ns = PATH_RIGID,
				   .kind = PATH_HANDOFF,
				   .is_binding = pt->is_bound };
	if (pt->kind == PATH_AT_WAKE) {
		out->from = g->host_first + g->handoffs[pt->what].from_point;
		return true;
	}
	at = path_point_ns(p, point);
	c = &p->calls[pt->what];
	is_wait = !c->is_queued;
	w = c->needs;
	out->kind = is_wait ? PATH_RETURN : PATH_QUEUE;
	out->from = PATH_END_OF(w);
	if (is_wait && p->works[w].end_ns > at)
		out->from = PATH_START_OF(w);
	if (!is_wait)
		out->floor_ns =
			least(at - p->works[w].end_ns, p->queue_floor_ns);
	return true;
}

unsigned path_point_edges(const struct path *p, uint32_t point,
			  struct path_edge out[2])
{
	unsigned n = path_host_edge(p, point, out);

	return n + other_edge(p, point, out + n);
}

static void binding_of_work(const struct path *p, uint32_t work,
			    struct path_edge *out)
{
	const struct path_graph *g = &p->graph;

	switch (p->works[work].bound) {
	case PATH_LAUNCH:
		launch_edge(p, work, out);
		return;
	case PATH_GAP:
	case PATH_OVERLAP:
		stream_edge(p, work, out);
		return;
	case PATH_START:
		return;
	default:
		for (uint32_t i = g->first_extra[work];
		     i < g->first_extra[work + 1]; i++)
			if (g->extras[i].is_binding) {
				*out = path_extra_edge(p, work, i);
				return;
			}
	}
}

bool path_binding(const struct path *p, uint32_t node, struct path_edge *out)
{
	const struct path_graph *g = &p->graph;
	const struct path_edge start = { .from = PATH_ORIGIN,
					 .what = PF_PATH_NONE,
					 .floor_ns = PATH_RIGID,
					 .kind = PATH_START,
					 .is_binding = true };
	const struct path_point *pt;

	*out = start;
	if (node == PATH_ORIGIN)
		return false;
	if (node == g->sink) {
		out->from = g->last;
		out->kind = PATH_END;
		return true;
	}
	if (PATH_IS_WORK(g, node)) {
		out->what = PATH_WORK_OF(node);
		if (!PATH_IS_END(g, node)) {
			binding_of_work(p, PATH_WORK_OF(node), out);
		} else {
			out->from = node - 1;
			out->kind = PATH_DUR;
		}
		return true;
	}
	pt = &g->points[node - g->host_first];
	if (pt->kind != PATH_AT_FIRST && !pt->is_start)
		(pt->is_bound ? other_edge
			      : path_host_edge)(p, node - g->host_first, out);
	return true;
}

int64_t path_weight(const struct path *p, uint32_t to,
		    const struct path_edge *e)
{
	int64_t measured = path_at(p, to) - path_at(p, e->from);

	switch ((enum path_kind)e->kind) {
	case PATH_END:
		return 0;
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

/* ---- order ---- */

enum { UNSEEN, OPEN, DONE };

struct visit {
	uint32_t item, left; /* edges to follow, the last first */
};

struct sort {
	struct path *p;
	unsigned char *state;
	struct visit *stack;
	size_t depth, cap;
	uint32_t next[2]; /* of work, of points: behind the last in order */
};

/* Two that items of the kind may have, and their extras. */
static uint32_t edges_of(const struct path *p, uint32_t item)
{
	const struct path_graph *g = &p->graph;

	if (item >= p->work_count || !g->first_extra)
		return 2;
	return 2 + g->first_extra[item + 1] - g->first_extra[item];
}

static bool edge_of(const struct path *p, uint32_t item, uint32_t k,
		    struct path_edge *out)
{
	const struct path_graph *g = &p->graph;

	if (item >= p->work_count) {
		item -= p->work_count;
		return k ? other_edge(p, item, out)
			 : path_host_edge(p, item, out);
	}
	if (k < 2)
		return k ? stream_edge(p, item, out)
			 : launch_edge(p, item, out);
	*out = path_extra_edge(p, item, g->first_extra[item] + k - 2);
	return out->kind != PATH_GONE;
}

/* It would close a circle: what bound the node is then where time began. */
static void cut(struct path *p, uint32_t item, uint32_t k, bool is_binding)
{
	struct path_graph *g = &p->graph;

	if (item >= p->work_count) {
		struct path_point *pt = &g->points[item - p->work_count];

		if (k)
			pt->no_other = true;
		else
			pt->no_host = true;
		if (is_binding)
			pt->is_start = true;
		return;
	}
	if (k == 0)
		p->works[item].no_launch = true;
	else if (k == 1)
		p->works[item].no_prev = true;
	else
		g->extras[g->first_extra[item] + k - 2].kind = PATH_GONE;
	if (is_binding)
		p->works[item].bound = PATH_START;
}

static void push(struct sort *s, uint32_t item)
{
	s->stack = pf_grow(s->stack, &s->cap, s->depth + 1, sizeof(*s->stack));
	s->stack[s->depth++] = (struct visit){ item, edges_of(s->p, item) };
	s->state[item] = OPEN;
}

static void take_turn(struct sort *s, uint32_t item)
{
	struct path_graph *g = &s->p->graph;
	const unsigned kind = item >= s->p->work_count;
	const uint32_t number = kind ? item - s->p->work_count : item;
	const int64_t off = (int64_t)number - s->next[kind];
	const uint64_t zigzag = (uint64_t)(off < 0 ? -2 * off - 1 : 2 * off);

	g->order = pf_grow(g->order, &g->order_cap,
			   g->order_len + 2 * PF_VARINT_MAX, 1);
	g->order_len = (size_t)(pf_varint_put(g->order + g->order_len,
					      zigzag << 1 | kind) -
				g->order);
	s->next[kind] = number + 1;
}

struct path_turn path_first_turn(const struct path *p)
{
	return (struct path_turn){ .at = p->graph.order };
}

bool path_next_turn(const struct path *p, struct path_turn *t, uint32_t *item)
{
	const struct path_graph *g = &p->graph;
	uint64_t v = 0;
	unsigned kind;

	if (!g->order_len || t->at == g->order + g->order_len)
		return false;
	t->at = pf_varint_get(t->at, &v);
	kind = v & 1;
	v >>= 1;
	t->next[kind] += (uint32_t)(v & 1 ? -(v >> 1) - 1 : v >> 1);
	*item = t->next[kind]++ + (kind ? p->work_count : 0);
	return true;
}

static uint32_t item_of(const struct path *p, uint32_t node)
{
	return node < p->graph.host_first
		       ? PATH_WORK_OF(node)
		       : p->work_count + (node - p->graph.host_first);
}

static void visit(struct sort *s, uint32_t item)
{
	struct path *p = s->p;

	if (s->state[item] != UNSEEN)
		return;
	push(s, item);
	while (s->depth) {
		struct visit *v = &s->stack[s->depth - 1];
		struct path_edge e;
		uint32_t from;

		if (!v->left) {
			s->state[v->item] = DONE;
			take_turn(s, v->item);
			s->depth--;
			continue;
		}
		v->left--;
		if (!edge_of(p, v->item, v->left, &e) || e.from == PATH_ORIGIN)
			continue;
		from = item_of(p, e.from);
		if (s->state[from] == OPEN)
			cut(p, v->item, v->left, e.is_binding);
		else if (s->state[from] == UNSEEN)
			push(s, from);
	}
}

void path_settle(struct path *p)
{
	struct path_graph *g = &p->graph;
	const size_t items = (size_t)p->work_count + g->point_count;
	struct sort s = { .p = p };

	s.state = pf_calloc(items + 1, 1);
	for (uint32_t i = 0; i < p->work_count; i++)
		if (p->works[i].is_in)
			visit(&s, i);
	for (uint32_t i = 0; i < g->point_count; i++)
		visit(&s, p->work_count + i);
	free(s.state);
	free(s.stack);
}

void path_graph_release(struct path_graph *g)
{
	free(g->points);
	free(g->lates);
	free(g->handoffs);
	free(g->extras);
	free(g->first_extra);
	free(g->order);
	*g = (struct path_graph){ 0 };
}
