/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/ingest_names.h"

void pf_ids_release(struct pf_ids *n)
{
	free(n->digests);
	free(n->table);
	memset(n, 0, sizeof(*n));
}

static void put(struct pf_ids *n, size_t id)
{
	size_t at = n->digests[id].low & (n->table_size - 1);

	while (n->table[at])
		at = (at + 1) & (n->table_size - 1);
	n->table[at] = (uint32_t)id + 1;
}

static void fill(struct pf_ids *n, size_t table_size)
{
	free(n->table);
	n->table_size = table_size;
	n->table = pf_calloc(n->table_size, sizeof(*n->table));
	for (size_t id = 0; id < n->count; id++)
		put(n, id);
}

static void grow(struct pf_ids *n)
{
	if (n->table_size <= n->count * 2 + 2)
		fill(n, n->table_size ? n->table_size * 2 : 1024);
}

void pf_ids_cut(struct pf_ids *n, size_t count)
{
	if (count >= n->count)
		return;
	n->count = count;
	fill(n, n->table_size);
}

uint32_t pf_ids_find(struct pf_ids *n, const void *text, size_t len,
		     uint32_t salt, size_t max, bool *is_new)
{
	struct pf_digest d = pf_digest_of(text, len, salt);
	size_t at;

	*is_new = false;
	grow(n);
	at = d.low & (n->table_size - 1);
	for (; n->table[at]; at = (at + 1) & (n->table_size - 1)) {
		uint32_t id = n->table[at] - 1;

		if (n->digests[id].low == d.low &&
		    n->digests[id].high == d.high)
			return id;
	}
	if (n->count >= max)
		return PF_ID_INLINE;
	n->digests = pf_grow(n->digests, &n->digests_cap, n->count + 1,
			     sizeof(*n->digests));
	n->digests[n->count] = d;
	put(n, n->count);
	*is_new = true;
	return (uint32_t)n->count++;
}
