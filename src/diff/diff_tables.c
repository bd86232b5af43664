/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "diff/diff_impl.h"
#include "events/gpu.h"
#include "analysis/kernels.h"
#include "base/mem.h"

#define COLS(c)  c, sizeof(c) / sizeof(*(c))
#define DIMS_MAX 3 /* inputs that tell kernels apart */

struct pf_table *pf_diff_times_table(struct pf_doc *doc, const char *name,
				     const char *title, const char *key,
				     const char *key_title,
				     const struct pf_diff_times *rows,
				     size_t count)
{
	const struct pf_field fields[] = {
		PF_FIELD(struct pf_diff_times, name, key, key_title, PF_TEXT),
		PF_BOTH(struct pf_diff_times, ns, "ns", "", PF_NS),
		PF_DELTA(struct pf_diff_times, ns, "ns", "Change",
			 PF_NS | PF_SIGNED),
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

/* A class, or with PF_STEP_CLASSES their sum; the verdict is to be freed. */
static struct class_row class_row(const struct pf_diff *d, size_t cls,
				  char **verdict)
{
	bool is_sum = cls == PF_STEP_CLASSES;
	const struct pf_judged *j = is_sum ? &d->total : &d->classes[cls];
	struct class_row row = { .median_ns = pf_both(j->a_ns, j->b_ns),
				 .shift_ns = j->rank.shift };

	if (!is_sum) {
		*verdict = pf_diff_class_take(d, j);
		row.name = pf_step_class_name((enum pf_step_class)cls);
		row.ns = pf_both(d->a_class_ns[cls], d->b_class_ns[cls]);
		row.sum_ns = pf_both(d->a.class_ns[cls], d->b.class_ns[cls]);
	} else {
		*verdict =
			d->verdict == PF_WITHHELD
				? NULL
				: pf_strdup(pf_diff_verdict_word(d->verdict));
		row.name = "sum";
		row.ns = pf_both(d->a_ns, d->b_ns);
		row.sum_ns = pf_both(d->a.step_ns, d->b.step_ns);
	}
	row.verdict = *verdict;
	return row;
}

void pf_diff_add_waterfall(struct pf_diff *d, struct pf_doc *doc)
{
#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct class_row, member, key, title, kind)
	bool has_steps = d->a.has_steps || d->b.has_steps;
	/* not of what is not judged */
	unsigned judged = d->verdict == PF_WITHHELD ? PF_FULL : 0;
	const struct pf_field fields[] = {
		FIELD(name, "class", has_steps ? "Step" : "Capture", PF_TEXT),
		PF_BOTH(struct class_row, ns, "ns", "", PF_NS),
		FIELD(ns.delta, "delta_ns", "Change", PF_NS | PF_SIGNED),
		FIELD(shift_ns, "shift_ns", "Shift",
		      PF_NS | PF_SIGNED | judged),
		FIELD(verdict, "verdict", "Verdict", PF_TEXT | judged),
		PF_BOTH(struct class_row, median_ns, "median_ns", ", median",
			PF_NS | PF_FULL),
		PF_BOTH(struct class_row, sum_ns, "sum_ns", ", all steps",
			PF_NS | PF_FULL),
	};
#undef FIELD
	struct pf_table *t =
		pf_doc_fields(doc, "waterfall",
			      !has_steps ? "Where the time of the capture goes"
			      : judged   ? "Where the time of a step goes"
				       : "Where the time of a step goes, means "
					 "and the shift of steps",
			      PF_FIELDS(fields));

	for (size_t i = 0; i <= PF_STEP_CLASSES; i++) {
		char *verdict;
		struct class_row row = class_row(d, i, &verdict);

		if (d->args->wide || i == PF_STEP_CLASSES || row.sum_ns.a ||
		    row.sum_ns.b)
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

/* ---- names that differ ---- */

void pf_diff_add_dims(struct pf_buf *out, const char *shapes)
{
	int depth = 0, lists = 0;

	/* types follow: ["float"] */
	for (const char *s = shapes; *s && *s != '"' && lists < DIMS_MAX; s++) {
		bool is_digit = *s >= '0' && *s <= '9';

		if (*s == '[' && ++depth == 2 && s[1] != ']')
			pf_buf_addc(out, ' ');
		if (depth == 2 && is_digit)
			pf_buf_addc(out, *s);
		if (depth == 2 && *s == ',')
			pf_buf_addc(out, 'x');
		if (*s == ']' && depth-- == 2)
			lists += s[-1] != '[';
	}
}

/* How often each text is there. */
static uint32_t *count_uses(char *const *names, size_t count)
{
	uint32_t *uses = pf_calloc(count + 1, sizeof(*uses));
	uint32_t *number = pf_calloc(count + 1, sizeof(*number));
	uint32_t *sums = pf_calloc(count + 1, sizeof(*sums));
	struct pf_intern texts;

	pf_intern_init(&texts);
	for (size_t i = 0; i < count; i++) {
		number[i] = pf_intern_add(&texts, names[i], strlen(names[i]));
		sums[number[i]]++;
	}
	for (size_t i = 0; i < count; i++)
		uses[i] = sums[number[i]];
	pf_intern_release(&texts);
	free(number);
	free(sums);
	return uses;
}

enum { BY_SHAPES, BY_MODULE, BY_OP, BY_PATH, BY_NUMBER, WAYS };

/* What may tell a pair from others of its name. */
static void add_origin(struct pf_buf *out, const struct pf_diff *d,
		       const struct pf_pair *p, int way, size_t number)
{
	const struct pf_work_key *k = p->a_row == PF_NO_ROW
					      ? &d->b.work[p->b_row].key
					      : &d->a.work[p->a_row].key;
	const uint32_t texts[WAYS] = { k->shapes, k->module, k->op, k->path,
				       k->path };
	uint32_t text = texts[way];

	if (way == BY_NUMBER)
		pf_buf_addf(out, " (%zu)", number);
	else if (way == BY_SHAPES)
		pf_diff_add_dims(out, pf_diff_text(d, text));
	else if (*pf_diff_text(d, text))
		pf_buf_addf(out, " in %s", pf_diff_text(d, text));
}

/* Room for what follows: templates of kernels are long and alike. */
static void add_base(struct pf_buf *out, const char *name, int way)
{
	size_t len = way == BY_SHAPES ? strcspn(name, "<") : strlen(name);

	if (name[len] && !strstr(name, " -> "))
		pf_buf_addf(out, "%.*s<>", (int)len, name);
	else
		pf_buf_adds(out, name);
}

/* Names of d->rows for people: what is alike gets what tells it apart. */
static char **names_take(const struct pf_diff *d)
{
	size_t count = d->pairs.count;
	char **names = pf_calloc(count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = pf_diff_key_take(d, d->rows[i].pair);
	for (int way = 0; way < WAYS; way++) {
		uint32_t *uses = count_uses(names, count);

		for (size_t i = 0; i < count; i++) {
			struct pf_buf text = { 0 };

			if (uses[i] < 2)
				continue;
			add_base(&text, names[i], way);
			add_origin(&text, d, d->rows[i].pair, way, i + 1);
			free(names[i]);
			names[i] = text.data;
		}
		free(uses);
	}
	return names;
}

void pf_diff_name_rows(struct pf_diff *d)
{
	d->names = names_take(d);
}

struct work_row {
	const char *name, *key, *match, *op, *path, *class_word;
	const char *a_kernel, *b_kernel, *a_shapes, *b_shapes;
	struct pf_both_real count;
	struct pf_both ns, calls, sum_ns, rows, each_ns;
	int64_t count_effect_ns, duration_effect_ns, each_delta_ns;
	double delta_share, step_share;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct work_row, member, key, title, kind)
#define BOTH(member, key, title, kind)                                         \
	PF_BOTH(struct work_row, member, key, title, (kind) | PF_FULL)
static const struct pf_field work_fields[] = {
	FIELD(name, "name", "GPU work", PF_TEXT | PF_BRIEF),
	FIELD(key, "key", "GPU work", PF_TEXT | PF_FULL),
	BOTH(count, "count", " count", PF_REAL),
	BOTH(ns, "ns", "", PF_NS),
	FIELD(ns.delta, "delta_ns", "Change", PF_NS | PF_SIGNED),
	FIELD(count_effect_ns, "count_effect_ns", "More of it",
	      PF_NS | PF_SIGNED),
	FIELD(duration_effect_ns, "duration_effect_ns", "Slower each",
	      PF_NS | PF_SIGNED),
	FIELD(match, "match", "Match", PF_TEXT),
	FIELD(delta_share, "delta_share", "Change of A", PF_RATIO | PF_FULL),
	FIELD(step_share, "step_share", "Change of a step of A",
	      PF_RATIO | PF_FULL),
	BOTH(each_ns, "each_ns", " each", PF_NS | PF_MAYBE),
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

	int64_t a_each = p->a_count ? pf_mean(p->a_ns, p->a_count) : PF_NO_INT;
	int64_t b_each = p->b_count ? pf_mean(p->b_ns, p->b_count) : PF_NO_INT;

	return (struct work_row){
		.name = key,
		.key = key,
		.match = pf_match_name(p->match),
		.count = pf_both_counts(d, p->a_count, p->b_count),
		.ns = pf_both(a_ns, b_ns),
		.calls = pf_both(p->a_count, p->b_count),
		.sum_ns = pf_both(p->a_ns, p->b_ns),
		.rows = pf_both(p->a_rows, p->b_rows),
		.count_effect_ns = more,
		.duration_effect_ns = delta - more,
		.each_ns = { a_each, b_each, PF_NO_INT },
		.each_delta_ns =
			p->a_count && p->b_count ? b_each - a_each : PF_NO_INT,
		.delta_share = a_ns ? (double)delta / (double)a_ns : NAN,
		.step_share = d->a_ns ? (double)delta / (double)d->a_ns : NAN,
	};
}

/* For people: times per step, or of each call if those are not compared. */
static struct pf_table *work_table(struct pf_diff *d, struct pf_doc *doc)
{
	static const char *const of_steps[] = { "delta_ns", "count_effect_ns",
						"duration_effect_ns" };
	static const char *const of_calls[] = { "a_count", "b_count",
						"a_each_ns", "b_each_ns" };
	struct pf_field fields[sizeof(work_fields) / sizeof(*work_fields)];

	memcpy(fields, work_fields, sizeof(fields));
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		struct pf_col *col = &fields[i].col;

		for (size_t k = 0; k < 3 && d->verdict == PF_WITHHELD; k++)
			if (!strcmp(col->key, of_steps[k]))
				col->kind |= PF_FULL;
		for (size_t k = 0; k < 4 && d->verdict == PF_WITHHELD; k++)
			if (!strcmp(col->key, of_calls[k]))
				col->kind &= ~(unsigned)PF_FULL;
	}
	return pf_doc_fields(doc, "rows",
			     pf_diff_title(d, "GPU work that changed,"),
			     PF_FIELDS(fields));
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
	struct pf_table *t = work_table(d, doc);
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
		row.name = d->names[i];
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
	const char *per =
		d->a.has_steps || d->b.has_steps ? "Per step" : "Per capture";
	const struct pf_col cols[] = {
		{ "what", per, PF_TEXT | PF_FULL },
		{ "title", per, PF_TEXT | PF_BRIEF },
		{ "a", "A", PF_REAL },
		{ "b", "B", PF_REAL },
		{ "delta", "Change", PF_REAL | PF_SIGNED },
		{ "a_range", "A varies", PF_TEXT },
		{ "b_range", "B varies", PF_TEXT },
		{ "a_sum", "A, all steps", PF_INT | PF_FULL },
		{ "b_sum", "B, all steps", PF_INT | PF_FULL },
	};
	struct pf_table *t = pf_doc_table(
		doc, "structure", pf_diff_title(d, "Counts"), COLS(cols));

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
		{ "delta_bytes", "Change", PF_BYTES | PF_SIGNED },
	};
	const struct {
		const char *what;
		int64_t a, b;
	} rows[] = {
		{ "peak allocated", d->a.peak_bytes, d->b.peak_bytes },
		{ "peak reserved", d->a.reserved_bytes, d->b.reserved_bytes },
	};
	struct pf_table *t = pf_doc_table(
		doc, "memory", pf_diff_title(d, "Memory, and what is copied"),
		COLS(cols));

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
	struct pf_table *t = pf_doc_table(doc, "captures",
					  d->a.has_steps ? "Time of steps"
							 : "Time of captures",
					  COLS(cols));

	add_captures_of(&d->a, "A", t);
	add_captures_of(&d->b, "B", t);
}
