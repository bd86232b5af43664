/* SPDX-License-Identifier: MIT */
/*
 * Host time is cut into pieces by what runs there, far more than there are
 * edges: one walk adds up, for each edge, what of it a question may change.
 */
#include "path/change_impl.h"

#include "store/varint.h"

#define FITS_WORK 1
#define FITS_HOST 2
#define FITS_OP   4
#define IS_KNOWN  128

#define OPS_MAX 256 /* of a stack of operators */

/* ---- names ---- */

static int fits(struct path_ledger *f, struct path_change *q, uint32_t name,
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
static int any_fits(struct path_ledger *f, struct path_change *q,
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

static int find_works(struct path_ledger *f, struct path_change *q,
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

/* Has it time of the host that is not all of it? */
static bool is_folded(const struct path_change *q)
{
	return q->has_host && !(q->host_kinds & PATH_IS_ANY);
}

static void touch(struct path_ledger *f, uint32_t key, int64_t ns)
{
	if (!f->sums[key])
		f->touched[f->touched_count++] = key;
	f->sums[key] += ns;
}

static uint32_t key_of_op(struct path_ledger *f, uint32_t name)
{
	uint32_t *key = &f->op_keys[name];

	if (*key)
		return *key;
	*key = f->key_count++;
	f->sums = pf_grow_zero(f->sums, &f->sum_cap, f->key_count,
			       sizeof(*f->sums));
	f->touched = pf_grow(f->touched, &f->touched_cap, f->key_count,
			     sizeof(*f->touched));
	return *key;
}

/* Do the operators that are open fit?  They are as long as the last one is. */
static int look_at_ops(struct path_ledger *f, const struct pf_walk *w,
		       uint32_t op_seq, struct pf_err *err)
{
	uint32_t ops[OPS_MAX];
	size_t count;

	if (f->ops_of == w && f->op_seq == op_seq)
		return 0;
	count = pf_walk_ops(w, ops, OPS_MAX);
	for (uint32_t i = 0; i < f->asked; i++)
		if (f->changes->items[i].has_op_regex &&
		    any_fits(f, &f->changes->items[i], ops, count,
			     &f->op_fits[i], err) < 0)
			return -1;
	f->ops_of = w;
	f->op_seq = op_seq;
	return 0;
}

/* Is a piece of what a question changes? */
static int hits(struct path_ledger *f, uint32_t question, unsigned kinds,
		uint32_t name, bool *out, struct pf_err *err)
{
	struct path_change *q = &f->changes->items[question];
	unsigned bits;

	*out = (q->host_kinds & kinds) || f->op_fits[question];
	if (*out || !q->has_host_regex)
		return 0;
	if (fits(f, q, name, &bits, err) < 0)
		return -1;
	*out = bits & FITS_HOST;
	return 0;
}

int path_ledger_add(struct path_ledger *f, const struct pf_walk *w,
		    const struct pf_place *place, int64_t ns,
		    struct pf_err *err)
{
	struct pf_inner inner = pf_walk_inner(w);
	const struct pf_name_class *class = NULL;
	unsigned kinds;

	if (f->has_ops && look_at_ops(f, w, inner.op_seq, err) < 0)
		return -1;
	if (inner.name != PF_ID_NONE) {
		class = pf_names_class(f->p->names, inner.name, err);
		if (!class)
			return -1;
	}
	kinds = kinds_of(place, &inner, class);
	for (uint32_t i = 0; i < f->folded_count; i++) {
		bool hit;

		if (hits(f, f->folded[i], kinds, inner.name, &hit, err) < 0)
			return -1;
		if (hit)
			touch(f, f->folded[i], ns);
	}
	if (f->by_op && inner.kind == PF_KIND_CPU_OP &&
	    inner.name < f->name_count)
		touch(f, key_of_op(f, inner.name), ns);
	return 0;
}

/* ---- edges ---- */

static void put(struct path_ledger *f, struct path_entries *e)
{
	unsigned char *at;

	e->bytes = pf_grow(
		e->bytes, &e->cap,
		e->len + (2 * (size_t)f->touched_count + 2) * PF_VARINT_MAX, 1);
	at = pf_varint_put(e->bytes + e->len, f->touched_count);
	for (uint32_t i = 0; i < f->touched_count; i++) {
		at = pf_varint_put(at, f->touched[i]);
		at = pf_varint_put(at, (uint64_t)f->sums[f->touched[i]]);
	}
	e->len = (size_t)(at - e->bytes);
}

void path_ledger_close(struct path_ledger *f, uint32_t thread, bool is_on_path)
{
	put(f, &f->threads[thread]);
	if (is_on_path)
		put(f, &f->chain);
	for (uint32_t i = 0; i < f->touched_count; i++)
		f->sums[f->touched[i]] = 0;
	f->touched_count = 0;
}

int path_ledger_look(struct path_ledger *f, struct pf_walk *w, uint32_t call,
		     struct pf_err *err)
{
	if (pf_walk_to(w, f->p->calls[call].start_ns, err) < 0 ||
	    look_at_ops(f, w, pf_walk_inner(w).op_seq, err) < 0)
		return -1;
	for (uint32_t i = 0; i < f->asked; i++)
		if (f->changes->items[i].below)
			f->changes->items[i].below[call] = f->op_fits[i];
	return 0;
}

uint32_t path_ledger_key(const struct path_ledger *f, uint32_t op)
{
	if (!f->by_op || op >= f->name_count || !f->op_keys[op])
		return PF_PATH_NONE;
	return f->op_keys[op];
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
		     struct path_changes *c, bool by_op, struct pf_err *err)
{
	*f = (struct path_ledger){
		.p = p,
		.changes = c,
		.asked = (uint32_t)c->count,
		.is_on = by_op,
		.by_op = by_op,
		.name_count = pf_names_count(p->names),
		.key_count = (uint32_t)c->count + 1,
		.sum_cap = c->count + 1,
		.touched_cap = c->count + 1,
	};
	f->sums = pf_calloc(f->sum_cap, sizeof(*f->sums));
	f->touched = pf_calloc(f->touched_cap, sizeof(*f->touched));
	f->threads =
		pf_calloc((size_t)p->thread_count + 1, sizeof(*f->threads));
	f->folded = pf_calloc(c->count + 1, sizeof(*f->folded));
	f->op_fits = pf_calloc(c->count + 1, sizeof(*f->op_fits));
	if (by_op)
		f->op_keys = pf_calloc(f->name_count + 1, sizeof(*f->op_keys));
	for (uint32_t i = 0; i < f->asked; i++) {
		struct path_change *q = &c->items[i];

		make_room(f, q);
		find_graph_ops(p, q);
		f->has_ops |= q->has_op_regex;
		f->is_on |= is_folded(q) || q->has_op_regex;
		if (is_folded(q))
			f->folded[f->folded_count++] = q->key = i;
		if (find_works(f, q, err) < 0)
			return -1;
	}
	return 0;
}

void path_ledger_release(struct path_ledger *f)
{
	for (uint32_t i = 0; f->threads && i < f->p->thread_count; i++)
		free(f->threads[i].bytes);
	free(f->threads);
	free(f->chain.bytes);
	free(f->op_keys);
	free(f->folded);
	free(f->op_fits);
	free(f->sums);
	free(f->touched);
	*f = (struct path_ledger){ 0 };
}
