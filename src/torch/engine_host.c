/* SPDX-License-Identifier: MIT */
/*
 * The main pass: every CPU event in torch's order, with its thread, kernels
 * and memory, into the tree.
 */
#include "config.h"

#include "torch/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* How far truncation to microseconds can make a child end too late. */
#define TRUNCATION_NS 1000

struct host_pass {
	struct pf_engine *e;
	uint64_t overhead_at, orphan_at;
	bool may_be_unfinished;
	struct pf_cxx_stack *open; /* of each thread; NULL: not needed */
};

/* One event on its way into the tree. */
struct item {
	const struct pf_fe *fe;
	struct pf_name_fact name;
	struct pf_args_fact args;
	int64_t end_ns, id, link;
	uint32_t thread;
	bool is_op, is_async;
};

/* Where a call or overhead without an operator nests. */
static uint32_t unlinked_thread(const struct pf_engine *e,
				const struct pf_fe *fe)
{
	if (e->rules.is_capture)
		return fe->track;
	return e->rules.unlinked_in_tree ? e->stop_track
					 : (uint32_t)e->track_count + 1;
}

/* Id, link and thread of a runtime call. */
static int place_call(struct pf_engine *e, struct item *it, struct pf_err *err)
{
	it->link = pf_engine_call_link(e, it->fe);
	it->id = it->fe->correlation;
	if (it->link)
		return pf_engine_linked_thread(e, it->fe, it->link, &it->thread,
					       err);
	it->thread = unlinked_thread(e, it->fe);
	return 0;
}

static int place_overhead(struct host_pass *p, struct item *it,
			  struct pf_err *err)
{
	struct pf_engine *e = p->e;
	const int64_t *id;

	it->thread = unlinked_thread(e, it->fe);
	if (!e->overhead_ids)
		return 0;
	id = pf_spool_at(e->overhead_ids, p->overhead_at++, err);
	if (!id)
		return -1;
	it->id = *id;
	return 0;
}

/* May this event take the kernels whose link is its id? */
static bool is_candidate(const struct pf_engine *e, const struct item *it)
{
	if (it->is_async || it->id <= 0)
		return false;
	if (it->is_op)
		return true;
	switch (e->rules.candidates) {
	case PF_CANDIDATES_OPS:
		return false;
	case PF_CANDIDATES_ALL:
		return true;
	case PF_CANDIDATES_UNLINKED:
		break;
	}
	if (it->fe->kind == PF_KIND_OVERHEAD)
		return e->rules.overhead_claims;
	return !it->link && e->rules.unlinked_claims;
}

static int take_kernels(struct pf_engine *e, const struct item *it,
			struct pf_node *n, struct pf_err *err)
{
	struct pf_host_track *t = &e->host[it->fe->track];
	struct pf_lookup *l = it->is_op ? &t->op_kernels : &t->call_kernels;
	const struct pf_kernel_sum *sum;
	int found;

	if (!is_candidate(e, it) || !l->spool)
		return 0;
	found = pf_lookup_find(l, it->id, (const void **)&sum, err);
	if (found == 1) {
		n->kernel_us = sum->us;
		n->kernel_ns = sum->ns;
	}
	return found < 0 ? -1 : 0;
}

/* The innermost event of a thread that is open at a time, or NULL. */
static const struct pf_node *enclosing(const struct pf_engine *e,
				       uint32_t thread, int64_t at_ns)
{
	const struct pf_stack *s = &e->tree.stack[thread];

	for (size_t i = s->depth; i-- > 0;)
		if (s->node[i].place.end_ns > at_ns)
			return &s->node[i];
	return NULL;
}

/*
 * Only a function of TorchScript may wait and go on on another thread.  What
 * the dispatcher or autograd runs ends where it began: it crosses others when
 * it is what ends a range (under a dispatch mode), or by adjusted times.
 */
static bool may_move(const struct pf_engine *e, const struct item *it)
{
	const char *name = pf_intern_text(&e->facts.texts, it->name.text, NULL);

	return !(it->fe->mask & 1u << PF_SLOT_SEQUENCE) &&
	       !strstr(name, "::") && strcmp(name, "PythonDispatchMode") != 0;
}

/*
 * An operator begins inside another of its thread and ends after it: it was
 * finished elsewhere, which is what torch calls asynchronous.
 */
static bool breaks_nesting(const struct pf_engine *e, const struct item *it)
{
	const struct pf_node *around =
		enclosing(e, it->thread, it->fe->start_ns);
	uint64_t slack = e->rules.is_us ? TRUNCATION_NS : 0;

	return !e->rules.is_capture && around && around->is_op &&
	       it->fe->kind == PF_KIND_CPU_OP &&
	       it->end_ns > around->place.end_ns &&
	       (uint64_t)it->end_ns - (uint64_t)around->place.end_ns > slack &&
	       may_move(e, it);
}

static bool is_unfinished(const struct host_pass *p, const struct item *it)
{
	return pf_engine_ends_late(p->e, it->fe) ||
	       it->args.flags & PF_ARGS_UNFINISHED;
}

/*
 * The profiler ended before the operator, which ended on no thread and so is
 * asynchronous: it takes the end of its parent in the C++ tree.  Without one
 * it ends with the trace since 2.12, and is not there at all before (false).
 */
static bool finish_early(struct host_pass *p, struct item *it)
{
	const struct pf_engine *e = p->e;
	const struct pf_cxx_open *around;

	around = p->open ? pf_cxx_top(&p->open[it->thread], it->fe->start_ns)
			 : NULL;
	if (e->rules.unfinished_kept && !around) {
		it->is_async = true;
		if (e->trace_end_ns < it->end_ns &&
		    e->trace_end_ns >= it->fe->start_ns)
			it->end_ns = e->trace_end_ns;
		return true;
	}
	if (!around) {
		it->end_ns = INT64_MIN;
		return false;
	}
	it->end_ns = around->end_ns;
	it->is_async = true;
	return true;
}

/*
 * Where adjust_timestamps leaves a Python function no time, Kineto gives it the
 * end of its own capture; no other ends after the profiler's span.
 */
static bool has_no_time(const struct pf_engine *e, const struct pf_fe *fe)
{
	return fe->kind == PF_KIND_PYTHON && fe->end_ns > e->trace_end_ns;
}

/* What is open in the C++ tree, for what is not finished. */
static void open_cxx(struct host_pass *p, const struct item *it,
		     bool is_finished)
{
	struct pf_cxx_stack *s;

	if (!p->open || it->end_ns <= it->fe->start_ns)
		return;
	s = &p->open[it->thread];
	pf_cxx_top(s, it->fe->start_ns);
	pf_cxx_push(s, is_finished ? it->end_ns : INT64_MAX, it->end_ns, 0);
}

static int take_memory(struct pf_engine *e, const struct item *it,
		       struct pf_node *n, struct pf_err *err)
{
	if (!e->memory)
		return 0;
	return pf_memory_sums(e->memory, it->fe->start_ns, it->end_ns,
			      &n->cpu_bytes, &n->device_bytes, err);
}

static int take_flops(struct pf_engine *e, const struct item *it,
		      struct pf_node *n, struct pf_err *err)
{
	unsigned op = it->name.flags >> PF_NAME_FLOP_SHIFT;

	if (!op || !it->is_op || !e->result->has_flops)
		return 0;
	return pf_facts_flops(&e->facts, op, &it->fe->args, &n->flops, err);
}

static int begin_row(struct pf_engine *e, const struct item *it,
		     struct pf_node *n, struct pf_err *err)
{
	bool is_collection = pf_engine_is_collection(e, it->fe, &it->name);
	struct pf_engine_row row = { .name = it->name,
				     .args = it->fe->args,
				     .has_args = it->is_op || is_collection };

	n->is_python = it->fe->kind == PF_KIND_PYTHON && !is_collection;
	n->is_row = !n->is_python || e->rules.python_rows;
	if (it->fe->start_ns < e->from_ns || it->fe->start_ns >= e->to_ns)
		n->is_row = false;
	if (pf_engine_stack(e, it->fe, n, n->has_parent ? n - 1 : NULL, err))
		return -1;
	if (!n->is_row)
		return 0;
	row.has_stack = n->has_stack;
	row.stack = n->stack;
	row.is_annotation = it->fe->kind == PF_KIND_ANNOTATION &&
			    e->rules.annotations_apart;
	return pf_engine_begin(e, &row, n, err);
}

static void settle_place(const struct item *it, struct pf_node *n,
			 const struct pf_engine *e)
{
	n->place = (struct pf_fe_place){ it->fe->start_ns, it->end_ns,
					 it->fe->position,
					 it->fe->is_late ? 1 : 0 };
	n->name = it->name.text;
	n->is_op = it->is_op;
	n->cpu_us = pf_engine_dur_us(e, it->fe->start_ns, it->end_ns);
}

/* An asynchronous event stands alone: only its duration and memory count. */
static int put_async(struct pf_engine *e, const struct item *it,
		     struct pf_err *err)
{
	struct pf_figures f = { 0 };
	struct pf_node n = { 0 };

	settle_place(it, &n, e);
	if (take_memory(e, it, &n, err) || take_flops(e, it, &n, err) ||
	    begin_row(e, it, &n, err))
		return -1;
	f.ns[PF_FIG_CPU] = it->end_ns - it->fe->start_ns;
	f.us[PF_FIG_CPU] = n.cpu_us;
	f.bytes[PF_FIG_CPU] = n.cpu_bytes;
	f.bytes[PF_FIG_DEVICE] = n.device_bytes;
	f.flops = n.flops;
	return pf_tree_settle_alone(&e->tree, &n, &f, true, err);
}

static int put(struct pf_engine *e, const struct item *it, struct pf_err *err)
{
	struct pf_node *n;

	if (it->is_async)
		return put_async(e, it, err);
	n = pf_tree_push(&e->tree, it->thread, it->fe->start_ns, it->end_ns,
			 err);
	if (!n)
		return err->code ? -1 : 0;
	settle_place(it, n, e);
	if (take_kernels(e, it, n, err) || take_memory(e, it, n, err) ||
	    take_flops(e, it, n, err))
		return -1;
	return begin_row(e, it, n, err);
}

static int see_op(struct host_pass *p, struct item *it, struct pf_err *err)
{
	struct pf_engine *e = p->e;
	bool is_dropped = it->name.flags & PF_NAME_DROPPED;
	bool is_finished;

	if (p->may_be_unfinished || e->rules.hidden_events)
		if (pf_facts_args(&e->facts, &it->fe->args, &it->args, err))
			return -1;
	is_finished = !is_unfinished(p, it);
	if (!is_finished && !finish_early(p, it))
		is_dropped = true;
	open_cxx(p, it, is_finished);
	if (it->args.flags & PF_ARGS_HIDDEN && e->rules.hidden_events)
		is_dropped = true;
	it->is_async |= (it->fe->kind == PF_KIND_ANNOTATION &&
			 it->name.flags & PF_NAME_C10D) ||
			breaks_nesting(e, it);
	if (it->fe->kind == PF_KIND_CPU_OP)
		pf_engine_open_op(e, it->fe, !is_dropped && !it->is_async);
	return is_dropped ? 0 : put(e, it, err);
}

static int see(struct host_pass *p, const struct pf_fe *fe, struct pf_err *err)
{
	struct pf_engine *e = p->e;
	struct item it = { .fe = fe,
			   .end_ns = fe->end_ns,
			   .thread = fe->track,
			   .id = fe->external_id };

	if (pf_facts_name(&e->facts, fe->kind, &fe->name, &it.name, err))
		return -1;
	if (has_no_time(e, fe))
		it.end_ns = fe->start_ns;
	if (fe->kind == PF_KIND_PYTHON)
		open_cxx(p, &it, true);
	if (pf_engine_skips_python(e, fe, &it.name))
		return 0;
	if (pf_kind_in(fe->kind, PF_KINDS_OP)) {
		it.is_op = true;
		return see_op(p, &it, err);
	}
	it.id = 0;
	if (pf_kind_in(fe->kind, PF_KINDS_CALL)) {
		if (place_call(e, &it, err))
			return -1;
	} else if (fe->kind == PF_KIND_OVERHEAD) {
		if (place_overhead(p, &it, err))
			return -1;
	}
	return it.name.flags & PF_NAME_DROPPED ? 0 : put(e, &it, err);
}

/*
 * Memory records of no event are events themselves: zero length, so they come
 * after everything that begins at the same time.
 */
static int see_orphans(struct host_pass *p, const struct pf_fe *before,
		       struct pf_err *err)
{
	struct pf_engine *e = p->e;
	const struct pf_memory_record *r;

	while (e->memory &&
	       (r = pf_memory_orphan(e->memory, p->orphan_at, err)) &&
	       (!before || r->t_ns < before->start_ns)) {
		struct pf_engine_row row = { .is_device = false };
		const char *name = r->is_oom ? "[OutOfMemory]" : "[memory]";
		struct pf_memory_record copy = *r;
		struct pf_node *n;

		p->orphan_at++;
		n = pf_tree_push(&e->tree, copy.track, copy.t_ns, copy.t_ns,
				 err);
		if (!n && err->code)
			return -1;
		if (!n || copy.t_ns < e->from_ns || copy.t_ns >= e->to_ns)
			continue;
		n->place.position = copy.position;
		n->place.class = copy.is_oom ? 3 : 2;
		n->cpu_bytes = copy.cpu_bytes;
		n->device_bytes = copy.device_bytes;
		n->name = pf_intern_add(&e->facts.texts, name, strlen(name));
		n->is_row = true;
		row.name.text = n->name;
		if (pf_engine_begin(e, &row, n, err))
			return -1;
	}
	return err->code ? -1 : 0;
}

static uint32_t host_kinds(const struct host_pass *p)
{
	const struct pf_engine *e = p->e;
	uint32_t kinds =
		PF_KINDS_OP | PF_KINDS_CALL | PF_KINDBIT(PF_KIND_OVERHEAD);

	if (e->rules.python_in_tree || e->has_collections || p->open)
		kinds |= PF_KINDBIT(PF_KIND_PYTHON);
	return kinds;
}

int pf_engine_host(struct pf_engine *e, struct pf_err *err)
{
	const uint64_t backward =
		e->wants_stacks
			? PF_COLBIT(PF_COL_SLOT + PF_SLOT_SEQUENCE) |
				  PF_COLBIT(PF_COL_SLOT + PF_SLOT_FWD_THREAD) |
				  PF_COLBIT(PF_COL_SLOT + PF_SLOT_PY_ID) |
				  PF_COLBIT(PF_COL_SLOT + PF_SLOT_PY_PARENT)
			: 0;
	struct host_pass p = { .e = e,
			       .may_be_unfinished = e->has_finished_key };
	struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION) |
			   backward,
		.first_ns = INT64_MIN,
		.use = e->is_host,
	};
	struct pf_merge *m;
	const struct pf_fe *fe;
	int rc;

	/* Python's functions are most of a trace: only where they are asked. */
	if (e->has_finished_key || e->has_late_op)
		p.open = pf_calloc(e->track_count + 2, sizeof(*p.open));
	args.kinds = host_kinds(&p);
	m = pf_merge_new(e->db, &e->facts, &args, err);
	rc = m ? 0 : -1;
	while (!rc && (fe = pf_merge_next(m, err))) {
		if (e->memory)
			rc = see_orphans(&p, fe, err);
		if (!rc)
			rc = see(&p, fe, err);
	}
	if (!rc && !err->code)
		rc = see_orphans(&p, NULL, err);
	pf_merge_free(m);
	for (size_t i = 0; p.open && i < e->track_count + 2; i++)
		free(p.open[i].open);
	free(p.open);
	if (rc || err->code)
		return -1;
	return pf_tree_finish(&e->tree, err);
}
