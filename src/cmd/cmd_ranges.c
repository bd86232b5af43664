/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/time/ranges.h"
#include "cmd/cmd.h"

static const struct pf_ranges_args defaults = { .window = PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_ranges_args, window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	return pf_ranges(cx->db, args, doc);
}

PF_COMMAND(230, ranges) = {
	.name = "ranges",
	.group = PF_GROUP_TIME,
	.args = "[DB]",
	.summary = "show the time of record_function and NVTX ranges",
	.details = "By name, of what record_function, NVTX and torch itself "
		   "mark: the ranges' time on the host (nvtx_sum of nsys), "
		   "with and without ranges inside of them; and of the GPU "
		   "work that was launched in them (its call begins in the "
		   "range, on the same thread) the time from its first start "
		   "to its last end, summed over ranges (nvtx_gpu_proj_sum), "
		   "and the time in which any of it ran.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "ranges gpu spans",
	.text_rows = 20,
	.examples = "profan ranges job.db\n"
		    "profan ranges job.db --step 3..8 --format json\n",
	.answer = answer,
};
