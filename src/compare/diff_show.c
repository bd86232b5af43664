/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "compare/diff.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "compare/diff_impl.h"
#include "show/doc.h"

/* What was found as figures and tables; a column is a member of its row. */

/* Of a struct pf_diff_ROW: a column; the columns "a_KEY" and "b_KEY". */
#define COL(row, ...) PF_FIELD(struct pf_diff_##row, __VA_ARGS__)
#define BOTH(row, member, key, title, kind)                                    \
	COL(row, member.a, "a_" key, "A" title, kind),                         \
		COL(row, member.b, "b_" key, "B" title, kind)

/* "WHAT per step" */
#define TITLE(diff, what) PF_PRINTED(64, what " per %s", pf_diff_unit(diff))

/* ---- figures ---- */

static void add_interval(const struct pf_diff *diff, struct pf_doc *doc)
{
	const struct pf_rank *r = &diff->total.rank;

	pf_doc_int(doc, "shift_ns", "Shift", PF_NS | PF_SIGNED, r->shift);
	if (diff->total.a_ns)
		pf_doc_real(doc, "shift_share", "Shift of A",
			    PF_RATIO | PF_SIGNED,
			    (double)r->shift / (double)diff->total.a_ns);
	if (diff->total.grade == PF_GRADE_UNKNOWN)
		return;
	pf_doc_int(doc, "shift_low_ns", "Shift, from", PF_NS | PF_SIGNED,
		   r->shift_low);
	pf_doc_int(doc, "shift_high_ns", "Shift, to", PF_NS | PF_SIGNED,
		   r->shift_high);
	pf_doc_real(doc, "confidence", "Confidence", PF_RATIO, r->confidence);
	if (diff->total.is_tested)
		pf_doc_real(doc, "p", "p (Mann-Whitney)", PF_REAL, r->p);
}

static void add_scalars(const struct pf_diff *diff, struct pf_doc *doc)
{
	/* a capture without steps is counted as one */
	int hidden = pf_diff_is_of_captures(diff) ? PF_FULL : 0;

	pf_doc_string(doc, "comparable", "Comparable",
		      diff->is_comparable ? "yes" : "no");
	pf_doc_string(doc, "verdict", "Verdict", diff->verdict_word);
	if (diff->verdict != PF_WITHHELD) {
		pf_doc_int(doc, "median_a_ns", "Median of A", PF_NS,
			   diff->total.a_ns);
		pf_doc_int(doc, "median_b_ns", "Median of B", PF_NS,
			   diff->total.b_ns);
		add_interval(diff, doc);
	}
	pf_doc_int(doc, "warm_up_steps", "Warm-up steps of each",
		   PF_COUNT | hidden, (int64_t)diff->warm_up);
	if (diff->has_each)
		pf_doc_real(
			doc, "each_share", "The same GPU work, each",
			PF_RATIO | PF_SIGNED |
				(diff->verdict == PF_WITHHELD ? 0 : PF_FULL),
			diff->each_share);
	if (diff->is_uniform) {
		pf_doc_real(doc, "kernels_share", "The same kernels, each",
			    PF_RATIO | PF_SIGNED, diff->kernels_share);
		pf_doc_real(doc, "kernels_low_share", "  90 % of them, from",
			    PF_RATIO | PF_SIGNED | PF_FULL, diff->kernels_low);
		pf_doc_real(doc, "kernels_high_share", "  to",
			    PF_RATIO | PF_SIGNED | PF_FULL, diff->kernels_high);
	}
	pf_doc_int(doc, "steps_a", "Steps of A", PF_COUNT | hidden,
		   diff->a_steps);
	pf_doc_int(doc, "steps_b", "Steps of B", PF_COUNT | hidden,
		   diff->b_steps);
	/* as the last row of the first table has it */
	pf_doc_int(doc, "step_a_ns", "Mean of A", PF_NS | PF_FULL, diff->a_ns);
	pf_doc_int(doc, "step_b_ns", "Mean of B", PF_NS | PF_FULL, diff->b_ns);
	pf_doc_int(doc, "delta_ns", "Change of the mean", PF_NS | PF_FULL,
		   diff->b_ns - diff->a_ns);
	if (diff->a_ns)
		pf_doc_real(doc, "delta_share", "Change of the mean of A",
			    PF_RATIO | PF_FULL,
			    (double)(diff->b_ns - diff->a_ns) /
				    (double)diff->a_ns);
}

/* ---- the waterfall ---- */

/*
 * The class as it is told: what only a record of the GPU would say is not known
 * of a side that has none.
 */
static struct pf_diff_class known_class(const struct pf_diff *diff, size_t i)
{
	static const struct pf_both unknown = { PF_NO_INT, PF_NO_INT, PF_NO_INT,
						NAN };
	struct pf_diff_class row = diff->classes[i];
	bool is_gpu = i == PF_STEP_KERNEL || i == PF_STEP_COPY ||
		      i == PF_STEP_MEMSET || i == PF_STEP_RUNTIME;
	bool no_a = is_gpu && !diff->a_has_gpu && !row.sum_ns.a;
	bool no_b = is_gpu && !diff->b_has_gpu && !row.sum_ns.b;
	struct pf_both *all[] = { &row.ns, &row.median_ns, &row.sum_ns };

	if (no_a == no_b) /* neither side, as in two captures of CPUs */
		return row;
	for (size_t k = 0; k < PF_LEN(all); k++) {
		struct pf_both told = unknown;

		if (no_a)
			told.b = all[k]->b;
		else
			told.a = all[k]->a;
		*all[k] = told;
	}
	row.shift_ns = PF_NO_INT;
	return row;
}

static void show_classes(const struct pf_diff *diff, struct pf_doc *doc)
{
	bool has_steps = !pf_diff_is_of_captures(diff);
	/* not of what is not judged */
	unsigned judged = diff->verdict == PF_WITHHELD ? PF_FULL : 0;
	const struct pf_field fields[] = {
		COL(class, name, "class", has_steps ? "Step" : "Capture",
		    PF_TEXT | PF_OURS),
		BOTH(class, ns, "ns", "", PF_NS | PF_MAYBE),
		COL(class, ns.delta, "delta_ns", "Change",
		    PF_NS | PF_SIGNED | PF_MAYBE),
		COL(class, ns.share, "delta_share", "of A",
		    PF_RATIO | PF_SIGNED | PF_FULL),
		COL(class, shift_ns, "Shift",
		    PF_NS | PF_SIGNED | PF_MAYBE | judged),
		COL(class, verdict, "Verdict", PF_TEXT | PF_OURS | judged),
		BOTH(class, median_ns, "median_ns", ", median",
		     PF_NS | PF_FULL | PF_MAYBE),
		BOTH(class, sum_ns, "sum_ns", ", all steps",
		     PF_NS | PF_FULL | PF_MAYBE),
	};
	struct pf_table *t =
		pf_doc_fields(doc, "waterfall",
			      !has_steps ? "Where the time of the capture goes"
			      : judged   ? "Where the time of a step goes"
				       : "Where the time of a step goes, means "
					 "and the shift of steps",
			      PF_FIELDS(fields));

	for (size_t i = 0; i <= PF_STEP_CLASSES; i++) {
		const struct pf_both *sums = &diff->classes[i].sum_ns;
		struct pf_diff_class row = known_class(diff, i);

		if (diff->args.wide || i == PF_STEP_CLASSES || sums->a ||
		    sums->b)
			PF_PUT(t, fields, row);
	}
}

/* ---- GPU work ---- */

#define WORKS(member, key, title, kind)                                        \
	BOTH(work, member, key, title, (kind) | PF_FULL)
static const struct pf_field work_fields[] = {
	COL(work, name, "GPU work", PF_TEXT | PF_BRIEF),
	COL(work, key, "GPU work", PF_TEXT | PF_SYMBOL | PF_FULL),
	WORKS(count, "count", " count", PF_REAL),
	WORKS(ns, "ns", "", PF_NS),
	COL(work, ns.delta, "delta_ns", "Change", PF_NS | PF_SIGNED),
	COL(work, ns.share, "delta_share", "of A", PF_RATIO | PF_SIGNED),
	COL(work, count_effect_ns, "More of it", PF_NS | PF_SIGNED),
	COL(work, duration_effect_ns, "Slower each", PF_NS | PF_SIGNED),
	COL(work, match, "Match", PF_TEXT | PF_SPARE),
	COL(work, step_share, "Change of a step of A", PF_RATIO | PF_FULL),
	WORKS(each_ns, "each_ns", " each", PF_NS | PF_MAYBE),
	COL(work, each_delta_ns, "Change of each",
	    PF_NS | PF_FULL | PF_MAYBE | PF_SIGNED),
	WORKS(calls, "calls", " calls", PF_COUNT),
	WORKS(sum_ns, "sum_ns", ", all steps", PF_NS),
	COL(work, op, "Op", PF_TEXT | PF_FULL),
	COL(work, path, "Path", PF_PATH | PF_FULL),
	COL(work, a_kernel, "A kernel", PF_TEXT | PF_FULL),
	COL(work, b_kernel, "B kernel", PF_TEXT | PF_FULL),
	COL(work, a_shapes, "A shapes", PF_TEXT | PF_FULL),
	COL(work, b_shapes, "B shapes", PF_TEXT | PF_FULL),
	COL(work, class_word, "class", "Class", PF_TEXT | PF_FULL),
	WORKS(rows, "rows", " rows", PF_COUNT),
};
/* Do people see these columns? */
static void set_shown(struct pf_field *fields, size_t field_count,
		      const char *const *keys, size_t count, bool is_shown)
{
	for (size_t i = 0; i < field_count; i++)
		for (size_t k = 0; k < count; k++) {
			struct pf_col *col = &fields[i].col;

			if (strcmp(col->key, keys[k]) != 0)
				continue;
			col->kind = (enum pf_col_kind)(
				is_shown ? col->kind & ~(unsigned)PF_FULL
					 : col->kind | PF_FULL);
		}
}

/* For people: times per step, or of each call if those are not compared. */
static void show_rows(const struct pf_diff *diff, struct pf_doc *doc)
{
	static const char *const of_steps[] = { "delta_ns", "delta_share",
						"count_effect_ns",
						"duration_effect_ns" };
	static const char *const of_calls[] = { "a_count", "b_count",
						"a_each_ns", "b_each_ns" };
	struct pf_field fields[PF_LEN(work_fields)];

	memcpy(fields, work_fields, sizeof(fields));
	if (diff->verdict == PF_WITHHELD) {
		set_shown(PF_FIELDS(fields), of_steps, 4, false);
		set_shown(PF_FIELDS(fields), of_calls, 4, true);
	}
	PF_ROWS(doc, "rows", TITLE(diff, "GPU work that changed,"), fields,
		diff->rows, diff->row_count);
}

/* ---- structure ---- */

static void show_counts(const struct pf_diff *diff, struct pf_doc *doc)
{
	const char *per =
		pf_diff_is_of_captures(diff) ? "Per capture" : "Per step";
	const struct pf_field fields[] = {
		COL(count, key, "what", per, PF_TEXT | PF_FULL),
		COL(count, title, per, PF_TEXT | PF_BRIEF),
		COL(count, a, "A", PF_REAL),
		COL(count, b, "B", PF_REAL),
		COL(count, delta, "Change", PF_REAL | PF_SIGNED),
		COL(count, share, "delta_share", "of A", PF_RATIO | PF_SIGNED),
		COL(count, a_range, "A varies", PF_TEXT),
		COL(count, b_range, "B varies", PF_TEXT),
		COL(count, a_sum, "A, all steps", PF_INT | PF_FULL | PF_MAYBE),
		COL(count, b_sum, "B, all steps", PF_INT | PF_FULL | PF_MAYBE),
	};

	PF_ROWS(doc, "structure", TITLE(diff, "Counts"), fields, diff->counts,
		diff->count_count);
}

static void show_changes(const struct pf_diff *diff, struct pf_doc *doc)
{
	bool is_step = !pf_diff_is_of_captures(diff);
	const struct pf_field fields[] = {
		COL(change, change, "Change", PF_TEXT),
		COL(change, what, "What", PF_TEXT),
		COL(change, a, is_step ? "A per step" : "A", PF_REAL),
		COL(change, b, is_step ? "B per step" : "B", PF_REAL),
	};

	PF_ROWS(doc, "changes", "Changes of structure", fields, diff->changes,
		diff->change_count);
}

/* ---- operators ---- */

static const struct pf_field op_fields[] = {
	COL(op, shown, "On the CPU", PF_TEXT | PF_BRIEF),
	COL(op, name, "On the CPU", PF_TEXT | PF_FULL),
	COL(op, kind, "Kind", PF_TEXT | PF_FULL),
	BOTH(op, count, "count", " count", PF_REAL),
	BOTH(op, self_ns, "self_ns", " self", PF_NS | PF_FULL),
	COL(op, self_ns.delta, "delta_self_ns", "Self change",
	    PF_NS | PF_SIGNED | PF_MAYBE),
	COL(op, self_ns.share, "delta_self_share", "of A",
	    PF_RATIO | PF_SIGNED),
	BOTH(op, ns, "ns", "", PF_NS | PF_FULL),
	COL(op, ns.delta, "delta_ns", "Change", PF_NS | PF_SIGNED | PF_FULL),
	COL(op, ns.share, "delta_share", "of A",
	    PF_RATIO | PF_SIGNED | PF_FULL),
	COL(op, match, "Match", PF_TEXT | PF_SPARE),
	BOTH(op, calls, "calls", " calls", PF_COUNT | PF_FULL),
	BOTH(op, sum_ns, "sum_ns", ", all steps", PF_NS | PF_FULL),
	COL(op, a_shapes, "A shapes", PF_TEXT | PF_FULL),
	COL(op, b_shapes, "B shapes", PF_TEXT | PF_FULL),
};

static void show_ops(const struct pf_diff *diff, struct pf_doc *doc)
{
	static const char *const of_self[] = { "delta_self_ns",
					       "delta_self_share" };
	static const char *const of_total[] = { "delta_ns", "delta_share" };
	struct pf_field fields[PF_LEN(op_fields)];

	memcpy(fields, op_fields, sizeof(fields));
	if (!diff->has_self) {
		set_shown(PF_FIELDS(fields), of_self, 2, false);
		set_shown(PF_FIELDS(fields), of_total, 2, true);
	}
	PF_ROWS(doc, "ops",
		TITLE(diff,
		      diff->has_code
			      ? "Operators, functions and calls on the CPU,"
			      : "Operators and calls on the CPU,"),
		fields, diff->ops, diff->op_count);
}

/* ---- idle time and blocking calls ---- */

#define TIMES(key, title, kind)                                                \
	{                                                                      \
		COL(time, name, key, title, kind),                             \
			BOTH(time, ns, "ns", "", PF_NS),                       \
			COL(time, ns.delta, "delta_ns", "Change",              \
			    PF_NS | PF_SIGNED),                                \
			COL(time, ns.share, "delta_share", "of A",             \
			    PF_RATIO | PF_SIGNED),                             \
			BOTH(time, sum_ns, "sum_ns", ", all steps",            \
			     PF_NS | PF_FULL),                                 \
	}
static const struct pf_field cause_fields[] = TIMES("cause", "Cause", PF_TEXT);

static void show_path(const struct pf_diff *diff, struct pf_doc *doc)
{
	static const struct pf_field fields[] =
		TIMES("category", "On the path", PF_TEXT | PF_OURS);

	if (diff->path_count)
		PF_ROWS(doc, "path", TITLE(diff, "The critical path"), fields,
			diff->path, diff->path_count);
}

static void show_advice(const struct pf_diff *diff, struct pf_doc *doc)
{
	static const struct pf_field fields[] = {
		COL(advice, change, "Change", PF_TEXT | PF_OURS),
		COL(advice, id, "Advice", PF_TEXT | PF_OURS),
		COL(advice, title, "What to change",
		    PF_TEXT | PF_OURS | PF_WHOLE),
		COL(advice, a_at_most_ns, "A at most", PF_NS | PF_MAYBE),
		COL(advice, a_share, "of A", PF_RATIO),
		COL(advice, b_at_most_ns, "B at most", PF_NS | PF_MAYBE),
		COL(advice, b_share, "of B", PF_RATIO),
		COL(advice, reason, "Not given, as", PF_TEXT | PF_FULL),
	};

	if (diff->args.advice)
		PF_ROWS(doc, "advice", TITLE(diff, "What to try,"), fields,
			diff->advice, diff->advice_count);
}

#define PLACES                                                                 \
	COL(wait, where, "Where", PF_PATH | PF_BRIEF),                         \
		COL(wait, frame, "Line or range",                              \
		    PF_PATH | PF_FULL | PF_FRAME),                             \
		COL(wait, op, "Op", PF_TEXT | PF_FULL)
static const struct pf_field idle_fields[] = {
	COL(wait, cause, "Idle cause", PF_TEXT | PF_OURS),
	COL(wait, name, "culprit", "Culprit", PF_TEXT),
	PLACES,
	BOTH(wait, ns, "ns", "", PF_NS | PF_FULL),
	COL(wait, ns.delta, "delta_ns", "Change", PF_NS | PF_SIGNED),
	COL(wait, ns.share, "delta_share", "of A", PF_RATIO | PF_SIGNED),
	BOTH(wait, sum_ns, "sum_ns", ", all steps", PF_NS | PF_FULL),
};

static const struct pf_field sync_fields[] = {
	COL(wait, cause, "kind", "Kind", PF_TEXT | PF_FULL),
	COL(wait, name, "call", "Blocking call", PF_TEXT),
	PLACES,
	BOTH(wait, count, "count", " count", PF_REAL),
	BOTH(wait, ns, "blocked_ns", " blocked", PF_NS | PF_FULL),
	COL(wait, ns.delta, "delta_blocked_ns", "Blocked", PF_NS | PF_SIGNED),
	COL(wait, ns.share, "delta_blocked_share", "of A",
	    PF_RATIO | PF_SIGNED),
	BOTH(wait, idle_ns, "idle_ns", " idle", PF_NS | PF_FULL),
	COL(wait, idle_ns.delta, "delta_idle_ns", "GPU idle",
	    PF_NS | PF_SIGNED),
	COL(wait, match, "Match", PF_TEXT | PF_FULL),
	BOTH(wait, calls, "calls", " calls", PF_COUNT | PF_FULL),
};

static void show_waits(const struct pf_diff *diff, struct pf_doc *doc)
{
	PF_ROWS(doc, "idle", TITLE(diff, "Idle time of GPUs by cause,"),
		cause_fields, diff->causes, diff->cause_count);
	PF_ROWS(doc, "idle_sites", TITLE(diff, "What holds idle time,"),
		idle_fields, diff->idle_sites, diff->idle_site_count);
	PF_ROWS(doc, "sync_sites", TITLE(diff, "Calls that block the host,"),
		sync_fields, diff->sync_sites, diff->sync_site_count);
}

/* ---- memory, and what both sides are ---- */

static void show_bytes(const struct pf_diff *diff, struct pf_doc *doc)
{
	static const struct pf_field fields[] = {
		COL(bytes, what, "Bytes", PF_TEXT),
		BOTH(bytes, bytes, "bytes", "", PF_BYTES | PF_KNOWN),
		COL(bytes, bytes.delta, "delta_bytes", "Change",
		    PF_BYTES | PF_SIGNED | PF_MAYBE),
		COL(bytes, bytes.share, "delta_share", "of A",
		    PF_RATIO | PF_SIGNED),
	};

	PF_ROWS(doc, "memory", TITLE(diff, "Memory, and what is copied"),
		fields, diff->bytes, diff->bytes_count);
}

static void show_ranks(const struct pf_diff *diff, struct pf_doc *doc)
{
	static const struct pf_field fields[] = {
		COL(rank, rank, "Rank", PF_INT),
		COL(rank, name, "class", "Of it", PF_TEXT),
		BOTH(rank, ns, "ns", "", PF_NS | PF_MAYBE),
		COL(rank, ns.delta, "delta_ns", "Change",
		    PF_NS | PF_SIGNED | PF_MAYBE),
		COL(rank, ns.share, "delta_share", "of A",
		    PF_RATIO | PF_SIGNED),
		BOTH(rank, sum_ns, "sum_ns", " all",
		     PF_NS | PF_MAYBE | PF_FULL),
		COL(rank, a_steps, "Steps of A", PF_COUNT | PF_FULL),
		COL(rank, b_steps, "Steps of B", PF_COUNT | PF_FULL),
	};

	if (diff->rank_count)
		PF_ROWS(doc, "ranks", "Where the time of a step goes, by rank",
			fields, diff->ranks, diff->rank_count);
}

static void show_captures(const struct pf_diff *diff, struct pf_doc *doc)
{
	static const struct pf_field fields[] = {
		COL(capture, side, "Side", PF_TEXT),
		COL(capture, path, "capture", "Capture", PF_PATH),
		COL(capture, steps, "Steps", PF_COUNT),
		COL(capture, cut_off, "Cut off", PF_COUNT | PF_FULL),
		COL(capture, mean_ns, "Mean", PF_NS),
		COL(capture, time.p50_ns, "p50_ns", "Median", PF_NS),
		COL(capture, time.min_ns, "min_ns", "Least", PF_NS),
		COL(capture, time.max_ns, "max_ns", "Most", PF_NS),
		COL(capture, sum_ns, "All steps", PF_NS | PF_FULL),
		COL(capture, xxh128, "XXH128", PF_TEXT | PF_FULL),
	};

	PF_ROWS(doc, "captures",
		diff->a_has_steps ? "Time of steps" : "Time of captures",
		fields, diff->captures, diff->capture_count);
}

static void show_checks(const struct pf_diff *diff, struct pf_doc *doc)
{
	static const struct pf_field fields[] = {
		COL(check, what, "check", "Comparable in", PF_TEXT),
		COL(check, result, "Result", PF_TEXT),
		COL(check, a, "A", PF_TEXT | PF_WHOLE),
		COL(check, b, "B", PF_TEXT | PF_WHOLE),
	};

	PF_ROWS(doc, "comparability", "What both sides have in common", fields,
		diff->checks, PF_CHECKS);
}

/* ---- columns of averages ---- */

static const struct {
	const char *word;
	enum pf_col_kind kind;
} average_values[PF_AVERAGE_VALUES] = {
	{ "count", PF_REAL },     { "self_cpu", PF_NS },
	{ "cpu_total", PF_NS },   { "self_cuda", PF_NS },
	{ "cuda_total", PF_NS },  { "self_cpu_mem", PF_BYTES },
	{ "cpu_mem", PF_BYTES },  { "self_cuda_mem", PF_BYTES },
	{ "cuda_mem", PF_BYTES },
};

/* The next of "self_cpu,cuda_total"; -1 at the end, -2: there is no such. */
static int next_column(const char **at)
{
	size_t len = strcspn(*at, ",");

	if (!**at)
		return -1;
	for (int i = 0; i < PF_AVERAGE_VALUES; i++)
		if (strlen(average_values[i].word) == len &&
		    !memcmp(average_values[i].word, *at, len)) {
			*at += len;
			*at += **at == ',';
			return i;
		}
	return -2;
}

int pf_diff_columns(struct pf_diff_args *args, struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf all = { 0 };
	const char *at = args->columns ? args->columns : "";
	int n;

	args->column_count = 0;
	while ((n = next_column(&at)) >= 0)
		if (args->column_count < PF_AVERAGE_VALUES)
			args->column[args->column_count++] = n;
	if (n == -1)
		return 0;
	for (size_t i = 0; i < PF_AVERAGE_VALUES; i++)
		pf_buf_addf(&all, "%s%s", i ? ", " : "",
			    average_values[i].word);
	pf_fail(err, PF_EUSAGE,
		"--columns '%s': columns of key_averages() are %s",
		args->columns, all.data);
	return -1;
}

static void put(struct pf_table *t, int64_t n, enum pf_col_kind kind)
{
	if (kind == PF_REAL)
		pf_table_real(t, (double)n);
	else
		pf_table_int(t, n);
}

#define WORD_MAX 32

static struct pf_table *make_table(struct pf_doc *doc, const int *chosen,
				   size_t count)
{
	struct pf_col cols[2 + 3 * PF_AVERAGE_VALUES] = {
		{ "name", "key_averages()", PF_TEXT },
		{ "device", "Device", PF_TEXT | PF_FULL },
	};
	static const char *const sides[] = { "a", "b", "delta" };
	char keys[3 * PF_AVERAGE_VALUES][WORD_MAX];
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < 3; k++, n++) {
			enum pf_col_kind kind = average_values[chosen[i]].kind;
			const char *unit = kind == PF_NS      ? "_ns"
					   : kind == PF_BYTES ? "_bytes"
							      : "";

			snprintf(keys[n], WORD_MAX, "%s_%s%s", sides[k],
				 average_values[chosen[i]].word, unit);
			/* of several columns, text has the changes only */
			cols[2 + n] = (struct pf_col){
				keys[n], keys[n],
				(int)kind | (count > 1 && k < 2 ? PF_FULL : 0)
			};
		}
	return pf_doc_table(doc, "averages", "key_averages() of whole captures",
			    cols, 2 + n);
}

static void show_averages(const struct pf_diff *diff, struct pf_doc *doc)
{
	const int *chosen = diff->args.column;
	size_t count = diff->args.column_count;
	struct pf_table *t;

	if (!count)
		return;
	t = make_table(doc, chosen, count);
	for (size_t i = 0; i < diff->average_count; i++) {
		const struct pf_diff_average *row = &diff->averages[i];

		pf_table_string(t, row->name);
		pf_table_string(t, row->device);
		for (size_t k = 0; k < count; k++) {
			size_t v = (size_t)chosen[k];

			put(t, row->a[v], average_values[v].kind);
			put(t, row->b[v], average_values[v].kind);
			put(t, row->b[v] - row->a[v], average_values[v].kind);
		}
	}
}

/* ---- the whole ---- */

/* For people: what did not change needs no heading. */
static void drop_empty(struct pf_doc *doc)
{
	size_t kept = 0;

	for (size_t i = 0; i < doc->table_count; i++) {
		if (pf_table_row_count(doc->tables[i]))
			doc->tables[kept++] = doc->tables[i];
		else
			pf_table_free(doc->tables[i]);
	}
	doc->table_count = kept;
}

void pf_diff_show(const struct pf_diff *diff, struct pf_doc *doc)
{
	bool has_gpu = diff->a_has_gpu && diff->b_has_gpu;

	pf_doc_finding(doc, "%s", diff->finding);
	add_scalars(diff, doc);
	/* time of a GPU comes before that of the host */
	if (diff->args.wide || !pf_diff_is_one_sided(diff))
		show_classes(diff, doc);
	show_ranks(diff, doc);
	/* without a GPU it is the host's operators that say most */
	if (!has_gpu)
		show_ops(diff, doc);
	show_rows(diff, doc);
	show_counts(diff, doc);
	show_changes(diff, doc);
	show_path(diff, doc);
	show_advice(diff, doc);
	show_waits(diff, doc);
	if (has_gpu)
		show_ops(diff, doc);
	show_averages(diff, doc);
	show_bytes(diff, doc);
	show_captures(diff, doc);
	show_checks(diff, doc);
	if (!diff->args.wide)
		drop_empty(doc);
}
