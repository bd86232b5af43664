/* SPDX-License-Identifier: MIT */
/*
 * profan TRACE: what a report says first, in a few lines.  Every sentence is
 * that of an analysis or a verdict; none is made here.
 */
#include "config.h"

#include <string.h>

#include "analysis/time/counters.h"
#include "base/order.h"
#include "base/log.h"
#include "base/utf8.h"
#include "cmd/cmd.h"
#include "compare/fleet_show.h"
#include "base/num.h"
#include "export/stacks.h"
#include "page/report.h"
#include "show/doc.h"
#include "show/escape.h"

#define INDENT 10 /* columns of the words on the left */

/* Of commands, which are copied: a line each. */
static const struct pf_style uncut = { 0 };

static const struct pf_report_args defaults = {
	.window = PF_WINDOW_DEFAULTS,
	.page = { .timeline = PF_TIMELINE_NONE },
	.no_page = true,
};

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_report_args, window),
	{ 0 },
};

/* Words wrapped at the width, what is left of them in the first line. */
static void add_line(struct pf_buf *out, const char *left, const char *text,
		     const struct pf_style *style)
{
	const size_t width = (size_t)style->width;
	PF_AUTO(pf_buf_release) struct pf_buf masked = { 0 };
	size_t at = INDENT;
	const char *p;

	if (!text || !*text)
		return;
	pf_utf8_mask(&masked, text, strlen(text));
	pf_buf_adds(out, "  ");
	pf_paint(out, style, pf_paint_of_word(left), left, strlen(left));
	pf_buf_addf(out, "%*s", INDENT - 2 - (int)strlen(left), "");
	for (p = masked.data; *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " "), columns;

		if (pf_num_parts_unit(p, len, strlen(p)))
			len += 1 + strcspn(p + len + 1, " ");
		columns = pf_utf8_columns(p, len);
		if (width > INDENT && columns > width - INDENT) {
			len = pf_utf8_head(p, len, width - INDENT);
			columns = pf_utf8_columns(p, len);
		}
		if (at > INDENT && width && at + 1 + columns > width) {
			pf_buf_addf(out, "\n%*s", INDENT, "");
			at = INDENT;
		} else if (at > INDENT) {
			pf_buf_addc(out, ' ');
			at++;
		}
		pf_buf_add(out, p, len);
		at += columns;
		p += len;
	}
	pf_buf_addc(out, '\n');
}

static void add_finding(struct pf_buf *out, const char *left,
			const struct pf_doc *doc, const struct pf_style *style)
{
	const char *finding = pf_doc_find_finding(doc);
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (!finding)
		return;
	pf_buf_addf(&text, "%s.", finding);
	add_line(out, left, text.data, style);
}

/* What the classes of a step do not tell apart, and the critical path does. */
static const struct {
	int category; /* enum pf_path_category, or enum pf_cause */
	double least; /* share of the path */
	const char *before, *after;
} on_path[] = {
	/* in a function, and in no operator or call within it */
	{ PF_CAUSE_PYTHON, PF_ADVISE_FIRST, " Python functions themselves hold",
	  "" },
	{ PF_CAUSE_MODULE, 0.5, " First uses hold",
	  ": this is a cold start, not what a warm program takes" },
	{ PF_CAUSE_ALLOCATOR, 0.5, " Calls of the allocator hold", "" },
	{ PF_PATH_QUEUED, 0.5, " Work from before the capture holds up", "" },
};

static void say_on_path(struct pf_buf *out, const struct pf_path *path,
			const struct pf_path_row *row)
{
	for (size_t i = 0; i < PF_LEN(on_path); i++) {
		if (row->in != on_path[i].category ||
		    row->share < on_path[i].least)
			continue;
		pf_buf_addf(out, "%s ", on_path[i].before);
		pf_path_say_share(path, row->share, out);
		pf_buf_addf(out, "%s.", on_path[i].after);
	}
}

/* How long a step takes. */
static void add_time(struct pf_buf *out, const struct pf_parts *p,
		     const struct pf_style *style)
{
	const char *finding = pf_doc_find_finding(&p->doc[PF_PART_STEPS]);
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (!finding)
		return;
	pf_buf_addf(&text, "%s.", finding);
	for (size_t i = 0; i < p->path.category_count; i++)
		say_on_path(&text, &p->path, &p->path.categories[i]);
	add_line(out, "time", text.data, style);
}

PF_ORDER(by_time, struct pf_step_spread, PF_DOWN(sum_ns) PF_ALPHA(name))

/* The classes of a step, the largest first. */
static void add_split(struct pf_buf *out, const struct pf_step_times *s,
		      const struct pf_style *style)
{
	struct pf_step_spread classes[PF_STEP_CLASSES];
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (!s->full_count)
		return;
	memcpy(classes, s->classes, sizeof(classes));
	pf_sort(classes, PF_STEP_CLASSES, sizeof(*classes), by_time);
	for (size_t i = 0; i < PF_STEP_CLASSES && classes[i].sum_ns > 0; i++) {
		pf_buf_addf(&text, "%s%s ", i ? ", " : "", classes[i].name);
		pf_buf_adds(&text, PF_SHOW_RATIO(classes[i].share));
	}
	add_line(out, "split", text.data, style);
}

/* Is it what doctor says, which has a line of its own? */
static bool is_shown(const struct pf_verdict *v)
{
	return v->part != PF_PART_DOCTOR;
}

static void add_verdict(struct pf_buf *out, const struct pf_verdict *v,
			const struct pf_style *style)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_say_plain(&text, &v->sentence);
	pf_verdict_say_gain(v, ". ", &text);
	pf_buf_addc(&text, '.');
	add_line(out, pf_severity_word(v->severity), text.data, style);
	if (v->advice && v->advice->remedy) {
		pf_buf_clear(&text);
		pf_buf_addf(&text, "%s.", v->advice->remedy);
		add_line(out, "try", text.data, style);
	}
}

static void add_command(struct pf_buf *out, const struct pf_report *r,
			enum pf_part part)
{
	PF_AUTO(pf_buf_release) struct pf_buf command = { 0 };

	pf_parts_command(&r->parts, part, &command);
	add_line(out, "", command.data, &uncut);
}

/* The report, and the command that shows a verdict's figures. */
static void add_next(struct pf_buf *out, const struct pf_report *r,
		     const struct pf_verdict *v)
{
	PF_AUTO(pf_buf_release) struct pf_buf command = { 0 };

	pf_buf_adds(&command, "profan report ");
	pf_shell_word(&command, r->parts.db_name);
	pf_buf_adds(&command,
		    r->parts.window_text.data ? r->parts.window_text.data : "");
	add_line(out, "next", command.data, &uncut);
	/* of several traces the figures are those of one alone */
	if (v && v->advice && r->parts.advise->alone_count)
		add_line(out, "", v->advice->command.data, &uncut);
	else if (v)
		add_command(out, r, v->part);
}

/* Of a memory snapshot: there is no time to speak of. */
static void add_snapshot(struct pf_buf *out, const struct pf_report *r,
			 const struct pf_style *style)
{
	add_finding(out, "memory", &r->parts.doc[PF_PART_MEMORY], style);
	add_finding(out, "trust", &r->parts.doc[PF_PART_DOCTOR], style);
	add_next(out, r, NULL);
	add_command(out, r, PF_PART_MEMORY);
}

/*
 * Rows beside a trace have no time that goes somewhere, but say something:
 * tensors by what they are for, counters, or else stacks with what they count.
 */
static int add_beside(struct pf_buf *out, struct pf_db *db,
		      const struct pf_report *r, const struct pf_style *style)
{
	const struct pf_counters_args args = { .window = r->parts.window };
	const struct pf_doc *memory = &r->parts.doc[PF_PART_MEMORY];
	PF_AUTO(pf_doc_release) struct pf_doc counters = { 0 }, stacks = { 0 };
	int rc = pf_counters(db, &args, &counters);

	if (!rc)
		rc = pf_stacks_samples_most(db, &stacks);
	if (pf_doc_find_finding(memory) && !memory->is_nothing)
		add_finding(out, "memory", memory, style);
	else if (!counters.is_nothing)
		add_finding(out, "rows", &counters, style);
	if (pf_doc_find_finding(&stacks))
		add_finding(out, "stacks", &stacks, style);
	else if (counters.is_nothing)
		add_time(out, &r->parts, style);
	add_finding(out, "trust", &r->parts.doc[PF_PART_DOCTOR], style);
	add_next(out, r, NULL);
	if (!counters.is_nothing)
		add_command(out, r, PF_PART_COUNTERS);
	return rc;
}

static void add_all(struct pf_buf *out, const struct pf_report *r,
		    const struct pf_style *style)
{
	const struct pf_verdicts *v = &r->verdicts;
	const struct pf_verdict *worst = NULL;
	size_t shown = 0;

	add_time(out, &r->parts, style);
	add_split(out, &r->parts.steps, style);
	for (size_t i = 0; i < v->fired && shown < PF_VERDICTS_SHOWN; i++) {
		if (!is_shown(&v->all[i]))
			continue;
		shown++;
		if (!worst && v->all[i].severity != PF_NOTE)
			worst = &v->all[i];
		add_verdict(out, &v->all[i], style);
	}
	add_finding(out, "trust", &r->parts.doc[PF_PART_DOCTOR], style);
	add_next(out, r, worst);
}

static int show_text(struct pf_ctx *cx, const struct pf_report *r)
{
	const struct pf_style *style = &cx->style;
	PF_AUTO(pf_buf_release) struct pf_buf out = { 0 };
	int rc = 0;

	pf_utf8_mask(&out, cx->db_name, strlen(cx->db_name));
	pf_buf_addc(&out, '\n');
	if (r->parts.memory.producer == PF_FROM_SNAPSHOT)
		add_snapshot(&out, r, style);
	else if (r->parts.steps.recorded.producer == PF_FROM_TABLES)
		rc = add_beside(&out, cx->db, r, style);
	else
		add_all(&out, r, style);
	if (!rc)
		fwrite(out.data, 1, out.len, cx->out);
	return rc;
}

static int run(struct pf_ctx *cx, void *argv)
{
	struct pf_report_args *args = argv;
	PF_AUTO(pf_report_release) struct pf_report report = { 0 };
	PF_AUTO(pf_doc_release) struct pf_doc doc = { 0 };
	int rc;

	args->no_tiles = cx->style.format == &pf_format_text;
	pf_progress_start("summary", 0);
	pf_progress_phase("analyses");
	rc = pf_report_make(cx->db, args, cx->db_name, &report);
	pf_progress_stop();
	PF_TRY(rc);
	if (args->no_tiles)
		return show_text(cx, &report);
	pf_report_doc(&report, &doc);
	return pf_render_doc(&cx->style, &doc, cx->out, cx->err);
}

PF_COMMAND(205, summary) = {
	.name = "summary",
	.group = PF_GROUP_TIME,
	.args = "[DB]",
	.summary = "say in a few lines where the time goes",
	.details = "How long a step takes, what it is spent on (of Python what "
		   "no operator or call within it takes), the three "
		   "worst verdicts of 'profan report' with what to try, what "
		   "'profan doctor' says of the trace, and the commands that "
		   "show more.  "
		   "'profan TRACE' is the same: a first argument that is no "
		   "command and names a file or folder, or looks like one (/, "
		   ".json, .pfr, .db), is read so.  Csv, json and md have all "
		   "figures and verdicts.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.examples = "profan trace.json.gz\n"
		    "profan runs/bert\n"
		    "profan summary job.db --step 3\n",
	.run = run,
	.fleet = pf_fleet_summary,
};
