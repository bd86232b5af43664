/* SPDX-License-Identifier: MIT */
/* Lines of stacks: escapes, order, sums, and threads that were planted. */
#include "unit/events.h"
#include "unit/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/stacks.c"

#define NAMED(events)                                                          \
	TRACE(events "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 9, " \
		     "\"tid\": 7, \"args\": {\"name\": \"main\"}},\n")

/* What pf_stacks() writes; err is the caller's. */
static char *stacks_take(const char *json, const struct pf_stacks_args *args,
			 struct pf_err *err)
{
	struct pf_stacks_args with_out = *args;
	struct pf_stacks_result result;
	struct pf_buf text = { 0 };
	struct scene s;
	char *out;

	scene_open(&s, json);
	out = support_path_take(s.dir, "out");
	with_out.out = out;
	s.db.err = err;

	if (!pf_stacks(&s.db, &with_out, stdout, &result))
		support_read(out, &text);
	free(out);
	scene_close(&s);
	return text.data;
}

static void check(const char *json, const struct pf_stacks_args *args,
		  const char *want)
{
	struct pf_err err = { 0 };
	char *got = stacks_take(json, args, &err);

	support_no_error(&err);
	assert_string_equal(got, want);
	free(got);
}

static const struct pf_stacks_args gpu = { .window = PF_WINDOW_DEFAULTS };
static const struct pf_stacks_args cpu = { .window = PF_WINDOW_DEFAULTS,
					   .weight = PF_STACKS_CPU };

/* clang-format off */
static const char trace[] = NAMED(
	MAIN("python_function", "train.py(7): step", 0, 100)
	MAIN("user_annotation", "ProfilerStep#3", 10, 40)
	MAIN("cpu_op", "aten::mm", 20, 20)
	LAUNCH(25, 5, 1)
	MAIN("user_annotation", "ProfilerStep#4", 60, 30)
	MAIN("cpu_op", "aten::mm", 70, 10)
	LAUNCH(72, 3, 2)
	HOST_ON(2, "cpu_op", "aten::mm", 0, 5)
	KERNEL("k<a; b>", 30, 10, 7, 1)
	KERNEL("k<a; b>", 80, 7, 7, 2)
	KERNEL("early", 1, 2, 7, 9));
/* clang-format on */

static void by_launch(void **state)
{
	(void)state;
	check(trace, &gpu,
	      "(no launch call);early 2000\n"
	      "train.py(7): step;ProfilerStep;aten::mm;cudaLaunchKernel;"
	      "k<a\\x3b b> 17000\n");
}

static void by_range(void **state)
{
	(void)state;
	check(trace, &cpu,
	      "aten::mm 5000\n"
	      "train.py(7): step 30000\n"
	      "train.py(7): step;ProfilerStep 40000\n"
	      "train.py(7): step;ProfilerStep;aten::mm 22000\n"
	      "train.py(7): step;ProfilerStep;aten::mm;cudaLaunchKernel "
	      "8000\n");
}

static void windows_and_threads(void **state)
{
	struct pf_stacks_args args = cpu;

	(void)state;
	args.window.from_ns = 2000;
	args.window.to_ns = 26000;
	args.threads = true;
	check(trace, &args,
	      "main;train.py(7): step 8000\n"
	      "main;train.py(7): step;ProfilerStep 10000\n"
	      "main;train.py(7): step;ProfilerStep;aten::mm 5000\n"
	      "main;train.py(7): step;ProfilerStep;aten::mm;"
	      "cudaLaunchKernel 1000\n"
	      "thread 2;aten::mm 3000\n");
	args = gpu;
	args.window.from_ns = 35000;
	args.window.to_ns = 82000;
	check(trace, &args,
	      "train.py(7): step;ProfilerStep;aten::mm;cudaLaunchKernel;"
	      "k<a\\x3b b> 7000\n");
}

/* A range that outlasts the one around it; one that begins where one ends. */
static void crossing(void **state)
{
	(void)state;
	check(TRACE(MAIN("cpu_op", "a", 0, 10) MAIN("cpu_op", "b", 5, 10) MAIN(
		      "cpu_op", "c", 15, 1) MAIN("cpu_op", "d", 15, 0)),
	      &cpu, "a 5000\nb 10000\nc 1000\n");
}

static void idle(void **state)
{
	struct pf_stacks_args args = gpu;

	(void)state;
	args.weight = PF_STACKS_IDLE;
	check(TRACE(MAIN("cpu_op", "aten::item", 10,
			 100) MAIN("cuda_runtime", "cudaStreamSynchronize", 20,
				   80) LAUNCH(120, 5, 2) LAUNCH(1, 1, 1)
			    KERNEL("k", 5, 15, 7, 1) KERNEL("k", 125, 5, 7, 2)),
	      &args,
	      "launch latency;cudaLaunchKernel 5000\n"
	      "operators;aten::item 10000\n"
	      "sync;aten::item;cudaStreamSynchronize 80000\n"
	      "unrecorded 10000\n");
}

static void hostile_names(void **state)
{
	(void)state;
	check(TRACE(MAIN("cpu_op", "a;b\\nc 5", 0, 1) MAIN("cpu_op", "", 1, 1)
			    MAIN("cpu_op", "\\u001b[31m\\u202e", 2, 1)),
	      &cpu,
	      "(no name) 1000\n\\x1b[31m\\xe2\\x80\\xae 1000\n"
	      "a\\x3bb\\x0ac 5 1000\n");
}

static void nothing(void **state)
{
	struct pf_stacks_args args = gpu;
	struct pf_stacks_result result;
	struct pf_err err = { 0 };
	struct scene s;
	char *out;

	(void)state;
	scene_open(&s, TRACE(MAIN("cpu_op", "a", 0, 1)));
	args.out = out = support_path_take(s.dir, "out");
	s.db.err = &err;

	assert_int_equal(pf_stacks(&s.db, &args, stdout, &result), 0);
	assert_string_equal(result.nothing, "there is no GPU work; --weight "
					    "cpu shows the host");
	assert_int_equal(result.hint, PF_HINT_WORK);
	assert_int_equal(result.line_count, 0);
	free(out);
	scene_close(&s);
}

/* Sums of a tree of random stacks against those of its lines. */
static void random_tree(void **state)
{
	char *dir = support_tmp_take(), *path = support_path_take(dir, "out");
	struct stack_tree t;
	struct pf_err err = { 0 };
	static const struct pf_outrule rule = { .option = "--force" };
	struct pf_outfile *f;
	struct pf_buf text = { 0 };
	uint64_t seed = 11;
	int64_t sum = 0, lines = 0, added = 0;

	(void)state;
	stack_tree_init(&t);
	for (int i = 0; i < 5000; i++) {
		uint32_t node = STACK_ROOT;
		int64_t weight = (int64_t)(support_random(&seed) % 1000);

		for (uint64_t k = support_random(&seed) % 8 + 1; k > 0; k--) {
			char name = (char)('a' + support_random(&seed) % 3);
			uint32_t frame = stack_frame(&t, &name, 1);

			node = stack_child(&t, node, frame, &err);
		}
		stack_add(&t, node, weight);
		added += weight;
	}
	f = pf_outfile_open(path, &rule, stdout, &err);
	stack_print(&t, f, &err);
	pf_outfile_commit(f, &err);
	support_no_error(&err);
	pf_outfile_free(f);
	support_read(path, &text);
	for (char *p = text.data, *last = NULL, *end; (end = strchr(p, '\n'));
	     p = end + 1) {
		*end = '\0';
		sum += strtoll(strrchr(p, ' '), NULL, 10);
		*strrchr(p, ' ') = '\0';
		/* each once, and in order */
		if (last)
			assert_true(strcmp(last, p) < 0);
		last = p;
		lines++;
	}
	assert_int_equal(sum, added);
	assert_int_equal(t.total, added);
	assert_int_equal(lines, t.line_count);
	stack_tree_release(&t);
	pf_buf_release(&text);
	free(path);
	support_tmp_release(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_launch),
		cmocka_unit_test(by_range),
		cmocka_unit_test(windows_and_threads),
		cmocka_unit_test(crossing),
		cmocka_unit_test(idle),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(nothing),
		cmocka_unit_test(random_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
