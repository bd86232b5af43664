/* SPDX-License-Identifier: MIT */
/* What is communication, how much data it moves and how fast. */
#include "unit/events.h"
#include "unit/scene.h"

#include <stdio.h>
#include <string.h>

#include "events/args.h"
#include "analysis/time/overlap.h"

/* Ranges of thread 7, where the calls are. */
#define OP(name, ts, dur) MAIN("cpu_op", name, ts, dur)
#define RECORD(ts, dur, what, in, out, ranks)                                  \
	RANGE("cpu_op", "record_param_comms", ts, dur, 9, 7,                   \
	      "\"Collective name\": \"" what "\", \"dtype\": \"BFloat16\", "   \
	      "\"In msg nelems\": " #in ", \"Out msg nelems\": " #out          \
	      ", \"Group size\": " #ranks ", \"Process Group Name\": \"dp\"")

static void overlap(struct scene *s, const char *json)
{
	static const struct pf_overlap_args args = { PF_WINDOW_DEFAULTS };

	scene_open(s, json);

	pf_overlap(&s->db, &args, NULL, &s->doc);
	support_no_error(&s->err);
}

static void test_rules(void **state)
{
	struct scene s;

	(void)state;
	overlap(&s,
		TRACE(OP("c10d::allreduce_", 0, 30) OP("aten::add", 5, 10)
			      LAUNCH(6, 1, 1) LAUNCH(20, 1, 2)
		      /* begins when the range ends: outside */
		      OP("aten::mul", 30, 10) LAUNCH(30, 1, 3) OP(
			      "nccl:all_reduce", 40, 10) LAUNCH(49, 1, 4)
			      OP("gloo:all_reduce", 60, 10) LAUNCH(62, 1, 5)
				      RECORD(80, 20, "allreduce", 10, 10,
					     2) OP("nccl:all_reduce", 82, 10)
					      LAUNCH(84, 1, 6) LAUNCH(120, 1, 7)
		      /* another thread is another matter */
		      OTHER("cpu_op", "c10d::broadcast_", 25, 200) WORK(
			      "kernel", "a", 200, 1, 1,
			      1) WORK("gpu_memcpy", "Memcpy DtoD", 210, 2, 1, 2)
			      WORK("kernel", "b", 220, 4, 1,
				   3) WORK("kernel", "c", 230, 8, 1, 4)
				      WORK("gpu_memset", "Memset", 240, 16, 1,
					   5) WORK("kernel", "d", 260, 32, 1, 6)
					      WORK("kernel", "MyNcClKernel",
						   300, 64, 1, 7)
						      WORK("kernel", "e", 400,
							   128, 1, 8)));
	assert_int_equal(scene_row_count(&s, "comm_rules"), 5);
	scene_text(&s, "comm_rules", 0, "rule", "name of the kernel");
	scene_int(&s, "comm_rules", 0, "total_ns", 64000);
	scene_text(&s, "comm_rules", 1, "rule",
		   "launched in record_param_comms");
	scene_int(&s, "comm_rules", 1, "total_ns", 32000);
	scene_text(&s, "comm_rules", 2, "rule", "launched in c10d::");
	scene_int(&s, "comm_rules", 2, "total_ns", 3000);
	scene_int(&s, "comm_rules", 3, "total_ns", 8000);
	scene_int(&s, "comm_rules", 4, "total_ns", 16000);
	scene_int(&s, NULL, 0, "comm_ns", 123000);
	scene_int(&s, NULL, 0, "computation_ns", 132000);
	scene_int(&s, NULL, 0, "exposed_copy_ns", 0);
	scene_close(&s);
}

/* What PyTorch itself computes is no communication, whatever launched it. */
static void test_own_kernels(void **state)
{
	struct scene s;

	(void)state;
	overlap(&s, TRACE(OP("c10d::barrier", 0, 30) OP("aten::zeros", 5, 10)
				  LAUNCH(6, 1, 1) LAUNCH(20, 1, 2) KERNEL(
					  "void at::native::fill<float>", 200,
					  1, 1, 1) KERNEL("k", 210, 2, 1, 2)));
	assert_int_equal(scene_row_count(&s, "comm_rules"), 1);
	scene_int(&s, NULL, 0, "comm_ns", 2000);
	scene_int(&s, NULL, 0, "computation_ns", 1000);
	scene_close(&s);
}

/* Of ranges that cross, the one that began last holds what is in both. */
static void test_crossing(void **state)
{
	struct scene s;

	(void)state;
	overlap(&s,
		TRACE(OP("c10d::a", 0, 20) LAUNCH(5, 1, 1) OP("nccl:b", 10, 20)
			      LAUNCH(15, 1, 2) LAUNCH(25, 1, 3) LAUNCH(31, 1, 4)
				      WORK("kernel", "k", 100, 1, 1,
					   1) WORK("kernel", "k", 110, 2, 1, 2)
					      WORK("kernel", "k", 120, 4, 1, 3)
						      WORK("kernel", "k", 130,
							   8, 1, 4)));
	assert_int_equal(scene_row_count(&s, "comm_rules"), 2);
	scene_int(&s, "comm_rules", 0, "total_ns", 1000);
	scene_int(&s, "comm_rules", 1, "total_ns", 6000);
	scene_close(&s);
}

/* A call that reaches over the end of a range does not lie in it. */
static void test_end(void **state)
{
	struct scene s;

	(void)state;
	overlap(&s, TRACE(OP("c10d::a", 0, 20) CALL("cudaLaunchKernel", 15, 5,
						    1) OP("c10d::a", 40, 20)
				  CALL("cudaLaunchKernel", 55, 6,
				       2) WORK("kernel", "k", 100, 1, 1, 1)
					  WORK("kernel", "k", 110, 2, 1, 2)));
	scene_int(&s, NULL, 0, "comm_ns", 1000);
	scene_close(&s);
}

static void test_collectives(void **state)
{
	struct scene s;

	(void)state;
	overlap(&s,
		TRACE(RECORD(0, 20, "allreduce", 1000, 1000, 4) LAUNCH(
			2, 1, 1) LAUNCH(4, 1,
					2) RECORD(30, 20, "_allgather_base",
						  500, 2000, 4) LAUNCH(32, 1, 3)
			      WORK("kernel", "ncclA", 100, 1, 1,
				   1) WORK("kernel", "ncclA", 110, 3, 1, 2)
				      WORK("kernel", "ncclB", 120, 2, 1, 3)
		      /* the kernel's own arguments come first */
		      WORK_WITH("kernel", "ncclC", 130, 5, 1, 4,
				", \"Collective name\": \"send\", \"dtype\": "
				"\"Nibble\", \"In msg nelems\": 7")
			      WORK("kernel", "void ns::ncclD<1>(int)", 140, 1,
				   1, 5)));
	assert_int_equal(scene_row_count(&s, "collectives"), 4);
	scene_text(&s, "collectives", 0, "collective", "send");
	scene_null(&s, "collectives", 0, "group");
	scene_null(&s, "collectives", 0, "in_bytes");
	scene_null(&s, "collectives", 0, "bus_gb_per_s");
	/* two kernels of one message: its data count once */
	scene_text(&s, "collectives", 1, "collective", "allreduce");
	scene_text(&s, "collectives", 1, "group", "dp");
	scene_int(&s, "collectives", 1, "group_size", 4);
	scene_int(&s, "collectives", 1, "count", 2);
	scene_int(&s, "collectives", 1, "message_count", 1);
	scene_int(&s, "collectives", 1, "in_bytes", 2000);
	scene_int(&s, "collectives", 1, "mean_ns", 2000);
	scene_real(&s, "collectives", 1, "algorithm_gb_per_s", 0.5);
	scene_real(&s, "collectives", 1, "bus_gb_per_s", 0.75);
	scene_int(&s, "collectives", 2, "in_bytes", 1000);
	scene_int(&s, "collectives", 2, "out_bytes", 4000);
	scene_real(&s, "collectives", 2, "algorithm_gb_per_s", 2);
	scene_real(&s, "collectives", 2, "bus_gb_per_s", 1.5);
	scene_text(&s, "collectives", 3, "collective", "ncclD<1>");
	scene_close(&s);
}

static void check_factor(const char *name, int ranks, double want)
{
	char args[128];
	struct pf_collective c;

	snprintf(args, sizeof(args),
		 "{\"Collective name\":\"%s\",\"Group size\":%d}", name, ranks);
	assert_true(pf_collective_read(args, strlen(args), &c));
	assert_true(pf_collective_factor(&c) == want);
}

static void test_factors(void **state)
{
	struct pf_collective c;

	(void)state;
	check_factor("allreduce", 4, 1.5);
	check_factor("all_reduce", 1, 0);
	check_factor("_reduce_scatter_base", 4, 0.75);
	check_factor("all_gather_into_tensor_coalesced", 2, 0.5);
	check_factor("all_to_allv", 8, 0.875);
	check_factor("reduce", 8, 1);
	check_factor("broadcast", 8, 1);
	check_factor("allreduce", 0, -1);
	check_factor("barrier", 8, -1);
	assert_false(pf_collective_read("{\"a\":1}", 7, &c));
	assert_false(pf_collective_read("{", 1, &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_own_kernels),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_collectives),
		cmocka_unit_test(test_factors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
