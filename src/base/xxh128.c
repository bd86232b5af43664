/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/xxh128.h"
#include "base/xxh128_impl.h"
#include "base/mem.h"

/* The state wants to lie at a multiple of 64, which malloc() does not give. */
struct pf_xxh128 {
	void *memory;
	XXH3_state_t *state;
	bool has_avx2;
};

#define ALIGNMENT 64

struct pf_xxh128 *pf_xxh128_new(void)
{
	struct pf_xxh128 *d = pf_calloc(1, sizeof(*d));
	uintptr_t at;

	d->memory = pf_calloc(1, sizeof(*d->state) + ALIGNMENT);
	at = (uintptr_t)d->memory + ALIGNMENT - 1;
	d->state = (XXH3_state_t *)(at / ALIGNMENT * ALIGNMENT);
	XXH3_128bits_reset(d->state);
#if PF_XXH128_AVX2
	d->has_avx2 = __builtin_cpu_supports("avx2");
#endif
	return d;
}

void pf_xxh128_free(struct pf_xxh128 *d)
{
	if (!d)
		return;
	free(d->memory);
	free(d);
}

void pf_xxh128_add(struct pf_xxh128 *d, const void *bytes, size_t len)
{
#if PF_XXH128_AVX2
	if (d->has_avx2) {
		pf_xxh128_update_avx2(d->state, bytes, len);
		return;
	}
#endif
	XXH3_128bits_update(d->state, bytes, len);
}

void pf_xxh128_text(const struct pf_xxh128 *d, char out[PF_XXH128_TEXT])
{
	XXH128_hash_t h = XXH3_128bits_digest(d->state);

	snprintf(out, PF_XXH128_TEXT, "%016llx%016llx",
		 (unsigned long long)h.high64, (unsigned long long)h.low64);
}
