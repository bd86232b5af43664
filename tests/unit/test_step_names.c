/* SPDX-License-Identifier: MIT */
/* Steps of other names: patterns, which ranges count, numbers, GPU work. */
#include "unit/events.h"
#include "unit/scene.h"

#include <stdlib.h>
#include <string.h>

#include "events/step.h"
#include "analysis/time/steps.h"
#include "events/window.h"

#define NOTE(name, ts, dur, tid) HOST_ON(tid, "user_annotation", name, ts, dur)
/* An instant of a step's name counts as none. */
#define MARKED(events)                                                         \
	TRACE(events "{\"ph\": \"i\", \"name\": \"train 9\", \"pid\": 9, "     \
		     "\"tid\": 9, \"ts\": 0},\n")

struct named {
	struct scene scene;
	struct pf_steps steps;
};

static void named_open(struct named *n, const char *json)
{
	scene_open(&n->scene, json);
	n->steps = (struct pf_steps){ 0 };
}

static void load(struct named *n, const char *pattern)
{

	pf_steps_release(&n->steps);

	pf_steps_load(&n->scene.db, pattern, &n->steps);
	support_no_error(&n->scene.err);
}

static void named_close(struct named *n)
{
	pf_steps_release(&n->steps);
	scene_close(&n->scene);
}

/* Number, start and extended end in us. */
static void expect(const struct named *n, size_t i, int64_t step, int64_t start,
		   int64_t end)
{
	assert_true(i < n->steps.count);
	assert_int_equal(n->steps.items[i].step, step);
	assert_int_equal(n->steps.items[i].start_ns, start * 1000);
	assert_int_equal(n->steps.items[i].end_ns, end * 1000);
}

static void refuse(const char *pattern, const char *text)
{
	struct pf_err err = { 0 };

	assert_null(pf_step_regex_new(pattern, &err));
	support_error(&err, PF_EUSAGE, text);
}

static bool matches(const char *pattern, const char *name, size_t len)
{
	struct pf_err err = { 0 };
	struct pf_step_regex *r = pf_step_regex_new(pattern, &err);
	bool yes;

	support_no_error(&err);
	yes = pf_step_regex_matches(r, name, len);
	pf_step_regex_free(r);
	return yes;
}

static void test_patterns(void **state)
{
	static const char with_nul[] = "train\0step";
	char *name = malloc(2000), pattern[300];

	(void)state;
	assert_true(matches("^train_(step|batch)$", "train_batch", 11));
	assert_false(matches("^train_(step|batch)$", "train_batches", 13));
	assert_true(matches("", "anything", 8));
	assert_true(matches("a{3}", "baaab", 5));
	/* not one byte past the length; up to a NUL; up to 1024 bytes */
	assert_false(matches("steps", "steps", 4));
	assert_true(matches("^train$", with_nul, sizeof(with_nul) - 1));
	memset(name, 'a', 2000);
	name[1023] = 'b';
	name[1024] = 'c';
	assert_true(matches("b$", name, 2000));
	assert_false(matches("c", name, 2000));
	free(name);
	/* hostile patterns */
	refuse("(", "is no pattern");
	refuse("[z-a]", "is no pattern");
	refuse("(a*)\\1", "back-references");
	assert_true(matches("a\\\\1", "a\\1", 3)); /* an escaped backslash */
	refuse("a{1001}", "too large");
	refuse("((a{1,30}){1,30}){1,30}", "too large");
	refuse("a{1,99999999999999999999}", "too large");
	refuse("a{500}b{500}", "too large");
	memset(pattern, '(', sizeof(pattern));
	pattern[257] = '\0';
	refuse(pattern, "too large");
	pattern[256] = '\0';
	refuse(pattern, "is no pattern");
}

/* A pattern that makes backtracking matchers run for ever. */
static void test_slow_pattern(void **state)
{
	char name[1024];

	(void)state;
	memset(name, 'a', sizeof(name));
	assert_false(matches("^(a+)+$|(a|aa)+b", "b", 1));
	assert_false(matches("^(a|a)*b$", name, sizeof(name)));
	assert_false(matches("((a*)*)*b", name, sizeof(name)));
}

static void test_numbers(void **state)
{
	struct named n;

	(void)state;
	named_open(&n,
		   MARKED(NOTE("train 7", 0, 10, 9) NOTE(
			   "train 12", 20, 10, 9) NOTE("layer2", 40, 10, 9)
				  NOTE("layer1", 60, 10, 9) NOTE(
					  "x1", 80, 10, 9) NOTE("x", 90, 5, 9)
					  NOTE("y99999999999999999999", 97, 1,
					       9)));
	load(&n, "^train");
	assert_int_equal(n.steps.count, 2);
	expect(&n, 0, 7, 0, 10);
	expect(&n, 1, 12, 20, 30);
	/* numbers that do not ascend, or not all there: counted */
	load(&n, "layer");
	expect(&n, 0, 0, 40, 50);
	expect(&n, 1, 1, 60, 70);
	load(&n, "^x");
	expect(&n, 0, 0, 80, 90);
	expect(&n, 1, 1, 90, 95);
	load(&n, "^y");
	expect(&n, 0, 0, 97, 98);
	named_close(&n);
}

/* Thread 5 has most, after what is nested has gone. */
static void test_threads(void **state)
{
	struct named n;
	struct pf_err err = { 0 };

	(void)state;
	named_open(&n,
		   MARKED(NOTE("step", 0, 100, 3) NOTE("step", 10, 10, 3) NOTE(
			   "step", 30, 10, 3) NOTE("step", 50, 10, 3)
				  NOTE("step", 5, 40, 5) NOTE("step", 60, 40, 5)
					  NOTE("step", 70, 10, 5)
						  NOTE("step", 0, 9, 6)));
	load(&n, "step");
	assert_int_equal(n.steps.count, 2);
	expect(&n, 0, 0, 5, 45);
	expect(&n, 1, 1, 60, 100);
	pf_steps_release(&n.steps);
	n.scene.db.err = &err;

	pf_steps_load(&n.scene.db, "nothing", &n.steps);
	support_error(&err, PF_EDATA, "no range of the host matches");
	named_close(&n);
}

/* A call that lies in a step, on whatever thread, extends it by its work. */
static void test_gpu_work(void **state)
{
	struct named n;

	(void)state;
	named_open(&n,
		   MARKED(NOTE("it", 0, 50, 9) NOTE("it", 50, 50, 9) NOTE(
			   "it", 200, 10, 9) LAUNCH(45, 5, 1) LAUNCH(46, 5, 2)
				  LAUNCH(150, 5, 3) LAUNCH(50, 1, 4) KERNEL(
					  "k", 60, 30, 7, 1) KERNEL("k", 50,
								    100, 7, 2)
					  KERNEL("k", 160, 10, 7, 3)
						  KERNEL("k", 95, 25, 7, 4)));
	load(&n, "^it$");
	assert_int_equal(n.steps.count, 3);
	expect(&n, 0, 0, 0, 90);
	expect(&n, 1, 1, 90, 120);
	expect(&n, 2, 2, 200, 210);
	assert_int_equal(n.steps.items[0].gpu_count, 1);
	assert_int_equal(n.steps.items[1].gpu_count, 1);
	assert_true(n.steps.items[2].is_partial);
	named_close(&n);
}

/* The range of a step is no work of the CPU in the breakdown. */
static void test_breakdown(void **state)
{
	struct pf_steps_args args = { .window = PF_WINDOW_DEFAULTS };
	struct pf_doc doc = { 0 };
	struct pf_err err = { 0 };
	struct named n;
	const struct pf_table *t;
	bool is_seen = false;

	(void)state;
	named_open(&n, MARKED(NOTE("it", 0, 50, 9) NOTE("mine", 10, 5, 9)));
	args.window.steps = "^it$";
	n.scene.db.err = &err;

	pf_steps_answer(&n.scene.db, &args, NULL, &doc);
	support_no_error(&err);
	t = doc.tables[0];
	for (size_t i = 0; i < pf_table_row_count(t); i++)
		if (!strcmp(pf_table_row(t, i)[0].v.text.s, "cpu")) {
			is_seen = true;
			assert_int_equal(pf_table_row(t, i)[1].v.i, 5000);
		}
	assert_true(is_seen);
	pf_doc_release(&doc);
	named_close(&n);
}

static void test_window(void **state)
{
	struct pf_window_args args = PF_WINDOW_DEFAULTS;
	struct pf_window w = { 0 };
	struct pf_err err = { 0 };
	struct named n;

	(void)state;
	named_open(&n, MARKED(NOTE("it", 0, 50, 9) NOTE("it", 60, 40, 9)
				      NOTE("it", 200, 10, 9)));
	args.steps = "^it";
	args.step = "1";
	n.scene.db.err = &err;

	pf_window_resolve(&n.scene.db, &args, &w);
	support_no_error(&err);
	assert_int_equal(w.traces[0].from_ns, 60000);
	assert_int_equal(w.traces[0].to_ns, 100000);
	pf_window_release(&w);
	args.step = NULL;
	args.skip_first = 2;
	pf_window_resolve(&n.scene.db, &args, &w);
	support_no_error(&err);
	assert_int_equal(w.traces[0].from_ns, 200000);
	pf_window_release(&w);
	/* a wrong pattern is one even where no step is asked for */
	args.skip_first = 0;
	args.steps = "(";
	pf_window_resolve(&n.scene.db, &args, &w);
	support_error(&err, PF_EUSAGE, "is no pattern");
	pf_window_release(&w);
	named_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_slow_pattern),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_gpu_work),
		cmocka_unit_test(test_breakdown),
		cmocka_unit_test(test_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
