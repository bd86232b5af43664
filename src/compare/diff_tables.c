/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compare/diff_impl.h"
#include "events/gpu.h"
#include "analysis/time/kernels.h"
#include "base/mem.h"

#define DIMS_MAX 3 /* inputs that tell kernels apart */

/* ---- the waterfall ---- */

static struct pf_diff_class class_of(struct pf_diff_run *d, size_t cls)
{
	const struct pf_judged *j = &d->classes[cls];

	return (struct pf_diff_class){
		.name = pf_step_class_name((enum pf_step_class)cls),
		.verdict = pf_diff_keep_made(d, pf_diff_class_take(d, j)),
		.ns = pf_both(d->a_class_ns[cls], d->b_class_ns[cls]),
		.sum_ns = pf_both(d->a.class_ns[cls], d->b.class_ns[cls]),
		.median_ns = pf_both(j->a_ns, j->b_ns),
		.shift_ns = j->rank.shift,
	};
}

void pf_diff_find_classes(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;
	const struct pf_judged *j = &out->total;

	for (size_t i = 0; i < PF_STEP_CLASSES; i++)
		out->classes[i] = class_of(d, i);
	out->classes[PF_STEP_CLASSES] = (struct pf_diff_class){
		.name = "sum",
		.verdict = out->verdict == PF_WITHHELD
				   ? NULL
				   : pf_diff_verdict_word(out->verdict),
		.ns = pf_both(out->a_ns, out->b_ns),
		.sum_ns = pf_both(d->a.step_ns, d->b.step_ns),
		.median_ns = pf_both(j->a_ns, j->b_ns),
		.shift_ns = j->rank.shift,
	};
}

/* ---- rows ---- */

static const char *or_none(const char *text, const char *none)
{
	return *text ? text : none;
}

static void add_short(struct pf_buf *out, const struct pf_diff_run *d,
		      uint32_t n)
{
	pf_kernel_short_name(out, pf_diff_text(d, n));
}

/* "3 kernels -> 1 in aten::linear" */
static void add_many(struct pf_buf *out, const struct pf_diff_run *d,
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

static void add_kernels(struct pf_buf *out, const struct pf_diff_run *d,
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

char *pf_diff_key_take(const struct pf_diff_run *d, const struct pf_pair *p)
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
static void add_origin(struct pf_buf *out, const struct pf_diff_run *d,
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
static char **names_take(const struct pf_diff_run *d)
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

void pf_diff_name_rows(struct pf_diff_run *d)
{
	size_t count = d->pairs.count;
	char **names = names_take(d);

	d->names = pf_calloc(count + 1, sizeof(*d->names));
	for (size_t i = 0; i < count; i++)
		d->names[i] = pf_diff_keep_made(d, names[i]);
	free(names);
}

static void set_origin(struct pf_diff_run *d, struct pf_diff_work *row,
		       const struct pf_pair *p)
{
	const struct pf_work_key *a =
		p->a_row == PF_NO_ROW ? NULL : &d->a.work[p->a_row].key;
	const struct pf_work_key *b =
		p->b_row == PF_NO_ROW ? NULL : &d->b.work[p->b_row].key;
	const struct pf_work_key *k = a ? a : b;

	row->op = pf_diff_keep_known(d, k->op);
	row->path = pf_diff_keep_known(d, k->path);
	if (a) {
		row->a_kernel = pf_diff_keep_known(d, a->kernel);
		row->a_shapes = pf_diff_keep_known(d, a->shapes);
	}
	if (b) {
		row->b_kernel = pf_diff_keep_known(d, b->kernel);
		row->b_shapes = pf_diff_keep_known(d, b->shapes);
	}
	if (d->args->by < 0 || d->args->by == PF_BY_KERNEL ||
	    d->args->by == PF_BY_CLASS)
		row->class_word =
			pf_gpu_class_name((enum pf_gpu_class)k->class);
}

static struct pf_diff_work figures_of(const struct pf_diff_run *d,
				      const char *key, const struct pf_pair *p,
				      int64_t a_ns, int64_t b_ns)
{
	int64_t delta = b_ns - a_ns;
	int64_t more = p->a_rows && p->b_rows
			       ? pf_mean_more(p->a_count, p->a_ns, d->a.steps,
					      p->b_count, d->b.steps)
			       : delta;

	int64_t a_each = p->a_count ? pf_mean(p->a_ns, p->a_count) : PF_NO_INT;
	int64_t b_each = p->b_count ? pf_mean(p->b_ns, p->b_count) : PF_NO_INT;

	return (struct pf_diff_work){
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
		.each_ns = { a_each, b_each, PF_NO_INT, NAN },
		.each_delta_ns =
			p->a_count && p->b_count ? b_each - a_each : PF_NO_INT,
		.step_share = d->out->a_ns
				      ? (double)delta / (double)d->out->a_ns
				      : NAN,
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

/* What is smaller than --min-delta, as one row, so that sums hold. */
struct small {
	struct pf_pair pair;
	int64_t a_ns, b_ns;
	size_t count;
};

static void put_small(struct pf_diff_run *d, const struct small *small)
{
	struct pf_buf text = { 0 };

	if (!small->count)
		return;
	pf_buf_addf(&text, "(%zu rows with less change)", small->count);
	d->out->rows[d->out->row_count++] =
		figures_of(d, pf_diff_keep_buf(d, &text), &small->pair,
			   small->a_ns, small->b_ns);
}

void pf_diff_find_rows(struct pf_diff_run *d)
{
	struct small small = { .pair.match = PF_MATCH_EXACT };
	struct pf_diff *out = d->out;

	out->rows = pf_calloc(d->pairs.count + 1, sizeof(*out->rows));
	/* of one side alone nothing is a change */
	for (size_t i = 0; !pf_diff_is_one_sided(out) && i < d->pairs.count;
	     i++) {
		const struct pf_diff_row *r = &d->rows[i];
		int64_t delta = pf_diff_delta(r);
		struct pf_diff_work *row = &out->rows[out->row_count];

		if (!d->args->wide && !delta)
			continue;
		if ((delta < 0 ? -delta : delta) < d->args->min_delta_ns) {
			add_to(&small.pair, r->pair);
			small.a_ns += r->a_ns;
			small.b_ns += r->b_ns;
			small.count++;
			continue;
		}
		*row = figures_of(
			d, pf_diff_keep_made(d, pf_diff_key_take(d, r->pair)),
			r->pair, r->a_ns, r->b_ns);
		row->name = d->names[i];
		set_origin(d, row, r->pair);
		out->row_count++;
	}
	put_small(d, &small);
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

static const char *range_text(struct pf_diff_run *d, struct range r)
{
	struct pf_buf text = { 0 };

	if (r.min >= r.max)
		return NULL;
	pf_buf_addf(&text, "%lld to %lld", (long long)r.min, (long long)r.max);
	return pf_diff_keep_buf(d, &text);
}

/* A count of both sides; without a change where it is not known. */
static struct pf_diff_count count_of(struct pf_diff_run *d, size_t i)
{
	enum pf_step_count what = (enum pf_step_count)i;
	bool has_a = pf_side_knows(&d->a, &d->b, what);
	bool has_b = pf_side_knows(&d->b, &d->a, what);
	int64_t a = d->a.count[i], b = d->b.count[i];
	struct pf_diff_count out = {
		.key = pf_step_count_key(what),
		.title = pf_step_count_title(what),
		.a = has_a ? pf_ratio((double)a, d->a.steps) : NAN,
		.b = has_b ? pf_ratio((double)b, d->b.steps) : NAN,
		.a_range = range_text(d, range_of(&d->a, i)),
		.b_range = range_text(d, range_of(&d->b, i)),
		.a_sum = has_a ? a : PF_NO_INT,
		.b_sum = has_b ? b : PF_NO_INT,
	};

	out.delta = d->out->is_cut ? NAN : out.b - out.a;
	if (has_a && has_b && !d->out->is_cut &&
	    !pf_mean_compare(a, d->a.steps, b, d->b.steps))
		out.delta = 0;
	out.share = a ? out.delta / out.a : NAN;
	return out;
}

void pf_diff_find_counts(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;

	for (size_t i = 0; i < PF_COUNT_GPU_NS; i++) {
		bool is_bytes =
			i >= PF_COUNT_HTOD_BYTES && i <= PF_COUNT_OTHER_BYTES;

		if (d->args->wide ||
		    (!is_bytes && (d->a.count[i] || d->b.count[i])))
			out->counts[out->count_count++] = count_of(d, i);
	}
}

static void add_bytes(struct pf_diff *out, const char *what, int64_t a,
		      int64_t b)
{
	struct pf_both bytes = pf_both(a, b);

	if (a < 0 || b < 0 || out->is_cut)
		bytes = (struct pf_both){ a, b, PF_NO_INT, NAN };
	out->bytes[out->bytes_count++] = (struct pf_diff_bytes){ what, bytes };
}

static int64_t copied(const struct pf_side *s, const struct pf_side *other,
		      enum pf_step_count count)
{
	return pf_side_knows(s, other, count)
		       ? pf_mean(s->count[count], s->steps)
		       : -1;
}

void pf_diff_find_bytes(struct pf_diff_run *d)
{
	const struct pf_side *a = &d->a, *b = &d->b;
	struct pf_diff *out = d->out;

	if (a->peak_bytes >= 0 || b->peak_bytes >= 0)
		add_bytes(out, "peak allocated", a->peak_bytes, b->peak_bytes);
	if (a->reserved_bytes >= 0 || b->reserved_bytes >= 0)
		add_bytes(out, "peak reserved", a->reserved_bytes,
			  b->reserved_bytes);
	for (int i = PF_COUNT_HTOD_BYTES; i <= PF_COUNT_OTHER_BYTES; i++) {
		enum pf_step_count count = (enum pf_step_count)i;
		int64_t a_bytes = copied(a, b, count);
		int64_t b_bytes = copied(b, a, count);

		if (d->args->wide || a_bytes > 0 || b_bytes > 0)
			add_bytes(out, pf_step_count_title(count), a_bytes,
				  b_bytes);
	}
}

static void add_captures_of(struct pf_diff_run *d, const struct pf_side *s,
			    const char *side)
{
	for (size_t i = 0; i < s->capture_count; i++) {
		const struct pf_capture *c = s->captures[i];
		const char *xxh128 = pf_intern_text(&c->texts, c->xxh128, NULL);

		d->out->captures[d->out->capture_count++] =
			(struct pf_diff_capture){
				.side = side,
				.path = pf_diff_keep_text(d, c->path),
				.xxh128 = *xxh128 ? pf_diff_keep_text(d, xxh128)
						  : NULL,
				.steps = (int64_t)c->full_count,
				.cut_off = (int64_t)(c->step_count -
						     c->full_count),
				.mean_ns = pf_mean(c->step_ns,
						   (int64_t)c->full_count),
				.p50_ns = pf_capture_percentile(c, 50),
				.min_ns = pf_capture_percentile(c, 0),
				.max_ns = pf_capture_percentile(c, 100),
				.sum_ns = c->step_ns,
			};
	}
}

void pf_diff_find_captures(struct pf_diff_run *d)
{
	d->out->captures = pf_calloc(d->a.capture_count + d->b.capture_count,
				     sizeof(*d->out->captures));
	add_captures_of(d, &d->a, "A");
	add_captures_of(d, &d->b, "B");
}
