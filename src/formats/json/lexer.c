/* SPDX-License-Identifier: MIT */
/* Invariant: buf[at, len) has been read and belongs to no token yet. */
#include "config.h"

#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "base/num.h"
#include "formats/limits.h"
#include "formats/json/lexer.h"

#define BUFFER_BYTES (256u << 10)

/* The next byte without taking it: -1 at the end, -2 on an error. */
static int peek(struct pf_lexer *t, struct pf_err *err)
{
	int64_t n;

	if (t->at < t->len)
		return (unsigned char)t->buf[t->at];
	if (t->is_end)
		return -1;
	if (!t->buf)
		t->buf = pf_alloc(BUFFER_BYTES);
	t->base += (int64_t)t->len;
	t->at = t->len = 0;
	n = t->read(t->arg, t->buf, BUFFER_BYTES, err);
	if (n < 0)
		return -2;
	t->is_end = (size_t)n < BUFFER_BYTES;
	t->len = (size_t)n;
	return t->len ? (unsigned char)t->buf[0] : -1;
}

static int refuse(struct pf_lexer *t, const char *what, struct pf_err *err)
{
	return pf_fail(err, PF_EDATA, "%s at byte %" PRId64, what, t->offset);
}

static int read_string(struct pf_lexer *t, struct pf_err *err)
{
	size_t n = 0;
	bool is_escaped = false;
	int c;

	for (t->at++;; t->at++) {
		c = peek(t, err);
		if (c == -2)
			return -1;
		if (c == -1)
			return refuse(t, "ends inside the string", err);
		if (c == '"' && !is_escaped)
			break;
		is_escaped = c == '\\' && !is_escaped;
		if (n < PF_LEXER_MAX)
			t->text[n++] = (char)c;
	}
	t->at++;
	t->text[n] = '\0';
	t->kind = PF_LEXER_STRING;
	return 0;
}

static bool is_bare(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '.';
}

static int read_bare(struct pf_lexer *t, struct pf_err *err)
{
	size_t n = 0;
	int c;

	while ((c = peek(t, err)) >= 0 && is_bare(c)) {
		if (n == PF_LEXER_MAX)
			return refuse(t, "has a number that is too long", err);
		t->text[n++] = (char)c;
		t->at++;
	}
	if (c == -2)
		return -1;
	if (!n)
		return refuse(t, "has a byte that is no JSON", err);
	memset(t->text + n, 0, sizeof(t->text) - n);
	t->kind = strchr("-0123456789", t->text[0]) && t->text[1] != 'I'
			  ? PF_LEXER_NUMBER
			  : PF_LEXER_WORD;
	return 0;
}

int pf_lexer_next(struct pf_lexer *t, struct pf_err *err)
{
	static const char marks[] = "[]{},:";
	static const enum pf_lexer_kind kinds[] = {
		PF_LEXER_OPEN,   PF_LEXER_CLOSE, PF_LEXER_BEGIN,
		PF_LEXER_FINISH, PF_LEXER_COMMA, PF_LEXER_COLON,
	};
	const char *mark;
	int c;

	while ((c = peek(t, err)) == ' ' || c == '\t' || c == '\n' || c == '\r')
		t->at++;
	t->offset = t->base + (int64_t)t->at;
	*t->text = '\0';
	t->kind = PF_LEXER_END;
	if (c < 0)
		return c == -1 ? 0 : -1;
	if (c == '"')
		return read_string(t, err);
	mark = c ? strchr(marks, c) : NULL;
	if (!mark)
		return read_bare(t, err);
	t->kind = kinds[mark - marks];
	t->at++;
	return 0;
}

int pf_lexer_want(struct pf_lexer *t, enum pf_lexer_kind kind,
		  struct pf_err *err)
{
	PF_TRY(pf_lexer_next(t, err));
	if (t->kind == kind)
		return 0;
	if (t->kind == PF_LEXER_END)
		return refuse(t, "ends early,", err);
	return refuse(t, "is not of the form that it begins with:", err);
}

int pf_lexer_skip(struct pf_lexer *t, struct pf_err *err)
{
	int depth = t->kind == PF_LEXER_OPEN || t->kind == PF_LEXER_BEGIN;

	while (depth) {
		PF_TRY(pf_lexer_next(t, err));
		if (t->kind == PF_LEXER_END)
			return refuse(t, "ends early,", err);
		depth += t->kind == PF_LEXER_OPEN || t->kind == PF_LEXER_BEGIN;
		depth -=
			t->kind == PF_LEXER_CLOSE || t->kind == PF_LEXER_FINISH;
		if (depth > PF_JSON_MAX_DEPTH)
			return refuse(t, "is nested too deep", err);
	}
	return 0;
}

bool pf_lexer_int(const struct pf_lexer *t, int64_t *out)
{
	return t->kind == PF_LEXER_NUMBER && !pf_num_int(t->text, out);
}

bool pf_lexer_real(const struct pf_lexer *t, double *out)
{
	char *end;

	if (t->kind != PF_LEXER_NUMBER)
		return false;
	*out = strtod(t->text, &end);
	return !*end && isfinite(*out);
}

void pf_lexer_release(struct pf_lexer *t)
{
	free(t->buf);
	t->buf = NULL;
}
