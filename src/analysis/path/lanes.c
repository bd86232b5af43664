/* SPDX-License-Identifier: MIT */
/*
 * The innermost loop of replays.  Processors of today work on four lanes at
 * once; the result is the same.
 */
#include "analysis/path/replay_impl.h"

static void plainly(int64_t *restrict t, const int64_t *restrict from,
		    int64_t ns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t at = from[i] + ns;

		t[i] = t[i] > at ? t[i] : at;
	}
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static void by_fours(
	int64_t *restrict t, const int64_t *restrict from, int64_t ns,
	size_t count)
{
	const __m256i more = _mm256_set1_epi64x(ns);
	size_t i = 0;

	for (; i + 4 <= count; i += 4) {
		__m256i *to = (__m256i *)(void *)(t + i);
		__m256i had = _mm256_loadu_si256(to);
		__m256i at = _mm256_add_epi64(
			_mm256_loadu_si256(
				(const __m256i *)(const void *)(from + i)),
			more);
		__m256i is_less = _mm256_cmpgt_epi64(at, had);

		_mm256_storeu_si256(to, _mm256_blendv_epi8(had, at, is_less));
	}
	plainly(t + i, from + i, ns, count - i);
}

void path_reach(int64_t *restrict t, const int64_t *restrict from, int64_t ns,
		size_t count)
{
	if (__builtin_cpu_supports("avx2"))
		by_fours(t, from, ns, count);
	else
		plainly(t, from, ns, count);
}
#else
void path_reach(int64_t *restrict t, const int64_t *restrict from, int64_t ns,
		size_t count)
{
	plainly(t, from, ns, count);
}
#endif
