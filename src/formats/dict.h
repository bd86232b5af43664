/* SPDX-License-Identifier: MIT */
/*
 * A worker's own dictionary: raw bytes as they stand in the file -> entry.
 * What is expensive (checking, decoding, classifying) is done once per
 * distinct text, when it is first met; the hot path only hashes and compares.
 *
 * An entry becomes known to the whole ingest when it is given its global id,
 * in file order (ingest/ingest_names.h).  Hashing is seeded per process: hostile keys cannot aim.
 */
#ifndef PF_FORMATS_DICT_H
#define PF_FORMATS_DICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define PF_GID_UNSET UINT32_C(0xfffffffd)

/* entry flags */
#define PF_DICT_BAD       0x01u /* not strictly valid: take the slow path */
#define PF_DICT_ON_DEVICE 0x02u /* args with both device and stream */

struct pf_dict_entry {
	uint64_t hash;
	size_t raw_at; /* in dict.raw */
	uint32_t raw_len;
	uint32_t salt;  /* part of the key: the slot mask for args */
	uint32_t gid;   /* global id or PF_GID_UNSET */
	uint32_t facts; /* args: which known keys it has (chrome.h) */
	uint8_t flags, kind;
	size_t text_at; /* canonical text in dict.text */
	uint32_t text_len;
};

struct pf_dict;

/*
 * Fill in kind, flags, facts and append the canonical text to "text"; called
 * once per new entry.  "raw" is followed by one readable byte and preceded by
 * one when it comes from a string.
 */
typedef void pf_dict_classify_fn(struct pf_dict *d, struct pf_dict_entry *e,
				 const char *raw, struct pf_buf *text);

/* For dictionaries of which only the entries' numbers are wanted. */
pf_dict_classify_fn pf_dict_no_text;

struct pf_dict {
	struct pf_dict_entry *entries;
	size_t count, cap;
	uint32_t *table; /* index + 1; size is table_mask + 1 */
	size_t table_mask;
	struct pf_buf raw, text;
	uint64_t seed;
	pf_dict_classify_fn *classify;
	size_t fresh; /* entries from here on have no gid yet */
};

void pf_dict_init(struct pf_dict *d, pf_dict_classify_fn *classify);
void pf_dict_release(struct pf_dict *d);

/* Forget everything (ids handed out before become invalid). */
void pf_dict_clear(struct pf_dict *d);

/* Forget the entries without a gid: their chunk is parsed again. */
void pf_dict_forget_fresh(struct pf_dict *d);

/* All fresh entries have got their gid. */
void pf_dict_settle(struct pf_dict *d);

/* True when it has grown past what a worker may hold. */
bool pf_dict_is_large(const struct pf_dict *d);

/* Index of the entry for these bytes, made if it is new. */
uint32_t pf_dict_find(struct pf_dict *d, const char *raw, size_t len,
		      uint32_t salt);

/* 128 bits that stand for a text, seeded alike for a whole process. */
struct pf_dict_hash {
	uint64_t low, high;
};
struct pf_dict_hash pf_dict_hash(const void *p, size_t len, uint32_t salt);

#endif
