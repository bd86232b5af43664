/* SPDX-License-Identifier: MIT */
/*
 * An id is published by storing it into the index (release) after its entry
 * and its bytes are in place; whoever loads it (acquire) sees them.
 */
#include "config.h"

#include "defs.h"
#include "bytes.h"

#include <string.h>

#define STRINGS      65536u
#define STRING_BYTES (16u << 20)
#define LAUNCHES     262144u
#define LAUNCH_BYTES (20u << 20)
#define SMALL_BYTES  (2u << 20)
#define PER_ENTRY    12u /* table, length and id before the bytes, at most */
#define LOG_BYTES                                                              \
	(STRING_BYTES + LAUNCH_BYTES + SMALL_BYTES +                           \
	 PER_ENTRY * (STRINGS + LAUNCHES))

static size_t table_memory(uint32_t most)
{
	return most * sizeof(struct pf_def_entry) +
	       2 * (size_t)most * sizeof(uint32_t);
}

size_t pf_defs_memory(void)
{
	return LOG_BYTES + table_memory(STRINGS) + table_memory(LAUNCHES);
}

static uint8_t *table_init(struct pf_def_table *t, enum pf_def number,
			   uint32_t most, size_t most_bytes, uint8_t *memory)
{
	t->number = (uint8_t)number;
	t->most = most;
	t->mask = 2 * most - 1;
	t->most_bytes = most_bytes;
	t->entries = (struct pf_def_entry *)(void *)memory;
	t->index = (_Atomic uint32_t *)(void *)(t->entries + most);
	return memory + table_memory(most);
}

void pf_defs_init(struct pf_defs *d, uint8_t *memory)
{
	memory = table_init(&d->strings, PF_DEF_STRING, STRINGS, STRING_BYTES,
			    memory);
	memory = table_init(&d->launches, PF_DEF_LAUNCH, LAUNCHES, LAUNCH_BYTES,
			    memory);
	pf_log_init(&d->log, memory, LOG_BYTES);
}

static uint32_t hash_bytes(const uint8_t *p, uint32_t len)
{
	uint64_t h = len * UINT64_C(0x9E3779B97F4A7C15), v;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * UINT64_C(0xFF51AFD7ED558CCD);
		h ^= h >> 32;
	}
	v = 0;
	memcpy(&v, p, len);
	h = (h ^ v) * UINT64_C(0xC4CEB9FE1A85EC53);
	return (uint32_t)(h ^ h >> 32);
}

/*
 * Find the bytes; 0 if they are not there.  *slot is where the search ended.
 */
static uint32_t find(const struct pf_defs *d, const struct pf_def_table *t,
		     const void *bytes, uint32_t len, uint32_t hash,
		     uint32_t *slot)
{
	for (uint32_t i = hash & t->mask;; i = (i + 1) & t->mask) {
		uint32_t id = atomic_load_explicit(&t->index[i],
						   memory_order_acquire);
		const struct pf_def_entry *e;
		*slot = i;
		if (!id)
			return 0;
		e = &t->entries[id - 1];
		if (e->hash == hash && e->len == len &&
		    !memcmp(d->log.data + e->at, bytes, len))
			return id;
	}
}

/* Put an entry into the log, which is locked.  Where its bytes are. */
static size_t put_entry(struct pf_defs *d, uint8_t table, const uint64_t *ids,
			int id_count, const void *bytes, uint32_t len)
{
	uint8_t head[1 + 4 * PF_VARINT_MAX], *p = head;
	uint32_t body = len;
	size_t at;

	for (int i = 0; i < id_count; i++)
		body += pf_varint_length(ids[i]);
	*p++ = table;
	p = pf_put_varint(p, body);
	for (int i = 0; i < id_count; i++)
		p = pf_put_varint(p, ids[i]);
	at = atomic_load_explicit(&d->log.len, memory_order_relaxed);
	if ((size_t)(p - head) + len > d->log.room - at)
		return SIZE_MAX;
	memcpy(d->log.data + at, head, (size_t)(p - head));
	at += (size_t)(p - head);
	memcpy(d->log.data + at, bytes, len);
	atomic_store_explicit(&d->log.len, at + len, memory_order_release);
	return at;
}

/* Enter bytes that are not there; the log is locked. */
static uint32_t enter(struct pf_defs *d, struct pf_def_table *t,
		      const void *bytes, uint32_t len, uint32_t hash,
		      uint32_t slot, uint32_t share)
{
	uint64_t id = t->count + 1;
	size_t at;

	if (t->count >= (uint64_t)t->most * share / 256 ||
	    t->bytes + len > t->most_bytes / 256 * share)
		return 0;
	at = put_entry(d, t->number, &id, 1, bytes, len);
	if (at == SIZE_MAX)
		return 0;
	t->entries[t->count++] =
		(struct pf_def_entry){ (uint32_t)at, len, hash };
	t->bytes += len;
	atomic_store_explicit(&t->index[slot], (uint32_t)id,
			      memory_order_release);
	return (uint32_t)id;
}

uint32_t pf_defs_id(struct pf_defs *d, struct pf_def_table *t,
		    const void *bytes, uint32_t len, uint32_t share)
{
	uint32_t hash = hash_bytes(bytes, len), slot;
	uint32_t id = find(d, t, bytes, len, hash, &slot);

	if (id)
		return id;
	pthread_mutex_lock(&d->log.lock);
	id = find(d, t, bytes, len, hash, &slot);
	if (!id)
		id = enter(d, t, bytes, len, hash, slot, share);
	pthread_mutex_unlock(&d->log.lock);
	return id;
}

const char *pf_defs_string(const struct pf_defs *d, uint32_t id, uint32_t *len)
{
	const struct pf_def_entry *e = &d->strings.entries[id - 1];

	*len = e->len;
	return (const char *)d->log.data + e->at;
}

bool pf_defs_name(struct pf_defs *d, enum pf_def table, const uint64_t *ids,
		  int id_count, const void *bytes, uint32_t len)
{
	size_t at;

	pthread_mutex_lock(&d->log.lock);
	at = put_entry(d, (uint8_t)table, ids, id_count, bytes, len);
	pthread_mutex_unlock(&d->log.lock);
	return at != SIZE_MAX;
}
