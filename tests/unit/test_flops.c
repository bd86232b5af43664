/* SPDX-License-Identifier: MIT */
/* FLOPs of single calls against values worked out by hand. */
#include "unit/support.h"

#include <string.h>

#include "events/args.h"
#include "torch/facts.h"
#include "torch/flops.h"

static uint64_t count(const char *op, const char *args)
{
	struct pf_json json = { args, strlen(args) };

	return pf_flops(pf_flops_op(op, strlen(op)), json);
}

static void matmul(void **state)
{
	(void)state;
	assert_int_equal(count("aten::mm",
			       "{\"Input Dims\": [[2, 3], [3, 4]],"
			       " \"Input type\": [\"float\", \"float\"]}"),
			 2 * 2 * 3 * 4);
	assert_int_equal(
		count("aten::addmm",
		      "{\"Input Dims\": [[4], [2, 3], [3, 4], [], []],"
		      " \"Input type\": [\"float\", \"float\", \"float\","
		      " \"Scalar\", \"Scalar\"]}"),
		48);
	assert_int_equal(count("aten::bmm",
			       "{\"Input type\": [\"float\", \"float\"],"
			       " \"Input Dims\": [[5, 2, 3], [5, 3, 4]]}"),
			 5 * 48);
	assert_int_equal(
		count("aten::baddbmm",
		      "{\"Input Dims\": [[1], [5, 2, 3], [5, 3, 4]],"
		      " \"Input type\": [\"float\", \"float\", \"float\"]}"),
		5 * 48);
}

static void matmul_without_dims(void **state)
{
	(void)state;
	assert_int_equal(count("aten::mm",
			       "{\"Input Dims\": [[], [3, 4]],"
			       " \"Input type\": [\"float\", \"float\"]}"),
			 0);
	assert_int_equal(count("aten::mm",
			       "{\"Input Dims\": [[2, 0], [0, 4]],"
			       " \"Input type\": [\"float\", \"float\"]}"),
			 0);
	assert_int_equal(count("aten::mm", "{}"), 0);
	assert_int_equal(count("aten::mm", "{\"Input Dims\": [[2, 3"), 0);
}

static void pointwise(void **state)
{
	(void)state;
	assert_int_equal(count("aten::add",
			       "{\"Input Dims\": [[2, 3, 4], []],"
			       " \"Input type\": [\"float\", \"Scalar\"]}"),
			 24);
	assert_int_equal(count("aten::mul",
			       "{\"Input Dims\": [[], []],"
			       " \"Input type\": [\"double\", \"float\"]}"),
			 1);
	assert_int_equal(count("aten::mul",
			       "{\"Input Dims\": [[], [4]],"
			       " \"Input type\": [\"Scalar\", \"float\"]}"),
			 0);
}

#define CONV(stride, padding, groups)                                          \
	"{\"Input Dims\": [[2, 4, 8, 10], [6, 2, 3, 3], [6], [], [],"          \
	" [], []], \"Input type\": [\"float\", \"float\", \"float\","          \
	" \"ScalarList\", \"ScalarList\", \"ScalarList\", \"Scalar\"],"        \
	" \"Concrete Inputs\": [\"\", \"\", \"\", \"" stride "\", \"" padding  \
	"\", \"[1, 1]\", \"" groups "\"]}"

static void convolution(void **state)
{
	(void)state;
	/* out 6 x 8; 2 * N * oh * ow * kh * kw * Cin * Cout / groups */
	assert_int_equal(count("aten::conv2d", CONV("[1, 1]", "[0, 0]", "2")),
			 2 * 2 * 6 * 8 * 3 * 3 * 4 * 6 / 2);
	/* out (8+2-2-1)/2+1 = 4, (10+2-2-1)/2+1 = 5 */
	assert_int_equal(count("aten::conv2d", CONV("[2, 2]", "[1, 1]", "1")),
			 2 * 2 * 4 * 5 * 3 * 3 * 4 * 6);
	assert_int_equal(count("aten::conv2d", CONV("[0, 1]", "[0, 0]", "1")),
			 0);
	assert_int_equal(count("aten::conv2d", CONV("[1, 1]", "same", "1")), 0);
	assert_int_equal(count("aten::conv2d", CONV("[1, 1]", "[0, 0]", "0")),
			 0);
}

static void unknown_operators(void **state)
{
	(void)state;
	assert_int_equal(count("aten::linear",
			       "{\"Input Dims\": [[2, 3], [4, 3]],"
			       " \"Input type\": [\"float\", \"float\"]}"),
			 0);
	assert_int_equal(pf_flops_op("aten::m", 7), PF_FLOP_NONE);
}

static void wraps(void **state)
{
	(void)state;
	assert_true(count("aten::add",
			  "{\"Input Dims\": [[4294967296, 4294967296, 3]],"
			  " \"Input type\": [\"float\"]}") == 0);
}

static void check_shapes(const char *dims, const char *want)
{
	struct pf_buf out = { 0 };

	pf_facts_shapes((struct pf_json){ dims, dims ? strlen(dims) : 0 },
			&out);
	assert_string_equal(out.data, want);
	pf_buf_release(&out);
}

static void shapes(void **state)
{
	(void)state;
	check_shapes("[[1,2],[]]", "[[1, 2], []]");
	check_shapes("[[1, 2], [[3], [4]], 5, \"x\"]", "[[1, 2], [], [], []]");
	check_shapes("[]", "[]");
	check_shapes(NULL, "[]");
	check_shapes("\"[[7]]\"", "[[7]]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matmul),
		cmocka_unit_test(matmul_without_dims),
		cmocka_unit_test(pointwise),
		cmocka_unit_test(convolution),
		cmocka_unit_test(unknown_operators),
		cmocka_unit_test(wraps),
		cmocka_unit_test(shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
