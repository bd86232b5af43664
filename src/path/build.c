/* SPDX-License-Identifier: MIT */
/*
 * The host's part of the graph: on each thread, in order of time, where calls
 * begin, where those end that may have waited, and both ends of hand-offs.
 * All other time of the thread is weight between two of these.
 */
#include "path/path_impl.h"

#include "base/search.h"

/* A thread that woke another: it stopped when the other had done nothing. */
struct handoff {
	uint32_t to, from;               /* threads */
	int64_t at_ns, from_ns, idle_ns; /* idle since */
	uint32_t from_node, to_node;
};

enum point { FROM, CALL, WAKE };

struct point_at {
	int64_t at_ns;
	uint32_t what; /* hand-off or call */
	uint32_t turn; /* of equals, the order of finding */
	uint8_t kind;  /* enum point */
};

struct builder {
	struct path *p;
	struct handoff *handoffs;
	uint32_t handoff_count;
	size_t handoff_cap;
	struct point_at *points;
	uint32_t point_count;
	size_t point_cap;
};

/* ---- hand-offs ---- */

/* The thread of the same process that stopped last, after "since". */
static bool find_waker(const struct path *p, uint32_t thread, int64_t at_ns,
		       int64_t since_ns, struct handoff *out)
{
	const struct path_thread *t = &p->threads[thread];
	bool found = false;

	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct path_thread *u = &p->threads[i];
		const struct path_busy *b = &p->busy[u->first_busy];
		size_t n;
		int64_t end;

		if (i == thread || strcmp(u->pid, t->pid) != 0 ||
		    !path_is_compute(p, u))
			continue;
		n = PF_SEARCH(k, u->busy_count, b[k].start_ns <= at_ns);
		if (!n)
			continue;
		end = b[n - 1].end_ns < at_ns ? b[n - 1].end_ns : at_ns;
		if (end <= since_ns || (found && end <= out->from_ns))
			continue;
		found = true;
		*out = (struct handoff){
			.to = thread,
			.from = i,
			.at_ns = at_ns,
			.from_ns = end,
			.idle_ns = since_ns,
			.from_node = PF_PATH_NONE,
			.to_node = PF_PATH_NONE,
		};
	}
	return found;
}

static void find_handoffs(struct builder *x, uint32_t thread)
{
	struct path *p = x->p;
	const struct path_thread *t = &p->threads[thread];
	int64_t last = p->w0_ns;

	for (uint32_t i = 0; i < t->busy_count; i++) {
		const struct path_busy *b = &p->busy[t->first_busy + i];
		struct handoff h;

		if (b->start_ns - last >= PF_PATH_HANDOFF_NS &&
		    b->start_ns < p->h_ns && b->can_wake &&
		    find_waker(p, thread, b->start_ns, last, &h)) {
			x->handoffs = pf_grow(x->handoffs, &x->handoff_cap,
					      (size_t)x->handoff_count + 1,
					      sizeof(*x->handoffs));
			x->handoffs[x->handoff_count++] = h;
		}
		last = b->end_ns > last ? b->end_ns : last;
	}
}

/* ---- points ---- */

static void add_point(struct builder *x, int64_t at_ns, enum point kind,
		      uint32_t what)
{
	x->points = pf_grow(x->points, &x->point_cap,
			    (size_t)x->point_count + 1, sizeof(*x->points));
	x->points[x->point_count] =
		(struct point_at){ at_ns, what, x->point_count, (uint8_t)kind };
	x->point_count++;
}

static int by_time(const void *a, const void *b)
{
	const struct point_at *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->turn < y->turn ? -1 : x->turn > y->turn;
}

static void find_points(struct builder *x, uint32_t thread)
{
	const struct path *p = x->p;
	const struct path_thread *t = &p->threads[thread];

	x->point_count = 0;
	for (uint32_t i = t->first_call; i < t->first_call + t->call_count;
	     i++) {
		const struct path_call *c = &p->calls[i];

		if (c->start_ns >= p->w0_ns && c->start_ns < p->h_ns &&
		    (c->work_count || c->waits_for != PF_PATH_NONE))
			add_point(x, c->start_ns, CALL, i);
	}
	for (uint32_t i = 0; i < x->handoff_count; i++) {
		const struct handoff *h = &x->handoffs[i];

		if (h->from == thread)
			add_point(x, h->from_ns, FROM, i);
		if (h->to == thread)
			add_point(x, h->at_ns, WAKE, i);
	}
	if (x->point_count)
		qsort(x->points, x->point_count, sizeof(*x->points), by_time);
}

/* ---- nodes ---- */

/* A point of a thread, later than all so far, and the time up to it. */
static uint32_t step_to(struct path *p, uint32_t thread, uint32_t from,
			int64_t at_ns)
{
	struct path_graph *g = &p->graph;
	uint32_t to;

	if (at_ns < g->nodes[from].at_ns)
		at_ns = g->nodes[from].at_ns;
	to = path_node(g, at_ns, thread);
	path_edge(g, to, from, PATH_HOST, PATH_RIGID, thread)->is_binding =
		true;
	return to;
}

static uint32_t add_call(struct path *p, uint32_t thread, uint32_t at,
			 struct path_call *c)
{
	c->node = at;
	if (c->waits_for == PF_PATH_NONE && c->queued_for == PF_PATH_NONE)
		return at;
	c->end_node = step_to(p, thread, at, c->end_ns);
	return c->end_node;
}

static void add_thread(struct builder *x, uint32_t thread)
{
	struct path *p = x->p;
	struct path_graph *g = &p->graph;
	struct path_thread *t = &p->threads[thread];
	uint32_t at;

	if (!t->has_op && !t->has_call && t->track_id != p->main_track)
		return;
	find_points(x, thread);
	at = path_node(g, p->w0_ns, thread);
	t->first_node = at;
	path_edge(g, at, PATH_ORIGIN, PATH_START, PATH_RIGID, PF_PATH_NONE)
		->is_binding = true;
	for (uint32_t i = 0; i < x->point_count; i++) {
		const struct point_at *pt = &x->points[i];

		at = step_to(p, thread, at, pt->at_ns);
		if (pt->kind == CALL)
			at = add_call(p, thread, at, &p->calls[pt->what]);
		else if (pt->kind == WAKE)
			x->handoffs[pt->what].to_node = at;
		else if (g->nodes[at].at_ns == pt->at_ns)
			x->handoffs[pt->what].from_node = at;
	}
	t->end_node = at;
}

/* The edge of the thread's own time to a point; it was added first. */
static struct path_edge *host_edge(struct path_graph *g, uint32_t node)
{
	uint32_t e = g->nodes[node].first;

	while (g->edges[e].next != PF_PATH_NONE)
		e = g->edges[e].next;
	return &g->edges[e];
}

/* Something else bound the point: the thread's own time is its least. */
static void release_host(struct path_graph *g, uint32_t node, int64_t least_ns)
{
	struct path_edge *e = host_edge(g, node);
	int64_t measured = g->nodes[node].at_ns - g->nodes[e->from].at_ns;

	e->is_binding = false;
	e->floor_ns = least_ns < measured ? least_ns : measured;
}

static void bind_handoffs(struct builder *x)
{
	struct path_graph *g = &x->p->graph;

	for (uint32_t i = 0; i < x->handoff_count; i++) {
		const struct handoff *h = &x->handoffs[i];
		int64_t before, since;

		if (h->from_node == PF_PATH_NONE ||
		    h->to_node == PF_PATH_NONE ||
		    g->nodes[h->from_node].at_ns > g->nodes[h->to_node].at_ns)
			continue;
		before = g->nodes[host_edge(g, h->to_node)->from].at_ns;
		since = h->idle_ns < g->nodes[h->to_node].at_ns
				? h->idle_ns
				: g->nodes[h->to_node].at_ns;
		release_host(g, h->to_node,
			     since > before ? since - before : 0);
		path_edge(g, h->to_node, h->from_node, PATH_HANDOFF, PATH_RIGID,
			  PF_PATH_NONE)
			->is_binding = true;
	}
}

static void bind_wait(struct path *p, uint32_t call)
{
	struct path_graph *g = &p->graph;
	struct path_call *c = &p->calls[call];
	uint32_t w = c->waits_for, from, began;

	if (w == PF_PATH_NONE || c->end_node == PF_PATH_NONE)
		return;
	from = p->works[w].end_ns <= g->nodes[c->end_node].at_ns
		       ? PATH_END_OF(w)
		       : PATH_START_OF(w);
	began = host_edge(g, c->end_node)->from;
	if (g->nodes[from].at_ns <= g->nodes[began].at_ns &&
	    p->works[w].call != call)
		return;
	release_host(g, c->end_node, path_phi(p, c->name));
	path_edge(g, c->end_node, from, PATH_RETURN, PATH_RIGID, call)
		->is_binding = true;
}

static void bind_queued(struct path *p, uint32_t call)
{
	struct path_graph *g = &p->graph;
	struct path_call *c = &p->calls[call];
	uint32_t w = c->queued_for;
	int64_t ns;
	bool is_full;

	if (w == PF_PATH_NONE || c->waits_for != PF_PATH_NONE ||
	    c->end_node == PF_PATH_NONE || !path_is_in(p, w))
		return;
	ns = g->nodes[c->end_node].at_ns - p->works[w].end_ns;
	if (ns < 0)
		return;
	is_full = p->works[w].end_ns > c->start_ns &&
		  c->end_ns - c->start_ns > 2 * (int64_t)PF_PATH_HANDOFF_NS;
	if (is_full)
		release_host(g, c->end_node, p->queue_call_ns);
	path_edge(g, c->end_node, PATH_END_OF(w), PATH_QUEUE,
		  ns < p->queue_floor_ns ? ns : p->queue_floor_ns, call)
		->is_binding = is_full;
}

/* ---- the end ---- */

static void find_main(struct path *p)
{
	uint32_t most = 0;

	p->main = PF_PATH_NONE;
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct path_thread *t = &p->threads[i];

		if (t->track_id == p->main_track) {
			p->main = i;
			return;
		}
		if (path_is_compute(p, t) &&
		    (p->main == PF_PATH_NONE || t->launch_count > most)) {
			p->main = i;
			most = t->launch_count;
		}
	}
}

/*
 * What ends last is the sink's cause; of equals the host.  A replay asks for
 * the ends of all work, so these need no edges.
 */
static void add_sink(struct path *p)
{
	struct path_graph *g = &p->graph;
	uint32_t last = PATH_ORIGIN, host = PATH_ORIGIN, tail = PF_PATH_NONE;

	find_main(p);
	if (p->main != PF_PATH_NONE)
		tail = p->threads[p->main].end_node;
	if (tail != PF_PATH_NONE && g->nodes[tail].at_ns <= p->h_ns &&
	    path_is_compute(p, &p->threads[p->main]))
		host = last = step_to(p, p->main, tail, p->h_ns);
	for (uint32_t i = 0; i < p->work_count; i++)
		if (p->works[i].is_in &&
		    g->nodes[PATH_END_OF(i)].at_ns > g->nodes[last].at_ns)
			last = PATH_END_OF(i);
	g->sink = path_node(g, g->nodes[last].at_ns, PF_PATH_NONE);
	if (host != last)
		path_edge(g, g->sink, host, PATH_END, 0, PF_PATH_NONE);
	path_edge(g, g->sink, last, PATH_END, 0, PF_PATH_NONE)->is_binding =
		true;
}

void path_build(struct path *p)
{
	struct builder x = { .p = p };
	struct path_graph *g = &p->graph;

	path_node(g, p->w0_ns, PF_PATH_NONE);
	for (uint32_t i = 0; i < p->work_count; i++) {
		path_node(g, p->works[i].start_ns, PF_PATH_NONE);
		path_node(g, p->works[i].end_ns, PF_PATH_NONE);
	}
	g->host_first = g->node_count;
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (path_is_compute(p, &p->threads[i]))
			find_handoffs(&x, i);
	for (uint32_t i = 0; i < p->thread_count; i++)
		add_thread(&x, i);
	bind_handoffs(&x);
	for (uint32_t i = 0; i < p->call_count; i++) {
		bind_wait(p, i);
		bind_queued(p, i);
	}
	path_add_works(p);
	add_sink(p);
	path_settle(g);
	free(x.handoffs);
	free(x.points);
}
