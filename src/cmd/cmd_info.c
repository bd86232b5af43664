/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/info.h"
#include "cmd/cmd.h"
#include "fleet/show.h"
#include "training/training.h"

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc,
		  struct pf_err *err)
{
	(void)args;
	if (pf_info(cx->db, NULL, doc, err))
		return -1;
	return pf_training_summary(cx->db, doc, err);
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
		    "profan info job.db --format json\n"
		    "profan info job.db --table repairs -f csv\n",
	.lists = "storage",
	.text_rows = 6,
	.answer = answer,
	.fleet = pf_fleet_info,
};
