/* SPDX-License-Identifier: MIT */
/* Rows by key against figures of all values; nothing after an error. */
#include "support.h"

#include "base/order.h"
#include "base/stats.h"
#include "events/ask.h"
#include "show/doc.h"

struct row {
	struct pf_spread ns;
	uint64_t key;
};

PF_ORDER(by_sum, struct row, PF_DOWN(ns.of.sum) PF_UP(key))

static size_t add(struct pf_keyed *k, struct pf_ask *q, uint64_t key,
		  int64_t value)
{
	size_t n = pf_keyed_at(k, key);

	PF_KEYED_ROW(k, struct row, n)->key = key;
	pf_keyed_add(k, q, n, value);
	return n;
}

/* What rows say is what pf_stats_quantile() says of their values. */
static void rows_have_spreads(void **state)
{
	struct pf_err err = { 0 };
	struct pf_ask q = { .err = &err };
	struct pf_keyed k;
	int64_t values[1001];
	const struct row *rows;

	(void)state;
	pf_keyed_begin(&k, sizeof(struct row), PF_KEYED_PERCENTILES);
	for (int i = 0; i < 1001; i++) {
		values[i] = 3 * i;
		assert_int_equal(
			add(&k, &q, UINT64_MAX - 1, 3 * ((i * 5) % 1001)), 0);
		if (i < 4)
			assert_int_equal(add(&k, &q, 5, 10 - i), 1);
	}
	pf_keyed_finish(&k, &q);
	pf_keyed_sort(&k, by_sum);
	assert_int_equal(err.code, 0);
	assert_int_equal(k.count, 2);
	assert_int_equal(k.all, 1005);
	rows = k.rows;
	assert_int_equal(k.sum, rows[0].ns.of.sum + 34);
	assert_int_equal(rows[0].ns.median,
			 pf_stats_quantile(values, 1001, 50));
	assert_int_equal(rows[0].ns.p90, pf_stats_quantile(values, 1001, 90));
	assert_int_equal(rows[0].ns.p99, pf_stats_quantile(values, 1001, 99));
	assert_int_equal(rows[1].key, 5);
	assert_int_equal(rows[1].ns.median, 9); /* of 7, 8, 9, 10: 8.5 */
	assert_int_equal(rows[1].ns.mean, 9);
	assert_int_equal(rows[1].ns.p90, PF_NO_INT); /* too few */
	assert_true(rows[1].ns.share == 34.0 / (double)k.sum);
	pf_keyed_end(&k);
}

static void texts_are_keys(void **state)
{
	struct pf_err err = { 0 };
	struct pf_ask q = { .err = &err };
	struct pf_keyed k;

	(void)state;
	pf_keyed_begin(&k, sizeof(struct row), PF_KEYED_SUMS);
	assert_int_equal(pf_keyed_at_text(&k, "a", 1), 0);
	assert_int_equal(pf_keyed_at_text(&k, "ab", 2), 1);
	assert_int_equal(pf_keyed_at_text(&k, "ab", 1), 0);
	pf_keyed_add(&k, &q, 1, 7);
	pf_keyed_finish(&k, &q);
	assert_int_equal(PF_KEYED_ROW(&k, struct row, 0)->ns.of.count, 0);
	assert_int_equal(PF_KEYED_ROW(&k, struct row, 1)->ns.of.sum, 7);
	assert_int_equal(PF_KEYED_ROW(&k, struct row, 1)->ns.median, PF_NO_INT);
	assert_string_equal(pf_intern_text(&k.texts, 1, NULL), "ab");
	pf_keyed_end(&k);
}

/* After an error nothing is answered, and nothing is asked for. */
static void an_error_stays(void **state)
{
	struct pf_err err = { .code = PF_EDATA };
	struct pf_ask q = { .err = &err };

	(void)state;
	assert_null(pf_ask_names(&q));
	assert_null(pf_ask_text(&q, 1));
	assert_null(pf_ask_gpu(&q, 0));
	assert_int_equal(pf_ask_end(&q), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_spreads),
		cmocka_unit_test(texts_are_keys),
		cmocka_unit_test(an_error_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
