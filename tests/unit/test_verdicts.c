/* SPDX-License-Identifier: MIT */
/*
 * Rules and advice at and above their thresholds, withheld ones, and their
 * order, of figures that have no critical path.
 */
#include "unit/support.h"

#include <string.h>

#include "base/num.h"
#include "page/report.h"
#include "show/escape.h"

/* Figures of our choice. */
struct world {
	int64_t window_ns, idle_ns, sync_ns, data_ns, launch_ns, copy_ns;
	int64_t comm_ns, exposed_ns, events;
	int64_t product_ns, fp32_ns;
	double capacity_share;
	int64_t step_ns[4], before_ns; /* of the first */
	const char *trust;
};

static const struct world quiet = { .window_ns = 1000000,
				    .events = 100,
				    .step_ns = { 250000, 250000, 250000,
						 250000 } };

static void add_causes(struct pf_gaps *gaps, const struct world *w)
{
	const struct {
		enum pf_cause cause;
		int64_t ns;
	} causes[] = { { PF_CAUSE_DATA, w->data_ns },
		       { PF_CAUSE_SYNC, w->sync_ns },
		       { PF_CAUSE_LAUNCH, w->launch_ns },
		       { PF_CAUSE_COPY, w->copy_ns } };

	for (size_t i = 0; i < 4; i++)
		gaps->causes[gaps->cause_count++] = (struct pf_gap_cause){
			.cause = causes[i].cause,
			.name = pf_cause_name(causes[i].cause),
			.ns = causes[i].ns,
			.count = 1,
			.recoverable_ns = causes[i].ns,
			.idle_share = pf_num_share(causes[i].ns, w->idle_ns)
		};
}

static void add_memory(struct pf_usage *memory, const struct world *w)
{
	static struct pf_usage_device device = { .at = { "GPU 0", 1, 0, -1, 1 },
						 .peak = 1000,
						 .capacity = 2000 };

	device.capacity_share = w->capacity_share;
	memory->devices = &device;
	memory->device_count = w->capacity_share > 0;
}

static void add_steps(struct pf_step_times *steps, const struct world *w)
{
	static struct pf_step_time items[4];

	for (int i = 0; i < 4; i++)
		items[i] =
			(struct pf_step_time){ .step = i,
					       .dur_ns = w->step_ns[i],
					       .before_ns =
						       i ? 0 : w->before_ns };
	steps->steps = items;
	steps->count = 4;
	steps->full_count = 4;
	steps->has_steps = true;
	steps->recorded.has_ops = true;
	steps->dur.p50_ns = 250000;
}

static void add_checks(struct pf_doctor *doctor, const struct world *w)
{
	for (size_t i = 0; i < PF_DOCTOR_CHECKS; i++)
		doctor->checks[i].verdict = "ok";
	doctor->checks[0] =
		(struct pf_doctor_check){ .name = "launched before capture",
					  .says = "GPU work was launched early",
					  .verdict = w->trust ? w->trust : "ok",
					  .count = 3,
					  .share = 0.25 };
}

static void add_device(struct pf_info *info)
{
	static struct pf_info_device device = { .name = "NVIDIA A100-SXM4-80GB",
						.compute = "8.0" };

	info->devices = &device;
	info->device_count = 1;
}

/* What is found is of arrays that nothing frees. */
static void make(const struct world *w, struct pf_parts *p)
{
	memset(p, 0, sizeof(*p));
	p->db_name = "t.db";
	pf_buf_adds(&p->steps_text, "0..3");
	p->gaps.all.window_ns = w->window_ns;
	p->gaps.all.idle_ns = w->idle_ns;
	p->gaps.all.idle_share = pf_num_share(w->idle_ns, w->window_ns);
	add_causes(&p->gaps, w);
	p->gaps.launching_ns = w->launch_ns;
	p->gaps.window.count = 1;
	p->gaps.step_count = 4;
	p->gaps.all.event_count = w->events;
	p->overlap.all.event_count = w->events;
	p->overlap.all.total_ns = w->window_ns;
	p->overlap.all.comm_ns = w->comm_ns;
	p->overlap.all.exposed_comm_ns = w->exposed_ns;
	p->launches.all.count = 100;
	p->launches.kernel_count = 100;
	add_memory(&p->memory, w);
	add_steps(&p->steps, w);
	add_checks(&p->doctor, w);
	add_device(&p->info);
	p->callers.total_ns = 1000000;
	p->callers.product_ns = w->product_ns;
	p->callers.product_fp32_ns = w->fp32_ns;
}

static struct pf_advise advise;

/* Judge, and find the verdicts. */
static void judge(struct pf_parts *p, struct pf_verdicts *v)
{
	const struct pf_advise_from from = {
		&p->callers, &p->launches, &p->overlap, &p->steps, &p->memory,
		&p->info,    &p->roofline, &p->gaps,    &p->syncs
	};

	p->judged = (struct pf_advise_args){ .db_name = p->db_name };
	p->advise = &advise;
	pf_advise_judge(p->advise, &p->judged, &from);
	pf_verdicts_find(p, v);
}

static void drop(struct pf_parts *p)
{
	pf_advise_release(p->advise);
	pf_doc_release(&p->doc[PF_PART_INFO]);
	pf_buf_release(&p->steps_text);
}

static const struct pf_verdict *find(const struct pf_verdicts *v,
				     const char *id)
{
	for (size_t i = 0; i < v->count; i++)
		if (!strcmp(v->all[i].id, id))
			return &v->all[i];
	return NULL;
}

/*
 * Advice: 'n' a note, 'f' a warning, 'b' severe.  Other rules: 'f' a note or a
 * warning.  '-' fine, 'w' withheld.
 */
static char letter(const struct pf_verdict *v)
{
	return !v                                    ? '?'
	       : v->state == PF_RULE_WITHHELD        ? 'w'
	       : v->state == PF_RULE_FINE            ? '-'
	       : v->severity == PF_BAD               ? 'b'
	       : v->severity == PF_NOTE && v->advice ? 'n'
						     : 'f';
}

static char state_of(const struct world *w, const char *id)
{
	struct pf_parts p;
	struct pf_verdicts v;
	const struct pf_verdict *found;
	char c;

	make(w, &p);
	judge(&p, &v);
	found = find(&v, id);
	c = letter(found);
	pf_verdicts_release(&v);
	drop(&p);
	return c;
}

/* Each rule at its thresholds and just above. */
static void rules_fire_above_their_thresholds(void **state)
{
	struct world w;

	(void)state;
#define AT(field, value, id, want)                                             \
	do {                                                                   \
		w = quiet;                                                     \
		w.field = (value);                                             \
		assert_int_equal(state_of(&w, id), want);                      \
	} while (0)
	AT(idle_ns, 100000, "V1", '-');
	AT(idle_ns, 100001, "V1", 'f');
	AT(idle_ns, 500000, "V1", 'f');
	AT(idle_ns, 500001, "V1", 'b');
	AT(sync_ns, 9999, "A3", '-');
	AT(sync_ns, 10000, "A3", 'n');
	AT(sync_ns, 50000, "A3", 'f');
	AT(sync_ns, 250000, "A3", 'b');
	AT(data_ns, 9999, "A1", '-');
	AT(data_ns, 10000, "A1", 'n');
	AT(data_ns, 50000, "A1", 'f');
	AT(data_ns, 250000, "A1", 'b');
	AT(launch_ns, 9999, "A4", '-');
	AT(launch_ns, 10000, "A4", 'n');
	AT(launch_ns, 50000, "A4", 'f');
	AT(launch_ns, 250000, "A4", 'b');
	AT(copy_ns, 9999, "A2", '-');
	AT(copy_ns, 10000, "A2", 'n');
	AT(copy_ns, 50000, "A2", 'f');
	AT(copy_ns, 250000, "A2", 'b');
	AT(capacity_share, 0.9, "V8", '-');
	AT(capacity_share, 0.901, "V8", 'f');
	AT(capacity_share, 0.971, "V8", 'b');
	AT(trust, "note", "V9", '-');
	AT(trust, "warn", "V9", 'f');
	AT(trust, "bad", "V9", 'b');
	AT(step_ns[0], 312500, "A22", '-');
	AT(step_ns[0], 312501, "A22", 'f');
	AT(step_ns[0], 500000, "A22", 'b');
#undef AT
	w = quiet;
	w.comm_ns = 400000;
	w.exposed_ns = 9999;
	assert_int_equal(state_of(&w, "A13"), '-');
	w.exposed_ns = 10000;
	assert_int_equal(state_of(&w, "A13"), 'n');
	w.exposed_ns = 300001;
	assert_int_equal(state_of(&w, "A13"), 'b');
}

static void rules_are_withheld(void **state)
{
	struct world w = quiet;

	(void)state;
	assert_int_equal(state_of(&w, "A13"), '-'); /* no communication */
	assert_int_equal(state_of(&w, "V6"), 'w');
	assert_int_equal(state_of(&w, "V8"), 'w');
	assert_int_equal(state_of(&w, "A7"), 'w'); /* needs a path */
	assert_int_equal(state_of(&w, "V15"), 'w');
	w.events = 0;
	w.idle_ns = 900000;
	assert_int_equal(state_of(&w, "V1"), 'w');
	assert_int_equal(state_of(&w, "V6"), 'w');
	assert_int_equal(state_of(&w, "A2"), 'w');
	assert_int_equal(state_of(&w, "A3"), 'w');
	assert_int_equal(state_of(&w, "A4"), 'w');
}

/* The sentence of a rule, or why it is withheld. */
static void has_sentence(const struct world *w, const char *id,
			 const char *want)
{
	struct pf_parts p;
	struct pf_verdicts v;
	struct pf_buf text = { 0 };

	make(w, &p);
	judge(&p, &v);
	pf_say_plain(&text, &find(&v, id)->sentence);
	assert_string_equal(text.data, want);
	pf_buf_release(&text);
	pf_verdicts_release(&v);
	drop(&p);
}

/* Overlap with what it says of two ranks. */
static char straggler_of(int64_t traces, char *why, double share, bool is_named,
			 int64_t total)
{
	struct pf_parts p;
	struct pf_verdicts v;
	char c;

	make(&quiet, &p);
	p.traces.count = (size_t)traces;
	p.overlap.arrivals =
		(struct pf_arrivals){ .withheld = why,
				      .window_ns = 8,
				      .has_straggler = is_named,
				      .straggler_rank = 1,
				      .straggler_trace_id = 2,
				      .straggler_ns = 7,
				      .straggler_gain_ns = 9,
				      .straggler_saved_ns = 3,
				      .straggler_saved_share = share,
				      .total_ns = total,
				      .longest_wait_ns = 6,
				      .longest_wait_trace_id = 1,
				      .longest_wait_start_ns = 5 };
	judge(&p, &v);
	c = letter(find(&v, "V6"));
	if (c != 'w' && is_named)
		assert_int_equal(find(&v, "V6")->recoverable_ns, 3);
	if (why)
		assert_string_equal(find(&v, "V6")->sentence.data, why);
	pf_verdicts_release(&v);
	drop(&p);
	return c;
}

static char straggler(int64_t traces, char *why, double share)
{
	return straggler_of(traces, why, share, true, 9);
}

static void stragglers(void **state)
{
	char reason[] = "a reason";

	(void)state;
	/* ranks are even, or what they cost is not known: nobody is named */
	assert_int_equal(straggler_of(2, NULL, 0.9, false, 9), '-');
	assert_int_equal(straggler_of(2, NULL, 0.9, false, PF_NO_INT), 'w');
	assert_int_equal(straggler(1, NULL, 0.9), 'w');
	assert_int_equal(straggler(2, reason, 0.9), 'w');
	assert_int_equal(straggler(2, NULL, 0.05), '-');
	assert_int_equal(straggler(2, NULL, 0.0501), 'f');
	assert_int_equal(straggler(2, NULL, 0.15), 'f');
	assert_int_equal(straggler(2, NULL, 0.1501), 'b');
}

static void precision(void **state)
{
	struct world w = quiet;

	(void)state;
	w.product_ns = 500000;
	w.fp32_ns = 9999;
	assert_int_equal(state_of(&w, "A6"), '-');
	w.fp32_ns = 100001;
	has_sentence(&w, "A6",
		     "Matrix products and convolutions in fp32 take 10.00 % of "
		     "4 steps (100.001 us of 1.000 ms). 20.00 % of the time in "
		     "products is in fp32; the GPU's peak in reduced precision "
		     "is 16.0 times as high");
}

/* A verdict of a world that was changed after it was made. */
static void changed(struct pf_parts *p, const char *id, const char *sentence,
		    int64_t won, char how)
{
	struct pf_verdicts v;
	const struct pf_verdict *found;
	struct pf_buf text = { 0 };

	judge(p, &v);
	found = find(&v, id);
	pf_say_plain(&text, &found->sentence);
	assert_string_equal(text.data, sentence);
	assert_int_equal(found->recoverable_ns, won);
	assert_int_equal(letter(found), how);
	pf_buf_release(&text);
	pf_verdicts_release(&v);
	drop(p);
}

/* As many steps as the rule of warm-up finds, which "diff" leaves out, too. */
static void warm_up_says_how_many_steps(void **state)
{
	struct world w = quiet;

	(void)state;
	w.step_ns[0] = 750000;
	w.step_ns[1] = 240000;
	has_sentence(&w, "A22",
		     "The first step takes 750.000 us, 3.0 times the median of "
		     "250.000 us. All figures include it: --skip-first 1 "
		     "leaves warm-up out");
	w.step_ns[1] = 500000;
	has_sentence(&w, "A22",
		     "The first 2 steps take 625.000 us in the mean, 2.5 times "
		     "the median of 250.000 us. All figures include it: "
		     "--skip-first 2 leaves warm-up out");
}

/* A backlog of before the capture is no warm-up. */
static void backlog_is_no_warm_up(void **state)
{
	struct world w = quiet;

	(void)state;
	w.step_ns[0] = 750000;
	w.before_ns = 450000;
	assert_int_equal(state_of(&w, "A22"), '-');
	w.before_ns = 250000;
	has_sentence(&w, "A22",
		     "The first step takes 500.000 us, 2.0 times the median of "
		     "250.000 us. All figures include it: --skip-first 1 "
		     "leaves warm-up out");
}

static void idle_names_its_cause(void **state)
{
	struct pf_gap_culprit zoom = { .place = { .cause = PF_CAUSE_DATA },
				       .cause = "data loading",
				       .name = "zoom",
				       .ns = 500000,
				       .idle_share = 0.8 };
	struct world w = quiet;
	struct pf_parts p;

	(void)state;
	w.idle_ns = 625000;
	w.data_ns = 520000;
	make(&w, &p);
	p.gaps.culprits = &zoom;
	p.gaps.culprit_count = 1;
	changed(&p, "V1",
		"GPU idle 62.50 % of 4 steps (625.000 us of 1.000 ms). 80.00 % "
		"of it is zoom, cause: data loading",
		-1, 'b');
	/* without a line the call is named, not the annotation around it */
	make(&w, &p);
	zoom.place.frame = PF_ID_NONE;
	zoom.name = "cudaFree";
	zoom.frame = "warm-up";
	p.gaps.culprits = &zoom;
	p.gaps.culprit_count = 1;
	changed(&p, "V1",
		"GPU idle 62.50 % of 4 steps (625.000 us of 1.000 ms). 80.00 % "
		"of it is cudaFree, cause: data loading",
		-1, 'b');
	/* idle time is not in the work that it comes before */
	make(&w, &p);
	zoom.place.cause = PF_CAUSE_NO_LAUNCH;
	zoom.name = "dma";
	zoom.frame = NULL;
	p.gaps.culprits = &zoom;
	p.gaps.culprit_count = 1;
	changed(&p, "V1",
		"GPU idle 62.50 % of 4 steps (625.000 us of 1.000 ms). 83.20 % "
		"of it is loading data. 80.00 % of it is before work without a "
		"launch call, dma",
		-1, 'b');
	/* a wait for what began before the capture is no idle time of it */
	make(&w, &p);
	p.gaps.head_wait_ns = 600000;
	p.gaps.head_wait_end_ns = 650000;
	changed(&p, "V1",
		"A stream waits 600.000 us for what began before the capture: "
		"--from 650us leaves that out. In the rest the GPU is idle "
		"6.25 % (25.000 us of 400.000 us)",
		-1, 'f');
}

/* A window of steps that do not follow each other holds other time, too. */
static void time_between_steps(void **state)
{
	struct world w = quiet;
	struct pf_parts p;

	(void)state;
	w.idle_ns = 200000;
	w.data_ns = 20000;
	make(&w, &p);
	p.gaps.window.between_share = 0.0099;
	changed(&p, "V1",
		"GPU idle 20.00 % of 4 steps (200.000 us of 1.000 ms). No "
		"single cause was found, the largest part (10.00 %) is loading "
		"data",
		-1, 'f');
	make(&w, &p);
	p.gaps.window.between_share = 0.01;
	changed(&p, "V1",
		"GPU idle 20.00 % of 4 steps and the time between them "
		"(200.000 us of 1.000 ms). No single cause was found, the "
		"largest "
		"part (10.00 %) is loading data",
		-1, 'f');
}

/* What was there before is no call's. */
static void peak_from_before(void **state)
{
	struct pf_usage_group group = { .at = { "GPU 0", 1, 0, -1, 1 },
					.site = { .outer_op = "(before "
							      "capture)" },
					.count = PF_NO_INT,
					.peak_share = 0.995 };
	struct world w = quiet;
	struct pf_parts p;

	(void)state;
	w.capacity_share = 0.93;
	make(&w, &p);
	p.memory.alive = &group;
	p.memory.alive_count = 1;
	changed(&p, "V8",
		"Peak memory 1000 B of 1.95 KiB (93.00 %) on GPU 0; 99.50 % of "
		"the peak dates from before the capture",
		-1, 'f');
	group.site.outer_op = "aten::mm";
	group.count = 1;
	make(&w, &p);
	p.memory.alive = &group;
	p.memory.alive_count = 1;
	changed(&p, "V8",
		"Peak memory 1000 B of 1.95 KiB (93.00 %) on GPU 0; 99.50 % of "
		"the peak is held by aten::mm",
		-1, 'f');
}

/* The profiler's own work is no operator; of several traces one is meant. */
static void host_without_operators(void **state)
{
	static const struct pf_col cols[] = { { "category", "Category",
						PF_TEXT } };
	struct pf_average row = { .name = "CUDA profiling initialization",
				  .count = 1,
				  .sum.ns[PF_FIG_SELF_CPU] = 1000 };
	struct pf_window_trace traces[2] = { { .rank = 3 }, { .rank = 4 } };
	struct world w = quiet;

	(void)state;
	w.events = 0;
	for (int i = 0; i < 3; i++) {
		struct pf_parts p;
		struct pf_table *t;

		make(&w, &p);
		p.averages.list[0].rows = &row;
		p.averages.list[0].count = 1;
		t = pf_doc_table(&p.doc[PF_PART_INFO], "categories", "", cols,
				 1);
		pf_table_string(t, "overhead");
		pf_table_string(t, i ? "cpu_op" : "cuda_driver");
		p.traces.traces = traces;
		p.traces.count = i < 2 ? 1 : 2;
		if (i == 2)
			changed(&p, "V12",
				"CUDA profiling initialization takes 100.00 % "
				"of the capture's self CPU time of rank 3 "
				"(1.000 us of 1.000 us, 1 call)",
				-1, 'f');
		else if (i)
			changed(&p, "V12",
				"CUDA profiling initialization takes 100.00 % "
				"of the capture's self CPU time (1.000 us of "
				"1.000 us, 1 call)",
				-1, 'f');
		else
			changed(&p, "V12",
				"there are no operators in this trace", -1,
				'w');
	}
}

/* Far slower than its bytes: ranks wait for each other. */
static void slow_communication(void **state)
{
	struct pf_comm_row row = { .collective = "allreduce",
				   .factor = 1.75,
				   .rated_bytes = 1000000,
				   .rated_ns = 800000,
				   .rated_count = 1,
				   .bus_rate = 2.1875,
				   .dur = { .max = 800000 } };
	struct world w = quiet;
	struct pf_parts p;

	(void)state;
	w.comm_ns = w.exposed_ns = 800000;
	make(&w, &p);
	p.overlap.collectives = &row;
	p.overlap.collective_count = 1;
	changed(&p, "A13",
		"Communication is exposed for 80.00 % of 4 steps (800.000 us "
		"of 1.000 ms). All of it takes 800.000 us, in messages of "
		"976.56 KiB in the mean. At 2.2 GB/s of bus bandwidth most of "
		"it seems to be waiting for other ranks, not transfer",
		-1, 'b');
	/* the same bytes in time that they may need */
	row.rated_ns = row.dur.max = 600000;
	w.comm_ns = w.exposed_ns = 600000;
	make(&w, &p);
	p.overlap.collectives = &row;
	p.overlap.collective_count = 1;
	changed(&p, "A13",
		"Communication is exposed for 60.00 % of 4 steps (600.000 us "
		"of 1.000 ms). All of it takes 600.000 us, in messages of "
		"976.56 KiB in the mean",
		-1, 'b');
}

/* Trouble with the trace first, then what holds most; idle time once. */
static void verdicts_are_ranked(void **state)
{
	struct world w = quiet;
	struct pf_parts p;
	struct pf_verdicts v;
	int64_t held = 0;

	(void)state;
	w.idle_ns = 600000;
	w.data_ns = 300000;
	w.launch_ns = 200000;
	w.copy_ns = 100000;
	w.trust = "bad";
	make(&w, &p);
	judge(&p, &v);
	assert_string_equal(v.all[0].id, "V9");
	assert_string_equal(v.all[1].id, "A1");
	assert_string_equal(v.all[2].id, "A4");
	assert_string_equal(v.all[3].id, "A2");
	assert_int_equal(v.fired, 4);
	/* data loading was said, which is most of it */
	assert_true(find(&v, "V1")->is_folded);
	for (size_t i = 0; i < v.fired; i++)
		if (v.all[i].advice)
			held += v.all[i].affected_ns;
	assert_true(held <= w.idle_ns);
	pf_verdicts_release(&v);
	drop(&p);
	/* what no advice is about is not */
	w.data_ns = 0;
	w.launch_ns = 60000;
	make(&w, &p);
	p.gaps.causes[0].cause = PF_CAUSE_DEVICE;
	judge(&p, &v);
	assert_string_equal(v.all[1].id, "V1");
	assert_false(v.all[1].is_folded);
	pf_verdicts_release(&v);
	drop(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_fire_above_their_thresholds),
		cmocka_unit_test(rules_are_withheld),
		cmocka_unit_test(stragglers),
		cmocka_unit_test(precision),
		cmocka_unit_test(warm_up_says_how_many_steps),
		cmocka_unit_test(backlog_is_no_warm_up),
		cmocka_unit_test(idle_names_its_cause),
		cmocka_unit_test(time_between_steps),
		cmocka_unit_test(peak_from_before),
		cmocka_unit_test(host_without_operators),
		cmocka_unit_test(slow_communication),
		cmocka_unit_test(verdicts_are_ranked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
