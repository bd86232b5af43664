/* SPDX-License-Identifier: MIT */
/*
 * Looking up nearly ascending keys in a sorted spool: remembers between which
 * two records the last key fell, so that most calls do no search.  Use one
 * per stream of keys.
 */
#ifndef PF_ANALYSIS_LOOKUP_H
#define PF_ANALYSIS_LOOKUP_H

#include <stdint.h>

#include "base/spool.h"

struct pf_lookup {
	struct pf_spool *spool;
	/* Keys in (above, upto] have the lower bound "index". */
	int64_t above, upto;
	uint64_t index;
};

static inline void pf_lookup_init(struct pf_lookup *l, struct pf_spool *s)
{
	*l = (struct pf_lookup){ s, 0, 0, 0 };
}

int pf_lookup_search(struct pf_lookup *l, int64_t key, struct pf_err *err);

/* First index whose key is >= key (count if none); 0 or -1. */
static inline int pf_lookup_bound(struct pf_lookup *l, int64_t key,
				  uint64_t *index, struct pf_err *err)
{
	if (!(key > l->above && key <= l->upto) &&
	    pf_lookup_search(l, key, err))
		return -1;
	*index = l->index;
	return 0;
}

/* The first record of exactly this key: 1 and *record, 0, or -1. */
static inline int pf_lookup_find(struct pf_lookup *l, int64_t key,
				 const void **record, struct pf_err *err)
{
	if (key > l->above && key < l->upto)
		return 0;
	if (!(key > l->above && key <= l->upto) &&
	    pf_lookup_search(l, key, err))
		return -1;
	if (key != l->upto || l->index >= pf_spool_count(l->spool))
		return 0;
	*record = pf_spool_at(l->spool, l->index, err);
	return *record ? 1 : -1;
}

#endif
