/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/time/steps.h"
#include "cmd/cmd.h"
#include "compare/fleet_show.h"
#include "analysis/time/training.h"

static const struct pf_steps_args defaults = { .window = PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	{ 0, "samples-per-step", "N", "how many samples a step works on",
	  PF_OPT_INT, offsetof(struct pf_steps_args, samples_per_step), 1,
	  INT64_MAX },
	{ 0, "by-range", NULL,
	  "also split steps by record_function and NVTX ranges", PF_OPT_FLAG,
	  offsetof(struct pf_steps_args, by_range), 0, 0 },
	PF_WINDOW_OPTS(struct pf_steps_args, window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	PF_TRY(pf_steps_answer(cx->db, args, NULL, doc));
	return pf_training_steps(cx->db, doc);
}

PF_COMMAND(210, steps) = {
	.name = "steps",
	.group = PF_GROUP_TIME,
	.args = "[DB]",
	.summary = "show how long steps take, and what that time goes to",
	.details = "Each instant of a profiler step goes to the first of "
		   "these that was active: kernels that are no communication, "
		   "copies, memsets, communication, calls of the runtime or "
		   "driver on any thread, loading of data, other operators "
		   "and ranges, other.  So the classes sum to the step "
		   "exactly, and communication is what no computation hides.  "
		   "--by-range splits steps by what their thread is in at "
		   "each instant, too: the innermost range, none, or after "
		   "the step, when only its GPU work goes on.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "steps ranges",
	.sorts = "dur_ns|step|busy_ns",
	.text_rows = 20,
	.examples = "profan steps job.db\n"
		    "profan steps job.db --skip-first 2 --format csv\n"
		    "profan steps job.db --by-range\n",
	.answer = answer,
	.fleet = pf_fleet_steps,
};
