/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "export/stacks.h"
#include "base/log.h"
#include "base/num.h"
#include "cmd/cmd.h"
#include "events/hints.h"

static const struct pf_stacks_args defaults = { .window = PF_WINDOW_DEFAULTS,
						.out = "-" };

static const struct pf_opt opts[] = {
	{ 0, "weight", PF_STACKS_WEIGHTS, "what to add up, in ns or bytes",
	  PF_OPT_CHOICE, offsetof(struct pf_stacks_args, weight), 0, 0 },
	{ 0, "at", "end|peak", "which bytes of --weight memory", PF_OPT_CHOICE,
	  offsetof(struct pf_stacks_args, at_peak), 0, 0 },
	{ 0, "threads", NULL,
	  "each thread (or idle GPU) apart, as the outermost frame",
	  PF_OPT_FLAG, offsetof(struct pf_stacks_args, threads), 0, 0 },
	{ 'o', "output", "FILE",
	  "write here, not to standard output; FILE.gz is compressed",
	  PF_OPT_STRING, offsetof(struct pf_stacks_args, out), 0, 0 },
	{ 0, "force", NULL, "replace FILE if it exists", PF_OPT_FLAG,
	  offsetof(struct pf_stacks_args, force), 0, 0 },
	PF_WINDOW_OPTS(struct pf_stacks_args, window),
	{ 0 },
};

/* Nothing at all, or no lines of Python, and what would record them. */
static int note_missing(struct pf_ctx *cx, const struct pf_stacks_result *r)
{
	const char *what = r->nothing ? r->nothing : "no Python functions";
	enum pf_hint hint = r->nothing ? r->hint : PF_HINT_STACKS;
	enum pf_producer from;

	if (!r->nothing && r->has_python)
		return 0;
	PF_TRY(pf_hint_producer(cx->db, &from));
	if (hint == PF_HINT_NONE)
		pf_log_note("%s", what);
	else
		pf_log_note("%s%s %s", what, r->nothing ? ";" : ":",
			    pf_hint(from, hint));
	return 0;
}

static int run(struct pf_ctx *cx, void *argv)
{
	static const char *const what[] = { "GPU work", "host time",
					    "GPU idle time", "memory", "" };
	const struct pf_stacks_args *args = argv;
	char time[PF_NUM_MAX];
	struct pf_stacks_result r;
	const char *plural;

	PF_TRY(pf_stacks(cx->db, args, cx->out, &r) < 0);
	if (r.nothing)
		return note_missing(cx, &r);
	if (args->weight == PF_STACKS_MEMORY)
		pf_num_show_bytes(time, r.total_ns);
	else if (r.is_samples)
		pf_num_show_count(time, r.total_ns);
	else
		pf_num_show_ns(time, r.total_ns);
	const char *lines = PF_SHOW_COUNT(r.line_count);
	plural = pf_plural(r.line_count);
	if (r.is_samples)
		pf_log_note("%s in %s stack%s; the file does not say of what",
			    time, lines, plural);
	else
		pf_log_note("%s of %s in %s stack%s", time, what[args->weight],
			    lines, plural);
	if (r.deep_count)
		pf_log_note("%s ranges lie in more than %d others and are part "
			    "of what they lie in",
			    PF_SHOW_COUNT(r.deep_count), PF_STACKS_DEPTH);
	return note_missing(cx, &r);
}

PF_COMMAND(515, stacks) = {
	.name = "stacks",
	.group = PF_GROUP_GIVE,
	.args = "[DB]",
	.summary = "print stacks for flame graphs",
	.details = "One line a stack, 'frame;frame;op;kernel N', the "
		   "outermost frame first, as flamegraph.pl, speedscope and "
		   "inferno read it.  N is in ns: time of GPU work by the "
		   "stack of its launch call, time of host threads by what is "
		   "innermost, or idle time of GPUs by its cause.  The lines "
		   "are in the order of their bytes and add up to the total "
		   "exactly.  Of a memory snapshot, --weight memory gives "
		   "bytes by call stack.",
	.needs = PF_NEEDS_DB,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.examples = "profan stacks job.db | flamegraph.pl --countname ns "
		    ">gpu.svg\n"
		    "profan stacks --weight memory --at peak oom.pickle\n"
		    "profan stacks --weight idle --step 3 job.db\n"
		    "profan stacks --weight cpu --threads -o cpu.folded\n",
	.run = run,
};
