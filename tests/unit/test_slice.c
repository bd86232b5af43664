/* SPDX-License-Identifier: MIT */
/* The pieces of slices: times, ids, lanes, files, blocks that overlap. */
#include "unit/scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/slice.c"
#include "store/cursor.h"
#include "base/outplace.h"

/* ---- times ---- */

static void is_time(int64_t ns, bool is_whole_us, const char *want)
{
	struct pf_buf out = { 0 };

	slice_put_time(&out, ns, is_whole_us);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void times(void **state)
{
	(void)state;
	is_time(0, true, "0");
	is_time(0, false, "0.000");
	is_time(5000, true, "5");
	is_time(5001, true, "5.001");
	is_time(-1, false, "-0.001");
	is_time(-12345, false, "-12.345");
	is_time(INT64_MAX, false, "9223372036854775.807");
	is_time(INT64_MIN, false, "-9223372036854775.808");
	/* 1.009 * 1000 is 1008.9999999999999 */
	is_time(1009, false, "1.009001");
}

/* What a reader that cuts doubles makes of it. */
static void times_in_doubles(void **state)
{
	uint64_t seed = 7;
	struct pf_buf out = { 0 };

	(void)state;
	for (int i = 0; i < 200000; i++) {
		int64_t ns = (int64_t)(support_random(&seed) % (1ULL << 43));

		if (i % 2)
			ns %= 1000000;
		pf_buf_clear(&out);
		slice_put_time(&out, ns, false);
		if ((int64_t)(strtod(out.data, NULL) * 1000.0) != ns)
			fail_msg("%" PRId64 " ns: '%s'", ns, out.data);
	}
	pf_buf_release(&out);
}

static void ids(void **state)
{
	struct pf_buf out = { 0 };

	(void)state;
	slice_put_id(&out, "17");
	slice_put_id(&out, "-1");
	slice_put_id(&out, "017");
	slice_put_id(&out, "stream \"7\"");
	slice_put_tid(&out, "7", 0);
	slice_put_tid(&out, "7", 2);
	assert_string_equal(out.data, "17\"-1\"\"017\"\"stream \\\"7\\\"\"7"
				      "\"7 overlap 2\"");
	pf_buf_release(&out);
}

/* ---- lanes ---- */

static void lanes(void **state)
{
	struct lanes l = { 0 };

	(void)state;
	assert_int_equal(lanes_place(&l, 0, 10), 0);
	assert_int_equal(lanes_place(&l, 0, 10), 0);
	assert_int_equal(lanes_place(&l, 5, 12), 1);
	assert_int_equal(lanes_place(&l, 6, 11), 1);
	assert_int_equal(lanes_place(&l, 7, 13), 2);
	assert_int_equal(lanes_place(&l, 8, 9), 0);
	/* what touches does not overlap */
	assert_int_equal(lanes_place(&l, 10, 20), 0);
	assert_int_equal(lanes_place(&l, 20, 20), 0);
	lanes_clear(&l);
	for (int i = 0; i < LANES_MAX; i++)
		assert_int_equal(lanes_place(&l, i, 10000 + i), i);
	assert_int_equal(lanes_place(&l, 5000, 50000), -1);
	lanes_release(&l);
}

/* No two ranges of a lane overlap without nesting. */
static void lanes_at_random(void **state)
{
	struct lanes l = { 0 };
	int64_t start[400], end[400];
	int lane[400];
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 400; i++) {
		start[i] = (i ? start[i - 1] : 0) +
			   (int64_t)(support_random(&seed) % 5);
		end[i] = start[i] + (int64_t)(support_random(&seed) % 40);
		lane[i] = lanes_place(&l, start[i], end[i]);
		for (int k = 0; k < i; k++)
			if (lane[k] == lane[i] && start[i] < end[k])
				assert_true(end[i] <= end[k]);
	}
	lanes_release(&l);
}

/* ---- files ---- */

static void files(void **state)
{
	char *dir = support_tmp_take();
	char *path = support_path_take(dir, "f.json.gz");
	char *partial = support_path_take(dir, "f.json.gz.partial");
	static const unsigned char head[] = { 0x1f, 0x8b, 8, 0, 0,
					      0,    0,    0, 0, 0xff };
	struct pf_buf got = { 0 };
	struct pf_err err = { 0 };
	static const struct pf_outrule rule = { .option = "--force" };
	struct pf_outfile *f;

	(void)state;
	f = pf_outfile_open(path, &rule, stdout, &err);
	support_no_error(&err);
	pf_outfile_write(f, "text", 4, &err);
	/* not there before it is complete; gone if it never is */
	assert_int_equal(access(partial, F_OK), 0);
	assert_int_not_equal(access(path, F_OK), 0);
	pf_outfile_free(f);
	assert_int_not_equal(access(partial, F_OK), 0);
	f = pf_outfile_open(path, &rule, stdout, &err);
	pf_outfile_write(f, "text", 4, &err);
	pf_outfile_commit(f, &err);
	support_no_error(&err);
	pf_outfile_free(f);
	support_read(path, &got);
	assert_true(got.len > sizeof(head));
	assert_memory_equal(got.data, head, sizeof(head));
	assert_null(pf_outfile_open(path, &rule, stdout, &err));
	support_error(&err, PF_EIO, "exists");
	pf_buf_release(&got);
	free(path);
	free(partial);
	support_tmp_release(dir);
}

/* ---- blocks that overlap ---- */

/* 40,000 events of 1 us each 2 us, and one around all of them. */
static void open_many_events(struct scene *s)
{
	struct pf_buf json = { 0 };

	pf_buf_adds(&json, "[{\"ph\":\"X\",\"name\":\"all\",\"pid\":1,"
			   "\"tid\":1,\"ts\":0,\"dur\":90000}");
	for (int i = 0; i < 40000; i++)
		pf_buf_addf(&json,
			    ",\n{\"ph\":\"X\",\"name\":\"e\",\"pid\":1,"
			    "\"tid\":1,\"ts\":%d,\"dur\":1}",
			    2 * i);
	pf_buf_adds(&json, "]");
	scene_open(s, json.data);
	pf_buf_release(&json);
}

static uint32_t blocks_of(struct pf_db *db, int64_t from_ns, int64_t to_ns,
			  uint32_t first[3])
{
	struct pf_err err = { 0 };
	struct pf_cursor *c = pf_cursor_new(db, 1, PF_COLBIT(PF_COL_START));
	const struct pf_block *b;
	uint32_t count = 0, seq;

	pf_cursor_overlap(c, from_ns, to_ns);
	while (count < 3 && pf_cursor_block(c, &b, &seq, &err) == 1)
		first[count++] = seq;
	support_no_error(&err);
	pf_cursor_free(c);
	return count;
}

static void overlap(void **state)
{
	struct scene s;
	uint32_t first[3];

	(void)state;
	open_many_events(&s);
	assert_int_equal(blocks_of(&s.db, INT64_MIN, INT64_MAX, first), 3);
	/* the first block, with the range around all, and the last */
	assert_int_equal(blocks_of(&s.db, 75000000, 75001000, first), 2);
	assert_int_equal(first[0], 0);
	assert_int_equal(first[1], 2 << PF_BLOCK_SHIFT);
	assert_int_equal(blocks_of(&s.db, 0, 1, first), 1);
	assert_int_equal(blocks_of(&s.db, 90000001, 90000002, first), 0);
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),   cmocka_unit_test(times_in_doubles),
		cmocka_unit_test(ids),     cmocka_unit_test(lanes),
		cmocka_unit_test(files),   cmocka_unit_test(lanes_at_random),
		cmocka_unit_test(overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
