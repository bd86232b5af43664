/* SPDX-License-Identifier: MIT */
/*
 * key_averages() of small traces whose answers were worked out by hand, by
 * the rules of torch's profiler.
 */
#include "unit/scene.h"

#include <stdlib.h>
#include <string.h>

#include "torch/averages.c"
#include "torch/groups.c"
#include "torch/impl.h"

/* ---- events of a trace; times in us ---- */

#define RANGE(cat, name, ts, dur, tid, args)                                   \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": 1, \"tid\": " #tid ", \"ts\": " #ts                      \
	".000, \"dur\": " #dur ".000, \"args\": {" args "}},\n"
#define OP(name, ts, dur, id)                                                  \
	RANGE("cpu_op", name, ts, dur, 1,                                      \
	      "\"External id\": " #id ", \"Ev Idx\": " #id)
#define NOTE(name, ts, dur, id)                                                \
	RANGE("user_annotation", name, ts, dur, 1,                             \
	      "\"External id\": " #id ", \"Ev Idx\": " #id)
#define CALL(name, ts, dur, tid, link, number)                                 \
	RANGE("cuda_runtime", name, ts, dur, tid,                              \
	      "\"External id\": " #link ", \"correlation\": " #number)
#define LOOSE_CALL(name, ts, dur, tid, number)                                 \
	RANGE("cuda_runtime", name, ts, dur, tid, "\"correlation\": " #number)
#define KERNEL(name, ts, dur, link, number)                                    \
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name               \
	"\", \"pid\": 0, \"tid\": 7, \"ts\": " #ts ".000, \"dur\": " #dur      \
	".000, \"args\": {\"External id\": " #link                             \
	", \"correlation\": " #number ", \"device\": 0, \"stream\": 7}},\n"
#define MEMORY(ts, bytes, type)                                                \
	"{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\","        \
	" \"name\": \"[memory]\", \"pid\": 1, \"tid\": 1, \"ts\": " #ts        \
	".000, \"args\": {\"Bytes\": " #bytes ", \"Device Type\": " #type      \
	", \"Ev Idx\": 900}},\n"
#define SPAN                                                                   \
	"{\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"PyTorch Profiler"     \
	" (0)\", \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\","           \
	" \"ts\": 0.000, \"dur\": 900.000}"

#define MODERN(events)                                                         \
	"{\"baseTimeNanoseconds\": 1700000000000000000, \"with_flops\": 1,"    \
	" \"traceEvents\": [\n" events SPAN "]}"

/* With what ingest stores of them. */
static void open_stored(struct scene *s, const char *json)
{
	const struct pf_ingest_options options = { .rank = -1,
						   .extra =
							   &pf_averages_extra };

	scene_open_with(s, &json, 1, &options);
}

static void averages(struct scene *s, int torch, bool by_shape,
		     struct pf_averages *out)
{
	struct pf_averages_args args = { .trace_id = 1,
					 .torch = torch,
					 .step = -1,
					 .grouping = { { .by_shape =
								 by_shape } },
					 .grouping_count = 1 };
	struct pf_err err = { 0 };

	pf_averages(&s->db, &args, out, &err);
	support_no_error(&err);
}

static const struct pf_average *find(const struct pf_averages *a,
				     const char *name)
{
	for (size_t i = 0; i < a->list[0].count; i++)
		if (!strcmp(a->list[0].rows[i].name, name))
			return &a->list[0].rows[i];
	return NULL;
}

/* Checks count and times in us of a row. */
static void check(const struct pf_averages *a, const char *name, int count,
		  int self_cpu, int cpu, int self_device, int device)
{
	const int want[PF_FIG_COUNT] = { self_cpu, cpu, self_device, device };
	const struct pf_average *r = find(a, name);

	assert_non_null(r);
	assert_int_equal(r->count, count);
	for (int i = 0; i < PF_FIG_COUNT; i++) {
		assert_int_equal(r->sum.ns[i], want[i] * INT64_C(1000));
		assert_true(r->sum.us[i] == want[i]);
	}
}

static void nesting(void **state)
{
	struct pf_averages a;
	struct scene s;

	(void)state;
	open_stored(&s, MODERN(OP("a", 10, 100, 1) OP("b", 20, 30, 2) CALL(
				"launch", 25, 5, 1, 2, 1001) KERNEL("k", 60, 40,
								    2, 1001)
				       KERNEL("loose", 110, 5, 0, 1002)));
	averages(&s, 0, false, &a);
	check(&a, "a", 1, 70, 100, 0, 40);
	check(&a, "b", 1, 25, 30, 40, 40);
	check(&a, "launch", 1, 5, 5, 0, 0);
	check(&a, "k", 1, 0, 0, 40, 40);
	assert_true(find(&a, "b")->has_parent && !find(&a, "a")->has_parent);
	assert_string_equal(a.list[0].rows[0].name, "a");
	assert_int_equal(a.trust.device_ns, 45000);
	assert_int_equal(a.trust.unlinked_ns, 5000);
	assert_int_equal(a.trust.unlinked_count, 1);
	pf_averages_release(&a);
	scene_close(&s);
}

/* A closed interval at the end; one that touches the end is outside. */
static void at_borders(void **state)
{
	struct pf_averages a;
	struct scene s;

	(void)state;
	open_stored(&s, MODERN(OP("a", 10, 10, 1) OP("b", 15, 5, 2)
				       OP("c", 20, 0, 3)));
	averages(&s, 0, false, &a);
	check(&a, "a", 1, 5, 10, 0, 0);
	assert_true(find(&a, "b")->has_parent);
	assert_false(find(&a, "c")->has_parent);
	pf_averages_release(&a);
	scene_close(&s);
}

static void duplicates(void **state)
{
	struct pf_averages a;
	struct scene s;

	(void)state;
	/* a > a > a > b: one row of one call, with b's time below it and the
	 * kernels of the innermost a only. */
	open_stored(&s, MODERN(OP("a", 10, 100, 1) OP("a", 20, 80, 2) OP(
				"a", 30, 60, 3) OP("b", 40, 20, 4)
				       KERNEL("k", 60, 7, 1, 1001)
					       KERNEL("k", 70, 9, 3, 1002)));
	averages(&s, 0, false, &a);
	check(&a, "a", 1, 80, 100, 9, 9);
	pf_averages_release(&a);
	scene_close(&s);
	/* With a second child nothing is merged. */
	open_stored(&s, MODERN(OP("a", 10, 100, 1) OP("a", 20, 30, 2)
				       OP("b", 60, 20, 3)));
	averages(&s, 0, false, &a);
	check(&a, "a", 2, 50 + 30, 130, 0, 0);
	pf_averages_release(&a);
	scene_close(&s);
}

/* An unlinked call with the number of an operator takes its kernels. */
static void collisions(void **state)
{
	struct pf_averages a;
	struct scene s;

	(void)state;
	open_stored(&s,
		    MODERN(OP("a", 10, 100, 5) CALL("launch", 25, 5, 1, 5, 1001)
				   LOOSE_CALL("query", 200, 5, 1, 5)
					   KERNEL("k", 60, 40, 5, 1001)));
	averages(&s, 209, false, &a);
	check(&a, "a", 1, 95, 100, 40, 40);
	check(&a, "query", 1, 5, 5, 40, 40);
	pf_averages_release(&a);
	averages(&s, 215, false, &a);
	check(&a, "query", 1, 5, 5, 0, 0);
	pf_averages_release(&a);
	scene_close(&s);
}

/* A colliding call on the stop thread draws the operator's calls there. */
static void drawn_to_stop_thread(void **state)
{
	struct pf_averages a;
	struct scene s;

	(void)state;
	open_stored(&s,
		    MODERN(NOTE("ProfilerStep#1", 5, 500,
				50) RANGE("cpu_op", "a", 10, 100, 2,
					  "\"External id\": 5, \"Ev Idx\": 5")
				   CALL("launch", 25, 5, 2, 5, 1001)
					   LOOSE_CALL("query", 200, 5, 1, 5)));
	averages(&s, 209, false, &a);
	check(&a, "a", 1, 100, 100, 0, 0);
	check(&a, "ProfilerStep*", 1, 490, 500, 0, 0);
	pf_averages_release(&a);
	averages(&s, 215, false, &a);
	check(&a, "a", 1, 95, 100, 0, 0);
	check(&a, "ProfilerStep*", 1, 495, 500, 0, 0);
	pf_averages_release(&a);
	scene_close(&s);
}

static void overhead(void **state)
{
	struct pf_averages a;
	struct scene s;

	(void)state;
	open_stored(&s, MODERN(OP("a", 10, 100, 5)
				       RANGE("overhead", "Flush", 30, 10, 0, "")
					       KERNEL("k", 60, 40, 5, 1001)));
	averages(&s, 209, false, &a);
	check(&a, "a", 1, 90, 100, 40, 80);
	check(&a, "Flush", 1, 10, 10, 40, 40);
	pf_averages_release(&a);
	averages(&s, 214, false, &a);
	check(&a, "a", 1, 90, 100, 40, 40);
	check(&a, "Flush", 1, 10, 10, 0, 0);
	pf_averages_release(&a);
	scene_close(&s);
}

static void memory_records(void **state)
{
	struct pf_averages a;
	const struct pf_average *r;
	struct scene s;

	(void)state;
	open_stored(&s,
		    MODERN(OP("a", 10, 100, 1) OP("b", 20, 30, 2) MEMORY(
			    30, 512, 1) MEMORY(60, 64, 0) MEMORY(110, -12, 1)
				   MEMORY(300, 7, 1) MEMORY(301, 9, 3)));
	averages(&s, 211, false, &a);
	assert_true(a.has_memory);
	r = find(&a, "a");
	assert_int_equal(r->sum.bytes[PF_FIG_DEVICE], 500);
	assert_int_equal(r->sum.bytes[PF_FIG_SELF_DEVICE], -12);
	assert_int_equal(r->sum.bytes[PF_FIG_CPU], 64);
	assert_int_equal(r->sum.bytes[PF_FIG_SELF_CPU], 64);
	assert_int_equal(find(&a, "b")->sum.bytes[PF_FIG_DEVICE], 512);
	r = find(&a, "[memory]");
	assert_int_equal(r->count, 2);
	assert_int_equal(r->sum.bytes[PF_FIG_DEVICE], 7);
	assert_int_equal(r->sum.bytes[PF_FIG_CPU], 0);
	pf_averages_release(&a);
	scene_close(&s);
}

static void asynchronous(void **state)
{
	struct pf_averages a;
	struct scene s;

	(void)state;
	/* By name, and because it ends after the operator it began in. */
	open_stored(&s, MODERN(NOTE("nccl:all_reduce", 10, 100, 1)
				       OP("a", 20, 30, 2) OP("late", 40, 100, 3)
					       OP("b", 150, 10, 4)));
	averages(&s, 0, false, &a);
	check(&a, "nccl:all_reduce", 1, 0, 100, 0, 0);
	check(&a, "a", 1, 30, 30, 0, 0);
	check(&a, "late", 1, 0, 100, 0, 0);
	assert_true(find(&a, "nccl:all_reduce")->is_async);
	assert_true(find(&a, "late")->is_async);
	assert_false(find(&a, "a")->has_parent || find(&a, "a")->is_async);
	pf_averages_release(&a);
	scene_close(&s);
}

#define SHAPED(name, ts, dur, id, dims)                                        \
	RANGE("cpu_op", name, ts, dur, 1,                                      \
	      "\"External id\": " #id ", \"Ev Idx\": " #id                     \
	      ", \"Input Dims\": " dims                                        \
	      ", \"Input type\": [\"float\", \"float\"]")

static void shapes_and_flops(void **state)
{
	struct pf_averages a;
	struct scene s;

	(void)state;
	open_stored(&s,
		    MODERN(SHAPED("aten::mm", 10, 5, 1, "[[2,3],[3,4]]")
				   SHAPED("aten::mm", 20, 5, 2, "[[2,3],[3,4]]")
					   SHAPED("aten::mm", 30, 5, 3,
						  "[[1,1],[1,1]]")));
	averages(&s, 0, true, &a);
	assert_int_equal(a.list[0].count, 2);
	assert_string_equal(a.list[0].rows[0].shapes, "[[2, 3], [3, 4]]");
	assert_int_equal(a.list[0].rows[0].count, 2);
	assert_int_equal(a.list[0].rows[0].sum.flops.low, 96);
	assert_int_equal(a.list[0].rows[1].sum.flops.low, 2);
	pf_averages_release(&a);
	averages(&s, 0, false, &a);
	assert_int_equal(a.list[0].count, 1);
	assert_int_equal(a.list[0].rows[0].sum.flops.low, 98);
	assert_string_equal(a.list[0].rows[0].shapes, "");
	pf_averages_release(&a);
	scene_close(&s);
}

static void python_functions(void **state)
{
	struct pf_averages a;
	struct scene s;

	(void)state;
	open_stored(&s, MODERN(OP("a", 10, 100, 1) RANGE(
				"python_function", "f.py(1): f", 20, 50, 1,
				"\"Python id\": 1, \"Ev Idx\": 2")
				       OP("b", 30, 10, 3)));
	averages(&s, 209, false, &a);
	check(&a, "a", 1, 90, 100, 0, 0);
	assert_null(find(&a, "f.py(1): f"));
	pf_averages_release(&a);
	averages(&s, 212, false, &a);
	check(&a, "a", 1, 50, 100, 0, 0);
	check(&a, "f.py(1): f", 1, 40, 50, 0, 0);
	pf_averages_release(&a);
	averages(&s, 214, false, &a);
	check(&a, "a", 1, 50, 100, 0, 0);
	assert_null(find(&a, "f.py(1): f"));
	pf_averages_release(&a);
	scene_close(&s);
}

/* Integer us, ids equal to correlations: links come back by containment. */
static void lost_links(void **state)
{
	static const char json[] =
		"{\"traceEvents\": ["
		"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\","
		" \"pid\": 1, \"tid\": 1, \"ts\": 1000, \"dur\": 100,"
		" \"args\": {\"External id\": 1, \"Profiler Event Index\": 0}},"
		"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"b\","
		" \"pid\": 1, \"tid\": 1, \"ts\": 1010, \"dur\": 50,"
		" \"args\": {\"External id\": 2, \"Profiler Event Index\": 1}},"
		"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"l\","
		" \"pid\": 1, \"tid\": 1, \"ts\": 1020, \"dur\": 5,"
		" \"args\": {\"External id\": 71, \"correlation\": 71}},"
		"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\","
		" \"pid\": 0, \"tid\": 7, \"ts\": 1100, \"dur\": 30,"
		" \"args\": {\"External id\": 71, \"correlation\": 71}}]}";
	struct pf_averages a;
	struct scene s;

	(void)state;
	open_stored(&s, json);
	averages(&s, 0, false, &a);
	assert_int_equal(a.rules.torch, 113);
	check(&a, "a", 1, 50, 100, 0, 30);
	check(&a, "b", 1, 45, 50, 30, 30);
	check(&a, "l", 1, 5, 5, 0, 0);
	pf_averages_release(&a);
	scene_close(&s);
}

static void one_step(void **state)
{
	struct pf_averages_args args = { .trace_id = 1,
					 .step = 8,
					 .grouping_count = 1 };
	struct pf_err err = { 0 };
	struct pf_averages a;
	struct scene s;

	(void)state;
	open_stored(&s, MODERN(NOTE("ProfilerStep#7", 0, 100, 1) OP(
				"a", 10, 20, 2) NOTE("ProfilerStep#8", 100, 100,
						     3) OP("a", 110, 30, 4)
				       OP("a", 150, 2, 5) OP("a", 210, 5, 6)));
	pf_averages(&s.db, &args, &a, &err);
	support_no_error(&err);
	check(&a, "a", 2, 32, 32, 0, 0);
	check(&a, "ProfilerStep*", 1, 68, 100, 0, 0);
	pf_averages_release(&a);
	args.step = 9;
	assert_int_equal(pf_averages(&s.db, &args, &a, &err), -1);
	support_error(&err, PF_EUSAGE, "no step 9");
	scene_close(&s);
}

#define OP_ON(tid, name, ts, dur, id)                                          \
	RANGE("cpu_op", name, ts, dur, tid,                                    \
	      "\"External id\": " #id ", \"Ev Idx\": " #id)

/* Whichever thread had the last event: of equal starts the longest is first. */
static void threads_in_order(void **state)
{
	static const char *const want[] = { "a", "c", "d", "x", "y", "z" };
	struct pf_merge_args args = {
		.kinds = 1u << PF_KIND_CPU_OP,
		.columns = PF_COLBIT(PF_COL_NAME) |
			   PF_COLBIT(PF_COL_SLOT + PF_SLOT_EV_IDX),
	};
	struct pf_err err = { 0 };
	struct pf_name_fact name;
	struct pf_track *tracks;
	struct pf_facts facts;
	struct pf_merge *m;
	struct scene s;

	(void)state;
	open_stored(&s,
		    MODERN(OP_ON(1, "a", 1, 1, 1) OP_ON(1, "d", 12, 5, 2) OP_ON(
			    1, "y", 25, 1, 3) OP_ON(2, "z", 30, 1, 4)
				   OP_ON(3, "c", 12, 9, 5)
					   OP_ON(3, "x", 20, 1, 6)));
	pf_facts_init(&facts, &s.db, &err);
	pf_tracks_load(&s.db, 1, &tracks, &args.count, &err);
	args.tracks = tracks;
	m = pf_merge_new(&s.db, &facts, &args, &err);
	support_no_error(&err);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct pf_fe *fe = pf_merge_next(m, &err);

		assert_non_null(fe);
		pf_facts_name(&facts, fe->kind, &fe->name, &name, &err);
		assert_string_equal(
			pf_intern_text(&facts.texts, name.text, NULL), want[i]);
	}
	assert_null(pf_merge_next(m, &err));
	support_no_error(&err);
	pf_merge_free(m);
	pf_tracks_free(tracks, args.count);
	pf_facts_release(&facts);
	scene_close(&s);
}

/* What ingest stored is what a computation gives, bit by bit. */
static void stored(void **state)
{
	struct pf_averages_args args = { .trace_id = 1,
					 .step = -1,
					 .grouping = { { .by_shape = true } },
					 .grouping_count = 1 };
	struct pf_err err = { 0 };
	struct pf_averages a, b;
	struct scene s;

	(void)state;
	open_stored(&s,
		    MODERN(OP("a", 10, 100, 1) SHAPED("b", 20, 30, 2, "[[3]]")
				   SHAPED("b", 55, 30, 4, "[[4]]") CALL(
					   "launch", 25, 5, 1, 2, 1001)
					   KERNEL("k", 60, 40, 2, 1001)));
	for (int i = 0; i < 2; i++) {
		args.grouping[0].by_shape = i;
		assert_int_equal(pf_averages_load(&s.db, &args, &a, &err), 1);
		averages(&s, 0, i, &b);
		assert_int_equal(a.list[0].count, b.list[0].count);
		for (size_t n = 0; n < a.list[0].count; n++) {
			const struct pf_average *x = &a.list[0].rows[n];
			const struct pf_average *y = &b.list[0].rows[n];

			assert_string_equal(x->name, y->name);
			assert_string_equal(x->shapes, y->shapes);
			assert_memory_equal(&x->sum, &y->sum, sizeof(x->sum));
			assert_int_equal(x->count, y->count);
			assert_int_equal(x->has_parent, y->has_parent);
		}
		pf_averages_release(&a);
		pf_averages_release(&b);
	}
	args.torch = 205;
	assert_int_equal(pf_averages_load(&s.db, &args, &a, &err), 0);
	scene_close(&s);
}

/* ---- parts ---- */

/* Sums in the order of tickets, whatever waits in memory or on disk. */
static void sum_in_order(uint64_t waiting_max, double *sum)
{
	struct pf_group_key key = { .name = 1 };
	struct pf_groups g;
	struct pf_err err = { 0 };
	uint64_t ticket[1000];
	uint32_t group;

	pf_groups_init(&g, waiting_max, "/tmp");
	group = pf_groups_find(&g, &key);
	for (size_t i = 0; i < 1000; i++)
		ticket[i] = pf_groups_begin(&g, group);
	for (size_t i = 1000; i-- > 0;) {
		struct pf_settle s = { .group = group, .ticket = ticket[i] };
		struct pf_figures f = { 0 };

		f.us[PF_FIG_CPU] = 1.0 / (double)(i + 1);
		if (groups_settle(&g, &s, i % 7 ? &f : NULL, &err))
			break;
	}
	support_no_error(&err);
	pf_groups_finish(&g, &err);
	support_no_error(&err);
	*sum = g.group[0].sum.us[PF_FIG_CPU];
	assert_int_equal(g.group[0].count, 1000 - 143);
	pf_groups_release(&g);
}

static void order_of_sums(void **state)
{
	double want = 0, got;

	(void)state;
	for (int i = 0; i < 1000; i++)
		if (i % 7)
			want += 1.0 / (i + 1);
	sum_in_order(1 << 20, &got);
	assert_true(got == want);
	sum_in_order(64, &got);
	assert_true(got == want);
}

/* Near today's epoch a double of us counts in quarters. */
static void rounding(void **state)
{
	uint64_t random = 12345;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		int64_t t = INT64_C(1700000000000000000) +
			    (int64_t)(support_random(&random) >> 5);
		int64_t quarters = t / 250, rest = t % 250;

		if (t / 1000 >= INT64_C(1) << 51)
			continue;
		if (i % 10 == 0) {
			t += 125 - rest; /* a half: to even */
			rest = 125;
		}
		if (rest > 125 || (rest == 125 && quarters % 2))
			quarters++;
		assert_true(memory_round(t) ==
			    (double)quarters * 0.25 * 1000.0);
	}
	assert_true(memory_round(1001) == 1001.0 / 1000.0 * 1000.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nesting),
		cmocka_unit_test(at_borders),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(collisions),
		cmocka_unit_test(drawn_to_stop_thread),
		cmocka_unit_test(overhead),
		cmocka_unit_test(memory_records),
		cmocka_unit_test(asynchronous),
		cmocka_unit_test(shapes_and_flops),
		cmocka_unit_test(python_functions),
		cmocka_unit_test(lost_links),
		cmocka_unit_test(one_step),
		cmocka_unit_test(stored),
		cmocka_unit_test(threads_in_order),
		cmocka_unit_test(order_of_sums),
		cmocka_unit_test(rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
