/* SPDX-License-Identifier: MIT */
/* Statistics as arguments: the text of an event and its slots. */
#ifndef PF_FORMATS_XSPACE_ARGS_H
#define PF_FORMATS_XSPACE_ARGS_H

#include "formats/xspace/memo.h"

#define PF_XS_TEXT_MAX   4096 /* a longer one is cut and ends with "..." */
#define PF_XS_SLOT_LIMIT (INT64_C(1) << 58) /* of a number with its digits */

/* Append a text in quotes. */
void pf_xs_quote(struct pf_buf *out, const char *text, size_t len);

/* Begin: no slots.  The prefix has no closing brace, or is "". */
void pf_xs_open_args(struct pf_xs_map *m, const struct pf_buf *prefix);
/* Append ,"key":value ("key" in quotes, or the name of one). */
void pf_xs_arg_slot(struct pf_xs_map *m, const char *name, enum pf_slot slot,
		    int64_t value);
void pf_xs_arg_fixed(struct pf_xs_map *m, const char *name, int64_t value);
/* Any statistic; bytes and compressed texts are no arguments. */
int pf_xs_arg_stat(struct pf_xs_map *m, const struct pf_xs_key *key,
		   const struct pf_xs_stat *stat, struct pf_err *err);
/* A real number (its bits) as a slot has it; false: it is none of those. */
bool pf_xs_decimal(uint64_t bits, int64_t *value);
/* The entry of what was written. */
uint32_t pf_xs_close_args(struct pf_xs_map *m);

/* The text of a statistic, in place or by reference; "" if it has none. */
int pf_xs_stat_text(struct pf_xs_map *m, const struct pf_xs_stat *stat,
		    const char **text, size_t *len, struct pf_err *err);

/* "regs:38 shm:0 grid:160,1,1 block:1024,1,1", in several forms. */
void pf_xs_arg_kernel(struct pf_xs_map *m, const char *text, size_t len);
/* "kind:Pinned size:112 dest:4 async:0" */
void pf_xs_arg_copy(struct pf_xs_map *m, const char *text, size_t len);

/* ---- statistics of metadata (memo.c) ---- */

void pf_xs_keep_stat(struct pf_buf *out, struct pf_wire stat);
/* The one at "at" of memos->extra as a piece; moves on. */
int pf_xs_add_more(struct pf_xs_map *m, size_t *at, struct pf_err *err);
void pf_xs_add_long_name(struct pf_xs_map *m, const struct pf_buf *name);

#endif
