/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/argtext.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/event.h"

size_t pf_slot_text(int slot, int64_t value, char out[PF_SLOT_TEXT])
{
	char digits[24];
	int scale = (int)(value & 15), len, whole;
	int64_t number = value >> 4; /* arithmetic: rounds down */

	if (slot < PF_SLOT_FRACTION || !scale) {
		if (slot < PF_SLOT_FRACTION)
			number = value;
		return (size_t)snprintf(out, PF_SLOT_TEXT, "%" PRId64, number);
	}
	len = snprintf(digits, sizeof(digits), "%0*" PRIu64, scale + 1,
		       number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
	whole = len - scale;
	return (size_t)snprintf(out, PF_SLOT_TEXT, "%s%.*s.%s",
				number < 0 ? "-" : "", whole, digits,
				digits + whole);
}

int pf_slot_of(const char *text, size_t len)
{
	if (len < 2 || text[0] != '$' || text[1] < 'a' ||
	    text[1] >= 'a' + PF_SLOT_COUNT)
		return -1;
	return text[1] - 'a';
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
	char number[PF_SLOT_TEXT];

	while (mask && p < end) {
		int s;

		if (*p == '"') {
			p = string_end(p, end);
			continue;
		}
		s = *p == '$' ? pf_slot_of(p, (size_t)(end - p)) : -1;
		if (s < 0 || !(mask >> s & 1)) {
			p++;
			continue;
		}
		pf_buf_add(out, copied, (size_t)(p - copied));
		pf_buf_add(out, number, pf_slot_text(s, slot[s], number));
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
	const char *p = it->text + it->at, *end = it->text + it->len, *q;

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

/* ---- strings ---- */

static int hex4(const char *p, size_t len)
{
	int v = 0;

	if (len < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		int d = c >= '0' && c <= '9'   ? c - '0'
			: c >= 'a' && c <= 'f' ? c - 'a' + 10
			: c >= 'A' && c <= 'F' ? c - 'A' + 10
					       : -1;

		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

static void add_utf8(struct pf_buf *out, uint32_t c)
{
	if (c < 0x80) {
		pf_buf_addc(out, (char)c);
	} else if (c < 0x800) {
		pf_buf_addc(out, (char)(0xc0 | c >> 6));
		pf_buf_addc(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		pf_buf_addc(out, (char)(0xe0 | c >> 12));
		pf_buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		pf_buf_addc(out, (char)(0x80 | (c & 0x3f)));
	} else {
		pf_buf_addc(out, (char)(0xf0 | c >> 18));
		pf_buf_addc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		pf_buf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		pf_buf_addc(out, (char)(0x80 | (c & 0x3f)));
	}
}

/* The escape \uXXXX whose digits are at p; returns the bytes used after it. */
static size_t add_unicode(const char *p, size_t len, struct pf_buf *out)
{
	int c = hex4(p, len), low;

	if (c < 0) {
		add_utf8(out, 0xfffd);
		return 0;
	}
	if (c < 0xd800 || c > 0xdfff) {
		add_utf8(out, (uint32_t)c);
		return 4;
	}
	low = len >= 10 && p[4] == '\\' && p[5] == 'u' ? hex4(p + 6, 4) : -1;
	if (c > 0xdbff || low < 0xdc00 || low > 0xdfff) {
		add_utf8(out, 0xfffd);
		return 4;
	}
	add_utf8(out, 0x10000 + ((uint32_t)(c - 0xd800) << 10) +
			      (uint32_t)(low - 0xdc00));
	return 10;
}

void pf_argtext_unescape(const char *p, size_t len, struct pf_buf *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *end = p + len;

	while (p < end) {
		const char *stop = memchr(p, '\\', (size_t)(end - p));
		const char *which;

		if (!stop || stop + 1 >= end)
			stop = end;
		pf_buf_add(out, p, (size_t)(stop - p));
		if (stop == end)
			break;
		p = stop + 2;
		which = stop[1] ? strchr(from, stop[1]) : NULL;
		if (stop[1] == 'u')
			p += add_unicode(p, (size_t)(end - p), out);
		else
			pf_buf_addc(out, which ? to[which - from] : stop[1]);
	}
}
