/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/time/launches.h"
#include "cmd/cmd.h"

static const struct pf_launches_args defaults = {
	.window = PF_WINDOW_DEFAULTS,
};

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_launches_args, window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	return pf_launches(cx->db, args, NULL, doc);
}

PF_COMMAND(315, launches) = {
	.name = "launches",
	.group = PF_GROUP_WHY,
	.args = "[DB]",
	.summary = "show the calls that launch GPU work, and its delay",
	.details = "For each launch call the time on the CPU, the delay from "
		   "its end to the start of the GPU work (negative when that "
		   "starts earlier), and the duration of that work; and how "
		   "long the queue of each stream is when a call has added to "
		   "it.  Delay is the median of a call's delays, Longest the "
		   "longest of them; Shorter counts calls that took longer "
		   "than the work they launched.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "calls short_kernels slow_calls streams",
	.sorts = "cpu_ns|count|gpu_ns|max_delay_ns",
	.text_rows = 20,
	.examples = "profan launches job.db\n"
		    "profan launches job.db --step 3..8 --format json\n",
	.answer = answer,
};
