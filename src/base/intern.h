/* SPDX-License-Identifier: MIT */
/*
 * Texts to dense numbers and 64-bit keys to values: the two hash tables of
 * the analyses.  Hashing is seeded, so that a hostile trace cannot choose
 * colliding keys.  Memory grows with the number of distinct keys only.  A
 * zero-initialised struct is an empty table.
 */
#pragma once

#include "base/mem.h"

struct pf_intern {
	char *bytes; /* every text, each followed by a NUL */
	size_t bytes_len, bytes_cap;
	size_t *start; /* of text n in bytes */
	size_t start_cap;
	uint32_t count;
	uint32_t *slot; /* n + 1, 0 = free */
	uint32_t *hash; /* of text n */
	size_t hash_cap;
	size_t slots;
	uint64_t seed;
};

void pf_intern_release(struct pf_intern *t);
/* The number of a text, from 0; a new one if it was not seen before. */
uint32_t pf_intern_add(struct pf_intern *t, const char *p, size_t len);
/* The text of number n; borrowed until the next add.  NUL-terminated. */
const char *pf_intern_text(const struct pf_intern *t, uint32_t n, size_t *len);

struct pf_map {
	struct pf_map_slot {
		uint64_t key, value;
	} * slot; /* of key 0: empty */
	size_t slots, count;
	uint64_t of_0; /* the value of that key, which counts, too */
	bool has_0;
	uint64_t seed;
};

void pf_map_release(struct pf_map *m);
/*
 * The place of a key's value; a new key starts with UINT64_MAX.  Valid until
 * the next call.
 */
uint64_t *pf_map_at(struct pf_map *m, uint64_t key);
/* Is it there? */
bool pf_map_has(const struct pf_map *m, uint64_t key);
