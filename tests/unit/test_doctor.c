/* SPDX-License-Identifier: MIT */
/* Faults planted in small traces, counted by hand. */
#include "unit/events.h"
#include "unit/scene.h"

#include <string.h>

#include "analysis/time/steps.h"
#include "analysis/trust/doctor.h"
#include "events/names.h"

static bool look(struct scene *s, int fail_on)
{
	struct pf_doctor_args args = { .fail_on = fail_on };
	bool is_failed = false;

	scene_clear(s);

	pf_doctor(&s->db, &args, NULL, &s->doc, &is_failed);
	support_no_error(&s->err);
	return is_failed;
}

static void doctor(struct scene *s, const char *json)
{
	scene_open(s, json);
	look(s, -1);
}

static const struct pf_cell *find(const struct scene *s, const char *check)
{
	const struct pf_table *t = s->doc.tables[0];

	for (size_t i = 0; i < pf_table_row_count(t); i++) {
		const struct pf_cell *row = pf_table_row(t, i);

		if (!strcmp(row[0].v.text.s, check))
			return row;
	}
	fail_msg("no check '%s'", check);
	return NULL;
}

/* ns -1: null. */
static void expect(const struct scene *s, const char *check, int64_t count,
		   int64_t ns, const char *verdict)
{
	const struct pf_cell *row = find(s, check);

	assert_int_equal(row[1].v.i, count);
	assert_int_equal(row[2].type == PF_CELL_NULL ? -1 : row[2].v.i, ns);
	assert_string_equal(row[4].v.text.s, verdict);
}

/*
 * Stream 1: one head orphan before its first launched work, one orphan after
 * it.  Stream 2: launched late, so the orphan at 30 ran before it.  Stream 3
 * has no launched work: what is before the trace's first is a head orphan.
 */
static void test_orphans(void **state)
{
	struct scene s;

	(void)state;
	doctor(&s,
	       TRACE(LAUNCH(10, 2, 1) LAUNCH(50, 2, 2) KERNEL("k", 5, 5, 1, 90)
			     KERNEL("k", 20, 10, 1, 1) KERNEL("k", 40, 7, 1, 91)
				     KERNEL("k", 30, 3, 2, 92) KERNEL("k", 60,
								      10, 2, 2)
					     KERNEL("k", 8, 2, 3, 93) KERNEL(
						     "k", 70, 13, 3, 94)));
	expect(&s, "launched before capture", 3, 10000, "bad");
	expect(&s, "no launch call", 2, 20000, "bad");
	expect(&s, "no operator", 2, 20000, "note");
	assert_true(scene_has_note(&s, "warm up"));
	scene_close(&s);
	/* nothing is linked: there is no head */
	doctor(&s, TRACE(KERNEL("k", 5, 5, 1, 90) KERNEL("k", 9, 5, 2, 91)));
	expect(&s, "launched before capture", 0, 0, "ok");
	expect(&s, "no launch call", 2, 10000, "bad");
	expect(&s, "no runtime calls", 1, -1, "warn");
	assert_true(scene_has_note(&s, "ProfilerActivity.CPU"));
	scene_close(&s);
}

static void test_launches(void **state)
{
	struct scene s;

	(void)state;
	doctor(&s, TRACE(LAUNCH(10, 2, 1) CALL("cuLaunchKernel", 11, 1, 1) CALL(
			   "hipLaunchKernel", 20, 2,
			   2) CALL("cudaLaunchHostFunc", 30, 2,
				   3) CALL("cudaMemcpyAsync", 40, 2,
					   4) CALL("cudaMemsetAsync", 45, 2, 5)
				 CALL("cudaStreamSynchronize", 50, 2, 6)
					 KERNEL("k", 20, 10, 1, 1)
						 KERNEL("c", 41, 10, 1, 5)));
	expect(&s, "launches without GPU work", 1, -1, "bad");
	expect(&s, "copies without GPU work", 1, -1, "note");
	expect(&s, "no GPU activity", 0, -1, "ok");
	scene_close(&s);
	/* launches, but no record of any: the capture failed */
	doctor(&s, TRACE(LAUNCH(10, 2, 1)));
	expect(&s, "no GPU activity", 1, -1, "bad");
	assert_true(scene_has_note(&s, "another profiler"));
	scene_close(&s);
	/* a synchronization launches nothing */
	doctor(&s, TRACE(CALL("cudaDeviceSynchronize", 10, 2, 1)));
	expect(&s, "no GPU activity", 1, -1, "note");
	assert_true(scene_has_note(&s, "ProfilerActivity.CUDA"));
	scene_close(&s);
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(pf_name_classify("cudaLaunchKernelExC").launches,
			 PF_LAUNCHES_KERNEL);
	assert_int_equal(pf_name_classify("hipExtModuleLaunchKernel").launches,
			 PF_LAUNCHES_KERNEL);
	assert_int_equal(pf_name_classify("cudaGraphLaunch").launches,
			 PF_LAUNCHES_KERNEL);
	assert_int_equal(pf_name_classify("hipMemcpyWithStream").launches,
			 PF_LAUNCHES_COPY);
	assert_int_equal(pf_name_classify("cuLaunchHostFunc").launches,
			 PF_LAUNCHES_NONE);
	assert_int_equal(pf_name_classify("cudaMemGetInfo").launches,
			 PF_LAUNCHES_NONE);
	assert_int_equal(pf_name_classify("").launches, PF_LAUNCHES_NONE);
}

static void test_clocks(void **state)
{
	struct scene s;

	(void)state;
	doctor(&s, TRACE(LAUNCH(100, 2, 1) LAUNCH(200, 2, 2) LAUNCH(300, 2, 3)
				 KERNEL("k", 99.5, 10, 1, 1)
					 KERNEL("k", 190, 9.999, 1, 2)
						 KERNEL("k", 300, 10, 1, 3)));
	expect(&s, "work before its launch", 2, 19999, "bad");
	expect(&s, "clock problems", 1, 9999, "bad");
	expect(&s, "whole microseconds", 0, -1, "ok");
	assert_true(scene_has_note(&s, "at most 10.000 us"));
	scene_close(&s);
	/* whole microseconds; an end at the call's start is no contradiction */
	doctor(&s, "{\"traceEvents\": [\n" LAUNCH(100, 2, 1)
			   KERNEL("k", 90, 10, 1, 1) "{}]}");
	expect(&s, "work before its launch", 1, 10000, "bad");
	expect(&s, "clock problems", 0, 0, "ok");
	expect(&s, "whole microseconds", 1, -1, "note");
	scene_close(&s);
}

static void test_overlaps(void **state)
{
	struct scene s;

	(void)state;
	/* 0-10, 5-12, 6-8 and 12-12 on stream 1; other streams do not count */
	doctor(&s,
	       TRACE(KERNEL("k", 0, 10, 1, 1) KERNEL("k", 5, 7, 1, 2) KERNEL(
		       "k", 6, 2, 1, 3) KERNEL("k", 12, 0, 1, 4)
			     KERNEL("k", 12, 8, 1, 5) KERNEL("k", 1, 9, 2, 6)));
	expect(&s, "overlaps on one stream", 2, 7000, "warn");
	expect(&s, "GPU work of no length", 1, 0, "bad");
	scene_close(&s);
}

static void test_host(void **state)
{
	struct scene s;

	(void)state;
	/*
	 * b and e cross a; c is within; d begins where a ends; f is empty.
	 * The second b is a duplicate, the third differs in its arguments.
	 */
	doctor(&s, TRACE(HOST("cpu_op", "a", 0, 100) HOST(
			   "cpu_op", "b", 50, 100) HOST("cpu_op", "b", 50, 100)
				 RANGE("cpu_op", "b", 50, 100, 9, 9,
				       "\"a\": 2") HOST("cpu_op", "c", 10, 5)
					 HOST("cpu_op", "d", 150, 20) HOST(
						 "cpu_op", "f", 160,
						 0) HOST("overhead", "o", 200,
							 10) HOST("overhead",
								  "o", 205, 10)
						 HOST("mine", "u", 300, 700)));
	expect(&s, "crossing ranges", 4, -1, "bad");
	expect(&s, "duplicates", 1, 0, "bad");
	expect(&s, "profiler overhead", 2, -1, "note");
	expect(&s, "unknown categories", 1, -1, "note");
	assert_true(scene_has_note(&s, "15.000 us"));
	scene_close(&s);
}

/* A step begins within the profiler's step() and ends within the next one. */
static void test_step_in_profiler(void **state)
{
	struct scene s;

	(void)state;
	doctor(&s, TRACE(HOST("python_function", "profiler.py(1): step", 0,
			      20) HOST("user_annotation", "ProfilerStep#1", 10,
				       100) HOST("cpu_op", "a", 30, 10)
				 HOST("python_function", "profiler.py(1): step",
				      100, 20)));
	expect(&s, "crossing ranges", 0, -1, "ok");
	scene_close(&s);
	doctor(&s, TRACE(HOST("cpu_op", "a", 0, 20) HOST("cpu_op", "b", 10, 20)
				 HOST("cpu_op", "c", 40, 1)));
	assert_string_equal(pf_doc_find_finding(&s.doc),
			    "Of 47 checks 1 is bad: ranges of a thread cross "
			    "each other (33.33 % of host ranges)");
	scene_close(&s);
}

static void test_absent_ranks(void **state)
{
	struct scene s;

	(void)state;
	doctor(&s, TRACE_WITH(RANK(2), HOST("cpu_op", "a", 0, 20)));
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       ". But 3 of 4 ranks are in no trace"));
	scene_close(&s);
}

#define LONE(dur)                                                              \
	OTHER("user_annotation", "ProfilerStep#1", 0, dur)                     \
	MAIN("cpu_op", "a", 10, 60) LAUNCH(20, 5, 1) KERNEL("k", 100, 10, 1, 1)

/* From 10 to 110 something else is recorded. */
static void test_lone_steps(void **state)
{
	struct pf_steps_args args = { 0 };
	struct scene s;

	(void)state;
	doctor(&s, TRACE(LONE(1000)));
	expect(&s, "steps beyond the work", 1, -1, "warn");
	scene_clear(&s);
	/* and what says how long a step takes says no more */
	args.window = (struct pf_window_args)PF_WINDOW_DEFAULTS;
	assert_int_equal(pf_steps_answer(&s.db, &args, NULL, &s.doc), 0);
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       "which is not what a step takes"));
	scene_close(&s);
	doctor(&s, TRACE(LONE(999)));
	expect(&s, "steps beyond the work", 0, -1, "ok");
	scene_close(&s);
	doctor(&s, TRACE(LONE(1000) OTHER("cpu_op", "b", 5, 1)));
	expect(&s, "steps beyond the work", 0, -1, "ok");
	scene_close(&s);
}

#define COUNTED(ts)                                                            \
	WORK("cuda_profiler_range", "k", ts, 50, 0, 0) LAUNCH(ts, 50, 1)

static void test_counters(void **state)
{
	struct scene s;

	(void)state;
	doctor(&s, TRACE(COUNTED(0) COUNTED(50)));
	expect(&s, "counters kernel by kernel", 2, -1, "bad");
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       ": counters were read kernel by kernel, so"));
	scene_close(&s);
	doctor(&s, TRACE(COUNTED(0)));
	expect(&s, "counters kernel by kernel", 0, -1, "ok");
	scene_close(&s);
}

static void test_gpu_duplicates(void **state)
{
	struct scene s;

	(void)state;
	doctor(&s,
	       TRACE(KERNEL("k", 0, 10, 1, 1) KERNEL("j", 0, 10, 1, 2)
			     KERNEL("k", 0, 10, 1, 1) KERNEL("k", 0, 10, 2, 1)
				     KERNEL("k", 0, 10, 1, 3)
					     KERNEL("k", 0, 10, 1, 1)));
	expect(&s, "duplicates", 2, 20000, "bad");
	scene_close(&s);
}

/* Who calls itself begins and ends with its caller, where begins are apart. */
#define SAMPLED(ph)                                                            \
	"{\"ph\": \"" ph                                                       \
	"\", \"cat\": \"py-spy\", \"name\": \"f\", \"pid\": 1, "               \
	"\"tid\": 1, \"ts\": "

static void test_recursion_is_no_duplicate(void **state)
{
	struct scene s;

	(void)state;
	doctor(&s, TRACE(SAMPLED("B") "10}," SAMPLED("B") "10}," SAMPLED(
			   "E") "20}," SAMPLED("E") "20},"));
	expect(&s, "duplicates", 0, 0, "ok");
	scene_close(&s);
}

static void test_reading(void **state)
{
	struct scene s;

	(void)state;
	doctor(&s, "{\"traceEvents\": [\n" HOST("cpu_op", "a", 1, -5)
			   HOST("cpu_op", "b", 2, 5) "{\"ph\": \"X\", "
						     "\"name\": \"c\"},\n"
						     "{\"ph\": \"X\", \"na");
	expect(&s, "truncated", 1, -1, "bad");
	expect(&s, "negative durations", 1, -1, "bad");
	expect(&s, "lost events", 0, -1, "ok");
	expect(&s, "events without a time", 1, -1, "bad");
	assert_true(scene_has_note(&s, "trace 1 ends at byte "));
	assert_non_null(strstr(s.doc.scalars[0].cell.v.text.s, "is cut off"));
	scene_close(&s);
}

/* What a sane file cannot show: the counts of the database are changed. */
static void test_counts(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(HOST("cpu_op", "a", 1, 5)));
	scene_change(&s, "UPDATE trace SET stored_count = 1000000,"
			 " event_count = 1000003;"
			 "INSERT INTO trace_fact VALUES"
			 " (1, 'averages_too_deep', 3)");
	look(&s, -1);
	expect(&s, "event cap", 1, -1, "bad");
	expect(&s, "lost events", 3, -1, "bad");
	expect(&s, "nested too deep", 3, -1, "warn");
	scene_close(&s);
}

static void test_ranks(void **state)
{
	struct scene s;

	(void)state;
	scene_open_two(&s, TRACE_WITH(RANK(0), HOST("cpu_op", "a", 1, 5)),
		       TRACE_WITH(RANK(2), HOST("cpu_op", "a", 1, 5)));
	look(&s, -1);
	expect(&s, "ranks missing", 2, -1, "note");
	assert_true(scene_has_note(&s, "2 of the world"));
	scene_close(&s);
	scene_open_two(&s, TRACE_WITH(RANK(1), HOST("cpu_op", "a", 1, 5)),
		       TRACE_WITH(RANK(1), HOST("cpu_op", "a", 1, 5)));
	look(&s, -1);
	expect(&s, "ranks missing", 4, -1, "warn");
	scene_close(&s);
	scene_open_two(&s, TRACE_WITH(RANK(1), HOST("cpu_op", "a", 1, 5)),
		       TRACE(HOST("cpu_op", "a", 1, 5)));
	look(&s, -1);
	expect(&s, "ranks missing", 3, -1, "warn");
	scene_close(&s);
	doctor(&s, TRACE(HOST("cpu_op", "a", 1, 5)));
	expect(&s, "ranks missing", 0, -1, "ok");
	scene_close(&s);
}

static void test_options(void **state)
{
	struct scene s;

	(void)state;
	doctor(&s, TRACE(HOST("cpu_op", "a", 1, 5)));
	expect(&s, "no stacks", 1, -1, "note");
	expect(&s, "no shapes", 1, -1, "note");
	expect(&s, "no memory", 1, -1, "note");
	expect(&s, "no steps", 1, -1, "note");
	assert_true(scene_has_note(&s, "with_stack=True"));
	assert_true(scene_has_note(&s, "record_shapes=True"));
	assert_true(scene_has_note(&s, "profile_memory=True"));
	scene_close(&s);
	doctor(&s, TRACE(HOST("python_function", "f.py(1): f", 1, 9) HOST(
			   "user_annotation", "ProfilerStep#1", 1,
			   9) RANGE("cpu_op", "a", 2, 3, 9, 9,
				    "\"Input Dims\": [[1]]") "{\"ph\": \"i\", "
							     "\"name\": "
							     "\"[memory]\", "
							     "\"pid\": 9, "
							     "\"tid\": 9, "
							     "\"ts\": 3, "
							     "\"args\": "
							     "{\"Bytes\": "
							     "1}},"));
	expect(&s, "no stacks", 0, -1, "ok");
	expect(&s, "no shapes", 0, -1, "ok");
	expect(&s, "no memory", 0, -1, "ok");
	expect(&s, "no steps", 0, -1, "ok");
	scene_close(&s);
}

static void test_gate(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(HOST("cpu_op", "a", 0, 50)));
	assert_false(look(&s, 0));
	scene_close(&s);
	/* overlaps warn, and are never bad */
	scene_open(&s, TRACE(LAUNCH(1, 1, 1) LAUNCH(2, 1, 2) KERNEL(
			       "k", 10, 10, 1, 1) KERNEL("k", 15, 10, 1, 2)));
	assert_true(look(&s, 0));
	assert_false(look(&s, 1));
	scene_close(&s);
	scene_open(&s, TRACE(KERNEL("k", 10, 10, 1, 1)));
	assert_true(look(&s, 1));
	assert_false(look(&s, -1));
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_launches),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_lone_steps),
		cmocka_unit_test(test_step_in_profiler),
		cmocka_unit_test(test_absent_ranks),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_gpu_duplicates),
		cmocka_unit_test(test_recursion_is_no_duplicate),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
