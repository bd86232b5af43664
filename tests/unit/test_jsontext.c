/* SPDX-License-Identifier: MIT */
/* Undoing the escapes of JSON strings, good ones and broken ones. */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

#define BAD "\xef\xbf\xbd"

/* From a copy of exactly this length, so that a tool sees any byte beyond. */
static void check_len(const char *in, size_t len, bool good, const char *want,
		      size_t want_len)
{
	char *exact = test_malloc(len ? len : 1);
	struct pf_buf out = { 0 };

	memcpy(exact, in, len);
	pf_buf_reserve(&out, 1);
	assert_int_equal(pf_json_unescape(exact, len, &out), good);
	assert_int_equal(out.len, want_len);
	assert_memory_equal(out.data, want, want_len);
	pf_buf_release(&out);
	test_free(exact);
}

static void check(const char *in, bool good, const char *want)
{
	check_len(in, strlen(in), good, want, strlen(want));
}

static void test_good(void **state)
{
	(void)state;
	check("", true, "");
	check("plain", true, "plain");
	check("\\\"\\\\\\/\\b\\f\\n\\r\\t", true, "\"\\/\b\f\n\r\t");
	check("\\u0041\\u00e9\\u4E2D", true, "A\xc3\xa9\xe4\xb8\xad");
	check("\\ud83d\\ude00", true, "\xf0\x9f\x98\x80");
	check("\\uDBFF\\uDFFF", true, "\xf4\x8f\xbf\xbf");
	check("\\ud800\\udc00", true, "\xf0\x90\x80\x80");
	check("\\u007f\\u0080\\u07ff\\u0800\\uffff", true,
	      "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
	check("x\\u0000y", true, "x" BAD "y");
	/* bytes that are no escapes are copied */
	check_len("a\0\xff\n", 4, true, "a\0\xff\n", 4);
}

static void test_broken(void **state)
{
	(void)state;
	check("\\", false, "\\");
	check("a\\", false, "a\\");
	check("\\x41", false, "x41");
	check("\\u", false, BAD);
	check("\\u12", false, BAD "12");
	check("\\u12g4", false, BAD "12g4");
	check("\\ud800", false, BAD);
	check("\\ud800x", false, BAD "x");
	check("\\udc00", false, BAD);
	check("\\ud800\\n", false, BAD "\n");
	check("\\ud800\\ud800\\udc00", false, BAD "\xf0\x90\x80\x80");
	check("\\ud800\\udc0", false, BAD BAD "dc0");
	check("\\x\\n", false, "x\n");
	check_len("\\\0b", 3, false, "\0b", 2);
}

/* Cut at every byte: never read beyond, and what came before is the same. */
static void test_cut(void **state)
{
	static const char in[] = "a\\n\\u00e9\\ud83d\\ude00\\\"\\/\\ud83dx\\u1";
	struct pf_buf out = { 0 };

	(void)state;
	for (size_t len = 0; len < sizeof(in); len++) {
		char *exact = test_malloc(len ? len : 1);

		memcpy(exact, in, len);
		pf_buf_clear(&out);
		pf_json_unescape(exact, len, &out);
		if (len >= 9) {
			assert_true(out.len >= 4);
			assert_memory_equal(out.data, "a\n\xc3\xa9", 4);
		}
		test_free(exact);
	}
	pf_buf_release(&out);
}

/* What is quoted comes back. */
static void test_round_trip(void **state)
{
	uint64_t random = 1;
	struct pf_buf text = { 0 }, quoted = { 0 }, back = { 0 };

	(void)state;
	for (int i = 0; i < 2000; i++) {
		int count = (int)(support_random(&random) % 20);

		pf_buf_clear(&text);
		pf_buf_clear(&quoted);
		pf_buf_clear(&back);
		pf_buf_reserve(&text, 1);
		pf_buf_reserve(&back, 1);
		for (int k = 0; k < count; k++) {
			uint32_t c = (uint32_t)(support_random(&random) %
						(k % 2 ? 0x80 : 0x110000));

			if (c && (c < 0xd800 || c > 0xdfff))
				pf_utf8_add(&text, c);
		}
		pf_jsonw_quote(&quoted, text.data, text.len, i % 2);
		assert_true(pf_json_unescape(quoted.data + 1, quoted.len - 2,
					     &back));
		assert_int_equal(back.len, text.len);
		assert_memory_equal(back.data, text.data, text.len);
	}
	pf_buf_release(&text);
	pf_buf_release(&quoted);
	pf_buf_release(&back);
}

/* Any bytes at all: no more than three come out of each. */
static void test_any_bytes(void **state)
{
	static const char some[] = "\\\\\\uu\"/bn0189afDdCc8";
	uint64_t random = 7;
	struct pf_buf out = { 0 };

	(void)state;
	for (int i = 0; i < 20000; i++) {
		size_t len = (size_t)(support_random(&random) % 24);
		char *exact = test_malloc(len ? len : 1);

		for (size_t k = 0; k < len; k++)
			exact[k] = some[support_random(&random) %
					(sizeof(some) - 1)];
		pf_buf_clear(&out);
		pf_json_unescape(exact, len, &out);
		assert_true(out.len <= 3 * len);
		test_free(exact);
	}
	pf_buf_release(&out);
}

static void test_hex(void **state)
{
	static const char text[] = "0aF9g";

	(void)state;
	assert_int_equal(pf_json_hex4(text, text + 5), 0x0af9);
	assert_int_equal(pf_json_hex4(text + 1, text + 5), -1);
	assert_int_equal(pf_json_hex4(text, text + 3), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_hex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
