/* SPDX-License-Identifier: MIT */
/* What questions make of edges: other times, or none. */
#include "analysis/path/replay_impl.h"

#include <math.h>

#include "store/varint.h"

#define FITS_WORK 1 /* as fold.c writes it */

/* ---- what lanes change ---- */

static void take_names(const struct path_groups *s, struct path_group *g,
		       unsigned bit, const struct path_change *q)
{
	if (q->work_name == PF_ID_NONE && !q->has_work_regex)
		return;
	g->by_name |= bit;
	if (!g->of_name)
		g->of_name = pf_calloc(s->name_count + 1, 1);
	if (q->work_name < s->name_count)
		g->of_name[q->work_name] |= (unsigned char)bit;
	for (size_t i = 0; q->has_work_regex && i < s->name_count; i++)
		if (q->names[i] & FITS_WORK)
			g->of_name[i] |= (unsigned char)bit;
}

static void take_change(const struct path_groups *s, struct path_group *g,
			unsigned lane, const struct path_change *q)
{
	const unsigned bit = 1u << lane;

	for (unsigned i = 0; q->has_gpu && i < PF_GPU_CLASSES; i++) {
		g->by_class[i][lane] = q->by_class[i];
		if (q->by_class[i] != 1)
			g->of_class[i] |= bit;
	}
	g->work_factor[lane] = q->work_factor;
	if (q->has_gpu)
		take_names(s, g, bit, q);
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

static void prepare_group(const struct path_groups *s, struct path_group *g,
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
	g->of_key = pf_calloc((size_t)s->ledger->key_count + 1, 1);
	for (unsigned i = 0; i < count; i++) {
		if (lanes[i].change)
			take_change(s, g, i, lanes[i].change);
		if (lanes[i].is_pessimistic)
			g->pessimistic |= 1u << i;
	}
}

/* Which edges the lanes of a group may change. */
static void note_group(struct path_groups *s, size_t group)
{
	const struct path_group *g = &s->items[group];
	const uint64_t bit = path_group_bit(group);

	for (uint32_t k = 0; k < s->ledger->key_count; k++)
		s->of_key[k] |= g->of_key[k] ? bit : 0;
	for (unsigned i = 0; i < PF_GPU_CLASSES; i++)
		if (g->by_name | g->below | g->of_class[i])
			s->of_class[i] |= bit;
	s->any_host |= g->any_host ? bit : 0;
	s->no_waits |= g->no_waits ? bit : 0;
	s->least_launch |= g->least_launch ? bit : 0;
	s->no_comm |= g->no_comm ? bit : 0;
}

void path_groups_init(struct path_groups *s, const struct path *p,
		      const struct path_ledger *ledger, struct path_lane *lanes,
		      size_t count)
{
	*s = (struct path_groups){ .p = p,
				   .ledger = ledger,
				   .name_count = pf_names_count(p->names),
				   .count = (count + LANES - 1) / LANES };
	s->width = s->count * LANES;
	s->items = pf_calloc(s->count + 1, sizeof(*s->items));
	s->of_key =
		pf_calloc((size_t)ledger->key_count + 1, sizeof(*s->of_key));
	for (size_t i = 0; i < s->count; i++) {
		struct path_group *g = &s->items[i];
		size_t left = count - i * LANES;

		prepare_group(s, g, lanes + i * LANES,
			      left < LANES ? left : LANES);
		note_group(s, i);
	}
}

void path_groups_release(struct path_groups *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->items[i].of_name);
		free(s->items[i].of_key);
	}
	free(s->items);
	free(s->of_key);
	free(s->parts);
}

/* ---- what edges take ---- */

static int64_t scaled(int64_t ns, double factor)
{
	return (int64_t)rint((double)ns * factor);
}

/* Is work below an operator: of its launch, or that a graph has for it? */
static bool is_below(const struct path *p, const struct path_change *q,
		     const struct path_work *w)
{
	uint32_t op = PF_NO_TEXT;

	if (q->graph_ops)
		op = path_replayed_op(p, p->nodes[w - p->works]);
	return q->below[w->call] || (op != PF_NO_TEXT && q->graph_ops[op]);
}

/* Lanes that change this work by its name, or by what is around its launch. */
static unsigned named(const struct path_groups *s, const struct path_group *g,
		      const struct path_work *w)
{
	unsigned hit = 0;

	if (g->by_name && w->name < s->name_count)
		hit = g->of_name[w->name];
	else if (g->by_name && w->name != PF_ID_NONE)
		for (unsigned m = g->by_name, i = 0; path_next_lane(&m, &i);)
			if (g->lanes[i].change->work_name == w->name)
				hit |= 1u << i;
	if (g->below && w->call != PF_PATH_NONE)
		for (unsigned m = g->below, i = 0; path_next_lane(&m, &i);)
			if (is_below(s->p, g->lanes[i].change, w))
				hit |= 1u << i;
	return hit;
}

/* Time of work, in each lane. */
void path_scale(const struct path_groups *s, const struct path_group *g,
		uint32_t work, int64_t ns, struct path_load *out)
{
	const struct path_work *w = &s->p->works[work];
	unsigned hit = g->by_name | g->below ? named(s, g, w) : 0;

	out->ns = ns;
	out->own = hit | g->of_class[w->class];
	for (unsigned m = out->own, i = 0; path_next_lane(&m, &i);)
		out->own_ns[i] =
			scaled(ns, hit >> i & 1 ? g->work_factor[i]
						: g->by_class[w->class][i]);
}

void path_read_parts(struct path_groups *s, struct path_reader *from,
		     int64_t ns)
{
	uint64_t count = 0;

	s->part_count = 0;
	s->part_groups = 0;
	for (from->at = pf_varint_get(from->at, &count); count; count--) {
		struct path_part part = { 0 };

		from->at = pf_varint_get(from->at, &part.key);
		from->at = pf_varint_get(from->at, &part.ns);
		part.ns = part.ns ? part.ns : (uint64_t)ns;
		if (!s->of_key[part.key])
			continue;
		s->part_groups |= s->of_key[part.key];
		s->parts = pf_grow(s->parts, &s->part_cap, s->part_count + 1,
				   sizeof(*s->parts));
		s->parts[s->part_count++] = part;
	}
}

uint64_t path_differing(const struct path_groups *s, const struct path_edge *e)
{
	const struct path *p = s->p;

	switch ((enum path_kind)e->kind) {
	case PATH_HOST:
		return s->any_host | s->part_groups;
	case PATH_LAUNCH:
		return s->least_launch;
	case PATH_GAP:
	case PATH_WAIT:
	case PATH_INFERRED:
		return s->no_comm;
	case PATH_RETURN:
		return PATH_IS_END(&p->graph, e->from) ? s->no_waits
						       : UINT64_MAX;
	case PATH_DUR:
		return s->of_class[p->works[e->what].class];
	case PATH_QUEUE:
	case PATH_HANDOFF:
	case PATH_START:
		return 0;
	default:
		return UINT64_MAX;
	}
}

static void weigh_host(const struct path_groups *s, const struct path_group *g,
		       struct path_load *out)
{
	unsigned any = out->ns > 0 ? g->any_host : 0;
	path_lanes_ns parts;

	for (unsigned m = any, i = 0; path_next_lane(&m, &i);)
		parts[i] = out->ns;
	for (size_t k = 0; out->ns > 0 && k < s->part_count; k++) {
		unsigned mask = g->of_key[s->parts[k].key];

		for (unsigned m = mask & ~any, i = 0; path_next_lane(&m, &i);)
			parts[i] = 0;
		any |= mask;
		for (unsigned m = mask, i = 0; path_next_lane(&m, &i);)
			parts[i] += (int64_t)s->parts[k].ns;
	}
	out->own = any;
	for (unsigned m = any, i = 0; path_next_lane(&m, &i);)
		out->own_ns[i] =
			(int64_t)rint((double)(out->ns - parts[i]) +
				      (double)parts[i] * g->host_factor[i]);
}

/* A launch takes its least; what nothing explains stays. */
static int64_t least_launch(const struct path *p, uint32_t to,
			    const struct path_edge *e)
{
	int64_t from = path_at(p, e->from), at = path_at(p, to);
	int64_t called = p->calls[p->works[e->what].call].end_ns;
	int64_t rest;

	called = called > from ? called : from;
	rest = at - called - PF_PATH_LAUNCH_NS;
	return (e->floor_ns < at - from ? e->floor_ns : at - from) +
	       (rest > 0 ? rest : 0);
}

/* Lanes in which work no longer waits for other work, which communicates. */
static unsigned hidden(const struct path_groups *s, const struct path_group *g,
		       const struct path_edge *e)
{
	const struct path *p = s->p;

	if (!g->no_comm || !PATH_IS_WORK(&s->p->graph, e->from) ||
	    p->works[PATH_WORK_OF(e->from)].class != PF_GPU_COMM ||
	    p->works[e->what].class == PF_GPU_COMM)
		return 0;
	return g->no_comm;
}

void path_weigh(const struct path_groups *s, const struct path_group *g,
		const struct path_leg *leg, struct path_load *out)
{
	const struct path_edge *e = &leg->edge;

	out->ns = leg->ns;
	out->own = out->gone = 0;
	switch ((enum path_kind)e->kind) {
	case PATH_GONE:
		out->gone = g->all;
		break;
	case PATH_DUR:
		path_scale(s, g, e->what, out->ns, out);
		break;
	case PATH_CONTENDED:
		path_scale(s, g, PATH_WORK_OF(e->from), out->ns, out);
		break;
	case PATH_RETURN:
		if (!s->p->calls[e->what].work_count)
			out->gone = g->no_waits;
		if (!PATH_IS_END(&s->p->graph, e->from))
			path_scale(s, g, PATH_WORK_OF(e->from), out->ns, out);
		break;
	case PATH_HOST:
		weigh_host(s, g, out);
		break;
	case PATH_LAUNCH:
		out->own = e->is_binding ? g->least_launch : 0;
		for (unsigned m = out->own, i = 0; path_next_lane(&m, &i);)
			out->own_ns[i] = least_launch(s->p, leg->to, e);
		break;
	case PATH_ORDER:
		out->gone = (g->all & ~g->pessimistic) | hidden(s, g, e);
		break;
	case PATH_GAP:
	case PATH_OVERLAP:
	case PATH_WAIT:
	case PATH_INFERRED:
		out->gone = hidden(s, g, e);
		break;
	default:
		break;
	}
}
