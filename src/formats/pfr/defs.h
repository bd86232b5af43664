/* SPDX-License-Identifier: MIT */
/*
 * What the DEF frames of a file define: texts and launch configurations by
 * number.  Gathered over the whole file before any event is looked at, so a
 * definition that was lost and comes again at the file's end is there.
 *
 * Memory is bounded: definitions past the limits, and texts longer than a
 * writer may make them, are counted and count as lost.  Texts are bytes, valid
 * until release.
 */
#ifndef PF_FORMATS_PFR_DEFS_H
#define PF_FORMATS_PFR_DEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/wire.h"

struct pf_pfr_text {
	const char *p; /* NULL: not defined */
	size_t len;
};

/* A name in a body: a number of the string table, or its own bytes. */
struct pf_pfr_name {
	uint64_t id; /* 0: none, or inline */
	const char *text;
	size_t len; /* of the inline text */
};

/* The part of a LAUNCH that is the same in KERNEL_INLINE. */
struct pf_pfr_launch {
	struct pf_pfr_name name; /* an inline text is borrowed */
	uint32_t grid[3], block[3], registers, static_bytes, dynamic_bytes;
	uint32_t local_bytes, cluster[3], launch_type;
};

struct pf_pfr_defs {
	struct pf_buf text; /* of all tables */
	struct pf_pfr_def {
		size_t at; /* in text */
		uint32_t len;
		bool known;
	} * strings;
	size_t string_cap;
	struct pf_pfr_launch_def {
		struct pf_pfr_launch launch;
		size_t text_at; /* of an inline name */
		bool known;
	} * launches;
	size_t launch_cap;
	struct pf_pfr_keyed { /* sorted by table and key once sealed */
		uint64_t key, order;
		size_t at;
		uint32_t len;
		uint8_t table;
	} * keyed;
	size_t keyed_count, keyed_cap;
	bool is_keyed_full; /* nearly no key comes twice */
	int64_t bad;        /* entries that cannot be read */
	int64_t past_cap;   /* entries past the limits */
};

#define PF_PFR_TEXT_MAX 65535 /* no writer makes a longer one */

enum pf_pfr_table {
	PF_PFR_STR = 1,
	PF_PFR_LAUNCH = 2,
	PF_PFR_CBID = 3,
	PF_PFR_THREAD = 4,
	PF_PFR_DOMAIN = 5,
	PF_PFR_CATEGORY = 6,
};

void pf_pfr_defs_release(struct pf_pfr_defs *d);

/* Take in the payload of a DEF frame. */
void pf_pfr_defs_add(struct pf_pfr_defs *d, const unsigned char *p, size_t len);

/* All frames have been added: make the following ones possible. */
void pf_pfr_defs_seal(struct pf_pfr_defs *d);

struct pf_pfr_text pf_pfr_string(const struct pf_pfr_defs *d, uint64_t id);
/* NULL if it was never defined. */
const struct pf_pfr_launch *pf_pfr_launch_of(const struct pf_pfr_defs *d,
					     uint64_t id);
/*
 * Of the tables CBID (key: cbid << 1, +1 for the driver), THREAD (tid),
 * DOMAIN (id) and CATEGORY (domain << 32 | category).
 */
struct pf_pfr_text pf_pfr_keyed_text(const struct pf_pfr_defs *d,
				     enum pf_pfr_table table, uint64_t key);

/* A name, and the fields of a LAUNCH behind the id, from a body. */
bool pf_pfr_read_name(struct pf_wire *w, struct pf_pfr_name *name);
bool pf_pfr_read_launch(struct pf_wire *w, bool whole,
			struct pf_pfr_launch *launch);

#endif
