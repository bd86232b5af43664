/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "show/glossary.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

struct pf_data *pf_glossary_new(struct pf_err *err)
{
	return pf_data_new("data/glossary.csv", "word,of,meaning", err);
}

/* "of" is a list: "cause category". */
static bool is_of(const char *of, const char *key)
{
	size_t len = strlen(key);

	for (const char *at = strstr(of, key); at; at = strstr(at + 1, key))
		if ((at == of || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

size_t pf_glossary_find(const struct pf_data *words, const char *key,
			const char *word, size_t len)
{
	const char *comma = len ? memchr(word, ',', len) : NULL;

	if (comma)
		len = (size_t)(comma - word);
	for (size_t i = 0; i < pf_data_rows(words); i++) {
		const char *it = pf_data_cell(words, i, PF_GLOSSARY_WORD);

		if (strlen(it) == len && !strncasecmp(it, word, len) &&
		    is_of(pf_data_cell(words, i, PF_GLOSSARY_OF),
			  key ? key : "title"))
			return i;
	}
	return SIZE_MAX;
}
