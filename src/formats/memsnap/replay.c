/* SPDX-License-Identifier: MIT */
/*
 * Levels are worked out as entries come, from an unknown base.  What the
 * history lacks raises the base: a free of what was not allocated in it, and a
 * block in use that was not.  The final state says what is reserved at the
 * end, and so what it was at the start.
 */
#include "config.h"

#include "base/mem.h"
#include "base/sat.h"
#include "formats/memsnap/snap_impl.h"

#define GONE UINT64_MAX       /* of pf_map: nothing is allocated here */
#define SEEN (UINT64_MAX - 1) /* it is an active block of the end */

int pf_snap_device(struct pf_snap *s, int64_t number)
{
	for (size_t i = 0; i < s->device_count; i++)
		if (s->devices[i].number == number)
			return (int)i;
	if (s->device_count == PF_SNAP_DEVICES_MAX || number < 0)
		return -1;
	s->devices = pf_grow(s->devices, &s->device_cap, s->device_count + 1,
			     sizeof(*s->devices));
	s->devices[s->device_count] =
		(struct pf_snap_device){ .number = number };
	pf_map_init(&s->devices[s->device_count].open);
	return (int)s->device_count++;
}

static void alloc(struct pf_snap_device *d, const struct pf_snap_entry *e)
{
	uint64_t *size = pf_map_at(&d->open, (uint64_t)e->address);

	if (*size != GONE)
		d->twice_count++;
	else
		d->open_count++;
	*size = (uint64_t)e->size;
	d->level = pf_sat_add(d->level, e->size);
}

static void release(struct pf_snap_device *d, const struct pf_snap_entry *e)
{
	uint64_t *size = pf_map_at(&d->open, (uint64_t)e->address);
	int64_t bytes = e->size;

	if (*size == GONE) {
		d->early_count++;
		d->before_count++;
		d->base = pf_sat_add(d->base, bytes);
	} else {
		d->open_count--;
		d->differ_count += *size != (uint64_t)bytes;
		bytes = (int64_t)*size;
		*size = GONE;
	}
	d->level = pf_sat_sub(d->level, bytes);
}

static void settle_time(struct pf_snap *s, struct pf_snap_device *d,
			struct pf_snap_entry *e, bool has_time)
{
	if (!has_time) {
		e->time_us = d->timed_count ? d->last_us : d->entry_count;
		return;
	}
	if (d->timed_count++ && e->time_us < d->last_us) {
		d->late_count++;
		e->time_us = d->last_us;
	}
	if (d->timed_count == 1)
		d->first_us = e->time_us;
	d->last_us = e->time_us;
	if (!s->has_times || d->first_us < s->first_us)
		s->first_us = d->first_us;
	s->has_times = true;
}

int pf_snap_replay(struct pf_snap *s, struct pf_snap_entry *e, bool has_time,
		   struct pf_err *err)
{
	struct pf_snap_device *d = &s->devices[e->device];

	settle_time(s, d, e, has_time);
	d->entry_count++;
	switch ((enum pf_snap_action)e->action) {
	case PF_SNAP_ALLOC:
		alloc(d, e);
		break;
	case PF_SNAP_FREE:
		release(d, e);
		break;
	case PF_SNAP_SEGMENT_ALLOC:
	case PF_SNAP_SEGMENT_MAP:
		d->reserved = pf_sat_add(d->reserved, e->size);
		break;
	case PF_SNAP_SEGMENT_FREE:
	case PF_SNAP_SEGMENT_UNMAP:
		d->reserved = pf_sat_sub(d->reserved, e->size);
		break;
	default:
		break;
	}
	e->level = d->level;
	e->reserved = d->reserved;
	return pf_spool_add(s->entries, e, err);
}

/* ---- the final state ---- */

void pf_snap_place_block(struct pf_snap_block *b,
			 const struct pf_snap_segment *g, int64_t at)
{
	uint64_t from = (uint64_t)g->address, to = from + (uint64_t)at;

	b->address_is = g->address_is;
	if (g->address < 0 && !(g->address_is & PF_SNAP_UNSIGNED)) {
		b->address = g->address + at;
		return;
	}
	b->address = (int64_t)(to < from ? UINT64_MAX : to);
	if (b->address < 0)
		b->address_is |= PF_SNAP_UNSIGNED;
}

static void meet(struct pf_snap_device *d, const struct pf_snap_block *b)
{
	uint64_t *size = pf_map_at(&d->open, (uint64_t)b->address);

	if (*size == GONE || *size == SEEN) {
		if (!b->is_in_use)
			return;
		d->before_count++;
		d->base = pf_sat_add(d->base, b->requested);
		return;
	}
	d->open_count--;
	d->differ_count += *size != (uint64_t)b->requested;
	*size = SEEN;
}

static int meet_all(struct pf_snap *s, struct pf_err *err)
{
	for (uint64_t i = 0; i < pf_spool_count(s->blocks); i++) {
		const struct pf_snap_block *b = pf_spool_at(s->blocks, i, err);
		const struct pf_snap_segment *g;
		struct pf_snap_block block;
		int device;

		if (!b)
			return -1;
		block = *b;
		g = pf_spool_at(s->segments, (uint64_t)block.segment, err);
		if (!g)
			return -1;
		device = pf_snap_device(s, g->device);
		if (device >= 0 && block.is_active && block.address_is &&
		    !s->devices[device].is_cut)
			meet(&s->devices[device], &block);
	}
	return 0;
}

int pf_snap_settle(struct pf_snap *s, struct pf_err *err)
{
	if (meet_all(s, err))
		return -1;
	for (size_t i = 0; i < s->device_count; i++) {
		struct pf_snap_device *d = &s->devices[i];

		if (d->is_cut)
			continue;
		d->no_block_count = d->open_count;
		d->reserved_base = pf_sat_sub(d->segment_total, d->reserved);
		d->has_reserved_base = true;
	}
	for (uint64_t i = 0; i < pf_spool_count(s->entries); i++) {
		const struct pf_snap_entry *e = pf_spool_at(s->entries, i, err);
		struct pf_snap_device *d;

		if (!e)
			return -1;
		d = &s->devices[e->device];
		if (pf_sat_add(d->reserved_base, e->reserved) < 0)
			d->has_reserved_base = false;
	}
	return 0;
}

int64_t pf_snap_exceptions(const struct pf_snap_device *d)
{
	return d->twice_count + d->differ_count + d->no_block_count +
	       d->late_count + (!d->has_reserved_base && !d->is_cut);
}
