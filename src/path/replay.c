/* SPDX-License-Identifier: MIT */
/*
 * The graph worked out anew: each node as early as all edges to it let it be.
 * A question changes what edges take, or takes some away; where the window
 * begins stays.  Several questions are answered in one pass, side by side as
 * lanes.  Of what has been worked out the latest is kept in two rings, of work
 * and of points; what is asked for later than that is found once (find_far())
 * and kept beside.
 */
#include "path/change_impl.h"

#include <math.h>

#include "base/search.h"
#include "store/varint.h"

#define LANES PATH_LANES
#define RING  4096 /* of each kind */

#define FITS_WORK 1 /* as fold.c writes it */

typedef int64_t lanes_ns[LANES];

/* Items whose times are asked for when the ring has passed them by. */
struct far {
	uint32_t *items; /* ascending */
	size_t count, cap;
	unsigned char *bits; /* is it one?  By item */
};

/* Entries of the ledger, read on. */
struct reader {
	const unsigned char *at;
};

/* Lanes that are worked out side by side: what they change. */
struct group {
	struct path_lane *lanes;
	unsigned count, all; /* lanes; all of their bits */
	unsigned of_class[PF_GPU_CLASSES], by_name, below, any_host;
	unsigned no_waits, least_launch, no_comm, pessimistic;
	double by_class[PF_GPU_CLASSES][LANES], work_factor[LANES];
	double host_factor[LANES];
	unsigned char *of_name, *of_key; /* lanes, or NULL */
};

/* An edge to the item at hand; where the times of its source are. */
struct leg {
	struct path_edge edge;
	int64_t ns;          /* when nothing is changed */
	const int64_t *from; /* all lanes' */
};

struct replay {
	const struct path *p;
	const struct path_graph *g;
	const struct path_ledger *ledger;
	size_t name_count;
	struct group *groups;
	size_t group_count, width; /* lanes in all */
	/* what has been worked out, in rows of all lanes */
	int64_t *ring, *kept, *begin;
	uint32_t *tags;
	const struct far *far;
	struct reader *readers; /* by thread */
	/* the item at hand */
	uint32_t to; /* its node */
	struct leg *legs;
	size_t leg_count, leg_cap;
	struct part {
		uint64_t key, ns;
	} * parts; /* of the host's time */
	size_t part_count, part_cap;
};

/* What an edge takes: ns, but in lanes that have their own, or none. */
struct load {
	int64_t ns;
	unsigned own, gone;
	lanes_ns own_ns;
};

#define EACH(l, mask)                                                          \
	for (unsigned m_ = (mask), l;                                          \
	     m_ && ((l = (unsigned)__builtin_ctz(m_)), 1); m_ &= m_ - 1)

/* ---- what lanes change ---- */

static void take_names(const struct replay *r, struct group *g, unsigned bit,
		       const struct path_change *q)
{
	if (q->work_name == PF_ID_NONE && !q->has_work_regex)
		return;
	g->by_name |= bit;
	if (!g->of_name)
		g->of_name = pf_calloc(r->name_count + 1, 1);
	if (q->work_name < r->name_count)
		g->of_name[q->work_name] |= (unsigned char)bit;
	for (size_t i = 0; q->has_work_regex && i < r->name_count; i++)
		if (q->names[i] & FITS_WORK)
			g->of_name[i] |= (unsigned char)bit;
}

static void take_change(const struct replay *r, struct group *g, unsigned lane,
			const struct path_change *q)
{
	const unsigned bit = 1u << lane;

	for (unsigned i = 0; q->has_gpu && i < PF_GPU_CLASSES; i++) {
		g->by_class[i][lane] = q->by_class[i];
		if (q->by_class[i] != 1)
			g->of_class[i] |= bit;
	}
	g->work_factor[lane] = q->work_factor;
	if (q->has_gpu)
		take_names(r, g, bit, q);
	if (q->has_gpu && q->below)
		g->below |= bit;
	g->host_factor[lane] = q->host_factor;
	if (q->has_host && (q->host_kinds & PATH_IS_ANY))
		g->any_host |= bit;
	else if (q->has_host && q->key != PF_PATH_NONE)
		g->of_key[q->key] |= (unsigned char)bit;
	g->no_waits |= q->no_waits ? bit : 0;
	g->least_launch |= q->least_launch ? bit : 0;
	g->no_comm |= q->no_comm ? bit : 0;
}

static void prepare_group(const struct replay *r, struct group *g,
			  struct path_lane *lanes, size_t count)
{
	g->lanes = lanes;
	g->count = (unsigned)count;
	g->all = (1u << count) - 1;
	for (unsigned i = 0; i < LANES; i++) {
		g->work_factor[i] = g->host_factor[i] = 1;
		for (unsigned k = 0; k < PF_GPU_CLASSES; k++)
			g->by_class[k][i] = 1;
	}
	g->of_key = pf_calloc((size_t)r->ledger->key_count + 1, 1);
	for (unsigned i = 0; i < count; i++) {
		if (lanes[i].change)
			take_change(r, g, i, lanes[i].change);
		if (lanes[i].is_pessimistic)
			g->pessimistic |= 1u << i;
	}
}

static void prepare(struct replay *r, const struct path *p,
		    const struct path_ledger *ledger, struct path_lane *lanes,
		    size_t count)
{
	*r = (struct replay){ .p = p,
			      .g = &p->graph,
			      .ledger = ledger,
			      .name_count = pf_names_count(p->names),
			      .group_count = (count + LANES - 1) / LANES };
	r->width = r->group_count * LANES;
	r->groups = pf_calloc(r->group_count + 1, sizeof(*r->groups));
	for (size_t i = 0; i < count; i += LANES)
		prepare_group(r, &r->groups[i / LANES], lanes + i,
			      count - i < LANES ? count - i : LANES);
}

static void release(struct replay *r)
{
	for (size_t i = 0; i < r->group_count; i++) {
		free(r->groups[i].of_name);
		free(r->groups[i].of_key);
	}
	free(r->groups);
	free(r->legs);
	free(r->parts);
	free(r->ring);
	free(r->kept);
	free(r->begin);
	free(r->tags);
	free(r->readers);
}

/* ---- what edges take ---- */

static int64_t scaled(int64_t ns, double factor)
{
	return (int64_t)rint((double)ns * factor);
}

/* Lanes that change this work by its name, or by what is around its launch. */
static unsigned named(const struct replay *r, const struct group *g,
		      const struct path_work *w)
{
	unsigned hit = 0;

	if (g->by_name && w->name < r->name_count)
		hit = g->of_name[w->name];
	else if (g->by_name && w->name != PF_ID_NONE)
		EACH(i, g->by_name)
	if (g->lanes[i].change->work_name == w->name)
		hit |= 1u << i;
	if (g->below && w->call != PF_PATH_NONE)
		EACH(i, g->below)
	if (g->lanes[i].change->below[w->call])
		hit |= 1u << i;
	return hit;
}

/* Time of work, in each lane. */
static void scale(const struct replay *r, const struct group *g, uint32_t work,
		  int64_t ns, struct load *out)
{
	const struct path_work *w = &r->p->works[work];
	unsigned hit = g->by_name | g->below ? named(r, g, w) : 0;

	out->ns = ns;
	out->own = hit | g->of_class[w->class];
	EACH(i, out->own)
	out->own_ns[i] = scaled(ns, hit >> i & 1 ? g->work_factor[i]
						 : g->by_class[w->class][i]);
}

/* What of an edge of the host may be changed: the next entries. */
static void read_parts(struct replay *r, struct reader *from)
{
	uint64_t count = 0;

	from->at = pf_varint_get(from->at, &count);
	r->part_count = (size_t)count;
	r->parts = pf_grow(r->parts, &r->part_cap, r->part_count + 1,
			   sizeof(*r->parts));
	for (size_t i = 0; i < r->part_count; i++) {
		from->at = pf_varint_get(from->at, &r->parts[i].key);
		from->at = pf_varint_get(from->at, &r->parts[i].ns);
	}
}

static void weigh_host(const struct replay *r, const struct group *g,
		       struct load *out)
{
	unsigned any = out->ns > 0 ? g->any_host : 0;
	lanes_ns parts;

	EACH(i, any)
	parts[i] = out->ns;
	for (size_t k = 0; out->ns > 0 && k < r->part_count; k++) {
		unsigned mask = g->of_key[r->parts[k].key];

		EACH(i, mask & ~any)
		parts[i] = 0;
		any |= mask;
		EACH(i, mask)
		parts[i] += (int64_t)r->parts[k].ns;
	}
	out->own = any;
	EACH(i, any)
	out->own_ns[i] = (int64_t)rint((double)(out->ns - parts[i]) +
				       (double)parts[i] * g->host_factor[i]);
}

/* A launch takes its least; what nothing explains stays. */
static int64_t least_launch(const struct replay *r, const struct path_edge *e)
{
	const struct path *p = r->p;
	int64_t from = path_at(p, e->from), at = path_at(p, r->to);
	int64_t called = p->calls[p->works[e->what].call].end_ns;
	int64_t rest;

	called = called > from ? called : from;
	rest = at - called - PF_PATH_LAUNCH_NS;
	return (e->floor_ns < at - from ? e->floor_ns : at - from) +
	       (rest > 0 ? rest : 0);
}

/* Lanes in which work no longer waits for other work, which communicates. */
static unsigned hidden(const struct replay *r, const struct group *g,
		       const struct path_edge *e)
{
	const struct path *p = r->p;

	if (!g->no_comm || !PATH_IS_WORK(r->g, e->from) ||
	    p->works[PATH_WORK_OF(e->from)].class != PF_GPU_COMM ||
	    p->works[e->what].class == PF_GPU_COMM)
		return 0;
	return g->no_comm;
}

static void weigh(const struct replay *r, const struct group *g,
		  const struct leg *leg, struct load *out)
{
	const struct path_edge *e = &leg->edge;

	out->ns = leg->ns;
	out->own = out->gone = 0;
	switch ((enum path_kind)e->kind) {
	case PATH_GONE:
		out->gone = g->all;
		break;
	case PATH_DUR:
		scale(r, g, e->what, out->ns, out);
		break;
	case PATH_CONTENDED:
		scale(r, g, PATH_WORK_OF(e->from), out->ns, out);
		break;
	case PATH_RETURN:
		if (!r->p->calls[e->what].work_count)
			out->gone = g->no_waits;
		if (!PATH_IS_END(r->g, e->from))
			scale(r, g, PATH_WORK_OF(e->from), out->ns, out);
		break;
	case PATH_HOST:
		weigh_host(r, g, out);
		break;
	case PATH_LAUNCH:
		out->own = e->is_binding ? g->least_launch : 0;
		EACH(i, out->own)
		out->own_ns[i] = least_launch(r, e);
		break;
	case PATH_ORDER:
		out->gone = (g->all & ~g->pessimistic) | hidden(r, g, e);
		break;
	case PATH_GAP:
	case PATH_OVERLAP:
	case PATH_WAIT:
	case PATH_INFERRED:
		out->gone = hidden(r, g, e);
		break;
	default:
		break;
	}
}

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

static size_t place_of(const struct far *f, uint32_t item)
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
		return r->ring + slot * r->width;
	return r->kept + place_of(r->far, item) * r->width;
}

static void keep(struct replay *r, uint32_t item, const int64_t *ns)
{
	if (r->far->bits[item >> 3] >> (item & 7) & 1)
		memcpy(r->kept + place_of(r->far, item) * r->width, ns,
		       r->width * sizeof(*ns));
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

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void find_far(const struct path *p, struct far *f)
{
	const struct path_graph *g = &p->graph;
	uint32_t *tags = pf_alloc(2 * RING * sizeof(*tags));

	memset(tags, 0xff, 2 * RING * sizeof(*tags));
	f->bits =
		pf_calloc(((size_t)p->work_count + g->point_count) / 8 + 1, 1);
	for (uint32_t i = 0; i < g->order_count; i++) {
		uint32_t item = g->order[i];
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

/* ---- one pass ---- */

static void reach_plain(int64_t *restrict t, const int64_t *restrict from,
			int64_t ns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t at = from[i] + ns;

		t[i] = t[i] > at ? t[i] : at;
	}
}

static void reach(int64_t *t, const int64_t *from, const struct load *w,
		  unsigned all)
{
	if (!(w->own | w->gone)) {
		reach_plain(t, from, w->ns, LANES);
		return;
	}
	EACH(i, all & ~w->gone)
	{
		int64_t at = from[i] + (w->own >> i & 1 ? w->own_ns[i] : w->ns);

		t[i] = t[i] > at ? t[i] : at;
	}
}

/* Where the source is the start of work: of work its end is kept. */
static const int64_t *start_of(const struct replay *r, const struct group *g,
			       uint32_t work, const int64_t *end, int64_t *own)
{
	const struct path_work *w = &r->p->works[work];
	struct load dur;

	scale(r, g, work, w->end_ns - w->start_ns, &dur);
	for (unsigned i = 0; i < LANES; i++)
		own[i] = end[i] - (dur.own >> i & 1 ? dur.own_ns[i] : dur.ns);
	return own;
}

/* May a group change what the edge takes, or where it comes from? */
static bool may_differ(const struct replay *r, const struct group *g,
		       const struct path_edge *e)
{
	switch ((enum path_kind)e->kind) {
	case PATH_HOST:
		return g->any_host || r->part_count;
	case PATH_LAUNCH:
		return g->least_launch;
	case PATH_GAP:
	case PATH_WAIT:
	case PATH_INFERRED:
		return g->no_comm;
	case PATH_QUEUE:
	case PATH_HANDOFF:
	case PATH_START:
		return false;
	default:
		return true;
	}
}

static void follow(const struct replay *r, const struct leg *leg, int64_t *t)
{
	const struct path_edge *e = &leg->edge;
	bool is_start =
		PATH_IS_WORK(r->g, e->from) && !PATH_IS_END(r->g, e->from);

	for (size_t i = 0; i < r->group_count; i++) {
		const struct group *g = &r->groups[i];
		const int64_t *from = leg->from + i * LANES;
		struct load load;
		lanes_ns own;

		if (!may_differ(r, g, e)) {
			reach_plain(t + i * LANES, from, leg->ns, LANES);
			continue;
		}
		weigh(r, g, leg, &load);
		if (load.gone == g->all)
			continue;
		if (is_start)
			from = start_of(r, g, PATH_WORK_OF(e->from), from, own);
		reach(t + i * LANES, from, &load, g->all);
	}
}

static void add_duration(const struct replay *r, uint32_t work, int64_t *t)
{
	const struct path_work *w = &r->p->works[work];
	const int64_t ns = w->end_ns - w->start_ns;

	for (size_t i = 0; i < r->width; i++)
		t[i] += ns;
	for (size_t i = 0; i < r->group_count; i++) {
		const struct group *g = &r->groups[i];
		struct load dur;

		if (!(g->by_name | g->below | g->of_class[w->class]))
			continue;
		scale(r, g, work, ns, &dur);
		EACH(k, dur.own)
		t[i * LANES + k] += dur.own_ns[k] - ns;
	}
}

static void find_legs(struct replay *r, uint32_t item)
{
	const struct path *p = r->p;
	struct path_edge e, pair[2];
	unsigned count = 0;

	r->leg_count = r->part_count = 0;
	for (uint32_t k = 0; edge_of(p, item, k, pair, &count, &e); k++) {
		r->legs = pf_grow(r->legs, &r->leg_cap, r->leg_count + 1,
				  sizeof(*r->legs));
		r->legs[r->leg_count++] =
			(struct leg){ .edge = e,
				      .ns = path_weight(p, r->to, &e),
				      .from = known(r, e.from) };
		if (e.kind == PATH_HOST && r->ledger->is_on)
			read_parts(r, &r->readers[path_thread_of(
					      p, item - p->work_count)]);
	}
}

static void work_out(struct replay *r, uint32_t item, int64_t *t)
{
	const struct path *p = r->p;
	bool is_work = item < p->work_count, is_start;
	const struct path_point *pt =
		is_work ? NULL : &r->g->points[item - p->work_count];
	int64_t at = is_work ? p->works[item].start_ns : pt->at_ns;

	is_start = is_work ? p->works[item].bound == PATH_START
			   : pt->kind == PATH_AT_FIRST || pt->is_start;
	r->to = is_work ? PATH_START_OF(item)
			: r->g->host_first + (item - p->work_count);
	find_legs(r, item);
	at = at < p->w0_ns || is_start ? at : p->w0_ns;
	for (size_t i = 0; i < r->width; i++)
		t[i] = at;
	for (size_t i = 0; i < r->leg_count; i++)
		follow(r, &r->legs[i], t);
	if (is_work)
		add_duration(r, item, t);
}

/* Times of an item may be asked for where its slot is: it is taken last. */
static void run(struct replay *r, int64_t *end)
{
	const struct path_graph *g = r->g;
	int64_t *t = pf_alloc(r->width * sizeof(*t));

	for (uint32_t i = 0; i < g->order_count; i++) {
		uint32_t item = g->order[i];
		size_t slot = slot_of(r->p, item);

		work_out(r, item, t);
		r->tags[slot] = item;
		memcpy(r->ring + slot * r->width, t, r->width * sizeof(*t));
		keep(r, item, t);
		if (item < r->p->work_count ||
		    item - r->p->work_count == g->tail)
			reach_plain(end, t, 0, r->width);
	}
	free(t);
}

void path_answer(const struct path *p, const struct path_ledger *l,
		 struct path_lane *lanes, size_t count)
{
	struct far far = { 0 };
	struct replay r;
	int64_t *end;

	find_far(p, &far);
	prepare(&r, p, l, lanes, count);
	r.far = &far;
	r.ring = pf_alloc(2 * RING * r.width * sizeof(*r.ring));
	r.tags = pf_alloc(2 * RING * sizeof(*r.tags));
	memset(r.tags, 0xff, 2 * RING * sizeof(*r.tags));
	r.kept = pf_alloc((far.count + 1) * r.width * sizeof(*r.kept));
	r.begin = pf_alloc((r.width + 1) * sizeof(*r.begin));
	end = pf_alloc((r.width + 1) * sizeof(*end));
	for (size_t i = 0; i < r.width; i++)
		r.begin[i] = end[i] = p->w0_ns;
	r.readers = pf_calloc((size_t)p->thread_count + 1, sizeof(*r.readers));
	for (uint32_t i = 0; i < p->thread_count; i++)
		r.readers[i].at = l->threads[i].bytes;
	run(&r, end);
	for (size_t i = 0; i < count; i++)
		lanes[i].ns = end[i] - p->w0_ns;
	free(end);
	release(&r);
	free(far.items);
	free(far.bits);
}

/* ---- bounds ---- */

void path_bound(const struct path *p, const struct path_ledger *l,
		struct path_lane *lanes, size_t count)
{
	struct reader entries = { l->chain.bytes };
	struct replay r;

	prepare(&r, p, l, lanes, count);
	for (size_t i = 0; i < count; i++)
		lanes[i].ns = 0;
	for (uint32_t i = p->chain_count; i-- > 0;) {
		struct leg leg = { .from = NULL };
		struct load w;

		r.to = p->chain[i];
		if (!path_binding(p, r.to, &leg.edge))
			continue;
		leg.ns = path_weight(p, r.to, &leg.edge);
		r.part_count = 0;
		/* an edge that takes nothing is not in the ledger */
		if (leg.edge.kind == PATH_HOST && leg.ns > 0 && l->is_on)
			read_parts(&r, &entries);
		for (size_t k = 0; k < r.group_count; k++) {
			struct group *g = &r.groups[k];

			weigh(&r, g, &leg, &w);
			EACH(m, w.own)
			g->lanes[m].ns += w.ns - w.own_ns[m];
			/* what takes a cause away has no bound */
			EACH(m, w.gone)
			g->lanes[m].is_open = true;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (lanes[i].is_open)
			lanes[i].ns = -1;
	release(&r);
}
