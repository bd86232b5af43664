/* SPDX-License-Identifier: MIT */
/*
 * Stacks of backward operators.  Autograd runs them with the stack of the
 * call of backward(); torch shows the stack of the forward operator with the
 * same sequence number instead, for them and for all that they contain.
 */
#include "config.h"

#include "analysis/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char wrapper[] = "autograd::engine::evaluate_function: ";

void pf_engine_backward_init(struct pf_engine *e)
{
	for (size_t i = 0; i < e->args->grouping_count; i++)
		e->wants_stacks |= e->args->grouping[i].stack > 0;
	if (!e->wants_stacks)
		return;
	pf_map_init(&e->forward_threads);
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
	uint64_t *thread = pf_map_at(&e->forward_threads,
				     (uint64_t)fe->forward_thread);
	size_t found = fe->track, count = 0;
	uint64_t stack;

	if (!(fe->mask & 1u << PF_SLOT_SEQUENCE))
		return e->facts.empty;
	for (size_t i = 0; *thread == UINT64_MAX && i < e->track_count; i++) {
		if (*pf_map_at(&e->forward_stacks[i],
			       (uint64_t)fe->sequence) == UINT64_MAX)
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

int pf_engine_backward(struct pf_engine *e, const struct pf_fe *fe,
		       struct pf_node *n, const struct pf_node *parent,
		       struct pf_err *err)
{
	struct pf_args_fact args;
	uint64_t *stack;

	if (!e->wants_stacks)
		return 0;
	if (is_backward(e, fe, n, parent)) {
		n->in_backward = true;
		n->forward_stack = forward_stack(e, fe);
	} else if (parent && parent->in_backward) {
		n->in_backward = true;
		n->forward_stack = parent->forward_stack;
	} else if (n->is_op && fe->mask & 1u << PF_SLOT_SEQUENCE) {
		if (pf_facts_args(&e->facts, fe->args, &args, err))
			return -1;
		stack = pf_map_at(&e->forward_stacks[fe->track],
				  (uint64_t)fe->sequence);
		if (*stack == UINT64_MAX)
			*stack = args.stack;
	}
	return 0;
}
