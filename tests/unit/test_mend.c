/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <string.h>

#include "formats/json/mend.h"

struct mend_case {
	const char *in, *out;     /* out NULL: bad even when tolerant */
	enum pf_repair_kind kind; /* of the one repair; -1: strictly valid */
};

#define VALID ((enum pf_repair_kind) - 1)

static const struct mend_case cases[] = {
	{ "{}", "{}", VALID },
	{ "[ ]", "[]", VALID },
	{ " { \"a\" : [ 1 , -2.5e3 , true , null ] } ",
	  "{\"a\":[1,-2.5e3,true,null]}", VALID },
	{ "\"a\\u00e9\\n\\\"\"", "\"a\\u00e9\\n\\\"\"", VALID },
	{ "\"\\ud83d\\ude00\"", "\"\\ud83d\\ude00\"", VALID },
	{ "\"\xc3\xa9\"", "\"\xc3\xa9\"", VALID },
	{ "\"a\tb\"", "\"a\\u0009b\"", PF_REPAIR_CONTROL_BYTE },
	{ "\"C:\\Users\"", "\"C:\\\\Users\"", PF_REPAIR_BAD_ESCAPE },
	{ "\"\\u12x4\"", "\"\\\\u12x4\"", PF_REPAIR_BAD_ESCAPE },
	{ "\"\\ud83d\"", "\"\\ufffd\"", PF_REPAIR_LONE_SURROGATE },
	{ "\"\\ude00x\"", "\"\\ufffdx\"", PF_REPAIR_LONE_SURROGATE },
	{ "\"\xff\"", "\"\\ufffd\"", PF_REPAIR_BAD_UTF8 },
	{ "\"\xc0\xaf\"", "\"\\ufffd\\ufffd\"", PF_REPAIR_BAD_UTF8 },
	{ "\"\xed\xa0\x80\"", "\"\\ufffd\\ufffd\\ufffd\"", PF_REPAIR_BAD_UTF8 },
	{ "[NaN]", "[null]", PF_REPAIR_NOT_A_NUMBER },
	{ "[-Infinity]", "[null]", PF_REPAIR_NOT_A_NUMBER },
	{ "[01]", "[null]", PF_REPAIR_BAD_NUMBER },
	{ "[1.]", "[null]", PF_REPAIR_BAD_NUMBER },
	{ "[1,2,...]", "[1,2,null]", PF_REPAIR_UNQUOTED },
	{ "{\"a\":hello world}", "{\"a\":null}", PF_REPAIR_UNQUOTED },
	{ "{\"a\":}", "{\"a\":null}", PF_REPAIR_UNQUOTED },
	{ "[1,]", "[1]", PF_REPAIR_TRAILING_COMMA },
	{ "{\"a\":1,}", "{\"a\":1}", PF_REPAIR_TRAILING_COMMA },
	{ "[,1]", "[1]", PF_REPAIR_TRAILING_COMMA },
	{ "{\"a\":1,\"b\":2,\"a\":3}", "{\"b\":2,\"a\":3}",
	  PF_REPAIR_DUPLICATE_KEY },
	{ "{\"x\":{\"a\":1,\"a\":2},\"y\":3}", "{\"x\":{\"a\":2},\"y\":3}",
	  PF_REPAIR_DUPLICATE_KEY },
	{ "{\"a\" 1}", NULL, VALID },
	{ "{1:2}", NULL, VALID },
	{ "[1}", NULL, VALID },
	{ "{\"a\":1]", NULL, VALID },
	{ "[\"a\" \"b\"]", NULL, VALID },
	{ "}", NULL, VALID },
};

static enum pf_mend_result mend(const char *in, size_t len,
				struct pf_repairs *repairs, struct pf_buf *out)
{
	struct pf_mend m = { .p = in, .end = in + len, .repairs = repairs };

	pf_buf_clear(out);
	return pf_mend_value(&m, out);
}

static void test_cases(void **state)
{
	struct pf_buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct mend_case *c = &cases[i];
		struct pf_repairs repairs = { 0 };
		enum pf_mend_result strict, tolerant;

		strict = mend(c->in, strlen(c->in), NULL, &out);
		if ((strict == PF_MEND_OK) != (c->out && c->kind == VALID))
			fail_msg("strict '%s': %d", c->in, strict);
		tolerant = mend(c->in, strlen(c->in), &repairs, &out);
		if ((tolerant == PF_MEND_OK) != (c->out != NULL))
			fail_msg("'%s': %d", c->in, tolerant);
		if (!c->out)
			continue;
		assert_string_equal(out.data, c->out);
		for (int k = 0; k < PF_REPAIR_KINDS; k++)
			assert_int_equal(repairs.of[k].count != 0,
					 k == (int)c->kind);
	}
	pf_buf_release(&out);
}

/* What was mended is strictly valid, and mending it again changes nothing. */
static void test_output_is_strict(void **state)
{
	struct pf_buf out = { 0 }, again = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pf_repairs repairs = { 0 };

		if (mend(cases[i].in, strlen(cases[i].in), &repairs, &out))
			continue;
		assert_int_equal(mend(out.data, out.len, NULL, &again),
				 PF_MEND_OK);
		assert_string_equal(out.data, again.data);
	}
	pf_buf_release(&out);
	pf_buf_release(&again);
}

/* Only on request, and only in members: where such a string ends. */
static void test_bare_quotes(void **state)
{
	static const char *const members[][2] = {
		{ "{\"a\":\"x\"y\",\"b\":1}", "{\"a\":\"x\\\"y\",\"b\":1}" },
		{ "{\"a\":\"\"\"}", "{\"a\":\"\\\"\"}" },
		{ "{\"a\":\"\\\"x\"\"}", "{\"a\":\"\\\"x\\\"\"}" },
		{ "{\"a\":\"x\" , y\" , \"b\" :\"\"}",
		  "{\"a\":\"x\\\" , y\",\"b\":\"\"}" },
		{ "{\"a\":\"x\"} y\"}", "{\"a\":\"x\\\"} y\"}" },
		{ "[{\"a\":\"x\"y\"},\"b\"]", "[{\"a\":\"x\\\"y\"},\"b\"]" },
		{ "{\"a\":[\"x\"y\"]}", NULL },
		{ "{\"a\"b\":1}", NULL },
		{ "{\"a\":\"x\"y\",\"b\":z\"}", NULL },
	};
	struct pf_buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		const char *in = members[i][0], *want = members[i][1];
		struct pf_repairs repairs = { 0 }, none = { 0 };
		struct pf_mend m = { .p = in,
				     .end = in + strlen(in),
				     .repairs = &repairs,
				     .bare_quotes = true };

		/* the fifth ends early */
		if (i != 4)
			assert_int_equal(mend(in, strlen(in), &none, &out),
					 PF_MEND_BAD);
		pf_buf_clear(&out);
		assert_int_equal(pf_mend_value(&m, &out),
				 want ? PF_MEND_OK : PF_MEND_BAD);
		if (!want)
			continue;
		assert_string_equal(out.data, want);
		assert_ptr_equal(m.p, m.end);
		assert_int_equal(repairs.of[PF_REPAIR_BARE_QUOTE].count, 1);
	}
	pf_buf_release(&out);
}

/* A text cut anywhere is incomplete, never bad, never accepted. */
static void test_cut_is_incomplete(void **state)
{
	static const char text[] = "{\"name\":\"a\\u00e9\\\\\",\"args\":"
				   "{\"x\":[1,2.5,{\"y\":null}],\"z\":\"\"}}";
	struct pf_buf out = { 0 };

	(void)state;
	for (size_t len = 0; len < sizeof(text) - 1; len++)
		assert_int_equal(mend(text, len, NULL, &out),
				 PF_MEND_INCOMPLETE);
	assert_int_equal(mend(text, sizeof(text) - 1, NULL, &out), PF_MEND_OK);
	pf_buf_release(&out);
}

static void test_depth(void **state)
{
	char text[2 * PF_JSON_MAX_DEPTH + 3];
	struct pf_repairs repairs = { 0 };
	struct pf_buf out = { 0 };
	size_t n = PF_JSON_MAX_DEPTH;

	(void)state;
	memset(text, '[', n);
	memset(text + n, ']', n);
	assert_int_equal(mend(text, 2 * n, &repairs, &out), PF_MEND_OK);
	memset(text, '[', n + 1);
	memset(text + n + 1, ']', n + 1);
	assert_int_equal(mend(text, 2 * n + 2, &repairs, &out), PF_MEND_BAD);
	pf_buf_release(&out);
}

static void test_placeholders(void **state)
{
	static const char text[] = "{\"a\":$c,\"b\":$a}";
	struct pf_mend m = { .p = text,
			     .end = text + sizeof(text) - 1,
			     .placeholders = true };
	struct pf_buf out = { 0 };

	(void)state;
	assert_int_equal(pf_mend_value(&m, &out), PF_MEND_OK);
	assert_int_equal(m.mask, 5);
	assert_false(m.twice);
	assert_int_equal(mend(text, sizeof(text) - 1, NULL, &out), PF_MEND_BAD);
	pf_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_output_is_strict),
		cmocka_unit_test(test_bare_quotes),
		cmocka_unit_test(test_cut_is_incomplete),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_placeholders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
