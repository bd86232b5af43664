/* SPDX-License-Identifier: MIT */
/* Operations and bytes of single calls against figures worked out by hand. */
#include "unit/support.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "analysis/roofline/models.c"
#include "formats/event.h"

struct made {
	struct pf_op_models *models;
	struct pf_data *types;
	struct pf_gpus *gpus;
};

static int set_up(void **state)
{
	static struct made made;
	struct pf_err err = { 0 };

	made.models = op_models_new(&err);
	made.types = op_types_new(&err);
	made.gpus = pf_gpus_new(&err);
	*state = &made;
	return !made.models || !made.types || !made.gpus;
}

static int free_all(void **state)
{
	struct made *made = *state;

	op_models_free(made->models);
	pf_data_free(made->types);
	pf_gpus_free(made->gpus);
	return 0;
}

static struct pf_op_work none = { .precision = PF_PEAK_NONE };

/* Sizes, types and values as a trace has them; NULL: not there. */
static bool work_of(void **state, const char *op, const char *dims,
		    const char *types, const char *values,
		    struct pf_op_work *out)
{
	struct made *made = *state;
	const struct pf_op_model *m = op_models_find(made->models, op);
	struct pf_op_call call = { .args = { .known = made->types } };
	struct pf_buf text = { 0 };
	bool is_done;

	*out = none;
	assert_non_null(m);
	pf_buf_addf(&text, "{\"Input Dims\": %s, \"Input type\": %s", dims,
		    types);
	if (values)
		pf_buf_addf(&text, ", \"Concrete Inputs\": %s", values);
	pf_buf_adds(&text, "}");
	op_args_read((struct pf_json){ text.data, text.len }, &call.args);
	is_done = op_work(&call, m, out);
	pf_buf_release(&text);
	return is_done;
}

static void check(void **state, const char *op, const char *dims,
		  const char *types, const char *values, uint64_t matrix,
		  uint64_t vector, uint64_t bytes)
{
	struct pf_op_work w;

	assert_true(work_of(state, op, dims, types, values, &w));
	assert_int_equal(w.matrix, matrix);
	assert_int_equal(w.vector, vector);
	assert_int_equal(w.bytes, bytes);
}

static void refuse(void **state, const char *op, const char *dims,
		   const char *types, const char *values)
{
	struct pf_op_work w;

	assert_false(work_of(state, op, dims, types, values, &w));
}

#define F2   "[\"float\",\"float\"]"
#define H3   "[\"c10::Half\",\"c10::Half\",\"c10::Half\"]"
#define ADDS "[\"float\",\"float\",\"float\",\"Scalar\",\"Scalar\"]"

static void products(void **state)
{
	check(state, "aten::mm", "[[2,3],[3,4]]", F2, NULL, 48, 0,
	      4 * (6 + 12 + 8));
	check(state, "aten::addmm", "[[4],[2,3],[3,4],[],[]]", ADDS, NULL, 48,
	      8, 4 * (4 + 6 + 12 + 8));
	check(state, "aten::bmm", "[[5,2,3],[5,3,4]]", F2, NULL, 240, 0,
	      4 * 5 * (6 + 12 + 8));
	check(state, "aten::baddbmm", "[[5,2,4],[5,2,3],[5,3,4],[],[]]", ADDS,
	      NULL, 240, 40, 4 * 5 * (8 + 6 + 12 + 8));
	check(state, "aten::mv", "[[2,3],[3]]", F2, NULL, 12, 0,
	      4 * (6 + 3 + 2));
	/* fp8, and a pair of fp4 in a byte; the result is of 2 bytes */
	check(state, "aten::_scaled_mm", "[[2,3],[3,4]]",
	      "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\"]", NULL, 48, 0,
	      6 + 12 + 16);
	check(state, "aten::_scaled_mm", "[[2,3],[3,4]]",
	      "[\"c10::Float4_e2m1fn_x2\",\"c10::Float4_e2m1fn_x2\"]", NULL, 96,
	      0, 6 + 12 + 16);
}

/* Of one product: rows of what comes in, and bytes of the weights. */
static void weights(void **state)
{
	struct pf_op_work w;

	assert_true(work_of(state, "aten::addmm", "[[4],[2,3],[3,4],[],[]]",
			    ADDS, NULL, &w));
	assert_int_equal(w.rows, 2);
	assert_int_equal(w.weights, 4 * 12);
	assert_true(work_of(state, "aten::_scaled_mm", "[[2,3],[3,4]]",
			    "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\"]",
			    NULL, &w));
	assert_int_equal(w.rows, 2);
	assert_int_equal(w.weights, 12);
	assert_true(
		work_of(state, "aten::bmm", "[[5,2,3],[5,3,4]]", F2, NULL, &w));
	assert_int_equal(w.rows, 0);
}

static void refusals(void **state)
{
	refuse(state, "aten::mm", "[[2,3],[5,4]]", F2, NULL);
	refuse(state, "aten::mm", "[[2,0],[0,4]]", F2, NULL);
	refuse(state, "aten::mm", "[[2,3]]", F2, NULL);
	refuse(state, "aten::mm", "[[2,3],[3,4]]", "[\"c10::Odd\",\"float\"]",
	       NULL);
	refuse(state, "aten::mm", "[[2,-3],[-3,4]]", F2, NULL);
	refuse(state, "aten::mm", "[[4294967296,4294967296],[4294967296,4]]",
	       F2, NULL);
	refuse(state, "aten::add", "[[2,3],[2,4]]", F2, NULL);
	refuse(state, "aten::add", "[[],[]]", "[\"Scalar\",\"Scalar\"]", NULL);
	/* max() of two tensors, lengths of several sequences, a window */
	refuse(state, "aten::max", "[[2,3],[2,3]]", F2, NULL);
	refuse(state, "aten::_efficient_attention_forward",
	       "[[1,8,2,4],[1,8,2,4],[1,8,2,4],[],[3]]",
	       "[\"float\",\"float\",\"float\",\"\",\"int\"]", NULL);
	refuse(state, "flash_attn::_flash_attn_forward",
	       "[[1,8,2,4],[1,8,2,4],[1,8,2,4]]", H3,
	       "[\"\",\"\",\"\",\"0.\",\"1\",\"True\",\"128\",\"0\"]");
	assert_null(op_models_find(((struct made *)*state)->models,
				   "aten::mystery"));
}

#define CONV_TYPES                                                             \
	"[\"float\",\"float\",\"float\",\"ScalarList\",\"ScalarList\","        \
	"\"ScalarList\",\"Scalar\",\"ScalarList\",\"Scalar\"]"
#define CONV_VALUES(transposed, more, groups)                                  \
	"[\"\",\"\",\"\",\"[2, 2]\",\"[1]\",\"[1, 1]\",\"" transposed          \
	"\",\"" more "\",\"" groups "\"]"

static void convolutions(void **state)
{
	/* 1x4x8x8 by 6x2x3x3 in 2 groups: 6x4x4 places of 2x3x3 products */
	check(state, "aten::convolution",
	      "[[1,4,8,8],[6,2,3,3],[6],[],[],[],[],[],[]]", CONV_TYPES,
	      CONV_VALUES("False", "[0, 0]", "2"), 2 * 96 * 18, 96,
	      4 * (256 + 108 + 96 + 6));
	/* transposed: 1x4x4x4 by 4x3x3x3: 3x8x8 with one more at the end */
	check(state, "aten::convolution",
	      "[[1,4,4,4],[4,3,3,3],[],[],[],[],[],[],[]]",
	      "[\"float\",\"float\",\"\",\"ScalarList\",\"ScalarList\","
	      "\"ScalarList\",\"Scalar\",\"ScalarList\",\"Scalar\"]",
	      CONV_VALUES("True", "[1, 1]", "1"), 2 * 64 * 27, 0,
	      4 * (64 + 108 + 192));
	/* a stride of 0, and values that were not recorded */
	refuse(state, "aten::convolution",
	       "[[1,4,8,8],[6,2,3,3],[6],[],[],[],[],[],[]]", CONV_TYPES,
	       "[\"\",\"\",\"\",\"[0, 0]\",\"[1]\",\"[1, 1]\",\"False\"]");
	refuse(state, "aten::convolution",
	       "[[1,4,8,8],[6,2,3,3],[6],[],[],[],[],[],[]]", CONV_TYPES, NULL);
}

static void convolution_gradients(void **state)
{
#define DIMS "[[1,6,4,4],[1,4,8,8],[6,2,3,3],[],[],[],[],[],[],[],[]]"
#define VALUES(mask)                                                           \
	"[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"False\",\"\",\"2\",\"" mask "\"]"
	check(state, "aten::convolution_backward", DIMS,
	      "[\"float\",\"float\",\"float\"]", VALUES("[True, True, False]"),
	      2 * 2 * 96 * 18, 0, 2 * 4 * (96 + 256 + 108));
	check(state, "aten::convolution_backward", DIMS,
	      "[\"float\",\"float\",\"float\"]", VALUES("[False, True, True]"),
	      2 * 96 * 18, 96, 4 * (96 + 256 + 108) + 4 * (96 + 6));
#undef DIMS
#undef VALUES
}

static void of_attention(void **state)
{
#define DIMS         "[[2,8,5,4],[2,2,7,4],[2,2,7,6],[],[],[],[]]"
#define WITH(causal) "[\"\",\"\",\"\",\"0.\",\"" causal "\",\"False\",\"\"]"
	/* 2x8x5 rows by 7: 560 pairs, of 4 and of 6; fewer heads of k and v */
	check(state, "aten::_scaled_dot_product_flash_attention", DIMS, H3,
	      WITH("False"), 2 * 560 * 10, 0, 2 * (320 + 112 + 168 + 480));
	check(state, "aten::_scaled_dot_product_flash_attention", DIMS, H3,
	      WITH("True"), 560 * 10, 0, 2 * (320 + 112 + 168 + 480));
	check(state, "aten::_flash_attention_forward",
	      "[[2,5,8,4],[2,7,2,4],[2,7,2,6]]", H3, NULL, 2 * 560 * 10, 0,
	      2 * (320 + 112 + 168 + 480));
	check(state, "aten::_scaled_dot_product_flash_attention_backward",
	      "[[2,8,5,6],[2,8,5,4],[2,2,7,4],[2,2,7,6]]",
	      "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"c10::Half\"]", NULL,
	      2 * 560 * (3 * 4 + 2 * 6), 0, 2 * 2 * (320 + 112 + 168 + 480));
#undef DIMS
#undef WITH
}

static void of_elements(void **state)
{
	check(state, "aten::relu_", "[[3,4]]", "[\"float\"]", NULL, 0, 12, 96);
	check(state, "aten::add", "[[3,4],[4],[]]",
	      "[\"c10::BFloat16\",\"float\",\"Scalar\"]", NULL, 0, 12,
	      24 + 16 + 48);
	check(state, "aten::eq", "[[3,4],[]]", "[\"long int\",\"Scalar\"]",
	      NULL, 0, 12, 96 + 12);
	check(state, "aten::copy_", "[[3,4],[3,4],[]]",
	      "[\"float\",\"c10::Half\",\"Scalar\"]", NULL, 0, 0, 48 + 24);
	check(state, "aten::native_layer_norm", "[[3,4],[],[4],[4],[]]",
	      "[\"float\",\"ScalarList\",\"float\",\"float\",\"Scalar\"]", NULL,
	      0, 60, 96 + 32);
	check(state, "aten::_softmax", "[[3,4],[],[]]",
	      "[\"c10::Half\",\"Scalar\",\"Scalar\"]", "[\"\",\"-1\",\"True\"]",
	      0, 60, 12 * (2 + 4));
	check(state, "aten::sum", "[[3,4],[],[],[]]", "[\"float\"]",
	      "[\"\",\"[-1]\",\"False\",\"\"]", 0, 12, 4 * (12 + 3));
	check(state, "aten::argmax", "[[3,4],[],[]]", "[\"float\"]",
	      "[\"\",\"0\",\"False\"]", 0, 12, 48 + 4 * 8);
	check(state, "aten::cumsum", "[[3,4],[]]", "[\"float\",\"Scalar\"]",
	      "[\"\",\"1\"]", 0, 12, 96);
	check(state, "aten::embedding", "[[100,8],[5]]",
	      "[\"float\",\"long int\"]", NULL, 0, 0, 40 + 2 * 5 * 32);
}

/* ---- GPUs ---- */

static void gpu_rows(void **state)
{
	static const struct {
		struct pf_gpu_about about;
		const char *name;
	} cases[] = {
		{ { "NVIDIA H100 80GB HBM3", 132, 84942979072 }, "H100 SXM" },
		{ { "NVIDIA H200", 132, 150120038400 }, "H200 SXM" },
		{ { "NVIDIA H200 NVL", 132, 150120038400 }, "H200 NVL" },
		{ { "NVIDIA GB300", 152, 298000000000 }, "GB300" },
		{ { "NVIDIA A100-SXM4-40GB", 108, 42297000000 }, "A100 40GB" },
		{ { "NVIDIA A100-PCIE-40GB", 108, 42297000000 },
		  "A100 PCIe 40GB" },
		{ { "NVIDIA A100-SXM4-80GB", 108, 85031000000 },
		  "A100 SXM 80GB" },
		{ { "NVIDIA A100 80GB PCIe", 108, 85031000000 },
		  "A100 PCIe 80GB" },
		{ { "", 304, 206141652992 }, "MI300X" },
		{ { "", 304, 274000000000 }, "MI325X" },
		{ { "", 304, -1 }, NULL },
		{ { NULL, 304, 206141652992 }, NULL },
		{ { "NVIDIA H100 80GB HBM3", 60, 84942979072 }, NULL },
		{ { "Some other GPU", 10, 1 }, NULL },
	};
	struct made *made = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pf_gpu_peaks p = { 0 };

		assert_int_equal(pf_gpus_match(made->gpus, &cases[i].about, &p),
				 cases[i].name != NULL);
		if (cases[i].name)
			assert_string_equal(p.name, cases[i].name);
	}
}

static void gpu_options(void **state)
{
	struct made *made = *state;
	struct pf_gpu_peaks p;
	struct pf_err err = { 0 };

	pf_gpu_peaks_none(&p);
	assert_true(isnan(pf_gpu_peaks_matrix(&p, PF_PEAK_BF16)));
	assert_int_equal(pf_gpus_named(made->gpus, "h100 sxm", &p, &err), 0);
	assert_true(pf_gpu_peaks_matrix(&p, PF_PEAK_BF16) == 989400);
	/* the matrix units of MI210 do twice what its vector units do */
	assert_int_equal(pf_gpus_named(made->gpus, "MI210", &p, &err), 0);
	assert_true(pf_gpu_peaks_matrix(&p, PF_PEAK_FP32) == 45300);
	assert_true(pf_gpu_peaks_vector(&p, PF_PEAK_FP32) == 22600);
	assert_int_equal(pf_gpu_peaks_set(&p, "bf16=800,gbps=3000", &err), 0);
	assert_true(p.rate[PF_PEAK_BF16] == 800);
	assert_true(p.rate[PF_PEAK_BYTES] == 3000);
	assert_int_equal(pf_gpu_peaks_set(&p, "bf16", &err), -1);
	assert_int_equal(pf_gpu_peaks_set(&p, "bf16=-1", &err), -1);
	assert_int_equal(pf_gpu_peaks_set(&p, "speed=1", &err), -1);
	err = (struct pf_err){ 0 };
	assert_int_equal(pf_gpus_named(made->gpus, "H100", &p, &err), -1);
	assert_int_equal(err.code, PF_EUSAGE);
}

/* ---- what is done again ---- */

#define NODE "autograd::engine::evaluate_function: "

static enum pf_recompute inside(const char *const *names)
{
	enum pf_recompute state = PF_RECOMPUTE_NONE;

	for (; *names; names++)
		state = recompute_next(state, recompute_word(*names),
				       strstr(*names, ".py(")
					       ? (unsigned)PF_KIND_PYTHON
					       : (unsigned)PF_KIND_CPU_OP);
	return state;
}

#define INSIDE(...) inside((const char *const[]){ __VA_ARGS__, NULL })

static void recomputed(void **state)
{
	(void)state;
	assert_int_equal(INSIDE("aten::linear"), PF_RECOMPUTE_NONE);
	assert_int_equal(INSIDE(NODE "AddmmBackward0", "AddmmBackward0"),
			 PF_RECOMPUTE_BACKWARD);
	assert_int_equal(INSIDE(NODE "AddmmBackward0", "aten::linear"),
			 PF_RECOMPUTE_AGAIN);
	assert_int_equal(
		INSIDE(NODE "CheckpointFunctionBackward", "aten::addmm"),
		PF_RECOMPUTE_AGAIN);
	/* backward of what was done again is no repetition */
	assert_int_equal(INSIDE(NODE "CheckpointFunctionBackward",
				NODE "AddmmBackward0"),
			 PF_RECOMPUTE_BACKWARD);
	assert_int_equal(INSIDE(NODE "MulBackward0",
				"torch/utils/checkpoint.py(1100): unpack_hook"),
			 PF_RECOMPUTE_AGAIN);
	assert_int_equal(
		INSIDE(NODE "ConvolutionBackwardBackward0", "aten::conv2d"),
		PF_RECOMPUTE_OTHER);
	assert_int_equal(INSIDE(NODE "MyLossBackward", "aten::linear"),
			 PF_RECOMPUTE_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products),
		cmocka_unit_test(weights),
		cmocka_unit_test(refusals),
		cmocka_unit_test(convolutions),
		cmocka_unit_test(convolution_gradients),
		cmocka_unit_test(of_attention),
		cmocka_unit_test(of_elements),
		cmocka_unit_test(gpu_rows),
		cmocka_unit_test(gpu_options),
		cmocka_unit_test(recomputed),
	};

	return cmocka_run_group_tests(tests, set_up, free_all);
}
