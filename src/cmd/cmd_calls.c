/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/time/launches.h"
#include "cmd/cmd.h"

static const struct pf_calls_args defaults = {
	.window = PF_WINDOW_DEFAULTS,
	.by = PF_CALLS_BY_NAME,
};

static const struct pf_opt opts[] = {
	{ 0, "by", "call|op|range",
	  "a row for each call; and the operator or range it is made in",
	  PF_OPT_CHOICE, offsetof(struct pf_calls_args, by), 0, 0 },
	PF_WINDOW_OPTS(struct pf_calls_args, window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *p, struct pf_doc *doc)
{
	return pf_calls(cx->db, p, doc);
}

PF_COMMAND(235, calls) = {
	.name = "calls",
	.group = PF_GROUP_TIME,
	.args = "[DB]",
	.summary = "show all calls of a GPU's runtime and driver",
	.details = "By name: how many calls of cuda..., hip..., cu... there "
		   "are and how long they take, with share, mean, median and "
		   "longest, those that launch nothing and wait for nothing, "
		   "too (cuda_api_sum of nsys).  A call counts where it "
		   "begins, with all of its length; a driver's call inside a "
		   "runtime's counts in both, and once in self_ns of json and "
		   "csv.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "calls",
	.text_rows = 20,
	.examples = "profan calls job.db\n"
		    "profan calls job.db --by op --limit 50\n"
		    "profan calls job.db --step 3..8 --format json\n",
	.answer = answer,
};
