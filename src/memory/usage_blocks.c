/* SPDX-License-Identifier: MIT */
/*
 * The second pass: which blocks are alive, by address.  An address that is
 * allocated again without being freed loses its old block then; one that is
 * freed without having been allocated is memory from before the capture, or
 * freed twice if it was freed in the capture.
 */
#include "config.h"

#include <stdlib.h>

#include "memory/usage_impl.h"
#include "base/mem.h"
#include "base/sat.h"

#define UNSEEN UINT64_MAX
#define FREED  (UINT64_MAX - 1)

/* ---- groups ---- */

static struct pf_usage_group *find_group(struct pf_usage_groups *g,
					 const struct pf_usage_group_key *key)
{
	uint32_t known = g->keys.count;
	uint32_t n = pf_intern_add(&g->keys, (const char *)key, sizeof(*key));

	if (g->keys.count != known) {
		g->items = pf_grow(g->items, &g->cap, g->keys.count,
				   sizeof(*g->items));
		g->items[n] = (struct pf_usage_group){ .key = *key,
						       .oldest_ns = INT64_MAX };
	}
	return &g->items[n];
}

static void add_block(struct pf_usage_groups *g, uint32_t device,
		      const struct pf_usage_block *b, bool by_size)
{
	struct pf_usage_group_key key = { device, b->site,
					  by_size ? b->bytes : -1 };
	struct pf_usage_group *group = find_group(g, &key);

	group->count++;
	pf_sat_sum(&group->bytes, b->bytes);
	if (b->bytes > group->largest)
		group->largest = b->bytes;
	if (b->time_ns < group->oldest_ns)
		group->oldest_ns = b->time_ns;
}

/* ---- the peak and the end ---- */

static void settle_peak(struct pf_usage *u, uint32_t device)
{
	struct pf_usage_device *d = &u->devices[device];

	d->is_settled = true;
	for (size_t i = 0; i < d->block_count; i++) {
		if (!d->blocks[i].is_used)
			continue;
		d->alive_count++;
		pf_sat_sum(&d->alive, d->blocks[i].bytes);
		add_block(&u->alive, device, &d->blocks[i], false);
	}
}

/* A row of events: freed_ns is of no meaning unless is_freed. */
static int put_event(struct pf_usage *u, uint32_t device,
		     const struct pf_usage_block *b, int64_t freed_ns,
		     bool is_freed, struct pf_err *err)
{
	const struct pf_window_trace *trace = u->allocs.devices[device].trace;
	struct pf_table *t = u->events;

	if (!t || !b->is_inside)
		return 0;
	pf_usage_put_device(u, t, device);
	pf_table_int(t, b->bytes);
	pf_table_int(t, pf_sat_sub(b->time_ns, trace->first_ns));
	pf_usage_put(t, pf_sat_sub(freed_ns, trace->first_ns), is_freed);
	pf_usage_put(t, pf_sat_sub(freed_ns, b->time_ns), is_freed);
	if (pf_usage_put_site(u, t, b->site, err) < 0)
		return -1;
	pf_usage_put_ids(u, t, device);
	return 0;
}

static int settle_end(struct pf_usage *u, uint32_t device, struct pf_err *err)
{
	struct pf_usage_device *d = &u->devices[device];

	for (size_t i = 0; i < d->block_count; i++) {
		const struct pf_usage_block *b = &d->blocks[i];

		if (!b->is_used || !b->is_inside)
			continue;
		d->kept_count++;
		pf_sat_sum(&d->kept_bytes, b->bytes);
		add_block(&u->kept, device, b, true);
		if (put_event(u, device, b, 0, false, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- blocks ---- */

static size_t free_place(struct pf_usage_device *d)
{
	if (d->free_count)
		return d->free_places[--d->free_count];
	d->blocks = pf_grow(d->blocks, &d->block_cap, d->block_count + 1,
			    sizeof(*d->blocks));
	return d->block_count++;
}

static void drop_block(struct pf_usage_device *d, size_t place)
{
	d->blocks[place].is_used = false;
	d->free_places = pf_grow(d->free_places, &d->free_cap,
				 d->free_count + 1, sizeof(*d->free_places));
	d->free_places[d->free_count++] = place;
}

static int allocate(struct pf_usage *u, const struct pf_alloc *r,
		    struct pf_err *err)
{
	struct pf_usage_device *d = &u->devices[r->device];
	uint64_t *known = pf_map_at(&d->by_address, (uint64_t)r->address);
	size_t place;

	if (*known < FREED) {
		place = (size_t)*known;
		d->reused_count += (r->flags & PF_ALLOC_INSIDE) != 0;
		if (put_event(u, r->device, &d->blocks[place], 0, false, err) <
		    0)
			return -1;
	} else {
		place = free_place(d);
		*known = place;
	}
	d->blocks[place] = (struct pf_usage_block){
		.time_ns = r->time_ns,
		.bytes = r->bytes,
		.site = r->site,
		.is_inside = r->flags & PF_ALLOC_INSIDE,
		.is_used = true,
	};
	return 0;
}

static int release(struct pf_usage *u, const struct pf_alloc *r,
		   struct pf_err *err)
{
	struct pf_usage_device *d = &u->devices[r->device];
	uint64_t *known = pf_map_at(&d->by_address, (uint64_t)r->address);
	bool is_inside = r->flags & PF_ALLOC_INSIDE;
	int rc = 0;

	if (*known == FREED) {
		d->twice_count += is_inside;
	} else if (*known == UNSEEN) {
		d->early_count += is_inside;
		if (is_inside)
			d->early_bytes = pf_sat_sub(d->early_bytes, r->bytes);
	} else {
		rc = put_event(u, r->device, &d->blocks[*known], r->time_ns,
			       true, err);
		drop_block(d, (size_t)*known);
	}
	*known = FREED;
	return rc;
}

/* ---- the curve ---- */

static int64_t part_width(const struct pf_usage *u,
			  const struct pf_usage_device *d)
{
	int64_t span = pf_sat_sub(d->last_ns, d->first_ns);

	return span / u->args->points + 1;
}

static void end_part(struct pf_usage *u, uint32_t device)
{
	struct pf_usage_device *d = &u->devices[device];
	const struct pf_window_trace *trace = u->allocs.devices[device].trace;
	struct pf_table *t = u->curve;
	int64_t width = part_width(u, d);

	if (d->part < 0)
		return;
	pf_usage_put_device(u, t, device);
	pf_table_int(
		t, pf_sat_sub(d->first_ns + d->part * width, trace->first_ns));
	pf_table_int(t, d->low);
	pf_table_int(t, d->high);
	pf_table_int(t, pf_sat_sub(d->high_ns, trace->first_ns));
	pf_table_int(t, d->last);
	pf_usage_put(t, d->high_reserved, d->has_reserved);
	pf_usage_put_ids(u, t, device);
}

static void draw(struct pf_usage *u, const struct pf_alloc *r)
{
	struct pf_usage_device *d = &u->devices[r->device];
	int64_t part, level;

	if (!u->curve || !(r->flags & PF_ALLOC_INSIDE))
		return;
	part = pf_sat_sub(r->time_ns, d->first_ns) / part_width(u, d);
	if (!d->has_curve_level) {
		d->curve_level = d->start_level;
		d->has_curve_level = true;
	}
	if (part != d->part) {
		end_part(u, r->device);
		d->part = part;
		d->low = d->high = d->curve_level;
		d->high_ns = r->time_ns;
		d->high_reserved = 0;
	}
	level = d->is_absolute && r->flags & PF_ALLOC_TOTAL
			? pf_allocs_total(&u->allocs, r)
			: pf_sat_add(d->curve_level, r->bytes);
	d->curve_level = d->last = level;
	if (level < d->low)
		d->low = level;
	if (level > d->high) {
		d->high = level;
		d->high_ns = r->time_ns;
	}
	if (r->reserved > d->high_reserved)
		d->high_reserved = r->reserved;
}

/* ---- records ---- */

static int put_oom(struct pf_usage *u, const struct pf_alloc *r,
		   struct pf_err *err)
{
	const struct pf_window_trace *trace =
		u->allocs.devices[r->device].trace;
	struct pf_table *t = u->oom;

	if (!(r->flags & PF_ALLOC_INSIDE))
		return 0;
	pf_usage_put_device(u, t, r->device);
	pf_table_int(t, pf_sat_sub(r->time_ns, trace->first_ns));
	pf_table_int(t, r->bytes);
	pf_usage_put(t, pf_allocs_total(&u->allocs, r),
		     r->flags & PF_ALLOC_TOTAL);
	pf_usage_put(t, r->reserved, r->flags & PF_ALLOC_RESERVED);
	if (pf_usage_put_site(u, t, r->site, err) < 0)
		return -1;
	pf_usage_put_ids(u, t, r->device);
	return 0;
}

static int add_record(struct pf_usage *u, const struct pf_alloc *r, uint64_t at,
		      struct pf_err *err)
{
	struct pf_usage_device *d = &u->devices[r->device];
	int rc = 0;

	if (d->has_inside && !d->is_settled && d->peak_at <= at)
		settle_peak(u, r->device);
	if (r->flags & PF_ALLOC_OOM)
		return put_oom(u, r, err);
	draw(u, r);
	if (!(r->flags & PF_ALLOC_ADDRESS))
		return 0;
	if (r->bytes > 0)
		rc = allocate(u, r, err);
	else if (r->bytes < 0)
		rc = release(u, r, err);
	return rc;
}

static int end_devices(struct pf_usage *u, struct pf_err *err)
{
	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		if (u->devices[i].has_inside && !u->devices[i].is_settled)
			settle_peak(u, i);
		if (settle_end(u, i, err) < 0)
			return -1;
		if (u->curve)
			end_part(u, i);
	}
	return 0;
}

int pf_usage_blocks(struct pf_usage *u, struct pf_err *err)
{
	uint64_t count = pf_spool_count(u->allocs.records);

	for (uint64_t i = 0; i < count; i++) {
		const struct pf_alloc *r =
			pf_spool_at(u->allocs.records, i, err);

		if (!r || add_record(u, r, i, err) < 0)
			return -1;
	}
	return end_devices(u, err);
}
