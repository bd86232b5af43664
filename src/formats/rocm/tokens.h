/* SPDX-License-Identifier: MIT */
/*
 * JSON token by token, from a stream, in a window that grows only for a long
 * string.  Nothing is built and nothing recurs; commas and colons are taken
 * for granted.  For documents that are no list of trace events (those are
 * formats/json/chrome.h's).
 */
#ifndef PF_FORMATS_ROCM_TOKENS_H
#define PF_FORMATS_ROCM_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum pf_token {
	PF_TOKEN_END, /* of the document, or of what there is of it */
	PF_TOKEN_OBJECT,
	PF_TOKEN_OBJECT_END,
	PF_TOKEN_LIST,
	PF_TOKEN_LIST_END,
	PF_TOKEN_KEY,
	PF_TOKEN_TEXT,
	PF_TOKEN_NUMBER,
	PF_TOKEN_WORD,   /* true, false, null */
	PF_TOKEN_FAILURE /* and err */
};

#define PF_TOKENS_DEPTH 64

struct pf_tokens {
	/* as read(2): fewer bytes only at the end */
	int64_t (*read)(void *arg, void *buf, size_t len, struct pf_err *err);
	void *arg;
	char *window;
	size_t at, len, cap;
	int64_t offset; /* of the window in the stream */
	bool is_end;
	unsigned depth;
	uint64_t objects; /* bit d: what is open at depth d is an object */
	bool after_key;
	/* of the token found last, borrowed until the next */
	const char *text;
	size_t text_len;
	struct pf_buf unescaped;
};

void pf_tokens_release(struct pf_tokens *t);
enum pf_token pf_tokens_next(struct pf_tokens *t, struct pf_err *err);
/* Read past the value that a token begins; false at the end or a failure. */
bool pf_tokens_skip(struct pf_tokens *t, enum pf_token begun,
		    struct pf_err *err);
/* The whole number of a number token; false: it is none. */
bool pf_tokens_int(const struct pf_tokens *t, int64_t *value);
/* Bytes of the stream that have been understood. */
int64_t pf_tokens_offset(const struct pf_tokens *t);

#endif
