/* SPDX-License-Identifier: MIT */
/*
 * The host's part of the graph: on each thread, in order of time, where calls
 * begin, where those end that may have waited, and both ends of hand-offs.
 * All other time of the thread is weight between two of these.
 */
#include "analysis/path/path_impl.h"

#include "base/order.h"
#include "base/search.h"

struct point_at {
	int64_t at_ns;
	uint32_t what; /* hand-off or call */
	uint32_t turn; /* of equals, the order of finding */
	uint8_t kind;  /* enum path_point_kind */
};

struct builder {
	struct path *p;
	struct point_at *points;
	uint32_t point_count;
	size_t point_cap;
	int64_t last_ns; /* of the graph's last point */
	/* hand-offs by thread that wakes, and by thread that is woken */
	uint32_t *first_of[2], *next_of[2];
};

/* ---- hand-offs ---- */

/* The thread of the same process that stopped last, after "since". */
static bool find_waker(const struct path *p, uint32_t thread, int64_t at_ns,
		       int64_t since_ns, struct path_handoff *out)
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
		*out = (struct path_handoff){
			.to = thread,
			.from = i,
			.at_ns = at_ns,
			.from_ns = end,
			.idle_ns = since_ns,
			.from_point = PF_PATH_NONE,
			.to_point = PF_PATH_NONE,
		};
	}
	return found;
}

static void find_handoffs(struct path *p, uint32_t thread)
{
	struct path_graph *g = &p->graph;
	const struct path_thread *t = &p->threads[thread];
	int64_t last = p->w0_ns;

	for (uint32_t i = 0; i < t->busy_count; i++) {
		const struct path_busy *b = &p->busy[t->first_busy + i];
		struct path_handoff h;

		if (b->start_ns - last >= PF_PATH_HANDOFF_NS &&
		    b->start_ns < p->h_ns && b->can_wake &&
		    find_waker(p, thread, b->start_ns, last, &h)) {
			g->handoffs = pf_grow(g->handoffs, &g->handoff_cap,
					      (size_t)g->handoff_count + 1,
					      sizeof(*g->handoffs));
			g->handoffs[g->handoff_count++] = h;
		}
		last = b->end_ns > last ? b->end_ns : last;
	}
}

/* The hand-offs of each thread, as lists in the order of finding. */
static void list_handoffs(struct builder *x)
{
	const struct path *p = x->p;
	const struct path_graph *g = &p->graph;

	for (unsigned k = 0; k < 2; k++) {
		x->first_of[k] = pf_alloc(((size_t)p->thread_count + 1) * 4);
		x->next_of[k] = pf_alloc(((size_t)g->handoff_count + 1) * 4);
		memset(x->first_of[k], 0xff, (size_t)p->thread_count * 4);
		for (uint32_t i = g->handoff_count; i-- > 0;) {
			const struct path_handoff *h = &g->handoffs[i];
			uint32_t *first = &x->first_of[k][k ? h->to : h->from];

			x->next_of[k][i] = *first;
			*first = i;
		}
	}
}

/* ---- points ---- */

static void add_point(struct builder *x, int64_t at_ns,
		      enum path_point_kind kind, uint32_t what)
{
	x->points = pf_grow(x->points, &x->point_cap,
			    (size_t)x->point_count + 1, sizeof(*x->points));
	x->points[x->point_count] =
		(struct point_at){ at_ns, what, x->point_count, (uint8_t)kind };
	x->point_count++;
}

PF_ORDER(by_time, struct point_at, PF_UP(at_ns) PF_UP(kind) PF_UP(turn))

/* Of hand-offs: calls are in order. */
static void find_points(struct builder *x, uint32_t thread)
{
	const struct path_graph *g = &x->p->graph;

	x->point_count = 0;
	for (uint32_t i = x->first_of[0][thread]; i != PF_PATH_NONE;
	     i = x->next_of[0][i])
		add_point(x, g->handoffs[i].from_ns, PATH_AT_FROM, i);
	for (uint32_t i = x->first_of[1][thread]; i != PF_PATH_NONE;
	     i = x->next_of[1][i])
		add_point(x, g->handoffs[i].at_ns, PATH_AT_WAKE, i);
	path_sort(x->points, x->point_count, sizeof(*x->points), by_time);
}

/* A point of a thread, not before the one before it. */
static uint32_t step_to(struct builder *x, int64_t at_ns,
			enum path_point_kind kind, uint32_t what)
{
	struct path_graph *g = &x->p->graph;
	const bool is_late = kind != PATH_AT_FIRST && at_ns < x->last_ns;

	if (is_late) {
		g->lates = pf_grow(g->lates, &g->late_cap, g->late_count + 1,
				   sizeof(*g->lates));
		g->lates[g->late_count++] =
			(struct path_late){ g->point_count, x->last_ns };
	} else {
		x->last_ns = at_ns;
	}
	g->points = pf_grow(g->points, &g->point_cap,
			    (size_t)g->point_count + 1, sizeof(*g->points));
	g->points[g->point_count] = (struct path_point){ .what = what,
							 .kind = kind & 7,
							 .is_late = is_late };
	return g->point_count++;
}

static void step_to_call(struct builder *x, uint32_t call)
{
	struct path_call *c = &x->p->calls[call];

	c->point = step_to(x, c->start_ns, PATH_AT_CALL, call);
	if (c->needs != PF_PATH_NONE)
		step_to(x, c->end_ns, PATH_AT_RETURN, call);
}

static void step_to_handoff(struct builder *x, const struct point_at *pt)
{
	struct path_graph *g = &x->p->graph;
	uint32_t at =
		step_to(x, pt->at_ns, (enum path_point_kind)pt->kind, pt->what);

	if (pt->kind == PATH_AT_WAKE)
		g->handoffs[pt->what].to_point = at;
	else if (!g->points[at].is_late)
		g->handoffs[pt->what].from_point = at;
}

/* Calls that launch or wait, and between them, before equals, hand-offs. */
static void step_to_all(struct builder *x, const struct path_thread *t)
{
	struct path *p = x->p;
	uint32_t next = 0;

	for (uint32_t i = t->first_call; i < t->first_call + t->call_count;
	     i++) {
		const struct path_call *c = &p->calls[i];

		if (c->start_ns < p->w0_ns || c->start_ns >= p->h_ns ||
		    (!c->work_count && path_waits_for(c) == PF_PATH_NONE))
			continue;
		while (next < x->point_count &&
		       x->points[next].at_ns <= c->start_ns)
			step_to_handoff(x, &x->points[next++]);
		step_to_call(x, i);
	}
	while (next < x->point_count)
		step_to_handoff(x, &x->points[next++]);
}

/*
 * May the window end with this thread?  Not if its steps are not the host's,
 * nor where the GPU was used and what it did is not known.
 */
static bool is_end(const struct path *p, const struct path_thread *t)
{
	const struct pf_recorded *r = &p->out->recorded;

	if (!r->has_work && r->has_calls)
		return false;
	if (p->step_count && p->main_track && t->track_id != p->main_track)
		return false;
	return path_is_compute(p, t);
}

static void add_thread(struct builder *x, uint32_t thread)
{
	struct path *p = x->p;
	struct path_graph *g = &p->graph;
	struct path_thread *t = &p->threads[thread];

	if (!t->has_op && !t->has_call && t->track_id != p->main_track)
		return;
	find_points(x, thread);
	t->first_point = step_to(x, p->w0_ns, PATH_AT_FIRST, thread);
	step_to_all(x, t);
	if (thread == p->main && is_end(p, t) && x->last_ns <= p->h_ns)
		g->tail = step_to(x, p->h_ns, PATH_AT_LAST, PF_PATH_NONE);
	t->end_point = g->point_count;
}

/* ---- what else than the thread's own time leads to points ---- */

static void bind_handoffs(struct path *p)
{
	struct path_graph *g = &p->graph;

	for (uint32_t i = 0; i < g->handoff_count; i++) {
		const struct path_handoff *h = &g->handoffs[i];
		struct path_point *to;

		if (h->from_point == PF_PATH_NONE ||
		    h->to_point == PF_PATH_NONE)
			continue;
		to = &g->points[h->to_point];
		to->has_other = to->is_bound =
			path_point_ns(p, h->from_point) <=
			path_point_ns(p, h->to_point);
	}
}

static void bind_wait(struct path *p, uint32_t point)
{
	struct path_point *end = &p->graph.points[point];
	const struct path_call *c = &p->calls[end->what];
	const struct path_work *w = &p->works[c->needs];
	int64_t from =
		w->end_ns <= path_point_ns(p, point) ? w->end_ns : w->start_ns;

	if (from > path_point_ns(p, point - 1) || w->call == end->what)
		end->has_other = end->is_bound = true;
}

static void bind_queued(struct path *p, uint32_t point)
{
	struct path_point *end = &p->graph.points[point];
	const struct path_call *c = &p->calls[end->what];
	const struct path_work *w = &p->works[c->needs];

	if (!w->is_in || w->end_ns > path_point_ns(p, point))
		return;
	end->has_other = true;
	end->is_bound =
		w->end_ns > c->start_ns &&
		c->end_ns - c->start_ns > 2 * (int64_t)PF_PATH_HANDOFF_NS;
}

static void bind_returns(struct path *p)
{
	struct path_graph *g = &p->graph;

	for (uint32_t i = 0; i < g->point_count; i++) {
		const struct path_point *end = &g->points[i];

		if (end->kind != PATH_AT_RETURN)
			continue;
		if (p->calls[end->what].is_queued)
			bind_queued(p, i);
		else
			bind_wait(p, i);
	}
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

/* What ends last is the sink's cause; of equals the host. */
static void add_sink(struct path *p)
{
	struct path_graph *g = &p->graph;
	uint32_t last = PATH_ORIGIN;
	int64_t last_ns = p->w0_ns;

	if (g->tail != PF_PATH_NONE) {
		last = g->host_first + g->tail;
		last_ns = path_point_ns(p, g->tail);
	}
	for (uint32_t i = 0; i < p->work_count; i++)
		if (p->works[i].is_in && p->works[i].end_ns > last_ns) {
			last = PATH_END_OF(i);
			last_ns = p->works[i].end_ns;
		}
	g->last = last;
	g->sink = g->host_first + g->point_count;
}

static void add_host(struct path *p)
{
	struct builder x = { .p = p };

	for (uint32_t i = 0; i < p->thread_count; i++)
		if (path_is_compute(p, &p->threads[i]))
			find_handoffs(p, i);
	list_handoffs(&x);
	find_main(p);
	for (uint32_t i = 0; i < p->thread_count; i++)
		add_thread(&x, i);
	bind_handoffs(p);
	bind_returns(p);
	for (unsigned k = 0; k < 2; k++) {
		free(x.first_of[k]);
		free(x.next_of[k]);
	}
	free(x.points);
}

void path_build(struct path *p)
{
	struct path_graph *g = &p->graph;

	g->host_first = 1 + 2 * p->work_count;
	g->tail = PF_PATH_NONE;
	free(p->by_call);
	p->by_call = NULL;
	for (uint32_t i = 0; i < p->call_count; i++)
		p->calls[i].point = PF_PATH_NONE;
	add_host(p);
	path_add_works(p);
	add_sink(p);
	free(p->orders);
	p->orders = NULL;
	path_settle(p);
}
