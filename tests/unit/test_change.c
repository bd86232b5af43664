/* SPDX-License-Identifier: MIT */
/* Change points: where they are, how many chance makes, how few captures. */
#include "unit/support.h"

#include <math.h>

#include "compare/diff_capture.h"

#define NIGHTS 60

/* About normal: the sum of twelve uniform values. */
static double noise(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(support_random(seed) % 100000) / 100000;
	return sum;
}

/* Nights about 10 ms with a part of noise; a step of "part" from "at" on. */
static void plant(int64_t *values, size_t count, size_t at, double part,
		  double sd, uint64_t *seed)
{
	for (size_t i = 0; i < count; i++)
		values[i] = llround(10e6 * (1 + (i >= at ? part : 0)) *
				    (1 + sd * noise(seed)));
}

static void planted(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 50; round++) {
		size_t at = 10 + support_random(&seed) % 40;
		int64_t values[NIGHTS];
		struct pf_changes c;

		plant(values, NIGHTS, at, 0.02, 0.003, &seed);
		pf_changes_find(values, NIGHTS, 1e-4, &c);
		assert_int_equal(c.count, 1);
		assert_int_equal(c.items[0].at, at);
		assert_int_equal(c.items[0].from, 0);
		assert_int_equal(c.items[0].to, NIGHTS);
		assert_true(fabs((double)c.items[0].rank.shift / 10e6 - 0.02) <
			    0.003);
		assert_true(c.items[0].rank.shift_low > 0);
		pf_changes_release(&c);
	}
}

/* Up for a while, and half of the way back. */
static void several(void **state)
{
	uint64_t seed = 5;
	int64_t values[NIGHTS];
	struct pf_changes c;

	(void)state;
	plant(values, NIGHTS, 20, 0.04, 0.003, &seed);
	for (size_t i = 45; i < NIGHTS; i++)
		values[i] -= 200000;
	pf_changes_find(values, NIGHTS, 1e-3, &c);
	assert_int_equal(c.count, 2);
	assert_int_equal(c.items[0].at, 20);
	assert_int_equal(c.items[0].to, 45);
	assert_int_equal(c.items[1].from, 20);
	assert_int_equal(c.items[1].at, 45);
	assert_true(c.items[1].rank.shift < 0);
	assert_true(c.items[0].after == c.items[1].before);
	pf_changes_release(&c);
}

/* Of series without a change no more than the rate has one. */
static void chance(void **state)
{
	static const size_t counts[] = { 12, 30, 60, 90 };
	uint64_t seed = 11;
	int found = 0, rounds = 800;

	(void)state;
	for (int round = 0; round < rounds; round++) {
		size_t count = counts[round % 4];
		int64_t values[90];
		struct pf_changes c;

		plant(values, count, 0, 0, 0.01, &seed);
		/* every eighth night is a bad one, every third value a tie */
		for (size_t i = 0; i < count; i++) {
			values[i] += i % 8 ? 0 : 5000000;
			values[i] = i % 3 ? values[i] : 10000000;
		}
		pf_changes_find(values, count, 0.05, &c);
		found += c.count > 0;
		pf_changes_release(&c);
	}
	assert_true(found <= rounds / 20);
}

static void one_bad_night(void **state)
{
	uint64_t seed = 13;
	int64_t values[NIGHTS];
	struct pf_changes c;

	(void)state;
	plant(values, NIGHTS, 0, 0, 0.003, &seed);
	values[59] = 1 << 30;
	pf_changes_find(values, NIGHTS, 0.01, &c);
	assert_int_equal(c.count, 0);
	pf_changes_release(&c);
	/* which hides no change */
	plant(values, NIGHTS, 40, 0.02, 0.003, &seed);
	values[10] = values[59] = 1 << 30;
	pf_changes_find(values, NIGHTS, 0.01, &c);
	assert_int_equal(c.count, 1);
	assert_int_equal(c.items[0].at, 40);
	pf_changes_release(&c);
	/* and what never changes at all */
	for (size_t i = 0; i < NIGHTS; i++)
		values[i] = 42;
	pf_changes_find(values, NIGHTS, 0.01, &c);
	assert_int_equal(c.count, 0);
	pf_changes_release(&c);
	for (size_t n = 0; n < 3; n++) {
		pf_changes_find(values, n, 0.01, &c);
		assert_int_equal(c.count, 0);
		pf_changes_release(&c);
	}
}

/* So many captures and no fewer. */
static void fewest(void **state)
{
	static const double rates[] = { 0.05, 0.01, 1e-3, 1e-5 };

	(void)state;
	for (size_t r = 0; r < 4; r++) {
		size_t least = pf_changes_least(rates[r]);

		for (size_t n = least - 1; n <= least; n++) {
			int64_t values[NIGHTS];
			struct pf_changes c;

			for (size_t i = 0; i < n; i++)
				values[i] = (int64_t)i + (i >= n / 2 ? 99 : 0);
			pf_changes_find(values, n, rates[r], &c);
			assert_int_equal(c.count, n == least);
			pf_changes_release(&c);
		}
	}
	/* a year: some nights are enough */
	{
		uint64_t seed = 1;
		int64_t values[365];
		struct pf_changes c;

		plant(values, 365, 361, 0.1, 0.002, &seed);
		pf_changes_find(values, 365, 1e-3, &c);
		assert_int_equal(c.count, 1);
		assert_int_equal(c.items[0].at, 361);
		pf_changes_release(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(planted), cmocka_unit_test(several),
		cmocka_unit_test(chance),  cmocka_unit_test(one_bad_night),
		cmocka_unit_test(fewest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
