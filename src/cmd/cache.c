/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outplace.h"
#include "base/path.h"
#include "base/port.h"
#include "base/xxh128.h"
#include "cmd/cmd.h"
#include "compare/fleet.h"
#include "compare/fleet_show.h"
#include "events/window.h"
#include "ingest/files.h"
#include "ingest/ingest.h"
#include "store/db.h"

#define LIMIT_TEXT 10 /* people read a page, however many ranks there are */

bool pf_is_fleet(const char *path)
{
	struct pf_err ignored = { 0 }; /* who reads it says it */

	return pf_db_peek(path, &ignored) == PF_FLEET_APPLICATION_ID;
}

/* ---- options ---- */

static const struct pf_opt *find_opt(const struct pf_cmd *cmd, const char *name)
{
	for (const struct pf_opt *o = cmd->opts; o && o->name; o++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

static int64_t value_of(const struct pf_opt *o, const void *args)
{
	int64_t value;

	memcpy(&value, (const char *)args + o->off, sizeof(value));
	return value;
}

/* The one that --rank names, as a number or as a list of numbers. */
static int rank_of(const struct pf_opt *o, const void *args, int64_t *rank,
		   struct pf_err *err)
{
	const char *list, *at;
	int64_t last;

	if (o->kind == PF_OPT_INT) {
		*rank = value_of(o, args);
		return 0;
	}
	memcpy(&list, (const char *)args + o->off, sizeof(list));
	at = list;
	if (pf_window_range(&at, rank, &last) != 1 || *rank != last || *at)
		return pf_fail(err, PF_EUSAGE,
			       "'--rank %s': of a fleet name one rank, whose "
			       "database is read",
			       list);
	return 0;
}

static int check_options(const struct pf_cmd *cmd, const void *args,
			 struct pf_err *err)
{
	const char *other =
		pf_opt_other(cmd->opts, args, cmd->defaults, "limit");

	if (!other)
		return 0;
	return pf_fail(err, PF_EUSAGE,
		       "'--%s' is of the events of one rank, which a fleet "
		       "does not have: choose it with --rank",
		       other);
}

int64_t pf_fleet_limit(const struct pf_cmd *cmd, const struct pf_ctx *cx,
		       const void *args, bool is_limited)
{
	const struct pf_opt *own = find_opt(cmd, "limit");

	if (is_limited)
		return cx->limit;
	if (own && pf_opt_is_set(own, args, cmd->defaults))
		return value_of(own, args);
	return cx->wide ? -1 : LIMIT_TEXT;
}

/* ---- which database ---- */

int pf_fleet_choose(const struct pf_cmd *cmd, const void *args, char **path,
		    struct pf_err *err)
{
	const struct pf_opt *rank = find_opt(cmd, "rank");
	int64_t number;
	char *own;

	if (rank && pf_opt_is_set(rank, args, cmd->defaults)) {
		PF_TRY(rank_of(rank, args, &number, err));
		PF_TRY(pf_fleet_rank_take(*path, number, &own, err));
		free(*path);
		*path = own;
		return 0;
	}
	if (cmd->fleet && !check_options(cmd, args, err))
		return 1;
	if (cmd->fleet)
		return -1;
	if (cmd->needs & PF_TAKES_FLEET)
		return 1;
	if (rank)
		return pf_fail(err, PF_EUSAGE,
			       "'%s' is a fleet database, which has no events: "
			       "'profan %s %s --rank N' reads the database of "
			       "a rank",
			       *path, cmd->name, *path);
	return pf_fail(err, PF_EUSAGE,
		       "'%s' is a fleet database, which has no events: name "
		       "the database of a rank, which 'profan query %s "
		       "\"SELECT rank, db FROM rank\"' lists",
		       *path, *path);
}

#define SUFFIX ".profan.db"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

bool pf_cache_is_database(const char *path)
{
	struct pf_err ignored = { 0 }; /* who reads it says it */
	int64_t id = pf_db_peek(path, &ignored);

	return id == PF_APPLICATION_ID || id == PF_FLEET_APPLICATION_ID;
}

/* ---- what it is of ---- */

/*
 * A source as it is now: a pipe is never what it was.  A file whose time was
 * set back has another time of change of its own.
 */
static bool add_source(struct pf_buf *mark, const char *path)
{
	PF_OWN char *real = realpath(path, NULL);
	struct stat info;
	bool ok = real && !stat(path, &info) && S_ISREG(info.st_mode);

	if (ok)
		pf_buf_addf(mark,
			    "\n%" PRId64 " %" PRId64 ".%09ld %" PRId64
			    ".%09ld %s",
			    (int64_t)info.st_size, (int64_t)info.st_mtim.tv_sec,
			    info.st_mtim.tv_nsec, (int64_t)info.st_ctim.tv_sec,
			    info.st_ctim.tv_nsec, real);
	return ok;
}

/* False: they cannot be told from what they will be. */
static bool make_mark(const struct pf_paths *files, struct pf_buf *mark)
{
	bool ok = true;

	pf_buf_adds(mark, "profan " PACKAGE_VERSION);
	for (size_t i = 0; i < files->count && ok; i++)
		ok = add_source(mark, files->items[i]);
	return ok;
}

/* ---- where it is ---- */

/*
 * Only the user, and root, can change what is in it.  A group counts as others
 * unless it is the user's first, which on most systems is nobody else's.
 */
static bool is_private(const char *folder)
{
	struct stat info;
	mode_t others = S_IWOTH;

	if (stat(folder, &info))
		return true; /* nothing can be made there */
	if (info.st_gid != getegid())
		others |= S_IWGRP;
	return (info.st_uid == geteuid() || info.st_uid == 0) &&
	       !(info.st_mode & others);
}

/* The user's folder of caches; NULL: there is none.  The caller frees it. */
static char *user_folder(void)
{
	const char *asked = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct pf_buf path = { 0 };

	if (asked && *asked == '/')
		pf_buf_addf(&path, "%s/profan", asked);
	else if (home && *home == '/')
		pf_buf_addf(&path, "%s/.cache/profan", home);
	return path.data;
}

/* Of a source in a folder that others can write, by the source's real path. */
static char *path_for_user(const char *beside)
{
	PF_OWN char *folder = user_folder();
	char digest[PF_XXH128_TEXT];
	PF_OWN char *copy = pf_strdup(beside);
	PF_OWN char *real = realpath(dirname(copy), NULL);
	struct pf_xxh128 *d = pf_xxh128_new();
	struct pf_buf path = { 0 };

	if (folder && real) {
		pf_xxh128_add(d, real, strlen(real));
		pf_xxh128_text(d, digest);
		pf_buf_addf(&path, "%s/%s-%s", folder, digest,
			    pf_path_base(beside));
	}
	pf_xxh128_free(d);
	return path.data;
}

static char *cache_path(const char *source, size_t others)
{
	struct pf_buf path = { 0 };
	PF_OWN char *copy = NULL;
	char *own = NULL;

	pf_buf_adds(&path, source);
	if (pf_is_folder(source))
		pf_buf_adds(&path, source[strlen(source) - 1] == '/'
					   ? "traces"
					   : "/traces");
	if (others)
		pf_buf_addf(&path, "+%zu", others);
	pf_buf_adds(&path, SUFFIX);
	copy = pf_strdup(path.data);
	if (!is_private(dirname(copy)))
		own = path_for_user(path.data);
	if (!own)
		return path.data;
	pf_buf_release(&path);
	return own;
}

/* The user's folder may have to be made, and its parent, the first time. */
static void make_folders(const char *path)
{
	PF_OWN char *own = user_folder();
	char *slash;
	const size_t n = own ? strlen(own) : 0;

	if (n && !strncmp(path, own, n) && path[n] == '/' &&
	    (slash = strrchr(own, '/')) > own) {
		*slash = '\0';
		mkdir(own, 0700);
		*slash = '/';
		mkdir(own, 0700);
	}
}

static bool can_write_beside(const char *path)
{
	PF_OWN char *copy = pf_strdup(path);
	const char *folder = dirname(copy);

	return !access(folder, W_OK | X_OK) && is_private(folder);
}

/* A folder of its own, for what ingest writes beside the database. */
static int make_temporary(struct pf_cached *c, struct pf_err *err)
{
	struct pf_buf path = { 0 };

	PF_TRY(pf_outfolder_open(&c->folder, err));
	pf_buf_addf(&path, "%s/trace.db", c->folder.path);
	free(c->path);
	c->path = path.data;
	c->slot = pf_outplace_watch(c->path);
	return 0;
}

/* ---- making it ---- */

/* What is refused, and why, is said as ingest says it. */
static int check_traces(char *const *sources, size_t count, struct pf_err *err)
{
	struct pf_seen seen;
	struct stat info;

	for (size_t i = 0; i < count; i++) {
		if (stat(sources[i], &info) || !S_ISREG(info.st_mode))
			continue;
		if (count > 1 && pf_cache_is_database(sources[i]))
			return pf_fail(err, PF_EUSAGE,
				       "'%s' is a database, which cannot be "
				       "read with others as one",
				       sources[i]);
		switch (pf_ingest_probe(sources[i], &seen, err)) {
		case -1:
			return pf_while(err, "'%s'", sources[i]);
		case 0:
			return pf_fail(err, PF_EDATA, "'%s' %s", sources[i],
				       seen.why);
		}
	}
	return 0;
}

static void announce(const struct pf_cached *c, char *const *sources,
		     size_t count)
{
	const bool is_beside =
		!strncmp(c->path, sources[0], strlen(sources[0]));
	PF_AUTO(pf_buf_release) struct pf_buf more = { 0 };

	if (count > 1)
		pf_buf_addf(&more, " and %zu more", count - 1);
	if (c->folder.path)
		pf_log_note("reading %s%s; what is made of it is not kept",
			    sources[0], more.data ? more.data : "");
	else
		pf_log_note("reading %s%s into %s; 'profan clean%s%s' removes "
			    "it",
			    sources[0], more.data ? more.data : "", c->path,
			    is_beside ? "" : " ", is_beside ? "" : sources[0]);
}

/* It may be removed in between: what is there is looked at first. */
static int check_place(const char *path, struct pf_err *err)
{
	int is = pf_db_is_cache(path, err);

	if (is || access(path, F_OK))
		return is < 0 ? -1 : 0;
	return pf_fail(err, PF_EIO,
		       "'%s' is in the way: it is no cache of profan's and is "
		       "left as it is",
		       path);
}

static int ingest(struct pf_cached *c, char *const *sources, size_t count,
		  const struct pf_paths *traces, const char *mark,
		  struct pf_err *err)
{
	announce(c, sources, count);
	return pf_cmd_ingest_files((const char *const *)traces->items,
				   traces->count, c->path,
				   mark ? mark : "temporary", err);
}

/* Who finds another profan making it makes one for itself. */
static int make(struct pf_cached *c, char *const *sources, size_t count,
		const char *mark, struct pf_err *err)
{
	PF_AUTO(pf_paths_release) struct pf_paths traces = { 0 };

	PF_TRY(check_traces(sources, count, err));
	make_folders(c->path);
	PF_TRY((!mark || !can_write_beside(c->path) ||
		pf_outplace_is_busy(c->path)) &&
	       make_temporary(c, err));
	PF_TRY(check_place(c->path, err));
	PF_TRY(pf_plan_traces(sources, count, &traces, err));
	if (!ingest(c, sources, count, &traces, mark, err))
		return 0;
	if (err->code != PF_EMADE && (err->code != PF_EBUSY || c->folder.path))
		return -1;
	if (err->code == PF_EBUSY) {
		*err = (struct pf_err){ 0 };
		PF_TRY(make_temporary(c, err));
		return ingest(c, sources, count, &traces, mark, err);
	}
	*err = (struct pf_err){ 0 };
	return 0;
}

/* ---- holding it ---- */

/* Hold what is there; false: it is being removed, or it was. */
static bool hold(struct pf_cached *c)
{
	c->fd = pf_outplace_lock(c->path, false);
	c->is_held = c->fd >= 0;
	return c->is_held;
}

static void let_go(struct pf_cached *c)
{
	if (c->is_held)
		close(c->fd);
	c->is_held = false;
}

#define TRIES 4 /* of a cache that is removed as often as it is made */

/* The cache with this mark, held, or a temporary database. */
static int make_held(struct pf_cached *c, char *const *sources, size_t count,
		     const char *mark, struct pf_err *err)
{
	for (int i = 0; i < TRIES; i++) {
		if (mark && pf_db_is_cache_of(c->path, mark) && hold(c))
			return 0;
		PF_TRY(make(c, sources, count, i + 1 < TRIES ? mark : NULL,
			    err));
		if (c->folder.path || hold(c))
			return 0;
	}
	return 0;
}

static int check_there(char *const *sources, size_t count, struct pf_err *err)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(sources[i], "-") != 0 && access(sources[i], R_OK))
			return pf_fail_open(err, "cannot open '%s'",
					    sources[i]);
	return 0;
}

int pf_cache_open(struct pf_cached *c, char *const *sources, size_t count,
		  struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf mark = { 0 };

	*c = (struct pf_cached){ 0 };
	PF_TRY(check_there(sources, count, err));
	c->files = pf_calloc(1, sizeof(*c->files));
	if (count == 1 && pf_cache_is_database(sources[0])) {
		c->path = pf_strdup(sources[0]);
		return 0;
	}
	c->path = cache_path(sources[0], count - 1);
	PF_TRY(pf_choose_files(sources, count, c->files, err));
	return make_held(c, sources, count,
			 make_mark(c->files, &mark) ? mark.data : NULL, err);
}

void pf_cache_close(struct pf_cached *c)
{
	let_go(c);
	if (c->folder.path) {
		unlink(c->path);
		pf_outplace_unwatch(c->slot);
		pf_outfolder_release(&c->folder);
	}
	if (c->files)
		pf_paths_release(c->files);
	free(c->files);
	free(c->path);
	*c = (struct pf_cached){ 0 };
}

/* ---- finding what was made ---- */

static bool is_named_as_cache(const char *name)
{
	size_t n = strlen(name), k = strlen(SUFFIX);

	return n > k && !strcmp(name + n - k, SUFFIX);
}

static int add_cache(const char *path, struct pf_paths *out, struct pf_err *err)
{
	struct stat info;
	int is;

	if (!is_named_as_cache(path))
		return 0;
	if (lstat(path, &info))
		return errno == ENOENT ? 0
				       : pf_fail_errno(err,
						       "cannot look at "
						       "'%s'",
						       path);
	is = S_ISREG(info.st_mode) ? pf_db_is_cache(path, err) : 0;
	if (is < 0)
		return pf_while(err, "'%s'", path);
	if (is)
		pf_paths_add(out, path);
	return 0;
}

int pf_cache_find(const char *path, struct pf_paths *out, struct pf_err *err)
{
	PF_AUTO(pf_paths_release) struct pf_paths found = { 0 };
	PF_OWN char *beside = cache_path(path, 0);
	int is;

	if (access(path, F_OK))
		return pf_fail_open(err, "cannot open '%s'", path);
	is = pf_input_is_folder(path, err);
	PF_TRY(is < 0 || (is && pf_walk_folder(path, is_named_as_cache, &found,
					       NULL, err)));
	if (!is) {
		pf_paths_add(&found, path);
		pf_paths_add(&found, beside);
	}
	for (size_t i = 0; i < found.count; i++)
		PF_TRY(add_cache(found.items[i], out, err));
	return 0;
}

/* ---- each for itself ---- */

#define HELD_MAX 64 /* at once: a process has few descriptors */

static int open_each(struct pf_inputs *in, char *const *arguments,
		     struct pf_err *err)
{
	for (size_t i = 0; i < in->count; i++) {
		if (pf_is_fleet(arguments[i]))
			return pf_fail(err, PF_EUSAGE,
				       "'%s' is a fleet database, which has no "
				       "events: name databases of ranks",
				       arguments[i]);
		PF_TRY(pf_cache_open(&in->items[i], &arguments[i], 1, err));
		if (in->count > HELD_MAX)
			let_go(&in->items[i]);
		in->paths[i] = in->items[i].path;
	}
	return 0;
}

int pf_inputs_open(struct pf_inputs *in, char *const *arguments, size_t count,
		   struct pf_err *err)
{
	*in = (struct pf_inputs){
		.items = pf_calloc(count + 1, sizeof(*in->items)),
		.paths = pf_calloc(count + 1, sizeof(*in->paths)),
		.count = count,
	};
	return open_each(in, arguments, err);
}

int pf_inputs_are(const struct pf_inputs *in, enum pf_producer producer,
		  struct pf_err *err)
{
	int is = 1;

	for (size_t i = 0; i < in->count && is == 1; i++) {
		enum pf_producer own = PF_FROM_OTHERS;
		PF_AUTO(pf_db_close) struct pf_db db = { 0 };

		if (pf_db_open(&db, in->paths[i], false, err) ||
		    pf_hint_producer(&db, &own))
			is = -1;
		else
			is = own == producer;
	}
	return is;
}

void pf_inputs_close(struct pf_inputs *in)
{
	for (size_t i = 0; i < in->count; i++)
		pf_cache_close(&in->items[i]);
	free(in->items);
	free(in->paths);
	*in = (struct pf_inputs){ 0 };
}
