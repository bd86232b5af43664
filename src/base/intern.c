/* SPDX-License-Identifier: MIT */
/*
 * Open addressing, linear probing, at most half full; slots is a power of 2.
 */
#define XXH_INLINE_ALL
#include "config.h"

#include "base/intern.h"

#include <xxhash.h>

#define FIRST_SLOTS 256

void pf_intern_release(struct pf_intern *t)
{
	free(t->bytes);
	free(t->start);
	free(t->slot);
	free(t->hash);
	memset(t, 0, sizeof(*t));
}

const char *pf_intern_text(const struct pf_intern *t, uint32_t n, size_t *len)
{
	size_t end = n + 1 < t->count ? t->start[n + 1] : t->bytes_len;

	if (len)
		*len = end - t->start[n] - 1;
	return t->bytes + t->start[n];
}

static void intern_grow(struct pf_intern *t)
{
	free(t->slot);
	t->slots = t->slots ? t->slots * 2 : FIRST_SLOTS;
	t->slot = pf_calloc(t->slots, sizeof(*t->slot));
	t->seed = pf_hash_seed();
	for (uint32_t n = 0; n < t->count; n++) {
		size_t i = t->hash[n] & (t->slots - 1);

		while (t->slot[i])
			i = (i + 1) & (t->slots - 1);
		t->slot[i] = n + 1;
	}
}

uint32_t pf_intern_add(struct pf_intern *t, const char *p, size_t len)
{
	uint32_t hash;
	size_t i;

	if (!t->slots)
		intern_grow(t);
	hash = (uint32_t)XXH3_64bits_withSeed(p, len, t->seed);
	i = hash & (t->slots - 1);
	for (; t->slot[i]; i = (i + 1) & (t->slots - 1)) {
		uint32_t n = t->slot[i] - 1;
		size_t have;
		const char *text;

		if (t->hash[n] != hash)
			continue;
		text = pf_intern_text(t, n, &have);
		if (have == len && (!len || !memcmp(text, p, len)))
			return n;
	}
	PF_ROOM(t->start, t->start_cap, t->count + 1u);
	PF_ROOM(t->hash, t->hash_cap, t->count + 1u);
	t->bytes = pf_grow(t->bytes, &t->bytes_cap, t->bytes_len + len + 1, 1);
	t->start[t->count] = t->bytes_len;
	t->hash[t->count] = hash;
	if (len)
		memcpy(t->bytes + t->bytes_len, p, len);
	t->bytes[t->bytes_len + len] = '\0';
	t->bytes_len += len + 1;
	t->slot[i] = ++t->count;
	if (t->count * 2u > t->slots)
		intern_grow(t);
	return t->count - 1;
}

void pf_map_release(struct pf_map *m)
{
	free(m->slot);
	memset(m, 0, sizeof(*m));
}

/*
 * Where a key belongs: a factor that nobody knows spreads what a constant one
 * has mixed.
 */
static inline size_t place_of(const struct pf_map *m, uint64_t key)
{
	uint64_t h = (key ^ m->seed) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 32) * (m->seed | 1);
	return (size_t)(h >> 32) & (m->slots - 1);
}

static inline struct pf_map_slot *map_find(const struct pf_map *m, uint64_t key)
{
	size_t i = place_of(m, key);

	while (m->slot[i].key && m->slot[i].key != key)
		i = (i + 1) & (m->slots - 1);
	return &m->slot[i];
}

static void map_grow(struct pf_map *m)
{
	PF_OWN struct pf_map_slot *old = m->slot;
	size_t count = m->slots;

	m->slots = count ? count * 2 : FIRST_SLOTS;
	m->slot = pf_calloc(m->slots, sizeof(*m->slot));
	m->seed = pf_hash_seed();
	for (size_t i = 0; i < count; i++)
		if (old[i].key)
			*map_find(m, old[i].key) = old[i];
}

uint64_t *pf_map_at(struct pf_map *m, uint64_t key)
{
	struct pf_map_slot *s;

	if (!key) {
		if (!m->has_0) {
			m->has_0 = true;
			m->of_0 = UINT64_MAX;
			m->count++;
		}
		return &m->of_0;
	}
	if (!m->slots)
		map_grow(m);
	s = map_find(m, key);
	if (!s->key) {
		if ((m->count + 1) * 2 > m->slots) {
			map_grow(m);
			s = map_find(m, key);
		}
		m->count++;
		*s = (struct pf_map_slot){ key, UINT64_MAX };
	}
	return &s->value;
}

bool pf_map_has(const struct pf_map *m, uint64_t key)
{
	return key ? m->slots && map_find(m, key)->key : m->has_0;
}
