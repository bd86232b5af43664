/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/time/kernels.h"
#include "cmd/cmd.h"
#include "compare/fleet_show.h"
#include "analysis/graphs/graphs.h"

struct args {
	struct pf_kernels_args kernels;
	struct pf_graph_evidence evidence;
};

static const struct args defaults = {
	.kernels.window = PF_WINDOW_DEFAULTS,
};

static const struct pf_opt opts[] = {
	{ 'g', "group", PF_KERNELS_GROUPS, "a row for each of these",
	  PF_OPT_CHOICE, offsetof(struct args, kernels.group), 0, 0 },
	PF_GRAPH_OPTS(struct args, evidence),
	PF_WINDOW_OPTS(struct args, kernels.window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *p, struct pf_doc *doc)
{
	struct args *args = p;
	PF_AUTO(pf_graphs_release) struct pf_graphs graphs = { 0 };

	PF_TRY(pf_cmd_name_graphs(cx->db, &args->evidence,
				  &args->kernels.window, &graphs,
				  &args->kernels.graphs));
	return pf_kernels(cx->db, &args->kernels, NULL, doc);
}

PF_COMMAND(220, kernels) = {
	.name = "kernels",
	.group = PF_GROUP_TIME,
	.args = "[DB]",
	.summary = "show kernels by name, operator or geometry",
	.details = "Kernels that start in the window, each with its whole "
		   "duration, summed by name; by name and operator; by name, "
		   "grid and block; or by operator and shapes of its inputs.  "
		   "Text and md have short names and the main columns; csv "
		   "and json have all.  TC: does the kernel use tensor cores "
		   "(matrix cores on AMD), by its name ('-': it does not "
		   "say).  Of TPUs: the operations of XLA, by name, by "
		   "operator of the framework or by category.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "kernels",
	.sorts = "total_ns|calls|mean_ns|max_ns",
	.text_rows = 20,
	.examples = "profan kernels job.db\n"
		    "profan kernels job.db --group name,op --format csv\n"
		    "profan kernels decode.db --group op --capture "
		    "capture.json.gz\n",
	.answer = answer,
	.fleet = pf_fleet_kernels,
};
