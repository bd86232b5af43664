/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "diff/diff.h"
#include "diff/trend.h"
#include "cmd/cmd.h"
#include "cmd/cache.h"
#include "cmd/fleets.h"
#include "fleet/fleet.h"
#include "fleet/show.h"

static const struct pf_trend_args defaults = { .window = PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	{ 0, "samples-per-step", "N|N,N...",
	  "how many samples a step works on, of all captures or each",
	  PF_OPT_STRING, offsetof(struct pf_trend_args, samples_per_step), 0,
	  0 },
	PF_WINDOW_OPTS(struct pf_trend_args, window),
	{ 0 },
};

/* Captures of a fleet are in it. */
static int answer_of_fleet(struct pf_ctx *cx, const struct pf_trend_args *args,
			   struct pf_doc *doc, struct pf_err *err)
{
	struct pf_db db = { 0 };
	int rc;

	if (cx->argc > 1)
		return pf_fail(err, PF_EUSAGE,
			       "'%s' is a fleet database, of which 'trend' "
			       "shows one: 'profan merge' makes one of several",
			       cx->argv[0]);
	if (memcmp(args, &defaults, sizeof(defaults)) != 0)
		return pf_fail(err, PF_EUSAGE,
			       "a fleet has no events, and 'trend' of it no "
			       "options that choose some");
	rc = pf_db_open_kind(&db, cx->argv[0], &pf_fleet_kind, err);
	if (!rc)
		rc = pf_fleet_trend(&db, doc, err);
	pf_db_close(&db);
	return rc;
}

static int answer(struct pf_ctx *cx, void *argv, struct pf_doc *doc,
		  struct pf_err *err)
{
	struct pf_trend_args *args = argv;
	struct pf_captures captures = { 0 };
	struct pf_inputs inputs = { 0 };
	int rc;

	if (pf_is_fleet(cx->argv[0]))
		return answer_of_fleet(cx, args, doc, err);
	rc = pf_inputs_open(&inputs, cx->argv, (size_t)cx->argc, err);
	args->wide = cx->wide;
	if (!rc)
		rc = pf_captures_load(inputs.paths, cx->argv, inputs.count,
				      &args->window, PF_CAPTURE_ALL, &captures,
				      err);
	if (!rc)
		rc = pf_trend(captures.items, captures.count, args, doc, err);
	pf_captures_release(&captures);
	pf_inputs_close(&inputs);
	return rc;
}

PF_COMMAND(120, trend) = {
	.name = "trend",
	.args = "A B...",
	.summary = "show the same figures of several captures, a row each",
	.details =
		"Step time, throughput, GPU time, idle time by cause, counts "
		"per step and memory, in the order given: commits, releases "
		"or configurations of one program.  The arguments are "
		"databases or traces, as in 'profan diff'.  Csv and json "
		"have every figure.",
	.needs = PF_SHOWS_DOC,
	.min_args = 1,
	.max_args = -1,
	.opts = opts,
	.args_bytes = sizeof(struct pf_trend_args),
	.defaults = &defaults,
	.lists = "trend",
	.examples = "profan trend v1.db v2.db v3.db\n"
		    "profan trend bs16.db bs32.db --samples-per-step 16,32\n"
		    "profan trend nightly/*.db --format csv\n",
	.answer = answer,
};
