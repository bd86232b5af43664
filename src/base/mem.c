/* SPDX-License-Identifier: MIT */
#include "config.h"

#define XXH_INLINE_ALL
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/mem.h"
#include "base/port.h"

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

/* ---- long texts ---- */

#define LONG_BYTES  1024
#define LONG_CHAINS 4096

static pthread_mutex_t longs_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct long_text {
	struct long_text *next; /* of its chain */
	uint64_t hash;
	size_t len, uses;
	char data[];
} * longs[LONG_CHAINS]; /* under the mutex */

struct pf_arena_long {
	struct pf_arena_long *next;
	struct long_text *text;
};

static struct long_text *hold(const char *s, size_t len)
{
	uint64_t hash = XXH3_64bits_withSeed(s, len, pf_hash_seed());
	struct long_text **chain = &longs[hash % LONG_CHAINS], *t;

	pthread_mutex_lock(&longs_mutex);
	for (t = *chain; t; t = t->next)
		if (t->hash == hash && t->len == len &&
		    !memcmp(t->data, s, len))
			break;
	if (!t) {
		t = pf_alloc(product(sizeof(*t) + len + 1, 1));
		*t = (struct long_text){ *chain, hash, len, 0 };
		memcpy(t->data, s, len);
		t->data[len] = '\0';
		*chain = t;
	}
	t->uses++;
	pthread_mutex_unlock(&longs_mutex);
	return t;
}

static void let_go(struct long_text *t)
{
	struct long_text **at = &longs[t->hash % LONG_CHAINS];

	pthread_mutex_lock(&longs_mutex);
	if (!--t->uses) {
		while (*at != t)
			at = &(*at)->next;
		*at = t->next;
		free(t);
	}
	pthread_mutex_unlock(&longs_mutex);
}

const char *pf_arena_text(struct pf_arena *a, const char *s, size_t len)
{
	char *copy;

	if (len >= LONG_BYTES) {
		struct pf_arena_long *l = pf_arena_alloc(a, sizeof(*l));

		*l = (struct pf_arena_long){ a->longs, hold(s, len) };
		a->longs = l;
		return l->text->data;
	}
	copy = take(a, len + 1, 1);
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
	for (; a->longs; a->longs = a->longs->next)
		let_go(a->longs->text);
	while (a->chunks) {
		struct pf_arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
}

uint64_t pf_hash_seed(void)
{
	static _Atomic uint64_t seed; /* 0: nobody has drawn it yet */
	uint64_t drawn = seed, none = 0;

	if (drawn)
		return drawn;
	if (getentropy(&drawn, sizeof(drawn)) || !drawn)
		drawn = UINT64_C(0x9e3779b97f4a7c15);
	/* of several at once the first decides for all */
	return atomic_compare_exchange_strong(&seed, &none, drawn) ? drawn
								   : none;
}
