/* SPDX-License-Identifier: MIT */
/* What the parts of stacks share.  Not for others. */
#ifndef PF_EXPORT_STACKS_IMPL_H
#define PF_EXPORT_STACKS_IMPL_H

#include "export/stacks.h"

/* stacks_memory.c: the weights of memory, whose lines are not summed. */
int pf_stacks_memory(struct pf_db *db, const struct pf_stacks_args *args,
		     FILE *out, struct pf_stacks_result *result,
		     struct pf_err *err);

/* stacks_samples.c: folded stacks as a tree.  1: there are any. */
struct pf_stack_tree;
int pf_stacks_samples(struct pf_db *db, const struct pf_window *window,
		      struct pf_stack_tree *tree, struct pf_err *err);
/* Is there nothing else in the database? */
int pf_stacks_only_samples(struct pf_db *db, struct pf_err *err);

#endif
