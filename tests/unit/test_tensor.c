/* SPDX-License-Identifier: MIT */
/* Patterns of data/kernels.csv, and the reader of such tables. */
#include "unit/support.h"

#include <string.h>

#include "analysis/time/kernels.c"
#include "base/data.h"
#include "unit/events.h"
#include "unit/scene.h"

static void test_names(void **state)
{
	static const struct {
		const char *name;
		enum pf_tensor_use use;
	} cases[] = {
		{ "volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_nn", PF_TENSOR_YES },
		{ "volta_sgemm_128x64_nt", PF_TENSOR_NO },
		{ "ampere_sgemm_128x32_nt", PF_TENSOR_NO },
		{ "void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nt>",
		  PF_TENSOR_NO },
		{ "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64>",
		  PF_TENSOR_YES },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_"
		  "stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute",
		  PF_TENSOR_NO },
		{ "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize",
		  PF_TENSOR_YES },
		{ "nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN", PF_TENSOR_YES },
		{ "Cijk_Ailk_Bljk_S_B_MT64x64x16_MI16x16x1_SN", PF_TENSOR_YES },
		{ "Cijk_Ailk_Bljk_S_B_MT64x64x16_SN", PF_TENSOR_NO },
		{ "void at::native::vectorized_elementwise_kernel<4>(int)",
		  PF_TENSOR_NO },
		{ "triton_poi_fused_add_0", PF_TENSOR_NO },
		{ "triton_tem_fused_mm_0", PF_TENSOR_UNKNOWN },
		{ "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEff...)",
		  PF_TENSOR_YES },
		{ "fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEff...)",
		  PF_TENSOR_NO },
		{ "fmha_cutlassB_f16_aligned_64x64_k64_sm50(PyTorchMemEff)",
		  PF_TENSOR_NO },
		{ "my_kernel", PF_TENSOR_UNKNOWN },
		{ "", PF_TENSOR_UNKNOWN },
	};
	struct pf_err err = { 0 };
	struct pf_db db = { .err = &err };
	struct pf_tensor *t = tensor_new(&db, NULL);

	(void)state;
	support_no_error(&err);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (pf_tensor_kind(t, cases[i].name).use != cases[i].use)
			fail_msg("%s is not %s", cases[i].name,
				 tensor_word(cases[i].use));
	tensor_free(t);
}

/* Names as libraries make them; NULL: not known. */
static const struct {
	const char *name, *class, *precision;
} kinds[] = {
	/* cuBLAS: single precision is not TF32 */
	{ "ampere_sgemm_128x64_nn", "gemm", "fp32" },
	{ "volta_sgemm_32x32_sliced1x4_tn", "gemm", "fp32" },
	{ "volta_fp16_sgemm_fp16_128x64_nn", "gemm", "fp16" },
	{ "volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_nn", "gemm", "fp16" },
	{ "volta_h884gemm_64x128_ldg8_nn", "gemm", "fp16" },
	{ "ampere_s1688gemm_128x128_ldg4_nn", "gemm", "tf32" },
	{ "turing_fp16_s1688gemm_fp16_128x64_ldg8_f2f_tn", "gemm", "fp16" },
	{ "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", "gemm", "bf16" },
	{ "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_tn", "gemm", "fp16" },
	{ "ampere_dgemm_64x64_nn", "gemm", "fp64" },
	{ "ampere_gcgemm_64x64_nt", "gemm", "fp32" },
	{ "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_"
	  "stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute",
	  "gemm", "fp32" },
	{ "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize", "gemm", "tf32" },
	{ "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "gemm",
	  "bf16" },
	{ "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize", "gemm", "fp16" },
	{ "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize", "gemm", "fp8" },
	{ "nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN", "gemm", "bf16" },
	{ "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", "gemm", "fp16" },
	{ "nvjet_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT", "gemm", "fp8" },
	{ "nvjet_sss_tf32_128x256_TNT", "gemm", "tf32" },
	{ "nvjet_sss_128x256_TNT", "gemm", NULL },
	{ "nvjet_new_128x256_TNT", "gemm", NULL },
	{ "void gemv2T_kernel_val<int, int, float, float, float, float,"
	  " 128, 16, 4, 4, false>(cublasGemvParams<float>)",
	  "gemm", "fp32" },
	{ "std::enable_if<!(false), void>::type internal::gemvx::kernel"
	  "<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, "
	  "float, false>(x)",
	  "gemm", "bf16" },
	{ "void splitKreduce_kernel<32, 16, int, float, float>(x)", "other",
	  NULL },
	/* CUTLASS */
	{ "void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nt>", "gemm",
	  "fp32" },
	{ "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_"
	  "16x6_nn_align4>",
	  "gemm", "tf32" },
	{ "void cutlass::Kernel2<cutlass_80_tensorop_s1688f32gemm_x>", "gemm",
	  NULL },
	{ "void cutlass::Kernel2<cutlass_75_tensorop_bf16_"
	  "s1688gemm_bf16_128x128_nn_align1>(Params)",
	  "gemm", "bf16" },
	{ "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_"
	  "relu_f16_64x64_64x6_tn_align8>(Params)",
	  "gemm", "fp16" },
	{ "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_"
	  "s161616gemm_bf16_16x16_32x1_nn_align8>(Params)",
	  "gemm", "bf16" },
	{ "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_"
	  "128x128x64",
	  "gemm", "fp16" },
	{ "cutlass3x_sm90_tensorop_s64x128x8tf32gemm_f32_f32_f32_f32_"
	  "f32_128x128x32",
	  "gemm", "tf32" },
	{ "cutlass3x_sm90_tensorop_s64x128x8gemm_f32_f32_f32_x", "gemm", NULL },
	{ "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_"
	  "s16816fprop_optimized_bf16_256x64_32x4_nhwc_align8>(x)",
	  "conv", "bf16" },
	/* cuDNN */
	{ "volta_scudnn_128x64_relu_interior_nn_v1", "conv", "fp32" },
	{ "volta_fp16_scudnn_fp16_128x64_relu_interior_nn_v1", "conv", "fp16" },
	{ "volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_tn", "conv",
	  "fp16" },
	{ "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_"
	  "nhwckrsc_nchw_tilesize128x128x16",
	  "conv", "tf32" },
	{ "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, "
	  "false>(int, int, int)",
	  "conv", "fp32" },
	{ "void cudnn::ops::nchwToNhwcKernel<float, float, float>(x)", "copy",
	  NULL },
	{ "void cudnn::bn_bw_1C11_kernel_new<float, float, float2>(x)",
	  "normalization", NULL },
	/* PyTorch's, MIOpen's and others' that multiply nothing */
	{ "void at::native::batch_norm_backward_kernel<float, float>(x)",
	  "normalization", NULL },
	{ "_ZN5aiter24add_rmsnorm_quant_kernelIDF16b", "normalization", NULL },
	{ "void at::native::vectorized_elementwise_kernel<4>(int)", "pointwise",
	  NULL },
	{ "void at::native::elementwise_kernel<128, 4, "
	  "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>(x)",
	  "copy", NULL },
	{ "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4>(x)",
	  "softmax", NULL },
	{ "batched_transpose_32x32_half", "copy", NULL },
	{ "void at::native::reduce_kernel<512, 1, x>(y)", "reduction", NULL },
	{ "triton_red_fused_native_layer_norm_3", "normalization", NULL },
	{ "void at::native::(anonymous namespace)::max_pool_forward_nchw<x>",
	  "other", NULL },
	{ "void batched_matrix_multiplication_matrix_core_64x64x4<64u>(int)",
	  "gemm", NULL },
	/* Tensile: types after the indices, whatever follows */
	{ "Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x1_SN", "gemm", "fp32" },
	{ "Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT16x16", "gemm", "fp32" },
	{ "Cijk_Ailk_Bljk_S_MX_B_Bias_HA_S_SAV_UserArgs_MT16", "gemm", "tf32" },
	{ "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16", "gemm", "bf16" },
	{ "Custom_Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_MT1", "gemm", "fp16" },
	{ "Cijk_Alik_Bljk_F8BS_BH_Bias_AS_SAV_UserArgs_MT1", "gemm", "fp8" },
	{ "Cijk_Alik_Bljk_B8F8_HS_BH_Bias_AS_SAV_MT1", "gemm", "fp8" },
	{ "Cijk_Ailk_Bjlk_DB_MT64x64", "gemm", "fp64" },
	{ "Cijk_Ailk_BjlkC_CB_MT64x64", "gemm", NULL },
	/* others */
	{ "void magma_sgemmEx_kernel<float, float, float, true, false, "
	  "6, 4>(int)",
	  "gemm", "fp32" },
	{ "triton_tem_fused_mm_bf16_0", "gemm", NULL },
	{ "triton_poi_fused_convolution_gemm_0", "pointwise", NULL },
	{ "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", "gemm", "mixed" },
	{ "matmul_kernel", "gemm", NULL },
	{ "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_tmaOpt", "gemm",
	  "mixed" },
	{ "void fbgemm_gpu::_compute_FP8_quantize_cuda_kernel<float>", NULL,
	  NULL },
	{ "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(Params)", "attention",
	  "bf16" },
	{ "fmha_cutlassF_f32_aligned_64x64_rf_sm80(Params)", "attention",
	  NULL },
	{ "my_kernel", NULL, NULL },
	{ "", NULL, NULL },
};

static void test_kinds(void **state)
{
	struct pf_err err = { 0 };
	struct pf_db db = { .err = &err };
	struct pf_tensor *t = tensor_new(&db, NULL);

	(void)state;
	support_no_error(&err);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct pf_kernel_kind kind = pf_tensor_kind(t, kinds[i].name);
		const char *class = class_word(kind.class);
		const char *precision = precision_word(kind.precision);

		if (strcmp(class ? class : "",
			   kinds[i].class ? kinds[i].class : "") ||
		    strcmp(precision ? precision : "",
			   kinds[i].precision ? kinds[i].precision : ""))
			fail_msg("%s is %s of %s", kinds[i].name, class,
				 precision);
	}
	tensor_free(t);
}

static void test_ops(void **state)
{
	struct pf_err err = { 0 };
	struct pf_db db = { .err = &err };
	struct pf_tensor *t = tensor_new(&db, NULL);

	(void)state;
	support_no_error(&err);
	assert_true(pf_tensor_op(t, "aten::mm"));
	assert_true(pf_tensor_op(t, "aten::addmm"));
	assert_true(pf_tensor_op(t, "aten::cudnn_convolution_backward"));
	assert_false(pf_tensor_op(t, "aten::mmm"));
	assert_false(pf_tensor_op(t, "aten::linalg_inv_ex"));
	assert_false(pf_tensor_op(t, ""));
	assert_int_equal(
		class_in(t, PF_CLASS_GEMM, "aten::convolution_backward"),
		PF_CLASS_CONV);
	assert_int_equal(class_in(t, PF_CLASS_GEMM, "aten::mm"), PF_CLASS_GEMM);
	assert_int_equal(class_in(t, PF_CLASS_GEMM, ""), PF_CLASS_GEMM);
	assert_int_equal(class_in(t, PF_CLASS_COPY, "aten::convolution"),
			 PF_CLASS_COPY);
	tensor_free(t);
}

/* 30 us of a convolution and 10 us of a product by kernels of one name. */
static void test_launched(void **state)
{
	static const char trace[] = TRACE(
		MAIN("cpu_op", "aten::cudnn_convolution", 100, 100) LAUNCH(
			110, 5, 1) KERNEL("volta_sgemm_nt", 120, 30, 7, 1)
			MAIN("cpu_op", "aten::mm", 210, 20) LAUNCH(212, 5, 2)
				KERNEL("volta_sgemm_nt", 220, 10, 7, 2));
	struct pf_kernels_args args = { 0 };
	struct scene s = { 0 };

	(void)state;
	scene_open(&s, trace);
	args.window = (struct pf_window_args)PF_WINDOW_DEFAULTS;
	assert_int_equal(pf_kernels(&s.db, &args, NULL, &s.doc), 0);
	scene_text(&s, "classes", 0, "class", "gemm");
	scene_int(&s, "classes", 0, "total_ns", 10000);
	scene_text(&s, "classes", 1, "class", "conv");
	scene_int(&s, "classes", 1, "total_ns", 30000);
	/* the row is of both */
	scene_null(&s, "kernels", 0, "class");
	assert_non_null(
		strstr(pf_doc_find_finding(&s.doc), "convolutions 75.00 %"));
	scene_clear(&s);
	args.group = PF_KERNELS_BY_NAME_OP;
	assert_int_equal(pf_kernels(&s.db, &args, NULL, &s.doc), 0);
	scene_text(&s, "kernels", 0, "class", "conv");
	scene_text(&s, "kernels", 1, "class", "gemm");
	scene_close(&s);
}

/* Where the class of most time is unknown, a small one does not lead. */
static void test_unknown(void **state)
{
	static const char trace[] =
		TRACE(KERNEL("fc-dtype_Float", 100, 30, 7, 1)
			      KERNEL("volta_sgemm_nt", 140, 10, 7, 2));
	struct pf_kernels_args args = { 0 };
	struct scene s = { 0 };

	(void)state;
	scene_open(&s, trace);
	args.window = (struct pf_window_args)PF_WINDOW_DEFAULTS;
	assert_int_equal(pf_kernels(&s.db, &args, NULL, &s.doc), 0);
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       ": of unknown class 75.00 %, other kernels "
			       "25.00 %. "));
	scene_close(&s);
}

static void test_data(void **state)
{
	struct pf_err err = { 0 };
	struct pf_data *d =
		pf_data_new("data/kernels.csv",
			    "pattern,tensor_cores,class,precision,what", &err);

	(void)state;
	support_no_error(&err);
	assert_true(pf_data_rows(d) > 20);
	for (size_t i = 0; i < pf_data_rows(d); i++)
		assert_true(*pf_data_cell(d, i, 4));
	pf_data_free(d);
	assert_null(pf_data_new("data/kernels.csv", "pattern", &err));
	support_error(&err, PF_EDATA, "data/kernels.csv");
	assert_null(pf_data_new("data/none.csv", "a", &err));
	support_error(&err, PF_EDATA, "data/none.csv");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),   cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_ops),     cmocka_unit_test(test_launched),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
