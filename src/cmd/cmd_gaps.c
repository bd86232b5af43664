/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/idle/gaps.h"
#include "cmd/cmd.h"
#include "compare/fleet_show.h"

static const struct pf_gaps_args defaults = { .window = PF_WINDOW_DEFAULTS,
					      .micro_ns = PF_GAPS_MICRO_NS };

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_gaps_args, window),
	{ 0, "micro", "DURATION", "do not explain gaps shorter than this",
	  PF_OPT_NS, offsetof(struct pf_gaps_args, micro_ns), 0, 0 },
	{ 0, "per-stream", NULL, "show the idle time of each stream, too",
	  PF_OPT_FLAG, offsetof(struct pf_gaps_args, per_stream), 0, 0 },
	{ 0, "hta", NULL,
	  "the same with HTA's host_wait, kernel_wait and other", PF_OPT_FLAG,
	  offsetof(struct pf_gaps_args, hta), 0, 0 },
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *argv, struct pf_doc *doc)
{
	struct pf_gaps_args *args = argv;

	args->limit = cx->limit;
	return pf_gaps(cx->db, args, NULL, doc);
}

PF_COMMAND(305, gaps) = {
	.name = "gaps",
	.group = PF_GROUP_WHY,
	.args = "[DB]",
	.summary = "show why the GPU is idle",
	.details = "Every span of time in which no work runs on a GPU, on any "
		   "of its streams, is split without remainder into pieces, "
		   "each with a cause and a culprit that holds it: the call, "
		   "op or line of Python that the launching thread was in, or "
		   "what the GPU waited for.  The causes add up to the idle "
		   "time; micro is gaps below --micro, which are not "
		   "explained, operators an operator's own time on the CPU, "
		   "dependency work that waited for another stream, queued "
		   "behind work that waited for what is not "
		   "recorded.  Drained by: the call in which the GPU ran "
		   "dry.  Csv and json have more columns.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "culprits gaps",
	.sorts = "ns|count|longest_ns",
	.text_rows = 10,
	.data_rows = 1000,
	.examples = "profan gaps job.db\n"
		    "profan gaps job.db --step 3..8 --format json\n"
		    "profan gaps job.db --whole-capture --hta\n",
	.answer = answer,
	.fleet = pf_fleet_gaps,
};
