/* SPDX-License-Identifier: MIT */
/*
 * What leads to a node, what that takes, and the order in which a replay can
 * work them out.  No edge but those of extras is stored: calls know their
 * work, work knows what is before it on its stream, points of a thread follow
 * each other.
 */
#include "config.h"

#include "analysis/path/impl.h"
#include "base/order.h"
#include "base/search.h"
#include "events/names.h"
#include "show/doc.h"
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

int64_t path_weight(const struct path_edge *e, int64_t measured_ns)
{
	switch ((enum path_kind)e->kind) {
	case PATH_END:
		return 0;
	case PATH_HOST:
	case PATH_QUEUE:
		if (!e->is_binding && e->floor_ns != PATH_RIGID)
			return e->floor_ns;
		return measured_ns;
	case PATH_LAUNCH:
	case PATH_GAP:
	case PATH_OVERLAP:
	case PATH_WAIT:
	case PATH_INFERRED:
	case PATH_ORDER:
		if (!e->is_binding && e->floor_ns < measured_ns)
			return e->floor_ns;
		return measured_ns;
	default:
		return measured_ns;
	}
}

/* ---- order ---- */

enum { UNSEEN, OPEN, DONE };

struct visit {
	uint32_t item, left; /* edges to follow, the last first */
	size_t first_source;
};

struct sort {
	struct path *p;
	unsigned char *state;
	struct visit *stack;
	size_t depth, cap;
	uint32_t *sources; /* items that those on the stack need */
	size_t source_count, source_cap;
	uint32_t *tags;   /* the last in order, as a replay keeps them */
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
	*PF_ONE_MORE(s->stack, s->depth, s->cap) =
		(struct visit){ item, edges_of(s->p, item), s->source_count };
	s->state[item] = OPEN;
}

/* What an item needs that a replay no longer has at hand. */
static void note_far(struct sort *s, size_t first_source)
{
	struct path_far *f = &s->p->graph.far;

	for (size_t i = first_source; i < s->source_count; i++) {
		const uint32_t from = s->sources[i];

		if (s->tags[path_slot_of(s->p, from)] == from ||
		    (f->bits[from >> 3] >> (from & 7) & 1))
			continue;
		f->bits[from >> 3] |= (unsigned char)(1 << (from & 7));
		*PF_ONE_MORE(f->items, f->count, f->cap) = from;
	}
	s->source_count = first_source;
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
	s->tags[path_slot_of(s->p, item)] = item;
}

bool path_next_turn(const struct path *p, struct path_turn *t, uint32_t *item)
{
	const struct path_graph *g = &p->graph;
	uint64_t v = 0;
	unsigned kind;

	if (!t->at)
		t->at = g->order;
	if (!g->order_len || t->at == g->order + g->order_len)
		return false;
	t->at = pf_varint_get(t->at, &v);
	kind = v & 1;
	v >>= 1;
	t->next[kind] += (uint32_t)(v & 1 ? -(v >> 1) - 1 : v >> 1);
	*item = t->next[kind]++ + (kind ? p->work_count : 0);
	return true;
}

static void add_source(struct sort *s, uint32_t from)
{
	*PF_ONE_MORE(s->sources, s->source_count, s->source_cap) = from;
}

/* What needs nothing but what is in order already, as most does, takes its turn. */
static bool take_ready(struct sort *s, uint32_t item)
{
	const size_t first = s->source_count;

	for (uint32_t k = edges_of(s->p, item); k-- > 0;) {
		struct path_edge e;
		uint32_t from;

		if (!edge_of(s->p, item, k, &e) || e.from == PATH_ORIGIN)
			continue;
		from = path_item_of(s->p, e.from);
		if (s->state[from] != DONE) {
			s->source_count = first;
			return false;
		}
		add_source(s, from);
	}
	s->state[item] = DONE;
	note_far(s, first);
	take_turn(s, item);
	return true;
}

static void visit(struct sort *s, uint32_t item)
{
	struct path *p = s->p;

	if (s->state[item] != UNSEEN || take_ready(s, item))
		return;
	push(s, item);
	while (s->depth) {
		struct visit *v = &s->stack[s->depth - 1];
		struct path_edge e;
		uint32_t from;

		if (!v->left) {
			s->state[v->item] = DONE;
			note_far(s, v->first_source);
			take_turn(s, v->item);
			s->depth--;
			continue;
		}
		v->left--;
		if (!edge_of(p, v->item, v->left, &e) || e.from == PATH_ORIGIN)
			continue;
		from = path_item_of(p, e.from);
		if (s->state[from] == OPEN) {
			cut(p, v->item, v->left, e.is_binding);
			continue;
		}
		add_source(s, from);
		if (s->state[from] == UNSEEN && !take_ready(s, from))
			push(s, from);
	}
}

PF_ORDER(ascending, uint32_t, PF_UP_VALUE)

void path_settle(struct path *p)
{
	struct path_graph *g = &p->graph;
	const size_t items = (size_t)p->work_count + g->point_count;
	struct sort s = { .p = p };

	s.state = pf_calloc(items + 1, 1);
	s.tags = pf_alloc(2 * PATH_RING * sizeof(*s.tags));
	memset(s.tags, 0xff, 2 * PATH_RING * sizeof(*s.tags));
	g->far.bits = pf_calloc(items / 8 + 1, 1);
	for (uint32_t i = 0; i < p->work_count; i++)
		if (p->works[i].is_in)
			visit(&s, i);
	for (uint32_t i = 0; i < g->point_count; i++)
		visit(&s, p->work_count + i);
	g->order = pf_realloc(g->order, g->order_len + PF_VARINT_MAX, 1);
	path_sort(g->far.items, g->far.count, sizeof(*g->far.items), ascending);
	free(s.state);
	free(s.stack);
	free(s.sources);
	free(s.tags);
}

void path_graph_release(struct path_graph *g)
{
	free(g->points);
	free(g->lates);
	free(g->handoffs);
	free(g->extras);
	free(g->first_extra);
	free(g->order);
	free(g->far.items);
	free(g->far.bits);
	*g = (struct path_graph){ 0 };
}

/* Tiles as sums: by category, by what was asked for, and one by one. */

/* What tiles of a row have in common; padding is zero. */
struct key {
	int32_t category; /* -1: any */
	uint32_t name;
	int64_t step; /* number in the window; -1: none */
};

#define OF_GRAPH (-2) /* as a step: the name is a text of graphs */

struct sum {
	int64_t ns, count, longest_ns, replayed_ns;
};

#define RECENT 64 /* a power of 2 */

struct sums {
	struct pf_intern keys;
	struct sum *items;
	size_t cap;
	/* keys that came of late, by their bits: tiles of few follow others */
	struct recent {
		struct key key;
		uint32_t number; /* of the key, and 1; 0: none */
	} recent[RECENT];
};

struct path_rows {
	struct path *p;
	struct sums categories, rows;
	struct sums tops[2];   /* of operators; of GPU work */
	size_t item_cap, step; /* the step at hand */
	bool is_replayed;      /* does the name of the tile come of a graph? */
	struct pf_map modules; /* text of graphs -> name in texts of "out" */
};

/* The sum of a key that has none at hand: its number. */
static uint32_t find_sum(struct sums *s, const struct key *key)
{
	uint32_t n, known = s->keys.count;

	n = pf_intern_add(&s->keys, (const char *)key, sizeof(*key));
	PF_ROOM(s->items, s->cap, (size_t)n + 1);
	if (n == known)
		s->items[n] = (struct sum){ 0 };
	return n;
}

static struct sum *add_sum(struct sums *s, struct key key, int64_t ns)
{
	struct recent *r = &s->recent[(key.name ^ (uint32_t)key.category * 7 ^
				       (uint32_t)key.step * 13) &
				      (RECENT - 1)];
	uint32_t n;

	if (!r->number || memcmp(&r->key, &key, sizeof(key)) != 0)
		*r = (struct recent){ key, find_sum(s, &key) + 1 };
	n = r->number - 1;
	s->items[n].ns += ns;
	s->items[n].count++;
	if (ns > s->items[n].longest_ns)
		s->items[n].longest_ns = ns;
	return &s->items[n];
}

/* To what was asked for. */
static void add_row(struct path_rows *r, struct key key, int64_t ns)
{
	struct sum *sum = add_sum(&r->rows, key, ns);

	if (r->is_replayed)
		sum->replayed_ns += ns;
}

static bool is_of_gpu(enum pf_path_category category)
{
	return category >= PF_PATH_KERNEL && category <= PF_PATH_MEMSET;
}

/* Is what tiles of a category name GPU work? */
static bool is_work(int category)
{
	return category >= PF_PATH_KERNEL && category != PF_PATH_LAUNCH_CALL &&
	       category != PF_PATH_RETURN && category != PF_PATH_QUEUE;
}

static struct key key_of(const struct path_rows *r,
			 const struct pf_path_tile *tile)
{
	struct key key = { -1, PF_ID_NONE, -1 };

	switch ((enum pf_path_group)r->p->args->group) {
	case PF_PATH_BY_NAME:
		key.category = tile->category;
		key.name = tile->name;
		break;
	case PF_PATH_BY_OP:
		key.name = path_replayed_op(r->p, tile->node);
		if (key.name == PF_NO_TEXT)
			key.name = tile->op;
		else
			key.step = OF_GRAPH;
		break;
	case PF_PATH_BY_KERNEL:
		key.category = tile->category;
		if (is_of_gpu(tile->category))
			key.name = tile->name;
		break;
	case PF_PATH_BY_MODULE:
		key.name = path_replayed_module(tile->node);
		if (key.name == PF_NO_TEXT)
			key.name = tile->module;
		else
			key.step = OF_GRAPH;
		break;
	case PF_PATH_BY_LINE:
		key.name = tile->frame;
		break;
	case PF_PATH_BY_STEP:
	case PF_PATH_BY_CATEGORY:
		key.category = tile->category;
		break;
	}
	return key;
}

/* A step reaches to the start of the next, the last one to the end. */
static void add_by_step(struct path_rows *r, const struct pf_path_tile *tile)
{
	const struct path *p = r->p;
	int64_t at = tile->start_ns;

	while (at < tile->end_ns) {
		struct key key = key_of(r, tile);
		int64_t end = tile->end_ns;

		while (r->step + 1 < p->step_count &&
		       p->steps[r->step + 1].host_start_ns <= at)
			r->step++;
		if (p->step_count)
			key.step = (int64_t)r->step;
		if (r->step + 1 < p->step_count &&
		    p->steps[r->step + 1].host_start_ns < end)
			end = p->steps[r->step + 1].host_start_ns;
		add_row(r, key, end - at);
		at = end;
	}
}

static const char *thread_name(const struct path *p, uint32_t track_id)
{
	size_t i = PF_SEARCH(k, p->track_count, p->tracks[k].id < track_id);

	return track_id && i < p->track_count && p->tracks[i].id == track_id
		       ? p->tracks[i].tid
		       : NULL;
}

static const char *op_of(const struct path_rows *r,
			 const struct pf_path_tile *tile)
{
	struct path *p = r->p;
	uint32_t text = path_replayed_op(p, tile->node);

	if (text == PF_NO_TEXT)
		return pf_names_frame(p->names, tile->op);
	return pf_graphs_text(p->args->graphs, text);
}

/* As torch names its call. */
static const char *replayed_module(struct path_rows *r, uint32_t text)
{
	uint64_t *at = pf_map_at(&r->modules, text);
	struct pf_buf name = { 0 };

	if (*at == UINT64_MAX) {
		pf_buf_addf(&name, PF_MODULE_PREFIX "%s",
			    pf_graphs_text(r->p->args->graphs, text));
		*at = (uintptr_t)pf_arena_string(&r->p->out->texts, name.data);
		pf_buf_release(&name);
	}
	return (const char *)(uintptr_t)*at;
}

static const char *module_of(struct path_rows *r,
			     const struct pf_path_tile *tile)
{
	uint32_t text = path_replayed_module(tile->node);

	return text == PF_NO_TEXT ? pf_names_frame(r->p->names, tile->module)
				  : replayed_module(r, text);
}

static void add_item(struct path_rows *r, const struct pf_path_tile *tile)
{
	struct path *p = r->p;
	struct pf_path *out = p->out;
	const char *name = pf_names_frame(p->names, tile->name);

	*PF_ONE_MORE(out->items, out->item_count,
		     r->item_cap) = (struct pf_path_item){
		.start_ns = tile->start_ns - p->trace->first_ns,
		.ns = tile->end_ns - tile->start_ns,
		.device = tile->device,
		.stream = tile->stream,
		.category = pf_path_category_name(tile->category),
		.kind = tile->kind,
		.name = name,
		.short_name = is_work(tile->category)
				      ? pf_kernel_short_kept(&out->texts, name)
				      : name,
		.op = op_of(r, tile),
		.frame = pf_names_frame(p->names, tile->frame),
		.module = module_of(r, tile),
		.thread = pf_arena_string(&out->texts,
					  thread_name(p, tile->track_id)),
		.is_inferred = tile->is_inferred,
	};
}

/* What decides time of a category, of the parts that the window is made of. */
static int64_t *part_of(struct pf_path *out, enum pf_path_category category)
{
	switch ((unsigned)category) {
	case PF_PATH_QUEUED:
		return &out->queued_ns;
	case PF_CAUSE_PROFILER:
		return &out->profiler_ns;
	case PF_CAUSE_UNRECORDED:
	case PF_PATH_NO_LAUNCH:
	case PF_PATH_UNEXPLAINED:
		return &out->unexplained_ns;
	default:
		return is_of_gpu(category)               ? &out->gpu_ns
		       : category <= PF_PATH_LAUNCH_CALL ? &out->host_ns
							 : &out->between_ns;
	}
}

int path_rows_add(void *context, const struct pf_path_tile *tile,
		  struct pf_err *err)
{
	struct path_rows *r = context;
	struct path *p = r->p;
	struct pf_path *out = p->out;
	int64_t ns = tile->end_ns - tile->start_ns;
	struct key key = { (int32_t)tile->category, PF_ID_NONE, -1 };

	r->is_replayed =
		(p->args->group == PF_PATH_BY_MODULE
			 ? path_replayed_module(tile->node)
			 : path_replayed_op(p, tile->node)) != PF_NO_TEXT;
	add_sum(&r->categories, key, ns);
	key = (struct key){ -1, tile->name, -1 };
	if (is_of_gpu(tile->category))
		add_sum(&r->tops[1], key, ns);
	else if (tile->is_op)
		add_sum(&r->tops[0], key, ns);
	if (p->args->group == PF_PATH_BY_STEP)
		add_by_step(r, tile);
	else
		add_row(r, key_of(r, tile), ns);
	if (is_of_gpu(tile->category) && tile->node)
		out->how_ns[tile->node->how] += ns;
	*part_of(out, tile->category) += ns;
	if ((unsigned)tile->category == PF_CAUSE_UNRECORDED && !out->work_count)
		out->bare_ns += ns;
	if ((unsigned)tile->category == PF_CAUSE_ANNOTATION &&
	    tile->name != PF_ID_NONE) {
		const struct pf_name_class *class =
			pf_names_class(p->names, tile->name);

		PF_TRY(!class);
		out->bare_ns += class->is_step ? ns : 0;
	}
	if (tile->category == PF_PATH_QUEUED)
		out->rest_ns = p->w0_ns + out->window_ns - tile->end_ns;
	if (tile->is_inferred)
		out->inferred_ns += ns;
	if (p->args->list)
		add_item(r, tile);
	if (!err->code && p->args->also)
		return p->args->also->tile(p->args->also, tile, err);
	return err->code ? -1 : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct pf_path_row *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->category != y->category && x->category && y->category)
		return strcmp(x->category, y->category);
	if (!x->name || !y->name)
		return !x->name - !y->name;
	return strcmp(x->name, y->name);
}

PF_ORDER(by_name, struct pf_path_row, PF_UP(name == NULL) PF_ALPHA(name))

/* Operators and modules that both calls and graphs have are one row. */
static size_t merge_names(const struct path *p, struct pf_path_row *rows,
			  size_t count)
{
	size_t n = 0;

	pf_sort(rows, count, sizeof(*rows), by_name);
	for (size_t i = 0; i < count; i++) {
		struct pf_path_row *to = n ? &rows[n - 1] : NULL;

		if (!to || by_name(to, &rows[i]) != 0) {
			rows[n++] = rows[i];
			continue;
		}
		to->ns += rows[i].ns;
		to->count += rows[i].count;
		to->replayed_ns += rows[i].replayed_ns;
		if (rows[i].longest_ns > to->longest_ns)
			to->longest_ns = rows[i].longest_ns;
		to->share = pf_ratio((double)to->ns, p->out->window_ns);
	}
	return n;
}

static const char *name_of(struct path_rows *r, const struct key *key)
{
	const struct path *p = r->p;

	if (key->step != OF_GRAPH)
		return pf_names_frame(p->names, key->name);
	return p->args->group == PF_PATH_BY_MODULE
		       ? replayed_module(r, key->name)
		       : pf_graphs_text(p->args->graphs, key->name);
}

static int take(struct path_rows *r, struct sums *s, struct pf_path_row **rows,
		size_t *count)
{
	struct path *p = r->p;

	*rows = pf_calloc((size_t)s->keys.count + 1, sizeof(**rows));
	for (uint32_t i = 0; i < s->keys.count; i++) {
		struct pf_path_row *row = &(*rows)[(*count)++];
		struct key key;

		memcpy(&key, pf_intern_text(&s->keys, i, NULL), sizeof(key));
		*row = (struct pf_path_row){
			.name = name_of(r, &key),
			.in = key.category,
			.step = key.step < 0 ? PF_NO_INT
					     : p->steps[key.step].step,
			.ns = s->items[i].ns,
			.count = s->items[i].count,
			.longest_ns = s->items[i].longest_ns,
			.replayed_ns = s->items[i].replayed_ns,
			.share = pf_ratio((double)s->items[i].ns,
					  p->out->window_ns),
		};
		row->short_name = is_work(key.category)
					  ? pf_kernel_short_kept(&p->out->texts,
								 row->name)
					  : row->name;
		if (key.category >= 0)
			row->category = pf_path_category_name(
				(enum pf_path_category)key.category);
	}
	if (p->args->graphs && s == &r->rows &&
	    (p->args->group == PF_PATH_BY_OP ||
	     p->args->group == PF_PATH_BY_MODULE))
		*count = merge_names(p, *rows, *count);
	pf_sort(*rows, *count, sizeof(**rows), by_time);
	return r->p->db->err->code ? -1 : 0;
}

size_t path_rows_top(const struct path_rows *r, bool of_work, uint32_t *names,
		     size_t max)
{
	const struct sums *s = &r->tops[of_work];
	PF_OWN int64_t *ns = pf_calloc(max + 1, sizeof(*ns));
	size_t count = 0;

	for (uint32_t i = 0; i < s->keys.count; i++) {
		struct key key;
		size_t at = count < max ? count++ : max;

		memcpy(&key, pf_intern_text(&s->keys, i, NULL), sizeof(key));
		for (; at > 0 && ns[at - 1] < s->items[i].ns; at--)
			if (at < max) {
				ns[at] = ns[at - 1];
				names[at] = names[at - 1];
			}
		if (at < max) {
			ns[at] = s->items[i].ns;
			names[at] = key.name;
		}
	}
	return count;
}

struct path_rows *path_rows_new(struct path *p)
{
	struct path_rows *r = pf_calloc(1, sizeof(*r));

	r->p = p;
	return r;
}

int path_rows_finish(struct path_rows *r)
{
	struct pf_path *out = r->p->out;

	if (take(r, &r->categories, &out->categories, &out->category_count) < 0)
		return -1;
	return take(r, &r->rows, &out->rows, &out->row_count);
}

void path_rows_free(struct path_rows *r)
{
	if (!r)
		return;
	pf_intern_release(&r->categories.keys);
	pf_intern_release(&r->rows.keys);
	pf_map_release(&r->modules);
	free(r->categories.items);
	free(r->rows.items);
	for (size_t i = 0; i < 2; i++) {
		pf_intern_release(&r->tops[i].keys);
		free(r->tops[i].items);
	}
	free(r);
}

/*
 * From the sink back along what bound each node; then forward, each edge as
 * tiles.  The host's are cut where what runs there changes, in one walk over
 * each thread.
 */

struct tiler {
	struct path *p;
	path_add_tile *add;
	void *context;
	struct path_folder *folder; /* or NULL: no question is of the host */
	struct path_stand *stands;  /* by thread */
	struct pf_others *others;   /* once a thread of XLA's said nothing */
	bool is_inferred;           /* the edge at hand */
};

/* From PF_PATH_KERNEL on, but for those that are causes of idle time, too. */
static const struct {
	const char *name, *phrase;
} categories[PF_PATH_CATEGORIES - PF_PATH_KERNEL] = {
	{ "kernel", "in kernels" },
	{ "communication", "in communication" },
	{ "copy", "in copies" },
	{ "memset", "in fills" },
	{ "launch call", "in launch calls" },
	{ "launch delay", "between launch calls and their work" },
	{ "kernel gap", "between kernels" },
	{ "sync return", "in the return of calls that waited" },
	{ "queue return", "in the return of calls that the queue held" },
	{ "stream wait", "waiting for another stream" },
	{ "inferred wait", "waiting for another stream, as it seems" },
	{ "handoff", "between one thread's end and the start of the next" },
	[PF_PATH_UNEXPLAINED -
		PF_PATH_KERNEL] = { "unexplained", "unexplained" },
};

/* Or PF_CAUSE_COUNT. */
static enum pf_cause cause_of(enum pf_path_category category)
{
	if (category == PF_PATH_QUEUED)
		return PF_CAUSE_DEVICE;
	if (category == PF_PATH_NO_LAUNCH)
		return PF_CAUSE_NO_LAUNCH;
	return category < PF_PATH_KERNEL ? (enum pf_cause)category
					 : PF_CAUSE_COUNT;
}

const char *pf_path_category_name(enum pf_path_category category)
{
	enum pf_cause cause = cause_of(category);

	return cause < PF_CAUSE_COUNT
		       ? pf_cause_name(cause)
		       : categories[category - PF_PATH_KERNEL].name;
}

const char *pf_path_category_phrase(enum pf_path_category category)
{
	enum pf_cause cause = cause_of(category);

	return cause < PF_CAUSE_COUNT
		       ? pf_cause_phrase(cause)
		       : categories[category - PF_PATH_KERNEL].phrase;
}

bool pf_path_is_before(int category)
{
	return category == PF_PATH_UNEXPLAINED || category == PF_PATH_QUEUED;
}

static int put(struct tiler *t, struct pf_path_tile *tile)
{
	if (tile->end_ns <= tile->start_ns)
		return 0;
	if (!tile->kind)
		tile->kind = pf_path_category_name(tile->category);
	tile->is_inferred |= t->is_inferred;
	return t->add(t->context, tile, t->p->db->err);
}

/* ---- the host ---- */

static const char *kind_of(const struct pf_inner *inner,
			   const struct pf_name_class *class)
{
	if (inner->is_in_data)
		return "data loading";
	switch (inner->kind) {
	case PF_KIND_OVERHEAD:
		return NULL; /* as its category */
	case PF_KIND_RUNTIME:
	case PF_KIND_DRIVER:
		return class->waits ? "sync call" : "runtime";
	case PF_KIND_CPU_OP:
		return "op";
	case PF_KIND_PYTHON:
		return "python";
	default:
		return "annotation";
	}
}

/*
 * A thread sleeps, or nothing is known of it: it waits for who communicates.  Or
 * it is in the operator that handed that over, which may wait for its end.
 */
static bool is_idle(const struct pf_inner *inner,
		    const struct pf_name_class *class)
{
	return !class || class->is_step || class->is_comm_op ||
	       (inner->kind == PF_KIND_PYTHON && class->is_asleep &&
		!inner->is_in_data);
}

/* It is in a range, and nothing else: does communication begin and end so? */
static bool is_served(const struct path *p, const struct path_stand *s,
		      const struct pf_inner *inner,
		      const struct pf_path_tile *tile)
{
	const int64_t ns = tile->end_ns - tile->start_ns;
	const int64_t off = ns / PF_PATH_HOLE_PARTS;
	const struct path_comm *c;

	if (inner->kind != PF_KIND_ANNOTATION || ns < PF_PATH_HOLE_NS)
		return false;
	c = path_comm_after(p, p->threads[s->thread].pid, tile->end_ns - off);
	return c && c->end_ns <= tile->end_ns &&
	       c->start_ns >= tile->start_ns &&
	       c->start_ns <= tile->start_ns + off;
}

/* A thread that sleeps needs so long to sleep, and to wake up. */
#define WOKEN_NS 20000

static int put_idle(struct tiler *t, const struct path_stand *s,
		    struct pf_path_tile tile)
{
	const struct path *p = t->p;
	const char *pid = p->threads[s->thread].pid;
	const int64_t to_ns = tile.end_ns;

	while (tile.start_ns < to_ns) {
		const struct path_comm *c =
			path_comm_after(p, pid, tile.start_ns);
		struct pf_path_tile wait = tile;

		tile.end_ns = !c ? to_ns : least(c->start_ns, to_ns);
		if (c && tile.end_ns < to_ns &&
		    tile.end_ns - tile.start_ns <= WOKEN_NS)
			tile.end_ns = tile.start_ns;
		if (put(t, &tile) < 0)
			return -1;
		if (!c || c->start_ns >= to_ns)
			return 0;
		if (tile.end_ns > wait.start_ns)
			wait.start_ns = tile.end_ns;
		wait.end_ns = to_ns - c->end_ns <= WOKEN_NS
				      ? to_ns
				      : least(c->end_ns, to_ns);
		wait.category = (enum pf_path_category)PF_CAUSE_COMM;
		wait.kind = NULL;
		wait.name = c->name;
		wait.is_inferred = true;
		t->p->out->others_ns += wait.end_ns - wait.start_ns;
		if (put(t, &wait) < 0)
			return -1;
		tile.start_ns = wait.end_ns;
	}
	return 0;
}

static int put_piece(struct tiler *t, const struct path_stand *s,
		     const struct pf_place *place, const struct pf_inner *inner,
		     struct pf_path_tile *tile)
{
	const struct pf_name_class *class = NULL;

	tile->category = (enum pf_path_category)place->cause;
	tile->name = inner->name;
	tile->op = place->op;
	tile->frame = place->frame;
	tile->module = inner->module;
	tile->kind = "unrecorded";
	if (inner->name != PF_ID_NONE) {
		class = pf_names_class(t->p->names, inner->name);
		if (!class)
			return -1;
		tile->kind = kind_of(inner, class);
		/* what another does stays where it is, whatever is asked */
		tile->is_op =
			inner->kind == PF_KIND_CPU_OP &&
			tile->track_id == t->p->threads[s->thread].track_id;
	}
	if (t->p->comm_count &&
	    (is_idle(inner, class) || is_served(t->p, s, inner, tile)))
		return put_idle(t, s, *tile);
	return put(t, tile);
}

#define POOL_MAX 256 /* threads of a pool that are looked at */

/*
 * Has a pool work from where a function, which calls none, begins to do nothing
 * that is known, and no more when it goes on?  Methods of C are not recorded.
 */
static bool is_waited_for(const struct path *p, uint32_t thread,
			  int64_t from_ns, int64_t to_ns)
{
	const int64_t off = (to_ns - from_ns) / PF_PATH_HOLE_PARTS;
	bool begins = false, ends = false;

	if (to_ns - from_ns < PF_PATH_HOLE_NS)
		return false;
	for (uint32_t i = 0; i < p->thread_count && i < POOL_MAX; i++) {
		const struct path_thread *t = &p->threads[i];
		const struct path_busy *busy = &p->busy[t->first_busy];
		const size_t first = PF_SEARCH(k, t->busy_count,
					       busy[k].end_ns <= from_ns),
			     end = PF_SEARCH(k, t->busy_count,
					     busy[k].start_ns < to_ns);

		if (i == thread || first == end)
			continue;
		begins |= busy[first].start_ns <= from_ns + off;
		ends |= busy[end - 1].end_ns >= to_ns - off;
		if (busy[end - 1].end_ns > to_ns)
			return false;
	}
	return begins && ends;
}

/*
 * Where work is done by a pool of threads, a thread says nothing, or without a
 * GPU waits for it: what another does may be it.
 */
static int is_silent(const struct path *p, const struct path_stand *s,
		     const struct pf_inner *inner, int64_t from_ns,
		     int64_t to_ns)
{
	const struct pf_name_class *class;

	if (!p->trace->is_pooled)
		return 0;
	if (inner->name ==
	    PF_ID_NONE) /* of who is not of the runtime, no more */
		return !p->threads[s->thread].has_python;
	if (p->work_count)
		return 0;
	class = pf_names_class(p->names, inner->name);
	PF_TRY(!class);
	if (inner->kind == PF_KIND_CPU_OP)
		return class->woken_by == PF_WOKEN_POOL;
	return class->woken_by == PF_WOKEN_POOL || class->is_step ||
	       (inner->kind == PF_KIND_PYTHON &&
		is_waited_for(p, s->thread, from_ns, to_ns));
}

static int put_silent(struct tiler *t, const struct path_stand *s,
		      const struct pf_place *place,
		      const struct pf_inner *inner, struct pf_path_tile *tile)
{
	struct path *p = t->p;
	const bool no_python = p->threads[s->thread].has_python;
	const int64_t to_ns = tile->end_ns;
	int rc = 0;

	if (!t->others) {
		t->others = pf_others_new(p->db, p->names, p->tracks,
					  p->track_count);
		if (!t->others)
			return -1;
	}
	while (!rc && tile->start_ns < to_ns) {
		const struct pf_walk *of;
		struct pf_path_tile part = *tile;
		struct pf_place other = *place;
		struct pf_inner what = *inner;

		rc = pf_others_piece(t->others, no_python, tile->start_ns,
				     to_ns, &of, &other, &part.end_ns,
				     p->db->err);
		if (of) {
			what = *pf_walk_inner(of);
			/* or it is asleep in that operator */
			if (other.cause == PF_CAUSE_OP &&
			    what.kind != PF_KIND_CPU_OP) {
				what.name = other.name;
				what.kind = PF_KIND_CPU_OP;
			}
			part.track_id = pf_walk_track(of);
			part.is_inferred = true;
		}
		if (!rc)
			rc = put_piece(t, s, &other, &what, &part);
		tile->start_ns = part.end_ns;
	}
	return rc;
}

static int put_at(void *context, const struct path_stand *s,
		  const struct pf_place *place, const struct pf_inner *inner,
		  int64_t from_ns, int64_t to_ns, struct pf_err *err)
{
	struct tiler *t = context;
	struct pf_path_tile tile = {
		.start_ns = from_ns,
		.end_ns = to_ns,
		.track_id = t->p->threads[s->thread].track_id,
		.device = -1,
		.stream = -1,
		.called_ns = PF_NO_INT,
	};

	const int silent = is_silent(t->p, s, inner, from_ns, to_ns);

	(void)err;
	PF_TRY(silent < 0);
	return silent ? put_silent(t, s, place, inner, &tile)
		      : put_piece(t, s, place, inner, &tile);
}

/* With questions, points before one that are not on the path are folded. */
static int put_host(struct tiler *t, uint32_t point)
{
	const struct path_pieces pieces = { put_at, t };
	struct path *p = t->p;
	uint32_t thread = path_thread_of(p, point);
	struct path_stand *s = &t->stands[thread];

	if (!s->walk && path_stand_begin(s, p, p->db, p->names, thread) < 0)
		return -1;
	return t->folder && s->point <= point
		       ? path_fold_to(t->folder, s, point + 1, &pieces)
		       : path_fold_edge(p, NULL, s, point, &pieces,
					t->p->db->err);
}

/* What is left, behind the path, of each thread that it is on. */
static int fold_rest(struct tiler *t)
{
	const struct path *p = t->p;
	int rc = 0;

	for (uint32_t i = 0; !rc && t->folder && i < p->thread_count; i++) {
		struct path_stand *s = &t->stands[i];

		if (!p->threads[i].is_on_path)
			continue;
		if (!s->walk)
			rc = path_stand_begin(s, p, p->db, p->names, i);
		if (!rc)
			rc = path_fold_to(t->folder, s, p->threads[i].end_point,
					  NULL);
	}
	return rc;
}

/* ---- the GPU, and between ---- */

static struct pf_path_tile of_work(const struct path *p, uint32_t work,
				   enum pf_path_category category)
{
	const struct path_work *w = &p->works[work];
	const struct path_stream *s = &p->streams[w->stream];
	struct pf_path_tile tile = {
		.category = category,
		.name = w->name,
		.op = PF_ID_NONE,
		.frame = PF_ID_NONE,
		.module = PF_ID_NONE,
		.device = s->device,
		.stream = s->stream,
		.called_ns = PF_NO_INT,
	};

	if (p->nodes)
		tile.node = p->nodes[work];
	if (w->call != PF_PATH_NONE) {
		struct path_around a = path_around(p, &p->calls[w->call]);

		tile.called_ns = p->calls[w->call].start_ns;
		tile.called_track = p->threads[a.thread].track_id;
		tile.op = a.op;
		tile.frame = a.frame;
		tile.module = a.module;
	}
	return tile;
}

static int put_work(struct tiler *t, uint32_t work,
		    enum pf_path_category category, int64_t from_ns,
		    int64_t to_ns)
{
	struct pf_path_tile tile = of_work(t->p, work, category);

	tile.start_ns = from_ns;
	tile.end_ns = to_ns;
	return put(t, &tile);
}

static enum pf_path_category class_of(const struct path *p, uint32_t work)
{
	return PF_PATH_KERNEL + p->works[work].class;
}

static int64_t called_at(const struct path_call *c, int64_t from_ns,
			 int64_t to_ns)
{
	return least(c->end_ns > from_ns ? c->end_ns : from_ns, to_ns);
}

/* Of a launch, cut where overhead records take it. */
static int put_launching(struct tiler *t, struct pf_path_tile tile,
			 uint32_t track_id, int64_t from_ns, int64_t to_ns)
{
	while (from_ns < to_ns) {
		struct pf_place place = { .cause = PF_CAUSE_LAUNCH,
					  .op = tile.op,
					  .frame = tile.frame };
		struct pf_path_tile part = tile;

		part.start_ns = from_ns;
		part.end_ns = pf_overheads_part(&t->p->overheads, from_ns,
						to_ns, &place);
		if (place.cause != PF_CAUSE_LAUNCH) {
			part = (struct pf_path_tile){
				.start_ns = from_ns,
				.end_ns = part.end_ns,
				.category = (enum pf_path_category)place.cause,
				.name = place.name,
				.op = place.op,
				.frame = place.frame,
				.module = PF_ID_NONE,
				.track_id = track_id,
				.device = -1,
				.stream = -1,
				.called_ns = PF_NO_INT,
			};
		}
		if (put(t, &part) < 0)
			return -1;
		from_ns = part.end_ns;
	}
	return 0;
}

/*
 * The call, then what a launch may take, then what nothing explains, or what
 * was not recorded held up.
 */
static int put_launch(struct tiler *t, uint32_t work, int64_t from_ns,
		      int64_t to_ns)
{
	const struct path *p = t->p;
	const struct path_call *c = &p->calls[p->works[work].call];
	const struct path_around a = path_around(p, c);
	int64_t called = called_at(c, from_ns, to_ns);
	int64_t usual = least(called + PF_PATH_LAUNCH_NS, to_ns);
	struct pf_path_tile tile =
		of_work(p, work,
			c->is_first ? (enum pf_path_category)PF_CAUSE_MODULE
				    : PF_PATH_LAUNCH_CALL);

	tile.name = a.name;
	tile.track_id = p->threads[a.thread].track_id;
	tile.device = tile.stream = -1;
	tile.node = NULL;
	if (put_launching(t, tile, tile.track_id, from_ns, called) < 0 ||
	    put_launching(t, of_work(p, work, PF_PATH_LAUNCH_DELAY),
			  tile.track_id, called, usual) < 0)
		return -1;
	return put_work(t, work,
			p->works[work].is_queued ? PF_PATH_QUEUED
						 : PF_PATH_UNEXPLAINED,
			usual, to_ns);
}

/* Up to what such a gap takes by nature. */
static int put_gap(struct tiler *t, uint32_t work,
		   enum pf_path_category category, int64_t from_ns,
		   int64_t to_ns)
{
	int64_t usual = least(from_ns + PF_PATH_LAUNCH_NS, to_ns);

	if (put_work(t, work, category, from_ns, usual) < 0)
		return -1;
	return put_work(t, work, PF_PATH_UNEXPLAINED, usual, to_ns);
}

/*
 * From the work that ended to the end of the call that waited for it; that of
 * an allocator works on.
 */
static int put_return(struct tiler *t, const struct path_edge *e,
		      enum pf_path_category category, int64_t from_ns,
		      int64_t to_ns)
{
	const struct path *p = t->p;
	const struct path_call *c = &p->calls[e->what];
	const struct path_around a = path_around(p, c);
	struct pf_path_tile tile = {
		.start_ns = from_ns,
		.end_ns = to_ns,
		.category = category,
		.kind = pf_path_category_name(category),
		.name = a.name,
		.op = a.op,
		.frame = a.frame,
		.module = a.module,
		.track_id = p->threads[a.thread].track_id,
		.device = -1,
		.stream = -1,
		.called_ns = c->start_ns,
		.called_track = p->threads[a.thread].track_id,
	};
	struct pf_path_sink *also = p->args->also;
	bool is_end = PATH_IS_END(&p->graph, e->from);

	if (!is_end)
		tile.start_ns = to_ns;
	if (category == PF_PATH_RETURN && also && also->wait &&
	    also->wait(also, &tile, p->db->err) < 0)
		return -1;
	if (!is_end) {
		uint32_t work = PATH_WORK_OF(e->from);

		return put_work(t, work, class_of(p, work), from_ns, to_ns);
	}
	return put(t, &tile);
}

static int put_handoff(struct tiler *t, uint32_t to, int64_t from_ns,
		       int64_t to_ns)
{
	uint32_t thread = path_thread_of(t->p, to - t->p->graph.host_first);
	struct pf_path_tile tile = {
		.start_ns = from_ns,
		.end_ns = to_ns,
		.category = PF_PATH_HANDOFF,
		.name = PF_ID_NONE,
		.op = PF_ID_NONE,
		.frame = PF_ID_NONE,
		.module = PF_ID_NONE,
		.track_id = t->p->threads[thread].track_id,
		.device = -1,
		.stream = -1,
		.called_ns = PF_NO_INT,
	};

	return put(t, &tile);
}

/* ---- edges as tiles ---- */

/* Does nothing in the trace say so? */
static bool is_inferred(const struct path *p, const struct path_edge *e)
{
	const struct path_call *c;

	switch ((enum path_kind)e->kind) {
	case PATH_INFERRED:
	case PATH_CONTENDED:
	case PATH_HANDOFF:
		return true;
	case PATH_RETURN:
		c = &p->calls[e->what];
		return p->works[c->needs].call != e->what
			       ? !path_record_of(p, c)
			       : p->works[c->needs].class != PF_GPU_COPY;
	default:
		return false;
	}
}

static int put_edge(struct tiler *t, uint32_t to, const struct path_edge *e)
{
	struct path *p = t->p;
	const struct path_graph *g = &p->graph;
	int64_t a = path_at(p, e->from), z = path_at(p, to);
	uint32_t other = PATH_WORK_OF(e->from);

	a = a > p->w0_ns ? a : p->w0_ns;
	t->is_inferred = is_inferred(p, e);
	if (e->kind != PATH_END && z >= a) {
		p->out->link_count++;
		p->out->inferred_count += t->is_inferred;
		p->out->return_count += e->kind == PATH_RETURN;
		p->out->handoff_count += e->kind == PATH_HANDOFF;
	}
	/* a call that waited is told of, however soon it returned */
	if (z < a || (z == a && e->kind != PATH_RETURN))
		return 0;
	switch ((enum path_kind)e->kind) {
	case PATH_HOST:
		return put_host(t, e->what);
	case PATH_DUR:
		return put_work(t, e->what, class_of(p, e->what), a, z);
	case PATH_OVERLAP:
	case PATH_CONTENDED:
		return put_work(t, other, class_of(p, other), a, z);
	case PATH_LAUNCH:
		return put_launch(t, e->what, a, z);
	case PATH_GAP:
		return put_gap(t, e->what, PF_PATH_GAP, a, z);
	case PATH_WAIT:
		return put_work(t, e->what, PF_PATH_WAIT, a, z);
	case PATH_INFERRED:
		return put_gap(t, e->what,
			       p->with_call ? PF_PATH_INFERRED : PF_PATH_GAP, a,
			       z);
	case PATH_RETURN:
		return put_return(
			t, e,
			p->calls[e->what].is_allocation
				? (enum pf_path_category)PF_CAUSE_ALLOCATOR
				: PF_PATH_RETURN,
			a, z);
	case PATH_QUEUE:
		return put_return(t, e, PF_PATH_QUEUE, a, z);
	case PATH_HANDOFF:
		return put_handoff(t, to, a, z);
	case PATH_START:
		if (PATH_IS_WORK(g, to))
			return put_work(t, PATH_WORK_OF(to), PF_PATH_NO_LAUNCH,
					a, z);
		return put_handoff(t, to, a, z);
	default:
		return 0;
	}
}

void path_mark_nodes(struct path *p)
{
	const struct path_graph *g = &p->graph;
	struct path_edge e;

	p->on_path = pf_calloc(g->sink / 8 + 1, 1);
	for (uint32_t n = g->sink; path_binding(p, n, &e); n = e.from) {
		p->on_path[n >> 3] |= (unsigned char)(1 << (n & 7));
		if (PATH_IS_HOST(g, n))
			p->threads[path_thread_of(p, n - g->host_first)]
				.is_on_path = true;
	}
}

static bool is_on_path(const struct path *p, uint32_t node)
{
	return p->on_path[node >> 3] >> (node & 7) & 1;
}

bool path_next_node(const struct path *p, struct path_trail *t, uint32_t *node)
{
	const struct path_graph *g = &p->graph;
	uint32_t item;

	if (t->then && is_on_path(p, t->then)) {
		*node = t->then;
		t->then = 0;
		return true;
	}
	while (path_next_turn(p, &t->turn, &item)) {
		const bool is_work = item < p->work_count;

		*node = is_work ? PATH_START_OF(item)
				: g->host_first + (item - p->work_count);
		t->then = is_work ? PATH_END_OF(item) : 0;
		if (is_on_path(p, *node))
			return true;
	}
	*node = g->sink;
	return !t->is_over && (t->is_over = true);
}

int path_find_tiles(struct path *p, path_add_tile *add_tile, void *context,
		    struct path_folder *folder)
{
	struct tiler t = {
		.p = p, .add = add_tile, .context = context, .folder = folder
	};
	struct path_trail trail = { 0 };
	uint32_t node;
	int rc = 0;

	t.stands = pf_calloc((size_t)p->thread_count + 1, sizeof(*t.stands));
	while (!rc && path_next_node(p, &trail, &node)) {
		struct path_edge e;

		path_binding(p, node, &e);
		rc = put_edge(&t, node, &e);
	}
	if (!rc)
		rc = fold_rest(&t);
	for (uint32_t i = 0; i < p->thread_count; i++)
		pf_walk_free(t.stands[i].walk);
	pf_others_free(t.others);
	free(t.stands);
	return rc;
}
