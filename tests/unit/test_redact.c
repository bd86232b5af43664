/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <string.h>

#include "formats/json/mend.h"

static void check(const char *in, const char *want)
{
	struct pf_buf out = { 0 };

	pf_redact_environment(in, strlen(in), &out);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void test_environment_is_dropped(void **state)
{
	(void)state;
	check("{\"env\":{\"HF_TOKEN\":\"hf_x\",\"a\":{}},\"b\":1}",
	      "{\"env\":{},\"b\":1}");
	check("{\"x\":[{\"Environ\":{\"P\":\"}\\\"\"}}],\"environment\":{}}",
	      "{\"x\":[{\"Environ\":{}}],\"environment\":{}}");
	check("{\"env_vars\":{\"a\":1},\"environment_variables\":{\"b\":2}}",
	      "{\"env_vars\":{},\"environment_variables\":{}}");
}

static void test_the_rest_stays(void **state)
{
	(void)state;
	check("{\"env\":\"prod\",\"envy\":{\"a\":1},\"v\":\"env\"}",
	      "{\"env\":\"prod\",\"envy\":{\"a\":1},\"v\":\"env\"}");
	check("\"\\\"env\\\":{\"", "\"\\\"env\\\":{\"");
	check("5", "5");
	check("{}", "{}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment_is_dropped),
		cmocka_unit_test(test_the_rest_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
