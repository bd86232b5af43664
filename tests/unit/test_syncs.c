/* SPDX-License-Identifier: MIT */
/* Sites of blocking calls of a trace whose figures were worked out by hand. */
#include "unit/events.h"
#include "unit/scene.h"

#include "analysis/idle/syncs.h"
#include "show/doc.c"

/*
 * Two steps.  In each, aten::item waits from 50 to 210 of the step for work
 * that ends at 200; the next work starts at 300 of the first step and at 0 of
 * the second, so that the gaps are 100 and, before the last kernel, 100.
 */
/* clang-format off */
#define STEP(n, a, b, c, d, e, f, g, h, line)                                  \
	MAIN("user_annotation", "ProfilerStep#" #n, a, 400)                    \
	MAIN("python_function", "train.py(" #line "): go", a, 400)             \
	LAUNCH(b, 5, n##1)                                                     \
	KERNEL("k", c, 100, 7, n##1)                                           \
	MAIN("cpu_op", "aten::item", d, 170)                                   \
	MAIN("cpu_op", "aten::_local_scalar_dense", d, 165)                    \
	CALL("cudaStreamSynchronize", e, 160, 0)                               \
	CALL("cudaStreamQuery", f, 5, 0)                                       \
	LAUNCH(g, 5, n##2)                                                     \
	KERNEL("k", h, 50, 7, n##2)
#define STEPS(line, more)                                                      \
	TRACE(STEP(1, 1000, 1010, 1100, 1045, 1050, 1220, 1280, 1300, line)    \
	      STEP(2, 1500, 1510, 1600, 1545, 1550, 1720, 1780, 1800, line)    \
	      more)
/* clang-format on */

static const char plain[] = STEPS(12, "");
static const char moved[] = STEPS(14, "");
static const char more[] = STEPS(12, CALL("cudaFree", 1880, 3, 0));
/* after the first step, before the second */
static const char between[] = STEPS(12, CALL("cudaFree", 1450, 3, 0));

static const struct pf_syncs_args all = { .window = PF_WINDOW_DEFAULTS,
					  .max_per_step = -1,
					  .fail_on = -1 };

static void test_site(void **state)
{
	struct pf_err err = { 0 };
	struct scene s;
	bool is_failed = true;

	(void)state;
	scene_open(&s, plain);
	s.db.err = &err;

	pf_syncs(&s.db, &all, NULL, &s.doc, &is_failed);
	support_no_error(&err);
	assert_false(is_failed);
	assert_int_equal(scene_row_count(&s, "sites"), 1);
	scene_text(&s, "sites", 0, "call", "cudaStreamSynchronize");
	scene_text(&s, "sites", 0, "op", "aten::_local_scalar_dense");
	scene_text(&s, "sites", 0, "outer_op", "aten::item");
	scene_text(&s, "sites", 0, "frame", "train.py:12 go");
	scene_int(&s, "sites", 0, "count", 2);
	scene_int(&s, "sites", 0, "step_count", 2);
	scene_int(&s, "sites", 0, "blocked_ns", 320000);
	scene_int(&s, "sites", 0, "median_ns", 160000);
	/* two gaps of 100 us, of which the call blocks for 10 us each */
	scene_int(&s, "sites", 0, "idle_ns", 20000);
	scene_int(&s, "sites", 0, "drained_ns", 200000);
	scene_int(&s, "sites", 0, "drained_count", 2);
	scene_int(&s, "sites", 0, "useful_ns", 200000);
	scene_close(&s);
}

/* The host waits: what the GPU did meanwhile is said, if anything is known. */
static void test_no_idle(void **state)
{
	static const char while_idle[] =
		TRACE(LAUNCH(10, 5, 1) KERNEL("k", 20, 10, 7, 1)
			      CALL("cudaMalloc", 60, 100, 0) LAUNCH(200, 5, 2)
				      KERNEL("k", 210, 10, 7, 2));
	static const char before[] = TRACE(CALL("cudaMalloc", 3, 5, 0) LAUNCH(
		10, 5, 1) KERNEL("k", 20, 10, 7, 1));
	static const char busy[] = TRACE(
		LAUNCH(10, 5, 1) KERNEL("k", 20, 300, 7, 1)
			CALL("cudaDeviceSynchronize", 60, 100, 0)
				LAUNCH(200, 5, 2) KERNEL("k", 320, 10, 7, 2));
	static const char no_gpu[] =
		TRACE(CALL("cudaDeviceSynchronize", 60, 100, 0));
	static const char unknown[] = TRACE(CALL("cudaMalloc", 3, 5, 0) CALL(
		"cudaDeviceSynchronize", 60, 100, 0));
	static const char no_calls[] = TRACE(KERNEL("k", 20, 10, 7, 1));
	/* of fills those wait, by their calls, that the host sees */
	static const char fills[] = TRACE(
		CALL("cudaMemset", 10, 5, 1) CALL("cudaMemset", 20, 30, 2) CALL(
			"cudaMemsetAsync", 60, 30,
			3) WORK("gpu_memset", "Memset (Device)", 16, 4, 7, 1)
			WORK("gpu_memset", "Memset (Pinned)", 25, 20, 7, 2)
				WORK("gpu_memset", "Memset (Managed)", 65, 20,
				     7, 3));
	/* a first use is told apart, what it calls inside is part of it */
	static const char first[] = TRACE(
		CALL("cudaFree", 3, 2000, 0) CALL("cuMemFree", 10, 1500, 0)
			CALL("cudaFree", 2500, 9, 0) LAUNCH(2600, 5, 1)
				KERNEL("k", 2610, 10, 7, 1));
	/* what a copy needs before it begins is idle time of its call */
	static const char copy[] = TRACE(
		LAUNCH(10, 5, 1) KERNEL("k", 20, 10, 7,
					1) CALL("cudaMemcpyAsync", 40, 1000, 2)
			WORK("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)",
			     900, 140, 7, 2));
	/* of the allocator, though a GPU works for a while */
	static const char partly[] =
		TRACE(LAUNCH(10, 5, 1) KERNEL("k", 20, 45, 7, 1)
			      CALL("cudaMalloc", 60, 100, 0) LAUNCH(200, 5, 2)
				      KERNEL("k", 210, 10, 7, 2));
	static const char threads[] =
		TRACE(CALL("cudaDeviceSynchronize", 60, 100, 0)
			      CALL_ON(8, "cudaDeviceSynchronize", 60, 100, 0));
	static const struct {
		const char *trace, *finding;
	} cases[] = {
		{ first,
		  "No call waits for a GPU, but 1 of the allocator blocks the "
		  "host for 9.000 us. No GPU work is recorded meanwhile. It is "
		  "cudaFree. 1 call of first use is left out, which takes "
		  "2.000 ms: cudaFree" },
		{ copy,
		  "1 call waits for a GPU and blocks the host for 1.000 ms. No "
		  "GPU work is recorded for 860.000 us of that. 860.000 us of "
		  "idle time (84.31 % of the GPU's time) is due to it, all of "
		  "it in cudaMemcpyAsync" },
		{ partly,
		  "1 call blocks the host for 100.000 us, which is the "
		  "allocator's. No GPU work is recorded for 95.000 us of that. "
		  "95.000 us of idle time (47.50 % of the GPU's time) is due "
		  "to it, all of it in cudaMalloc" },
		{ threads,
		  "2 calls wait for a GPU and block the host for 200.000 us, "
		  "summed over 2 threads. The largest part, 200.000 us, is in "
		  "cudaDeviceSynchronize" },
		{ no_calls, "There are no runtime calls: what waits for a GPU "
			    "is not known" },
		{ unknown, "2 calls block the host for 105.000 us, 1 of them "
			   "the allocator's (5.000 us). The largest part, "
			   "100.000 us, is in cudaDeviceSynchronize" },
		{ while_idle,
		  "No call waits for a GPU, but 1 of the allocator blocks the "
		  "host for 100.000 us. "
		  "No GPU work is recorded meanwhile. 100.000 us of idle time "
		  "(50.00 % of the GPU's time) is due to it, all of it in "
		  "cudaMalloc" },
		{ before,
		  "No call waits for a GPU, but 1 of the allocator blocks the "
		  "host for 5.000 us. "
		  "No GPU work is recorded meanwhile. It is cudaMalloc" },
		{ busy,
		  "1 call waits for a GPU and blocks the host for 100.000 us. "
		  "A GPU works all the while. It is "
		  "cudaDeviceSynchronize" },
		{ fills,
		  "1 call waits for a GPU and blocks the host for 30.000 us. "
		  "No GPU work is recorded for 10.000 us of that. 10.000 us of "
		  "idle time (14.49 % of the GPU's time) is due to it, all of "
		  "it in cudaMemset" },
		{ no_gpu,
		  "1 call waits for a GPU and blocks the host for 100.000 us. "
		  "It is cudaDeviceSynchronize" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pf_err err = { 0 };
		bool is_failed;
		struct scene s;

		scene_open(&s, cases[i].trace);
		s.db.err = &err;

		pf_syncs(&s.db, &all, NULL, &s.doc, &is_failed);
		support_no_error(&err);
		scene_text(&s, NULL, 0, "finding", cases[i].finding);
		/* of no GPU nothing is known, and that is not 0 */
		assert_int_equal(is_absent(pf_doc_find_table(&s.doc, "sites"),
					   "idle_ns"),
				 cases[i].trace == no_gpu ||
					 cases[i].trace == unknown ||
					 cases[i].trace == threads);
		scene_close(&s);
	}
}

#define RECORD(name, ts, dur, number)                                          \
	WORK("cuda_sync", name, ts, dur, 7, number)
static const char recorded[] =
	STEPS(12, RECORD("Stream Sync", 1060, 150, 900)
			  RECORD("Event Sync", 1560, 20, 901));

/* Each record is a row, behind the calls by which streams wait. */
static void test_records(void **state)
{
	struct pf_err err = { 0 };
	struct scene s;
	bool is_failed;

	(void)state;
	scene_open(&s, recorded);
	s.db.err = &err;

	pf_syncs(&s.db, &all, NULL, &s.doc, &is_failed);
	support_no_error(&err);
	assert_int_equal(scene_row_count(&s, "waits"), 2);
	scene_text(&s, "waits", 0, "name", "Event Sync");
	scene_text(&s, "waits", 1, "name", "Stream Sync");
	scene_text(&s, "waits", 1, "source", "record");
	scene_int(&s, "waits", 1, "ns", 150000);
	scene_close(&s);
}

static bool fails(struct scene *s, const struct pf_syncs_args *args)
{
	struct pf_doc doc = { 0 };
	struct pf_err err = { 0 };
	bool is_failed = false;
	s->db.err = &err;

	pf_syncs(&s->db, args, NULL, &doc, &is_failed);
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
	scene_open(&s, between);
	args.allow.count = 0;
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
	same.db.err = &err;

	assert_int_equal(pf_syncs(&same.db, &args, NULL, &doc, &is_failed), -1);
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

/*
 * The GPU runs dry in cudaHostAlloc (it ends at 110, the call lasts to 120),
 * but cudaFree then takes 200 of the 300 us up to the next work; the
 * rest is due to cudaHostAlloc.
 */
static const char two_calls[] = TRACE(
	LAUNCH(0, 5, 1) KERNEL("k", 10, 100, 7, 1)
		CALL("cudaHostAlloc", 105, 15, 0) CALL("cudaFree", 150, 200, 0)
			LAUNCH(400, 5, 2) KERNEL("k", 410, 10, 7, 2));

static void test_each_its_own(void **state)
{
	struct pf_err err = { 0 };
	struct scene s;
	bool is_failed;

	(void)state;
	scene_open(&s, two_calls);
	s.db.err = &err;

	pf_syncs(&s.db, &all, NULL, &s.doc, &is_failed);
	support_no_error(&err);
	assert_int_equal(scene_row_count(&s, "sites"), 2);
	scene_text(&s, "sites", 0, "call", "cudaFree");
	scene_int(&s, "sites", 0, "idle_ns", 200000);
	scene_int(&s, "sites", 0, "drained_count", 0);
	scene_text(&s, "sites", 1, "call", "cudaHostAlloc");
	scene_int(&s, "sites", 1, "idle_ns", 10000);
	scene_int(&s, "sites", 1, "drained_count", 1);
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_site),
		cmocka_unit_test(test_no_idle),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_max_per_step),
		cmocka_unit_test(test_baseline),
		cmocka_unit_test(test_each_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
