/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdbool.h>

#include "formats/sqlite/keys.h"

#define SORTER_BYTES (4u << 20)
#define SPOOL_BYTES  (2u << 20)

struct record {
	int64_t key, order, value;
};

void pf_keys_init(struct pf_keys *k, const char *dir)
{
	k->sorter = pf_sorter_new(sizeof(struct record), SORTER_BYTES, dir);
	k->spool = pf_spool_new(sizeof(struct record), SPOOL_BYTES, dir);
}

void pf_keys_release(struct pf_keys *k)
{
	pf_sorter_free(k->sorter);
	pf_spool_free(k->spool);
	*k = (struct pf_keys){ 0 };
}

int pf_keys_add(struct pf_keys *k, int64_t key, int64_t value,
		struct pf_err *err)
{
	const struct record r = { key, 0, value };

	return key ? pf_sorter_add(k->sorter, &r, err) : 0;
}

static int seal(struct pf_keys *k, bool counts, struct pf_err *err)
{
	struct record kept = { 0 };
	const struct record *r;

	if (pf_sorter_finish(k->sorter, err))
		return -1;
	while ((r = pf_sorter_next(k->sorter, err))) {
		if (r->key == kept.key) {
			kept.value += counts;
			continue;
		}
		if (kept.key && pf_spool_add(k->spool, &kept, err))
			return -1;
		kept = *r;
		if (counts)
			kept.value = 1;
	}
	if (err->code)
		return -1;
	return kept.key ? pf_spool_add(k->spool, &kept, err) : 0;
}

int pf_keys_seal(struct pf_keys *k, struct pf_err *err)
{
	return seal(k, false, err);
}

int pf_keys_seal_counts(struct pf_keys *k, struct pf_err *err)
{
	return seal(k, true, err);
}

int pf_keys_find(struct pf_keys *k, int64_t key, int64_t *value,
		 struct pf_err *err)
{
	uint64_t count = pf_spool_count(k->spool), i;
	const struct record *r;

	if (!key || !count)
		return 0;
	i = pf_spool_lower_bound(k->spool, key, err);
	if (i == UINT64_MAX)
		return -1;
	if (i >= count)
		return 0;
	r = pf_spool_at(k->spool, i, err);
	if (!r)
		return -1;
	if (r->key != key)
		return 0;
	*value = r->value;
	return 1;
}
