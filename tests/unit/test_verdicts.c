/* SPDX-License-Identifier: MIT */
/* Rules at and above their thresholds, withheld ones, and their order. */
#include "unit/support.h"

#include <string.h>

#include "report/report.h"

/* Documents with figures of our choice. */
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

static void add_causes(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = {
		{ "cause", "", PF_TEXT },       { "ns", "", PF_NS },
		{ "count", "", PF_COUNT },      { "recoverable_ns", "", PF_NS },
		{ "idle_share", "", PF_RATIO },
	};
	const struct {
		const char *name;
		int64_t ns;
	} causes[] = { { "data loading", w->data_ns },
		       { "sync", w->sync_ns },
		       { "launch latency", w->launch_ns },
		       { "blocking copy", w->copy_ns } };
	struct pf_table *t = pf_doc_table(doc, "causes", NULL, cols, 5);

	for (size_t i = 0; i < 4; i++) {
		pf_table_string(t, causes[i].name);
		pf_table_int(t, causes[i].ns);
		pf_table_int(t, 1);
		pf_table_int(t, causes[i].ns);
		pf_table_real(t, w->idle_ns ? (double)causes[i].ns /
						      (double)w->idle_ns
					    : 0);
	}
}

static void add_syncs(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = { { "kind", "", PF_TEXT },
					      { "idle_ns", "", PF_NS },
					      { "frame", "", PF_ABSENT },
					      { "op", "", PF_ABSENT } };
	struct pf_table *t = pf_doc_table(doc, "sites", NULL, cols, 4);

	pf_doc_int(doc, "count", "", PF_COUNT, 4);
	pf_doc_int(doc, "blocked_ns", "", PF_NS, 4000);
	pf_table_string(t, "sync");
	pf_table_int(t, w->sync_ns);
	pf_table_string(t, "blocking copy");
	pf_table_int(t, 12345678);
}

static void add_memory(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = {
		{ "device", "", PF_TEXT },
		{ "device_type", "", PF_INT },
		{ "capacity_share", "", PF_RATIO },
		{ "peak_bytes", "", PF_BYTES },
		{ "capacity_bytes", "", PF_BYTES },
	};
	struct pf_table *t;

	if (w->capacity_share <= 0)
		return;
	t = pf_doc_table(doc, "devices", NULL, cols, 5);
	pf_table_string(t, "GPU 0");
	pf_table_int(t, 1);
	pf_table_real(t, w->capacity_share);
	pf_table_int(t, 1000);
	pf_table_int(t, 2000);
}

static void add_steps(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = { { "step", "", PF_INT },
					      { "dur_ns", "", PF_NS },
					      { "trace_id", "", PF_ABSENT } };
	struct pf_table *t = pf_doc_table(doc, "steps", NULL, cols, 3);

	pf_doc_int(doc, "step_count", "", PF_COUNT, 4);
	pf_doc_int(doc, "p50_ns", "", PF_NS, 100);
	for (size_t i = 0; i < 4; i++) {
		pf_table_int(t, (int64_t)i);
		pf_table_int(t, w->step_ns[i]);
	}
}

static void add_checks(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = { { "check", "", PF_TEXT },
					      { "count", "", PF_COUNT },
					      { "share", "", PF_RATIO },
					      { "verdict", "", PF_TEXT },
					      { "gpu_ns", "", PF_ABSENT } };
	struct pf_table *t = pf_doc_table(doc, "checks", NULL, cols, 5);

	pf_table_string(t, "head orphans");
	pf_table_int(t, 3);
	pf_table_real(t, 0.25);
	pf_table_string(t, w->trust ? w->trust : "ok");
}

static void add_devices(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = { { "compute", "", PF_TEXT } };
	struct pf_table *t = pf_doc_table(doc, "devices", NULL, cols, 1);

	pf_table_string(t, "9.0");
	pf_table_string(t, w->compute);
}

static void add_products(struct pf_doc *doc, const struct world *w)
{
	static const struct pf_col cols[] = {
		{ "short_name", "", PF_TEXT },  { "op", "", PF_TEXT },
		{ "class", "", PF_TEXT },       { "precision", "", PF_TEXT },
		{ "op_eligible", "", PF_TEXT },
	};
	static const char *const rows[][5] = {
		{ "attend", "aten::mm", "attention", "fp32", "yes" },
		{ "tf32gemm", "aten::mm", "gemm", "tf32", "yes" },
		{ "solver", "aten::linalg_inv", "gemm", "fp32", "no" },
		{ "scudnn", "aten::cudnn_convolution", "conv", "fp32", "yes" },
		{ "sgemm", "(none)", "gemm", "fp32", NULL },
	};
	struct pf_table *t = pf_doc_table(doc, "kernels", NULL, cols, 5);

	pf_doc_int(doc, "product_ns", "", PF_NS, w->product_ns);
	pf_doc_int(doc, "product_fp32_ns", "", PF_NS, w->fp32_ns);
	pf_doc_int(doc, "product_unknown_ns", "", PF_NS, w->unknown_ns);
	for (size_t r = 0; r < 5; r++)
		for (size_t c = 0; c < 5; c++)
			pf_table_string(t, rows[r][c]);
}

static void make(const struct world *w, struct pf_parts *p)
{
	struct pf_doc *gaps = &p->doc[PF_PART_GAPS];
	struct pf_doc *overlap = &p->doc[PF_PART_OVERLAP];
	struct pf_doc *launches = &p->doc[PF_PART_LAUNCHES];
	struct pf_doc *kernels = &p->doc[PF_PART_KERNELS];

	memset(p, 0, sizeof(*p));
	p->db_name = "t.db";
	pf_buf_adds(&p->steps_text, "0..3");
	pf_doc_int(gaps, "window_ns", "", PF_NS, w->window_ns);
	pf_doc_int(gaps, "idle_ns", "", PF_NS, w->idle_ns);
	pf_doc_real(gaps, "idle_share", "", PF_RATIO,
		    (double)w->idle_ns / (double)w->window_ns);
	add_causes(gaps, w);
	add_syncs(&p->doc[PF_PART_SYNCS], w);
	pf_doc_int(overlap, "event_count", "", PF_COUNT, w->events);
	pf_doc_int(overlap, "total_ns", "", PF_NS, w->window_ns);
	pf_doc_int(overlap, "comm_ns", "", PF_NS, w->comm_ns);
	pf_doc_int(overlap, "exposed_comm_ns", "", PF_NS, w->exposed_ns);
	pf_doc_int(kernels, "kernel_count", "", PF_COUNT, 0);
	pf_doc_int(kernels, "kernel_ns", "", PF_NS, 0);
	pf_doc_int(launches, "launch_count", "", PF_COUNT, 100);
	pf_doc_int(launches, "orphan_count", "", PF_COUNT, w->orphans);
	add_memory(&p->doc[PF_PART_MEMORY], w);
	add_steps(&p->doc[PF_PART_STEPS], w);
	add_checks(&p->doc[PF_PART_DOCTOR], w);
	add_devices(&p->doc[PF_PART_INFO], w);
	add_products(&p->doc[PF_PART_CALLERS], w);
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
	pf_parts_release(&p);
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
	AT(step_ns[0], 150, "V11", '-');
	AT(step_ns[0], 151, "V11", 'f');
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
	pf_parts_release(&p);
}

/* Overlap with what it says of two ranks. */
static char straggler(int64_t traces, const char *why, double share)
{
	struct pf_parts p;
	struct pf_verdicts v;
	struct pf_doc *doc = &p.doc[PF_PART_OVERLAP];
	char c;

	make(&quiet, &p);
	p.traces.count = (size_t)traces;
	if (why)
		pf_doc_string(doc, "arrival_withheld", "", why);
	pf_doc_int(doc, "straggler_ns", "", PF_NS, 7);
	pf_doc_int(doc, "straggler_gain_ns", "", PF_NS, 9);
	pf_doc_int(doc, "arrival_window_ns", "", PF_NS, 8);
	pf_doc_real(doc, "straggler_share", "", PF_RATIO, share);
	pf_doc_int(doc, "straggler_rank", "", PF_INT, 1);
	pf_doc_int(doc, "straggler_trace_id", "", PF_INT, 2);
	pf_doc_int(doc, "longest_wait_trace_id", "", PF_INT, 1);
	pf_doc_int(doc, "longest_wait_start_ns", "", PF_NS, 5);
	pf_doc_int(doc, "longest_wait_ns", "", PF_NS, 6);
	pf_verdicts_find(&p, &v);
	c = letter(find(&v, "V6"));
	assert_int_equal(find(&v, "V6")->recoverable_ns, c == 'w' ? -1 : 8);
	if (why)
		assert_string_equal(find(&v, "V6")->sentence.data, why);
	pf_verdicts_release(&v);
	p.traces.count = 0;
	pf_parts_release(&p);
	return c;
}

static void stragglers(void **state)
{
	(void)state;
	assert_int_equal(straggler(1, NULL, 0.9), 'w');
	assert_int_equal(straggler(2, "a reason", 0.9), 'w');
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
		     "10.0 % of the time in matrix products and convolutions "
		     "(100 µs of 1.00 ms) runs in fp32 kernels, most of all "
		     "in scudnn from aten::cudnn_convolution; the precision "
		     "of 20.0 % is not known");
	w.unknown_ns = 200001;
	has_sentence(&w, "V10",
		     "the names of kernels do not say the precision of 20.0 % "
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
	pf_parts_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_fire_above_their_thresholds),
		cmocka_unit_test(rules_are_withheld),
		cmocka_unit_test(stragglers),
		cmocka_unit_test(precision),
		cmocka_unit_test(verdicts_are_ranked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
