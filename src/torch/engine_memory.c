/* SPDX-License-Identifier: MIT */
/*
 * Shows every allocation record and every function event of the host to
 * memory.h, a track at a time.
 */
#include "config.h"

#include "torch/engine.h"

static int add_record(struct pf_engine *e, const struct pf_fe *fe,
		      uint32_t track, struct pf_err *err)
{
	struct pf_memory_record r = { .t_ns = fe->start_ns,
				      .position = fe->position,
				      .track = track,
				      .is_oom = fe->kind == PF_KIND_OOM };
	struct pf_args_fact args;

	if (pf_facts_args(&e->facts, &fe->args, &args, err))
		return -1;
	if (args.flags & PF_ARGS_CPU_MEMORY)
		r.cpu_bytes = fe->bytes;
	if (args.flags & PF_ARGS_DEVICE_MEMORY ||
	    (args.flags & PF_ARGS_XPU_MEMORY && e->rules.xpu_memory))
		r.device_bytes = fe->bytes;
	if (r.is_oom)
		r.cpu_bytes = r.device_bytes = 0;
	return pf_memory_add(e->memory, &r, err);
}

static int see(struct pf_engine *e, const struct pf_fe *fe, uint32_t track,
	       struct pf_err *err)
{
	struct pf_name_fact name;
	struct pf_args_fact args = { 0 };

	if (pf_kind_in(fe->kind, PF_KINDS_MEMORY))
		return add_record(e, fe, track, err);
	/* What is not finished is no event, or ends with one that is. */
	if (e->has_finished_key && !e->rules.unfinished_kept &&
	    pf_facts_args(&e->facts, &fe->args, &args, err))
		return -1;
	if (args.flags & PF_ARGS_UNFINISHED ||
	    (pf_kind_in(fe->kind, PF_KINDS_OP) && pf_engine_ends_late(e, fe)))
		return 0;
	if (pf_facts_name(&e->facts, fe->kind, &fe->name, &name, err))
		return -1;
	if (name.flags & PF_NAME_DROPPED ||
	    pf_engine_skips_python(e, fe, &name))
		return 0;
	return pf_memory_cover(e->memory, fe->start_ns, fe->end_ns, err);
}

static int show_track(struct pf_engine *e, uint32_t track, struct pf_err *err)
{
	struct pf_merge_args args = {
		.tracks = &e->tracks[track],
		.count = 1,
		.kinds = PF_KINDS_MEMORY | PF_KINDS_OP | PF_KINDS_CALL |
			 PF_KINDBIT(PF_KIND_OVERHEAD),
		.columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES),
		.first_ns = INT64_MIN,
	};
	struct pf_merge *m;
	const struct pf_fe *fe;
	int rc = 0;

	if (e->rules.python_in_tree || e->has_collections)
		args.kinds |= PF_KINDBIT(PF_KIND_PYTHON);
	m = pf_merge_new(e->db, &e->facts, &args, err);
	if (!m)
		return -1;
	while (!rc && (fe = pf_merge_next(m, err)))
		rc = see(e, fe, track, err);
	if (err->code)
		rc = -1;
	if (!rc)
		rc = pf_memory_end_track(e->memory, err);
	pf_merge_free(m);
	return rc;
}

int pf_engine_memory(struct pf_engine *e, struct pf_err *err)
{
	if (!pf_engine_has(e, PF_KINDS_MEMORY))
		return 0;
	e->memory = pf_memory_new(&e->rules, e->base_ns, e->temp_dir);
	for (uint32_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && show_track(e, i, err))
			return -1;
	return pf_memory_finish(e->memory, err);
}
