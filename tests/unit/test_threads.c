/* SPDX-License-Identifier: MIT */
/* What threads read ahead is what would have been read without them. */
#include "unit/scene.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/threads.h"
#include "store/cursor.h"
#include "store/texts.h"

/* ---- items ---- */

#define PLACES 3

struct counter {
	int items[PLACES], made, last, rc;
};

/* 1 to last, then rc. */
static int count_on(void *context, size_t place, struct pf_err *err)
{
	struct counter *c = context;

	if (c->made == c->last)
		return c->rc < 0 ? pf_fail(err, PF_EDATA, "no") : 0;
	c->items[place] = ++c->made;
	return 1;
}

static void in_their_order_then_the_end(void **state)
{
	(void)state;
	for (int way = 0; way < 4; way++) {
		int rc = -(way & 1);
		struct counter c = { .last = 1000, .rc = rc };
		struct pf_ahead *a =
			pf_ahead_new(count_on, &c, PLACES, way & 2);
		struct pf_err err = { 0 };
		size_t place;

		for (int i = 1; i <= 1000; i++) {
			assert_int_equal(pf_ahead_next(a, &place, &err), 1);
			assert_int_equal(c.items[place], i);
		}
		for (int i = 0; i < 2; i++) {
			assert_int_equal(pf_ahead_next(a, &place, &err), rc);
			assert_int_equal(err.code, rc ? PF_EDATA : PF_OK);
		}
		pf_ahead_free(a);
	}
}

static void left_before_the_end(void **state)
{
	(void)state;
	for (int taken = 0; taken < 3 * PLACES; taken++) {
		struct counter c = { .last = 1 << 30 };
		struct pf_ahead *a = pf_ahead_new(count_on, &c, PLACES, true);
		struct pf_err err = { 0 };
		size_t place;

		for (int i = 0; i < taken; i++)
			assert_int_equal(pf_ahead_next(a, &place, &err), 1);
		pf_ahead_free(a);
		assert_in_range(c.made, taken, taken + PLACES);
	}
}

static void nothing_ahead_without_a_thread(void **state)
{
	struct counter c = { .last = 1000 };
	struct pf_ahead *a = pf_ahead_new(count_on, &c, PLACES, false);
	struct pf_err err = { 0 };
	size_t place;

	(void)state;
	for (int i = 1; i <= 1000; i++) {
		assert_int_equal(pf_ahead_next(a, &place, &err), 1);
		assert_int_equal(c.made, i);
	}
	pf_ahead_free(a);
}

static void add_one(void *p)
{
	++*(int *)p;
}

static void both_are_done(void **state)
{
	int a = 1, b = 10;

	(void)state;
	pf_threads_both(add_one, &a, add_one, &b);
	assert_int_equal(a, 2);
	assert_int_equal(b, 11);
}

/* ---- of a database ---- */

#define CALLS 100000 /* six blocks of a thread */

static void open_calls(struct scene *s)
{
	struct pf_buf json = { 0 };

	pf_buf_adds(&json, "{\"traceEvents\":[");
	for (int i = 0; i < CALLS; i++)
		pf_buf_addf(&json,
			    "%s{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
			    "\"c%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":5,"
			    "\"args\":{\"correlation\":%d}}",
			    i ? "," : "", i % 3, 100 + 10 * i, 7 * i);
	for (int i = 0; i < 5000; i++)
		pf_buf_addf(&json,
			    ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\","
			    "\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":8,\"args\":{"
			    "\"device\":0,\"stream\":7,\"correlation\":%d}}",
			    101 + 10 * i, 7 * i);
	pf_buf_adds(&json, "]}");
	scene_open(s, json.data);
	pf_buf_release(&json);
}

/* Up to so many blocks of the longest track, each as a line. */
static void read_blocks(struct pf_db *db, bool is_ahead, int most,
			struct pf_buf *out)
{
	const uint64_t columns = PF_COLBIT(PF_COL_START) |
				 PF_COLBIT(PF_COL_NAME) |
				 PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION);
	struct pf_err err = { 0 };
	struct pf_track *tracks;
	const struct pf_block *b;
	struct pf_cursor *c;
	size_t count, at = 0;
	uint32_t first;
	int rc = 1;

	assert_int_equal(pf_tracks_load(db, 0, &tracks, &count, &err), 0);
	for (size_t i = 0; i < count; i++)
		at = tracks[i].event_count == CALLS ? i : at;
	c = pf_cursor_new(db, tracks[at].id, columns);
	pf_tracks_free(tracks, count);
	if (is_ahead)
		pf_cursor_ahead(c);
	for (; most && (rc = pf_cursor_block(c, &b, &first, &err)) == 1;
	     most--) {
		int64_t sum = 0;

		for (uint32_t i = 0; i < b->count; i++)
			sum += b->start_ns[i] * (b->name[i] + 1) +
			       b->slot[PF_SLOT_CORRELATION][i];
		pf_buf_addf(out, "%u %u %lld\n", first, b->count,
			    (long long)sum);
	}
	assert_true(rc >= 0);
	pf_cursor_free(c);
}

static void read_rows(struct pf_db *db, bool is_ahead, int most,
		      struct pf_buf *out)
{
	struct pf_err err = { 0 };
	struct pf_ints *rows = pf_ints_new(db, "gpu_links");
	const int64_t *row;

	assert_non_null(rows);
	if (is_ahead)
		pf_ints_ahead(rows);
	for (; most && pf_ints_next(rows, &row, &err) == 1; most--)
		pf_buf_addf(out, "%lld %lld\n", (long long)row[0],
			    (long long)row[1]);
	assert_int_equal(err.code, PF_OK);
	pf_ints_free(rows);
}

/* To the end, and when the reader leaves before that. */
static void ahead_is_what_is_read(void **state)
{
	static const int most[] = { -1, 5, 1 };
	struct scene s;

	(void)state;
	open_calls(&s);
	for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
		struct pf_buf want = { 0 }, got = { 0 };

		read_blocks(&s.db, false, most[i], &want);
		read_rows(&s.db, false, most[i] * 1000, &want);
		read_blocks(&s.db, true, most[i], &got);
		read_rows(&s.db, true, most[i] * 1000, &got);
		assert_string_equal(got.data, want.data);
		pf_buf_release(&want);
		pf_buf_release(&got);
	}
	scene_close(&s);
}

/* A block that cannot be read is an error, whoever reads it. */
static void damage_is_told(void **state)
{
	struct pf_err err = { 0 };
	const struct pf_block *b;
	struct pf_cursor *c;
	struct scene s;
	uint32_t first;
	int rc;

	(void)state;
	open_calls(&s);
	scene_change(&s, "UPDATE block_column SET data = x'00' WHERE block_id ="
			 " (SELECT max(block_id) FROM block_column WHERE"
			 " block_id & 262143 = 5)");
	for (int64_t id = 1; id < 9; id++) {
		c = pf_cursor_new(&s.db, (uint32_t)id, PF_COLBIT(PF_COL_START));
		pf_cursor_ahead(c);
		while ((rc = pf_cursor_block(c, &b, &first, &err)) == 1)
			;
		pf_cursor_free(c);
		if (rc < 0)
			break;
	}
	assert_int_equal(rc, -1);
	assert_non_null(strstr(err.text, "block "));
	scene_close(&s);
}

/* ---- processors ---- */

static void processors_that_may_be_used(void **state)
{
	cpu_set_t all, one;
	int first = 0;

	(void)state;
	if (sched_getaffinity(0, sizeof(all), &all))
		skip();
	assert_int_equal(pf_threads_default(),
			 CPU_COUNT(&all) < 4 ? CPU_COUNT(&all) : 4);
	while (!CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(pf_threads_default(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_their_order_then_the_end),
		cmocka_unit_test(left_before_the_end),
		cmocka_unit_test(nothing_ahead_without_a_thread),
		cmocka_unit_test(both_are_done),
		cmocka_unit_test(ahead_is_what_is_read),
		cmocka_unit_test(damage_is_told),
		cmocka_unit_test(processors_that_may_be_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
