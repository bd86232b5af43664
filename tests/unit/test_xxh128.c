/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include "base/xxh128.h"

static void of_nothing(void **state)
{
	struct pf_xxh128 *d = pf_xxh128_new();
	char text[PF_XXH128_TEXT];

	(void)state;
	pf_xxh128_text(d, text);
	assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
	pf_xxh128_free(d);
}

/* What xxh128sum prints of the bytes 0, 1, ... 255, 0, ... */
static void known(void **state)
{
	static const struct {
		size_t len;
		const char *text;
	} cases[] = {
		{ 1, "a6cd5e9392000f6ac44bdff4074eecdb" },
		{ 17, "685bc458b37d057fc06e233df7729217" },
		{ 240, "65b5be86da5540e7c92b68e16f83bbb6" },
		{ 1025, "e1e508f110763b4678c86e91ee939852" },
		{ 5000, "7a681524919c28221b74bda2c82a8c7a" },
	};
	unsigned char bytes[5000];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t piece = 1; piece <= cases[i].len; piece++) {
			struct pf_xxh128 *d = pf_xxh128_new();
			size_t at = 0, len = cases[i].len;
			char text[PF_XXH128_TEXT];

			for (; at < len; at += piece)
				pf_xxh128_add(d, bytes + at,
					      len - at < piece ? len - at
							       : piece);
			pf_xxh128_text(d, text);
			assert_string_equal(text, cases[i].text);
			pf_xxh128_free(d);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_nothing),
		cmocka_unit_test(known),
	};

	return cmocka_run_group_tests_name("xxh128", tests, NULL, NULL);
}
