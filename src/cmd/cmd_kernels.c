/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/kernels.h"
#include "cmd/cmd.h"

#define LIMIT_UNSET (-2)
#define TEXT_ROWS   20

static const struct pf_kernels_args defaults = { .window = PF_WINDOW_DEFAULTS,
						 .limit = LIMIT_UNSET };

static const struct pf_opt opts[] = {
	{ 'g', "group", PF_KERNELS_GROUPS, "a row for each of these",
	  PF_OPT_CHOICE, offsetof(struct pf_kernels_args, group), 0, 0 },
	{ 's', "sort", PF_KERNELS_SORTS, "largest first, or by name",
	  PF_OPT_CHOICE, offsetof(struct pf_kernels_args, sort), 0, 0 },
	{ 'n', "limit", "N", "print at most N rows (-1: all)", PF_OPT_INT,
	  offsetof(struct pf_kernels_args, limit), -1, INT64_MAX },
	PF_WINDOW_OPTS(struct pf_kernels_args, window),
	{ 0 },
};

static int run(struct pf_ctx *cx, void *argv, struct pf_err *err)
{
	struct pf_kernels_args *args = argv;
	struct pf_doc doc = { 0 };
	bool is_text = cx->style.format == PF_FORMAT_TEXT;
	int rc;

	args->wide = cx->style.format == PF_FORMAT_CSV ||
		     cx->style.format == PF_FORMAT_JSON;
	if (args->limit == LIMIT_UNSET)
		args->limit = is_text ? TEXT_ROWS : -1;
	rc = pf_kernels(cx->db, args, &doc, err);
	if (!rc)
		rc = pf_render_doc(&cx->style, &doc, cx->out, err);
	pf_doc_release(&doc);
	return rc;
}

const struct pf_cmd pf_cmd_kernels = {
	.name = "kernels",
	.args = "[DB]",
	.summary = "show kernels by name, operator or geometry",
	.details = "Kernels that start in the window, summed by name; by name "
		   "and operator; by name, grid and block; or by operator and "
		   "shapes of its inputs.  Text and md have short names and "
		   "the main columns; csv and json have all.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	.args_bytes = sizeof(struct pf_kernels_args),
	.defaults = &defaults,
	.examples = "profan kernels job.db\n"
		    "profan kernels job.db --group name,op --format csv\n",
	.run = run,
};
