/* SPDX-License-Identifier: MIT */
/*
 * A binary heap in an array of the caller's: items[0] is the least, and the
 * order is strict ("less" is false of equals).  All is inlined with its
 * comparison and the size of an item, so it costs what one written by hand
 * does.  To take the least away, put the last in its place and sink it:
 *
 *	items[0] = items[--count];
 *	pf_heap_sink(items, sizeof(*items), count, 0, less);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define PF_HEAP_ITEM_MAX 512 /* bytes; larger things: a heap of pointers */

#define PF_HEAP_INLINE static inline __attribute__((always_inline))

/* Item i may be too large for its place: let it sink. */
PF_HEAP_INLINE void pf_heap_sink(void *items, size_t width, size_t count,
				 size_t i,
				 bool (*less)(const void *a, const void *b))
{
	char *at = items, held[PF_HEAP_ITEM_MAX];

	if (i >= count)
		return;
	memcpy(held, at + i * width, width);
	for (size_t child; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count &&
		    less(at + (child + 1) * width, at + child * width))
			child++;
		if (!less(at + child * width, held))
			break;
		memcpy(at + i * width, at + child * width, width);
	}
	memcpy(at + i * width, held, width);
}

/* Item i, the last, may be too small for its place: let it rise. */
PF_HEAP_INLINE void pf_heap_rise(void *items, size_t width, size_t i,
				 bool (*less)(const void *a, const void *b))
{
	char *at = items, held[PF_HEAP_ITEM_MAX];

	memcpy(held, at + i * width, width);
	for (; i && less(held, at + (i - 1) / 2 * width); i = (i - 1) / 2)
		memcpy(at + i * width, at + (i - 1) / 2 * width, width);
	memcpy(at + i * width, held, width);
}

/* Make a heap of items in any order. */
PF_HEAP_INLINE void pf_heap_make(void *items, size_t width, size_t count,
				 bool (*less)(const void *a, const void *b))
{
	for (size_t i = count / 2; i-- > 0;)
		pf_heap_sink(items, width, count, i, less);
}
