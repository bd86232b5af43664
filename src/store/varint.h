/* SPDX-License-Identifier: MIT */
/*
 * Varints of 7 bits a byte, low bits first, without a bounds check per byte:
 * the caller sees to PF_VARINT_MAX bytes of room (writing) or of readable
 * bytes (reading).  Values below 2^28 take no data-dependent branch but one.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define PF_VARINT_MAX 10 /* bytes of the longest varint */

static inline uint64_t pf_load64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline void pf_store64(unsigned char *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(p, &v, 8);
}

static inline void pf_store32(unsigned char *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	memcpy(p, &v, 4);
}

static inline unsigned char *pf_varint_put(unsigned char *p, uint64_t v)
{
	if (v < UINT64_C(1) << 28) {
		uint32_t spread = (uint32_t)v;
		unsigned top; /* where the last byte is */

		spread = (spread & 0x3fff) | (spread & 0xfffc000) << 2;
		spread = (spread & 0x7f007f) | (spread & 0x3f803f80) << 1;
		top = (31 ^ (unsigned)__builtin_clz(spread | 1)) & 24;
		spread |= 0x808080u >> (24 - top);
		pf_store32(p, spread);
		return p + top / 8 + 1;
	}
	for (; v >= 0x80; v >>= 7)
		*p++ = (unsigned char)(v | 0x80);
	*p++ = (unsigned char)v;
	return p;
}

/* Reads at most PF_VARINT_MAX bytes; NULL if it is longer than that. */
static inline const unsigned char *pf_varint_get(const unsigned char *p,
						 uint64_t *value)
{
	uint64_t w = pf_load64(p), v;
	uint32_t stop = ~(uint32_t)w & 0x80808080u;
	unsigned shift = 28;

	if (stop) {
		unsigned len = ((unsigned)__builtin_ctz(stop) >> 3) + 1;

		w &= UINT64_MAX >> (64 - 8 * len);
		*value = (w & 0x7f) | (w & 0x7f00) >> 1 | (w & 0x7f0000) >> 2 |
			 (w & 0x7f000000) >> 3;
		return p + len;
	}
	v = (w & 0x7f) | (w & 0x7f00) >> 1 | (w & 0x7f0000) >> 2 |
	    (w & 0x7f000000) >> 3;
	for (p += 4; shift < 70; shift += 7, p++) {
		v |= (uint64_t)(*p & 0x7f) << shift;
		if (*p < 0x80) {
			*value = v;
			return shift == 63 && *p > 1 ? NULL : p + 1;
		}
	}
	return NULL;
}
