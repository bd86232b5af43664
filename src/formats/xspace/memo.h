/* SPDX-License-Identifier: MIT */
/*
 * What the ids of a plane stand for, read from the file when they are first
 * met.  Fixed memory: an id takes the place of another, and texts are dropped
 * all at once when they are too many.
 */
#ifndef PF_FORMATS_XSPACE_MEMO_H
#define PF_FORMATS_XSPACE_MEMO_H

#include "formats/event.h"
#include "formats/xspace/map.h"

/* Statistics that mean more than an argument. */
enum pf_xs_role {
	PF_XS_PLAIN,
	PF_XS_CORRELATION,
	PF_XS_RUNTIME, /* what only the runtime writes */
	PF_XS_STEP,
	PF_XS_OPERATOR, /* tf_op, kernel_name, hlo_op */
	PF_XS_KERNEL_DETAILS,
	PF_XS_COPY_DETAILS,
	PF_XS_FILL_DETAILS,
	PF_XS_ALLOCATOR,
	PF_XS_ALLOCATOR_INDEX,
	PF_XS_ALLOCATED, /* allocation_bytes: of this one */
	PF_XS_IN_USE,    /* bytes_allocated: of all */
	PF_XS_ADDRESS,
};

/* A statistic's metadata: its name in quotes, as JSON. */
struct pf_xs_key {
	uint32_t at, len; /* in memos->text; len 0: not defined */
	enum pf_xs_role role;
};

/* An event's metadata. */
struct pf_xs_name {
	uint32_t entry; /* of parsed.names */
	enum pf_kind host_kind;
	bool is_known, is_hip, is_freed, is_copy, is_fill, is_operator;
	bool is_tf_data;
	bool has_number; /* the name is one: of a step */
	int64_t number;
	uint32_t stats_at, stats_len; /* its statistics: see pf_xs_more */
};

/* A statistic of an event's metadata: head, then ,"key":value. */
struct pf_xs_more {
	int64_t id;
	uint32_t len, spare;
};

struct pf_xs_memos {
	struct pf_buf text;
	uint32_t text_generation;
	struct pf_xs_key_slot {
		int64_t id;
		uint32_t generation;
		struct pf_xs_key key;
	} * keys;
	struct pf_xs_name_slot {
		int64_t id;
		uint32_t generation, text_generation;
		struct pf_xs_name name;
	} * names;
	struct pf_xs_shape *shapes; /* shape.c */
	struct pf_buf raw, extra, pieces;
};

struct pf_xs_memos *pf_xs_memos_new(void);
void pf_xs_memos_free(struct pf_xs_memos *t);
/* Another plane: ids mean something else. */
void pf_xs_memos_forget(struct pf_xs_memos *t);
/* Before an event: texts found until the next call stay. */
void pf_xs_memos_trim(struct pf_xs_memos *t);

/* NULL: a read error. */
const struct pf_xs_key *pf_xs_find_key(struct pf_xs_map *m, int64_t id,
				       struct pf_err *err);
const struct pf_xs_name *pf_xs_find_name(struct pf_xs_map *m, int64_t id,
					 struct pf_err *err);

/* The text of a key, or of what refers to it. */
static inline const char *pf_xs_key_text(const struct pf_xs_memos *t,
					 const struct pf_xs_key *key)
{
	return t->text.data + key->at;
}

#endif
