/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/utf8.h"

static void integers_are_exact(void **state)
{
	int64_t n = 7;

	(void)state;
	assert_int_equal(pf_num_int("9223372036854775807", &n), 0);
	assert_true(n == INT64_MAX);
	assert_int_equal(pf_num_int("-9223372036854775808", &n), 0);
	assert_true(n == INT64_MIN);
	assert_int_equal(pf_num_int("0", &n), 0);
	assert_true(n == 0);
}

static void no_integers(void **state)
{
	static const char *const bad[] = { "",
					   "-",
					   "+1",
					   "1 ",
					   " 1",
					   "1.0",
					   "0x1",
					   "1e3",
					   "9223372036854775808",
					   "-9223372036854775809" };
	int64_t n = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(pf_num_int(bad[i], &n), -1);
	assert_true(n == 7);
}

static void durations_are_exact(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{ "0", 0 },
		{ "0.0", 0 },
		{ "15ns", 15 },
		{ "1.5us", 1500 },
		{ "1.5\xc2\xb5s", 1500 },
		{ ".5ms", 500000 },
		{ "2s", 2000000000 },
		{ "0.1min", INT64_C(6000000000) },
		{ "1.10ns0", -1 },
		{ "1.0ns", 1 },
		{ "9223372036.854775807s", INT64_MAX },
	};
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		int want = good[i].ns < 0 ? -1 : 0;

		ns = -1;
		assert_int_equal(pf_num_ns(good[i].text, &ns), want);
		assert_true(ns == good[i].ns);
	}
}

static void durations_are_options(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} good[] = { { 0, "0" },
		     { 5, "5ns" },
		     { 1500, "1500ns" },
		     { 5000000, "5ms" },
		     { INT64_C(7000000000000), "7000s" },
		     { INT64_MAX, "9223372036854775807ns" } };
	char s[PF_NUM_MAX];
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_string_equal(pf_num_option_ns(s, good[i].ns),
				    good[i].text);
		assert_int_equal(pf_num_ns(s, &ns), 0);
		assert_true(ns == good[i].ns);
	}
}

static void no_durations(void **state)
{
	static const char *const bad[] = { "",
					   "5",
					   "-5us",
					   "5 us",
					   "5u",
					   ".",
					   ".us",
					   "1.5ns",
					   "1e3us",
					   "us",
					   "5us ",
					   "9223372036.854775808s",
					   "99999999999999999999ns" };
	int64_t ns = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(pf_num_ns(bad[i], &ns), -1);
}

static void people_can_read(void **state)
{
	char s[PF_NUM_MAX];

	(void)state;
	assert_string_equal(pf_num_show_count(s, 1234567), "1,234,567");
	assert_string_equal(pf_num_show_count(s, -123), "-123");
	assert_string_equal(pf_num_show_count(s, INT64_MIN),
			    "-9,223,372,036,854,775,808");
	assert_string_equal(pf_num_show_bytes(s, 999), "999 B");
	assert_string_equal(pf_num_show_bytes(s, 1024), "1.00 KiB");
	assert_string_equal(pf_num_show_bytes(s, 1048575), "1.00 MiB");
	assert_string_equal(pf_num_show_bytes(s, 1120000000), "1.04 GiB");
	assert_string_equal(pf_num_show_bytes(s, -2048), "-2.00 KiB");
	assert_string_equal(pf_num_show_bytes(s, INT64_MIN), "-8.00 EiB");
	assert_string_equal(pf_num_show_ns(s, 0), "0 ns");
	assert_string_equal(pf_num_show_ns(s, 1234), "1.234 us");
	assert_string_equal(pf_num_show_ns(s, 999999999), "1.000 s");
	assert_string_equal(pf_num_show_ns(s, -1500000), "-1.500 ms");
	assert_string_equal(pf_num_show_ns(s, INT64_C(90000000000)),
			    "90.000 s");
	assert_string_equal(pf_num_show_ratio(s, 0.12345), "12.35 %");
	assert_string_equal(pf_num_show_ratio(s, 0), "0.00 %");
	assert_string_equal(pf_num_show_ratio(s, 0.00004), "<0.01 %");
	assert_string_equal(pf_num_show_ratio(s, -0.00004), "> -0.01 %");
	assert_string_equal(pf_num_show_ratio(s, 0.00006), "0.01 %");
	assert_string_equal(pf_num_show_ratio(s, 0.99996), ">99.99 %");
	assert_string_equal(pf_num_show_ratio(s, 1), "100.00 %");
	assert_string_equal(pf_num_show_ratio(s, -1234.5678), "-123,456.78 %");
	assert_string_equal(pf_num_show_ns(s, INT64_C(1234567890123456)),
			    "1,234,567.890 s");
	assert_string_equal(pf_num_show_bytes(s, 1023 * 1024), "1,023.00 KiB");
	assert_string_equal(pf_num_show_real(s, 0.0373804), "0.03738");
	assert_string_equal(pf_num_show_real(s, -61032.61), "-61,033");
	assert_string_equal(pf_num_show_real(s, 517.93), "517.9");
	assert_string_equal(pf_num_show_real(s, 9999.4), "9,999");
	assert_string_equal(pf_num_show_real(s, 1234567.8), "1,234,568");
	assert_string_equal(pf_num_show_real(s, 1e15), "1e+15");
	assert_string_equal(pf_num_show_real(s, -NAN), "nan");
}

static void units_stay_with_their_numbers(void **state)
{
	(void)state;
	assert_true(pf_num_parts_unit("in 1.50 PiB, so", 7, 15));
	assert_true(pf_num_parts_unit("100.00 %", 6, 8));
	assert_true(pf_num_parts_unit("2 s.", 1, 4));
	assert_false(pf_num_parts_unit("2 steps", 1, 7));
	assert_false(pf_num_parts_unit("in s", 2, 4));
}

static void nothing_outgrows_its_place(void **state)
{
	char s[PF_NUM_MAX];

	(void)state;
	pf_num_show_ns(s, INT64_MIN);
	pf_num_show_bytes(s, INT64_MIN);
	pf_num_show_ratio(s, 1e308);
	pf_num_show_ratio(s, -1e15);
	pf_num_show_real(s, -1e-308);
	pf_num_exact(s, -4.9406564584124654e-324);
}

static void doubles_read_back(void **state)
{
	static const double values[] = { 0.1,    1.0 / 3, 1e300,
					 5e-324, 2.5,     123456789.123456789 };
	char s[PF_NUM_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		assert_true(strtod(pf_num_exact(s, values[i]), NULL) ==
			    values[i]);
	assert_string_equal(pf_num_exact(s, 0.1), "0.1");
}

static void masked(const char *bytes, size_t len, const char *want)
{
	struct pf_buf out = { 0 };

	pf_utf8_mask(&out, bytes, len);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void bytes_that_steer_are_masked(void **state)
{
	(void)state;
	masked("a\x1b[2Jb", 6, "a\\x1b[2Jb");
	masked("a\0b", 3, "a\\x00b");
	masked("\xc2\x9b", 2, "\\xc2\\x9b");          /* C1 */
	masked("\xe2\x80\xae", 3, "\\xe2\\x80\\xae"); /* override */
	masked("\xff\xc3", 2, "\\xff\\xc3");
	masked("\xc0\xaf", 2, "\\xc0\\xaf");          /* overlong */
	masked("\xed\xa0\x80", 3, "\\xed\\xa0\\x80"); /* surrogate */
	masked("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80");
	masked("\xe4\xb8\xad\xc3\xa9", 5, "\xe4\xb8\xad\xc3\xa9");
}

static void columns_are_those_of_a_terminal(void **state)
{
	(void)state;
	assert_int_equal(pf_utf8_columns("abc", 3), 3);
	assert_int_equal(pf_utf8_columns("\xe4\xb8\xad", 3), 2);
	assert_int_equal(pf_utf8_columns("e\xcc\x81", 3), 1);
	assert_int_equal(pf_utf8_columns("\xf0\x9f\x98\x80", 4), 2);
}

static void known_shares_and_sums(void **state)
{
	(void)state;
	assert_int_equal(pf_num_or_none("0"), 0);
	assert_int_equal(pf_num_or_none("12"), 12);
	assert_int_equal(pf_num_or_none("-3"), -1);
	assert_int_equal(pf_num_or_none("7x"), -1);
	assert_true(pf_num_share(1, 4) == 0.25);
	assert_true(pf_num_share(1, 0) == 0 && pf_num_share(1, -4) == 0);
	assert_int_equal(pf_num_wrap_add(2, -3), -1);
	assert_int_equal(pf_num_wrap_add(INT64_MAX, 1), INT64_MIN);
}

static void decimals_of_buffers(void **state)
{
	struct pf_buf b = { 0 };

	(void)state;
	pf_buf_addi(&b, INT64_MIN);
	pf_buf_addc(&b, ' ');
	pf_buf_addi(&b, -7);
	pf_buf_addi(&b, 0);
	pf_buf_addc(&b, ' ');
	pf_buf_addi(&b, INT64_MAX);
	pf_buf_addc(&b, ' ');
	pf_buf_addu(&b, UINT64_MAX);
	assert_string_equal(b.data, "-9223372036854775808 -70 "
				    "9223372036854775807 "
				    "18446744073709551615");
	pf_buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(no_integers),
		cmocka_unit_test(durations_are_exact),
		cmocka_unit_test(durations_are_options),
		cmocka_unit_test(no_durations),
		cmocka_unit_test(people_can_read),
		cmocka_unit_test(units_stay_with_their_numbers),
		cmocka_unit_test(nothing_outgrows_its_place),
		cmocka_unit_test(doubles_read_back),
		cmocka_unit_test(bytes_that_steer_are_masked),
		cmocka_unit_test(columns_are_those_of_a_terminal),
		cmocka_unit_test(known_shares_and_sums),
		cmocka_unit_test(decimals_of_buffers),
	};

	return cmocka_run_group_tests_name("num", tests, NULL, NULL);
}
