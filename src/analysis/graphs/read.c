/* SPDX-License-Identifier: MIT */
/*
 * Threads are walked once, each call with what it launched; what is open
 * around it follows the parents that ingest stored.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/sat.h"
#include "base/spool.h"
#include "events/args.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/step.h"
#include "events/traces.h"
#include "analysis/graphs/graphs.h"
#include "store/cursor.h"
#include "store/texts.h"
#include "show/doc.h"

#define NAMES_MAX  (1u << 20)
#define NODES_MAX  (1u << 20) /* of all graphs */
#define LAUNCH_MAX (1u << 16) /* works of one launch that are nodes */
#define EAGER_MAX  20000
/* Ranges that serving and training put around an iteration. */
#define ITERATION "^(execute_|step\\[|ProfilerStep#|vllm::|forward$|run_batch)"
#define STEP      "ProfilerStep#"
#define WORK_MAX  INT64_C(4000000000) /* comparisons for layers, about 4 s */

/* What a name means, by string.id. */
struct meaning {
	uint32_t text, module; /* in texts, or PF_NO_TEXT */
	bool is_known, is_graph, is_begin, is_end, is_launch, is_copy;
	bool is_root;
	bool is_whole; /* the record of a whole graph */
};

struct open {
	struct pf_nest_event event;
	uint32_t op, module;
	uint32_t root_name; /* in texts */
	int64_t root;       /* event id of an iteration, or 0 */
	int64_t root_ns;
	bool is_module;      /* itself */
	bool is_op;          /* itself: */
	uint32_t name, args; /* string.id, argset.id */
	uint32_t around;     /* in arounds, once something was captured */
};

/* GPU work by its launch call; sorted by the first two. */
struct work {
	int64_t launch_id, start_ns, dur_ns, stream;
	uint32_t name;
	bool is_comm, is_copy;
};

/* The same by its iteration. */
struct part {
	int64_t root, start_ns, dur_ns, root_ns, trace_id;
	uint32_t name, root_name;
	bool is_comm, is_copy, is_replayed, is_whole;
};

struct read {
	struct pf_db *db;
	struct pf_graphs *out;
	enum pf_graphs_read what;
	struct pf_step_regex *iteration;
	bool has_pattern; /* that was asked for */
	bool has_args;    /* as in pf_graphs_args */
	struct pf_kinds kinds;
	struct pf_texts texts;
	struct meaning *meanings;
	size_t meaning_count;
	struct pf_nest open; /* struct open */
	size_t top; /* so many hold the event at hand, which is the last */
	struct pf_by_event *works;
	struct work *now; /* of one launch */
	size_t now_count, now_cap;
	struct pf_intern sequences; /* of names: graphs */
	struct pf_sorter *parts;
	const struct pf_track *track;
	bool is_capturing;
	int64_t call_end_ns; /* of the last captured call */
	int64_t call_ns;     /* when the call at hand began */
};

static struct open *open_at(const struct read *r, size_t i)
{
	return pf_nest_at(&r->open, i);
}

/* ---- names ---- */

static const struct meaning no_meaning = { .text = PF_NO_TEXT,
					   .module = PF_NO_TEXT };

static void classify(struct read *r, const char *text, size_t len,
		     struct meaning *m)
{
	struct pf_name_class class = pf_name_classify(text);

	m->text = pf_intern_add(&r->out->texts, text, len);
	m->module = PF_NO_TEXT;
	if (!strncmp(text, PF_MODULE_PREFIX, strlen(PF_MODULE_PREFIX)))
		m->module = pf_intern_add(&r->out->texts,
					  text + strlen(PF_MODULE_PREFIX),
					  len - strlen(PF_MODULE_PREFIX));
	m->is_graph = class.is_graph;
	m->is_begin = class.capture == 1;
	m->is_end = class.capture == 2;
	m->is_copy = strstr(text, "Memcpy") || strstr(text, "Memset");
	m->is_launch = m->is_copy || (strstr(text, "Launch") &&
				      !strstr(text, "LaunchHostFunc"));
	m->is_whole = pf_name_is_whole_graph(text);
	m->is_root = pf_step_regex_matches(r->iteration, text, len);
	m->is_known = true;
}

static int mean(struct read *r, uint32_t name, const struct meaning **out)
{
	const char *text;
	struct meaning *m;
	size_t len;

	*out = &no_meaning;
	if (name >= NAMES_MAX)
		return 0;
	r->meanings = pf_grow_zero(r->meanings, &r->meaning_count,
				   (size_t)name + 1, sizeof(*m));
	m = &r->meanings[name];
	*out = m;
	if (m->is_known)
		return 0;
	PF_TRY(pf_texts_get(&r->texts, PF_TEXT_NAME, name, &text, &len,
			    r->db->err) < 0);
	classify(r, text, len, m);
	return 0;
}

/* ---- graphs ---- */

/* The role of a kernel's name, asked for once. */
static enum pf_role role_of_name(struct pf_graphs *g, uint32_t text)
{
	g->role_of =
		pf_grow_zero(g->role_of, &g->role_cap, (size_t)text + 1, 1);
	if (!g->role_of[text])
		g->role_of[text] =
			(uint8_t)(1 + pf_role_of(g->roles,
						 pf_graphs_text(g, text)));
	return (enum pf_role)(g->role_of[text] - 1);
}

static enum pf_role role_of(struct read *r, uint32_t text, bool is_comm,
			    bool is_copy)
{
	if (is_comm)
		return PF_ROLE_COMM;
	if (is_copy)
		return PF_ROLE_COPY;
	return text == PF_NO_TEXT ? PF_ROLE_OTHER : role_of_name(r->out, text);
}

static int make_graph(struct read *r, struct pf_graph *g)
{
	g->count = r->now_count;
	g->nodes = pf_calloc(g->count + 1, sizeof(*g->nodes));
	r->out->node_count += g->count;
	for (size_t i = 0; i < g->count; i++) {
		const struct work *w = &r->now[i];
		struct pf_graph_node *n = &g->nodes[i];
		const struct meaning *m;

		PF_TRY(mean(r, w->name, &m));
		n->in.name = m->text == PF_NO_TEXT
				     ? pf_intern_add(&r->out->texts, "", 0)
				     : m->text;
		n->in.role = role_of(r, m->text, w->is_comm, w->is_copy);
		n->op = n->module = n->path = n->around = PF_NO_TEXT;
		n->how = n->in.role == PF_ROLE_OTHER ? PF_HOW_NONE
						     : PF_HOW_CLASS;
		n->stream = w->stream;
		n->min_ns = INT64_MAX;
	}
	return 0;
}

/* The graph of these works; NULL: there is no room, or an error. */
static struct pf_graph *find_graph(struct read *r)
{
	struct pf_graphs *o = r->out;
	struct pf_buf key = { 0 };
	uint32_t n, known = r->sequences.count;

	if (r->now_count > LAUNCH_MAX)
		return NULL;
	pf_buf_add(&key, &r->track->trace_id, sizeof(r->track->trace_id));
	for (size_t i = 0; i < r->now_count; i++)
		pf_buf_add(&key, &r->now[i].name, sizeof(r->now[i].name));
	if (o->node_count + r->now_count > NODES_MAX) {
		pf_buf_release(&key);
		return NULL;
	}
	n = pf_intern_add(&r->sequences, key.data, key.len);
	pf_buf_release(&key);
	if (n < known)
		return &o->graphs[n];
	*PF_ONE_MORE(o->graphs, o->count, o->cap) =
		(struct pf_graph){ .trace_id = r->track->trace_id,
				   .first_ns = r->now[0].start_ns,
				   .place = o->launches,
				   .number = n };
	return make_graph(r, &o->graphs[n]) < 0 ? NULL : &o->graphs[n];
}

static int add_replay(struct read *r)
{
	struct pf_graphs *o = r->out;
	struct pf_graph *g = find_graph(r);

	if (r->db->err->code)
		return -1;
	for (size_t i = 0; i < r->now_count; i++) {
		int64_t ns = r->now[i].dur_ns;

		pf_sat_sum(&o->replayed_ns, ns);
		o->replayed_count++;
		if (!g) {
			pf_sat_sum(&o->past_ns, ns);
			o->past_count++;
			continue;
		}
		pf_sat_sum(&g->nodes[i].in.ns, ns);
		pf_sat_sum(&g->ns, ns);
		if (ns < g->nodes[i].min_ns)
			g->nodes[i].min_ns = ns;
		if (ns > g->nodes[i].max_ns)
			g->nodes[i].max_ns = ns;
	}
	o->launches++;
	if (!g)
		return 0;
	g->replays++;
	*PF_ONE_MORE(o->launches_by_id, o->launch_count, o->launch_cap) =
		(struct pf_graph_launch){ r->now[0].launch_id, g->number, 0,
					  r->call_ns };
	return 0;
}

/* ---- what is not replayed ---- */

/* The modules that are open, a line each. */
static uint32_t open_path(struct read *r)
{
	struct pf_buf path = { 0 };
	uint32_t text = PF_NO_TEXT;

	for (size_t i = 0; i < r->top; i++)
		if (open_at(r, i)->is_module)
			pf_buf_addf(
				&path, "%s%s", path.len ? "\n" : "",
				pf_graphs_text(r->out, open_at(r, i)->module));
	if (path.len)
		text = pf_intern_add(&r->out->texts, path.data, path.len);
	pf_buf_release(&path);
	return text;
}

static int add_eager(struct read *r, const struct work *w,
		     const struct open *in)
{
	struct pf_graphs *o = r->out;
	const struct meaning *m;

	if (!in || in->op == PF_NO_TEXT || o->eager_count == EAGER_MAX)
		return 0;
	PF_TRY(mean(r, w->name, &m));
	if (m->text == PF_NO_TEXT)
		return 0;
	*PF_ONE_MORE(o->eager, o->eager_count,
		     o->eager_cap) = (struct pf_graph_eager){
		w->start_ns,  m->text,
		in->op,       in->module,
		open_path(r), role_of(r, m->text, w->is_comm, w->is_copy)
	};
	return 0;
}

static int add_part(struct read *r, const struct work *w, const struct open *in,
		    bool is_replayed)
{
	struct part p = { .start_ns = w->start_ns,
			  .dur_ns = w->dur_ns,
			  .trace_id = r->track->trace_id,
			  .name = w->name,
			  .is_comm = w->is_comm,
			  .is_copy = w->is_copy,
			  .is_replayed = is_replayed };
	const struct meaning *m;

	if (!in || !in->root || r->out->is_brief)
		return 0;
	PF_TRY(mean(r, w->name, &m));
	p.is_whole = m->is_whole;
	p.is_replayed |= m->is_whole;
	p.root = in->root;
	p.root_ns = in->root_ns;
	p.root_name = in->root_name;
	return pf_sorter_add(r->parts, &p, r->db->err);
}

static int use_works(struct read *r, const struct meaning *call)
{
	const struct open *in = r->top ? open_at(r, r->top - 1) : NULL;
	bool is_graph = call->is_graph, is_replay = is_graph;
	const struct meaning *only;
	int rc = 0;

	/* a record of all of a graph is no node of it */
	if (is_graph && r->now_count == 1) {
		PF_TRY(mean(r, r->now->name, &only));
		is_replay = !only->is_whole;
	}
	if (r->what == PF_GRAPHS_OWN && is_replay)
		rc = add_replay(r);
	for (size_t i = 0; !rc && i < r->now_count; i++) {
		if (r->what == PF_GRAPHS_OWN)
			rc = add_part(r, &r->now[i], in, is_replay);
		else if (r->what == PF_GRAPHS_EAGER && !is_graph)
			rc = add_eager(r, &r->now[i], in);
	}
	return rc;
}

/* ---- captures ---- */

/* 1: a call has arguments, borrowed until the next are read. */
static int read_args(struct read *r, uint32_t args, struct pf_json *out)
{
	if (args >= PF_ID_INLINE)
		return 0;
	return pf_texts_get(&r->texts, PF_TEXT_ARGS, args, &out->p, &out->len,
			    r->db->err) < 0
		       ? -1
		       : 1;
}

/* ROCm records which kernel a call launches. */
static int kernel_of(struct read *r, uint32_t args, uint32_t *out)
{
	struct pf_buf name = { 0 };
	struct pf_json kernel;
	int rc = read_args(r, args, &kernel);

	*out = PF_NO_TEXT;
	if (rc <= 0)
		return rc;
	kernel = pf_json_get(kernel, "kernel");
	if (!kernel.p)
		return 0;
	pf_json_text(kernel, &name);
	*out = pf_intern_add(&r->out->texts, name.data ? name.data : "",
			     name.len);
	pf_buf_release(&name);
	return 0;
}

static int args_of(struct read *r, uint32_t args, uint32_t *out)
{
	struct pf_json object;
	int rc = read_args(r, args, &object);

	*out = PF_NO_TEXT;
	if (rc <= 0)
		return rc;
	*out = pf_intern_add(&r->out->texts, object.p, object.len);
	return 0;
}

/* The operators that are open: the innermost of them. */
static int find_around(struct read *r, uint32_t *out)
{
	struct pf_graphs *g = r->out;
	const struct meaning *m;

	*out = PF_NO_TEXT;
	for (size_t i = 0; i < r->top; i++) {
		struct open *o = open_at(r, i);
		struct pf_graph_around a = { *out, PF_NO_TEXT, PF_NO_TEXT };

		if (!o->is_op)
			continue;
		if (o->around == PF_NO_TEXT) {
			if (g->around_count == NODES_MAX)
				return 0;
			PF_TRY(mean(r, o->name, &m));
			PF_TRY(args_of(r, o->args, &a.args) < 0);
			a.name = m->text;
			g->arounds = pf_grow(g->arounds, &g->around_cap,
					     g->around_count + 1, sizeof(a));
			o->around = (uint32_t)g->around_count;
			g->arounds[g->around_count++] = a;
		}
		*out = o->around;
	}
	return 0;
}

static int capture(struct read *r, const struct meaning *m,
		   const struct pf_block *b, uint32_t i)
{
	const struct open *in = r->top ? open_at(r, r->top - 1) : NULL;
	struct pf_graphs *o = r->out;
	struct pf_graph_call call = { PF_NO_TEXT, PF_NO_TEXT, PF_NO_TEXT,
				      PF_NO_TEXT, PF_NO_TEXT, m->is_copy };
	struct pf_graph_capture *c;

	if (m->is_begin) {
		*PF_ONE_MORE(o->captures, o->capture_count, o->capture_cap) =
			(struct pf_graph_capture){ 0 };
		r->is_capturing = true;
		r->call_end_ns = INT64_MIN;
		return 0;
	}
	if (m->is_end)
		r->is_capturing = false;
	/* A driver's call inside a runtime's is the same launch. */
	if (!r->is_capturing || !m->is_launch ||
	    b->start_ns[i] < r->call_end_ns)
		return 0;
	r->call_end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]);
	PF_TRY(kernel_of(r, b->args[i], &call.kernel) < 0);
	if (in) {
		call.op = in->op;
		call.module = in->module;
		call.path = open_path(r);
	}
	if (r->has_args && find_around(r, &call.around) < 0)
		return -1;
	c = &o->captures[o->capture_count - 1];
	if (c->count == LAUNCH_MAX)
		return 0;
	c->calls = pf_grow(c->calls, &c->cap, c->count + 1, sizeof(call));
	c->calls[c->count++] = call;
	return 0;
}

/* ---- threads ---- */

static void push(struct read *r, const struct meaning *m, unsigned kind,
		 int64_t event_id, const struct pf_block *b, uint32_t i)
{
	const struct pf_nest_event event = {
		.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
		.seq = (uint32_t)((uint64_t)event_id & UINT32_MAX),
		.is_python = kind == PF_KIND_PYTHON,
	};
	struct open o = { .op = PF_NO_TEXT,
			  .module = PF_NO_TEXT,
			  .root_name = PF_NO_TEXT };
	bool is_under;
	size_t at = pf_nest_place(&r->open, b->start_ns[i], event, b->parent[i],
				  &is_under);

	r->top = at;
	if (is_under && event.is_python)
		return;
	if (!is_under)
		r->open.depth = at;
	if (at)
		o = *open_at(r, at - 1);
	o.event = event;
	o.is_module = false;
	o.is_op = kind == PF_KIND_CPU_OP;
	o.name = b->name[i];
	o.args = b->args[i];
	o.around = PF_NO_TEXT;
	if (kind == PF_KIND_CPU_OP)
		o.op = m->text;
	if (kind == PF_KIND_PYTHON && m->module != PF_NO_TEXT) {
		o.module = m->module;
		o.is_module = true;
	}
	if (kind == PF_KIND_ANNOTATION && m->is_root && !o.root) {
		o.root = event_id;
		o.root_ns = b->start_ns[i];
		o.root_name = m->text;
	}
	r->top += pf_nest_insert(&r->open, at, &o);
}

static int take_works(struct read *r, int64_t event_id, const struct meaning *m)
{
	const struct pf_block *none;
	const struct work *w;
	uint32_t ignored;

	r->now_count = 0;
	while ((w = pf_by_event_peek(r->works)) && w->launch_id == event_id) {
		if (event_id) {
			*PF_ONE_MORE(r->now, r->now_count, r->now_cap) = *w;
		}
		pf_by_event_next(r->works, &none, &ignored);
	}
	if (r->db->err->code)
		return -1;
	return r->now_count ? use_works(r, m) : 0;
}

static int take(void *context, const struct pf_block *b, uint32_t i,
		int64_t event_id)
{
	struct read *r = context;
	unsigned kind = pf_kinds_at(&r->kinds, b->type[i]);
	const struct meaning *m;

	PF_TRY(mean(r, b->name[i], &m));
	push(r, m, kind, event_id, b, i);
	r->call_ns = b->start_ns[i];
	if ((kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER) &&
	    capture(r, m, b, i) < 0)
		return -1;
	return take_works(r, event_id, m);
}

static int read_tracks(struct read *r)
{
	static const struct pf_track_reader reader = {
		.event = take,
		.columns = PF_COLBIT(PF_COL_PARENT) | PF_COLBIT(PF_COL_ARGS),
	};
	struct pf_track *tracks;
	size_t count;
	int rc = pf_tracks_load(r->db, 0, &tracks, &count, r->db->err);

	PF_TRY(rc < 0);
	rc = take_works(r, 0, &no_meaning);
	for (size_t i = 0; !rc && i < count; i++) {
		r->track = &tracks[i];
		r->open.depth = r->top = 0;
		r->is_capturing = false;
		if (!strcmp(tracks[i].class_name, "host") ||
		    pf_by_event_is_on(r->works, tracks[i].id))
			rc = pf_track_read(r->db, &tracks[i], &reader, r);
	}
	pf_tracks_free(tracks, count);
	return rc || r->db->err->code ? -1 : 0;
}

static int count_work(struct read *r, const struct pf_gpu_event *ev)
{
	const struct meaning *m;

	pf_sat_sum(&r->out->gpu_ns, ev->dur_ns);
	if (ev->kind != PF_KIND_KERNEL)
		return 0;
	PF_TRY(mean(r, ev->name, &m));
	if (m->is_whole) {
		pf_sat_sum(&r->out->whole_ns, ev->dur_ns);
		r->out->whole_count++;
	}
	return 0;
}

static int gather(struct read *r, const struct pf_window *window)
{
	struct pf_gpu *gpu =
		pf_gpu_new(r->db, window, PF_GPU_CALLS | PF_GPU_STARTS);
	const struct pf_gpu_event *ev;
	int rc = -1;

	r->works = pf_by_event_new(r->db, sizeof(struct work), 0);
	while (gpu && (rc = pf_gpu_next(gpu, &ev)) == 1) {
		struct work w = {
			.launch_id = ev->launch_id,
			.start_ns = ev->start_ns,
			.dur_ns = ev->dur_ns,
			.stream = ev->stream,
			.name = ev->name,
			.is_comm = ev->class == PF_GPU_COMM,
			.is_copy = ev->class == PF_GPU_COPY ||
				   ev->class == PF_GPU_MEMSET,
		};

		rc = r->what == PF_GRAPHS_OWN ? count_work(r, ev) : 0;
		if (!rc)
			rc = pf_by_event_add(r->works, &w);
		if (rc < 0)
			break;
	}
	pf_gpu_free(gpu);
	return rc;
}

/* ---- iterations ---- */

struct sequence {
	struct pf_layer_node *nodes;
	size_t count, cap;
	struct pf_intern known; /* names of sequences -> layers */
	struct known_layers {
		int64_t layers;
		uint8_t *is_in;
	} * found;
	size_t found_cap;
	int64_t left;   /* of the comparisons */
	bool has_whole; /* graphs of unknown kernels */
};

/*
 * A step of training without graphs: what repeats in it may be batches, and
 * its operators are known anyway.
 */
static bool is_plain_step(const struct read *r,
			  const struct pf_graph_iteration *it)
{
	return !r->has_pattern && !it->replayed_ns &&
	       !strncmp(pf_graphs_text(r->out, it->name), STEP, strlen(STEP));
}

static void end_iteration(struct read *r, struct sequence *s,
			  struct pf_graph_iteration *it)
{
	uint32_t before = s->known.count, n;
	struct known_layers *k;
	struct pf_buf key = { 0 };

	it->layers = it->layer_ns = PF_NO_INT;
	if (is_plain_step(r, it)) {
		r->out->iteration_count--;
		return;
	}
	if (!s->count || s->has_whole || s->count > PF_LAYERS_MAX_KERNELS)
		return;
	for (size_t i = 0; i < s->count; i++)
		pf_buf_add(&key, &s->nodes[i].name, sizeof(uint32_t));
	n = pf_intern_add(&s->known, key.data, key.len);
	pf_buf_release(&key);
	s->found = pf_grow(s->found, &s->found_cap, (size_t)n + 1,
			   sizeof(*s->found));
	k = &s->found[n];
	if (n == before) {
		int64_t cost = (int64_t)(s->count * s->count / 2);

		*k = (struct known_layers){ .layers = PF_NO_INT };
		if (cost < s->left) {
			s->left -= cost;
			k->layers = pf_layers_find(s->nodes, s->count);
			k->is_in = pf_calloc(s->count, 1);
			for (size_t i = 0; i < s->count; i++)
				k->is_in[i] = s->nodes[i].layer >= 0;
		}
	}
	it->layers = k->layers;
	it->layer_ns = k->is_in ? 0 : PF_NO_INT;
	for (size_t i = 0; k->is_in && i < s->count; i++)
		if (k->is_in[i])
			pf_sat_sum(&it->layer_ns, s->nodes[i].ns);
}

static int add_kernel(struct read *r, struct sequence *s, const struct part *p)
{
	const struct meaning *m;

	if (s->count > PF_LAYERS_MAX_KERNELS)
		return 0;
	PF_TRY(mean(r, p->name, &m));
	*PF_ONE_MORE(s->nodes, s->count, s->cap) = (struct pf_layer_node){
		.name = m->text == PF_NO_TEXT
				? pf_intern_add(&r->out->texts, "", 0)
				: m->text,
		.role = role_of(r, m->text, p->is_comm, p->is_copy),
		.ns = p->dur_ns,
	};
	return 0;
}

static int add_iterations(struct read *r, struct sequence *s)
{
	struct pf_graphs *o = r->out;
	struct pf_graph_iteration *it = NULL;
	const struct part *p;
	int64_t root = 0;

	PF_TRY(pf_sorter_finish(r->parts, r->db->err) < 0);
	while ((p = pf_sorter_next(r->parts, r->db->err))) {
		if (!it || p->root != root) {
			if (it)
				end_iteration(r, s, it);
			o->iterations =
				pf_grow(o->iterations, &o->iteration_cap,
					o->iteration_count + 1, sizeof(*it));
			it = &o->iterations[o->iteration_count++];
			*it = (struct pf_graph_iteration){
				.trace_id = p->trace_id,
				.start_ns = p->root_ns,
				.name = p->root_name,
			};
			root = p->root;
			s->count = 0;
			s->has_whole = false;
		}
		s->has_whole |= p->is_whole;
		it->kernels++;
		pf_sat_sum(&it->ns, p->dur_ns);
		if (p->is_replayed)
			pf_sat_sum(&it->replayed_ns, p->dur_ns);
		PF_TRY(add_kernel(r, s, p));
	}
	if (it && !r->db->err->code)
		end_iteration(r, s, it);
	return r->db->err->code ? -1 : 0;
}

static int read_iterations(struct read *r)
{
	struct sequence s = { .left = WORK_MAX };
	int rc;

	rc = add_iterations(r, &s);
	for (uint32_t i = 0; i < s.known.count; i++)
		free(s.found[i].is_in);
	free(s.found);
	free(s.nodes);
	pf_intern_release(&s.known);
	return rc;
}

/* ---- the whole ---- */

PF_ORDER(by_start, struct pf_graph_eager, PF_UP(start_ns))

int pf_graphs_read(struct pf_db *db, const struct pf_graphs_args *args,
		   enum pf_graphs_read what, struct pf_graphs *out)
{
	static const struct pf_window_args all = PF_WINDOW_DEFAULTS;
	struct read r = { .db = db,
			  .out = out,
			  .what = what,
			  .has_pattern = args->iteration,
			  .has_args = args->has_args,
			  .texts = { .db = db },
			  .open = { .width = sizeof(struct open) } };
	struct pf_window other = { 0 };
	struct pf_window *window =
		what == PF_GRAPHS_OWN ? &out->window : &other;
	int rc = pf_window_resolve(
		db, what == PF_GRAPHS_OWN ? &args->window : &all, window);

	out->is_brief = args->is_brief;
	r.parts = pf_sorter_temp(sizeof(struct part));
	r.iteration = pf_step_regex_new(
		args->iteration ? args->iteration : ITERATION, db->err);
	if (!rc && (!r.iteration ||
		    (!out->roles && !(out->roles = pf_roles_new(db->err)))))
		rc = -1;
	if (!rc)
		rc = pf_kinds_load(&r.kinds, db, db->err);
	if (!rc)
		rc = gather(&r, window);
	if (!rc)
		rc = read_tracks(&r);
	if (!rc && what == PF_GRAPHS_OWN && !args->is_brief)
		rc = read_iterations(&r);
	if (!rc)
		pf_sort(out->eager, out->eager_count, sizeof(*out->eager),
			by_start);
	pf_by_event_free(r.works);
	pf_sorter_free(r.parts);
	pf_step_regex_free(r.iteration);
	pf_kinds_release(&r.kinds);
	pf_texts_release(&r.texts);
	pf_intern_release(&r.sequences);
	pf_window_release(&other);
	free(r.meanings);
	pf_nest_release(&r.open);
	free(r.now);
	return rc;
}
