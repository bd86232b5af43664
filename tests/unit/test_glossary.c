/* SPDX-License-Identifier: MIT */
/* Every word of ours is explained, and every explanation is of such a word. */
#include "unit/support.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analysis/path/path.h"
#include "analysis/time/steps.h"
#include "base/asset.h"
#include "events/names.h"
#include "show/glossary.h"

static struct pf_data *words;

static int open_words(void **state)
{
	struct pf_err err = { 0 };

	(void)state;
	words = pf_glossary_new(&err);
	support_no_error(&err);
	return 0;
}

static int close_words(void **state)
{
	(void)state;
	pf_data_free(words);
	return 0;
}

static void expect(const char *key, const char *word)
{
	if (pf_glossary_find(words, key, word, strlen(word)) == SIZE_MAX)
		fail_msg("'%s' in the column %s is not explained", word,
			 key ? key : "(title)");
}

static void causes_are_explained(void **state)
{
	(void)state;
	for (int i = 0; i < PF_CAUSE_COUNT; i++) {
		expect("cause", pf_cause_name((enum pf_cause)i));
		assert_non_null(pf_cause_phrase((enum pf_cause)i));
	}
	for (int i = 0; i < PF_PATH_CATEGORIES; i++)
		expect("category",
		       pf_path_category_name((enum pf_path_category)i));
}

/* "split" of a summary, classes of steps: causes have the names of some. */
static void parts_of_steps_are_explained(void **state)
{
#define NAME(which, name, title) name
	static const char *const parts[] = { PF_STEP_CLASSES_OF(NAME) };
#undef NAME

	(void)state;
	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		if (pf_glossary_find(words, "split", parts[i],
				     strlen(parts[i])) == SIZE_MAX)
			expect("category", parts[i]);
}

static void words_are_found_by_what_they_are(void **state)
{
	(void)state;
	expect(NULL, "At most");
	expect("confidence", "hint");
	assert_true(pf_glossary_find(words, NULL, "hint", 4) == SIZE_MAX);
	assert_true(pf_glossary_find(words, "cause", "syn", 3) == SIZE_MAX);
	/* a key that is a part of another is not that one */
	assert_true(pf_glossary_find(words, "cat", "sync", 4) == SIZE_MAX);
	assert_true(pf_glossary_find(words, "cause", "SYNC", 4) != SIZE_MAX);
	expect("verdict", "clear, B below A");
	assert_true(pf_glossary_find(words, "verdict", "clearly", 7) ==
		    SIZE_MAX);
}

/* Does one of these commands' documents have a column or figure so titled? */
static bool is_title(const char *word)
{
	static const char *const commands[] = {
		"advise",   "diff",    "gaps",  "kernels", "launches",
		"memory",   "overlap", "path",  "ranges",  "ranks",
		"roofline", "steps",   "syncs", "table",
	};
	char row[128], name[64];
	bool has = false;

	snprintf(row, sizeof(row), ",%s,", word);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		const char *text;

		snprintf(name, sizeof(name), "data/documents/%s.csv",
			 commands[i]);
		text = pf_asset(name, NULL);
		assert_non_null(text);
		has |= strcasestr(text, row) != NULL;
	}
	return has;
}

static void titles_are_some_documents(void **state)
{
	(void)state;
	for (size_t i = 0; i < pf_data_rows(words); i++)
		if (strstr(pf_data_cell(words, i, PF_GLOSSARY_OF), "title") &&
		    !is_title(pf_data_cell(words, i, PF_GLOSSARY_WORD)))
			fail_msg("no document has the title '%s'",
				 pf_data_cell(words, i, PF_GLOSSARY_WORD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(causes_are_explained),
		cmocka_unit_test(parts_of_steps_are_explained),
		cmocka_unit_test(words_are_found_by_what_they_are),
		cmocka_unit_test(titles_are_some_documents),
	};

	return cmocka_run_group_tests(tests, open_words, close_words);
}
