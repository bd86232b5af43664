/* SPDX-License-Identifier: MIT */
/*
 * The edges to the start of each piece of GPU work, and which of them bound
 * it: the one with the largest sum of source and floor; of equals the later
 * source.  Without any, the window's begin.
 */
#include "analysis/path/path_impl.h"

#include "base/order.h"

#define LATE_NS     5000  /* later than its known causes: there is another */
#define STREAMS_MAX 256   /* of more the order is not followed */
#define LOOK_MAX    4096  /* pieces of work that are looked back at */
#define INFER_NS    10000 /* what ended so long before may be that */

/* A wait of a stream that a record tells of. */
struct stream_wait {
	uint32_t work, on;
};

struct adder {
	struct path *p;
	struct stream_wait *waits; /* by work */
	size_t wait_count, wait_cap;
	uint32_t *seen; /* by stream and other stream: what ended before */
};

/* ---- waits of streams ---- */

/* The first work of a stream that was launched after an instant. */
static uint32_t first_launched(const struct path *p,
			       const struct path_stream *s, int64_t after_ns)
{
	for (uint32_t low = 0, high = s->launched_count;;) {
		uint32_t i = low + (high - low) / 2;

		if (low == high)
			return i < s->launched_count ? s->by_launch[i]
						     : PF_PATH_NONE;
		if (path_launched_ns(p, &p->works[s->by_launch[i]]) <= after_ns)
			low = i + 1;
		else
			high = i;
	}
}

static const struct path_call *call_at(struct path *p, struct pf_map *at,
				       int64_t correlation)
{
	if (!pf_map_has(at, (uint64_t)correlation))
		return NULL;
	return &p->calls[*pf_map_at(at, (uint64_t)correlation)];
}

static void add_wait(struct adder *a, const struct path_sync *s)
{
	struct path *p = a->p;
	const struct path_call *c = call_at(p, &p->wait_at, s->correlation);
	const struct path_call *r = call_at(p, &p->record_at, s->on_record);
	const struct path_stream *on, *of;
	uint32_t from, to;

	if (!s->is_stream_wait || !c || !r)
		return;
	on = path_find_stream(p, s->device, s->on_stream);
	if (!on)
		on = path_find_stream(p, -1, s->on_stream);
	of = path_find_stream(p, s->device, s->stream);
	if (!on || !of)
		return;
	from = path_last_launched(p, on, r->start_ns);
	to = first_launched(p, of, c->start_ns);
	if (from == PF_PATH_NONE || to == PF_PATH_NONE)
		return;
	a->waits = pf_grow(a->waits, &a->wait_cap, a->wait_count + 1,
			   sizeof(*a->waits));
	a->waits[a->wait_count++] = (struct stream_wait){ to, from };
}

PF_ORDER(by_work, struct stream_wait, PF_UP(work) PF_UP(on))

/* ---- edges ---- */

static void add(struct path *p, uint32_t work, uint32_t from,
		enum path_kind kind)
{
	struct path_graph *g = &p->graph;

	if (!g->first_extra) {
		g->first_extra = pf_alloc(((size_t)p->work_count + 1) *
					  sizeof(*g->first_extra));
		memset(g->first_extra, 0,
		       ((size_t)work + 1) * sizeof(*g->first_extra));
	}
	g->extras = pf_grow(g->extras, &g->extra_cap,
			    (size_t)g->extra_count + 1, sizeof(*g->extras));
	g->extras[g->extra_count++] =
		(struct path_extra){ .from = from, .kind = (uint8_t)kind };
	g->order_edges += kind == PATH_ORDER;
}

static void add_waits(struct adder *a, uint32_t i, size_t *wait)
{
	struct path *p = a->p;

	while (*wait < a->wait_count && a->waits[*wait].work < i)
		(*wait)++;
	for (; *wait < a->wait_count && a->waits[*wait].work == i; (*wait)++)
		if (p->works[a->waits[*wait].on].end_ns <= p->works[i].start_ns)
			add(p, i, PATH_END_OF(a->waits[*wait].on), PATH_WAIT);
}

/* All edges to the start of work so far, one after the other; n from 0. */
static bool edge(const struct path *p, uint32_t i, uint32_t n,
		 struct path_edge *out)
{
	const struct path_graph *g = &p->graph;
	struct path_edge known[2];
	unsigned count = path_work_edges(p, i, known);

	if (n < count) {
		*out = known[n];
		return true;
	}
	n -= count;
	if (!g->first_extra || n >= g->extra_count - g->first_extra[i])
		return false;
	*out = path_extra_edge(p, i, g->first_extra[i] + n);
	return true;
}

/* When the known causes would have let it start; false: there is none. */
static bool known_ns(const struct path *p, uint32_t i, int64_t *out)
{
	struct path_edge e;
	uint32_t n = 0;

	for (; edge(p, i, n, &e); n++) {
		int64_t at = path_at(p, e.from) + e.floor_ns;

		if (!n || at > *out)
			*out = at;
	}
	return n > 0;
}

/*
 * The work of a stream that ended last before the start of another, and was
 * launched before it; what ended before "since" does not matter.
 */
static uint32_t ended_before(const struct path *p, const struct path_stream *s,
			     const struct path_work *w, int64_t since_ns)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t i = (low + high) / 2;

		if (p->works[s->by_end[i]].end_ns <= w->start_ns)
			low = i + 1;
		else
			high = i;
	}
	for (size_t n = 0; n < LOOK_MAX && low-- > 0; n++) {
		const struct path_work *x = &p->works[s->by_end[low]];

		if (x->end_ns < since_ns)
			break;
		if (x->call == PF_PATH_NONE || w->call == PF_PATH_NONE ||
		    path_launched_ns(p, x) < path_launched_ns(p, w))
			return s->by_end[low];
	}
	return PF_PATH_NONE;
}

/* The last work of a stream that began before another, if it runs then. */
static uint32_t running_at(const struct path *p, const struct path_stream *s,
			   int64_t at_ns)
{
	uint32_t low = 0, high = s->count, w;

	while (low < high) {
		uint32_t i = low + (high - low) / 2;

		if (p->works[s->by_start[i]].start_ns < at_ns)
			low = i + 1;
		else
			high = i;
	}
	if (!low)
		return PF_PATH_NONE;
	w = s->by_start[low - 1];
	return p->works[w].end_ns > at_ns ? w : PF_PATH_NONE;
}

/* It starts later than it had to: what of other streams let it go? */
static void add_inferred(struct path *p, uint32_t i)
{
	const struct path_work *w = &p->works[i];
	const struct path_stream *own = &p->streams[w->stream];
	uint32_t ended = PF_PATH_NONE, running = PF_PATH_NONE;

	for (uint32_t k = 0; k < p->stream_count; k++) {
		const struct path_stream *s = &p->streams[k];
		uint32_t x;

		if (s == own || s->device != own->device || !s->count)
			continue;
		x = ended_before(p, s, w, w->start_ns - INFER_NS);
		if (x != PF_PATH_NONE &&
		    (ended == PF_PATH_NONE ||
		     p->works[x].end_ns > p->works[ended].end_ns))
			ended = x;
		x = running_at(p, s, w->start_ns);
		if (x != PF_PATH_NONE &&
		    (running == PF_PATH_NONE ||
		     p->works[x].end_ns < p->works[running].end_ns))
			running = x;
	}
	if (ended != PF_PATH_NONE)
		add(p, i, PATH_END_OF(ended), PATH_INFERRED);
	else if (running != PF_PATH_NONE)
		add(p, i, PATH_START_OF(running), PATH_CONTENDED);
}

/* Of equals the later source, of these the one that was added first. */
static void bind(struct path *p, uint32_t i)
{
	struct path_graph *g = &p->graph;
	struct path_work *w = &p->works[i];
	struct path_edge e, best = { .kind = PATH_START };
	uint32_t best_n = 0;
	int64_t best_ns = 0, best_from = 0;

	for (uint32_t n = 0; edge(p, i, n, &e); n++) {
		int64_t from = path_at(p, e.from);
		int64_t ns = from + e.floor_ns;

		ns = ns < w->start_ns ? ns : w->start_ns;
		if (n && (ns < best_ns || (ns == best_ns && from <= best_from)))
			continue;
		best = e;
		best_n = n;
		best_ns = ns;
		best_from = from;
	}
	w->bound = best.kind & 15;
	if (best.kind == PATH_WAIT || best.kind == PATH_INFERRED ||
	    best.kind == PATH_CONTENDED) {
		struct path_edge known[2];

		best_n -= path_work_edges(p, i, known);
		g->extras[g->first_extra[i] + best_n].is_binding = true;
	}
}

/*
 * Pessimistic: order across streams stays as it was seen.  What the work
 * before on the stream waited for need not be said again, unless that
 * communicates: it may be taken out.
 */
static void add_order(struct adder *a, uint32_t i)
{
	struct path *p = a->p;
	const struct path_work *w = &p->works[i];
	const struct path_stream *own = &p->streams[w->stream];
	bool is_said = w->prev != PF_PATH_NONE &&
		       p->works[w->prev].class != PF_GPU_COMM;

	for (uint32_t k = 0; k < p->stream_count; k++) {
		const struct path_stream *s = &p->streams[k];
		uint32_t *last = &a->seen[w->stream * p->stream_count + k], x;

		if (s == own || s->device != own->device || !s->count)
			continue;
		x = ended_before(p, s, w, INT64_MIN);
		if (x != PF_PATH_NONE && (x != *last || !is_said))
			add(p, i, PATH_END_OF(x), PATH_ORDER);
		*last = x;
	}
}

static void add_work(struct adder *a, uint32_t i, size_t *wait)
{
	struct path *p = a->p;
	int64_t known = 0;

	add_waits(a, i, wait);
	if (known_ns(p, i, &known) && p->works[i].start_ns - known > LATE_NS)
		add_inferred(p, i);
	bind(p, i);
	if (a->seen)
		add_order(a, i);
}

void path_add_works(struct path *p)
{
	struct path_graph *g = &p->graph;
	struct adder a = { .p = p };
	size_t wait = 0;

	p->with_order = p->with_order && p->stream_count <= STREAMS_MAX;
	if (p->with_order)
		a.seen = pf_alloc((size_t)p->stream_count * p->stream_count *
					  sizeof(*a.seen) +
				  1);
	for (uint32_t i = 0; a.seen && i < p->stream_count * p->stream_count;
	     i++)
		a.seen[i] = PF_PATH_NONE;
	for (size_t i = 0; i < p->sync_count; i++)
		add_wait(&a, &p->syncs[i]);
	pf_sort(a.waits, a.wait_count, sizeof(*a.waits), by_work);
	for (uint32_t i = 0; i < p->work_count; i++) {
		if (g->first_extra)
			g->first_extra[i] = g->extra_count;
		if (p->works[i].is_in)
			add_work(&a, i, &wait);
	}
	if (g->first_extra)
		g->first_extra[p->work_count] = g->extra_count;
	free(a.waits);
	free(a.seen);
}
