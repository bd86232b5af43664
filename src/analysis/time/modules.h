/* SPDX-License-Identifier: MIT */
/*
 * Time by module of the model: the tree of calls of nn.Module that torch
 * records as Python functions "nn.Module: NAME_k" (with_stack=True).
 *
 * A module is what it is called in: the same one in two places is two rows.
 * Host time is time in ranges of host threads, as of profan stacks --weight
 * cpu; self is what is in no module inside of this one.  GPU time is the sum
 * of durations of work that was launched there, cut to the window, as of
 * profan stacks --weight gpu.  Operators are those with no other operator
 * between them and the module.  Calls and operators count where they begin.
 *
 * Self times of all rows, of "outside any module" and of work without a
 * launch call add up to the totals exactly.  What runs backward is outside:
 * its calls are not in those of modules.
 *
 * What graphs replay belongs to the module that launched them, or, where
 * evidence is given, to those in which it was captured (analysis/graphs/graphs.h).
 */
#pragma once

#include "events/window.h"
#include "store/db.h"
#include "show/doc.h"

#define PF_MODULES_DEPTH 8 /* proposed */

struct pf_graphs; /* analysis/graphs/graphs.h */

struct pf_modules_args {
	struct pf_window_args window;
	int64_t depth; /* deeper modules are part of the one there; 1..1000 */
	/* Modules of replayed work, explained; or NULL. */
	struct pf_graphs *graphs;
};

/* A document without rows if the trace has no modules. */
int pf_modules(struct pf_db *db, const struct pf_modules_args *args,
	       struct pf_doc *doc);
