/* SPDX-License-Identifier: MIT */
/*
 * The state is the same whatever code works on it; only this file may have
 * instructions that not every processor knows.
 */
#include "config.h"

#include "base/xxh128_impl.h"

#if PF_XXH128_AVX2
#pragma GCC target("avx2")
#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX2
#include <xxhash.h>

void pf_xxh128_update_avx2(void *state, const void *bytes, size_t len)
{
	XXH3_128bits_update(state, bytes, len);
}
#endif
