/* SPDX-License-Identifier: MIT */
/*
 * The graph worked out anew: each node as early as all edges to it let it be.
 * A question changes what edges take, or takes some away; where the window
 * begins stays.
 */
#include "path/change_impl.h"

#include <math.h>

/* What is changed, made ready for one pass. */
struct replay {
	const struct path *p;
	const struct path_graph *g;
	const struct path_change *change; /* or NULL: nothing */
	double *by_work;                  /* factors, or NULL: 1 */
	bool is_pessimistic;
};

#define FITS_WORK 1 /* as fold.c writes it */

static double factor_of(const struct path *p, const struct path_change *q,
			const struct path_work *w)
{
	bool hit = w->name == q->work_name && w->name != PF_ID_NONE;

	if (q->has_work_regex && w->name < pf_names_count(p->names))
		hit |= q->names[w->name] & FITS_WORK;
	if (q->has_op_regex && w->call != PF_PATH_NONE)
		hit |= q->below[w->call];
	return hit ? q->work_factor : q->by_class[w->class];
}

static void prepare(struct replay *r)
{
	const struct path *p = r->p;

	if (!r->change || !r->change->has_gpu)
		return;
	r->by_work = pf_calloc((size_t)p->work_count + 1, sizeof(double));
	for (uint32_t i = 0; i < p->work_count; i++)
		r->by_work[i] = factor_of(p, r->change, &p->works[i]);
}

static int64_t scaled(const struct replay *r, uint32_t work, int64_t ns)
{
	if (!r->by_work || r->by_work[work] == 1)
		return ns;
	return (int64_t)rint((double)ns * r->by_work[work]);
}

static int64_t host_ns(const struct replay *r, uint32_t to, int64_t ns)
{
	const struct path_change *q = r->change;
	int64_t part;

	if (!q || !q->host_ns || ns <= 0)
		return ns;
	part = q->host_ns[to - r->g->host_first];
	if (!part)
		return ns;
	return (int64_t)rint((double)(ns - part) +
			     (double)part * q->host_factor);
}

/* A launch takes its least; what nothing explains stays. */
static int64_t least_launch(const struct replay *r, uint32_t to,
			    const struct path_edge *e, int64_t measured)
{
	const struct path *p = r->p;
	int64_t from = r->g->nodes[e->from].at_ns;
	int64_t called = p->calls[p->works[e->what].call].end_ns;
	int64_t rest;

	called = called > from ? called : from;
	rest = r->g->nodes[to].at_ns - called - PF_PATH_LAUNCH_NS;
	return (e->floor_ns < measured ? e->floor_ns : measured) +
	       (rest > 0 ? rest : 0);
}

/* Does the target no longer wait for the source, which communicates? */
static bool is_hidden(const struct replay *r, const struct path_edge *e)
{
	const struct path *p = r->p;

	return r->change && r->change->no_comm && PATH_IS_WORK(r->g, e->from) &&
	       p->works[PATH_WORK_OF(e->from)].class == PF_GPU_COMM &&
	       p->works[e->what].class != PF_GPU_COMM;
}

/* What an edge takes; false: it is none now. */
static bool weigh(const struct replay *r, uint32_t to,
		  const struct path_edge *e, int64_t *out)
{
	const struct path_change *q = r->change;
	int64_t ns = path_weight(r->g, to, e);
	int64_t measured = r->g->nodes[to].at_ns - r->g->nodes[e->from].at_ns;

	*out = ns;
	switch ((enum path_kind)e->kind) {
	case PATH_GONE:
		return false;
	case PATH_DUR:
		*out = scaled(r, e->what, ns);
		return true;
	case PATH_CONTENDED:
		*out = scaled(r, PATH_WORK_OF(e->from), ns);
		return true;
	case PATH_RETURN:
		if (q && q->no_waits && !r->p->calls[e->what].work_count)
			return false;
		if (!PATH_IS_END(r->g, e->from))
			*out = scaled(r, PATH_WORK_OF(e->from), ns);
		return true;
	case PATH_HOST:
		*out = host_ns(r, to, ns);
		return true;
	case PATH_LAUNCH:
		if (q && q->least_launch && e->is_binding)
			*out = least_launch(r, to, e, measured);
		return true;
	case PATH_ORDER:
		return r->is_pessimistic && !is_hidden(r, e);
	case PATH_GAP:
	case PATH_OVERLAP:
	case PATH_WAIT:
	case PATH_INFERRED:
		return !is_hidden(r, e);
	default:
		return true;
	}
}

int64_t path_answer(const struct path *p, const struct path_change *change,
		    bool is_pessimistic)
{
	const struct path_graph *g = &p->graph;
	struct replay r = { .p = p,
			    .g = g,
			    .change = change,
			    .is_pessimistic = is_pessimistic };
	int64_t *at_ns = pf_calloc((size_t)g->node_count + 1, sizeof(*at_ns));
	int64_t end_ns = INT64_MIN;

	prepare(&r);
	for (uint32_t i = 0; i < g->order_count; i++) {
		uint32_t to = g->order[i];
		const struct path_node *n = &g->nodes[to];
		int64_t t = n->at_ns < p->w0_ns ? n->at_ns : p->w0_ns, ns;

		for (uint32_t k = 0; k < n->count; k++) {
			const struct path_edge *e = &g->edges[n->first + k];

			if (weigh(&r, to, e, &ns) && at_ns[e->from] + ns > t)
				t = at_ns[e->from] + ns;
		}
		at_ns[to] = to == PATH_ORIGIN ? p->w0_ns : t;
		if (n->count && at_ns[to] > end_ns &&
		    (to == g->sink || PATH_IS_END(g, to)))
			end_ns = at_ns[to];
	}
	free(at_ns);
	free(r.by_work);
	return end_ns == INT64_MIN ? 0 : end_ns - p->w0_ns;
}

int64_t path_bound(const struct path *p, const struct path_change *change)
{
	const struct path_graph *g = &p->graph;
	struct replay r = { .p = p, .g = g, .change = change };
	const struct path_edge *e;
	int64_t bound = 0, ns;

	prepare(&r);
	for (uint32_t n = g->sink; (e = path_binding(g, n)); n = e->from) {
		if (!weigh(&r, n, e, &ns)) {
			bound = -1;
			break;
		}
		bound += path_weight(g, n, e) - ns;
	}
	free(r.by_work);
	return bound;
}
