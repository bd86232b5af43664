/* SPDX-License-Identifier: MIT */
/*
 * JSON token by token, from a stream, in a window that grows only for a long
 * string.  Nothing is built and nothing recurs; NaN and Infinity are words, as
 * Python writes them.  For documents that are no list of trace events (those
 * are formats/json/chrome.h's).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum pf_lexer_kind {
	PF_LEXER_END, /* of the document, or of what there is of it; or err */
	PF_LEXER_OBJECT,
	PF_LEXER_OBJECT_END,
	PF_LEXER_LIST,
	PF_LEXER_LIST_END,
	PF_LEXER_KEY,
	PF_LEXER_TEXT,
	PF_LEXER_NUMBER,
	PF_LEXER_WORD /* true, false, null */
};

struct pf_lexer {
	/* as read(2): fewer bytes only at the end */
	int64_t (*read)(void *arg, void *buf, size_t len, struct pf_err *err);
	void *arg;
	struct pf_err *err; /* of who asks */
	/* the token found last; its text is borrowed until the next */
	enum pf_lexer_kind kind;
	const char *text;
	size_t text_len;
	/* the rest is its own */
	char *window;
	size_t at, len, cap;
	int64_t offset; /* of the window in the stream */
	bool is_end;
	bool is_over; /* it is no JSON: there are no more tokens */
	unsigned depth;
	uint64_t objects; /* bit d: what is open at depth d is an object */
	bool after_key, after_value;
	struct pf_buf unescaped;
};

void pf_lexer_release(struct pf_lexer *t);

/* Bytes of the stream that have been understood: behind the token at hand. */
static inline int64_t pf_lexer_offset(const struct pf_lexer *t)
{
	return t->offset + (int64_t)t->at;
}

/* Where the token at hand begins; that of a string is near. */
int64_t pf_lexer_start(const struct pf_lexer *t);

/* After the end there are no others. */
enum pf_lexer_kind pf_lexer_next(struct pf_lexer *t);
/* Read past the value that the token at hand begins, or the one that comes. */
void pf_lexer_skip(struct pf_lexer *t);
void pf_lexer_pass(struct pf_lexer *t);
/* Is the value that comes such a one?  Else it is read past. */
bool pf_lexer_open(struct pf_lexer *t, enum pf_lexer_kind kind);
/* The next of a list that is of a kind, past all others; false: its end. */
bool pf_lexer_element(struct pf_lexer *t, enum pf_lexer_kind kind);
/* The next key of an object; false: its end. */
bool pf_lexer_key(struct pf_lexer *t);
/* Exactly an integer, or a real number with a value; false: anything else. */
bool pf_lexer_int(const struct pf_lexer *t, int64_t *value);
bool pf_lexer_real(const struct pf_lexer *t, double *value);

/*
 * Members of objects by name, for records that all have the same: numbers and
 * texts of a list, whatever the order; all others are read past.
 */

#define PF_MEMBERS_MAX 32

/* A member, or that of the object under a key. */
struct pf_member {
	const char *under; /* or NULL */
	const char *key;
};

struct pf_members {
	const struct pf_member *list;
	unsigned count;
	uint8_t key_len[PF_MEMBERS_MAX];
	/* what the object read last had */
	struct pf_member_value {
		enum {
			PF_MEMBER_NONE,
			PF_MEMBER_INT,
			PF_MEMBER_REAL,
			PF_MEMBER_TEXT,
			PF_MEMBER_OTHER
		} is;
		union {
			int64_t number;
			double real;
			size_t at; /* in texts */
		};
		size_t len;
	} values[PF_MEMBERS_MAX];
	struct pf_buf texts;
	/* which member came behind which, last time */
	uint8_t behind[PF_MEMBERS_MAX + 1];
};

void pf_members_init(struct pf_members *f, const struct pf_member *list,
		     unsigned count);
void pf_members_release(struct pf_members *f);
/* The rest of an object that has been opened; false: it has no end. */
bool pf_members_read(struct pf_members *f, struct pf_lexer *t);
int64_t pf_member_int(const struct pf_members *f, unsigned field,
		      int64_t instead);
/* Of a whole number, too; NaN: it is none. */
double pf_member_real(const struct pf_members *f, unsigned field);
/* Borrowed until the next object is read; false: no text. */
bool pf_member_text(const struct pf_members *f, unsigned field,
		    const char **text, size_t *len);
