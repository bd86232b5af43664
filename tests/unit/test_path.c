/* SPDX-License-Identifier: MIT */
/* The host's part of a path, worked out with what runs there and without. */
#include "unit/events.h"
#include "unit/scene.h"

#include "analysis/path/path.h"

/* Of 1,000 us the host has 110 and 190 itself, and two calls of 10. */
/* clang-format off */
static const char waits[] = TRACE(
	MAIN("cpu_op", "aten::mm", 100, 130)
	LAUNCH(210, 10, 1)
	KERNEL("gemm", 230, 470, 7, 1)
	MAIN("cuda_runtime", "cudaStreamSynchronize", 250, 455)
	MAIN("cpu_op", "aten::add", 710, 200)
	LAUNCH(895, 10, 2)
	KERNEL("add", 910, 190, 7, 2));
/* clang-format on */

static struct pf_path path(const struct scene *s, double brief_up_to)
{
	const struct pf_path_args args = { .window = PF_WINDOW_DEFAULTS,
					   .brief_up_to = brief_up_to };
	struct pf_err err = { 0 };
	struct pf_path out;
	((struct pf_db *)&s->db)->err = &err;

	pf_path_find((struct pf_db *)&s->db, &args, &out);
	support_no_error(&err);
	return out;
}

static void test_brief(void **state)
{
	struct pf_path whole, brief, asked;
	struct scene s;
	double share;

	(void)state;
	scene_open(&s, waits);
	whole = path(&s, 0);
	share = (double)whole.host_ns / (double)whole.window_ns;
	brief = path(&s, share);
	asked = path(&s, share - 1e-6);
	assert_false(whole.is_brief);
	assert_int_equal(whole.window_ns, 1000000);
	assert_int_equal(whole.host_ns, 320000);
	assert_true(brief.is_brief);
	assert_int_equal(brief.host_ns, whole.host_ns);
	assert_int_equal(brief.window_ns, whole.window_ns);
	assert_int_equal(brief.work_count, 2);
	assert_int_equal(brief.answer_count, 0);
	assert_false(asked.is_brief);
	assert_int_equal(asked.host_ns, whole.host_ns);
	assert_int_equal(asked.answer_count, whole.answer_count);
	assert_true(asked.answer_count > 0);
	pf_path_release(&whole);
	pf_path_release(&brief);
	pf_path_release(&asked);
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brief),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
