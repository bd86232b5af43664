/* SPDX-License-Identifier: MIT */
/*
 * The second pass: which blocks are alive, by address.  An address that is
 * allocated again without being freed loses its old block then; one that is
 * freed without having been allocated is memory from before the capture, or
 * freed twice if it was freed in the capture.
 */
#include "config.h"

#include <stdlib.h>

#include "analysis/memory/usage_impl.h"
#include "base/mem.h"
#include "base/sat.h"
#include "formats/event.h"

#define UNSEEN UINT64_MAX
#define FREED  (UINT64_MAX - 1)

/* ---- groups ---- */

static struct usage_group *find_group(struct usage_groups *g,
				      const struct usage_group_key *key)
{
	uint32_t known = g->keys.count;
	uint32_t n = pf_intern_add(&g->keys, (const char *)key, sizeof(*key));

	if (g->keys.count != known) {
		g->items = pf_grow(g->items, &g->cap, g->keys.count,
				   sizeof(*g->items));
		g->items[n] = (struct usage_group){ .key = *key,
						    .oldest_ns = INT64_MAX };
	}
	return &g->items[n];
}

static void add_block(struct usage_groups *g, uint32_t device,
		      const struct usage_block *b, bool by_size)
{
	struct usage_group_key key = { device, b->site,
				       by_size ? b->bytes : -1 };
	struct usage_group *group = find_group(g, &key);

	group->count++;
	pf_sat_sum(&group->bytes, b->bytes);
	if (b->bytes > group->largest)
		group->largest = b->bytes;
	if (b->time_ns < group->oldest_ns)
		group->oldest_ns = b->time_ns;
}

/* ---- the peak and the end ---- */

static void settle_peak(struct usage *u, uint32_t device)
{
	struct usage_device *d = &u->devices[device];

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
static int put_event(struct usage *u, uint32_t device,
		     const struct usage_block *b, int64_t freed_ns,
		     bool is_freed, struct pf_err *err)
{
	int64_t first_ns = u->allocs.devices[device].trace->first_ns;
	struct usage_event event = { .at = u->devices[device].at,
				     .bytes = b->bytes,
				     .freed_ns = PF_NO_INT,
				     .lifetime_ns = PF_NO_INT };
	const struct pf_usage_where *at = &event.at;

	if (!u->out->events || !b->is_inside)
		return 0;
	event.allocated_ns = pf_usage_since(at, b->time_ns, first_ns);
	if (is_freed) {
		event.freed_ns = pf_usage_since(at, freed_ns, first_ns);
		event.lifetime_ns = pf_usage_since(at, freed_ns, b->time_ns);
	}

	if (pf_usage_site(u, b->site, &event.site, err) < 0)
		return -1;
	pf_usage_events_add(u->out->events, &event,
			    pf_snap_state_is(&u->out->snap));
	return 0;
}

static int settle_end(struct usage *u, uint32_t device, struct pf_err *err)
{
	struct usage_device *d = &u->devices[device];

	for (size_t i = 0; i < d->block_count; i++) {
		const struct usage_block *b = &d->blocks[i];

		if (!b->is_used || !b->is_inside)
			continue;
		d->kept_count++;
		pf_sat_sum(&d->kept_bytes, b->bytes);
		add_block(&u->kept, device, b,
			  pf_allocs_site(&u->allocs, b->site).stack ==
				  PF_ID_NONE);
		if (put_event(u, device, b, 0, false, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- blocks ---- */

static size_t free_place(struct usage_device *d)
{
	if (d->free_count)
		return d->free_places[--d->free_count];
	d->blocks = pf_grow(d->blocks, &d->block_cap, d->block_count + 1,
			    sizeof(*d->blocks));
	return d->block_count++;
}

static void drop_block(struct usage_device *d, size_t place)
{
	d->blocks[place].is_used = false;
	d->free_places = pf_grow(d->free_places, &d->free_cap,
				 d->free_count + 1, sizeof(*d->free_places));
	d->free_places[d->free_count++] = place;
}

static int allocate(struct usage *u, const struct pf_alloc *r,
		    struct pf_err *err)
{
	struct usage_device *d = &u->devices[r->device];
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
	d->blocks[place] = (struct usage_block){
		.time_ns = r->time_ns,
		.bytes = r->bytes,
		.site = r->site,
		.is_inside = r->flags & PF_ALLOC_INSIDE,
		.is_used = true,
	};
	return 0;
}

static int release(struct usage *u, const struct pf_alloc *r,
		   struct pf_err *err)
{
	struct usage_device *d = &u->devices[r->device];
	uint64_t *known = pf_map_at(&d->by_address, (uint64_t)r->address);
	bool is_inside = r->flags & PF_ALLOC_INSIDE;
	int rc = 0;

	if (*known == FREED) {
		d->twice_count += is_inside;
	} else if (*known == UNSEEN) {
		d->early_count += is_inside;
		d->has_early_unsized |= is_inside && !r->bytes;
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

static int64_t part_width(const struct usage *u, const struct usage_device *d)
{
	int64_t span = pf_sat_sub(d->last_ns, d->first_ns);

	return span / u->args->points + 1;
}

static void end_part(struct usage *u, uint32_t device)
{
	struct usage_device *d = &u->devices[device];
	struct pf_usage *out = u->out;
	int64_t first_ns = u->allocs.devices[device].trace->first_ns;
	int64_t from;

	if (d->part < 0)
		return;
	from = d->first_ns + d->part * part_width(u, d);
	out->curve = pf_grow(out->curve, &out->point_cap, out->point_count + 1,
			     sizeof(*out->curve));
	out->curve[out->point_count++] = (struct pf_usage_point){
		.at = d->at,
		.time_ns = pf_usage_since(&d->at, from, first_ns),
		.entry = pf_usage_entries(&d->at, from, first_ns),
		.low = d->low,
		.high = d->high,
		.high_ns = pf_usage_since(&d->at, d->high_ns, first_ns),
		.last = d->last,
		.reserved = pf_usage_maybe(d->high_reserved, d->has_reserved)
	};
}

static void draw(struct usage *u, const struct pf_alloc *r)
{
	struct usage_device *d = &u->devices[r->device];
	int64_t part, level;

	if (!u->out->has_curve || !(r->flags & PF_ALLOC_INSIDE))
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

static int put_oom(struct usage *u, const struct pf_alloc *r,
		   struct pf_err *err)
{
	int64_t first_ns = u->allocs.devices[r->device].trace->first_ns;
	struct pf_usage *out = u->out;
	const struct pf_usage_where *at = &u->devices[r->device].at;
	struct pf_usage_oom oom = {
		.at = *at,
		.time_ns = pf_usage_since(at, r->time_ns, first_ns),
		.bytes = r->bytes,
		.allocated = pf_usage_maybe(pf_allocs_total(&u->allocs, r),
					    r->flags & PF_ALLOC_TOTAL),
		.reserved = pf_usage_maybe(r->reserved,
					   r->flags & PF_ALLOC_RESERVED),
		.device_free = r->device_free,
		.unused = PF_NO_INT
	};

	if (!(r->flags & PF_ALLOC_INSIDE))
		return 0;
	if (pf_usage_site(u, r->site, &oom.site, err) < 0)
		return -1;
	if (oom.allocated != PF_NO_INT && oom.reserved != PF_NO_INT) {
		oom.unused = pf_sat_sub(oom.reserved, oom.allocated);
		oom.fragmented = oom.unused >= oom.bytes ? "yes" : "no";
	}
	out->ooms = pf_grow(out->ooms, &out->oom_cap, out->oom_count + 1,
			    sizeof(*out->ooms));
	out->ooms[out->oom_count++] = oom;
	return 0;
}

static int add_record(struct usage *u, const struct pf_alloc *r, uint64_t at,
		      struct pf_err *err)
{
	struct usage_device *d = &u->devices[r->device];
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
	else if (r->bytes < 0 || r->flags & PF_ALLOC_UNSIZED)
		rc = release(u, r, err);
	return rc;
}

static int end_devices(struct usage *u, struct pf_err *err)
{
	for (uint32_t i = 0; i < u->allocs.device_count; i++) {
		if (u->devices[i].has_inside && !u->devices[i].is_settled)
			settle_peak(u, i);
		if (settle_end(u, i, err) < 0)
			return -1;
		if (u->out->has_curve)
			end_part(u, i);
	}
	return 0;
}

int pf_usage_blocks(struct usage *u, struct pf_err *err)
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
