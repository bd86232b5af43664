/* SPDX-License-Identifier: MIT */
/* Invariant: an address's value is CLOSED, or the bytes of what is open. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/memory/alloc_sizes.h"
#include "base/mem.h"
#include "base/sat.h"

#define CLOSED UINT64_MAX /* as pf_map_at() has new ones */

void pf_alloc_sizes_init(struct pf_alloc_sizes *t)
{
	*t = (struct pf_alloc_sizes){ 0 };
	pf_intern_init(&t->ops);
}

void pf_alloc_sizes_release(struct pf_alloc_sizes *t)
{
	for (uint32_t i = 0; i < t->device_count; i++)
		pf_map_release(&t->by_address[i]);
	free(t->by_address);
	pf_intern_release(&t->ops);
	*t = (struct pf_alloc_sizes){ 0 };
}

/* ---- sums ---- */

void pf_alloc_sums_add(struct pf_alloc_sums *to, const struct pf_alloc *r)
{
	if (r->bytes > 0) {
		to->count++;
		pf_sat_sum(&to->bytes, r->bytes);
	} else if (r->bytes < 0 || r->flags & PF_ALLOC_UNSIZED) {
		to->freed_count++;
		to->freed_bytes = pf_sat_sub(to->freed_bytes, r->bytes);
		to->unsized_count += r->bytes == 0;
	}
}

static void add_to_ops(struct pf_allocs *a, const struct pf_alloc *r,
		       const uint32_t *ops, size_t count)
{
	pf_alloc_sums_add(&a->ops[ops[0]].self, r);
	for (size_t i = 0; i < count; i++)
		pf_alloc_sums_add(&a->ops[ops[i]].total, r);
}

void pf_alloc_sizes_sum(struct pf_alloc_sizes *t, struct pf_allocs *a,
			struct pf_alloc *r, const uint32_t *ops, size_t count)
{
	if (r->flags & PF_ALLOC_UNSIZED)
		r->ops = pf_intern_add(&t->ops, (const char *)ops,
				       count * sizeof(*ops));
	else
		add_to_ops(a, r, ops, count);
}

static void sum_waiting(struct pf_alloc_sizes *t, struct pf_allocs *a,
			const struct pf_alloc *r)
{
	size_t len;
	const char *text = pf_intern_text(&t->ops, r->ops, &len);
	uint32_t *ops = pf_alloc(len);

	memcpy(ops, text, len); /* texts are not aligned */
	add_to_ops(a, r, ops, len / sizeof(*ops));
	free(ops);
}

/* ---- sizes ---- */

static void begin(struct pf_alloc_sizes *t, const struct pf_allocs *a)
{
	t->by_address = pf_calloc(a->device_count, sizeof(*t->by_address));
	t->device_count = a->device_count;
	for (uint32_t i = 0; i < t->device_count; i++)
		pf_map_init(&t->by_address[i]);
}

void pf_alloc_sizes_settle(struct pf_alloc_sizes *t, struct pf_allocs *a,
			   struct pf_alloc *r)
{
	bool is_unsized = r->flags & PF_ALLOC_UNSIZED;
	uint64_t *open;

	if (!a->devices[r->device].has_unsized || r->flags & PF_ALLOC_OOM)
		return;
	if (!t->by_address)
		begin(t, a);
	if (r->flags & PF_ALLOC_ADDRESS) {
		open = pf_map_at(&t->by_address[r->device],
				 (uint64_t)r->address);
		if (is_unsized && *open != CLOSED) {
			r->bytes = -(int64_t)*open;
			r->flags &= ~(uint32_t)PF_ALLOC_UNSIZED;
		}
		if (r->bytes)
			*open = r->bytes > 0 ? (uint64_t)r->bytes : CLOSED;
	}
	if (is_unsized && r->flags & PF_ALLOC_INSIDE)
		sum_waiting(t, a, r);
}
