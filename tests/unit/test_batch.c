/* SPDX-License-Identifier: MIT */
/* Texts of readers: what is no UTF-8, and 0, becomes U+FFFD; what is forgotten. */
#include "unit/support.h"

#include <stdio.h>

#include "formats/batch.h"

#define LOST "\xef\xbf\xbd"

static void cleaned(struct pf_parsed *p, const char *raw, size_t len,
		    const char *want)
{
	uint32_t i = pf_dict_find(&p->names, raw, len, 0);
	const struct pf_dict_entry *e = &p->names.entries[i];

	assert_int_equal(e->text_len, strlen(want));
	if (e->text_len)
		assert_memory_equal(p->names.text.data + e->text_at, want,
				    e->text_len);
}

static void texts_are_utf8(void **state)
{
	struct pf_parsed p = { 0 };

	(void)state;
	pf_parsed_init(&p);
	cleaned(&p, "", 0, "");
	cleaned(&p, "plain \xc3\xa9", 8, "plain \xc3\xa9");
	cleaned(&p, "\xff", 1, LOST);
	cleaned(&p,
		"a\xff"
		"b\0c",
		5, "a" LOST "b" LOST "c");
	cleaned(&p,
		"\xff\xfe"
		"a",
		3, LOST LOST "a");
	cleaned(&p, "a\xc3", 2, "a" LOST);
	pf_parsed_release(&p);
}

#define SETTLED 1000u
#define FRESH   1000u /* as many as fit without a larger table */

static uint32_t find(struct pf_parsed *p, unsigned i)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "text %u", i);

	return pf_dict_find(&p->names, text, (size_t)len, 0);
}

/* A chunk that is parsed again finds what was settled, and nothing else. */
static void fresh_texts_are_forgotten(void **state)
{
	struct pf_parsed p = { 0 };

	(void)state;
	pf_parsed_init(&p);
	for (unsigned i = 0; i < SETTLED; i++)
		assert_int_equal(find(&p, i), i);
	pf_dict_settle(&p.names);
	for (unsigned turn = 0; turn < 3; turn++) {
		for (unsigned i = FRESH; i-- > 0;)
			find(&p, SETTLED + i);
		assert_int_equal(p.names.count, SETTLED + FRESH);
		pf_parsed_begin(&p);
		assert_int_equal(p.names.count, SETTLED);
		for (unsigned i = 0; i < SETTLED; i++)
			assert_int_equal(find(&p, i), i);
	}
	pf_parsed_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_utf8),
		cmocka_unit_test(fresh_texts_are_forgotten),
	};

	return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
