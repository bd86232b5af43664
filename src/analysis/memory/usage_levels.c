/* SPDX-License-Identifier: MIT */
/*
 * The first pass: levels.  Invariant: level is what is allocated after the
 * last record; start_level is taken when the first record inside the window
 * comes, or at the end if none does.
 */
#include "config.h"

#include "analysis/memory/usage_impl.h"
#include "base/sat.h"

static void begin(struct usage_device *d, const struct pf_alloc *r,
		  int64_t total)
{
	d->has_any = true;
	d->is_absolute = r->flags & PF_ALLOC_TOTAL;
	if (!d->is_absolute)
		return;
	d->level = total;
	if (!(r->flags & PF_ALLOC_OOM))
		d->level = pf_sat_sub(total, r->bytes);
	d->reserved = r->reserved;
}

static void begin_window(struct usage_device *d, const struct pf_alloc *r,
			 uint64_t at)
{
	d->has_inside = true;
	d->start_level = d->peak = d->level;
	d->first_ns = d->peak_ns = r->time_ns;
	d->peak_at = at;
	d->reserved_at_peak = d->peak_reserved = d->reserved;
}

/* The level after a record. */
static void step(struct usage_device *d, const struct pf_alloc *r,
		 int64_t total)
{
	int64_t expected = pf_sat_add(d->level, r->bytes);

	d->level = expected;
	if (!d->is_absolute || !(r->flags & PF_ALLOC_TOTAL))
		return;
	d->level = total;
	if (total == expected || r->flags & PF_ALLOC_UNSIZED)
		return;
	d->jump_count++;
	pf_sat_sum(&d->jump_bytes, pf_sat_sub(total, expected));
}

static void look(struct usage_device *d, const struct pf_alloc *r, uint64_t at)
{
	int64_t unused = pf_sat_sub(d->reserved, d->level);

	d->last_ns = r->time_ns;
	d->end_level = d->level;
	if (d->level > d->peak) {
		d->peak = d->level;
		d->peak_ns = r->time_ns;
		d->peak_at = at;
		d->reserved_at_peak = d->reserved;
	}
	if (d->reserved > d->peak_reserved)
		d->peak_reserved = d->reserved;
	if (d->has_reserved && d->is_absolute && unused > d->unused) {
		d->unused = unused;
		d->unused_ns = r->time_ns;
	}
}

static void add(struct usage_device *d, const struct pf_alloc *r, int64_t total,
		uint64_t at)
{
	bool is_inside = r->flags & PF_ALLOC_INSIDE;

	if (!d->has_any)
		begin(d, r, total);
	if (is_inside && !d->has_inside)
		begin_window(d, r, at);
	if (r->flags & PF_ALLOC_OOM) {
		d->oom_count += is_inside;
		return;
	}
	step(d, r, total);
	if (r->flags & PF_ALLOC_RESERVED) {
		d->reserved = r->reserved;
		/* it is 0 where the allocator keeps no memory back */
		d->has_reserved |= r->reserved != 0;
	}
	if (!is_inside)
		return;
	d->record_count++;
	d->no_address_count += !(r->flags & PF_ALLOC_ADDRESS);
	look(d, r, at + 1);
}

static void add_sums(struct usage *u)
{
	for (uint32_t i = 0; i < u->allocs.op_count; i++) {
		const struct pf_alloc_op *op = &u->allocs.ops[i];
		struct pf_alloc_sums *to = &u->devices[op->device].sums;

		to->count += op->self.count;
		to->freed_count += op->self.freed_count;
		to->unsized_count += op->self.unsized_count;
		pf_sat_sum(&to->bytes, op->self.bytes);
		pf_sat_sum(&to->freed_bytes, op->self.freed_bytes);
	}
}

int pf_usage_levels(struct usage *u, struct pf_err *err)
{
	uint64_t count = pf_spool_count(u->allocs.records);

	for (uint64_t i = 0; i < count; i++) {
		const struct pf_alloc *r =
			pf_spool_at(u->allocs.records, i, err);

		if (!r)
			return -1;
		add(&u->devices[r->device], r, pf_allocs_total(&u->allocs, r),
		    i);
	}
	add_sums(u);
	return 0;
}
