/* SPDX-License-Identifier: MIT */
/*
 * Growable bytes.  A zero-initialised struct is an empty buffer; data is
 * followed by a NUL after every call that adds, so it can be read as a string
 * when it holds no NUL itself.  The owner calls pf_buf_release().
 */
#pragma once

#include "base/mem.h"

struct pf_buf {
	char *data;
	size_t len, cap;
};

void pf_buf_release(struct pf_buf *b);
void pf_buf_reserve(struct pf_buf *b, size_t extra); /* room for extra + NUL */
void pf_buf_add(struct pf_buf *b, const void *p, size_t len);
void pf_buf_adds(struct pf_buf *b, const char *s);
void pf_buf_addc(struct pf_buf *b, char c);
void pf_buf_addf(struct pf_buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A number in decimal, without printf(). */
void pf_buf_addu(struct pf_buf *b, uint64_t value);
void pf_buf_addi(struct pf_buf *b, int64_t value);

/* Append a word as a shell would have to read it. */
void pf_shell_word(struct pf_buf *b, const char *word);

/*
 * A short text, as snprintf() cuts it, in room of its own, which is there to
 * the end of the block.
 */
#define PF_PRINTED(room_bytes, ...)                                            \
	pf_printed((char[room_bytes]){ 0 }, room_bytes, __VA_ARGS__)
const char *pf_printed(char *out, size_t room_bytes, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static inline void pf_buf_clear(struct pf_buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}
