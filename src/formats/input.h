/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a trace: a file or standard input ("-"), plain, gzip or zstd, told
 * apart by their first bytes.  Memory is fixed.  Damaged or cut compressed
 * data ends the stream early and is remembered, not an error: what came
 * before it is good.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/xxh128.h"

struct pf_input;

/* NULL and err on a directory, a missing or unreadable file. */
struct pf_input *pf_input_open(const char *path, struct pf_err *err);
void pf_input_close(struct pf_input *in);

/*
 * Fill buf with len bytes, fewer only at the end.  -1 on a read error, or if
 * compressed data is damaged before it gave a single byte.
 */
int64_t pf_input_read(struct pf_input *in, void *buf, size_t len,
		      struct pf_err *err);
/* The same, behind what "out" has. */
int64_t pf_input_append(struct pf_input *in, struct pf_buf *out, size_t len,
			struct pf_err *err);

/*
 * An input whose first bytes were read before, to see what it is; from
 * head_at they come again.  Without input they are all.
 */
struct pf_headed {
	struct pf_input *input; /* or NULL */
	const struct pf_buf *head;
	size_t head_at;
};

/* As pf_input_read(); "headed" is a struct pf_headed. */
int64_t pf_headed_read(void *headed, void *buf, size_t len, struct pf_err *err);

/*
 * Whatever follows what was read: a file has bytes behind compressed data, or
 * nobody asked for its end.
 */
int pf_input_finish(struct pf_input *in, struct pf_err *err);

/* The digest (base/xxh128.h) of the file as it is stored, up to where it was
 * read: of all of it after pf_input_finish(). */
void pf_input_digest(const struct pf_input *in, char out[PF_XXH128_TEXT]);

int64_t pf_input_size(const struct pf_input *in);     /* file, -1 unknown */
int64_t pf_input_consumed(const struct pf_input *in); /* of the file */
const char *pf_input_compression(const struct pf_input *in);
/* The descriptor of a regular file that is not compressed, else -1. */
int pf_input_plain_fd(const struct pf_input *in);
bool pf_input_damaged(const struct pf_input *in);

/*
 * Lines of a text of any length, in fixed memory.  A line ends with LF, CR LF
 * or the end of the text; of one that is longer than PF_LINES_MAX the rest is
 * left out, and it says so.
 */

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
