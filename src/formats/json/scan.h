/* SPDX-License-Identifier: MIT */
/*
 * Byte scanning for the JSON reader, in two variants with one meaning: plain
 * C, and 16 bytes at a time with SSE2 or NEON.  A file that includes this
 * header chooses with PF_SCAN_SIMD (0 or 1) before.
 *
 * Every buffer that is scanned is followed by PF_SCAN_PAD readable zero bytes
 * (not part of it), so loads may run past the end; results never do.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/limits.h"

#if PF_SCAN_SIMD && defined(__SSE2__)
#include <emmintrin.h>
#define PF_SCAN_VECTOR 1

/* Bit i of the answer: byte i is '"' or a backslash. */
static inline uint32_t pf_scan_quote_mask(const char *p)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);

	return (uint32_t)_mm_movemask_epi8(
		_mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')),
			     _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'))));
}

/* Bit i: byte i is one of "[]{} or NUL; [ and { differ by 0x20 only. */
static inline uint32_t pf_scan_bracket_mask(const char *p)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i low = _mm_or_si128(x, _mm_set1_epi8(0x20));
	__m128i hit = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));

	hit = _mm_or_si128(hit, _mm_cmpeq_epi8(low, _mm_set1_epi8('{')));
	hit = _mm_or_si128(hit, _mm_cmpeq_epi8(low, _mm_set1_epi8('}')));
	hit = _mm_or_si128(hit, _mm_cmpeq_epi8(x, _mm_setzero_si128()));
	return (uint32_t)_mm_movemask_epi8(hit);
}

/* Bit i: byte i is neither blank nor a control byte below 0x20. */
static inline uint32_t pf_scan_solid_mask(const char *p)
{
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i blank = _mm_or_si128(
		_mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(' ')),
			     _mm_cmpeq_epi8(x, _mm_set1_epi8('\n'))),
		_mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('\t')),
			     _mm_cmpeq_epi8(x, _mm_set1_epi8('\r'))));

	return (uint32_t)_mm_movemask_epi8(blank) ^ 0xffffu;
}
#elif PF_SCAN_SIMD && defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#define PF_SCAN_VECTOR 1

static inline uint32_t pf_scan_movemask(uint8x16_t hit)
{
	static const uint8_t weights[16] = { 1, 2, 4, 8, 16, 32, 64, 128,
					     1, 2, 4, 8, 16, 32, 64, 128 };
	uint8x16_t bits = vandq_u8(hit, vld1q_u8(weights));

	return (uint32_t)vaddv_u8(vget_low_u8(bits)) |
	       (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}

static inline uint32_t pf_scan_quote_mask(const char *p)
{
	uint8x16_t x = vld1q_u8((const uint8_t *)p);

	return pf_scan_movemask(vorrq_u8(vceqq_u8(x, vdupq_n_u8('"')),
					 vceqq_u8(x, vdupq_n_u8('\\'))));
}

static inline uint32_t pf_scan_bracket_mask(const char *p)
{
	uint8x16_t x = vld1q_u8((const uint8_t *)p);
	uint8x16_t low = vorrq_u8(x, vdupq_n_u8(0x20));
	uint8x16_t hit = vceqq_u8(x, vdupq_n_u8('"'));

	hit = vorrq_u8(hit, vceqq_u8(low, vdupq_n_u8('{')));
	hit = vorrq_u8(hit, vceqq_u8(low, vdupq_n_u8('}')));
	hit = vorrq_u8(hit, vceqq_u8(x, vdupq_n_u8(0)));
	return pf_scan_movemask(hit);
}

static inline uint32_t pf_scan_solid_mask(const char *p)
{
	uint8x16_t x = vld1q_u8((const uint8_t *)p);
	uint8x16_t blank = vorrq_u8(vorrq_u8(vceqq_u8(x, vdupq_n_u8(' ')),
					     vceqq_u8(x, vdupq_n_u8('\n'))),
				    vorrq_u8(vceqq_u8(x, vdupq_n_u8('\t')),
					     vceqq_u8(x, vdupq_n_u8('\r'))));

	return pf_scan_movemask(blank) ^ 0xffffu;
}
#else
#define PF_SCAN_VECTOR 0
#endif

static inline bool pf_is_blank(char c)
{
	return (unsigned char)c <= ' ' &&
	       (c == ' ' || c == '\n' || c == '\t' || c == '\r');
}

/* First byte at or after p that is not blank; end if there is none. */
static inline const char *pf_skip_blanks(const char *p, const char *end)
{
	if (p < end && !pf_is_blank(*p))
		return p;
	if (p + 1 < end && !pf_is_blank(p[1]))
		return p + 1; /* a single blank is what most writers put */
#if PF_SCAN_VECTOR
	while (p < end) {
		uint32_t m = pf_scan_solid_mask(p);

		if (m) {
			p += __builtin_ctz(m);
			return p < end ? p : end;
		}
		p += 16;
	}
	return end;
#else
	while (p < end && pf_is_blank(*p))
		p++;
	return p;
#endif
}

/*
 * p is just behind an opening quote: the closing quote, or NULL if the buffer
 * ends first.  Escapes are stepped over, not checked.
 */
static inline const char *pf_string_end(const char *p, const char *end)
{
#if PF_SCAN_VECTOR
	while (p < end) {
		uint32_t m = pf_scan_quote_mask(p);

		if (!m) {
			p += 16;
			continue;
		}
		p += __builtin_ctz(m);
		if (p >= end)
			return NULL;
		if (*p == '"')
			return p;
		p += 2;
	}
	return NULL;
#else
	for (; p < end; p++) {
		if (*p == '"')
			return p;
		if (*p == '\\')
			p++;
	}
	return NULL;
#endif
}

/*
 * p is at '[' or '{': just behind its matching closer, or NULL if the buffer
 * ends first or the nesting is deeper than PF_JSON_MAX_DEPTH.  Only quotes and
 * brackets are looked at, and [ is not told from {: what is between is checked
 * by whoever keeps the text.
 */
static inline const char *pf_nested_end(const char *p, const char *end)
{
	int depth = 0;
#if PF_SCAN_VECTOR
	while (p < end) {
		uint32_t m = pf_scan_bracket_mask(p);
		const char *next = p + 16;

		for (; m; m &= m - 1) {
			const char *q = p + __builtin_ctz(m);

			if (q >= end || !*q)
				return NULL;
			if (*q == '"') {
				q = pf_string_end(q + 1, end);
				if (!q)
					return NULL;
				next = q + 1;
				break;
			}
			/* '[' 0x5b and '{' 0x7b open; 0x5d and 0x7d close. */
			if (*q & 4) {
				if (--depth == 0)
					return q + 1;
			} else if (++depth > PF_JSON_MAX_DEPTH) {
				return NULL;
			}
		}
		p = next;
	}
	return NULL;
#else
	while (p < end) {
		switch (*p) {
		case '"':
			p = pf_string_end(p + 1, end);
			if (!p)
				return NULL;
			break;
		case '[':
		case '{':
			if (++depth > PF_JSON_MAX_DEPTH)
				return NULL;
			break;
		case ']':
		case '}':
			if (--depth == 0)
				return p + 1;
			break;
		case '\0':
			return NULL;
		}
		p++;
	}
	return NULL;
#endif
}

/*
 * The members of a canonical object, one after the other: p is its '{' or what
 * the call before returned; NULL behind the last one.
 */
static inline const char *pf_next_member(const char *p, const char *end,
					 const char **key, size_t *key_len,
					 const char **value)
{
	const char *q;

	if (p >= end || (*p != '{' && *p != ',') || p[1] != '"')
		return NULL;
	*key = p + 2;
	q = pf_string_end(*key, end);
	if (!q)
		return NULL;
	*key_len = (size_t)(q - *key);
	*value = p = q + 2;
	if (p >= end)
		return NULL;
	if (*p == '"') {
		q = pf_string_end(p + 1, end);
		return q ? q + 1 : NULL;
	}
	if (*p == '[' || *p == '{')
		return pf_nested_end(p, end);
	while (p < end && *p != ',' && *p != '}')
		p++;
	return p;
}
