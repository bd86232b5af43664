/* SPDX-License-Identifier: MIT */
/*
 * Entries of dictionaries found before, by a key of 128 bits: a table of fixed
 * size in which the newest of those that fall together stays.  When the
 * dictionaries are emptied the generation changes and all memos are void.
 */
#ifndef PF_FORMATS_MEMO_H
#define PF_FORMATS_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#define PF_MEMO_BITS 14

struct pf_memos {
	uint32_t generation; /* 0: there are none yet */
	struct pf_memo {
		uint64_t a, b;
		uint32_t generation, entry;
	} * items; /* 1 << PF_MEMO_BITS of them */
};

static inline struct pf_memo *pf_memo_place(struct pf_memos *m, uint64_t a,
					    uint64_t b)
{
	uint64_t hash = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) *
			UINT64_C(0xd6e8feb86659fd93);

	return &m->items[hash >> (64 - PF_MEMO_BITS)];
}

/*
 * A place for an entry under a key, in this generation: true if it is there.
 * Else write to *entry what the key stands for.
 */
static inline bool pf_memo_find(struct pf_memos *m, uint64_t a, uint64_t b,
				uint32_t **entry)
{
	struct pf_memo *memo = pf_memo_place(m, a, b);

	*entry = &memo->entry;
	if (memo->a == a && memo->b == b && memo->generation == m->generation)
		return true;
	memo->a = a;
	memo->b = b;
	memo->generation = m->generation;
	return false;
}

/* It shall not be found again. */
static inline void pf_memo_forget(struct pf_memos *m, uint64_t a, uint64_t b)
{
	pf_memo_place(m, a, b)->generation = 0;
}

#endif
