/* SPDX-License-Identifier: MIT */
/*
 * The words that are ours: what a title of a column or figure means, and what
 * a value means that no trace wrote (a cause, a part of the critical path).
 * data/glossary.csv is their one home; "profan help words" prints it, and
 * pages have it as tooltips and as a list.
 */
#pragma once

#include <stddef.h>

#include "base/data.h"

/* Columns of the table. */
enum { PF_GLOSSARY_WORD, PF_GLOSSARY_OF, PF_GLOSSARY_MEANING };

/* To be freed with pf_data_free; NULL and an error if it is damaged. */
struct pf_data *pf_glossary_new(struct pf_err *err);

/*
 * The row of a word, in any case: as a value in the column of "key", or if
 * that is NULL as a title.  A word ends at a comma: "clear, B below A".
 * SIZE_MAX: it is not explained.
 */
size_t pf_glossary_find(const struct pf_data *words, const char *key,
			const char *word, size_t len);
