/* SPDX-License-Identifier: MIT */
/*
 * The layers of a model in a sequence of kernels, from nothing but their names
 * and roles: what repeats is a layer, or a few of them.  A stretch repeats
 * with period p if each kernel is the one p places on; the longest stretches
 * count.  A period whose kernels mostly occur m times holds m layers.  A layer
 * begins at the norm before the product that leads to attention.  What is
 * nearly a layer before the first of a stretch is one, too.
 */
#ifndef PF_ANALYSIS_GRAPHS_LAYERS_H
#define PF_ANALYSIS_GRAPHS_LAYERS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/graphs/roles.h"

#define PF_LAYERS_MAX_KERNELS 20000 /* longer sequences are not looked at */

/* What of a layer a product is. */
enum pf_layer_part {
	PF_PART_NONE,
	PF_PART_QKV, /* before the first attention */
	PF_PART_OUT, /* behind it, before the next norm */
	PF_PART_ROUTER,
	PF_PART_UP, /* before the activation */
	PF_PART_DOWN,
	PF_PARTS
};

const char *pf_part_word(enum pf_layer_part part); /* NULL of NONE */

struct pf_layer_node {
	uint32_t name; /* equal kernels have equal numbers */
	enum pf_role role;
	int64_t ns;
	/* Found; layer -1: outside. */
	int64_t layer, place;
	enum pf_layer_part part;
};

/* How many layers there are; 0 where less than half of the time repeats. */
int64_t pf_layers_find(struct pf_layer_node *nodes, size_t count);

#endif
