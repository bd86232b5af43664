/* SPDX-License-Identifier: MIT */
/*
 * The dictionaries of a whole ingest: text -> id, given in the order in which
 * texts first appear in the input, so ids do not depend on chunks or threads.
 * Memory holds a 128-bit digest per text, not the text, and stops growing at
 * PF_NAMES_MAX: later texts are PF_ID_INLINE and are stored with their events.
 */
#ifndef PF_STORE_INGEST_NAMES_H
#define PF_STORE_INGEST_NAMES_H

#include "store/db.h"
#include "formats/json/chrome.h"
#include "formats/dict.h"

#define PF_NAMES_MAX (1u << 18)

struct pf_ids {
	struct pf_digest *digests; /* by id */
	uint32_t *table;           /* open addressing, id + 1 */
	size_t count, digests_cap, table_size;
};

void pf_ids_release(struct pf_ids *n);

/* Forget all but the first "count" ids, which may then be given again. */
void pf_ids_cut(struct pf_ids *n, size_t count);

/*
 * The id of a text: an old one, or a new one (*is_new), or PF_ID_INLINE when
 * the dictionary is full.  "max" ids at most.
 */
uint32_t pf_ids_find(struct pf_ids *n, const void *text, size_t len,
		     uint32_t salt, size_t max, bool *is_new);

#endif
