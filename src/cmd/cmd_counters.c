/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/time/counters.h"
#include "cmd/cmd.h"

static const struct pf_counters_args defaults = { PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_counters_args, window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	return pf_counters(cx->db, args, doc);
}

PF_COMMAND(355, counters) = {
	.name = "counters",
	.group = PF_GROUP_WHY,
	.args = "[DB]",
	.summary = "show counters: power, clocks, utilization",
	.details = "For each number that a counter has: how many samples "
		   "there are, the least, their mean (over samples, not over "
		   "time), the most and the last.  Logs of nvidia-smi "
		   "(--query-gpu=... --format=csv, dmon) and of dcgmi dmon "
		   "have them of each GPU under the names and units of their "
		   "columns; other traces may have counters of their own.  "
		   "Where a trace with steps is in the same database and both "
		   "say what time of day it was, the table steps has the mean "
		   "over the samples that were taken while a step ran on the "
		   "host.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "counters steps",
	.sorts = "sample_count|mean|max",
	.text_rows = 40,
	.examples = "profan counters smi.csv\n"
		    "profan ingest trace.json smi.csv --tz=+01:00 -o job.db\n"
		    "profan counters job.db\n",
	.answer = answer,
};
