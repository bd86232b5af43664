/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "compare/merge.c"

static void check(const char *folder, const char *path, const char *full,
		  const char *relative)
{
	char *from = pf_place_from(folder, path);
	char *back = place_relative(folder, from), *again;

	assert_string_equal(from, full);
	assert_string_equal(back, relative);
	again = pf_place_from(folder, back);
	assert_string_equal(again, full);
	free(again);
	free(back);
	free(from);
}

static void test_places(void **state)
{
	(void)state;
	check("/a/b", "c.db", "/a/b/c.db", "c.db");
	check("/a/b", "./x//y/../c.db", "/a/b/x/c.db", "x/c.db");
	check("/a/b", "../c.db", "/a/c.db", "../c.db");
	check("/a/b", "/a/c/d.db", "/a/c/d.db", "../c/d.db");
	check("/a/b", "/a/bc/d.db", "/a/bc/d.db", "../bc/d.db");
	check("/ab", "/a/d.db", "/a/d.db", "../a/d.db");
	check("/a/b/c", "/x.db", "/x.db", "../../../x.db");
	check("/", "x/y.db", "/x/y.db", "x/y.db");
	check("/a", "../../../x.db", "/x.db", "../x.db");
	check("/a", "/a", "/a", "../a");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_places) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
