/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/path.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "page/page.h"
#include "page/report.h"

struct report_args {
	struct pf_report_args report;
	const char *out;
	bool force;
	int format; /* 0: the page; else one more than in pf_formats[] */
};

#define FIELD(f) offsetof(struct report_args, f)

static const struct report_args defaults = {
	.report = { .window = PF_WINDOW_DEFAULTS, .page = PF_PAGE_DEFAULTS },
};

static const struct pf_opt opts[] = {
	{ 'o', "output", "FILE",
	  "write this file (html: report.html, else standard output)",
	  PF_OPT_STRING, FIELD(out), 0, 0 },
	{ 0, "force", NULL, "replace FILE, also if it is no page of profan's",
	  PF_OPT_FLAG, FIELD(force), 0, 0 },
	{ 'f', "format", pf_format_names, "a page, a summary, or the verdicts",
	  PF_OPT_CHOICE, FIELD(format), 0, 0 },
	PF_PAGE_OPTS(struct report_args, report.page),
	PF_WINDOW_OPTS(struct report_args, report.window),
	{ 0 },
};

/* The verdicts as a document. */
static int show_doc(struct pf_ctx *cx, const struct pf_report *r)
{
	PF_AUTO(pf_doc_release) struct pf_doc doc = { 0 };

	pf_report_doc(r, &doc);
	return pf_render_doc(&cx->style, &doc, cx->out, cx->err);
}

static int show(struct pf_ctx *cx, const struct report_args *a,
		struct pf_report *r)
{
	struct pf_outrule rule = { .replace = a->force, .option = "--force" };
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_db_protect(cx->db, &rule);
	if (cx->style.format == &pf_format_md) {
		pf_report_md(r, NULL, &text);
		return pf_output_write(cx, a->out, &rule, &text);
	}
	PF_TRY(pf_report_html(r, &text));
	return pf_output_page(cx, a->out ? a->out : "report.html", &rule,
			      &text);
}

static int run(struct pf_ctx *cx, void *argv)
{
	struct report_args *a = argv;
	const struct pf_format *format =
		a->format ? pf_formats[a->format - 1] : &pf_format_page;
	bool is_doc = format != &pf_format_page && format != &pf_format_md;
	PF_AUTO(pf_report_release) struct pf_report report = { 0 };
	int rc;

	cx->style.format = format;
	PF_TRY(pf_page_args_read(&a->report.page, cx->err));
	if (a->out && is_doc)
		return pf_fail(cx->err, PF_EUSAGE,
			       "'--output' goes with html and md");
	if (format != &pf_format_page)
		a->report.page.timeline = PF_TIMELINE_NONE;
	a->report.no_page = is_doc;
	pf_progress_start("report", 0);
	pf_progress_phase("analyses");
	rc = pf_report_make(cx->db, &a->report, pf_path_base(cx->db_name),
			    &report);
	pf_progress_stop();
	PF_TRY(rc);
	return is_doc ? show_doc(cx, &report) : show(cx, a, &report);
}

PF_COMMAND(505, report) = {
	.name = "report",
	.group = PF_GROUP_GIVE,
	.args = "[DB]",
	.summary = "write what was found as one HTML page",
	.details = "The page needs no other file and no network.  Verdicts "
		   "come first, each with its figures and the command that "
		   "shows it, then where the step goes, tables and a "
		   "timeline; every figure is one of another command's.  Md "
		   "is a summary for pull requests, text, csv and json are "
		   "the verdicts.  Without options that narrow it, the "
		   "profiler steps are looked at, or the whole trace if there "
		   "are none.",
	.needs = PF_NEEDS_DB,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.examples =
		"profan report job.db\n"
		"profan report job.db -o job.html --redact\n"
		"profan report job.db --format md >>\"$GITHUB_STEP_SUMMARY\"\n",
	.run = run,
};
