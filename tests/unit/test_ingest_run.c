/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/tempfile.h"
#include "ingest/impl.h"

#define EVENTS 2000

static char inline_texts[] = "a name that is not in the dictionary";

/* Event i, with every oddity somewhere; the same for the same i. */
static void make(int i, struct pf_run_event *ev, int64_t *slots)
{
	uint64_t seed = (uint64_t)i + 1;

	memset(ev, 0, sizeof(*ev));
	ev->start_ns = i == 0 ? INT64_MIN / 4 : i * 1000 - 5;
	ev->dur_ns = i % 7 ? (int64_t)(support_random(&seed) >> 40) : 0;
	ev->order = (int64_t)(support_random(&seed) >> 34);
	ev->name = i % 11 ? (uint32_t)i : PF_ID_INLINE;
	ev->args =
		i % 5 ? (i % 13 ? (uint32_t)i * 3 : PF_ID_INLINE) : PF_ID_NONE;
	ev->type = (uint32_t)i % 3;
	ev->mask = i % 17 ? (uint32_t)(support_random(&seed) & 0x3ffffff)
			  : 0x3ffffff;
	ev->slots = slots;
	for (int k = 0; k < __builtin_popcount(ev->mask); k++)
		slots[k] = (int64_t)support_random(&seed);
	if (ev->name == PF_ID_INLINE) {
		ev->inline_name = inline_texts;
		ev->inline_name_len = (uint32_t)i % sizeof(inline_texts);
	}
	if (ev->args == PF_ID_INLINE) {
		ev->inline_args = inline_texts + 2;
		ev->inline_args_len = (uint32_t)i % 20;
	}
}

static void compare(const struct pf_run_event *a, const struct pf_run_event *b)
{
	size_t slots = (size_t)__builtin_popcount(a->mask);

	assert_true(a->start_ns == b->start_ns && a->dur_ns == b->dur_ns);
	assert_true(a->order == b->order && a->name == b->name);
	assert_true(a->args == b->args && a->type == b->type);
	assert_int_equal(a->mask, b->mask);
	assert_memory_equal(a->slots, b->slots, slots * sizeof(int64_t));
	assert_int_equal(a->inline_name_len, b->inline_name_len);
	assert_int_equal(a->inline_args_len, b->inline_args_len);
	if (a->inline_name_len)
		assert_memory_equal(a->inline_name, b->inline_name,
				    a->inline_name_len);
	if (a->inline_args_len)
		assert_memory_equal(a->inline_args, b->inline_args,
				    a->inline_args_len);
}

/* What is put comes back, whatever the reader's buffer. */
static void test_round_trip(void **state)
{
	static const size_t buffers[] = { 1, 500, 4096, 1 << 20 };
	char *dir = support_tmp_take();
	int64_t slots[PF_SLOT_COUNT];
	struct pf_run_memory memory = { 0 };
	struct pf_buf bytes = { 0 };
	struct pf_run_event ev;
	struct pf_err err = { 0 };
	struct pf_scratch from = { 0 };
	uint64_t at;

	(void)state;
	/* The run lies across the border between memory and the file. */
	assert_int_equal(pf_scratch_open(&from, 10000, dir, &err), 0);
	assert_int_equal(pf_scratch_add(&from, inline_texts, 7, &at, &err), 0);
	assert_true(at == 0);
	for (int i = 0; i < EVENTS; i++) {
		make(i, &ev, slots);
		pf_run_put(&memory, &ev, &bytes);
	}
	assert_true(bytes.len > 20000);
	assert_int_equal(
		pf_scratch_add(&from, bytes.data, bytes.len, &at, &err), 0);
	assert_true(at == 7);
	for (size_t b = 0; b < sizeof(buffers) / sizeof(*buffers); b++) {
		const struct pf_run run = { .offset = at,
					    .bytes = (uint32_t)bytes.len,
					    .count = EVENTS };
		struct pf_run_reader r;

		pf_run_open(&r, &from, &run, buffers[b]);
		for (int i = 0; i < EVENTS; i++) {
			assert_int_equal(pf_run_next(&r, &err), 1);
			make(i, &ev, slots);
			compare(&ev, &r.event);
		}
		assert_int_equal(pf_run_next(&r, &err), 0);
		pf_run_close(&r);
	}
	pf_scratch_close(&from);
	pf_buf_release(&bytes);
	support_tmp_release(dir);
}

static void test_order(void **state)
{
	const struct pf_run_event a = { .start_ns = 1,
					.dur_ns = 9,
					.order = 5 };
	struct pf_run_event b = a;

	(void)state;
	assert_int_equal(pf_run_compare(&a, &b), 0);
	b.order = 6;
	assert_true(pf_run_compare(&a, &b) < 0);
	b.dur_ns = 10; /* the longer one first: it is the parent */
	assert_true(pf_run_compare(&a, &b) > 0);
	b.start_ns = 2;
	assert_true(pf_run_compare(&a, &b) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
