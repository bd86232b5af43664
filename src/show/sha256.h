/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 (FIPS 180-4) of bytes in memory: fingerprints of texts that a page
 * vouches for.
 */
#ifndef PF_BASE_SHA256_H
#define PF_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define PF_SHA256_BYTES 32

void pf_sha256(const void *data, size_t len, uint8_t out[PF_SHA256_BYTES]);

#endif
