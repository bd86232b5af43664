/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "cmd/cache.h"
#include "cmd/cmd.h"
#include "compare/fleet.h"
#include "analysis/ranks/ranks.h"

struct args {
	struct pf_window_args window;
	int clock;
	struct pf_opt_list checks;
	const char *capture, *by;
};

static const struct args defaults = { .window = PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	{ 0, "clock", "aligned|drifting|as-is",
	  "clocks: by ends of collectives, with any drift, or as they are",
	  PF_OPT_CHOICE, offsetof(struct args, clock), 0, 0 },
	{ 0, "fail-on", "CHECK",
	  "exit with 1 if 'straggler>2%' or 'waste>5%' of the time",
	  PF_OPT_LIST, offsetof(struct args, checks), 0, 0 },
	{ 0, "by", "host|LABEL",
	  "also as groups: machines, or what a label of a fleet says",
	  PF_OPT_STRING, offsetof(struct args, by), 0, 0 },
	{ 0, "capture", "NAME", "this capture of a fleet that has several",
	  PF_OPT_STRING, offsetof(struct args, capture), 0, 0 },
	PF_WINDOW_OPTS(struct args, window),
	{ 0 },
};

/* The ranks of an open database. */
static int add(struct pf_ranks_job *job, struct pf_db *db,
	       const struct args *args)
{
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };

	PF_TRY(pf_window_resolve(db, &args->window, &window));
	return pf_ranks_add(job, db, &window);
}

static int add_file(struct pf_ranks_job *job, const char *path,
		    const struct args *args, struct pf_err *err)
{
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };

	PF_TRY(pf_db_open(&db, path, false, err));
	return add(job, &db, args);
}

/* Several arguments: traces of one job, or databases of a rank each. */
static int add_all(struct pf_ranks_job *job, struct pf_ctx *cx,
		   const struct args *args)
{
	size_t count = (size_t)cx->argc, databases = 0;
	PF_AUTO(pf_cache_close) struct pf_cached cached = { 0 };

	for (size_t i = 0; i < count; i++)
		databases += pf_cache_is_database(cx->argv[i]);
	if (!count || databases < count) {
		PF_TRY(pf_cache_open(&cached, cx->argv, count, cx->err));
		return add_file(job, cached.path, args, cx->err);
	}
	for (size_t i = 0; i < count; i++)
		PF_TRY(add_file(job, cx->argv[i], args, cx->err));
	return 0;
}

/* ---- fleets ---- */

/* Of a fleet, those that --rank names. */
struct chosen {
	struct pf_ranks_job *job;
	const char *ranks;
	bool has_any;
};

static int take(void *context, const void *data, size_t len, struct pf_err *err)
{
	struct chosen *c = context;
	int rc = pf_ranks_add_bytes(c->job, data, len, c->ranks, err);

	c->has_any |= rc == 1;
	return rc < 0 ? -1 : 0;
}

static int open_fleet(struct pf_ctx *cx, const struct args *args,
		      struct pf_db *db)
{
	if (cx->argc > 1)
		return pf_fail(cx->err, PF_EUSAGE,
			       "'%s' is a fleet database, of which 'ranks' "
			       "reads one: 'profan merge' makes one of several",
			       cx->argv[0]);
	if (pf_opt_other(opts, args, &defaults,
			 "clock fail-on by capture rank"))
		return pf_fail(cx->err, PF_EUSAGE,
			       "a fleet has no events, and 'ranks' of it no "
			       "options that choose some, but for --rank");
	return pf_db_open_kind(db, cx->argv[0], &pf_fleet_kind, cx->err);
}

static int add_fleet(struct pf_ranks_job *job, struct pf_ctx *cx,
		     const struct args *args)
{
	struct chosen chosen = { .job = job, .ranks = args->window.rank };
	const struct pf_fleet_digest_sink sink = { take, &chosen };
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };

	PF_TRY(pf_window_check_ranks(chosen.ranks, cx->err));
	PF_TRY(open_fleet(cx, args, &db));
	PF_TRY(pf_fleet_digests_read(&db, args->capture, &sink));
	if (chosen.ranks && !chosen.has_any)
		return pf_fail(cx->err, PF_EDATA,
			       "there is no trace of rank %s", chosen.ranks);
	return 0;
}

static bool is_of_fleet(const struct pf_ctx *cx)
{
	return cx->argc && pf_is_fleet(cx->argv[0]);
}

/* ---- groups of ranks ---- */

/* Labels of a fleet; without one, and of databases, what traces say. */
static int find_values(struct pf_ctx *cx, const struct args *args,
		       const struct pf_ranks *found, const char **values,
		       struct pf_arena *texts)
{
	PF_OWN int64_t *ranks =
		pf_calloc(found->rank_count + 1, sizeof(*ranks));
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };

	for (size_t i = 0; i < found->rank_count; i++)
		ranks[i] = found->ranks[i].rank;
	if (is_of_fleet(cx)) {
		PF_TRY(open_fleet(cx, args, &db));
		PF_TRY(pf_fleet_label_of(&db, args->capture, args->by, ranks,
					 found->rank_count, values, texts));
	}
	for (size_t i = 0; i < found->rank_count; i++)
		if (!values[i] && !strcmp(args->by, "host"))
			values[i] = found->ranks[i].host;
	return 0;
}

static int show_by(struct pf_ctx *cx, const struct args *args,
		   const struct pf_ranks *found, struct pf_doc *doc)
{
	PF_OWN const char **values =
		pf_calloc(found->rank_count + 1, sizeof(*values));
	PF_AUTO(pf_arena_release) struct pf_arena texts = { 0 };
	bool has_any = false;

	PF_TRY(find_values(cx, args, found, values, &texts));
	for (size_t i = 0; i < found->rank_count; i++)
		has_any |= values[i] != NULL;
	if (!has_any && found->rank_count)
		return pf_fail(cx->err, PF_EUSAGE,
			       "--by '%s': no rank says it; 'profan merge "
			       "--labels' gives ranks of a fleet labels",
			       args->by);
	pf_ranks_show_by(found, args->by, values, cx->wide, doc);
	return 0;
}

static int check(const struct args *args, const struct pf_ranks *found,
		 struct pf_doc *doc, struct pf_err *err)
{
	bool is_failed = false;

	for (size_t i = 0; i < args->checks.count; i++)
		PF_TRY(pf_ranks_gate(args->checks.items[i], found, doc,
				     &is_failed, err));
	return is_failed;
}

static int answer(struct pf_ctx *cx, void *argv, struct pf_doc *doc)
{
	const struct args *args = argv;
	const struct pf_ranks_args how = {
		.clock = (enum pf_ranks_clock)args->clock
	};
	PF_AUTO(pf_ranks_freed) struct pf_ranks_job *job = pf_ranks_new(&how);
	PF_AUTO(pf_ranks_release) struct pf_ranks found = { 0 };

	for (size_t i = 0; i < args->checks.count; i++)
		PF_TRY(pf_ranks_gate_parse(args->checks.items[i], cx->err));
	if (!is_of_fleet(cx) && args->capture)
		return pf_fail(cx->err, PF_EUSAGE,
			       "--capture is of a fleet database");
	PF_TRY(is_of_fleet(cx) ? add_fleet(job, cx, args)
			       : add_all(job, cx, args));
	PF_TRY(pf_ranks_find(job, &found, cx->err));
	doc->is_of_many = found.rank_count > PF_RANKS_FEW;
	if (!cx->wide && !cx->is_limit_given)
		doc->order.limit =
			doc->is_of_many ? PF_RANKS_OUTER : PF_RANKS_FEW;
	pf_ranks_show(&found, cx->wide, doc);
	if (args->by && !doc->is_nothing)
		PF_TRY(show_by(cx, args, &found, doc));
	return check(args, &found, doc, cx->err);
}

PF_COMMAND(345, ranks) = {
	.name = "ranks",
	.group = PF_GROUP_WHY,
	.args = "[DB...]",
	.summary = "show which rank is late to collectives, why, and its cost",
	.details =
		"The ranks are those of one database (or of traces, or a "
		"folder of them), or of several.  Clocks are aligned by "
		"the ends of collectives, waiting is told from transfer, "
		"the late rank is compared with the middle one, its "
		"kernels too (more of them, all slower, or some), and the "
		"collectives are replayed without its delays.  Of "
		"pipelines it shows waits in receives, and bubbles by rank "
		"and stage.  Where clocks cannot be aligned a sentence "
		"says so, and nothing is compared.  Without GPU work "
		"the collectives are those that hosts run themselves "
		"(gloo), the n-th of a kind with the n-th, between "
		"operators; what that costs is not worked out.  A rank whose "
		"collectives do not match those of the others, as of a "
		"trace that was cut or ended early, is left out with the "
		"reason, the others are compared, and what they cost is "
		"not worked out; where it may be one rank or another, none "
		"is compared.  A fleet database ('profan merge') holds "
		"what is compared of each rank, so its answer is that of "
		"the ranks' databases, also of those that --rank names.",
	.needs = PF_SHOWS_DOC | PF_HAS_CHECKS,
	.max_args = -1,
	.opts = opts,
	PF_DEFAULTS(defaults),
	.lists = "ranks by times work steps clocks collectives stages "
		 "receives",
	.sorts = "root_ns|waited_ns|saved_ns|rank",
	.examples = "profan ranks job.db\n"
		    "profan ranks rank0.db rank1.db rank2.db\n"
		    "profan ranks job.db --step 3..8 --format json\n"
		    "profan ranks job.db --fail-on 'straggler>2%'\n"
		    "profan ranks fleet.db --by rack\n",
	.answer = answer,
};
