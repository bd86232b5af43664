/* SPDX-License-Identifier: MIT */
/*
 * Host time is cut into pieces by what runs there, far more than there are
 * edges: one walk adds up, for each edge, what of it a question may change.
 * Those of the host that the path is on are walked where it is followed; the
 * others have nothing to do with it, nor with each other: a second thread
 * walks them meanwhile.
 */
#include "analysis/path/change_impl.h"

#include <pthread.h>
#include <stdatomic.h>

#include "store/threads.h"
#include "store/varint.h"

#define FITS_WORK 1
#define FITS_HOST 2
#define FITS_OP   4
#define IS_KNOWN  128

#define OPS_MAX 256 /* of a stack of operators */

/* ---- names ---- */

struct path_folder {
	struct path_ledger *f;
	struct pf_db *db;
	struct pf_names *names;
	/* do the operators open there, the innermost of them this event, fit? */
	bool *op_fits;
	const struct pf_walk *ops_of; /* NULL: not looked at yet */
	uint32_t op_seq;
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

/* Two threads may find out the same: it is the same. */
static int fits(struct path_ledger *f, struct pf_names *names,
		struct path_change *q, uint32_t name, unsigned *out,
		struct pf_err *err)
{
	char *text;

	*out = 0;
	if (name >= f->name_count || !q->names)
		return 0;
	*out = atomic_load_explicit(&q->names[name], memory_order_relaxed);
	if (*out)
		return 0;
	text = pf_names_text_take(names, name, err);
	if (!text)
		return -1;
	*out = match(q, text);
	atomic_store_explicit(&q->names[name], (unsigned char)*out,
			      memory_order_relaxed);
	free(text);
	return 0;
}

/* Does one of these operators fit? */
static int any_fits(struct path_folder *w, struct path_change *q,
		    const uint32_t *ops, size_t count, bool *out,
		    struct pf_err *err)
{
	unsigned bits;

	*out = false;
	for (size_t i = 0; i < count && !*out; i++) {
		if (fits(w->f, w->names, q, ops[i], &bits, err) < 0)
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
		    fits(f, p->names, q, p->works[i].name, &bits, err) < 0)
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

static void touch(struct path_folder *w, uint32_t key, int64_t ns)
{
	if (!w->sums[key])
		w->touched[w->touched_count++] = key;
	w->sums[key] += ns;
}

/* Do the operators that are open fit?  They are as long as the last one is. */
static int look_at_ops(struct path_folder *w, const struct pf_walk *walk,
		       uint32_t op_seq, struct pf_err *err)
{
	const struct path_ledger *f = w->f;
	uint32_t ops[OPS_MAX];
	size_t count;

	if (w->ops_of == walk && w->op_seq == op_seq)
		return 0;
	count = pf_walk_ops(walk, ops, OPS_MAX);
	for (uint32_t i = 0; i < f->asked; i++)
		if (f->changes->items[i].has_op_regex &&
		    any_fits(w, &f->changes->items[i], ops, count,
			     &w->op_fits[i], err) < 0)
			return -1;
	w->ops_of = walk;
	w->op_seq = op_seq;
	return 0;
}

/* Is a piece of what a question changes? */
static int hits(struct path_folder *w, uint32_t question, unsigned kinds,
		uint32_t name, bool *out, struct pf_err *err)
{
	struct path_change *q = &w->f->changes->items[question];
	unsigned bits;

	*out = (q->host_kinds & kinds) || w->op_fits[question];
	if (*out || !q->has_host_regex)
		return 0;
	if (fits(w->f, w->names, q, name, &bits, err) < 0)
		return -1;
	*out = bits & FITS_HOST;
	return 0;
}

static int add_piece(struct path_folder *w, const struct pf_walk *walk,
		     const struct pf_place *place, int64_t ns,
		     struct pf_err *err)
{
	const struct path_ledger *f = w->f;
	struct pf_inner inner = pf_walk_inner(walk);
	const struct pf_name_class *class = NULL;
	unsigned kinds;

	if (f->has_ops && look_at_ops(w, walk, inner.op_seq, err) < 0)
		return -1;
	if (inner.name != PF_ID_NONE) {
		class = pf_names_class(w->names, inner.name, err);
		if (!class)
			return -1;
	}
	kinds = kinds_of(place, &inner, class);
	for (uint32_t i = 0; i < f->folded_count; i++) {
		bool hit;

		if (hits(w, f->folded[i], kinds, inner.name, &hit, err) < 0)
			return -1;
		if (hit)
			touch(w, f->folded[i], ns);
	}
	if (f->by_op && inner.kind == PF_KIND_CPU_OP &&
	    inner.name < f->name_count)
		touch(w, f->asked + inner.name, ns);
	return 0;
}

/* ---- edges ---- */

/* 0 stands for all of the edge. */
static void put(struct path_folder *w, struct path_entries *e, int64_t all_ns)
{
	unsigned char *at;

	e->bytes = pf_grow(
		e->bytes, &e->cap,
		e->len + (2 * (size_t)w->touched_count + 2) * PF_VARINT_MAX, 1);
	at = pf_varint_put(e->bytes + e->len, w->touched_count);
	for (uint32_t i = 0; i < w->touched_count; i++) {
		int64_t *ns = &w->sums[w->touched[i]];

		at = pf_varint_put(at, w->touched[i]);
		at = pf_varint_put(at, *ns == all_ns ? 0 : (uint64_t)*ns);
		*ns = 0;
	}
	w->touched_count = 0;
	e->len = (size_t)(at - e->bytes);
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
	to = at + path_weight(p, p->graph.host_first + point, &edge);
	if (at < to && pf_walk_to(s->walk, at, err) < 0)
		return -1;
	for (; at < to; at = end) {
		struct pf_place place;

		if (pf_walk_piece(s->walk, at, UINT32_MAX, to, &place, &end,
				  err) < 0)
			return -1;
		end = end > at ? end : to;
		if (pieces &&
		    pieces->add(pieces->context, s, &place, at, end, err) < 0)
			return -1;
		if (w && add_piece(w, s->walk, &place, end - at, err) < 0)
			return -1;
	}
	if (w)
		put(w, &w->f->threads[s->thread], to - from);
	return 0;
}

/* Is what a call launched below an operator that is asked for? */
static int look_at_call(struct path_folder *w, const struct path_stand *s,
			uint32_t call, struct pf_err *err)
{
	const struct path_ledger *f = w->f;

	if (pf_walk_to(s->walk, f->p->calls[call].start_ns, err) < 0 ||
	    look_at_ops(w, s->walk, pf_walk_inner(s->walk).op_seq, err) < 0)
		return -1;
	for (uint32_t i = 0; i < f->asked; i++)
		if (f->changes->items[i].below)
			f->changes->items[i].below[call] = w->op_fits[i];
	return 0;
}

int path_fold_to(struct path_folder *w, struct path_stand *s, uint32_t end,
		 const struct path_pieces *pieces, struct pf_err *err)
{
	const struct path *p = w->f->p;
	const struct path_thread *th = &p->threads[s->thread];
	int rc = 0;

	for (; !rc && s->point < end; s->point++) {
		rc = path_fold_edge(p, w, s, s->point,
				    s->point + 1 == end ? pieces : NULL, err);
		while (!rc && w->f->has_ops &&
		       s->call < th->first_call + th->call_count &&
		       p->calls[s->call].start_ns <= path_point_ns(p, s->point))
			rc = look_at_call(w, s, s->call++, err);
	}
	return rc;
}

int path_stand_begin(struct path_stand *s, const struct path *p,
		     struct pf_db *db, struct pf_names *names, uint32_t thread,
		     struct pf_err *err)
{
	const struct path_thread *th = &p->threads[thread];

	*s = (struct path_stand){ .thread = thread,
				  .point = th->first_point,
				  .call = th->first_call };
	s->walk = pf_walk_new(db, names, p->pageable, th->track_id, err);
	return s->walk ? 0 : -1;
}

static int add_thread(struct path_folder *w, uint32_t thread,
		      struct pf_err *err)
{
	const struct path *p = w->f->p;
	struct path_stand s;
	int rc;

	if (p->threads[thread].first_point == PF_PATH_NONE)
		return 0;
	w->ops_of = NULL;
	rc = path_stand_begin(&s, p, w->db, w->names, thread, err);
	if (!rc)
		rc = path_fold_to(w, &s, p->threads[thread].end_point, NULL,
				  err);
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
	w.op_fits = pf_calloc((size_t)f->asked + 1, sizeof(*w.op_fits));
	return w;
}

static void folder_release(struct path_folder *w)
{
	free(w->sums);
	free(w->touched);
	free(w->op_fits);
}

static void take_threads(struct fold *x, struct path_folder *w)
{
	uint32_t thread;

	while (take_thread(x, &thread)) {
		struct pf_err err = { 0 };

		if (add_thread(w, thread, &err) < 0)
			tell_failed(x, thread, &err);
	}
}

static void run_here(void *p)
{
	struct fold *x = p;
	struct path_folder w = folder_new(x->f, x->f->p->db, x->f->p->names);

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
	struct pf_names *names = pf_names_new(x->beside, &ignored);
	struct path_folder w = folder_new(x->f, x->beside, names);

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

int path_ledger_read(struct path_ledger *f, path_follow *follow, void *context,
		     struct pf_err *err)
{
	struct pf_db *db = f->p->db;
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
	if (x.followed || x.rc) {
		*err = x.followed ? x.follow_err : x.err;
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
		     struct path_changes *c, bool by_op, struct pf_err *err)
{
	*f = (struct path_ledger){
		.p = p,
		.changes = c,
		.asked = (uint32_t)c->count,
		.is_on = by_op,
		.by_op = by_op,
		.name_count = pf_names_count(p->names),
	};
	f->key_count = f->asked + (by_op ? (uint32_t)f->name_count : 0);
	f->threads =
		pf_calloc((size_t)p->thread_count + 1, sizeof(*f->threads));
	f->folded = pf_calloc(c->count + 1, sizeof(*f->folded));
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
	free(f->folded);
	*f = (struct path_ledger){ 0 };
}
