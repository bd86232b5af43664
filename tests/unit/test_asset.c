/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <string.h>

#include "base/asset.h"
#include "base/asset_table.h"

static void finds_a_file_by_name(void **state)
{
	size_t len = 0;
	const char *sql = pf_asset("schema/tables.sql", &len);

	(void)state;
	assert_non_null(sql);
	assert_int_equal(strlen(sql), len);
	assert_non_null(strstr(sql, "CREATE TABLE trace"));
}

static void refuses_other_names(void **state)
{
	(void)state;
	assert_null(pf_asset("schema/tables", NULL));
	assert_null(pf_asset("", NULL));
	assert_null(pf_asset("zzz", NULL));
}

static void names_are_sorted_and_all_found(void **state)
{
	const char *before = "";

	(void)state;
	for (size_t i = 0; i < pf_asset_count; i++) {
		assert_true(strcmp(before, pf_asset_table[i].name) < 0);
		before = pf_asset_table[i].name;
		assert_non_null(pf_asset(before, NULL));
	}
	assert_true(pf_asset_count > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_a_file_by_name),
		cmocka_unit_test(refuses_other_names),
		cmocka_unit_test(names_are_sorted_and_all_found),
	};

	return cmocka_run_group_tests_name("asset", tests, NULL, NULL);
}
