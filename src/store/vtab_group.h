/* SPDX-License-Identifier: MIT */
/*
 * Events in groups of equal name, category or kind, so that SQLite need not
 * sort them: the events of as many groups as fit in a fixed buffer are
 * gathered in one pass over the blocks; a group too large for it is walked in
 * place.  Only plain numbers can be gathered.
 */
#ifndef PF_STORE_VTAB_GROUP_H
#define PF_STORE_VTAB_GROUP_H

#include "store/vtab_scan.h"

enum pf_group_key {
	PF_GROUP_NONE,
	PF_GROUP_NAME_ID, /* ascending ids */
	PF_GROUP_NAME,    /* ascending texts */
	PF_GROUP_CATEGORY,
	PF_GROUP_KIND,
};

/* What is gathered of an event: fields that the used columns are made of. */
enum pf_field {
	PF_FIELD_ID,
	PF_FIELD_START,
	PF_FIELD_DUR,
	PF_FIELD_ORDER,
	PF_FIELD_NAME,
	PF_FIELD_TYPE,
	PF_FIELD_PARENT,
	PF_FIELD_COUNT
};

struct pf_vtab_group {
	enum pf_group_key key; /* set these two before pf_vtab_group_start() */
	bool is_descending;
	unsigned fields; /* bits */
	unsigned place[PF_FIELD_COUNT], field_count;
	uint32_t *groups; /* keys that occur, in the order of rows */
	uint64_t *counts; /* of events, by key */
	uint64_t *offset; /* where a group's next record goes, by key */
	size_t group_count, key_count, next_group;
	int64_t *records;
	size_t record_count, at; /* in this pass */
	bool is_walking;         /* the scan itself is at the event */
	uint32_t walked;
};

void pf_vtab_group_release(struct pf_vtab_group *g);

/* Count the groups; the scan's filter is set. */
int pf_vtab_group_start(struct pf_vtab_group *g, struct pf_scan *s,
			unsigned fields, struct pf_err *err);
/* To the next event: 1, 0, -1. */
int pf_vtab_group_next(struct pf_vtab_group *g, struct pf_scan *s,
		       struct pf_err *err);

/* A field of the event at hand, gathered or in place. */
int pf_vtab_group_field(struct pf_vtab_group *g, struct pf_scan *s,
			enum pf_field f, int64_t *value, struct pf_err *err);

#endif
