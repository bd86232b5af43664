/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/time/modules.h"
#include "cmd/cmd.h"
#include "analysis/graphs/graphs.h"

struct args {
	struct pf_modules_args modules;
	struct pf_graph_evidence evidence;
};

static const struct args defaults = {
	.modules = { .window = PF_WINDOW_DEFAULTS, .depth = PF_MODULES_DEPTH },
};

static const struct pf_opt opts[] = {
	{ 0, "depth", "N", "deeper modules are part of the one at depth N",
	  PF_OPT_INT, offsetof(struct args, modules.depth), 1, 1000 },
	PF_GRAPH_OPTS(struct args, evidence),
	PF_WINDOW_OPTS(struct args, modules.window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *p, struct pf_doc *doc)
{
	struct args *args = p;
	PF_AUTO(pf_graphs_release) struct pf_graphs graphs = { 0 };

	PF_TRY(pf_cmd_name_graphs(cx->db, &args->evidence,
				  &args->modules.window, &graphs,
				  &args->modules.graphs));
	return pf_modules(cx->db, &args->modules, doc);
}

PF_COMMAND(225, modules) = {
	.name = "modules",
	.group = PF_GROUP_TIME,
	.args = "[DB]",
	.summary = "show time by module of the model",
	.details = "For each nn.Module, as they call each other: calls, "
		   "operators, GPU work launched there and time on the host, "
		   "with and without what is in modules inside of it.  Self "
		   "times (in no module inside), what is outside any module "
		   "(as everything that runs backward) and GPU work without a "
		   "launch call add up to the whole exactly.  Needs a trace "
		   "with Python functions (with_stack=True).",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "modules classes",
	.sorts = "gpu_total_ns|gpu_self_ns|host_total_ns|host_self_ns|calls",
	.text_rows = 20,
	.examples = "profan modules job.db\n"
		    "profan modules job.db --step 3 --sort gpu_self\n"
		    "profan modules decode.db --capture capture.json.gz\n",
	.answer = answer,
};
