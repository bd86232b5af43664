/* SPDX-License-Identifier: MIT */
/* The note of what an answer leaves out: windows, devices, old databases. */
#include "unit/events.h"
#include "unit/scene.h"

#include "events/trust.h"

/* GPU 0: 30 of 40 us launched; GPU 1: 0 of 60. */
#define RANK_0                                                                 \
	TRACE_WITH(RANK(0), LAUNCH(1, 1, 1) KERNEL_ON(0, "k", 10, 30, 7, 1)    \
				    KERNEL_ON(0, "k", 50, 10, 7, 2)            \
					    KERNEL_ON(1, "k", 20, 60, 7, 3))
/* All launched: 100 us. */
#define RANK_1 TRACE_WITH(RANK(1), LAUNCH(1, 1, 1) KERNEL("k", 10, 100, 7, 1))

struct asked {
	struct scene scene;
	struct pf_window_args args;
};

static void ask(struct asked *a, const char *first, const char *second)
{
	scene_open_two(&a->scene, first, second);
	a->args = (struct pf_window_args)PF_WINDOW_DEFAULTS;
}

/* As a program before these facts left it. */
static void make_old(struct asked *a)
{
	scene_change(&a->scene,
		     "DELETE FROM trace_fact WHERE key LIKE 'gpu_%'");
}

/* The first note, or none if NULL. */
static void expect(struct asked *a, unsigned needs, const char *note)
{
	struct pf_window window = { 0 };
	struct pf_doc doc = { 0 };
	struct pf_err err = { 0 };
	a->scene.db.err = &err;

	pf_window_resolve(&a->scene.db, &a->args, &window);
	support_no_error(&err);
	pf_trust_note(&a->scene.db, &window, needs, &doc);
	support_no_error(&err);
	if (!note) {
		assert_int_equal(doc.note_count, 0);
	} else {
		assert_int_equal(doc.note_count, 1);
		assert_string_equal(doc.notes[0], note);
	}
	pf_doc_release(&doc);
	pf_window_release(&window);
}

static void check_all(struct asked *a)
{
	const struct pf_window_args all = PF_WINDOW_DEFAULTS;

	expect(a, PF_TRUST_LINKS,
	       "2 GPU events (35.00 % of GPU time in the capture) have no "
	       "launch call");
	expect(a, PF_TRUST_WORK, NULL);
	expect(a, 0, NULL);
	a->args.rank = "0";
	expect(a, PF_TRUST_LINKS,
	       "2 GPU events (70.00 % of GPU time in the capture) have no "
	       "launch call");
	a->args.device = 0;
	expect(a, PF_TRUST_LINKS,
	       "1 GPU event (25.00 % of GPU time) has no launch call");
	a->args.device = 1;
	expect(a, PF_TRUST_LINKS | PF_TRUST_WORK,
	       "1 GPU event (100.00 % of GPU time) has no launch call");
	a->args.rank = "1";
	expect(a, PF_TRUST_LINKS | PF_TRUST_WORK,
	       "no GPU work on GPU 1; there is some on 0, 1");
	a->args.device = -1;
	expect(a, PF_TRUST_LINKS | PF_TRUST_WORK, NULL);
	/* to is not in the window, from is: work starts at 10, 20 and 50 */
	a->args = all;
	a->args.rank = "0";
	a->args.to_ns = 20000;
	expect(a, PF_TRUST_LINKS, NULL);
	a->args.to_ns = 20001;
	expect(a, PF_TRUST_LINKS,
	       "1 GPU event (66.67 % of GPU time) has no launch call");
	a->args.from_ns = 20000;
	a->args.to_ns = -1;
	expect(a, PF_TRUST_LINKS,
	       "2 GPU events (100.00 % of GPU time) have no launch call");
	a->args.from_ns = 50001;
	expect(a, PF_TRUST_LINKS | PF_TRUST_WORK,
	       "no GPU work starts in this window");
	a->args = all;
	/* both traces from 15 us on: what starts later is rank 0's */
	a->args.from_ns = 15000;
	expect(a, PF_TRUST_LINKS,
	       "2 GPU events (100.00 % of GPU time) have no launch call");
	a->args = all;
}

static void test_windows(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, RANK_0, RANK_1);
	check_all(&a);
	make_old(&a);
	check_all(&a);
	scene_close(&a.scene);
}

/* Nothing is without its call: only whether there is work is looked up. */
static void test_linked(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, RANK_1, NULL);
	for (int i = 0; i < 2; i++) {
		expect(&a, PF_TRUST_LINKS | PF_TRUST_WORK, NULL);
		a.args.from_ns = 9000;
		expect(&a, PF_TRUST_LINKS | PF_TRUST_WORK, NULL);
		a.args.from_ns = 10001;
		expect(&a, PF_TRUST_LINKS | PF_TRUST_WORK,
		       "no GPU work starts in this window");
		a.args.from_ns = -1;
		make_old(&a);
	}
	scene_close(&a.scene);
}

/* A trace of JAX: two devices, told by the names of their processes only. */
static void test_foreign(void **state)
{
	static const char jax[] =
		"{\"metadata\": {\"highres-ticks\": true}, \"traceEvents\": ["
		"{\"ph\": \"M\", \"pid\": 2, \"name\": \"process_name\", "
		"\"args\": {\"name\": \"/device:GPU:1\"}},"
		"{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", "
		"\"args\": {\"name\": \"/device:GPU:0\"}},"
		"{\"ph\": \"M\", \"pid\": 701, \"name\": \"process_name\", "
		"\"args\": {\"name\": \"/host:CPU\"}},"
		"{\"ph\": \"X\", \"pid\": 701, \"tid\": 3, \"ts\": 1, "
		"\"dur\": 9, \"name\": \"f\"},"
		"{\"ph\": \"X\", \"pid\": 1, \"tid\": 5, \"ts\": 2, "
		"\"dur\": 1, \"name\": \"fusion\"},"
		"{\"ph\": \"X\", \"pid\": 1, \"tid\": 6, \"ts\": 3, "
		"\"dur\": 1, \"name\": \"fusion\"},"
		"{\"ph\": \"X\", \"pid\": 2, \"tid\": 5, \"ts\": 4, "
		"\"dur\": 1, \"name\": \"fusion\"}, {}]}";
	struct asked a;

	(void)state;
	ask(&a, jax, NULL);
	expect(&a, PF_TRUST_WORK,
	       "3 events of /device:GPU:0, /device:GPU:1 are not taken for GPU "
	       "work: what is said of the GPU leaves them out");
	scene_close(&a.scene);
}

static void test_needs(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, TRACE(HOST("cpu_op", "a", 1, 5)), NULL);
	expect(&a, PF_TRUST_WORK | PF_TRUST_LINKS | PF_TRUST_STACKS,
	       "record GPU work with activities=[ProfilerActivity.CPU, "
	       "ProfilerActivity.CUDA]");
	expect(&a, PF_TRUST_STEPS,
	       "mark steps with a schedule and step() of torch.profiler's "
	       "profile, or name "
	       "other ranges with --steps");
	expect(&a, PF_TRUST_SHAPES, "record shapes with record_shapes=True");
	scene_close(&a.scene);
	ask(&a, RANK_1, NULL);
	expect(&a, PF_TRUST_STACKS,
	       "record lines of Python with with_stack=True");
	scene_close(&a.scene);
}

/* A cut file, an event that cannot be read, and work without its call. */
static void test_damage(void **state)
{
	struct asked a;

	(void)state;
	ask(&a,
	    "{\"traceEvents\": [\n{\"ph\": \"X\", \"name\": "
	    "\"c\"},\n" KERNEL_ON(0, "k", 10, 10, 7, 1) "{\"ph\": \"X\", \"na",
	    NULL);
	expect(&a, PF_TRUST_WORK,
	       "1 trace cut off or damaged; 1 event that could not be read");
	scene_close(&a.scene);
	ask(&a,
	    "{\"traceEvents\": [\n" LAUNCH(1, 1, 5)
		    KERNEL_ON(0, "k", 10, 10, 7, 1) "{\"ph\": \"X\", \"na",
	    NULL);
	expect(&a, PF_TRUST_WORK | PF_TRUST_LINKS,
	       "1 GPU event (100.00 % of GPU time in the capture) has no "
	       "launch call; 1 "
	       "trace cut off or damaged");
	scene_close(&a.scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows), cmocka_unit_test(test_linked),
		cmocka_unit_test(test_foreign), cmocka_unit_test(test_needs),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
