/* SPDX-License-Identifier: MIT */
/*
 * Invariants: entries [0, fresh) have a gid, entries [fresh, count) do not;
 * every entry is in the table; the table is at most half full.  Raw bytes and
 * canonical texts lie in two buffers, in the order of the entries.
 */
#define XXH_INLINE_ALL
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/mem.h"
#include "formats/dict.h"

#define RAW_MAX   (6u << 20)
#define COUNT_MAX (1u << 16)

static uint64_t process_seed(void)
{
	static uint64_t seed; /* set once before the workers start */

	if (!seed && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = UINT64_C(0x9e3779b97f4a7c15);
	return seed;
}

struct pf_dict_hash pf_dict_hash(const void *p, size_t len, uint32_t salt)
{
	XXH128_hash_t h = XXH3_128bits_withSeed(p, len, process_seed() + salt);

	return (struct pf_dict_hash){ h.low64, h.high64 };
}

static void table_reset(struct pf_dict *d, size_t size)
{
	free(d->table);
	d->table = pf_calloc(size, sizeof(*d->table));
	d->table_mask = size - 1;
}

void pf_dict_init(struct pf_dict *d, pf_dict_classify_fn *classify)
{
	memset(d, 0, sizeof(*d));
	d->seed = process_seed();
	d->classify = classify;
	table_reset(d, 4096);
}

void pf_dict_release(struct pf_dict *d)
{
	free(d->entries);
	free(d->table);
	pf_buf_release(&d->raw);
	pf_buf_release(&d->text);
	memset(d, 0, sizeof(*d));
}

void pf_dict_clear(struct pf_dict *d)
{
	d->count = d->fresh = 0;
	pf_buf_clear(&d->raw);
	pf_buf_clear(&d->text);
	table_reset(d, 4096);
}

static void table_put(struct pf_dict *d, size_t i)
{
	size_t at = d->entries[i].hash & d->table_mask;

	while (d->table[at])
		at = (at + 1) & d->table_mask;
	d->table[at] = (uint32_t)i + 1;
}

static void table_rebuild(struct pf_dict *d, size_t size)
{
	table_reset(d, size);
	for (size_t i = 0; i < d->count; i++)
		table_put(d, i);
}

void pf_dict_forget_fresh(struct pf_dict *d)
{
	if (d->fresh == d->count)
		return;
	d->raw.len = d->entries[d->fresh].raw_at;
	d->text.len = d->entries[d->fresh].text_at;
	d->count = d->fresh;
	table_rebuild(d, d->table_mask + 1);
}

void pf_dict_settle(struct pf_dict *d)
{
	d->fresh = d->count;
}

bool pf_dict_is_large(const struct pf_dict *d)
{
	return d->raw.len > RAW_MAX || d->text.len > RAW_MAX ||
	       d->count > COUNT_MAX;
}

static uint32_t insert(struct pf_dict *d, const char *raw, size_t len,
		       uint32_t salt, uint64_t hash)
{
	struct pf_dict_entry *e;

	d->entries =
		pf_grow(d->entries, &d->cap, d->count + 1, sizeof(*d->entries));
	e = &d->entries[d->count];
	*e = (struct pf_dict_entry){ .hash = hash,
				     .raw_at = d->raw.len,
				     .raw_len = (uint32_t)len,
				     .salt = salt,
				     .gid = PF_GID_UNSET,
				     .text_at = d->text.len };
	pf_buf_add(&d->raw, raw, len);
	d->classify(d, e, raw, &d->text);
	e->text_len = (uint32_t)(d->text.len - e->text_at);
	d->count++;
	if (d->count * 2 > d->table_mask)
		table_rebuild(d, (d->table_mask + 1) * 2);
	else
		table_put(d, d->count - 1);
	return (uint32_t)d->count - 1;
}

uint32_t pf_dict_find(struct pf_dict *d, const char *raw, size_t len,
		      uint32_t salt)
{
	uint64_t hash = XXH3_64bits_withSeed(raw, len, d->seed + salt);
	size_t at = hash & d->table_mask;

	for (; d->table[at]; at = (at + 1) & d->table_mask) {
		const struct pf_dict_entry *e = &d->entries[d->table[at] - 1];

		if (e->hash == hash && e->raw_len == len && e->salt == salt &&
		    !memcmp(d->raw.data + e->raw_at, raw, len))
			return d->table[at] - 1;
	}
	return insert(d, raw, len, salt, hash);
}

void pf_dict_no_text(struct pf_dict *d, struct pf_dict_entry *e,
		     const char *raw, struct pf_buf *text)
{
	(void)d, (void)e, (void)raw, (void)text;
}
