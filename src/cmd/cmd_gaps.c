/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/gaps.h"
#include "cmd/cmd.h"

#define LIMIT_UNSET (-2)
#define TEXT_ROWS   10
#define OTHER_ROWS  1000

static const struct pf_gaps_args defaults = { .window = PF_WINDOW_DEFAULTS,
					      .limit = LIMIT_UNSET,
					      .micro_ns = PF_GAPS_MICRO_NS };

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_gaps_args, window),
	{ 'n', "limit", "N", "print at most N culprits and N gaps (-1: all)",
	  PF_OPT_INT, offsetof(struct pf_gaps_args, limit), -1, INT64_MAX },
	{ 0, "micro", "DURATION", "do not explain gaps shorter than this",
	  PF_OPT_NS, offsetof(struct pf_gaps_args, micro_ns), 0, 0 },
	{ 0 },
};

static int run(struct pf_ctx *cx, void *argv, struct pf_err *err)
{
	struct pf_gaps_args *args = argv;
	struct pf_doc doc = { 0 };
	bool is_text = cx->style.format == PF_FORMAT_TEXT;
	int rc;

	args->wide = cx->style.format == PF_FORMAT_CSV ||
		     cx->style.format == PF_FORMAT_JSON;
	if (args->limit == LIMIT_UNSET)
		args->limit = is_text ? TEXT_ROWS : OTHER_ROWS;
	rc = pf_gaps(cx->db, args, &doc, err);
	if (!rc)
		rc = pf_render_doc(&cx->style, &doc, cx->out, err);
	pf_doc_release(&doc);
	return rc;
}

const struct pf_cmd pf_cmd_gaps = {
	.name = "gaps",
	.args = "[DB]",
	.summary = "show why the GPU is idle",
	.details = "Every span of time in which no work runs on a GPU, on any "
		   "of its streams, is split without remainder into pieces, "
		   "each with a cause and what holds it: the call, op or "
		   "line of Python that the launching thread was in, or what "
		   "the GPU waited for.  The causes add up to the idle time.  "
		   "Csv and json have more columns.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	.args_bytes = sizeof(struct pf_gaps_args),
	.defaults = &defaults,
	.examples = "profan gaps job.db\n"
		    "profan gaps job.db --step 3..8 --format json\n",
	.run = run,
};
