/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "store/block.c"
#include "store/varint.h"

/* Every column that exists. */
static int next_column(int c)
{
	return c == PF_COL_INLINE ? PF_COL_SLOT : c + 1;
}

/* 0: extremes and noise, 1: like a trace, 2: constant */
static int64_t wide_value(int shape, uint32_t i, uint64_t *seed)
{
	uint64_t r = support_random(seed);

	if (shape == 0)
		return (int64_t)(r >> r % 64) * (r & 1 ? 1 : -1);
	return shape == 1 ? (int64_t)(i * 5 + r % 3) : 42;
}

static uint32_t narrow_value(int shape, uint64_t *seed)
{
	uint64_t r = support_random(seed);

	if (shape == 0)
		return r % 4 ? (uint32_t)(r >> 32) : PF_ID_NONE - (r & 1);
	return shape == 1 ? (uint32_t)(r % 200) : 7;
}

static void add_text(struct pf_buf *out, uint32_t len)
{
	unsigned char head[4];

	pf_store32(head, len);
	pf_buf_add(out, head, 4);
	for (uint32_t i = 0; i < len; i++)
		pf_buf_addc(out, (char)('a' + i % 26));
}

static void fill(struct pf_block *b, uint32_t count, int shape, uint64_t *seed)
{
	b->count = count;
	memset(b->slot_count, 0, sizeof(b->slot_count));
	pf_buf_clear(&b->inline_text);
	for (uint32_t i = 0; i < count; i++) {
		b->start_ns[i] = wide_value(shape, i, seed);
		b->dur_ns[i] = wide_value(shape, i, seed) & INT64_MAX;
		b->order[i] = wide_value(shape, i, seed);
		b->name[i] = narrow_value(shape, seed);
		b->type[i] = narrow_value(shape, seed);
		b->args[i] = narrow_value(shape, seed);
		b->parent[i] = narrow_value(shape, seed);
		b->mask[i] = shape == 2 ? 1
					: narrow_value(shape, seed) %
						  (1u << PF_SLOT_COUNT);
		for (uint32_t m = b->mask[i]; m; m &= m - 1) {
			int s = __builtin_ctz(m);

			b->slot[s][b->slot_count[s]++] =
				wide_value(shape, i, seed);
		}
		if (i % 5 == 0)
			add_text(&b->inline_text, i % 70);
	}
}

static const void *column_bytes(const struct pf_block *b, int c, size_t *len)
{
	const void *wide[] = { b->start_ns, b->dur_ns, b->order };
	const void *narrow[] = { b->name, b->type, b->args, b->parent,
				 b->mask };

	if (c == PF_COL_INLINE) {
		*len = b->inline_text.len;
		return b->inline_text.data;
	}
	*len = c >= PF_COL_SLOT ? b->slot_count[c - PF_COL_SLOT] * 8
	       : c < 3          ? b->count * 8
				: b->count * 4;
	return c >= PF_COL_SLOT ? b->slot[c - PF_COL_SLOT]
	       : c < 3          ? wide[c]
				: narrow[c - 3];
}

static void assert_same(const struct pf_block *a, const struct pf_block *b,
			int c)
{
	size_t a_len, b_len;
	const void *x = column_bytes(a, c, &a_len);
	const void *y = column_bytes(b, c, &b_len);

	assert_int_equal(a_len, b_len);
	if (a_len)
		assert_memory_equal(x, y, a_len);
}

static void kept_round_trip(const struct pf_block *a, struct pf_block *b, int c)
{
	struct pf_narrow kept;
	size_t len;
	void *values = (void *)column_bytes(b, c, &len);

	if (c == PF_COL_INLINE)
		return;
	memset(values, 0x55, len);
	column_narrow(a, (enum pf_column)c, &kept);
	column_widen(&kept, b, (enum pf_column)c);
	assert_same(a, b, c);
	free(kept.far);
}

static void round_trip(uint32_t count, int shape, uint64_t *seed)
{
	struct pf_block a, b;
	struct pf_buf bytes = { 0 };
	struct pf_err err = { 0 };

	pf_block_init(&a, PF_BLOCK_EVENTS);
	pf_block_init(&b, PF_BLOCK_EVENTS);
	fill(&a, count, shape, seed);
	for (int c = 0; c < PF_COL_COUNT; c = next_column(c)) {
		pf_buf_clear(&bytes);
		pf_column_encode(&a, (enum pf_column)c, &bytes);
		column_decode(&b, (enum pf_column)c, count, bytes.data,
			      bytes.len, &err);
		support_no_error(&err);
		assert_same(&a, &b, c);
		kept_round_trip(&a, &b, c);
		assert_int_equal(column_decode(&b, (enum pf_column)c, count + 1,
					       bytes.data, bytes.len, &err),
				 c >= PF_COL_SLOT ? 0 : -1);
		memset(&err, 0, sizeof(err));
	}
	pf_block_release(&a);
	pf_block_release(&b);
	pf_buf_release(&bytes);
}

static void columns_come_back(void **state)
{
	static const uint32_t counts[] = { 0,   1,    2,
					   100, 5000, PF_BLOCK_EVENTS - 1 };
	uint64_t seed = 5;

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		for (int shape = 0; shape < 3; shape++)
			round_trip(counts[i], shape, &seed);
}

static void full_blocks_come_back(void **state)
{
	struct pf_block a, b;
	struct pf_buf one = { 0 }, two = { 0 };
	struct pf_err err = { 0 };
	uint64_t seed = 6;

	(void)state;
	pf_block_init(&a, PF_BLOCK_EVENTS);
	pf_block_init(&b, PF_BLOCK_EVENTS);
	fill(&a, PF_BLOCK_EVENTS, 0, &seed);
	for (int c = 0; c < PF_COL_COUNT; c = next_column(c)) {
		pf_buf_clear(&one);
		pf_buf_clear(&two);
		pf_column_encode(&a, (enum pf_column)c, &one);
		pf_column_encode(&a, (enum pf_column)c, &two);
		assert_int_equal(one.len, two.len);
		assert_memory_equal(one.data, two.data, one.len);
		assert_int_equal(column_decode(&b, (enum pf_column)c,
					       PF_BLOCK_EVENTS, one.data,
					       one.len, &err),
				 0);
		assert_same(&a, &b, c);
	}
	pf_block_release(&a);
	pf_block_release(&b);
	pf_buf_release(&one);
	pf_buf_release(&two);
}

/* Decode an exact copy, so that a read past it is seen by the sanitizer. */
static int decode_copy(struct pf_block *b, int c, uint32_t count,
		       const char *data, size_t len)
{
	struct pf_err err = { 0 };
	char *copy = malloc(len ? len : 1);
	int rc;

	memcpy(copy, data, len);
	rc = column_decode(b, (enum pf_column)c, count, copy, len, &err);
	if (rc)
		assert_int_equal(err.code, PF_EDB);
	free(copy);
	return rc;
}

static void damage_is_seen(void **state)
{
	struct pf_block a, b;
	struct pf_buf bytes = { 0 };
	uint64_t seed = 8;

	(void)state;
	pf_block_init(&a, PF_BLOCK_EVENTS);
	pf_block_init(&b, PF_BLOCK_EVENTS);
	fill(&a, 120, 1, &seed);
	for (int c = 0; c < PF_COL_COUNT; c = next_column(c)) {
		memcpy(b.slot_count, a.slot_count, sizeof(b.slot_count));
		pf_buf_clear(&bytes);
		pf_column_encode(&a, (enum pf_column)c, &bytes);
		for (size_t i = 0; i < bytes.len; i++) {
			for (int bit = 0; bit < 8; bit++) {
				bytes.data[i] ^= (char)(1 << bit);
				assert_int_equal(decode_copy(&b, c, 120,
							     bytes.data,
							     bytes.len),
						 -1);
				bytes.data[i] ^= (char)(1 << bit);
			}
			assert_int_equal(decode_copy(&b, c, 120, bytes.data, i),
					 -1);
		}
	}
	pf_block_release(&a);
	pf_block_release(&b);
	pf_buf_release(&bytes);
}

static void hostile_bytes_do_no_harm(void **state)
{
	struct pf_block b;
	uint64_t seed = 9;
	char data[64];

	(void)state;
	pf_block_init(&b, PF_BLOCK_EVENTS);
	for (int i = 0; i < 200000; i++) {
		size_t len = support_random(&seed) % sizeof(data);

		for (size_t k = 0; k < len; k++)
			data[k] = (char)support_random(&seed);
		if (len > 1) {
			data[0] = 1;
			data[1] = (char)(i % 3 | (i & 4) << 2);
		}
		decode_copy(&b, (int)(support_random(&seed) % 48), 30, data,
			    len);
	}
	pf_block_release(&b);
}

static void varints_come_back(void **state)
{
	unsigned char bytes[32];
	uint64_t got;

	(void)state;
	for (int bits = 0; bits < 64; bits++) {
		for (int d = -1; d <= 1; d++) {
			uint64_t v = (UINT64_C(1) << bits) + (uint64_t)d;
			unsigned char *end;

			memset(bytes, 0xff, sizeof(bytes));
			end = pf_varint_put(bytes, v);
			assert_true(end <= bytes + PF_VARINT_MAX);
			assert_ptr_equal(pf_varint_get(bytes, &got), end);
			assert_int_equal(got, v);
		}
	}
	memset(bytes, 0xff, sizeof(bytes));
	assert_null(pf_varint_get(bytes, &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(varints_come_back),
		cmocka_unit_test(columns_come_back),
		cmocka_unit_test(full_blocks_come_back),
		cmocka_unit_test(damage_is_seen),
		cmocka_unit_test(hostile_bytes_do_no_harm),
	};

	return cmocka_run_group_tests_name("block", tests, NULL, NULL);
}
