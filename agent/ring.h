/* SPDX-License-Identifier: MIT */
/*
 * NVTX events on their way from the program's threads to the writer: a ring
 * of fixed slots for each thread, no lock, and a full ring drops what comes
 * (the caller counts it).  A range that was pushed keeps a slot for its pop,
 * so a push and its pop are in the file both or not at all.
 */
#ifndef PF_AGENT_RING_H
#define PF_AGENT_RING_H

#include "events.h"

#include <stdatomic.h>
#include <stdbool.h>

#define PF_RING_SLOTS 8192u
#define PF_RINGS      256u
#define PF_DOMAINS    256u /* of NVTX, the default one counted */
#define PF_DEPTH_MAX  256u /* ranges open in a thread and a domain */

struct pf_slot {
	uint64_t time_ns, payload, range;
	uint32_t name; /* string id */
	uint32_t domain, category, colour;
	uint8_t type; /* enum pf_event_type */
	uint8_t payload_type;
	uint16_t unused;
	uint32_t text_len; /* of a name in the slots that follow */
};

struct pf_depth {
	uint32_t depth;
	uint64_t recorded[PF_DEPTH_MAX / 64];
};

struct pf_ring {
	_Atomic uint32_t state; /* enum pf_ring_state */
	uint32_t tid;
	_Atomic uint64_t head, tail; /* written, read so far */
	uint64_t tail_seen;          /* by the thread */
	uint32_t open;               /* recorded pushes without a pop */
	struct pf_depth depths[PF_DOMAINS];
	struct pf_slot slots[PF_RING_SLOTS];
};

enum pf_ring_state { PF_RING_FREE, PF_RING_USED, PF_RING_ENDED };

struct pf_rings {
	struct pf_ring *rings;
	_Atomic uint32_t high; /* rings below were used at some time */
};

size_t pf_rings_memory(void);
void pf_rings_init(struct pf_rings *r, uint8_t *memory);

/* A ring for the calling thread, or NULL if all are taken. */
struct pf_ring *pf_ring_take(struct pf_rings *r);

/* Its thread has ended: free it once it has been read. */
void pf_ring_end(struct pf_ring *r);

/*
 * Add an event, with `text_len` bytes of text for a name without an id.
 * False if there is no room.  *wake is set when the writer
 * should look, because the ring fills.
 */
bool pf_ring_add(struct pf_ring *r, const struct pf_slot *s, const char *text,
		 bool *wake);

/*
 * Note that a range was opened, and whether it was recorded; its depth.
 * Note that one was closed: the depth then, or -1 if none was open;
 * *recorded is what was noted.
 */
int pf_ring_open(struct pf_ring *r, uint32_t domain, bool recorded);
int pf_ring_close(struct pf_ring *r, uint32_t domain, bool *recorded);

/*
 * Encode the oldest event.  False if there is none, or if the chunk has no
 * room for it: then *full is set.
 */
bool pf_ring_read(struct pf_ring *r, struct pf_events *e, bool *full);

#endif
