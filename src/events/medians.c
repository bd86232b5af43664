/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "events/medians.h"

#include <stddef.h>

#include "base/stats.h"

int pf_medians_find(struct pf_sorter *values, const int64_t *counts,
		    int64_t *medians, struct pf_err *err)
{
	const struct pf_group_value *v;
	int64_t group = -1;
	size_t seen = 0;

	if (pf_sorter_finish(values, err) < 0)
		return -1;
	while ((v = pf_sorter_next(values, err))) {
		unsigned rest;
		size_t at = pf_stats_place((size_t)counts[v->group], 50, &rest);
		int64_t *median = &medians[v->group];

		seen = v->group == group ? seen + 1 : 0;
		group = v->group;
		if (seen == at)
			*median = v->value;
		else if (rest && seen == at + 1)
			*median = pf_stats_between(*median, v->value, rest);
	}
	return err->code ? -1 : 0;
}
