/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/memory/usage.h"
#include "cmd/cmd.h"
#include "analysis/time/training.h"

#define POINTS_UNSET (-1)

static const struct pf_usage_args defaults = { .window = PF_WINDOW_DEFAULTS,
					       .points = POINTS_UNSET };

static const struct pf_opt opts[] = {
	{ 0, "points", "N",
	  "a curve of at most N points for each device (0: none)", PF_OPT_INT,
	  offsetof(struct pf_usage_args, points), 0, 1000000 },
	{ 0, "events", NULL, "a row for each allocation, the largest first",
	  PF_OPT_FLAG, offsetof(struct pf_usage_args, events), 0, 0 },
	{ 0, "stack", "ID", "only this call stack of a snapshot, line by line",
	  PF_OPT_INT, offsetof(struct pf_usage_args, stack), 1, INT64_MAX },
	PF_WINDOW_OPTS(struct pf_usage_args, window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *argv, struct pf_doc *doc)
{
	struct pf_usage_args *args = argv;

	if (args->stack)
		return pf_stack_show(cx->db, args->stack, doc);
	if (args->points == POINTS_UNSET)
		args->points = cx->wide ? PF_USAGE_POINTS : 0;
	if (args->events) {
		doc->lists = "events alive kept ops stacks";
		if (!doc->order.word)
			doc->order.word = "bytes";
	}
	PF_TRY(pf_usage(cx->db, args, NULL, doc));
	return pf_training_memory(cx->db, doc);
}

PF_COMMAND(350, memory) = {
	.name = "memory",
	.group = PF_GROUP_WHY,
	.args = "[DB]",
	.summary = "show peaks of memory and what holds them",
	.details = "From the allocation records of profile_memory=True, for "
		   "each device: the peak, what was alive at it by op and "
		   "line, what was allocated and not freed, allocations by "
		   "op, and whether it grows with each step.  All is exact in "
		   "bytes: what is alive and what was "
		   "allocated before the capture add up to the peak.  Csv and "
		   "json have more columns, and the curve.  Of a memory "
		   "snapshot of torch: by call stack, and first what was "
		   "reserved, allocated and free, and why memory ran out.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "alive kept ops stacks",
	.sorts = "bytes|count|largest_bytes",
	.text_rows = 10,
	.examples = "profan memory job.db\n"
		    "profan memory oom.pickle\n"
		    "profan memory oom.pickle --stack 241\n"
		    "profan memory job.db --step 3 --format json\n"
		    "profan memory --events --sort lifetime -n 20\n",
	.answer = answer,
};
