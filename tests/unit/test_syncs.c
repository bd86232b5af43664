/* SPDX-License-Identifier: MIT */
/* Sites of blocking calls of a trace whose figures were worked out by hand. */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/syncs.h"
#include "store/ingest.h"

#define HOST(cat, name, ts, dur, number)                                       \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": 1, \"tid\": 1, \"ts\": " #ts ", \"dur\": " #dur          \
	", \"args\": {\"correlation\": " #number "}},\n"
#define CALL(name, ts, dur, number) HOST("cuda_runtime", name, ts, dur, number)
#define WORK(cat, name, ts, dur, number)                                       \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": 0, \"tid\": 7, \"ts\": " #ts ", \"dur\": " #dur          \
	", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " #number \
	"}},\n"

/*
 * Two steps.  In each, aten::item waits from 50 to 210 of the step for work
 * that ends at 200; the next work starts at 300 of the first step and at 0 of
 * the second, so that the gaps are 100 and, before the last kernel, 100.
 */
/* clang-format off */
#define STEP(n, a, b, c, d, e, f, g, h, line)                                 \
	HOST("user_annotation", "ProfilerStep#" #n, a, 400, 0)                 \
	HOST("python_function", "train.py(" #line "): go", a, 400, 0)          \
	CALL("cudaLaunchKernel", b, 5, n##1)                                   \
	WORK("kernel", "k", c, 100, n##1)                                      \
	HOST("cpu_op", "aten::item", d, 170, 0)                                \
	HOST("cpu_op", "aten::_local_scalar_dense", d, 165, 0)                 \
	CALL("cudaStreamSynchronize", e, 160, 0)                               \
	CALL("cudaStreamQuery", f, 5, 0)                                       \
	CALL("cudaLaunchKernel", g, 5, n##2)                                   \
	WORK("kernel", "k", h, 50, n##2)
#define TRACE(line, more)                                                     \
	"{\"traceEvents\": [\n"                                                \
	STEP(1, 1000, 1010, 1100, 1045, 1050, 1220, 1280, 1300, line)          \
	STEP(2, 1500, 1510, 1600, 1545, 1550, 1720, 1780, 1800, line)          \
	more                                                                   \
	"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": "   \
	"{\"name\": \"python\"}}]}"
/* clang-format on */

static const char plain[] = TRACE(12, "");
static const char moved[] = TRACE(14, "");
static const char more[] = TRACE(12, CALL("cudaFree", 1880, 3, 0));

struct scene {
	char *dir, *trace, *path;
	struct pf_db db;
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
	pf_db_close(&s->db);
	support_tmp_release(s->dir);
	free(s->trace);
	free(s->path);
}

static const struct pf_syncs_args all = { .window = PF_WINDOW_DEFAULTS,
					  .max_per_step = -1,
					  .fail_on = -1 };

static const struct pf_cell *cell(const struct pf_doc *doc, size_t row,
				  const char *key)
{
	const struct pf_table *t = doc->tables[0];

	assert_string_equal(pf_table_name(t), "sites");
	for (size_t i = 0; i < pf_table_col_count(t); i++)
		if (!strcmp(pf_table_cols(t)[i].key, key))
			return &pf_table_row(t, row)[i];
	fail_msg("no column '%s'", key);
	return NULL;
}

static void test_site(void **state)
{
	struct pf_doc doc = { 0 };
	struct pf_err err = { 0 };
	struct scene s;
	bool is_failed = true;

	(void)state;
	scene_open(&s, plain);
	pf_syncs(&s.db, &all, &doc, &is_failed, &err);
	support_no_error(&err);
	assert_false(is_failed);
	assert_int_equal(pf_table_row_count(doc.tables[0]), 1);
	assert_string_equal(cell(&doc, 0, "call")->v.text.s,
			    "cudaStreamSynchronize");
	assert_string_equal(cell(&doc, 0, "op")->v.text.s,
			    "aten::_local_scalar_dense");
	assert_string_equal(cell(&doc, 0, "outer_op")->v.text.s, "aten::item");
	assert_string_equal(cell(&doc, 0, "frame")->v.text.s, "train.py:12 go");
	assert_int_equal(cell(&doc, 0, "count")->v.i, 2);
	assert_int_equal(cell(&doc, 0, "step_count")->v.i, 2);
	assert_int_equal(cell(&doc, 0, "blocked_ns")->v.i, 320000);
	assert_int_equal(cell(&doc, 0, "median_ns")->v.i, 160000);
	/* two gaps of 100 us; work is known from 1100 on */
	assert_int_equal(cell(&doc, 0, "idle_ns")->v.i, 200000);
	assert_int_equal(cell(&doc, 0, "drained_count")->v.i, 2);
	assert_int_equal(cell(&doc, 0, "useful_ns")->v.i, 200000);
	pf_doc_release(&doc);
	scene_close(&s);
}

static bool fails(struct scene *s, const struct pf_syncs_args *args)
{
	struct pf_doc doc = { 0 };
	struct pf_err err = { 0 };
	bool is_failed = false;

	pf_syncs(&s->db, args, &doc, &is_failed, &err);
	support_no_error(&err);
	pf_doc_release(&doc);
	return is_failed;
}

static void test_max_per_step(void **state)
{
	struct pf_syncs_args args = all;
	const char *allowed[] = { "aten::_local" };
	struct scene s;

	(void)state;
	scene_open(&s, more);
	args.max_per_step = 2;
	assert_false(fails(&s, &args));
	args.max_per_step = 1;
	assert_true(fails(&s, &args));
	args.allow.items = allowed;
	args.allow.count = 1;
	assert_false(fails(&s, &args));
	scene_close(&s);
}

static void test_baseline(void **state)
{
	struct pf_syncs_args args = all;
	struct pf_doc doc = { 0 };
	struct pf_err err = { 0 };
	struct scene base, same, new;
	bool is_failed;

	(void)state;
	scene_open(&base, plain);
	scene_open(&same, moved);
	scene_open(&new, more);
	args.fail_on = 0;
	assert_int_equal(pf_syncs(&same.db, &args, &doc, &is_failed, &err), -1);
	support_error(&err, PF_EUSAGE, "--baseline");
	pf_doc_release(&doc);
	args.baseline = base.path;
	assert_false(fails(&same, &args));
	assert_true(fails(&new, &args));
	args.baseline = new.path;
	assert_false(fails(&base, &args));
	scene_close(&base);
	scene_close(&same);
	scene_close(&new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_site),
		cmocka_unit_test(test_max_per_step),
		cmocka_unit_test(test_baseline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
