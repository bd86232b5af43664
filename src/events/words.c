/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <strings.h>

#include "events/words.h"

static bool begins(const char *name, size_t len, const char *text, size_t n)
{
	return len >= n && !memcmp(name, text, n);
}

static bool has_like(const char *name, size_t len, const char *text, size_t n)
{
	for (size_t i = 0; i + n <= len; i++)
		if (!strncasecmp(name + i, text, n))
			return true;
	return false;
}

/* The part of a call's name after the vendor; 0: it is none. */
static size_t find_verb(const char *name, size_t len)
{
	for (size_t i = 0; i < pf_word_row_count; i++) {
		const struct pf_word_row *row = &pf_word_rows[i];

		if (row->word == PF_WORD_VENDOR && len > row->len &&
		    begins(name, len, row->text, row->len) &&
		    isupper((unsigned char)name[row->len]))
			return row->len;
	}
	return 0;
}

static bool fits(const struct pf_word_row *row, const char *name, size_t len)
{
	size_t verb;

	switch ((enum pf_word_match)row->match) {
	case PF_MATCH_BEGINS:
		return begins(name, len, row->text, row->len);
	case PF_MATCH_HAS:
		return memmem(name, len, row->text, row->len) != NULL;
	case PF_MATCH_LIKE:
		return has_like(name, len, row->text, row->len);
	case PF_MATCH_VERB:
		verb = find_verb(name, len);
		return verb &&
		       begins(name + verb, len - verb, row->text, row->len);
	}
	return false;
}

unsigned pf_word_n(enum pf_word word, const char *name, size_t len)
{
	unsigned n = 0;

	for (size_t i = 0; i < pf_word_row_count; i++) {
		if (pf_word_rows[i].word != (unsigned)word)
			continue;
		n++;
		if (fits(&pf_word_rows[i], name, len))
			return n;
	}
	return 0;
}
