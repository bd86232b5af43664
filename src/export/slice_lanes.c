/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "export/slice_impl.h"
#include "base/mem.h"

void pf_lanes_clear(struct pf_lanes *l)
{
	for (size_t i = 0; i < l->count; i++)
		pf_nest_clear(&l->items[i]);
	l->count = 0;
}

void pf_lanes_release(struct pf_lanes *l)
{
	for (size_t i = 0; i < l->cap; i++)
		pf_nest_release(&l->items[i]);
	free(l->items);
	*l = (struct pf_lanes){ 0 };
}

static bool place(struct pf_nest *lane, int64_t start_ns, int64_t end_ns)
{
	const int64_t *around_ns;

	pf_nest_drop(lane, start_ns);
	around_ns = pf_nest_top(lane);
	return (!around_ns || *around_ns >= end_ns) &&
	       pf_nest_push(lane, end_ns);
}

static const int64_t nothing;

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
			l->items[i] = (struct pf_nest){ .width = sizeof(end_ns),
							.outermost = &nothing };
	}
	place(&l->items[l->count], start_ns, end_ns);
	return (int)l->count++;
}
