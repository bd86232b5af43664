/* SPDX-License-Identifier: MIT */
/* Classes of GPU work, and what a window leaves of a span. */
#include "unit/support.h"

#include "analysis/gpu.h"
#include "analysis/kernels.h"
#include "analysis/window.h"
#include "trace/event.h"

static void test_classes(void **state)
{
	(void)state;
	assert_int_equal(
		pf_gpu_classify(PF_KIND_KERNEL, "ncclDevKernel_AllReduce"),
		PF_GPU_COMM);
	assert_int_equal(pf_gpu_classify(PF_KIND_KERNEL, "void RCCL_x"),
			 PF_GPU_COMM);
	assert_int_equal(pf_gpu_classify(PF_KIND_KERNEL, "sgemm"),
			 PF_GPU_COMPUTE);
	assert_int_equal(pf_gpu_classify(PF_KIND_KERNEL,
					 "__amd_rocclr_copyBufferAligned"),
			 PF_GPU_COPY);
	assert_int_equal(pf_gpu_classify(PF_KIND_MEMCPY, "Memcpy HtoD"),
			 PF_GPU_COPY);
	assert_int_equal(pf_gpu_classify(PF_KIND_MEMSET, "Memset (Device)"),
			 PF_GPU_MEMSET);
}

static void test_window_cuts(void **state)
{
	struct pf_window_trace t = { .from_ns = 10, .to_ns = 20 };
	int64_t start = 5, end = 15;

	(void)state;
	assert_true(pf_window_cut(&t, &start, &end));
	assert_int_equal(start, 10);
	assert_int_equal(end, 15);
	start = 19;
	end = 40;
	assert_true(pf_window_cut(&t, &start, &end));
	assert_int_equal(end, 20);
	start = 20;
	end = 21;
	assert_false(pf_window_cut(&t, &start, &end));
	start = 1;
	end = 10;
	assert_false(pf_window_cut(&t, &start, &end));
	start = end = 10;
	assert_true(pf_window_cut(&t, &start, &end));
}

static void check_name(const char *name, const char *want)
{
	struct pf_buf text = { 0 };

	pf_kernel_short_name(&text, name);
	assert_string_equal(text.data, want);
	pf_buf_release(&text);
}

static void test_short_names(void **state)
{
	(void)state;
	check_name("void at::native::reduce_kernel<512, at::F>(int, a::B)",
		   "reduce_kernel<512, F>");
	check_name("void at::native::(anonymous namespace)::k<float>(int*)",
		   "k<float>");
	check_name("void f<at::g::{lambda(int)#1}>(int)", "f<{lambda(int)#1}>");
	check_name("ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn");
	check_name("ncclKernel(ncclWork)", "ncclKernel(ncclWork)");
	check_name("", "");
	check_name("a::", "");
	check_name(">>)(", ">>)(");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_window_cuts),
		cmocka_unit_test(test_short_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
