/* SPDX-License-Identifier: MIT */
/*
 * Numbers by number, on disk if there are many: added while one table is
 * read, found while another is.  Of one key the first counts; 0 is no key.
 */
#ifndef PF_FORMATS_SQLITE_KEYS_H
#define PF_FORMATS_SQLITE_KEYS_H

#include <stdint.h>

#include "base/spool.h"

struct pf_keys {
	struct pf_sorter *sorter;
	struct pf_spool *spool;
};

void pf_keys_init(struct pf_keys *k, const char *dir);
void pf_keys_release(struct pf_keys *k);
int pf_keys_add(struct pf_keys *k, int64_t key, int64_t value,
		struct pf_err *err);
/* Between the last that is added and the first that is looked for. */
int pf_keys_seal(struct pf_keys *k, struct pf_err *err);
/* The same, and a value becomes how often its key was added. */
int pf_keys_seal_counts(struct pf_keys *k, struct pf_err *err);
/* 1 and the value, 0: it was not added. */
int pf_keys_find(struct pf_keys *k, int64_t key, int64_t *value,
		 struct pf_err *err);

#endif
