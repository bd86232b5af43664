/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include "base/mem.h"
#include "ranks/digest.h"

static struct pf_digest make(void)
{
	struct pf_digest d = { .rank = 3,
			       .world = 8,
			       .trace_id = 1,
			       .host = pf_strdup("node0"),
			       .start_ns = INT64_C(1700000000000000000),
			       .end_ns = INT64_C(1700000000000900000),
			       .first_ns = INT64_C(1699999999999999990),
			       .ns = { 5, 6, 7, 8 } };

	d.groups = pf_calloc(2, sizeof(*d.groups));
	d.groups[d.group_count++] = pf_strdup("");
	d.groups[d.group_count++] = pf_strdup("tp0");
	d.pieces = pf_calloc(2, sizeof(*d.pieces));
	d.pieces[d.piece_count++] = (struct pf_digest_piece){ 0, 10 };
	d.pieces[d.piece_count++] = (struct pf_digest_piece){ 20, 30 };
	d.ops = pf_calloc(2, sizeof(*d.ops));
	d.ops[d.op_count++] = (struct pf_digest_op){
		.start_ns = d.start_ns + 100,
		.end_ns = d.start_ns + 700,
		.ready_ns = d.start_ns + 40,
		.step = -1,
		.stream = 20,
		.bytes = 4 << 20,
		.size = 2,
		.group = 1,
		.kind = 2,
		.gates = true,
		.piece_count = 2,
		.unsplit_ns = 3,
	};
	d.ops[d.op_count++] = (struct pf_digest_op){
		.start_ns = d.start_ns + 50,
		.end_ns = d.start_ns + 60,
		.ready_ns = d.start_ns + 50,
		.step = 7,
		.stream = -1,
		.bytes = -1,
		.size = -1,
		.has_since = true,
		.since_ns = { 1, 2, 3, 40 },
		.host_ns = { 0, 0, 39 },
		.piece_from = 2,
	};
	d.steps = pf_calloc(1, sizeof(*d.steps));
	d.steps[d.step_count++] = (struct pf_digest_step){
		7, d.start_ns - 20, d.start_ns + 800, { 800, 0, 0, 20 }
	};
	d.kernels = pf_calloc(1, sizeof(*d.kernels));
	d.kernels[d.kernel_count++] =
		(struct pf_digest_kernel){ UINT64_MAX, 9, 1000 };
	return d;
}

static void there_and_back(void **state)
{
	struct pf_digest d = make(), got;
	struct pf_buf bytes = { 0 }, again = { 0 };
	struct pf_err err = { 0 };

	(void)state;
	pf_digest_put(&d, &bytes);
	assert_int_equal(pf_digest_get(bytes.data, bytes.len, &got, &err), 0);
	pf_digest_put(&got, &again);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.data, bytes.data, bytes.len);
	assert_string_equal(got.host, "node0");
	assert_string_equal(got.groups[1], "tp0");
	assert_int_equal(got.ops[0].ready_ns, d.ops[0].ready_ns);
	assert_int_equal(got.ops[0].step, -1);
	assert_int_equal(got.ops[1].since_ns[3], 40);
	assert_int_equal(got.ops[1].host_ns[2], 39);
	assert_int_equal(got.pieces[got.ops[0].piece_from + 1].ns, 30);
	assert_int_equal(got.steps[0].ns[0], 800);
	assert_true(got.kernels[0].name_hash == UINT64_MAX);
	pf_digest_release(&got);
	pf_digest_release(&d);
	pf_buf_release(&bytes);
	pf_buf_release(&again);
}

/* Any byte that is another, and any length that is less, is seen. */
static void damaged(void **state)
{
	struct pf_digest d = make(), got;
	struct pf_buf bytes = { 0 };

	(void)state;
	pf_digest_put(&d, &bytes);
	for (size_t i = 0; i < bytes.len; i++) {
		struct pf_err err = { 0 };

		assert_int_equal(pf_digest_get(bytes.data, i, &got, &err), -1);
		assert_int_equal(err.code, PF_EDATA);
		bytes.data[i] ^= 0x41;
		assert_int_equal(
			pf_digest_get(bytes.data, bytes.len, &got, &err), -1);
		bytes.data[i] ^= 0x41;
	}
	pf_digest_release(&d);
	pf_buf_release(&bytes);
}

/* With a sum that fits: nothing is read beyond the bytes, and nothing leaks. */
static void hostile(void **state)
{
	struct pf_digest d = make(), got;
	struct pf_buf bytes = { 0 };

	(void)state;
	pf_digest_put(&d, &bytes);
	for (size_t i = 4; i + 8 < bytes.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			struct pf_err err = { 0 };
			uint64_t sum;

			bytes.data[i] ^= (char)(1 << bit);
			sum = pf_digest_hash(bytes.data, bytes.len - 8);
			for (unsigned k = 0; k < 8; k++)
				bytes.data[bytes.len - 8 + k] =
					(char)(sum >> 8 * k);
			if (!pf_digest_get(bytes.data, bytes.len, &got, &err))
				pf_digest_release(&got);
			bytes.data[i] ^= (char)(1 << bit);
		}
	pf_digest_release(&d);
	pf_buf_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(damaged),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
