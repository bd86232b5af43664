/* SPDX-License-Identifier: MIT */
/* Order and limit of tables, and the lists of documents. */
#include "support.h"

#include "show/doc.h"

static const struct pf_col cols[] = {
	{ "name", "Name", PF_TEXT },
	{ "total_ns", "Total", PF_NS },
	{ "mean", "Mean", PF_REAL | PF_FULL },
};

static void add(struct pf_table *t, const char *name, int64_t total,
		double mean)
{
	pf_table_string(t, name);
	if (total < 0)
		pf_table_null(t);
	else
		pf_table_int(t, total);
	pf_table_real(t, mean);
}

/* The names after ordering, with a space between them. */
static void check(const char *word, int64_t limit, const char *want,
		  int64_t dropped)
{
	struct pf_table *t = pf_table_new("t", NULL, cols, 3);
	struct pf_order order = { word, limit };
	struct pf_buf got = { 0 };

	pf_table_order(t, &order);
	add(t, "b", 5, 1.5);
	add(t, "a", -1, 2);
	add(t, "d", 9, 0.5);
	add(t, "c", 5, 1.25);
	assert_int_equal(pf_table_settle(t), dropped);
	for (size_t r = 0; r < pf_table_row_count(t); r++) {
		pf_buf_addf(&got, "%s%s", r ? " " : "",
			    pf_table_row(t, r)[0].v.text.s);
	}
	pf_buf_adds(&got, "");
	assert_string_equal(got.data, want);
	pf_buf_release(&got);
	assert_int_equal(pf_table_settle(t), dropped);
	pf_table_free(t);
}

static void test_order(void **state)
{
	(void)state;
	check(NULL, -1, "b a d c", 0);
	check(NULL, 2, "b a", 2);
	check("name", -1, "a b c d", 0);
	check("-name", -1, "d c b a", 0);
	/* empty cells come last either way, ties as they were added */
	check("total_ns", -1, "d b c a", 0);
	check("total", -1, "d b c a", 0);
	check("-total", -1, "b c d a", 0);
	check("mean", 1, "a", 3);
	check("-mean", 0, "", 4);
	/* the beginning of a key is no key */
	check("tot", -1, "b a d c", 0);
}

/* Rows that cannot stay are dropped while others come. */
static void test_many(void **state)
{
	struct pf_table *t = pf_table_new("t", NULL, cols, 3);
	struct pf_order order = { "total", 3 };

	(void)state;
	pf_table_order(t, &order);
	for (int64_t i = 0; i < 100000; i++) {
		add(t, i % 2 ? "odd" : "even", i * 7919 % 100003, 0);
		assert_true(pf_table_row_count(t) < 2000);
	}
	assert_int_equal(pf_table_settle(t), 100000 - 3);
	assert_int_equal(pf_table_row_count(t), 3);
	for (int64_t r = 0; r < 2; r++)
		assert_true(pf_table_row(t, (size_t)r)[1].v.i >
			    pf_table_row(t, (size_t)r + 1)[1].v.i);
	assert_true(pf_table_row(t, 2)[1].v.i >= 99990);
	pf_table_free(t);
}

static void test_lists(void **state)
{
	struct pf_doc doc = { .lists = "first second", .order = { "mean", 1 } };
	static const char *const names[] = { "other", "first", "second" };
	struct pf_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct pf_table *t =
			pf_doc_table(&doc, names[i], NULL, cols, 3);

		add(t, "low", 1, 1);
		add(t, "high", 2, 2);
	}
	assert_int_equal(pf_doc_settle(&doc, &err), 0);
	assert_int_equal(pf_table_row_count(doc.tables[0]), 2);
	assert_int_equal(pf_table_row_count(doc.tables[1]), 1);
	assert_string_equal(pf_table_row(doc.tables[1], 0)[0].v.text.s, "high");
	assert_int_equal(pf_table_row_count(doc.tables[2]), 1);
	assert_string_equal(pf_table_row(doc.tables[2], 0)[0].v.text.s, "low");
	assert_int_equal(doc.note_count, 2);
	assert_string_equal(doc.notes[0],
			    "1 more row of 'first'; --limit -1 shows all");
	pf_doc_release(&doc);
}

static void test_no_column(void **state)
{
	struct pf_doc doc = { .lists = "t", .order = { "-totl", -1 } };
	struct pf_err err = { 0 };

	(void)state;
	pf_doc_table(&doc, "t", NULL, cols, 3);
	assert_int_equal(pf_doc_settle(&doc, &err), -1);
	support_error(&err, PF_EUSAGE, "'totl'");
	pf_doc_release(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_no_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
