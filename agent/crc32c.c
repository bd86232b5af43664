/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "crc32c.h"

#include <stdbool.h>
#include <string.h>

/* clang 14 takes neither the attribute nor the names */
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define ARM_CRC 1
#endif

static uint32_t tables[8][256];
static bool have_instruction;

void pf_crc32c_init(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0x82F63B78u : c >> 1;
		tables[0][i] = c;
	}
	for (int t = 1; t < 8; t++)
		for (int i = 0; i < 256; i++)
			tables[t][i] = tables[t - 1][i] >> 8 ^
				       tables[0][tables[t - 1][i] & 255];
#ifdef __x86_64__
	__builtin_cpu_init();
	have_instruction = __builtin_cpu_supports("sse4.2");
#elif defined(ARM_CRC)
	have_instruction = getauxval(AT_HWCAP) & HWCAP_CRC32;
#endif
}

static uint32_t by_tables(uint32_t c, const uint8_t *p, size_t len)
{
	for (; len >= 8; len -= 8, p += 8) {
		uint64_t v;
		memcpy(&v, p, 8);
		v ^= c;
		c = 0;
		for (int i = 0; i < 8; i++)
			c ^= tables[7 - i][v >> 8 * i & 255];
	}
	for (; len; len--)
		c = c >> 8 ^ tables[0][(c ^ *p++) & 255];
	return c;
}

#ifdef __x86_64__
__attribute__((target("sse4.2,crc32"))) static uint32_t by_instruction(
	uint32_t c, const uint8_t *p, size_t len)
{
	uint64_t wide = c;

	for (; len >= 8; len -= 8, p += 8) {
		uint64_t v;
		memcpy(&v, p, 8);
		wide = __builtin_ia32_crc32di(wide, v);
	}
	c = (uint32_t)wide;
	for (; len; len--)
		c = __builtin_ia32_crc32qi(c, *p++);
	return c;
}
#elif defined(ARM_CRC)
__attribute__((target("+crc"))) static uint32_t by_instruction(uint32_t c,
							       const uint8_t *p,
							       size_t len)
{
	for (; len >= 8; len -= 8, p += 8) {
		uint64_t v;
		memcpy(&v, p, 8);
		c = __crc32cd(c, v);
	}
	for (; len; len--)
		c = __crc32cb(c, *p++);
	return c;
}
#else
#define by_instruction by_tables
#endif

uint32_t pf_crc32c(const void *data, size_t len)
{
	return ~(have_instruction ? by_instruction(~0u, data, len)
				  : by_tables(~0u, data, len));
}

uint32_t pf_crc32c_tables(const void *data, size_t len)
{
	return ~by_tables(~0u, data, len);
}
