/* SPDX-License-Identifier: MIT */
/*
 * Stacks that are not in the trace.  Those of Python functions, which are
 * rows in some releases.  And those of backward operators: autograd runs them with the stack of the
 * call of backward(); torch shows the stack of the forward operator with the
 * same sequence number instead, for them and for all that they contain.
 */
#include "config.h"

#include "torch/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char wrapper[] = "autograd::engine::evaluate_function: ";

/* More entries than asked for: torch leaves some of its own out. */
#define ENTRIES_MORE 8

void pf_engine_backward_init(struct pf_engine *e,
			     const struct pf_rule_facts *facts)
{
	unsigned most = 0;

	for (size_t i = 0; i < e->args->grouping_count; i++)
		if (e->args->grouping[i].stack > most)
			most = e->args->grouping[i].stack;
	e->wants_stacks = most > 0;
	if (!e->wants_stacks)
		return;
	if (e->rules.python_rows && facts->call_stack)
		e->python_stack = most + ENTRIES_MORE;
	pf_map_init(&e->forward_threads);
	pf_map_init(&e->python_stacks);
	e->forward_stacks =
		pf_calloc(e->track_count + 1, sizeof(*e->forward_stacks));
	for (size_t i = 0; i < e->track_count; i++)
		pf_map_init(&e->forward_stacks[i]);
}

void pf_engine_backward_release(struct pf_engine *e)
{
	for (size_t i = 0; e->forward_stacks && i < e->track_count; i++)
		pf_map_release(&e->forward_stacks[i]);
	free(e->forward_stacks);
	pf_map_release(&e->forward_threads);
	pf_map_release(&e->python_stacks);
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

/* The Python functions that called this one, innermost first. */
static uint32_t python_stack(struct pf_engine *e, const struct pf_fe *fe,
			     const struct pf_node *n)
{
	uint64_t outer =
		*pf_map_at(&e->python_stacks, (uint64_t)fe->python_parent);
	uint32_t around =
		outer == UINT64_MAX ? e->facts.empty : (uint32_t)outer;
	struct pf_buf text = { 0 };
	const char *p, *end;

	pf_buf_adds(&text, pf_intern_text(&e->facts.texts, n->name, NULL));
	pf_buf_addc(&text, ';');
	end = p = pf_intern_text(&e->facts.texts, around, NULL);
	for (unsigned left = e->python_stack; left && *end; left--) {
		end += strcspn(end, ";");
		end += *end == ';';
	}
	pf_buf_add(&text, p, (size_t)(end - p));
	*pf_map_at(&e->python_stacks, (uint64_t)fe->python_id) =
		pf_intern_add(&e->facts.texts, text.data, text.len);
	pf_buf_release(&text);
	return around;
}

int pf_engine_stack(struct pf_engine *e, const struct pf_fe *fe,
		    struct pf_node *n, const struct pf_node *parent,
		    struct pf_err *err)
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
	} else if (n->is_python && e->python_stack) {
		n->has_stack = true;
		n->stack = python_stack(e, fe, n);
	} else if (n->is_op && fe->mask & 1u << PF_SLOT_SEQUENCE) {
		if (pf_facts_args(&e->facts, &fe->args, &args, err))
			return -1;
		stack = pf_map_at(&e->forward_stacks[fe->track],
				  (uint64_t)fe->sequence);
		if (*stack == UINT64_MAX)
			*stack = args.stack;
	}
	return 0;
}
