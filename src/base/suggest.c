/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/suggest.h"

#define WORD_MAX 63

static size_t min3(size_t a, size_t b, size_t c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/* Levenshtein, one row at a time. */
static size_t distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1];
	size_t a_len = strnlen(a, WORD_MAX), b_len = strnlen(b, WORD_MAX);

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t above = row[j];

			row[j] = min3(row[j - 1] + 1, above + 1,
				      diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_len];
}

void pf_suggest_offer(struct pf_suggest *s, const char *candidate)
{
	size_t d = distance(s->word, candidate);

	if (d > (strnlen(candidate, WORD_MAX) + 2) / 3)
		return;
	if (!s->best || d < s->distance) {
		s->best = candidate;
		s->distance = d;
	}
}
