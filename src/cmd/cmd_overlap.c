/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/time/overlap.h"
#include "cmd/cmd.h"
#include "compare/fleet_show.h"

static const struct pf_overlap_args defaults = { PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_overlap_args, window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	return pf_overlap(cx->db, args, NULL, doc);
}

PF_COMMAND(320, overlap) = {
	.name = "overlap",
	.group = PF_GROUP_WHY,
	.args = "[DB]",
	.summary = "show what GPU time hides behind computation",
	.details = "The time of the steps, or from the first to the last GPU "
		   "work, split without remainder into computation, "
		   "communication that no computation hides, copies and "
		   "memsets that neither hides, and idle time; for each GPU "
		   "and for all.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "devices",
	.sorts = "busy_ns|idle_ns|comm_ns|overlap_share",
	.examples = "profan overlap job.db\n"
		    "profan overlap job.db --step 3..8 --format json\n",
	.answer = answer,
	.fleet = pf_fleet_overlap,
};
