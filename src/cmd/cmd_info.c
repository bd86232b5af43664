/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/trust/info.h"
#include "cmd/cmd.h"
#include "compare/fleet_show.h"
#include "analysis/time/training.h"

struct info_args {
	bool check;
};

static const struct pf_opt opts[] = {
	{ 0, "check", NULL, "read everything back first, and refuse damage",
	  PF_OPT_FLAG, offsetof(struct info_args, check), 0, 0 },
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	const struct info_args *a = args;
	int64_t checked;

	PF_TRY(a->check && pf_check(cx->db, &checked));
	PF_TRY(pf_info(cx->db, NULL, doc));
	PF_TRY(pf_info_storage(cx->db, doc));
	if (a->check)
		pf_doc_int(doc, "checked_count", "Events read back", PF_COUNT,
			   checked);
	return pf_training_summary(cx->db, doc);
}

PF_COMMAND(530, info) = {
	.name = "info",
	.group = PF_GROUP_GIVE,
	.args = "[DB]",
	.summary = "show what is in a database",
	.details = "Traces and where every event of their files went, "
		   "devices, profiler steps, tracks, events by category, what "
		   "was mended or skipped, what the traces say about "
		   "themselves, and storage by table of the database, the "
		   "largest first.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	.args_bytes = sizeof(struct info_args),
	.examples = "profan info job.db\n"
		    "profan info job.db --check\n"
		    "profan info job.db --format json\n"
		    "profan info job.db --table repairs -f csv\n",
	.lists = "storage",
	.text_rows = 6,
	.answer = answer,
	.fleet = pf_fleet_info,
};
