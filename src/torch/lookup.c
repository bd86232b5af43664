/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/lookup.h"

#include <string.h>

static int key_at(struct pf_lookup *l, uint64_t i, int64_t *key,
		  struct pf_err *err)
{
	const void *record = pf_spool_at(l->spool, i, err);

	if (!record)
		return -1;
	memcpy(key, record, sizeof(*key));
	return 0;
}

int pf_lookup_search(struct pf_lookup *l, int64_t key, struct pf_err *err)
{
	uint64_t i = pf_spool_lower_bound(l->spool, key, err);

	if (i == UINT64_MAX)
		return -1;
	l->index = i;
	l->upto = INT64_MAX;
	l->above = INT64_MIN;
	if (i < pf_spool_count(l->spool) && key_at(l, i, &l->upto, err))
		return -1;
	if (i && key_at(l, i - 1, &l->above, err))
		return -1;
	return 0;
}
