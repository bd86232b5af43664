/* SPDX-License-Identifier: MIT */
/* profan merge -o OUT INPUT... */
#include "config.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/num.h"
#include "cmd/cmd.h"
#include "compare/merge.h"
#include "store/threads.h"

struct merge_args {
	const char *out, *shard, *keep, *capture, *label_file;
	struct pf_opt_list labels;
	int64_t threads;
};

static const struct pf_opt opts[] = {
	{ 'o', "output", "FLEET",
	  "write the fleet database here; one that was there is replaced",
	  PF_OPT_STRING, offsetof(struct merge_args, out), 0, 0 },
	{ 0, "shard", "I/N",
	  "only part I, from 0 on, of N equal parts of the inputs",
	  PF_OPT_STRING, offsetof(struct merge_args, shard), 0, 0 },
	{ 0, "keep", "DIR",
	  "keep the database of each trace here, and use those that are there",
	  PF_OPT_STRING, offsetof(struct merge_args, keep), 0, 0 },
	{ 0, "capture", "NAME",
	  "what the ranks are a capture of (default: the folder of the run)",
	  PF_OPT_STRING, offsetof(struct merge_args, capture), 0, 0 },
	{ 0, "label", "KEY=VALUE", "a label of every rank; may be repeated",
	  PF_OPT_LIST, offsetof(struct merge_args, labels), 0, 0 },
	{ 0, "labels", "FILE.csv",
	  "labels of ranks: a column 'rank', and one for each label",
	  PF_OPT_STRING, offsetof(struct merge_args, label_file), 0, 0 },
	{ 'j', "threads", "N",
	  "inputs to read at once (default: one per processor, at most 4)",
	  PF_OPT_INT, offsetof(struct merge_args, threads), 1, 16 },
	{ 0 }
};

static void say(const struct pf_fleet_merge *m)
{
	const struct pf_fleet_count *made = &m->made;

	if (made->passed)
		pf_log_note("%zu file%s in folders %s no trace%s", made->passed,
			    pf_plural(made->passed),
			    made->passed == 1 ? "is" : "are",
			    pf_plural(made->passed));
	pf_log_note("%s: %" PRId64 " rank%s of %" PRId64 " capture%s%s", m->out,
		    made->ranks - made->errors,
		    pf_plural(made->ranks - made->errors), made->captures,
		    pf_plural(made->captures),
		    made->errors ? "" : ", none failed");
	if (made->errors)
		pf_log_warn("%s: of %" PRId64 " rank%s nothing could be read; "
			    "'profan info %s' lists them",
			    m->out, made->errors, pf_plural(made->errors),
			    m->out);
}

static int run(struct pf_ctx *cx, void *p)
{
	const struct merge_args *a = p;
	struct pf_fleet_merge m = {
		.arguments = cx->argv,
		.count = (size_t)cx->argc,
		.out = a->out,
		.shard = a->shard,
		.keep = a->keep,
		.capture = a->capture,
		.label_file = a->label_file,
		.labels = a->labels.items,
		.label_count = a->labels.count,
		.threads =
			a->threads ? (size_t)a->threads : pf_threads_default(),
	};

	if (!a->out)
		return pf_fail(cx->err, PF_EUSAGE,
			       "say with -o where the fleet database goes");
	PF_TRY(pf_fleet_merge(&m, cx->err));
	say(&m);
	return m.made.failed > 0;
}

PF_COMMAND(110, merge) = {
	.name = "merge",
	.group = PF_GROUP_READ,
	.args = "-o FLEET INPUT...",
	.summary = "put summaries of many ranks into one fleet database",
	.details = "INPUT is a trace, which is ingested first, the database "
		   "of one rank, a fleet database, or a folder: the traces "
		   "below it, as for 'profan ingest', or, if it has none, the "
		   "databases below it.  A fleet holds of each rank what "
		   "'profan steps', kernels, table, gaps, overlap, memory and "
		   "doctor find with their defaults, some 25 KB, what 'profan "
		   "ranks' compares, some 15 bytes a collective, and no "
		   "events, so that thousands of ranks and many nights are "
		   "one small file.  Fleets may be merged again: the same "
		   "ranks give the same bytes, in whatever order and "
		   "grouping; a rank that comes twice counts once.\n"
		   "\n"
		   "Of a fleet 'profan summary', info, steps, kernels, table, "
		   "overlap, gaps, doctor and trend show sums over ranks and "
		   "quantiles of what each rank has; query reads its tables.  "
		   "With --rank N the commands that have this option read the "
		   "database of that rank, if --keep kept it.\n"
		   "\n"
		   "An input that cannot be read costs itself only: it is a "
		   "rank with an error in the fleet, and the exit code is 1.",
	.min_args = 1,
	.max_args = -1,
	.opts = opts,
	.args_bytes = sizeof(struct merge_args),
	.examples = "profan merge traces/ -o fleet.db --keep databases\n"
		    "profan merge --shard 3/64 traces/ -o part.3.db\n"
		    "profan merge part.*.db -o fleet.db --labels hosts.csv\n"
		    "profan merge night/ -o night.db --label commit=1a2b3c\n"
		    "profan merge nights.db night.db -o all.db\n",
	.run = run,
};
