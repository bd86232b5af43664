/* SPDX-License-Identifier: MIT */
/*
 * The graph worked out anew: each node as early as all edges to it let it be.
 * A question changes what edges take, or takes some away; where the window
 * begins stays.  Several questions are answered in one pass, side by side as
 * lanes.  Of what has been worked out the latest is kept in two rings, of work
 * and of points; what is asked for later than that is found once (path_far_find())
 * and kept beside.
 */
#include "analysis/path/replay_impl.h"

#include "base/order.h"
#include "base/search.h"
#include "store/threads.h"

#define RING 4096 /* of each kind */

struct replay {
	const struct path *p;
	const struct path_graph *g;
	struct path_groups groups;
	/* what has been worked out, in rows of all lanes */
	int64_t *ring, *kept, *begin;
	uint32_t *tags;
	const struct path_far *far;
	struct path_reader *readers; /* by thread */
	/* edges to the item at hand */
	struct path_leg *legs;
	size_t leg_count, leg_cap;
};

/* ---- what was worked out before ---- */

static size_t slot_of(const struct path *p, uint32_t item)
{
	return (item & (RING - 1)) + (item < p->work_count ? 0 : RING);
}

static uint32_t item_of(const struct path *p, uint32_t node)
{
	return node < p->graph.host_first
		       ? PATH_WORK_OF(node)
		       : p->work_count + (node - p->graph.host_first);
}

static size_t place_of(const struct path_far *f, uint32_t item)
{
	return PF_SEARCH(i, f->count, f->items[i] < item);
}

static const int64_t *known(const struct replay *r, uint32_t node)
{
	uint32_t item;
	size_t slot;

	if (node == PATH_ORIGIN)
		return r->begin;
	item = item_of(r->p, node);
	slot = slot_of(r->p, item);
	if (r->tags[slot] == item)
		return r->ring + slot * r->groups.width;
	return r->kept + place_of(r->far, item) * r->groups.width;
}

static void keep(struct replay *r, uint32_t item, const int64_t *ns)
{
	if (r->far->bits[item >> 3] >> (item & 7) & 1)
		memcpy(r->kept + place_of(r->far, item) * r->groups.width, ns,
		       r->groups.width * sizeof(*ns));
}

/* The edges to an item one after the other; k from 0. */
static bool edge_of(const struct path *p, uint32_t item, uint32_t k,
		    struct path_edge pair[2], unsigned *count,
		    struct path_edge *out)
{
	const struct path_graph *g = &p->graph;

	if (!k)
		*count = item < p->work_count
				 ? path_work_edges(p, item, pair)
				 : path_point_edges(p, item - p->work_count,
						    pair);
	if (k < *count) {
		*out = pair[k];
		return true;
	}
	if (item >= p->work_count || !g->first_extra)
		return false;
	k += g->first_extra[item] - *count;
	if (k >= g->first_extra[item + 1])
		return false;
	*out = path_extra_edge(p, item, k);
	return true;
}

PF_ORDER(ascending, uint32_t, PF_UP_VALUE)

void path_far_find(const struct path *p, struct path_far *f)
{
	const struct path_graph *g = &p->graph;
	uint32_t *tags = pf_alloc(2 * RING * sizeof(*tags)), item;
	struct path_turn turn = path_first_turn(p);

	*f = (struct path_far){ 0 };
	memset(tags, 0xff, 2 * RING * sizeof(*tags));
	f->bits =
		pf_calloc(((size_t)p->work_count + g->point_count) / 8 + 1, 1);
	while (path_next_turn(p, &turn, &item)) {
		struct path_edge e, pair[2];
		unsigned count = 0;

		for (uint32_t k = 0; edge_of(p, item, k, pair, &count, &e);
		     k++) {
			uint32_t from = item_of(p, e.from);

			if (e.from == PATH_ORIGIN ||
			    tags[slot_of(p, from)] == from ||
			    (f->bits[from >> 3] >> (from & 7) & 1))
				continue;
			f->bits[from >> 3] |= (unsigned char)(1 << (from & 7));
			f->items = pf_grow(f->items, &f->cap, f->count + 1,
					   sizeof(*f->items));
			f->items[f->count++] = from;
		}
		tags[slot_of(p, item)] = item;
	}
	path_sort(f->items, f->count, sizeof(*f->items), ascending);
	free(tags);
}

void path_far_release(struct path_far *f)
{
	free(f->items);
	free(f->bits);
}

/* ---- one pass ---- */

/* Where the source is the start of work: of work its end is kept. */
static const int64_t *start_of(const struct path_groups *s,
			       const struct path_group *g, uint32_t work,
			       const int64_t *end, int64_t *own)
{
	const struct path_work *w = &s->p->works[work];
	struct path_load dur;

	path_scale(s, g, work, w->end_ns - w->start_ns, &dur);
	for (unsigned i = 0; i < LANES; i++) {
		own[i] = end[i] - (dur.own >> i & 1 ? dur.own_ns[i] : dur.ns);
		/* it began before the window, and would end there */
		if (w->start_ns < s->p->w0_ns && end[i] == s->p->w0_ns)
			own[i] = w->start_ns;
	}
	return own;
}

/* Through an edge that may differ in the lanes of a group. */
static void reach(const struct path_groups *s, size_t group,
		  const struct path_leg *leg, int64_t *t)
{
	const struct path_group *g = &s->items[group];
	const int64_t *from = leg->from + group * LANES;
	const uint32_t source = leg->edge.from;
	const struct path_graph *graph = &s->p->graph;
	struct path_load load;
	path_lanes_ns own;

	path_weigh(s, g, leg, &load);
	if (load.gone == g->all)
		return;
	if (PATH_IS_WORK(graph, source) && !PATH_IS_END(graph, source))
		from = start_of(s, g, PATH_WORK_OF(source), from, own);
	if (!(load.own | load.gone)) {
		path_reach(t, from, load.ns, LANES);
		return;
	}
	for (unsigned m = g->all & ~load.gone, i = 0; path_next_lane(&m, &i);) {
		int64_t at = from[i] +
			     (load.own >> i & 1 ? load.own_ns[i] : load.ns);

		t[i] = t[i] > at ? t[i] : at;
	}
}

static void follow(const struct path_groups *s, const struct path_leg *leg,
		   int64_t *t)
{
	const uint64_t differ = path_differing(s, &leg->edge);
	size_t plain = 0; /* the first of groups that nothing changes */

	if (!differ) {
		path_reach(t, leg->from, leg->ns, s->width);
		return;
	}
	for (size_t i = 0; i <= s->count; i++) {
		if (i < s->count && !(differ & path_group_bit(i)))
			continue;
		if (i > plain)
			path_reach(t + plain * LANES, leg->from + plain * LANES,
				   leg->ns, (i - plain) * LANES);
		if (i < s->count)
			reach(s, i, leg, t + i * LANES);
		plain = i + 1;
	}
}

static void add_duration(const struct path_groups *s, uint32_t work, int64_t *t)
{
	const struct path_work *w = &s->p->works[work];
	const int64_t ns = w->end_ns - w->start_ns;

	for (size_t i = 0; i < s->width; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			t[i + k] += ns;
	for (size_t i = 0; s->of_class[w->class] && i < s->count; i++) {
		const struct path_group *g = &s->items[i];
		struct path_load dur;

		if (!(g->by_name | g->below | g->of_class[w->class]))
			continue;
		path_scale(s, g, work, ns, &dur);
		for (unsigned m = dur.own, k = 0; path_next_lane(&m, &k);)
			t[i * LANES + k] += dur.own_ns[k] - ns;
	}
	/* nothing of the window is before it */
	for (size_t i = 0; w->start_ns < s->p->w0_ns && i < s->width; i++)
		t[i] = t[i] > s->p->w0_ns ? t[i] : s->p->w0_ns;
}

static void find_legs(struct replay *r, uint32_t item, uint32_t to)
{
	const struct path *p = r->p;
	struct path_edge e, pair[2];
	unsigned count = 0;

	r->leg_count = 0;
	for (uint32_t k = 0; edge_of(p, item, k, pair, &count, &e); k++) {
		r->legs = pf_grow(r->legs, &r->leg_cap, r->leg_count + 1,
				  sizeof(*r->legs));
		r->legs[r->leg_count++] =
			(struct path_leg){ .edge = e,
					   .to = to,
					   .ns = path_weight(p, to, &e),
					   .from = known(r, e.from) };
		if (e.kind == PATH_HOST && r->groups.ledger->is_on)
			path_read_parts(&r->groups,
					&r->readers[path_thread_of(
						p, item - p->work_count)],
					r->legs[r->leg_count - 1].ns);
	}
}

static void work_out(struct replay *r, uint32_t item, int64_t *t)
{
	const struct path *p = r->p;
	bool is_work = item < p->work_count, is_start;
	uint32_t to = is_work ? PATH_START_OF(item)
			      : r->g->host_first + (item - p->work_count);
	const struct path_point *pt =
		is_work ? NULL : &r->g->points[item - p->work_count];
	int64_t at = path_at(p, to);

	is_start = is_work ? p->works[item].bound == PATH_START
			   : pt->kind == PATH_AT_FIRST || pt->is_start;
	find_legs(r, item, to);
	at = at < p->w0_ns || is_start ? at : p->w0_ns;
	for (size_t i = 0; i < r->groups.width; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			t[i + k] = at;
	for (size_t i = 0; i < r->leg_count; i++)
		follow(&r->groups, &r->legs[i], t);
	if (is_work)
		add_duration(&r->groups, item, t);
}

/* Times of an item may be asked for where its slot is: it is taken last. */
static void run(struct replay *r, int64_t *end)
{
	const struct path_graph *g = r->g;
	int64_t *t = pf_alloc(r->groups.width * sizeof(*t));
	struct path_turn turn = path_first_turn(r->p);
	uint32_t item;

	while (path_next_turn(r->p, &turn, &item)) {
		size_t slot = slot_of(r->p, item);

		work_out(r, item, t);
		r->tags[slot] = item;
		memcpy(r->ring + slot * r->groups.width, t,
		       r->groups.width * sizeof(*t));
		keep(r, item, t);
		if (item < r->p->work_count ||
		    item - r->p->work_count == g->tail)
			path_reach(end, t, 0, r->groups.width);
	}
	free(t);
}

static void set_up(struct replay *r, const struct path_ledger *l)
{
	const struct path *p = r->p;
	const size_t row = r->groups.width * sizeof(int64_t);

	r->ring = pf_alloc(2 * RING * row + 1);
	r->kept = pf_alloc((r->far->count + 1) * row + 1);
	r->begin = pf_alloc(row + 1);
	for (size_t i = 0; i < r->groups.width; i++)
		r->begin[i] = p->w0_ns;
	r->tags = pf_alloc(2 * RING * sizeof(*r->tags));
	memset(r->tags, 0xff, 2 * RING * sizeof(*r->tags));
	r->readers =
		pf_calloc((size_t)p->thread_count + 1, sizeof(*r->readers));
	for (uint32_t i = 0; i < p->thread_count; i++)
		r->readers[i].at = l->threads[i].bytes;
}

static void tear_down(struct replay *r)
{
	path_groups_release(&r->groups);
	free(r->legs);
	free(r->ring);
	free(r->kept);
	free(r->begin);
	free(r->tags);
	free(r->readers);
}

/* Questions that one thread answers. */
struct part {
	const struct path *p;
	const struct path_ledger *ledger;
	const struct path_far *far;
	struct path_lane *lanes;
	size_t count;
};

static void answer(void *context)
{
	const struct part *part = context;
	const struct path *p = part->p;
	struct replay r = { .p = p, .g = &p->graph, .far = part->far };
	int64_t *end;

	path_groups_init(&r.groups, p, part->ledger, part->lanes, part->count);
	set_up(&r, part->ledger);
	end = pf_alloc((r.groups.width + 1) * sizeof(*end));
	memcpy(end, r.begin, r.groups.width * sizeof(*end));
	run(&r, end);
	for (size_t i = 0; i < part->count; i++)
		part->lanes[i].ns = end[i] - p->w0_ns;
	free(end);
	tear_down(&r);
}

void path_answer(const struct path *p, const struct path_far *far,
		 const struct path_ledger *l, struct path_lane *lanes,
		 size_t count)
{
	/* each thread reads the graph anew */
	const size_t half =
		p->args->is_among_others ? 0 : count / LANES / 2 * LANES;
	struct part parts[2] = { { p, l, far, lanes, half },
				 { p, l, far, lanes + half, count - half } };

	if (half)
		pf_threads_both(answer, &parts[0], answer, &parts[1]);
	else
		answer(&parts[1]);
}

/* ---- bounds ---- */

static void take_off(const struct path_groups *s, const struct path_leg *leg)
{
	const uint64_t differ = path_differing(s, &leg->edge);

	for (size_t i = 0; differ && i < s->count; i++) {
		struct path_group *g = &s->items[i];
		struct path_load w;

		if (!(differ & path_group_bit(i)))
			continue;
		path_weigh(s, g, leg, &w);
		for (unsigned m = w.own, k = 0; path_next_lane(&m, &k);)
			g->lanes[k].ns += w.ns - w.own_ns[k];
		for (unsigned m = w.gone, k = 0; path_next_lane(&m, &k);)
			g->lanes[k].is_open = true;
	}
}

/* Entries of a point: those of the thread's before it are passed by. */
static void read_parts(struct path_groups *s, struct path_reader *readers,
		       uint32_t point, int64_t ns)
{
	const struct path *p = s->p;
	const uint32_t thread = path_thread_of(p, point);
	struct path_reader *r = &readers[thread];
	struct path_edge edge;

	if (!r->at || r->point > point)
		*r = (struct path_reader){ s->ledger->threads[thread].bytes,
					   p->threads[thread].first_point };
	for (; r->point < point; r->point++)
		if (path_host_edge(p, r->point, &edge))
			path_read_parts(s, r, 0);
	path_read_parts(s, r, ns);
	r->point++;
}

void path_bound(const struct path *p, const struct path_ledger *l,
		struct path_lane *lanes, size_t count)
{
	struct path_reader *readers =
		pf_calloc((size_t)p->thread_count + 1, sizeof(*readers));
	struct path_groups groups;

	path_groups_init(&groups, p, l, lanes, count);
	for (size_t i = 0; i < count; i++)
		lanes[i].ns = 0;
	for (uint32_t i = p->chain_count; i-- > 0;) {
		struct path_leg leg = { .to = p->chain[i] };

		if (!path_binding(p, leg.to, &leg.edge))
			continue;
		leg.ns = path_weight(p, leg.to, &leg.edge);
		groups.part_count = 0;
		groups.part_groups = 0;
		if (leg.edge.kind == PATH_HOST && l->is_on)
			read_parts(&groups, readers, leg.edge.what, leg.ns);
		take_off(&groups, &leg);
	}
	for (size_t i = 0; i < count; i++)
		if (lanes[i].is_open)
			lanes[i].ns = -1;
	path_groups_release(&groups);
	free(readers);
}
