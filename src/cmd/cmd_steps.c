/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/steps.h"
#include "cmd/cmd.h"

#define LIMIT_UNSET (-2)
#define TEXT_ROWS   20

static const struct pf_steps_args defaults = { .window = PF_WINDOW_DEFAULTS,
					       .limit = LIMIT_UNSET };

static const struct pf_opt opts[] = {
	{ 0, "samples-per-step", "N", "how many samples a step works on",
	  PF_OPT_INT, offsetof(struct pf_steps_args, samples_per_step), 1,
	  INT64_MAX },
	{ 'n', "limit", "N", "print at most N steps (-1: all)", PF_OPT_INT,
	  offsetof(struct pf_steps_args, limit), -1, INT64_MAX },
	PF_WINDOW_OPTS(struct pf_steps_args, window),
	{ 0 },
};

static int run(struct pf_ctx *cx, void *argv, struct pf_err *err)
{
	struct pf_steps_args *args = argv;
	struct pf_doc doc = { 0 };
	bool is_text = cx->style.format == PF_FORMAT_TEXT;
	int rc;

	args->wide = cx->style.format == PF_FORMAT_CSV ||
		     cx->style.format == PF_FORMAT_JSON;
	if (args->limit == LIMIT_UNSET)
		args->limit = is_text ? TEXT_ROWS : -1;
	rc = pf_steps_answer(cx->db, args, &doc, err);
	if (!rc)
		rc = pf_render_doc(&cx->style, &doc, cx->out, err);
	pf_doc_release(&doc);
	return rc;
}

const struct pf_cmd pf_cmd_steps = {
	.name = "steps",
	.args = "[DB]",
	.summary = "show how long steps take, and what that time goes to",
	.details = "Each instant of a profiler step goes to the first of these "
		   "that was active: kernels, copies, memsets, communication, "
		   "calls of the runtime, loading of data, operators on the "
		   "CPU, other.  So the classes sum to the step exactly.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	.args_bytes = sizeof(struct pf_steps_args),
	.defaults = &defaults,
	.examples = "profan steps job.db\n"
		    "profan steps job.db --skip-first 2 --format csv\n",
	.run = run,
};
