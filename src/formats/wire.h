/* SPDX-License-Identifier: MIT */
/* Numbers as they stand in binary files: little-endian, and LEB128. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline uint16_t pf_wire_u16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t pf_wire_u32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static inline uint64_t pf_wire_u64(const unsigned char *p)
{
	return (uint64_t)pf_wire_u32(p) | (uint64_t)pf_wire_u32(p + 4) << 32;
}

/* A piece of the file that is being read; p <= end always. */
struct pf_wire {
	const unsigned char *p, *end;
};

/*
 * The varint at w->p: false if it runs past the end, has more than ten bytes
 * or is no 64-bit number.
 */
static inline bool pf_wire_varint(struct pf_wire *w, uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned shift = 0; w->p < w->end && shift < 70; shift += 7) {
		unsigned char byte = *w->p++;

		if (shift == 63 && byte > 1)
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = v;
			return true;
		}
	}
	return false;
}

static inline int64_t pf_wire_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ -(v & 1));
}
