/* SPDX-License-Identifier: MIT */
/*
 * Every table of the document is shown, in the columns below; what the
 * columns are called and mean is the document's own.
 */
#include "config.h"

#include "page/diff_page.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/time/steps.h"
#include "base/path.h"
#include "events/gpu.h"
#include "events/names.h"
#include "page/html.h"
#include "show/escape.h"

/* The top of the page of a comparison; each appends HTML. */

/* What the page is of; all borrowed. */
struct pf_diff_view {
	const struct pf_diff *diff;
	const struct pf_doc *doc;       /* of it: its sentences and tables */
	const struct pf_redact *redact; /* for texts of diff, or NULL */
};

#define REASONS 4

static void add_text(struct pf_buf *out, const struct pf_diff_view *v,
		     const char *text)
{
	PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 };

	if (!v->redact || !text) {
		pf_html_text(out, text);
		return;
	}
	pf_redact_text(v->redact, text, strlen(text), &shown);
	pf_escape_html(out, shown.data, shown.len);
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

/* "a.json → b.json". */
static void diff_head_title(struct pf_buf *out, const struct pf_diff_view *v)
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

/* Both sides, what they have in common, and what not. */
static void diff_head_facts(struct pf_buf *out, const struct pf_diff_view *v)
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

/* The class with the largest change that was not taken yet; -1: none. */
static int next_class(const struct pf_diff *diff, const bool *is_taken)
{
	int64_t best_ns = 0;
	int best = -1;

	for (int i = 0; i < PF_STEP_CLASSES; i++) {
		int64_t ns = llabs(diff->classes[i].ns.delta);

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
	pf_buf_adds(out, ", the whole change of the mean</ul>\n");
	if (diff->two_changes) {
		pf_buf_adds(out, "<p>Two numbers of one change: ");
		pf_html_prose(out, diff->two_changes,
			      strlen(diff->two_changes));
		pf_buf_adds(out, ".</p>\n");
	}
}

/* The finding, and what it consists of: parts that add up to it. */
static void diff_head_verdict(struct pf_buf *out, const struct pf_diff_view *v)
{
	const struct pf_diff *diff = v->diff;
	const struct pf_doc *doc = v->doc;
	const char *finding = pf_doc_find_finding(doc);
	bool is_slower = diff->verdict == PF_SLOWER ||
			 diff->verdict == PF_LIKELY_SLOWER ||
			 diff->verdict == PF_PARTLY_SLOWER;
	bool is_judged = diff->verdict != PF_WITHHELD;

	pf_buf_adds(out, "<ol class=verdicts>\n");
	for (size_t i = 0; i < doc->failed_count; i++) {
		pf_buf_adds(out, "<li class=severe><p>");
		pf_html_prose(out, doc->notes[i], strlen(doc->notes[i]));
		pf_buf_adds(out, ".</p>\n");
	}
	pf_buf_addf(out, "<li class=%s><p>", is_slower ? "severe" : "note");
	pf_html_prose(out, finding, strlen(finding));
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

#define TILE(...) PF_FIELD(struct tiles, __VA_ARGS__)
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

static void diff_head_tiles(struct pf_buf *out, const struct pf_html_page *page,
			    const struct pf_diff *diff)
{
	const struct tiles tiles = find_tiles(diff);

	for (size_t i = 0; i < PF_LEN(tile_fields); i++) {
		const struct pf_cell cell =
			pf_field_cell(&tile_fields[i], &tiles);

		if (cell.type != PF_CELL_NULL)
			pf_html_tile(out, page, &tile_fields[i].col, &cell,
				     NULL);
	}
}

/* The document takes the place of a part. */
#define PART PF_PART_INFO

/* ---- which rows go where ---- */

#define SAME_SHARE 0.001 /* of a step of A: less is no change */

static bool is_single(const struct pf_table *t, size_t row)
{
	const char *match = pf_table_text_at(t, row, "match");

	return match && (!strcmp(match, "added") || !strcmp(match, "removed"));
}

static bool is_same(const struct pf_table *t, size_t row)
{
	double share = pf_table_real_at(t, row, "step_share");

	return !is_single(t, row) && share < SAME_SHARE &&
	       share > -SAME_SHARE &&
	       pf_table_real_at(t, row, "a_count") ==
		       pf_table_real_at(t, row, "b_count");
}

static bool is_more(const struct pf_table *t, size_t row)
{
	return !is_single(t, row) && !is_same(t, row) &&
	       pf_table_int_at(t, row, "delta_ns") > 0;
}

static bool is_less(const struct pf_table *t, size_t row)
{
	return !is_single(t, row) && !is_same(t, row) &&
	       pf_table_int_at(t, row, "delta_ns") <= 0;
}

static bool is_other_count(const struct pf_table *t, size_t row)
{
	/* or not known whether */
	return !pf_table_at(t, row, "delta") ||
	       pf_table_real_at(t, row, "delta") != 0;
}

static bool is_same_count(const struct pf_table *t, size_t row)
{
	return !is_other_count(t, row);
}

static const char structure_cols[] =
	"title=Per step; a; b; delta; delta_share; a_range; b_range";

static const char row_cols[] =
	"key; a_ns; b_ns; delta_ns; delta_share; step_share=Of a step; "
	"count_effect_ns; duration_effect_ns; a_count=Calls A; b_count=Calls "
	"B; each_delta_ns=Each; match; op";

#define TABLES_MAX 3

static const struct section {
	const char *id, *title;
	struct pf_html_table tables[TABLES_MAX];
	const char *none; /* said if there are no rows; NULL: no section */
	bool is_folded;
} sections[] = {
	{ "structure",
	  "Structure",
	  { TABLE("counts", "Counts per step that changed", PART, "structure",
		  40, structure_cols, .is_wanted = is_other_count),
	    TABLE("changes", "What is new, gone or another", PART, "changes",
		  150, "change; what; a=A per step; b=B per step") },
	  "Nothing changed: all counts per step are equal.",
	  false },
	{ "work",
	  "GPU work",
	  { TABLE("rows-more", "What takes more time, per step", PART, "rows",
		  80, row_cols, .is_wanted = is_more),
	    TABLE("rows-less", "What takes less time, per step", PART, "rows",
		  80, row_cols, .is_wanted = is_less),
	    TABLE("rows-only", "What only one side has, per step", PART, "rows",
		  40,
		  "key; a_ns; b_ns; step_share=Of a step; a_count=Calls A; "
		  "b_count=Calls B; match=Added or removed; op",
		  .is_wanted = is_single) },
	  NULL,
	  false },
	{ "path",
	  "Critical path",
	  { TABLE("path-parts", "What it is made of, per step", PART, "path",
		  40, "category; a_ns; b_ns; delta_ns; delta_share") },
	  NULL,
	  false },
	{ "try",
	  "What to try",
	  { TABLE("advice", "What is done, new and open, per step", PART,
		  "advice", 40,
		  "change; id; title; a_at_most_ns; a_share; "
		  "b_at_most_ns; b_share; reason") },
	  NULL,
	  false },
	{ "idle",
	  "Idle time",
	  { TABLE("causes", "By cause, per step", PART, "idle", 20,
		  "cause; a_ns; b_ns; delta_ns; delta_share"),
	    TABLE("sites", "What holds it, per step", PART, "idle_sites", 100,
		  "culprit; op=In operator; cause; a_ns; b_ns; delta_ns; "
		  "delta_share; frame") },
	  NULL,
	  false },
	{ "syncs",
	  "Synchronizations",
	  { TABLE("sync-sites", "Calls that block the host, per step", PART,
		  "sync_sites", 100,
		  "call; op; a_count=Calls A; b_count=Calls B; "
		  "a_blocked_ns=Blocked A; b_blocked_ns=Blocked B; "
		  "delta_blocked_ns=Change; delta_blocked_share; a_idle_ns=GPU "
		  "idle A; b_idle_ns=GPU idle B; frame") },
	  NULL,
	  false },
	{ "ops",
	  "Operators",
	  { TABLE("op-rows", "Operators and calls on the CPU, per step", PART,
		  "ops", 150,
		  "name=Operator or call; kind; a_count=Calls A; b_count=Calls "
		  "B; a_self_ns=Self A; b_self_ns=Self B; "
		  "delta_self_ns=Change; delta_self_share; a_ns=Total A; "
		  "b_ns=Total B; match") },
	  NULL,
	  false },
	{ "memory",
	  "Memory",
	  { TABLE("bytes", "Memory, and what is copied per step", PART,
		  "memory", 20,
		  "what=Memory; a_bytes; b_bytes; delta_bytes; delta_share") },
	  NULL,
	  false },
	{ "both",
	  "Captures",
	  { TABLE("captures", "Time of steps", PART, "captures", 40,
		  "side; capture; steps; cut_off=Left out; mean_ns; p50_ns; "
		  "min_ns=Shortest; max_ns=Longest"),
	    TABLE("comparability", "What both sides have in common", PART,
		  "comparability", 40, "check; result; a; b") },
	  NULL,
	  false },
	{ "unchanged",
	  "Unchanged",
	  { TABLE("counts-same", "Counts per step that are equal", PART,
		  "structure", 40, structure_cols, .is_wanted = is_same_count),
	    TABLE("rows-same",
		  "GPU work with as many calls, and a change below 0.1 % of a "
		  "step",
		  PART, "rows", 100, row_cols, .is_wanted = is_same) },
	  NULL,
	  true },
};

#define SECTIONS (PF_LEN(sections))

/* ---- from A to B ---- */

struct scale {
	int64_t low, high;
};

static double at(const struct scale *s, int64_t ns)
{
	return 100.0 * (double)(ns - s->low) / (double)(s->high - s->low);
}

/* A bar from one value to another. */
static void add_bar(struct pf_buf *out, const struct scale *s, int64_t from,
		    int64_t to, const char *colour)
{
	double a = at(s, from < to ? from : to);
	double b = at(s, from < to ? to : from);

	pf_buf_addf(out,
		    "<td><svg class=fall viewBox=\"0 0 100 10\" "
		    "preserveAspectRatio=none aria-hidden=true><rect x=\"%.2f\""
		    " width=\"%.2f\" height=\"10\" fill=\"%s\"/></svg>",
		    a, b - a < 0.3 ? 0.3 : b - a, colour);
}

static struct scale find_scale(const struct pf_diff *diff)
{
	int64_t a = diff->a_ns, b = diff->b_ns, now = a;
	struct scale s = { a < b ? a : b, a < b ? b : a };

	for (size_t i = 0; i < PF_STEP_CLASSES; i++) {
		now += diff->classes[i].ns.delta;
		PF_AT_MOST(s.low, now);
		PF_AT_LEAST(s.high, now);
	}
	/* so that bars of the whole are seen, but changes fill the picture */
	s.low -= (s.high - s.low) / 4;
	PF_AT_LEAST(s.low, 0);
	if (s.high <= s.low)
		s.high = s.low + 1;
	return s;
}

static void add_cells(struct pf_buf *out, const struct pf_both *ns)
{
	const int64_t cells[] = { ns->a, ns->b, ns->delta };

	for (size_t k = 0; k < 3; k++) {
		pf_buf_addf(out, "<td data-v=%" PRId64 ">%s", cells[k],
			    k == 2 && cells[k] > 0 ? "+" : "");
		pf_figure_ns(out, cells[k]);
	}
}

static void add_waterfall(struct pf_buf *out, const struct pf_html_page *page,
			  const struct pf_diff *diff)
{
	struct scale s = find_scale(diff);
	int64_t now = diff->a_ns;

	pf_buf_addf(out,
		    "<div class=t><table id=waterfall><caption class=h>Time of "
		    "%s by class, before and after</caption><thead><tr>",
		    pf_diff_is_of_captures(diff) ? "the captures" : "a step");
	pf_buf_adds(out, "<th scope=col data-k=class>Class</th>"
			 "<th scope=col class=n data-k=a_ns>A</th>"
			 "<th scope=col class=n data-k=b_ns>B</th>"
			 "<th scope=col class=n data-k=delta_ns>Change</th>"
			 "<th scope=col data-k=verdict>Verdict</th>"
			 "<th scope=col>From A to B</th></tr></thead>\n"
			 "<tbody>");
	for (size_t i = 0; i <= PF_STEP_CLASSES; i++) {
		const struct pf_diff_class *c = &diff->classes[i];
		int64_t delta = c->ns.delta;

		pf_buf_adds(out, "<tr><th scope=row>");
		pf_html_text(out, c->name);
		add_cells(out, &c->ns);
		pf_buf_adds(out, "<td>");
		if (c->verdict)
			pf_html_word(out, page, "verdict", c->verdict,
				     strlen(c->verdict));
		if (i == PF_STEP_CLASSES)
			add_bar(out, &s, s.low, diff->b_ns, "#3f84c8");
		else if (!delta)
			pf_buf_adds(out, "<td>");
		else
			add_bar(out, &s, now, now + delta,
				delta > 0 ? "#c75d68" : "#3f9a4a");
		now += delta;
		pf_buf_addc(out, '\n');
	}
	pf_buf_adds(out, "</tbody></table></div>\n");
}

/* ---- the page ---- */

/* Titles are of steps: "Counts per step that are equal". */
static const char *title_of(struct pf_buf *out, const struct pf_diff *diff,
			    const char *title)
{
	const char *at = title ? strstr(title, "step") : NULL;

	if (!at || !pf_diff_is_of_captures(diff))
		return title;
	pf_buf_clear(out);
	pf_buf_addf(out, "%.*scapture%s", (int)(at - title), title,
		    at + strlen("step"));
	return out->data;
}

static void add_sections(struct pf_buf *out, struct pf_buf *nav,
			 const struct pf_html_page *page,
			 const struct pf_diff *diff)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	for (size_t i = 0; i < SECTIONS; i++) {
		const struct section *s = &sections[i];
		size_t rows = 0;

		for (size_t k = 0; k < TABLES_MAX && s->tables[k].id; k++)
			rows += pf_html_count(page->parts, &s->tables[k]);
		if (!rows && !s->none)
			continue;
		pf_buf_addf(nav, "<li><a href=\"#%s\">%s</a>\n", s->id,
			    s->title);
		pf_buf_addf(out, "<section id=%s>\n<h2>%s</h2>\n", s->id,
			    s->title);
		if (!rows)
			pf_buf_addf(out, "<p>%s</p>\n",
				    title_of(&text, diff, s->none));
		if (s->is_folded)
			pf_buf_addf(out, "<details><summary>%zu rows</summary>",
				    rows);
		for (size_t k = 0; k < TABLES_MAX && s->tables[k].id; k++) {
			struct pf_html_table t = s->tables[k];

			t.caption = title_of(&text, diff, t.caption);
			pf_html_table(out, page, &t);
		}
		pf_buf_addf(out, "%s</section>\n",
			    s->is_folded ? "</details>\n" : "");
	}
}

static void add_method(struct pf_buf *out, const struct pf_doc *doc,
		       const char *command)
{
	static const char *const words[] = {
		"Figures are means over the full steps of each side, steps "
		"that are cut off left aside, or of the whole capture if it "
		"has no steps. Means of parts are rounded so that they add up "
		"to the mean of the whole: in the table of classes A, B and "
		"the change add up exactly.",
		"A step's time goes to the first of these classes that is "
		"active: kernel, copy, memset, comm, runtime, data, cpu, "
		"other.",
		"A change of GPU work is split into more of it, "
		"(n_B − n_A) × m_A, and slower "
		"each, n_B × (m_B − m_A), with "
		"n the number per step and m the mean duration.",
		"GPU work is matched by the first rule that fits: exact "
		"(place, operator, shapes, kernel, role of the stream), "
		"stream, shape, position (another kernel at the same place), "
		"family (kernels that compute the same), group (all that is "
		"left under one path); the rest is added or removed.",
		"Times are not judged if the GPUs, their number, the world "
		"size or more than a tenth of the shapes (by GPU time) "
		"differ, or if there are no steps.",
		"What is judged is the shift (Hodges–Lehmann) of the steps of "
		"B against those of A with its interval, leading warm-up "
		"steps left out on both sides. Steps that overlap are no "
		"clear change; steps that are apart differ as captures of one "
		"program do up to 15&nbsp;% of the longer step, and more than "
		"that is likely a change. With 4 and more captures per side an "
		"exact Mann–Whitney test of their median steps decides "
		"(p &lt; 0.05).",
	};

	for (size_t i = 0; i < PF_LEN(words); i++)
		pf_buf_addf(out, "<p>%s</p>\n", words[i]);
	pf_buf_adds(out, "<p>Every figure is one of <code>");
	pf_html_text(out, command);
	pf_buf_adds(out, " --format json</code>.</p>\n");
	for (size_t i = doc->failed_count; i < doc->note_count; i++) {
		pf_buf_adds(out, "<p class=note>");
		pf_html_prose(out, doc->notes[i], strlen(doc->notes[i]));
		pf_buf_adds(out, ".</p>\n");
	}
}

int pf_diff_page(const struct pf_diff *diff, const struct pf_doc *doc,
		 const struct pf_redact *redact, const char *command,
		 const struct pf_page_args *args,
		 struct pf_timelines *timelines, struct pf_buf *out,
		 struct pf_err *err)
{
	const struct pf_diff_view view = { diff, doc, redact };
	PF_AUTO(pf_fill_release) struct pf_skeleton s = { 0 };
	struct pf_parts parts = { 0 };
	PF_AUTO(pf_titles_release) struct pf_titles titles = { 0 };
	struct pf_html_page page = { .parts = &parts,
				     .command = command,
				     .source_url = args->source_url,
				     .titles = &titles };

	PF_TRY(pf_titles_init(&titles, err));
	parts.doc[PART] = *doc; /* borrowed */
	diff_head_title(&s.title, &view);
	diff_head_facts(&s.header, &view);
	pf_buf_adds(&s.verdicts_title, "Verdict");
	diff_head_verdict(&s.verdicts, &view);
	diff_head_tiles(&s.tiles, &page, diff);
	pf_buf_adds(&s.breakdown_title, "From A to B");
	add_waterfall(&s.breakdown, &page, diff);
	add_sections(&s.sections, &s.nav, &page, diff);
	pf_titles_list(&titles, &s.method);
	add_method(&s.method, doc, command);
	PF_TRY(pf_timeline_html(timelines,
				args->max_html_bytes - pf_fill_bytes(&s),
				&s.timeline, &s.data, err));
	return pf_fill(&s, out, err);
}
