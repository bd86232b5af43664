/* SPDX-License-Identifier: MIT */
/*
 * Binary search in anything that is in order: the first i of [0, count) for
 * which "before" is false, an expression of i that is true of a first part
 * and false of the rest; count if it is true of all.
 *
 *	at = PF_SEARCH(i, n, items[i].id < id);
 *	found = at < n && items[at].id == id;
 */
#pragma once

#include <stddef.h>

#define PF_SEARCH(i, count, before)                                            \
	({                                                                     \
		size_t low_##i = 0, high_##i = (count);                        \
                                                                               \
		while (low_##i < high_##i) {                                   \
			size_t i = (low_##i + high_##i) / 2;                   \
                                                                               \
			if (before)                                            \
				low_##i = i + 1;                               \
			else                                                   \
				high_##i = i;                                  \
		}                                                              \
		low_##i;                                                       \
	})
