/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/idle/syncs.h"
#include "cmd/cmd.h"

static const struct pf_syncs_args defaults = { .window = PF_WINDOW_DEFAULTS,
					       .max_per_step = -1,
					       .fail_on = -1 };

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_syncs_args, window),
	{ 0, "max-per-step", "N", "fail if a step has more blocking calls",
	  PF_OPT_INT, offsetof(struct pf_syncs_args, max_per_step), 0, 0 },
	{ 0, "fail-on", PF_SYNCS_FAIL_ON,
	  "fail if a site is not in the baseline", PF_OPT_CHOICE,
	  offsetof(struct pf_syncs_args, fail_on), 0, 0 },
	{ 0, "baseline", "DB", "the database to compare with", PF_OPT_STRING,
	  offsetof(struct pf_syncs_args, baseline), 0, 0 },
	{ 0, "allow", "TEXT", "sites with this in a name never fail",
	  PF_OPT_LIST, offsetof(struct pf_syncs_args, allow), 0, 0 },
	{ 0, "allow-file", "FILE", "the same of a file, one TEXT a line",
	  PF_OPT_STRING, offsetof(struct pf_syncs_args, allow_file), 0, 0 },
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	bool is_failed = false;

	PF_TRY(pf_syncs(cx->db, args, NULL, doc, &is_failed) < 0);
	return is_failed;
}

PF_COMMAND(310, syncs) = {
	.name = "syncs",
	.group = PF_GROUP_WHY,
	.args = "[DB]",
	.summary = "show the calls that wait for the GPU",
	.details =
		"Every call that waits for the GPU, by site: the call, the "
		"innermost and the outermost op above it and the user's "
		"line; with the time that it blocked the host, how much of "
		"that some GPU was busy, and the idle time of GPUs in it, as "
		"'profan gaps' gives it.  Synchronizations of device, context, "
		"stream "
		"or event wait, synchronous copies, copies from or to "
		"pageable memory, synchronous memsets of memory that the "
		"host sees, and calls that allocate, free or unregister "
		"memory.  Calls that make a stream wait for an event hold "
		"up no host and are listed apart, with the waits that "
		"cuda_sync records tell of.  A check that fails ends with "
		"code 1.  Csv and json have more columns.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC | PF_HAS_CHECKS,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "sites",
	.sorts = "blocked_ns|idle_ns|count|max_ns",
	.text_rows = 20,
	.examples = "profan syncs job.db\n"
		    "profan syncs job.db --max-per-step 2\n"
		    "profan syncs job.db --fail-on new --baseline good.db\n",
	.answer = answer,
};
