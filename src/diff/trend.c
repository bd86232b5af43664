/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff_mean.h"
#include "diff/trend.h"
#include "base/mem.h"
#include "base/num.h"

#define CAUSE_KEY_MAX 48

struct trend {
	const struct pf_capture *const *captures;
	size_t count;
	const struct pf_trend_args *args;
	struct pf_doc *doc;
};

/* How many have steps; a capture without is one of its own. */
static size_t with_steps(const struct trend *tr)
{
	size_t out = 0;

	for (size_t i = 0; i < tr->count; i++)
		out += tr->captures[i]->has_steps;
	return out;
}

static int64_t steps_of(const struct pf_capture *c)
{
	return (int64_t)c->full_count;
}

static int64_t step_of(const struct pf_capture *c)
{
	return pf_mean(c->step_ns, steps_of(c));
}

/* ---- one row a capture ---- */

static const struct pf_col fixed_cols[] = {
	{ "capture", "Capture", PF_PATH },
	{ "steps", "Steps", PF_COUNT | PF_FULL },
	{ "step_ns", "Step", PF_NS },
	{ "busy_share", "GPU busy", PF_RATIO },
	{ "kernels", "Kernels", PF_REAL },
	{ "syncs", "Syncs", PF_REAL },
	{ "peak_bytes", "Peak", PF_BYTES },
	{ "p50_ns", "Median", PF_NS | PF_FULL },
	{ "min_ns", "Least", PF_NS | PF_FULL },
	{ "max_ns", "Most", PF_NS | PF_FULL },
	{ "steps_per_second", "Steps/s", PF_REAL | PF_FULL },
	{ "samples_per_second", "Samples/s", PF_REAL },
	{ "busy_ns", "GPU busy", PF_NS | PF_FULL },
	{ "idle_ns", "GPU idle", PF_NS | PF_FULL },
	{ "reserved_bytes", "Reserved", PF_BYTES | PF_FULL },
	{ "device", "GPU", PF_TEXT | PF_FULL },
	{ "device_count", "GPUs", PF_COUNT | PF_FULL },
	{ "step_sum_ns", "All steps", PF_NS | PF_FULL },
};
#define FIXED   (sizeof(fixed_cols) / sizeof(*fixed_cols))
#define STEP    2
#define SAMPLES 11 /* the column that needs --samples-per-step */

/* "idle_launch_latency_ns" */
static void cause_key(char out[CAUSE_KEY_MAX], enum pf_cause cause)
{
	snprintf(out, CAUSE_KEY_MAX, "idle_%s_ns", pf_cause_name(cause));
	for (char *p = out; *p; p++)
		if (*p == ' ')
			*p = '_';
}

static void put_fixed(const struct trend *tr, struct pf_table *t,
		      const struct pf_capture *c)
{
	int64_t steps = steps_of(c);
	double seconds = (double)c->step_ns / 1e9;
	double rate = seconds > 0 ? (double)steps / seconds : 0;

	pf_table_string(t, c->path);
	pf_table_int(t, steps);
	pf_table_int(t, step_of(c));
	if (c->busy_share >= 0)
		pf_table_real(t, c->busy_share);
	else
		pf_table_null(t);
	pf_table_ratio(t, c->count[PF_COUNT_KERNELS], steps);
	pf_table_ratio(t, c->count[PF_COUNT_SYNCS], steps);
	pf_table_known(t, c->peak_bytes);
	pf_table_int(t, pf_capture_percentile(c, 50));
	pf_table_int(t, pf_capture_percentile(c, 0));
	pf_table_int(t, pf_capture_percentile(c, 100));
	pf_table_real(t, rate);
	if (tr->args->samples_per_step)
		pf_table_real(t, rate * (double)tr->args->samples_per_step);
	else
		pf_table_null(t);
	pf_table_int(t, pf_mean(c->busy_ns, steps));
	pf_table_int(t, step_of(c) - pf_mean(c->busy_ns, steps));
	pf_table_known(t, c->reserved_bytes);
	pf_table_string(t, pf_intern_text(&c->texts, c->device_name, NULL));
	pf_table_int(t, c->device_count);
	pf_table_int(t, c->step_ns);
}

/* Classes add up to the step, causes to the idle time of all devices. */
static void put_parts(struct pf_table *t, const struct pf_capture *c)
{
	int64_t classes[PF_STEP_CLASSES], causes[PF_CAUSE_COUNT];

	pf_mean_parts(c->class_ns, PF_STEP_CLASSES, steps_of(c), classes);
	pf_mean_parts(c->cause_ns, PF_CAUSE_COUNT, steps_of(c), causes);
	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		pf_table_int(t, classes[i]);
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		pf_table_int(t, causes[i]);
	for (size_t i = 0; i < PF_COUNT_COUNTS; i++)
		if (i != PF_COUNT_KERNELS && i != PF_COUNT_SYNCS)
			pf_table_ratio(t, c->count[i], steps_of(c));
}

static void add_rows(const struct trend *tr)
{
	struct pf_col cols[FIXED + PF_STEP_CLASSES + PF_CAUSE_COUNT +
			   PF_COUNT_COUNTS];
	char classes[PF_STEP_CLASSES][32];
	char causes[PF_CAUSE_COUNT][CAUSE_KEY_MAX];
	struct pf_table *t;
	size_t n = FIXED;

	memcpy(cols, fixed_cols, sizeof(fixed_cols));
	if (!tr->args->samples_per_step)
		cols[SAMPLES].kind = PF_REAL | PF_FULL;
	for (size_t i = 0; i < PF_STEP_CLASSES; i++, n++) {
		snprintf(classes[i], sizeof(classes[i]), "%s_ns",
			 pf_step_class_name((enum pf_step_class)i));
		cols[n] = (struct pf_col){ classes[i], classes[i],
					   PF_NS | PF_FULL };
	}
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++, n++) {
		cause_key(causes[i], (enum pf_cause)i);
		cols[n] = (struct pf_col){ causes[i], causes[i],
					   PF_NS | PF_FULL };
	}
	for (size_t i = 0; i < PF_COUNT_COUNTS; i++) {
		const char *key = pf_step_count_key((enum pf_step_count)i);

		if (i == PF_COUNT_KERNELS || i == PF_COUNT_SYNCS)
			continue;
		/* a sum of durations, unlike the class of the step */
		cols[n++] = (struct pf_col){ i == PF_COUNT_WORK_NS
						     ? "kernel_work_ns"
						     : key,
					     key, PF_REAL | PF_FULL };
	}
	if (!with_steps(tr))
		cols[STEP].title = "Capture takes";
	t = pf_doc_table(tr->doc, "trend",
			 with_steps(tr) ? "One row a capture, per step"
					: "One row a capture",
			 cols, n);
	for (size_t i = 0; i < tr->count; i++) {
		put_fixed(tr, t, tr->captures[i]);
		put_parts(t, tr->captures[i]);
	}
}

/* ---- lines of bars ---- */

static void put_bars(struct pf_table *t, const int64_t *values, size_t count)
{
	static const char *const bars[] = { "\xe2\x96\x81", "\xe2\x96\x82",
					    "\xe2\x96\x83", "\xe2\x96\x84",
					    "\xe2\x96\x85", "\xe2\x96\x86",
					    "\xe2\x96\x87", "\xe2\x96\x88" };
	struct pf_buf out = { 0 };
	int64_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (values[i] > most)
			most = values[i];
	/* from nothing, so that heights compare as the values do */
	for (size_t i = 0; i < count; i++) {
		double part = most && values[i] > 0
				      ? (double)values[i] / (double)most
				      : 0;

		pf_buf_adds(&out, bars[(size_t)(part * 7 + 0.5)]);
	}
	pf_table_text(t, out.data, out.len);
	pf_buf_release(&out);
}

static void add_line(const struct trend *tr, struct pf_table *t,
		     const char *title, enum pf_col_kind kind,
		     int64_t (*value)(const struct pf_capture *c, size_t n),
		     size_t n)
{
	int64_t *values = pf_calloc(tr->count + 1, sizeof(*values));
	char text[PF_NUM_MAX];
	bool any = false;

	for (size_t i = 0; i < tr->count; i++) {
		values[i] = value(tr->captures[i], n);
		any |= values[i] > 0;
	}
	for (size_t i = 0; any && i < 2; i++) {
		int64_t v = values[i ? tr->count - 1 : 0];

		if (!i)
			pf_table_string(t, title);
		if (v < 0)
			pf_table_null(t);
		else
			pf_table_string(t,
					kind == PF_NS ? pf_num_show_ns(text, v)
					: kind == PF_BYTES
						? pf_num_show_bytes(text, v)
						: pf_num_show_count(text, v));
	}
	if (any)
		put_bars(t, values, tr->count);
	free(values);
}

static int64_t step_value(const struct pf_capture *c, size_t n)
{
	(void)n;
	return step_of(c);
}

static int64_t class_value(const struct pf_capture *c, size_t n)
{
	return pf_mean(c->class_ns[n], steps_of(c));
}

static int64_t cause_value(const struct pf_capture *c, size_t n)
{
	return pf_mean(c->cause_ns[n], steps_of(c));
}

static int64_t count_value(const struct pf_capture *c, size_t n)
{
	return pf_mean(c->count[n], steps_of(c));
}

static int64_t peak_value(const struct pf_capture *c, size_t n)
{
	(void)n;
	return c->peak_bytes;
}

static void add_lines(const struct trend *tr)
{
	const struct pf_col cols[] = {
		{ "figure", with_steps(tr) ? "Per step" : "Per capture",
		  PF_TEXT },
		{ "first", "First", PF_TEXT },
		{ "last", "Last", PF_TEXT },
		{ "bars", "From first to last", PF_TEXT },
	};
	static const enum pf_step_count shown[] = { PF_COUNT_KERNELS,
						    PF_COUNT_LAUNCHES,
						    PF_COUNT_SYNCS,
						    PF_COUNT_OPS };
	struct pf_table *t = pf_doc_table(tr->doc, "lines", "How it changed",
					  cols, sizeof(cols) / sizeof(*cols));
	struct pf_buf title = { 0 };

	add_line(tr, t, with_steps(tr) ? "step" : "capture", PF_NS, step_value,
		 0);
	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		add_line(tr, t, pf_step_class_name((enum pf_step_class)i),
			 PF_NS, class_value, i);
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++) {
		pf_buf_clear(&title);
		pf_buf_addf(&title, "idle: %s",
			    pf_cause_name((enum pf_cause)i));
		add_line(tr, t, title.data, PF_NS, cause_value, i);
	}
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		add_line(tr, t, pf_step_count_key(shown[i]), PF_COUNT,
			 count_value, shown[i]);
	add_line(tr, t, "peak memory", PF_BYTES, peak_value, 0);
	pf_buf_release(&title);
}

/* ---- the whole ---- */

static void add_finding(const struct trend *tr)
{
	const struct pf_capture *first = tr->captures[0], *least = first;
	const struct pf_capture *last = tr->captures[tr->count - 1];
	char from[PF_NUM_MAX], to[PF_NUM_MAX], best[PF_NUM_MAX];

	for (size_t i = 1; i < tr->count; i++)
		if (step_of(tr->captures[i]) < step_of(least))
			least = tr->captures[i];
	if (!with_steps(tr))
		pf_doc_finding(tr->doc,
			       "The first capture takes %s and the last %s; "
			       "without profiler steps their lengths say "
			       "nothing of speed",
			       pf_num_show_ns(from, step_of(first)),
			       pf_num_show_ns(to, step_of(last)));
	else
		pf_doc_finding(
			tr->doc,
			"A step takes %s in the first capture and %s in the "
			"last; least %s, in '%s'",
			pf_num_show_ns(from, step_of(first)),
			pf_num_show_ns(to, step_of(last)),
			pf_num_show_ns(best, step_of(least)), least->path);
	pf_doc_int(tr->doc, "capture_count", "Captures", PF_COUNT,
		   (int64_t)tr->count);
	pf_doc_int(tr->doc, "first_ns",
		   with_steps(tr) ? "Step, first" : "First", PF_NS,
		   step_of(first));
	pf_doc_int(tr->doc, "last_ns", with_steps(tr) ? "Step, last" : "Last",
		   PF_NS, step_of(last));
	pf_doc_int(tr->doc, "least_ns",
		   with_steps(tr) ? "Step, least" : "Least", PF_NS,
		   step_of(least));
}

/* Two texts that are known and different. */
static bool is_other(const struct pf_capture *a, uint32_t a_text,
		     const struct pf_capture *b, uint32_t b_text)
{
	const char *x = pf_intern_text(&a->texts, a_text, NULL);
	const char *y = pf_intern_text(&b->texts, b_text, NULL);

	return *x && *y && strcmp(x, y) != 0;
}

static void add_notes(const struct trend *tr)
{
	bool has_other_device = false;

	for (size_t i = 1; i < tr->count; i++) {
		const struct pf_capture *a = tr->captures[0];
		const struct pf_capture *b = tr->captures[i];

		has_other_device |=
			is_other(a, a->device_name, b, b->device_name) ||
			is_other(a, a->hardware, b, b->hardware) ||
			is_other(a, a->platform, b, b->platform);
	}
	if (with_steps(tr) && with_steps(tr) < tr->count)
		pf_doc_note(tr->doc,
			    "%zu of %zu captures have no profiler steps: their "
			    "figures are of the whole capture",
			    tr->count - with_steps(tr), tr->count);
	if (has_other_device)
		pf_doc_note(tr->doc, "not all captures are of the same GPU");
	if (!tr->args->wide)
		pf_doc_note(tr->doc,
			    "'profan diff A B' says what changed between two");
}

int pf_trend(const struct pf_capture *const *captures, size_t count,
	     const struct pf_trend_args *args, struct pf_doc *doc,
	     struct pf_err *err)
{
	const struct trend tr = { captures, count, args, doc };

	for (size_t i = 0; i < count; i++)
		if (!captures[i]->full_count)
			return pf_fail(err, PF_EDATA,
				       "'%s' has no complete step",
				       captures[i]->path);
	add_finding(&tr);
	add_rows(&tr);
	if (!args->wide)
		add_lines(&tr);
	add_notes(&tr);
	return 0;
}
