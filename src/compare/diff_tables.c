/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/kernels.h"
#include "base/mem.h"
#include "base/order.h"
#include "compare/diff_impl.h"
#include "events/gpu.h"
#include "formats/event.h"
#include "show/doc.h"
#include "torch/averages.h"

/* ---- texts of the result ---- */

#define NOTE_MAX 1024 /* as a document cuts them */

const char *pf_diff_keep_text(struct pf_diff_run *d, const char *text)
{
	return pf_arena_string(&d->out->texts, text);
}

const char *pf_diff_keep_made(struct pf_diff_run *d, char *text)
{
	const char *out = pf_diff_keep_text(d, text);

	free(text);
	return out;
}

/* Of a row of the result. */
static const char *diff_keep(struct pf_diff_run *d, uint32_t n)
{
	d->kept = pf_grow_zero(d->kept, &d->kept_cap, n + (size_t)1,
			       sizeof(*d->kept));
	if (!d->kept[n])
		d->kept[n] = pf_diff_keep_text(d, pf_diff_text(d, n));
	return d->kept[n];
}

const char *pf_diff_keep_known(struct pf_diff_run *d, uint32_t n)
{
	return *pf_diff_text(d, n) ? diff_keep(d, n) : NULL;
}

const char *pf_diff_keep_buf(struct pf_diff_run *d, struct pf_buf *text)
{
	const char *out = pf_diff_keep_text(d, text->data);

	pf_buf_release(text);
	return out;
}

void pf_diff_note(struct pf_diff_run *d, const char *fmt, ...)
{
	struct pf_diff *out = d->out;
	char text[NOTE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out->notes = pf_grow(out->notes, &out->note_cap, out->note_count + 1,
			     sizeof(*out->notes));
	out->notes[out->note_count++] = pf_diff_keep_text(d, text);
}

/*
 * The critical paths of both sides by what they are made of.  A path adds up
 * to its window, so the differences add up to that of the windows.  A window
 * holds all steps, also those that are cut off: figures are per step of it.
 */

static int by_change(const void *a, const void *b)
{
	const struct pf_diff_time *x = a, *y = b;
	int64_t dx = llabs(x->ns.delta), dy = llabs(y->ns.delta);

	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (x->ns.a != y->ns.a)
		return x->ns.a > y->ns.a ? -1 : 1;
	return x < y ? -1 : x > y;
}

void pf_diff_find_path(struct pf_diff_run *d)
{
	int64_t a[PF_PATH_CATEGORIES], b[PF_PATH_CATEGORIES];
	struct pf_diff *out = d->out;

	if (!d->args->path || !d->a.path_steps || !d->b.path_steps)
		return;
	pf_mean_parts(d->a.path_ns, PF_PATH_CATEGORIES, d->a.path_steps, a);
	pf_mean_parts(d->b.path_ns, PF_PATH_CATEGORIES, d->b.path_steps, b);
	for (size_t i = 0; i < PF_PATH_CATEGORIES; i++)
		if (d->a.path_ns[i] || d->b.path_ns[i])
			out->path[out->path_count++] = (struct pf_diff_time){
				pf_path_category_name((enum pf_path_category)i),
				pf_both(a[i], b[i]),
				pf_both(d->a.path_ns[i], d->b.path_ns[i])
			};
	pf_sort(out->path, out->path_count, sizeof(*out->path), by_change);
	out->path[out->path_count++] = (struct pf_diff_time){
		"the window",
		pf_both(pf_mean(d->a.path_window_ns, d->a.path_steps),
			pf_mean(d->b.path_window_ns, d->b.path_steps)),
		pf_both(d->a.path_window_ns, d->b.path_window_ns)
	};
}

/*
 * Which advice is done: A is given it, and B is not, as its cause is not there
 * or too small.  What one side cannot judge is neither done nor new.
 */

enum change { DONE, NEW, OPEN, NOT_JUDGED, NEVER };
static const char *const changes[] = { "done", "new", "open", "not judged" };

/* By the state in A and in B: given, fine, not judged. */
static const enum change table[3][3] = {
	{ OPEN, DONE, NOT_JUDGED },
	{ NEW, NEVER, NEVER },
	{ NOT_JUDGED, NEVER, NEVER },
};

static int64_t per_step(const struct pf_capture *c,
			const struct pf_capture_advice *v)
{
	return v->at_most_ns == PF_NO_INT
		       ? PF_NO_INT
		       : pf_mean(v->at_most_ns, c->advice_steps);
}

static double share(const struct pf_capture *c,
		    const struct pf_capture_advice *v)
{
	return v->at_most_ns == PF_NO_INT
		       ? NAN
		       : pf_ratio((double)v->at_most_ns, c->advice_window_ns);
}

static void add(struct pf_diff_run *d, enum change change,
		const struct pf_capture_advice *a,
		const struct pf_capture_advice *b)
{
	const struct pf_capture *in_a = d->a.captures[0],
				*in_b = d->b.captures[0];
	struct pf_diff *out = d->out;
	const char *reason = NULL;

	if (b->state != PF_ADVICE_GIVEN)
		reason = pf_intern_text(&in_b->texts, b->reason, NULL);
	else if (a->state != PF_ADVICE_GIVEN)
		reason = pf_intern_text(&in_a->texts, a->reason, NULL);
	out->advice[out->advice_count++] = (struct pf_diff_advice){
		.change = changes[change],
		.id = a->id,
		.title = a->title,
		.a_at_most_ns = per_step(in_a, a),
		.b_at_most_ns = per_step(in_b, b),
		.a_share = share(in_a, a),
		.b_share = share(in_b, b),
		.reason = pf_diff_keep_text(d, reason),
	};
}

static const struct pf_capture_advice *find(const struct pf_capture *c,
					    const char *id)
{
	for (size_t i = 0; i < c->advice_count; i++)
		if (!strcmp(c->advice[i].id, id))
			return &c->advice[i];
	return NULL;
}

/* "done: A1, A5; new: A3" */
static void say(struct pf_diff_run *d)
{
	const struct pf_diff *out = d->out;
	struct pf_buf line = { 0 };
	const char *last = NULL;

	for (size_t i = 0; i < out->advice_count; i++) {
		const struct pf_diff_advice *v = &out->advice[i];

		if (last != v->change)
			pf_buf_addf(&line, "%s%s: ", last ? "; " : "",
				    v->change);
		pf_buf_addf(&line, "%s%s", last == v->change ? ", " : "",
			    v->id);
		last = v->change;
	}
	pf_diff_note(d, "advice: %s",
		     line.len ? line.data : "neither side is given any");
	pf_buf_release(&line);
}

void pf_diff_find_advice(struct pf_diff_run *d)
{
	const struct pf_capture *a = d->a.captures[0], *b = d->b.captures[0];

	if (!d->args->advice || !a->advice_count || !b->advice_count)
		return;
	for (int change = DONE; change < NEVER; change++) {
		/* what A is given in its order, then what B alone is */
		for (size_t i = 0; i < a->advice_count + b->advice_count; i++) {
			bool of_b = i >= a->advice_count;
			const char *id =
				of_b ? b->advice[i - a->advice_count].id
				     : a->advice[i].id;
			const struct pf_capture_advice *x = find(a, id),
						       *y = find(b, id);

			if (x && y && of_b == (x->state != PF_ADVICE_GIVEN) &&
			    table[x->state][y->state] == (enum change)change)
				add(d, (enum change)change, x, y);
		}
	}
	say(d);
}

#define DIMS_MAX 3 /* inputs that tell kernels apart */

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

/* " 32x64x56x56 64x64x3x3": the first inputs that have dimensions. */
static void diff_add_dims(struct pf_buf *out, const char *shapes)
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
		diff_add_dims(out, pf_diff_text(d, text));
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

/*
 * Lists of operators, idle time and blocking calls as outer joins of both
 * sides.  What is left of one name on both sides after equal keys were joined
 * is one row: the same operator with other shapes, the same place on another
 * line.
 */

enum join { JOIN_EXACT, JOIN_OTHER, JOIN_ADDED, JOIN_REMOVED };

/* Both sides of one thing; what the values are is the list's business. */
struct joined {
	enum join join;
	uint32_t a_row, b_row; /* the first, or PF_NO_ROW */
	int64_t a[3], b[3];    /* sums */
	int64_t weight;        /* orders the list, largest first */
};

struct joins {
	struct joined *items;
	size_t count, cap;
};

/* The keys of a row: all of it, and what may stay the same. */
struct list {
	const void *rows[2];
	size_t counts[2];
	size_t row_bytes;
	void (*keys)(struct pf_diff_run *d, const void *row, uint32_t whole[4],
		     uint32_t part[4]);
	void (*values)(const void *row, int64_t out[3]);
};

static const void *row_at(const struct list *l, int side, size_t i)
{
	return (const char *)l->rows[side] + i * l->row_bytes;
}

static void join_row(struct joins *j, uint32_t at, const struct list *l,
		     int side, size_t i)
{
	struct joined *out = &j->items[at];
	uint32_t *first = side ? &out->b_row : &out->a_row;
	int64_t *sums = side ? out->b : out->a, values[3] = { 0 };

	if (*first == PF_NO_ROW)
		*first = (uint32_t)i;
	l->values(row_at(l, side, i), values);
	for (size_t k = 0; k < 3; k++)
		sums[k] += values[k];
}

static uint32_t new_join(struct joins *j, enum join join)
{
	j->items = pf_grow(j->items, &j->cap, j->count + 1, sizeof(*j->items));
	j->items[j->count] = (struct joined){ .join = join,
					      .a_row = PF_NO_ROW,
					      .b_row = PF_NO_ROW };
	return (uint32_t)j->count++;
}

/* Join rows that are left and have equal keys (the whole or the part). */
static void join_by(struct pf_diff_run *d, struct joins *j,
		    const struct list *l, uint32_t *of[2], bool is_part)
{
	struct pf_intern keys;
	uint32_t *key_of[2], *join_of;
	unsigned char *has;

	pf_intern_init(&keys);
	for (int s = 0; s < 2; s++) {
		key_of[s] = pf_calloc(l->counts[s] + 1, sizeof(*key_of[s]));
		for (size_t i = 0; i < l->counts[s]; i++) {
			uint32_t key[2][4] = { { 0 } };

			l->keys(d, row_at(l, s, i), key[0], key[1]);
			key_of[s][i] = UINT32_MAX;
			if (of[s][i] == UINT32_MAX)
				key_of[s][i] = pf_intern_add(
					&keys, (const char *)key[is_part],
					sizeof(key[0]));
		}
	}
	has = pf_calloc(keys.count + (size_t)1, 1);
	join_of = pf_calloc(keys.count + (size_t)1, sizeof(*join_of));
	memset(join_of, 0xff, keys.count * sizeof(*join_of));
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < l->counts[s]; i++)
			if (key_of[s][i] != UINT32_MAX)
				has[key_of[s][i]] |= (unsigned char)(1 << s);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < l->counts[s]; i++) {
			uint32_t key = key_of[s][i];

			if (key == UINT32_MAX || has[key] != 3)
				continue;
			if (join_of[key] == UINT32_MAX)
				join_of[key] = new_join(
					j, is_part ? JOIN_OTHER : JOIN_EXACT);
			of[s][i] = join_of[key];
			join_row(j, of[s][i], l, s, i);
		}
	free(has);
	free(join_of);
	free(key_of[0]);
	free(key_of[1]);
	pf_intern_release(&keys);
}

static struct joins join_take(struct pf_diff_run *d, const struct list *l)
{
	struct joins j = { 0 };
	uint32_t *of[2];

	for (int s = 0; s < 2; s++) {
		of[s] = pf_calloc(l->counts[s] + 1, sizeof(*of[s]));
		memset(of[s], 0xff, l->counts[s] * sizeof(*of[s]));
	}
	join_by(d, &j, l, of, false);
	join_by(d, &j, l, of, true);
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; i < l->counts[s]; i++)
			if (of[s][i] == UINT32_MAX)
				join_row(&j,
					 new_join(&j, s ? JOIN_ADDED
							: JOIN_REMOVED),
					 l, s, i);
		free(of[s]);
	}
	return j;
}

PF_ORDER(by_weight, struct joined, PF_DOWN(weight) PF_UP(a_row) PF_UP(b_row))

/* Order by how much value k changes per step. */
static void order(struct pf_diff_run *d, struct joins *j, size_t k)
{
	for (size_t i = 0; i < j->count; i++) {
		struct joined *x = &j->items[i];
		int64_t change = pf_mean(x->b[k], d->b.steps) -
				 pf_mean(x->a[k], d->a.steps);

		x->weight = change < 0 ? -change : change;
	}
	pf_sort(j->items, j->count, sizeof(*j->items), by_weight);
}

/* Means of value k of all items, that add up. */
static int64_t *means_take(const struct joins *j, size_t k, int64_t steps,
			   bool is_b)
{
	int64_t *sums = pf_calloc(j->count + 1, sizeof(*sums));
	int64_t *out = pf_calloc(j->count + 1, sizeof(*out));

	for (size_t i = 0; i < j->count; i++)
		sums[i] = is_b ? j->items[i].b[k] : j->items[i].a[k];
	pf_mean_parts(sums, j->count, steps, out);
	free(sums);
	return out;
}

/* In the first so many values. */
static bool is_unchanged(const struct pf_diff_run *d, const struct joined *x,
			 size_t values)
{
	for (size_t k = 0; k < values; k++)
		if (pf_mean_compare(x->a[k], d->a.steps, x->b[k], d->b.steps))
			return false;
	return x->join == JOIN_EXACT;
}

/* ---- operators ---- */

static void op_keys(struct pf_diff_run *d, const void *row, uint32_t whole[4],
		    uint32_t part[4])
{
	const struct pf_op_row *r = row;

	(void)d;
	whole[0] = part[0] = r->name;
	whole[1] = r->shapes;
	whole[2] = part[2] = r->kind;
}

static void op_values(const void *row, int64_t out[3])
{
	const struct pf_op_row *r = row;

	out[0] = r->count;
	out[1] = r->ns;
	out[2] = r->self_ns;
}

static struct joins join_ops(struct pf_diff_run *d)
{
	const struct list l = { { d->a.ops, d->b.ops },
				{ d->a.op_count, d->b.op_count },
				sizeof(struct pf_op_row),
				op_keys,
				op_values };

	return join_take(d, &l);
}

bool pf_diff_same_ops(const struct pf_diff_run *d)
{
	struct joins j = join_ops((struct pf_diff_run *)d);
	bool is_same = true;

	for (size_t i = 0; i < j.count && is_same; i++) {
		const struct joined *x = &j.items[i];
		uint32_t kind = x->a_row != PF_NO_ROW ? d->a.ops[x->a_row].kind
						      : d->b.ops[x->b_row].kind;

		if (kind == PF_KIND_CPU_OP)
			is_same = x->join == JOIN_EXACT &&
				  !pf_mean_compare(x->a[0], d->a.steps, x->b[0],
						   d->b.steps);
	}
	free(j.items);
	return is_same;
}

static const char *category_of(uint32_t kind)
{
	switch (kind) {
	case PF_KIND_CPU_OP:
		return "op";
	case PF_KIND_ANNOTATION:
		return "annotation";
	default:
		return "call";
	}
}

static const struct pf_op_row *op_of(const struct pf_diff_run *d,
				     const struct joined *x)
{
	return x->a_row != PF_NO_ROW ? &d->a.ops[x->a_row]
				     : &d->b.ops[x->b_row];
}

static const char *const join_names[] = { "exact", "shape", "added",
					  "removed" };

static struct pf_diff_op op_row(struct pf_diff_run *d, const struct joined *x)
{
	const struct pf_op_row *a =
		x->a_row == PF_NO_ROW ? NULL : &d->a.ops[x->a_row];
	const struct pf_op_row *b =
		x->b_row == PF_NO_ROW ? NULL : &d->b.ops[x->b_row];
	const struct pf_op_row *any = a ? a : b;

	return (struct pf_diff_op){
		.name = pf_diff_keep_known(d, any->name),
		.kind = category_of(any->kind),
		.is_call = any->kind != PF_KIND_CPU_OP &&
			   any->kind != PF_KIND_ANNOTATION,
		.match = join_names[x->join],
		.a_shapes = a ? diff_keep(d, a->shapes) : NULL,
		.b_shapes = b ? diff_keep(d, b->shapes) : NULL,
		.count = pf_both_counts(d, x->a[0], x->b[0]),
		.ns = pf_both(pf_mean(x->a[1], d->a.steps),
			      pf_mean(x->b[1], d->b.steps)),
		.calls = pf_both(x->a[0], x->b[0]),
		.sum_ns = pf_both(x->a[1], x->b[1]),
	};
}

/* How many joins have each name: a number for each text. */
static uint32_t *name_uses_take(const struct pf_diff_run *d,
				const struct joins *j)
{
	uint32_t *uses = pf_calloc(d->texts.count + (size_t)1, sizeof(*uses));

	for (size_t i = 0; i < j->count; i++)
		uses[op_of(d, &j->items[i])->name]++;
	return uses;
}

/* " float" of "[[3,224]] ["float","Bool"]": the type of the first input. */
static void add_type(struct pf_buf *out, const char *shapes)
{
	const char *type = strchr(shapes, '"');
	size_t len = type ? strcspn(type + 1, "\"") : 0;

	if (len)
		pf_buf_addf(out, " %.*s", (int)len, type + 1);
}

/* An operator's name, with its shapes if there are several of the name. */
static const char *shown_op(struct pf_diff_run *d, const struct joined *x,
			    const uint32_t *uses)
{
	const struct pf_op_row *op = op_of(d, x);
	struct pf_buf out = { 0 };

	if (uses[op->name] < 2)
		return diff_keep(d, op->name);
	pf_buf_adds(&out, pf_diff_text(d, op->name));
	diff_add_dims(&out, pf_diff_text(d, op->shapes));
	add_type(&out, pf_diff_text(d, op->shapes));
	return pf_diff_keep_buf(d, &out);
}

void pf_diff_find_ops(struct pf_diff_run *d)
{
	struct joins j = join_ops(d);
	uint32_t *uses = name_uses_take(d, &j);
	struct pf_diff *out = d->out;
	int64_t *a, *b;

	/* calls that are not recorded count for what called them */
	out->has_self = pf_side_knows(&d->a, &d->b, PF_COUNT_CALLS) &&
			pf_side_knows(&d->b, &d->a, PF_COUNT_CALLS);
	order(d, &j, out->has_self ? 2 : 1);
	a = means_take(&j, 2, d->a.steps, false);
	b = means_take(&j, 2, d->b.steps, true);
	out->ops = pf_calloc(j.count + 1, sizeof(*out->ops));
	for (size_t i = 0; !out->is_cut && i < j.count; i++) {
		struct pf_diff_op *row = &out->ops[out->op_count];

		if (!d->args->wide &&
		    is_unchanged(d, &j.items[i], out->has_self ? 3 : 2))
			continue;
		*row = op_row(d, &j.items[i]);
		if (row->is_call && !out->has_self)
			continue;
		row->self_ns = pf_both(a[i], b[i]);
		if (!out->has_self)
			row->self_ns =
				(struct pf_both){ a[i], b[i], PF_NO_INT, NAN };
		row->shown = shown_op(d, &j.items[i], uses);
		out->op_count++;
	}
	free(uses);
	free(a);
	free(b);
	free(j.items);
}

/* ---- changes of structure ---- */

static void put_change(struct pf_diff_run *d, size_t *cap, const char *change,
		       const char *what, double a, double b)
{
	struct pf_diff *out = d->out;

	out->changes = pf_grow(out->changes, cap, out->change_count + 1,
			       sizeof(*out->changes));
	out->changes[out->change_count++] =
		(struct pf_diff_change){ change, what, a / (double)d->a.steps,
					 b / (double)d->b.steps };
}

/* What happened to a pair of GPU work; NULL: nothing. */
static const char *change_of(const struct pf_diff_run *d,
			     const struct pf_pair *p)
{
	switch (p->match) {
	case PF_MATCH_SHAPE:
		return "shape changed";
	case PF_MATCH_STREAM:
		return "stream changed";
	case PF_MATCH_POSITION:
	case PF_MATCH_FAMILY:
		return p->a_rows != p->b_rows || p->a_count * d->b.steps !=
							 p->b_count * d->a.steps
			       ? "kernels changed"
			       : "kernel changed";
	case PF_MATCH_GROUP:
		return p->b_rows < p->a_rows ? "kernels fused"
					     : "kernels changed";
	case PF_MATCH_ADDED:
		return "kernel added";
	case PF_MATCH_REMOVED:
		return "kernel removed";
	default:
		return pf_mean_compare(p->a_count, d->a.steps, p->b_count,
				       d->b.steps)
			       ? "number of kernels"
			       : NULL;
	}
}

static void add_gpu_changes(struct pf_diff_run *d, size_t *cap)
{
	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_pair *p = d->rows[i].pair;
		const char *change = change_of(d, p);

		if (change)
			put_change(d, cap, change, d->names[i],
				   (double)p->a_count, (double)p->b_count);
	}
}

static const char *op_change(const struct pf_diff_run *d,
			     const struct joined *x)
{
	switch (x->join) {
	case JOIN_ADDED:
		return "op added";
	case JOIN_REMOVED:
		return "op removed";
	case JOIN_OTHER:
		return "op with other shapes";
	default:
		return pf_mean_compare(x->a[0], d->a.steps, x->b[0], d->b.steps)
			       ? "number of ops"
			       : NULL;
	}
}

static void add_op_changes(struct pf_diff_run *d, size_t *cap)
{
	struct joins j = join_ops(d);
	uint32_t *uses = name_uses_take(d, &j);

	order(d, &j, 0);
	for (size_t i = 0; i < j.count; i++) {
		const struct joined *x = &j.items[i];
		const char *change = op_change(d, x);

		if (change && op_of(d, x)->kind == PF_KIND_CPU_OP)
			put_change(d, cap, change, shown_op(d, x, uses),
				   (double)x->a[0], (double)x->b[0]);
	}
	free(uses);
	free(j.items);
}

void pf_diff_find_changes(struct pf_diff_run *d)
{
	size_t cap = 0;

	/* what is missing may be what was cut off */
	if (d->out->is_cut)
		return;
	if (!pf_diff_is_one_sided(d->out))
		add_gpu_changes(d, &cap);
	add_op_changes(d, &cap);
}

/* ---- idle time and blocking calls ---- */

/* "model.py:12 forward" without the line. */
static uint32_t without_line(struct pf_diff_run *d, uint32_t frame)
{
	const char *text = pf_diff_text(d, frame), *colon = strrchr(text, ':');
	struct pf_buf out = { 0 };
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

	if (!digits)
		return frame;
	pf_buf_add(&out, text, (size_t)(colon - text));
	pf_buf_adds(&out, colon + 1 + digits);
	frame = pf_intern_add(&d->texts, out.data, out.len);
	pf_buf_release(&out);
	return frame;
}

static void wait_keys(struct pf_diff_run *d, const void *row, uint32_t whole[4],
		      uint32_t part[4])
{
	const struct pf_wait_row *r = row;

	whole[0] = part[0] = r->cause;
	whole[1] = part[1] = r->name;
	whole[2] = part[2] = r->op;
	whole[3] = r->frame;
	part[3] = without_line(d, r->frame);
}

static void wait_values(const void *row, int64_t out[3])
{
	const struct pf_wait_row *r = row;

	out[0] = r->count;
	out[1] = r->ns;
	out[2] = r->idle_ns;
}

static const struct pf_wait_row *any_wait(const struct joined *x,
					  const struct pf_wait_row *a,
					  const struct pf_wait_row *b)
{
	return x->a_row != PF_NO_ROW ? &a[x->a_row] : &b[x->b_row];
}

static struct pf_diff_wait wait_row(struct pf_diff_run *d,
				    const struct joined *x,
				    const struct pf_wait_row *a,
				    const struct pf_wait_row *b)
{
	static const char *const names[] = { "exact", "line", "added",
					     "removed" };
	const struct pf_wait_row *r = any_wait(x, a, b);
	struct pf_diff_wait row = {
		.why = (enum pf_cause)r->cause,
		.cause = pf_cause_name((enum pf_cause)r->cause),
		.name = pf_diff_keep_known(d, r->name),
		.frame = pf_diff_keep_known(d, r->frame),
		.op = pf_diff_keep_known(d, r->op),
		.match = names[x->join],
		.count = pf_both_counts(d, x->a[0], x->b[0]),
		.calls = pf_both(x->a[0], x->b[0]),
		.sum_ns = pf_both(x->a[1], x->b[1]),
	};

	row.where = row.frame ? row.frame : row.op;
	return row;
}

static void find_idle_sites(struct pf_diff_run *d)
{
	const struct list l = { { d->a.idle, d->b.idle },
				{ d->a.idle_count, d->b.idle_count },
				sizeof(struct pf_wait_row),
				wait_keys,
				wait_values };
	struct joins j = join_take(d, &l);
	struct pf_diff *out = d->out;
	int64_t *a, *b;

	order(d, &j, 1);
	a = means_take(&j, 1, d->a.steps, false);
	b = means_take(&j, 1, d->b.steps, true);
	out->idle_sites = pf_calloc(j.count + 1, sizeof(*out->idle_sites));
	for (size_t i = 0; i < j.count; i++) {
		struct pf_diff_wait *row =
			&out->idle_sites[out->idle_site_count];

		if (!d->args->wide && a[i] == b[i])
			continue;
		*row = wait_row(d, &j.items[i], d->a.idle, d->b.idle);
		row->ns = pf_both(a[i], b[i]);
		out->idle_site_count++;
	}
	free(a);
	free(b);
	free(j.items);
}

static void find_sync_sites(struct pf_diff_run *d)
{
	const struct list l = { { d->a.sites, d->b.sites },
				{ d->a.site_count, d->b.site_count },
				sizeof(struct pf_wait_row),
				wait_keys,
				wait_values };
	struct joins j = join_take(d, &l);
	struct pf_diff *out = d->out;
	int64_t *means[4];

	order(d, &j, 0);
	for (size_t k = 0; k < 4; k++)
		means[k] = means_take(&j, 1 + k / 2,
				      k % 2 ? d->b.steps : d->a.steps, k % 2);
	out->sync_sites = pf_calloc(j.count + 1, sizeof(*out->sync_sites));
	for (size_t i = 0; i < j.count; i++) {
		struct pf_diff_wait *row =
			&out->sync_sites[out->sync_site_count];

		if (!d->args->wide && is_unchanged(d, &j.items[i], 3))
			continue;
		*row = wait_row(d, &j.items[i], d->a.sites, d->b.sites);
		row->ns = pf_both(means[0][i], means[1][i]);
		row->idle_ns = pf_both(means[2][i], means[3][i]);
		out->sync_site_count++;
	}
	for (size_t k = 0; k < 4; k++)
		free(means[k]);
	free(j.items);
}

void pf_diff_find_waits(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;

	if (pf_diff_is_one_sided(out) || out->is_cut)
		return;
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		if (d->a.cause_ns[i] || d->b.cause_ns[i])
			out->causes[out->cause_count++] = (struct pf_diff_time){
				pf_cause_name((enum pf_cause)i),
				pf_both(d->a_cause_ns[i], d->b_cause_ns[i]),
				pf_both(d->a.cause_ns[i], d->b.cause_ns[i])
			};
	find_idle_sites(d);
	find_sync_sites(d);
}

/*
 * key_averages() of both sides by name.  They are of whole captures, as torch
 * has them, not per step; of several captures of a side the mean.
 */

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

int pf_diff_columns(const char *words, struct pf_err *err)
{
	struct pf_buf all = { 0 };
	const char *at = words;
	int n;

	while ((n = next_column(&at)) >= 0)
		;
	if (n == -1)
		return 0;
	for (size_t i = 0; i < PF_AVERAGE_VALUES; i++)
		pf_buf_addf(&all, "%s%s", i ? ", " : "",
			    average_values[i].word);
	pf_fail(err, PF_EUSAGE,
		"--columns '%s': columns of key_averages() are %s", words,
		all.data);
	pf_buf_release(&all);
	return -1;
}

/* ---- averages ---- */

struct both {
	uint32_t name;
	bool is_device;
	int64_t sums[2][PF_AVERAGE_VALUES];
	int64_t weight;
};

struct averages_of {
	struct pf_intern keys;
	struct both *items;
	size_t count, cap;
};

static void add_side(struct pf_diff_run *d, struct averages_of *l,
		     const struct pf_side *s, int side)
{
	for (size_t i = 0; i < s->capture_count; i++) {
		const struct pf_capture *c = s->captures[i];

		for (size_t k = 0; k < c->average_count; k++) {
			const struct pf_average_row *r = &c->averages[k];
			size_t len;
			const char *text =
				pf_intern_text(&c->texts, r->name, &len);
			uint32_t key[2] = { pf_intern_add(&d->texts, text, len),
					    r->is_device };
			uint32_t n = pf_intern_add(&l->keys, (const char *)key,
						   sizeof(key));

			if (n == l->count) {
				l->items =
					pf_grow(l->items, &l->cap, ++l->count,
						sizeof(*l->items));
				l->items[n] =
					(struct both){ .name = key[0],
						       .is_device =
							       r->is_device };
			}
			for (size_t v = 0; v < PF_AVERAGE_VALUES; v++)
				l->items[n].sums[side][v] += r->value[v];
		}
	}
}

PF_ORDER(by_average, struct both, PF_DOWN(weight) PF_UP(name) PF_UP(is_device))

static int64_t mean_of(const struct pf_diff_run *d, const struct both *x,
		       int side, size_t v)
{
	const struct pf_side *s = side ? &d->b : &d->a;

	return pf_mean(x->sums[side][v], (int64_t)s->capture_count);
}

static size_t average_columns(const char *words, int chosen[PF_AVERAGE_VALUES])
{
	size_t count = 0;
	int n;

	while (words && count < PF_AVERAGE_VALUES &&
	       (n = next_column(&words)) >= 0)
		chosen[count++] = n;
	return count;
}

/* Those whose first column changed most come first. */
static void order_averages(struct pf_diff_run *d, struct averages_of *l,
			   size_t column)
{
	for (size_t i = 0; i < l->count; i++) {
		struct both *x = &l->items[i];
		int64_t change =
			mean_of(d, x, 1, column) - mean_of(d, x, 0, column);

		x->weight = change < 0 ? -change : change;
	}
	pf_sort(l->items, l->count, sizeof(*l->items), by_average);
}

void pf_diff_find_averages(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;
	int chosen[PF_AVERAGE_VALUES];
	struct averages_of l = { 0 };

	if (!average_columns(d->args->columns, chosen))
		return;
	pf_intern_init(&l.keys);
	add_side(d, &l, &d->a, 0);
	add_side(d, &l, &d->b, 1);
	order_averages(d, &l, (size_t)chosen[0]);
	out->averages = pf_calloc(l.count + 1, sizeof(*out->averages));
	out->average_count = l.count;
	for (size_t i = 0; i < l.count; i++) {
		const struct both *x = &l.items[i];
		struct pf_diff_average *row = &out->averages[i];

		row->name = diff_keep(d, x->name);
		row->device = x->is_device ? "CUDA" : "CPU";
		for (size_t v = 0; v < PF_AVERAGE_VALUES; v++) {
			row->a[v] = mean_of(d, x, 0, v);
			row->b[v] = mean_of(d, x, 1, v);
		}
	}
	pf_intern_release(&l.keys);
	free(l.items);
}

/* ---- averages, shown ---- */

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

void pf_diff_show_averages(const struct pf_diff *diff, struct pf_doc *doc)
{
	int chosen[PF_AVERAGE_VALUES];
	size_t count = average_columns(diff->args.columns, chosen);
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
