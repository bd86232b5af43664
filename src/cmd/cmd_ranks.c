/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/cache.h"
#include "cmd/cmd.h"
#include "ranks/ranks_show.h"

struct args {
	struct pf_window_args window;
	int clock;
	struct pf_opt_list checks;
};

static const struct args defaults = { .window = PF_WINDOW_DEFAULTS };

static const struct pf_opt opts[] = {
	{ 0, "clock", "aligned|drifting|as-is",
	  "clocks: by ends of collectives, with any drift, or as they are",
	  PF_OPT_CHOICE, offsetof(struct args, clock), 0, 0 },
	{ 0, "fail-on", "CHECK",
	  "exit with 1 if 'straggler>2%' or 'waste>5%' of the time",
	  PF_OPT_LIST, offsetof(struct args, checks), 0, 0 },
	PF_WINDOW_OPTS(struct args, window),
	{ 0 },
};

/* The ranks of an open database. */
static int add(struct pf_ranks_job *job, struct pf_db *db,
	       const struct args *args, struct pf_err *err)
{
	struct pf_window window = { 0 };
	int rc = pf_window_resolve(db, &args->window, &window, err);

	if (!rc)
		rc = pf_ranks_add(job, db, &window, err);
	pf_window_release(&window);
	return rc;
}

static int add_file(struct pf_ranks_job *job, const char *path,
		    const struct args *args, struct pf_err *err)
{
	struct pf_db db = { 0 };
	int rc = pf_db_open(&db, path, false, err);

	if (!rc)
		rc = add(job, &db, args, err);
	pf_db_close(&db);
	return rc;
}

/* Several arguments: traces of one job, or databases of a rank each. */
static int add_all(struct pf_ranks_job *job, struct pf_ctx *cx,
		   const struct args *args, struct pf_err *err)
{
	char *const given[] = { (char *)pf_cmd_default_db() };
	char *const *sources = cx->argc ? cx->argv : given;
	size_t count = cx->argc ? (size_t)cx->argc : 1, databases = 0;
	struct pf_cached cached;
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		databases += pf_cache_is_database(sources[i]);
	if (databases == count) {
		for (size_t i = 0; !rc && i < count; i++)
			rc = add_file(job, sources[i], args, err);
		return rc;
	}
	if (pf_cache_open(&cached, sources, count, err) < 0)
		return -1;
	rc = add_file(job, cached.path, args, err);
	pf_cache_close(&cached);
	return rc;
}

static int check(const struct args *args, const struct pf_ranks *found,
		 struct pf_doc *doc, struct pf_err *err)
{
	bool is_failed = false;

	for (size_t i = 0; i < args->checks.count; i++)
		if (pf_ranks_gate(args->checks.items[i], found, doc, &is_failed,
				  err) < 0)
			return -1;
	return is_failed;
}

static int answer(struct pf_ctx *cx, void *argv, struct pf_doc *doc,
		  struct pf_err *err)
{
	const struct args *args = argv;
	const struct pf_ranks_args how = {
		.clock = (enum pf_ranks_clock)args->clock
	};
	struct pf_ranks_job *job = pf_ranks_new(&how);
	struct pf_ranks found = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < args->checks.count; i++)
		rc = pf_ranks_gate_parse(args->checks.items[i], err);
	if (!rc)
		rc = add_all(job, cx, args, err);
	if (!rc)
		rc = pf_ranks_find(job, &found, err);
	if (!rc) {
		if (!cx->wide && !cx->is_limit_given)
			doc->order.limit = found.rank_count > PF_RANKS_FEW
						   ? PF_RANKS_OUTER
						   : PF_RANKS_FEW;
		pf_ranks_show(&found, cx->wide, doc);
		rc = check(args, &found, doc, err);
	}
	pf_ranks_release(&found);
	pf_ranks_free(job);
	return rc;
}

PF_COMMAND(85, ranks) = {
	.name = "ranks",
	.args = "[DB...]",
	.summary = "show which rank is late to collectives, why and what it "
		   "costs",
	.details =
		"Of several ranks, in one database or in one each: clocks are "
		"aligned by the ends of collectives, waiting is told from "
		"transfer, the late rank is compared with the middle one, and "
		"the collectives are replayed without its delays.  Where "
		"clocks cannot be aligned a sentence says so, and nothing is "
		"compared.",
	.needs = PF_SHOWS_DOC,
	.max_args = -1,
	.opts = opts,
	.args_bytes = sizeof(struct args),
	.defaults = &defaults,
	.lists = "ranks times steps clocks collectives",
	.sorts = "root_ns|waited_ns|saved_ns|rank",
	.examples = "profan ranks job.db\n"
		    "profan ranks rank0.db rank1.db rank2.db\n"
		    "profan ranks job.db --step 3..8 --format json\n"
		    "profan ranks job.db --fail-on 'straggler>2%'\n",
	.answer = answer,
};
