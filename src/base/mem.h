/* SPDX-License-Identifier: MIT */
/*
 * Allocation that cannot fail: a command-line tool cannot help itself when
 * memory is gone, so these print one line and exit with code 3.  Sizes are
 * multiplied with overflow checks.  Never called with a length taken from
 * input that was not bounded first.  The C library's headers of memory and of
 * strings come with this one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *pf_alloc(size_t size_bytes);                /* contents undefined */
void *pf_calloc(size_t count, size_t size_bytes); /* contents zero */
void *pf_realloc(void *p, size_t count, size_t size_bytes);
char *pf_strdup(const char *s);
char *pf_memdup0(const void *p, size_t len); /* copy with a NUL added */

/*
 * A local variable that is released where its block is left, on whichever way;
 * what was declared last goes first.  It is empty or filled as it is declared.
 *
 *	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
 *	PF_OWN char *name = pf_strdup(path);
 */
#define PF_AUTO(release) __attribute__((cleanup(release)))
/* What free() frees, of any type. */
#define PF_OWN PF_AUTO(pf_freed)
static inline void pf_freed(void *variable)
{
	void *p;

	memcpy(&p, variable, sizeof(p));
	free(p);
}
/* pf_x_freed(), of a variable that holds what pf_x_free() frees. */
#define PF_FREED(free_it, type)                                                \
	static inline void free_it##d(type **p)                                \
	{                                                                      \
		free_it(*p);                                                   \
	}

/*
 * From now on, of all threads: pieces of at least this size go back to the
 * system when they are freed, and what is free at the end of a heap once it is
 * four times that.  A command that reads one database keeps more for what it
 * does next (fresh pages were a tenth of the time of a report); where memory is
 * bounded, or threads come and go, which would each keep some, it is little.
 */
#define PF_MEM_KEEP_MUCH   (4 << 20)
#define PF_MEM_KEEP_LITTLE (1 << 20)
void pf_mem_keep_below(int size_bytes);

/* Is a text of a length this word, or does it begin with it? */
static inline bool pf_is(const char *p, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(p, word, len);
}
static inline bool pf_begins(const char *p, size_t len, const char *word)
{
	return len >= strlen(word) && !memcmp(p, word, strlen(word));
}

/* How many elements an array has. */
#define PF_LEN(array) (sizeof(array) / sizeof(*(array)))

/* Raise a number to a limit that it is below; lower it to one it is above. */
#define PF_AT_LEAST(x, low)                                                    \
	do {                                                                   \
		if ((x) < (low))                                               \
			(x) = (low);                                           \
	} while (0)
#define PF_AT_MOST(x, high)                                                    \
	do {                                                                   \
		if ((x) > (high))                                              \
			(x) = (high);                                          \
	} while (0)

/*
 * Make room for one more element in an array that grows by doubling.
 * "cap" is updated; returns the (moved) array.
 */
void *pf_grow(void *array, size_t *cap, size_t need, size_t element_bytes);
#define PF_ROOM(items, cap, need)                                              \
	((items) = pf_grow((items), &(cap), (need), sizeof(*(items))))
/* Where one more element of an array goes, in room that grows as above. */
#define PF_ONE_MORE(items, count, cap)                                         \
	((items) = (count) < (cap) ? (items)                                   \
				   : pf_grow((items), &(cap), (count) + 1,     \
					     sizeof(*(items))),                \
	 &(items)[(count)++])
/* As pf_grow(); what is new is zero. */
void *pf_grow_zero(void *array, size_t *cap, size_t need, size_t element_bytes);
#define PF_ROOM_ZERO(items, cap, need)                                         \
	((items) = pf_grow_zero((items), &(cap), (need), sizeof(*(items))))

/*
 * What is freed as one: pieces that never move.  A zero-initialised struct is
 * an empty arena.  Sizes are bounded by the caller, as above.
 */
struct pf_arena {
	struct pf_arena_chunk *chunks; /* the newest first */
	struct pf_arena_long *longs;   /* texts that others may hold, too */
};

/* Aligned for any type; contents undefined. */
void *pf_arena_alloc(struct pf_arena *a, size_t size_bytes);
/* The same, zero: of much that is not written to, pages are not there. */
void *pf_arena_calloc(struct pf_arena *a, size_t count, size_t size_bytes);
/*
 * A copy with a NUL added.  A long text is there once for all arenas that hold
 * it: names of many kilobytes are in as many lists as short ones.
 */
const char *pf_arena_text(struct pf_arena *a, const char *s, size_t len);
/* The same of a string; NULL of NULL. */
const char *pf_arena_string(struct pf_arena *a, const char *s);
void pf_arena_release(struct pf_arena *a);

/* Drawn once for the hash tables of a process, so that no trace can know it. */
uint64_t pf_hash_seed(void);
