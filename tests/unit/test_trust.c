/* SPDX-License-Identifier: MIT */
/* The note of what an answer leaves out: windows, devices, old databases. */
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/trust.h"
#include "store/ingest.h"

#define RANGE(cat, name, ts, dur, pid, tid, args)                              \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": " #pid ", \"tid\": " #tid ", \"ts\": " #ts               \
	", \"dur\": " #dur ", \"args\": {" args "}},\n"
#define CALL(ts, dur, number)                                                  \
	RANGE("cuda_runtime", "cudaLaunchKernel", ts, dur, 9, 9,               \
	      "\"correlation\": " #number)
#define WORK(ts, dur, device, number)                                          \
	RANGE("kernel", "k", ts, dur, device, 7,                               \
	      "\"device\": " #device                                           \
	      ", \"stream\": 7, \"correlation\": " #number)
#define TRACE(rank, events)                                                    \
	"{\"distributedInfo\": {\"rank\": " #rank                              \
	"}, \"traceEvents\": [\n" events                                       \
	"{\"ph\": \"i\", \"name\": \"x\", \"pid\": 9, \"tid\": 9, "            \
	"\"ts\": 0}]}"

/* GPU 0: 30 of 40 us launched; GPU 1: 0 of 60. */
#define RANK_0                                                                 \
	TRACE(0, CALL(1, 1, 1) WORK(10, 30, 0, 1) WORK(50, 10, 0, 2)           \
			 WORK(20, 60, 1, 3))
/* All launched: 100 us. */
#define RANK_1 TRACE(1, CALL(1, 1, 1) WORK(10, 100, 0, 1))

struct scene {
	char *dir, *traces[2], *path;
	struct pf_db db;
	struct pf_window_args args;
};

static void scene_open(struct scene *s, const char *first, const char *second)
{
	struct pf_ingest_options o = { .path_count = second ? 2 : 1,
				       .rank = -1 };
	struct pf_err err = { 0 };

	memset(s, 0, sizeof(*s));
	s->args = (struct pf_window_args)PF_WINDOW_DEFAULTS;
	s->dir = support_tmp_take();
	s->traces[0] = support_path_take(s->dir, "a.json");
	s->traces[1] = support_path_take(s->dir, "b.json");
	s->path = support_path_take(s->dir, "t.db");
	support_write(s->traces[0], first, strlen(first));
	if (second)
		support_write(s->traces[1], second, strlen(second));
	o.paths = (const char *const *)s->traces;
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
	free(s->traces[0]);
	free(s->traces[1]);
	free(s->path);
}

/* As a program before these facts left it. */
static void make_old(struct scene *s)
{
	struct pf_err err = { 0 };
	sqlite3 *sql;

	pf_db_close(&s->db);
	assert_int_equal(sqlite3_open(s->path, &sql), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sql,
				      "DELETE FROM trace_fact"
				      " WHERE key LIKE 'gpu_%'",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(sql);
	memset(&s->db, 0, sizeof(s->db));
	pf_db_open(&s->db, s->path, false, &err);
	support_no_error(&err);
}

/* The first note, or none if NULL. */
static void expect(struct scene *s, unsigned needs, const char *note)
{
	struct pf_window window = { 0 };
	struct pf_doc doc = { 0 };
	struct pf_err err = { 0 };

	pf_window_resolve(&s->db, &s->args, &window, &err);
	support_no_error(&err);
	pf_trust_note(&s->db, &window, needs, &doc, &err);
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

static void check_all(struct scene *s)
{
	const struct pf_window_args all = PF_WINDOW_DEFAULTS;

	expect(s, PF_TRUST_LINKS,
	       "2 GPU events (35.00 % of GPU time) have no launch call");
	expect(s, PF_TRUST_WORK, NULL);
	expect(s, 0, NULL);
	s->args.rank = 0;
	expect(s, PF_TRUST_LINKS,
	       "2 GPU events (70.00 % of GPU time) have no launch call");
	s->args.device = 0;
	expect(s, PF_TRUST_LINKS,
	       "1 GPU event (25.00 % of GPU time) has no launch call");
	s->args.device = 1;
	expect(s, PF_TRUST_LINKS | PF_TRUST_WORK,
	       "1 GPU event (100.00 % of GPU time) has no launch call");
	s->args.rank = 1;
	expect(s, PF_TRUST_LINKS | PF_TRUST_WORK,
	       "no GPU work on GPU 1; there is some on 0, 1");
	s->args.device = -1;
	expect(s, PF_TRUST_LINKS | PF_TRUST_WORK, NULL);
	/* to is not in the window, from is: work starts at 10, 20 and 50 */
	s->args = all;
	s->args.rank = 0;
	s->args.to_ns = 20000;
	expect(s, PF_TRUST_LINKS, NULL);
	s->args.to_ns = 20001;
	expect(s, PF_TRUST_LINKS,
	       "1 GPU event (66.67 % of GPU time) has no launch call");
	s->args.from_ns = 20000;
	s->args.to_ns = -1;
	expect(s, PF_TRUST_LINKS,
	       "2 GPU events (100.00 % of GPU time) have no launch call");
	s->args.from_ns = 50001;
	expect(s, PF_TRUST_LINKS | PF_TRUST_WORK,
	       "no GPU work starts in this window");
	s->args = all;
	/* both traces from 15 us on: what starts later is rank 0's */
	s->args.from_ns = 15000;
	expect(s, PF_TRUST_LINKS,
	       "2 GPU events (100.00 % of GPU time) have no launch call");
	s->args = all;
}

static void test_windows(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, RANK_0, RANK_1);
	check_all(&s);
	make_old(&s);
	check_all(&s);
	scene_close(&s);
}

/* Nothing is without its call: only whether there is work is looked up. */
static void test_linked(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, RANK_1, NULL);
	for (int i = 0; i < 2; i++) {
		expect(&s, PF_TRUST_LINKS | PF_TRUST_WORK, NULL);
		s.args.from_ns = 9000;
		expect(&s, PF_TRUST_LINKS | PF_TRUST_WORK, NULL);
		s.args.from_ns = 10001;
		expect(&s, PF_TRUST_LINKS | PF_TRUST_WORK,
		       "no GPU work starts in this window");
		s.args.from_ns = -1;
		make_old(&s);
	}
	scene_close(&s);
}

static void test_needs(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TRACE(0, RANGE("cpu_op", "a", 1, 5, 9, 9, "\"a\": 1")),
		   NULL);
	expect(&s, PF_TRUST_WORK | PF_TRUST_LINKS | PF_TRUST_STACKS,
	       "record GPU work with activities=[ProfilerActivity.CPU, "
	       "ProfilerActivity.CUDA]");
	expect(&s, PF_TRUST_STEPS,
	       "mark steps with step() of torch.profiler's profile, or name "
	       "other ranges with --steps");
	expect(&s, PF_TRUST_SHAPES, "record shapes with record_shapes=True");
	scene_close(&s);
	scene_open(&s, RANK_1, NULL);
	expect(&s, PF_TRUST_STACKS,
	       "record lines of Python with with_stack=True");
	scene_close(&s);
}

/* A cut file, an event that cannot be read, and work without its call. */
static void test_damage(void **state)
{
	struct scene s;

	(void)state;
	scene_open(
		&s,
		"{\"traceEvents\": [\n{\"ph\": \"X\", \"name\": \"c\"},\n" WORK(
			10, 10, 0, 1) "{\"ph\": \"X\", \"na",
		NULL);
	expect(&s, PF_TRUST_WORK,
	       "1 trace cut off or damaged; 1 event that could not be read");
	scene_close(&s);
	scene_open(&s,
		   "{\"traceEvents\": [\n" CALL(1, 1, 5)
			   WORK(10, 10, 0, 1) "{\"ph\": \"X\", \"na",
		   NULL);
	expect(&s, PF_TRUST_WORK | PF_TRUST_LINKS,
	       "1 GPU event (100.00 % of GPU time) has no launch call; 1 "
	       "trace cut off or damaged");
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_linked),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
