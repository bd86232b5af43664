/* SPDX-License-Identifier: MIT */
/* Steps and launches of small traces, worked out by hand. */
#include "unit/events.h"
#include "unit/scene.h"

#include "analysis/time/steps.h"
#include "analysis/time/launches.h"

static void steps(struct scene *s)
{
	static const struct pf_steps_args args = { .window =
							   PF_WINDOW_DEFAULTS };

	pf_steps_answer(&s->db, &args, NULL, &s->doc);
	support_no_error(&s->err);
}

/* A cell of the table of steps, by key. */
static int64_t cell(const struct scene *s, size_t row, const char *key)
{
	const struct pf_cell *c = scene_cell(s, "steps", row, key);

	return c->type == PF_CELL_NULL ? -1 : c->v.i;
}

#define UNKNOWN (-1) /* nobody recorded such events */

/* Times in us of kernel, copy, memset, comm, runtime, data, cpu, other. */
static void check(const struct scene *s, size_t row, const int want[8])
{
	static const char *const keys[] = { "kernel_ns",  "copy_ns",
					    "memset_ns",  "comm_ns",
					    "runtime_ns", "data_ns",
					    "cpu_ns",     "other_ns" };
	int64_t sum = 0;

	for (size_t i = 0; i < 8; i++) {
		if (want[i] == UNKNOWN) {
			assert_int_equal(cell(s, row, keys[i]), -1);
			continue;
		}
		assert_int_equal(cell(s, row, keys[i]), want[i] * 1000);
		sum += want[i] * 1000;
	}
	assert_int_equal(cell(s, row, "dur_ns"), sum);
}

#define EXAMPLE                                                                \
	HOST("user_annotation", "ProfilerStep#4", 0, 100)                      \
	CALL("cudaLaunchKernel", 10, 15, 1)                                    \
	WORK("kernel", "k", 20, 40, 1, 1)                                      \
	WORK("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 55, 15, 2, 2)     \
	CALL("cudaMemcpyAsync", 58, 22, 3)                                     \
	OTHER("user_annotation",                                               \
	      "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",   \
	      0, 12)                                                           \
	HOST("cpu_op", "aten::a", 5, 85) HOST("cpu_op", "aten::b", 6, 10)

static void test_breakdown(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(EXAMPLE));
	steps(&s);
	check(&s, 0, (const int[]){ 40, 10, 0, 0, 20, 10, 10, 10 });
	assert_int_equal(cell(&s, 0, "step"), 4);
	assert_int_equal(cell(&s, 0, "busy_ns"), 50000);
	assert_int_equal(cell(&s, 0, "kernel_count"), 1);
	scene_close(&s);
}

static void test_communication_comes_after_copies(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(EXAMPLE WORK("kernel", "ncclKernel_AllReduce", 50,
					  25, 3, 5)));
	steps(&s);
	check(&s, 0, (const int[]){ 40, 10, 0, 5, 15, 10, 10, 10 });
	scene_close(&s);
}

/* What one GPU copies while another computes is no copying alone. */
static void test_copies_alone(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(KERNEL_ON(1, "k", 0, 20, 1, 1) WORK(
			       "gpu_memcpy", "Memcpy HtoD", 0, 80, 2, 2)));
	steps(&s);
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       "any GPU busy 100.00 %. Most of the time, "
			       "75.00 %, is in copies alone, while no "
			       "GPU computes"));
	scene_close(&s);
}

/* Work of the first step ends in the second, which begins then. */
static void test_extended_steps(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s,
		   TRACE(HOST("user_annotation", "ProfilerStep#1", 0,
			      50) HOST("user_annotation", "ProfilerStep#2", 50,
				       50) CALL("cudaLaunchKernel", 10, 5, 1)
				 CALL("cudaLaunchKernel", 60, 5,
				      2) WORK("kernel", "k", 40, 30, 1, 1)
					 WORK("kernel", "k", 70, 50, 1, 2)));
	steps(&s);
	check(&s, 0, (const int[]){ 30, 0, 0, 0, 5, 0, 0, 35 });
	check(&s, 1, (const int[]){ 50, 0, 0, 0, 0, 0, 0, 0 });
	assert_int_equal(cell(&s, 1, "is_partial"), 0);
	scene_close(&s);
}

#define TWO_STEPS                                                              \
	HOST("user_annotation", "ProfilerStep#1", 0, 50)                       \
	HOST("user_annotation", "ProfilerStep#2", 50, 30)                      \
	LAUNCH(10, 5, 1)                                                       \
	LAUNCH(60, 5, 2) KERNEL("k", 40, 10, 1, 1) KERNEL("k", 65, 15, 1, 2)

/* What was launched before the capture is no part of what a step takes. */
static void test_backlog(void **state)
{
	const char *said;
	struct scene s;

	(void)state;
	/* two streams at once: 20 us in which such work runs, and 5 before */
	scene_open(&s, TRACE(TWO_STEPS KERNEL("k", 5, 10, 1, 8)
				     KERNEL("k", 10, 15, 2, 9)));
	steps(&s);
	assert_int_equal(cell(&s, 0, "before_ns"), 25000);
	assert_int_equal(cell(&s, 1, "before_ns"), 0);
	scene_int(&s, NULL, 0, "backlog_ns", 25000);
	scene_int(&s, NULL, 0, "settled_mean_ns", 30000);
	scene_int(&s, NULL, 0, "mean_ns", 40000);
	said = pf_doc_find_finding(&s.doc);
	assert_non_null(strstr(said, "A step takes 30.000 us without the one "
				     "that is held up 25.000 us by GPU work "
				     "launched before the capture. "));
	scene_close(&s);
	/* below 1/20 of the step it is in the mean */
	scene_open(&s, TRACE(TWO_STEPS KERNEL("k", 0, 2, 1, 8)));
	steps(&s);
	assert_int_equal(cell(&s, 0, "before_ns"), 2000);
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       "A step takes 40.000 us: "));
	scene_close(&s);
	/* of one step it is said */
	scene_open(&s, TRACE(HOST("user_annotation", "ProfilerStep#1", 0, 50)
				     LAUNCH(10, 5, 1) KERNEL("k", 5, 10, 1, 8)
					     KERNEL("k", 40, 10, 1, 1)));
	steps(&s);
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       "A step takes 50.000 us (15.000 us of it pass "
			       "with GPU work launched before the capture): "));
	scene_close(&s);
}

#define STEP(number, ts, dur)                                                  \
	HOST("user_annotation", "ProfilerStep#" #number, ts, dur)

/* One long step makes the mean no usual one. */
static void test_skewed(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(STEP(1, 0, 40) STEP(2, 40, 10) STEP(3, 50, 10)
				     STEP(4, 60, 10) LAUNCH(0, 5, 1)
					     LAUNCH(40, 5, 2) LAUNCH(50, 5, 3)
						     KERNEL("k", 5, 10, 1, 1)));
	steps(&s);
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       "A step takes 20.000 us in the mean, 10.000 us "
			       "in the median: "));
	scene_close(&s);
}

/* Where functions are recorded, the largest part does not hide Python. */
static void test_python(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(HOST("user_annotation", "ProfilerStep#1", 0,
				  50) HOST("python_function", "a.py(1): f", 0,
					   50) LAUNCH(10, 5, 1)
				     HOST("cpu_op", "aten::a", 20, 5)
					     KERNEL("k", 40, 10, 1, 1)));
	steps(&s);
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       "in Python and all else outside of operators "
			       "and calls"));
	scene_close(&s);
	scene_open(&s, TRACE(HOST("user_annotation", "ProfilerStep#1", 0,
				  50) HOST("python_function", "a.py(1): f", 0,
					   50) LAUNCH(10, 5, 1)
				     HOST("cpu_op", "aten::a", 5, 30)
					     KERNEL("k", 40, 10, 1, 1)));
	steps(&s);
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       "in operators and ranges on the CPU, and Python "
			       "in them"));
	scene_close(&s);
}

static void test_no_steps(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(WORK("kernel", "k", 20, 30, 1, 1)));
	steps(&s);
	check(&s, 0,
	      (const int[]){ 30, 0, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, 0 });
	assert_int_equal(cell(&s, 0, "step"), -1);
	scene_close(&s);
}

/* Kernels with blocks per SM and occupancy: anchors worked by hand. */
#define SIZED(ts, dur, stream, number, blocks, occupancy, shared)              \
	WORK_WITH("kernel", "k" #number, ts, dur, stream, number,              \
		  ", \"shared memory\": " #shared                              \
		  ", \"blocks per SM\": " #blocks                              \
		  ", \"est. achieved occupancy %\": " #occupancy)
#define USAGE(shared)                                                          \
	TRACE(HOST("user_annotation", "ProfilerStep#1", 0, 40) CALL(           \
		"cudaLaunchKernel", 0, 1, 1) SIZED(0, 10, 1, 1, 0.6, 50, 0)    \
		      SIZED(5, 10, 2, 2, 0.7, 20, 0)                           \
			      SIZED(30, 4, 1, 3, 2.5, 0, shared))

static void test_usage(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, USAGE(1024));
	steps(&s);
	scene_real(&s, NULL, 0, "utilization_share", 0.475);
	scene_real(&s, NULL, 0, "sm_efficiency_share", 0.3875);
	scene_real(&s, NULL, 0, "occupancy_percent", 700.0 / 24);
	scene_real(&s, NULL, 0, "occupancy_known_share", 1);
	scene_real(&s, "steps", 0, "sm_efficiency_share", 0.3875);
	scene_real(&s, "devices", 0, "utilization_share", 0.475);
	scene_int(&s, "devices", 0, "kernel_ns", 24000);
	scene_close(&s);
	/* with so much shared memory 0 says nothing */
	scene_open(&s, USAGE(65536));
	steps(&s);
	scene_real(&s, NULL, 0, "sm_efficiency_share", 0.3875);
	scene_real(&s, NULL, 0, "occupancy_percent", 35);
	scene_real(&s, NULL, 0, "occupancy_known_share", 20.0 / 24);
	scene_close(&s);
}

/* Where one kernel has no blocks per SM, there is no efficiency. */
static void test_unknown_usage(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(SIZED(0, 10, 1, 1, 0.5, 50, 0)
				     WORK("kernel", "k", 20, 10, 1, 2)));
	steps(&s);
	scene_null(&s, NULL, 0, "sm_efficiency_share");
	scene_real(&s, NULL, 0, "occupancy_percent", 50);
	scene_real(&s, NULL, 0, "occupancy_known_share", 0.5);
	scene_close(&s);
}

/* Between whole steps counts; before, after and what is partial does not. */
static void test_window(void **state)
{
	struct scene s;

	(void)state;
	scene_open(
		&s,
		TRACE(HOST("user_annotation", "ProfilerStep#1", 10, 20) HOST(
			"user_annotation", "ProfilerStep#2", 40,
			20) HOST("user_annotation", "ProfilerStep#3", 60,
				 20) CALL("cudaLaunchKernel", 11, 1,
					  1) CALL("cudaLaunchKernel", 13, 1, 2)
			      CALL("cudaLaunchKernel", 41, 1, 3) CALL(
				      "cudaLaunchKernel", 43, 1,
				      4) CALL("cudaLaunchKernel", 61, 1,
					      5) SIZED(0, 12, 1, 9, 1, 10, 0)
				      SIZED(15, 5, 1, 1, 1, 10, 0) SIZED(
					      20, 5, 1, 2, 1, 10,
					      0) SIZED(32, 4, 1, 8, 1, 10, 0)
					      SIZED(45, 5, 1, 3, 1, 10, 0)
						      SIZED(50, 5, 1, 4, 1, 10,
							    0)
							      SIZED(65, 5, 1, 5,
								    1, 10, 0)));
	steps(&s);
	assert_int_equal(cell(&s, 2, "is_partial"), 1);
	scene_int(&s, "devices", 0, "window_ns", 50000);
	scene_int(&s, "devices", 0, "kernel_ns", 26000);
	scene_real(&s, NULL, 0, "sm_efficiency_share", 26.0 / 50);
	scene_real(&s, NULL, 0, "utilization_share", 26.0 / 50);
	scene_close(&s);
}

/* A call that reaches over the end of a step is no call of that step. */
static void test_crossing_call(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s,
		   TRACE(HOST("user_annotation", "ProfilerStep#1", 0,
			      50) HOST("user_annotation", "ProfilerStep#2", 50,
				       50) CALL("cudaLaunchKernel", 10, 40, 1)
				 CALL("cudaLaunchKernel", 45, 6,
				      2) WORK("kernel", "k", 60, 5, 1, 1)
					 WORK("kernel", "k", 70, 9, 1, 2)));
	steps(&s);
	assert_int_equal(cell(&s, 0, "dur_ns"), 65000);
	assert_int_equal(cell(&s, 1, "dur_ns"), 35000);
	scene_close(&s);
}

static void test_counts(void **state)
{
	struct scene s;

	(void)state;
	scene_open(
		&s,
		TRACE(HOST("user_annotation", "ProfilerStep#1", 0, 100) CALL(
			"cudaLaunchKernel", 1, 1,
			1) CALL("cudaStreamSynchronize", 10, 5,
				7) CALL("cudaMemcpyAsync", 20, 1,
					2) CALL("cudaMemcpyAsync", 22, 1,
						3) CALL("cudaMalloc", 30, 1, 8)
			      CALL("hipEventSynchronize", 40, 1,
				   9) CALL("cudaStreamSynchronize", 120, 5,
					   10) WORK("kernel", "k", 20, 5, 1, 1)
				      WORK_WITH("gpu_memcpy",
						"Memcpy HtoD (Pageable -> "
						"Device)",
						30, 2, 1, 2,
						", \"bytes\": 4000")
					      WORK_WITH("gpu_memcpy",
							"Memcpy HtoD (Pageable "
							"-> Device)",
							40, 2, 1, 3,
							", \"bytes\": 2000")
						      WORK("gpu_memcpy",
							   "Memcpy DtoH "
							   "(Device -> Pinned)",
							   110, 7, 1, 4)));
	steps(&s);
	assert_int_equal(cell(&s, 0, "launch_count"), 3);
	assert_int_equal(cell(&s, 0, "synchronize_count"), 2);
	assert_int_equal(cell(&s, 0, "htod_count"), 2);
	assert_int_equal(cell(&s, 0, "htod_bytes"), 6000);
	assert_int_equal(cell(&s, 0, "htod_ns"), 4000);
	assert_int_equal(cell(&s, 0, "dtoh_count"), 0);
	assert_int_equal(scene_row_count(&s, "copies"), 1);
	scene_text(&s, "copies", 0, "memory", "Pageable -> Device");
	scene_real(&s, "copies", 0, "gb_per_s", 1.5);
	scene_close(&s);
}

/* A TensorFlow range without a category. */
static void test_input_ops(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s,
		   TRACE(HOST("user_annotation", "ProfilerStep#1", 0, 100)
				 OTHER("", "IteratorGetNextOp::DoCompute", 10,
				       20) OTHER("", "SomethingElse", 50, 20)
					 WORK("kernel", "k", 20, 5, 1, 1)));
	steps(&s);
	check(&s, 0, (const int[]){ 5, 0, 0, 0, UNKNOWN, 15, 0, 80 });
	scene_close(&s);
}

/* Two calls, one with two kernels (a graph), and a kernel without a call. */
#define LAUNCHES                                                               \
	CALL("cudaLaunchKernel", 0, 10, 1)                                     \
	CALL("cudaGraphLaunch", 20, 60, 2)                                     \
	WORK("kernel", "k", 15, 4, 1, 1)                                       \
	WORK("kernel", "k", 75, 40, 1, 2)                                      \
	WORK("kernel", "k", 120, 30, 1, 2)                                     \
	WORK("kernel", "k", 200, 26, 1, 3)

static void test_launches(void **state)
{
	static const struct pf_launches_args args = {
		.window = PF_WINDOW_DEFAULTS,
	};
	const struct pf_cell *row;
	struct pf_err err = { 0 };
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(LAUNCHES));
	s.db.err = &err;

	pf_launches(&s.db, &args, NULL, &s.doc);
	support_no_error(&err);
	scene_int(&s, NULL, 0, "launch_count", 2);
	scene_int(&s, NULL, 0, "cpu_ns", 70000);
	/* long calls, which wait or load code, stand apart */
	scene_int(&s, NULL, 0, "slow_count", 1);
	scene_int(&s, NULL, 0, "slow_ns", 60000);
	scene_int(&s, NULL, 0, "median_cpu_ns", 35000);
	assert_non_null(strstr(pf_doc_find_finding(&s.doc),
			       ". The median call takes 35.000 us; 1 over 50 "
			       "us takes 60.000 us of 70.000 us in all: "
			       "cudaGraphLaunch"));
	scene_int(&s, NULL, 0, "early_count", 1);
	scene_int(&s, NULL, 0, "orphan_count", 1);
	assert_string_equal(s.doc.notes[0],
			    "1 GPU event (26.00 % of GPU time in the capture) "
			    "has no launch call");
	row = pf_table_row(s.doc.tables[0], 0);
	assert_string_equal(row[0].v.text.s, "cudaGraphLaunch");
	assert_int_equal(row[2].v.i, 60000);
	assert_int_equal(row[3].v.i, 70000);
	assert_int_equal(row[4].v.i, -5000);
	row = pf_table_row(s.doc.tables[0], 1);
	assert_int_equal(row[4].v.i, 5000);
	assert_int_equal(row[6].v.i, 1);
	/* what is negative counts at zero */
	scene_int(&s, "delays", 0, "from_ns", 0);
	scene_int(&s, "delays", 0, "count", 1);
	scene_int(&s, "delays", 0, "negative_count", 1);
	scene_int(&s, "delays", 3, "from_ns", 5000);
	scene_int(&s, "delays", 3, "count", 1);
	assert_int_equal(scene_row_count(&s, "delays"), 4);
	scene_text(&s, "slow_calls", 0, "call", "cudaGraphLaunch");
	scene_int(&s, "slow_calls", 0, "delay_ns", -5000);
	scene_int(&s, "slow_calls", 0, "gpu_ns", 70000);
	assert_int_equal(scene_row_count(&s, "slow_calls"), 1);
	scene_int(&s, NULL, 0, "short_kernel_count", 1);
	scene_text(&s, "short_kernels", 0, "op", "(none)");
	scene_close(&s);
}

/* Kernels of less than 10 us go to the operators that launched them. */
static void test_short_kernels(void **state)
{
	static const struct pf_launches_args args = {
		.window = PF_WINDOW_DEFAULTS,
	};
	struct pf_err err = { 0 };
	struct scene s;

	(void)state;
	scene_open(&s,
		   TRACE(MAIN("cpu_op", "aten::outer", 0, 90) CALL(
			   "cudaLaunchKernel", 1, 1,
			   1) MAIN("cpu_op", "aten::inner", 10,
				   20) CALL("cudaLaunchKernel", 11, 1, 2)
				 CALL("cudaLaunchKernel", 40, 1, 3) WORK(
					 "kernel", "k", 100, 9, 1,
					 1) WORK("kernel", "k", 110, 10, 1, 2)
					 WORK("kernel", "k", 120, 2, 1, 2)
						 WORK("kernel", "k", 130, 4, 1,
						      3) WORK("gpu_memset",
							      "Memset (Device)",
							      140, 1, 1, 3)));
	s.db.err = &err;

	pf_launches(&s.db, &args, NULL, &s.doc);
	support_no_error(&err);
	assert_int_equal(scene_row_count(&s, "short_kernels"), 2);
	scene_text(&s, "short_kernels", 0, "op", "aten::outer");
	scene_int(&s, "short_kernels", 0, "count", 2);
	scene_int(&s, "short_kernels", 0, "gpu_ns", 13000);
	scene_real(&s, "short_kernels", 0, "share", 0.5);
	scene_text(&s, "short_kernels", 1, "op", "aten::inner");
	scene_close(&s);
}

/* Ranges that nest and cross, one on another thread; "early" begins while the
 * GPU is still at the step before. */
#define RANGES                                                                 \
	MAIN("user_annotation", "ProfilerStep#1", 0, 100)                      \
	MAIN("user_annotation", "outer", 10, 40)                               \
	MAIN("user_annotation", "inner", 20, 10)                               \
	LAUNCH(22, 3, 1)                                                       \
	KERNEL("k", 80, 40, 1, 1)                                              \
	MAIN("user_annotation", "crosses", 45, 15)                             \
	OTHER("user_annotation", "elsewhere", 50, 40)                          \
	MAIN("user_annotation", "ProfilerStep#2", 105, 95)                     \
	MAIN("user_annotation", "early", 110, 20)                              \
	LAUNCH(150, 3, 2)                                                      \
	KERNEL("k", 160, 10, 1, 2)

struct part {
	const char *part, *range;
	int64_t step_us, host_us; /* host -1: null */
};

static void split(struct scene *s, const char *steps, const struct part *want,
		  size_t count)
{
	const struct pf_steps_args args = {
		.window = { .steps = steps,
			    .from_ns = -1,
			    .to_ns = -1,
			    .device = -1,
			    .trace = -1 },
		.by_range = true,
	};

	scene_clear(s);

	pf_steps_answer(&s->db, &args, NULL, &s->doc);
	support_no_error(&s->err);
	assert_int_equal(scene_row_count(s, "ranges"), count);
	for (size_t i = 0; i < count; i++) {
		scene_text(s, "ranges", i, "part", want[i].part);
		if (want[i].range)
			scene_text(s, "ranges", i, "range", want[i].range);
		scene_int(s, "ranges", i, "step_ns", want[i].step_us * 1000);
		if (want[i].host_us < 0)
			scene_null(s, "ranges", i, "host_ns");
		else
			scene_int(s, "ranges", i, "host_ns",
				  want[i].host_us * 1000);
	}
}

static void test_split_by_range(void **state)
{
	static const struct part want[] = {
		{ "outside", NULL, 120, 125 }, { "range", "outer", 25, 25 },
		{ "after", NULL, 20, -1 },     { "range", "crosses", 15, 15 },
		{ "range", "early", 10, 20 },  { "range", "inner", 10, 10 },
	};
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(RANGES));
	split(&s, NULL, want, 6);
	scene_int(&s, "ranges", 1, "count", 1);
	scene_int(&s, "ranges", 1, "work_count", 1);
	scene_int(&s, "ranges", 1, "busy_ns", 40000);
	scene_null(&s, "ranges", 3, "busy_ns");
	scene_null(&s, "ranges", 0, "count");
	scene_close(&s);
}

/* The range that is the step is no part of it; what is around it is. */
static void test_split_of_named_steps(void **state)
{
	static const struct part want[] = {
		{ "after", NULL, 70, -1 },
		{ "outside", NULL, 25, 25 },
		{ "range", "inner", 10, 10 },
		{ "range", "crosses", 5, 5 },
	};
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(RANGES));
	split(&s, "^outer$", want, 4);
	scene_close(&s);
}

/* Without steps: the thread on which ranges are open longest. */
static void test_split_without_steps(void **state)
{
	static const struct part want[] = {
		/* from the first range on; of the thread with most of them */
		{ "outside", NULL, 50, 50 },
		{ "range", "elsewhere", 40, 40 },
	};
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(MAIN("user_annotation", "short", 0, 10)
				     MAIN("cpu_op", "aten::a", 10, 80)
					     OTHER("user_annotation",
						   "elsewhere", 50, 40)));
	split(&s, NULL, want, 2);
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breakdown),
		cmocka_unit_test(test_communication_comes_after_copies),
		cmocka_unit_test(test_copies_alone),
		cmocka_unit_test(test_extended_steps),
		cmocka_unit_test(test_backlog),
		cmocka_unit_test(test_skewed),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_no_steps),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_unknown_usage),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_crossing_call),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_input_ops),
		cmocka_unit_test(test_launches),
		cmocka_unit_test(test_short_kernels),
		cmocka_unit_test(test_split_by_range),
		cmocka_unit_test(test_split_of_named_steps),
		cmocka_unit_test(test_split_without_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
