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
	int first = tolower((unsigned char)*text);

	for (size_t i = 0; i + n <= len; i++)
		if (tolower((unsigned char)name[i]) == first &&
		    !strncasecmp(name + i, text, n))
			return true;
	return false;
}

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *name, size_t len, const char *text, size_t n)
{
	const char *at = name, *end = name + len;

	while ((at = memmem(at, (size_t)(end - at), text, n))) {
		if ((at == name || !is_in_word(at[-1])) &&
		    (at + n == end || !is_in_word(at[n])))
			return true;
		at++;
	}
	return false;
}

/* The length of a call's vendor in its name; 0: it is none. */
static size_t find_verb(const char *name, size_t len)
{
	const struct pf_word_row *row =
		&pf_word_rows[pf_word_first[PF_WORD_VENDOR]];
	const struct pf_word_row *end = pf_word_rows + pf_word_row_count;

	for (; row < end && row->word == PF_WORD_VENDOR; row++)
		if (len > row->len && begins(name, len, row->text, row->len) &&
		    isupper((unsigned char)name[row->len]))
			return row->len;
	return 0;
}

static bool fits(const struct pf_word_row *row, const char *name, size_t len,
		 size_t verb)
{
	switch ((enum pf_word_match)row->match) {
	case PF_MATCH_HAS:
		return memmem(name, len, row->text, row->len) != NULL;
	case PF_MATCH_LIKE:
		return has_like(name, len, row->text, row->len);
	case PF_MATCH_WORD:
		return has_word(name, len, row->text, row->len);
	case PF_MATCH_BEGINS:
		return begins(name, len, row->text, row->len);
	case PF_MATCH_VERB:
		return verb &&
		       begins(name + verb, len - verb, row->text, row->len);
	}
	return false;
}

unsigned pf_word_n(enum pf_word word, const char *name, size_t len)
{
	size_t first = pf_word_first[word];
	size_t verb = pf_word_rows[first].match == PF_MATCH_VERB
			      ? find_verb(name, len)
			      : 0;

	for (size_t i = first;
	     i < pf_word_row_count && pf_word_rows[i].word == (unsigned)word;
	     i++)
		if (fits(&pf_word_rows[i], name, len, verb))
			return (unsigned)(i - first) + 1;
	return 0;
}
