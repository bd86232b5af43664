/* SPDX-License-Identifier: MIT */
/* For xxh128.c only. */
#pragma once

#include <stddef.h>

/* GCC makes other code for one file; with clang all run the baseline. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PF_XXH128_AVX2 1
/* As XXH3_128bits_update(), on a processor with AVX2: three times as fast. */
void pf_xxh128_update_avx2(void *state, const void *bytes, size_t len);
#else
#define PF_XXH128_AVX2 0
#endif
