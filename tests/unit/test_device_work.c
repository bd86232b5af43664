/* SPDX-License-Identifier: MIT */
/* Which tracks of devices hold work, and whose it is. */
#include "unit/support.h"

#include "events/traces.h"

static struct pf_track track(const char *class_name, const char *pid,
			     const char *tid)
{
	return (struct pf_track){ .class_name = class_name,
				  .pid = pid,
				  .tid = tid };
}

static void test_rows(void **state)
{
	static const struct {
		const char *class_name, *pid, *tid;
		bool is_tpu;
		enum pf_device_row row;
	} rows[] = {
		{ "gpu", "0", "7", false, PF_WORK_GPU },
		{ "gpu", "TPU 0", "XLA Ops", true, PF_WORK_OPS },
		{ "gpu", "TPU 0", "Async XLA Ops", true, PF_WORK_FLIGHT },
		{ "gpu", "TPU 0", "XLA Modules", true, PF_WORK_PROGRAMS },
		{ "gpu", "TPU 0", "XLA TraceMe", true, PF_WORK_NONE },
		{ "gpu", "TPU 0 SparseCore 1", "XLA Ops", true, PF_WORK_OPS },
		/* beside a GPU they are ranges as any */
		{ "gpu", "TPU 0", "XLA Ops", false, PF_WORK_GPU },
		{ "host", "TPU 0", "XLA Ops", true, PF_WORK_NONE },
		{ "counter", "0", "7", false, PF_WORK_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pf_track t =
			track(rows[i].class_name, rows[i].pid, rows[i].tid);

		assert_int_equal(pf_work_row(&t, rows[i].is_tpu), rows[i].row);
	}
}

static void test_kinds(void **state)
{
	(void)state;
	assert_true(pf_is_work(PF_WORK_GPU, PF_KIND_MEMCPY));
	assert_false(pf_is_work(PF_WORK_GPU, PF_KIND_GPU_OTHER));
	assert_true(pf_is_work(PF_WORK_OPS, PF_KIND_GPU_OTHER));
	assert_false(pf_is_work(PF_WORK_OPS, PF_KIND_KERNEL));
	assert_false(pf_is_work(PF_WORK_FLIGHT, PF_KIND_GPU_OTHER));
	assert_false(pf_is_work(PF_WORK_NONE, PF_KIND_KERNEL));
	assert_false(pf_is_work(PF_WORK_PROGRAMS, PF_KIND_GPU_ANNOTATION));
}

static void test_numbers(void **state)
{
	static const struct {
		const char *pid;
		int64_t device;
	} pids[] = {
		{ "3", 3 },     { "TPU 3", 3 },  { "TPU 12 SparseCore 1", 12 },
		{ "TPU ", -1 }, { "TPU x", -1 }, { "TPU 1234567890", -1 },
		{ "", -1 },     { "-1", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pids) / sizeof(*pids); i++) {
		struct pf_track t = track("gpu", pids[i].pid, "7");

		assert_int_equal(pf_work_device(&t), pids[i].device);
		assert_int_equal(pf_work_stream(&t), 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
