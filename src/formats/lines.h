/* SPDX-License-Identifier: MIT */
/*
 * Lines of a text of any length, in fixed memory.  A line ends with LF, CR LF
 * or the end of the text; of one that is longer than PF_LINES_MAX the rest is
 * left out, and it says so.
 */
#ifndef PF_FORMATS_LINES_H
#define PF_FORMATS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PF_LINES_MAX (1u << 20)

struct pf_text_line {
	const char *text; /* borrowed until the next; no NUL behind it */
	size_t len;
	int64_t offset;   /* of its first byte */
	bool is_too_long; /* this is not all of it */
};

struct pf_lines {
	/* bytes of the text, fewer only at its end; -1: error */
	int64_t (*read)(void *arg, void *buf, size_t len, struct pf_err *err);
	void *arg;
	/* the rest is its own */
	char *buf;
	size_t at, len;
	int64_t offset; /* of buf */
	bool is_end, is_in_rest;
};

/* 1 and *out, 0 at the end, -1.  The first call makes the buffer. */
int pf_lines_next(struct pf_lines *l, struct pf_text_line *out,
		  struct pf_err *err);
void pf_lines_release(struct pf_lines *l);

#endif
