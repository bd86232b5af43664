/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
