/* SPDX-License-Identifier: MIT */
/* Allocations that were planted: every figure must be right to the byte. */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/usage.h"
#include "store/ingest.h"

#define RANGE(cat, name, tid, ts, dur)                                         \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": 1, \"tid\": " #tid ", \"ts\": " #ts ", \"dur\": " #dur   \
	"},\n"
#define RECORD(tid, ts, type, id, args)                                        \
	"{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", "       \
	"\"name\": \"[memory]\", \"pid\": 1, \"tid\": " #tid ", \"ts\": " #ts  \
	", \"args\": {\"Device Type\": " #type ", \"Device Id\": " #id         \
	", " args "}},\n"
#define GPU(tid, ts, bytes, addr, total, reserved)                             \
	RECORD(tid, ts, 1, 0,                                                  \
	       "\"Bytes\": " #bytes ", \"Addr\": " #addr                       \
	       ", \"Total Allocated\": " #total                                \
	       ", \"Total Reserved\": " #reserved)
#define CPU(tid, ts, bytes, addr, total)                                       \
	RECORD(tid, ts, 0, -1,                                                 \
	       "\"Bytes\": " #bytes ", \"Addr\": " #addr                       \
	       ", \"Total Allocated\": " #total ", \"Total Reserved\": 0")
#define OLD(ts, bytes) RECORD(1, ts, 1, 0, "\"Bytes\": " #bytes)
#define TRACE(events)                                                          \
	"{\"deviceProperties\": [{\"id\": 0, \"totalGlobalMem\": 100000}], "   \
	"\"traceEvents\": [\n" events                                          \
	"{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": "   \
	"{\"name\": \"python\"}}]}"

struct scene {
	char *dir, *trace, *path;
	struct pf_db db;
	struct pf_doc doc;
};

static const struct pf_usage_args all = { .window = PF_WINDOW_DEFAULTS,
					  .points = 4,
					  .events = true };

static void scene_open(struct scene *s, const char *json,
		       const struct pf_usage_args *args)
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
	pf_usage(&s->db, args, &s->doc, &err);
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

static const struct pf_table *table(const struct scene *s, const char *name)
{
	for (size_t i = 0; i < s->doc.table_count; i++)
		if (!strcmp(pf_table_name(s->doc.tables[i]), name))
			return s->doc.tables[i];
	fail_msg("no table '%s'", name);
	return NULL;
}

static const struct pf_cell *cell(const struct scene *s, const char *name,
				  size_t row, const char *key)
{
	const struct pf_table *t = table(s, name);

	assert_true(row < pf_table_row_count(t));
	for (size_t i = 0; i < pf_table_col_count(t); i++)
		if (!strcmp(pf_table_cols(t)[i].key, key))
			return &pf_table_row(t, row)[i];
	fail_msg("no column '%s'", key);
	return NULL;
}

static void is_int(const struct scene *s, const char *name, size_t row,
		   const char *key, int64_t want)
{
	const struct pf_cell *c = cell(s, name, row, key);

	if (c->type != PF_CELL_INT || c->v.i != want)
		fail_msg("%s, row %zu: %s is %lld, not %lld", name, row, key,
			 c->type == PF_CELL_INT ? (long long)c->v.i : -999,
			 (long long)want);
}

static void is_null(const struct scene *s, const char *name, size_t row,
		    const char *key)
{
	assert_int_equal(cell(s, name, row, key)->type, PF_CELL_NULL);
}

static void is_text(const struct scene *s, const char *name, size_t row,
		    const char *key, const char *want)
{
	assert_int_equal(cell(s, name, row, key)->type, PF_CELL_TEXT);
	assert_string_equal(cell(s, name, row, key)->v.text.s, want);
}

static bool has_note(const struct scene *s, const char *part)
{
	for (size_t i = 0; i < s->doc.note_count; i++)
		if (strstr(s->doc.notes[i], part))
			return true;
	return false;
}

/* clang-format off */
/* 1000 bytes from before, of which 200 are freed; 700 more at the peak. */
static const char training[] = TRACE(
	RANGE("python_function", "train.py(7): step", 1, 0, 1000)
	RANGE("cpu_op", "aten::linear", 1, 100, 100)
	RANGE("cpu_op", "aten::empty", 1, 110, 10)
	GPU(1, 115, 300, 4096, 1300, 5000)
	GPU(1, 150, -200, 64, 1100, 5000)
	RANGE("cpu_op", "aten::relu", 1, 300, 50)
	GPU(1, 310, 400, 8192, 1500, 6000)
	CPU(1, 320, 50, 4096, 50)
	GPU(1, 400, -300, 4096, 1200, 6000)
	RANGE("cpu_op", "aten::linear", 1, 500, 100)
	GPU(1, 510, 100, 4096, 1300, 4000)
	GPU(1, 700, -400, 8192, 900, 4000));
/* clang-format on */

static void peak_and_alive(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, training, &all);
	assert_int_equal(pf_table_row_count(table(&s, "devices")), 2);
	is_text(&s, "devices", 0, "device", "GPU 0");
	is_int(&s, "devices", 0, "peak_bytes", 1500);
	is_int(&s, "devices", 0, "capacity_bytes", 100000);
	is_int(&s, "devices", 0, "peak_growth_bytes", 500);
	is_int(&s, "devices", 0, "peak_ns", 310000);
	is_int(&s, "devices", 0, "alive_bytes", 700);
	is_int(&s, "devices", 0, "alive_count", 2);
	is_int(&s, "devices", 0, "before_bytes", 800);
	is_int(&s, "devices", 0, "start_bytes", 1000);
	is_int(&s, "devices", 0, "end_bytes", 900);
	is_text(&s, "devices", 1, "device", "CPU");
	is_int(&s, "devices", 1, "peak_bytes", 50);
	is_null(&s, "devices", 1, "peak_reserved_bytes");
	assert_int_equal(pf_table_row_count(table(&s, "alive")), 4);
	is_text(&s, "alive", 0, "outer_op", "(before capture)");
	is_int(&s, "alive", 0, "bytes", 800);
	is_text(&s, "alive", 1, "outer_op", "aten::relu");
	is_int(&s, "alive", 1, "bytes", 400);
	is_int(&s, "alive", 1, "age_ns", 0);
	is_text(&s, "alive", 2, "outer_op", "aten::linear");
	is_text(&s, "alive", 2, "op", "aten::empty");
	is_text(&s, "alive", 2, "frame", "train.py:7 step");
	is_int(&s, "alive", 2, "bytes", 300);
	is_int(&s, "alive", 2, "age_ns", 195000);
	is_text(&s, "alive", 3, "device", "CPU");
	scene_close(&s);
}

static void churn_and_reserved(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, training, &all);
	is_int(&s, "devices", 0, "allocation_count", 3);
	is_int(&s, "devices", 0, "allocated_bytes", 800);
	is_int(&s, "devices", 0, "freed_count", 3);
	is_int(&s, "devices", 0, "freed_bytes", 900);
	is_int(&s, "devices", 0, "early_count", 1);
	is_int(&s, "devices", 0, "early_bytes", 200);
	is_int(&s, "devices", 0, "freed_twice_count", 0);
	is_int(&s, "devices", 0, "jump_count", 0);
	is_int(&s, "devices", 0, "peak_reserved_bytes", 6000);
	is_int(&s, "devices", 0, "reserved_at_peak_bytes", 6000);
	is_int(&s, "devices", 0, "unused_at_peak_bytes", 4500);
	is_int(&s, "devices", 0, "unused_bytes", 4800);
	is_int(&s, "devices", 0, "unused_ns", 400000);
	/* what was allocated last at a used address is kept */
	is_int(&s, "devices", 0, "kept_count", 1);
	is_int(&s, "devices", 0, "kept_bytes", 100);
	is_int(&s, "kept", 0, "size_bytes", 100);
	is_text(&s, "kept", 0, "outer_op", "aten::linear");
	is_text(&s, "kept", 1, "device", "CPU");
	assert_int_equal(s.doc.note_count, 0);
	scene_close(&s);
}

static void sums_of_ops(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, training, &all);
	/* by what they allocate themselves */
	is_text(&s, "ops", 0, "op", "aten::relu");
	is_int(&s, "ops", 0, "self_allocated_bytes", 400);
	is_text(&s, "ops", 1, "op", "aten::empty");
	is_int(&s, "ops", 1, "calls", 1);
	is_text(&s, "ops", 2, "op", "aten::linear");
	is_int(&s, "ops", 2, "calls", 2);
	is_int(&s, "ops", 2, "self_allocation_count", 1);
	is_int(&s, "ops", 2, "self_allocated_bytes", 100);
	is_int(&s, "ops", 2, "self_increase_bytes", -100);
	is_int(&s, "ops", 2, "allocated_bytes", 400);
	is_int(&s, "ops", 2, "increase_bytes", 200);
	is_int(&s, "ops", 2, "allocation_count", 2);
	is_text(&s, "ops", 4, "op", "(outside of ops)");
	is_int(&s, "ops", 4, "self_increase_bytes", -700);
	is_null(&s, "ops", 4, "calls");
	scene_close(&s);
}

static void events_and_curve(void **state)
{
	struct scene s;
	int64_t high = 0;

	(void)state;
	scene_open(&s, training, &all);
	assert_int_equal(pf_table_row_count(table(&s, "events")), 4);
	is_int(&s, "events", 0, "bytes", 300);
	is_int(&s, "events", 0, "allocated_ns", 115000);
	is_int(&s, "events", 0, "freed_ns", 400000);
	is_int(&s, "events", 0, "lifetime_ns", 285000);
	is_int(&s, "events", 1, "bytes", 400);
	is_null(&s, "events", 2, "freed_ns");
	is_int(&s, "curve", 0, "time_ns", 115000);
	is_int(&s, "curve", 0, "low_bytes", 1000);
	for (size_t i = 0; i < pf_table_row_count(table(&s, "curve")); i++)
		if (cell(&s, "curve", i, "high_bytes")->v.i > high)
			high = cell(&s, "curve", i, "high_bytes")->v.i;
	assert_int_equal(high, 1500);
	scene_close(&s);
}

/* In a window: what is older is alive, but not part of the sums. */
static void window(void **state)
{
	struct pf_usage_args args = all;
	struct scene s;

	(void)state;
	args.window.from_ns = 200000;
	args.window.to_ns = 450000;
	scene_open(&s, training, &args);
	is_int(&s, "devices", 0, "peak_bytes", 1500);
	is_int(&s, "devices", 0, "start_bytes", 1100);
	is_int(&s, "devices", 0, "end_bytes", 1200);
	is_int(&s, "devices", 0, "alive_bytes", 700);
	is_int(&s, "devices", 0, "allocated_bytes", 400);
	is_int(&s, "devices", 0, "freed_bytes", 300);
	is_int(&s, "devices", 0, "kept_bytes", 400);
	is_int(&s, "devices", 0, "early_count", 0);
	scene_close(&s);
}

/* The peak is at the start: then nothing else is alive. */
static void falling(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s,
		   TRACE(GPU(1, 10, -600, 64, 400, 1000)
				 GPU(1, 20, 100, 128, 500, 1000)),
		   &all);
	is_int(&s, "devices", 0, "peak_bytes", 1000);
	is_int(&s, "devices", 0, "alive_bytes", 0);
	is_int(&s, "devices", 0, "before_bytes", 1000);
	is_int(&s, "devices", 0, "peak_growth_bytes", 0);
	is_int(&s, "alive", 0, "bytes", 1000);
	is_int(&s, "curve", 0, "high_bytes", 1000);
	scene_close(&s);
}

/* What is older than the window and stays is alive, but was not kept in it. */
static void kept_of_window(void **state)
{
	struct pf_usage_args args = all;
	struct scene s;

	(void)state;
	args.window.from_ns = 200000;
	args.window.to_ns = 390000;
	scene_open(&s, training, &args);
	is_int(&s, "devices", 0, "alive_bytes", 700);
	is_int(&s, "devices", 0, "kept_count", 1);
	is_int(&s, "devices", 0, "kept_bytes", 400);
	scene_close(&s);
}

/* Of two equal peaks the first counts. */
static void first_peak(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s,
		   TRACE(GPU(1, 10, 100, 64, 100, 1000)
				 GPU(1, 20, -100, 64, 0, 1000) GPU(1, 30, 60,
								   64, 60, 1000)
					 GPU(1, 40, 40, 128, 100, 1000)),
		   &all);
	is_int(&s, "devices", 0, "peak_ns", 0);
	is_int(&s, "devices", 0, "alive_count", 1);
	scene_close(&s);
}

/* Start <= time < end; an op in itself has a record once. */
static void borders_of_ops(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s,
		   TRACE(RANGE("cpu_op", "a", 1, 0, 10) RANGE(
			   "cpu_op", "a", 1, 0, 5) GPU(1, 0, 1, 64, 1, 1000)
				 GPU(1, 5, 2, 65, 3, 1000)
					 GPU(1, 10, 4, 66, 7, 1000)),
		   &all);
	is_text(&s, "ops", 0, "op", "(outside of ops)");
	is_int(&s, "ops", 0, "self_allocated_bytes", 4);
	is_text(&s, "ops", 1, "op", "a");
	is_int(&s, "ops", 1, "calls", 2);
	is_int(&s, "ops", 1, "self_allocated_bytes", 3);
	is_int(&s, "ops", 1, "allocated_bytes", 3);
	is_int(&s, "ops", 1, "allocation_count", 2);
	scene_close(&s);
}

/* Records that do not fit together are counted. */
static void odd_records(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s,
		   TRACE(GPU(1, 10, 100, 64, 100, 1000) GPU(1, 20, 50, 64, 150,
							    1000)
				 GPU(1, 30, -50, 64, 100, 1000)
					 GPU(1, 40, -50, 64, 50, 1000)
						 GPU(1, 50, 10, 128, 90, 1000)),
		   &all);
	is_int(&s, "devices", 0, "reused_count", 1);
	is_int(&s, "devices", 0, "freed_twice_count", 1);
	is_int(&s, "devices", 0, "early_count", 0);
	is_int(&s, "devices", 0, "jump_count", 1);
	is_int(&s, "devices", 0, "jump_bytes", 30);
	/* of 150, 50 are known to be alive */
	is_int(&s, "devices", 0, "peak_bytes", 150);
	is_int(&s, "devices", 0, "alive_bytes", 50);
	is_int(&s, "devices", 0, "before_bytes", 100);
	assert_true(has_note(&s, "1 totals do not continue"));
	assert_true(has_note(&s, "1 frees of what was freed"));
	assert_true(has_note(&s, "1 addresses were allocated again"));
	scene_close(&s);
}

/* torch 1.8: neither addresses nor totals. */
static void no_totals(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(OLD(10, 100) OLD(20, -300) OLD(30, 900)), &all);
	is_null(&s, "devices", 0, "peak_bytes");
	is_null(&s, "devices", 0, "alive_bytes");
	is_int(&s, "devices", 0, "peak_growth_bytes", 700);
	is_int(&s, "devices", 0, "no_address_count", 3);
	assert_int_equal(pf_table_row_count(table(&s, "alive")), 0);
	assert_true(has_note(&s, "without totals"));
	scene_close(&s);
}

static void several_devices(void **state)
{
	struct pf_usage_args args = all;
	struct scene s;

	(void)state;
	args.window.device = 1;
	scene_open(&s,
		   TRACE(GPU(1, 10, 100, 64, 100, 1000) RECORD(
			   2, 20, 6, 1, "\"Bytes\": 7, \"Addr\": 64")),
		   &args);
	assert_int_equal(pf_table_row_count(table(&s, "devices")), 1);
	is_text(&s, "devices", 0, "device", "GPU 1");
	is_int(&s, "devices", 0, "device_type", 6);
	is_int(&s, "devices", 0, "allocated_bytes", 7);
	scene_close(&s);
}

/* The same address on two devices is two blocks; so are two threads' ops. */
static void threads(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s,
		   TRACE(RANGE("cpu_op", "a", 1, 0, 100) RANGE("cpu_op", "b", 2,
							       0, 100)
				 GPU(2, 10, 100, 64, 100, 1000)
					 CPU(1, 15, 30, 64, 30)
						 GPU(1, 20, -100, 64, 0, 1000)),
		   &all);
	is_int(&s, "devices", 0, "kept_count", 0);
	is_int(&s, "devices", 1, "kept_count", 1);
	is_text(&s, "events", 0, "op", "b");
	is_text(&s, "ops", 0, "op", "b");
	is_int(&s, "ops", 0, "self_increase_bytes", 100);
	scene_close(&s);
}

/* Two traces: each has its own devices, and says of which it is. */
static void two_traces(void **state)
{
	char *dir = support_tmp_take();
	char *one = support_path_take(dir, "rank0.json");
	char *two = support_path_take(dir, "rank1.json");
	const char *paths[] = { one, two };
	static const char first[] = TRACE(GPU(1, 10, 100, 64, 100, 1000));
	static const char second[] = TRACE(GPU(1, 10, 30, 64, 30, 1000));
	struct pf_ingest_options o = { .paths = paths,
				       .path_count = 2,
				       .rank = 0 };
	struct pf_err err = { 0 };
	struct scene s = { .dir = dir };

	(void)state;
	s.path = support_path_take(dir, "t.db");
	o.out = s.path;
	support_write(one, first, strlen(first));
	support_write(two, second, strlen(second));
	pf_ingest(&o, &err);
	support_no_error(&err);
	pf_db_open(&s.db, s.path, false, &err);
	pf_usage(&s.db, &all, &s.doc, &err);
	support_no_error(&err);
	assert_int_equal(pf_table_row_count(table(&s, "devices")), 2);
	is_text(&s, "devices", 0, "device", "rank 0 GPU 0");
	is_int(&s, "devices", 0, "kept_bytes", 100);
	is_text(&s, "devices", 1, "device", "rank 1 GPU 0");
	is_int(&s, "devices", 1, "kept_bytes", 30);
	free(two);
	s.trace = one;
	scene_close(&s);
}

static void out_of_memory(void **state)
{
	struct scene s;

	(void)state;
	scene_open(
		&s,
		TRACE(GPU(1, 10, 100, 64, 100, 1000) RANGE(
			"cpu_op", "aten::mm", 1, 20,
			10) "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", "
			    "\"s\": \"t\", \"name\": \"[OutOfMemory]\", "
			    "\"pid\": 1, \"tid\": 1, \"ts\": 25, \"args\": "
			    "{\"Device Type\": 1, \"Device Id\": 0, "
			    "\"Bytes\": 5000, \"Total Allocated\": 100, "
			    "\"Total Reserved\": 1000}},\n"),
		&all);
	is_int(&s, "devices", 0, "peak_bytes", 100);
	is_int(&s, "devices", 0, "allocated_bytes", 100);
	is_int(&s, "devices", 0, "oom_count", 1);
	is_int(&s, "oom", 0, "bytes", 5000);
	is_text(&s, "oom", 0, "op", "aten::mm");
	scene_close(&s);
}

static void nothing(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(RANGE("cpu_op", "aten::mm", 1, 20, 10)), &all);
	assert_int_equal(pf_table_row_count(table(&s, "devices")), 0);
	assert_non_null(
		strstr(s.doc.scalars[0].cell.v.text.s, "profile_memory=True"));
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peak_and_alive),
		cmocka_unit_test(churn_and_reserved),
		cmocka_unit_test(sums_of_ops),
		cmocka_unit_test(events_and_curve),
		cmocka_unit_test(window),
		cmocka_unit_test(falling),
		cmocka_unit_test(kept_of_window),
		cmocka_unit_test(first_peak),
		cmocka_unit_test(borders_of_ops),
		cmocka_unit_test(odd_records),
		cmocka_unit_test(no_totals),
		cmocka_unit_test(several_devices),
		cmocka_unit_test(threads),
		cmocka_unit_test(two_traces),
		cmocka_unit_test(out_of_memory),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
