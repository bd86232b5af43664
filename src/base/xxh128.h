/* SPDX-License-Identifier: MIT */
/*
 * XXH3 of 128 bits over a stream of bytes, as "xxh128sum" prints it.  It tells
 * files apart that differ by chance, at the speed of memory; whoever wants to
 * can make two files with one digest.
 */
#pragma once

#include <stddef.h>

#define PF_XXH128_TEXT 33 /* 32 hexadecimal digits and NUL */

struct pf_xxh128;
struct pf_xxh128 *pf_xxh128_new(void);
void pf_xxh128_free(struct pf_xxh128 *d);

/* In pieces of any size. */
void pf_xxh128_add(struct pf_xxh128 *d, const void *bytes, size_t len);

/* Of all that was added so far; more may follow. */
void pf_xxh128_text(const struct pf_xxh128 *d, char out[PF_XXH128_TEXT]);
