/* SPDX-License-Identifier: MIT */
/* Patterns of data/kernels.csv, and the reader of such tables. */
#include "unit/support.h"

#include "analysis/tensor.h"
#include "embed/data.h"

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
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL", PF_TENSOR_NO },
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
	struct pf_tensor *t = pf_tensor_new(&err);

	(void)state;
	support_no_error(&err);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (pf_tensor_find(t, cases[i].name) != cases[i].use)
			fail_msg("%s is not %s", cases[i].name,
				 pf_tensor_word(cases[i].use));
	pf_tensor_free(t);
}

static void test_data(void **state)
{
	struct pf_err err = { 0 };
	struct pf_data *d = pf_data_new("data/kernels.csv",
					"pattern,tensor_cores,what", &err);

	(void)state;
	support_no_error(&err);
	assert_true(pf_data_rows(d) > 20);
	for (size_t i = 0; i < pf_data_rows(d); i++)
		assert_true(*pf_data_cell(d, i, 2));
	pf_data_free(d);
	assert_null(pf_data_new("data/kernels.csv", "pattern", &err));
	support_error(&err, PF_EDATA, "data/kernels.csv");
	assert_null(pf_data_new("data/none.csv", "a", &err));
	support_error(&err, PF_EDATA, "data/none.csv");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
