/* SPDX-License-Identifier: MIT */
/* Gaps with causes that were planted: each must be found, to the ns. */
#include "unit/events.h"
#include "unit/scene.h"

#include <string.h>

#include "analysis/idle/gaps.h"
#include "analysis/time/overlap.h"
#include "events/names.h"

static const struct pf_gaps_args all = { .window = PF_WINDOW_DEFAULTS,
					 .limit = -1,
					 .micro_ns = PF_GAPS_MICRO_NS };

static void gaps(struct scene *s, const char *json,
		 const struct pf_gaps_args *args)
{

	scene_open(s, json);

	pf_gaps(&s->db, args, NULL, &s->doc);
	support_no_error(&s->err);
}

static int64_t scalar(const struct scene *s, const char *key)
{
	return scene_cell(s, NULL, 0, key)->v.i;
}

/* The cause has this much time in this many gaps; so has its first culprit. */
static void check_cause(const struct scene *s, const char *cause, int64_t ns,
			int64_t count, const char *culprit)
{
	bool is_found = false;

	for (size_t i = 0; i < scene_row_count(s, "causes"); i++) {
		if (strcmp(scene_cell(s, "causes", i, "cause")->v.text.s,
			   cause))
			continue;
		is_found = true;
		scene_int(s, "causes", i, "ns", ns);
		scene_int(s, "causes", i, "count", count);
	}
	if (!is_found)
		fail_msg("no cause '%s'", cause);
	for (size_t i = 0; culprit && i < scene_row_count(s, "culprits"); i++) {
		if (strcmp(scene_cell(s, "culprits", i, "cause")->v.text.s,
			   cause))
			continue;
		scene_text(s, "culprits", i, "culprit", culprit);
		return;
	}
}

static void check_sum(const struct scene *s)
{
	int64_t sum = 0, recoverable = 0;

	for (size_t i = 0; i < scene_row_count(s, "causes"); i++) {
		sum += scene_cell(s, "causes", i, "ns")->v.i;
		recoverable +=
			scene_cell(s, "causes", i, "recoverable_ns")->v.i;
	}
	scene_int(s, NULL, 0, "idle_ns", sum);
	assert_true(recoverable <= sum);
	assert_int_equal(scalar(s, "busy_ns") + sum, scalar(s, "window_ns"));
}

/* Work for 100 us each ms, launched 10 us before; between, 700 us of this. */
/* clang-format off */
static const char host_causes[] = TRACE(
	LAUNCH(990, 5, 1)
	KERNEL("k", 1000, 100, 7, 1)
	MAIN("cuda_runtime", "cudaStreamSynchronize", 1200, 700)
	LAUNCH(1990, 5, 2)
	KERNEL("k", 2000, 100, 7, 2)
	MAIN("cuda_runtime", "cudaMemcpy", 2200, 700)
	LAUNCH(2990, 5, 3)
	KERNEL("k", 3000, 100, 7, 3)
	MAIN("cuda_runtime", "cudaMalloc", 3200, 700)
	LAUNCH(3990, 5, 4)
	KERNEL("k", 4000, 100, 7, 4)
	MAIN("cuda_driver", "cuModuleLoadData", 4200, 700)
	LAUNCH(4990, 5, 5)
	KERNEL("k", 5000, 100, 7, 5)
	MAIN("user_annotation", "enumerate(DataLoader)#x", 5200, 700)
	MAIN("python_function", "data.py(7): read", 5200, 700)
	MAIN("cpu_op", "aten::stack", 5300, 100)
	LAUNCH(5990, 5, 6)
	KERNEL("k", 6000, 100, 7, 6)
	MAIN("python_function", "<built-in function collect>", 6200, 700)
	LAUNCH(6990, 5, 7)
	KERNEL("k", 7000, 100, 7, 7)
	MAIN("user_annotation", "gloo:all_reduce", 7200, 700)
	LAUNCH(7990, 5, 8)
	KERNEL("k", 8000, 100, 7, 8)
	MAIN("cuda_runtime", "cudaEventRecord", 8200, 700)
	LAUNCH(8990, 5, 9)
	KERNEL("k", 9000, 100, 7, 9)
	MAIN("cpu_op", "aten::add", 9200, 700)
	LAUNCH(9990, 5, 10)
	KERNEL("k", 10000, 100, 7, 10)
	MAIN("python_function", "train.py(12): loop", 10200, 700)
	MAIN("python_function", "torch/nn/m.py(1): f", 10300, 100)
	LAUNCH(10990, 5, 11)
	KERNEL("k", 11000, 100, 7, 11)
	MAIN("user_annotation", "phase", 11200, 700)
	LAUNCH(11990, 5, 12)
	KERNEL("k", 12000, 100, 7, 12)
	MAIN("python_function",
	     "torch/_dynamo/convert_frame.py(5): _compile", 12200, 700)
	LAUNCH(12990, 5, 13)
	KERNEL("k", 13000, 100, 7, 13));
/* clang-format on */

static void test_host_causes(void **state)
{
	struct scene s;

	(void)state;
	gaps(&s, host_causes, &all);
	check_cause(&s, "sync", 700000, 1, "cudaStreamSynchronize");
	check_cause(&s, "blocking copy", 700000, 1, "cudaMemcpy");
	check_cause(&s, "allocator", 700000, 1, "cudaMalloc");
	check_cause(&s, "first use", 700000, 1, "cuModuleLoadData");
	check_cause(&s, "data loading", 700000, 1, NULL);
	check_cause(&s, "garbage collection", 700000, 1, NULL);
	check_cause(&s, "communication wait", 700000, 1, "gloo:all_reduce");
	check_cause(&s, "runtime", 700000, 1, "cudaEventRecord");
	check_cause(&s, "operators", 700000, 1, "aten::add");
	check_cause(&s, "python", 700000, 1, "train.py:12 loop");
	check_cause(&s, "range", 700000, 1, "phase");
	check_cause(&s, "compile", 700000, 1, NULL);
	check_cause(&s, "launch latency", 120000, 12, "cudaLaunchKernel");
	/* what is left of 890 us of host time */
	check_cause(&s, "unrecorded", 12 * 190000, 12, NULL);
	scene_int(&s, NULL, 0, "idle_ns", 12 * 900000);
	/* no blocking call was open at a gap's start */
	scene_int(&s, NULL, 0, "drained_count", 0);
	check_sum(&s);
	scene_close(&s);
}

static void test_device_causes(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		/* two streams: the second waits for the first */
		LAUNCH(10, 5, 1)
		LAUNCH(20, 5, 2)
		KERNEL("a", 100, 100, 7, 1)
		KERNEL("b", 230, 70, 8, 2)
		/* a graph of two on one stream */
		CALL("cudaGraphLaunch", 30, 5, 3)
		KERNEL("g", 300, 50, 8, 3)
		KERNEL("h", 370, 30, 8, 3)
		/* the same stream, launched in time */
		LAUNCH(40, 5, 4)
		KERNEL("c", 440, 60, 8, 4)
		/* no launch call */
		KERNEL("d", 550, 50, 8, 99)
		/* too short to explain */
		KERNEL("e", 603, 97, 8, 98));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	check_cause(&s, "dependency", 30000, 1, "a");
	check_cause(&s, "graph", 20000, 1, "cudaGraphLaunch");
	check_cause(&s, "queued behind", 40000, 1, "c");
	check_cause(&s, "no launch record", 50000, 1, "d");
	check_cause(&s, "micro", 3000, 1, NULL);
	check_sum(&s);
	scene_close(&s);
}

/*
 * The host is at work before what no call launches, unless that waits since
 * before the capture; and what loads code inside a launch call is no launching.
 */
static void test_orphans(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		MAIN("cpu_op", "aten::relu", 50, 350)
		KERNEL("early", 100, 100, 7, 97)
		KERNEL("later", 300, 100, 7, 98)
		LAUNCH(395, 5, 1)
		KERNEL("a", 410, 90, 7, 1)
		MAIN("cpu_op", "aten::fft", 520, 360)
		KERNEL("copy", 900, 100, 7, 99)
		LAUNCH(1010, 280, 2)
		MAIN("overhead", "Runtime Triggered Module Loading", 1020, 230)
		KERNEL("a", 1300, 100, 7, 2));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	check_cause(&s, "no launch record", 100000, 1, "later");
	check_cause(&s, "operators", 360000, 1, "aten::fft");
	check_cause(&s, "first use", 230000, 1,
		    "Runtime Triggered Module Loading");
	check_sum(&s);
	scene_close(&s);
}

/* What was launched before the capture waits for what was, too. */
static void test_queued_orphan(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		MAIN("cpu_op", "aten::relu", 50, 3000)
		KERNEL("early", 100, 100, 7, 97)
		KERNEL("later", 2200, 100, 7, 98)
		LAUNCH(2395, 5, 1)
		KERNEL("a", 2410, 90, 7, 1));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	check_cause(&s, "queued behind", 2000000, 1, "later");
	check_sum(&s);
	scene_close(&s);
}

/* Work of accelerators that are no GPUs of CUDA or ROCm; remarks are none. */
static void test_other_accelerators(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		RANGE("mtia_runtime", "runFunction", 90, 120, 9, 7,
		      "\"correlation\": 1")
		WORK("mtia_ccp_events", "add-dtype_Float", 100, 100, 7, 1)
		RANGE("mtia_ccp_events", "dma_request", 300, 50, 0, 8,
		      "\"direction\": \"DEVICE_TO_HOST\"")
		RANGE("mtia_insight", "remark", 100, 800, 0, 8, "")
		RANGE("hpu_op", "gemm", 400, 100, 0, 9, ""));
	/* clang-format on */
	struct pf_overlap_args args = { PF_WINDOW_DEFAULTS };
	struct pf_err err = { 0 };
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	scene_int(&s, NULL, 0, "window_ns", 400000);
	scene_int(&s, NULL, 0, "busy_ns", 250000);
	check_cause(&s, "unrecorded", 90000, 1, NULL);
	check_cause(&s, "no launch record", 50000, 1, "gemm");
	check_cause(&s, "runtime", 10000, 1, "runFunction");
	check_sum(&s);
	scene_clear(&s);
	s.db.err = &err;

	pf_overlap(&s.db, &args, NULL, &s.doc);
	support_no_error(&err);
	scene_int(&s, NULL, 0, "computation_ns", 200000);
	scene_int(&s, NULL, 0, "exposed_copy_ns", 50000);
	scene_close(&s);
}

/* A call that was open when the work ended, and a copy that waits. */
static void test_drained(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		CALL("cudaMemcpyAsync", 10, 200, 1)
		WORK("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)",
		     100, 100, 7, 1)
		LAUNCH(260, 5, 2)
		KERNEL("k", 270, 30, 7, 2));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	check_cause(&s, "blocking copy", 10000, 1, "cudaMemcpyAsync");
	check_cause(&s, "unrecorded", 50000, 1, NULL);
	check_cause(&s, "launch latency", 10000, 1, "cudaLaunchKernel");
	scene_int(&s, NULL, 0, "drained_count", 1);
	scene_int(&s, NULL, 0, "drained_ns", 70000);
	check_sum(&s);
	scene_close(&s);
}

/* Idle time counts up to the edges of a window that was asked for. */
static void test_window(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		LAUNCH(0, 5, 1)
		KERNEL("k", 100, 100, 7, 1)
		LAUNCH(500, 5, 2)
		KERNEL("k", 600, 100, 7, 2));
	/* clang-format on */
	struct pf_gaps_args args = all;
	struct scene s;

	(void)state;
	args.window.from_ns = 50000;
	args.window.to_ns = 650000;
	gaps(&s, json, &args);
	scene_int(&s, NULL, 0, "window_ns", 600000);
	scene_int(&s, NULL, 0, "idle_ns", 450000);
	scene_int(&s, NULL, 0, "gap_count", 2);
	/* 50 us, queued before the window; then 300 us until the launch */
	check_cause(&s, "queued behind", 50000 + 45000, 2, NULL);
	check_cause(&s, "unrecorded", 300000, 1, NULL);
	check_cause(&s, "launch latency", 55000, 1, NULL);
	check_sum(&s);
	scene_close(&s);
}

/* A launch call that is open when the gap begins has queued nothing yet. */
static void test_slow_launch(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		LAUNCH(10, 5, 1)
		KERNEL("k", 100, 100, 7, 1)
		LAUNCH(190, 300, 2)
		KERNEL("k", 500, 100, 7, 2));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	check_cause(&s, "launch latency", 300000, 1, "cudaLaunchKernel");
	check_sum(&s);
	scene_close(&s);
}

/* What is queued and does not begin soon waits: for what, if calls say it. */
static void test_wait_after_launch(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		LAUNCH(90, 5, 1)
		KERNEL("k", 100, 100, 7, 1)
		/* stream 7 waits for an event, of which nothing is known */
		CALL("hipStreamWaitEvent", 220, 4, 90)
		CALL("hipLaunchKernel", 230, 10, 2)
		KERNEL("k", 700, 100, 7, 2)
		/* nothing says what it waits for; the call was before this */
		CALL("hipLaunchKernel", 850, 10, 3)
		KERNEL("k", 1200, 100, 7, 3)
		/* a call that is open at the end of work, and returns */
		CALL("cudaStreamWaitEvent", 1290, 2, 91)
		LAUNCH(1295, 10, 4)
		KERNEL("k", 1400, 100, 7, 4));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	check_cause(&s, "launch latency", 60000 + 60000 + 55000, 3, NULL);
	check_cause(&s, "dependency", (700 - 290 + 1400 - 1355) * 1000, 2,
		    "hipStreamWaitEvent");
	check_cause(&s, "queued behind", 290000, 1, "k");
	check_cause(&s, "unrecorded", 20000 + 6000 + 50000, 2, NULL);
	check_sum(&s);
	scene_close(&s);
}

/* The first launch of a kernel loads its code, and takes far longer. */
static void test_first_launch(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		LAUNCH(90, 5, 1)
		KERNEL("a", 100, 10, 7, 1)
		LAUNCH(110, 5, 2)
		KERNEL("b", 120, 10, 7, 2)
		LAUNCH(130, 30000, 3)
		KERNEL("c", 30140, 10, 7, 3)
		/* not the first, not far longer, not a kernel */
		LAUNCH(30150, 1000, 4)
		KERNEL("c", 31160, 10, 7, 4)
		LAUNCH(31170, 40, 5)
		KERNEL("d", 31220, 10, 7, 5)
		CALL("cudaMemcpyAsync", 31230, 1000, 6)
		WORK("gpu_memcpy", "Memcpy DtoD (Device -> Device)",
		     32240, 10, 7, 6));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	check_cause(&s, "first use", 30000000, 1, "cudaLaunchKernel");
	check_cause(&s, "launch latency", (10 + 10 + 1010 + 50 + 1010) * 1000,
		    5, NULL);
	check_sum(&s);
	scene_close(&s);
}

static const char *finding(const struct scene *s)
{
	return scene_cell(s, NULL, 0, "finding")->v.text.s;
}

/* Many small pieces: what holds them together, not the largest of them. */
static void test_inside(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		LAUNCH(90, 5, 1)
		KERNEL("k", 100, 10, 7, 1)
		MAIN("cpu_op", "DDP.forward", 110, 480)
		MAIN("cpu_op", "a1", 111, 39)
		LAUNCH(150, 1, 2)
		KERNEL("k", 152, 8, 7, 2)
		MAIN("cpu_op", "a2", 161, 39)
		LAUNCH(200, 1, 3)
		KERNEL("k", 202, 8, 7, 3)
		MAIN("cpu_op", "a3", 211, 39)
		LAUNCH(250, 1, 4)
		KERNEL("k", 252, 8, 7, 4)
		MAIN("cpu_op", "a4", 261, 39)
		LAUNCH(300, 1, 5)
		KERNEL("k", 302, 288, 7, 5)
		/* not in it */
		MAIN("cpu_op", "c", 600, 60)
		LAUNCH(661, 1, 6)
		KERNEL("k", 662, 8, 7, 6));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	/* 4 of 42 us of 240: the rest is 72 us */
	assert_non_null(strstr(finding(&s),
			       "% of that idle is in operators on the CPU"));
	assert_non_null(
		strstr(finding(&s),
		       ". Of all idle time 70.00 % is inside DDP.forward"));
	check_sum(&s);
	scene_close(&s);
}

/* A long operator on the CPU is no launching; a short one is, and calls are. */
/*
 * A short call lets the GPU run dry, a long one of another name follows: the
 * long one is named.  If it is the short one again, that is.
 */
static void test_other_call(void **state)
{
#define DRAINED_THEN(call)                                                     \
	TRACE(LAUNCH(10, 5, 1) KERNEL("k", 100, 100, 7, 1)                     \
		      MAIN("cuda_runtime", "cudaHostAlloc", 190,               \
			   20) MAIN("cuda_runtime", call, 300, 600)            \
			      MAIN("cuda_runtime", "cudaGetDevice", 910, 60)   \
				      LAUNCH(980, 5, 2)                        \
					      KERNEL("k", 1000, 100, 7, 2))
	struct scene s;

	(void)state;
	gaps(&s, DRAINED_THEN("cudaFree"), &all);
	assert_non_null(strstr(finding(&s), "in the allocator, cudaFree"));
	scene_close(&s);
	gaps(&s, DRAINED_THEN("cudaHostAlloc"), &all);
	assert_non_null(strstr(finding(&s), "in or after cudaHostAlloc"));
	scene_close(&s);
#undef DRAINED_THEN
}

static void test_launching(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		LAUNCH(90, 5, 1)
		KERNEL("k", 100, 100, 7, 1)
		MAIN("cpu_op", "aten::copy_", 210, 20000)
		LAUNCH(20290, 5, 2)
		KERNEL("k", 20300, 100, 7, 2)
		MAIN("cpu_op", "aten::add", 20410, 80)
		LAUNCH(20480, 5, 3)
		KERNEL("k", 20500, 100, 7, 3));
	/* clang-format on */
	struct pf_gaps g = { 0 };
	struct pf_err err = { 0 };
	struct scene s;

	(void)state;
	scene_open(&s, json);
	s.db.err = &err;

	pf_gaps_find(&s.db, &all, &g);
	support_no_error(&err);
	assert_int_equal(g.launching_ns, 10000 + 70000 + 20000);
	pf_gaps_release(&g);
	scene_close(&s);
}

/* The capture begins long before the first GPU work, or in a wait. */
static void test_beginning(void **state)
{
	/* clang-format off */
	static const char cold[] = TRACE(
		MAIN("cpu_op", "aten::to", 10, 5000)
		CALL("cudaGetDeviceCount", 20, 4000, 9)
		LAUNCH(5990, 5, 1)
		KERNEL("k", 6000, 100, 7, 1)
		LAUNCH(6110, 5, 2)
		KERNEL("k", 6120, 100, 7, 2));
	static const char waiting[] = TRACE(
		LAUNCH(1, 5, 1)
		KERNEL("k", 10, 100, 7, 1)
		CALL("cudaStreamWaitEvent", 12, 2, 90)
		LAUNCH(20, 5, 2)
		KERNEL("k", 9000, 100, 8, 2));
	static const char two[] = TRACE(
		MAIN("cpu_op", "aten::to", 10, 5000)
		LAUNCH(5990, 5, 1)
		KERNEL_ON(1, "k", 6000, 100, 7, 1)
		LAUNCH(6110, 5, 2)
		KERNEL_ON(0, "k", 6120, 100, 7, 2));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, cold, &all);
	scene_int(&s, NULL, 0, "window_ns", 220000);
	scene_int(&s, NULL, 0, "before_ns", 5990000);
	scene_int(&s, NULL, 0, "before_most_ns", 4000000);
	scene_text(&s, NULL, 0, "before_culprit", "cudaGetDeviceCount");
	assert_non_null(
		strstr(finding(&s),
		       "5.990 ms pass before the first GPU work, "
		       "66.78 % of it in first uses, which load code or "
		       "start the driver, cudaGetDeviceCount in aten::to"));
	scene_close(&s);
	/* it passes once, however many GPUs wait */
	gaps(&s, two, &all);
	scene_int(&s, NULL, 0, "before_ns", 5990000);
	scene_int(&s, "devices", 0, "device", 0);
	scene_int(&s, "devices", 1, "device", 1);
	assert_non_null(strstr(finding(&s),
			       "5.990 ms pass before the first GPU work, "
			       "83.47 % of it in operators on the CPU"));
	scene_close(&s);
	gaps(&s, waiting, &all);
	scene_int(&s, NULL, 0, "head_wait_ns", 8890000);
	check_cause(&s, "queued behind", 8890000, 1, "k");
	scene_int(&s, "causes", 0, "recoverable_ns", 0);
	assert_non_null(strstr(finding(&s),
			       "A stream waits there for what began before "
			       "the capture (cudaStreamWaitEvent); --from "
			       "9000us leaves that out"));
	assert_true(scene_has_note(&s, "enable_cuda_sync_events"));
	scene_close(&s);
}

/* Before a graph's first node it is not between nodes. */
static void test_graph_nodes(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		LAUNCH(90, 5, 1)
		CALL("cudaGraphLaunch", 96, 5, 2)
		KERNEL("k", 110, 100, 7, 1)
		KERNEL("g", 300, 50, 8, 2)
		KERNEL("h", 370, 30, 8, 2));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	check_cause(&s, "queued behind", 90000, 1, "g");
	check_cause(&s, "graph", 20000, 1, "cudaGraphLaunch");
	check_sum(&s);
	scene_close(&s);
}

/* Nothing is recorded on the thread that launches: who else was at work? */
static void test_other_thread(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		CALL_ON(1, "cudaLaunchKernel", 0, 5, 1)
		KERNEL_ON(0, "k", 10, 90, 7, 1)
		/* the main thread's, which launched the work before */
		HOST_ON(1, "cpu_op", "aten::item", 200, 300)
		CALL_ON(2, "cudaLaunchKernel", 590, 5, 2)
		KERNEL_ON(0, "k", 600, 100, 7, 2)
		/* thread 2 launched before and after; 1 is the main thread */
		HOST_ON(1, "python_function", "train.py(3): f", 750, 100)
		HOST_ON(1, "cpu_op", "aten::add", 800, 20)
		CALL_ON(2, "cudaLaunchKernel", 890, 5, 3)
		KERNEL_ON(0, "k", 900, 100, 7, 3)
		/* another GPU's thread is not explained by them */
		CALL_ON(3, "cudaLaunchKernel", 1, 4, 4)
		KERNEL_ON(1, "k", 10, 90, 7, 4)
		CALL_ON(3, "cudaLaunchKernel", 890, 5, 5)
		KERNEL_ON(1, "k", 900, 100, 7, 5));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	check_cause(&s, "operators", 320000, 2, "aten::item");
	check_cause(&s, "python", 80000, 1, "train.py:3 f");
	/* 100 to 200 and 500 to 590; 700 to 750 and 850 to 890; 790 */
	check_cause(&s, "unrecorded", (100 + 90 + 50 + 40 + 790) * 1000, 3,
		    NULL);
	check_sum(&s);
	scene_close(&s);
}

/* A call that drained the GPU once has nothing to do with the next gap. */
static void test_drained_once(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		CALL_ON(1, "cudaLaunchKernel", 0, 5, 1)
		KERNEL_ON(0, "k", 10, 90, 7, 1)
		HOST_ON(1, "cuda_runtime", "cudaStreamSynchronize", 50, 60)
		/* another thread goes on: 5 us of work, then none */
		CALL_ON(2, "cudaLaunchKernel", 112, 4, 2)
		KERNEL_ON(0, "k", 120, 5, 7, 2)
		CALL_ON(1, "cudaLaunchKernel", 380, 5, 3)
		KERNEL_ON(0, "k", 400, 100, 7, 3));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	scene_int(&s, NULL, 0, "gap_count", 2);
	scene_int(&s, NULL, 0, "drained_count", 1);
	scene_int(&s, NULL, 0, "drained_ns", 20000);
	check_sum(&s);
	scene_close(&s);
}

/* Records of the driver and the profiler, which belong to no thread. */
static void test_overheads(void **state)
{
#define OVERHEAD(name, ts, dur)                                                \
	"{\"ph\": \"X\", \"cat\": \"overhead\", \"name\": \"" name             \
	"\", \"pid\": -1, \"tid\": 0, \"ts\": " #ts ", \"dur\": " #dur "},\n"
	/* clang-format off */
	static const char json[] = TRACE(
		LAUNCH(10, 5, 1)
		KERNEL("k", 100, 100, 7, 1)
		OVERHEAD("Lazy Function Loading", 150, 100)
		MAIN("cpu_op", "aten::mm", 210, 90)
		OVERHEAD("Buffer Flush", 240, 20)
		CALL("cudaMemcpy", 310, 80, 9)
		OVERHEAD("Activity Buffer Request", 320, 20)
		OVERHEAD("Command Buffer Full", 345, 300)
		LAUNCH(400, 90, 2)
		OVERHEAD("Lazy Function Loading", 450, 10)
		KERNEL("k", 500, 100, 7, 2));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	/* 200 to 250, in no op and in one, and 10 of the launch */
	check_cause(&s, "first use", 60000, 1, "Lazy Function Loading");
	check_cause(&s, "profiler", 10000, 1, "Buffer Flush");
	check_cause(&s, "operators", 40000, 1, "aten::mm");
	/* what waits is not what the profiler held up */
	check_cause(&s, "blocking copy", 80000, 1, "cudaMemcpy");
	check_cause(&s, "launch latency", 90000, 1, NULL);
	check_sum(&s);
	scene_close(&s);
}

/* Launched in time: what another GPU or stream did just before. */
static void test_dependencies(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		LAUNCH(10, 5, 1)
		LAUNCH(20, 5, 2)
		LAUNCH(30, 5, 3)
		LAUNCH(40, 5, 4)
		LAUNCH(50, 5, 5)
		KERNEL_ON(0, "a", 100, 100, 7, 1)
		KERNEL_ON(1, "peer", 100, 280, 7, 2)
		/* begins 20 us after the other GPU's work ends */
		KERNEL_ON(0, "b", 400, 100, 7, 3)
		/* the other stream's work ended too long ago to explain it */
		KERNEL_ON(0, "c", 540, 60, 8, 4)
		/* but it explains this */
		KERNEL_ON(0, "d", 620, 80, 7, 5));
	/* clang-format on */
	struct pf_gaps_args args = all;
	struct scene s;

	(void)state;
	args.window.device = 0;
	gaps(&s, json, &args);
	assert_int_equal(scene_row_count(&s, "devices"), 1);
	check_cause(&s, "dependency", 220000, 2, "peer");
	check_sum(&s);
	scene_close(&s);
	gaps(&s, json, &all);
	check_cause(&s, "dependency", 220000, 2, "peer");
	check_cause(&s, "queued behind", 40000, 1, "c");
	check_sum(&s);
	scene_close(&s);
}

static void test_no_gpu(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(MAIN("cpu_op", "aten::add", 1, 5));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	scene_int(&s, NULL, 0, "idle_ns", 0);
	assert_int_equal(scene_row_count(&s, "gaps"), 0);
	assert_int_equal(s.doc.note_count, 1);
	scene_close(&s);
}

/* People read short names of kernels; programs have them whole. */
static void test_short_names(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		KERNEL("void at::a<int>(int)", 0, 100, 7, 1)
		KERNEL("void at::b<at::F>(int*)", 200, 100, 7, 2));
	/* clang-format on */
	struct scene s;

	(void)state;
	gaps(&s, json, &all);
	scene_text(&s, "culprits", 0, "culprit", "void at::b<at::F>(int*)");
	scene_text(&s, "culprits", 0, "short_culprit", "b<F>");
	scene_text(&s, "gaps", 0, "short_culprit", "b<F>");
	scene_text(&s, "gaps", 0, "before", "void at::a<int>(int)");
	scene_text(&s, "gaps", 0, "short_before", "a<int>");
	scene_text(&s, "gaps", 0, "short_after", "b<F>");
	scene_close(&s);
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(pf_name_classify("hipStreamSynchronize").call,
			 PF_CAUSE_SYNC);
	assert_true(pf_name_classify("hipFree").is_blocking);
	assert_false(pf_name_classify("cudaFreeAsync").is_blocking);
	assert_false(pf_name_classify("cudaMemGetInfo").is_blocking);
	assert_true(pf_name_classify("hipMemcpyAsync").waits_by_memory);
	assert_true(pf_name_classify("hipMemcpy").is_blocking);
	assert_true(pf_name_classify("cudaMemset").waits_by_memory);
	assert_false(pf_name_classify("hipMemset").is_blocking);
	assert_false(pf_name_classify("cuMemsetD8Async").waits_by_memory);
	assert_int_equal(pf_name_classify("customSync").call, PF_CAUSE_RUNTIME);
	assert_int_equal(
		pf_name_classify(
			"torch/_dynamo/eval_frame.py(9): compile_wrapper")
			.range,
		PF_CAUSE_UNRECORDED);
	assert_true(pf_name_classify("a/b.py(1): f").is_user_python);
	assert_false(pf_name_classify("torch/a.py(1): f").is_user_python);
	assert_false(pf_name_classify("nn.Module: Linear_0").is_user_python);
	assert_true(pf_name_is_whole_graph("CUDA graph 12"));
	assert_true(pf_name_is_whole_graph("graph 3"));
	assert_false(pf_name_is_whole_graph("graph "));
	assert_false(pf_name_is_whole_graph("graph 3d kernel"));
	assert_false(pf_name_is_whole_graph("CUDA kernel 3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_causes),
		cmocka_unit_test(test_device_causes),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_queued_orphan),
		cmocka_unit_test(test_other_accelerators),
		cmocka_unit_test(test_drained),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_slow_launch),
		cmocka_unit_test(test_wait_after_launch),
		cmocka_unit_test(test_first_launch),
		cmocka_unit_test(test_other_call),
		cmocka_unit_test(test_launching),
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_short_names),
		cmocka_unit_test(test_beginning),
		cmocka_unit_test(test_graph_nodes),
		cmocka_unit_test(test_other_thread),
		cmocka_unit_test(test_drained_once),
		cmocka_unit_test(test_overheads),
		cmocka_unit_test(test_dependencies),
		cmocka_unit_test(test_no_gpu),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
