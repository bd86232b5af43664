/* SPDX-License-Identifier: MIT */
/*
 * What ids in blocks stand for.  One per connection, shared by its virtual
 * tables; texts stay where they are until it is freed, so SQLite need not
 * copy them.  Past PF_LEXICON_TEXT_MAX bytes texts are no longer kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/db.h"

#define PF_LEXICON_TEXT_MAX (16u << 20)
#define PF_LEXICON_IDS_MAX  (1u << 20)
#define PF_LEXICON_ARGS     512  /* argument texts kept */
#define PF_LEXICON_ARGS_MAX 8192 /* bytes of an argument text that is kept */

struct pf_lexicon_text {
	char *text; /* NULL: not looked up yet, or not kept */
	uint32_t len;
};

struct pf_lexicon_type {
	char *ph, *category;
	uint32_t kind;
	uint32_t category_rank; /* order of the category among all */
};

struct pf_lexicon_args {
	char *text;
	size_t len;
	uint32_t id;
};

struct pf_lexicon_track {
	int64_t id, trace_id;
};

struct pf_lexicon {
	struct pf_db db;
	unsigned users;
	size_t group_bytes; /* what vtab.c may gather in */
	bool is_loaded, has_inline;
	struct pf_lexicon_text *string;
	size_t string_count; /* ids are below it */
	size_t text_bytes;
	struct pf_lexicon_type *type;
	size_t type_count, category_count;
	struct pf_lexicon_track *track;
	size_t track_count;
	struct pf_lexicon_args *args;
	char *args_text; /* of the last one that is not kept */
	sqlite3_stmt *get_string, *get_args, *find_string;
};

struct pf_lexicon *pf_lexicon_open(sqlite3 *sql, size_t group_bytes);
void pf_lexicon_close(struct pf_lexicon *d); /* the last user frees it */

/* Read types and tracks, once. */
int pf_lexicon_load(struct pf_lexicon *d, struct pf_err *err);

/*
 * The text of a string id: 1 and kept until the lexicon is freed, 2 and
 * kept until the next call, 0 if there is none, -1 on error.
 */
int pf_lexicon_string(struct pf_lexicon *d, uint32_t id, const char **text,
		      uint32_t *len, struct pf_err *err);

/* The argument text of an id until the next call; 1, 0 or -1. */
int pf_lexicon_args_text(struct pf_lexicon *d, uint32_t id, const char **text,
			 size_t *len, struct pf_err *err);
