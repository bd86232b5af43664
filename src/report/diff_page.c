/* SPDX-License-Identifier: MIT */
/*
 * Every table of the document is shown, in the columns below; what the
 * columns are called and mean is the document's own.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "report/diff_page.h"
#include "report/figure.h"
#include "report/fill.h"
#include "report/html.h"
#include "table/find.h"

/* The document takes the place of a part. */
#define PART PF_PART_INFO

#define COL(key)                                                               \
	{                                                                      \
		key, NULL, PF_HTML_PLAIN, NULL                                 \
	}
#define COL_AS(key, title)                                                     \
	{                                                                      \
		key, title, PF_HTML_PLAIN, NULL                                \
	}
#define KERNEL(key, title)                                                     \
	{                                                                      \
		key, title, PF_HTML_KERNEL, NULL                               \
	}
#define FRAME(key)                                                             \
	{                                                                      \
		key, "Line or annotation", PF_HTML_FRAME, NULL                 \
	}
#define END                                                                    \
	{                                                                      \
		NULL, NULL, PF_HTML_PLAIN, NULL                                \
	}

static const struct pf_html_col structure_cols[] = { COL_AS("what", "Per step"),
						     COL_AS("a", "A"),
						     COL_AS("b", "B"),
						     COL_AS("delta", "Change"),
						     COL("a_range"),
						     COL("b_range"),
						     END };

static const struct pf_html_col change_cols[] = { COL("change"), COL("what"),
						  COL_AS("a", "A per step"),
						  COL_AS("b", "B per step"),
						  END };

static const struct pf_html_col row_cols[] = {
	KERNEL("key", "GPU work"),
	COL_AS("a_ns", "A"),
	COL_AS("b_ns", "B"),
	COL_AS("delta_ns", "Change"),
	COL_AS("count_effect_ns", "More of it"),
	COL_AS("duration_effect_ns", "Slower each"),
	COL_AS("a_count", "Calls A"),
	COL_AS("b_count", "Calls B"),
	COL("match"),
	COL("op"),
	END
};

static const struct pf_html_col idle_cols[] = {
	COL("cause"), COL_AS("a_ns", "A"), COL_AS("b_ns", "B"),
	COL_AS("delta_ns", "Change"), END
};

static const struct pf_html_col site_cols[] = { COL("culprit"),
						COL("cause"),
						COL_AS("a_ns", "A"),
						COL_AS("b_ns", "B"),
						COL_AS("delta_ns", "Change"),
						FRAME("frame"),
						END };

static const struct pf_html_col sync_cols[] = {
	COL("call"),
	COL("op"),
	COL_AS("a_count", "Calls A"),
	COL_AS("b_count", "Calls B"),
	COL_AS("a_blocked_ns", "Blocked A"),
	COL_AS("b_blocked_ns", "Blocked B"),
	COL_AS("delta_blocked_ns", "Change"),
	COL_AS("a_idle_ns", "GPU idle A"),
	COL_AS("b_idle_ns", "GPU idle B"),
	FRAME("frame"),
	END
};

static const struct pf_html_col op_cols[] = { COL_AS("name",
						     "Operator or call"),
					      COL("kind"),
					      COL_AS("a_count", "Calls A"),
					      COL_AS("b_count", "Calls B"),
					      COL_AS("a_self_ns", "Self A"),
					      COL_AS("b_self_ns", "Self B"),
					      COL_AS("delta_self_ns", "Change"),
					      COL_AS("a_ns", "Total A"),
					      COL_AS("b_ns", "Total B"),
					      COL("match"),
					      END };

static const struct pf_html_col memory_cols[] = {
	COL_AS("what", "Memory"), COL_AS("a_bytes", "A"),
	COL_AS("b_bytes", "B"), COL_AS("delta_bytes", "Change"), END
};

static const struct pf_html_col capture_cols[] = { COL("side"),
						   COL("capture"),
						   COL("steps"),
						   COL_AS("cut_off",
							  "Left out"),
						   COL_AS("mean_ns", "Mean"),
						   COL_AS("p50_ns", "Median"),
						   COL_AS("min_ns", "Shortest"),
						   COL_AS("max_ns", "Longest"),
						   END };

static const struct pf_html_col check_cols[] = { COL("check"), COL("result"),
						 COL_AS("a", "A"),
						 COL_AS("b", "B"), END };

#define TABLES_MAX 2

static const struct section {
	const char *id, *title;
	struct pf_html_table tables[TABLES_MAX];
} sections[] = {
	{ "structure",
	  "Structure",
	  { { "counts", "Counts per step", PART, "structure", structure_cols,
	      40, NULL, NULL },
	    { "changes", "What is new, gone or another", PART, "changes",
	      change_cols, 150, NULL, NULL } } },
	{ "work",
	  "GPU work",
	  { { "rows", "What takes more or less time, per step", PART, "rows",
	      row_cols, 200, NULL, NULL } } },
	{ "idle",
	  "Idle time",
	  { { "causes", "By cause, per step", PART, "idle", idle_cols, 20, NULL,
	      NULL },
	    { "sites", "What holds it, per step", PART, "idle_sites", site_cols,
	      100, NULL, NULL } } },
	{ "syncs",
	  "Synchronizations",
	  { { "sync-sites", "Calls that wait for the GPU, per step", PART,
	      "sync_sites", sync_cols, 100, NULL, NULL } } },
	{ "ops",
	  "Operators",
	  { { "op-rows", "Operators and calls on the CPU, per step", PART,
	      "ops", op_cols, 150, NULL, NULL } } },
	{ "memory",
	  "Memory",
	  { { "bytes", "Memory, and what is copied per step", PART, "memory",
	      memory_cols, 20, NULL, NULL } } },
	{ "both",
	  "Captures",
	  { { "captures", "Time of steps", PART, "captures", capture_cols, 40,
	      NULL, NULL },
	    { "comparability", "What both sides have in common", PART,
	      "comparability", check_cols, 40, NULL, NULL } } },
};

#define SECTIONS (sizeof(sections) / sizeof(*sections))

/* ---- header and verdict ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "a.db", or "4 captures" of a side. */
static void add_side(struct pf_buf *out, const struct pf_doc *doc,
		     const char *side)
{
	const struct pf_table *t = pf_doc_find_table(doc, "captures");
	const char *path = NULL;
	size_t count = 0;

	for (size_t r = 0; r < pf_table_rows(t); r++) {
		const char *s = pf_table_text_at(t, r, "side");

		if (!s || strcmp(s, side) != 0)
			continue;
		path = pf_table_text_at(t, r, "capture");
		count++;
	}
	if (count == 1 && path)
		pf_html_text(out, base_name(path));
	else
		pf_buf_addf(out, "%zu captures", count);
}

static void add_header(struct pf_buf *out, const struct pf_doc *doc)
{
	const struct pf_table *t = pf_doc_find_table(doc, "comparability");
	size_t other = 0;

	pf_buf_adds(out, "<div><dt>A, before</dt> <dd>");
	add_side(out, doc, "A");
	pf_buf_adds(out, "</dd></div>\n<div><dt>B, after</dt> <dd>");
	add_side(out, doc, "B");
	pf_buf_adds(out, "</dd></div>\n<div><dt>Different</dt> <dd>");
	for (size_t r = 0; r < pf_table_rows(t); r++) {
		const char *result = pf_table_text_at(t, r, "result");

		if (!result || strcmp(result, "different") != 0)
			continue;
		pf_buf_adds(out, other++ ? ", " : "");
		pf_html_text(out, pf_table_text_at(t, r, "check"));
	}
	pf_buf_adds(out, other ? "</dd></div>\n" : "nothing</dd></div>\n");
}

static void add_verdict(struct pf_buf *out, const struct pf_doc *doc)
{
	const char *verdict = pf_doc_find_text(doc, "verdict");
	const char *comparable = pf_doc_find_text(doc, "comparable");
	const char *finding = pf_doc_find_text(doc, PF_DOC_FINDING);
	bool is_slower = verdict && !strcmp(verdict, "slower");

	pf_buf_addf(out, "<ol class=verdicts>\n<li class=%s><p>",
		    is_slower ? "severe" : "note");
	pf_html_text(out, finding);
	pf_buf_adds(out, ".</p>\n");
	if (comparable && strcmp(comparable, "yes") != 0)
		pf_buf_adds(out, "<li class=warning><p><strong>Not comparable"
				 "</strong> times are not judged: see "
				 "<a href=\"#both\">what differs</a>.</p>\n");
	pf_buf_adds(out, "</ol>\n");
}

static void add_tiles(struct pf_buf *out, const struct pf_doc *doc)
{
	static const char *const keys[] = { "step_a_ns", "step_b_ns",
					    "delta_ns", "delta_share",
					    "noise_ns" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct pf_scalar *s = pf_doc_find(doc, keys[i]);

		if (!s || s->cell.type == PF_CELL_NULL)
			continue;
		pf_buf_adds(out, "<div><dt>");
		pf_html_text(out, s->col.title);
		pf_buf_addf(out, "</dt> <dd data-k=%s data-v=", s->col.key);
		pf_figure_exact(out, &s->cell);
		pf_buf_adds(out, "><b>");
		if (!strncmp(keys[i], "delta", 5) && pf_cell_real(&s->cell) > 0)
			pf_buf_addc(out, '+');
		pf_figure_cell(out, &s->cell, s->col.kind);
		pf_buf_adds(out, "</b></dd></div>\n");
	}
}

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

static struct scale find_scale(const struct pf_table *t, int64_t a, int64_t b)
{
	struct scale s = { a < b ? a : b, a < b ? b : a };
	int64_t now = a;

	for (size_t r = 0; r + 1 < pf_table_rows(t); r++) {
		now += pf_table_int_at(t, r, "delta_ns");
		if (now < s.low)
			s.low = now;
		if (now > s.high)
			s.high = now;
	}
	/* so that bars of the whole are seen, but changes fill the picture */
	s.low -= (s.high - s.low) / 4;
	if (s.low < 0)
		s.low = 0;
	if (s.high <= s.low)
		s.high = s.low + 1;
	return s;
}

static void add_cells(struct pf_buf *out, const struct pf_table *t, size_t row)
{
	static const char *const keys[] = { "a_ns", "b_ns", "delta_ns" };

	for (size_t k = 0; k < 3; k++) {
		int64_t ns = pf_table_int_at(t, row, keys[k]);

		pf_buf_addf(out, "<td data-v=%" PRId64 ">%s", ns,
			    k == 2 && ns > 0 ? "+" : "");
		pf_figure_ns(out, ns);
	}
}

static void add_waterfall(struct pf_buf *out, const struct pf_doc *doc)
{
	const struct pf_table *t = pf_doc_find_table(doc, "waterfall");
	int64_t now = pf_doc_find_int(doc, "step_a_ns");
	int64_t end = pf_doc_find_int(doc, "step_b_ns");
	struct scale s = find_scale(t, now, end);

	pf_buf_adds(out,
		    "<div class=t><table id=waterfall><caption class=h>Time of "
		    "a step by class, before and after</caption><thead><tr>"
		    "<th scope=col data-k=class>Class</th>"
		    "<th scope=col class=n data-k=a_ns>A</th>"
		    "<th scope=col class=n data-k=b_ns>B</th>"
		    "<th scope=col class=n data-k=delta_ns>Change</th>"
		    "<th scope=col>From A to B</th></tr></thead>\n<tbody>");
	for (size_t r = 0; r < pf_table_rows(t); r++) {
		int64_t delta = pf_table_int_at(t, r, "delta_ns");
		const char *class = pf_table_text_at(t, r, "class");
		bool is_sum = class && !strcmp(class, "sum");

		pf_buf_adds(out, "<tr><th scope=row>");
		pf_html_text(out, class);
		add_cells(out, t, r);
		if (is_sum)
			add_bar(out, &s, s.low, end, "#3f84c8");
		else if (!delta)
			pf_buf_adds(out, "<td>");
		else
			add_bar(out, &s, now, now + delta,
				delta > 0 ? "#c75d68" : "#3f9a4a");
		if (!is_sum)
			now += delta;
		pf_buf_addc(out, '\n');
	}
	pf_buf_adds(out, "</tbody></table></div>\n");
}

/* ---- the page ---- */

static void add_sections(struct pf_buf *out, struct pf_buf *nav,
			 const struct pf_html_page *page)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		const struct section *s = &sections[i];
		size_t rows = 0;

		for (size_t k = 0; k < TABLES_MAX && s->tables[k].id; k++)
			rows += pf_html_count(page->parts, &s->tables[k]);
		if (!rows)
			continue;
		pf_buf_addf(nav, "<li><a href=\"#%s\">%s</a>\n", s->id,
			    s->title);
		pf_buf_addf(out, "<section id=%s>\n<h2>%s</h2>\n", s->id,
			    s->title);
		for (size_t k = 0; k < TABLES_MAX && s->tables[k].id; k++)
			pf_html_table(out, page, &s->tables[k]);
		pf_buf_adds(out, "</section>\n");
	}
}

static void add_method(struct pf_buf *out, const struct pf_doc *doc,
		       const char *command)
{
	pf_buf_adds(out, "<p>Every figure is one of <code>");
	pf_html_text(out, command);
	pf_buf_adds(out, " --format json</code>.</p>\n");
	for (size_t i = 0; i < doc->note_count; i++) {
		pf_buf_adds(out, "<p class=note>");
		pf_html_text(out, doc->notes[i]);
		pf_buf_adds(out, ".</p>\n");
	}
}

int pf_diff_page(const struct pf_doc *doc, const char *command,
		 const struct pf_page_args *args,
		 struct pf_timelines *timelines, struct pf_buf *out,
		 struct pf_err *err)
{
	enum {
		TITLE,
		HEADER,
		NAV,
		VERDICTS,
		TILES,
		BREAKDOWN,
		BODY,
		TIMELINE,
		METHOD,
		DATA,
		SLOTS
	};
	struct pf_buf b[SLOTS] = { { 0 } };
	const struct pf_slot slots[] = { { "title", &b[TITLE] },
					 { "header", &b[HEADER] },
					 { "nav", &b[NAV] },
					 { "verdicts", &b[VERDICTS] },
					 { "tiles", &b[TILES] },
					 { "breakdown", &b[BREAKDOWN] },
					 { "sections", &b[BODY] },
					 { "timeline", &b[TIMELINE] },
					 { "method", &b[METHOD] },
					 { "data", &b[DATA] },
					 { NULL, NULL } };
	struct pf_parts parts = { 0 };
	struct pf_titles titles;
	struct pf_html_page page = { .parts = &parts,
				     .command = command,
				     .source_url = args->source_url,
				     .titles = &titles };
	int rc;

	pf_titles_init(&titles);
	parts.doc[PART] = *doc; /* borrowed */
	add_side(&b[TITLE], doc, "A");
	pf_buf_adds(&b[TITLE], " → ");
	add_side(&b[TITLE], doc, "B");
	add_header(&b[HEADER], doc);
	add_verdict(&b[VERDICTS], doc);
	add_tiles(&b[TILES], doc);
	add_waterfall(&b[BREAKDOWN], doc);
	add_sections(&b[BODY], &b[NAV], &page);
	add_method(&b[METHOD], doc, command);
	rc = pf_timeline_html(timelines,
			      args->max_html_bytes - pf_fill_bytes(slots),
			      &b[TIMELINE], &b[DATA], err);
	if (!rc)
		rc = pf_fill("reports/diff.html", slots, out, err);
	for (int i = 0; i < SLOTS; i++)
		pf_buf_release(&b[i]);
	pf_titles_release(&titles);
	return rc;
}
