/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "compare/trend.h"
#include "cmd/cmd.h"
#include "cmd/cache.h"
#include "compare/fleet.h"
#include "compare/snap.h"
#include "analysis/time/training.h"

#define FLEET_ROWS 10 /* people read a page, however many nights there are */

static const struct pf_trend_args defaults = { .window = PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	{ 0, "samples-per-step", "N|N,N...",
	  "how many samples a step works on, of all captures or each",
	  PF_OPT_STRING, offsetof(struct pf_trend_args, samples_per_step), 0,
	  0 },
	{ 0, "fail-on", "CHECK",
	  "exit with 1 if the last change is such: 'kernel>1%'", PF_OPT_LIST,
	  offsetof(struct pf_trend_args, checks), 0, 0 },
	PF_WINDOW_OPTS(struct pf_trend_args, window),
	{ 0 },
};

/* Captures of a fleet are in it. */
static int answer_of_fleet(struct pf_ctx *cx, const struct pf_trend_args *args,
			   struct pf_doc *doc)
{
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };

	if (cx->argc > 1)
		return pf_fail(cx->err, PF_EUSAGE,
			       "'%s' is a fleet database, of which 'trend' "
			       "shows one: 'profan merge' makes one of several",
			       cx->argv[0]);
	if (pf_opt_other(opts, args, &defaults, "fail-on"))
		return pf_fail(cx->err, PF_EUSAGE,
			       "a fleet has no events, and 'trend' of it no "
			       "options that choose some");
	PF_TRY(pf_trend_checks_parse(&args->checks, cx->err));
	PF_TRY(pf_db_open_kind(&db, cx->argv[0], &pf_fleet_kind, cx->err));
	if (!cx->wide && !cx->is_limit_given)
		doc->order.limit = FLEET_ROWS;
	doc->lists = "changes";
	return pf_trend_of_fleet(&db, &args->checks, doc->order.limit, doc);
}

/* What has no steps, but a course of its own: 1 if all are such. */
static int beside_traces(struct pf_ctx *cx, const struct pf_trend_args *args,
			 const struct pf_inputs *in, struct pf_doc *doc)
{
	int is = pf_inputs_are(in, PF_FROM_SNAPSHOT, cx->err);

	PF_TRY(is < 0);
	PF_TRY(is && pf_snap_trend(in->paths, cx->argv, in->count,
				   &args->window, doc, cx->err));
	if (is)
		return 1;
	is = pf_inputs_are(in, PF_FROM_TABLES, cx->err);
	return is == 1 ? pf_training_trend(in->paths, cx->argv, in->count, doc,
					   cx->err)
		       : is;
}

/* A check of nothing is not passed. */
static int say_nothing(const struct pf_trend_args *args,
		       const struct pf_captures *captures, struct pf_doc *doc,
		       struct pf_err *err)
{
	const struct pf_capture *first = captures->items[0];

	if (args->checks.count)
		return pf_fail(err, PF_EDATA, "'%s' %s", first->path,
			       pf_capture_no_step(first));
	pf_doc_finding(doc, "There are no complete steps");
	doc->is_nothing = true;
	if (!first->has_steps)
		pf_doc_note(doc, "%s",
			    pf_hint(first->recorded.producer, PF_HINT_STEPS));
	return 0;
}

/* What has no complete step has no row, but a word. */
static int show_captures(struct pf_ctx *cx, const struct pf_trend_args *args,
			 const struct pf_captures *captures, struct pf_doc *doc)
{
	PF_OWN const struct pf_capture **items =
		pf_calloc(captures->count + 1, sizeof(*items));
	size_t count = 0;
	int rc;

	for (size_t i = 0; i < captures->count; i++)
		if (captures->items[i]->steps)
			items[count++] = captures->items[i];
	if (count)
		rc = pf_trend(items, count, args, doc, cx->err);
	else
		rc = say_nothing(args, captures, doc, cx->err);
	for (size_t i = 0; i < captures->count && !rc; i++)
		if (!captures->items[i]->steps)
			pf_doc_note(doc, "'%s' %s, so it has no row",
				    captures->items[i]->path,
				    pf_capture_no_step(captures->items[i]));
	return rc;
}

static int answer(struct pf_ctx *cx, void *argv, struct pf_doc *doc)
{
	struct pf_trend_args *args = argv;
	PF_AUTO(pf_captures_release) struct pf_captures captures = { 0 };
	PF_AUTO(pf_inputs_close) struct pf_inputs inputs = { 0 };
	int is;

	if (pf_is_fleet(cx->argv[0]))
		return answer_of_fleet(cx, args, doc);
	PF_TRY(pf_trend_checks_parse(&args->checks, cx->err));
	PF_TRY(pf_inputs_open(&inputs, cx->argv, (size_t)cx->argc, cx->err));
	args->wide = cx->wide;
	is = beside_traces(cx, args, &inputs, doc);
	if (is == 1 && args->checks.count)
		return pf_fail(cx->err, PF_EUSAGE,
			       "--fail-on is of captures with steps");
	if (is)
		return is < 0 ? -1 : 0;
	PF_TRY(pf_captures_load(inputs.paths, cx->argv, inputs.count,
				&args->window, PF_CAPTURE_ALL, &captures,
				cx->err));
	return show_captures(cx, args, &captures, doc);
}

PF_COMMAND(410, trend) = {
	.name = "trend",
	.group = PF_GROUP_COMPARE,
	.args = "A B...",
	.summary = "show the same figures of several captures, a row each",
	.details = "Step time, throughput, GPU busy, idle time by cause, "
		   "counts per step and memory, in the order args: commits, "
		   "releases or configurations of one program.  The arguments "
		   "are databases or traces, as for 'profan diff'.  Text adds "
		   "a line of bars for each figure; csv and json have every "
		   "figure.\n"
		   "\n"
		   "Of memory snapshots alone: a row for each dump and GPU, "
		   "with what was allocated and reserved, how much more is "
		   "allocated than in the dump before, and what was free in "
		   "whole segments and between blocks.  Of rows of a training "
		   "script alone: how long its batches took.\n"
		   "\n"
		   "Of one fleet database of 'profan merge': its captures in "
		   "order of the time they were taken (those that say none "
		   "last), with the label commit and all labels that their "
		   "ranks have alike, and the means of whole steps of all "
		   "ranks.  Text has the last 10, csv and json all.\n"
		   "\n"
		   "Of 18 captures and more also since when which figure of a "
		   "step or time of a kernel is another, with a test that is "
		   "wrong about at most 1 in 100 series of captures that did "
		   "not change.",
	.needs = PF_SHOWS_DOC | PF_HAS_CHECKS,
	.min_args = 1,
	.max_args = -1,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "trend",
	.examples = "profan trend v1.db v2.db v3.db\n"
		    "profan trend bs16.db bs32.db --samples-per-step 16,32\n"
		    "profan trend nightly/*.db --format csv\n"
		    "profan trend snapshot_*.pickle\n"
		    "profan trend nights.db --fail-on 'step_time>1%'\n"
		    "profan trend nights.db --table trend --format csv\n",
	.answer = answer,
};
