/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compare/diff.h"
#include "compare/trend.h"
#include "cmd/cmd.h"
#include "cmd/cache.h"
#include "compare/fleet.h"
#include "compare/fleet_trend.h"
#include "compare/snap.h"
#include "analysis/time/training.h"

#define FLEET_ROWS 10 /* people read a page, however many nights there are */

struct args {
	struct pf_trend_args trend;
	struct pf_opt_list checks;
};

static const struct args defaults = { .trend = { .window =
							 PF_WINDOW_DEFAULTS } };

static const struct pf_opt opts[] = {
	{ 0, "samples-per-step", "N|N,N...",
	  "how many samples a step works on, of all captures or each",
	  PF_OPT_STRING, offsetof(struct args, trend.samples_per_step), 0, 0 },
	{ 0, "fail-on", "CHECK",
	  "exit with 1 if the last change is such: 'kernel>1%'", PF_OPT_LIST,
	  offsetof(struct args, checks), 0, 0 },
	PF_WINDOW_OPTS(struct args, trend.window),
	{ 0 },
};

static int check(const struct args *args, const struct pf_fleet_trend *t,
		 struct pf_doc *doc, struct pf_err *err)
{
	bool is_failed = false;

	for (size_t i = 0; i < args->checks.count; i++)
		if (pf_fleet_gate(args->checks.items[i], t, doc, &is_failed,
				  err) < 0)
			return -1;
	return is_failed;
}

static int parse_checks(const struct args *args, struct pf_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < args->checks.count; i++)
		rc = pf_fleet_gate_parse(args->checks.items[i], err);
	return rc;
}

static int show_fleet(struct pf_ctx *cx, const struct args *args,
		      struct pf_db *db, struct pf_doc *doc)
{
	struct pf_fleet_trend t = { 0 };
	int rc = pf_fleet_trend_find(db, &t);

	if (!rc) {
		if (!cx->wide && !cx->is_limit_given)
			doc->order.limit = FLEET_ROWS;
		doc->lists = "changes";
		pf_fleet_trend_show(&t, doc->order.limit, doc);
		rc = check(args, &t, doc, cx->err);
	}
	pf_fleet_trend_release(&t);
	return rc;
}

/* Captures of a fleet are in it. */
static int answer_of_fleet(struct pf_ctx *cx, const struct args *args,
			   struct pf_doc *doc)
{
	struct pf_db db = { 0 };
	int rc;

	if (cx->argc > 1)
		return pf_fail(cx->err, PF_EUSAGE,
			       "'%s' is a fleet database, of which 'trend' "
			       "shows one: 'profan merge' makes one of several",
			       cx->argv[0]);
	if (memcmp(&args->trend, &defaults.trend, sizeof(defaults.trend)) != 0)
		return pf_fail(cx->err, PF_EUSAGE,
			       "a fleet has no events, and 'trend' of it no "
			       "options that choose some");
	rc = parse_checks(args, cx->err);
	if (!rc)
		rc = pf_db_open_kind(&db, cx->argv[0], &pf_fleet_kind, cx->err);
	if (!rc)
		rc = show_fleet(cx, args, &db, doc);
	pf_db_close(&db);
	return rc;
}

/* What has no steps, but a course of its own: 1 if all are such. */
static int beside_traces(struct pf_ctx *cx, const struct pf_trend_args *args,
			 const struct pf_inputs *in, struct pf_doc *doc)
{
	int is = pf_inputs_are(in, PF_FROM_SNAPSHOT, cx->err);

	if (is < 0)
		return -1;
	if (is && pf_snap_trend(in->paths, cx->argv, in->count, &args->window,
				doc, cx->err))
		return -1;
	if (is)
		return 1;
	is = pf_inputs_are(in, PF_FROM_TABLES, cx->err);
	return is == 1 ? pf_training_trend(in->paths, cx->argv, in->count, doc,
					   cx->err)
		       : is;
}

/* How they changed from the first to the last, and since when. */
static int show_rows(struct pf_ctx *cx, const struct args *args,
		     const struct pf_captures *captures, struct pf_doc *doc)
{
	struct pf_fleet_trend changes = { 0 };
	struct pf_buf since = { 0 };
	struct pf_trend trend = { 0 };
	int rc = pf_trend_find(captures->items, captures->count, &args->trend,
			       &trend, cx->err);

	if (!rc) {
		pf_fleet_trend_of(&trend, captures->items, &changes);
		if (changes.count >= changes.least)
			pf_fleet_changes_say(&changes, &since);
		pf_trend_show(&trend, since.data, cx->wide, doc);
		pf_fleet_changes_show(&changes, cx->wide ? -1 : FLEET_ROWS,
				      doc);
		rc = check(args, &changes, doc, cx->err);
	}
	pf_fleet_trend_release(&changes);
	pf_trend_release(&trend);
	pf_buf_release(&since);
	return rc;
}

/* A check of nothing is not passed. */
static int say_nothing(const struct args *args,
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
static int show_captures(struct pf_ctx *cx, const struct args *args,
			 const struct pf_captures *captures, struct pf_doc *doc)
{
	const struct pf_capture **items =
		pf_calloc(captures->count + 1, sizeof(*items));
	struct pf_captures with = { .items = items };
	int rc = 0;

	for (size_t i = 0; i < captures->count; i++)
		if (captures->items[i]->steps)
			items[with.count++] = captures->items[i];
	if (with.count)
		rc = show_rows(cx, args, &with, doc);
	else
		rc = say_nothing(args, captures, doc, cx->err);
	for (size_t i = 0; i < captures->count && !rc; i++)
		if (!captures->items[i]->steps)
			pf_doc_note(doc, "'%s' %s, so it has no row",
				    captures->items[i]->path,
				    pf_capture_no_step(captures->items[i]));
	free(items);
	return rc;
}

static int answer(struct pf_ctx *cx, void *argv, struct pf_doc *doc)
{
	const struct args *given = argv;
	struct pf_trend_args *args = &((struct args *)argv)->trend;
	struct pf_captures captures = { 0 };
	struct pf_inputs inputs = { 0 };
	bool is_captures;
	int rc;

	if (pf_is_fleet(cx->argv[0]))
		return answer_of_fleet(cx, given, doc);
	if (parse_checks(given, cx->err))
		return -1;
	rc = pf_inputs_open(&inputs, cx->argv, (size_t)cx->argc, cx->err);
	args->wide = cx->wide;
	if (!rc)
		rc = beside_traces(cx, args, &inputs, doc);
	is_captures = !rc;
	if (rc == 1 && given->checks.count)
		rc = pf_fail(cx->err, PF_EUSAGE,
			     "--fail-on is of captures with steps");
	if (is_captures)
		rc = pf_captures_load(inputs.paths, cx->argv, inputs.count,
				      &args->window, PF_CAPTURE_ALL, &captures,
				      cx->err);
	if (is_captures && !rc)
		rc = show_captures(cx, given, &captures, doc);
	pf_captures_release(&captures);
	pf_inputs_close(&inputs);
	return is_captures || rc < 0 ? rc : 0;
}

PF_COMMAND(410, trend) = {
	.name = "trend",
	.group = PF_GROUP_COMPARE,
	.args = "A B...",
	.summary = "show the same figures of several captures, a row each",
	.details = "Step time, throughput, GPU busy, idle time by cause, "
		   "counts per step and memory, in the order given: commits, "
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
	.needs = PF_SHOWS_DOC,
	.min_args = 1,
	.max_args = -1,
	.opts = opts,
	.args_bytes = sizeof(struct args),
	.defaults = &defaults,
	.lists = "trend",
	.examples = "profan trend v1.db v2.db v3.db\n"
		    "profan trend bs16.db bs32.db --samples-per-step 16,32\n"
		    "profan trend nightly/*.db --format csv\n"
		    "profan trend snapshot_*.pickle\n"
		    "profan trend nights.db --fail-on 'step_time>1%'\n"
		    "profan trend nights.db --table trend --format csv\n",
	.answer = answer,
};
