/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/diff.h"
#include "cmd/cmd.h"
#include "cmd/input.h"
#include "cmd/output.h"
#include "report/diff_page.h"
#include "report/diff_timeline.h"
#include "report/gather.h"

#define MD_ROWS 10

struct diff_args {
	struct pf_diff_args diff; /* first: its options write here */
	const char *out;
	struct pf_timelines timelines; /* for a page */
};

static const struct diff_args defaults = { .diff = PF_DIFF_DEFAULTS };

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
	{ 'o', "output", "FILE", "write the page here (diff.html)",
	  PF_OPT_STRING, offsetof(struct diff_args, out), 0, 0 },
	PF_WINDOW_OPTS(struct pf_diff_args, window),
	{ 0 },
};

/* How many arguments are side A. */
static int split(const struct pf_ctx *cx, size_t *a_count, struct pf_err *err)
{
	if (cx->dashes < 0 && cx->argc == 2) {
		*a_count = 1;
		return 0;
	}
	if (cx->dashes > 0 && cx->dashes < cx->argc) {
		*a_count = (size_t)cx->dashes;
		return 0;
	}
	return pf_fail(err, PF_EUSAGE,
		       "which captures are before and which after? usage: "
		       "profan diff A B, or profan diff A1 A2... -- B1 B2...");
}

static int compare(const struct pf_diff_args *args, const struct pf_captures *c,
		   size_t a_count, struct pf_doc *doc, struct pf_err *err)
{
	bool is_failed = false;
	int rc = pf_diff(c->items, a_count, c->items + a_count,
			 c->count - a_count, args, doc, &is_failed, err);

	return rc < 0 ? -1 : is_failed;
}

static int load_timelines(struct diff_args *a, const struct pf_inputs *inputs,
			  size_t a_count, struct pf_err *err)
{
	const char *const paths[] = { inputs->paths[0],
				      inputs->paths[a_count] };
	int rc = pf_diff_timeline(paths, inputs->count, &a->diff.window,
				  &a->timelines, err);

	if (rc)
		pf_timelines_release(&a->timelines);
	return rc;
}

static int answer(struct pf_ctx *cx, void *argv, struct pf_doc *doc,
		  struct pf_err *err)
{
	struct pf_diff_args *args = &((struct diff_args *)argv)->diff;
	struct pf_captures captures = { 0 };
	struct pf_inputs inputs = { 0 };
	unsigned want =
		PF_CAPTURE_ALL | (args->columns ? PF_CAPTURE_AVERAGES : 0);
	size_t a_count = 0;
	int rc = split(cx, &a_count, err);

	if (!rc && ((struct diff_args *)argv)->out &&
	    cx->style.format != PF_FORMAT_HTML)
		rc = pf_fail(err, PF_EUSAGE,
			     "'--output' goes with '--format html'");
	args->wide = cx->wide;
	doc->main_tables = PF_DIFF_MAIN_TABLES;
	/* a comment has room for little */
	if (cx->style.format == PF_FORMAT_MD && cx->limit < 0)
		doc->order.limit = MD_ROWS;
	for (size_t i = 0; !rc && i < args->fail_on.count; i++)
		rc = pf_diff_check(args->fail_on.items[i], err);
	if (!rc && args->columns)
		rc = pf_diff_columns(args->columns, err);
	if (!rc)
		rc = pf_inputs_open(&inputs, cx->argv, (size_t)cx->argc, err);
	if (!rc)
		rc = pf_captures_load(inputs.paths, cx->argv, inputs.count,
				      &args->window, want, &captures, err);
	if (!rc)
		rc = compare(args, &captures, a_count, doc, err);
	if (rc >= 0 && cx->style.format == PF_FORMAT_HTML &&
	    load_timelines(argv, &inputs, a_count, err))
		rc = -1;
	pf_captures_release(&captures);
	pf_inputs_close(&inputs);
	return rc;
}

/* The command line, with names of files only. */
static void show_command(const struct pf_ctx *cx, struct pf_buf *out)
{
	pf_buf_adds(out, "profan diff");
	for (int i = 0; i < cx->argc; i++) {
		pf_buf_adds(out, i && i == cx->dashes ? " -- " : " ");
		pf_shell_word(out, pf_output_base_name(cx->argv[i]));
	}
}

static int page(struct pf_ctx *cx, void *argv, const struct pf_doc *doc,
		struct pf_err *err)
{
	struct diff_args *args = argv;
	struct pf_buf text = { 0 }, command = { 0 };
	int rc;

	show_command(cx, &command);
	rc = pf_diff_page(doc, command.data, &args->timelines, &text, err);
	if (!rc)
		rc = pf_output_page(cx, args->out ? args->out : "diff.html",
				    &text, err);
	pf_timelines_release(&args->timelines);
	pf_buf_release(&command);
	pf_buf_release(&text);
	return rc;
}

const struct pf_cmd pf_cmd_diff = {
	.name = "diff",
	.args = "A B | A1 A2... -- B1 B2...",
	.summary = "compare captures before and after a change",
	.details =
		"Says whether both did the same work, how long a step takes on "
		"each side, which part of it changed, what changed in "
		"structure, and which GPU work takes more or less time: "
		"because there is more of it, or because each takes longer. "
		"A and B are databases or traces; a trace is read into "
		"TRACE.profan.db beside it.\n"
		"\n"
		"Checks for CI compare the change per step from A to B: a "
		"figure, '>', '>=', '<' or '<=', and a number, in percent of "
		"A with '%'.",
	.needs = PF_SHOWS_DOC,
	.min_args = 2,
	.max_args = -1,
	.opts = opts,
	.args_bytes = sizeof(struct diff_args),
	.defaults = &defaults,
	.lists = PF_DIFF_LISTS,
	.text_rows = 10,
	.examples = "profan diff before.db after.db\n"
		    "profan diff main.db change.db --format md "
		    "--fail-on 'step_time>5%'\n"
		    "profan diff main.db change.db --format html -o diff.html\n"
		    "profan diff a1.db a2.db a3.db a4.db -- b1.db b2.db b3.db "
		    "b4.db\n",
	.answer = answer,
	.page = page,
};
