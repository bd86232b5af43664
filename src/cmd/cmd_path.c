/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/cmd.h"
#include "analysis/graphs/graphs.h"
#include "analysis/path/path.h"

struct args {
	struct pf_path_args path;
	struct pf_graph_evidence evidence;
};

static const struct args defaults = { .path.window = PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct args, path.window),
	PF_GRAPH_OPTS(struct args, evidence),
	{ 0, "group", PF_PATH_GROUPS, "sum the path by this", PF_OPT_CHOICE,
	  offsetof(struct args, path.group), 0, 0 },
	{ 0, "what-if", "CHANGE", "what would be saved; may be repeated",
	  PF_OPT_LIST, offsetof(struct args, path.what_if), 0, 0 },
	{ 0, "list", NULL, "list the path piece by piece, too", PF_OPT_FLAG,
	  offsetof(struct args, path.list), 0, 0 },
	{ 0 },
};

/* Before all of several ranks is read, to be refused. */
static int check_window(struct pf_db *db, const struct pf_window_args *args)
{
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };

	PF_TRY(pf_window_resolve(db, args, &window));
	return pf_path_check(&window, db->err);
}

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	struct args *a = args;
	PF_AUTO(pf_graphs_release) struct pf_graphs graphs = { 0 };

	PF_TRY(check_window(cx->db, &a->path.window));
	/* work of all of the trace may bind what is in the window */
	PF_TRY(pf_cmd_name_all_graphs(cx->db, &a->evidence, &a->path.window,
				      &graphs, &a->path.graphs));
	return pf_path(cx->db, &a->path, NULL, doc);
}

PF_COMMAND(325, path) = {
	.name = "path",
	.group = PF_GROUP_WHY,
	.args = "[DB]",
	.summary = "show what decides how long the steps take",
	.details = "The critical path: from the end of the window back, each "
		   "thing with what bound it.  GPU work is bound by its "
		   "launch call, by the work before it on its stream or by "
		   "what its stream waited for; a call that waits by the work "
		   "that it waits for; a thread by the one that woke it.  The "
		   "pieces of the path follow each other without gap or "
		   "overlap and add up to the window: only what is on it can "
		   "make the window shorter.  Csv and json have more columns.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "rows tiles what_if",
	.sorts = "ns|count|longest_ns",
	.text_rows = 20,
	.examples = "profan path job.db\n"
		    "profan path job.db --step 3 --group op\n"
		    "profan path job.db --what-if data=0 "
		    "--what-if 'gpu:attention=0.5'\n"
		    "profan path job.db --list --format csv\n"
		    "profan path decode.db --group op --capture "
		    "capture.json.gz\n",
	.answer = answer,
};
