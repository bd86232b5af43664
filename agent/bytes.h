/* SPDX-License-Identifier: MIT */
/*
 * Writing numbers and text into memory of known room, the way FORMAT.md
 * describes them.  Callers make sure of the room first: a varint takes at
 * most 10 bytes.
 */
#ifndef PF_AGENT_BYTES_H
#define PF_AGENT_BYTES_H

#include <stdint.h>
#include <string.h>

#define PF_VARINT_MAX 10

static inline uint8_t *pf_put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* a - b, modulo 2^64, as a signed number. */
static inline uint8_t *pf_put_difference(uint8_t *p, uint64_t a, uint64_t b)
{
	uint64_t d = a - b;

	return pf_put_varint(p, (d << 1) ^ (0 - (d >> 63)));
}

static inline uint8_t *pf_put_u32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline uint8_t *pf_put_u64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

/* Bytes that pf_put_varint(v) takes. */
static inline uint32_t pf_varint_length(uint64_t v)
{
	uint32_t n = 1;

	while (v >= 0x80) {
		v >>= 7;
		n++;
	}
	return n;
}

#endif
