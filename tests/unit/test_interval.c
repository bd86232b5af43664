/* SPDX-License-Identifier: MIT */
/* Unions and sweeps against a count of every nanosecond. */
#include "unit/support.h"

#include <string.h>

#include "events/interval.h"
#include "base/stats.h"

static void test_union_joins_what_touches(void **state)
{
	struct pf_union u = { 0 };

	(void)state;
	assert_int_equal(pf_union_add(&u, 10, 20), 0);
	assert_int_equal(pf_union_add(&u, 20, 30), 0);
	assert_int_equal(pf_union_add(&u, 22, 25), 0);
	assert_int_equal(pf_union_add(&u, 40, 41), 10);
	assert_int_equal(u.covered_ns, 21);
	assert_int_equal(pf_union_total(&u), 31);
	assert_int_equal(pf_union_idle(&u), 10);
}

static void test_union_of_broken_spans(void **state)
{
	struct pf_union u = { 0 };

	(void)state;
	pf_union_add(&u, 10, 5);
	assert_int_equal(u.covered_ns, 0);
	pf_union_add(&u, 0, 12);
	assert_int_equal(u.covered_ns, 2);
	assert_int_equal(pf_span_end(INT64_MAX - 1, 5), INT64_MAX);
	assert_int_equal(pf_span_end(7, -5), 7);
	pf_union_add(&u, INT64_MAX - 1, INT64_MAX);
	assert_int_equal(pf_union_total(&u), INT64_MAX - 10);
}

/* In which a set of "any" was active and none of "none"; any 0: whatever. */
static int64_t time_of(const struct pf_sweep *s, unsigned any, unsigned none)
{
	int64_t total = 0;

	for (unsigned mask = 0; mask < 1u << PF_SWEEP_SETS; mask++)
		if ((!any || mask & any) && !(mask & none))
			total += s->by_mask[mask];
	return total;
}

/* The example of a step with six classes (times in us). */
static void test_sweep_by_priority(void **state)
{
	static const int spans[][3] = {
		{ 4, 0, 12 },  { 5, 5, 90 },  { 3, 10, 25 },
		{ 0, 20, 60 }, { 1, 55, 70 }, { 3, 58, 80 },
	};
	struct pf_sweep s;

	(void)state;
	pf_sweep_init(&s);
	pf_sweep_begin(&s, 0);
	for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++)
		pf_sweep_add(&s, (unsigned)spans[i][0], spans[i][1],
			     spans[i][2]);
	pf_sweep_to(&s, 100);
	assert_int_equal(time_of(&s, 1, 0), 40);
	assert_int_equal(time_of(&s, 2, 1), 10);
	assert_int_equal(time_of(&s, 8, 7), 20);
	assert_int_equal(time_of(&s, 16, 15), 10);
	assert_int_equal(time_of(&s, 32, 31), 10);
	assert_int_equal(s.by_mask[0], 10);
}

static void test_sweep_counts_every_instant(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (int round = 0; round < 200; round++) {
		unsigned char at[300] = { 0 };
		int64_t want[256] = { 0 }, start = 0, last = 0;
		struct pf_sweep s;

		pf_sweep_init(&s);
		pf_sweep_begin(&s, 0);
		while (start < 250) {
			unsigned set = (unsigned)(support_random(&seed) % 8);
			int64_t end =
				start + (int64_t)(support_random(&seed) % 40);

			pf_sweep_add(&s, set, start, end);
			for (int64_t t = start; t < end; t++)
				at[t] |= (unsigned char)(1u << set);
			last = end > last ? end : last;
			start += (int64_t)(support_random(&seed) % 9);
		}
		pf_sweep_to(&s, last);
		last = last > s.at_ns ? last : s.at_ns;
		for (int64_t t = 0; t < last; t++)
			want[at[t]]++;
		assert_memory_equal(s.by_mask, want, sizeof(want));
		assert_int_equal(time_of(&s, 0, 0), last);
	}
}

/* numpy.percentile([...], p), rounded half up. */
static void test_percentiles_are_linear(void **state)
{
	static const int64_t values[] = { -5, 10, 11, 40, 1000 };

	(void)state;
	assert_int_equal(pf_stats_quantile(values, 0, 50), 0);
	assert_int_equal(pf_stats_quantile(values, 1, 50), -5);
	assert_int_equal(pf_stats_quantile(values, 2, 50), 3);
	assert_int_equal(pf_stats_quantile(values, 3, 50), 10);
	assert_int_equal(pf_stats_quantile(values, 4, 50), 11);
	assert_int_equal(pf_stats_quantile(values, 5, 0), -5);
	assert_int_equal(pf_stats_quantile(values, 5, 90), 616);
	assert_int_equal(pf_stats_quantile(values, 5, 99), 962);
	assert_int_equal(pf_stats_quantile(values, 5, 100), 1000);
	assert_int_equal(pf_stats_between(INT64_MIN, INT64_MAX, 50), 0);
}

static void test_few_values_carry_no_percentile(void **state)
{
	(void)state;
	assert_false(pf_stats_carries(9, 90));
	assert_true(pf_stats_carries(10, 90));
	assert_false(pf_stats_carries(19, 95));
	assert_true(pf_stats_carries(20, 95));
	assert_false(pf_stats_carries(99, 99));
	assert_true(pf_stats_carries(100, 99));
}

static void test_stats_of_a_stream(void **state)
{
	struct pf_stats s = { 0 };

	(void)state;
	assert_int_equal(pf_stats_mean(&s), 0);
	for (int64_t i = 1; i <= 4; i++)
		pf_stats_add(&s, i);
	assert_int_equal(s.sum, 10);
	assert_int_equal(s.min, 1);
	assert_int_equal(s.max, 4);
	assert_int_equal(pf_stats_mean(&s), 3);
	assert_true(pf_stats_sd(&s) > 1.1180 && pf_stats_sd(&s) < 1.1181);
	pf_stats_add(&s, INT64_MAX);
	assert_int_equal(s.sum, INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_union_joins_what_touches),
		cmocka_unit_test(test_union_of_broken_spans),
		cmocka_unit_test(test_sweep_by_priority),
		cmocka_unit_test(test_sweep_counts_every_instant),
		cmocka_unit_test(test_percentiles_are_linear),
		cmocka_unit_test(test_few_values_carry_no_percentile),
		cmocka_unit_test(test_stats_of_a_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
