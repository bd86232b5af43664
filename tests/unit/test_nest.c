/* SPDX-License-Identifier: MIT */
/* Heaps, searches, sums and nests against what plain loops say. */
#include "unit/support.h"

#include <string.h>

#include "base/heap.h"
#include "base/sat.h"
#include "base/search.h"
#include "events/nest.h"

#define COUNT 500

struct item {
	uint32_t key;
	uint32_t rest[10]; /* moves with its key */
};

static bool is_less(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->key < y->key;
}

/* Keys that repeat, in no order. */
static struct item make_item(uint32_t i)
{
	struct item item = { .key = (i + 5) * 7919u % 211 };

	for (size_t k = 0; k < 10; k++)
		item.rest[k] = item.key + 1;
	return item;
}

static void check_order(struct item *items, size_t count)
{
	uint32_t last = 0;

	for (; count; pf_heap_sink(items, sizeof(*items), count, 0, is_less)) {
		assert_true(items[0].key >= last);
		assert_int_equal(items[0].rest[9], items[0].key + 1);
		last = items[0].key;
		items[0] = items[--count];
	}
}

static void test_heap_gives_the_least(void **state)
{
	struct item items[COUNT];

	(void)state;
	for (size_t count = 0; count < COUNT; count += 1 + count / 3) {
		for (uint32_t i = 0; i < count; i++)
			items[i] = make_item(i);
		pf_heap_make(items, sizeof(*items), count, is_less);
		check_order(items, count);
		for (uint32_t i = 0; i < count; i++) {
			items[i] = make_item(i);
			pf_heap_rise(items, sizeof(*items), i, is_less);
		}
		check_order(items, count);
	}
}

static void test_search_finds_the_first(void **state)
{
	int numbers[40];

	(void)state;
	for (size_t count = 0; count <= 40; count++) {
		for (size_t i = 0; i < count; i++)
			numbers[i] = (int)i / 3 * 2; /* 0 0 0 2 2 2 4 ... */
		for (int want = -1; want < 30; want++) {
			size_t slow = 0;

			while (slow < count && numbers[slow] < want)
				slow++;
			assert_int_equal(PF_SEARCH(i, count, numbers[i] < want),
					 slow);
		}
	}
}

static void test_sums_stop_at_the_limits(void **state)
{
	int64_t sum = INT64_MAX - 2;

	(void)state;
	pf_sat_sum(&sum, 5);
	assert_int_equal(sum, INT64_MAX);
	pf_sat_sum(&sum, -5);
	assert_int_equal(sum, INT64_MAX - 5);
	assert_int_equal(pf_sat_add(INT64_MIN, -1), INT64_MIN);
	assert_int_equal(pf_sat_sub(INT64_MIN, 1), INT64_MIN);
	assert_int_equal(pf_sat_sub(1, INT64_MIN), INT64_MAX);
	assert_int_equal(pf_sat_sub(3, 5), -2);
}

struct range {
	int64_t end_ns;
	int depth; /* one more than that of what it is in */
	char name;
};

static struct pf_nest new_nest(void)
{
	static const struct range outermost = { .name = '-' };

	return (struct pf_nest){ .width = sizeof(outermost),
				 .outermost = &outermost };
}

static void push(struct pf_nest *n, char name, int64_t start, int64_t end)
{
	struct range *r;

	pf_nest_drop(n, start);
	r = pf_nest_push(n, end);
	r->depth++;
	r->name = name;
}

static void test_nest_passes_on_and_drops(void **state)
{
	struct pf_nest n = new_nest();
	struct range *r;

	(void)state;
	push(&n, 'a', 0, 100);
	push(&n, 'b', 10, 20);
	push(&n, 'c', 20, 40); /* b ends where c begins */
	r = pf_nest_top(&n);
	assert_int_equal(n.depth, 2);
	assert_int_equal(r->depth, 2);
	assert_null(pf_nest_ended(&n, 39));
	r = pf_nest_ended(&n, 40);
	assert_int_equal(r->name, 'c');
	pf_nest_drop(&n, 100);
	assert_null(pf_nest_top(&n));
	for (int i = 0; i < PF_NEST_DEPTH; i++)
		assert_non_null(pf_nest_push(&n, 1000 - i / 100));
	assert_null(pf_nest_push(&n, 5));
	pf_nest_release(&n);
}

struct function {
	struct pf_nest_range range;
	char name, in;
};

/* What a range is in. */
static char enter(struct pf_nest *n, char name, int64_t end_ns, bool is_python,
		  bool is_tree)
{
	struct function *f = pf_nest_enter(
		n, (struct pf_nest_range){ end_ns, is_python }, is_tree);

	f->in = f->name;
	f->name = name;
	return f->in;
}

/* The range that crosses counts as inside; each instant has one holder. */
static void test_nest_of_ranges_that_cross(void **state)
{
	static const struct {
		char name;
		int64_t from_ns, to_ns;
	} expected[] = { { 'a', 0, 5 },
			 { 'b', 5, 15 },
			 { 'c', 20, 22 },
			 { 'd', 22, 24 },
			 { 'c', 24, 30 } };
	struct pf_nest n = new_nest();
	const struct range *r;
	int64_t from_ns, to_ns;
	size_t at = 0;

	(void)state;
	pf_nest_clear(&n);
	for (int64_t now = 0; now < 40; now++) {
		while ((r = pf_nest_pass(&n, now, &from_ns, &to_ns))) {
			size_t last = at ? at - 1 : 0;

			if (r->name != expected[last].name ||
			    from_ns >= expected[last].to_ns || !at)
				last = at++;
			assert_int_equal(r->name, expected[last].name);
			assert_true(from_ns < to_ns);
			assert_true(from_ns >= expected[last].from_ns);
			assert_true(to_ns <= expected[last].to_ns);
		}
		if (now == 0)
			push(&n, 'a', 0, 10);
		if (now == 5)
			push(&n, 'b', 5, 15);
		if (now == 12) /* a has ended, but b is open above it */
			assert_int_equal(n.depth, 2);
		if (now == 20)
			push(&n, 'c', 20, 30);
		if (now == 22)
			push(&n, 'd', 22, 24);
	}
	assert_int_equal(at, sizeof(expected) / sizeof(*expected));
	assert_int_equal(n.depth, 0);
	pf_nest_release(&n);
}

static char holder(struct pf_nest *n, int64_t at_ns)
{
	const struct function *f;

	pf_nest_drop(n, at_ns);
	f = pf_nest_top(n);
	return f ? f->name : '-';
}

/* What outlives a Python function goes under it, and holds what comes after. */
static void test_nest_of_functions_that_cross(void **state)
{
	static const struct function outermost = { .name = '-' };
	struct pf_nest n = { .width = sizeof(outermost),
			     .outermost = &outermost };
	const bool trees[] = { false, true };

	(void)state;
	for (int i = 0; i < 2; i++) {
		pf_nest_clear(&n);
		enter(&n, 'm', 100, true, trees[i]);
		enter(&n, 'f', 50, true, trees[i]);
		enter(&n, 'a', 20, false, trees[i]);
		/* from here, over the end of f: a and f keep theirs */
		assert_int_equal(enter(&n, 'g', 70, true, trees[i]), 'm');
		assert_int_equal(holder(&n, 10), 'a');
		assert_int_equal(holder(&n, 30), 'f');
		assert_int_equal(enter(&n, 'x', 40, false, trees[i]), 'f');
		assert_int_equal(holder(&n, 60), 'g');
		assert_int_equal(holder(&n, 80), 'm');
		/* no function is crossed */
		enter(&n, 'b', 90, false, trees[i]);
		assert_int_equal(enter(&n, 'c', 95, true, trees[i]),
				 trees[i] ? 'm' : 'b');
		assert_int_equal(holder(&n, 92), 'c');
		assert_int_equal(holder(&n, 100), '-');
	}
	pf_nest_release(&n);
}

/* What a range inherits that begins in a function and ends after it. */
static void test_nest_of_ranges_that_outlive(void **state)
{
	static const struct function none = { { 0, false }, '-', '-' };
	struct pf_nest n = { .width = sizeof(none), .outermost = &none };

	(void)state;
	enter(&n, 'm', 1000, true, false);
	pf_nest_drop(&n, 10);
	assert_int_equal(enter(&n, 'e', 50, true, false), 'm');
	pf_nest_drop(&n, 40); /* its end is rounded: most of it is in 'e' */
	assert_int_equal(enter(&n, 'o', 52, false, false), 'e');
	pf_nest_drop(&n, 45); /* as what __enter__() opens */
	assert_int_equal(enter(&n, 'r', 900, false, false), 'm');
	assert_int_equal(holder(&n, 47), 'r');
	pf_nest_release(&n);
}

/* Put an event on where its parent, so many events before it, says. */
static size_t place(struct pf_nest *n, int64_t start, struct pf_nest_event e,
		    uint32_t parent, bool *is_under)
{
	size_t at = pf_nest_place(n, start, e, parent, is_under);

	if (!*is_under)
		n->depth = at;
	if (!*is_under || !e.is_python)
		assert_true(pf_nest_insert(n, at, &e));
	return at;
}

static void test_nest_of_known_parents(void **state)
{
	struct pf_nest n = { .width = sizeof(struct pf_nest_event) };
	const struct pf_nest_event *e;
	bool is_under;

#define EVENT(...) ((struct pf_nest_event){ __VA_ARGS__ })
	(void)state;
	assert_int_equal(place(&n, 0, EVENT(1000, 1, true), 0, &is_under), 0);
	assert_int_equal(place(&n, 10, EVENT(50, 2, true), 1, &is_under), 1);
	assert_false(is_under);
	/* a range that outlives the function goes under it, not a function */
	assert_int_equal(place(&n, 40, EVENT(900, 3, false), 2, &is_under), 1);
	assert_true(is_under);
	assert_int_equal(n.depth, 3);
	assert_int_equal(place(&n, 42, EVENT(910, 4, true), 3, &is_under), 1);
	assert_true(is_under);
	assert_int_equal(n.depth, 3);
	/* both hold what is in them, and the range what comes after */
	assert_int_equal(place(&n, 45, EVENT(48, 5, false), 2, &is_under), 3);
	assert_int_equal(place(&n, 60, EVENT(70, 6, false), 3, &is_under), 2);
	e = pf_nest_at(&n, 1);
	assert_int_equal(e->seq, 3);
	/* a range crosses another range, which goes */
	assert_int_equal(place(&n, 65, EVENT(80, 7, false), 4, &is_under), 2);
	assert_false(is_under);
	assert_int_equal(n.depth, 3);
	/* what has no parent is in nothing */
	assert_int_equal(place(&n, 2000, EVENT(2100, 8, false), 0, &is_under),
			 0);
	assert_int_equal(n.depth, 1);
	pf_nest_release(&n);
#undef EVENT
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heap_gives_the_least),
		cmocka_unit_test(test_search_finds_the_first),
		cmocka_unit_test(test_sums_stop_at_the_limits),
		cmocka_unit_test(test_nest_passes_on_and_drops),
		cmocka_unit_test(test_nest_of_ranges_that_cross),
		cmocka_unit_test(test_nest_of_functions_that_cross),
		cmocka_unit_test(test_nest_of_ranges_that_outlive),
		cmocka_unit_test(test_nest_of_known_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
