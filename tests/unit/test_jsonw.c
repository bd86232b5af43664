/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

static void quoted(const char *s, size_t len, bool markup, const char *want)
{
	struct pf_buf out = { 0 };

	pf_jsonw_quote(&out, s, len, markup);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void strings_are_escaped(void **state)
{
	(void)state;
	quoted("", 0, false, "\"\"");
	quoted("a\"b\\c", 5, false, "\"a\\\"b\\\\c\"");
	quoted("\n\t\r\b\x1f\x7f", 6, false,
	       "\"\\n\\t\\r\\u0008\\u001f\\u007f\"");
	quoted("a\0b", 3, false, "\"a\\u0000b\"");
	quoted("\xe4\xb8\xad", 3, false, "\"\xe4\xb8\xad\"");
	quoted("\xe2\x80\xa8", 3, false, "\"\\u2028\"");
	quoted("\xf3\xa0\x80\x81", 4, false, "\"\\udb40\\udc01\"");
}

static void bad_bytes_are_replaced(void **state)
{
	(void)state;
	quoted("a\xff"
	       "b",
	       3, false,
	       "\"a\xef\xbf\xbd"
	       "b\"");
	quoted("\xc3", 1, false, "\"\xef\xbf\xbd\"");
	quoted("\xed\xa0\x80", 3, false,
	       "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void markup_is_escaped_on_request(void **state)
{
	(void)state;
	quoted("</script>&", 10, true, "\"\\u003c/script\\u003e\\u0026\"");
	quoted("</script>&", 10, false, "\"</script>&\"");
}

static void values_and_nesting(void **state)
{
	struct pf_buf out = { 0 };
	struct pf_jsonw w = { .out = &out };

	(void)state;
	pf_jsonw_object(&w);
	pf_jsonw_key(&w, "a");
	pf_jsonw_array(&w);
	pf_jsonw_int(&w, INT64_MIN);
	pf_jsonw_real(&w, 0.1);
	pf_jsonw_real(&w, NAN);
	pf_jsonw_real(&w, -INFINITY);
	pf_jsonw_null(&w);
	pf_jsonw_array(&w);
	pf_jsonw_end(&w);
	pf_jsonw_end(&w);
	pf_jsonw_key(&w, "b\"");
	pf_jsonw_object(&w);
	pf_jsonw_end(&w);
	pf_jsonw_end(&w);
	assert_string_equal(out.data,
			    "{\"a\": [-9223372036854775808, 0.1, null, null, "
			    "null, []], \"b\\\"\": {}}");
	pf_buf_release(&out);
}

static void indentation_stops_at_its_depth(void **state)
{
	struct pf_buf out = { 0 };
	struct pf_jsonw w = { .out = &out, .indent_depth = 1 };

	(void)state;
	pf_jsonw_array(&w);
	for (int i = 0; i < 2; i++) {
		pf_jsonw_array(&w);
		pf_jsonw_int(&w, 1);
		pf_jsonw_int(&w, 2);
		pf_jsonw_end(&w);
	}
	pf_jsonw_end(&w);
	assert_string_equal(out.data, "[\n\t[1, 2],\n\t[1, 2]\n]\n");
	pf_buf_release(&out);
}

static void the_buffer_may_be_emptied(void **state)
{
	struct pf_buf out = { 0 };
	struct pf_jsonw w = { .out = &out };

	(void)state;
	pf_jsonw_array(&w);
	pf_jsonw_int(&w, 1);
	pf_buf_clear(&out);
	pf_jsonw_int(&w, 2);
	pf_jsonw_end(&w);
	assert_string_equal(out.data, ", 2]");
	pf_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(bad_bytes_are_replaced),
		cmocka_unit_test(markup_is_escaped_on_request),
		cmocka_unit_test(values_and_nesting),
		cmocka_unit_test(indentation_stops_at_its_depth),
		cmocka_unit_test(the_buffer_may_be_emptied),
	};

	return cmocka_run_group_tests_name("jsonw", tests, NULL, NULL);
}
