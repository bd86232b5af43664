/* SPDX-License-Identifier: MIT */
/*
 * Events into a chunk: type, length, body, and the differences that
 * FORMAT.md describes.  One writer at a time.
 */
#ifndef PF_AGENT_EVENTS_H
#define PF_AGENT_EVENTS_H

#include "bytes.h"
#include "queue.h"

enum pf_event_type {
	PF_EV_KERNEL = 1,
	PF_EV_KERNEL_INLINE,
	PF_EV_MEMCPY,
	PF_EV_MEMSET,
	PF_EV_API,
	PF_EV_SYNC,
	PF_EV_EVENT,
	PF_EV_OVERHEAD,
	PF_EV_MEMORY,
	PF_EV_GRAPH,
	PF_EV_JIT,
	PF_EV_INTERNAL,
	PF_EV_UVM,
	PF_EV_ENV,
	PF_EV_EXTERNAL,
	PF_EV_PUSH,
	PF_EV_POP,
	PF_EV_MARK,
	PF_EV_RANGE_START,
	PF_EV_RANGE_END,
	PF_EV_NO_TIME = 0x80
};

#define PF_NAME_MAX  16384u /* of a name in an event */
#define PF_EVENT_MAX 448u   /* of an event without its names */

struct pf_events {
	struct pf_chunk *chunk; /* NULL: none at hand */
	uint64_t start;         /* previous start */
	uint32_t correlation;   /* previous correlation */
	uint8_t *at, *body;     /* in the event that is being written */
};

/* Is there room for an event with this many bytes of names? */
static inline bool pf_events_fit(const struct pf_events *e, uint32_t names)
{
	return PF_CHUNK_BYTES - e->chunk->len >= PF_EVENT_MAX + names;
}

/* Begin an event.  The first one of a chunk makes `base_ns` its base time. */
static inline void pf_events_begin(struct pf_events *e, uint8_t type,
				   uint64_t base_ns)
{
	uint8_t *p = e->chunk->data + e->chunk->len;

	if (!e->chunk->len) {
		p = pf_put_varint(p, base_ns);
		e->start = base_ns;
		e->correlation = 0;
	}
	*p++ = type;
	e->body = p + 1; /* moved if the length needs more than a byte */
	e->at = e->body;
}

static inline void pf_events_put(struct pf_events *e, uint64_t v)
{
	e->at = pf_put_varint(e->at, v);
}

/* The times of an event that has them. */
static inline void pf_events_times(struct pf_events *e, uint64_t start,
				   uint64_t end)
{
	e->at = pf_put_difference(e->at, start, e->start);
	e->at = pf_put_difference(e->at, end, start);
	e->start = start;
}

static inline void pf_events_time(struct pf_events *e, uint64_t start)
{
	e->at = pf_put_difference(e->at, start, e->start);
	e->start = start;
}

static inline void pf_events_correlation(struct pf_events *e, uint32_t c)
{
	e->at = pf_put_difference(e->at, c, e->correlation);
	e->correlation = c;
}

/* A name in place of an id: at most PF_NAME_MAX bytes. */
static inline void pf_events_text(struct pf_events *e, const void *text,
				  uint32_t len)
{
	e->at = pf_put_varint(e->at, (uint64_t)len << 1 | 1);
	memcpy(e->at, text, len);
	e->at += len;
}

static inline void pf_events_end(struct pf_events *e)
{
	uint32_t len = (uint32_t)(e->at - e->body);

	if (len < 255) {
		e->body[-1] = (uint8_t)len;
	} else {
		uint32_t more = pf_varint_length(len);
		memmove(e->body + more, e->body, len);
		e->body[-1] = 255;
		pf_put_varint(e->body, len);
		e->at += more;
	}
	e->chunk->len = (uint32_t)(e->at - e->chunk->data);
	e->chunk->events++;
}

#endif
