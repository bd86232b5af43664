/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/utf8.h"

static bool is_tail(const char *p)
{
	return ((unsigned char)*p & 0xc0) == 0x80;
}

/* How many bytes a first byte announces, with its own bits in *code. */
static size_t announced(unsigned char first, uint32_t *code)
{
	if (first < 0x80) {
		*code = first;
		return 1;
	}
	if (first >= 0xc2 && first < 0xe0) {
		*code = first & 0x1f;
		return 2;
	}
	if (first >= 0xe0 && first < 0xf0) {
		*code = first & 0x0f;
		return 3;
	}
	if (first >= 0xf0 && first < 0xf5) {
		*code = first & 0x07;
		return 4;
	}
	return 0;
}

size_t pf_utf8_next(const char *p, size_t len, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t value = 0;
	size_t need = announced((unsigned char)*p, &value);

	*code = PF_UTF8_BAD;
	if (need == 0 || need > len)
		return 1;
	for (size_t i = 1; i < need; i++) {
		if (!is_tail(p + i))
			return 1;
		value = value << 6 | ((unsigned char)p[i] & 0x3f);
	}
	if (value < least[need] || value > 0x10ffff ||
	    (value >= 0xd800 && value < 0xe000))
		return 1;
	*code = value;
	return need;
}

struct range {
	uint32_t first, last;
};

static bool in_ranges(uint32_t code, const struct range *r, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (code <= r[i].last)
			return code >= r[i].first;
	}
	return false;
}

#define IN(code, ranges)                                                       \
	in_ranges(code, ranges, sizeof(ranges) / sizeof(*(ranges)))

bool pf_utf8_is_control(uint32_t code)
{
	static const struct range controls[] = {
		{ 0x00, 0x1f },
		{ 0x7f, 0x9f },
		{ 0xad, 0xad },
		{ 0x61c, 0x61c },
		{ 0x200b, 0x200f },
		{ 0x2028, 0x202e },
		{ 0x2060, 0x206f },
		{ 0xfeff, 0xfeff },
		{ 0xfff9, 0xfffb },
		{ 0xe0000, 0xe007f },
		{ 0x110000, PF_UTF8_BAD },
	};

	if (code >= 0x20 && code < 0x7f)
		return false;
	return IN(code, controls);
}

int pf_utf8_width(uint32_t code)
{
	static const struct range wide[] = {
		{ 0x1100, 0x115f },   { 0x2e80, 0x303e },
		{ 0x3041, 0xa4cf },   { 0xa960, 0xa97f },
		{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
		{ 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },
		{ 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
		{ 0x1f680, 0x1f6ff }, { 0x1f900, 0x1faff },
		{ 0x20000, 0x3fffd },
	};
	static const struct range combining[] = {
		{ 0x300, 0x36f },   { 0x483, 0x489 },   { 0x591, 0x5bd },
		{ 0x610, 0x61a },   { 0x64b, 0x65f },   { 0x900, 0x902 },
		{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff },
		{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
	};

	if (code < 0x300)
		return 1;
	if (IN(code, combining))
		return 0;
	return IN(code, wide) ? 2 : 1;
}

void pf_utf8_mask(struct pf_buf *out, const char *p, size_t len)
{
	uint32_t code;

	while (len > 0) {
		size_t n = 0;

		while (n < len && p[n] >= 0x20 && p[n] < 0x7f)
			n++;
		if (n > 0) {
			pf_buf_add(out, p, n);
			p += n;
			len -= n;
			continue;
		}
		n = pf_utf8_next(p, len, &code);
		if (!pf_utf8_is_control(code))
			pf_buf_add(out, p, n);
		else
			for (size_t i = 0; i < n; i++)
				pf_buf_addf(out, "\\x%02x",
					    (unsigned char)p[i]);
		p += n;
		len -= n;
	}
}

size_t pf_utf8_columns(const char *p, size_t len)
{
	size_t columns = 0;
	uint32_t code;

	while (len > 0) {
		size_t n = pf_utf8_next(p, len, &code);

		columns += (size_t)pf_utf8_width(code);
		p += n;
		len -= n;
	}
	return columns;
}

size_t pf_utf8_head(const char *p, size_t len, size_t max)
{
	size_t at = 0;
	uint32_t code;

	while (at < len && max-- > 0)
		at += pf_utf8_next(p + at, len - at, &code);
	return at;
}

void pf_utf8_add(struct pf_buf *out, uint32_t code)
{
	if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		code = 0xfffd;
	if (code < 0x80) {
		pf_buf_addc(out, (char)code);
		return;
	}
	if (code < 0x800) {
		pf_buf_addc(out, (char)(0xc0 | code >> 6));
	} else {
		if (code < 0x10000) {
			pf_buf_addc(out, (char)(0xe0 | code >> 12));
		} else {
			pf_buf_addc(out, (char)(0xf0 | code >> 18));
			pf_buf_addc(out, (char)(0x80 | (code >> 12 & 0x3f)));
		}
		pf_buf_addc(out, (char)(0x80 | (code >> 6 & 0x3f)));
	}
	pf_buf_addc(out, (char)(0x80 | (code & 0x3f)));
}

size_t pf_utf8_fitting(const char *s, size_t len, size_t columns)
{
	size_t at = 0, used = 0;
	uint32_t code;

	while (at < len) {
		size_t n = pf_utf8_next(s + at, len - at, &code);

		used += (size_t)pf_utf8_width(code);
		if (used > columns)
			break;
		at += n;
	}
	return at;
}
