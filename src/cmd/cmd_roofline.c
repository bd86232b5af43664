/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/cmd.h"
#include "analysis/graphs/graphs.h"
#include "analysis/roofline/roofline.h"

struct args {
	struct pf_roofline_args roofline;
	struct pf_graph_evidence evidence;
};

static const struct args defaults = {
	.roofline = {
		.window = PF_WINDOW_DEFAULTS,
		.group = PF_ROOFLINE_BY_OP,
		.has_links = true,
	},
};

static const struct pf_opt opts[] = {
	{ 'g', "group", PF_ROOFLINE_GROUPS, "a row for each of these",
	  PF_OPT_CHOICE, offsetof(struct args, roofline.group), 0, 0 },
	{ 0, "gpu", "NAME", "the GPU, as data/gpus.csv names it", PF_OPT_STRING,
	  offsetof(struct args, roofline.gpu), 0, 0 },
	{ 0, "peak", "NAME=N,...",
	  "other peaks: bf16=989.4 (TFLOP/s), gbps=3352", PF_OPT_STRING,
	  offsetof(struct args, roofline.peak), 0, 0 },
	{ 0, "dense-attention", NULL,
	  "count causal attention as if it were not", PF_OPT_FLAG,
	  offsetof(struct args, roofline.is_dense), 0, 0 },
	PF_GRAPH_OPTS(struct args, evidence),
	PF_WINDOW_OPTS(struct args, roofline.window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	struct args *a = args;
	PF_AUTO(pf_graphs_release) struct pf_graphs graphs = { 0 };
	/* a call has all of its work, also what is beyond the window */

	PF_TRY(pf_cmd_name_all_graphs(cx->db, &a->evidence, &a->roofline.window,
				      &graphs, &a->roofline.graphs));
	return pf_roofline(cx->db, &a->roofline, doc);
}

PF_COMMAND(335, roofline) = {
	.name = "roofline",
	.group = PF_GROUP_WHY,
	.args = "[DB]",
	.summary = "hold operators against what the GPU could do",
	.details = "Floating-point operations and bytes of each call from its "
		   "recorded shapes, types and values (record_shapes=True), "
		   "what its kernels achieved, what the GPU allows, and the "
		   "GPU time above that; the use of the peak (MFU) by step.  "
		   "What has no model or no shapes is listed, and never "
		   "counted as 0.  Of TPUs: the operations of XLA, with what "
		   "its compiler recorded of them.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "calls steps links not_modelled",
	.sorts = "kernel_ns|above_roof_ns|calls|matrix_flops",
	.text_rows = 12,
	.examples =
		"profan roofline job.db\n"
		"profan roofline job.db --group op,shape --sort above_roof\n"
		"profan roofline job.db --gpu 'H100 SXM' --step 3\n"
		"profan roofline job.db --peak bf16=800,gbps=3000\n"
		"profan roofline decode.db --capture capture.json.gz\n",
	.answer = answer,
};
