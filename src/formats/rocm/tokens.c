/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "formats/rocm/tokens.h"

#define WINDOW_BYTES     (256u << 10)
#define STRING_BYTES_MAX (16u << 20)

void pf_tokens_release(struct pf_tokens *t)
{
	free(t->window);
	pf_buf_release(&t->unescaped);
}

int64_t pf_tokens_offset(const struct pf_tokens *t)
{
	return t->offset + (int64_t)t->at;
}

static enum pf_token fail(struct pf_tokens *t, const char *what,
			  struct pf_err *err)
{
	pf_fail(err, PF_EDATA, "is no JSON: %s at byte %" PRId64, what,
		pf_tokens_offset(t));
	return PF_TOKEN_FAILURE;
}

/* More bytes behind those that are not understood yet: 1, 0 none, -1. */
static int refill(struct pf_tokens *t, struct pf_err *err)
{
	int64_t n;

	if (t->is_end)
		return 0;
	if (t->at)
		memmove(t->window, t->window + t->at, t->len - t->at);
	t->offset += (int64_t)t->at;
	t->len -= t->at;
	t->at = 0;
	if (t->cap - t->len < WINDOW_BYTES / 2) {
		if (t->cap > STRING_BYTES_MAX)
			return pf_fail(err, PF_EDATA,
				       "has a string of more than %u MB at "
				       "byte %" PRId64,
				       STRING_BYTES_MAX >> 20, t->offset);
		t->cap = t->cap ? t->cap * 2 : WINDOW_BYTES;
		t->window = pf_realloc(t->window, t->cap, 1);
	}
	n = t->read(t->arg, t->window + t->len, t->cap - t->len, err);
	if (n < 0)
		return -1;
	t->is_end = n < (int64_t)(t->cap - t->len);
	t->len += (size_t)n;
	return n > 0;
}

static bool is_gap(char c)
{
	return c == ' ' || c == ',' || c == ':' || c == '\n' || c == '\r' ||
	       c == '\t';
}

/* The byte at hand behind gaps: 1, 0 the end, -1. */
static int skip_gaps(struct pf_tokens *t, struct pf_err *err)
{
	for (;;) {
		while (t->at < t->len && is_gap(t->window[t->at]))
			t->at++;
		if (t->at < t->len)
			return 1;
		switch (refill(t, err)) {
		case 0:
			return 0;
		case -1:
			return -1;
		}
	}
}

/* ---- strings and words ---- */

/* Behind the string's last quote, from "from" on; 0: not in the window. */
static size_t string_end(const struct pf_tokens *t, size_t from)
{
	const char *p = t->window + from, *end = t->window + t->len;

	while ((p = memchr(p, '"', (size_t)(end - p)))) {
		const char *q = p;

		while (q > t->window + t->at + 1 && q[-1] == '\\')
			q--;
		p++;
		if (!((size_t)(p - 1 - q) & 1))
			return (size_t)(p - t->window);
	}
	return 0;
}

static enum pf_token next_string(struct pf_tokens *t, struct pf_err *err)
{
	bool is_key =
		!t->after_key && t->depth && t->objects >> (t->depth - 1) & 1;
	size_t end, seen = 1;

	while (!(end = string_end(t, t->at + seen))) {
		/* What has been looked at has no last quote; a backslash may
		 * stand right before one. */
		seen = t->len - t->at;
		switch (refill(t, err)) {
		case 0:
			t->at = t->len;
			return PF_TOKEN_END;
		case -1:
			return PF_TOKEN_FAILURE;
		}
	}
	t->text = t->window + t->at + 1;
	t->text_len = end - 1 - (t->at + 1);
	t->at = end;
	if (memchr(t->text, '\\', t->text_len)) {
		pf_buf_clear(&t->unescaped);
		pf_json_unescape(t->text, t->text_len, &t->unescaped);
		t->text = t->unescaped.data ? t->unescaped.data : "";
		t->text_len = t->unescaped.len;
	}
	t->after_key = is_key;
	return is_key ? PF_TOKEN_KEY : PF_TOKEN_TEXT;
}

static bool is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

static enum pf_token next_word(struct pf_tokens *t, struct pf_err *err)
{
	size_t n = 0;
	char c;

	for (;;) {
		while (t->at + n < t->len && n < 64 &&
		       is_word_byte(t->window[t->at + n]))
			n++;
		if (t->at + n < t->len || n == 64)
			break;
		switch (refill(t, err)) {
		case 0:
			t->at = t->len;
			return PF_TOKEN_END; /* it may be cut */
		case -1:
			return PF_TOKEN_FAILURE;
		}
	}
	if (!n || n == 64)
		return fail(t, "no value", err);
	t->text = t->window + t->at;
	t->text_len = n;
	t->at += n;
	t->after_key = false;
	c = *t->text;
	return c == '-' || (c >= '0' && c <= '9') ? PF_TOKEN_NUMBER
						  : PF_TOKEN_WORD;
}

/* ---- tokens ---- */

static enum pf_token open_value(struct pf_tokens *t, bool is_object,
				struct pf_err *err)
{
	if (t->depth == PF_TOKENS_DEPTH)
		return fail(t, "too deep", err);
	t->objects &= ~(UINT64_C(1) << t->depth);
	t->objects |= (uint64_t)is_object << t->depth;
	t->depth++;
	t->at++;
	t->after_key = false;
	return is_object ? PF_TOKEN_OBJECT : PF_TOKEN_LIST;
}

static enum pf_token close_value(struct pf_tokens *t, bool is_object,
				 struct pf_err *err)
{
	if (!t->depth || (t->objects >> (t->depth - 1) & 1) != is_object)
		return fail(t, "a bracket that none opened", err);
	t->depth--;
	t->at++;
	t->after_key = false;
	return is_object ? PF_TOKEN_OBJECT_END : PF_TOKEN_LIST_END;
}

enum pf_token pf_tokens_next(struct pf_tokens *t, struct pf_err *err)
{
	int rc = skip_gaps(t, err);

	if (rc <= 0)
		return rc ? PF_TOKEN_FAILURE : PF_TOKEN_END;
	switch (t->window[t->at]) {
	case '{':
		return open_value(t, true, err);
	case '}':
		return close_value(t, true, err);
	case '[':
		return open_value(t, false, err);
	case ']':
		return close_value(t, false, err);
	case '"':
		return next_string(t, err);
	default:
		return next_word(t, err);
	}
}

bool pf_tokens_skip(struct pf_tokens *t, enum pf_token begun,
		    struct pf_err *err)
{
	unsigned depth = t->depth;

	if (begun != PF_TOKEN_OBJECT && begun != PF_TOKEN_LIST)
		return begun != PF_TOKEN_END && begun != PF_TOKEN_FAILURE;
	while (t->depth >= depth) {
		enum pf_token token = pf_tokens_next(t, err);

		if (token == PF_TOKEN_END || token == PF_TOKEN_FAILURE)
			return false;
	}
	return true;
}

bool pf_tokens_int(const struct pf_tokens *t, int64_t *value)
{
	const char *p = t->text, *end = p + t->text_len;
	bool negative = p < end && *p == '-';
	int64_t v = 0;

	p += negative;
	if (p == end)
		return false;
	for (; p < end; p++)
		if (*p < '0' || *p > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *p - '0', &v))
			return false;
	*value = negative ? -v : v;
	return true;
}
