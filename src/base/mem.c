/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/mem.h"

#define CHUNK_BYTES 65536

struct pf_arena_chunk {
	struct pf_arena_chunk *next;
	size_t used, cap;
	alignas(max_align_t) char data[];
};

static void *checked(void *p, size_t size_bytes)
{
	if (p || !size_bytes)
		return p;
	fprintf(stderr, "profan: out of memory (%zu bytes)\n", size_bytes);
	exit(3);
}

static size_t product(size_t count, size_t size_bytes)
{
	size_t total;

	if (__builtin_mul_overflow(count, size_bytes, &total))
		checked(NULL, SIZE_MAX);
	return total;
}

void pf_mem_keep_below(int size_bytes)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, size_bytes);
	mallopt(M_TRIM_THRESHOLD, 4 * size_bytes);
#else
	(void)size_bytes;
#endif
}

void *pf_alloc(size_t size_bytes)
{
	return checked(malloc(size_bytes), size_bytes);
}

void *pf_calloc(size_t count, size_t size_bytes)
{
	return checked(calloc(count, size_bytes), product(count, size_bytes));
}

void *pf_realloc(void *p, size_t count, size_t size_bytes)
{
	size_t total = product(count, size_bytes);

	return checked(realloc(p, total), total);
}

char *pf_memdup0(const void *p, size_t len)
{
	char *copy = pf_alloc(product(len + 1, 1));

	if (len)
		memcpy(copy, p, len);
	copy[len] = '\0';
	return copy;
}

char *pf_strdup(const char *s)
{
	return pf_memdup0(s, strlen(s));
}

void *pf_grow(void *array, size_t *cap, size_t need, size_t element_bytes)
{
	size_t want = *cap ? *cap : 16;

	if (need <= *cap)
		return array;
	while (want < need)
		want = product(want, 2);
	*cap = want;
	return pf_realloc(array, want, element_bytes);
}

void *pf_grow_zero(void *array, size_t *cap, size_t need, size_t element_bytes)
{
	size_t old = *cap;
	char *p = pf_grow(array, cap, need, element_bytes);

	if (*cap > old)
		memset(p + old * element_bytes, 0,
		       (*cap - old) * element_bytes);
	return p;
}

static void *take(struct pf_arena *a, size_t size_bytes, size_t align)
{
	struct pf_arena_chunk *c = a->chunks;
	size_t at = c ? (c->used + align - 1) / align * align : 0;

	if (!c || at > c->cap || c->cap - at < size_bytes) {
		size_t cap =
			size_bytes < CHUNK_BYTES ? CHUNK_BYTES : size_bytes;

		c = cap == CHUNK_BYTES ? pf_alloc(sizeof(*c) + cap)
				       : pf_calloc(1, sizeof(*c) + cap);
		*c = (struct pf_arena_chunk){ a->chunks, 0, cap };
		a->chunks = c;
		at = 0;
	}
	c->used = at + size_bytes;
	return c->data + at;
}

void *pf_arena_alloc(struct pf_arena *a, size_t size_bytes)
{
	return take(a, size_bytes, alignof(max_align_t));
}

void *pf_arena_calloc(struct pf_arena *a, size_t count, size_t size_bytes)
{
	size_t total = product(count, size_bytes);
	void *p = pf_arena_alloc(a, total);

	/* a chunk of its own is zero */
	return total > CHUNK_BYTES ? p : memset(p, 0, total);
}

const char *pf_arena_text(struct pf_arena *a, const char *s, size_t len)
{
	char *copy = take(a, len + 1, 1);

	if (len)
		memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

const char *pf_arena_string(struct pf_arena *a, const char *s)
{
	return s ? pf_arena_text(a, s, strlen(s)) : NULL;
}

void pf_arena_release(struct pf_arena *a)
{
	while (a->chunks) {
		struct pf_arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
}
