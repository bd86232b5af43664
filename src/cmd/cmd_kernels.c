/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/kernels.h"
#include "cmd/cmd.h"
#include "fleet/show.h"

static const struct pf_kernels_args defaults = { .window = PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	{ 'g', "group", PF_KERNELS_GROUPS, "a row for each of these",
	  PF_OPT_CHOICE, offsetof(struct pf_kernels_args, group), 0, 0 },
	PF_WINDOW_OPTS(struct pf_kernels_args, window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc,
		  struct pf_err *err)
{
	return pf_kernels(cx->db, args, NULL, doc, err);
}

PF_COMMAND(50, kernels) = {
	.name = "kernels",
	.args = "[DB]",
	.summary = "show kernels by name, operator or geometry",
	.details = "Kernels that start in the window, summed by name; by name "
		   "and operator; by name, grid and block; or by operator and "
		   "shapes of its inputs.  Text and md have short names and "
		   "the main columns; csv and json have all.  TC: does the "
		   "kernel use tensor cores, by its name ('-': it does not "
		   "say).",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	.args_bytes = sizeof(struct pf_kernels_args),
	.defaults = &defaults,
	.lists = "kernels",
	.sorts = "total_ns|calls|mean_ns|max_ns",
	.text_rows = 20,
	.examples = "profan kernels job.db\n"
		    "profan kernels job.db --group name,op --format csv\n",
	.answer = answer,
	.fleet = pf_fleet_kernels,
};
