/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/steps.h"
#include "base/path.h"
#include "events/gpu.h"
#include "events/names.h"
#include "report/diff_head.h"
#include "report/figure.h"
#include "report/html.h"
#include "table/find.h"

#define REASONS 4

/* The row of a side's only capture; -1: it has several. */
static int64_t find_only(const struct pf_table *t, const char *side,
			 size_t *count)
{
	int64_t row = -1;

	*count = 0;
	for (size_t r = 0; r < pf_table_rows(t); r++) {
		const char *s = pf_table_text_at(t, r, "side");

		if (!s || strcmp(s, side) != 0)
			continue;
		row = (int64_t)r;
		(*count)++;
	}
	return *count == 1 ? row : -1;
}

/* "a.db", or "4 captures" of a side. */
static void add_side(struct pf_buf *out, const struct pf_doc *doc,
		     const char *side)
{
	const struct pf_table *t = pf_doc_find_table(doc, "captures");
	size_t count;
	int64_t row = find_only(t, side, &count);
	const char *path =
		row < 0 ? NULL : pf_table_text_at(t, (size_t)row, "capture");

	if (path)
		pf_html_text(out, pf_path_base(path));
	else
		pf_buf_addf(out, "%zu captures", count);
}

static void add_side_fact(struct pf_buf *out, const struct pf_doc *doc,
			  const char *side)
{
	const struct pf_table *t = pf_doc_find_table(doc, "captures");
	size_t count;
	int64_t row = find_only(t, side, &count);

	add_side(out, doc, side);
	if (row < 0 || !pf_table_text_at(t, (size_t)row, "xxh128"))
		return;
	pf_buf_addc(out, ' ');
	pf_html_digest(out, pf_table_text_at(t, (size_t)row, "xxh128"));
}

void pf_diff_head_title(struct pf_buf *out, const struct pf_doc *doc)
{
	add_side(out, doc, "A");
	pf_buf_adds(out, " → ");
	add_side(out, doc, "B");
}

/* ---- facts ---- */

static void open_fact(struct pf_buf *out, const char *title)
{
	pf_buf_addf(out, "<div><dt>%s</dt> <dd>", title);
}

static void close_fact(struct pf_buf *out)
{
	pf_buf_adds(out, "</dd></div>\n");
}

static bool is_text(const char *s)
{
	return s && *s && strcmp(s, "-") != 0;
}

/* A check as "H100" if both sides have it, or "A H100, B -". */
static void add_both(struct pf_buf *out, const struct pf_doc *doc,
		     const char *check, const char *title)
{
	const struct pf_table *t = pf_doc_find_table(doc, "comparability");
	int64_t row = pf_table_find_row(t, "check", check);
	const char *a, *b;

	if (row < 0)
		return;
	a = pf_table_text_at(t, (size_t)row, "a");
	b = pf_table_text_at(t, (size_t)row, "b");
	if (!is_text(a) && !is_text(b))
		return;
	open_fact(out, title);
	if (is_text(a) && is_text(b) && !strcmp(a, b)) {
		pf_html_text(out, a);
	} else {
		pf_buf_adds(out, "A ");
		pf_html_text(out, is_text(a) ? a : "unknown");
		pf_buf_adds(out, ", B ");
		pf_html_text(out, is_text(b) ? b : "unknown");
	}
	close_fact(out);
}

/* The checks of one result: "GPU, shapes". */
static void add_checks(struct pf_buf *out, const struct pf_doc *doc,
		       const char *result)
{
	const struct pf_table *t = pf_doc_find_table(doc, "comparability");
	size_t shown = 0;

	for (size_t r = 0; r < pf_table_rows(t); r++) {
		const char *is = pf_table_text_at(t, r, "result");

		if (!is || strcmp(is, result) != 0)
			continue;
		pf_buf_addf(out, "%s", shown++ ? ", " : "");
		pf_html_text(out, pf_table_text_at(t, r, "check"));
	}
	if (!shown)
		pf_buf_adds(out, "nothing");
}

static bool is_comparable(const struct pf_doc *doc)
{
	const char *word = pf_doc_find_text(doc, "comparable");

	return word && !strcmp(word, "yes");
}

static void add_comparability(struct pf_buf *out, const struct pf_doc *doc)
{
	if (is_comparable(doc))
		pf_buf_adds(out, "<div><dt>Comparable</dt> <dd>yes");
	else
		pf_buf_adds(out, "<div class=severe><dt>Comparable</dt> <dd>"
				 "<strong>no</strong>");
	pf_buf_adds(out, "; equal: ");
	add_checks(out, doc, "equal");
	pf_buf_adds(out, "; different: ");
	add_checks(out, doc, "different");
	pf_buf_adds(out, "; unknown: ");
	add_checks(out, doc, "unknown");
	close_fact(out);
}

void pf_diff_head_facts(struct pf_buf *out, const struct pf_doc *doc)
{
	open_fact(out, "A, before");
	add_side_fact(out, doc, "A");
	close_fact(out);
	open_fact(out, "B, after");
	add_side_fact(out, doc, "B");
	close_fact(out);
	add_both(out, doc, "GPU", "GPU");
	add_both(out, doc, "GPUs at work", "GPUs at work");
	add_both(out, doc, "world size", "World size");
	add_both(out, doc, "versions", "Versions");
	add_both(out, doc, "full steps", "Full steps");
	add_comparability(out, doc);
}

/* ---- the finding and its parts ---- */

/* In which table, and in which rows of it, a class is told in detail. */
struct detail {
	const char *table, *key, *value, *name, *delta;
};

static struct detail detail_of(enum pf_step_class class)
{
	static const enum pf_gpu_class work[] = {
		[PF_STEP_KERNEL] = PF_GPU_COMPUTE,
		[PF_STEP_COPY] = PF_GPU_COPY,
		[PF_STEP_MEMSET] = PF_GPU_MEMSET,
		[PF_STEP_COMM] = PF_GPU_COMM,
	};

	if (class <= PF_STEP_COMM)
		return (struct detail){ "rows", "class",
					pf_gpu_class_name(work[class]), "key",
					"delta_ns" };
	if (class == PF_STEP_DATA)
		return (struct detail){ "idle_sites", "cause",
					pf_cause_name(PF_CAUSE_DATA), "culprit",
					"delta_ns" };
	if (class == PF_STEP_RUNTIME)
		return (struct detail){ "ops", "kind", "call", "name",
					"delta_self_ns" };
	return (struct detail){ 0 };
}

/* The row of a class that changed most in the class's direction, or -1. */
static int64_t find_detail(const struct pf_table *t, const struct detail *d,
			   bool is_more)
{
	int64_t best = -1, best_ns = 0;

	for (size_t r = 0; r < pf_table_rows(t); r++) {
		const char *value = pf_table_text_at(t, r, d->key);
		int64_t ns = pf_table_int_at(t, r, d->delta);

		if (!value || strcmp(value, d->value) != 0)
			continue;
		if (is_more ? ns > best_ns : ns < best_ns) {
			best = (int64_t)r;
			best_ns = ns;
		}
	}
	return best;
}

static void add_change(struct pf_buf *out, int64_t ns)
{
	pf_buf_addf(out, "<span data-v=%" PRId64 ">%s", ns, ns > 0 ? "+" : "");
	pf_figure_ns(out, ns);
	pf_buf_adds(out, "</span>");
}

static void add_detail(struct pf_buf *out, const struct pf_doc *doc,
		       enum pf_step_class class, int64_t delta)
{
	const struct detail d = detail_of(class);
	const struct pf_table *t =
		d.table ? pf_doc_find_table(doc, d.table) : NULL;
	int64_t row = find_detail(t, &d, delta > 0);

	if (row < 0 || doc->order.limit >= 0)
		return; /* or it was cut */
	pf_buf_adds(out, "; largest in it: ");
	pf_html_text(out, pf_table_text_at(t, (size_t)row, d.name));
	pf_buf_adds(out, ", ");
	pf_figure_ns(out, pf_table_int_at(t, (size_t)row, d.delta));
}

static int64_t size_of(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

/* The class with the largest change that was not taken yet; -1: none. */
static int64_t next_class(const struct pf_table *t, const bool *is_taken,
			  size_t classes)
{
	int64_t best = -1, best_ns = 0;

	for (size_t r = 0; r < classes; r++) {
		int64_t ns = size_of(pf_table_int_at(t, r, "delta_ns"));

		if (!is_taken[r] && ns > best_ns) {
			best = (int64_t)r;
			best_ns = ns;
		}
	}
	return best;
}

/* At most so many classes, and the rest: they add up to the change. */
static void add_reasons(struct pf_buf *out, const struct pf_doc *doc)
{
	const struct pf_table *t = pf_doc_find_table(doc, "waterfall");
	bool is_taken[PF_STEP_CLASSES] = { false };
	size_t classes = pf_table_rows(t) ? pf_table_rows(t) - 1 : 0;
	int64_t delta = pf_doc_find_int(doc, "delta_ns"), left = delta;

	if (!delta || classes != PF_STEP_CLASSES)
		return;
	pf_buf_adds(out, "<ul id=reasons>\n");
	for (int n = 0; n < REASONS; n++) {
		int64_t row = next_class(t, is_taken, classes), ns;

		if (row < 0)
			break;
		is_taken[row] = true;
		ns = pf_table_int_at(t, (size_t)row, "delta_ns");
		left -= ns;
		pf_buf_adds(out, "<li><b>");
		pf_buf_adds(out, pf_step_class_name((enum pf_step_class)row));
		pf_buf_adds(out, "</b> ");
		add_change(out, ns);
		add_detail(out, doc, (enum pf_step_class)row, ns);
		pf_buf_addc(out, '\n');
	}
	if (next_class(t, is_taken, classes) >= 0) {
		pf_buf_adds(out, "<li>all other classes ");
		add_change(out, left);
		pf_buf_addc(out, '\n');
	}
	pf_buf_adds(out, "<li>together ");
	pf_figure_ns(out, delta);
	pf_buf_adds(out, ", the whole change</ul>\n");
}

void pf_diff_head_verdict(struct pf_buf *out, const struct pf_doc *doc)
{
	const char *verdict = pf_doc_find_text(doc, "verdict");
	bool is_slower = verdict && (!strcmp(verdict, "slower") ||
				     !strcmp(verdict, "likely slower"));
	bool is_judged = verdict && strcmp(verdict, "withheld") != 0;

	pf_buf_adds(out, "<ol class=verdicts>\n");
	for (size_t i = 0; i < doc->failed_count; i++) {
		pf_buf_adds(out, "<li class=severe><p>");
		pf_html_finding(out, doc->notes[i]);
		pf_buf_adds(out, ".</p>\n");
	}
	pf_buf_addf(out, "<li class=%s><p>", is_slower ? "severe" : "note");
	pf_html_finding(out, pf_doc_find_finding(doc));
	pf_buf_adds(out, ".</p>\n");
	if (is_judged)
		add_reasons(out, doc);
	if (!is_comparable(doc))
		pf_buf_addf(out,
			    "<li class=warning><p><strong>Not comparable"
			    "</strong> %s: see <a href=\"#both\">what differs"
			    "</a>.</p>\n",
			    is_judged ? "times are judged all the same"
				      : "times are not judged");
	pf_buf_adds(out, "</ol>\n");
}

/* ---- key figures ---- */

void pf_diff_head_tiles(struct pf_buf *out, const struct pf_doc *doc)
{
	static const char *const keys[] = { "median_a_ns", "median_b_ns",
					    "shift_ns",    "shift_share",
					    "delta_ns",    "delta_share" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct pf_scalar *s = pf_doc_find(doc, keys[i]);

		if (!s || s->cell.type == PF_CELL_NULL)
			continue;
		pf_buf_adds(out, "<div><dt>");
		pf_html_text(out, s->col.title);
		pf_buf_addf(out, "</dt> <dd data-k=%s data-v=", s->col.key);
		pf_figure_exact(out, &s->cell);
		pf_buf_adds(out, "><b>");
		if (i > 1 && pf_cell_real(&s->cell) > 0)
			pf_buf_addc(out, '+');
		pf_figure_cell(out, &s->cell, s->col.kind);
		pf_buf_adds(out, "</b></dd></div>\n");
	}
}
