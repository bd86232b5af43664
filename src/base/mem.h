/* SPDX-License-Identifier: MIT */
/*
 * Allocation that cannot fail: a command-line tool cannot help itself when
 * memory is gone, so these print one line and exit with code 3.  Sizes are
 * multiplied with overflow checks.  Never called with a length taken from
 * input that was not bounded first.
 */
#ifndef PF_BASE_MEM_H
#define PF_BASE_MEM_H

#include <stddef.h>

void *pf_alloc(size_t size_bytes);                /* contents undefined */
void *pf_calloc(size_t count, size_t size_bytes); /* contents zero */
void *pf_realloc(void *p, size_t count, size_t size_bytes);
char *pf_strdup(const char *s);
char *pf_memdup0(const void *p, size_t len); /* copy with a NUL added */

/*
 * Make room for one more element in an array that grows by doubling.
 * "cap" is updated; returns the (moved) array.
 */
void *pf_grow(void *array, size_t *cap, size_t need, size_t element_bytes);

#endif
