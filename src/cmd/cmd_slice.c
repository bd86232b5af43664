/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "export/slice.h"
#include "base/log.h"
#include "base/num.h"
#include "cmd/cmd.h"

static const struct pf_slice_args defaults = { .window = PF_WINDOW_DEFAULTS,
					       .margin_ns = -1 };

static const struct pf_opt opts[] = {
	{ 'o', "output", "FILE", "write here; FILE.gz is compressed",
	  PF_OPT_STRING, offsetof(struct pf_slice_args, out), 0, 0 },
	{ 0, "gap", "N", "the N-th longest gap in which a GPU is idle",
	  PF_OPT_INT, offsetof(struct pf_slice_args, gap), 1, 100000 },
	{ 0, "margin", "TIME", "and so much before and after it", PF_OPT_NS,
	  offsetof(struct pf_slice_args, margin_ns), 0, 0 },
	{ 0, "path", NULL, "the critical path as a track, too", PF_OPT_FLAG,
	  offsetof(struct pf_slice_args, path), 0, 0 },
	{ 0, "whole", NULL, "do not cut what reaches over the edges",
	  PF_OPT_FLAG, offsetof(struct pf_slice_args, whole), 0, 0 },
	{ 0, "force", NULL, "replace FILE if it exists", PF_OPT_FLAG,
	  offsetof(struct pf_slice_args, force), 0, 0 },
	PF_WINDOW_OPTS(struct pf_slice_args, window),
	{ 0 },
};

static void say(const struct pf_slice_args *a, const struct pf_slice_result *r)
{
	pf_log_note(
		"wrote %s event%s%s%s to '%s'", PF_SHOW_COUNT(r->event_count),
		pf_plural(r->event_count), r->is_untimed ? "" : " of ",
		r->is_untimed ? "" : PF_SHOW_NS(r->to_ns - r->from_ns), a->out);
	if (r->is_untimed)
		pf_log_note("the snapshot has no times: in their place is the "
			    "number of each entry");
	if (a->path)
		pf_log_note("%s piece%s of the critical path beside them",
			    PF_SHOW_COUNT(r->tile_count),
			    pf_plural(r->tile_count));
	if (r->moved_count)
		pf_log_note("%s %s of %s own", PF_SHOW_COUNT(r->moved_count),
			    r->moved_count == 1
				    ? "range that overlaps others is on a "
				      "thread"
				    : "ranges that overlap others are on "
				      "threads",
			    r->moved_count == 1 ? "its" : "their");
	if (r->arrow_count)
		pf_log_note("%s %s left out", PF_SHOW_COUNT(r->arrow_count),
			    r->arrow_count == 1
				    ? "end of an arrow whose other end is "
				      "elsewhere is"
				    : "ends of arrows whose other end is "
				      "elsewhere are");
}

static int run(struct pf_ctx *cx, void *argv)
{
	const struct pf_slice_args *args = argv;
	struct pf_slice_result result;

	if (!args->out)
		return pf_fail(cx->err, PF_EUSAGE, "'--output' is missing");
	PF_TRY(pf_slice(cx->db, args, cx->out, &result) < 0);
	say(args, &result);
	return 0;
}

PF_COMMAND(510, slice) = {
	.name = "slice",
	.group = PF_GROUP_GIVE,
	.args = "-o FILE [DB]",
	.summary = "write part of a trace as a trace for Perfetto",
	.details = "Every event that overlaps the window, with its name, "
		   "arguments, ids and thread, and what the trace says about "
		   "itself, as a Chrome trace that https://ui.perfetto.dev "
		   "and others open.  Ranges that reach over the edges are "
		   "cut, and their whole span is the argument 'profan cut'; "
		   "other events are those that begin in the window, and "
		   "arrows those of which both ends do.  Ranges that overlap "
		   "others of their thread without nesting, which viewers "
		   "drop, go to a thread 'TID overlap N' of their own, with "
		   "their arrows.",
	.needs = PF_NEEDS_DB,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.examples = "profan slice --step 3 -o step.json.gz\n"
		    "profan slice --gap 1 -o gap.json job.db\n"
		    "profan slice --step 3 --path -o path.json.gz\n"
		    "profan slice --from 1s --to 1.2s -o part.json.gz job.db\n",
	.run = run,
};
