/* SPDX-License-Identifier: MIT */
/*
 * The buffers that CUPTI fills.  All memory is reserved at the start; pages
 * of buffers that stay unused for long go back to the system.  Past the limit
 * small buffers are handed out whose content is counted and not read: CUPTI
 * must never get none.  Thread-safe; the lock is held for a few instructions.
 */
#ifndef PF_AGENT_POOL_H
#define PF_AGENT_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pf_pool {
	pthread_mutex_t lock;
	uint8_t *memory, *discard;
	size_t buffer_bytes;
	uint32_t *free_list; /* buffers, the last used last */
	uint32_t count, free_count;
	uint32_t touched; /* free buffers that hold pages, at the end */
	uint32_t discard_free[256], discard_count;
	uint8_t *strays[256]; /* further ones, mapped when there was need */
	uint32_t stray_count;
	_Atomic uint32_t outstanding; /* handed out and not yet back */
	_Atomic uint64_t requests;
};

size_t pf_pool_memory(size_t buffer_bytes, size_t all_bytes);
void pf_pool_init(struct pf_pool *p, uint8_t *memory, size_t buffer_bytes,
		  size_t all_bytes);

/* A zeroed buffer, 64-byte aligned: never NULL. */
uint8_t *pf_pool_take(struct pf_pool *p, size_t *size);

/* Is the content of this buffer to be read? */
bool pf_pool_readable(const struct pf_pool *p, const uint8_t *buffer);

/* Take a buffer back; `used` bytes of it were written. */
void pf_pool_give_back(struct pf_pool *p, uint8_t *buffer, size_t used);

/* A buffer that belongs to no pool, for when there is none: never freed. */
uint8_t *pf_pool_stray(size_t *size);

#endif
