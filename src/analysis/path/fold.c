/* SPDX-License-Identifier: MIT */
/*
 * Host time is cut into pieces by what runs there, far more than there are
 * edges: one walk adds up, for each edge, what of it a question may change.
 * Those of the host that the path is on are walked where it is followed; the
 * others have nothing to do with it, nor with each other: a second thread
 * walks them meanwhile.
 */
#include "config.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "analysis/path/impl.h"
#include "base/search.h"
#include "store/threads.h"
#include "store/varint.h"

/*
 * Questions side by side, as lanes, sixteen to a group: what each makes of an
 * edge.  Few are asked mostly: lanes are worked out by fours.
 */

#define LANES   16
#define AT_ONCE 4

/* Of a name or a key: the lanes of a group that change it. */
typedef uint16_t path_mask;

typedef int64_t path_lanes_ns[LANES];

/* The lanes of a mask one after the other, the lowest first. */
static inline bool path_next_lane(unsigned *mask, unsigned *lane)
{
	if (!*mask)
		return false;
	*lane = (unsigned)__builtin_ctz(*mask);
	*mask &= *mask - 1;
	return true;
}

/* What the lanes of a group change: bits, and factors by lane. */
struct path_group {
	struct path_lane *lanes;
	unsigned count, all; /* lanes; all of their bits */
	unsigned places;     /* of lanes, to the next four */
	unsigned of_class[PF_GPU_CLASSES], by_name, below, any_host;
	unsigned no_waits, no_copy_waits, no_allocs, least_launch, no_comm;
	unsigned pessimistic;
	/* lanes in which work that they change is gone */
	unsigned no_work, no_class[PF_GPU_CLASSES];
	double by_class[PF_GPU_CLASSES][LANES], work_factor[LANES];
	double host_factor[LANES];
	unsigned in_graphs; /* lanes that are about what graphs replay */
	path_mask *of_name, *of_key, *of_call; /* or NULL */
};

/* Entries of a thread, read on; those before a point have been. */
struct path_reader {
	const unsigned char *at, *end; /* of the piece at hand */
	unsigned char *piece;          /* where one of the scratch is read to */
	size_t cap, next;              /* the piece behind it */
	uint32_t point;
};

struct path_groups {
	const struct path *p;
	const struct path_ledger *ledger;
	size_t name_count;
	struct path_group *items;
	size_t count, width; /* lanes in all, to the next four */
	/* groups that may differ, by what an edge is: path_group_bit() each */
	uint64_t *of_key, of_class[PF_GPU_CLASSES];
	uint64_t any_host, no_waits, no_copy_waits, no_allocs, least_launch;
	uint64_t no_comm;
	/* groups in which work is gone: by its name, its class, its launch */
	uint64_t *gone_name, gone_class[PF_GPU_CLASSES], gone_other;
	struct path_reader *readers; /* by thread */
	int rc;                      /* of them: the first error */
	struct pf_err err;
	/* of the edge of the host at hand, what questions ask for */
	struct path_part {
		uint64_t key, ns;
	} * parts;
	size_t part_count, part_cap;
	uint64_t part_groups;
};

/* An edge, and when its source is. */
struct path_leg {
	struct path_edge edge;
	uint32_t to;
	int64_t ns;          /* when nothing is changed */
	const int64_t *from; /* all lanes' */
};

/*
 * What an edge takes: ns, but in lanes that have their own, or none.  What it
 * is in each lane is said of all.
 */
struct path_load {
	int64_t ns;
	unsigned own, gone;
	path_lanes_ns own_ns;
};

static inline void path_load_fill(struct path_load *l, int64_t ns)
{
	l->ns = ns;
	l->own = 0;
	for (unsigned i = 0; i < LANES; i++)
		l->own_ns[i] = ns;
}

/* A group among others: the 64th and all behind it are one bit. */
static inline uint64_t path_group_bit(size_t group)
{
	return UINT64_C(1) << (group < 63 ? group : 63);
}

/*
 * The innermost loop of replays.  Processors of today work on four lanes at
 * once; the result is the same.
 */

static void plainly(int64_t *restrict t, const int64_t *restrict from,
		    const int64_t *ns, bool is_one, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t at = from[i] + ns[is_one ? 0 : i];

		t[i] = t[i] > at ? t[i] : at;
	}
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static void by_fours(
	int64_t *restrict t, const int64_t *restrict from, const int64_t *ns,
	bool is_one, size_t count)
{
	__m256i more = _mm256_set1_epi64x(*ns);
	size_t i = 0;

	for (; i + 4 <= count; i += 4) {
		__m256i *to = (__m256i *)(void *)(t + i);
		__m256i had = _mm256_loadu_si256(to), at, is_less;

		if (!is_one)
			more = _mm256_loadu_si256(
				(const __m256i *)(const void *)(ns + i));
		at = _mm256_add_epi64(
			_mm256_loadu_si256(
				(const __m256i *)(const void *)(from + i)),
			more);
		is_less = _mm256_cmpgt_epi64(at, had);
		_mm256_storeu_si256(to, _mm256_blendv_epi8(had, at, is_less));
	}
	plainly(t + i, from + i, ns + (is_one ? 0 : i), is_one, count - i);
}
#endif

/* Of each lane the later one of t and from + its ns, or the one of all. */
static void path_reach(int64_t *restrict t, const int64_t *restrict from,
		       const int64_t *ns, bool is_one, size_t count)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2")) {
		by_fours(t, from, ns, is_one, count);
		return;
	}
#endif
	plainly(t, from, ns, is_one, count);
}

/* What questions make of edges: other times, or none. */

/* Of a name and a question: */
#define FITS_WORK 1
#define FITS_HOST 2
#define FITS_OP   4
#define IS_KNOWN  128

/* ---- what lanes change ---- */

static void take_names(const struct path_groups *s, struct path_group *g,
		       unsigned bit, const struct path_change *q)
{
	if (q->work_name == PF_ID_NONE && !q->has_work_regex)
		return;
	g->by_name |= bit;
	if (!g->of_name)
		g->of_name = pf_calloc(s->name_count + 1, sizeof(path_mask));
	if (q->work_name < s->name_count)
		g->of_name[q->work_name] |= (path_mask)bit;
	for (size_t i = 0; q->has_work_regex && i < s->name_count; i++)
		if (q->names[i] & FITS_WORK)
			g->of_name[i] |= (path_mask)bit;
}

static void take_calls(const struct path_groups *s, struct path_group *g,
		       unsigned bit, const struct path_change *q)
{
	if (!q->below)
		return;
	g->below |= bit;
	if (!g->of_call)
		g->of_call = pf_calloc((size_t)s->p->call_count + 1,
				       sizeof(path_mask));
	for (uint32_t i = 0; i < s->p->call_count; i++)
		if (q->below[i])
			g->of_call[i] |= (path_mask)bit;
	if (q->graph_ops)
		g->in_graphs |= bit;
}

static int64_t scaled(int64_t ns, double factor)
{
	return (int64_t)rint((double)ns * factor);
}

static bool leaves_none(double factor)
{
	return rint((double)PF_PATH_TIME_MAX_NS * factor) == 0;
}

static void take_change(const struct path_groups *s, struct path_group *g,
			unsigned lane, const struct path_change *q)
{
	const unsigned bit = 1u << lane;

	for (unsigned i = 0; q->has_gpu && i < PF_GPU_CLASSES; i++) {
		g->by_class[i][lane] = q->by_class[i];
		if (q->by_class[i] != 1)
			g->of_class[i] |= bit;
		if (leaves_none(q->by_class[i]))
			g->no_class[i] |= bit;
	}
	g->work_factor[lane] = q->work_factor;
	if (leaves_none(q->work_factor))
		g->no_work |= bit;
	if (q->has_gpu) {
		take_names(s, g, bit, q);
		take_calls(s, g, bit, q);
	}
	g->host_factor[lane] = q->host_factor;
	if (q->has_host && (q->host_kinds & PATH_IS_ANY))
		g->any_host |= bit;
	else if (q->has_host && q->key != PF_PATH_NONE)
		g->of_key[q->key] |= (path_mask)bit;
	g->no_waits |= q->no_waits ? bit : 0;
	g->no_copy_waits |= q->no_copy_waits ? bit : 0;
	g->no_allocs |= q->no_allocs ? bit : 0;
	g->least_launch |= q->least_launch ? bit : 0;
	g->no_comm |= q->no_comm ? bit : 0;
}

static void prepare_group(const struct path_groups *s, struct path_group *g,
			  struct path_lane *lanes, size_t count)
{
	g->lanes = lanes;
	g->count = (unsigned)count;
	g->all = (1u << count) - 1;
	g->places = (g->count + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
	for (unsigned i = 0; i < LANES; i++) {
		g->work_factor[i] = g->host_factor[i] = 1;
		for (unsigned k = 0; k < PF_GPU_CLASSES; k++)
			g->by_class[k][i] = 1;
	}
	g->of_key =
		pf_calloc((size_t)s->ledger->key_count + 1, sizeof(path_mask));
	for (unsigned i = 0; i < count; i++) {
		if (lanes[i].change)
			take_change(s, g, i, lanes[i].change);
		if (lanes[i].is_pessimistic)
			g->pessimistic |= 1u << i;
	}
}

/* In which groups work may be gone: what took no time was not there. */
static void note_gone(struct path_groups *s, const struct path_group *g,
		      uint64_t bit)
{
	unsigned none = 0;

	for (unsigned i = 0; i < g->count; i++) {
		const struct path_change *q = g->lanes[i].change;

		for (unsigned k = 0; k < PF_GPU_CLASSES; k++)
			s->gone_class[k] |= g->by_class[k][i] == 0 ? bit : 0;
		if (g->work_factor[i] != 0)
			continue;
		none |= 1u << i;
		if (q->below || (q->work_name != PF_ID_NONE &&
				 q->work_name >= s->name_count))
			s->gone_other |= bit;
	}
	none &= g->by_name;
	for (size_t i = 0; none && i < s->name_count; i++)
		s->gone_name[i] |= g->of_name[i] & none ? bit : 0;
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
	note_gone(s, g, bit);
	s->any_host |= g->any_host ? bit : 0;
	s->no_waits |= g->no_waits ? bit : 0;
	s->no_copy_waits |= g->no_copy_waits ? bit : 0;
	s->no_allocs |= g->no_allocs ? bit : 0;
	s->least_launch |= g->least_launch ? bit : 0;
	s->no_comm |= g->no_comm ? bit : 0;
}

static void path_groups_init(struct path_groups *s, const struct path *p,
			     const struct path_ledger *ledger,
			     struct path_lane *lanes, size_t count)
{
	*s = (struct path_groups){ .p = p,
				   .ledger = ledger,
				   .name_count = pf_names_count(p->names),
				   .count = (count + LANES - 1) / LANES };
	s->width = (count + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
	s->items = pf_calloc(s->count + 1, sizeof(*s->items));
	s->of_key =
		pf_calloc((size_t)ledger->key_count + 1, sizeof(*s->of_key));
	s->gone_name = pf_calloc(s->name_count + 1, sizeof(*s->gone_name));
	s->readers =
		pf_calloc((size_t)p->thread_count + 1, sizeof(*s->readers));
	for (uint32_t i = 0; i < p->thread_count; i++)
		s->readers[i].point = p->threads[i].first_point;
	for (size_t i = 0; i < s->count; i++) {
		struct path_group *g = &s->items[i];
		size_t left = count - i * LANES;

		prepare_group(s, g, lanes + i * LANES,
			      left < LANES ? left : LANES);
		note_group(s, i);
	}
}

static void path_groups_release(struct path_groups *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->items[i].of_name);
		free(s->items[i].of_key);
		free(s->items[i].of_call);
	}
	for (uint32_t i = 0; i < s->p->thread_count; i++)
		free(s->readers[i].piece);
	free(s->readers);
	free(s->items);
	free(s->of_key);
	free(s->gone_name);
	free(s->parts);
}

/* ---- what edges take ---- */

/* Is work below an operator that a graph has for it? */
static bool is_replayed(const struct path *p, const struct path_change *q,
			const struct path_work *w)
{
	uint32_t op = path_replayed_op(p, p->nodes[w - p->works]);

	return op != PF_NO_TEXT && q->graph_ops[op];
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
	if (!g->below || w->call == PF_PATH_NONE)
		return hit;
	hit |= g->of_call[w->call];
	for (unsigned m = g->in_graphs, i = 0; path_next_lane(&m, &i);)
		if (is_replayed(s->p, g->lanes[i].change, w))
			hit |= 1u << i;
	return hit;
}

/* Time of work, in each lane. */
static void path_scale(const struct path_groups *s, const struct path_group *g,
		       uint32_t work, int64_t ns, struct path_load *out)
{
	const struct path_work *w = &s->p->works[work];
	unsigned hit = g->by_name | g->below ? named(s, g, w) : 0;

	path_load_fill(out, ns);
	out->own = hit | g->of_class[w->class];
	for (unsigned m = out->own, i = 0; path_next_lane(&m, &i);)
		out->own_ns[i] =
			scaled(ns, hit >> i & 1 ? g->work_factor[i]
						: g->by_class[w->class][i]);
}

/* Lanes in which work is gone. */
static unsigned gone_work(const struct path_groups *s,
			  const struct path_group *g, uint32_t work)
{
	const struct path_work *w = &s->p->works[work];
	unsigned hit = g->by_name | g->below ? named(s, g, w) : 0;

	return (hit & g->no_work) | (g->no_class[w->class] & ~hit);
}

/* The groups in which work may be gone. */
static uint64_t gone_groups(const struct path_groups *s, uint32_t work)
{
	const struct path_work *w = &s->p->works[work];

	return s->gone_class[w->class] | s->gone_other |
	       (w->name < s->name_count ? s->gone_name[w->name] : 0);
}

/*
 * What let work start goes with work that is gone: the gap before it, or its
 * launch.  No more than either takes by nature: what nothing explains is left
 * to the work behind it.
 */
static void take_start(const struct path_groups *s, const struct path_group *g,
		       uint32_t work, struct path_load *out)
{
	const int64_t most =
		out->ns < PF_PATH_LAUNCH_NS ? out->ns : PF_PATH_LAUNCH_NS;
	unsigned gone;

	if (most <= 0 || !gone_groups(s, work))
		return;
	gone = gone_work(s, g, work) & ~out->gone;
	out->own |= gone;
	for (unsigned i = 0; path_next_lane(&gone, &i);)
		out->own_ns[i] =
			out->own_ns[i] > most ? out->own_ns[i] - most : 0;
}

static void next_piece(struct path_groups *s, uint32_t thread)
{
	struct path_reader *r = &s->readers[thread];
	const struct path_entries *e = &s->ledger->threads[thread];
	const struct path_piece *piece;

	if (r->next == e->piece_count) {
		r->next++;
		r->at = e->bytes;
		r->end = e->bytes + e->len;
		return;
	}
	piece = &e->pieces[r->next++];
	r->piece = pf_grow(r->piece, &r->cap, piece->len + PF_VARINT_MAX, 1);
	s->rc = pf_scratch_read(&s->ledger->scratch, r->piece, piece->len,
				piece->at, &s->err);
	r->at = r->piece;
	r->end = r->piece + piece->len;
}

/*
 * What of an edge of the host, which takes so long, may be changed: the next
 * entries.
 */
static void path_read_parts(struct path_groups *s, uint32_t thread, int64_t ns)
{
	struct path_reader *from = &s->readers[thread];
	uint64_t count = 0;

	s->part_count = 0;
	s->part_groups = 0;
	if (!s->rc && from->at == from->end)
		next_piece(s, thread);
	if (s->rc)
		return;
	for (from->at = pf_varint_get(from->at, &count); count; count--) {
		struct path_part part = { 0 };

		from->at = pf_varint_get(from->at, &part.key);
		from->at = pf_varint_get(from->at, &part.ns);
		part.ns = part.ns ? part.ns : (uint64_t)ns;
		if (!s->of_key[part.key])
			continue;
		s->part_groups |= s->of_key[part.key];
		*PF_ONE_MORE(s->parts, s->part_count, s->part_cap) = part;
	}
}

/* The groups that may change what an edge takes, or when its source is. */
static uint64_t path_differing(const struct path_groups *s,
			       const struct path_edge *e)
{
	const struct path *p = s->p;

	switch ((enum path_kind)e->kind) {
	case PATH_HOST:
		return s->any_host | s->part_groups;
	case PATH_LAUNCH:
		return s->least_launch | gone_groups(s, e->what);
	case PATH_GAP:
	case PATH_WAIT:
	case PATH_INFERRED:
		return s->no_comm | gone_groups(s, e->what);
	case PATH_RETURN:
		return !PATH_IS_END(&p->graph, e->from) ? UINT64_MAX
		       : p->calls[e->what].is_allocation
			       ? s->no_allocs
			       : s->no_waits | s->no_copy_waits;
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

/* What loading code and overhead records take of a launch. */
static int64_t overhead_ns(const struct path *p, const struct path_call *c,
			   int64_t from_ns, int64_t to_ns)
{
	int64_t ns = 0, end;

	if (c->is_first && c->end_ns > from_ns) {
		ns = (c->end_ns < to_ns ? c->end_ns : to_ns) - from_ns;
		from_ns += ns;
	}
	if (!pf_overheads_any(&p->overheads, from_ns, to_ns))
		return ns;
	for (; from_ns < to_ns; from_ns = end) {
		struct pf_place place = { .cause = PF_CAUSE_LAUNCH };

		end = pf_overheads_part(&p->overheads, from_ns, to_ns, &place);
		if (place.cause != PF_CAUSE_LAUNCH)
			ns += end - from_ns;
	}
	return ns;
}

/* Its least, what overhead records take, and what nothing explains: it stays. */
static int64_t least_launch(const struct path *p, uint32_t to,
			    const struct path_edge *e)
{
	int64_t from = path_at(p, e->from), at = path_at(p, to);
	const struct path_call *c = &p->calls[p->works[e->what].call];
	int64_t called = c->end_ns;
	int64_t rest, ns;

	called = called > from ? called : from;
	rest = at - called - PF_PATH_LAUNCH_NS;
	rest = rest > 0 ? rest : 0;
	ns = e->floor_ns + overhead_ns(p, c, from, at - rest) + rest;
	return ns < at - from ? ns : at - from;
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

/* Lanes in which what a call waited for is gone, and is not waited for then. */
static unsigned gone_lanes(const struct path_groups *s,
			   const struct path_group *g,
			   const struct path_edge *e)
{
	if (!g->no_copy_waits || !PATH_IS_WORK(&s->p->graph, e->from))
		return 0;
	return gone_work(s, g, PATH_WORK_OF(e->from)) & g->no_copy_waits;
}

/* Not where calls that launch anything hold the host until it is done. */
static bool waits_for_copy(const struct path *p, const struct path_edge *e)
{
	return p->calls[e->what].work_count &&
	       !(p->is_held && PATH_IS_WORK(&p->graph, e->from) &&
		 p->works[PATH_WORK_OF(e->from)].class != PF_GPU_COPY);
}

static void path_weigh(const struct path_groups *s, const struct path_group *g,
		       const struct path_leg *leg, struct path_load *out)
{
	const struct path_edge *e = &leg->edge;

	path_load_fill(out, leg->ns);
	out->gone = 0;
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
		if (waits_for_copy(s->p, e))
			out->gone = gone_lanes(s, g, e);
		else
			out->gone = s->p->calls[e->what].is_allocation
					    ? g->no_allocs
					    : g->no_waits | gone_lanes(s, g, e);
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
		take_start(s, g, e->what, out);
		break;
	case PATH_ORDER:
		out->gone = (g->all & ~g->pessimistic) | hidden(s, g, e);
		break;
	case PATH_GAP:
	case PATH_WAIT:
	case PATH_INFERRED:
		out->gone = hidden(s, g, e);
		take_start(s, g, e->what, out);
		break;
	case PATH_OVERLAP:
		out->gone = hidden(s, g, e);
		break;
	default:
		break;
	}
}

/*
 * The graph worked out anew: each node as early as all edges to it let it be.
 * A question changes what edges take, or takes some away; where the window
 * begins stays.  Several questions are answered in one pass, side by side as
 * lanes.  Of what has been worked out the latest is kept in two rings, of work
 * and of points; what is asked for later than that is known (struct path_far) and
 * kept beside.
 */

struct replay {
	const struct path *p;
	const struct path_graph *g;
	struct path_groups groups;
	/* what has been worked out, in rows of all lanes */
	int64_t *ring, *kept, *begin;
	uint32_t *tags;
};

/* ---- what was worked out before ---- */

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
	item = path_item_of(r->p, node);
	slot = path_slot_of(r->p, item);
	if (r->tags[slot] == item)
		return r->ring + slot * r->groups.width;
	return r->kept + place_of(&r->g->far, item) * r->groups.width;
}

static void keep(struct replay *r, uint32_t item, const int64_t *ns)
{
	if (r->g->far.bits[item >> 3] >> (item & 7) & 1)
		memcpy(r->kept + place_of(&r->g->far, item) * r->groups.width,
		       ns, r->groups.width * sizeof(*ns));
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

/* ---- one pass ---- */

/* Where the source is the start of work: of work its end is kept. */
static const int64_t *start_of(const struct path_groups *s,
			       const struct path_group *g, uint32_t work,
			       const int64_t *end, int64_t *own)
{
	const struct path_work *w = &s->p->works[work];
	struct path_load dur;

	path_scale(s, g, work, w->end_ns - w->start_ns, &dur);
	for (unsigned i = 0; i < g->places; i++) {
		own[i] = end[i] - dur.own_ns[i];
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
	if (!load.gone) {
		path_reach(t, from, load.own_ns, false, g->places);
		return;
	}
	for (unsigned m = g->all & ~load.gone, i = 0; path_next_lane(&m, &i);) {
		int64_t at = from[i] + load.own_ns[i];

		t[i] = t[i] > at ? t[i] : at;
	}
}

static void go_along(const struct path_groups *s, const struct path_leg *leg,
		     int64_t *t)
{
	const uint64_t differ = path_differing(s, &leg->edge);
	size_t plain = 0; /* the first lane of groups that nothing changes */

	for (size_t i = 0; differ && i < s->count; i++) {
		const size_t lane = i * LANES;

		if (!(differ & path_group_bit(i)))
			continue;
		if (lane > plain)
			path_reach(t + plain, leg->from + plain, &leg->ns, true,
				   lane - plain);
		reach(s, i, leg, t + lane);
		plain = lane + LANES;
	}
	if (plain < s->width)
		path_reach(t + plain, leg->from + plain, &leg->ns, true,
			   s->width - plain);
}

static void add_duration(const struct path_groups *s, uint32_t work, int64_t *t)
{
	const struct path_work *w = &s->p->works[work];
	const int64_t ns = w->end_ns - w->start_ns;

	for (size_t i = 0; i < s->width; i++)
		t[i] += ns;
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

/* Through all edges to an item, which was at an instant. */
static void reach_item(struct replay *r, uint32_t item, uint32_t to,
		       int64_t at_ns, int64_t *t)
{
	const struct path *p = r->p;
	struct path_leg leg = { .to = to };
	struct path_edge pair[2];
	unsigned count = 0;

	for (uint32_t k = 0; edge_of(p, item, k, pair, &count, &leg.edge);
	     k++) {
		leg.ns = path_weight(&leg.edge,
				     at_ns - path_at(p, leg.edge.from));
		leg.from = known(r, leg.edge.from);
		if (leg.edge.kind == PATH_HOST && r->groups.ledger->is_on)
			path_read_parts(&r->groups,
					path_thread_of(p, item - p->work_count),
					leg.ns);
		go_along(&r->groups, &leg, t);
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
	const int64_t at = path_at(p, to);
	int64_t least;

	is_start = is_work ? p->works[item].bound == PATH_START
			   : pt->kind == PATH_AT_FIRST || pt->is_start;
	least = at < p->w0_ns || is_start ? at : p->w0_ns;
	for (size_t i = 0; i < r->groups.width; i++)
		t[i] = least;
	reach_item(r, item, to, at, t);
	if (is_work)
		add_duration(&r->groups, item, t);
}

/* Times of an item may be asked for where its slot is: it is taken last. */
static void run(struct replay *r, int64_t *end)
{
	const struct path_graph *g = r->g;
	PF_OWN int64_t *t = pf_alloc(r->groups.width * sizeof(*t));
	struct path_turn turn = { 0 };
	const int64_t none = 0;
	uint32_t item;

	while (!r->groups.rc && path_next_turn(r->p, &turn, &item)) {
		size_t slot = path_slot_of(r->p, item);

		work_out(r, item, t);
		r->tags[slot] = item;
		memcpy(r->ring + slot * r->groups.width, t,
		       r->groups.width * sizeof(*t));
		keep(r, item, t);
		if (item < r->p->work_count ||
		    item - r->p->work_count == g->tail)
			path_reach(end, t, &none, true, r->groups.width);
	}
}

static void set_up(struct replay *r)
{
	const struct path *p = r->p;
	const size_t row = r->groups.width * sizeof(int64_t);

	r->ring = pf_alloc(2 * PATH_RING * row + 1);
	r->kept = pf_alloc((r->g->far.count + 1) * row + 1);
	r->begin = pf_alloc(row + 1);
	for (size_t i = 0; i < r->groups.width; i++)
		r->begin[i] = p->w0_ns;
	r->tags = pf_alloc(2 * PATH_RING * sizeof(*r->tags));
	memset(r->tags, 0xff, 2 * PATH_RING * sizeof(*r->tags));
}

static void tear_down(struct replay *r)
{
	path_groups_release(&r->groups);
	free(r->ring);
	free(r->kept);
	free(r->begin);
	free(r->tags);
}

/* Questions that one thread answers. */
struct part {
	const struct path *p;
	const struct path_ledger *ledger;
	struct path_lane *lanes;
	size_t count;
	int rc;
	struct pf_err err;
};

static void answer(void *context)
{
	struct part *part = context;
	const struct path *p = part->p;
	struct replay r = { .p = p, .g = &p->graph };
	int64_t *end;

	path_groups_init(&r.groups, p, part->ledger, part->lanes, part->count);
	set_up(&r);
	end = pf_alloc((r.groups.width + 1) * sizeof(*end));
	memcpy(end, r.begin, r.groups.width * sizeof(*end));
	run(&r, end);
	for (size_t i = 0; i < part->count; i++)
		part->lanes[i].ns = end[i] - p->w0_ns;
	part->rc = r.groups.rc;
	part->err = r.groups.err;
	free(end);
	tear_down(&r);
}

int path_answer(const struct path *p, const struct path_ledger *l,
		struct path_lane *lanes, size_t count)
{
	/* each thread reads the graph anew: only where a processor is left */
	const atomic_uint *at_work = p->args->at_work;
	const bool is_left =
		(at_work ? atomic_load(at_work) : 1) < pf_threads_default();
	const size_t half =
		is_left ? (count + LANES - 1) / LANES / 2 * LANES : 0;
	struct part parts[2] = {
		{ .p = p, .ledger = l, .lanes = lanes, .count = half },
		{ .p = p,
		  .ledger = l,
		  .lanes = lanes + half,
		  .count = count - half },
	};
	const struct part *failed;

	if (half)
		pf_threads_both(answer, &parts[0], answer, &parts[1]);
	else
		answer(&parts[1]);
	failed = parts[0].rc ? &parts[0] : &parts[1];
	if (failed->rc)
		*p->db->err = failed->err;
	return failed->rc;
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
static void read_parts(struct path_groups *s, uint32_t point, int64_t ns)
{
	const struct path *p = s->p;
	const uint32_t thread = path_thread_of(p, point);
	struct path_reader *r = &s->readers[thread];
	struct path_edge edge;

	if (r->point > point) {
		r->at = r->end = NULL;
		r->next = 0;
		r->point = p->threads[thread].first_point;
	}
	for (; r->point < point; r->point++)
		if (path_host_edge(p, r->point, &edge))
			path_read_parts(s, thread, 0);
	path_read_parts(s, thread, ns);
	r->point++;
}

/* What lanes change of GPU work, on the path or not. */
static void count_changed(const struct path_groups *s)
{
	for (uint32_t i = 0; i < s->p->work_count; i++) {
		const struct path_work *w = &s->p->works[i];
		struct path_load load;

		for (size_t k = 0; w->is_in && k < s->count; k++) {
			path_scale(s, &s->items[k], i, 0, &load);
			for (unsigned m = load.own, n = 0;
			     path_next_lane(&m, &n);) {
				s->items[k].lanes[n].work_count++;
				s->items[k].lanes[n].work_ns +=
					w->end_ns - w->start_ns;
			}
		}
	}
}

int path_bound(const struct path *p, const struct path_ledger *l,
	       struct path_lane *lanes, size_t count)
{
	struct path_trail trail = { 0 };
	struct path_groups groups;
	struct path_leg leg;
	int rc;

	path_groups_init(&groups, p, l, lanes, count);
	for (size_t i = 0; i < count; i++)
		lanes[i].ns = 0;
	while (!groups.rc && path_next_node(p, &trail, &leg.to)) {
		path_binding(p, leg.to, &leg.edge);
		leg.ns = path_weight(&leg.edge,
				     path_at(p, leg.to) -
					     path_at(p, leg.edge.from));
		groups.part_count = 0;
		groups.part_groups = 0;
		if (leg.edge.kind == PATH_HOST && l->is_on)
			read_parts(&groups, leg.edge.what, leg.ns);
		take_off(&groups, &leg);
	}
	for (size_t i = 0; i < count; i++)
		if (lanes[i].is_open)
			lanes[i].ns = -1;
	if (p->args->what_if.count)
		count_changed(&groups);
	rc = groups.rc;
	if (rc)
		*p->db->err = groups.err;
	path_groups_release(&groups);
	return rc;
}

/* ---- names ---- */

struct path_folder {
	struct path_ledger *f;
	struct pf_db *db;
	struct pf_names *names;
	/* what was open when it was looked at: events, outermost first */
	uint32_t *open;
	size_t open_count, open_cap;
	const struct pf_walk *open_of; /* NULL: not looked at yet */
	uint32_t op_seq;               /* the innermost operator or range */
	size_t *fits_from; /* by question: the first that fits, or SIZE_MAX */
	bool is_in;        /* something that is open fits */
	/* the edge at hand */
	int64_t *sums; /* by key */
	uint32_t *touched;
	uint32_t touched_count;
};

static unsigned match(const struct path_change *q, const char *text)
{
	unsigned bits = IS_KNOWN;

	if (q->has_work_regex && !regexec(&q->work_regex, text, 0, NULL, 0))
		bits |= FITS_WORK;
	if (q->has_host_regex && !regexec(&q->host_regex, text, 0, NULL, 0))
		bits |= FITS_HOST;
	if (q->has_op_regex && !regexec(&q->op_regex, text, 0, NULL, 0))
		bits |= FITS_OP;
	return bits;
}

/* By its text, or as it is shown.  Two threads may find out the same. */
static int fits(struct path_ledger *f, struct pf_names *names,
		struct path_change *q, uint32_t name, unsigned *out)
{
	PF_OWN char *text = NULL;

	*out = 0;
	if (name >= f->name_count || !q->names)
		return 0;
	*out = atomic_load_explicit(&q->names[name], memory_order_relaxed);
	if (*out)
		return 0;
	text = pf_names_text_take(names, name);
	if (!text)
		return -1;
	*out = match(q, text);
	pf_name_as_frame(text);
	*out |= match(q, text);
	atomic_store_explicit(&q->names[name], (unsigned char)*out,
			      memory_order_relaxed);
	return 0;
}

/* Operators that graphs have; those of other work are met on the way. */
static void find_graph_ops(const struct path *p, struct path_change *q)
{
	const struct pf_graphs *g = p->args->graphs;

	if (!g || !q->has_op_regex)
		return;
	q->graph_ops =
		pf_calloc((size_t)g->texts.count + 1, sizeof(*q->graph_ops));
	for (uint32_t i = 0; i < p->work_count; i++) {
		uint32_t op = path_replayed_op(p, p->nodes[i]);

		if (op != PF_NO_TEXT && !q->graph_ops[op])
			q->graph_ops[op] =
				!regexec(&q->op_regex, pf_graphs_text(g, op), 0,
					 NULL, 0);
	}
}

static int find_works(struct path_ledger *f, struct path_change *q)
{
	const struct path *p = f->p;
	unsigned bits;

	for (uint32_t i = 0; q->has_work_regex && i < p->work_count; i++)
		if (p->works[i].is_in &&
		    fits(f, p->names, q, p->works[i].name, &bits) < 0)
			return -1;
	return 0;
}

/* ---- pieces ---- */

static unsigned kinds_of(const struct pf_place *place,
			 const struct pf_inner *inner)
{
	unsigned kinds = PATH_IS_ANY;

	if (inner->is_in_data)
		kinds |= PATH_IS_DATA;
	if (place->cause == PF_CAUSE_GC)
		kinds |= PATH_IS_GC;
	if (place->cause == PF_CAUSE_ALLOCATOR)
		kinds |= PATH_IS_ALLOC;
	if (place->cause == PF_CAUSE_MODULE)
		kinds |= PATH_IS_FIRST;
	if (inner->name != PF_ID_NONE && !inner->waits &&
	    inner->kind != PF_KIND_OVERHEAD &&
	    !(kinds & (PATH_IS_DATA | PATH_IS_FIRST)))
		kinds |= PATH_IS_CODE;
	return kinds;
}

/* The questions that change time of one of these kinds, then none. */
static uint32_t *of_kinds(const struct path_ledger *f, unsigned kinds)
{
	return f->by_kinds + (size_t)kinds * (f->asked + 1);
}

static void list_kinds(struct path_ledger *f)
{
	f->by_kinds = pf_alloc(2 * PATH_IS_ANY * ((size_t)f->asked + 1) *
			       sizeof(*f->by_kinds));
	for (unsigned kinds = 0; kinds < 2 * PATH_IS_ANY; kinds++) {
		uint32_t *to = of_kinds(f, kinds);

		for (uint32_t i = 0; i < f->asked; i++)
			if (path_change_is_folded(&f->changes->items[i]) &&
			    (f->changes->items[i].host_kinds & kinds))
				*to++ = i;
		*to = PF_PATH_NONE;
	}
}

static void touch(struct path_folder *w, uint32_t key, int64_t ns)
{
	if (!w->sums[key])
		w->touched[w->touched_count++] = key;
	w->sums[key] += ns;
}

/*
 * Which questions are about this operator or range?  Most names are known to be
 * of none.
 */
static int look_at_op(struct path_folder *w, size_t place, uint32_t name)
{
	struct path_ledger *f = w->f;
	unsigned bits, all = IS_KNOWN;

	if (name >= f->name_count ||
	    atomic_load_explicit(&f->op_names[name], memory_order_relaxed) ==
		    IS_KNOWN)
		return 0;
	for (uint32_t k = 0; k < f->of_ops_count; k++) {
		const uint32_t n = f->of_ops[k];

		if (fits(f, w->names, &f->changes->items[n], name, &bits) < 0)
			return -1;
		all |= bits & FITS_OP;
		if (!(bits & FITS_OP) || w->fits_from[n] < place)
			continue;
		w->fits_from[n] = place;
		w->is_in = true;
	}
	atomic_store_explicit(&f->op_names[name], (unsigned char)all,
			      memory_order_relaxed);
	return 0;
}

/* What is open from a place on is not what it was. */
static void leave_ops(struct path_folder *w, size_t place)
{
	const struct path_ledger *f = w->f;

	if (!w->is_in)
		return;
	w->is_in = false;
	for (uint32_t k = 0; k < f->of_ops_count; k++) {
		size_t *from = &w->fits_from[f->of_ops[k]];

		if (*from >= place)
			*from = SIZE_MAX;
		w->is_in |= *from < SIZE_MAX;
	}
}

/*
 * Do the operators that are open fit?  They are as long as the last one is;
 * those outside of it mostly were open when it was asked before.
 */
static int look_at_ops(struct path_folder *w, const struct pf_walk *walk,
		       uint32_t op_seq)
{
	const struct pf_inner *in;
	size_t same;

	if (w->open_of == walk && w->op_seq == op_seq)
		return 0;
	for (same = w->open_of == walk ? w->open_count : 0; same; same--) {
		in = pf_walk_at(walk, same - 1);
		if (in && in->seq == w->open[same - 1])
			break;
	}
	leave_ops(w, same);
	for (w->open_count = same; (in = pf_walk_at(walk, w->open_count));) {
		if (in->op_seq == in->seq &&
		    look_at_op(w, w->open_count, in->name) < 0)
			return -1;
		*PF_ONE_MORE(w->open, w->open_count, w->open_cap) = in->seq;
	}
	w->open_of = walk;
	w->op_seq = op_seq;
	return 0;
}

/* Is a piece of what a question changes by a name?  The profiler is in none. */
static int hits(struct path_folder *w, uint32_t question,
		const struct pf_place *place, const struct pf_inner *inner,
		bool *out)
{
	struct path_change *q = &w->f->changes->items[question];
	unsigned bits;

	*out = w->fits_from[question] < SIZE_MAX &&
	       place->cause != PF_CAUSE_PROFILER;
	if (*out || !q->has_host_regex)
		return 0;
	if (fits(w->f, w->names, q, inner->name, &bits) < 0)
		return -1;
	*out = bits & FITS_HOST;
	return 0;
}

static int add_piece(struct path_folder *w, const struct pf_walk *walk,
		     const struct pf_place *place, const struct pf_inner *inner,
		     int64_t ns)
{
	const struct path_ledger *f = w->f;
	const unsigned kinds = kinds_of(place, inner);
	bool may_hit;

	if (f->of_ops_count && look_at_ops(w, walk, inner->op_seq) < 0)
		return -1;
	may_hit = w->is_in || f->has_host_names;
	for (const uint32_t *q = of_kinds(f, kinds); *q != PF_PATH_NONE; q++)
		touch(w, *q, ns);
	for (uint32_t i = 0; may_hit && i < f->named_count; i++) {
		const uint32_t question = f->named[i];
		bool hit = false;

		if (!(f->changes->items[question].host_kinds & kinds) &&
		    hits(w, question, place, inner, &hit) < 0)
			return -1;
		if (hit)
			touch(w, question, ns);
	}
	if (f->by_op && inner->kind == PF_KIND_CPU_OP &&
	    inner->name < f->name_count)
		touch(w, f->asked + inner->name, ns);
	return 0;
}

/* ---- edges ---- */

#define PIECE_BYTES 16384

static int spill(struct path_folder *w, struct path_entries *e)
{
	struct path_ledger *f = w->f;
	struct path_piece piece = { .len = e->len };
	int rc = 0;

	pthread_mutex_lock(&f->lock);
	if (!f->scratch.memory)
		rc = pf_scratch_open(&f->scratch, PIECE_BYTES, pf_temp_dir(),
				     w->db->err);
	pthread_mutex_unlock(&f->lock);
	if (rc || pf_scratch_add(&f->scratch, e->bytes, e->len, &piece.at,
				 w->db->err) < 0)
		return -1;
	*PF_ONE_MORE(e->pieces, e->piece_count, e->piece_cap) = piece;
	e->len = 0;
	return 0;
}

/* 0 stands for all of the edge. */
static int put(struct path_folder *w, struct path_entries *e, int64_t all_ns)
{
	unsigned char *at;

	e->bytes = pf_grow(
		e->bytes, &e->cap,
		e->len + (2 * (size_t)w->touched_count + 2) * PF_VARINT_MAX, 1);
	at = pf_varint_put(e->bytes + e->len, w->touched_count);
	for (uint32_t i = 0; i < w->touched_count; i++) {
		uint32_t key = w->touched[i];
		int64_t *ns = &w->sums[key];

		if (key < w->f->asked)
			atomic_fetch_add_explicit(&w->f->folded_ns[key], *ns,
						  memory_order_relaxed);
		at = pf_varint_put(at, key);
		at = pf_varint_put(at, *ns == all_ns ? 0 : (uint64_t)*ns);
		*ns = 0;
	}
	w->touched_count = 0;
	e->len = (size_t)(at - e->bytes);
	return e->len < PIECE_BYTES ? 0 : spill(w, e);
}

/* What overhead records take of a piece is theirs: where its first part ends. */
static int64_t take_part(const struct path *p, int64_t from_ns, int64_t to_ns,
			 struct pf_place *place, struct pf_inner *inner)
{
	const uint32_t cause = place->cause;
	int64_t end = pf_overheads_part(&p->overheads, from_ns, to_ns, place);

	if (place->cause == cause)
		return end;
	inner->name = place->name;
	inner->kind = PF_KIND_OVERHEAD;
	if (place->cause == PF_CAUSE_PROFILER)
		inner->module = PF_ID_NONE;
	return end;
}

int path_fold_edge(const struct path *p, struct path_folder *w,
		   struct path_stand *s, uint32_t point,
		   const struct path_pieces *pieces, struct pf_err *err)
{
	struct path_edge edge;
	int64_t from, at, to, end;

	if (!path_host_edge(p, point, &edge))
		return 0;
	from = at = path_at(p, edge.from);
	to = at + path_weight(&edge, path_point_ns(p, point) - at);
	if (at < to && pf_walk_to(s->walk, at, err) < 0)
		return -1;
	for (; at < to; at = end) {
		const struct pf_inner *inner;
		struct pf_place place;
		struct pf_inner part;

		if (pf_walk_piece(s->walk, at, UINT32_MAX, to, &place, &end,
				  err) < 0)
			return -1;
		end = end > at ? end : to;
		inner = pf_walk_inner(s->walk);
		if (pf_overheads_any(&p->overheads, at, end)) {
			part = *inner;
			end = take_part(p, at, end, &place, &part);
			inner = &part;
		}
		if (pieces && pieces->add(pieces->context, s, &place, inner, at,
					  end, err) < 0)
			return -1;
		if (w && add_piece(w, s->walk, &place, inner, end - at) < 0)
			return -1;
	}
	return w ? put(w, &w->f->threads[s->thread], to - from) : 0;
}

/* Is what a call launched below an operator that is asked for? */
static int look_at_call(struct path_folder *w, const struct path_stand *s,
			uint32_t call)
{
	const struct path_ledger *f = w->f;

	if (pf_walk_to(s->walk, f->p->calls[call].start_ns, w->db->err) < 0 ||
	    look_at_ops(w, s->walk, pf_walk_inner(s->walk)->op_seq) < 0)
		return -1;
	for (uint32_t i = 0; i < f->of_ops_count; i++)
		f->changes->items[f->of_ops[i]].below[call] =
			w->fits_from[f->of_ops[i]] < SIZE_MAX;
	return 0;
}

int path_fold_to(struct path_folder *w, struct path_stand *s, uint32_t end,
		 const struct path_pieces *pieces)
{
	const struct path *p = w->f->p;
	const struct path_thread *th = &p->threads[s->thread];
	int rc = 0;

	for (; !rc && s->point < end; s->point++) {
		rc = path_fold_edge(p, w, s, s->point,
				    s->point + 1 == end ? pieces : NULL,
				    w->db->err);
		while (!rc && w->f->of_ops_count &&
		       s->call < th->first_call + th->call_count &&
		       p->calls[s->call].start_ns <= path_point_ns(p, s->point))
			rc = look_at_call(w, s, s->call++);
	}
	return rc;
}

int path_stand_begin(struct path_stand *s, const struct path *p,
		     struct pf_db *db, struct pf_names *names, uint32_t thread)
{
	const struct path_thread *th = &p->threads[thread];

	*s = (struct path_stand){ .thread = thread,
				  .point = th->first_point,
				  .call = th->first_call };
	s->walk = pf_walk_new(db, names, p->pageable, th->track_id);
	return s->walk ? 0 : -1;
}

static int add_thread(struct path_folder *w, uint32_t thread)
{
	const struct path *p = w->f->p;
	struct path_stand s;
	int rc;

	if (p->threads[thread].first_point == PF_PATH_NONE)
		return 0;
	w->open_of = NULL;
	rc = path_stand_begin(&s, p, w->db, w->names, thread);
	if (!rc)
		rc = path_fold_to(w, &s, p->threads[thread].end_point, NULL);
	pf_walk_free(s.walk);
	return rc;
}

uint32_t path_ledger_key(const struct path_ledger *f, uint32_t op)
{
	return f->by_op && op < f->name_count ? f->asked + op : PF_PATH_NONE;
}

/* ---- two threads ---- */

/* Threads off the path are taken in their order, by whoever has time. */
struct fold {
	struct path_ledger *f;
	path_follow *follow;
	void *context;
	int followed, rc;
	struct pf_err follow_err,
		err;          /* that of the first thread that failed */
	pthread_mutex_t lock; /* of the next */
	uint32_t next, failed;
	struct pf_db *beside;
};

static bool take_thread(struct fold *x, uint32_t *thread)
{
	const struct path *p = x->f->p;
	bool is_one;

	pthread_mutex_lock(&x->lock);
	while (x->next < p->thread_count && p->threads[x->next].is_on_path)
		x->next++;
	is_one = !x->rc && x->f->is_on && x->next < p->thread_count;
	*thread = x->next;
	x->next += is_one;
	pthread_mutex_unlock(&x->lock);
	return is_one;
}

static void tell_failed(struct fold *x, uint32_t thread,
			const struct pf_err *err)
{
	pthread_mutex_lock(&x->lock);
	if (!x->rc || thread < x->failed) {
		x->rc = -1;
		x->err = *err;
		x->failed = thread;
	}
	pthread_mutex_unlock(&x->lock);
}

static struct path_folder folder_new(struct path_ledger *f, struct pf_db *db,
				     struct pf_names *names)
{
	struct path_folder w = { .f = f, .db = db, .names = names };

	w.sums = pf_calloc((size_t)f->key_count + 1, sizeof(*w.sums));
	w.touched = pf_calloc((size_t)f->key_count + 1, sizeof(*w.touched));
	w.fits_from = pf_alloc(((size_t)f->asked + 1) * sizeof(*w.fits_from));
	for (uint32_t i = 0; i < f->asked; i++)
		w.fits_from[i] = SIZE_MAX;
	return w;
}

static void folder_release(struct path_folder *w)
{
	free(w->sums);
	free(w->touched);
	free(w->open);
	free(w->fits_from);
}

static void take_threads(struct fold *x, struct path_folder *w)
{
	uint32_t thread;

	while (take_thread(x, &thread)) {
		struct pf_err err = { 0 };

		w->db->err = &err;
		if (add_thread(w, thread) < 0)
			tell_failed(x, thread, &err);
		w->db->err = NULL;
	}
}

static void run_here(void *p)
{
	struct fold *x = p;
	struct path_folder w = folder_new(x->f, x->f->p->db, x->f->p->names);

	w.db->err = &x->follow_err;
	x->followed =
		x->follow(x->context, x->f->is_on ? &w : NULL, &x->follow_err);
	if (!x->followed)
		take_threads(x, &w);
	folder_release(&w);
}

/* Names that cannot be read are met by the other thread, too. */
static void run_beside(void *p)
{
	struct fold *x = p;
	struct pf_err ignored = { 0 };
	struct pf_names *names;
	struct path_folder w;

	x->beside->err = &ignored;
	names = pf_names_new(x->beside);
	w = folder_new(x->f, x->beside, names);
	if (names)
		take_threads(x, &w);
	folder_release(&w);
	pf_names_free(names);
}

/* Is there a thread of the host that the path is not on? */
static bool has_others(const struct path *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].first_point != PF_PATH_NONE &&
		    !p->threads[i].is_on_path)
			return true;
	return false;
}

int path_ledger_read(struct path_ledger *f, path_follow *follow, void *context)
{
	struct pf_db *db = f->p->db;
	struct pf_err *given = db->err;
	struct fold x = { .f = f, .follow = follow, .context = context };

	pthread_mutex_init(&x.lock, NULL);
	x.beside = f->is_on && has_others(f->p) ? pf_db_lend(db) : NULL;
	if (x.beside) {
		pf_threads_both(run_here, &x, run_beside, &x);
		pf_db_give_back(db, x.beside);
	} else {
		run_here(&x);
	}
	pthread_mutex_destroy(&x.lock);
	db->err = given;
	if (x.followed || x.rc) {
		*f->p->db->err = x.followed ? x.follow_err : x.err;
		return -1;
	}
	return 0;
}

/* ---- all of it ---- */

static void make_room(struct path_ledger *f, struct path_change *q)
{
	if (q->has_op_regex)
		q->below = pf_calloc((size_t)f->p->call_count + 1, 1);
	if (q->has_op_regex || q->has_host_regex || q->has_work_regex)
		q->names = pf_calloc(f->name_count + 1, 1);
}

int path_ledger_init(struct path_ledger *f, struct path *p,
		     struct path_changes *c, bool by_op)
{
	*f = (struct path_ledger){
		.p = p,
		.changes = c,
		.asked = (uint32_t)c->count,
		.is_on = by_op,
		.by_op = by_op,
		.name_count = pf_names_count(p->names),
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	f->key_count = f->asked + (by_op ? (uint32_t)f->name_count : 0);
	f->threads =
		pf_calloc((size_t)p->thread_count + 1, sizeof(*f->threads));
	f->named = pf_calloc(c->count + 1, sizeof(*f->named));
	f->of_ops = pf_calloc(c->count + 1, sizeof(*f->of_ops));
	f->op_names = pf_calloc(f->name_count + 1, 1);
	f->folded_ns = pf_calloc(c->count + 1, sizeof(*f->folded_ns));
	for (uint32_t i = 0; i < f->asked; i++) {
		struct path_change *q = &c->items[i];

		make_room(f, q);
		find_graph_ops(p, q);
		if (q->has_op_regex)
			f->of_ops[f->of_ops_count++] = i;
		f->is_on |= path_change_is_folded(q) || q->has_op_regex;
		if (path_change_is_folded(q)) {
			q->key = i;
			if (q->has_host_regex || q->has_op_regex)
				f->named[f->named_count++] = i;
			f->has_host_names |= q->has_host_regex;
		}
		if (find_works(f, q) < 0)
			return -1;
	}
	list_kinds(f);
	return 0;
}

void path_ledger_release(struct path_ledger *f)
{
	for (uint32_t i = 0; f->threads && i < f->p->thread_count; i++) {
		free(f->threads[i].bytes);
		free(f->threads[i].pieces);
	}
	pf_scratch_close(&f->scratch);
	free(f->threads);
	free(f->named);
	free(f->by_kinds);
	free(f->of_ops);
	free(f->op_names);
	free(f->folded_ns);
	*f = (struct path_ledger){ 0 };
}
