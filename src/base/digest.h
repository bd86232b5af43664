/* SPDX-License-Identifier: MIT */
/*
 * XXH3 of 128 bits over a stream of bytes, as "xxh128sum" prints it.  It tells
 * files apart that differ by chance, at the speed of memory; whoever wants to
 * can make two files with one digest.
 */
#ifndef PF_BASE_DIGEST_H
#define PF_BASE_DIGEST_H

#include <stddef.h>

#define PF_DIGEST_TEXT 33 /* 32 hexadecimal digits and NUL */

struct pf_digest;
struct pf_digest *pf_digest_new(void);
void pf_digest_free(struct pf_digest *d);

/* In pieces of any size. */
void pf_digest_add(struct pf_digest *d, const void *bytes, size_t len);

/* Of all that was added so far; more may follow. */
void pf_digest_text(const struct pf_digest *d, char out[PF_DIGEST_TEXT]);

#endif
