/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "diff/diff_impl.h"
#include "events/gpu.h"
#include "analysis/kernels.h"
#include "base/mem.h"

#define COLS(c) c, sizeof(c) / sizeof(*(c))

struct pf_table *pf_diff_times_table(struct pf_doc *doc, const char *name,
				     const char *title, const char *key,
				     const char *key_title,
				     const struct pf_diff_times *rows,
				     size_t count)
{
	const struct pf_field fields[] = {
		PF_FIELD(struct pf_diff_times, name, key, key_title, PF_TEXT),
		PF_BOTH(struct pf_diff_times, ns, "ns", "", PF_NS),
		PF_DELTA(struct pf_diff_times, ns, "ns", "Change", PF_NS),
		PF_BOTH(struct pf_diff_times, sum_ns, "sum_ns", ", all steps",
			PF_NS | PF_FULL),
	};

	return PF_ROWS(doc, name, title, fields, rows, count);
}

/* ---- the waterfall ---- */

struct class_row {
	const char *name, *verdict;
	struct pf_both ns, sum_ns, median_ns;
	int64_t shift_ns;
};

/* An exact change, and whether it is more than noise. */
static struct class_row class_row(const char *name, struct pf_both ns,
				  struct pf_both sum_ns,
				  const struct pf_judged *j)
{
	return (struct class_row){ .name = name,
				   .ns = ns,
				   .sum_ns = sum_ns,
				   .median_ns = pf_both(j->a_ns, j->b_ns),
				   .shift_ns = j->rank.shift };
}

void pf_diff_add_waterfall(struct pf_diff *d, struct pf_doc *doc)
{
#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct class_row, member, key, title, kind)
	static const struct pf_field fields[] = {
		FIELD(name, "class", "Step", PF_TEXT),
		PF_BOTH(struct class_row, ns, "ns", "", PF_NS),
		FIELD(ns.delta, "delta_ns", "Change", PF_NS),
		FIELD(shift_ns, "shift_ns", "Shift", PF_NS),
		FIELD(verdict, "verdict", "Verdict", PF_TEXT),
		PF_BOTH(struct class_row, median_ns, "median_ns", ", median",
			PF_NS | PF_FULL),
		PF_BOTH(struct class_row, sum_ns, "sum_ns", ", all steps",
			PF_NS | PF_FULL),
	};
#undef FIELD
	struct pf_table *t =
		pf_doc_fields(doc, "waterfall", "Where the time of a step goes",
			      PF_FIELDS(fields));

	for (size_t i = 0; i <= PF_STEP_CLASSES; i++) {
		bool is_sum = i == PF_STEP_CLASSES;
		const struct pf_judged *j = is_sum ? &d->total : &d->classes[i];
		char *verdict = is_sum ? NULL : pf_diff_class_take(d, j);
		struct class_row row =
			is_sum ? class_row("sum", pf_both(d->a_ns, d->b_ns),
					   pf_both(d->a.step_ns, d->b.step_ns),
					   j)
			       : class_row(pf_step_class_name(
						   (enum pf_step_class)i),
					   pf_both(d->a_class_ns[i],
						   d->b_class_ns[i]),
					   pf_both(d->a.class_ns[i],
						   d->b.class_ns[i]),
					   j);

		row.verdict = is_sum && d->verdict != PF_WITHHELD
				      ? pf_diff_verdict_word(d->verdict)
				      : verdict;
		PF_PUT(t, fields, row);
		free(verdict);
	}
}

/* ---- rows ---- */

static const char *or_none(const char *text, const char *none)
{
	return *text ? text : none;
}

static void add_short(struct pf_buf *out, const struct pf_diff *d, uint32_t n)
{
	pf_kernel_short_name(out, pf_diff_text(d, n));
}

/* "3 kernels -> 1 in aten::linear" */
static void add_many(struct pf_buf *out, const struct pf_diff *d,
		     const struct pf_pair *p, const struct pf_work_key *key)
{
	const char *path = pf_diff_text(
		d, p->match == PF_MATCH_GROUP && *pf_diff_text(d, key->region)
			   ? key->region
			   : key->path);
	const char *last = path, *at;

	for (at = path; (at = strstr(at, " > ")); at += 3)
		last = at + 3;
	pf_buf_addf(out, "%u -> %u kernels", (unsigned)p->a_rows,
		    (unsigned)p->b_rows);
	if (*last) {
		pf_buf_adds(out, " in ");
		pf_buf_adds(out, last);
	}
}

static void add_kernels(struct pf_buf *out, const struct pf_diff *d,
			const struct pf_pair *p, const struct pf_work_key *a,
			const struct pf_work_key *b)
{
	if (p->a_rows > 1 || p->b_rows > 1) {
		if (a && b && a->kernel == b->kernel &&
		    p->match != PF_MATCH_GROUP)
			add_short(out, d, a->kernel);
		else
			add_many(out, d, p, a ? a : b);
		return;
	}
	if (a)
		add_short(out, d, a->kernel);
	if (a && b && a->kernel != b->kernel)
		pf_buf_adds(out, " -> ");
	if (b && (!a || a->kernel != b->kernel))
		add_short(out, d, b->kernel);
}

char *pf_diff_key_take(const struct pf_diff *d, const struct pf_pair *p)
{
	const struct pf_work_key *a =
		p->a_row == PF_NO_ROW ? NULL : &d->a.work[p->a_row].key;
	const struct pf_work_key *b =
		p->b_row == PF_NO_ROW ? NULL : &d->b.work[p->b_row].key;
	const struct pf_work_key *k = a ? a : b;
	struct pf_buf out = { 0 };

	pf_buf_adds(&out, "");
	switch (d->args->by < 0 ? PF_BY_ALL : (enum pf_diff_by)d->args->by) {
	case PF_BY_OP:
		pf_buf_adds(&out, or_none(pf_diff_text(d, k->op), "(no op)"));
		break;
	case PF_BY_SHAPE:
		pf_buf_adds(&out, or_none(pf_diff_text(d, k->op), "(no op)"));
		pf_buf_addc(&out, ' ');
		pf_buf_adds(&out, pf_diff_text(d, k->shapes));
		break;
	case PF_BY_MODULE:
		pf_buf_adds(&out,
			    or_none(pf_diff_text(d, k->module), "(no module)"));
		break;
	case PF_BY_ANNOTATION:
		pf_buf_adds(&out, or_none(pf_diff_text(d, k->annotation),
					  "(no annotation)"));
		break;
	case PF_BY_STACK:
		pf_buf_adds(&out, or_none(pf_diff_text(d, k->path), "(root)"));
		break;
	case PF_BY_CLASS:
	case PF_BY_CATEGORY:
		pf_buf_adds(&out, pf_diff_text(d, k->kernel));
		break;
	case PF_BY_KERNEL:
	case PF_BY_ALL:
		add_kernels(&out, d, p, a, b);
		break;
	}
	return out.data;
}

struct work_row {
	const char *key, *match, *op, *path, *class_word;
	const char *a_kernel, *b_kernel, *a_shapes, *b_shapes;
	struct pf_both_real count;
	struct pf_both ns, calls, sum_ns, rows;
	int64_t count_effect_ns, duration_effect_ns, each_delta_ns;
	double delta_share, step_share;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct work_row, member, key, title, kind)
#define BOTH(member, key, title, kind)                                         \
	PF_BOTH(struct work_row, member, key, title, (kind) | PF_FULL)
static const struct pf_field work_fields[] = {
	FIELD(key, "key", "GPU work", PF_TEXT),
	BOTH(count, "count", " count", PF_REAL),
	BOTH(ns, "ns", "", PF_NS),
	FIELD(ns.delta, "delta_ns", "Change", PF_NS),
	FIELD(count_effect_ns, "count_effect_ns", "More of it", PF_NS),
	FIELD(duration_effect_ns, "duration_effect_ns", "Slower each", PF_NS),
	FIELD(match, "match", "Match", PF_TEXT),
	FIELD(delta_share, "delta_share", "Change of A", PF_RATIO | PF_FULL),
	FIELD(step_share, "step_share", "Change of a step of A",
	      PF_RATIO | PF_FULL),
	FIELD(each_delta_ns, "each_delta_ns", "Change of each",
	      PF_NS | PF_FULL | PF_MAYBE),
	BOTH(calls, "calls", " calls", PF_COUNT),
	BOTH(sum_ns, "sum_ns", ", all steps", PF_NS),
	FIELD(op, "op", "Op", PF_TEXT | PF_FULL),
	FIELD(path, "path", "Path", PF_PATH | PF_FULL),
	FIELD(a_kernel, "a_kernel", "A kernel", PF_TEXT | PF_FULL),
	FIELD(b_kernel, "b_kernel", "B kernel", PF_TEXT | PF_FULL),
	FIELD(a_shapes, "a_shapes", "A shapes", PF_TEXT | PF_FULL),
	FIELD(b_shapes, "b_shapes", "B shapes", PF_TEXT | PF_FULL),
	FIELD(class_word, "class", "Class", PF_TEXT | PF_FULL),
	BOTH(rows, "rows", " rows", PF_COUNT),
};
#undef BOTH
#undef FIELD

/* Where the row comes from: columns of csv and json. */
static void set_origin(const struct pf_diff *d, struct work_row *row,
		       const struct pf_pair *p)
{
	const struct pf_work_key *a =
		p->a_row == PF_NO_ROW ? NULL : &d->a.work[p->a_row].key;
	const struct pf_work_key *b =
		p->b_row == PF_NO_ROW ? NULL : &d->b.work[p->b_row].key;
	const struct pf_work_key *k = a ? a : b;

	row->op = pf_diff_text_or_null(d, k->op);
	row->path = pf_diff_text_or_null(d, k->path);
	if (a) {
		row->a_kernel = pf_diff_text_or_null(d, a->kernel);
		row->a_shapes = pf_diff_text_or_null(d, a->shapes);
	}
	if (b) {
		row->b_kernel = pf_diff_text_or_null(d, b->kernel);
		row->b_shapes = pf_diff_text_or_null(d, b->shapes);
	}
	if (d->args->by < 0 || d->args->by == PF_BY_KERNEL ||
	    d->args->by == PF_BY_CLASS)
		row->class_word =
			pf_gpu_class_name((enum pf_gpu_class)k->class);
}

static struct work_row figures_of(const struct pf_diff *d, const char *key,
				  const struct pf_pair *p, int64_t a_ns,
				  int64_t b_ns)
{
	int64_t delta = b_ns - a_ns;
	int64_t more = p->a_rows && p->b_rows
			       ? pf_mean_more(p->a_count, p->a_ns, d->a.steps,
					      p->b_count, d->b.steps)
			       : delta;

	return (struct work_row){
		.key = key,
		.match = pf_match_name(p->match),
		.count = pf_both_counts(d, p->a_count, p->b_count),
		.ns = pf_both(a_ns, b_ns),
		.calls = pf_both(p->a_count, p->b_count),
		.sum_ns = pf_both(p->a_ns, p->b_ns),
		.rows = pf_both(p->a_rows, p->b_rows),
		.count_effect_ns = more,
		.duration_effect_ns = delta - more,
		.each_delta_ns = p->a_count && p->b_count
					 ? pf_mean(p->b_ns, p->b_count) -
						   pf_mean(p->a_ns, p->a_count)
					 : PF_NO_INT,
		.delta_share = a_ns ? (double)delta / (double)a_ns : NAN,
		.step_share = d->a_ns ? (double)delta / (double)d->a_ns : NAN,
	};
}

static void add_to(struct pf_pair *sum, const struct pf_pair *p)
{
	sum->a_count += p->a_count;
	sum->b_count += p->b_count;
	sum->a_ns += p->a_ns;
	sum->b_ns += p->b_ns;
	sum->a_rows += p->a_rows;
	sum->b_rows += p->b_rows;
}

void pf_diff_add_rows(struct pf_diff *d, struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "rows", "GPU work that changed, per step",
			      PF_FIELDS(work_fields));
	struct pf_pair small = { .match = PF_MATCH_EXACT };
	int64_t a_small = 0, b_small = 0;
	struct pf_buf text = { 0 };
	struct work_row row;
	size_t left_out = 0;

	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_diff_row *r = &d->rows[i];
		int64_t delta = pf_diff_delta(r);
		char *key;

		if (!d->args->wide && !delta)
			continue;
		if ((delta < 0 ? -delta : delta) < d->args->min_delta_ns) {
			add_to(&small, r->pair);
			a_small += r->a_ns;
			b_small += r->b_ns;
			left_out++;
			continue;
		}
		key = pf_diff_key_take(d, r->pair);
		row = figures_of(d, key, r->pair, r->a_ns, r->b_ns);
		set_origin(d, &row, r->pair);
		PF_PUT(t, work_fields, row);
		free(key);
	}
	/* What is smaller than --min-delta, as one row, so that sums hold. */
	if (left_out) {
		pf_buf_addf(&text, "(%zu rows with less change)", left_out);
		row = figures_of(d, text.data, &small, a_small, b_small);
		PF_PUT(t, work_fields, row);
		pf_buf_release(&text);
	}
}

/* ---- counts ---- */

struct range {
	int64_t min, max;
};

static struct range range_of(const struct pf_side *s, size_t count)
{
	struct range r = { INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < s->capture_count; i++)
		for (size_t k = 0; k < s->captures[i]->step_count; k++) {
			const struct pf_capture_step *step =
				&s->captures[i]->steps[k];

			if (step->time.is_partial)
				continue;
			if (step->count[count] < r.min)
				r.min = step->count[count];
			if (step->count[count] > r.max)
				r.max = step->count[count];
		}
	return r;
}

static void put_range(struct pf_table *t, struct range r)
{
	struct pf_buf text = { 0 };

	if (r.min < r.max)
		pf_buf_addf(&text, "%lld to %lld", (long long)r.min,
			    (long long)r.max);
	pf_table_string(t, text.data);
	pf_buf_release(&text);
}

void pf_diff_add_structure(struct pf_diff *d, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "what", "Per step", PF_TEXT | PF_FULL },
		{ "title", "Per step", PF_TEXT | PF_BRIEF },
		{ "a", "A", PF_REAL },
		{ "b", "B", PF_REAL },
		{ "delta", "Change", PF_REAL },
		{ "a_range", "A varies", PF_TEXT },
		{ "b_range", "B varies", PF_TEXT },
		{ "a_sum", "A, all steps", PF_INT | PF_FULL },
		{ "b_sum", "B, all steps", PF_INT | PF_FULL },
	};
	struct pf_table *t =
		pf_doc_table(doc, "structure", "Counts per step", COLS(cols));

	for (size_t i = 0; i < PF_COUNT_GPU_NS; i++) {
		int64_t a = d->a.count[i], b = d->b.count[i];
		bool is_bytes =
			i >= PF_COUNT_HTOD_BYTES && i <= PF_COUNT_OTHER_BYTES;
		double change = (double)b / (double)d->b.steps -
				(double)a / (double)d->a.steps;

		if (!pf_mean_compare(a, d->a.steps, b, d->b.steps))
			change = 0;
		if (!d->args->wide && (is_bytes || (!a && !b)))
			continue;
		pf_table_string(t, pf_step_count_key((enum pf_step_count)i));
		pf_table_string(t, pf_step_count_title((enum pf_step_count)i));
		pf_table_ratio(t, a, d->a.steps);
		pf_table_ratio(t, b, d->b.steps);
		pf_table_real(t, change);
		put_range(t, range_of(&d->a, i));
		put_range(t, range_of(&d->b, i));
		pf_table_int(t, a);
		pf_table_int(t, b);
	}
}

static void put_known(struct pf_table *t, int64_t bytes)
{
	if (bytes < 0)
		pf_table_null(t);
	else
		pf_table_int(t, bytes);
}

void pf_diff_add_memory(struct pf_diff *d, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "what", "Bytes", PF_TEXT },
		{ "a_bytes", "A", PF_BYTES },
		{ "b_bytes", "B", PF_BYTES },
		{ "delta_bytes", "Change", PF_BYTES },
	};
	const struct {
		const char *what;
		int64_t a, b;
	} rows[] = {
		{ "peak allocated", d->a.peak_bytes, d->b.peak_bytes },
		{ "peak reserved", d->a.reserved_bytes, d->b.reserved_bytes },
	};
	struct pf_table *t =
		pf_doc_table(doc, "memory",
			     "Memory, and what is copied per step", COLS(cols));

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].a < 0 && rows[i].b < 0)
			continue;
		pf_table_string(t, rows[i].what);
		put_known(t, rows[i].a);
		put_known(t, rows[i].b);
		if (rows[i].a >= 0 && rows[i].b >= 0)
			pf_table_int(t, rows[i].b - rows[i].a);
		else
			pf_table_null(t);
	}
	for (int i = PF_COUNT_HTOD_BYTES; i <= PF_COUNT_OTHER_BYTES; i++) {
		int64_t a = pf_mean(d->a.count[i], d->a.steps);
		int64_t b = pf_mean(d->b.count[i], d->b.steps);

		if (!d->args->wide && !a && !b)
			continue;
		pf_table_string(t, pf_step_count_title((enum pf_step_count)i));
		pf_table_int(t, a);
		pf_table_int(t, b);
		pf_table_int(t, b - a);
	}
}

static void add_captures_of(const struct pf_side *s, const char *side,
			    struct pf_table *t)
{
	for (size_t i = 0; i < s->capture_count; i++) {
		const struct pf_capture *c = s->captures[i];
		const char *xxh128 = pf_intern_text(&c->texts, c->xxh128, NULL);

		pf_table_string(t, side);
		pf_table_string(t, c->path);
		pf_table_int(t, (int64_t)c->full_count);
		pf_table_int(t, (int64_t)(c->step_count - c->full_count));
		pf_table_int(t, pf_mean(c->step_ns, (int64_t)c->full_count));
		pf_table_int(t, pf_capture_percentile(c, 50));
		pf_table_int(t, pf_capture_percentile(c, 0));
		pf_table_int(t, pf_capture_percentile(c, 100));
		pf_table_int(t, c->step_ns);
		if (*xxh128)
			pf_table_string(t, xxh128);
		else
			pf_table_null(t);
	}
}

void pf_diff_add_captures(struct pf_diff *d, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "side", "Side", PF_TEXT },
		{ "capture", "Capture", PF_PATH },
		{ "steps", "Steps", PF_COUNT },
		{ "cut_off", "Cut off", PF_COUNT | PF_FULL },
		{ "mean_ns", "Mean", PF_NS },
		{ "p50_ns", "Median", PF_NS },
		{ "min_ns", "Least", PF_NS },
		{ "max_ns", "Most", PF_NS },
		{ "sum_ns", "All steps", PF_NS | PF_FULL },
		{ "xxh128", "XXH128", PF_TEXT | PF_FULL },
	};
	struct pf_table *t =
		pf_doc_table(doc, "captures", "Time of steps", COLS(cols));

	add_captures_of(&d->a, "A", t);
	add_captures_of(&d->b, "B", t);
}
