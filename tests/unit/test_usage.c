/* SPDX-License-Identifier: MIT */
/* Allocations that were planted: every figure must be right to the byte. */
#include "unit/events.h"
#include "unit/scene.h"

#include <string.h>

#include "analysis/memory/usage.h"

#define RECORD(tid, ts, type, id, args)                                        \
	"{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", "       \
	"\"name\": \"[memory]\", \"pid\": 9, \"tid\": " #tid ", \"ts\": " #ts  \
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
#define WITH_GPU(events)                                                       \
	TRACE_WITH("\"deviceProperties\": [{\"id\": 0, "                       \
		   "\"totalGlobalMem\": 100000}], ",                           \
		   events)

static const struct pf_usage_args all = { .window = PF_WINDOW_DEFAULTS,
					  .points = 4,
					  .events = true };

static void usage(struct scene *s, const char *json,
		  const struct pf_usage_args *args)
{
	struct pf_err err = { 0 };

	scene_open(s, json);
	s->db.err = &err;

	pf_usage(&s->db, args, NULL, &s->doc);
	support_no_error(&err);
}

/* clang-format off */
/* 1000 bytes from before, of which 200 are freed; 700 more at the peak. */
static const char training[] = WITH_GPU(
	HOST_ON(1, "python_function", "train.py(7): step", 0, 1000)
	HOST_ON(1, "cpu_op", "aten::linear", 100, 100)
	HOST_ON(1, "cpu_op", "aten::empty", 110, 10)
	GPU(1, 115, 300, 4096, 1300, 5000)
	GPU(1, 150, -200, 64, 1100, 5000)
	HOST_ON(1, "cpu_op", "aten::relu", 300, 50)
	GPU(1, 310, 400, 8192, 1500, 6000)
	CPU(1, 320, 50, 4096, 50)
	GPU(1, 400, -300, 4096, 1200, 6000)
	HOST_ON(1, "cpu_op", "aten::linear", 500, 100)
	GPU(1, 510, 100, 4096, 1300, 4000)
	GPU(1, 700, -400, 8192, 900, 4000));
/* clang-format on */

static void peak_and_alive(void **state)
{
	struct scene s;

	(void)state;
	usage(&s, training, &all);
	assert_int_equal(scene_row_count(&s, "devices"), 2);
	scene_text(&s, "devices", 0, "device", "GPU 0");
	scene_int(&s, "devices", 0, "peak_bytes", 1500);
	scene_int(&s, "devices", 0, "capacity_bytes", 100000);
	scene_int(&s, "devices", 0, "peak_growth_bytes", 500);
	scene_int(&s, "devices", 0, "peak_ns", 310000);
	scene_int(&s, "devices", 0, "alive_bytes", 700);
	scene_int(&s, "devices", 0, "alive_count", 2);
	scene_int(&s, "devices", 0, "before_bytes", 800);
	scene_int(&s, "devices", 0, "start_bytes", 1000);
	scene_int(&s, "devices", 0, "end_bytes", 900);
	scene_text(&s, "devices", 1, "device", "CPU");
	scene_int(&s, "devices", 1, "peak_bytes", 50);
	scene_null(&s, "devices", 1, "peak_reserved_bytes");
	assert_int_equal(scene_row_count(&s, "alive"), 4);
	scene_text(&s, "alive", 0, "outer_op", "(before capture)");
	scene_int(&s, "alive", 0, "bytes", 800);
	scene_text(&s, "alive", 1, "outer_op", "aten::relu");
	scene_int(&s, "alive", 1, "bytes", 400);
	scene_int(&s, "alive", 1, "age_ns", 0);
	scene_text(&s, "alive", 2, "outer_op", "aten::linear");
	scene_text(&s, "alive", 2, "op", "aten::empty");
	scene_text(&s, "alive", 2, "frame", "train.py:7 step");
	scene_int(&s, "alive", 2, "bytes", 300);
	scene_int(&s, "alive", 2, "age_ns", 195000);
	scene_text(&s, "alive", 3, "device", "CPU");
	scene_close(&s);
}

static void churn_and_reserved(void **state)
{
	struct scene s;

	(void)state;
	usage(&s, training, &all);
	scene_int(&s, "devices", 0, "allocation_count", 3);
	scene_int(&s, "devices", 0, "allocated_bytes", 800);
	scene_int(&s, "devices", 0, "freed_count", 3);
	scene_int(&s, "devices", 0, "freed_bytes", 900);
	scene_int(&s, "devices", 0, "early_count", 1);
	scene_int(&s, "devices", 0, "early_bytes", 200);
	scene_int(&s, "devices", 0, "freed_twice_count", 0);
	scene_int(&s, "devices", 0, "jump_count", 0);
	scene_int(&s, "devices", 0, "peak_reserved_bytes", 6000);
	scene_int(&s, "devices", 0, "reserved_at_peak_bytes", 6000);
	scene_int(&s, "devices", 0, "unused_at_peak_bytes", 4500);
	scene_int(&s, "devices", 0, "unused_bytes", 4800);
	scene_int(&s, "devices", 0, "unused_ns", 400000);
	/* what was allocated last at a used address is kept */
	scene_int(&s, "devices", 0, "kept_count", 1);
	scene_int(&s, "devices", 0, "kept_bytes", 100);
	scene_int(&s, "kept", 0, "size_bytes", 100);
	scene_text(&s, "kept", 0, "outer_op", "aten::linear");
	scene_text(&s, "kept", 1, "device", "CPU");
	assert_int_equal(s.doc.note_count, 0);
	scene_close(&s);
}

static void sums_of_ops(void **state)
{
	struct scene s;

	(void)state;
	usage(&s, training, &all);
	/* by what they allocate themselves */
	scene_text(&s, "ops", 0, "op", "aten::relu");
	scene_int(&s, "ops", 0, "self_allocated_bytes", 400);
	scene_text(&s, "ops", 1, "op", "aten::empty");
	scene_int(&s, "ops", 1, "calls", 1);
	scene_text(&s, "ops", 2, "op", "aten::linear");
	scene_int(&s, "ops", 2, "calls", 2);
	scene_int(&s, "ops", 2, "self_allocation_count", 1);
	scene_int(&s, "ops", 2, "self_allocated_bytes", 100);
	scene_int(&s, "ops", 2, "self_increase_bytes", -100);
	scene_int(&s, "ops", 2, "allocated_bytes", 400);
	scene_int(&s, "ops", 2, "increase_bytes", 200);
	scene_int(&s, "ops", 2, "allocation_count", 2);
	scene_text(&s, "ops", 4, "op", "(outside of ops)");
	scene_int(&s, "ops", 4, "self_increase_bytes", -700);
	scene_null(&s, "ops", 4, "calls");
	scene_close(&s);
}

static void events_and_curve(void **state)
{
	struct scene s;
	int64_t high = 0;

	(void)state;
	usage(&s, training, &all);
	assert_int_equal(scene_row_count(&s, "events"), 4);
	scene_int(&s, "events", 0, "bytes", 300);
	scene_int(&s, "events", 0, "allocated_ns", 115000);
	scene_int(&s, "events", 0, "freed_ns", 400000);
	scene_int(&s, "events", 0, "lifetime_ns", 285000);
	scene_int(&s, "events", 1, "bytes", 400);
	scene_null(&s, "events", 2, "freed_ns");
	scene_int(&s, "curve", 0, "time_ns", 115000);
	scene_int(&s, "curve", 0, "low_bytes", 1000);
	for (size_t i = 0; i < scene_row_count(&s, "curve"); i++)
		if (scene_cell(&s, "curve", i, "high_bytes")->v.i > high)
			high = scene_cell(&s, "curve", i, "high_bytes")->v.i;
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
	usage(&s, training, &args);
	scene_int(&s, "devices", 0, "peak_bytes", 1500);
	scene_int(&s, "devices", 0, "start_bytes", 1100);
	scene_int(&s, "devices", 0, "end_bytes", 1200);
	scene_int(&s, "devices", 0, "alive_bytes", 700);
	scene_int(&s, "devices", 0, "allocated_bytes", 400);
	scene_int(&s, "devices", 0, "freed_bytes", 300);
	scene_int(&s, "devices", 0, "kept_bytes", 400);
	scene_int(&s, "devices", 0, "early_count", 0);
	scene_close(&s);
}

/* The peak is at the start: then nothing else is alive. */
static void falling(void **state)
{
	struct scene s;

	(void)state;
	usage(&s,
	      TRACE(GPU(1, 10, -600, 64, 400, 1000)
			    GPU(1, 20, 100, 128, 500, 1000)),
	      &all);
	scene_int(&s, "devices", 0, "peak_bytes", 1000);
	scene_int(&s, "devices", 0, "alive_bytes", 0);
	scene_int(&s, "devices", 0, "before_bytes", 1000);
	scene_int(&s, "devices", 0, "peak_growth_bytes", 0);
	scene_int(&s, "alive", 0, "bytes", 1000);
	scene_int(&s, "curve", 0, "high_bytes", 1000);
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
	usage(&s, training, &args);
	scene_int(&s, "devices", 0, "alive_bytes", 700);
	scene_int(&s, "devices", 0, "kept_count", 1);
	scene_int(&s, "devices", 0, "kept_bytes", 400);
	scene_close(&s);
}

/* Of two equal peaks the first counts. */
static void first_peak(void **state)
{
	struct scene s;

	(void)state;
	usage(&s,
	      TRACE(GPU(1, 10, 100, 64, 100, 1000) GPU(1, 20, -100, 64, 0, 1000)
			    GPU(1, 30, 60, 64, 60, 1000)
				    GPU(1, 40, 40, 128, 100, 1000)),
	      &all);
	scene_int(&s, "devices", 0, "peak_ns", 10000);
	scene_int(&s, "devices", 0, "alive_count", 1);
	scene_close(&s);
}

/* Start <= time < end; an op in itself has a record once. */
static void borders_of_ops(void **state)
{
	struct scene s;

	(void)state;
	usage(&s,
	      TRACE(HOST_ON(1, "cpu_op", "a", 0, 10) HOST_ON(1, "cpu_op", "a",
							     0, 5)
			    GPU(1, 0, 1, 64, 1, 1000) GPU(1, 5, 2, 65, 3, 1000)
				    GPU(1, 10, 4, 66, 7, 1000)),
	      &all);
	scene_text(&s, "ops", 0, "op", "(outside of ops)");
	scene_int(&s, "ops", 0, "self_allocated_bytes", 4);
	scene_text(&s, "ops", 1, "op", "a");
	scene_int(&s, "ops", 1, "calls", 2);
	scene_int(&s, "ops", 1, "self_allocated_bytes", 3);
	scene_int(&s, "ops", 1, "allocated_bytes", 3);
	scene_int(&s, "ops", 1, "allocation_count", 2);
	scene_close(&s);
}

/* Records that do not fit together are counted. */
static void odd_records(void **state)
{
	struct scene s;

	(void)state;
	usage(&s,
	      TRACE(GPU(1, 10, 100, 64, 100, 1000) GPU(1, 20, 50, 64, 150, 1000)
			    GPU(1, 30, -50, 64, 100, 1000)
				    GPU(1, 40, -50, 64, 50, 1000)
					    GPU(1, 50, 10, 128, 90, 1000)),
	      &all);
	scene_int(&s, "devices", 0, "reused_count", 1);
	scene_int(&s, "devices", 0, "freed_twice_count", 1);
	scene_int(&s, "devices", 0, "early_count", 0);
	scene_int(&s, "devices", 0, "jump_count", 1);
	scene_int(&s, "devices", 0, "jump_bytes", 30);
	/* of 150, 50 are known to be alive */
	scene_int(&s, "devices", 0, "peak_bytes", 150);
	scene_int(&s, "devices", 0, "alive_bytes", 50);
	scene_int(&s, "devices", 0, "before_bytes", 100);
	assert_true(scene_has_note(&s, "1 totals do not continue"));
	assert_true(scene_has_note(&s, "1 frees of what was freed"));
	assert_true(scene_has_note(&s, "1 addresses were allocated again"));
	scene_close(&s);
}

/* torch 1.8: neither addresses nor totals. */
static void no_totals(void **state)
{
	struct scene s;

	(void)state;
	usage(&s, TRACE(OLD(10, 100) OLD(20, -300) OLD(30, 900)), &all);
	scene_null(&s, "devices", 0, "peak_bytes");
	scene_null(&s, "devices", 0, "alive_bytes");
	scene_int(&s, "devices", 0, "peak_growth_bytes", 700);
	scene_int(&s, "devices", 0, "no_address_count", 3);
	assert_int_equal(scene_row_count(&s, "alive"), 0);
	assert_true(scene_has_note(&s, "without totals"));
	scene_close(&s);
}

static void several_devices(void **state)
{
	struct pf_usage_args args = all;
	struct scene s;

	(void)state;
	args.window.device = 1;
	usage(&s,
	      TRACE(GPU(1, 10, 100, 64, 100, 1000)
			    RECORD(2, 20, 6, 1, "\"Bytes\": 7, \"Addr\": 64")),
	      &args);
	assert_int_equal(scene_row_count(&s, "devices"), 1);
	scene_text(&s, "devices", 0, "device", "GPU 1");
	scene_int(&s, "devices", 0, "device_type", 6);
	scene_int(&s, "devices", 0, "allocated_bytes", 7);
	scene_close(&s);
}

/* The same address on two devices is two blocks; so are two threads' ops. */
static void threads(void **state)
{
	struct scene s;

	(void)state;
	usage(&s,
	      TRACE(HOST_ON(1, "cpu_op", "a", 0, 100) HOST_ON(
		      2, "cpu_op", "b", 0, 100) GPU(2, 10, 100, 64, 100, 1000)
			    CPU(1, 15, 30, 64, 30)
				    GPU(1, 20, -100, 64, 0, 1000)),
	      &all);
	scene_int(&s, "devices", 0, "kept_count", 0);
	scene_int(&s, "devices", 1, "kept_count", 1);
	scene_text(&s, "events", 0, "op", "b");
	scene_text(&s, "ops", 0, "op", "b");
	scene_int(&s, "ops", 0, "self_increase_bytes", 100);
	scene_close(&s);
}

/* Two traces: each has its own devices, and says of which it is. */
static void two_traces(void **state)
{
	static const char *const jsons[] = {
		TRACE(GPU(1, 10, 100, 64, 100, 1000)),
		TRACE(GPU(1, 10, 30, 64, 30, 1000))
	};
	const struct pf_ingest_options options = { .rank = 0 };
	struct pf_err err = { 0 };
	struct scene s;

	(void)state;
	scene_open_with(&s, jsons, 2, &options);
	s.db.err = &err;

	pf_usage(&s.db, &all, NULL, &s.doc);
	support_no_error(&err);
	assert_int_equal(scene_row_count(&s, "devices"), 2);
	scene_text(&s, "devices", 0, "device", "rank 0 GPU 0");
	scene_int(&s, "devices", 0, "kept_bytes", 100);
	scene_text(&s, "devices", 1, "device", "rank 1 GPU 0");
	scene_int(&s, "devices", 1, "kept_bytes", 30);
	scene_close(&s);
}

static void out_of_memory(void **state)
{
	struct scene s;

	(void)state;
	usage(&s,
	      TRACE(GPU(1, 10, 100, 64, 100, 1000) HOST_ON(
		      1, "cpu_op", "aten::mm", 20,
		      10) "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", "
			  "\"s\": \"t\", \"name\": \"[OutOfMemory]\", "
			  "\"pid\": 9, \"tid\": 1, \"ts\": 25, \"args\": "
			  "{\"Device Type\": 1, \"Device Id\": 0, "
			  "\"Bytes\": 5000, \"Total Allocated\": 100, "
			  "\"Total Reserved\": 1000}},\n"),
	      &all);
	scene_int(&s, "devices", 0, "peak_bytes", 100);
	scene_int(&s, "devices", 0, "allocated_bytes", 100);
	scene_int(&s, "devices", 0, "oom_count", 1);
	scene_int(&s, "oom", 0, "bytes", 5000);
	scene_text(&s, "oom", 0, "op", "aten::mm");
	scene_close(&s);
}

/* Threads are read one after the other, and free what another allocated. */
static void order_of_threads(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		GPU(1, 50, 300, 4096, 300, 5000)
		GPU(1, 150, 400, 8192, 400, 5000)
		GPU(2, 100, -300, 4096, 0, 5000));
	/* clang-format on */
	struct scene s;

	(void)state;
	usage(&s, json, &all);
	scene_int(&s, "devices", 0, "jump_count", 0);
	scene_int(&s, "devices", 0, "peak_bytes", 400);
	scene_int(&s, "devices", 0, "alive_count", 1);
	scene_close(&s);
}

/* Tensors of workers are no part of the allocator's total, which they say 0. */
static void shared_memory(void **state)
{
	/* clang-format off */
	static const char json[] = TRACE(
		GPU(1, 50, 300, 4096, 300, 5000)
		GPU(1, 60, 200, 64, 500, 5000)
		CPU(1, 100, 50, 4096, 50)
		CPU(1, 110, 1000, 8192, 0)
		CPU(1, 120, 20, 512, 70)
		CPU(1, 130, -1000, 8192, 0));
	/* clang-format on */
	struct scene s;

	(void)state;
	usage(&s, json, &all);
	scene_int(&s, "devices", 0, "peak_bytes", 500);
	scene_int(&s, "devices", 0, "allocation_count", 2);
	scene_int(&s, "devices", 1, "peak_bytes", 1070);
	scene_int(&s, "devices", 1, "end_bytes", 70);
	scene_int(&s, "devices", 1, "jump_count", 0);
	scene_close(&s);
}

static void nothing(void **state)
{
	struct scene s;

	(void)state;
	usage(&s, TRACE(HOST_ON(1, "cpu_op", "aten::mm", 20, 10)), &all);
	assert_int_equal(scene_row_count(&s, "devices"), 0);
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
		cmocka_unit_test(order_of_threads),
		cmocka_unit_test(shared_memory),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
