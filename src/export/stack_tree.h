/* SPDX-License-Identifier: MIT */
/*
 * Stacks with weights, as a tree, and their lines in the form that
 * flamegraph.pl, speedscope and inferno read: frames from the outermost to
 * the innermost with ";" between them, a blank and the weight.
 *
 * In a frame, ";" and whatever could end a line or steer a terminal is
 * written as \xNN; an empty name is "(no name)".  Memory grows with the
 * number of different stacks and names.
 */
#ifndef PF_ANALYSIS_STACK_TREE_H
#define PF_ANALYSIS_STACK_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/err.h"
#include "base/outplace.h"

#define PF_STACK_ROOT 0

struct pf_stack_node {
	uint32_t parent, frame;
	int64_t weight;
};

struct pf_stack_tree {
	struct pf_intern frames; /* as they are written */
	struct pf_map children;  /* parent and frame -> node */
	struct pf_stack_node *nodes;
	size_t count, cap;
	int64_t total, line_count; /* of weights; of nodes that have one */
};

void pf_stack_tree_init(struct pf_stack_tree *t);
void pf_stack_tree_release(struct pf_stack_tree *t);

/* The number of a frame with this name. */
uint32_t pf_stack_frame(struct pf_stack_tree *t, const char *name, size_t len);

/* The node of a frame inside a node; PF_ELIMIT (UINT32_MAX) past 2^26. */
uint32_t pf_stack_child(struct pf_stack_tree *t, uint32_t parent,
			uint32_t frame, struct pf_err *err);

/* Weights are not negative. */
void pf_stack_add(struct pf_stack_tree *t, uint32_t node, int64_t weight);

/* A line for each node with a weight, in the order of frames' bytes. */
int pf_stack_print(struct pf_stack_tree *t, struct pf_outfile *out,
		   struct pf_err *err);

#endif
