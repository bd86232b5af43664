/* SPDX-License-Identifier: MIT */
/*
 * From the sink back along what bound each node; then forward, each edge as
 * tiles.  The host's are cut where what runs there changes, in one walk over
 * each thread.
 */
#include "analysis/path/change_impl.h"

#include "base/search.h"

struct tiler {
	struct path *p;
	path_add_tile *add;
	void *context;
	struct path_folder *folder; /* or NULL: no question is of the host */
	struct path_stand *stands;  /* by thread */
	bool is_inferred;           /* the edge at hand */
};

const char *pf_path_category_name(enum pf_path_category category)
{
	static const char *const names[] = {
		"kernel",           "communication", "copy",
		"memset",           "launch call",   "launch delay",
		"kernel gap",       "sync return",   "queue return",
		"stream wait",      "inferred wait", "handoff",
		"no launch record", "unexplained",
	};

	if (category < PF_PATH_KERNEL)
		return pf_cause_name((enum pf_cause)category);
	return names[category - PF_PATH_KERNEL];
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int put(struct tiler *t, struct pf_path_tile *tile, struct pf_err *err)
{
	if (tile->end_ns <= tile->start_ns)
		return 0;
	if (!tile->kind)
		tile->kind = pf_path_category_name(tile->category);
	tile->is_inferred |= t->is_inferred;
	return t->add(t->context, tile, err);
}

/* ---- the host ---- */

static const char *kind_of(const struct pf_inner *inner,
			   const struct pf_name_class *class)
{
	if (inner->is_in_data)
		return "data loading";
	switch (inner->kind) {
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

/* A thread does nothing that is known, others communicate: it waits for them. */
static int put_idle(struct tiler *t, const struct path_stand *s,
		    struct pf_path_tile tile, struct pf_err *err)
{
	const struct path *p = t->p;
	const char *pid = p->threads[s->thread].pid;
	const int64_t to_ns = tile.end_ns;

	while (tile.start_ns < to_ns) {
		const struct path_comm *c =
			path_comm_after(p, pid, tile.start_ns);
		struct pf_path_tile wait = tile;

		tile.end_ns = !c ? to_ns : least(c->start_ns, to_ns);
		if (put(t, &tile, err) < 0)
			return -1;
		if (!c || c->start_ns >= to_ns)
			return 0;
		if (c->start_ns > wait.start_ns)
			wait.start_ns = c->start_ns;
		wait.end_ns = least(c->end_ns, to_ns);
		wait.category = (enum pf_path_category)PF_CAUSE_COMM;
		wait.kind = NULL;
		wait.name = c->name;
		wait.is_inferred = true;
		t->p->out->others_ns += wait.end_ns - wait.start_ns;
		if (put(t, &wait, err) < 0)
			return -1;
		tile.start_ns = wait.end_ns;
	}
	return 0;
}

static int put_piece(struct tiler *t, const struct path_stand *s,
		     const struct pf_place *place, struct pf_path_tile *tile,
		     struct pf_err *err)
{
	struct pf_inner inner = pf_walk_inner(s->walk);
	const struct pf_name_class *class = NULL;

	tile->category = (enum pf_path_category)place->cause;
	tile->name = inner.name;
	tile->op = place->op;
	tile->frame = place->frame;
	tile->module = inner.module;
	tile->kind = "unrecorded";
	if (inner.name != PF_ID_NONE) {
		class = pf_names_class(t->p->names, inner.name, err);
		if (!class)
			return -1;
		tile->kind = kind_of(&inner, class);
		tile->is_op = inner.kind == PF_KIND_CPU_OP;
	}
	if (t->p->comm_count && (!class || class->is_step))
		return put_idle(t, s, *tile, err);
	return put(t, tile, err);
}

static int put_at(void *context, const struct path_stand *s,
		  const struct pf_place *place, int64_t from_ns, int64_t to_ns,
		  struct pf_err *err)
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

	return put_piece(t, s, place, &tile, err);
}

/* With questions, points before one that are not on the path are folded. */
static int put_host(struct tiler *t, uint32_t point, struct pf_err *err)
{
	const struct path_pieces pieces = { put_at, t };
	struct path *p = t->p;
	uint32_t thread = path_thread_of(p, point);
	struct path_stand *s = &t->stands[thread];

	if (!s->walk &&
	    path_stand_begin(s, p, p->db, p->names, thread, err) < 0)
		return -1;
	return t->folder && s->point <= point
		       ? path_fold_to(t->folder, s, point + 1, &pieces, err)
		       : path_fold_edge(p, NULL, s, point, &pieces, err);
}

/* What is left, behind the path, of each thread that it is on. */
static int fold_rest(struct tiler *t, struct pf_err *err)
{
	const struct path *p = t->p;
	int rc = 0;

	for (uint32_t i = 0; !rc && t->folder && i < p->thread_count; i++) {
		struct path_stand *s = &t->stands[i];

		if (!p->threads[i].is_on_path)
			continue;
		if (!s->walk)
			rc = path_stand_begin(s, p, p->db, p->names, i, err);
		if (!rc)
			rc = path_fold_to(t->folder, s, p->threads[i].end_point,
					  NULL, err);
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
		    int64_t to_ns, struct pf_err *err)
{
	struct pf_path_tile tile = of_work(t->p, work, category);

	tile.start_ns = from_ns;
	tile.end_ns = to_ns;
	return put(t, &tile, err);
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

/* The call, then what a launch may take, then what nothing explains. */
static int put_launch(struct tiler *t, uint32_t work, int64_t from_ns,
		      int64_t to_ns, struct pf_err *err)
{
	const struct path *p = t->p;
	const struct path_call *c = &p->calls[p->works[work].call];
	const struct path_around a = path_around(p, c);
	int64_t called = called_at(c, from_ns, to_ns);
	int64_t usual = least(called + PF_PATH_LAUNCH_NS, to_ns);
	struct pf_path_tile tile = of_work(p, work, PF_PATH_LAUNCH_CALL);

	tile.start_ns = from_ns;
	tile.end_ns = called;
	tile.name = a.name;
	tile.track_id = p->threads[a.thread].track_id;
	tile.device = tile.stream = -1;
	tile.node = NULL;
	if (put(t, &tile, err) < 0 ||
	    put_work(t, work, PF_PATH_LAUNCH_DELAY, called, usual, err) < 0)
		return -1;
	return put_work(t, work, PF_PATH_UNEXPLAINED, usual, to_ns, err);
}

static int put_gap(struct tiler *t, uint32_t work, int64_t from_ns,
		   int64_t to_ns, struct pf_err *err)
{
	int64_t usual = least(from_ns + PF_PATH_LAUNCH_NS, to_ns);

	if (put_work(t, work, PF_PATH_GAP, from_ns, usual, err) < 0)
		return -1;
	return put_work(t, work, PF_PATH_UNEXPLAINED, usual, to_ns, err);
}

/* From the work that ended to the end of the call that waited for it. */
static int put_return(struct tiler *t, const struct path_edge *e,
		      enum pf_path_category category, int64_t from_ns,
		      int64_t to_ns, struct pf_err *err)
{
	const struct path *p = t->p;
	const struct path_call *c = &p->calls[e->what];
	const struct path_around a = path_around(p, c);
	struct pf_path_tile tile = {
		.start_ns = from_ns,
		.end_ns = to_ns,
		.category = category,
		.name = a.name,
		.op = a.op,
		.frame = a.frame,
		.module = a.module,
		.track_id = p->threads[a.thread].track_id,
		.device = -1,
		.stream = -1,
		.called_ns = PF_NO_INT,
	};

	if (!PATH_IS_END(&p->graph, e->from)) {
		uint32_t work = PATH_WORK_OF(e->from);

		return put_work(t, work, class_of(p, work), from_ns, to_ns,
				err);
	}
	return put(t, &tile, err);
}

static int put_handoff(struct tiler *t, uint32_t to, int64_t from_ns,
		       int64_t to_ns, struct pf_err *err)
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

	return put(t, &tile, err);
}

/* ---- edges ---- */

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

static int put_edge(struct tiler *t, uint32_t to, const struct path_edge *e,
		    struct pf_err *err)
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
	if (z <= a)
		return 0;
	switch ((enum path_kind)e->kind) {
	case PATH_HOST:
		return put_host(t, e->what, err);
	case PATH_DUR:
		return put_work(t, e->what, class_of(p, e->what), a, z, err);
	case PATH_OVERLAP:
	case PATH_CONTENDED:
		return put_work(t, other, class_of(p, other), a, z, err);
	case PATH_LAUNCH:
		return put_launch(t, e->what, a, z, err);
	case PATH_GAP:
		return put_gap(t, e->what, a, z, err);
	case PATH_WAIT:
		return put_work(t, e->what, PF_PATH_WAIT, a, z, err);
	case PATH_INFERRED:
		return put_work(t, e->what, PF_PATH_INFERRED, a, z, err);
	case PATH_RETURN:
		return put_return(t, e, PF_PATH_RETURN, a, z, err);
	case PATH_QUEUE:
		return put_return(t, e, PF_PATH_QUEUE, a, z, err);
	case PATH_HANDOFF:
		return put_handoff(t, to, a, z, err);
	case PATH_START:
		if (PATH_IS_WORK(g, to))
			return put_work(t, PATH_WORK_OF(to), PF_PATH_NO_LAUNCH,
					a, z, err);
		return put_handoff(t, to, a, z, err);
	default:
		return 0;
	}
}

int64_t path_host_time(const struct path *p)
{
	int64_t sum = 0;

	for (uint32_t i = p->chain_count; i-- > 0;) {
		uint32_t to = p->chain[i];
		struct path_edge e;
		int64_t a, z;

		if (!path_binding(p, to, &e))
			continue;
		a = path_at(p, e.from);
		a = a > p->w0_ns ? a : p->w0_ns;
		z = path_at(p, to);
		if (z > a && e.kind == PATH_LAUNCH)
			z = called_at(&p->calls[p->works[e.what].call], a, z);
		else if (e.kind != PATH_HOST)
			continue;
		sum += z > a ? z - a : 0;
	}
	return sum;
}

void path_list_nodes(struct path *p)
{
	const struct path_graph *g = &p->graph;
	struct path_edge e;
	uint32_t n = g->sink;
	size_t cap = 0;

	p->chain_count = 0;
	for (;;) {
		p->chain = pf_grow(p->chain, &cap, (size_t)p->chain_count + 1,
				   sizeof(*p->chain));
		p->chain[p->chain_count++] = n;
		if (PATH_IS_HOST(g, n))
			p->threads[path_thread_of(p, n - g->host_first)]
				.is_on_path = true;
		if (!path_binding(p, n, &e))
			return;
		n = e.from;
	}
}

int path_find_tiles(struct path *p, path_add_tile *add_tile, void *context,
		    struct path_folder *folder, struct pf_err *err)
{
	struct tiler t = {
		.p = p, .add = add_tile, .context = context, .folder = folder
	};
	int rc = 0;

	t.stands = pf_calloc((size_t)p->thread_count + 1, sizeof(*t.stands));
	for (uint32_t i = p->chain_count; !rc && i-- > 0;) {
		struct path_edge e;

		if (path_binding(p, p->chain[i], &e))
			rc = put_edge(&t, p->chain[i], &e, err);
	}
	if (!rc)
		rc = fold_rest(&t, err);
	for (uint32_t i = 0; i < p->thread_count; i++)
		pf_walk_free(t.stands[i].walk);
	free(t.stands);
	return rc;
}
