/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C (Castagnoli): reflected polynomial 0x82F63B78, initial value and
 * final XOR 0xFFFFFFFF.  Uses the processor's instruction where it has one.
 */
#ifndef PF_AGENT_CRC32C_H
#define PF_AGENT_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Prepare the tables; once, before any other call. */
void pf_crc32c_init(void);

uint32_t pf_crc32c(const void *data, size_t len);

/* The same by tables, whatever the processor has: for tests. */
uint32_t pf_crc32c_tables(const void *data, size_t len);

#endif
