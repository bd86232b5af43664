/* SPDX-License-Identifier: MIT */
/*
 * Invariants: node[0..depth) of a stack are open and each lies within the one
 * before it; an event's parent is the node under it.  A closed only child of
 * its parent's name stays readable in node[depth] (holds_child of the node
 * under it is set) until the parent gets a second child or closes.
 */
#include "config.h"

#include "torch/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

#define DEPTH_MAX 16384

void pf_tree_init(struct pf_tree *t, struct pf_groups *groups,
		  size_t grouping_count, size_t stacks, bool compensated)
{
	memset(t, 0, sizeof(*t));
	t->groups = groups;
	t->grouping_count = grouping_count;
	t->compensated = compensated;
	t->stack_count = stacks;
	t->stack = pf_calloc(stacks + 1, sizeof(*t->stack));
}

void pf_tree_release(struct pf_tree *t)
{
	for (size_t i = 0; t->stack && i < t->stack_count; i++)
		free(t->stack[i].node);
	free(t->stack);
	memset(t, 0, sizeof(*t));
}

static int settle(struct pf_tree *t, const struct pf_node *n,
		  const struct pf_figures *f, bool is_async, struct pf_err *err)
{
	if (!n->is_row)
		return 0;
	for (size_t i = 0; i < t->grouping_count; i++) {
		struct pf_settle s = { .group = n->group[i],
				       .ticket = n->ticket[i],
				       .place = n->place,
				       .is_async = is_async,
				       .has_parent = n->has_parent };

		if (pf_groups_settle(&t->groups[i], &s, f, err))
			return -1;
	}
	return 0;
}

int pf_tree_settle_alone(struct pf_tree *t, const struct pf_node *n,
			 const struct pf_figures *f, bool is_async,
			 struct pf_err *err)
{
	return settle(t, n, f, is_async, err);
}

static int64_t wrap_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static void figure_out(const struct pf_node *n, struct pf_figures *f)
{
	double child_cpu = pf_fsum_total(&n->child_cpu);
	double child_device = pf_fsum_total(&n->child_device);

	f->ns[PF_FIG_CPU] = wrap_sub(n->place.end_ns, n->place.start_ns);
	f->ns[PF_FIG_SELF_CPU] = wrap_sub(f->ns[PF_FIG_CPU], n->child_cpu_ns);
	f->ns[PF_FIG_DEVICE] =
		pf_num_wrap_add(n->kernel_ns, n->child_device_ns);
	f->ns[PF_FIG_SELF_DEVICE] = n->kernel_ns;
	f->us[PF_FIG_CPU] = n->cpu_us;
	f->us[PF_FIG_SELF_CPU] = n->cpu_us - child_cpu;
	f->us[PF_FIG_DEVICE] = n->kernel_us + child_device;
	f->us[PF_FIG_SELF_DEVICE] = f->us[PF_FIG_DEVICE] - child_device;
	f->bytes[PF_FIG_CPU] = n->cpu_bytes;
	f->bytes[PF_FIG_SELF_CPU] = wrap_sub(n->cpu_bytes, n->child_cpu_bytes);
	f->bytes[PF_FIG_DEVICE] = n->device_bytes;
	f->bytes[PF_FIG_SELF_DEVICE] =
		wrap_sub(n->device_bytes, n->child_device_bytes);
	f->flops = n->flops;
}

static void add_child(struct pf_tree *t, struct pf_node *parent,
		      const struct pf_figures *f)
{
	pf_fsum_add(&parent->child_cpu, f->us[PF_FIG_CPU], t->compensated);
	pf_fsum_add(&parent->child_device, f->us[PF_FIG_DEVICE],
		    t->compensated);
	parent->child_cpu_ns =
		pf_num_wrap_add(parent->child_cpu_ns, f->ns[PF_FIG_CPU]);
	parent->child_device_ns =
		pf_num_wrap_add(parent->child_device_ns, f->ns[PF_FIG_DEVICE]);
	parent->child_cpu_bytes =
		pf_num_wrap_add(parent->child_cpu_bytes, f->bytes[PF_FIG_CPU]);
	parent->child_device_bytes = pf_num_wrap_add(parent->child_device_bytes,
						     f->bytes[PF_FIG_DEVICE]);
}

/* The held child of "parent" is no duplicate: settle it. */
static int release_child(struct pf_tree *t, struct pf_node *parent,
			 struct pf_err *err)
{
	struct pf_figures f;

	parent->holds_child = false;
	figure_out(parent + 1, &f);
	add_child(t, parent, &f);
	return settle(t, parent + 1, &f, false, err);
}

/* The held child of n is a duplicate: n takes its children and kernels. */
static int absorb_child(struct pf_tree *t, struct pf_node *n,
			struct pf_err *err)
{
	const struct pf_node *child = n + 1;

	n->holds_child = false;
	n->child_cpu = child->child_cpu;
	n->child_device = child->child_device;
	n->child_cpu_ns = child->child_cpu_ns;
	n->child_device_ns = child->child_device_ns;
	n->child_cpu_bytes = child->child_cpu_bytes;
	n->child_device_bytes = child->child_device_bytes;
	n->kernel_us = child->kernel_us;
	n->kernel_ns = child->kernel_ns;
	return settle(t, child, NULL, false, err);
}

/* Close the innermost event of a stack. */
static int pop(struct pf_tree *t, struct pf_stack *s, struct pf_err *err)
{
	struct pf_node *n = &s->node[--s->depth];
	struct pf_node *parent = s->depth ? n - 1 : NULL;
	struct pf_figures f;

	if (n->holds_child && absorb_child(t, n, err))
		return -1;
	if (parent && parent->children == 1 && parent->name == n->name) {
		parent->holds_child = true;
		return 0;
	}
	figure_out(n, &f);
	if (parent)
		add_child(t, parent, &f);
	return settle(t, n, &f, false, err);
}

struct pf_node *pf_tree_push(struct pf_tree *t, uint32_t thread,
			     int64_t start_ns, int64_t end_ns,
			     struct pf_err *err)
{
	struct pf_stack *s = &t->stack[thread];
	struct pf_node *n;

	while (s->depth) {
		const struct pf_fe_place *top = &s->node[s->depth - 1].place;

		if (start_ns < top->end_ns && end_ns <= top->end_ns)
			break;
		if (pop(t, s, err))
			return NULL;
	}
	if (s->depth >= DEPTH_MAX) {
		t->too_deep++;
		return NULL;
	}
	/* One place more than depth: pop() keeps a held child there. */
	s->node = pf_grow(s->node, &s->cap, s->depth + 2, sizeof(*s->node));
	if (s->depth) {
		struct pf_node *parent = &s->node[s->depth - 1];

		if (parent->holds_child && release_child(t, parent, err))
			return NULL;
		parent->children++;
	}
	n = &s->node[s->depth];
	memset(n, 0, sizeof(*n));
	n->has_parent = s->depth > 0;
	n->place.start_ns = start_ns;
	n->place.end_ns = end_ns;
	s->depth++;
	return n;
}

int pf_tree_finish(struct pf_tree *t, struct pf_err *err)
{
	for (size_t i = 0; i < t->stack_count; i++)
		while (t->stack[i].depth)
			if (pop(t, &t->stack[i], err))
				return -1;
	return 0;
}
