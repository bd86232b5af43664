/* SPDX-License-Identifier: MIT */
/*
 * key_averages() as torch computes it.  Before anything is summed up it is known
 * which events there are, and which operator each belongs to; the groups are
 * filled in passes over the blocks, and become rows.
 */
#include "config.h"

#include "torch/averages.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/tempfile.h"
#include "torch/impl.h"

/* ---- which operator an event belongs to ---- */

#define OPEN_MAX 16384

/*
 * Forget operators that ended before a time, then take in a new one.  open[] is
 * ordered by start.  Ended operators go when they are on top; one that ended
 * below a longer one stays for a while and does no harm.
 */
static void engine_open_op(struct pf_engine *e, const struct pf_fe *fe,
			   bool is_candidate)
{
	struct pf_host_track *t = &e->host[fe->track];

	while (t->open_count &&
	       t->open[t->open_count - 1].end_ns < fe->start_ns)
		t->open_count--;
	if (t->open_count >= OPEN_MAX)
		return;
	*PF_ONE_MORE(t->open, t->open_count, t->open_cap) = (struct pf_open_op){
		.start_ns = fe->start_ns,
		.end_ns = fe->end_ns,
		.id = fe->external_id,
		.is_candidate = is_candidate,
		.is_operator = fe->kind == PF_KIND_CPU_OP,
	};
}

static void engine_forget_ops(struct pf_engine *e)
{
	for (size_t i = 0; i < e->track_count; i++)
		e->host[i].open_count = 0;
}

/* The open operator of an id on the event's own thread, or NULL. */
static const struct pf_open_op *engine_find_op(const struct pf_engine *e,
					       uint32_t track, int64_t id,
					       int64_t at_ns)
{
	const struct pf_host_track *t = &e->host[track];

	for (size_t i = t->open_count; i-- > 0;) {
		const struct pf_open_op *op = &t->open[i];

		if (op->id == id && op->end_ns >= at_ns)
			return op;
	}
	return NULL;
}

/* Innermost open operator; rather one that contains the whole call. */
static int64_t containing_op(const struct pf_engine *e, const struct pf_fe *fe)
{
	const struct pf_host_track *t = &e->host[fe->track];
	int64_t touching = 0;

	for (size_t i = t->open_count; i-- > 0;) {
		const struct pf_open_op *op = &t->open[i];

		if (!op->is_operator || op->end_ns < fe->start_ns)
			continue;
		if (op->end_ns >= fe->end_ns)
			return op->id;
		if (!touching)
			touching = op->id;
	}
	return touching;
}

static bool has_own_fallback(unsigned kind)
{
	return kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER &&
	       kind != PF_KIND_KERNEL && kind != PF_KIND_MEMCPY &&
	       kind != PF_KIND_MEMSET;
}

/* The link of a runtime call, 0 = none. */
static int64_t engine_call_link(const struct pf_engine *e,
				const struct pf_fe *fe)
{
	const struct pf_open_op *op;
	bool is_own = fe->external_id == fe->correlation;

	if (e->rules.links == PF_LINK_LOST)
		return containing_op(e, fe);
	if (fe->external_id <= 0 || (is_own && has_own_fallback(fe->kind)))
		return 0;
	if (e->rules.links == PF_LINK_GIVEN || !is_own)
		return fe->external_id;
	op = engine_find_op(e, fe->track, fe->external_id, fe->end_ns);
	return op && op->is_operator ? fe->external_id : 0;
}

/* The link of a device event; 0 or -1. */
static int engine_device_link(struct pf_engine *e, const struct pf_fe *fe,
			      int64_t *link)
{
	bool is_own = fe->external_id == fe->correlation;
	const int64_t *record;
	int found;

	*link = 0;
	if (fe->kind == PF_KIND_GPU_ANNOTATION ||
	    fe->kind == PF_KIND_PROFILER_RANGE)
		return 0;
	if (e->rules.links == PF_LINK_GIVEN ||
	    (e->rules.links == PF_LINK_MIXED && !is_own)) {
		if (fe->external_id > 0 &&
		    !(is_own && has_own_fallback(fe->kind)))
			*link = fe->external_id;
		return 0;
	}
	if (e->rules.links == PF_LINK_MIXED && has_own_fallback(fe->kind))
		return 0;
	if (!e->call_links)
		return 0;
	found = pf_lookup_find(&e->device_calls, fe->correlation,
			       (const void **)&record, e->err);
	if (found == 1)
		*link = record[1];
	return found < 0 ? -1 : 0;
}

static struct pf_number_list *add_list(struct pf_engine *e, size_t at)
{
	struct pf_number_list *list = &e->numbers[at];

	list->spool =
		pf_spool_new(sizeof(struct pf_collider), 1u << 19, e->temp_dir);
	pf_lookup_init(&list->lookup, list->spool);
	return list;
}

/* A call or overhead event of a track may own kernels of others. */
static int engine_collide(struct pf_engine *e, uint32_t track,
			  const struct pf_collider *c)
{
	struct pf_host_track *t = &e->host[track];

	if (c->id <= 0)
		return 0;
	if (!t->numbers && e->number_count < PF_NUMBER_LISTS_MAX)
		t->numbers = add_list(e, e->number_count++);
	if (t->numbers && c->id > t->numbers->last_id) {
		t->numbers->last_id = c->id;
		return pf_spool_add(t->numbers->spool, c, e->err);
	}
	if (!e->collider_sorter)
		e->collider_sorter =
			pf_sorter_new(sizeof(*c), 1u << 20, e->temp_dir);
	return pf_sorter_add(e->collider_sorter, c, e->err);
}

/* All colliders are known: sort the rest, keeping the last of each id. */
static int engine_colliders(struct pf_engine *e)
{
	const struct pf_collider *c;
	struct pf_collider last = { 0 };
	struct pf_spool *spool;

	if (!e->collider_sorter)
		return 0;
	PF_TRY(pf_sorter_finish(e->collider_sorter, e->err));
	spool = add_list(e, e->number_count++)->spool;
	while ((c = pf_sorter_next(e->collider_sorter, e->err))) {
		PF_TRY(last.id && c->id != last.id &&
		       pf_spool_add(spool, &last, e->err));
		last = *c;
	}
	PF_TRY(e->err->code || (last.id && pf_spool_add(spool, &last, e->err)));
	pf_sorter_free(e->collider_sorter);
	e->collider_sorter = NULL;
	return 0;
}

/* The last collider with an id, if there is one. */
static int last_collider(struct pf_engine *e, int64_t id,
			 struct pf_collider *last, bool *is_there)
{
	*is_there = false;
	for (size_t i = 0; i < e->number_count; i++) {
		const struct pf_collider *c;
		int found = pf_lookup_find(&e->numbers[i].lookup, id,
					   (const void **)&c, e->err);

		if (found < 0)
			return -1;
		if (!found || (*is_there && c->start_ns < last->start_ns))
			continue;
		*last = *c;
		*is_there = true;
	}
	return 0;
}

/*
 * The logical thread of a call with a link: it goes to the thread of the last
 * candidate with the id it links to: its operator, or an event that happens to
 * have the same number.
 */
static int engine_linked_thread(struct pf_engine *e, const struct pf_fe *fe,
				int64_t link, uint32_t *thread)
{
	const struct pf_open_op *op =
		engine_find_op(e, fe->track, link, fe->start_ns);
	struct pf_collider c;
	bool is_there;

	if (op && !op->is_candidate)
		op = NULL;
	*thread = op ? fe->track : e->stop_track;
	PF_TRY(last_collider(e, link, &c, &is_there));
	if (is_there && (!op || c.start_ns >= op->start_ns))
		*thread = c.thread == PF_NO_TRACK ? e->stop_track
						  : (uint32_t)c.thread;
	return 0;
}

/* ---- lookup ---- */

static int key_at(struct pf_lookup *l, uint64_t i, int64_t *key,
		  struct pf_err *err)
{
	const void *record = pf_spool_at(l->spool, i, err);

	PF_TRY(!record);
	memcpy(key, record, sizeof(*key));
	return 0;
}

int pf_lookup_search(struct pf_lookup *l, int64_t key, struct pf_err *err)
{
	uint64_t i = pf_spool_lower_bound(l->spool, key, err);

	if (i == UINT64_MAX)
		return -1;
	l->index = i;
	l->upto = INT64_MAX;
	l->above = INT64_MIN;
	PF_TRY(i < pf_spool_count(l->spool) && key_at(l, i, &l->upto, err));
	PF_TRY(i && key_at(l, i - 1, &l->above, err));
	return 0;
}

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

/* A stack as a grouping has it: entries of a "Call stack" text, in lines. */
static uint32_t engine_cut_stack(struct pf_engine *e, size_t grouping,
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

/* After the tracks are known. */
static void engine_stacks_init(struct pf_engine *e,
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
 * Sets n->stack where an event of the tree has not that of its arguments:
 * within a backward operator, or a Python function's.
 */
static int engine_host_stack(struct pf_engine *e, const struct pf_fe *fe,
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
	PF_TRY(!e->op_stacks && find_op_stacks(e));
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
	PF_TRY(!e->walk->merge);
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

	PF_TRY((!w || at_ns < w->at_ns) && start_walk(e));
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

/* That of a call or a device event; each pass asks in the order of time. */
static int engine_event_stack(struct pf_engine *e, const struct pf_fe *fe,
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

static void engine_stacks_release(struct pf_engine *e)
{
	for (size_t i = 0; e->forward_stacks && i < e->track_count; i++)
		pf_map_release(&e->forward_stacks[i]);
	free(e->forward_stacks);
	pf_map_release(&e->forward_threads);
	pf_map_release(&e->python_stacks);
	pf_spool_free(e->op_stacks);
	stop_walk(e);
}

/*
 * The passes that fill groups: allocations, the events of the host with the
 * GPU time that is theirs, and those of devices.
 */

/* The groups of a row, both in one number. */
static int find_groups(struct pf_engine *e, const struct pf_engine_row *row,
		       uint64_t *groups)
{
	struct pf_args_fact args = { e->facts.no_shapes, e->facts.empty, 0 };
	uint32_t found[PF_GROUPINGS_MAX] = { 0 };

	PF_TRY(row->has_args &&
	       pf_facts_args(&e->facts, &row->args, &args, e->err));
	if (row->has_stack)
		args.stack = row->stack;
	for (size_t i = 0; i < e->grouping_count; i++) {
		const struct pf_grouping *g = &e->args->grouping[i];
		struct pf_group_key key = {
			.name = row->name.text,
			.overload = g->by_overload ? row->name.overload
						   : e->facts.empty,
			.shapes = g->by_shape ? args.shapes : e->facts.empty,
			.stack = g->stack ? engine_cut_stack(e, i, args.stack)
					  : e->facts.empty,
			.is_device = row->is_device,
			.is_annotation = row->is_annotation,
		};

		found[i] = pf_groups_find(&e->groups[i], &key);
	}
	if (e->grouping_count > 1)
		e->groups[1].group[found[1]].coarse = found[0];
	*groups = (uint64_t)found[1] << 32 | found[0];
	return 0;
}

/* Find the groups of an event and take its tickets. */
static int engine_begin(struct pf_engine *e, const struct pf_engine_row *row,
			struct pf_node *node)
{
	uint32_t args = row->has_args ? row->args.id : PF_ID_NONE;
	uint64_t key = (uint64_t)row->name.text << 34 |
		       (uint64_t)row->is_device << 33 |
		       (uint64_t)row->is_annotation << 32 | args;
	bool is_kept = args != PF_ID_INLINE && row->name.text < 1u << 30 &&
		       !row->has_stack && !e->args->grouping[0].by_overload;
	uint64_t groups = UINT64_MAX;

	if (is_kept)
		groups = *pf_map_at(&e->rows, key);
	if (groups == UINT64_MAX) {
		PF_TRY(find_groups(e, row, &groups));
		if (is_kept)
			*pf_map_at(&e->rows, key) = groups;
	}
	node->group[0] = (uint32_t)groups;
	node->group[1] = (uint32_t)(groups >> 32);
	for (size_t i = 0; i < e->grouping_count; i++)
		node->ticket[i] =
			pf_groups_begin(&e->groups[i], node->group[i]);
	return 0;
}

/* ---- memory ---- */

#define BUDGET_BYTES (1u << 20)

/* In the spool of sums: sums of all records before this one. */
struct prefix {
	int64_t t_ns, cpu_bytes, device_bytes;
};

/* A stretch of time that some event of a track covers. */
struct stretch {
	int64_t low_ns, high_ns;
};

struct pf_memory {
	struct pf_err *err;
	bool is_rounded;
	int64_t base_ns;
	struct pf_sorter *records, *stretches;
	struct pf_spool *prefixes, *orphans;
	struct pf_lookup low, high;
	struct prefix low_sum, high_sum; /* of the last lookups */
	size_t track_count;
	struct stretch *open; /* of each track, the last so far */
};

/* base_ns: what is added to times to make them absolute. */
static struct pf_memory *memory_new(const struct pf_engine *e)
{
	struct pf_memory *m = pf_calloc(1, sizeof(*m));
	const char *temp_dir = e->temp_dir;

	m->err = e->err;
	m->is_rounded = e->rules.border == PF_BORDER_DOUBLE;
	m->base_ns = e->base_ns;
	m->records = pf_sorter_new(sizeof(struct pf_memory_record),
				   BUDGET_BYTES, temp_dir);
	m->stretches =
		pf_sorter_new(sizeof(struct stretch), BUDGET_BYTES, temp_dir);
	m->prefixes =
		pf_spool_new(sizeof(struct prefix), 2 * BUDGET_BYTES, temp_dir);
	m->orphans = pf_spool_new(sizeof(struct pf_memory_record), BUDGET_BYTES,
				  temp_dir);
	pf_lookup_init(&m->low, m->prefixes);
	pf_lookup_init(&m->high, m->prefixes);
	m->track_count = e->track_count;
	m->open = pf_calloc(e->track_count + 1, sizeof(*m->open));
	for (size_t i = 0; i < e->track_count; i++)
		m->open[i] = (struct stretch){ INT64_MIN, INT64_MIN };
	return m;
}

static void memory_free(struct pf_memory *m)
{
	if (!m)
		return;
	pf_sorter_free(m->records);
	pf_sorter_free(m->stretches);
	pf_spool_free(m->prefixes);
	pf_spool_free(m->orphans);
	free(m->open);
	free(m);
}

/*
 * t/1000 rounded once to a double.  Below 2^53 the division does that itself;
 * above, dividing a rounded t would round twice: so the whole part, which is
 * exact, and the fraction to the bits that are left for it, halves to even.
 */
static double divide_1000(int64_t t)
{
	uint64_t whole, fraction, rest;
	unsigned bits;

	if (t < INT64_C(1) << 53)
		return (double)t / 1000.0;
	whole = (uint64_t)t / 1000;
	bits = 53 - (64 - (unsigned)__builtin_clzll(whole));
	if (bits > 52) /* more than 2^53: no time of this epoch */
		return (double)t / 1000.0;
	fraction = ((uint64_t)t % 1000) << bits;
	rest = fraction % 1000;
	fraction /= 1000;
	if (rest > 500 ||
	    (rest == 500 && ((fraction | (bits ? 0 : whole)) & 1)))
		fraction++;
	return (double)whole + (double)fraction / (double)(UINT64_C(1) << bits);
}

/* ns/1000*1000 through doubles, each step rounded once, as Python does. */
static double memory_round(int64_t t_ns)
{
	return divide_1000(t_ns) * 1000.0;
}

/* The borders of an event as absolute integers, both included. */
static struct stretch borders(const struct pf_memory *m, int64_t start_ns,
			      int64_t end_ns)
{
	struct stretch s;
	double low, high;

	if (__builtin_add_overflow(start_ns, m->base_ns, &s.low_ns))
		s.low_ns = INT64_MAX;
	if (__builtin_add_overflow(end_ns, m->base_ns, &s.high_ns))
		s.high_ns = INT64_MAX;
	if (!m->is_rounded)
		return s;
	low = memory_round(s.low_ns);
	high = memory_round(s.high_ns);
	/* Towards the inside; conversion alone cuts towards 0. */
	if (low > -9e18 && low < 9e18)
		s.low_ns = (int64_t)low + ((double)(int64_t)low < low);
	if (high > -9e18 && high < 9e18)
		s.high_ns = (int64_t)high - ((double)(int64_t)high > high);
	return s;
}

static void memory_add(struct pf_memory *m, const struct pf_memory_record *r)
{
	struct pf_memory_record copy;

	memset(&copy, 0, sizeof(copy));
	copy.position = r->position;
	copy.cpu_bytes = r->cpu_bytes;
	copy.device_bytes = r->device_bytes;
	copy.track = r->track;
	copy.is_oom = r->is_oom;
	if (__builtin_add_overflow(r->t_ns, m->base_ns, &copy.t_ns))
		copy.t_ns = INT64_MAX;
	pf_sorter_add(m->records, &copy, m->err);
}

/* An event takes records; those of a track come in the order of their start. */
static void memory_cover(struct pf_memory *m, const struct pf_fe *fe)
{
	struct stretch s = borders(m, fe->start_ns, fe->end_ns);
	struct stretch *open = &m->open[fe->track];

	if (s.high_ns < s.low_ns)
		return;
	if (s.low_ns > open->high_ns) {
		pf_sorter_add(m->stretches, open, m->err);
		*open = s;
	} else if (s.high_ns > open->high_ns) {
		open->high_ns = s.high_ns;
	}
}

static void add_prefix(struct pf_memory *m, const struct pf_memory_record *r,
		       struct prefix *sum)
{
	sum->t_ns = r->t_ns;
	pf_spool_add(m->prefixes, sum, m->err);
	sum->cpu_bytes =
		(int64_t)((uint64_t)sum->cpu_bytes + (uint64_t)r->cpu_bytes);
	sum->device_bytes = (int64_t)((uint64_t)sum->device_bytes +
				      (uint64_t)r->device_bytes);
}

static void add_orphan(struct pf_memory *m, const struct pf_memory_record *r)
{
	struct pf_memory_record orphan = *r;

	if (__builtin_sub_overflow(r->t_ns, m->base_ns, &orphan.t_ns))
		orphan.t_ns = r->t_ns;
	pf_spool_add(m->orphans, &orphan, m->err);
}

/* Everything was shown: walk records and stretches together. */
static void memory_finish(struct pf_memory *m)
{
	struct prefix sum = { 0 };
	int64_t covered_to = INT64_MIN;
	const struct pf_memory_record *r;
	const struct stretch *s;

	for (size_t i = 0; i < m->track_count; i++)
		pf_sorter_add(m->stretches, &m->open[i], m->err);
	if (pf_sorter_finish(m->records, m->err) ||
	    pf_sorter_finish(m->stretches, m->err))
		return;
	s = pf_sorter_next(m->stretches, m->err);
	while ((r = pf_sorter_next(m->records, m->err))) {
		for (; s && s->low_ns <= r->t_ns;
		     s = pf_sorter_next(m->stretches, m->err))
			if (s->high_ns > covered_to)
				covered_to = s->high_ns;
		if (!r->is_oom)
			add_prefix(m, r, &sum);
		if (r->is_oom || r->t_ns > covered_to)
			add_orphan(m, r);
	}
	sum.t_ns = INT64_MAX;
	pf_spool_add(m->prefixes, &sum, m->err);
}

/* The sums before the first record at or after t; "last" keeps them. */
static int prefix_at(struct pf_memory *m, struct pf_lookup *l, int64_t t,
		     struct prefix *last)
{
	const struct prefix *p;
	uint64_t i;

	if (t > l->above && t <= l->upto)
		return 0;
	PF_TRY(pf_lookup_bound(l, t, &i, m->err));
	p = pf_spool_at(m->prefixes, i, m->err);
	PF_TRY(!p);
	*last = *p;
	return 0;
}

/* Sums of the records of an event, CPU and device. */
static int memory_sums(struct pf_memory *m, int64_t start_ns, int64_t end_ns,
		       int64_t *cpu_bytes, int64_t *device_bytes)
{
	struct stretch s = borders(m, start_ns, end_ns);
	const struct prefix *low = &m->low_sum, *high = &m->high_sum;

	*cpu_bytes = *device_bytes = 0;
	if (s.high_ns < s.low_ns || s.high_ns == INT64_MAX)
		return 0;
	PF_TRY(prefix_at(m, &m->low, s.low_ns, &m->low_sum));
	PF_TRY(prefix_at(m, &m->high, s.high_ns + 1, &m->high_sum));
	*cpu_bytes =
		(int64_t)((uint64_t)high->cpu_bytes - (uint64_t)low->cpu_bytes);
	*device_bytes = (int64_t)((uint64_t)high->device_bytes -
				  (uint64_t)low->device_bytes);
	return 0;
}

/* Orphan i in order of time, NULL at the end or on an error. */
static const struct pf_memory_record *memory_orphan(struct pf_memory *m,
						    uint64_t i)
{
	return i < pf_spool_count(m->orphans)
		       ? pf_spool_at(m->orphans, i, m->err)
		       : NULL;
}

static void add_record(struct pf_engine *e, const struct pf_fe *fe)
{
	struct pf_memory_record r = { .t_ns = fe->start_ns,
				      .position = fe->position,
				      .track = fe->track,
				      .is_oom = fe->kind == PF_KIND_OOM };
	struct pf_args_fact args;

	if (pf_facts_args(&e->facts, &fe->args, &args, e->err))
		return;
	if (args.flags & PF_ARGS_CPU_MEMORY)
		r.cpu_bytes = fe->bytes;
	if (args.flags & PF_ARGS_DEVICE_MEMORY ||
	    (args.flags & PF_ARGS_XPU_MEMORY && e->rules.xpu_memory))
		r.device_bytes = fe->bytes;
	if (r.is_oom)
		r.cpu_bytes = r.device_bytes = 0;
	memory_add(e->memory, &r);
}

static void cover_op(struct pf_engine *e, const struct pf_fe *fe)
{
	struct pf_name_fact name;
	struct pf_args_fact args = { 0 };

	/* What is not finished is no event, or ends with one that is. */
	if (e->has_finished_key && !e->rules.unfinished_kept &&
	    pf_facts_args(&e->facts, &fe->args, &args, e->err))
		return;
	if (args.flags & PF_ARGS_UNFINISHED ||
	    (pf_kind_in(fe->kind, PF_KINDS_OP) && pf_engine_ends_late(e, fe)))
		return;
	if (pf_facts_name(&e->facts, fe->kind, &fe->name, &name, e->err))
		return;
	if (!(name.flags & PF_NAME_DROPPED) &&
	    !pf_engine_skips_python(e, fe, &name))
		memory_cover(e->memory, fe);
}

/*
 * Shows every allocation record of the host and every event that may cover one
 * to pf_memory, if there are any; and all of "kinds" to who looks at them
 * before the main pass.
 */
static int look_ahead(struct pf_engine *e, uint32_t kinds, uint64_t columns,
		      pf_engine_see *see, void *context)
{
	struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.kinds = kinds,
		.columns = columns,
		.use = e->is_host,
	};
	PF_AUTO(pf_merge_freed) struct pf_merge *m = NULL;
	const struct pf_fe *fe;

	if (pf_engine_has(e, PF_KINDS_MEMORY)) {
		e->memory = memory_new(e);
		args.kinds |= PF_KINDS_MEMORY | PF_KINDS_OP | PF_KINDS_CALL |
			      PF_KINDBIT(PF_KIND_OVERHEAD);
		args.columns |= PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX) |
				PF_COLBIT(PF_COL_NAME) |
				PF_COLBIT(PF_COL_ARGS) |
				PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES);
		if (e->rules.python_in_tree || e->has_collections)
			args.kinds |= PF_KINDBIT(PF_KIND_PYTHON);
	}
	m = args.kinds ? pf_merge_new(e->db, &e->facts, &args, e->err) : NULL;
	while (m && !e->err->code && (fe = pf_merge_next(m, e->err))) {
		if (pf_kind_in(fe->kind, PF_KINDS_MEMORY))
			add_record(e, fe);
		else if (e->memory)
			cover_op(e, fe);
		if (pf_kind_in(fe->kind, kinds))
			PF_TRY(see(e, context, fe));
	}
	if (e->memory)
		memory_finish(e->memory);
	return e->err->code ? -1 : 0;
}

/*
 * The main pass: every CPU event in torch's order, with its thread, kernels
 * and memory, into the tree.
 */

/* How far truncation to microseconds can make a child end too late. */
#define TRUNCATION_NS 1000

struct host_pass {
	struct pf_engine *e;
	uint64_t overhead_at, orphan_at;
	int64_t orphan_ns; /* no later than the next one */
	bool may_be_unfinished;
	struct pf_cxx_stack *open; /* of each thread; NULL: not needed */
};

/* One event on its way into the tree. */
struct item {
	const struct pf_fe *fe;
	struct pf_name_fact name;
	struct pf_args_fact args;
	int64_t end_ns, id, link;
	uint32_t thread, stack;
	bool is_op, is_async, has_stack;
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
static int place_call(struct pf_engine *e, struct item *it)
{
	it->link = engine_call_link(e, it->fe);
	it->id = it->fe->correlation;
	if (it->link)
		return engine_linked_thread(e, it->fe, it->link, &it->thread);
	it->thread = unlinked_thread(e, it->fe);
	return 0;
}

static int place_overhead(struct host_pass *p, struct item *it)
{
	struct pf_engine *e = p->e;
	const int64_t *id;

	it->thread = unlinked_thread(e, it->fe);
	if (!e->overhead_ids)
		return 0;
	id = pf_spool_at(e->overhead_ids, p->overhead_at++, p->e->err);
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
			struct pf_node *n)
{
	struct pf_host_track *t = &e->host[it->fe->track];
	struct pf_lookup *l = it->is_op ? &t->op_kernels : &t->call_kernels;
	const struct pf_kernel_sum *sum;
	int found;

	if (!is_candidate(e, it) || !l->spool)
		return 0;
	found = pf_lookup_find(l, it->id, (const void **)&sum, e->err);
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
		       struct pf_node *n)
{
	if (!e->memory)
		return 0;
	return memory_sums(e->memory, it->fe->start_ns, it->end_ns,
			   &n->cpu_bytes, &n->device_bytes);
}

static int take_flops(struct pf_engine *e, const struct item *it,
		      struct pf_node *n)
{
	unsigned op = it->name.flags >> PF_NAME_FLOP_SHIFT;

	if (!op || !it->is_op || !e->result->has_flops)
		return 0;
	return pf_facts_flops(&e->facts, op, &it->fe->args, &n->flops, e->err);
}

static int begin_row(struct pf_engine *e, const struct item *it,
		     struct pf_node *n)
{
	bool is_collection = pf_engine_is_collection(e, it->fe, &it->name);
	struct pf_engine_row row = { .name = it->name,
				     .args = it->fe->args,
				     .has_args = it->is_op || is_collection };

	n->is_python = it->fe->kind == PF_KIND_PYTHON && !is_collection;
	n->is_row = !n->is_python || e->rules.python_rows;
	if (it->fe->start_ns < e->from_ns || it->fe->start_ns >= e->to_ns)
		n->is_row = false;
	n->has_stack = it->has_stack;
	n->stack = it->stack;
	PF_TRY(engine_host_stack(e, it->fe, n, n->has_parent ? n - 1 : NULL));
	if (!n->is_row)
		return 0;
	row.has_stack = n->has_stack;
	row.stack = n->stack;
	row.is_annotation = it->fe->kind == PF_KIND_ANNOTATION &&
			    e->rules.annotations_apart;
	return engine_begin(e, &row, n);
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
static int put_async(struct pf_engine *e, const struct item *it)
{
	struct pf_figures f = { 0 };
	struct pf_node n = { 0 };

	settle_place(it, &n, e);
	PF_TRY(take_memory(e, it, &n) || take_flops(e, it, &n) ||
	       begin_row(e, it, &n));
	f.ns[PF_FIG_CPU] = it->end_ns - it->fe->start_ns;
	f.us[PF_FIG_CPU] = n.cpu_us;
	f.bytes[PF_FIG_CPU] = n.cpu_bytes;
	f.bytes[PF_FIG_DEVICE] = n.device_bytes;
	f.flops = n.flops;
	return pf_tree_settle(&e->tree, &n, &f, true, e->err);
}

static int put(struct pf_engine *e, const struct item *it)
{
	struct pf_node *n;

	if (it->is_async)
		return put_async(e, it);
	n = pf_tree_push(&e->tree, it->thread, it->fe->start_ns, it->end_ns,
			 e->err);
	if (!n)
		return e->err->code ? -1 : 0;
	settle_place(it, n, e);
	PF_TRY(take_kernels(e, it, n) || take_memory(e, it, n) ||
	       take_flops(e, it, n));
	return begin_row(e, it, n);
}

static int see_op(struct host_pass *p, struct item *it)
{
	struct pf_engine *e = p->e;
	bool is_dropped = it->name.flags & PF_NAME_DROPPED;
	bool is_finished;

	PF_TRY((p->may_be_unfinished || e->rules.hidden_events) &&
	       pf_facts_args(&e->facts, &it->fe->args, &it->args, p->e->err));
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
		engine_open_op(e, it->fe, !is_dropped && !it->is_async);
	return is_dropped ? 0 : put(e, it);
}

static int see(struct host_pass *p, const struct pf_fe *fe)
{
	struct pf_engine *e = p->e;
	struct item it = { .fe = fe,
			   .end_ns = fe->end_ns,
			   .thread = fe->track,
			   .id = fe->external_id };

	PF_TRY(pf_facts_name(&e->facts, fe->kind, &fe->name, &it.name,
			     p->e->err));
	if (has_no_time(e, fe))
		it.end_ns = fe->start_ns;
	if (fe->kind == PF_KIND_PYTHON)
		open_cxx(p, &it, true);
	if (pf_engine_skips_python(e, fe, &it.name))
		return 0;
	if (pf_kind_in(fe->kind, PF_KINDS_OP)) {
		it.is_op = true;
		return see_op(p, &it);
	}
	it.id = 0;
	it.has_stack = e->has_call_stacks && fe->kind != PF_KIND_PYTHON;
	if (pf_kind_in(fe->kind, PF_KINDS_CALL)) {
		PF_TRY(place_call(e, &it));
		PF_TRY(engine_event_stack(e, fe, it.link, &it.stack));
	} else if (fe->kind == PF_KIND_OVERHEAD) {
		PF_TRY(place_overhead(p, &it));
		PF_TRY(engine_event_stack(e, fe, 0, &it.stack));
	}
	return it.name.flags & PF_NAME_DROPPED ? 0 : put(e, &it);
}

/*
 * Memory records of no event are events themselves: zero length, so they come
 * after everything that begins at the same time.
 */
static int see_orphans(struct host_pass *p, const struct pf_fe *before)
{
	struct pf_engine *e = p->e;
	const struct pf_memory_record *r = NULL;

	while (e->memory && (r = memory_orphan(e->memory, p->orphan_at)) &&
	       (!before || r->t_ns < before->start_ns)) {
		struct pf_engine_row row = { .is_device = false };
		const char *name = r->is_oom ? "[OutOfMemory]" : "[memory]";
		struct pf_memory_record copy = *r;
		struct pf_node *n;

		p->orphan_at++;
		n = pf_tree_push(&e->tree, copy.track, copy.t_ns, copy.t_ns,
				 p->e->err);
		PF_TRY(!n && p->e->err->code);
		if (!n || copy.t_ns < e->from_ns || copy.t_ns >= e->to_ns)
			continue;
		n->place.position = copy.position;
		n->place.class = copy.is_oom ? 3 : 2;
		n->cpu_bytes = copy.cpu_bytes;
		n->device_bytes = copy.device_bytes;
		n->name = pf_intern_add(&e->facts.texts, name, strlen(name));
		n->is_row = true;
		row.name.text = n->name;
		PF_TRY(engine_begin(e, &row, n));
	}
	p->orphan_ns = r ? r->t_ns : INT64_MAX;
	return p->e->err->code ? -1 : 0;
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

static int engine_host(struct pf_engine *e)
{
	const uint64_t backward =
		e->wants_stacks
			? PF_COLBIT(PF_COL_SLOT + PF_SLOT_SEQUENCE) |
				  PF_COLBIT(PF_COL_SLOT + PF_SLOT_FWD_THREAD) |
				  PF_COLBIT(PF_COL_SLOT + PF_SLOT_PY_ID) |
				  PF_COLBIT(PF_COL_SLOT + PF_SLOT_PY_PARENT)
			: 0;
	struct host_pass p = { .e = e,
			       .orphan_ns = INT64_MIN,
			       .may_be_unfinished = e->has_finished_key };
	struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION) |
			   backward,
		.use = e->is_host,
	};
	struct pf_merge *m;
	const struct pf_fe *fe;
	int rc;

	/* Python's functions are most of a trace: only where they are asked. */
	if (e->has_finished_key || e->has_late_op)
		p.open = pf_calloc(e->track_count + 2, sizeof(*p.open));
	args.kinds = host_kinds(&p);
	m = pf_merge_new(e->db, &e->facts, &args, e->err);
	rc = m ? 0 : -1;
	while (!rc && (fe = pf_merge_next(m, e->err))) {
		if (e->memory && fe->start_ns > p.orphan_ns)
			rc = see_orphans(&p, fe);
		if (!rc)
			rc = see(&p, fe);
	}
	if (!rc && !e->err->code)
		rc = see_orphans(&p, NULL);
	pf_merge_free(m);
	for (size_t i = 0; p.open && i < e->track_count + 2; i++)
		free(p.open[i].open);
	free(p.open);
	PF_TRY(rc || e->err->code);
	return pf_tree_finish(&e->tree, e->err);
}

/*
 * GPU events: rows of their own, and kernel time summed by link for the
 * events of the host to take.
 */

#define TIES_MAX   64
#define SUMS_BYTES (1u << 20) /* in memory, and as much again packed */

/* For the sorter: by link, then start. */
struct launched {
	int64_t link, start_ns, order, ns;
};

static int add_row(struct pf_engine *e, const struct pf_fe *fe,
		   int64_t start_ns, int64_t end_ns, uint32_t stack)
{
	struct pf_engine_row row = { .is_device = true,
				     .has_stack = e->has_call_stacks,
				     .stack = stack };
	struct pf_figures f = { 0 };
	struct pf_node n = { 0 };

	PF_TRY(pf_facts_name(&e->facts, fe->kind, &fe->name, &row.name,
			     e->err));
	if (row.name.flags & PF_NAME_DROPPED)
		return 0;
	row.is_annotation =
		(fe->kind == PF_KIND_GPU_ANNOTATION &&
		 e->rules.annotations_apart) ||
		(fe->kind == PF_KIND_GPU_SYNC && e->rules.waits_apart);
	PF_TRY(engine_begin(e, &row, &n));
	n.is_row = true;
	n.place = (struct pf_fe_place){ start_ns, end_ns, fe->position, 1 };
	f.ns[PF_FIG_DEVICE] = f.ns[PF_FIG_SELF_DEVICE] = end_ns - start_ns;
	f.us[PF_FIG_DEVICE] = pf_engine_dur_us(e, start_ns, end_ns);
	f.us[PF_FIG_SELF_DEVICE] = f.us[PF_FIG_DEVICE];
	return pf_tree_settle(&e->tree, &n, &f, false, e->err);
}

/* Hostile times may be too long to be summed. */
static void add_wrapping(int64_t *sum, int64_t ns)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)ns);
}

static void narrow(const struct pf_engine *e, int64_t *start_ns,
		   int64_t *end_ns)
{
	int64_t cut = e->rules.narrow_start_ns + e->rules.narrow_end_ns;

	if (*end_ns - *start_ns < cut)
		return;
	*start_ns += e->rules.narrow_start_ns;
	*end_ns -= e->rules.narrow_end_ns;
}

static int see_device(struct pf_engine *e, struct pf_sorter *sorter,
		      const struct pf_fe *fe)
{
	int64_t start_ns = fe->start_ns, end_ns = fe->end_ns, link;
	struct pf_averages_trust *trust = &e->result->trust;
	struct launched l = { 0 };
	uint32_t stack = 0;
	bool counts;

	if (fe->kind == PF_KIND_GPU_ANNOTATION)
		narrow(e, &start_ns, &end_ns);
	counts = start_ns >= e->from_ns && start_ns < e->to_ns;
	PF_TRY(engine_device_link(e, fe, &link) ||
	       engine_event_stack(e, fe, link, &stack) ||
	       (counts && add_row(e, fe, start_ns, end_ns, stack)));
	if (counts && pf_kind_is_gpu_work(fe->kind)) {
		add_wrapping(&trust->device_ns, end_ns - start_ns);
		if (link <= 0) {
			add_wrapping(&trust->unlinked_ns, end_ns - start_ns);
			trust->unlinked_count++;
		}
	}
	if (link <= 0)
		return 0;
	l.link = link;
	l.start_ns = start_ns;
	l.order = fe->position;
	l.ns = end_ns - start_ns;
	return pf_sorter_add(sorter, &l, e->err);
}

/* ---- sums by link ---- */

/* Kernels of one link that begin together, in file order. */
struct ties {
	struct launched item[TIES_MAX];
	size_t count;
};

static void flush(const struct pf_engine *e, struct ties *t, struct pf_fsum *us)
{
	for (size_t i = 0; i < t->count; i++) {
		int64_t start_ns = t->item[i].start_ns;

		pf_fsum_add(
			us,
			pf_engine_dur_us(e, start_ns, start_ns + t->item[i].ns),
			e->rules.compensated);
	}
	t->count = 0;
}

static void add_tie(struct ties *t, const struct launched *l)
{
	size_t i = t->count++;

	for (; i && l->order < t->item[i - 1].order; i--)
		t->item[i] = t->item[i - 1];
	t->item[i] = *l;
}

static int put_sum(struct pf_engine *e, struct pf_kernel_sum *sum,
		   const struct pf_fsum *us)
{
	sum->us = pf_fsum_total(us);
	PF_TRY(pf_spool_add(e->op_kernels, sum, e->err));
	return e->call_kernels ? pf_spool_add(e->call_kernels, sum, e->err) : 0;
}

static int sum_links(struct pf_engine *e, struct pf_sorter *sorter)
{
	struct pf_kernel_sum sum = { 0 };
	struct ties ties = { .count = 0 };
	struct pf_fsum us = { 0, 0 };
	const struct launched *l;

	while ((l = pf_sorter_next(sorter, e->err))) {
		bool is_new = l->link != sum.link;

		if (is_new || ties.count == TIES_MAX ||
		    (ties.count && ties.item[0].start_ns != l->start_ns))
			flush(e, &ties, &us);
		if (is_new) {
			PF_TRY(sum.link && put_sum(e, &sum, &us));
			sum = (struct pf_kernel_sum){ .link = l->link };
			us = (struct pf_fsum){ 0, 0 };
		}
		add_tie(&ties, l);
		add_wrapping(&sum.ns, l->ns);
	}
	flush(e, &ties, &us);
	PF_TRY(e->err->code || (sum.link && put_sum(e, &sum, &us)));
	return 0;
}

static struct pf_spool *new_sums(const struct pf_engine *e)
{
	struct pf_spool *s = pf_spool_new(sizeof(struct pf_kernel_sum),
					  SUMS_BYTES, e->temp_dir);

	pf_spool_keep(s, SUMS_BYTES);
	return s;
}

static void open_sums(struct pf_engine *e)
{
	e->op_kernels = new_sums(e);
	/* Calls have numbers of their own: another place in the spool. */
	if (e->rules.candidates == PF_CANDIDATES_ALL ||
	    e->rules.unlinked_claims)
		e->call_kernels = new_sums(e);
	for (size_t i = 0; i < e->track_count; i++) {
		pf_lookup_init(&e->host[i].op_kernels, e->op_kernels);
		pf_lookup_init(&e->host[i].call_kernels, e->call_kernels);
	}
}

static int engine_device(struct pf_engine *e)
{
	const struct pf_merge_args args = {
		.tracks = e->tracks,
		.count = e->track_count,
		.kinds = PF_KINDS_DEVICE,
		.columns = PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION),
		.use = e->is_device,
	};
	struct pf_sorter *sorter =
		pf_sorter_new(sizeof(struct launched), 2u << 20, e->temp_dir);
	struct pf_merge *m = pf_merge_new(e->db, &e->facts, &args, e->err);
	const struct pf_fe *fe;
	int rc = -1;

	open_sums(e);
	if (!m)
		goto out;
	while ((fe = pf_merge_next(m, e->err)))
		if (see_device(e, sorter, fe))
			goto out;
	if (e->err->code || pf_sorter_finish(sorter, e->err))
		goto out;
	rc = sum_links(e, sorter);
out:
	pf_merge_free(m);
	pf_sorter_free(sorter);
	return rc;
}

/*
 * The first pass: what kinds of events are on which host track, and with it
 * the thread on which the profiler was stopped (torch puts what has no
 * operator there; the trace does not say which it was).
 */

static bool is_without_rf(const struct pf_block *b, uint32_t i)
{
	return !(b->mask[i] >> PF_SLOT_RF_ID & 1);
}

static int count_kinds(struct pf_engine *e, size_t index)
{
	const uint64_t columns =
		PF_COLBIT(PF_COL_TYPE) |
		(e->unfinished_by_rf ? PF_COLBIT(PF_COL_MASK) : 0);
	uint64_t *count = e->host[index].kind_count;
	const struct pf_block *block;
	PF_AUTO(pf_cursor_freed) struct pf_cursor *c = NULL;
	uint32_t first_seq;
	int rc;

	c = pf_cursor_new(e->db, e->tracks[index].id, columns);
	pf_cursor_ahead(c);
	while ((rc = pf_cursor_block(c, &block, &first_seq, e->err)) == 1)
		for (uint32_t i = 0; i < block->count; i++) {
			unsigned kind =
				pf_facts_kind(&e->facts, block->type[i]);

			count[kind]++;
			if (e->unfinished_by_rf && is_without_rf(block, i) &&
			    pf_kind_in(kind, PF_KINDS_OP))
				e->has_late_op = true;
		}
	return rc;
}

static int count_steps(struct pf_engine *e)
{
	PF_STMT(st) = pf_db_prepare(
		e->db,
		"SELECT track_id, count(*) FROM step WHERE trace_id = ?1"
		" GROUP BY track_id",
		e->err);
	int rc;

	sqlite3_bind_int64(st, 1, e->args->trace_id);
	while ((rc = pf_db_step(e->db, st, e->err)) == 1)
		for (size_t i = 0; i < e->track_count; i++)
			if (e->tracks[i].id == sqlite3_column_int64(st, 0))
				e->host[i].steps =
					(uint64_t)sqlite3_column_int64(st, 1);
	return rc;
}

static uint64_t ops_on(const struct pf_host_track *t)
{
	return t->kind_count[PF_KIND_CPU_OP] +
	       t->kind_count[PF_KIND_ANNOTATION];
}

/* Most steps; else the process's main thread; else most operators. */
static uint32_t find_stop_track(const struct pf_engine *e)
{
	uint32_t best = (uint32_t)e->track_count;
	uint64_t most = 0;

	for (uint32_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && e->host[i].steps > most) {
			most = e->host[i].steps;
			best = i;
		}
	for (uint32_t i = 0; !most && i < e->track_count; i++)
		if (e->is_host[i] && ops_on(&e->host[i]) &&
		    !strcmp(e->tracks[i].pid, e->tracks[i].tid)) {
			most = 1;
			best = i;
		}
	if (most)
		return best;
	for (uint32_t i = 0; i < e->track_count; i++)
		if (e->is_host[i] && ops_on(&e->host[i]) > most) {
			most = ops_on(&e->host[i]);
			best = i;
		}
	return best;
}

static struct pf_merge *read_track(struct pf_engine *e, size_t index,
				   uint32_t kinds, uint64_t columns)
{
	const struct pf_merge_args args = {
		.tracks = &e->tracks[index],
		.count = 1,
		.kinds = kinds,
		.columns = columns,
	};

	return pf_merge_new(e->db, &e->facts, &args, e->err);
}

/* The start of the profiler's own span on a track: 1 found, 0, -1. */
static int find_span(struct pf_engine *e, size_t index)
{
	PF_AUTO(pf_merge_freed)
	struct pf_merge *m =
		read_track(e, index, PF_KINDBIT(PF_KIND_TRACE_SPAN),
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS));
	const struct pf_fe *fe;
	struct pf_name_fact name;
	int found = 0;

	PF_TRY(!m);
	while (!found && (fe = pf_merge_next(m, e->err))) {
		if (pf_facts_name(&e->facts, fe->kind, &fe->name, &name,
				  e->err))
			break;
		if (!(name.flags & PF_NAME_SPAN))
			continue;
		e->trace_start_ns = fe->start_ns;
		e->trace_end_ns = fe->end_ns;
		found = 1;
	}
	return e->err->code ? -1 : found;
}

/*
 * Times count from the span "PyTorch Profiler (0)", else from the first
 * event.  Spans have a track of their own, named so.
 */
static int find_trace_start(struct pf_engine *e)
{
	int64_t first = INT64_MAX;

	e->trace_end_ns = INT64_MAX;

	for (size_t i = 0; i < e->track_count; i++) {
		const struct pf_track *t = &e->tracks[i];
		int found = 0;

		if (!strcmp(t->pid, "Spans") ||
		    (!e->is_host[i] && !e->is_device[i] &&
		     t->event_count < 1000))
			found = find_span(e, i);
		if (found)
			return found < 0 ? -1 : 0;
		if ((e->is_host[i] || e->is_device[i]) && t->event_count &&
		    t->first_ns < first)
			first = t->first_ns;
	}
	e->trace_start_ns = first == INT64_MAX ? 0 : first;
	return 0;
}

/* ---- numbers of unlinked calls ---- */

static uint64_t calls_on(const struct pf_host_track *t)
{
	uint64_t count = 0;

	for (unsigned k = 0; k < PF_KIND_COUNT; k++)
		if (pf_kind_in(k, PF_KINDS_CALL))
			count += t->kind_count[k];
	return count;
}

/*
 * An unlinked call with the number of an operator draws that operator's calls
 * to the stop thread.  That changes nothing where all calls are there anyway.
 */
static bool needs_numbers(const struct pf_engine *e)
{
	if (!e->rules.unlinked_claims || pf_engine_needs_calls(e))
		return false;
	for (size_t i = 0; i < e->track_count; i++)
		if (i != e->stop_track && calls_on(&e->host[i]))
			return true;
	return false;
}

static int collect_numbers(struct pf_engine *e, size_t index)
{
	PF_AUTO(pf_merge_freed)
	struct pf_merge *m = read_track(
		e, index, PF_KINDS_CALL,
		PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION));
	const struct pf_fe *fe;
	int rc = m ? 0 : -1;

	while (!rc && (fe = pf_merge_next(m, e->err))) {
		const struct pf_collider c = { fe->correlation, fe->start_ns,
					       PF_NO_TRACK };

		if (!engine_call_link(e, fe))
			rc = engine_collide(e, (uint32_t)index, &c);
	}
	return rc || e->err->code ? -1 : 0;
}

/* Operators of a track that end behind the profiler's span. */
static int find_late_ops(struct pf_engine *e, size_t index)
{
	PF_AUTO(pf_merge_freed)
	struct pf_merge *m = read_track(e, index, PF_KINDS_OP, 0);
	const struct pf_fe *fe;

	while (m && !e->has_late_op && (fe = pf_merge_next(m, e->err)))
		e->has_late_op = pf_engine_ends_late(e, fe);
	return e->err->code ? -1 : 0;
}

static int engine_survey(struct pf_engine *e)
{
	for (size_t i = 0; i < e->track_count; i++)
		PF_TRY(e->is_host[i] && count_kinds(e, i));
	PF_TRY(count_steps(e));
	e->stop_track = find_stop_track(e);
	if (needs_numbers(e))
		for (size_t i = 0; i < e->track_count; i++)
			PF_TRY(calls_on(&e->host[i]) && collect_numbers(e, i));
	PF_TRY(find_trace_start(e));
	for (size_t i = 0; i < e->track_count && !e->has_late_op; i++)
		PF_TRY(e->is_host[i] &&
		       e->tracks[i].last_ns > e->trace_end_ns &&
		       !e->rules.unfinished_kept && !e->rules.is_us &&
		       find_late_ops(e, i));
	return 0;
}

/*
 * Looks at operators and runtime calls before anything else, where one of
 * two things must be known ahead: which operator a call belongs to (the
 * trace has lost it, or says it ambiguously), or which calls have the same
 * number as an operator and so take its kernels and calls.
 */

/* Calls seen last, by number: enough to hold those of open operators. */
#define RECENT (1u << 16)

struct recent {
	int64_t id, start_ns;
	uint32_t thread;
};

/*
 * The thread a call has when torch comes to it as a candidate: that of the
 * last candidate before it with the id it links to.
 */
static uint32_t thread_so_far(const struct pf_engine *e,
			      const struct recent *recent,
			      const struct pf_fe *fe, int64_t link)
{
	const struct pf_open_op *op;
	const struct recent *r;

	if (!link)
		return e->stop_track;
	op = engine_find_op(e, fe->track, link, fe->start_ns);
	if (op && !op->is_candidate)
		op = NULL;
	r = &recent[(uint64_t)link % RECENT];
	if (r->id == link && (!op || r->start_ns >= op->start_ns))
		return r->thread;
	return op ? fe->track : e->stop_track;
}

/* Keep a link that the device events cannot tell from their arguments. */
static int keep_link(struct pf_sorter *links, int64_t correlation, int64_t link,
		     struct pf_err *err)
{
	int64_t record[2] = { correlation, link };

	return link ? pf_sorter_add(links, record, err) : 0;
}

static int see_call(struct pf_engine *e, struct recent *recent,
		    struct pf_sorter *links, const struct pf_fe *fe)
{
	int64_t link = engine_call_link(e, fe);
	struct pf_collider c;
	struct recent *r;

	if (e->rules.links == PF_LINK_LOST ||
	    (e->rules.links == PF_LINK_MIXED &&
	     fe->external_id == fe->correlation))
		PF_TRY(keep_link(links, fe->correlation, link, e->err));
	if (!e->rules.unlinked_claims || fe->correlation <= 0)
		return 0;
	if (link && e->rules.candidates != PF_CANDIDATES_ALL)
		return 0;
	c.id = fe->correlation;
	c.start_ns = fe->start_ns;
	c.thread = thread_so_far(e, recent, fe, link);
	r = &recent[(uint64_t)c.id % RECENT];
	*r = (struct recent){ c.id, c.start_ns, (uint32_t)c.thread };
	return engine_collide(e, fe->track, &c);
}

/* Turn the sorted links into a spool, the first call of a number wins. */
static int spool_links(struct pf_engine *e, struct pf_sorter *links)
{
	const int64_t *record;
	int64_t last = INT64_MIN;

	PF_TRY(pf_sorter_finish(links, e->err));
	e->call_links =
		pf_spool_new(2 * sizeof(int64_t), 1u << 20, e->temp_dir);
	while ((record = pf_sorter_next(links, e->err))) {
		PF_TRY(record[0] != last &&
		       pf_spool_add(e->call_links, record, e->err));
		last = record[0];
	}
	pf_lookup_init(&e->device_calls, e->call_links);
	return e->err->code ? -1 : 0;
}

/*
 * The ids of overhead events: each has the id of the event around it in the
 * profiler's C++ tree, on the stop thread.  That tree is not the one of
 * groups.h: all events are in it, and an event that ends closes all in it.
 */

/* The id an event of the stop thread has of its own. */
static int64_t own_id(const struct pf_fe *fe)
{
	if (pf_kind_in(fe->kind, PF_KINDS_CALL))
		return fe->correlation;
	return fe->kind == PF_KIND_PYTHON ? 0 : fe->external_id;
}

static int see_overhead(struct pf_engine *e, struct pf_cxx_stack *s,
			const struct pf_fe *fe)
{
	bool is_call = pf_kind_in(fe->kind, PF_KINDS_CALL);
	const struct pf_cxx_open *around;
	int64_t id;

	if (is_call && engine_call_link(e, fe))
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
		PF_TRY(pf_spool_add(e->overhead_ids, &id, e->err) ||
		       engine_collide(e, fe->track, &c));
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

/* ---- all of it in one pass ---- */

struct ahead {
	struct recent *recent;
	struct pf_sorter *links; /* NULL: calls are not looked at */
	bool *claims;            /* by track; NULL: nor is overhead */
	struct pf_cxx_stack stack;
};

/* Operators that torch drops by name make no calls. */
static int look(struct pf_engine *e, void *context, const struct pf_fe *fe)
{
	struct ahead *a = context;

	if (fe->kind == PF_KIND_CPU_OP)
		engine_open_op(e, fe, true);
	if (a->links && pf_kind_in(fe->kind, PF_KINDS_CALL))
		PF_TRY(see_call(e, a->recent, a->links, fe));
	if (a->claims && a->claims[fe->track])
		return see_overhead(e, &a->stack, fe);
	return 0;
}

static int engine_before(struct pf_engine *e)
{
	uint64_t columns = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION);
	struct ahead a = { 0 };
	uint32_t kinds = 0;
	int rc;

	if (pf_engine_needs_calls(e) && pf_engine_has(e, PF_KINDS_CALL)) {
		kinds = PF_KINDBIT(PF_KIND_CPU_OP) | PF_KINDS_CALL;
		a.links = pf_sorter_new(2 * sizeof(int64_t), 2u << 20,
					e->temp_dir);
		a.recent = pf_calloc(RECENT, sizeof(*a.recent));
	}
	if (e->rules.overhead_claims &&
	    pf_engine_has(e, PF_KINDBIT(PF_KIND_OVERHEAD))) {
		kinds = PF_KINDS_OP | PF_KINDS_CALL |
			PF_KINDBIT(PF_KIND_PYTHON) |
			PF_KINDBIT(PF_KIND_OVERHEAD);
		columns |= PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX);
		e->overhead_ids =
			pf_spool_new(sizeof(int64_t), 1u << 17, e->temp_dir);
		a.claims = choose_tracks(e);
	}
	rc = look_ahead(e, kinds, kinds ? columns : 0, look, &a);
	if (!rc && a.links)
		rc = spool_links(e, a.links);
	engine_forget_ops(e);
	pf_sorter_free(a.links);
	free(a.recent);
	free(a.claims);
	free(a.stack.open);
	return rc;
}

#define WAITING_MAX 65536 /* events that wait for an earlier one */

/* ---- setting up ---- */

static bool meta_is_set(struct pf_db *db, int64_t trace_id, const char *key,
			struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(db,
				    "SELECT value FROM trace_meta WHERE"
				    " trace_id = ?1 AND key = ?2",
				    err);
	bool is_set = false;

	if (!st)
		return false;
	sqlite3_bind_int64(st, 1, trace_id);
	sqlite3_bind_text(st, 2, key, -1, SQLITE_STATIC);
	if (pf_db_step(db, st, err) == 1) {
		const char *v = pf_sqlite_text(st, 0);

		is_set = v && (!strcmp(v, "1") || !strcmp(v, "true") ||
			       !strcmp(v, "\"1\""));
	}
	return is_set;
}

static int one_number(struct pf_db *db, const char *sql, int64_t trace_id,
		      int64_t step, int64_t out[2], struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(db, sql, err);
	int rc;

	PF_TRY(!st);
	sqlite3_bind_int64(st, 1, trace_id);
	if (sqlite3_bind_parameter_count(st) > 1)
		sqlite3_bind_int64(st, 2, step);
	rc = pf_db_step(db, st, err);
	if (rc == 1) {
		out[0] = sqlite3_column_int64(st, 0);
		out[1] = sqlite3_column_int64(st, 1);
		if (sqlite3_column_type(st, 1) == SQLITE_NULL &&
		    sqlite3_column_type(st, 0) == SQLITE_NULL)
			rc = 0;
	}
	return rc;
}

static int choose_part(struct pf_engine *e)
{
	const struct pf_window_trace *part = e->args->part;
	int64_t span[2] = { INT64_MIN, INT64_MAX };
	int found = 1;

	if (e->args->step >= 0)
		found = one_number(e->db,
				   "SELECT min(s.start_ns),"
				   " max(s.start_ns + s.dur_ns) FROM step s"
				   " JOIN track t ON t.id = s.track_id"
				   " WHERE s.trace_id = ?1 AND s.step = ?2"
				   " AND t.class = 'host'",
				   e->args->trace_id, e->args->step, span,
				   e->err);
	PF_TRY(found < 0);
	if (!found)
		return pf_fail(e->err, PF_EUSAGE, "there is no step %lld",
			       (long long)e->args->step);
	e->from_ns = part && part->from_ns > span[0] ? part->from_ns : span[0];
	e->to_ns = part && part->to_ns < span[1] ? part->to_ns : span[1];
	return 0;
}

/* Set trust->skipped and trust->repaired from what ingest wrote. */
static int averages_read_trust(struct pf_db *db, int64_t trace_id,
			       struct pf_averages_trust *trust,
			       struct pf_err *err)
{
	int64_t row[2] = { 0, 0 };

	/* What is usual (pf_repair_is_usual) takes nothing away. */
	PF_TRY(one_number(db,
			  "SELECT coalesce(sum(count), 0), 0 FROM repair"
			  " WHERE trace_id = ?1 AND is_skip AND kind NOT IN"
			  " ('empty', 'unread_table', 'state')",
			  trace_id, 0, row, err) < 0);
	trust->skipped = row[0];
	row[0] = 0;
	PF_TRY(one_number(db,
			  "SELECT coalesce(sum(count), 0), 0 FROM repair"
			  " WHERE trace_id = ?1 AND NOT is_skip"
			  " AND kind NOT IN ('skipped_bytes', 'rounded_time')",
			  trace_id, 0, row, err) < 0);
	trust->repaired = row[0];
	return 0;
}

static int read_trace(struct pf_engine *e)
{
	int64_t row[2] = { 0, 0 };

	PF_TRY(one_number(e->db,
			  "SELECT coalesce(base_ns, 0), 0 FROM trace"
			  " WHERE id = ?1",
			  e->args->trace_id, 0, row, e->err) < 0);
	e->base_ns = row[0];
	PF_TRY(averages_read_trust(e->db, e->args->trace_id, &e->result->trust,
				   e->err));
	e->result->has_memory =
		meta_is_set(e->db, e->args->trace_id, "profile_memory", e->err);
	e->result->has_flops =
		e->args->with_flops ||
		meta_is_set(e->db, e->args->trace_id, "with_flops", e->err);
	return e->err->code ? -1 : 0;
}

static int load_tracks(struct pf_engine *e)
{
	PF_TRY(pf_tracks_load(e->db, e->args->trace_id, &e->tracks,
			      &e->track_count, e->err));
	e->is_host = pf_calloc(e->track_count + 1, sizeof(bool));
	e->is_device = pf_calloc(e->track_count + 1, sizeof(bool));
	e->host = pf_calloc(e->track_count + 1, sizeof(*e->host));
	for (size_t i = 0; i < e->track_count; i++) {
		e->is_host[i] = !strcmp(e->tracks[i].class_name, "host");
		e->is_device[i] = !strcmp(e->tracks[i].class_name, "gpu");
	}
	return 0;
}

/*
 * The second grouping is finer than the first; without any shapes in the
 * trace it is the first one again.
 */
static void choose_groupings(struct pf_engine *e,
			     const struct pf_rule_facts *facts)
{
	e->grouping_count = e->args->grouping_count;
	if (e->grouping_count > 1 && !facts->input_dims)
		e->grouping_count = 1;
}

static int set_up(struct pf_engine *e)
{
	struct pf_rule_facts facts;

	if (e->args->facts)
		facts = *e->args->facts;
	else if (pf_rules_read_facts(e->db, e->args->trace_id, &facts, e->err))
		return -1;
	e->rules = pf_rules_for(&facts, e->args->torch, e->args->python);
	e->has_finished_key = facts.finished;
	e->has_collections = facts.has_collections;
	e->unfinished_by_rf = facts.rf_id && !facts.finished;
	e->result->rules = e->rules;
	e->is_foreign = facts.is_foreign;
	PF_TRY(pf_facts_init(&e->facts, e->db, e->err) || read_trace(e) ||
	       load_tracks(e) || choose_part(e));
	e->facts.plain_names = e->rules.is_capture;
	e->facts.has_overloads = facts.has_overloads;
	choose_groupings(e, &facts);
	engine_stacks_init(e, &facts);
	for (size_t i = 0; i < e->grouping_count; i++) {
		pf_groups_init(&e->groups[i], WAITING_MAX, e->temp_dir);
		e->groups[i].count_max = e->args->groups_max;
	}
	e->groups[0].is_coarse = e->grouping_count > 1;
	/* Two threads more: of nobody, and of calls before 1.13. */
	pf_tree_init(&e->tree, e->groups, e->grouping_count, e->track_count + 2,
		     e->rules.compensated);
	return 0;
}

static void tear_down(struct pf_engine *e)
{
	engine_stacks_release(e);
	for (size_t i = 0; e->host && i < e->track_count; i++)
		free(e->host[i].open);
	for (size_t i = 0; i < PF_GROUPINGS_MAX; i++) {
		pf_groups_release(&e->groups[i]);
		pf_map_release(&e->stacks[i]);
	}
	pf_map_release(&e->rows);
	pf_tree_release(&e->tree);
	pf_tracks_free(e->tracks, e->track_count);
	free(e->is_host);
	free(e->is_device);
	free(e->host);
	pf_sorter_free(e->collider_sorter);
	for (size_t i = 0; i <= PF_NUMBER_LISTS_MAX; i++)
		pf_spool_free(e->numbers[i].spool);
	pf_spool_free(e->call_links);
	pf_spool_free(e->overhead_ids);
	pf_spool_free(e->op_kernels);
	pf_spool_free(e->call_kernels);
	memory_free(e->memory);
	pf_facts_release(&e->facts);
}

/* ---- results ---- */

static void copy_row(const struct pf_engine *e, const struct pf_group *g,
		     struct pf_average *row)
{
	const struct pf_intern *t = &e->facts.texts;

	row->name = pf_intern_text(t, g->key.name, NULL);
	row->shapes = pf_intern_text(t, g->key.shapes, NULL);
	row->stack = pf_intern_text(t, g->key.stack, NULL);
	row->overload = pf_intern_text(t, g->key.overload, NULL);
	row->is_device = g->key.is_device;
	row->is_annotation = g->key.is_annotation;
	row->is_async = g->is_async;
	row->has_parent = g->has_parent;
	row->count = g->count;
	row->sum = g->sum;
}

static int finish_list(struct pf_engine *e, size_t i)
{
	struct pf_average_list *list = &e->result->list[i];
	struct pf_groups *g = &e->groups[i];

	PF_TRY(pf_groups_finish(g, e->err));
	list->count = g->count;
	list->rows = pf_calloc(g->count + 1, sizeof(*list->rows));
	for (size_t n = 0; n < g->count; n++)
		copy_row(e, &g->group[n], &list->rows[n]);
	return 0;
}

/* The second grouping of a trace without shapes. */
static void repeat_list(struct pf_engine *e)
{
	const struct pf_average_list *from = &e->result->list[0];
	struct pf_average_list *to = &e->result->list[1];

	to->count = from->count;
	to->rows = pf_calloc(from->count + 1, sizeof(*to->rows));
	for (size_t n = 0; n < from->count; n++) {
		to->rows[n] = from->rows[n];
		to->rows[n].shapes = "[]";
	}
}

static int finish(struct pf_engine *e)
{
	if (e->grouping_count > 1)
		pf_groups_fold(&e->groups[0], &e->groups[1]);
	for (size_t i = 0; i < e->grouping_count; i++)
		PF_TRY(finish_list(e, i));
	if (e->args->grouping_count > e->grouping_count)
		repeat_list(e);
	if (pf_engine_has(e, PF_KINDS_MEMORY))
		e->result->has_memory = true;
	e->result->trust.too_deep = e->tree.too_deep;
	for (size_t i = 0; i < e->result->list[0].count; i++)
		e->result->trust.flops_unknown_count +=
			e->result->list[0].rows[i].sum.flops.unknown_count;
	/* The rows point into these bytes: they move to the result. */
	e->result->text = e->facts.texts.bytes;
	e->facts.texts.bytes = NULL;
	return 0;
}

/* Beside the database if that can be: /tmp may be memory. */
static char *choose_temp_dir(const struct pf_db *db)
{
	const char *slash = db->path ? strrchr(db->path, '/') : NULL;
	const char *asked = pf_temp_dir_asked();
	char *dir = asked    ? pf_strdup(asked)
		    : !slash ? pf_strdup(".")
		    : slash == db->path
			    ? pf_strdup("/")
			    : pf_memdup0(db->path, (size_t)(slash - db->path));

	if (!access(dir, W_OK))
		return dir;
	free(dir);
	return pf_strdup(pf_temp_dir());
}

int pf_averages(struct pf_db *db, const struct pf_averages_args *args,
		struct pf_averages *out, struct pf_err *err)
{
	struct pf_engine e = {
		.db = db, .err = err, .args = args, .result = out
	};
	PF_OWN char *temp_dir = choose_temp_dir(db);
	int rc = -1;

	memset(out, 0, sizeof(*out));
	e.temp_dir = temp_dir;
	if (set_up(&e))
		rc = -1;
	else if (e.is_foreign)
		rc = finish(&e);
	else if (!engine_survey(&e) && !engine_before(&e) &&
		 !engine_colliders(&e) && !engine_device(&e) &&
		 !engine_host(&e))
		rc = finish(&e);
	tear_down(&e);
	if (rc)
		pf_averages_release(out);
	return rc;
}

void pf_averages_release(struct pf_averages *a)
{
	for (size_t i = 0; i < 2; i++)
		free(a->list[i].rows);
	free(a->text);
	memset(a, 0, sizeof(*a));
}

/*
 * The table "average": groupings 0 (none) and 1 (by input shape) under the
 * rules recognised at ingest.  What else a reader needs is in trace_fact
 * under "averages_...".
 */

/*
 * Ingest takes no more memory than this many groups need.  A trace with more
 * (an address in every name) has no stored averages: "table" works them out,
 * as it does where FLOPs are more than a column holds.
 */
#define STORED_GROUPS_MAX 65536

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

static int insert_row(struct pf_db *db, sqlite3_stmt *st,
		      const struct pf_average *r, size_t position,
		      struct pf_err *err)
{
	int at = 3;

	sqlite3_bind_int64(st, at++, (int64_t)position);
	bind_text(st, at++, r->name);
	bind_text(st, at++, r->shapes);
	bind_text(st, at++, r->is_device ? "CUDA" : "CPU");
	sqlite3_bind_int(st, at++, r->is_annotation);
	sqlite3_bind_int(st, at++, r->is_async);
	sqlite3_bind_int(st, at++, r->has_parent);
	sqlite3_bind_int64(st, at++, (int64_t)r->count);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		sqlite3_bind_int64(st, at++, r->sum.ns[i]);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		sqlite3_bind_double(st, at++, r->sum.us[i]);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		sqlite3_bind_int64(st, at++, r->sum.bytes[i]);
	if (r->sum.flops.unknown_count)
		sqlite3_bind_null(st, at++);
	else
		sqlite3_bind_int64(st, at++, pf_flops_known(&r->sum.flops));
	PF_TRY(pf_db_step(db, st, err) < 0);
	sqlite3_reset(st);
	return 0;
}

static int insert_list(struct pf_db *db, int64_t trace_id, int grouping,
		       const struct pf_average_list *list, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		db,
		"INSERT INTO average VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
		" ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,"
		" ?21, ?22, ?23)",
		err);
	int rc = st ? 0 : -1;

	PF_TRY(!st);
	PF_BIND(st, trace_id, grouping);
	for (size_t i = 0; !rc && i < list->count; i++)
		rc = insert_row(db, st, &list->rows[i], i, err);
	return rc;
}

/* The facts that go with the rows, and where they are kept in memory. */
#define FACTS(FACT)                                                            \
	FACT("averages_device_ns", trust.device_ns)                            \
	FACT("averages_unlinked_ns", trust.unlinked_ns)                        \
	FACT("averages_unlinked_count", trust.unlinked_count)                  \
	FACT("averages_too_deep", trust.too_deep)                              \
	FACT("averages_flops_unknown", trust.flops_unknown_count)              \
	FACT("averages_has_memory", has_memory)                                \
	FACT("averages_has_flops", has_flops)

static int insert_facts(struct pf_db *db, int64_t trace_id,
			const struct pf_averages *a, struct pf_err *err)
{
#define FACT(key, member) { key, (int64_t)a->member },
	const struct {
		const char *key;
		int64_t value;
	} facts[] = { FACTS(FACT) };
	PF_STMT(st) = pf_db_prepare(
		db, "INSERT OR REPLACE INTO trace_fact VALUES (?1, ?2, ?3)",
		err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < PF_LEN(facts); i++) {
		sqlite3_bind_int64(st, 1, trace_id);
		bind_text(st, 2, facts[i].key);
		sqlite3_bind_int64(st, 3, facts[i].value);
		rc = pf_db_step(db, st, err) < 0 ? -1 : 0;
		sqlite3_reset(st);
	}
	return rc;
}

/* Columns hold FLOPs below 2^63, and NULL where they are not known. */
static bool has_large_flops(const struct pf_averages *a)
{
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < a->list[i].count; k++) {
			const struct pf_flops_sum *f =
				&a->list[i].rows[k].sum.flops;

			if (!f->unknown_count && pf_flops_known(f) < 0)
				return true;
		}
	return false;
}

struct stored {
	struct pf_db *db;
	int64_t trace_id;
	struct pf_rule_facts facts; /* of before the next trace's texts */
	struct pf_averages averages;
};

static void *begin(struct pf_db *db, int64_t trace_id, struct pf_err *err)
{
	struct stored *s = pf_calloc(1, sizeof(*s));

	s->db = db;
	s->trace_id = trace_id;
	if (!pf_rules_read_facts(db, trace_id, &s->facts, err))
		return s;
	free(s);
	pf_while(err, "averages");
	return NULL;
}

static int prepare(void *work, struct pf_err *err)
{
	struct stored *s = work;
	struct pf_averages *out = &s->averages;
	const struct pf_averages_args args = {
		.trace_id = s->trace_id,
		.facts = &s->facts,
		.step = -1,
		.groups_max = STORED_GROUPS_MAX,
		.grouping = { { .by_shape = false }, { .by_shape = true } },
		.grouping_count = 2,
	};

	if (!pf_averages(s->db, &args, out, err)) {
		out->is_left_out = has_large_flops(out);
		return 0;
	}
	if (err->code != PF_ELIMIT)
		return pf_while(err, "averages");
	memset(err, 0, sizeof(*err));
	memset(out, 0, sizeof(*out));
	out->is_left_out = true;
	return 0;
}

static int store(void *work, struct pf_err *err)
{
	const struct stored *s = work;
	const struct pf_averages *a = &s->averages;
	int rc;

	if (a->is_left_out)
		return 0;
	rc = insert_facts(s->db, s->trace_id, a, err);
	for (int i = 0; !rc && i < 2; i++)
		rc = insert_list(s->db, s->trace_id, i, &a->list[i], err);
	return rc ? pf_while(err, "averages") : 0;
}

static void release(void *work)
{
	struct stored *s = work;

	pf_averages_release(&s->averages);
	free(s);
}

const struct pf_ingest_extra pf_averages_extra = { begin, prepare, store,
						   release };

/* ---- reading ---- */

/* Texts gather in one buffer; rows hold offsets until all are there. */
struct texts {
	struct pf_buf bytes;
	size_t *start; /* name and shapes of each row */
	size_t cap, count;
};

static void keep_text(struct texts *t, sqlite3_stmt *st, int column)
{
	const char *text = pf_sqlite_text(st, column);

	*PF_ONE_MORE(t->start, t->count, t->cap) = t->bytes.len;
	pf_buf_adds(&t->bytes, text ? text : "");
	pf_buf_addc(&t->bytes, '\0');
}

static void read_row(sqlite3_stmt *st, struct texts *texts,
		     struct pf_average *r)
{
	const char *device = pf_sqlite_text(st, 2);
	int at = 3;

	keep_text(texts, st, 0);
	keep_text(texts, st, 1);
	r->is_device = device && strcmp(device, "CPU");
	r->is_annotation = sqlite3_column_int(st, at++);
	r->is_async = sqlite3_column_int(st, at++);
	r->has_parent = sqlite3_column_int(st, at++);
	r->count = (uint64_t)sqlite3_column_int64(st, at++);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		r->sum.ns[i] = sqlite3_column_int64(st, at++);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		r->sum.us[i] = sqlite3_column_double(st, at++);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		r->sum.bytes[i] = sqlite3_column_int64(st, at++);
	r->sum.flops.unknown_count = sqlite3_column_type(st, at) == SQLITE_NULL;
	r->sum.flops.low = (uint64_t)sqlite3_column_int64(st, at++);
}

static int read_list(struct pf_db *db, int64_t trace_id, bool by_shape,
		     struct pf_averages *out, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		db,
		"SELECT name, input_shapes, device_type, is_user_annotation,"
		" is_async, has_parent, count, self_cpu_ns, cpu_total_ns,"
		" self_device_ns, device_total_ns, self_cpu_us, cpu_total_us,"
		" self_device_us, device_total_us, self_cpu_mem_bytes,"
		" cpu_mem_bytes, self_device_mem_bytes, device_mem_bytes,"
		" flops FROM average WHERE trace_id = ?1 AND grouping = ?2"
		" ORDER BY position",
		err);
	struct pf_average_list *list = &out->list[0];
	struct texts texts = { 0 };
	size_t cap = 0;
	int rc;

	PF_BIND(st, trace_id, by_shape);
	while ((rc = pf_db_step(db, st, err)) == 1) {
		PF_ROOM(list->rows, cap, list->count + 1);
		memset(&list->rows[list->count], 0, sizeof(*list->rows));
		read_row(st, &texts, &list->rows[list->count++]);
	}
	sqlite3_finalize(st);
	out->text = texts.bytes.data;
	for (size_t i = 0; i < list->count; i++) {
		list->rows[i].name = out->text + texts.start[2 * i];
		list->rows[i].shapes = out->text + texts.start[2 * i + 1];
		list->rows[i].stack = "";
		list->rows[i].overload = "";
	}
	free(texts.start);
	return rc;
}

static void set_fact(struct pf_averages *out, const char *key, int64_t v)
{
#define SET(its_key, member)                                                   \
	if (!strcmp(key, its_key))                                             \
		out->member = v;
	FACTS(SET)
}

/* 1 if they were stored. */
static int read_facts(struct pf_db *db, int64_t trace_id,
		      struct pf_averages *out, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		db,
		"SELECT key, value FROM trace_fact WHERE trace_id = ?1"
		" AND key GLOB 'averages_*'",
		err);
	bool is_stored = false;
	int rc;

	sqlite3_bind_int64(st, 1, trace_id);
	while ((rc = pf_db_step(db, st, err)) == 1) {
		const char *key = pf_sqlite_text(st, 0);

		is_stored = true;
		if (key)
			set_fact(out, key, sqlite3_column_int64(st, 1));
	}
	return rc < 0 ? -1 : is_stored;
}

int pf_averages_load(struct pf_db *db, const struct pf_averages_args *args,
		     struct pf_averages *out, struct pf_err *err)
{
	struct pf_rule_facts facts;
	int rc;

	memset(out, 0, sizeof(*out));
	if (args->torch || args->python || args->step >= 0 || args->part ||
	    args->grouping_count != 1 || args->grouping[0].stack ||
	    args->grouping[0].by_overload)
		return 0;
	PF_TRY(pf_rules_read_facts(db, args->trace_id, &facts, err));
	out->rules = pf_rules_for(&facts, 0, 0);
	rc = read_facts(db, args->trace_id, out, err);
	if (rc == 1)
		rc = averages_read_trust(db, args->trace_id, &out->trust, err);
	else
		return rc;
	if (!rc)
		rc = read_list(db, args->trace_id, args->grouping[0].by_shape,
			       out, err);
	if (!rc && args->with_flops && !out->has_flops) {
		pf_averages_release(out);
		return 0;
	}
	if (!rc)
		return 1;
	pf_averages_release(out);
	return -1;
}
