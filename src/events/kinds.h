/* SPDX-License-Identifier: MIT */
/* Which kind of event (enum pf_kind) each type of a database is. */
#ifndef PF_EVENTS_KINDS_H
#define PF_EVENTS_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/db.h"
#include "formats/event.h"

struct pf_kinds {
	unsigned char *of; /* by event_type.id; see below */
	size_t count;
};

/* Zero *k first, and release it also after an error. */
int pf_kinds_load(struct pf_kinds *k, struct pf_db *db, struct pf_err *err);
void pf_kinds_release(struct pf_kinds *k);

#define PF_KINDS_NVTX 0x80 /* beside the kind */

/* PF_KIND_COUNT if the type is not known. */
static inline unsigned pf_kinds_at(const struct pf_kinds *k, uint32_t type)
{
	return type < k->count ? k->of[type] & ~PF_KINDS_NVTX : PF_KIND_COUNT;
}

/* Is it of the category "nvtx", which a program's own ranges have? */
static inline bool pf_kinds_is_nvtx(const struct pf_kinds *k, uint32_t type)
{
	return type < k->count && k->of[type] & PF_KINDS_NVTX;
}

#endif
