/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "compare/trend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "compare/diff_capture.h"
#include "compare/fleet.h"
#include "events/names.h"
#include "store/query.h"

/* ---- what is found ---- */

struct row {
	const char *path, *device; /* of the capture */
	int64_t steps, device_count;
	int64_t median_ns; /* of steps that are no warm-up */
	int64_t step_sum_ns;
	struct pf_capture_times time;
	/* By figure: means in whole ns or bytes, and means; unknown as there. */
	int64_t mean[PF_FIGURES];
	double count[PF_FIGURES];
	int64_t cause_ns[PF_CAUSE_COUNT];
	double busy_share;    /* not a number: unknown */
	double between_share; /* of that window, the time between steps */
	double steps_per_second, samples_per_second; /* likewise */
};

/* Texts of its rows are the captures'. */
struct trend {
	struct row *rows; /* in the order given */
	size_t count;
	size_t with_steps; /* a capture without is one of its own */
	size_t least;      /* the row with the shortest median step */
	size_t most;       /* ... the longest */
	size_t warm_up;    /* leading steps of each that are not judged */
	int64_t shift_ns;  /* from the first to the last */
	bool has_samples, has_other_device;
	bool has_pauses; /* some row's steps do not follow each other */
};

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
static int find_samples(const char *words, struct trend *out,
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
static bool is_known(const struct pf_capture *c, size_t figure)
{
	const bool has[] = {
		[PF_OF_TIME] = true,
		[PF_OF_CALLS] = c->recorded.has_calls,
		[PF_OF_OPS] = c->recorded.has_ops,
		[PF_OF_MEMORY] = c->of[PF_FIGURE_PEAK] >= 0,
		[PF_OF_WORK] = c->recorded.has_work,
	};

	return c->of[figure] || has[pf_step_figures[figure].of];
}

static void find_row(const struct pf_capture *c, size_t warm_up,
		     struct row *row)
{
	int64_t steps = c->steps;
	double seconds = (double)c->of[PF_FIGURE_TIME] / 1e9;

	*row = (struct row){
		.path = c->path,
		.device = pf_intern_text(&c->texts, c->device_name, NULL),
		.steps = steps,
		.device_count = c->device_count,
		.median_ns = pf_judge_median(c, warm_up, PF_FIGURE_TIME),
		.time = c->time,
		.step_sum_ns = c->of[PF_FIGURE_TIME],
		.busy_share = c->busy_share < 0 ? NAN : c->busy_share,
		.between_share = c->has_steps ? c->between_share : NAN,
		.steps_per_second = seconds > 0 ? (double)steps / seconds : 0,
		.samples_per_second = NAN,
	};
	memcpy(row->mean, c->mean, sizeof(c->mean));
	memcpy(row->cause_ns, c->cause_mean_ns, sizeof(c->cause_mean_ns));
	for (size_t i = 0; i < PF_FIGURES; i++)
		row->count[i] = is_known(c, i)
					? pf_ratio((double)c->of[i], steps)
					: NAN;
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

static int find(const struct pf_capture *const *captures,
		const struct pf_trend_args *args, struct trend *out,
		struct pf_err *err)
{
	size_t count = out->count;
	const struct pf_capture all = { .captures = captures,
					.capture_count = count };
	const struct pf_capture first = { .captures = captures,
					  .capture_count = 1 };
	const struct pf_capture last = { .captures = captures + count - 1,
					 .capture_count = 1 };
	struct pf_judge judge = { .a = &first, .b = &last };
	struct pf_judged shift;

	judge.warm_up = pf_judge_warm_up(&args->window, &all, &all);
	pf_judge_figure(&judge, PF_FIGURE_TIME, &shift);
	out->warm_up = judge.warm_up;
	out->shift_ns = shift.rank.shift;
	for (size_t i = 0; i < count; i++) {
		find_row(captures[i], judge.warm_up, &out->rows[i]);
		out->with_steps += captures[i]->has_steps;
		out->has_pauses |=
			out->rows[i].between_share >= PF_WINDOW_BETWEEN;
		out->has_other_device |=
			is_other_device(captures[0], captures[i]);
		if (out->rows[i].median_ns < out->rows[out->least].median_ns)
			out->least = i;
		if (out->rows[i].median_ns > out->rows[out->most].median_ns)
			out->most = i;
	}
	return args->samples_per_step
		       ? find_samples(args->samples_per_step, out, err)
		       : 0;
}

/* ---- one row a capture ---- */

#define KEY_MAX    48
#define FIELD(...) PF_FIELD(struct row, __VA_ARGS__)
static const struct pf_field fixed_fields[] = {
	FIELD(path, "capture", "Capture", PF_PATH),
	FIELD(steps, "Steps", PF_COUNT | PF_FULL),
	FIELD(median_ns, "Median", PF_NS),
	FIELD(mean[PF_FIGURE_TIME], "step_ns", "Mean", PF_NS | PF_FULL),
	FIELD(busy_share, "GPU busy", PF_RATIO),
	FIELD(between_share, "Between", PF_RATIO),
	FIELD(count[PF_FIGURE_KERNELS], "kernels", "Kernels", PF_REAL),
	FIELD(count[PF_FIGURE_SYNCS], "syncs", "Syncs", PF_REAL),
	FIELD(mean[PF_FIGURE_PEAK], "peak_bytes", "Peak", PF_BYTES | PF_KNOWN),
	FIELD(time.p50_ns, "p50_ns", "Median of all", PF_NS | PF_FULL),
	FIELD(time.min_ns, "min_ns", "Least", PF_NS | PF_FULL),
	FIELD(time.max_ns, "max_ns", "Most", PF_NS | PF_FULL),
	FIELD(steps_per_second, "Steps/s", PF_REAL | PF_FULL),
	FIELD(samples_per_second, "Samples/s", PF_REAL),
	FIELD(mean[PF_FIGURE_BUSY], "busy_ns", "GPU busy", PF_NS | PF_FULL),
	FIELD(mean[PF_FIGURE_IDLE], "idle_ns", "GPU idle", PF_NS | PF_FULL),
	FIELD(mean[PF_FIGURE_RESERVED], "reserved_bytes", "Reserved",
	      PF_BYTES | PF_KNOWN | PF_FULL),
	FIELD(device, "GPU", PF_TEXT | PF_FULL),
	FIELD(device_count, "GPUs", PF_COUNT | PF_FULL),
	FIELD(step_sum_ns, "All steps", PF_NS | PF_FULL),
};
#define FIXED   (PF_LEN(fixed_fields))
#define MEDIAN  2
#define PEAK    8
#define BETWEEN 5  /* shown where it says something */
#define SAMPLES 13 /* the column that needs --samples-per-step */

/* A figure as it has it in whole ns or bytes, or as a mean. */
static struct pf_field figure_field(size_t figure, unsigned kind)
{
	static const struct pf_field mean = FIELD(mean[0], "", "", PF_NS),
				     count = FIELD(count[0], "", "", PF_REAL);
	bool is_mean = figure < PF_FIGURE_COPIES || figure >= PF_FIGURE_CLASS;
	struct pf_field field = is_mean ? mean : count;

	field.col = (struct pf_col){ pf_step_figures[figure].column,
				     pf_step_figures[figure].column,
				     field.col.kind | kind };
	field.at += figure * (is_mean ? sizeof(int64_t) : sizeof(double));
	return field;
}

/* For csv and json: the parts of a step and counts, with keys of their own. */
struct part_fields {
	struct pf_field fields[FIXED + PF_FIGURES + PF_CAUSE_COUNT];
	char keys[PF_CAUSE_COUNT][KEY_MAX];
	size_t count;
};

static struct pf_field cause_field(size_t cause, char key[KEY_MAX])
{
	static const struct pf_field ns =
		FIELD(cause_ns[0], "", "", PF_NS | PF_FULL);
	struct pf_field field = ns;

	/* "idle_launch_latency_ns" */
	snprintf(key, KEY_MAX, "idle_%s_ns",
		 pf_cause_name((enum pf_cause)cause));
	for (char *p = key; *p; p++)
		if (*p == ' ')
			*p = '_';
	field.col.key = field.col.title = key;
	field.at += cause * sizeof(int64_t);
	return field;
}

static void add_parts(struct part_fields *f)
{
	for (size_t i = PF_FIGURE_CLASS; i < PF_FIGURES; i++)
		f->fields[f->count++] = figure_field(i, PF_FULL);
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		f->fields[f->count++] = cause_field(i, f->keys[i]);
	for (size_t i = PF_FIGURE_KERNELS; i < PF_FIGURE_CLASS; i++)
		if (i != PF_FIGURE_KERNELS && i != PF_FIGURE_SYNCS)
			f->fields[f->count++] = figure_field(i, PF_FULL);
}

static void show_rows(const struct trend *trend, struct pf_doc *doc)
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
		PF_AT_LEAST(most, values[i]);
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
	PF_FIELD(struct line, figure, "Per step", PF_TEXT),
	PF_FIELD(struct line, first, "First", PF_TEXT),
	PF_FIELD(struct line, last, "Last", PF_TEXT),
	PF_FIELD(struct line, bars, "From first to last", PF_TEXT),
};

/* Of a member of each row; nothing where it never is more than 0. */
static void add_line(const struct trend *trend, struct pf_table *t,
		     const char *title, struct pf_field field)
{
	const enum pf_col_kind kind = PF_COL_KIND(field.col.kind);
	PF_OWN double *values = pf_calloc(trend->count + 1, sizeof(*values));
	char first[PF_NUM_MAX], last[PF_NUM_MAX];
	PF_AUTO(pf_buf_release) struct pf_buf bars = { 0 };
	bool any = false;

	for (size_t i = 0; i < trend->count; i++) {
		const struct pf_cell cell =
			pf_field_cell(&field, &trend->rows[i]);

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
}

static void show_parts(const struct trend *trend, struct pf_table *t)
{
	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		add_line(trend, t, pf_step_figures[PF_FIGURE_CLASS + i].title,
			 figure_field(PF_FIGURE_CLASS + i, 0));
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++) {
		PF_AUTO(pf_buf_release) struct pf_buf title = { 0 };
		char key[KEY_MAX];

		pf_buf_addf(&title, "idle: %s",
			    pf_cause_name((enum pf_cause)i));
		add_line(trend, t, title.data, cause_field(i, key));
	}
}

static void show_lines(const struct trend *trend, struct pf_doc *doc)
{
	static const enum pf_step_figure counts[] = { PF_FIGURE_KERNELS,
						      PF_FIGURE_LAUNCHES,
						      PF_FIGURE_SYNCS,
						      PF_FIGURE_OPS };
	const bool is_one = trend->count == 1; /* then nothing changed */
	struct pf_field fields[PF_LEN(line_fields)];
	struct pf_table *t;

	memcpy(fields, line_fields, sizeof(fields));
	if (!trend->with_steps)
		fields[0].col.title = "Per capture";
	if (is_one)
		fields[1].col.title = "Value";
	for (size_t i = 2; is_one && i < PF_LEN(fields); i++)
		fields[i].col.kind |= PF_FULL;
	t = pf_doc_fields(doc, "lines", is_one ? "Figures" : "How it changed",
			  PF_FIELDS(fields));
	if (trend->with_steps)
		add_line(trend, t, "median step", fixed_fields[MEDIAN]);
	add_line(trend, t, trend->with_steps ? "mean step" : "capture",
		 figure_field(PF_FIGURE_TIME, 0));
	show_parts(trend, t);
	for (size_t i = 0; i < PF_LEN(counts); i++)
		add_line(trend, t, pf_step_figures[counts[i]].key,
			 figure_field(counts[i], 0));
	add_line(trend, t, "peak memory", fixed_fields[PEAK]);
}

/* ---- the whole ---- */

/* ": shift -2.573 ms (-63.55 %)", as diff has it of these two. */
static void add_shift(struct pf_buf *out, const struct trend *trend)
{
	int64_t first_ns = trend->rows[0].median_ns;

	pf_buf_addf(out, ", shift %s%s", trend->shift_ns > 0 ? "+" : "",
		    PF_SHOW_NS(trend->shift_ns));
	if (first_ns)
		pf_buf_addf(out, " (%s%s)", trend->shift_ns > 0 ? "+" : "",
			    PF_SHOW_RATIO((double)trend->shift_ns /
					  (double)first_ns));
}

static void show_finding(const struct trend *trend, const char *since,
			 struct pf_doc *doc)
{
	const struct row *first = trend->rows;
	const struct row *last = &trend->rows[trend->count - 1];
	const struct row *least = &trend->rows[trend->least];
	const struct row *most = &trend->rows[trend->most];
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	const char *from = PF_SHOW_NS(first->median_ns);
	const char *to = PF_SHOW_NS(last->median_ns);

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
		pf_buf_addf(&text,
			    ". Least is %s, in '%s', and most %s, in '%s'",
			    PF_SHOW_NS(least->median_ns), least->path,
			    PF_SHOW_NS(most->median_ns), most->path);
	if (since && *since)
		pf_buf_addf(&text, "; since %s", since);
	pf_doc_finding(doc, "%s", text.data);
}

static void show_figures(const struct trend *trend, struct pf_doc *doc)
{
	const bool has_steps = trend->with_steps;
	const unsigned of_many = PF_NS | (trend->count > 1 ? 0 : PF_FULL);

	pf_doc_int(doc, "capture_count", "Captures", PF_COUNT,
		   (int64_t)trend->count);
	pf_doc_int(doc, "first_ns", has_steps ? "Median step, first" : "First",
		   PF_NS, trend->rows[0].median_ns);
	pf_doc_int(doc, "last_ns", has_steps ? "Median step, last" : "Last",
		   of_many, trend->rows[trend->count - 1].median_ns);
	pf_doc_int(doc, "least_ns", has_steps ? "Median step, least" : "Least",
		   of_many, trend->rows[trend->least].median_ns);
	if (trend->count > 1)
		pf_doc_int(doc, "shift_ns", "Shift, first to last",
			   PF_NS | PF_SIGNED, trend->shift_ns);
	pf_doc_int(doc, "warm_up_steps", "Warm-up steps of each",
		   PF_COUNT | (trend->warm_up ? 0 : PF_FULL),
		   (int64_t)trend->warm_up);
}

static void show_notes(const struct trend *trend, bool wide, struct pf_doc *doc)
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

/* "since" is what changed and when, for the finding; or NULL. */
static void show(const struct trend *trend, const char *since, bool wide,
		 struct pf_doc *doc)
{
	show_finding(trend, since, doc);
	show_figures(trend, doc);
	show_rows(trend, doc);
	if (!wide)
		show_lines(trend, doc);
	show_notes(trend, wide, doc);
}

/* ---- since when ---- */

/* A capture.  Means are of whole steps of all ranks; they may be unknown. */
struct night {
	int64_t capture_id;
	const char *taken, *capture, *commit, *labels;
	int64_t rank_count, step_count;
	int64_t name_count; /* distinct kernels */
	/* By figure of pf_fleet_step_figures; in sum while they are read. */
	int64_t ns[PF_FLEET_FIGURES]; /* PF_NO_INT: no whole step */
	double count[PF_FLEET_FIGURES];
};

/* Series are of integers: a thousandth of a ns of a call, of a count. */
#define FINE 1000

enum what { CHANGED, NEW, GONE };

/*
 * Since a night, a figure or a kernel is another.  Before and after are
 * medians of nights and shift is that of Hodges and Lehmann, all fine; of a
 * kernel that is new or gone one of the first is PF_NO_INT, and nothing was
 * tested.
 */
struct change {
	enum what what;
	size_t night;
	size_t figure;      /* of pf_fleet_step_figures, if kernel is NULL */
	const char *kernel; /* as the trace has it */
	int64_t before, after, shift, low, high;
	double p;
	int64_t before_count, after_count; /* nights */
	int64_t weight; /* of kernels: time that it comes to, fine */
};

struct nights {
	struct night *nights; /* in order of time */
	size_t count, without_steps;
	struct change *changes; /* of the last night first */
	size_t change_count, change_cap;
	int64_t kernel_count; /* whose times were looked at */
	size_t least;         /* nights that a change of a step takes */
	size_t least_kernels; /* and one of a kernel */
	struct pf_arena texts;
};

/*
 * Nights are in memory; both statements have them in one order.  Kernels are
 * read one after the other, each with its nights, so that memory grows with
 * nights alone.
 */

#define COUNT_MAX 1e12 /* of a step; more is damage */

static const struct pf_fleet_figure *figure_of(size_t n)
{
	return &pf_fleet_step_figures.items[n];
}

static const char *name_of(size_t n)
{
	return pf_step_figures[figure_of(n)->figure].key;
}

#define FIGURES pf_fleet_step_figures.count

static bool is_time(size_t figure)
{
	return PF_COL_KIND(figure_of(figure)->of.col.kind) == PF_NS;
}

/* The fine value of a figure; PF_NO_INT: unknown. */
static int64_t night_value(const struct night *night, size_t figure)
{
	int64_t ns = night->ns[figure];
	double count = night->count[figure];

	/* no comparison holds of what is not known */
	if (!is_time(figure))
		return count >= 0 && count < COUNT_MAX ? llround(count * FINE)
						       : PF_NO_INT;
	/* a step is less than a month, so that this fits */
	return ns < 0 || ns > INT64_MAX / 4 / FINE ? PF_NO_INT : ns * FINE;
}

/* ---- nights ---- */

#define N(member, kind) PF_FIELD(struct night, member, "", kind)
static const struct pf_field night_fields[] = {
	N(capture_id, PF_INT), N(taken, PF_TEXT),       N(capture, PF_TEXT),
	N(commit, PF_TEXT),    N(rank_count, PF_COUNT), N(name_count, PF_COUNT),
	N(labels, PF_TEXT),
};
#undef N

static void add_sums(struct nights *t, sqlite3_stmt *st)
{
	int64_t id = sqlite3_column_int64(st, PF_FLEET_CAPTURE_ID);
	struct night *n = t->nights;

	while (n < t->nights + t->count && n->capture_id != id)
		n++;
	if (n == t->nights + t->count)
		return;
	pf_sat_sum(&n->step_count, sqlite3_column_int64(st, PF_FLEET_UNIT));
	for (size_t i = 0; i < FIGURES; i++)
		pf_sat_sum(&n->ns[i],
			   sqlite3_column_int64(st, PF_FLEET_SUMS + (int)i));
}

/* Of a night that has its sums. */
static void find_means(struct night *n)
{
	for (size_t i = 0; i < FIGURES; i++) {
		n->count[i] = pf_ratio((double)n->ns[i], n->step_count);
		n->ns[i] = n->step_count ? llround(n->count[i]) : PF_NO_INT;
	}
}

static int read_nights(struct pf_db *db, struct nights *t)
{
	PF_STMT(st) = NULL;
	int rc;

	t->nights =
		pf_named_read(db, "fleet/show_trend", PF_FIELDS(night_fields),
			      &t->texts, &t->count);
	st = t->nights ? pf_fleet_sums_prepare(db, &pf_fleet_step_figures)
		       : NULL;
	while ((rc = pf_db_step(db, st, db->err)) == 1)
		add_sums(t, st);
	for (size_t i = 0; !rc && i < t->count; i++) {
		t->without_steps += !t->nights[i].step_count;
		find_means(&t->nights[i]);
	}
	return rc;
}

/* ---- changes ---- */

static struct change *add(struct nights *t)
{
	return PF_ONE_MORE(t->changes, t->change_count, t->change_cap);
}

/* A series: values of the nights that have one. */
struct series {
	int64_t *values, *calls;
	size_t *nights;
	size_t count;
	const char *kernel;
	size_t figure;
	double rate;
};

/* One of so many that share their part of the rate; lives as the nights do. */
static struct series set_up(struct nights *t, size_t count)
{
	return (struct series){
		.values = pf_arena_calloc(&t->texts, t->count, sizeof(int64_t)),
		.calls = pf_arena_calloc(&t->texts, t->count, sizeof(int64_t)),
		.nights = pf_arena_calloc(&t->texts, t->count, sizeof(size_t)),
		.rate = PF_CHANGE_RATE / 2 / (double)count,
	};
}

static void put(struct series *s, size_t night, int64_t value, int64_t calls)
{
	if (value == PF_NO_INT)
		return;
	s->values[s->count] = value;
	s->calls[s->count] = calls;
	s->nights[s->count++] = night;
}

static int64_t weight_of(double sum)
{
	return sum < 9e18 ? (int64_t)sum : INT64_MAX;
}

/* What it comes to in the nights after it, fine. */
static int64_t weigh(const struct series *s, const struct pf_change *c)
{
	double sum = 0;

	for (size_t i = c->at; i < c->to; i++)
		sum += (double)s->calls[i] * (double)c->rank.shift;
	return weight_of(fabs(sum) / (double)(c->to - c->at));
}

static void find_changes(struct nights *t, const struct series *s)
{
	PF_AUTO(pf_changes_release) struct pf_changes found = { 0 };

	pf_changes_find(s->values, s->count, s->rate, &found);
	for (size_t i = 0; i < found.count; i++) {
		const struct pf_change *c = &found.items[i];

		*add(t) = (struct change){
			.night = s->nights[c->at],
			.figure = s->figure,
			.kernel = s->kernel ? pf_arena_string(&t->texts,
							      s->kernel)
					    : NULL,
			.before = c->before,
			.after = c->after,
			.shift = c->rank.shift,
			.low = c->rank.shift_low,
			.high = c->rank.shift_high,
			.p = c->rank.p,
			.before_count = (int64_t)(c->at - c->from),
			.after_count = (int64_t)(c->to - c->at),
			.weight = s->kernel ? weigh(s, c) : 0,
		};
	}
}

static void find_of_steps(struct nights *t)
{
	struct series s = set_up(t, FIGURES);

	t->least = pf_changes_least(s.rate);
	for (s.figure = 0; s.figure < FIGURES; s.figure++) {
		s.count = 0;
		for (size_t i = 0; i < t->count; i++)
			put(&s, i, night_value(&t->nights[i], s.figure), 1);
		find_changes(t, &s);
	}
}

/* ---- kernels ---- */

enum { NAME_ID, NAME, CAPTURE_ID, CALLS, TOTAL_NS };

static int64_t per_call(int64_t total_ns, int64_t calls)
{
	__int128 fine = (__int128)total_ns * FINE;

	if (calls <= 0)
		return PF_NO_INT;
	fine = (fine + calls / 2) / calls;
	return total_ns >= 0 && fine < INT64_MAX / 4 ? (int64_t)fine
						     : PF_NO_INT;
}

/*
 * It is in every night since one and in none before, or the other way round;
 * nights without any kernel say nothing.
 */
static void find_new(struct nights *t, const struct series *s)
{
	const struct night *nights = t->nights;
	size_t first = s->nights[0], last = s->nights[s->count - 1];
	size_t inside = 0, before = 0, after = 0;
	bool is_new;

	for (size_t i = 0; i < t->count; i++) {
		if (!nights[i].name_count)
			continue;
		before += i < first;
		after += i > last;
		inside += i >= first && i <= last;
	}
	is_new = before && !after;
	if (inside != s->count || (!is_new && (before || !after)))
		return;
	if (!is_new)
		while (!nights[++last].name_count)
			;
	*add(t) = (struct change){
		.what = is_new ? NEW : GONE,
		.night = is_new ? first : last,
		.kernel = pf_arena_string(&t->texts, s->kernel),
		.before = is_new ? PF_NO_INT : s->values[s->count - 1],
		.after = is_new ? s->values[0] : PF_NO_INT,
		.shift = PF_NO_INT,
		.low = PF_NO_INT,
		.high = PF_NO_INT,
		.p = NAN,
		.before_count = (int64_t)(is_new ? before : inside),
		.after_count = (int64_t)(is_new ? inside : after),
		.weight = weight_of((double)s->calls[0] * (double)s->values[0]),
	};
}

static void end_kernel(struct nights *t, struct series *s)
{
	if (s->count) {
		find_changes(t, s);
		find_new(t, s);
	}
	s->count = 0;
}

/* Rows of a kernel stand together, in the order of nights. */
static int read_kernels(struct pf_db *db, struct nights *t, struct series *s)
{
	PF_STMT(st) = pf_named_prepare(db, "fleet/trend_kernels", db->err);
	int64_t name_id = PF_NO_INT;
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };
	size_t night = 0;
	int rc;

	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		int64_t id = sqlite3_column_int64(st, NAME_ID);
		int64_t capture = sqlite3_column_int64(st, CAPTURE_ID);
		int64_t calls = sqlite3_column_int64(st, CALLS);

		if (id != name_id) {
			end_kernel(t, s);
			night = 0;
			name_id = id;
			pf_buf_clear(&name);
			pf_buf_adds(&name, pf_sqlite_text(st, NAME));
			s->kernel = name.data;
		}
		while (night < t->count &&
		       t->nights[night].capture_id != capture)
			night++;
		if (night < t->count)
			put(s, night,
			    per_call(sqlite3_column_int64(st, TOTAL_NS), calls),
			    calls);
	}
	if (!rc)
		end_kernel(t, s);
	return rc;
}

static int find_of_kernels(struct pf_db *db, struct nights *t)
{
	struct series s;

	PF_TRY(pf_db_number(db, "SELECT count(DISTINCT name_id) FROM kernel",
			    &t->kernel_count, db->err));
	if (!t->kernel_count)
		return 0;
	s = set_up(t, (size_t)t->kernel_count);
	t->least_kernels = pf_changes_least(s.rate);
	return read_kernels(db, t, &s);
}

/* ---- the whole ---- */

PF_ORDER(by_night, struct change,
	 PF_DOWN(night) PF_UP(kernel != NULL) PF_UP(figure) PF_UP(what)
		 PF_DOWN(weight) PF_ALPHA(kernel))

static void put_in_order(struct nights *t)
{
	pf_sort(t->changes, t->change_count, sizeof(*t->changes), by_night);
}

static int find_of_fleet(struct pf_db *db, struct nights *t)
{
	PF_TRY(read_nights(db, t));
	find_of_steps(t);
	PF_TRY(find_of_kernels(db, t));
	put_in_order(t);
	return 0;
}

/* ---- captures that are in no fleet ---- */

static struct night night_of(const struct row *row, size_t number,
			     bool has_steps)
{
	struct night night = {
		.capture_id = (int64_t)number,
		.capture = row->path,
		.rank_count = 1,
		.step_count = has_steps ? row->steps : 0,
	};

	for (size_t i = 0; i < FIGURES; i++) {
		night.ns[i] =
			has_steps ? row->mean[figure_of(i)->figure] : PF_NO_INT;
		night.count[i] =
			has_steps ? row->count[figure_of(i)->figure] : NAN;
	}
	return night;
}

/* A kernel's calls in a capture, and their time. */
struct called {
	int64_t calls, ns;
};

/* A row has the calls of a kernel in each. */
static void add_kernels(const struct pf_capture *c, size_t number,
			struct pf_keyed *kernels)
{
	for (size_t i = 0; i < c->work.count; i++) {
		const struct pf_work_row *row = pf_work_at(c, i);
		const char *name =
			pf_intern_text(&c->texts, row->key.kernel, NULL);
		struct called *one;
		size_t n;

		if (row->key.kind != PF_KIND_KERNEL)
			continue;
		n = pf_keyed_at_text(kernels, name, strlen(name));
		one = (struct called *)((char *)kernels->rows +
					n * kernels->width);
		one[number].calls += row->sum.count;
		one[number].ns += row->sum.ns;
	}
}

static void find_of_calls(struct nights *t, const struct pf_keyed *kernels)
{
	const struct called *all = kernels->rows;
	struct series s;

	t->kernel_count = (int64_t)kernels->count;
	if (!kernels->count)
		return;
	s = set_up(t, kernels->count);
	t->least_kernels = pf_changes_least(s.rate);
	for (size_t i = 0; i < kernels->count * t->count; i++)
		t->nights[i % t->count].name_count += all[i].calls > 0;
	for (uint32_t k = 0; k < kernels->count; k++) {
		s.kernel = pf_intern_text(&kernels->texts, k, NULL);
		for (size_t i = 0; i < t->count; i++, all++)
			put(&s, i, per_call(all->ns, all->calls), all->calls);
		end_kernel(t, &s);
	}
}

/*
 * The same of captures that are in no fleet, in the order given, by the means
 * of their full steps as rows have them, and the kernels in these.
 */
static void find_of_captures(const struct trend *trend,
			     const struct pf_capture *const *captures,
			     struct nights *t)
{
	PF_AUTO(pf_keyed_end) struct pf_keyed kernels = { 0 };

	t->count = trend->count;
	pf_keyed_begin(&kernels, t->count * sizeof(struct called),
		       PF_KEYED_SUMS);
	t->nights = pf_arena_calloc(&t->texts, trend->count + 1,
				    sizeof(*t->nights));
	for (size_t i = 0; i < trend->count; i++) {
		t->nights[i] =
			night_of(&trend->rows[i], i, captures[i]->has_steps);
		t->without_steps += !captures[i]->has_steps;
		add_kernels(captures[i], i, &kernels);
	}
	find_of_steps(t);
	find_of_calls(t, &kernels);
	put_in_order(t);
}

static void release_nights(struct nights *t)
{
	free(t->changes);
	pf_arena_release(&t->texts);
}

#define DAY 10 /* characters of a time that are its day */

/* ---- words ---- */

/* A fine value in the unit of the figure; of kernels, of a call. */
static const char *fine_text(char out[PF_NUM_MAX], int64_t fine,
			     enum pf_col_kind kind)
{
	if (fine == PF_NO_INT)
		return NULL;
	return kind == PF_NS ? pf_num_show_ns(out, (fine + FINE / 2) / FINE)
			     : pf_num_show_real(out, (double)fine / FINE);
}

static enum pf_col_kind kind_of(const struct change *c)
{
	return c->kernel || is_time(c->figure) ? PF_NS : PF_COUNT;
}

static double share_of(const struct change *c)
{
	return c->shift == PF_NO_INT ? NAN
				     : pf_ratio((double)c->shift, c->before);
}

/* " +2.4 % (37.6 ms to 38.5 ms)" */
static void say_change(struct pf_buf *out, const struct change *c)
{
	char from[PF_NUM_MAX], to[PF_NUM_MAX];

	if (c->before > 0)
		pf_buf_addf(out, " %s%s", c->shift > 0 ? "+" : "",
			    PF_SHOW_RATIO(share_of(c)));
	pf_buf_addf(out, " (%s to %s)", fine_text(from, c->before, kind_of(c)),
		    fine_text(to, c->after, kind_of(c)));
}

/* "2026-10-11 (night 40, commit 1a2b3c)" */
static void say_night(struct pf_buf *out, const struct night *n)
{
	if (n->taken)
		pf_buf_addf(out, "%.*s (", DAY, n->taken);
	pf_buf_adds(out, n->capture);
	if (n->commit)
		pf_buf_addf(out, ", commit %s", n->commit);
	if (n->taken)
		pf_buf_addc(out, ')');
}

/* ---- the finding ---- */

/* Changes of the last night that has any stand first. */
static size_t count_latest(const struct nights *t)
{
	size_t n = 0;

	while (n < t->change_count &&
	       t->changes[n].night == t->changes[0].night)
		n++;
	return n;
}

/* The step itself, and what of its parts changed most. */
static void say_steps(struct pf_buf *out, const struct change *c, size_t count)
{
	const struct change *most = NULL;
	const char *comma = ": ";

	for (size_t i = 0; i < count; i++) {
		const char *key = name_of(c[i].figure);

		if (c[i].kernel || kind_of(&c[i]) != PF_NS ||
		    !strcmp(key, "gpu_busy"))
			continue;
		if (!strcmp(key, "step_time")) {
			pf_buf_adds(out, ": step");
			say_change(out, &c[i]);
			comma = ", ";
		} else if (!most || llabs(c[i].shift) > llabs(most->shift)) {
			most = &c[i];
		}
	}
	if (!most)
		return;
	pf_buf_addf(out, "%s%s", comma, name_of(most->figure));
	say_change(out, most);
}

static void say_kernels(struct pf_buf *out, const struct change *c,
			size_t count, bool is_first)
{
	const struct change *most = NULL;
	size_t changed = 0;

	for (size_t i = 0; i < count; i++) {
		if (!c[i].kernel || c[i].what != CHANGED)
			continue;
		most = most ? most : &c[i];
		changed++;
	}
	if (!most)
		return;
	pf_buf_addf(out, "%s%zu kernel%s another time per call, most ",
		    is_first ? ": " : "; ", changed,
		    changed == 1 ? " has" : "s have");
	pf_kernel_short_name(out, most->kernel);
	pf_buf_addf(out, " (%s%s)", most->shift > 0 ? "+" : "",
		    PF_SHOW_RATIO(share_of(most)));
}

/* Counts, where neither times nor kernels changed. */
static void say_counts(struct pf_buf *out, const struct change *c, size_t count)
{
	size_t new = 0, gone = 0;

	for (size_t i = 0; i < count; i++) {
		new += c[i].what == NEW;
		gone += c[i].what == GONE;
		if (c[i].kernel)
			continue;
		pf_buf_addf(out, ": %s per step", name_of(c[i].figure));
		say_change(out, &c[i]);
		return;
	}
	pf_buf_addf(out, ": %zu kernel%s new and %zu gone", new, pf_plural(new),
		    gone);
}

/* "2026-10-11 (night 40): step +2 % ..."; nothing if nothing changed. */
static void say_changes(const struct nights *t, struct pf_buf *out)
{
	size_t count = count_latest(t), before = 0, length;

	if (!count)
		return;
	for (size_t i = count; i < t->change_count; i++)
		before += i == count ||
			  t->changes[i].night != t->changes[i - 1].night;
	say_night(out, &t->nights[t->changes[0].night]);
	length = out->len;
	say_steps(out, t->changes, count);
	say_kernels(out, t->changes, count, out->len == length);
	if (out->len == length)
		say_counts(out, t->changes, count);
	if (before)
		pf_buf_addf(out, "; %zu earlier capture%s changed something",
			    before, pf_plural(before));
}

static void say_latest(const struct nights *t, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf out = { 0 };

	say_changes(t, &out);
	pf_doc_finding(doc, "Since %s", out.data);
}

static void say_even(const struct nights *t, struct pf_doc *doc)
{
	size_t known = t->count - t->without_steps;

	if (known < t->least)
		pf_doc_finding(doc,
			       "%zu capture%s with whole steps %s too few to "
			       "tell a change from chance, which takes %zu",
			       known, pf_plural(known),
			       known == 1 ? "is" : "are", t->least);
	else
		pf_doc_finding(doc,
			       "No change in %zu captures that is more than "
			       "how they vary",
			       t->count);
}

/* ---- tables ---- */

struct change_row {
	const char *day, *taken, *capture, *commit, *of, *name, *from, *to;
	const char *unit;
	double before, after, shift, low, high, share, p;
	int64_t before_count, after_count;
};

#define C(...) PF_FIELD(struct change_row, __VA_ARGS__)
static const struct pf_field change_fields[] = {
	C(day, "since", "Since", PF_TEXT | PF_BRIEF),
	C(taken, "Taken", PF_TEXT | PF_FULL),
	C(capture, "Capture", PF_TEXT),
	C(commit, "Commit", PF_TEXT | PF_FULL),
	C(of, "Of", PF_TEXT | PF_FULL),
	C(name, "Figure or kernel", PF_TEXT),
	C(from, "Before", PF_TEXT | PF_BRIEF),
	C(to, "After", PF_TEXT | PF_BRIEF),
	C(unit, "Unit", PF_TEXT | PF_FULL),
	C(before, "Before", PF_REAL | PF_FULL),
	C(after, "After", PF_REAL | PF_FULL),
	C(shift, "Shift", PF_REAL | PF_FULL),
	C(low, "shift_low", "From", PF_REAL | PF_FULL),
	C(high, "shift_high", "To", PF_REAL | PF_FULL),
	C(share, "change", "Change", PF_RATIO | PF_SIGNED),
	C(p, "p", PF_REAL | PF_FULL),
	C(before_count, "Captures before", PF_COUNT | PF_FULL),
	C(after_count, "Captures after", PF_COUNT | PF_FULL),
};
#undef C

static double plain(int64_t fine)
{
	return fine == PF_NO_INT ? NAN : (double)fine / FINE;
}

static void add_change(const struct nights *t, const struct change *c,
		       struct pf_table *table)
{
	static const char *const gone[] = { [NEW] = "new", [GONE] = "gone" };
	const struct night *n = &t->nights[c->night];
	char from[PF_NUM_MAX], to[PF_NUM_MAX], day[DAY + 1] = "";
	struct change_row row = {
		.day = n->taken ? day : n->capture,
		.taken = n->taken,
		.capture = n->capture,
		.commit = n->commit,
		.of = c->kernel ? "kernel" : "step",
		.name = c->kernel ? c->kernel : name_of(c->figure),
		.from = fine_text(from, c->before, kind_of(c)),
		.to = fine_text(to, c->after, kind_of(c)),
		.unit = kind_of(c) == PF_NS ? "ns" : "count",
		.before = plain(c->before),
		.after = plain(c->after),
		.shift = plain(c->shift),
		.low = plain(c->low),
		.high = plain(c->high),
		.share = share_of(c),
		.p = c->p,
		.before_count = c->before_count,
		.after_count = c->after_count,
	};

	if (n->taken)
		snprintf(day, sizeof(day), "%s", n->taken);
	if (c->what == NEW)
		row.from = gone[NEW];
	if (c->what == GONE)
		row.to = gone[GONE];
	PF_PUT(table, change_fields, row);
}

#define N(...) PF_FIELD(struct night, __VA_ARGS__)
static const struct pf_field shown_night_fields[] = {
	N(taken, "Taken", PF_TEXT),
	N(capture, "Capture", PF_TEXT),
	N(commit, "Commit", PF_TEXT),
	N(rank_count, "Ranks", PF_COUNT),
	N(step_count, "Steps", PF_COUNT | PF_FULL),
	N(name_count, "Kernel names", PF_COUNT | PF_FULL),
	N(labels, "Labels", PF_TEXT | PF_FULL),
};
#undef N
#define SHOWN  (PF_LEN(shown_night_fields))
#define COMMIT 2
#define BEFORE 5 /* the figures of a step */

static struct pf_field night_field(size_t figure)
{
	static const struct pf_field ns = PF_FIELD(struct night, ns[0], "", "",
						   PF_NS | PF_MAYBE),
				     count = PF_FIELD(struct night, count[0],
						      "", "", PF_REAL);
	struct pf_field field = is_time(figure) ? ns : count;

	field.col = (struct pf_col){
		pf_step_figures[figure_of(figure)->figure].column,
		figure_of(figure)->of.col.title,
		field.col.kind | figure_of(figure)->night,
	};
	field.at += figure * sizeof(int64_t);
	return field;
}

static void show_nights(const struct nights *t, size_t first,
			struct pf_doc *doc)
{
	struct pf_field fields[SHOWN + PF_FLEET_FIGURES];
	size_t count = 0;
	bool has_commit = false;

	for (size_t i = 0; i < t->count; i++)
		has_commit |= t->nights[i].commit != NULL;
	for (size_t i = 0; i < SHOWN; i++) {
		for (size_t k = 0; i == BEFORE && k < FIGURES; k++)
			fields[count++] = night_field(k);
		fields[count++] = shown_night_fields[i];
	}
	if (!has_commit)
		fields[COMMIT].col.kind |= PF_FULL;
	pf_doc_rows(doc, "trend", "Means of whole steps of all ranks", fields,
		    count, t->nights + first, t->count - first,
		    sizeof(*t->nights));
}

static void show_changes(const struct nights *t, size_t count,
			 struct pf_doc *doc)
{
	struct pf_table *table =
		pf_doc_fields(doc, "changes",
			      "What changed, of a step or per call of a kernel",
			      PF_FIELDS(change_fields));

	for (size_t i = 0; i < count; i++)
		add_change(t, &t->changes[i], table);
}

/* How far what is said can be trusted. */
static void show_chances(const struct nights *t, struct pf_doc *doc)
{
	if (t->count >= t->least && t->count < t->least_kernels)
		pf_doc_note(doc,
			    "a change of one of %" PRId64 " kernels would take "
			    "%zu captures to tell from chance",
			    t->kernel_count, t->least_kernels);
	if (t->change_count)
		pf_doc_note(doc,
			    "of captures that vary by chance alone, at most "
			    "1 fleet in %.0f shows any change",
			    1 / PF_CHANGE_RATE);
}

/*
 * Only the table of what changed, if captures are enough to tell; at most so
 * many rows, -1: all.
 */
static void show_only_changes(const struct nights *t, int64_t limit,
			      struct pf_doc *doc)
{
	size_t count = t->change_count;

	if (t->count < t->least)
		return;
	if (limit >= 0 && count > (size_t)limit)
		count = (size_t)limit;
	show_changes(t, count, doc);
	if (count < t->change_count)
		pf_doc_note(doc,
			    "%zu more rows of 'changes'; --format csv has "
			    "each",
			    t->change_count - count);
	show_chances(t, doc);
}

static void show_nights_notes(const struct nights *t, size_t first,
			      struct pf_doc *doc)
{
	if (first)
		pf_doc_note(doc, "%zu earlier capture%s; --limit -1 shows all",
			    first, pf_plural(first));
	if (t->without_steps)
		pf_doc_note(doc, "%zu capture%s no whole step",
			    t->without_steps,
			    t->without_steps == 1 ? " has" : "s have");
	show_chances(t, doc);
}

static void show_nights_and_changes(const struct nights *t, int64_t limit,
				    struct pf_doc *doc)
{
	size_t first = limit >= 0 && (size_t)limit < t->count
			       ? t->count - (size_t)limit
			       : 0;

	if (t->change_count)
		say_latest(t, doc);
	else
		say_even(t, doc);
	pf_doc_int(doc, "capture_count", "Captures", PF_COUNT,
		   (int64_t)t->count);
	pf_doc_int(doc, "kernel_count", "Kernels looked at", PF_COUNT | PF_FULL,
		   t->kernel_count);
	pf_doc_int(doc, "least_captures", "Captures that a change takes",
		   PF_COUNT | PF_FULL, (int64_t)t->least);
	show_changes(t, t->change_count, doc);
	show_nights(t, first, doc);
	show_nights_notes(t, first, doc);
}

/* ---- checks ---- */

/* The figures themselves, of whose last change there is none yet. */
static bool figure_at(const void *unused, size_t n, struct pf_gate_figure *out)
{
	if (n >= FIGURES)
		return false;
	(void)unused;
	*out = (struct pf_gate_figure){
		.key = name_of(n),
		.kind = is_time(n) ? PF_NS : PF_COUNT,
		.a_steps = FINE,
		.b_steps = FINE,
	};
	return true;
}

static const struct pf_gate_figures figures = { figure_at, NULL };

int pf_trend_checks_parse(const struct pf_opt_list *checks, struct pf_err *err)
{
	struct pf_gate_figure f;
	struct pf_gate gate;

	for (size_t i = 0; i < checks->count; i++)
		PF_TRY(pf_gate_read(checks->items[i], &figures, &gate, &f,
				    err));
	return 0;
}

/* The last change of a figure, or NULL. */
static const struct change *last_of(const struct nights *t, const char *key)
{
	for (size_t i = 0; i < t->change_count; i++) {
		const struct change *c = &t->changes[i];

		if (!c->kernel && !strcmp(name_of(c->figure), key))
			return c;
	}
	return NULL;
}

static int check(const char *expression, const struct nights *t,
		 struct pf_doc *doc, bool *is_failed, struct pf_err *err)
{
	const struct change *c;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	struct pf_gate_figure f;
	struct pf_gate gate;

	PF_TRY(pf_gate_read(expression, &figures, &gate, &f, err));
	c = last_of(t, gate.name);
	if (!c && t->count - t->without_steps < t->least) {
		pf_doc_unjudged(doc, expression,
				"%s: it takes %zu captures to tell a change "
				"from chance",
				expression, t->least);
		return 0;
	}
	if (!c) {
		pf_doc_passed(doc, expression);
		return 0;
	}
	f.a = c->before;
	f.b = c->before + c->shift;
	if (pf_gate_holds(&gate, &f)) {
		pf_gate_say_change(&text, &f);
		pf_buf_adds(&text, " since ");
		say_night(&text, &t->nights[c->night]);
		pf_doc_failed(doc, expression, "%s: %s", expression, text.data);
		*is_failed = true;
	} else {
		pf_doc_passed(doc, expression);
	}
	return 0;
}

static int check_all(const struct pf_opt_list *checks, const struct nights *t,
		     struct pf_doc *doc, struct pf_err *err)
{
	bool is_failed = false;

	for (size_t i = 0; i < checks->count; i++)
		PF_TRY(check(checks->items[i], t, doc, &is_failed, err));
	return is_failed;
}

/* ---- the whole ---- */

#define CHANGES 10 /* people read a page, however many there are */

int pf_trend(const struct pf_capture *const *captures, size_t count,
	     const struct pf_trend_args *args, struct pf_doc *doc,
	     struct pf_err *err)
{
	PF_AUTO(release_nights) struct nights changes = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf since = { 0 };
	PF_OWN struct row *rows = pf_calloc(count, sizeof(*rows));
	struct trend trend = { .rows = rows, .count = count };

	PF_TRY(find(captures, args, &trend, err));
	find_of_captures(&trend, captures, &changes);
	if (changes.count >= changes.least)
		say_changes(&changes, &since);
	show(&trend, since.data, args->wide, doc);
	show_only_changes(&changes, args->wide ? -1 : CHANGES, doc);
	return check_all(&args->checks, &changes, doc, err);
}

int pf_trend_of_fleet(struct pf_db *db, const struct pf_opt_list *checks,
		      int64_t limit, struct pf_doc *doc)
{
	PF_AUTO(release_nights) struct nights t = { 0 };

	PF_TRY(find_of_fleet(db, &t));
	show_nights_and_changes(&t, limit, doc);
	return check_all(checks, &t, doc, db->err);
}
