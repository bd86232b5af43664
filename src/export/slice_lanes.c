/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "export/slice_impl.h"
#include "base/mem.h"

void pf_lanes_clear(struct pf_lanes *l)
{
	for (size_t i = 0; i < l->count; i++)
		l->items[i].depth = 0;
	l->count = 0;
}

void pf_lanes_release(struct pf_lanes *l)
{
	for (size_t i = 0; i < l->cap; i++)
		free(l->items[i].ends);
	free(l->items);
	*l = (struct pf_lanes){ 0 };
}

static bool place(struct pf_lane *lane, int64_t start_ns, int64_t end_ns)
{
	while (lane->depth && lane->ends[lane->depth - 1] <= start_ns)
		lane->depth--;
	if (lane->depth && lane->ends[lane->depth - 1] < end_ns)
		return false;
	lane->ends = pf_grow(lane->ends, &lane->cap, lane->depth + 1,
			     sizeof(*lane->ends));
	lane->ends[lane->depth++] = end_ns;
	return true;
}

int pf_lanes_place(struct pf_lanes *l, int64_t start_ns, int64_t end_ns)
{
	for (size_t i = 0; i < l->count; i++)
		if (place(&l->items[i], start_ns, end_ns))
			return (int)i;
	if (l->count == PF_LANES_MAX)
		return -1;
	if (l->count == l->cap) {
		size_t old = l->cap;

		l->items = pf_grow(l->items, &l->cap, l->count + 1,
				   sizeof(*l->items));
		for (size_t i = old; i < l->cap; i++)
			l->items[i] = (struct pf_lane){ 0 };
	}
	place(&l->items[l->count], start_ns, end_ns);
	return (int)l->count++;
}
