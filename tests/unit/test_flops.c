/* SPDX-License-Identifier: MIT */
/* FLOPs of single calls against values worked out by hand. */
#include "unit/support.h"

#include <string.h>

#include "events/args.h"
#include "torch/facts.c"
#include "torch/groups.c"

#define UNKNOWN UINT64_MAX

static uint64_t count(const char *op, const char *args)
{
	struct pf_json json = { args, strlen(args) };
	uint64_t flops;

	if (!pf_flops(pf_flops_op(op, strlen(op)), json, &flops))
		return UNKNOWN;
	return flops;
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
}

/* No shapes, none of a symbolic tensor, no values of a convolution. */
static void unknown_shapes(void **state)
{
	static const char *const cases[][2] = {
		{ "aten::mm", "{}" },
		{ "aten::mm", "{\"Input Dims\": [[2, 3" },
		{ "aten::mm", "{\"Input Dims\": [[], [3, 4]],"
			      " \"Input type\": [\"\", \"float\"]}" },
		{ "aten::mm", "{\"Input Dims\": [[2, 3], []],"
			      " \"Input type\": [\"float\", \"\"]}" },
		{ "aten::addmm", "{\"Input Dims\": [[4], [], [3, 4], [], []],"
				 " \"Input type\": [\"float\", \"\", \"float\","
				 " \"Scalar\", \"Scalar\"]}" },
		{ "aten::bmm", "{\"Input Dims\": [[], []],"
			       " \"Input type\": [\"\", \"\"]}" },
		{ "aten::baddbmm", "{\"Input Dims\": [[1], [], [5, 3, 4]],"
				   " \"Input type\": [\"float\", \"\","
				   " \"float\"]}" },
		{ "aten::add", "{\"Input Dims\": [[], [4]],"
			       " \"Input type\": [\"\", \"float\"]}" },
		{ "aten::conv2d",
		  "{\"Input Dims\": [[2, 4, 8, 10], [6, 2, 3, 3]],"
		  " \"Input type\": [\"float\", \"float\"]}" },
		{ "aten::conv2d", "{\"Input Dims\": [[], [6, 2, 3, 3]],"
				  " \"Input type\": [\"\", \"float\"]}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_true(count(cases[i][0], cases[i][1]) == UNKNOWN);
	/* what is not read has no need to be known */
	assert_int_equal(
		count("aten::addmm",
		      "{\"Input Dims\": [[], [2, 3], [3, 4]],"
		      " \"Input type\": [\"\", \"float\", \"float\"]}"),
		48);
	assert_int_equal(count("aten::add",
			       "{\"Input Dims\": [[4], []],"
			       " \"Input type\": [\"float\", \"\"]}"),
			 4);
	/* a convolution of three dimensions is one that torch does not count */
	assert_int_equal(count("aten::conv2d",
			       "{\"Input Dims\": [[4, 8, 10], [6, 2, 3, 3]],"
			       " \"Input type\": [\"float\", \"float\"]}"),
			 0);
}

/* Sums against Python's integers and float(). */
static void sums(void **state)
{
	static const struct {
		uint64_t part[3];
		const char *digits;
		double real;
		int64_t known;
	} cases[] = {
		{ { 0, 0, 0 }, "0", 0, 0 },
		{ { 1, 2, 3 }, "6", 6, 6 },
		{ { INT64_MAX, 0, 0 },
		  "9223372036854775807",
		  0x1p63,
		  INT64_MAX },
		{ { INT64_MAX, 1, 0 }, "9223372036854775808", 0x1p63, -1 },
		{ { 16000000000000000000u, 16000000000000000000u, 2000000000u },
		  "32000000002000000000",
		  32000000002000000000.,
		  -1 },
		{ { UINT64_MAX, UINT64_MAX, UINT64_MAX },
		  "55340232221128654845",
		  55340232221128654845.,
		  -1 },
		/* half way between two doubles, and one above that */
		{ { UINT64_C(1) << 63, UINT64_C(1) << 63, 2048 },
		  "18446744073709553664",
		  18446744073709551616.,
		  -1 },
		{ { UINT64_C(1) << 63, UINT64_C(1) << 63, 2049 },
		  "18446744073709553665",
		  18446744073709555712.,
		  -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pf_flops_sum sum = { 0 }, before;
		char digits[PF_FLOPS_DIGITS];

		for (size_t k = 0; k < 3; k++) {
			before = sum;
			flops_add(&sum, &(struct pf_flops_sum){
						.low = cases[i].part[k] });
			assert_int_equal(pf_flops_compare(&before, &sum),
					 cases[i].part[k] ? -1 : 0);
		}
		assert_string_equal(pf_flops_digits(digits, &sum),
				    cases[i].digits);
		assert_true(pf_flops_double(&sum) == cases[i].real);
		assert_int_equal(pf_flops_known(&sum), cases[i].known);
		before = sum;
		flops_add(&sum, &(struct pf_flops_sum){ .unknown_count = 1 });
		assert_int_equal(pf_flops_known(&sum), -1);
		assert_int_equal(pf_flops_compare(&sum, &before), -1);
		assert_int_equal(pf_flops_compare(&before, &sum), 1);
	}
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

	facts_shapes((struct pf_json){ dims, dims ? strlen(dims) : 0 }, &out);
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
		cmocka_unit_test(unknown_shapes),
		cmocka_unit_test(sums),
		cmocka_unit_test(pointwise),
		cmocka_unit_test(convolution),
		cmocka_unit_test(unknown_operators),
		cmocka_unit_test(wraps),
		cmocka_unit_test(shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
