/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/cmd.h"
#include "page/slices.h"

static const struct pf_drawn_args defaults = { .window = PF_WINDOW_DEFAULTS,
					       .pixels = 1000 };

static const struct pf_opt opts[] = {
	PF_WINDOW_OPTS(struct pf_drawn_args, window),
	{ 0, "pixels", "N", "divide the time into N columns", PF_OPT_INT,
	  offsetof(struct pf_drawn_args, pixels), 1, PF_DRAWN_PIXELS },
	{ 0, "column", "TIME", "or into columns of so much time each",
	  PF_OPT_NS, offsetof(struct pf_drawn_args, column_ns), 0, 0 },
	{ 0, "tracks", PF_DRAWN_WORDS,
	  "streams of GPUs and threads; or GPUs' idle time, the path, or "
	  "counters and allocated memory",
	  PF_OPT_CHOICE, offsetof(struct pf_drawn_args, tracks), 0, 0 },
	{ 0 },
};

static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
{
	return pf_timeline_draw(cx->db, args, cx->kept, doc);
}

PF_COMMAND(508, timeline) = {
	.name = "timeline",
	.group = PF_GROUP_GIVE,
	.args = "[DB]",
	.summary = "list what a timeline shows of a window",
	.details = "Of each depth of each track, in each of --pixels columns "
		   "of time, the event that covers most of it, and how many "
		   "begin there: what a picture of this width shows, at any "
		   "zoom.  Only blocks that the window touches are read.  "
		   "Of counters and of the memory that is allocated: in each "
		   "column the least, the most and the last value, which "
		   "holds until the next.  "
		   "The page of 'profan view' draws it.",
	.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "slices names steps samples",
	.sorts = "dur_ns|events",
	.text_rows = 20,
	.examples = "profan timeline job.db --from 1s --to 1.2s\n"
		    "profan timeline job.db --pixels 300 --tracks gpu "
		    "--format json\n",
	.answer = answer,
};
