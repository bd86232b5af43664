/* SPDX-License-Identifier: MIT */
/* Between modules.c, which measures, and modules_show.c, which prints. */
#ifndef PF_ANALYSIS_TIME_MODULES_IMPL_H
#define PF_ANALYSIS_TIME_MODULES_IMPL_H

#include <stddef.h>
#include <stdint.h>

#include "events/hints.h"
#include "base/err.h"
#include "show/doc.h"

#define PF_MODULE_ROOT 0 /* outside any module */

struct pf_module {
	uint32_t parent, depth; /* depth of the root: 0 */
	const char *name;       /* without "nn.Module: "; "" of the root */
	int64_t calls, ops;
	int64_t gpu_ns, host_ns; /* self */
	int64_t replayed_ns; /* of gpu_ns, by graphs whose modules are known */
	int64_t gpu_total_ns, host_total_ns; /* with all inside: show */
};

struct pf_module_tree {
	struct pf_module *nodes; /* a parent comes before what is in it */
	size_t count, cap;
	int64_t unlaunched_ns; /* GPU work without a launch call */
	enum pf_producer producer;
	const char *scope;              /* pf_window_scope() */
	const struct pf_graphs *graphs; /* or NULL */
	uint64_t folded; /* calls that are part of the module around */
};

/* Work out the totals and fill in the document. */
void pf_modules_show(struct pf_module_tree *t, struct pf_doc *doc);

#endif
