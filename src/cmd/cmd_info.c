/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/info.h"
#include "cmd/cmd.h"

static int run(struct pf_ctx *cx, void *args, struct pf_err *err)
{
	struct pf_doc doc = { 0 };
	int rc = pf_info(cx->db, NULL, &doc, err);

	(void)args;
	if (!rc)
		rc = pf_render_doc(&cx->style, &doc, cx->out, err);
	pf_doc_release(&doc);
	return rc;
}

PF_COMMAND(160, info) = {
	.name = "info",
	.args = "[DB]",
	.summary = "show what is in a database",
	.details = "Traces and where every event of their files went, devices, "
		   "profiler steps, tracks, events by category, what was "
		   "mended or skipped, profiler options and storage.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.examples = "profan info job.db\n"
		    "profan info job.db --format json\n",
	.run = run,
};
