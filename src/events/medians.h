/* SPDX-License-Identifier: MIT */
/*
 * The medians of many groups of values that come in any order, in fixed
 * memory: values go through a sorter.
 */
#ifndef PF_EVENTS_MEDIANS_H
#define PF_EVENTS_MEDIANS_H

#include <stdint.h>

#include "base/err.h"
#include "base/spool.h"

/* What such a sorter is fed: the number of a group and one of its values. */
struct pf_group_value {
	int64_t group, value;
};

static inline int pf_medians_add(struct pf_sorter *values, int64_t group,
				 int64_t value, struct pf_err *err)
{
	struct pf_group_value v = { group, value };

	return pf_sorter_add(values, &v, err);
}

/*
 * All values are there: medians[g] of the counts[g] values of each group g, as
 * pf_stats_quantile() has them; what has none is left as it is.  0 or -1.
 */
int pf_medians_find(struct pf_sorter *values, const int64_t *counts,
		    int64_t *medians, struct pf_err *err);

#endif
