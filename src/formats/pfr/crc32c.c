/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "formats/pfr/crc32c.h"

#define REFLECTED UINT32_C(0x82f63b78)

#if defined(__x86_64__)
#include <nmmintrin.h>
#define STEP_TARGET __attribute__((target("sse4.2")))

static bool processor_can(void)
{
	return __builtin_cpu_supports("sse4.2");
}

STEP_TARGET static inline uint64_t step8(uint64_t crc, uint64_t v)
{
	return _mm_crc32_u64(crc, v);
}

STEP_TARGET static inline uint32_t step1(uint32_t crc, unsigned char v)
{
	return _mm_crc32_u8(crc, v);
}
/* clang 14 takes neither the attribute nor the names */
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define STEP_TARGET __attribute__((target("+crc")))

static bool processor_can(void)
{
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

STEP_TARGET static inline uint64_t step8(uint64_t crc, uint64_t v)
{
	return __crc32cd((uint32_t)crc, v);
}

STEP_TARGET static inline uint32_t step1(uint32_t crc, unsigned char v)
{
	return __crc32cb(crc, v);
}
#else
#define NO_STEPS 1
#endif

#ifndef NO_STEPS
STEP_TARGET static uint32_t by_processor(const unsigned char *p, size_t len)
{
	uint64_t crc = UINT32_MAX, v;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v, p, 8);
		crc = step8(crc, v);
	}
	for (; len; p++, len--)
		crc = step1((uint32_t)crc, *p);
	return ~(uint32_t)crc;
}
#endif

static uint32_t by_table(const struct pf_crc32c *c, const unsigned char *p,
			 size_t len)
{
	uint32_t crc = UINT32_MAX;

	for (; len >= 8; p += 8, len -= 8) {
		crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 |
		       (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		crc = c->table[7][crc & 0xff] ^ c->table[6][crc >> 8 & 0xff] ^
		      c->table[5][crc >> 16 & 0xff] ^ c->table[4][crc >> 24] ^
		      c->table[3][p[4]] ^ c->table[2][p[5]] ^
		      c->table[1][p[6]] ^ c->table[0][p[7]];
	}
	for (; len; p++, len--)
		crc = crc >> 8 ^ c->table[0][(crc ^ *p) & 0xff];
	return ~crc;
}

void pf_crc32c_init(struct pf_crc32c *c, bool plain)
{
#ifdef NO_STEPS
	(void)plain;
	c->by_processor = false;
#else
	c->by_processor = !plain && processor_can();
#endif
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? REFLECTED : 0);
		c->table[0][i] = crc;
	}
	for (int k = 1; k < 8; k++)
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t crc = c->table[k - 1][i];

			c->table[k][i] = crc >> 8 ^ c->table[0][crc & 0xff];
		}
}

uint32_t pf_crc32c(const struct pf_crc32c *c, const void *p, size_t len)
{
#ifndef NO_STEPS
	if (c->by_processor)
		return by_processor(p, len);
#endif
	return by_table(c, p, len);
}
