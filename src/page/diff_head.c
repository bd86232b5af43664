/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/steps.h"
#include "base/path.h"
#include "events/gpu.h"
#include "events/names.h"
#include "page/diff_head.h"
#include "page/figure.h"
#include "page/html.h"
#include "show/find.h"
#include "show/rows.h"

#define REASONS 4

static void add_text(struct pf_buf *out, const struct pf_diff_view *v,
		     const char *text)
{
	struct pf_buf shown = { 0 };

	if (!v->redact || !text) {
		pf_html_text(out, text);
		return;
	}
	pf_redact_text(v->redact, text, strlen(text), &shown);
	pf_html_bytes(out, shown.data, shown.len);
	pf_buf_release(&shown);
}

/* A side's only capture; NULL: it has several, "count". */
static const struct pf_diff_capture *find_only(const struct pf_diff *diff,
					       const char *side, size_t *count)
{
	const struct pf_diff_capture *only = NULL;

	*count = 0;
	for (size_t i = 0; i < diff->capture_count; i++) {
		if (strcmp(diff->captures[i].side, side) != 0)
			continue;
		only = &diff->captures[i];
		(*count)++;
	}
	return *count == 1 ? only : NULL;
}

/* "a.db", or "4 captures" of a side. */
static void add_side(struct pf_buf *out, const struct pf_diff_view *v,
		     const char *side)
{
	size_t count;
	const struct pf_diff_capture *only = find_only(v->diff, side, &count);

	if (only)
		add_text(out, v, pf_path_base(only->path));
	else
		pf_buf_addf(out, "%zu captures", count);
}

static void add_side_fact(struct pf_buf *out, const struct pf_diff_view *v,
			  const char *side)
{
	size_t count;
	const struct pf_diff_capture *only = find_only(v->diff, side, &count);

	add_side(out, v, side);
	if (!only || !only->xxh128)
		return;
	pf_buf_addc(out, ' ');
	pf_html_digest(out, only->xxh128);
}

void pf_diff_head_title(struct pf_buf *out, const struct pf_diff_view *v)
{
	add_side(out, v, "A");
	pf_buf_adds(out, " → ");
	add_side(out, v, "B");
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

/* A check as "H100" if both sides have it, or "A H100, B unknown". */
static void add_both(struct pf_buf *out, const struct pf_diff_view *v,
		     enum pf_diff_what check, const char *title)
{
	const struct pf_diff_check *c = &v->diff->checks[check];
	const char *a = is_text(c->a) ? c->a : NULL;
	const char *b = is_text(c->b) ? c->b : NULL;

	if (!a && !b)
		return;
	open_fact(out, title);
	if (a && b && !strcmp(a, b)) {
		add_text(out, v, a);
	} else {
		pf_buf_adds(out, "A ");
		add_text(out, v, a ? a : "unknown");
		pf_buf_adds(out, ", B ");
		add_text(out, v, b ? b : "unknown");
	}
	close_fact(out);
}

/* The checks of one result: "GPU, shapes". */
static void add_checks(struct pf_buf *out, const struct pf_diff *diff,
		       enum pf_diff_result result)
{
	size_t shown = 0;

	for (size_t i = 0; i < PF_CHECKS; i++) {
		if (diff->checks[i].is != result)
			continue;
		pf_buf_addf(out, "%s", shown++ ? ", " : "");
		pf_html_text(out, diff->checks[i].what);
	}
	if (!shown)
		pf_buf_adds(out, "nothing");
}

static void add_comparability(struct pf_buf *out, const struct pf_diff *diff)
{
	if (diff->is_comparable)
		pf_buf_adds(out, "<div><dt>Comparable</dt> <dd>yes");
	else
		pf_buf_adds(out, "<div class=severe><dt>Comparable</dt> <dd>"
				 "<strong>no</strong>");
	pf_buf_adds(out, "; equal: ");
	add_checks(out, diff, PF_DIFF_EQUAL);
	pf_buf_adds(out, "; different: ");
	add_checks(out, diff, PF_DIFF_DIFFERENT);
	pf_buf_adds(out, "; unknown: ");
	add_checks(out, diff, PF_DIFF_UNKNOWN);
	close_fact(out);
}

void pf_diff_head_facts(struct pf_buf *out, const struct pf_diff_view *v)
{
	open_fact(out, "A, before");
	add_side_fact(out, v, "A");
	close_fact(out);
	open_fact(out, "B, after");
	add_side_fact(out, v, "B");
	close_fact(out);
	add_both(out, v, PF_CHECK_GPU, "GPU");
	add_both(out, v, PF_CHECK_DEVICES, "GPUs at work");
	add_both(out, v, PF_CHECK_WORLD, "World size");
	add_both(out, v, PF_CHECK_VERSIONS, "Versions");
	add_both(out, v, PF_CHECK_STEPS, "Full steps");
	add_comparability(out, v->diff);
}

/* ---- the finding and its parts ---- */

/* What changed most in a class, in the class's direction. */
struct detail {
	const char *name; /* NULL: nothing is known of the class */
	int64_t delta_ns;
};

static void take_larger(struct detail *d, bool is_more, const char *name,
			int64_t delta_ns)
{
	if (is_more ? delta_ns > d->delta_ns : delta_ns < d->delta_ns)
		*d = (struct detail){ name, delta_ns };
}

static struct detail detail_of(const struct pf_diff *diff,
			       enum pf_step_class class, bool is_more)
{
	static const enum pf_gpu_class work[] = {
		[PF_STEP_KERNEL] = PF_GPU_COMPUTE,
		[PF_STEP_COPY] = PF_GPU_COPY,
		[PF_STEP_MEMSET] = PF_GPU_MEMSET,
		[PF_STEP_COMM] = PF_GPU_COMM,
	};
	struct detail d = { 0 };

	for (size_t i = 0; class <= PF_STEP_COMM && i < diff->row_count; i++) {
		const struct pf_diff_work *row = &diff->rows[i];
		const char *word = pf_gpu_class_name(work[class]);

		if (row->class_word && !strcmp(row->class_word, word))
			take_larger(&d, is_more, row->key, row->ns.delta);
	}
	for (size_t i = 0; class == PF_STEP_DATA && i < diff->idle_site_count;
	     i++)
		if (diff->idle_sites[i].why == PF_CAUSE_DATA)
			take_larger(&d, is_more, diff->idle_sites[i].name,
				    diff->idle_sites[i].ns.delta);
	for (size_t i = 0; class == PF_STEP_RUNTIME && i < diff->op_count; i++)
		if (diff->ops[i].is_call)
			take_larger(&d, is_more, diff->ops[i].name,
				    diff->ops[i].self_ns.delta);
	return d;
}

static void add_change(struct pf_buf *out, int64_t ns)
{
	pf_buf_addf(out, "<span data-v=%" PRId64 ">%s", ns, ns > 0 ? "+" : "");
	pf_figure_ns(out, ns);
	pf_buf_adds(out, "</span>");
}

static void add_detail(struct pf_buf *out, const struct pf_diff_view *v,
		       enum pf_step_class class, int64_t delta)
{
	const struct detail d = detail_of(v->diff, class, delta > 0);

	if (!d.delta_ns)
		return;
	pf_buf_adds(out, "; largest in it: ");
	add_text(out, v, d.name);
	pf_buf_adds(out, ", ");
	pf_figure_ns(out, d.delta_ns);
}

static int64_t size_of(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

/* The class with the largest change that was not taken yet; -1: none. */
static int next_class(const struct pf_diff *diff, const bool *is_taken)
{
	int64_t best_ns = 0;
	int best = -1;

	for (int i = 0; i < PF_STEP_CLASSES; i++) {
		int64_t ns = size_of(diff->classes[i].ns.delta);

		if (!is_taken[i] && ns > best_ns) {
			best = i;
			best_ns = ns;
		}
	}
	return best;
}

/* At most so many classes, and the rest: they add up to the change. */
static void add_reasons(struct pf_buf *out, const struct pf_diff_view *v)
{
	const struct pf_diff *diff = v->diff;
	bool is_taken[PF_STEP_CLASSES] = { false };
	int64_t delta = diff->b_ns - diff->a_ns, left = delta;

	if (!delta)
		return;
	pf_buf_adds(out, "<ul id=reasons>\n");
	for (int n = 0; n < REASONS; n++) {
		int class = next_class(diff, is_taken);
		int64_t ns;

		if (class < 0)
			break;
		is_taken[class] = true;
		ns = diff->classes[class].ns.delta;
		left -= ns;
		pf_buf_adds(out, "<li><b>");
		pf_buf_adds(out, diff->classes[class].name);
		pf_buf_adds(out, "</b> ");
		add_change(out, ns);
		add_detail(out, v, (enum pf_step_class) class, ns);
		pf_buf_addc(out, '\n');
	}
	if (next_class(diff, is_taken) >= 0) {
		pf_buf_adds(out, "<li>all other classes ");
		add_change(out, left);
		pf_buf_addc(out, '\n');
	}
	pf_buf_adds(out, "<li>together ");
	pf_figure_ns(out, delta);
	pf_buf_adds(out, ", the whole change</ul>\n");
}

void pf_diff_head_verdict(struct pf_buf *out, const struct pf_diff_view *v)
{
	const struct pf_diff *diff = v->diff;
	const struct pf_doc *doc = v->doc;
	bool is_slower =
		diff->verdict == PF_SLOWER || diff->verdict == PF_LIKELY_SLOWER;
	bool is_judged = diff->verdict != PF_WITHHELD;

	pf_buf_adds(out, "<ol class=verdicts>\n");
	for (size_t i = 0; i < doc->failed_count; i++) {
		pf_buf_adds(out, "<li class=severe><p>");
		pf_html_text(out, doc->notes[i]);
		pf_buf_adds(out, ".</p>\n");
	}
	pf_buf_addf(out, "<li class=%s><p>", is_slower ? "severe" : "note");
	pf_html_text(out, pf_doc_find_finding(doc));
	pf_buf_adds(out, ".</p>\n");
	if (is_judged)
		add_reasons(out, v);
	if (!diff->is_comparable)
		pf_buf_addf(out,
			    "<li class=warning><p><strong>Not comparable"
			    "</strong> %s: see <a href=\"#both\">what differs"
			    "</a>.</p>\n",
			    is_judged ? "times are judged all the same"
				      : "times are not judged");
	pf_buf_adds(out, "</ol>\n");
}

/* ---- key figures ---- */

struct tiles {
	int64_t median_a_ns, median_b_ns, shift_ns, delta_ns;
	double shift_share, delta_share;
};

#define TILE(member, title, kind)                                              \
	PF_FIELD(struct tiles, member, #member, title, kind)
static const struct pf_field tile_fields[] = {
	TILE(median_a_ns, "Median of A", PF_NS | PF_MAYBE),
	TILE(median_b_ns, "Median of B", PF_NS | PF_MAYBE),
	TILE(shift_ns, "Shift", PF_NS | PF_SIGNED | PF_MAYBE),
	TILE(shift_share, "Shift of A", PF_RATIO | PF_SIGNED),
	TILE(delta_ns, "Change of the mean", PF_NS | PF_SIGNED),
	TILE(delta_share, "Change of the mean of A", PF_RATIO | PF_SIGNED),
};

static struct tiles find_tiles(const struct pf_diff *diff)
{
	bool is_judged = diff->verdict != PF_WITHHELD;
	const struct pf_judged *j = &diff->total;
	int64_t delta = diff->b_ns - diff->a_ns;

	return (struct tiles){
		.median_a_ns = is_judged ? j->a_ns : PF_NO_INT,
		.median_b_ns = is_judged ? j->b_ns : PF_NO_INT,
		.shift_ns = is_judged ? j->rank.shift : PF_NO_INT,
		.delta_ns = delta,
		.shift_share =
			is_judged ? pf_ratio((double)j->rank.shift, j->a_ns)
				  : NAN,
		.delta_share = pf_ratio((double)delta, diff->a_ns),
	};
}

void pf_diff_head_tiles(struct pf_buf *out, const struct pf_diff_view *v)
{
	const struct tiles tiles = find_tiles(v->diff);

	for (size_t i = 0; i < sizeof(tile_fields) / sizeof(*tile_fields);
	     i++) {
		const struct pf_col *col = &tile_fields[i].col;
		const struct pf_cell cell =
			pf_field_cell(&tile_fields[i], &tiles);

		if (cell.type == PF_CELL_NULL)
			continue;
		pf_buf_adds(out, "<div><dt>");
		pf_html_text(out, col->title);
		pf_buf_addf(out, "</dt> <dd data-k=%s data-v=", col->key);
		pf_figure_exact(out, &cell);
		pf_buf_adds(out, "><b>");
		if (col->kind & PF_SIGNED && pf_cell_real(&cell) > 0)
			pf_buf_addc(out, '+');
		pf_figure_cell(out, &cell, col->kind);
		pf_buf_adds(out, "</b></dd></div>\n");
	}
}
