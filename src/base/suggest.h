/* SPDX-License-Identifier: MIT */
/*
 * "Did you mean ...?": offer candidates, keep the nearest to a word.  Words
 * are compared by edit distance, cut to 63 bytes; nothing that differs in
 * more than a third of its letters is suggested.
 */
#ifndef PF_BASE_SUGGEST_H
#define PF_BASE_SUGGEST_H

#include <stddef.h>

struct pf_suggest {
	const char *word; /* set by the caller, not NULL */
	const char *best; /* borrowed from the offers, or NULL */
	size_t distance;
};

void pf_suggest_offer(struct pf_suggest *s, const char *candidate);

#endif
