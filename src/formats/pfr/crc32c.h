/* SPDX-License-Identifier: MIT */
/*
 * CRC32C (polynomial 0x1EDC6F41 reflected, initial value and final XOR all
 * ones), by the processor where it can, else with tables.
 */
#ifndef PF_FORMATS_PFR_CRC32C_H
#define PF_FORMATS_PFR_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pf_crc32c {
	bool by_processor;
	uint32_t table[8][256];
};

/* plain: never by the processor, for tests. */
void pf_crc32c_init(struct pf_crc32c *c, bool plain);
uint32_t pf_crc32c(const struct pf_crc32c *c, const void *p, size_t len);

#endif
