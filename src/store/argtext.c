/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/argtext.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/event.h"

#define SLOT_TEXT 48 /* bytes that any slot value fits in, with a NUL */

/* Write a slot's value as JSON; returns the length. */
static size_t slot_text(int slot, int64_t value, char out[SLOT_TEXT])
{
	char digits[24];
	int scale = (int)(value & 15), len, whole;
	int64_t number = value >> 4; /* arithmetic: rounds down */

	if (slot < PF_SLOT_FRACTION || !scale) {
		if (slot < PF_SLOT_FRACTION)
			number = value;
		return (size_t)snprintf(out, SLOT_TEXT, "%" PRId64, number);
	}
	len = snprintf(digits, sizeof(digits), "%0*" PRIu64, scale + 1,
		       number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
	whole = len - scale;
	return (size_t)snprintf(out, SLOT_TEXT, "%s%.*s.%s",
				number < 0 ? "-" : "", whole, digits,
				digits + whole);
}

/* The slot that text names when it stands outside strings, or -1. */
static int slot_of(const char *text, size_t len, bool *is_unsigned)
{
	char first;

	if (len < 2 || text[0] != '$')
		return -1;
	*is_unsigned = text[1] < 'a';
	first = *is_unsigned ? 'A' : 'a';
	return text[1] >= first && text[1] < first + PF_SLOT_COUNT
		       ? text[1] - first
		       : -1;
}

/* The end of the string whose opening quote is at p. */
static const char *string_end(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

void pf_argtext_build(const char *text, size_t len, uint32_t mask,
		      const int64_t *slot, struct pf_buf *out)
{
	const char *p = text, *end = text + len, *copied = text;
	char number[SLOT_TEXT];

	while (mask && p < end) {
		bool is_unsigned = false;
		int s;

		if (*p == '"') {
			p = string_end(p, end);
			continue;
		}
		s = *p == '$' ? slot_of(p, (size_t)(end - p), &is_unsigned)
			      : -1;
		if (s < 0 || !(mask >> s & 1)) {
			p++;
			continue;
		}
		pf_buf_add(out, copied, (size_t)(p - copied));
		if (is_unsigned)
			pf_buf_addu(out, (uint64_t)slot[s]);
		else
			pf_buf_add(out, number, slot_text(s, slot[s], number));
		p += 2;
		copied = p;
	}
	pf_buf_add(out, copied, (size_t)(end - copied));
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of the value at p: at the comma or bracket that closes it. */
static const char *value_end(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		switch (*p) {
		case '"':
			p = string_end(p, end);
			continue;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (!depth)
				return p;
			depth--;
			break;
		case ',':
			if (!depth)
				return p;
			break;
		default:
			break;
		}
		p++;
	}
	return p;
}

bool pf_argtext_next(struct pf_argtext *it, struct pf_arg *out)
{
	const char *p, *end, *q;

	if (it->at >= it->len)
		return false;
	p = it->text + it->at;
	end = it->text + it->len;
	while (p < end && (is_blank(*p) || *p == ',' || *p == '{'))
		p++;
	if (p >= end || *p != '"')
		return false;
	q = string_end(p, end);
	out->key = p + 1;
	out->key_len = q - p > 2 ? (size_t)(q - p - 2) : 0;
	for (p = q; p < end && (is_blank(*p) || *p == ':'); p++)
		;
	q = value_end(p, end);
	it->at = (size_t)(q - it->text);
	while (q > p && is_blank(q[-1]))
		q--;
	out->value = p;
	out->value_len = (size_t)(q - p);
	return true;
}
