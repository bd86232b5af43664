/* SPDX-License-Identifier: MIT */
/*
 * Definitions: strings and launch configurations with ids, and names of
 * calls, threads, domains and categories.  They are kept as the entries of
 * DEF frames, in a log; a table finds the id of bytes that are there already.
 * Looking up takes no lock; a miss takes a short one.
 */
#ifndef PF_AGENT_DEFS_H
#define PF_AGENT_DEFS_H

#include "log.h"

#define PF_STRING_MAX 65535 /* longer strings are cut */

enum pf_def {
	PF_DEF_STRING = 1,
	PF_DEF_LAUNCH,
	PF_DEF_CBID,
	PF_DEF_THREAD,
	PF_DEF_DOMAIN,
	PF_DEF_CATEGORY
};

struct pf_def_entry {
	uint32_t at, len, hash; /* where the bytes are in the log */
};

struct pf_def_table {
	uint8_t number; /* enum pf_def */
	uint32_t mask, most;
	size_t bytes, most_bytes;
	uint32_t count; /* under the log's lock */
	struct pf_def_entry *entries;
	_Atomic uint32_t *index; /* ids, 0 free */
};

struct pf_defs {
	struct pf_log log;
	struct pf_def_table strings, launches;
};

/* Bytes of memory that pf_defs_init needs. */
size_t pf_defs_memory(void);
void pf_defs_init(struct pf_defs *d, uint8_t *memory);

/*
 * The id of these bytes, entered if they are new.  `share` is the part of the
 * table, in 256ths, that the caller may fill.  0 if the table is full.
 */
uint32_t pf_defs_id(struct pf_defs *d, struct pf_def_table *t,
		    const void *bytes, uint32_t len, uint32_t share);

/* The bytes of a string that has an id. */
const char *pf_defs_string(const struct pf_defs *d, uint32_t id, uint32_t *len);

/*
 * Enter a name: `ids` are the varints before it.  False if there is no room.
 */
bool pf_defs_name(struct pf_defs *d, enum pf_def table, const uint64_t *ids,
		  int id_count, const void *bytes, uint32_t len);

#endif
