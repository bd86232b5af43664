/* SPDX-License-Identifier: MIT */
/*
 * Host time is cut into pieces by what runs there, far more than there are
 * edges: one walk adds up, for each edge and question, what is changed of it.
 */
#include "path/change_impl.h"

#define FITS_WORK 1
#define FITS_HOST 2
#define FITS_OP   4
#define IS_KNOWN  128

#define OPS_MAX 256 /* of a stack of operators */

struct folder {
	struct path *p;
	struct path_changes *changes;
	size_t name_count;
	bool has_ops; /* does a question ask for enclosing operators? */
	struct pf_pageable pageable;
	struct pf_walk *walk; /* over the thread at hand */
	uint32_t next_call;
};

/* ---- names ---- */

static int fits(struct folder *f, struct path_change *q, uint32_t name,
		unsigned *out, struct pf_err *err)
{
	const char *text;
	char *own;

	*out = 0;
	if (name >= f->name_count || !q->names)
		return 0;
	if (!q->names[name]) {
		own = pf_names_text_take(f->p->names, name, err);
		if (!own)
			return -1;
		text = own;
		q->names[name] = IS_KNOWN;
		if (q->has_work_regex &&
		    !regexec(&q->work_regex, text, 0, NULL, 0))
			q->names[name] |= FITS_WORK;
		if (q->has_host_regex &&
		    !regexec(&q->host_regex, text, 0, NULL, 0))
			q->names[name] |= FITS_HOST;
		if (q->has_op_regex && !regexec(&q->op_regex, text, 0, NULL, 0))
			q->names[name] |= FITS_OP;
		free(own);
	}
	*out = q->names[name];
	return 0;
}

/* Does one of these operators fit? */
static int any_fits(struct folder *f, struct path_change *q,
		    const uint32_t *ops, size_t count, bool *out,
		    struct pf_err *err)
{
	unsigned bits;

	*out = false;
	for (size_t i = 0; i < count && !*out; i++) {
		if (fits(f, q, ops[i], &bits, err) < 0)
			return -1;
		*out = bits & FITS_OP;
	}
	return 0;
}

static int find_works(struct folder *f, struct path_change *q,
		      struct pf_err *err)
{
	const struct path *p = f->p;
	unsigned bits;

	for (uint32_t i = 0; q->has_work_regex && i < p->work_count; i++)
		if (p->works[i].is_in &&
		    fits(f, q, p->works[i].name, &bits, err) < 0)
			return -1;
	return 0;
}

/* ---- pieces ---- */

static unsigned kinds_of(const struct pf_place *place,
			 const struct pf_inner *inner,
			 const struct pf_name_class *class)
{
	unsigned kinds = PATH_IS_ANY;
	bool is_call =
		inner->kind == PF_KIND_RUNTIME || inner->kind == PF_KIND_DRIVER;

	if (inner->is_in_data)
		kinds |= PATH_IS_DATA;
	if (place->cause == PF_CAUSE_GC)
		kinds |= PATH_IS_GC;
	if (place->cause == PF_CAUSE_ALLOCATOR)
		kinds |= PATH_IS_ALLOC;
	if (class && !inner->is_in_data && !(is_call && class->waits))
		kinds |= PATH_IS_CODE;
	return kinds;
}

static int add_piece(struct folder *f, uint32_t node,
		     const struct pf_place *place, int64_t ns,
		     struct pf_err *err)
{
	struct pf_inner inner = pf_walk_inner(f->walk);
	const struct pf_name_class *class = NULL;
	uint32_t ops[OPS_MAX];
	size_t count = f->has_ops ? pf_walk_ops(f->walk, ops, OPS_MAX) : 0;
	unsigned kinds, bits;

	if (inner.name != PF_ID_NONE) {
		class = pf_names_class(f->p->names, inner.name, err);
		if (!class)
			return -1;
	}
	kinds = kinds_of(place, &inner, class);
	for (size_t i = 0; i < f->changes->count; i++) {
		struct path_change *q = &f->changes->items[i];
		bool hit =
			q->host_kinds & kinds || (q->op_name == inner.name &&
						  inner.kind == PF_KIND_CPU_OP);

		if (!q->host_ns)
			continue;
		if (!hit && q->has_host_regex) {
			if (fits(f, q, inner.name, &bits, err) < 0)
				return -1;
			hit = bits & FITS_HOST;
		}
		if (!hit && q->has_op_regex &&
		    any_fits(f, q, ops, count, &hit, err) < 0)
			return -1;
		if (hit)
			q->host_ns[node - f->p->graph.host_first] += ns;
	}
	return 0;
}

/* ---- edges ---- */

static const struct path_edge *host_edge(const struct path_graph *g,
					 uint32_t node)
{
	const struct path_node *n = &g->nodes[node];

	for (uint32_t i = 0; i < n->count; i++)
		if (g->edges[n->first + i].kind == PATH_HOST)
			return &g->edges[n->first + i];
	return NULL;
}

static int fold_edge(struct folder *f, uint32_t node, struct pf_err *err)
{
	const struct path_graph *g = &f->p->graph;
	const struct path_edge *e = host_edge(g, node);
	int64_t at, end, to;

	if (!e)
		return 0;
	at = g->nodes[e->from].at_ns;
	to = at + path_weight(g, node, e);
	if (at < to && pf_walk_to(f->walk, at, err) < 0)
		return -1;
	while (at < to) {
		struct pf_place place;

		if (pf_walk_piece(f->walk, at, UINT32_MAX, to, &place, &end,
				  err) < 0)
			return -1;
		end = end > at ? end : to;
		if (add_piece(f, node, &place, end - at, err) < 0)
			return -1;
		at = end;
	}
	return 0;
}

/* Is what the call launched below such an operator? */
static int look_above(struct folder *f, uint32_t call, struct pf_err *err)
{
	uint32_t ops[OPS_MAX];
	size_t count;
	bool hit;

	if (pf_walk_to(f->walk, f->p->calls[call].start_ns, err) < 0)
		return -1;
	count = pf_walk_ops(f->walk, ops, OPS_MAX);
	for (size_t i = 0; i < f->changes->count; i++) {
		struct path_change *q = &f->changes->items[i];

		if (!q->below)
			continue;
		if (any_fits(f, q, ops, count, &hit, err) < 0)
			return -1;
		q->below[call] = hit;
	}
	return 0;
}

static int fold_node(struct folder *f, const struct path_thread *t,
		     uint32_t node, struct pf_err *err)
{
	const struct path *p = f->p;
	const int64_t at = p->graph.nodes[node].at_ns;

	if (fold_edge(f, node, err) < 0)
		return -1;
	while (f->has_ops && f->next_call < t->first_call + t->call_count &&
	       p->calls[f->next_call].start_ns <= at)
		if (look_above(f, f->next_call++, err) < 0)
			return -1;
	return 0;
}

static int fold_thread(struct folder *f, uint32_t thread, struct pf_err *err)
{
	struct path *p = f->p;
	const struct path_graph *g = &p->graph;
	const struct path_thread *t = &p->threads[thread];
	uint32_t end = g->sink - 1;
	int rc = 0;

	if (t->first_node == PF_PATH_NONE)
		return 0;
	f->next_call = t->first_call;
	f->walk = pf_walk_new(p->db, p->names, &f->pageable, t->track_id, err);
	if (!f->walk)
		return -1;
	for (uint32_t n = t->first_node; !rc && n <= t->end_node; n++)
		rc = fold_node(f, t, n, err);
	/* the window's end is a node behind all others */
	if (!rc && end > t->end_node && g->nodes[end].thread == thread)
		rc = fold_node(f, t, end, err);
	pf_walk_free(f->walk);
	return rc;
}

static void make_room(struct folder *f, struct path_change *q)
{
	const struct path *p = f->p;
	const struct path_graph *g = &p->graph;

	if (q->has_host)
		q->host_ns =
			pf_calloc((size_t)(g->node_count - g->host_first) + 1,
				  sizeof(*q->host_ns));
	if (q->has_op_regex)
		q->below = pf_calloc((size_t)p->call_count + 1, 1);
	if (q->has_op_regex || q->has_host_regex || q->has_work_regex)
		q->names = pf_calloc(f->name_count + 1, 1);
}

int path_fold(struct path *p, struct path_changes *c, struct pf_err *err)
{
	struct folder f = { .p = p,
			    .changes = c,
			    .name_count = pf_names_count(p->names) };
	bool has_host = false;
	int rc = 0;

	for (size_t i = 0; !rc && i < c->count; i++) {
		make_room(&f, &c->items[i]);
		f.has_ops |= c->items[i].has_op_regex;
		has_host |= c->items[i].has_host;
		rc = find_works(&f, &c->items[i], err);
	}
	if (!rc && has_host)
		rc = pf_pageable_load(p->db, &f.pageable, err);
	for (uint32_t i = 0; !rc && has_host && i < p->thread_count; i++)
		rc = fold_thread(&f, i, err);
	pf_pageable_release(&f.pageable);
	return rc;
}
