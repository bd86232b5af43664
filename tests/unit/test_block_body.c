/* SPDX-License-Identifier: MIT */
/*
 * Hostile bodies behind a correct checksum, which only the codec's own code
 * can compute: so it is included here.
 */
#include "unit/support.h"

#include "store/block.c"

static struct pf_block block;

/* Decode a body, exactly allocated so that the sanitizer sees a read past. */
static int decode_body(int c, uint32_t count, unsigned form, const void *body,
		       size_t len)
{
	size_t all = HEAD_BYTES + len + SUM_BYTES;
	unsigned char *data = test_malloc(all);
	struct pf_err err = { 0 };
	struct place p = { .values = count };
	int rc;

	block.count = count;
	if (c != PF_COL_INLINE)
		assert_true(find_place(&block, (enum pf_column)c, &p));
	data[0] = CODEC_VERSION;
	data[1] = (unsigned char)form;
	memcpy(data + HEAD_BYTES, body, len);
	pf_store32(data + all - SUM_BYTES, checksum((enum pf_column)c, p.values,
						    data, all - SUM_BYTES));
	rc = column_decode(&block, (enum pf_column)c, count, data, all, &err);
	assert_int_equal(rc ? PF_EDB : PF_OK, err.code);
	test_free(data);
	return rc;
}

static void random_bodies_do_no_harm(void **state)
{
	uint64_t seed = 21;
	unsigned char body[80];
	int accepted = 0;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		size_t len = support_random(&seed) % sizeof(body);
		int c = (int)(support_random(&seed) % 9);
		unsigned form = (unsigned)(support_random(&seed) % 4);

		for (size_t k = 0; k < len; k++)
			body[k] = (unsigned char)(support_random(&seed) &
						  (i % 2 ? 0xff : 0x83));
		if (i % 3 == 0)
			form |= FORM_ZSTD;
		accepted +=
			!decode_body(c, (uint32_t)(i % 40), form, body, len);
	}
	assert_true(accepted > 100);
}

static void runs_past_the_count_are_refused(void **state)
{
	static const unsigned char exact[] = { 7, 9 }, more[] = { 7, 10 };
	static const unsigned char less[] = { 7, 8 }, odd[] = { 7 };
	static const unsigned char huge[] = { 7,    0xff, 0xff, 0xff,
					      0xff, 0xff, 0xff, 0xff,
					      0xff, 0xff, 1 };
	static const unsigned char extra[] = { 7, 9, 1 };

	(void)state;
	assert_int_equal(decode_body(PF_COL_TYPE, 10, FORM_RUNS, exact, 2), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(block.type[i], 7);
	assert_int_equal(decode_body(PF_COL_TYPE, 10, FORM_RUNS, more, 2), -1);
	assert_int_equal(decode_body(PF_COL_TYPE, 10, FORM_RUNS, less, 2), -1);
	assert_int_equal(decode_body(PF_COL_TYPE, 10, FORM_RUNS, odd, 1), -1);
	assert_int_equal(decode_body(PF_COL_TYPE, 10, FORM_RUNS, huge, 11), -1);
	assert_int_equal(decode_body(PF_COL_TYPE, 10, FORM_RUNS, extra, 3), -1);
}

static void values_out_of_range_are_refused(void **state)
{
	static const unsigned char wide[] = { 0x80, 0x80, 0x80, 0x80, 0x10 };
	static const unsigned char long_one[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01
	};
	static const unsigned char too_long[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02
	};
	static const unsigned char mask[] = { 0x80, 0x80, 0x80, 0x20 };

	(void)state;
	assert_int_equal(decode_body(PF_COL_NAME, 1, FORM_PLAIN, wide, 5), -1);
	assert_int_equal(decode_body(PF_COL_START, 1, FORM_PLAIN, long_one, 10),
			 0);
	assert_int_equal(block.start_ns[0], -1);
	assert_int_equal(decode_body(PF_COL_DUR, 1, FORM_PLAIN, long_one, 10),
			 -1);
	assert_int_equal(decode_body(PF_COL_START, 1, FORM_PLAIN, too_long, 10),
			 -1);
	assert_int_equal(decode_body(PF_COL_MASK, 1, FORM_PLAIN, mask, 4), -1);
}

/* A small frame of much more than a block can hold. */
static void bombs_are_refused(void **state)
{
	size_t size = 64u << 20, room = ZSTD_compressBound(size);
	char *zeros = test_calloc(1, size), *frame = test_malloc(room);
	size_t len = ZSTD_compress(frame, room, zeros, size, 1);

	(void)state;
	assert_false(ZSTD_isError(len));
	assert_int_equal(decode_body(PF_COL_NAME, PF_BLOCK_EVENTS,
				     FORM_PLAIN | FORM_ZSTD, frame, len),
			 -1);
	assert_int_equal(decode_body(PF_COL_INLINE, 5, FORM_TEXT | FORM_ZSTD,
				     frame, len),
			 -1);
	assert_int_equal(block.inline_text.len, 0);
	test_free(zeros);
	test_free(frame);
}

static int set_up(void **state)
{
	(void)state;
	pf_block_init(&block, PF_BLOCK_EVENTS);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pf_block_release(&block);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_bodies_do_no_harm),
		cmocka_unit_test(runs_past_the_count_are_refused),
		cmocka_unit_test(values_out_of_range_are_refused),
		cmocka_unit_test(bombs_are_refused),
	};

	return cmocka_run_group_tests_name("block_body", tests, set_up,
					   tear_down);
}
