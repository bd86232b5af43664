/* SPDX-License-Identifier: MIT */
/* Rules at and above their thresholds, withheld ones, and their order. */
#include "unit/support.h"

#include <string.h>

#include "base/num.h"
#include "page/report.h"

/* Figures of our choice. */
struct world {
	int64_t window_ns, idle_ns, sync_ns, data_ns, launch_ns, copy_ns;
	int64_t comm_ns, exposed_ns, orphans, events;
	int64_t product_ns, fp32_ns, unknown_ns;
	const char *compute; /* of the second GPU; NULL: not recorded */
	double capacity_share;
	int64_t step_ns[4];
	const char *trust;
};

static const struct world quiet = { .window_ns = 1000000,
				    .events = 100,
				    .compute = "8.0",
				    .step_ns = { 100, 100, 100, 100 } };

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

static void add_syncs(struct pf_syncs *syncs, const struct world *w)
{
	static struct pf_sync_site sites[2];

	sites[0].kind = pf_cause_name(PF_CAUSE_SYNC);
	sites[0].idle_ns = w->sync_ns;
	sites[0].count = 4;
	sites[0].blocked_ns = 400000;
	sites[1].kind = pf_cause_name(PF_CAUSE_COPY);
	sites[1].idle_ns = 12345678;
	sites[1].count = 3;
	sites[1].blocked_ns = 10000000;
	syncs->count = 7;
	syncs->blocked_ns = 10400000;
	syncs->all = sites;
	syncs->site_count = 2;
	syncs->has_calls = true;
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
		items[i] = (struct pf_step_time){ .step = i,
						  .dur_ns = w->step_ns[i] };
	steps->steps = items;
	steps->count = 4;
	steps->full_count = 4;
	steps->dur.p50_ns = 100;
}

static void add_checks(struct pf_doctor *doctor, const struct world *w)
{
	for (size_t i = 0; i < PF_DOCTOR_CHECKS; i++)
		doctor->checks[i].verdict = "ok";
	doctor->checks[0] =
		(struct pf_doctor_check){ .name = "head orphans",
					  .verdict = w->trust ? w->trust : "ok",
					  .count = 3,
					  .share = 0.25 };
}

static void add_devices(struct pf_info *info, const struct world *w)
{
	static struct pf_info_device devices[2] = { { .compute = "9.0" } };

	devices[1].compute = w->compute;
	info->devices = devices;
	info->device_count = 2;
}

static void add_products(struct pf_kernels *callers, const struct world *w)
{
#define ROW(name, operator, word, words, eligible)                             \
	{                                                                      \
		.short_name = name, .second = operator, .class_word = word,    \
		.precision = words, .op_eligible = eligible                    \
	}
	static struct pf_kernel_row rows[] = {
		ROW("attend", "aten::mm", "attention", "fp32", "yes"),
		ROW("tf32gemm", "aten::mm", "gemm", "tf32", "yes"),
		ROW("solver", "aten::linalg_inv", "gemm", "fp32", "no"),
		ROW("scudnn", "aten::cudnn_convolution", "conv", "fp32", "yes"),
		ROW("sgemm", "(none)", "gemm", "fp32", NULL),
	};
#undef ROW

	callers->product_ns = w->product_ns;
	callers->product_fp32_ns = w->fp32_ns;
	callers->product_unknown_ns = w->unknown_ns;
	callers->rows = rows;
	callers->row_count = 5;
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
	add_syncs(&p->syncs, w);
	p->overlap.all.event_count = w->events;
	p->overlap.all.total_ns = w->window_ns;
	p->overlap.all.comm_ns = w->comm_ns;
	p->overlap.all.exposed_comm_ns = w->exposed_ns;
	p->launches.all.count = 100;
	p->launches.orphan_count = w->orphans;
	add_memory(&p->memory, w);
	add_steps(&p->steps, w);
	add_checks(&p->doctor, w);
	add_devices(&p->info, w);
	add_products(&p->callers, w);
}

static void drop(struct pf_parts *p)
{
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

/* 'f' fired as a note or warning, 'b' as bad, '-' fine, 'w' withheld. */
static char letter(const struct pf_verdict *v)
{
	return !v                             ? '?'
	       : v->state == PF_RULE_WITHHELD ? 'w'
	       : v->state == PF_RULE_FINE     ? '-'
	       : v->severity == PF_BAD        ? 'b'
					      : 'f';
}

static char state_of(const struct world *w, const char *id)
{
	struct pf_parts p;
	struct pf_verdicts v;
	const struct pf_verdict *found;
	char c;

	make(w, &p);
	pf_verdicts_find(&p, &v);
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
	AT(sync_ns, 20000, "V2", '-');
	AT(sync_ns, 20001, "V2", 'f');
	AT(sync_ns, 100001, "V2", 'b');
	AT(data_ns, 50000, "V3", '-');
	AT(data_ns, 50001, "V3", 'f');
	AT(data_ns, 200001, "V3", 'b');
	AT(launch_ns, 30000, "V4", '-');
	AT(launch_ns, 30001, "V4", 'f');
	AT(launch_ns, 150001, "V4", 'b');
	AT(copy_ns, 10000, "V7", '-');
	AT(copy_ns, 10001, "V7", 'f');
	AT(copy_ns, 50001, "V7", 'b');
	AT(capacity_share, 0.9, "V8", '-');
	AT(capacity_share, 0.901, "V8", 'f');
	AT(capacity_share, 0.971, "V8", 'b');
	AT(trust, "note", "V9", '-');
	AT(trust, "warn", "V9", 'f');
	AT(trust, "bad", "V9", 'b');
	AT(step_ns[0], 125, "V11", '-');
	AT(step_ns[0], 126, "V11", 'f');
#undef AT
	w = quiet;
	w.comm_ns = 400000;
	w.exposed_ns = 100000;
	assert_int_equal(state_of(&w, "V5"), '-');
	w.exposed_ns = 100001;
	assert_int_equal(state_of(&w, "V5"), 'f');
	w.exposed_ns = 300001;
	assert_int_equal(state_of(&w, "V5"), 'b');
}

static void rules_are_withheld(void **state)
{
	struct world w = quiet;

	(void)state;
	assert_int_equal(state_of(&w, "V5"), 'w'); /* no communication */
	assert_int_equal(state_of(&w, "V6"), 'w');
	assert_int_equal(state_of(&w, "V8"), 'w');
	assert_int_equal(state_of(&w, "V10"), 'w');
	assert_int_equal(state_of(&w, "V0"), 'f');
	w.launch_ns = 200000;
	w.orphans = 25; /* a fifth */
	assert_int_equal(state_of(&w, "V4"), 'b');
	w.orphans = 26;
	assert_int_equal(state_of(&w, "V4"), 'w');
	w = quiet;
	w.events = 0;
	w.idle_ns = 900000;
	for (const char *id = "1234567"; *id; id++) {
		const char name[] = { 'V', *id, '\0' };

		assert_int_equal(state_of(&w, name), 'w');
	}
}

/* The sentence of a rule, or why it is withheld. */
static void has_sentence(const struct world *w, const char *id,
			 const char *want)
{
	struct pf_parts p;
	struct pf_verdicts v;
	struct pf_buf text = { 0 };

	make(w, &p);
	pf_verdicts_find(&p, &v);
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
	pf_verdicts_find(&p, &v);
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
	w.product_ns = 1000000;
	w.fp32_ns = 100000;
	assert_int_equal(state_of(&w, "V10"), '-');
	w.fp32_ns = 100001;
	assert_int_equal(state_of(&w, "V10"), 'f');
	w.unknown_ns = 200000;
	assert_int_equal(state_of(&w, "V10"), 'f');
	has_sentence(&w, "V10",
		     "10.00 % of the time in matrix products and convolutions "
		     "(100.001 us of 1.000 ms) runs in fp32 kernels, most of "
		     "all in scudnn from aten::cudnn_convolution; the "
		     "precision of 20.00 % is not known");
	w.unknown_ns = 200001;
	has_sentence(&w, "V10",
		     "the names of kernels do not say the precision of 20.00 % "
		     "of the time in matrix products and convolutions");
	assert_int_equal(state_of(&w, "V10"), 'w');
	w.unknown_ns = 0;
	w.compute = "7.0";
	assert_int_equal(state_of(&w, "V10"), 'f');
	w.compute = "6.1";
	has_sentence(&w, "V10", "the GPU has no tensor cores");
	w.compute = NULL;
	has_sentence(&w, "V10", "the trace does not say what GPU it is from");
	w = quiet;
	has_sentence(&w, "V10",
		     "no kernel is known to be a matrix product or a "
		     "convolution");
	w.events = 0;
	w.product_ns = w.fp32_ns = 10;
	has_sentence(&w, "V10", "there is no GPU activity in this trace");
}

/* A verdict of a world that was changed after it was made. */
static void changed(struct pf_parts *p, const char *id, const char *sentence,
		    int64_t won, char how)
{
	struct pf_verdicts v;
	const struct pf_verdict *found;
	struct pf_buf text = { 0 };

	pf_verdicts_find(p, &v);
	found = find(&v, id);
	pf_say_plain(&text, &found->sentence);
	assert_string_equal(text.data, sentence);
	assert_int_equal(found->recoverable_ns, won);
	assert_int_equal(letter(found), how);
	pf_buf_release(&text);
	pf_verdicts_release(&v);
	drop(p);
}

/* What can be won is of the cause that is named, not of all idle time. */
/* As many steps as the rule of warm-up finds, which "diff" leaves out, too. */
static void warm_up_says_how_many_steps(void **state)
{
	struct world w = quiet;

	(void)state;
	w.step_ns[0] = 300;
	w.step_ns[1] = 90;
	has_sentence(&w, "V11",
		     "The first step takes 3.0 times the median (300 ns to "
		     "100 ns) and is part of all figures; --skip-first 1 "
		     "leaves it out");
	w.step_ns[1] = 200;
	has_sentence(&w, "V11",
		     "The first step takes 3.0 times the median (300 ns to "
		     "100 ns); the first 2 steps are warm-up and part of all "
		     "figures; --skip-first 2 leaves them out");
}

static void idle_names_what_can_be_won(void **state)
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
		"GPU idle 62.50 % of 4 steps (625.000 us of 1.000 ms); 80.00 % "
		"of it is zoom, cause: data loading",
		500000, 'b');
	/* without a line the call is named, not the annotation around it */
	make(&w, &p);
	zoom.place.frame = PF_ID_NONE;
	zoom.name = "cudaFree";
	zoom.frame = "warm-up";
	p.gaps.culprits = &zoom;
	p.gaps.culprit_count = 1;
	changed(&p, "V1",
		"GPU idle 62.50 % of 4 steps (625.000 us of 1.000 ms); 80.00 % "
		"of it is cudaFree, cause: data loading",
		500000, 'b');
	/* idle time is not in the work that it comes before */
	make(&w, &p);
	zoom.place.cause = PF_CAUSE_NO_LAUNCH;
	zoom.name = "dma";
	zoom.frame = NULL;
	p.gaps.culprits = &zoom;
	p.gaps.culprit_count = 1;
	changed(&p, "V1",
		"GPU idle 62.50 % of 4 steps (625.000 us of 1.000 ms); 83.20 % "
		"of it is loading data; 80.00 % of it is before work without a "
		"launch call, dma",
		0, 'b');
	/* a wait in which the capture began is no idle time to speak of */
	make(&w, &p);
	p.gaps.head_wait_ns = 600000;
	p.gaps.head_wait_end_ns = 650000;
	changed(&p, "V1",
		"The capture began in the middle of a wait of 600.000 us, "
		"which --from 650us leaves out; in the rest the GPU is idle "
		"6.25 % (25.000 us of 400.000 us)",
		0, 'f');
}

/* What the CPU launches well ahead of for the most part does not bind all. */
static void launch_bound_in_places(void **state)
{
	struct world w = quiet;
	struct pf_parts p;

	(void)state;
	w.launch_ns = 200000;
	make(&w, &p);
	p.callers.calls = 400;
	p.launches.kernel_count = 400;
	p.launches.all.count = 400;
	p.launches.all.delayed_count = 100;
	changed(&p, "V4",
		"Launch-bound: 100 kernels per step, none of them under 10.000 "
		"us; the GPU starves 50.000 us per step while the CPU launches "
		"(20.00 %)",
		200000, 'b');
	make(&w, &p);
	p.callers.calls = 400;
	p.launches.kernel_count = 400;
	p.launches.short_kernel_count = 100;
	p.launches.all.count = 400;
	p.launches.all.delayed_count = 300;
	changed(&p, "V4",
		"Launch-bound in places: 100 kernels per step, 25.00 % of them "
		"under 10.000 us; the GPU starves 50.000 us per step while the "
		"CPU launches (20.00 %)",
		200000, 'b');
}

/* Less than one a step is not none. */
static void few_synchronizations(void **state)
{
	struct world w = quiet;
	struct pf_parts p;

	(void)state;
	w.sync_ns = 90000;
	make(&w, &p);
	p.syncs.count = 1;
	p.syncs.site_count = 1;
	p.syncs.all[0].count = 1;
	p.syncs.all[0].blocked_ns = 80000;
	changed(&p, "V2",
		"1 synchronization in 4 steps blocks the CPU for 80.000 us; it "
		"leaves the GPU idle 90.000 us",
		80000, 'f');
	/* each of two GPUs may win what the host no longer waits */
	make(&w, &p);
	p.syncs.device_count = 2;
	p.syncs.window.count = 1;
	p.syncs.count = 1;
	p.syncs.site_count = 1;
	p.syncs.all[0].count = 1;
	p.syncs.all[0].blocked_ns = 80000;
	changed(&p, "V2",
		"1 synchronization in 4 steps blocks the CPU for 80.000 us; it "
		"leaves the GPU idle 90.000 us",
		90000, 'f');
	/* copies are not of them, be they the dearest */
	make(&w, &p);
	p.syncs.all[0] = (struct pf_sync_site){
		.kind = pf_cause_name(PF_CAUSE_COPY),
		.op = "aten::item",
		.count = 8,
		.blocked_ns = 4000000,
		.idle_ns = 700000,
	};
	p.syncs.all[1] = (struct pf_sync_site){
		.kind = pf_cause_name(PF_CAUSE_SYNC),
		.op = "aten::wait",
		.count = 9, /* one of them behind the last step */
		.blocked_ns = 40000,
		.in_steps_count = 8,
		.in_steps_ns = 24000,
		.idle_ns = 60000,
	};
	p.syncs.count = 17;
	changed(&p, "V2",
		"2 synchronizations besides copies and allocations per step "
		"block the CPU for 6.000 us; they leave the GPU idle 15.000 us "
		"per step, most from aten::wait",
		40000, 'f');
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
		"GPU idle 20.00 % of 4 steps (200.000 us of 1.000 ms); no "
		"single cause found, the largest part (10.00 %) is loading "
		"data",
		20000, 'f');
	make(&w, &p);
	p.gaps.window.between_share = 0.01;
	changed(&p, "V1",
		"GPU idle 20.00 % of 4 steps and the time between them "
		"(200.000 us of 1.000 ms); no single cause found, the largest "
		"part (10.00 %) is loading data",
		20000, 'f');
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
	changed(&p, "V5",
		"Communication takes 200.000 us per step, 100.00 % of it "
		"exposed (80.00 % of 4 steps); at 2.2 GB/s of bus bandwidth "
		"most of it is waiting for other ranks, not transfer; longest "
		"call allreduce, 800.000 us",
		800000, 'b');
	/* the same bytes in time that they may need */
	row.rated_ns = row.dur.max = 600000;
	w.comm_ns = w.exposed_ns = 600000;
	make(&w, &p);
	p.overlap.collectives = &row;
	p.overlap.collective_count = 1;
	changed(&p, "V5",
		"Communication takes 150.000 us per step, 100.00 % of it "
		"exposed (60.00 % of 4 steps); longest call allreduce, 600.000 "
		"us",
		600000, 'b');
}

/* Trouble with the trace first, then what can be won; causes once. */
static void verdicts_are_ranked(void **state)
{
	struct world w = quiet;
	struct pf_parts p;
	struct pf_verdicts v;
	int64_t won = 0;

	(void)state;
	w.idle_ns = 600000;
	w.data_ns = 300000;
	w.launch_ns = 200000;
	w.copy_ns = 100000;
	w.trust = "bad";
	make(&w, &p);
	pf_verdicts_find(&p, &v);
	assert_string_equal(v.all[0].id, "V9");
	assert_string_equal(v.all[1].id, "V1");
	/* V1 names data loading, so V3 does not */
	assert_true(find(&v, "V3")->is_folded);
	assert_string_equal(v.all[2].id, "V4");
	assert_string_equal(v.all[3].id, "V7");
	assert_int_equal(v.fired, 4);
	for (size_t i = 0; i < v.count; i++)
		if (strchr("2347", v.all[i].id[1]) && !v.all[i].id[2] &&
		    v.all[i].recoverable_ns > 0)
			won += v.all[i].recoverable_ns;
	assert_true(won <= w.idle_ns);
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
		cmocka_unit_test(idle_names_what_can_be_won),
		cmocka_unit_test(launch_bound_in_places),
		cmocka_unit_test(few_synchronizations),
		cmocka_unit_test(time_between_steps),
		cmocka_unit_test(peak_from_before),
		cmocka_unit_test(host_without_operators),
		cmocka_unit_test(slow_communication),
		cmocka_unit_test(verdicts_are_ranked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
