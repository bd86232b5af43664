/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/syncs.h"
#include "cmd/cmd.h"

#define LIMIT_UNSET (-2)
#define TEXT_ROWS   20

static const struct pf_syncs_args defaults = { .window = PF_WINDOW_DEFAULTS,
					       .limit = LIMIT_UNSET,
					       .max_per_step = -1,
					       .fail_on = -1 };

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_syncs_args, window),
	{ 'n', "limit", "N", "print at most N sites (-1: all)", PF_OPT_INT,
	  offsetof(struct pf_syncs_args, limit), -1, INT64_MAX },
	{ 0, "max-per-step", "N", "fail if a step has more blocking calls",
	  PF_OPT_INT, offsetof(struct pf_syncs_args, max_per_step), 0, 0 },
	{ 0, "fail-on", PF_SYNCS_FAIL_ON,
	  "fail if a site is not in the baseline", PF_OPT_CHOICE,
	  offsetof(struct pf_syncs_args, fail_on), 0, 0 },
	{ 0, "baseline", "DB", "the database to compare with", PF_OPT_STRING,
	  offsetof(struct pf_syncs_args, baseline), 0, 0 },
	{ 0, "allow", "TEXT", "sites with this in a name never fail",
	  PF_OPT_LIST, offsetof(struct pf_syncs_args, allow), 0, 0 },
	{ 0 },
};

static int run(struct pf_ctx *cx, void *argv, struct pf_err *err)
{
	struct pf_syncs_args *args = argv;
	struct pf_doc doc = { 0 };
	bool is_text = cx->style.format == PF_FORMAT_TEXT, is_failed = false;
	int rc;

	args->wide = cx->style.format == PF_FORMAT_CSV ||
		     cx->style.format == PF_FORMAT_JSON;
	if (args->limit == LIMIT_UNSET)
		args->limit = is_text ? TEXT_ROWS : -1;
	rc = pf_syncs(cx->db, args, &doc, &is_failed, err);
	if (!rc)
		rc = pf_render_doc(&cx->style, &doc, cx->out, err);
	pf_doc_release(&doc);
	return !rc && is_failed ? 1 : rc;
}

const struct pf_cmd pf_cmd_syncs = {
	.name = "syncs",
	.args = "[DB]",
	.summary = "show the calls that wait for the GPU",
	.details = "Every call that waits for the GPU, by site: the call, the "
		   "op above it and the user's line; with the time that it "
		   "blocked the host and the idle time of the GPU that "
		   "followed.  Synchronizations, synchronous copies, copies "
		   "of pageable memory and allocations wait.  A check that "
		   "fails ends with code 1.  Csv and json have more columns.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	.args_bytes = sizeof(struct pf_syncs_args),
	.defaults = &defaults,
	.examples = "profan syncs job.db\n"
		    "profan syncs job.db --max-per-step 2\n"
		    "profan syncs job.db --fail-on new --baseline good.db\n",
	.run = run,
};
