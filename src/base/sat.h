/* SPDX-License-Identifier: MIT */
/*
 * Sums of times and of bytes, held at the limits of the type: spans that
 * overlap can add up to more than 292 years in a trace that nobody vouches
 * for.  (Where a faulty sum must be refused or must wrap as in C++, it is
 * said there: diff_capture.h, num.h.)
 */
#pragma once

#include <stdint.h>

static inline int64_t pf_sat_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static inline int64_t pf_sat_sub(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return a < b ? INT64_MIN : INT64_MAX;
	return difference;
}

/* Add a part to a sum. */
static inline void pf_sat_sum(int64_t *sum, int64_t part)
{
	*sum = pf_sat_add(*sum, part);
}
