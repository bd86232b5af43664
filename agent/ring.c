/* SPDX-License-Identifier: MIT */
/*
 * Slots from tail to head are the writer's, the others the thread's.  The
 * rule of admission: after a push, slots used + ranges open <= slots, so a
 * pop always finds one.
 */
#include "config.h"

#include "ring.h"

#include <sys/syscall.h>
#include <unistd.h>

#define WAKE_AT (PF_RING_SLOTS / 4)
#define SPARE   64u /* slots for ends of process ranges, from any thread */

size_t pf_rings_memory(void)
{
	return PF_RINGS * sizeof(struct pf_ring);
}

void pf_rings_init(struct pf_rings *r, uint8_t *memory)
{
	r->rings = (struct pf_ring *)(void *)memory;
}

struct pf_ring *pf_ring_take(struct pf_rings *r)
{
	for (uint32_t i = 0; i < PF_RINGS; i++) {
		struct pf_ring *ring = &r->rings[i];
		uint32_t state = PF_RING_FREE, high;
		if (!atomic_compare_exchange_strong(&ring->state, &state,
						    PF_RING_USED))
			continue;
		ring->tid = (uint32_t)syscall(SYS_gettid);
		ring->open = 0;
		ring->tail_seen = atomic_load(&ring->tail);
		memset(ring->depths, 0, sizeof(ring->depths));
		high = atomic_load(&r->high);
		while (high <= i &&
		       !atomic_compare_exchange_weak(&r->high, &high, i + 1))
			;
		return ring;
	}
	return NULL;
}

void pf_ring_end(struct pf_ring *r)
{
	atomic_store_explicit(&r->state, PF_RING_ENDED, memory_order_release);
}

static uint32_t slots_of(uint32_t text_len)
{
	return (text_len + (uint32_t)sizeof(struct pf_slot) - 1) /
	       (uint32_t)sizeof(struct pf_slot);
}

/* Is there room for `need` slots beside those that are kept free? */
static bool has_room(struct pf_ring *r, uint64_t head, uint32_t need,
		     uint32_t kept)
{
	if (head - r->tail_seen + need + kept <= PF_RING_SLOTS)
		return true;
	r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
	return head - r->tail_seen + need + kept <= PF_RING_SLOTS;
}

static void put_text(struct pf_ring *r, uint64_t at, const char *text,
		     uint32_t len)
{
	while (len) {
		uint32_t n = len < sizeof(struct pf_slot)
				     ? len
				     : (uint32_t)sizeof(struct pf_slot);
		memcpy(&r->slots[at++ % PF_RING_SLOTS], text, n);
		text += n;
		len -= n;
	}
}

bool pf_ring_add(struct pf_ring *r, const struct pf_slot *s, const char *text,
		 bool *wake)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	uint32_t need = 1 + slots_of(s->text_len);
	uint32_t kept = r->open + SPARE;
	uint64_t used;

	if (s->type == PF_EV_POP)
		kept = r->open - 1;
	else if (s->type == PF_EV_RANGE_END)
		kept = r->open;
	else if (s->type == PF_EV_PUSH)
		kept++;
	if (!has_room(r, head, need, kept))
		return false;
	if (s->type == PF_EV_PUSH)
		r->open++;
	if (s->type == PF_EV_POP)
		r->open--;
	r->slots[head % PF_RING_SLOTS] = *s;
	put_text(r, head + 1, text, s->text_len);
	used = head - r->tail_seen;
	*wake = used < WAKE_AT && used + need >= WAKE_AT;
	atomic_store_explicit(&r->head, head + need, memory_order_release);
	return true;
}

int pf_ring_open(struct pf_ring *r, uint32_t domain, bool recorded)
{
	struct pf_depth *d = &r->depths[domain];
	uint32_t at = d->depth++;

	if (at < PF_DEPTH_MAX) {
		uint64_t bit = UINT64_C(1) << at % 64;
		d->recorded[at / 64] &= ~bit;
		if (recorded)
			d->recorded[at / 64] |= bit;
	}
	return (int)at;
}

int pf_ring_close(struct pf_ring *r, uint32_t domain, bool *recorded)
{
	struct pf_depth *d = &r->depths[domain];
	uint32_t at;

	*recorded = false;
	if (!d->depth)
		return -1;
	at = --d->depth;
	if (at < PF_DEPTH_MAX)
		*recorded = d->recorded[at / 64] >> at % 64 & 1;
	return (int)at;
}

static void encode(const struct pf_ring *r, uint64_t at,
		   const struct pf_slot *s, struct pf_events *e)
{
	pf_events_begin(e, s->type, s->time_ns);
	pf_events_time(e, s->time_ns);
	pf_events_put(e, r->tid);
	if (s->text_len) {
		uint32_t left = s->text_len;
		pf_events_put(e, (uint64_t)left << 1 | 1);
		for (at++; left; at++) {
			uint32_t n =
				left < sizeof(*s) ? left : (uint32_t)sizeof(*s);
			memcpy(e->at, &r->slots[at % PF_RING_SLOTS], n);
			e->at += n;
			left -= n;
		}
	} else {
		pf_events_put(e, (uint64_t)s->name << 1);
	}
	pf_events_put(e, s->domain);
	pf_events_put(e, s->category);
	pf_events_put(e, s->colour);
	pf_events_put(e, s->range);
	pf_events_put(e, s->payload_type);
	if (s->payload_type)
		e->at = pf_put_u64(e->at, s->payload);
	pf_events_end(e);
}

bool pf_ring_read(struct pf_ring *r, struct pf_events *e, bool *full)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	const struct pf_slot *s = &r->slots[tail % PF_RING_SLOTS];
	/* before the head: what is there after the end is all there will be */
	uint32_t state = atomic_load_explicit(&r->state, memory_order_acquire);

	if (state == PF_RING_FREE)
		return false;
	if (tail == atomic_load_explicit(&r->head, memory_order_acquire)) {
		if (state == PF_RING_ENDED)
			atomic_store_explicit(&r->state, PF_RING_FREE,
					      memory_order_release);
		return false;
	}
	*full = !pf_events_fit(e, s->text_len);
	if (*full)
		return false;
	encode(r, tail, s, e);
	atomic_store_explicit(&r->tail, tail + 1 + slots_of(s->text_len),
			      memory_order_release);
	return true;
}
