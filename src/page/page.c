/* SPDX-License-Identifier: MIT */
/* The page around the tables: header, verdicts, tiles, checks, method. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/asset.h"
#include "page/advice.h"
#include "page/chart.h"
#include "page/figure.h"
#include "page/fill.h"
#include "page/html.h"
#include "page/report.h"
#include "page/sections.h"
#include "page/timeline.h"
#include "show/find.h"

/* ---- header ---- */

static void add_fact(struct pf_buf *out, const char *title, const char *value)
{
	if (!value || !*value)
		return;
	pf_buf_addf(out, "<div><dt>%s</dt> <dd>", title);
	pf_html_text(out, value);
	pf_buf_adds(out, "</dd></div>\n");
}

/* Append a text of what was found as it may be shown. */
static void add_text(struct pf_buf *out, const struct pf_parts *p,
		     const char *text)
{
	struct pf_buf shown = { 0 };

	pf_buf_adds(out, pf_parts_text(p, text, &shown));
	pf_buf_release(&shown);
}

/* Has a device before it its name? */
static bool is_known(const struct pf_info *info, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (info->devices[i].name &&
		    !strcmp(info->devices[i].name, info->devices[at].name))
			return true;
	return false;
}

/* The devices of one name together: their sizes differ by a page or two. */
static void add_devices(struct pf_buf *out, const struct pf_parts *p)
{
	struct pf_buf text = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < p->info.device_count && shown < 4; i++) {
		const struct pf_info_device *d = &p->info.devices[i];

		if (!d->name || is_known(&p->info, i))
			continue;
		pf_buf_adds(&text, shown++ ? "; " : "");
		add_text(&text, p, *d->name ? d->name : "unnamed");
		if (d->memory_bytes > 0) {
			pf_buf_adds(&text, ", ");
			pf_figure_bytes(&text, d->memory_bytes);
		}
	}
	add_fact(out, pf_window_device(&p->traces), text.data);
	pf_buf_release(&text);
}

/* An option of the profiler that all traces share. */
static const char *find_option(const struct pf_info *info, const char *key)
{
	for (size_t i = 0; i < info->option_count; i++)
		if (!strcmp(info->options[i].key, key))
			return info->options[i].value;
	return NULL;
}

static void add_software(struct pf_buf *out, const struct pf_parts *p)
{
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
		const char *value = find_option(&p->info, versions[i].key);

		if (!value)
			continue;
		pf_buf_addf(&text, "%s%s ", text.len ? ", " : "",
			    versions[i].title);
		add_text(&text, p, value);
	}
	add_fact(out, "Software", text.data);
	pf_buf_release(&text);
}

static void add_ranks(struct pf_buf *out, const struct pf_info *info)
{
	struct pf_buf text = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < info->trace_count && shown < 16; i++)
		if (info->traces[i].rank != PF_NO_INT)
			pf_buf_addf(&text, "%s%" PRId64, shown++ ? ", " : "",
				    info->traces[i].rank);
	if (shown && info->traces->world_size != PF_NO_INT)
		pf_buf_addf(&text, " of %" PRId64, info->traces->world_size);
	add_fact(out, "Rank", text.data);
	pf_buf_release(&text);
}

/* Of one trace; the files of several are told by "profan info". */
static void add_digest(struct pf_buf *out, const struct pf_info *info)
{
	struct pf_buf text = { 0 };

	if (info->trace_count == 1)
		pf_html_digest(&text, info->traces->xxh128);
	if (text.len)
		pf_buf_addf(out, "<div><dt>File</dt> <dd>%s</dd></div>\n",
			    text.data);
	pf_buf_release(&text);
}

static void add_header(struct pf_buf *out, const struct pf_report *r)
{
	const struct pf_info *info = &r->parts.info;
	struct pf_buf text = { 0 };

	add_digest(out, info);
	add_devices(out, &r->parts);
	add_software(out, &r->parts);
	add_ranks(out, info);
	if (r->parts.steps_text.len) {
		pf_buf_adds(&text, r->parts.window.step
					   ? r->parts.window.step
					   : r->parts.steps_text.data);
		if (r->parts.window.step &&
		    strcmp(r->parts.window.step, r->parts.steps_text.data) != 0)
			pf_buf_addf(&text, " of %s", r->parts.steps_text.data);
	} else {
		pf_buf_adds(&text, "none");
	}
	if (!r->parts.steps.is_untimed && r->parts.steps.count)
		add_fact(out, strpbrk(text.data, " .,") ? "Steps" : "Step",
			 text.data);
	pf_buf_clear(&text);
	if (info->traces->span_ns != PF_NO_INT) {
		pf_figure_ns(&text, info->traces->span_ns);
		add_fact(out, "Recorded", text.data);
	}
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
		pf_buf_addf(out, "<span data-v=%" PRId64 ">",
			    v->recoverable_ns);
		pf_verdict_stake(out, v);
		pf_buf_adds(out, "</span> ");
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

static void add_definitions(struct pf_buf *out)
{
	pf_buf_adds(out, "<p>What figures of them are, in plain SQL for "
			 "<code>profan query</code>:</p>\n");
	for (int i = 0; i < PF_PART_COUNT; i++)
		add_sql(out, pf_parts_query((enum pf_part)i));
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
	pf_buf_adds(out, "</ul>\n");
	if (!p->traces.is_tpu)
		add_definitions(out);
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
			pf_html_text(out, p->doc[i].notes[k]);
			pf_buf_adds(out, ".</p>\n");
		}
	pf_buf_adds(out, "</details>\n");
}

/* In place of a chart where there is no trace, only what stands beside one. */
static void add_no_times(struct pf_buf *out, const struct pf_parts *p)
{
	const char *finding = pf_doc_find_finding(&p->doc[PF_PART_STEPS]);

	if (p->steps.is_untimed)
		finding = "A memory snapshot has no GPU work";
	else if (p->steps.count || !finding)
		return;
	pf_buf_adds(out, "<p class=lead>");
	pf_html_text(out, finding);
	pf_buf_adds(out, ".</p>\n");
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
	if (r->has_advice && r->advise.given)
		pf_buf_adds(&s.nav, "<li><a href=\"#try\">To try</a>\n");
	pf_sections_links(&s.nav, &r->parts);
	pf_buf_adds(&s.fine_link, "<li><a href=\"#fine\">Checks</a>\n");
	pf_buf_adds(&s.verdicts_title, "Verdicts");
	add_verdicts(&s.verdicts, r, &page);
	add_tiles(&s.tiles, &r->tiles);
	pf_buf_adds(&s.breakdown_title, "Where the time goes");
	add_no_times(&s.breakdown, &r->parts);
	pf_chart_steps(&s.breakdown, &page);
	pf_sections_steps(&s.breakdown, &page);
	pf_report_advice_html(r, &s.sections);
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
