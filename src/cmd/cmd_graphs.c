/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/cache.h"
#include "cmd/cmd.h"
#include "events/trust.h"
#include "analysis/graphs/graphs.h"

static const struct pf_graphs_args defaults = { .window = PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	{ 0, "capture", "FILE",
	  "a trace of the capture of these graphs; may be repeated",
	  PF_OPT_LIST, offsetof(struct pf_graphs_args, captures), 0, 0 },
	{ 0, "with", "FILE", "a trace of the same model without graphs",
	  PF_OPT_STRING, offsetof(struct pf_graphs_args, with), 0, 0 },
	{ 0, "iteration", "REGEX", "iterations are the ranges of such names",
	  PF_OPT_STRING, offsetof(struct pf_graphs_args, iteration), 0, 0 },
	{ 0, "layers", NULL, "list the layers of each graph", PF_OPT_FLAG,
	  offsetof(struct pf_graphs_args, has_layers), 0, 0 },
	{ 0, "nodes", NULL, "list the nodes of each graph", PF_OPT_FLAG,
	  offsetof(struct pf_graphs_args, has_nodes), 0, 0 },
	{ 0, "store", "FILE", "write the nodes to a new SQLite file, too",
	  PF_OPT_STRING, offsetof(struct pf_graphs_args, store), 0, 0 },
	PF_WINDOW_OPTS(struct pf_graphs_args, window),
	{ 0 },
};

/* Another file, a trace or a database, as a reference. */
static int read_other(const char *path, const struct pf_graphs_args *args,
		      enum pf_graphs_read what, struct pf_graphs *g,
		      struct pf_err *err)
{
	char *source = (char *)path;
	PF_AUTO(pf_inputs_close) struct pf_inputs in = { 0 };
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };

	PF_TRY(pf_inputs_open(&in, &source, 1, err));
	PF_TRY(pf_db_open(&db, in.paths[0], false, err));
	return pf_graphs_read(&db, args, what, g);
}

static int find(struct pf_db *db, const struct pf_graphs_args *args,
		struct pf_graphs *g)
{
	*g = (struct pf_graphs){ 0 };
	PF_TRY(pf_graphs_read(db, args, PF_GRAPHS_OWN, g));
	for (size_t i = 0; i < args->captures.count; i++)
		PF_TRY(read_other(args->captures.items[i], args,
				  PF_GRAPHS_CAPTURE, g, db->err));
	if (args->with)
		PF_TRY(read_other(args->with, args, PF_GRAPHS_EAGER, g,
				  db->err));
	pf_graphs_explain(g);
	return 0;
}

static int name(struct pf_db *db, const struct pf_graph_evidence *e,
		const struct pf_graphs_args *args, struct pf_graphs *out,
		struct pf_graphs **named)
{
	struct pf_graphs_args all = *args;

	all.captures = e->captures;
	all.with = e->with;
	all.is_brief = true;
	*out = (struct pf_graphs){ 0 };
	*named = e->is_wanted || e->captures.count || e->with ? out : NULL;
	return *named ? find(db, &all, out) : 0;
}

int pf_cmd_name_graphs(struct pf_db *db, const struct pf_graph_evidence *e,
		       const struct pf_window_args *window,
		       struct pf_graphs *out, struct pf_graphs **named)
{
	const struct pf_graphs_args args = { .window = *window };

	return name(db, e, &args, out, named);
}

int pf_cmd_name_all_graphs(struct pf_db *db, const struct pf_graph_evidence *e,
			   const struct pf_window_args *window,
			   struct pf_graphs *out, struct pf_graphs **named)
{
	struct pf_graphs_args args = { .window = *window, .has_args = true };

	args.window.whole = true;
	args.window.step = NULL;
	args.window.skip_first = 0;
	args.window.from_ns = args.window.to_ns = -1;
	return name(db, e, &args, out, named);
}

static int answer(struct pf_ctx *cx, void *p, struct pf_doc *doc)
{
	const struct pf_graphs_args *args = p;
	PF_AUTO(pf_graphs_release) struct pf_graphs g = { 0 };

	PF_TRY(find(cx->db, args, &g));
	PF_TRY(pf_trust_recorded(cx->db, &g.window, &g.recorded));
	if (args->store)
		PF_TRY(pf_graphs_store(&g, cx->db, args->store));
	pf_graphs_show(&g, args, doc);
	return pf_trust_note(cx->db, &g.window, PF_TRUST_WORK | PF_TRUST_LINKS,
			     doc);
}

PF_COMMAND(340, graphs) = {
	.name = "graphs",
	.group = PF_GROUP_WHY,
	.args = "[DB]",
	.summary = "show what CUDA and HIP graphs replay, by layer and role",
	.details = "One launch of a graph owns hundreds of kernels and no "
		   "operator.  Their roles come from their names, layers from "
		   "what repeats, operators from a trace of the capture "
		   "(--capture) or of an eager run (--with); how each is "
		   "known is said.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "graphs roles ops layers nodes iterations",
	.sorts = "gpu_ns|replays|nodes|layers",
	.text_rows = 12,
	.examples =
		"profan graphs decode.db\n"
		"profan graphs decode.db --layers --limit -1\n"
		"profan graphs decode.db --capture capture.json.gz --nodes\n"
		"profan graphs decode.db --with prefill.db\n"
		"profan graphs decode.db --capture capture.db --store "
		"nodes.db\n",
	.answer = answer,
};
