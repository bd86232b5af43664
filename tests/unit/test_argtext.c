/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <string.h>

#include "base/json.h"
#include "store/argtext.c"
#include "formats/event.h"

static void assert_slot(int slot, int64_t value, const char *want)
{
	char text[SLOT_TEXT];

	assert_int_equal(slot_text(slot, value, text), strlen(want));
	assert_string_equal(text, want);
}

static void slots_are_written_as_they_were(void **state)
{
	int d = PF_SLOT_FRACTION;

	(void)state;
	assert_slot(0, INT64_MIN, "-9223372036854775808");
	assert_slot(0, 17, "17");
	assert_slot(d, 2250 * 16 + 2, "22.50");
	assert_slot(d, 5 * 16 + 3, "0.005");
	assert_slot(d, -5 * 16 + 1, "-0.5");
	assert_slot(d, -25 * 16 + 1, "-2.5");
	assert_slot(d, 0 * 16 + 1, "0.0");
	assert_slot(d, -7 * 16, "-7");
	assert_slot(d, INT64_MAX, "576.460752303423487");
	assert_slot(d, INT64_MIN, "-576460752303423488");
}

static void build_fills_slots_outside_strings(void **state)
{
	static const char text[] =
		"{\"a\":$a,\"$a\\\"$a\":\"$b\",\"c\":[$b],\"d\":$z$,"
		"\"e\":[$c,$C,$D]}";
	int64_t slots[PF_SLOT_COUNT] = { 5, 6, -1 };
	struct pf_buf out = { 0 };

	(void)state;
	pf_argtext_build(text, strlen(text), 7, slots, &out);
	assert_string_equal(out.data,
			    "{\"a\":5,\"$a\\\"$a\":\"$b\",\"c\":[6],\"d\":$z$,"
			    "\"e\":[-1,18446744073709551615,$D]}");
	pf_buf_release(&out);
}

static void next_gives_top_level_members(void **state)
{
	static const char text[] = "{\"a\" : 1, \"b\\\"\":[1,{\"x\":\"]\"}],"
				   "\"c\":\"y,}\" ,\"\":null}";
	static const char *const want[] = { "a",     "1",
					    "b\\\"", "[1,{\"x\":\"]\"}]",
					    "c",     "\"y,}\"",
					    "",      "null" };
	struct pf_argtext it = { .text = text, .len = strlen(text) };
	struct pf_arg arg;

	(void)state;
	for (int i = 0; i < 8; i += 2) {
		assert_true(pf_argtext_next(&it, &arg));
		assert_int_equal(arg.key_len, strlen(want[i]));
		assert_memory_equal(arg.key, want[i], arg.key_len);
		assert_int_equal(arg.value_len, strlen(want[i + 1]));
		assert_memory_equal(arg.value, want[i + 1], arg.value_len);
	}
	assert_false(pf_argtext_next(&it, &arg));
}

/* Any bytes: it must end and stay inside (the sanitizer sees to that). */
static void broken_text_does_no_harm(void **state)
{
	static const char alphabet[] = "{}[]\":,\\$ab1 \t";
	uint64_t seed = 3;
	int64_t slots[PF_SLOT_COUNT] = { 0 };

	(void)state;
	for (int i = 0; i < 50000; i++) {
		char text[24];
		size_t len = support_random(&seed) % sizeof(text);
		char *exact = test_malloc(len + 1);
		struct pf_argtext it = { .text = exact, .len = len };
		struct pf_buf out = { 0 };
		struct pf_arg arg;

		for (size_t k = 0; k < len; k++)
			exact[k] = alphabet[support_random(&seed) %
					    (sizeof(alphabet) - 1)];
		while (pf_argtext_next(&it, &arg)) {
			assert_true(arg.value_len <= len);
			pf_json_unescape(arg.key, arg.key_len, &out);
		}
		pf_argtext_build(exact, len, 3, slots, &out);
		pf_buf_release(&out);
		test_free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_written_as_they_were),
		cmocka_unit_test(build_fills_slots_outside_strings),
		cmocka_unit_test(next_gives_top_level_members),
		cmocka_unit_test(broken_text_does_no_harm),
	};

	return cmocka_run_group_tests_name("argtext", tests, NULL, NULL);
}
