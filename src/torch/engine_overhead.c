/* SPDX-License-Identifier: MIT */
/*
 * The ids of overhead events: each has the id of the event around it in the
 * profiler's C++ tree, on the stop thread.  That tree is not the one of
 * tree.h: all events are in it, and an event that ends closes all in it.
 */
#include "config.h"

#include "torch/engine.h"

#include <stdlib.h>

#include "base/mem.h"

#define DEPTH_MAX 16384

const struct pf_cxx_open *pf_cxx_top(struct pf_cxx_stack *s, int64_t start_ns)
{
	while (s->depth && s->open[s->depth - 1].first_end_ns < start_ns)
		s->depth--;
	return s->depth ? &s->open[s->depth - 1] : NULL;
}

void pf_cxx_push(struct pf_cxx_stack *s, int64_t closed_ns, int64_t end_ns,
		 int64_t id)
{
	if (s->depth >= DEPTH_MAX)
		return;
	s->open = pf_grow(s->open, &s->cap, s->depth + 1, sizeof(*s->open));
	if (s->depth && s->open[s->depth - 1].first_end_ns < closed_ns)
		closed_ns = s->open[s->depth - 1].first_end_ns;
	s->open[s->depth++] = (struct pf_cxx_open){ closed_ns, end_ns, id };
}

/* The id an event of the stop thread has of its own. */
static int64_t own_id(const struct pf_fe *fe)
{
	if (pf_kind_in(fe->kind, PF_KINDS_CALL))
		return fe->correlation;
	return fe->kind == PF_KIND_PYTHON ? 0 : fe->external_id;
}

static int see(struct pf_engine *e, struct pf_cxx_stack *s,
	       const struct pf_fe *fe, struct pf_err *err)
{
	bool is_call = pf_kind_in(fe->kind, PF_KINDS_CALL);
	const struct pf_cxx_open *around;
	int64_t id;

	if (fe->kind == PF_KIND_CPU_OP)
		pf_engine_open_op(e, fe, true);
	if (is_call && pf_engine_call_link(e, fe))
		return 0;
	if (!is_call && fe->kind != PF_KIND_OVERHEAD &&
	    fe->track != e->stop_track)
		return 0;
	around = pf_cxx_top(s, fe->start_ns);
	id = own_id(fe);
	if (fe->kind == PF_KIND_OVERHEAD) {
		struct pf_collider c = { 0, fe->start_ns, PF_NO_TRACK };

		id = around ? around->id : 0;
		c.id = id;
		if (pf_spool_add(e->overhead_ids, &id, err) ||
		    pf_engine_collide(e, fe->track, &c, err))
			return -1;
	}
	if (fe->end_ns > fe->start_ns)
		pf_cxx_push(s, fe->end_ns, fe->end_ns, id);
	return 0;
}

/* The stop thread and every track with overhead or runtime calls. */
static bool *choose_tracks(const struct pf_engine *e)
{
	bool *use = pf_calloc(e->track_count + 1, sizeof(*use));

	for (size_t i = 0; i < e->track_count; i++) {
		const uint64_t *count = e->host[i].kind_count;

		use[i] = e->is_host[i] &&
			 (i == e->stop_track || count[PF_KIND_OVERHEAD] ||
			  count[PF_KIND_RUNTIME] || count[PF_KIND_DRIVER]);
	}
	return use;
}

int pf_engine_overhead(struct pf_engine *e, struct pf_err *err)
{
	struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.kinds = PF_KINDS_OP | PF_KINDS_CALL |
			 PF_KINDBIT(PF_KIND_PYTHON) |
			 PF_KINDBIT(PF_KIND_OVERHEAD),
		.columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION),
		.first_ns = INT64_MIN,
	};
	struct pf_cxx_stack stack = { 0 };
	const struct pf_fe *fe;
	struct pf_merge *m;
	bool *use;
	int rc = -1;

	if (!e->rules.overhead_claims ||
	    !pf_engine_has(e, PF_KINDBIT(PF_KIND_OVERHEAD)))
		return 0;
	e->overhead_ids = pf_spool_new(sizeof(int64_t), 1u << 17, e->temp_dir);
	use = choose_tracks(e);
	args.use = use;
	m = pf_merge_new(e->db, &e->facts, &args, err);
	if (!m)
		goto out;
	while ((fe = pf_merge_next(m, err)))
		if (see(e, &stack, fe, err))
			goto out;
	rc = err->code ? -1 : 0;
out:
	pf_engine_forget_ops(e);
	pf_merge_free(m);
	free(stack.open);
	free(use);
	return rc;
}
