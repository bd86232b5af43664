/* SPDX-License-Identifier: MIT */
/*
 * torch's tree of function events, one stack of open events per logical
 * thread.  Events come in torch's order; each is settled in its groups when
 * it is closed and it is sure that it is no duplicate (the only child of a
 * parent of the same name vanishes and leaves its children and kernels to
 * the parent).
 *
 * An event without a tree (asynchronous, or of a device) is not pushed here.
 */
#ifndef PF_ANALYSIS_TREE_H
#define PF_ANALYSIS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "torch/groups.h"

/* At most this many groupings are made at once. */
#define PF_GROUPINGS_MAX 2

/* Python's sum(): plain, or Neumaier's from 3.12 on. */
struct pf_fsum {
	double sum, rest;
};

static inline void pf_fsum_add(struct pf_fsum *s, double x, bool compensated)
{
	double t = s->sum + x;

	if (compensated) {
		if (__builtin_fabs(s->sum) >= __builtin_fabs(x))
			s->rest += (s->sum - t) + x;
		else
			s->rest += (x - t) + s->sum;
	}
	s->sum = t;
}

static inline double pf_fsum_total(const struct pf_fsum *s)
{
	return s->rest != 0 && __builtin_isfinite(s->rest) ? s->sum + s->rest
							   : s->sum;
}

/* What an event brings along. */
struct pf_node {
	struct pf_fe_place place;
	uint32_t name;
	bool is_row; /* counts in groups */
	bool is_op;  /* an operator or annotation */
	bool has_parent;
	bool is_python;
	bool in_backward; /* within a backward operator */
	bool has_stack;   /* other than the argument's: */
	uint32_t stack;
	double cpu_us, kernel_us;
	int64_t kernel_ns, cpu_bytes, device_bytes;
	struct pf_flops_sum flops;
	uint32_t group[PF_GROUPINGS_MAX];
	uint64_t ticket[PF_GROUPINGS_MAX];
	/* Of its children, kept by the tree. */
	uint32_t children;
	bool holds_child; /* the only one so far, closed, of the same name */
	struct pf_fsum child_cpu, child_device;
	int64_t child_cpu_ns, child_device_ns;
	int64_t child_cpu_bytes, child_device_bytes;
};

struct pf_tree {
	struct pf_groups *groups; /* grouping_count of them */
	size_t grouping_count;
	bool compensated;
	struct pf_stack {
		struct pf_node *node;
		size_t depth, cap;
	} * stack;
	size_t stack_count;
	uint64_t too_deep; /* events left without a place in the tree */
};

void pf_tree_init(struct pf_tree *t, struct pf_groups *groups,
		  size_t grouping_count, size_t stacks, bool compensated);
void pf_tree_release(struct pf_tree *t);

/*
 * Close what ends before an event of a thread begins and return the place
 * for the event, all zero but has_parent; NULL when it is nested too deep.
 * The caller fills it in at once.
 */
struct pf_node *pf_tree_push(struct pf_tree *t, uint32_t thread,
			     int64_t start_ns, int64_t end_ns,
			     struct pf_err *err);

/* Settle an event that has no tree: a device's, or an asynchronous one. */
int pf_tree_settle_alone(struct pf_tree *t, const struct pf_node *n,
			 const struct pf_figures *f, bool is_async,
			 struct pf_err *err);

/* Close everything. */
int pf_tree_finish(struct pf_tree *t, struct pf_err *err);

#endif
