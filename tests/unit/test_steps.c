/* SPDX-License-Identifier: MIT */
/* Steps and launches of small traces, worked out by hand. */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/launches.h"
#include "analysis/steps.h"
#include "store/ingest.h"

#define RANGE(cat, name, ts, dur, pid, args)                                   \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": " #pid ", \"tid\": " #pid ", \"ts\": " #ts               \
	", \"dur\": " #dur ", \"args\": {" args "}},\n"
#define HOST(cat, name, ts, dur)  RANGE(cat, name, ts, dur, 9, "\"a\": 1")
#define OTHER(cat, name, ts, dur) RANGE(cat, name, ts, dur, 8, "\"a\": 1")
#define CALL(name, ts, dur, number)                                            \
	RANGE("cuda_runtime", name, ts, dur, 7, "\"correlation\": " #number)
#define WORK(cat, name, ts, dur, stream, number)                               \
	RANGE(cat, name, ts, dur, stream,                                      \
	      "\"device\": 0, \"stream\": " #stream                            \
	      ", \"correlation\": " #number)
#define TRACE(events)                                                          \
	"{\"baseTimeNanoseconds\": 1, \"traceEvents\": [\n" events             \
	"{\"ph\": \"i\", \"name\": \"x\", \"pid\": 9, \"tid\": 9, \"ts\": "    \
	"0}]}"

struct scene {
	char *dir, *trace, *path;
	struct pf_db db;
	struct pf_doc doc;
};

static void scene_open(struct scene *s, const char *json)
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
}

static void scene_close(struct scene *s)
{
	pf_doc_release(&s->doc);
	pf_db_close(&s->db);
	support_tmp_release(s->dir);
	free(s->trace);
	free(s->path);
}

static void steps(struct scene *s)
{
	static const struct pf_steps_args args = { .window =
							   PF_WINDOW_DEFAULTS };
	struct pf_err err = { 0 };

	pf_steps_answer(&s->db, &args, &s->doc, &err);
	support_no_error(&err);
}

/* A cell of the table of steps, by key. */
static int64_t cell(const struct scene *s, size_t row, const char *key)
{
	const struct pf_table *t = s->doc.tables[1];
	const struct pf_col *cols = pf_table_cols(t);

	assert_true(row < pf_table_row_count(t));
	for (size_t i = 0; i < pf_table_col_count(t); i++) {
		const struct pf_cell *c = &pf_table_row(t, row)[i];

		if (!strcmp(cols[i].key, key))
			return c->type == PF_CELL_NULL ? -1 : c->v.i;
	}
	fail_msg("no column %s", key);
	return 0;
}

/* Times in us of kernel, copy, memset, comm, runtime, data, cpu, other. */
static void check(const struct scene *s, size_t row, const int want[8])
{
	static const char *const keys[] = { "kernel_ns",  "copy_ns",
					    "memset_ns",  "comm_ns",
					    "runtime_ns", "data_ns",
					    "cpu_ns",     "other_ns" };
	int64_t sum = 0;

	for (size_t i = 0; i < 8; i++) {
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

static void test_no_steps(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(WORK("kernel", "k", 20, 30, 1, 1)));
	steps(&s);
	check(&s, 0, (const int[]){ 30, 0, 0, 0, 0, 0, 0, 20 });
	assert_int_equal(cell(&s, 0, "step"), -1);
	scene_close(&s);
}

static int64_t scalar(const struct scene *s, const char *key)
{
	for (size_t i = 0; i < s->doc.scalar_count; i++)
		if (!strcmp(s->doc.scalars[i].col.key, key))
			return s->doc.scalars[i].cell.v.i;
	fail_msg("no scalar %s", key);
	return 0;
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
	static const struct pf_launches_args args = { PF_WINDOW_DEFAULTS };
	const struct pf_cell *row;
	struct pf_err err = { 0 };
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(LAUNCHES));
	pf_launches(&s.db, &args, &s.doc, &err);
	support_no_error(&err);
	assert_int_equal(scalar(&s, "launch_count"), 2);
	assert_int_equal(scalar(&s, "cpu_ns"), 70000);
	assert_int_equal(scalar(&s, "slow_count"), 1);
	assert_int_equal(scalar(&s, "early_count"), 1);
	assert_int_equal(scalar(&s, "orphan_count"), 1);
	assert_string_equal(s.doc.notes[0],
			    "1 GPU events (26.00 % of GPU time) have no "
			    "launch call");
	row = pf_table_row(s.doc.tables[0], 0);
	assert_string_equal(row[0].v.text.s, "cudaGraphLaunch");
	assert_int_equal(row[2].v.i, 60000);
	assert_int_equal(row[3].v.i, 70000);
	assert_int_equal(row[4].v.i, -5000);
	row = pf_table_row(s.doc.tables[0], 1);
	assert_int_equal(row[4].v.i, 5000);
	assert_int_equal(row[6].v.i, 1);
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breakdown),
		cmocka_unit_test(test_communication_comes_after_copies),
		cmocka_unit_test(test_extended_steps),
		cmocka_unit_test(test_no_steps),
		cmocka_unit_test(test_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
