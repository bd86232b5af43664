/* SPDX-License-Identifier: MIT */
/* Gaps with causes that were planted: each must be found, to the ns. */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/gaps.h"
#include "analysis/names.h"
#include "store/ingest.h"

#define HOST(cat, name, ts, dur)                                               \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": 1, \"tid\": 1, \"ts\": " #ts ", \"dur\": " #dur "},\n"
#define CALL(name, ts, dur, number)                                            \
	"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"" name         \
	"\", \"pid\": 1, \"tid\": 1, \"ts\": " #ts ", \"dur\": " #dur          \
	", \"args\": {\"correlation\": " #number "}},\n"
#define WORK(cat, name, ts, dur, stream, number)                               \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": 0, \"tid\": " #stream ", \"ts\": " #ts                   \
	", \"dur\": " #dur ", \"args\": {\"device\": 0, \"stream\": " #stream  \
	", \"correlation\": " #number "}},\n"
#define TRACE(events)                                                          \
	"{\"traceEvents\": [\n" events                                         \
	"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": "   \
	"{\"name\": \"python\"}}]}"

struct scene {
	char *dir, *trace, *path;
	struct pf_db db;
	struct pf_doc doc;
};

static void scene_open(struct scene *s, const char *json,
		       const struct pf_gaps_args *args)
{
	struct pf_ingest_options o = { .path_count = 1, .rank = -1 };
	struct pf_err err = { 0 };
	const char *paths[1];

	memset(s, 0, sizeof(*s));
	s->dir = support_tmp_take();
	s->trace = support_path_take(s->dir, "t.json");
	s->path = support_path_take(s->dir, "t.db");
	support_write(s->trace, json, strlen(json));
	paths[0] = s->trace;
	o.paths = paths;
	o.out = s->path;
	pf_ingest(&o, &err);
	support_no_error(&err);
	pf_db_open(&s->db, s->path, false, &err);
	support_no_error(&err);
	pf_gaps(&s->db, args, &s->doc, &err);
	support_no_error(&err);
}

static void scene_close(struct scene *s)
{
	pf_doc_release(&s->doc);
	pf_db_close(&s->db);
	support_tmp_release(s->dir);
	free(s->trace);
	free(s->path);
}

static const struct pf_gaps_args all = { .window = PF_WINDOW_DEFAULTS,
					 .limit = -1,
					 .micro_ns = PF_GAPS_MICRO_NS };

static const struct pf_table *table(const struct scene *s, const char *name)
{
	for (size_t i = 0; i < s->doc.table_count; i++)
		if (!strcmp(pf_table_name(s->doc.tables[i]), name))
			return s->doc.tables[i];
	fail_msg("no table '%s'", name);
	return NULL;
}

static const struct pf_cell *cell(const struct pf_table *t, size_t row,
				  const char *key)
{
	for (size_t i = 0; i < pf_table_col_count(t); i++)
		if (!strcmp(pf_table_cols(t)[i].key, key))
			return &pf_table_row(t, row)[i];
	fail_msg("no column '%s'", key);
	return NULL;
}

static int64_t scalar(const struct scene *s, const char *key)
{
	for (size_t i = 0; i < s->doc.scalar_count; i++)
		if (!strcmp(s->doc.scalars[i].col.key, key))
			return s->doc.scalars[i].cell.v.i;
	fail_msg("no scalar '%s'", key);
	return 0;
}

/* The cause has this much time in this many gaps; so has its first culprit. */
static void check_cause(const struct scene *s, const char *cause, int64_t ns,
			int64_t count, const char *culprit)
{
	const struct pf_table *t = table(s, "causes");
	const struct pf_table *c = table(s, "culprits");
	bool is_found = false;

	for (size_t i = 0; i < pf_table_row_count(t); i++) {
		if (strcmp(cell(t, i, "cause")->v.text.s, cause))
			continue;
		is_found = true;
		assert_int_equal(cell(t, i, "ns")->v.i, ns);
		assert_int_equal(cell(t, i, "count")->v.i, count);
	}
	if (!is_found)
		fail_msg("no cause '%s'", cause);
	for (size_t i = 0; culprit && i < pf_table_row_count(c); i++) {
		if (strcmp(cell(c, i, "cause")->v.text.s, cause))
			continue;
		assert_string_equal(cell(c, i, "culprit")->v.text.s, culprit);
		return;
	}
}

static void check_sum(const struct scene *s)
{
	const struct pf_table *t = table(s, "causes");
	int64_t sum = 0, recoverable = 0;

	for (size_t i = 0; i < pf_table_row_count(t); i++) {
		sum += cell(t, i, "ns")->v.i;
		recoverable += cell(t, i, "recoverable_ns")->v.i;
	}
	assert_int_equal(sum, scalar(s, "idle_ns"));
	assert_true(recoverable <= sum);
	assert_int_equal(scalar(s, "busy_ns") + sum, scalar(s, "window_ns"));
}

/* Work for 100 us each ms, launched 10 us before; between, 700 us of this. */
/* clang-format off */
static const char host_causes[] = TRACE(
	CALL("cudaLaunchKernel", 990, 5, 1)
	WORK("kernel", "k", 1000, 100, 7, 1)
	HOST("cuda_runtime", "cudaStreamSynchronize", 1200, 700)
	CALL("cudaLaunchKernel", 1990, 5, 2)
	WORK("kernel", "k", 2000, 100, 7, 2)
	HOST("cuda_runtime", "cudaMemcpy", 2200, 700)
	CALL("cudaLaunchKernel", 2990, 5, 3)
	WORK("kernel", "k", 3000, 100, 7, 3)
	HOST("cuda_runtime", "cudaMalloc", 3200, 700)
	CALL("cudaLaunchKernel", 3990, 5, 4)
	WORK("kernel", "k", 4000, 100, 7, 4)
	HOST("cuda_driver", "cuModuleLoadData", 4200, 700)
	CALL("cudaLaunchKernel", 4990, 5, 5)
	WORK("kernel", "k", 5000, 100, 7, 5)
	HOST("user_annotation", "enumerate(DataLoader)#x", 5200, 700)
	HOST("python_function", "data.py(7): read", 5200, 700)
	HOST("cpu_op", "aten::stack", 5300, 100)
	CALL("cudaLaunchKernel", 5990, 5, 6)
	WORK("kernel", "k", 6000, 100, 7, 6)
	HOST("python_function", "<built-in function collect>", 6200, 700)
	CALL("cudaLaunchKernel", 6990, 5, 7)
	WORK("kernel", "k", 7000, 100, 7, 7)
	HOST("user_annotation", "gloo:all_reduce", 7200, 700)
	CALL("cudaLaunchKernel", 7990, 5, 8)
	WORK("kernel", "k", 8000, 100, 7, 8)
	HOST("cuda_runtime", "cudaEventRecord", 8200, 700)
	CALL("cudaLaunchKernel", 8990, 5, 9)
	WORK("kernel", "k", 9000, 100, 7, 9)
	HOST("cpu_op", "aten::add", 9200, 700)
	CALL("cudaLaunchKernel", 9990, 5, 10)
	WORK("kernel", "k", 10000, 100, 7, 10)
	HOST("python_function", "train.py(12): loop", 10200, 700)
	HOST("python_function", "torch/nn/m.py(1): f", 10300, 100)
	CALL("cudaLaunchKernel", 10990, 5, 11)
	WORK("kernel", "k", 11000, 100, 7, 11)
	HOST("user_annotation", "phase", 11200, 700)
	CALL("cudaLaunchKernel", 11990, 5, 12)
	WORK("kernel", "k", 12000, 100, 7, 12)
	HOST("python_function",
	     "torch/_dynamo/convert_frame.py(5): _compile", 12200, 700)
	CALL("cudaLaunchKernel", 12990, 5, 13)
	WORK("kernel", "k", 13000, 100, 7, 13));
/* clang-format on */

static void test_host_causes(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, host_causes, &all);
	check_cause(&s, "sync", 700000, 1, "cudaStreamSynchronize");
	check_cause(&s, "blocking copy", 700000, 1, "cudaMemcpy");
	check_cause(&s, "allocator", 700000, 1, "cudaMalloc");
	check_cause(&s, "module load", 700000, 1, "cuModuleLoadData");
	check_cause(&s, "data loading", 700000, 1, NULL);
	check_cause(&s, "garbage collection", 700000, 1, NULL);
	check_cause(&s, "communication wait", 700000, 1, "gloo:all_reduce");
	check_cause(&s, "runtime", 700000, 1, "cudaEventRecord");
	check_cause(&s, "op overhead", 700000, 1, "aten::add");
	check_cause(&s, "python", 700000, 1, "train.py:12 loop");
	check_cause(&s, "annotation", 700000, 1, "phase");
	check_cause(&s, "compile", 700000, 1, NULL);
	check_cause(&s, "launch latency", 120000, 12, "cudaLaunchKernel");
	/* what is left of 890 us of host time */
	check_cause(&s, "unrecorded", 12 * 190000, 12, NULL);
	assert_int_equal(scalar(&s, "idle_ns"), 12 * 900000);
	/* no blocking call was open at a gap's start */
	assert_int_equal(scalar(&s, "drained_count"), 0);
	check_sum(&s);
	scene_close(&s);
}

static void test_device_causes(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		/* two streams: the second waits for the first */
		CALL("cudaLaunchKernel", 10, 5, 1)
		CALL("cudaLaunchKernel", 20, 5, 2)
		WORK("kernel", "a", 100, 100, 7, 1)
		WORK("kernel", "b", 230, 70, 8, 2)
		/* a graph of two on one stream */
		CALL("cudaGraphLaunch", 30, 5, 3)
		WORK("kernel", "g", 300, 50, 8, 3)
		WORK("kernel", "h", 370, 30, 8, 3)
		/* the same stream, launched in time */
		CALL("cudaLaunchKernel", 40, 5, 4)
		WORK("kernel", "c", 440, 60, 8, 4)
		/* no launch call */
		WORK("kernel", "d", 550, 50, 8, 99)
		/* too short to explain */
		WORK("kernel", "e", 603, 97, 8, 98));
	/* clang-format on */
	struct scene s;

	(void)state;
	scene_open(&s, json, &all);
	check_cause(&s, "dependency", 30000, 1, "a");
	check_cause(&s, "graph", 20000, 1, "cudaGraphLaunch");
	check_cause(&s, "device latency", 40000, 1, "c");
	check_cause(&s, "no launch record", 50000, 1, "d");
	check_cause(&s, "micro", 3000, 1, NULL);
	check_sum(&s);
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
		CALL("cudaLaunchKernel", 260, 5, 2)
		WORK("kernel", "k", 270, 30, 7, 2));
	/* clang-format on */
	struct scene s;

	(void)state;
	scene_open(&s, json, &all);
	check_cause(&s, "blocking copy", 10000, 1, "cudaMemcpyAsync");
	check_cause(&s, "unrecorded", 50000, 1, NULL);
	check_cause(&s, "launch latency", 10000, 1, "cudaLaunchKernel");
	assert_int_equal(scalar(&s, "drained_count"), 1);
	assert_int_equal(scalar(&s, "drained_ns"), 70000);
	check_sum(&s);
	scene_close(&s);
}

/* Idle time counts up to the edges of a window that was asked for. */
static void test_window(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		CALL("cudaLaunchKernel", 0, 5, 1)
		WORK("kernel", "k", 100, 100, 7, 1)
		CALL("cudaLaunchKernel", 500, 5, 2)
		WORK("kernel", "k", 600, 100, 7, 2));
	/* clang-format on */
	struct pf_gaps_args args = all;
	struct scene s;

	(void)state;
	args.window.from_ns = 50000;
	args.window.to_ns = 650000;
	scene_open(&s, json, &args);
	assert_int_equal(scalar(&s, "window_ns"), 600000);
	assert_int_equal(scalar(&s, "idle_ns"), 450000);
	assert_int_equal(scalar(&s, "gap_count"), 2);
	/* 50 us, queued before the window; then 300 us until the launch */
	check_cause(&s, "device latency", 50000, 1, NULL);
	check_cause(&s, "unrecorded", 300000, 1, NULL);
	check_cause(&s, "launch latency", 100000, 1, NULL);
	check_sum(&s);
	scene_close(&s);
}

/* A launch call that is open when the gap begins has queued nothing yet. */
static void test_slow_launch(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		CALL("cudaLaunchKernel", 10, 5, 1)
		WORK("kernel", "k", 100, 100, 7, 1)
		CALL("cudaLaunchKernel", 190, 300, 2)
		WORK("kernel", "k", 500, 100, 7, 2));
	/* clang-format on */
	struct scene s;

	(void)state;
	scene_open(&s, json, &all);
	check_cause(&s, "launch latency", 300000, 1, "cudaLaunchKernel");
	check_sum(&s);
	scene_close(&s);
}

#define ON(thread, cat, name, ts, dur)                                         \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": 1, \"tid\": " #thread ", \"ts\": " #ts                   \
	", \"dur\": " #dur "},\n"
#define CALL_ON(thread, ts, dur, number)                                       \
	"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": "                \
	"\"cudaLaunchKernel\", \"pid\": 1, \"tid\": " #thread ", \"ts\": " #ts \
	", \"dur\": " #dur ", \"args\": {\"correlation\": " #number "}},\n"
#define WORK_ON(device, name, ts, dur, stream, number)                         \
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name               \
	"\", \"pid\": " #device ", \"tid\": " #stream ", \"ts\": " #ts         \
	", \"dur\": " #dur ", \"args\": {\"device\": " #device                 \
	", \"stream\": " #stream ", \"correlation\": " #number "}},\n"

/* Nothing is recorded on the thread that launches: who else was at work? */
static void test_other_thread(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		CALL_ON(1, 0, 5, 1)
		WORK_ON(0, "k", 10, 90, 7, 1)
		/* the main thread's, which launched the work before */
		ON(1, "cpu_op", "aten::item", 200, 300)
		CALL_ON(2, 590, 5, 2)
		WORK_ON(0, "k", 600, 100, 7, 2)
		/* thread 2 launched before and after; 1 is the main thread */
		ON(1, "python_function", "train.py(3): f", 750, 100)
		ON(1, "cpu_op", "aten::add", 800, 20)
		CALL_ON(2, 890, 5, 3)
		WORK_ON(0, "k", 900, 100, 7, 3)
		/* another GPU's thread is not explained by them */
		CALL_ON(3, 1, 4, 4)
		WORK_ON(1, "k", 10, 90, 7, 4)
		CALL_ON(3, 890, 5, 5)
		WORK_ON(1, "k", 900, 100, 7, 5));
	/* clang-format on */
	struct scene s;

	(void)state;
	scene_open(&s, json, &all);
	check_cause(&s, "op overhead", 320000, 2, "aten::item");
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
		CALL_ON(1, 0, 5, 1)
		WORK_ON(0, "k", 10, 90, 7, 1)
		ON(1, "cuda_runtime", "cudaStreamSynchronize", 50, 60)
		/* another thread goes on: 5 us of work, then none */
		CALL_ON(2, 112, 4, 2)
		WORK_ON(0, "k", 120, 5, 7, 2)
		CALL_ON(1, 380, 5, 3)
		WORK_ON(0, "k", 400, 100, 7, 3));
	/* clang-format on */
	struct scene s;

	(void)state;
	scene_open(&s, json, &all);
	assert_int_equal(scalar(&s, "gap_count"), 2);
	assert_int_equal(scalar(&s, "drained_count"), 1);
	assert_int_equal(scalar(&s, "drained_ns"), 20000);
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
		CALL("cudaLaunchKernel", 10, 5, 1)
		WORK("kernel", "k", 100, 100, 7, 1)
		OVERHEAD("Lazy Function Loading", 150, 100)
		HOST("cpu_op", "aten::mm", 210, 90)
		OVERHEAD("Buffer Flush", 240, 20)
		CALL("cudaMemcpy", 310, 80, 9)
		OVERHEAD("Activity Buffer Request", 320, 20)
		OVERHEAD("Command Buffer Full", 345, 300)
		CALL("cudaLaunchKernel", 400, 90, 2)
		OVERHEAD("Lazy Function Loading", 450, 10)
		WORK("kernel", "k", 500, 100, 7, 2));
	/* clang-format on */
	struct scene s;

	(void)state;
	scene_open(&s, json, &all);
	/* 200 to 250, in no op and in one, and 10 of the launch */
	check_cause(&s, "module load", 60000, 1, "Lazy Function Loading");
	check_cause(&s, "profiler", 10000, 1, "Buffer Flush");
	check_cause(&s, "op overhead", 40000, 1, "aten::mm");
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
		CALL("cudaLaunchKernel", 10, 5, 1)
		CALL("cudaLaunchKernel", 20, 5, 2)
		CALL("cudaLaunchKernel", 30, 5, 3)
		CALL("cudaLaunchKernel", 40, 5, 4)
		CALL("cudaLaunchKernel", 50, 5, 5)
		WORK_ON(0, "a", 100, 100, 7, 1)
		WORK_ON(1, "peer", 100, 280, 7, 2)
		/* begins 20 us after the other GPU's work ends */
		WORK_ON(0, "b", 400, 100, 7, 3)
		/* the other stream's work ended too long ago to explain it */
		WORK_ON(0, "c", 540, 60, 8, 4)
		/* but it explains this */
		WORK_ON(0, "d", 620, 80, 7, 5));
	/* clang-format on */
	struct pf_gaps_args args = all;
	struct scene s;

	(void)state;
	args.window.device = 0;
	scene_open(&s, json, &args);
	assert_int_equal(pf_table_row_count(table(&s, "devices")), 1);
	check_cause(&s, "dependency", 220000, 2, "peer");
	check_sum(&s);
	scene_close(&s);
	scene_open(&s, json, &all);
	check_cause(&s, "dependency", 220000, 2, "peer");
	check_cause(&s, "device latency", 40000, 1, "c");
	check_sum(&s);
	scene_close(&s);
}

static void test_no_gpu(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(HOST("cpu_op", "aten::add", 1, 5));
	/* clang-format on */
	struct scene s;

	(void)state;
	scene_open(&s, json, &all);
	assert_int_equal(scalar(&s, "idle_ns"), 0);
	assert_int_equal(pf_table_row_count(table(&s, "gaps")), 0);
	assert_int_equal(s.doc.note_count, 1);
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
	assert_true(pf_name_classify("hipMemcpyAsync").is_async_copy);
	assert_int_equal(pf_name_classify("customSync").call, PF_CAUSE_RUNTIME);
	assert_int_equal(
		pf_name_classify(
			"torch/_dynamo/eval_frame.py(9): compile_wrapper")
			.range,
		PF_CAUSE_UNRECORDED);
	assert_true(pf_name_classify("a/b.py(1): f").is_user_python);
	assert_false(pf_name_classify("torch/a.py(1): f").is_user_python);
	assert_false(pf_name_classify("nn.Module: Linear_0").is_user_python);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_causes),
		cmocka_unit_test(test_device_causes),
		cmocka_unit_test(test_drained),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_slow_launch),
		cmocka_unit_test(test_other_thread),
		cmocka_unit_test(test_drained_once),
		cmocka_unit_test(test_overheads),
		cmocka_unit_test(test_dependencies),
		cmocka_unit_test(test_no_gpu),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
