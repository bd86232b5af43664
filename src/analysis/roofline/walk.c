/* SPDX-License-Identifier: MIT */
/*
 * What is open on a thread follows the parents that ingest stored, so the
 * operator of work is the one that every other command names.
 */
#include "config.h"

#include "analysis/roofline/walk.h"

#include <inttypes.h>

#include "analysis/graphs/graphs.h"
#include "base/sat.h"
#include "events/args.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/traces.h"
#include "formats/event.h"
#include "store/cursor.h"
#include "store/texts.h"

#define NODE       "autograd::engine::evaluate_function: "
#define CHECKPOINT "CheckpointFunctionBackward"
#define FILE_NAME  "torch/utils/checkpoint.py("

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

/* torch's own nodes end with a digit; those of a program do not. */
static enum pf_recompute inside_node(const char *node)
{
	size_t len = strlen(node);

	if (!strcmp(node, CHECKPOINT))
		return PF_RECOMPUTE_AGAIN;
	if (!len || node[len - 1] < '0' || node[len - 1] > '9' ||
	    strstr(node, "BackwardBackward"))
		return PF_RECOMPUTE_OTHER;
	return PF_RECOMPUTE_BACKWARD;
}

static bool is_checkpoint_frame(const char *name)
{
	static const char *const functions[] = {
		"unpack_hook",
		"recompute_fn",
		NULL,
	};
	const char *file = strstr(name, FILE_NAME);
	const char *function = file ? strstr(file, "): ") : NULL;

	return function && is_one_of(function + 3, functions);
}

struct pf_recompute_word pf_recompute_word(const char *name)
{
	static const char *const forward[] = {
		"aten::linear",
		"aten::conv1d",
		"aten::conv2d",
		"aten::conv3d",
		"aten::layer_norm",
		"aten::group_norm",
		"aten::batch_norm",
		"aten::scaled_dot_product_attention",
		NULL,
	};
	struct pf_recompute_word word = { PF_RECOMPUTE_NONE, 0, 0 };

	if (!strncmp(name, NODE, strlen(NODE)))
		word.of = (uint8_t)inside_node(name + strlen(NODE));
	word.is_forward = is_one_of(name, forward);
	word.is_frame = is_checkpoint_frame(name);
	return word;
}

enum pf_recompute pf_recompute_next(enum pf_recompute around,
				    struct pf_recompute_word word,
				    unsigned kind)
{
	if (kind == PF_KIND_PYTHON)
		return word.is_frame ? PF_RECOMPUTE_AGAIN : around;
	if (kind != PF_KIND_CPU_OP)
		return around;
	if (word.of != PF_RECOMPUTE_NONE)
		return (enum pf_recompute)word.of;
	if (word.is_forward && around == PF_RECOMPUTE_BACKWARD)
		return PF_RECOMPUTE_AGAIN;
	return around;
}

/*
 * Work that graphs replay, by the operators that evidence names.  Of captures
 * the arguments are known, too: each replay of a captured call of an operator
 * with a model is a call, whose work is what was captured in it, by the rule
 * of all other work (analysis/roofline/walk.h).  An eager run says which operator, and
 * not of which shapes: such work is listed with what has none.
 */

/* ---- replayed ---- */

#define NONE UINT32_MAX

/* What work in a captured call belongs to; asked for once. */
struct owner {
	bool is_known;
	uint32_t at; /* the call, or NONE: nothing around has a model */
	uint32_t shape;
};

struct rest {
	uint32_t op; /* a text of graphs */
	enum pf_roof_why why;
	int64_t count, ns;
};

struct pf_roof_replayed {
	struct pf_roof_walk *out;
	struct pf_graphs *graphs;
	struct owner *owners; /* by number in arounds */
	struct pf_map rest_at;
	struct rest *rest;
	size_t rest_count, rest_cap;
};

static struct pf_roof_replayed *roof_replayed_new(struct pf_roof_walk *out,
						  struct pf_graphs *graphs)
{
	struct pf_roof_replayed *r = pf_calloc(1, sizeof(*r));

	r->out = out;
	r->graphs = graphs;
	r->owners = pf_calloc(graphs->around_count + 1, sizeof(*r->owners));
	out->how_ns = pf_calloc(PF_HOWS, sizeof(*out->how_ns));
	return r;
}

static const struct pf_op_model *model_of(const struct pf_roof_replayed *r,
					  uint32_t op)
{
	const char *text = pf_graphs_text(r->graphs, op);
	const struct pf_op_model *m =
		text ? pf_op_models_find(r->out->models, text) : NULL;

	return m && m->formula ? m : NULL;
}

/*
 * Does work in a call of "in" count as that of "outer", a call around it?  In
 * some families it is the outermost that owns it, else the innermost.
 */
static bool owns(const struct pf_op_model *outer, const struct pf_op_model *in)
{
	return in->is_outermost && !strcmp(outer->family, in->family);
}

/* The innermost with a model; of some families the outermost of these. */
static uint32_t find_owner(const struct pf_roof_replayed *r, uint32_t at)
{
	const struct pf_graph_around *all = r->graphs->arounds;
	const struct pf_op_model *in = NULL, *outer;
	uint32_t found = NONE;

	for (; at != PF_NO_TEXT; at = all[at].parent) {
		if (!(outer = model_of(r, all[at].name)))
			continue;
		if (!in || owns(outer, in))
			found = at;
		in = in ? in : outer;
	}
	return found;
}

static struct pf_json args_of(const struct pf_roof_replayed *r, uint32_t args)
{
	const char *text = pf_graphs_text(r->graphs, args);

	return (struct pf_json){ text ? text : "", text ? strlen(text) : 0 };
}

/* Does a call in one of this operator take the shapes of its arguments? */
static bool roof_lends_shapes(const char *op, size_t len)
{
	static const char end[] = "convolution_backward";

	return len >= sizeof(end) - 1 &&
	       !memcmp(op + len - sizeof(end) + 1, end, sizeof(end) - 1);
}

/* The arguments of the call around it, if they count. */
static struct pf_json args_around(const struct pf_roof_replayed *r, uint32_t at)
{
	const struct pf_graph_around *all = r->graphs->arounds;
	const char *text = at == PF_NO_TEXT
				   ? NULL
				   : pf_graphs_text(r->graphs, all[at].name);

	if (!text || !roof_lends_shapes(text, strlen(text)))
		return (struct pf_json){ NULL, 0 };
	return args_of(r, all[at].args);
}

static uint32_t roof_walk_shape(struct pf_roof_walk *w,
				struct pf_roof_shape shape, struct pf_json own,
				struct pf_json around);

static const struct owner *owner_of(struct pf_roof_replayed *r, uint32_t at)
{
	static const struct owner nobody = { .is_known = true, .at = NONE };
	const struct pf_graph_around *call;
	struct pf_roof_shape shape = { 0 };
	struct pf_json outer = { NULL, 0 };
	struct owner *o;

	if (at == PF_NO_TEXT)
		return &nobody;
	o = &r->owners[at];
	if (o->is_known)
		return o;
	*o = (struct owner){ .is_known = true, .at = find_owner(r, at) };
	if (o->at == NONE)
		return o;
	call = &r->graphs->arounds[o->at];
	shape.model = model_of(r, call->name);
	shape.op = pf_arena_string(&r->out->texts,
				   pf_graphs_text(r->graphs, call->name));
	if (shape.model->formula->needs_parent)
		outer = args_around(r, call->parent);
	o->shape =
		roof_walk_shape(r->out, shape, args_of(r, call->args), outer);
	return o;
}

/* Without a call: under the operator that is claimed. */
static void add_rest(struct pf_roof_replayed *r, uint32_t op,
		     enum pf_roof_why why, int64_t ns)
{
	uint64_t *at = pf_map_at(&r->rest_at, (uint64_t)why << 32 | op);

	if (*at == UINT64_MAX) {
		*at = r->rest_count;
		*PF_ONE_MORE(r->rest, r->rest_count, r->rest_cap) =
			(struct rest){ .op = op, .why = why };
	}
	r->rest[*at].count++;
	pf_sat_sum(&r->rest[*at].ns, ns);
}

/* Events have ids above 0: those of captured calls, replayed, are below. */
static int64_t call_id(const struct pf_roof_replayed *r, int64_t launch_id,
		       uint32_t owner)
{
	int64_t replay = pf_graphs_launch_at(r->graphs, launch_id);

	return -1 - (replay * (int64_t)r->graphs->around_count + owner);
}

/*
 * The next work of a call, in order of time, with all but what tells its call:
 * 1 if a graph has its operator, and it was taken; 0; or -1.
 */
static int roof_replayed_add(struct pf_roof_replayed *r, int64_t launch_id,
			     const struct pf_roof_work *work, bool is_comm,
			     struct pf_err *err)
{
	struct pf_roof_walk *o = r->out;
	const struct pf_window_trace *t = &o->window.traces[work->trace];
	const struct pf_graph_node *n = pf_graphs_next(r->graphs, launch_id);
	bool is_inside =
		work->start_ns >= t->from_ns && work->start_ns < t->to_ns;
	int64_t ns = work->end_ns - work->start_ns;
	struct pf_roof_work w = *work;
	const struct owner *owner;

	if (n && is_inside)
		pf_sat_sum(&o->how_ns[n->how], ns);
	if (!n || !pf_graphs_op(r->graphs, n))
		return 0;
	owner = owner_of(r, n->around);
	if (is_comm || owner->at == NONE) {
		if (is_inside)
			add_rest(r, n->op,
				 is_comm ? PF_ROOF_COMM
				 : n->around == PF_NO_TEXT && model_of(r, n->op)
					 ? PF_ROOF_NO_SHAPES
					 : PF_ROOF_NO_MODEL,
				 ns);
		return 1;
	}
	w.shape = owner->shape;
	w.call_id = call_id(r, launch_id, owner->at);
	w.step = (uint32_t)pf_steps_at(
		&o->steps, t->trace_id,
		pf_graphs_launch_ns(r->graphs, launch_id));
	return pf_sorter_add(o->works, &w, err) < 0 ? -1 : 1;
}

/* All came: what has no model is listed.  NULL is allowed. */
static void roof_replayed_close(struct pf_roof_replayed *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->rest_count; i++)
		pf_roof_walk_rest(
			r->out,
			pf_arena_string(
				&r->out->texts,
				pf_graphs_text(r->graphs, r->rest[i].op)),
			r->rest[i].why, r->rest[i].count, r->rest[i].ns);
	pf_map_release(&r->rest_at);
	free(r->owners);
	free(r->rest);
	free(r);
}

#define NAMES_MAX (1u << 20) /* ids of a sound database are far below */

/* What is open on the thread. */
struct open {
	struct pf_nest_event event;
	int64_t start_ns;
	uint32_t name, args;
	uint32_t modelled; /* the innermost with a model, of this on; NONE */
	const struct pf_op_model *model;
	enum pf_recompute state;
};

/* GPU work by its operator; sorted by the first two. */
struct work {
	int64_t op_id, start_ns, end_ns;
	uint32_t name, trace;
	bool is_comm, is_host;
};

/* What a name means, by string.id; asked for once. */
struct meaning {
	const struct pf_op_model *model;
	struct pf_recompute_word word;
	bool is_known;
};

/* The result of a convolution; two different ones: none. */
struct lesson {
	struct pf_dims out;
	bool is_split;
};

struct walk {
	struct pf_db *db;
	struct pf_roof_walk *out;
	struct pf_kinds kinds;
	struct pf_texts texts;
	struct meaning *meanings;
	size_t meaning_count;
	struct pf_nest open; /* struct open */
	size_t top; /* so many hold the event at hand, which is the last */
	struct pf_by_event *works;
	struct pf_map by_args;   /* name and arguments -> shape */
	struct pf_map by_trace;  /* the same of those that learn of a trace */
	int64_t trace_id;        /* this one */
	struct pf_map taught;    /* name and arguments that taught */
	struct pf_intern places; /* of lessons: trace, input, weight */
	struct lesson *lessons;
	size_t lesson_cap;
	struct pf_map rest; /* name and reason -> rest */
	const struct pf_track *track;
	struct pf_roof_replayed *replayed; /* or NULL */
};

static struct open *open_at(const struct walk *w, size_t i)
{
	return pf_nest_at(&w->open, i);
}

/* ---- names ---- */

static int mean(struct walk *w, uint32_t name, const struct meaning **out)
{
	static const struct meaning unknown = { .is_known = true };
	const char *text;
	struct meaning *m;
	size_t len;

	*out = &unknown;
	if (name >= NAMES_MAX)
		return 0;
	w->meanings = pf_grow_zero(w->meanings, &w->meaning_count,
				   (size_t)name + 1, sizeof(*m));
	m = &w->meanings[name];
	*out = m;
	if (m->is_known)
		return 0;
	PF_TRY(pf_texts_get(&w->texts, PF_TEXT_NAME, name, &text, &len,
			    w->db->err) < 0);
	m->model = pf_op_models_find(w->out->models, text);
	m->word = pf_recompute_word(text);
	m->is_known = true;
	return 0;
}

/* Kept; NULL: no name, or an error. */
static const char *name_text(struct walk *w, uint32_t name)
{
	const char *text;

	if (name >= PF_ID_INLINE || pf_texts_get(&w->texts, PF_TEXT_NAME, name,
						 &text, NULL, w->db->err) < 0)
		return NULL;
	return pf_arena_string(&w->out->texts, text);
}

/* ---- arguments ---- */

static int read_args(struct walk *w, uint32_t args, struct pf_json *out)
{
	const char *text = "";
	size_t len = 0;

	if (args < PF_ID_INLINE && pf_texts_get(&w->texts, PF_TEXT_ARGS, args,
						&text, &len, w->db->err) < 0)
		return -1;
	*out = (struct pf_json){ text, len };
	return 0;
}

static const char *keep(struct pf_roof_walk *w, struct pf_json v)
{
	return v.p ? pf_arena_text(&w->texts, v.p, v.len) : NULL;
}

static void add_key(struct pf_buf *key, struct pf_json v)
{
	if (v.p)
		pf_buf_add(key, v.p, v.len);
	pf_buf_add(key, "\n", 1); /* no JSON has one that is not escaped */
}

/* ---- convolutions teach each other ---- */

static void add_dims(struct pf_buf *key, const struct pf_dims *d)
{
	for (size_t i = 0; i < d->count; i++)
		pf_buf_addf(key, "%" PRIu64 " ", d->size[i]);
	pf_buf_adds(key, "\n");
}

static struct lesson *lesson_at(struct walk *w, int64_t trace_id,
				const struct pf_dims *x,
				const struct pf_dims *weight, bool *is_new)
{
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };
	uint32_t count = w->places.count, n;

	pf_buf_addf(&key, "%" PRId64 "\n", trace_id);
	add_dims(&key, x);
	add_dims(&key, weight);
	n = pf_intern_add(&w->places, key.data, key.len);
	*is_new = n == count;
	w->lessons = pf_grow(w->lessons, &w->lesson_cap, (size_t)n + 1,
			     sizeof(*w->lessons));
	return &w->lessons[n];
}

static bool same_dims(const struct pf_dims *a, const struct pf_dims *b)
{
	return a->count == b->count &&
	       !memcmp(a->size, b->size, a->count * sizeof(*a->size));
}

static int teach(struct walk *w, const struct open *o)
{
	struct pf_op_args args = { .known = w->out->types };
	uint64_t *seen =
		pf_map_at(&w->taught, (uint64_t)o->name << 32 | o->args);
	struct pf_dims d[3];
	struct pf_json object;
	struct lesson *l;
	bool is_new;

	if (*seen == (uint64_t)w->track->trace_id)
		return 0;
	*seen = (uint64_t)w->track->trace_id;
	PF_TRY(read_args(w, o->args, &object));
	if (!pf_op_args_read(object, &args))
		return 0;
	for (size_t i = 0; i < 3; i++)
		if (o->model->teaches[i] < 0 ||
		    !pf_op_dims(&args, (size_t)o->model->teaches[i], &d[i]))
			return 0;
	l = lesson_at(w, w->track->trace_id, &d[0], &d[1], &is_new);
	if (is_new)
		*l = (struct lesson){ .out = d[2] };
	else if (!same_dims(&l->out, &d[2]))
		l->is_split = true;
	return 0;
}

/* ---- shapes ---- */

/*
 * The number of a shape: shape has its op and model, and of what learns the
 * trace; own are the call's arguments, around those of the call that it is in
 * (p NULL: they do not count).
 */
static uint32_t roof_walk_shape(struct pf_roof_walk *w,
				struct pf_roof_shape shape, struct pf_json own,
				struct pf_json around)
{
	struct pf_op_args args = { 0 }, outer = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };
	uint32_t n;

	pf_op_args_read(own, &args);
	if (!shape.model->formula->learns || args.values.p)
		shape.trace_id = 0;
	pf_buf_addf(&key, "%s\n%" PRId64 "\n", shape.op, shape.trace_id);
	add_key(&key, args.dims);
	add_key(&key, args.types);
	add_key(&key, args.values);
	if (around.p) {
		pf_op_args_read(around, &outer);
		add_key(&key, outer.dims);
		add_key(&key, outer.types);
	}
	n = pf_intern_add(&w->shape_keys, key.data, key.len);
	if (n < w->shape_count)
		return n;
	shape.dims = keep(w, args.dims);
	shape.types = keep(w, args.types);
	shape.values = keep(w, args.values);
	shape.parent_dims = keep(w, outer.dims);
	shape.parent_types = keep(w, outer.types);
	*PF_ONE_MORE(w->shapes, w->shape_count, w->shape_cap) = shape;
	return n;
}

static int make_shape(struct walk *w, const struct open *o, uint32_t parent,
		      uint32_t *out)
{
	struct pf_roof_shape shape = { .op = name_text(w, o->name),
				       .model = o->model,
				       .trace_id = w->track->trace_id };
	struct pf_json own, around = { NULL, 0 };
	PF_OWN char *copy = NULL;

	if (!shape.op || read_args(w, o->args, &own) < 0)
		return -1;
	/* what is read next takes its place */
	copy = pf_memdup0(own.p, own.len);
	own.p = copy;
	if (parent == PF_ID_NONE || !read_args(w, parent, &around))
		*out = roof_walk_shape(w->out, shape, own, around);
	return w->db->err->code ? -1 : 0;
}

/* The arguments of the call around it, if they count. */
static uint32_t parent_args(struct walk *w, uint32_t at)
{
	const struct open *o = at ? open_at(w, at - 1) : NULL;
	const char *text;
	size_t len;

	if (!o || o->name >= PF_ID_INLINE ||
	    pf_texts_get(&w->texts, PF_TEXT_NAME, o->name, &text, &len,
			 w->db->err) <= 0)
		return PF_ID_NONE;
	return roof_lends_shapes(text, len) ? o->args : PF_ID_NONE;
}

static int find_shape(struct walk *w, uint32_t at, uint32_t *out)
{
	const struct open *o = open_at(w, at);
	const struct pf_formula *f = o->model->formula;
	uint64_t *known, key = (uint64_t)o->name << 32 | o->args;
	uint32_t parent = PF_ID_NONE;
	struct pf_map *map;

	if (f->needs_parent) {
		parent = parent_args(w, at);
		return w->db->err->code ? -1 : make_shape(w, o, parent, out);
	}
	if (w->trace_id != w->track->trace_id) {
		pf_map_release(&w->by_trace);
		w->trace_id = w->track->trace_id;
	}
	map = f->learns ? &w->by_trace : &w->by_args;
	known = pf_map_at(map, key);
	if (*known == UINT64_MAX) {
		PF_TRY(make_shape(w, o, parent, out));
		*pf_map_at(map, key) = *out;
	} else {
		*out = (uint32_t)*known;
	}
	return 0;
}

static struct pf_json json_of(const char *text)
{
	return (struct pf_json){ text, text ? strlen(text) : 0 };
}

static void work_out(struct walk *w, struct pf_roof_shape *s, bool is_dense)
{
	struct pf_op_call call = {
		.args = { json_of(s->dims), json_of(s->types),
			  json_of(s->values), w->out->types },
		.parent = { json_of(s->parent_dims),
			    json_of(s->parent_types),
			    { NULL, 0 },
			    w->out->types },
		.has_parent = s->parent_dims != NULL,
		.is_dense = is_dense,
	};
	struct pf_dims x, weight;
	const struct lesson *l;
	bool is_new;

	if (!s->dims)
		return;
	if (s->trace_id && pf_op_dims(&call.args, 0, &x) &&
	    pf_op_dims(&call.args, 1, &weight)) {
		l = lesson_at(w, s->trace_id, &x, &weight, &is_new);
		if (is_new) /* nobody said: for the next who asks, too */
			w->lessons[w->places.count - 1].is_split = true;
		else if (!l->is_split)
			call.out = &l->out;
	}
	s->is_modelled = pf_op_work(&call, s->model, &s->work);
}

/* ---- work that belongs to no call ---- */

void pf_roof_walk_rest(struct pf_roof_walk *w, const char *op,
		       enum pf_roof_why why, int64_t count, int64_t ns)
{
	struct pf_roof_rest *r = NULL;

	for (size_t i = 0; i < w->rest_count && !r; i++)
		if (w->rest[i].why == why && w->rest[i].op && op &&
		    !strcmp(w->rest[i].op, op))
			r = &w->rest[i];
	if (!r) {
		r = PF_ONE_MORE(w->rest, w->rest_count, w->rest_cap);
		*r = (struct pf_roof_rest){ .op = op, .why = why };
	}
	r->count += count;
	pf_sat_sum(&r->ns, ns);
}

static bool is_inside(const struct walk *w, const struct work *work)
{
	const struct pf_window_trace *t = &w->out->window.traces[work->trace];

	return work->start_ns >= t->from_ns && work->start_ns < t->to_ns;
}

static int add_unowned(struct walk *w, const struct work *work, uint32_t name,
		       enum pf_roof_why why)
{
	struct pf_roof_walk *o = w->out;
	uint64_t *at;

	if (!is_inside(w, work))
		return 0;
	at = pf_map_at(&w->rest, (uint64_t)why << 32 | name);
	if (*at == UINT64_MAX) {
		const char *op = name_text(w, name);

		if (w->db->err->code)
			return -1;
		*pf_map_at(&w->rest, (uint64_t)why << 32 | name) =
			o->rest_count;
		*PF_ONE_MORE(o->rest, o->rest_count, o->rest_cap) =
			(struct pf_roof_rest){ .op = op, .why = why };
		at = pf_map_at(&w->rest, (uint64_t)why << 32 | name);
	}
	o->rest[*at].count++;
	pf_sat_sum(&o->rest[*at].ns, work->end_ns - work->start_ns);
	return 0;
}

/* ---- threads ---- */

/* The call that work of the innermost range belongs to, or NONE. */
static uint32_t owner_of_call(const struct walk *w)
{
	uint32_t in = open_at(w, w->top - 1)->modelled, at = in;

	for (uint32_t up = in; up != NONE;
	     up = up ? open_at(w, up - 1)->modelled : NONE)
		if (owns(open_at(w, up)->model, open_at(w, in)->model))
			at = up;
	return at;
}

static int add_work(struct walk *w, const struct work *work)
{
	uint32_t at = w->top ? owner_of_call(w) : NONE;
	struct pf_roof_work r = { .start_ns = work->start_ns,
				  .end_ns = work->end_ns,
				  .name = work->name,
				  .trace = work->trace,
				  .is_host = work->is_host };
	const struct open *o;

	if (!w->top)
		return add_unowned(w, work, PF_ID_NONE, PF_ROOF_NO_OP);
	o = open_at(w, w->top - 1);
	if (work->is_comm)
		return add_unowned(w, work, o->name, PF_ROOF_COMM);
	if (at == NONE)
		return add_unowned(w, work, o->name, PF_ROOF_NO_MODEL);
	o = open_at(w, at);
	PF_TRY(find_shape(w, at, &r.shape));
	r.call_id = (int64_t)((uint64_t)w->track->id << 32 | o->event.seq);
	r.step = (uint32_t)pf_steps_at(&w->out->steps, w->track->trace_id,
				       o->start_ns);
	r.is_recomputed = o->state == PF_RECOMPUTE_AGAIN;
	return pf_sorter_add(w->out->works, &r, w->db->err);
}

/* All work of this operator; of 0: that of none. */
static int add_works(struct walk *w, int64_t event_id)
{
	const struct pf_block *none;
	const struct work *work;
	uint32_t ignored;

	while ((work = pf_by_event_peek(w->works)) && work->op_id == event_id) {
		struct work copy = *work;

		if (!pf_by_event_next(w->works, &none, &ignored) ||
		    (event_id ? add_work(w, &copy)
			      : add_unowned(w, &copy, PF_ID_NONE,
					    copy.is_comm ? PF_ROOF_COMM
							 : PF_ROOF_NO_OP)) < 0)
			return -1;
	}
	return w->db->err->code ? -1 : 0;
}

/*
 * Nothing is in it, it launched nothing and teaches nothing: most events are
 * so, and pass by.
 */
static int is_leaf(struct walk *w, const struct pf_block *b, uint32_t i,
		   int64_t event_id)
{
	const struct work *work = pf_by_event_peek(w->works);
	const struct meaning *m;

	if (i + 1 == b->count ||
	    b->start_ns[i + 1] < pf_span_end(b->start_ns[i], b->dur_ns[i]) ||
	    (work && work->op_id == event_id))
		return w->db->err->code ? -1 : 0;
	PF_TRY(mean(w, b->name[i], &m));
	return !m->model || m->model->teaches[0] < 0;
}

/* The event at hand, below what is open from a place on. */
static void insert(struct walk *w, size_t at, const struct open *o)
{
	if (!pf_nest_insert(&w->open, at, o))
		return;
	w->top = at + 1;
	for (size_t i = at + 1; i < w->open.depth; i++) {
		struct open *over = open_at(w, i);

		over->modelled +=
			over->modelled != NONE && over->modelled >= at;
	}
}

static int take(void *context, const struct pf_block *b, uint32_t i,
		int64_t event_id)
{
	struct walk *w = context;
	unsigned kind = pf_kinds_at(&w->kinds, b->type[i]);
	struct open o = {
		.event = { .end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
			   .seq = (uint32_t)((uint64_t)event_id & UINT32_MAX),
			   .is_python = kind == PF_KIND_PYTHON },
		.start_ns = b->start_ns[i],
		.name = b->name[i],
		.args = b->args[i],
		.modelled = NONE,
		.state = PF_RECOMPUTE_NONE,
	};
	const struct meaning *m;
	bool is_under;
	size_t at;
	int rc = is_leaf(w, b, i, event_id);

	if (rc)
		return rc < 0 ? -1 : 0;
	at = pf_nest_place(&w->open, o.start_ns, o.event, b->parent[i],
			   &is_under);
	w->top = at;
	if (is_under && o.event.is_python)
		return 0;
	if (!is_under)
		w->open.depth = at;
	PF_TRY(mean(w, b->name[i], &m));
	if (at) {
		o.modelled = open_at(w, at - 1)->modelled;
		o.state = open_at(w, at - 1)->state;
	}
	if (kind == PF_KIND_CPU_OP)
		o.model = m->model;
	o.state = pf_recompute_next(o.state, m->word, kind);
	if (o.model && o.model->formula)
		o.modelled = (uint32_t)at;
	insert(w, at, &o);
	if (o.model && o.model->teaches[0] >= 0 && teach(w, &o) < 0)
		return -1;
	return add_works(w, event_id);
}

static bool wants_more(void *context, const struct pf_track *t)
{
	struct walk *w = context;

	return pf_by_event_is_on(w->works, t->id);
}

static int read_tracks(struct walk *w)
{
	static const struct pf_track_reader reader = {
		.event = take,
		.wants_more = wants_more,
		.columns = PF_COLBIT(PF_COL_PARENT) | PF_COLBIT(PF_COL_ARGS),
	};
	struct pf_track *tracks;
	const struct work *left;
	size_t count;
	int rc = pf_tracks_load(w->db, 0, &tracks, &count, w->db->err);

	PF_TRY(rc < 0);
	for (size_t i = 0; !rc && i < count; i++) {
		w->track = &tracks[i];
		w->open.depth = w->top = 0;
		if (pf_by_event_is_on(w->works, tracks[i].id))
			rc = pf_track_read(w->db, &tracks[i], &reader, w);
	}
	pf_tracks_free(tracks, count);
	left = rc ? NULL : pf_by_event_peek(w->works);
	if (left)
		return pf_fail(w->db->err, PF_EDB,
			       "operator %" PRId64 " is missing", left->op_id);
	return rc || w->db->err->code ? -1 : 0;
}

/* ---- GPU work ---- */

static void count_devices(struct walk *w, const struct pf_gpu_set *set)
{
	const struct pf_window *window = &w->out->window;

	for (size_t i = 0; i < window->count; i++)
		for (size_t j = 0; j < set->count; j++)
			w->out->device_counts[i] += set->items[j].worker_id ==
						    window->traces[i].worker_id;
}

/* 1: the work is of an operator that a graph has for it. */
static int add_replayed(struct walk *w, const struct pf_gpu_event *ev,
			const struct work *work)
{
	const struct pf_roof_work r = { .start_ns = work->start_ns,
					.end_ns = work->end_ns,
					.name = work->name,
					.trace = work->trace,
					.is_host = work->is_host };

	if (!ev->launch_id)
		return 0;
	return roof_replayed_add(w->replayed, ev->launch_id, &r, work->is_comm,
				 w->db->err);
}

static int gather(struct walk *w)
{
	struct pf_window *window = &w->out->window;
	PF_AUTO(pf_gpu_freed)
	struct pf_gpu *gpu = pf_gpu_new(
		w->db, window, PF_GPU_LINKS | PF_GPU_STARTS | PF_GPU_OUTSIDE);
	PF_AUTO(pf_gpu_set_release) struct pf_gpu_set set = { 0 };
	const struct pf_gpu_event *ev;
	int rc = -1;

	w->works = pf_by_event_new(w->db, sizeof(struct work), 0);
	while (gpu && (rc = pf_gpu_next(gpu, &ev)) == 1) {
		struct work work = {
			.op_id = ev->op_id,
			.start_ns = ev->start_ns,
			.end_ns = pf_span_end(ev->start_ns, ev->dur_ns),
			.name = ev->name,
			.trace = (uint32_t)(ev->trace - window->traces),
			.is_comm = ev->class == PF_GPU_COMM,
			.is_host = ev->class == PF_GPU_COPY &&
				   (ev->way == PF_COPY_HTOD ||
				    ev->way == PF_COPY_DTOH),
		};

		if (!ev->is_outside) {
			pf_gpu_set_add(&set, ev->trace, ev->device);
			pf_sat_sum(&w->out->started_ns,
				   work.end_ns - work.start_ns);
		}
		rc = w->replayed ? add_replayed(w, ev, &work) : 0;
		if (!rc)
			rc = pf_by_event_add(w->works, &work);
		if (rc < 0)
			break;
	}
	count_devices(w, &set);
	return rc;
}

static void tear_down(struct walk *w)
{
	pf_kinds_release(&w->kinds);
	pf_texts_release(&w->texts);
	pf_by_event_free(w->works);
	pf_map_release(&w->by_args);
	pf_map_release(&w->by_trace);
	pf_map_release(&w->taught);
	pf_map_release(&w->rest);
	pf_intern_release(&w->places);
	free(w->meanings);
	free(w->lessons);
	pf_nest_release(&w->open);
}

static int prepare(struct walk *w, const struct pf_window_args *args)
{
	struct pf_roof_walk *o = w->out;

	PF_TRY(pf_window_resolve(w->db, args, &o->window));
	PF_TRY(pf_window_settle(w->db, &o->window) < 0);
	PF_TRY(pf_window_steps(w->db, &o->window, &o->steps));
	PF_TRY(pf_kinds_load(&w->kinds, w->db, w->db->err) < 0);
	o->device_counts =
		pf_calloc(o->window.count + 1, sizeof(*o->device_counts));
	o->works = pf_sorter_temp(sizeof(struct pf_roof_work));
	o->models = pf_op_models_new(w->db->err);
	o->types = o->models ? pf_op_types_new(w->db->err) : NULL;
	return o->types ? 0 : -1;
}

int pf_roof_walk(struct pf_db *db, const struct pf_window_args *args,
		 bool is_dense, struct pf_graphs *graphs,
		 struct pf_roof_walk *out)
{
	struct walk w = { .db = db,
			  .out = out,
			  .texts = { .db = db },
			  .open = { .width = sizeof(struct open) } };
	int rc = prepare(&w, args);

	if (!rc && graphs)
		w.replayed = roof_replayed_new(out, graphs);
	if (!rc)
		rc = gather(&w);
	if (!rc)
		rc = add_works(&w, 0);
	if (!rc)
		rc = read_tracks(&w);
	roof_replayed_close(w.replayed);
	for (size_t i = 0; !rc && i < out->shape_count; i++)
		work_out(&w, &out->shapes[i], is_dense);
	if (!rc)
		rc = pf_sorter_finish(out->works, db->err);
	tear_down(&w);
	return rc;
}

void pf_roof_walk_release(struct pf_roof_walk *w)
{
	pf_sorter_free(w->works);
	pf_op_types_free(w->types);
	pf_op_models_free(w->models);
	pf_steps_release(&w->steps);
	pf_arena_release(&w->texts);
	pf_window_release(&w->window);
	pf_intern_release(&w->shape_keys);
	free(w->shapes);
	free(w->how_ns);
	free(w->rest);
	free(w->device_counts);
	*w = (struct pf_roof_walk){ 0 };
}
