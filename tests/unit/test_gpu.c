/* SPDX-License-Identifier: MIT */
/* Classes of GPU work, and what a window leaves of a span. */
#include "unit/support.h"

#include <inttypes.h>

#include "events/gpu.c"
#include "analysis/time/kernels.h"
#include "events/window.h"
#include "formats/event.h"

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
	check_name("_Z", "_Z");
	check_name("_Z3addi", "add(int)");
	check_name("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16E"
		   "Lb1EEEvPT0_PT_PfS4_S4_",
		   "add_rmsnorm_quant_kernel<__bf16, __bf16, 256, 16, true>");
	check_name("_ZN1a5kDF16IDF16_NS_1bIDF16bEEEEvT_T0_S1_",
		   "kDF16<_Float16, b<__bf16> >");
	check_name("_ZN7sgl_hip10activation18act_and_mul_kernelIfTnPFT_RKS1_E"
		   "Xadsilu",
		   "act_and_mul_kernel<...>");
	check_name("_ZN99x", "_ZN99x");
	check_name("a::", "");
	check_name(">>)(", ">>)(");
}

static void is_without(const char *name, const char *want)
{
	struct pf_buf text = { 0 };

	pf_buf_adds(&text, "");
	pf_kernel_without_templates(&text, name, strlen(name));
	assert_string_equal(text.data, want);
	pf_buf_release(&text);
}

static void test_without_templates(void **state)
{
	(void)state;
	is_without("", "");
	is_without("void f<512, g<int>>(h<int>*, a<b<c> >)", "void f(h*, a)");
	is_without("std::enable_if<!(false), void>::type k<int>(x<y>)",
		   "std::enable_if::type k(x)");
	/* what compares in brackets closes nothing */
	is_without("e<(((8)>(0)))&&v<T>::exists, void>::type f<T, 8>(T*)",
		   "e::type f(T*)");
	is_without("f<(a->b), 3>::operator()<int>() const",
		   "f::operator()() const");
	is_without("void f<g::{lambda(int)#1}, (h)2>(int)", "void f(int)");
	is_without("auto f<int>(int) -> g<int>", "auto f(int) -> g");
	is_without("bool operator<<x>(a, b)", "bool operator<<x>(a, b)");
	is_without("bool operator<(a<int>, b)", "bool operator<(a, b)");
	/* angle brackets of others */
	is_without("train.py(3): <module>", "train.py(3): <module>");
	is_without("<built-in method f of type object at 0x7>",
		   "<built-in method f of type object at 0x7>");
	is_without("a.py(1): <lambda>", "a.py(1): <lambda>");
	is_without("x < y and y > z", "x < y and y > z");
	/* cut, or not balanced */
	is_without("f<512, g<int, 6... takes 3 %", "f... takes 3 %");
	is_without("f<512, g(", "f<512, g(");
	is_without("f(<a<)b>>", "f(<a<)b>>");
	is_without("f>>>)}]", "f>>>)}]");
	is_without("a<b<c<d>", "a<b<c");
}

#define NO_ROOM 3 /* cases from here on have no table */

/* Ids beside each other, with gaps, and so far apart that no table has room. */
static const struct {
	int64_t ids[3], absent[3];
} id_cases[] = {
	{ { 1, 2, 3 }, { 0, 4, INT64_MAX } },
	{ { 12, 13, 40 }, { 11, 14, 41 } },
	{ { -7, 0, 9 }, { INT64_MIN, -1, 10 } },
	{ { 1, 1000, 1000000000000 }, { 0, 2, 1000000000001 } },
	{ { INT64_MIN, 0, INT64_MAX }, { -1, 1, INT64_MAX - 1 } },
};

static void open_configs(struct pf_db *db, const int64_t ids[3])
{
	struct pf_buf sql = { 0 };

	pf_buf_adds(&sql,
		    "CREATE TABLE gpu_config(id INTEGER PRIMARY KEY, device,"
		    "stream, grid_x, grid_y, grid_z, block_x, block_y, block_z,"
		    "registers_per_thread, shared_memory_bytes, blocks_per_sm,"
		    "occupancy_percent, op_name);");
	for (int i = 0; i < 3; i++)
		pf_buf_addf(&sql,
			    "INSERT INTO gpu_config(id) VALUES (%" PRId64 ");",
			    ids[i]);
	assert_int_equal(sqlite3_open(":memory:", &db->sql), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db->sql, sql.data, NULL, NULL, NULL),
			 SQLITE_OK);
	pf_buf_release(&sql);
}

static void configs_by_id(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(id_cases) / sizeof(*id_cases); i++) {
		struct pf_gpu_configs *c;
		struct pf_err err = { 0 };
		struct pf_db db = { .err = &err };

		open_configs(&db, id_cases[i].ids);
		c = read_configs(&db, NULL);
		assert_non_null(c);
		assert_true(!c->places == (i >= NO_ROOM));
		for (int k = 0; k < 3; k++) {
			assert_ptr_equal(
				pf_gpu_configs_find(c, id_cases[i].ids[k]),
				&c->items[k]);
			assert_null(
				pf_gpu_configs_find(c, id_cases[i].absent[k]));
		}
		free_configs(c);
		pf_db_close(&db);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_window_cuts),
		cmocka_unit_test(test_short_names),
		cmocka_unit_test(test_without_templates),
		cmocka_unit_test(configs_by_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
