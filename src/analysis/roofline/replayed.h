/* SPDX-License-Identifier: MIT */
/*
 * Work that graphs replay, by the operators that evidence names.  Of captures
 * the arguments are known, too: each replay of a captured call of an operator
 * with a model is a call, whose work is what was captured in it, by the rule
 * of all other work (analysis/roofline/walk.h).  An eager run says which operator, and
 * not of which shapes: such work is listed with what has none.
 */
#ifndef PF_ANALYSIS_ROOFLINE_REPLAYED_H
#define PF_ANALYSIS_ROOFLINE_REPLAYED_H

#include "base/err.h"
#include "analysis/graphs/graphs.h"
#include "analysis/roofline/walk.h"

struct pf_roof_replayed *pf_roof_replayed_new(struct pf_roof_walk *out,
					      struct pf_graphs *graphs);
/*
 * The next work of a call, in order of time, with all but what tells its call:
 * 1 if a graph has its operator, and it was taken; 0; or -1.
 */
int pf_roof_replayed_add(struct pf_roof_replayed *r, int64_t launch_id,
			 const struct pf_roof_work *work, bool is_comm,
			 struct pf_err *err);
/* All came: what has no model is listed.  NULL is allowed. */
void pf_roof_replayed_close(struct pf_roof_replayed *r);

#endif
