/* SPDX-License-Identifier: MIT */
/*
 * Orders of rows, for pf_sort(): keys one after the other, of which the first
 * that differs decides.
 *
 *	PF_ORDER(by_time, struct row, PF_DOWN(ns) PF_ALPHA(name) PF_UP(id))
 *
 * defines by_time(), in which "x" and "y" are the two rows.  A key is what can
 * stand behind "x->", so that PF_UP(name == NULL) has rows without a name last.
 * Lists are to have a total order: the last key tells any two rows apart.
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PF_ORDER(order, type, keys)                                            \
	static int order(const void *a, const void *b)                         \
	{                                                                      \
		const type *x = a, *y = b;                                     \
                                                                               \
		keys return 0;                                                 \
	}

/* The smaller first; the larger first. */
#define PF_UP(key)                                                             \
	if ((x->key) != (y->key))                                              \
		return (x->key) < (y->key) ? -1 : 1;
#define PF_DOWN(key)                                                           \
	if ((x->key) != (y->key))                                              \
		return (x->key) > (y->key) ? -1 : 1;
/* What is farthest from 0 first: of int64_t. */
#define PF_FAR(key)                                                            \
	if (llabs(x->key) != llabs(y->key))                                    \
		return llabs(x->key) > llabs(y->key) ? -1 : 1;
/* Texts byte by byte; NULL is as "". */
#define PF_ALPHA(key)                                                          \
	if (pf_order_texts(x->key, y->key))                                    \
		return pf_order_texts(x->key, y->key);
/* The same from Z to A. */
#define PF_OMEGA(key)                                                          \
	if (pf_order_texts(x->key, y->key))                                    \
		return pf_order_texts(y->key, x->key);
/* Rows that are numbers themselves. */
#define PF_UP_VALUE                                                            \
	if (*x < *y || *x > *y)                                                \
		return *x < *y ? -1 : 1;
/* Another order of the same rows. */
#define PF_THEN(order)                                                         \
	if (order(x, y))                                                       \
		return order(x, y);

static inline int pf_order_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* qsort() that takes nothing as well, at NULL too. */
static inline void pf_sort(void *rows, size_t count, size_t width,
			   int (*order)(const void *a, const void *b))
{
	if (count > 1)
		qsort(rows, count, width, order);
}
