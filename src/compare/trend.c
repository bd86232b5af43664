/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/diff_judge.h"
#include "compare/trend.h"
#include "base/mem.h"
#include "base/num.h"
#include "show/doc.h"

/* ---- what is found ---- */

static const struct pf_step_figure step_figure = { pf_step_total, 0 };

/* The next number of a list that a comma or the end follows; 0: there is none. */
static int64_t next_samples(const char **at)
{
	int64_t n = 0;

	for (; **at >= '0' && **at <= '9'; ++*at)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, **at - '0', &n))
			return 0;
	if (**at && **at != ',')
		return 0;
	*at += **at == ',' && (*at)[1];
	return n;
}

/* One number for all rows, or one for each. */
static int find_samples(const char *words, struct pf_trend *out,
			struct pf_err *err)
{
	const char *at = words;
	size_t given = 0;

	while (*at) {
		int64_t n = next_samples(&at);

		if (n <= 0)
			return pf_fail(err, PF_EUSAGE,
				       "--samples-per-step '%s': a number from "
				       "1 on, or one for each capture with "
				       "commas between them",
				       words);
		for (size_t i = given;
		     i < (given ? given + 1 : out->count) && i < out->count;
		     i++)
			out->rows[i].samples_per_second =
				out->rows[i].steps_per_second * (double)n;
		given++;
	}
	if (given != 1 && given != out->count)
		return pf_fail(err, PF_EUSAGE,
			       "--samples-per-step '%s': write one number, or "
			       "%zu: one for each capture with steps",
			       words, out->count);
	out->has_samples = true;
	return 0;
}

/* Of what was not recorded at all nothing is known. */
static bool is_unknown(const struct pf_capture *c, enum pf_step_count count)
{
	if (c->count[count])
		return false;
	switch (count) {
	case PF_COUNT_LAUNCHES:
	case PF_COUNT_GRAPHS:
	case PF_COUNT_SYNCS:
	case PF_COUNT_ALLOCATIONS:
	case PF_COUNT_CALLS:
		return !c->recorded.has_calls;
	case PF_COUNT_TENSORS:
		return c->peak_bytes < 0;
	case PF_COUNT_OPS:
		return !c->recorded.has_ops;
	default:
		return !c->recorded.has_work;
	}
}

static void find_row(const struct pf_capture *c, size_t warm_up,
		     struct pf_trend_row *row)
{
	int64_t steps = c->steps;
	int64_t busy_ns = pf_mean(c->busy_ns, steps);
	double seconds = (double)c->step_ns / 1e9;

	*row = (struct pf_trend_row){
		.path = c->path,
		.device = pf_intern_text(&c->texts, c->device_name, NULL),
		.steps = steps,
		.device_count = c->device_count,
		.median_ns = pf_judge_median(c, warm_up, &step_figure),
		.step_ns = pf_mean(c->step_ns, steps),
		.busy_ns = busy_ns,
		.p50_ns = pf_capture_percentile(c, 50),
		.min_ns = pf_capture_percentile(c, 0),
		.max_ns = pf_capture_percentile(c, 100),
		.step_sum_ns = c->step_ns,
		.peak_bytes = c->peak_bytes,
		.reserved_bytes = c->reserved_bytes,
		.busy_share = c->busy_share < 0 ? NAN : c->busy_share,
		.between_share = c->has_steps ? c->between_share : NAN,
		.steps_per_second = seconds > 0 ? (double)steps / seconds : 0,
		.samples_per_second = NAN,
	};
	row->idle_ns = row->step_ns - busy_ns;
	pf_mean_parts(c->class_ns, PF_STEP_CLASSES, steps, row->class_ns);
	pf_mean_parts(c->cause_ns, PF_CAUSE_COUNT, steps, row->cause_ns);
	for (size_t i = 0; i < PF_COUNT_COUNTS; i++)
		row->count[i] = is_unknown(c, (enum pf_step_count)i)
					? NAN
					: pf_ratio((double)c->count[i], steps);
	for (size_t i = PF_COUNT_HTOD; i <= PF_COUNT_OTHER_COPIES; i++)
		row->copies += row->count[i];
}

/* Two texts that are known and different. */
static bool is_other(const struct pf_capture *a, uint32_t a_text,
		     const struct pf_capture *b, uint32_t b_text)
{
	const char *x = pf_intern_text(&a->texts, a_text, NULL);
	const char *y = pf_intern_text(&b->texts, b_text, NULL);

	return *x && *y && strcmp(x, y) != 0;
}

static bool is_other_device(const struct pf_capture *a,
			    const struct pf_capture *b)
{
	return is_other(a, a->device_name, b, b->device_name) ||
	       is_other(a, a->hardware, b, b->hardware) ||
	       is_other(a, a->platform, b, b->platform);
}

int pf_trend_find(const struct pf_capture *const *captures, size_t count,
		  const struct pf_trend_args *args, struct pf_trend *out,
		  struct pf_err *err)
{
	const struct pf_capture all = { .captures = captures,
					.capture_count = count };
	const struct pf_capture first = { .captures = captures,
					  .capture_count = 1 };
	const struct pf_capture last = { .captures = captures + count - 1,
					 .capture_count = 1 };
	struct pf_judge judge = { .a = &first, .b = &last };
	struct pf_judged shift;

	judge.warm_up = pf_judge_warm_up(&args->window, &all, &all);
	pf_judge_figure(&judge, &step_figure, &shift);
	*out = (struct pf_trend){
		.rows = pf_calloc(count, sizeof(*out->rows)),
		.count = count,
		.warm_up = judge.warm_up,
		.shift_ns = shift.rank.shift,
	};
	for (size_t i = 0; i < count; i++) {
		find_row(captures[i], judge.warm_up, &out->rows[i]);
		out->with_steps += captures[i]->has_steps;
		out->has_pauses |=
			out->rows[i].between_share >= PF_WINDOW_BETWEEN;
		out->has_other_device |=
			is_other_device(captures[0], captures[i]);
		if (out->rows[i].median_ns < out->rows[out->least].median_ns)
			out->least = i;
	}
	return args->samples_per_step
		       ? find_samples(args->samples_per_step, out, err)
		       : 0;
}

void pf_trend_release(struct pf_trend *trend)
{
	free(trend->rows);
	*trend = (struct pf_trend){ 0 };
}

/* ---- one row a capture ---- */

#define KEY_MAX 48
#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_trend_row, member, key, title, kind)
static const struct pf_field fixed_fields[] = {
	FIELD(path, "capture", "Capture", PF_PATH),
	FIELD(steps, "steps", "Steps", PF_COUNT | PF_FULL),
	FIELD(median_ns, "median_ns", "Median", PF_NS),
	FIELD(step_ns, "step_ns", "Mean", PF_NS | PF_FULL),
	FIELD(busy_share, "busy_share", "GPU busy", PF_RATIO),
	FIELD(between_share, "between_share", "Between", PF_RATIO),
	FIELD(count[PF_COUNT_KERNELS], "kernels", "Kernels", PF_REAL),
	FIELD(count[PF_COUNT_SYNCS], "syncs", "Syncs", PF_REAL),
	FIELD(peak_bytes, "peak_bytes", "Peak", PF_BYTES | PF_KNOWN),
	FIELD(p50_ns, "p50_ns", "Median of all", PF_NS | PF_FULL),
	FIELD(min_ns, "min_ns", "Least", PF_NS | PF_FULL),
	FIELD(max_ns, "max_ns", "Most", PF_NS | PF_FULL),
	FIELD(steps_per_second, "steps_per_second", "Steps/s",
	      PF_REAL | PF_FULL),
	FIELD(samples_per_second, "samples_per_second", "Samples/s", PF_REAL),
	FIELD(busy_ns, "busy_ns", "GPU busy", PF_NS | PF_FULL),
	FIELD(idle_ns, "idle_ns", "GPU idle", PF_NS | PF_FULL),
	FIELD(reserved_bytes, "reserved_bytes", "Reserved",
	      PF_BYTES | PF_KNOWN | PF_FULL),
	FIELD(device, "device", "GPU", PF_TEXT | PF_FULL),
	FIELD(device_count, "device_count", "GPUs", PF_COUNT | PF_FULL),
	FIELD(step_sum_ns, "step_sum_ns", "All steps", PF_NS | PF_FULL),
};
#define FIXED   (sizeof(fixed_fields) / sizeof(*fixed_fields))
#define MEDIAN  2
#define BETWEEN 5  /* shown where it says something */
#define SAMPLES 13 /* the column that needs --samples-per-step */

/* For csv and json: the parts of a step and counts, with keys of their own. */
struct part_fields {
	struct pf_field fields[FIXED + PF_STEP_CLASSES + PF_CAUSE_COUNT +
			       PF_COUNT_COUNTS];
	char keys[PF_STEP_CLASSES + PF_CAUSE_COUNT][KEY_MAX];
	size_t count;
};

/* "kernel_ns", "idle_launch_latency_ns" */
static const char *part_key(char out[KEY_MAX], const char *before,
			    const char *name)
{
	snprintf(out, KEY_MAX, "%s%s_ns", before, name);
	for (char *p = out; *p; p++)
		if (*p == ' ')
			*p = '_';
	return out;
}

static void add_part(struct part_fields *f, const struct pf_field *like,
		     size_t n, size_t bytes, const char *key)
{
	struct pf_field *field = &f->fields[f->count++];

	*field = *like;
	field->col.key = field->col.title = key;
	field->at += n * bytes;
}

static void add_parts(struct part_fields *f)
{
	static const struct pf_field class =
		FIELD(class_ns[0], "", "", PF_NS | PF_FULL),
				     cause = FIELD(cause_ns[0], "", "",
						   PF_NS | PF_FULL),
				     count = FIELD(count[0], "", "",
						   PF_REAL | PF_FULL);

	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		add_part(f, &class, i, sizeof(int64_t),
			 part_key(f->keys[i], "",
				  pf_step_class_name((enum pf_step_class)i)));
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		add_part(f, &cause, i, sizeof(int64_t),
			 part_key(f->keys[PF_STEP_CLASSES + i], "idle_",
				  pf_cause_name((enum pf_cause)i)));
	for (size_t i = 0; i < PF_COUNT_COUNTS; i++)
		/* a sum of durations, unlike the class of the step */
		if (i != PF_COUNT_KERNELS && i != PF_COUNT_SYNCS)
			add_part(f, &count, i, sizeof(double),
				 i == PF_COUNT_WORK_NS ? "kernel_work_ns"
						       : pf_step_counts[i].key);
}

static void show_rows(const struct pf_trend *trend, struct pf_doc *doc)
{
	struct part_fields f = { .count = FIXED };

	memcpy(f.fields, fixed_fields, sizeof(fixed_fields));
	if (!trend->has_samples)
		f.fields[SAMPLES].col.kind |= PF_FULL;
	if (!trend->has_pauses)
		f.fields[BETWEEN].col.kind |= PF_FULL;
	if (!trend->with_steps)
		f.fields[MEDIAN].col.title = "Capture takes";
	add_parts(&f);
	pf_doc_rows(doc, "trend",
		    trend->with_steps ? "One row a capture, per step"
				      : "One row a capture",
		    f.fields, f.count, trend->rows, trend->count,
		    sizeof(*trend->rows));
}

/* ---- lines of bars ---- */

static const char *bars_of(struct pf_buf *out, const double *values,
			   size_t count)
{
	static const char *const bars[] = { "\xe2\x96\x81", "\xe2\x96\x82",
					    "\xe2\x96\x83", "\xe2\x96\x84",
					    "\xe2\x96\x85", "\xe2\x96\x86",
					    "\xe2\x96\x87", "\xe2\x96\x88" };
	double most = 0;

	for (size_t i = 0; i < count; i++)
		if (values[i] > most)
			most = values[i];
	/* from nothing, so that heights compare as the values do */
	for (size_t i = 0; i < count; i++) {
		double part = most > 0 && values[i] > 0 ? values[i] / most : 0;

		pf_buf_adds(out, bars[(size_t)(part * 7 + 0.5)]);
	}
	return out->data;
}

static const char *value_of(char out[PF_NUM_MAX], double value,
			    enum pf_col_kind kind)
{
	if (value < 0)
		return NULL;
	return kind == PF_NS      ? pf_num_show_ns(out, (int64_t)value)
	       : kind == PF_BYTES ? pf_num_show_bytes(out, (int64_t)value)
				  : pf_num_show_real(out, value);
}

struct line {
	const char *figure, *first, *last, *bars;
};

static const struct pf_field line_fields[] = {
	PF_FIELD(struct line, figure, "figure", "Per step", PF_TEXT),
	PF_FIELD(struct line, first, "first", "First", PF_TEXT),
	PF_FIELD(struct line, last, "last", "Last", PF_TEXT),
	PF_FIELD(struct line, bars, "bars", "From first to last", PF_TEXT),
};

/* Of a member of each row; nothing where it never is more than 0. */
static void add_line(const struct pf_trend *trend, struct pf_table *t,
		     const char *title, enum pf_col_kind kind,
		     const struct pf_field *field)
{
	double *values = pf_calloc(trend->count + 1, sizeof(*values));
	char first[PF_NUM_MAX], last[PF_NUM_MAX];
	struct pf_buf bars = { 0 };
	bool any = false;

	for (size_t i = 0; i < trend->count; i++) {
		const struct pf_cell cell =
			pf_field_cell(field, &trend->rows[i]);

		values[i] = cell.type == PF_CELL_INT    ? (double)cell.v.i
			    : cell.type == PF_CELL_REAL ? cell.v.d
							: -1;
		any |= values[i] > 0;
	}
	if (any) {
		const struct line line = {
			title, value_of(first, values[0], kind),
			value_of(last, values[trend->count - 1], kind),
			bars_of(&bars, values, trend->count)
		};

		PF_PUT(t, line_fields, line);
	}
	pf_buf_release(&bars);
	free(values);
}

static void show_parts(const struct pf_trend *trend, struct pf_table *t)
{
	struct part_fields f = { 0 };
	struct pf_buf title = { 0 };

	add_parts(&f);
	for (size_t i = 0; i < PF_STEP_CLASSES + PF_CAUSE_COUNT; i++) {
		size_t cause = i - PF_STEP_CLASSES;

		pf_buf_clear(&title);
		if (i < PF_STEP_CLASSES)
			pf_buf_adds(&title,
				    pf_step_class_name((enum pf_step_class)i));
		else
			pf_buf_addf(&title, "idle: %s",
				    pf_cause_name((enum pf_cause)cause));
		add_line(trend, t, title.data, PF_NS, &f.fields[i]);
	}
	pf_buf_release(&title);
}

static void show_lines(const struct pf_trend *trend, struct pf_doc *doc)
{
	static const struct pf_field
		median = FIELD(median_ns, "", "", PF_NS),
		mean = FIELD(step_ns, "", "", PF_NS),
		peak = FIELD(peak_bytes, "", "", PF_BYTES | PF_KNOWN),
		counts[] = {
			FIELD(count[PF_COUNT_KERNELS], "kernels", "", PF_REAL),
			FIELD(count[PF_COUNT_LAUNCHES], "launches", "",
			      PF_REAL),
			FIELD(count[PF_COUNT_SYNCS], "syncs", "", PF_REAL),
			FIELD(count[PF_COUNT_OPS], "ops", "", PF_REAL),
		};
	struct pf_field fields[sizeof(line_fields) / sizeof(*line_fields)];
	struct pf_table *t;

	memcpy(fields, line_fields, sizeof(fields));
	if (!trend->with_steps)
		fields[0].col.title = "Per capture";
	t = pf_doc_fields(doc, "lines", "How it changed", PF_FIELDS(fields));
	if (trend->with_steps)
		add_line(trend, t, "median step", PF_NS, &median);
	add_line(trend, t, trend->with_steps ? "mean step" : "capture", PF_NS,
		 &mean);
	show_parts(trend, t);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		add_line(trend, t, counts[i].col.key, PF_REAL, &counts[i]);
	add_line(trend, t, "peak memory", PF_BYTES, &peak);
}

/* ---- the whole ---- */

/* ": shift -2.573 ms (-63.55 %)", as diff has it of these two. */
static void add_shift(struct pf_buf *out, const struct pf_trend *trend)
{
	int64_t first_ns = trend->rows[0].median_ns;
	char text[PF_NUM_MAX];

	pf_buf_addf(out, ", shift %s%s", trend->shift_ns > 0 ? "+" : "",
		    pf_num_show_ns(text, trend->shift_ns));
	if (first_ns)
		pf_buf_addf(out, " (%s%s)", trend->shift_ns > 0 ? "+" : "",
			    pf_num_show_ratio(text, (double)trend->shift_ns /
							    (double)first_ns));
}

static void show_finding(const struct pf_trend *trend, const char *since,
			 struct pf_doc *doc)
{
	const struct pf_trend_row *first = trend->rows;
	const struct pf_trend_row *last = &trend->rows[trend->count - 1];
	const struct pf_trend_row *least = &trend->rows[trend->least];
	char from[PF_NUM_MAX], to[PF_NUM_MAX], best[PF_NUM_MAX];
	struct pf_buf text = { 0 };

	pf_num_show_ns(from, first->median_ns);
	pf_num_show_ns(to, last->median_ns);
	pf_num_show_ns(best, least->median_ns);
	if (!trend->with_steps && trend->count == 1) {
		pf_doc_finding(doc,
			       "The only capture takes %s; without profiler "
			       "steps its length says nothing of speed",
			       from);
		return;
	}
	if (!trend->with_steps) {
		pf_doc_finding(doc,
			       "The first capture takes %s and the last %s; "
			       "without profiler steps their lengths say "
			       "nothing of speed",
			       from, to);
		return;
	}
	pf_buf_addf(&text, "The median step takes %s in the %s capture", from,
		    trend->count == 1 ? "only" : "first");
	if (trend->count > 1) {
		pf_buf_addf(&text, " and %s in the last", to);
		add_shift(&text, trend);
	}
	pf_judge_say_warm_up(&text, trend->warm_up);
	if (trend->count > 1)
		pf_buf_addf(&text, "; least %s, in '%s'", best, least->path);
	if (since && *since)
		pf_buf_addf(&text, "; since %s", since);
	pf_doc_finding(doc, "%s", text.data);
	pf_buf_release(&text);
}

static void show_figures(const struct pf_trend *trend, struct pf_doc *doc)
{
	bool has_steps = trend->with_steps;

	pf_doc_int(doc, "capture_count", "Captures", PF_COUNT,
		   (int64_t)trend->count);
	pf_doc_int(doc, "first_ns", has_steps ? "Median step, first" : "First",
		   PF_NS, trend->rows[0].median_ns);
	pf_doc_int(doc, "last_ns", has_steps ? "Median step, last" : "Last",
		   PF_NS, trend->rows[trend->count - 1].median_ns);
	pf_doc_int(doc, "least_ns", has_steps ? "Median step, least" : "Least",
		   PF_NS, trend->rows[trend->least].median_ns);
	if (trend->count > 1)
		pf_doc_int(doc, "shift_ns", "Shift, first to last",
			   PF_NS | PF_SIGNED, trend->shift_ns);
	pf_doc_int(doc, "warm_up_steps", "Warm-up steps of each",
		   PF_COUNT | (trend->warm_up ? 0 : PF_FULL),
		   (int64_t)trend->warm_up);
}

static void show_notes(const struct pf_trend *trend, bool wide,
		       struct pf_doc *doc)
{
	if (trend->with_steps && trend->with_steps < trend->count)
		pf_doc_note(doc,
			    "%zu of %zu captures %s no profiler steps: %s "
			    "figures are of the whole capture",
			    trend->count - trend->with_steps, trend->count,
			    trend->count - trend->with_steps == 1 ? "has"
								  : "have",
			    trend->count - trend->with_steps == 1 ? "its"
								  : "their");
	if (trend->has_pauses)
		pf_doc_note(doc,
			    "GPU busy is of the steps and the time between "
			    "them, whatever else is per step is of the steps "
			    "alone");
	if (trend->has_other_device)
		pf_doc_note(doc, "not all captures are of the same GPU");
	if (!wide)
		pf_doc_note(doc,
			    "'profan diff A B' says what changed between two");
}

void pf_trend_show(const struct pf_trend *trend, const char *since, bool wide,
		   struct pf_doc *doc)
{
	show_finding(trend, since, doc);
	show_figures(trend, doc);
	show_rows(trend, doc);
	if (!wide)
		show_lines(trend, doc);
	show_notes(trend, wide, doc);
}
