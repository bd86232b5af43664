/* SPDX-License-Identifier: MIT */
/* The page around the tables: header, verdicts, tiles, checks, method. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "embed/asset.h"
#include "report/chart.h"
#include "report/figure.h"
#include "report/fill.h"
#include "report/html.h"
#include "report/report.h"
#include "report/sections.h"
#include "report/timeline.h"
#include "table/find.h"

/* ---- header ---- */

static void add_fact(struct pf_buf *out, const char *title, const char *value)
{
	if (!value || !*value)
		return;
	pf_buf_addf(out, "<div><dt>%s</dt> <dd>", title);
	pf_html_text(out, value);
	pf_buf_adds(out, "</dd></div>\n");
}

/* The devices of one name together: their sizes differ by a page or two. */
static void add_devices(struct pf_buf *out, const struct pf_doc *info)
{
	const struct pf_table *t = pf_doc_find_table(info, "devices");
	struct pf_buf text = { 0 };
	size_t shown = 0;

	for (size_t r = 0; r < pf_table_rows(t) && shown < 4; r++) {
		const char *name = pf_table_text_at(t, r, "name");
		int64_t bytes = pf_table_int_at(t, r, "memory_bytes");

		if (!name || pf_table_find_row(t, "name", name) != (int64_t)r)
			continue;
		pf_buf_addf(&text, "%s%s", shown++ ? "; " : "",
			    *name ? name : "unnamed");
		if (bytes > 0) {
			pf_buf_adds(&text, ", ");
			pf_figure_bytes(&text, bytes);
		}
	}
	add_fact(out, "GPU", text.data);
	pf_buf_release(&text);
}

/* An option of the profiler that all traces share. */
static const char *find_option(const struct pf_doc *info, const char *key)
{
	const struct pf_table *t = pf_doc_find_table(info, "options");
	int64_t row = pf_table_find_row(t, "key", key);

	return row < 0 ? NULL : pf_table_text_at(t, (size_t)row, "value");
}

static void add_software(struct pf_buf *out, const struct pf_parts *p)
{
	const struct pf_doc *info = &p->doc[PF_PART_INFO];
	static const struct {
		const char *key, *title;
	} versions[] = {
		{ "cuda_runtime_version", "CUDA runtime" },
		{ "cuda_driver_version", "driver" },
		{ "cupti_version", "CUPTI" },
		{ "hip_runtime_version", "HIP runtime" },
		{ "hip_driver_version", "driver" },
		{ "roctracer_version", "roctracer" },
	};
	struct pf_buf text = { 0 };

	if (p->torch)
		pf_buf_addf(&text, "%s %d.%d%s",
			    p->is_torch_said ? "torch"
					     : "torch (the trace does not say "
					       "its version; table as of torch",
			    p->torch / 100, p->torch % 100,
			    p->is_torch_said ? "" : ")");
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		const char *value = find_option(info, versions[i].key);

		if (value)
			pf_buf_addf(&text, "%s%s %s", text.len ? ", " : "",
				    versions[i].title, value);
	}
	add_fact(out, "Software", text.data);
	pf_buf_release(&text);
}

static void add_ranks(struct pf_buf *out, const struct pf_doc *info)
{
	const struct pf_table *t = pf_doc_find_table(info, "traces");
	struct pf_buf text = { 0 };
	size_t shown = 0;

	for (size_t r = 0; r < pf_table_rows(t) && shown < 16; r++) {
		if (!pf_table_at(t, r, "rank"))
			continue;
		pf_buf_addf(&text, "%s%" PRId64, shown++ ? ", " : "",
			    pf_table_int_at(t, r, "rank"));
	}
	if (shown && pf_table_at(t, 0, "world_size"))
		pf_buf_addf(&text, " of %" PRId64,
			    pf_table_int_at(t, 0, "world_size"));
	add_fact(out, "Rank", text.data);
	pf_buf_release(&text);
}

/* Of one trace; the files of several are told by "profan info". */
static void add_digest(struct pf_buf *out, const struct pf_table *traces)
{
	struct pf_buf text = { 0 };

	if (pf_table_rows(traces) == 1)
		pf_html_digest(&text, pf_table_text_at(traces, 0, "xxh128"));
	if (text.len)
		pf_buf_addf(out, "<div><dt>File</dt> <dd>%s</dd></div>\n",
			    text.data);
	pf_buf_release(&text);
}

static void add_header(struct pf_buf *out, const struct pf_report *r)
{
	const struct pf_doc *info = &r->parts.doc[PF_PART_INFO];
	const struct pf_table *traces = pf_doc_find_table(info, "traces");
	struct pf_buf text = { 0 };

	add_digest(out, traces);
	add_devices(out, info);
	add_software(out, &r->parts);
	add_ranks(out, info);
	if (r->parts.steps_text.len) {
		pf_buf_adds(&text, r->parts.window.step
					   ? r->parts.window.step
					   : r->parts.steps_text.data);
		if (r->parts.window.step &&
		    r->parts.window.step != r->parts.steps_text.data)
			pf_buf_addf(&text, " of %s", r->parts.steps_text.data);
	} else {
		pf_buf_adds(&text, "none");
	}
	add_fact(out, text.data && strpbrk(text.data, " .,") ? "Steps" : "Step",
		 text.data);
	pf_buf_clear(&text);
	pf_figure_ns(&text, pf_table_int_at(traces, 0, "span_ns"));
	add_fact(out, "Recorded", text.data);
	pf_buf_release(&text);
}

/* ---- verdicts ---- */

static void add_verdict(struct pf_buf *out, const struct pf_html_page *page,
			const struct pf_verdict *v)
{
	static const char *const titles[] = { "Note", "Warning", "Severe" };
	struct pf_buf command = { 0 };

	pf_buf_addf(out, "<li class=%s id=%s><p><strong>%s</strong> ",
		    pf_severity_word(v->severity), v->id, titles[v->severity]);
	pf_html_sentence(out, &v->sentence);
	pf_buf_adds(out, ".</p>\n<p class=how>");
	if (v->recoverable_ns > 0) {
		pf_buf_addf(out, "<span data-v=%" PRId64 ">up to ",
			    v->recoverable_ns);
		pf_figure_ns(out, v->recoverable_ns);
		pf_buf_adds(out, " to win</span> ");
	}
	pf_buf_addf(out, "<a href=\"#%s\">table</a> ", v->section);
	if (v->from_ns >= 0 && pf_html_side(page, v->trace_id))
		pf_html_span(out, page, v->trace_id, v->from_ns, v->to_ns,
			     "timeline");
	pf_verdict_command(v, page->parts, &command);
	if (command.len) {
		pf_buf_adds(out, " <code>");
		pf_html_text(out, command.data);
		pf_buf_adds(out, "</code>");
	}
	pf_buf_adds(out, "</p>\n");
	pf_buf_release(&command);
}

static void add_verdicts(struct pf_buf *out, const struct pf_report *r,
			 const struct pf_html_page *page)
{
	const struct pf_verdicts *v = &r->verdicts;

	pf_buf_adds(out, "<ol class=verdicts>\n");
	for (size_t i = 0; i < v->fired && i < PF_VERDICTS_SHOWN; i++)
		add_verdict(out, page, &v->all[i]);
	pf_buf_adds(out, "</ol>\n");
	if (v->fired <= PF_VERDICTS_SHOWN)
		return;
	pf_buf_addf(out,
		    "<details><summary>More findings (%zu)</summary>"
		    "<ol class=verdicts start=%d>\n",
		    v->fired - PF_VERDICTS_SHOWN, PF_VERDICTS_SHOWN + 1);
	for (size_t i = PF_VERDICTS_SHOWN; i < v->fired; i++)
		add_verdict(out, page, &v->all[i]);
	pf_buf_adds(out, "</ol></details>\n");
}

/* ---- tiles ---- */

static void add_tiles(struct pf_buf *out, const struct pf_tiles *tiles)
{
	for (size_t i = 0; i < tiles->count; i++) {
		const struct pf_tile *t = &tiles->tile[i];

		pf_buf_addf(out,
			    "<div><dt>%s</dt> <dd data-k=%s data-v=", t->title,
			    t->key);
		pf_figure_exact(out, &t->value);
		pf_buf_adds(out, "><b>");
		pf_html_cell(out, &t->value, t->kind);
		pf_buf_adds(out, "</b>");
		if (t->detail.len) {
			pf_buf_adds(out, " <small>");
			pf_html_text(out, t->detail.data);
			pf_buf_adds(out, "</small>");
		}
		pf_buf_adds(out, "</dd></div>\n");
	}
}

/* ---- checked and fine ---- */

static void add_share(struct pf_buf *out, const struct pf_verdict *v,
		      double value)
{
	if (v->part == PF_PART_DOCTOR)
		pf_buf_adds(out, value < 0.5 ? "no warning" : "a warning");
	else if (v->part == PF_PART_STEPS) /* times the median */
		pf_buf_addf(out, "%.2f ×", value);
	else
		pf_html_ratio(out, value);
}

static void add_checks(struct pf_buf *out, const struct pf_verdicts *v)
{
	pf_buf_adds(out, "<section id=\"fine\" aria-labelledby=\"h-fine\">\n"
			 "<h2 id=\"h-fine\">Checked and fine</h2>\n<details>"
			 "<summary>Rules that did not fire, and why</summary>\n"
			 "<div class=t><table id=checks><caption class=h>Rules "
			 "that did not fire</caption><thead><tr>"
			 "<th scope=col>Checked<th scope=col class=n>Measured"
			 "<th scope=col class=n>Threshold<th scope=col>Result"
			 "</tr></thead>\n<tbody>");
	for (size_t i = v->fired; i < v->count; i++) {
		const struct pf_verdict *a = &v->all[i];

		pf_buf_addf(out, "<tr><th scope=row>%s (%s)<td class=n>",
			    a->title, a->id);
		if (a->state != PF_RULE_WITHHELD)
			add_share(out, a, a->measured);
		pf_buf_adds(out, "<td class=n>");
		if (a->warn > 1e-6)
			add_share(out, a, a->warn);
		pf_buf_adds(out, "<td>");
		if (a->is_folded)
			pf_buf_adds(out, "said by the verdict on idle time");
		else if (a->state == PF_RULE_WITHHELD) {
			pf_buf_adds(out, "not checked: ");
			pf_html_sentence(out, &a->sentence);
		} else {
			pf_buf_adds(out, "fine");
		}
		pf_buf_addc(out, '\n');
	}
	pf_buf_adds(out, "</tbody></table></div>\n</details>\n</section>\n");
}

/* ---- method ---- */

static void add_coverage(struct pf_buf *out, const struct pf_parts *p)
{
	int64_t known = p->launches.all.count;
	int64_t orphans = p->launches.orphan_count;
	double all = 0, op = 0; /* only their ratio is shown */

	for (int64_t i = 0; i < p->callers.row_count; i++) {
		const struct pf_kernel_row *row = &p->callers.rows[i];

		all += (double)row->total_ns;
		if (row->second && strcmp(row->second, "(none)") != 0)
			op += (double)row->total_ns;
	}
	if (known + orphans <= 0)
		return;
	pf_buf_adds(out, "<p id=coverage>Coverage: ");
	pf_html_ratio(out, (double)known / (double)(known + orphans));
	pf_buf_adds(out, " of the GPU events have a launch call");
	if (all > 0) {
		pf_buf_adds(out, ", ");
		pf_html_ratio(out, (double)op / (double)all);
		pf_buf_adds(out, " of the kernel time an operator");
	}
	pf_buf_adds(out, ".</p>\n");
}

static void add_sql(struct pf_buf *out, const char *query)
{
	struct pf_buf name = { 0 };
	const char *sql;

	if (!query)
		return;
	pf_buf_addf(&name, "schema/query/%s.sql", query);
	sql = pf_asset(name.data, NULL);
	if (sql) {
		pf_buf_addf(out,
			    "<details><summary><code>%s</code></summary>"
			    "<pre>",
			    name.data);
		pf_html_text(out, sql);
		pf_buf_adds(out, "</pre></details>\n");
	}
	pf_buf_release(&name);
}

static void add_method(struct pf_buf *out, const struct pf_parts *p)
{
	struct pf_buf absent = { 0 };

	pf_buf_adds(out, "<details><summary>Commands, definitions and what is "
			 "left out</summary>\n");
	add_coverage(out, p);
	pf_buf_adds(out, "<p>Every figure of this page is one of these "
			 "commands; <code>--format json</code> prints it to "
			 "the last digit.</p>\n<ul class=cmds>\n");
	for (int i = 0; i < PF_PART_COUNT; i++) {
		struct pf_buf command = { 0 };

		pf_parts_command(p, (enum pf_part)i, &command);
		pf_buf_adds(out, "<li><code>");
		pf_html_text(out, command.data);
		pf_buf_adds(out, "</code>\n");
		pf_buf_release(&command);
	}
	pf_buf_adds(out, "</ul>\n<p>What figures of them are, in plain SQL for "
			 "<code>profan query</code>:</p>\n");
	for (int i = 0; i < PF_PART_COUNT; i++)
		add_sql(out, pf_parts_query((enum pf_part)i));
	pf_sections_absent(&absent, p);
	if (absent.len)
		pf_buf_addf(out,
			    "<p>Not on this page, for want of data:</p>\n"
			    "<ul>\n%s</ul>\n",
			    absent.data);
	pf_buf_release(&absent);
	for (int i = 0; i < PF_PART_COUNT; i++)
		for (size_t k = 0; k < p->doc[i].note_count; k++) {
			if (!*p->doc[i].notes[k])
				continue;
			pf_buf_adds(out, "<p class=note>");
			pf_html_finding(out, p->doc[i].notes[k]);
			pf_buf_adds(out, ".</p>\n");
		}
	pf_buf_adds(out, "</details>\n");
}

/* ---- the page ---- */

int pf_report_html(struct pf_report *r, struct pf_buf *out, struct pf_err *err)
{
	struct pf_skeleton s = { 0 };
	struct pf_buf title = { 0 };
	struct pf_titles titles;
	struct pf_html_page page = { .parts = &r->parts,
				     .source_url = r->args.page.source_url,
				     .titles = &titles };
	int rc;

	pf_titles_init(&titles);
	page.first_ns = r->parts.traces.traces[0].first_ns;
	if (pf_timelines_have(&r->timelines))
		page.timelines = &r->timelines;
	pf_report_title(r, &title);
	pf_html_text(&s.title, title.data);
	add_header(&s.header, r);
	pf_sections_links(&s.nav, &r->parts);
	pf_buf_adds(&s.fine_link, "<li><a href=\"#fine\">Checks</a>\n");
	pf_buf_adds(&s.verdicts_title, "Verdicts");
	add_verdicts(&s.verdicts, r, &page);
	add_tiles(&s.tiles, &r->tiles);
	pf_buf_adds(&s.breakdown_title, "Where the time goes");
	pf_chart_steps(&s.breakdown, &page);
	pf_sections_steps(&s.breakdown, &page);
	pf_sections_add(&s.sections, &page);
	add_checks(&s.fine, &r->verdicts);
	add_method(&s.method, &r->parts);
	rc = pf_timeline_html(&r->timelines,
			      r->args.page.max_html_bytes - pf_fill_bytes(&s),
			      &s.timeline, &s.data, err);
	if (!rc)
		rc = pf_fill(&s, out, err);
	pf_fill_release(&s);
	pf_buf_release(&title);
	pf_titles_release(&titles);
	return rc;
}
