/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/advise/advise.h"
#include "cmd/cmd.h"

static const struct pf_advise_args defaults = { .window = PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_advise_args, window),
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *argv, struct pf_doc *doc)
{
	struct pf_advise_args *args = argv;

	args->db_name = cx->db_name;
	return pf_advise(cx->db, args, doc);
}

PF_COMMAND(330, advise) = {
	.name = "advise",
	.group = PF_GROUP_WHY,
	.args = "[DB]",
	.summary = "say what to change next, and what it brings at most",
	.details = "Each advice with what it saves at most (what the change "
		   "takes off the critical path of 'profan path', or what "
		   "that path saves when it is worked out anew), why, where "
		   "the time is, what to write, and the command that shows "
		   "its figures.  The one that can save most comes first, but "
		   "for what other advice is about, too.  "
		   "What the trace does not say enough about is listed with "
		   "the reason, and so is what there is nothing to do about.  "
		   "The same is what 'profan summary' and 'profan report' say "
		   "first.  Of several traces there is no critical path: their "
		   "causes are judged by what GPUs wait for, and nothing says "
		   "what would be saved.  Without GPU work each is judged "
		   "alone, and what they say is added up.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "advice",
	.sorts = "at_most_ns|share",
	.examples = "profan advise job.db\n"
		    "profan advise trace.json.gz --step 3..8\n"
		    "profan advise job.db --rank 0 --format md\n",
	.answer = answer,
};
