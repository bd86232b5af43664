/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <string.h>

#include "formats/event.h"
#include "formats/number.h"

/* Room to read eight bytes behind the text. */
static const char *padded(const char *text)
{
	static char room[64];

	memset(room, 0, sizeof(room));
	memcpy(room, text, strlen(text));
	return room;
}

struct time_case {
	const char *text;
	int64_t ns;
	unsigned digits;
	bool rounded, overflow;
	size_t used; /* 0: refused */
};

static const struct time_case times[] = {
	{ "0,", 0, 0, false, false, 1 },
	{ "1}", 1000, 0, false, false, 1 },
	{ "1.5,", 1500, 1, false, false, 3 },
	{ "-3.5,", -3500, 1, false, false, 4 },
	{ "12.345 ", 12345, 3, false, false, 6 },
	/* 135 ns would be lost in a double */
	{ "1712345678901234.567,", 1712345678901234567, 3, false, false, 20 },
	{ "1712195495519689.0,", 1712195495519689000, 1, false, false, 18 },
	{ "9223372036854775.807,", INT64_MAX, 3, false, false, 20 },
	{ "9223372036854775.808,", 0, 3, false, true, 20 },
	{ "9999999999999999,", 0, 0, false, true, 16 },
	{ "99999999999999999999,", 0, 0, false, true, 20 },
	{ "1e3,", 1000000, 0, false, false, 3 },
	{ "1.5E+2,", 150000, 1, false, false, 6 },
	{ "25e-4,", 3, 0, true, false, 5 },
	{ "24e-4,", 2, 0, true, false, 5 },
	{ "1.2344,", 1234, 4, true, false, 6 },
	{ "1.2345,", 1235, 4, true, false, 6 },
	{ "-1.2345,", -1235, 4, true, false, 7 },
	{ "0.0004,", 0, 4, true, false, 6 },
	{ "0.000000,", 0, 6, false, false, 8 },
	/* 1 ps is what profan slice adds, no rounding */
	{ "0.289001,", 289, 3, false, false, 8 },
	{ "-12.345001,", -12345, 3, false, false, 10 },
	{ "0.289002,", 289, 6, true, false, 8 },
	{ "0.289001e1,", 2890, 6, true, false, 10 },
	{ "1e400,", 0, 0, false, true, 5 },
	{ "0e400,", 0, 0, false, false, 5 },
	{ "1e-400,", 0, 0, true, false, 6 },
	{ "01,", 0, 0, false, false, 0 },
	{ "1.,", 0, 0, false, false, 0 },
	{ ".5,", 0, 0, false, false, 0 },
	{ "-,", 0, 0, false, false, 0 },
	{ "+1,", 0, 0, false, false, 0 },
	{ "1e,", 0, 0, false, false, 0 },
	{ "1.5.2,", 0, 0, false, false, 0 },
	{ "abc", 0, 0, false, false, 0 },
};

static void test_times(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		const struct time_case *c = &times[i];
		struct pf_time t = { 0 };
		const char *start = padded(c->text);
		const char *end = pf_number_time(start, &t);

		if (!c->used) {
			if (end)
				fail_msg("'%s' was accepted", c->text);
			continue;
		}
		if (end != start + c->used || t.ns != c->ns ||
		    t.rounded != c->rounded || t.overflow != c->overflow ||
		    t.fraction_digits != c->digits)
			fail_msg("'%s': %lld ns, %u digits, rounded %d, "
				 "overflow %d",
				 c->text, (long long)t.ns, t.fraction_digits,
				 t.rounded, t.overflow);
	}
}

static void test_integers(void **state)
{
	int64_t v = 7;

	(void)state;
	assert_non_null(pf_number_integer(padded("0,"), &v));
	assert_int_equal(v, 0);
	assert_non_null(pf_number_integer(padded("-12}"), &v));
	assert_int_equal(v, -12);
	assert_non_null(pf_number_integer(padded("999999999999999999,"), &v));
	assert_true(v == 999999999999999999);
	assert_null(pf_number_integer(padded("9999999999999999999,"), &v));
	assert_null(pf_number_integer(padded("-0,"), &v));
	assert_null(pf_number_integer(padded("007,"), &v));
	assert_null(pf_number_integer(padded("1.5,"), &v));
	assert_null(pf_number_integer(padded("1e5,"), &v));
}

/* (digits * 16 + fraction digits) says "22.50" and "22.5" apart. */
static void test_decimals(void **state)
{
	int64_t v = 0;

	(void)state;
	assert_non_null(pf_number_decimal(padded("22.50,"), &v));
	assert_int_equal(v, 2250 * 16 + 2);
	assert_non_null(pf_number_decimal(padded("22.5,"), &v));
	assert_int_equal(v, 225 * 16 + 1);
	assert_non_null(pf_number_decimal(padded("-0.5,"), &v));
	assert_int_equal(v, -5 * 16 + 1);
	assert_null(pf_number_decimal(padded("-0.0,"), &v));
	assert_null(pf_number_decimal(padded("123456789012345678.5,"), &v));
	assert_null(pf_number_decimal(padded("1e5,"), &v));
}

static void test_slots(void **state)
{
	(void)state;
	assert_int_equal(pf_number_slot("External id", 11),
			 PF_SLOT_EXTERNAL_ID);
	assert_int_equal(pf_number_slot("external id", 11),
			 PF_SLOT_EXTERNAL_ID);
	assert_int_equal(pf_number_slot("correlation", 11),
			 PF_SLOT_CORRELATION);
	assert_int_equal(pf_number_slot("stream", 6), -1);
	assert_int_equal(pf_number_slot("External", 8), PF_SLOT_GENERIC);
	assert_int_equal(pf_number_slot("", 0), PF_SLOT_GENERIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_decimals),
		cmocka_unit_test(test_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
