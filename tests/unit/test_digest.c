/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include "base/mem.h"
#include "analysis/ranks/digest.h"

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
	d.knows_p2p = true;
	return d;
}

/* A kernel of two messages, after which a GPU computes. */
static void add_p2p(struct pf_digest *d)
{
	d->p2ps = pf_calloc(1, sizeof(*d->p2ps));
	d->messages = pf_calloc(2, sizeof(*d->messages));
	d->quiets = pf_calloc(1, sizeof(*d->quiets));
	d->messages[d->message_count++] =
		(struct pf_digest_message){ 4, 1 << 20, 1, true };
	d->messages[d->message_count++] =
		(struct pf_digest_message){ -1, -1, 0, false };
	d->quiets[d->quiet_count++] = (struct pf_digest_piece){ -300, 290 };
	d->p2ps[d->p2p_count++] = (struct pf_digest_p2p){
		.start_ns = d->start_ns + 400,
		.end_ns = d->start_ns + 500,
		.message_count = 2,
		.quiet_count = 1,
		.unsplit_ns = 7,
	};
}

/* Its sum, once bytes were changed. */
static void put_sum(struct pf_buf *bytes)
{
	uint64_t sum = pf_digest_hash(bytes->data, bytes->len - 8);

	for (unsigned k = 0; k < 8; k++)
		bytes->data[bytes->len - 8 + k] = (char)(sum >> 8 * k);
}

/* Version 1 ends before the sends and receives: they are not known. */
static void version_1(void **state)
{
	struct pf_digest d = make(), got;
	struct pf_buf bytes = { 0 };
	struct pf_err err = { 0 };

	(void)state;
	pf_digest_put(&d, &bytes);
	bytes.data[4] = 1;
	bytes.len -= 2;
	put_sum(&bytes);
	assert_int_equal(pf_digest_get(bytes.data, bytes.len, &got, &err), 0);
	assert_false(got.knows_p2p);
	assert_int_equal(got.kernel_count, 1);
	pf_digest_release(&got);
	bytes.data[4] = 3;
	put_sum(&bytes);
	assert_int_equal(pf_digest_get(bytes.data, bytes.len, &got, &err), -1);
	assert_non_null(strstr(err.text, "version 3"));
	pf_digest_release(&d);
	pf_buf_release(&bytes);
}

static void there_and_back(void **state)
{
	struct pf_digest d = make(), got;
	struct pf_buf bytes = { 0 }, again = { 0 };
	struct pf_err err = { 0 };

	(void)state;
	add_p2p(&d);
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
	assert_true(got.knows_p2p);
	assert_int_equal(got.p2ps[0].end_ns, d.p2ps[0].end_ns);
	assert_int_equal(got.messages[0].peer, 4);
	assert_true(got.messages[0].is_receive);
	assert_int_equal(got.messages[1].bytes, -1);
	assert_int_equal(got.quiets[0].after_ns, -300);
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
	add_p2p(&d);
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
	add_p2p(&d);
	pf_digest_put(&d, &bytes);
	for (size_t i = 4; i + 8 < bytes.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			struct pf_err err = { 0 };

			bytes.data[i] ^= (char)(1 << bit);
			put_sum(&bytes);
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
		cmocka_unit_test(version_1),
		cmocka_unit_test(damaged),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
