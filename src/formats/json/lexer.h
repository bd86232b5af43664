/* SPDX-License-Identifier: MIT */
/*
 * JSON token by token, in fixed memory: for small formats whose texts may be
 * of any length all the same.  Strings keep their first PF_LEXER_MAX bytes, as
 * they are written; NaN and Infinity are words, as Python writes them.
 */
#ifndef PF_FORMATS_JSON_LEXER_H
#define PF_FORMATS_JSON_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PF_LEXER_MAX 128

enum pf_lexer_kind {
	PF_LEXER_END,
	PF_LEXER_OPEN,   /* [ */
	PF_LEXER_CLOSE,  /* ] */
	PF_LEXER_BEGIN,  /* { */
	PF_LEXER_FINISH, /* } */
	PF_LEXER_COMMA,
	PF_LEXER_COLON,
	PF_LEXER_STRING,
	PF_LEXER_NUMBER,
	PF_LEXER_WORD,
};

struct pf_lexer {
	/* bytes of the text, fewer only at its end; -1: error */
	int64_t (*read)(void *arg, void *buf, size_t len, struct pf_err *err);
	void *arg;
	/* the token at hand */
	enum pf_lexer_kind kind;
	char text[PF_LEXER_MAX + 16]; /* of a string, number or word; NUL */
	int64_t offset;
	/* the rest is its own */
	char *buf;
	size_t at, len;
	int64_t base;
	bool is_end;
};

/* The next token; -1 on an error, PF_EDATA if there is none. */
int pf_lexer_next(struct pf_lexer *t, struct pf_err *err);
/* The next one, which is of this kind; else PF_EDATA. */
int pf_lexer_want(struct pf_lexer *t, enum pf_lexer_kind kind,
		  struct pf_err *err);
/*
 * At the value of a list or object that begins with the token at hand: pass
 * over all of it.
 */
int pf_lexer_skip(struct pf_lexer *t, struct pf_err *err);
/* Exactly an integer, or a real number with a value; false for anything else. */
bool pf_lexer_int(const struct pf_lexer *t, int64_t *out);
bool pf_lexer_real(const struct pf_lexer *t, double *out);
void pf_lexer_release(struct pf_lexer *t);

#endif
