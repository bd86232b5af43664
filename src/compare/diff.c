/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compare/diff_impl.h"
#include "base/mem.h"
#include "base/order.h"
#include "show/fold.h"

#define NOTE_MAX 1024 /* as a document cuts them */

static int check_side(const struct pf_side *s, const char *name,
		      struct pf_err *err)
{
	if (!s->steps)
		return pf_fail(err, PF_EDATA, "side %s: '%s' %s", name,
			       s->captures[0]->path,
			       pf_capture_no_step(s->captures[0]));
	return 0;
}

static bool is_same_capture(const struct pf_capture *a,
			    const struct pf_capture *b)
{
	const char *x = pf_intern_text(&a->texts, a->xxh128, NULL);

	return a == b ||
	       (*x && !strcmp(x, pf_intern_text(&b->texts, b->xxh128, NULL)));
}

static const struct pf_capture *capture_at(const struct pf_diff_run *d,
					   size_t i)
{
	return i < d->a.capture_count ? d->a.captures[i]
				      : d->b.captures[i - d->a.capture_count];
}

/* Where captures are counted each counts once. */
static int check_twice(const struct pf_diff_run *d, struct pf_err *err)
{
	size_t count = d->a.capture_count + d->b.capture_count;

	for (size_t i = 0; count > 2 && i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (is_same_capture(capture_at(d, k), capture_at(d, i)))
				return pf_fail(
					err, PF_EUSAGE,
					"'%s' and '%s' are the same capture: "
					"it would count twice",
					capture_at(d, k)->path,
					capture_at(d, i)->path);
	return 0;
}

static int check_sides(const struct pf_diff_run *d, struct pf_err *err)
{
	if (check_twice(d, err) < 0)
		return -1;
	if (d->a.capture_count > PF_CAPTURE_SIDE_MAX ||
	    d->b.capture_count > PF_CAPTURE_SIDE_MAX)
		return pf_fail(err, PF_EUSAGE, "a side has at most %d captures",
			       PF_CAPTURE_SIDE_MAX);
	if (check_side(&d->a, "A", err) < 0)
		return -1;
	return check_side(&d->b, "B", err);
}

static void find_means(struct pf_diff_run *d)
{
	d->out->a_ns = pf_mean(d->a.step_ns, d->a.steps);
	d->out->b_ns = pf_mean(d->b.step_ns, d->b.steps);
	pf_mean_parts(d->a.class_ns, PF_STEP_CLASSES, d->a.steps,
		      d->a_class_ns);
	pf_mean_parts(d->b.class_ns, PF_STEP_CLASSES, d->b.steps,
		      d->b_class_ns);
	pf_mean_parts(d->a.cause_ns, PF_CAUSE_COUNT, d->a.steps, d->a_cause_ns);
	pf_mean_parts(d->b.cause_ns, PF_CAUSE_COUNT, d->b.steps, d->b_cause_ns);
}

static int by_delta(const void *a, const void *b)
{
	const struct pf_diff_row *x = a, *y = b;
	int64_t dx = pf_diff_delta(x), dy = pf_diff_delta(y);

	dx = dx < 0 ? -dx : dx;
	dy = dy < 0 ? -dy : dy;
	if (dx != dy)
		return dx > dy ? -1 : 1;
	/* then in the order of A, and of B */
	if (x->pair->a_row != y->pair->a_row)
		return x->pair->a_row < y->pair->a_row ? -1 : 1;
	return (x->pair->b_row > y->pair->b_row) -
	       (x->pair->b_row < y->pair->b_row);
}

static void make_rows(struct pf_diff_run *d)
{
	size_t count = d->pairs.count;
	int64_t *sums = pf_calloc(2 * count + 1, sizeof(*sums));
	int64_t *means = pf_calloc(2 * count + 1, sizeof(*means));

	d->rows = pf_calloc(count + 1, sizeof(*d->rows));
	for (size_t i = 0; i < count; i++) {
		sums[i] = d->pairs.items[i].a_ns;
		sums[count + i] = d->pairs.items[i].b_ns;
	}
	pf_mean_parts(sums, count, d->a.steps, means);
	pf_mean_parts(sums + count, count, d->b.steps, means + count);
	for (size_t i = 0; i < count; i++)
		d->rows[i] = (struct pf_diff_row){ &d->pairs.items[i], means[i],
						   means[count + i] };
	pf_sort(d->rows, count, sizeof(*d->rows), by_delta);
	free(sums);
	free(means);
}

/* ---- texts of the result ---- */

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

const char *pf_diff_keep(struct pf_diff_run *d, uint32_t n)
{
	d->kept = pf_grow_zero(d->kept, &d->kept_cap, n + (size_t)1,
			       sizeof(*d->kept));
	if (!d->kept[n])
		d->kept[n] = pf_diff_keep_text(d, pf_diff_text(d, n));
	return d->kept[n];
}

const char *pf_diff_keep_known(struct pf_diff_run *d, uint32_t n)
{
	return *pf_diff_text(d, n) ? pf_diff_keep(d, n) : NULL;
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

void pf_diff_release(struct pf_diff *diff)
{
	pf_arena_release(&diff->texts);
	free(diff->rows);
	free(diff->ops);
	free(diff->idle_sites);
	free(diff->sync_sites);
	free(diff->averages);
	free(diff->changes);
	free(diff->captures);
	free(diff->notes);
	*diff = (struct pf_diff){ 0 };
}

/* ---- the whole ---- */

static void find(struct pf_diff_run *d)
{
	struct pf_diff *out = d->out;

	out->a_has_steps = d->a.has_steps;
	out->b_has_steps = d->b.has_steps;
	out->a_steps = d->a.steps;
	out->b_steps = d->b.steps;
	out->a_has_gpu = d->a.gpu_events;
	out->b_has_gpu = d->b.gpu_events;
	d->has_cut = (d->a.lost.cut_count || d->b.lost.cut_count) &&
		     !is_same_capture(d->a.captures[0], d->b.captures[0]);
	out->is_cut = d->has_cut && !d->args->force;
	find_means(d);
	make_rows(d);
	pf_diff_name_rows(d);
	pf_diff_find_checks(d);
	pf_diff_find_ops(d);
	pf_diff_judge(d);
	pf_diff_find_classes(d);
	pf_diff_find_rows(d);
	pf_diff_find_counts(d);
	pf_diff_find_changes(d);
	pf_diff_find_waits(d);
	pf_diff_find_path(d);
	pf_diff_find_advice(d);
	pf_diff_find_averages(d);
	pf_diff_find_bytes(d);
	pf_diff_find_captures(d);
	pf_diff_find_notes(d);
}

static int check_gates(const struct pf_diff_run *d, struct pf_doc *doc,
		       bool *is_failed, struct pf_err *err)
{
	const struct pf_gate_times times = { &d->judge, &d->out->total };
	bool has_times = d->out->is_comparable || d->args->force;
	const struct pf_gate_sides sides = { &d->a, &d->b,
					     has_times ? &times : NULL,
					     d->out->is_cut };

	for (size_t i = 0; i < d->args->fail_on.count; i++)
		if (pf_gate_check(d->args->fail_on.items[i], &sides, doc,
				  is_failed, err) < 0)
			return -1;
	return 0;
}

static int answer(struct pf_diff_run *d, struct pf_doc *doc, bool *is_failed,
		  struct pf_err *err)
{
	find(d);
	pf_diff_show(d->out, doc);
	doc->is_of_many = d->a.trace_count > PF_FOLD_RANKS ||
			  d->b.trace_count > PF_FOLD_RANKS;
	if (check_gates(d, doc, is_failed, err))
		return -1;
	for (size_t i = 0; i < d->out->note_count; i++)
		pf_doc_note(doc, "%s", d->out->notes[i]);
	return 0;
}

int pf_diff_check(const char *check, struct pf_err *err)
{
	return pf_gate_parse(check, err);
}

int pf_diff(const struct pf_capture *const *a, size_t a_count,
	    const struct pf_capture *const *b, size_t b_count,
	    const struct pf_diff_args *args, struct pf_diff *kept,
	    struct pf_doc *doc, bool *is_failed, struct pf_err *err)
{
	enum pf_diff_by by =
		args->by < 0 ? PF_BY_ALL : (enum pf_diff_by)args->by;
	struct pf_diff own = { 0 }, *out = kept ? kept : &own;
	struct pf_diff_run d = { .args = args, .out = out };
	int rc;

	*is_failed = false;
	out->args = *args;
	pf_intern_init(&d.texts);
	pf_side_pool(&d.a, &d.texts, a, a_count, by);
	pf_side_pool(&d.b, &d.texts, b, b_count, by);
	rc = check_sides(&d, err);
	if (!rc)
		rc = pf_match(&d.texts, &d.a, &d.b, by, &d.pairs, err);
	if (!rc)
		rc = answer(&d, doc, is_failed, err);
	free(d.names);
	free(d.rows);
	free(d.kept);
	pf_pairs_release(&d.pairs);
	pf_side_release(&d.a);
	pf_side_release(&d.b);
	pf_intern_release(&d.texts);
	pf_diff_release(&own);
	return rc;
}
