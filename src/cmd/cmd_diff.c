/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>

#include "compare/diff.h"
#include "base/mem.h"
#include "base/path.h"
#include "cmd/cmd.h"
#include "cmd/cache.h"
#include "page/gather.h"
#include "page/page.h"
#include "events/hints.h"
#include "compare/snap.h"
#include "page/diff_page.h"
#include "page/timeline.h"
#include "page/redact.h"
#include "analysis/time/training.h"

#define MD_ROWS 10

struct diff_args {
	struct pf_diff_args diff; /* first: its options write here */
	const char *out;
	bool overwrite;
	struct pf_page_args page;
	struct pf_redact *redact;      /* for a page, or if asked for */
	struct pf_timelines timelines; /* for a page */
	struct pf_diff found;          /* for a page */
};

static const struct diff_args defaults = { .diff = PF_DIFF_DEFAULTS,
					   .page = PF_PAGE_DEFAULTS };

static const struct pf_opt opts[] = {
	{ 0, "by", PF_DIFF_BY_WORDS,
	  "put GPU work together by this, not by all that is known of it",
	  PF_OPT_CHOICE, offsetof(struct pf_diff_args, by), 0, 0 },
	{ 0, "min-delta", "TIME", "show smaller changes of GPU work as one row",
	  PF_OPT_NS, offsetof(struct pf_diff_args, min_delta_ns), 0, 0 },
	{ 0, "fail-on", "CHECK",
	  "exit with 1 if it holds: 'step_time>5%', 'syncs>0', 'kernels>+3'",
	  PF_OPT_LIST, offsetof(struct pf_diff_args, fail_on), 0, 0 },
	{ 0, "force", NULL, "judge times although they are not comparable",
	  PF_OPT_FLAG, offsetof(struct pf_diff_args, force), 0, 0 },
	{ 0, "columns", "LIST",
	  "also key_averages(): 'self_cpu,cuda_total' and so on", PF_OPT_STRING,
	  offsetof(struct pf_diff_args, columns), 0, 0 },
	{ 0, "path", NULL, "also the critical paths, by what they are made of",
	  PF_OPT_FLAG, offsetof(struct pf_diff_args, path), 0, 0 },
	{ 0, "advice", NULL,
	  "also which advice is done, new or still open; of one capture a side",
	  PF_OPT_FLAG, offsetof(struct pf_diff_args, advice), 0, 0 },
	{ 'o', "output", "FILE", "write the page here (diff.html)",
	  PF_OPT_STRING, offsetof(struct diff_args, out), 0, 0 },
	{ 0, "overwrite", NULL,
	  "replace FILE, also if it is no page of profan's", PF_OPT_FLAG,
	  offsetof(struct diff_args, overwrite), 0, 0 },
	PF_PAGE_OPTS(struct diff_args, page),
	PF_WINDOW_OPTS(struct pf_diff_args, window),
	{ 0 },
};

/* How many arguments are side A. */
static int split(const struct pf_ctx *cx, size_t *a_count)
{
	if (cx->dashes < 0 && cx->argc == 2) {
		*a_count = 1;
		return 0;
	}
	if (cx->dashes > 0 && cx->dashes < cx->argc) {
		*a_count = (size_t)cx->dashes;
		return 0;
	}
	return pf_fail(cx->err, PF_EUSAGE,
		       "which captures are before and which after? usage: "
		       "profan diff A B, or profan diff A1 A2... -- B1 B2...");
}

static int compare(struct diff_args *args, const struct pf_captures *c,
		   size_t a_count, struct pf_doc *doc, struct pf_err *err)
{
	bool is_failed = false;
	int rc = pf_diff(c->items, a_count, c->items + a_count,
			 c->count - a_count, &args->diff, &args->found, doc,
			 &is_failed, err);

	return rc < 0 ? -1 : is_failed;
}

/* How texts of all captures are shown; strict: from the start. */
static int open_redact(struct diff_args *a, const struct pf_inputs *inputs,
		       struct pf_err *err)
{
	for (size_t i = 0; i < inputs->count; i++) {
		PF_AUTO(pf_db_close) struct pf_db db = { 0 };

		PF_TRY(pf_db_open(&db, inputs->paths[i], false, err));
		if (a->redact)
			PF_TRY(pf_redact_add(a->redact, &db));
		else
			a->redact = pf_redact_new(&db, a->page.redact);
		PF_TRY(!a->redact);
	}
	if (a->page.names == PF_NAMES_SHORT)
		pf_redact_shorten(a->redact);
	return 0;
}

static void show_text(const void *redact, const char *s, size_t len,
		      struct pf_buf *out)
{
	pf_redact_text(redact, s, len, out);
}

/*
 * What argument i is called, to be freed.  Strict: A and B, or A1, A2, B1 and
 * so on, as names of files often begin with that of a machine.
 */
static char *name_capture(const struct pf_ctx *cx, bool is_strict, size_t i,
			  size_t a_count)
{
	bool is_b = i >= a_count;
	size_t count = is_b ? (size_t)cx->argc - a_count : a_count;
	struct pf_buf name = { 0 };

	if (!is_strict)
		return pf_strdup(cx->argv[i]);
	pf_buf_addc(&name, is_b ? 'B' : 'A');
	if (count > 1)
		pf_buf_addf(&name, "%zu", i - (is_b ? a_count : 0) + 1);
	return name.data;
}

/* Strict: matching is of what is shown, so that no row tells more. */
static int load_captures(struct pf_ctx *cx, struct diff_args *a,
			 const struct pf_inputs *inputs, size_t a_count,
			 struct pf_captures *captures)
{
	unsigned want = PF_CAPTURE_ALL |
			(a->diff.columns ? PF_CAPTURE_AVERAGES : 0) |
			(a->diff.path ? PF_CAPTURE_PATH : 0) |
			(a->diff.advice ? PF_CAPTURE_ADVICE : 0);
	PF_OWN char **names = pf_calloc(inputs->count + 1, sizeof(*names));
	int rc;

	for (size_t i = 0; i < inputs->count; i++)
		names[i] = name_capture(cx, a->page.redact, i, a_count);
	if (a->page.redact)
		captures->filter =
			(struct pf_text_filter){ show_text, a->redact };
	rc = pf_captures_load(inputs->paths, names, inputs->count,
			      &a->diff.window, want, captures, cx->err);
	for (size_t i = 0; i < inputs->count; i++)
		free(names[i]);
	return rc;
}

static int load_timelines(struct diff_args *a, const struct pf_inputs *inputs,
			  size_t a_count, struct pf_err *err)
{
	const struct pf_diff_timeline_args args = {
		.paths = { inputs->paths[0], inputs->paths[a_count] },
		.captures = inputs->count,
		.window = &a->diff.window,
		.page = &a->page,
		.redact = a->redact,
	};

	return pf_diff_timeline(&args, &a->timelines, err);
}

static int check_args(const struct pf_ctx *cx, struct diff_args *a)
{
	if (a->out && cx->style.format != &pf_format_page)
		return pf_fail(cx->err, PF_EUSAGE,
			       "'--output' goes with '--format html'");
	if (a->diff.advice && cx->argc != 2)
		return pf_fail(cx->err, PF_EUSAGE,
			       "'--advice' compares one capture with one");
	PF_TRY(pf_page_args_read(&a->page, cx->err));
	for (size_t i = 0; i < a->diff.fail_on.count; i++)
		PF_TRY(pf_gate_parse(a->diff.fail_on.items[i], cx->err));
	return pf_diff_columns(&a->diff, cx->err);
}

static void release(void *args)
{
	struct diff_args *a = args;

	pf_diff_release(&a->found);
	pf_timelines_release(&a->timelines);
	pf_redact_free(a->redact);
	a->redact = NULL;
}

/* ---- memory snapshots ---- */

static int check_snapshots(const struct pf_ctx *cx, const struct diff_args *a,
			   const struct pf_inputs *inputs)
{
	if (inputs->count != 2)
		return pf_fail(cx->err, PF_EUSAGE,
			       "memory snapshots are compared two at a time");
	if (a->diff.fail_on.count || a->diff.columns)
		return pf_fail(cx->err, PF_EUSAGE,
			       "memory snapshots have no times and operators: "
			       "'--%s' does not go with them",
			       a->diff.columns ? "columns" : "fail-on");
	if (cx->style.format == &pf_format_page)
		return pf_fail(cx->err, PF_EUSAGE,
			       "there is no page of two memory snapshots; "
			       "'--format' text, csv, json and md do");
	return 0;
}

static int compare_snapshots(const struct diff_args *a,
			     const struct pf_inputs *inputs, struct pf_doc *doc,
			     struct pf_err *err)
{
	PF_AUTO(pf_db_close) struct pf_db before = { 0 }, after = { 0 };

	PF_TRY(pf_db_open(&before, inputs->paths[0], false, err));
	doc->lists = "lines peak_lines";
	PF_TRY(pf_db_open(&after, inputs->paths[1], false, err));
	PF_TRY(pf_snap_diff(&before, &after, &a->diff.window, doc));
	if (a->redact)
		pf_redact_doc(a->redact, doc);
	return 0;
}

/* ---- rows of training scripts ---- */

/*
 * 1: all inputs have nothing else, and it is said how they differ.  Of a trace
 * the rows have nothing but numbers.
 */
static int compare_rows(const struct pf_ctx *cx, const struct diff_args *a,
			const struct pf_inputs *inputs, struct pf_doc *doc)
{
	int is = pf_inputs_are(inputs, PF_FROM_TABLES, cx->err);
	char *names[2];

	if (is != 1 || inputs->count != 2 || a->diff.fail_on.count ||
	    a->diff.columns || cx->style.format == &pf_format_page)
		return is < 0 ? -1 : 0;
	for (size_t i = 0; i < 2; i++)
		names[i] = name_capture(cx, a->redact != NULL, i, 1);
	is = pf_training_trend(inputs->paths, names, 2, doc, cx->err);
	free(names[0]);
	free(names[1]);
	return is;
}

/* ---- the command ---- */

static int answer(struct pf_ctx *cx, void *argv, struct pf_doc *doc)
{
	struct diff_args *args = argv;
	PF_AUTO(pf_captures_release) struct pf_captures captures = { 0 };
	PF_AUTO(pf_inputs_close) struct pf_inputs inputs = { 0 };
	bool is_page = cx->style.format == &pf_format_page;
	size_t a_count = 0;
	int rc, is;

	args->diff.wide = cx->wide;
	doc->main_tables = PF_DIFF_MAIN_TABLES;
	/* a comment has room for little */
	if (cx->style.format == &pf_format_md && cx->limit < 0)
		doc->order.limit = MD_ROWS;
	PF_TRY(split(cx, &a_count));
	PF_TRY(check_args(cx, args));
	PF_TRY(pf_inputs_open(&inputs, cx->argv, (size_t)cx->argc, cx->err));
	is = pf_inputs_are(&inputs, PF_FROM_SNAPSHOT, cx->err);
	PF_TRY(is < 0 || (is && check_snapshots(cx, args, &inputs)));
	if (is_page || args->page.redact)
		PF_TRY(open_redact(args, &inputs, cx->err));
	if (is)
		return compare_snapshots(args, &inputs, doc, cx->err);
	is = compare_rows(cx, args, &inputs, doc);
	if (is)
		return is < 0 ? -1 : 0;
	PF_TRY(load_captures(cx, args, &inputs, a_count, &captures));
	rc = compare(args, &captures, a_count, doc, cx->err);
	if (rc >= 0 && is_page)
		PF_TRY(load_timelines(args, &inputs, a_count, cx->err));
	return rc;
}

/* The command line, with names of files only. */
static void show_command(const struct pf_ctx *cx, const struct diff_args *a,
			 struct pf_buf *out)
{
	const char *by;
	size_t len;

	pf_buf_adds(out, "profan diff");
	for (int i = 0; i < cx->argc; i++) {
		char *name =
			name_capture(cx, a->page.redact, (size_t)i,
				     cx->dashes > 0 ? (size_t)cx->dashes : 1);

		pf_buf_adds(out, i && i == cx->dashes ? " -- " : " ");
		pf_shell_word(out, pf_path_base(name));
		free(name);
	}
	by = pf_opt_choice(PF_DIFF_BY_WORDS, a->diff.by, &len);
	if (a->diff.by >= 0 && by)
		pf_buf_addf(out, " --by %.*s", (int)len, by);
	if (a->diff.min_delta_ns)
		pf_buf_addf(out, " --min-delta %" PRId64 "ns",
			    a->diff.min_delta_ns);
	if (a->diff.force)
		pf_buf_adds(out, " --force");
	if (a->diff.columns) {
		pf_buf_adds(out, " --columns ");
		pf_shell_word(out, a->diff.columns);
	}
	if (a->diff.path)
		pf_buf_adds(out, " --path");
	if (a->diff.advice)
		pf_buf_adds(out, " --advice");
	if (a->page.redact)
		pf_buf_adds(out, " --redact");
	if (a->page.redact && a->page.names == PF_NAMES_SHORT)
		pf_buf_adds(out, " --names short");
	pf_window_options(&a->diff.window, out);
}

static int page(struct pf_ctx *cx, void *argv, struct pf_doc *doc)
{
	struct diff_args *args = argv;
	const struct pf_outrule rule = {
		.replace = args->overwrite,
		.option = "--overwrite",
		.inputs = (const char *const *)cx->argv,
		.input_count = (size_t)cx->argc,
	};
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 }, command = { 0 };

	show_command(cx, args, &command);
	if (!args->page.redact)
		pf_redact_doc(args->redact, doc);
	PF_TRY(pf_diff_page(
		&args->found, doc, args->page.redact ? NULL : args->redact,
		command.data, &args->page, &args->timelines, &text, cx->err));
	return pf_output_page(cx, args->out ? args->out : "diff.html", &rule,
			      &text);
}

PF_COMMAND(405, diff) = {
	.name = "diff",
	.group = PF_GROUP_COMPARE,
	.args = "A B | A1 A2... -- B1 B2...",
	.summary = "compare captures before and after a change",
	.details = "A and B are databases, traces or folders of them; a trace "
		   "is read into TRACE.profan.db beside it.  The answer says "
		   "in this order: checks that failed; how long a full step "
		   "takes on each side; which class of 'profan steps' the "
		   "difference is in, summing to it exactly, and of several "
		   "ranks in which of each; the GPU work "
		   "that changed, split into more of it, (nB - nA) * mA, and "
		   "slower each, nB * (mB - mA), with n the number per step "
		   "and m the mean duration; what changed in structure; idle "
		   "time by cause and blocking calls by site; operators; "
		   "memory; and what both sides have in common.\n"
		   "\n"
		   "Checks for CI (--fail-on) compare the change per step "
		   "from A to B: a figure, '>', '>=', '<' or '<=', and a "
		   "number, in percent of A with '%', or with a unit (ns, us, "
		   "ms, s; B, kB, MB, GB, KiB, MiB, GiB).",
	.needs = PF_SHOWS_DOC | PF_HAS_CHECKS,
	.min_args = 2,
	.max_args = -1,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = PF_DIFF_LISTS,
	.text_rows = 10,
	.examples = "profan diff before.db after.db\n"
		    "profan diff main.db change.db --format md "
		    "--fail-on 'step_time>5%'\n"
		    "profan diff main.db change.db --advice\n"
		    "profan diff main.db change.db --format html -o diff.html\n"
		    "profan diff a1.db a2.db a3.db a4.db -- b1.db b2.db b3.db "
		    "b4.db\n",
	.answer = answer,
	.page = page,
	.release = release,
};
