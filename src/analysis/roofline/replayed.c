/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/sat.h"
#include "events/args.h"
#include "analysis/roofline/replayed.h"

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

struct pf_roof_replayed *pf_roof_replayed_new(struct pf_roof_walk *out,
					      struct pf_graphs *graphs)
{
	struct pf_roof_replayed *r = pf_calloc(1, sizeof(*r));

	r->out = out;
	r->graphs = graphs;
	r->owners = pf_calloc(graphs->around_count + 1, sizeof(*r->owners));
	out->how_ns = pf_calloc(PF_HOWS, sizeof(*out->how_ns));
	pf_map_init(&r->rest_at);
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

/* The innermost with a model; of some families the outermost of these. */
static uint32_t find_owner(const struct pf_roof_replayed *r, uint32_t at)
{
	const struct pf_graph_around *all = r->graphs->arounds;
	const struct pf_op_model *in = NULL, *outer;
	uint32_t found = NONE;

	for (; at != PF_NO_TEXT; at = all[at].parent) {
		if (!(outer = model_of(r, all[at].name)))
			continue;
		if (!in || pf_op_model_owns(outer, in))
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

/* The arguments of the call around it, if they count. */
static struct pf_json args_around(const struct pf_roof_replayed *r, uint32_t at)
{
	const struct pf_graph_around *all = r->graphs->arounds;
	const char *text = at == PF_NO_TEXT
				   ? NULL
				   : pf_graphs_text(r->graphs, all[at].name);

	if (!text || !pf_roof_lends_shapes(text, strlen(text)))
		return (struct pf_json){ NULL, 0 };
	return args_of(r, all[at].args);
}

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
	o->shape = pf_roof_walk_shape(r->out, shape, args_of(r, call->args),
				      outer);
	return o;
}

/* Without a call: under the operator that is claimed. */
static void add_rest(struct pf_roof_replayed *r, uint32_t op,
		     enum pf_roof_why why, int64_t ns)
{
	uint64_t *at = pf_map_at(&r->rest_at, (uint64_t)why << 32 | op);

	if (*at == UINT64_MAX) {
		*at = r->rest_count;
		r->rest = pf_grow(r->rest, &r->rest_cap, r->rest_count + 1,
				  sizeof(*r->rest));
		r->rest[r->rest_count++] =
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

int pf_roof_replayed_add(struct pf_roof_replayed *r, int64_t launch_id,
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

void pf_roof_replayed_close(struct pf_roof_replayed *r)
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
