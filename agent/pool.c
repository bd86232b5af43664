/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "pool.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define DISCARD_BYTES (16u << 10)
#define DISCARDS      256u
#define KEPT_BYTES    (16u << 20) /* pages that free buffers may hold */

static _Alignas(64) uint8_t last_resort[DISCARD_BYTES];

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static size_t list_bytes(size_t count)
{
	return round_up(count * sizeof(uint32_t), 4096);
}

size_t pf_pool_memory(size_t buffer_bytes, size_t all_bytes)
{
	size_t count = all_bytes / buffer_bytes;

	return list_bytes(count) + count * buffer_bytes +
	       DISCARDS * DISCARD_BYTES;
}

void pf_pool_init(struct pf_pool *p, uint8_t *memory, size_t buffer_bytes,
		  size_t all_bytes)
{
	pthread_mutex_init(&p->lock, NULL);
	p->count = (uint32_t)(all_bytes / buffer_bytes);
	p->buffer_bytes = buffer_bytes;
	p->free_list = (uint32_t *)(void *)memory;
	p->memory = memory + list_bytes(p->count);
	p->discard = p->memory + p->count * buffer_bytes;
	for (uint32_t i = 0; i < p->count; i++)
		p->free_list[i] = p->count - 1 - i;
	p->free_count = p->count;
	for (uint32_t i = 0; i < DISCARDS; i++)
		p->discard_free[i] = i;
	p->discard_count = DISCARDS;
}

uint8_t *pf_pool_stray(size_t *size)
{
	uint8_t *b = mmap(NULL, DISCARD_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*size = DISCARD_BYTES;
	return b == MAP_FAILED ? last_resort : b;
}

/* One more buffer to be discarded; those that come back are used again. */
static uint8_t *take_stray(struct pf_pool *p, size_t *size)
{
	uint8_t *b = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->stray_count)
		b = p->strays[--p->stray_count];
	pthread_mutex_unlock(&p->lock);
	*size = DISCARD_BYTES;
	return b ? b : pf_pool_stray(size);
}

uint8_t *pf_pool_take(struct pf_pool *p, size_t *size)
{
	uint8_t *b = NULL;

	atomic_fetch_add_explicit(&p->requests, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&p->outstanding, 1, memory_order_relaxed);
	pthread_mutex_lock(&p->lock);
	if (p->free_count) {
		b = p->memory + p->free_list[--p->free_count] * p->buffer_bytes;
		if (p->touched)
			p->touched--;
		*size = p->buffer_bytes;
	} else if (p->discard_count) {
		b = p->discard +
		    p->discard_free[--p->discard_count] * DISCARD_BYTES;
		*size = DISCARD_BYTES;
	}
	pthread_mutex_unlock(&p->lock);
	return b ? b : take_stray(p, size);
}

bool pf_pool_readable(const struct pf_pool *p, const uint8_t *buffer)
{
	return buffer >= p->memory && buffer < p->discard;
}

static bool is_discard(const struct pf_pool *p, const uint8_t *buffer)
{
	return buffer >= p->discard &&
	       buffer < p->discard + DISCARDS * DISCARD_BYTES;
}

/*
 * Zero what was written; by giving the pages back once enough free buffers
 * hold some.
 */
static void give_back_readable(struct pf_pool *p, uint8_t *buffer, size_t used)
{
	bool keep;

	pthread_mutex_lock(&p->lock);
	keep = p->touched * p->buffer_bytes < KEPT_BYTES;
	pthread_mutex_unlock(&p->lock);
	if (used > p->buffer_bytes)
		used = p->buffer_bytes;
	if (keep || p->buffer_bytes % 4096 ||
	    madvise(buffer, p->buffer_bytes, MADV_DONTNEED)) {
		memset(buffer, 0, used);
		keep = true;
	}
	pthread_mutex_lock(&p->lock);
	p->free_list[p->free_count++] =
		(uint32_t)((size_t)(buffer - p->memory) / p->buffer_bytes);
	if (keep)
		p->touched++;
	pthread_mutex_unlock(&p->lock);
}

void pf_pool_give_back(struct pf_pool *p, uint8_t *buffer, size_t used)
{
	if (pf_pool_readable(p, buffer)) {
		give_back_readable(p, buffer, used);
	} else if (is_discard(p, buffer)) {
		memset(buffer, 0, used < DISCARD_BYTES ? used : DISCARD_BYTES);
		pthread_mutex_lock(&p->lock);
		p->discard_free[p->discard_count++] =
			(uint32_t)((size_t)(buffer - p->discard) /
				   DISCARD_BYTES);
		pthread_mutex_unlock(&p->lock);
	} else if (buffer != last_resort) {
		/* a stray, or one of the parent's after a fork */
		memset(buffer, 0, used < DISCARD_BYTES ? used : DISCARD_BYTES);
		pthread_mutex_lock(&p->lock);
		if (p->stray_count < 256)
			p->strays[p->stray_count++] = buffer;
		pthread_mutex_unlock(&p->lock);
	}
	atomic_fetch_sub_explicit(&p->outstanding, 1, memory_order_relaxed);
}
