/* SPDX-License-Identifier: MIT */
/*
 * Stacks, for groups by them: as torch cuts those in the trace, and those that
 * are not in the trace.  Function events of
 *	Python		have the functions that called them;
 *	backward	and all in them that of the forward operator with the
 *			same sequence number, where autograd itself runs with
 *			that of the call of backward();
 *	calls		and GPU work have that of their operator; without one,
 *			as ranges on the GPU and overhead always are, that of
 *			what is open on the stop thread when they begin.
 * Source: torch/csrc/autograd/profiler_kineto.cpp, KinetoEvent; setParents in
 * torch/csrc/profiler/collection.cpp; _set_backward_stacktraces in
 * torch/autograd/profiler_util.py.
 */
#include "config.h"

#include "base/mem.h"
#include "torch/engine.h"

/* Frames of torch's own that it leaves out. */
static bool is_frame_dropped(const char *p, size_t len)
{
	static const char *const pairs[][2] = {
		{ "autograd/__init__", "_make_grads" },
		{ "autograd/__init__", "backward" },
		{ "torch/tensor", "backward" },
		{ "_internal/common_utils", "prof_callable" },
		{ "_internal/common_utils", "prof_func_call" },
		{ "_internal/common_utils", "prof_meth_call" },
	};

	for (size_t i = 0; i < PF_LEN(pairs); i++)
		if (memmem(p, len, pairs[i][0], strlen(pairs[i][0])) &&
		    memmem(p, len, pairs[i][1], strlen(pairs[i][1])))
			return true;
	return false;
}

/* The first n entries of a "Call stack" text, joined by newlines. */
static uint32_t cut_stack(struct pf_facts *f, uint32_t text, unsigned n)
{
	const char *p = pf_intern_text(&f->texts, text, NULL);
	PF_AUTO(pf_buf_release) struct pf_buf out = { 0 };

	while (*p && n) {
		size_t len = strcspn(p, ";");

		if (len && !is_frame_dropped(p, len)) {
			if (out.len)
				pf_buf_addc(&out, '\n');
			pf_buf_add(&out, p, len);
			n--;
		}
		p += len + (p[len] == ';');
	}
	return pf_intern_add(&f->texts, out.data ? out.data : "", out.len);
}

uint32_t pf_engine_cut_stack(struct pf_engine *e, size_t grouping,
			     uint32_t text)
{
	uint64_t *cut = pf_map_at(&e->stacks[grouping], text);

	if (*cut == UINT64_MAX)
		*cut = cut_stack(&e->facts, text,
				 e->args->grouping[grouping].stack);
	return (uint32_t)*cut;
}

/* ---- of Python functions and of backward operators ---- */

static const char wrapper[] = "autograd::engine::evaluate_function: ";

/* More entries than asked for: torch leaves some of its own out. */
#define ENTRIES_MORE 8

void pf_engine_stacks_init(struct pf_engine *e,
			   const struct pf_rule_facts *facts)
{
	unsigned most = 0;

	for (size_t i = 0; i < e->args->grouping_count; i++)
		if (e->args->grouping[i].stack > most)
			most = e->args->grouping[i].stack;
	e->wants_stacks = most > 0;
	if (!e->wants_stacks)
		return;
	e->has_call_stacks = facts->call_stack;
	e->stack_entries = most + ENTRIES_MORE;
	e->forward_stacks =
		pf_calloc(e->track_count + 1, sizeof(*e->forward_stacks));
}

/*
 * Is this the operator of a backward node itself?  The trace does not keep
 * the scope, but the engine's wrapper bears its name, and backward nodes know
 * the thread of their forward operator.
 */
static bool is_backward(const struct pf_engine *e, const struct pf_fe *fe,
			const struct pf_node *n, const struct pf_node *parent)
{
	const struct pf_intern *t = &e->facts.texts;
	const char *name = pf_intern_text(t, n->name, NULL);
	const char *around = "";

	if (!n->is_op)
		return false;
	if (parent)
		around = pf_intern_text(t, parent->name, NULL);
	if (!strncmp(around, wrapper, sizeof(wrapper) - 1) &&
	    !strcmp(around + sizeof(wrapper) - 1, name))
		return true;
	return fe->forward_thread > 0 &&
	       strncmp(name, wrapper, sizeof(wrapper) - 1) != 0;
}

/*
 * The forward operator's stack on the thread that torch numbers so.  Which
 * track that is shows when only one knows the sequence number.
 */
static uint32_t forward_stack(struct pf_engine *e, const struct pf_fe *fe)
{
	uint64_t *thread =
		pf_map_at(&e->forward_threads, (uint64_t)fe->forward_thread);
	size_t found = fe->track, count = 0;
	uint64_t stack;

	if (!(fe->mask & 1u << PF_SLOT_SEQUENCE))
		return e->facts.empty;
	for (size_t i = 0; *thread == UINT64_MAX && i < e->track_count; i++) {
		if (*pf_map_at(&e->forward_stacks[i], (uint64_t)fe->sequence) ==
		    UINT64_MAX)
			continue;
		found = i;
		count++;
	}
	if (count == 1)
		*thread = found;
	if (*thread != UINT64_MAX)
		found = (size_t)*thread;
	stack = *pf_map_at(&e->forward_stacks[found], (uint64_t)fe->sequence);
	return stack == UINT64_MAX ? e->facts.empty : (uint32_t)stack;
}

/* The first entries of a "Call stack" text, each with what ends it. */
static void add_entries(struct pf_buf *out, const char *text, unsigned count)
{
	const char *end = text;

	for (; count && *end; count--) {
		end += strcspn(end, ";");
		end += *end == ';';
	}
	pf_buf_add(out, text, (size_t)(end - text));
}

/* The Python functions that called this one, innermost first. */
static uint32_t python_stack(struct pf_engine *e, const struct pf_fe *fe,
			     const struct pf_node *n)
{
	uint64_t outer =
		*pf_map_at(&e->python_stacks, (uint64_t)fe->python_parent);
	uint32_t around =
		outer == UINT64_MAX ? e->facts.empty : (uint32_t)outer;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_adds(&text, pf_intern_text(&e->facts.texts, n->name, NULL));
	pf_buf_addc(&text, ';');
	add_entries(&text, pf_intern_text(&e->facts.texts, around, NULL),
		    e->stack_entries);
	*pf_map_at(&e->python_stacks, (uint64_t)fe->python_id) =
		pf_intern_add(&e->facts.texts, text.data, text.len);
	return around;
}

/*
 * The stack of an event that is not its own argument: within a backward
 * operator, or a Python function's.
 */
int pf_engine_host_stack(struct pf_engine *e, const struct pf_fe *fe,
			 struct pf_node *n, const struct pf_node *parent)
{
	struct pf_args_fact args;
	uint64_t *stack;

	if (!e->wants_stacks)
		return 0;
	if (is_backward(e, fe, n, parent)) {
		n->in_backward = n->has_stack = true;
		n->stack = forward_stack(e, fe);
	} else if (parent && parent->in_backward) {
		n->in_backward = n->has_stack = true;
		n->stack = parent->stack;
	} else if (n->is_python && e->rules.python_rows && e->has_call_stacks) {
		n->has_stack = true;
		n->stack = python_stack(e, fe, n);
	} else if (n->is_op && fe->mask & 1u << PF_SLOT_SEQUENCE) {
		PF_TRY(pf_facts_args(&e->facts, &fe->args, &args, e->err));
		stack = pf_map_at(&e->forward_stacks[fe->track],
				  (uint64_t)fe->sequence);
		if (*stack == UINT64_MAX)
			*stack = args.stack;
	}
	return 0;
}

/* ---- of calls and of GPU work ---- */

#define RECORDS_BYTES (1u << 20)

/* For the sorter: an operator's number, and its stack's text. */
struct numbered {
	int64_t number, text;
};

static int own_stack(struct pf_engine *e, const struct pf_fe *fe,
		     uint32_t *text)
{
	struct pf_args_fact args;

	PF_TRY(pf_facts_args(&e->facts, &fe->args, &args, e->err));
	*text = args.stack;
	return 0;
}

static int collect_ops(struct pf_engine *e, struct pf_sorter *sorter)
{
	const struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.kinds = PF_KINDS_OP,
		.columns = PF_COLBIT(PF_COL_ARGS) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID),
		.use = e->is_host,
	};
	PF_AUTO(pf_merge_freed)
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, e->err);
	const struct pf_fe *fe;
	int rc = m ? 0 : -1;

	while (!rc && (fe = pf_merge_next(m, e->err))) {
		struct numbered n = { .number = fe->external_id };
		uint32_t text = 0;

		if (n.number <= 0)
			continue;
		rc = own_stack(e, fe, &text);
		n.text = text;
		if (!rc)
			rc = pf_sorter_add(sorter, &n, e->err);
	}
	return rc || e->err->code ? -1 : 0;
}

static int find_op_stacks(struct pf_engine *e)
{
	struct pf_sorter *sorter = pf_sorter_new(sizeof(struct numbered),
						 RECORDS_BYTES, e->temp_dir);
	const struct numbered *n;
	int rc = collect_ops(e, sorter) || pf_sorter_finish(sorter, e->err);

	e->op_stacks = pf_spool_new(sizeof(struct numbered), RECORDS_BYTES,
				    e->temp_dir);
	while (!rc && (n = pf_sorter_next(sorter, e->err)))
		rc = pf_spool_add(e->op_stacks, n, e->err);
	pf_sorter_free(sorter);
	pf_lookup_init(&e->op_stack, e->op_stacks);
	return rc || e->err->code ? -1 : 0;
}

static int linked_stack(struct pf_engine *e, int64_t link, uint32_t *text)
{
	const struct numbered *n;
	int found;

	*text = e->facts.empty;
	if (!e->op_stacks && find_op_stacks(e))
		return -1;
	found = pf_lookup_find(&e->op_stack, link, (const void **)&n, e->err);
	if (found == 1)
		*text = (uint32_t)n->text;
	return found < 0 ? -1 : 0;
}

/*
 * What is open on the stop thread, as time goes on: of a Python function the
 * name (>= 0), of an operator -1 - its stack.
 */
struct pf_engine_walk {
	struct pf_merge *merge;
	const struct pf_fe *next;
	struct pf_cxx_stack open;
	int64_t at_ns;
};

static void stop_walk(struct pf_engine *e)
{
	if (!e->walk)
		return;
	pf_merge_free(e->walk->merge);
	free(e->walk->open.open);
	free(e->walk);
	e->walk = NULL;
}

static int start_walk(struct pf_engine *e)
{
	PF_OWN bool *use = pf_calloc(e->track_count + 1, sizeof(*use));
	const struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.kinds = PF_KINDS_OP | PF_KINDBIT(PF_KIND_PYTHON),
		.columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS),
		.use = use,
	};

	stop_walk(e);
	use[e->stop_track] = true;
	e->walk = pf_calloc(1, sizeof(*e->walk));
	e->walk->merge = pf_merge_new(e->db, &e->facts, &args, e->err);
	if (!e->walk->merge)
		return -1;
	e->walk->next = pf_merge_next(e->walk->merge, e->err);
	return e->err->code ? -1 : 0;
}

static int open_in_walk(struct pf_engine *e, const struct pf_fe *fe)
{
	struct pf_cxx_stack *s = &e->walk->open;
	struct pf_name_fact name;
	uint32_t text;
	int64_t id;

	if (fe->end_ns <= fe->start_ns)
		return 0;
	if (fe->kind == PF_KIND_PYTHON) {
		PF_TRY(pf_facts_name(&e->facts, fe->kind, &fe->name, &name,
				     e->err));
		id = name.text;
	} else {
		PF_TRY(own_stack(e, fe, &text));
		id = -1 - (int64_t)text;
	}
	pf_cxx_top(s, fe->start_ns);
	pf_cxx_push(s, fe->end_ns, fe->end_ns, id);
	return 0;
}

static int walk_to(struct pf_engine *e, int64_t at_ns)
{
	struct pf_engine_walk *w = e->walk;

	if ((!w || at_ns < w->at_ns) && start_walk(e))
		return -1;
	w = e->walk;
	for (; w->next && w->next->start_ns <= at_ns;
	     w->next = pf_merge_next(w->merge, e->err))
		PF_TRY(open_in_walk(e, w->next));
	w->at_ns = at_ns;
	pf_cxx_top(&w->open, at_ns);
	return e->err->code ? -1 : 0;
}

static uint32_t open_stack(struct pf_engine *e)
{
	const struct pf_cxx_stack *s = &e->walk->open;
	PF_AUTO(pf_buf_release) struct pf_buf out = { 0 };
	unsigned left = e->stack_entries;

	for (size_t i = s->depth; i-- > 0 && left; left--) {
		bool is_op = s->open[i].id < 0;
		uint32_t text =
			(uint32_t)(is_op ? -1 - s->open[i].id : s->open[i].id);
		const char *p = pf_intern_text(&e->facts.texts, text, NULL);

		if (is_op) { /* and all that is around it */
			add_entries(&out, p, left);
			break;
		}
		pf_buf_adds(&out, p);
		pf_buf_addc(&out, ';');
	}
	return pf_intern_add(&e->facts.texts, out.data ? out.data : "",
			     out.len);
}

int pf_engine_event_stack(struct pf_engine *e, const struct pf_fe *fe,
			  int64_t link, uint32_t *text)
{
	*text = e->facts.empty;
	if (!e->has_call_stacks)
		return 0;
	if (link > 0)
		return linked_stack(e, link, text);
	if (e->stop_track >= e->track_count)
		return 0;
	PF_TRY(walk_to(e, fe->start_ns));
	*text = open_stack(e);
	return 0;
}

void pf_engine_stacks_release(struct pf_engine *e)
{
	for (size_t i = 0; e->forward_stacks && i < e->track_count; i++)
		pf_map_release(&e->forward_stacks[i]);
	free(e->forward_stacks);
	pf_map_release(&e->forward_threads);
	pf_map_release(&e->python_stacks);
	pf_spool_free(e->op_stacks);
	stop_walk(e);
}
