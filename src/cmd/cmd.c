/* SPDX-License-Identifier: MIT */
/* The table of commands, and what happens around every run(). */
#include "config.h"

#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/outplace.h"
#include "base/path.h"
#include "base/port.h"
#include "base/xxh128.h"
#include "cmd/cache.h"
#include "compare/fleet.h"
#include "events/window.h"
#include "ingest/files.h"
#include "ingest/ingest.h"
#include "show/doc.h"
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

/* The rows of a list that an option of the command asks for; -1: all. */
static int64_t fleet_limit(const struct pf_cmd *cmd, const struct pf_ctx *cx,
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

/*
 * *path, which is owned, is a fleet: make it that of the rank that the options
 * ask for (0), or leave it (1).  PF_EUSAGE if the command cannot read it, or
 * has options that are of events.
 */
static int fleet_choose(const struct pf_cmd *cmd, const void *args, char **path,
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

static char default_path[] = "profan.db";

/* Where no database is named. */
static char *default_db(void)
{
	char *path = getenv("PROFAN_DB");

	return path && *path ? path : default_path;
}

int pf_cache_open(struct pf_cached *c, char *const *sources, size_t count,
		  struct pf_err *err)
{
	char *const given[] = { default_db() };
	PF_AUTO(pf_buf_release) struct pf_buf mark = { 0 };

	*c = (struct pf_cached){ 0 };
	if (!count) {
		sources = given;
		count = 1;
	}
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

static bool is_our_page(const char *path)
{
	static const char page[] = "<meta name=\"generator\" content=\"profan ";
	static const char summary[] = "<!-- profan:";
	char head[2048] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);

	if (fd >= 0)
		close(fd);
	if (n == 0)
		return true; /* nothing is lost */
	return n > 0 &&
	       (!strncmp(head, summary, strlen(summary)) ||
		(!strncmp(head, "<!DOCTYPE html>", 15) && strstr(head, page)));
}

struct pf_outfile *pf_output_open(struct pf_ctx *cx, const char *path,
				  const struct pf_outrule *rule)
{
	struct pf_outrule own = *rule;

	own.is_ours = is_our_page;
	return pf_outfile_open(path ? path : "-", &own, cx->out, cx->err);
}

int pf_output_write(struct pf_ctx *cx, const char *path,
		    const struct pf_outrule *rule, const struct pf_buf *text)
{
	PF_AUTO(pf_outfile_freed)
	struct pf_outfile *f = pf_output_open(cx, path, rule);

	PF_TRY(!f || pf_outfile_write(f, text->data, text->len, cx->err));
	return pf_outfile_commit(f, cx->err);
}

int pf_output_page(struct pf_ctx *cx, const char *path,
		   const struct pf_outrule *rule, const struct pf_buf *text)
{
	PF_TRY(pf_output_write(cx, path, rule, text));
	if (path && strcmp(path, "-") != 0)
		pf_log(PF_LOG_NOTE, "wrote '%s', %s", path,
		       PF_SHOW_BYTES((int64_t)text->len));
	return 0;
}

/*
 * Single tables of a document: one alone on the output (--table), or each in a
 * file of its own (--output-dir), so that what reads csv can read them.  The
 * figures of a document are its table "figures".
 */

#define FIGURES "figures"

/* The document of one table alone, borrowed; t NULL: of the figures. */
static struct pf_doc alone(const struct pf_doc *doc, struct pf_table **t)
{
	if (t)
		return (struct pf_doc){ .tables = t, .table_count = 1 };
	return (struct pf_doc){ .scalars = doc->scalars,
				.scalar_count = doc->scalar_count };
}

static int no_such_table(const struct pf_doc *doc, const char *name,
			 struct pf_err *err)
{
	PF_AUTO(pf_buf_release) struct pf_buf names = { 0 };

	pf_buf_adds(&names, FIGURES);
	for (size_t i = 0; i < doc->table_count; i++)
		pf_buf_addf(&names, ", %s", pf_table_name(doc->tables[i]));
	pf_fail(err, PF_EUSAGE, "there is no table '%s'; there are: %s", name,
		names.data);
	return -1;
}

/* Print one table; PF_EUSAGE says which there are if it is none of them. */
static int tables_print(const struct pf_ctx *cx, const struct pf_doc *doc,
			const char *name)
{
	struct pf_doc one = alone(doc, NULL);
	size_t i = 0;

	if (strcmp(name, FIGURES) != 0) {
		while (i < doc->table_count &&
		       strcmp(pf_table_name(doc->tables[i]), name) != 0)
			i++;
		if (i == doc->table_count)
			return no_such_table(doc, name, cx->err);
		one = alone(doc, &doc->tables[i]);
	}
	return pf_render_doc(&cx->style, &one, cx->out, cx->err);
}

/* What is printed, into a file. */
static int write_one(const struct pf_ctx *cx, const struct pf_doc *one,
		     const char *path)
{
	const struct pf_outrule rule = {
		.inputs = cx->db ? cx->db->inputs : NULL,
		.input_count = cx->db ? cx->db->input_count : 0,
	};
	PF_AUTO(pf_outfile_freed)
	struct pf_outfile *file =
		pf_outfile_open(path, &rule, cx->out, cx->err);
	PF_OWN char *text = NULL;
	size_t len = 0;
	FILE *f = file ? open_memstream(&text, &len) : NULL;
	int rc = -1;

	if (f)
		rc = pf_render_doc(&cx->style, one, f, cx->err);
	if (file && (!f || (fclose(f) && !rc)))
		rc = pf_fail_errno(cx->err, "cannot write '%s'", path);
	PF_TRY(rc || pf_outfile_write(file, text, len, cx->err));
	return pf_outfile_commit(file, cx->err);
}

/*
 * Write each into FOLDER/NAME.csv (.json, .md), and make the folder if it is
 * not there.  Files that are there are not overwritten.
 */
static int tables_write(const struct pf_ctx *cx, const struct pf_doc *doc,
			const char *folder)
{
	PF_AUTO(pf_buf_release) struct pf_buf path = { 0 };

	if (mkdir(folder, 0777) && errno != EEXIST)
		return pf_fail_errno(cx->err, "cannot make the folder '%s'",
				     folder);
	for (size_t i = 0; i <= doc->table_count; i++) {
		struct pf_doc one = alone(doc, i ? &doc->tables[i - 1] : NULL);

		if (!i && !doc->scalar_count)
			continue;
		pf_buf_clear(&path);
		pf_buf_addf(&path, "%s/%s.%s", folder,
			    i ? pf_table_name(doc->tables[i - 1]) : FIGURES,
			    cx->style.format->name);
		PF_TRY(write_one(cx, &one, path.data));
	}
	return 0;
}

/* Help texts from the tables of commands and options, for 80 columns. */

#define WIDTH 80

/* Words wrapped at WIDTH; "at" columns are used, lines begin at "indent". */
static void print_wrapped(FILE *out, const char *text, int at, int indent)
{
	while (*text) {
		int len = (int)strcspn(text, " \n");

		if (at > indent && at + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", len, text);
		at += len;
		text += len;
		for (; *text == ' ' || *text == '\n'; text++) {
			if (*text != '\n')
				continue;
			fprintf(out, "\n%*s", text[1] ? indent : 0, "");
			at = indent;
		}
	}
	if (at > indent)
		fputc('\n', out);
}

static void print_row(FILE *out, const char *left, const char *right,
		      int column)
{
	int at = fprintf(out, "  %s", left);

	if (at + 2 > column) {
		fputc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", column - at, "");
	print_wrapped(out, right, column, column);
}

static void print_opts(FILE *out, const struct pf_opt *opt)
{
	char left[128];

	for (; opt && opt->name; opt++) {
		char letter[5] = "    ";

		if (opt->c)
			snprintf(letter, sizeof(letter), "-%c, ", opt->c);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, opt->name,
			 opt->arg ? " " : "", opt->arg ? opt->arg : "");
		print_row(out, left, opt->help, 28);
	}
}

static void print_examples(FILE *out, const char *line)
{
	fputs("\nExamples:\n", out);
	while (*line) {
		int len = (int)strcspn(line, "\n");

		fprintf(out, "  %.*s\n", len, line);
		line += len + (line[len] == '\n');
	}
}

static void print_command(const struct pf_cmd *cmd, FILE *out)
{
	const struct pf_opt *sets[PF_CMD_OPT_SETS];

	fprintf(out, "Usage: profan %s [OPTION]... %s\n\n", cmd->name,
		cmd->args);
	print_wrapped(out, cmd->summary, 0, 0);
	if (cmd->details) {
		fputc('\n', out);
		print_wrapped(out, cmd->details, 0, 0);
	}
	if (cmd->needs & PF_NEEDS_DB) {
		fputc('\n', out);
		print_wrapped(out,
			      "DB is a database made by 'profan ingest', or "
			      "traces or a folder of them, which are read into "
			      "a database beside them ('profan clean' removes "
			      "it); without it $PROFAN_DB is used, else "
			      "profan.db.",
			      0, 0);
	}
	fputs("\nOptions:\n", out);
	pf_cmd_opts(cmd, sets);
	for (size_t i = 0; i < PF_CMD_OPT_SETS; i++)
		print_opts(out, sets[i]);
	if (cmd->examples)
		print_examples(out, cmd->examples);
}

static void print_overview(FILE *out)
{
	const char *group = "";

	fputs("Usage: profan TRACE...\n"
	      "       profan COMMAND [OPTION]... [ARGUMENT]...\n\n",
	      out);
	print_wrapped(out,
		      "Put profiler traces of GPU and machine learning "
		      "programs (PyTorch, Kineto, Chrome JSON) into one SQLite "
		      "file, and print what is in it. Of a trace, several, a "
		      "folder of them or such a file alone: where the time "
		      "goes, in a few lines.",
		      0, 0);
	for (size_t i = 0; pf_cmds[i]; i++) {
		if (strcmp(group, pf_cmds[i]->group))
			fprintf(out, "\n%s:\n", pf_cmds[i]->group);
		group = pf_cmds[i]->group;
		print_row(out, pf_cmds[i]->name, pf_cmds[i]->summary, 12);
	}
	fputs("\nOptions:\n"
	      "  -h, --help                show this help; "
	      "'profan help COMMAND' for a command\n"
	      "  -V, --version             show the version\n"
	      "\nExamples:\n"
	      "  profan trace.json.gz\n"
	      "  profan ingest trace.json.gz -o job.db\n"
	      "  profan table job.db\n"
	      "  profan query job.db "
	      "'SELECT name, count(*) FROM event GROUP BY name'\n",
	      out);
}

void pf_cmd_usage(const struct pf_cmd *cmd, FILE *out)
{
	if (cmd)
		print_command(cmd, out);
	else
		print_overview(out);
}

#define PF_ENTRY(name) extern const struct pf_cmd pf_cmd_##name;
#include "cmd/commands.inc"
#undef PF_ENTRY
#define PF_ENTRY(name) &pf_cmd_##name,
const struct pf_cmd *const pf_cmds[] = {
#include "cmd/commands.inc"
	NULL,
};

struct common {
	bool is_help, quiet;
	int format;
	int color;
	int64_t width;  /* -1: not given */
	int64_t limit;  /* LIMIT_UNSET: not given */
	int64_t budget; /* 0: none */
	const char *sort, *table, *output_dir;
};

#define LIMIT_UNSET (-2)
#define PAGE_LINES  60 /* of many ranks, however many they are */

static const struct common common_defaults = { .width = -1,
					       .limit = LIMIT_UNSET };
const void *const pf_cmd_common = &common_defaults;

static const struct pf_opt common_opts[] = {
	{ 'h', "help", NULL, "show this help", PF_OPT_FLAG,
	  offsetof(struct common, is_help), 0, 0 },
	{ 'q', "quiet", NULL, "print no notes, warnings or progress",
	  PF_OPT_FLAG, offsetof(struct common, quiet), 0, 0 },
	{ 0 }
};

#define COLORS "auto|always|never"
enum { AUTO, ALWAYS, NEVER };

/* clang-format off */
#define DOC_OPTS(n)                                                            \
{                                                                              \
	{ 'f', "format", pf_format_words[n] + 1, "print as", PF_OPT_CHOICE,    \
	  offsetof(struct common, format), 0, 0 },                             \
	{ 'w', "width", "N",                                                   \
	  "shorten texts so that lines have N columns (0: never)", PF_OPT_INT, \
	  offsetof(struct common, width), 0, 100000 },                         \
	{ 0, "color", COLORS, "color text; auto: on a terminal, without "      \
	  "$NO_COLOR", PF_OPT_CHOICE, offsetof(struct common, color), 0, 0 },  \
	{ 0 }                                                                  \
}
/* clang-format on */

static const struct pf_opt doc_opts[4][4] = { DOC_OPTS(0), DOC_OPTS(1),
					      DOC_OPTS(2), DOC_OPTS(3) };

static const struct pf_opt list_opts[] = {
	{ 's', "sort", "COLUMN",
	  "order rows by a column, largest first; -COLUMN: the other way",
	  PF_OPT_STRING, offsetof(struct common, sort), 0, 0 },
	{ 'n', "limit", "N", "print at most N rows of a list (-1: all)",
	  PF_OPT_INT, offsetof(struct common, limit), -1, INT64_MAX },
	{ 0, "table", "NAME",
	  "print only this table, without anything before it", PF_OPT_STRING,
	  offsetof(struct common, table), 0, 0 },
	{ 0, "output-dir", "DIR",
	  "write each table into a file of this folder, as csv if not json or "
	  "md",
	  PF_OPT_STRING, offsetof(struct common, output_dir), 0, 0 },
	{ 0, "budget", "BYTES",
	  "print at most so many bytes: lists end early, and notes say where",
	  PF_OPT_INT, offsetof(struct common, budget), 1, INT64_MAX },
	{ 0 }
};

void pf_cmd_opts(const struct pf_cmd *cmd,
		 const struct pf_opt *sets[PF_CMD_OPT_SETS])
{
	sets[0] = cmd->opts;
	sets[1] = cmd->lists ? list_opts : NULL;
	sets[2] = cmd->needs & PF_SHOWS_DOC
			  ? doc_opts[!!cmd->page +
				     2 * !!(cmd->needs & PF_HAS_CHECKS)]
			  : NULL;
	sets[3] = common_opts;
}

/* What other programs, or people, call what is here. */
static const struct {
	const char *word, *is;
} elsewhere[] = {
	{ "version", "profan --version" }, { "open", "profan view" },
	{ "show", "profan view" },         { "idle", "profan gaps" },
	{ "stats", "profan summary" },     { "stat", "profan summary" },
	{ "compare", "profan diff" },      { "sql", "profan query" },
	{ "import", "profan ingest" },     { "convert", "profan ingest" },
	{ "record", "profan capture" },    { "profile", "profan capture" },
	{ "flamegraph", "profan stacks" }, { "key_averages", "profan table" },
	{ "html", "profan report" },       { "comm", "profan overlap" },
};

static const char *find_elsewhere(const char *word)
{
	for (size_t i = 0; i < PF_LEN(elsewhere); i++)
		if (!strcmp(elsewhere[i].word, word))
			return elsewhere[i].is;
	return NULL;
}

const struct pf_cmd *pf_cmd_find(const char *name, struct pf_err *err)
{
	struct pf_suggest s = { .word = name };

	for (size_t i = 0; pf_cmds[i]; i++) {
		if (!strcmp(pf_cmds[i]->name, name))
			return pf_cmds[i];
		pf_suggest_offer(&s, pf_cmds[i]->name);
	}
	if (find_elsewhere(name))
		pf_fail(err, PF_EUSAGE,
			"there is no command '%s'; did you mean '%s'?", name,
			find_elsewhere(name));
	else if (s.best)
		pf_fail(err, PF_EUSAGE,
			"there is no command '%s'; did you mean '%s'?", name,
			s.best);
	else
		pf_fail(err, PF_EUSAGE,
			"there is no command '%s'; 'profan help' lists them",
			name);
	return NULL;
}

/* $COLUMNS, else the terminal, else 80 so that output is the same always. */
static int find_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int64_t n;

	if (columns && !pf_num_int(columns, &n) && n > 0 && n <= 100000)
		return (int)n;
	if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 80;
}

/* no-color.org; a terminal that is "dumb" shows the codes as they are. */
static bool has_colors(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(no && *no) && term &&
	       strcmp(term, "dumb") != 0;
}

/* Take one of the command's words if it stands first: no file is meant. */
static void take_word(const struct pf_cmd *cmd, struct pf_ctx *cx)
{
	const char *word;
	size_t len;

	cx->word = -1;
	for (int n = 0; cmd->words && cx->argc > 0 &&
			(word = pf_opt_choice(cmd->words, n, &len));
	     n++)
		if (strlen(*cx->argv) == len &&
		    !strncmp(*cx->argv, word, len)) {
			cx->word = n;
			cx->argc--;
			cx->argv++;
			return;
		}
}

/* What a command reads: arguments, or none (cache.h). */
struct source {
	char *const *items;
	size_t count;
};

/*
 * Take it from the arguments if it is there; more than one only if all are
 * traces.
 */
static void take_source(const struct pf_cmd *cmd, struct pf_ctx *cx,
			struct source *s)
{
	int extra = cmd->max_args < 0 ? 0 : cx->argc - cmd->max_args;

	for (int i = 0; i < extra; i++)
		if (i && (access(cx->argv[i], F_OK) ||
			  pf_cache_is_database(cx->argv[i])))
			extra = i;
	if (extra > 1 && pf_cache_is_database(cx->argv[0]))
		extra = 1;
	if (extra > 0) {
		s->items = cx->argv;
		s->count = (size_t)extra;
		cx->argc -= extra;
		cx->argv += extra;
		cx->is_db_given = true;
	}
	cx->db_name = s->count ? s->items[0] : default_db();
}

static int check_arg_count(const struct pf_cmd *cmd, const struct pf_ctx *cx)
{
	if (cx->argc < cmd->min_args)
		return pf_fail(cx->err, PF_EUSAGE,
			       "too few arguments; usage: profan %s %s",
			       cmd->name, cmd->args);
	if (cmd->max_args >= 0 && cx->argc > cmd->max_args)
		return pf_fail(cx->err, PF_EUSAGE,
			       "too many arguments from '%s' on; "
			       "usage: profan %s %s",
			       cx->argv[cmd->max_args], cmd->name, cmd->args);
	return 0;
}

/* Was the only argument meant to be the database, or is there none? */
static int explain_path(const struct pf_cmd *cmd, const struct pf_ctx *cx)
{
	if (!cx->is_db_given && cx->argc > 0 && !access(cx->argv[0], F_OK))
		return pf_fail(cx->err, PF_EUSAGE,
			       "nothing follows '%s'; usage: profan %s %s",
			       cx->argv[0], cmd->name, cmd->args);
	if (cx->db_name == default_path && access(default_path, F_OK))
		return pf_fail(cx->err, PF_EIO,
			       "no database '%s' here; run: profan ingest "
			       "TRACE, or: profan %s TRACE",
			       default_path, cmd->name);
	return -1;
}

static int print_doc(const struct pf_cmd *cmd, struct pf_ctx *cx, void *args,
		     const struct common *common, struct pf_doc *doc)
{
	bool is_page = cx->style.format == &pf_format_page;
	bool is_of_checks = cx->style.format->flags & PF_OF_CHECKS;

	if ((is_page || is_of_checks) &&
	    (common->table || common->output_dir || common->budget))
		return pf_fail(cx->err, PF_EUSAGE,
			       "--table, --output-dir and --budget are not of "
			       "%s",
			       is_page ? "a page" : "checks");
	if (is_of_checks && !doc->check_count)
		return pf_fail(cx->err, PF_EUSAGE,
			       "'--format %s' is of checks, and none was asked "
			       "for",
			       cx->style.format->name);
	if (common->budget && (common->table || common->output_dir))
		return pf_fail(cx->err, PF_EUSAGE,
			       "--budget is of a whole document, without "
			       "--table and --output-dir");
	if (common->table && common->output_dir)
		return pf_fail(cx->err, PF_EUSAGE,
			       "--table and --output-dir exclude each other");
	if (is_page)
		return cmd->page(cx, args, doc);
	if (common->output_dir)
		return tables_write(cx, doc, common->output_dir);
	if (common->table)
		return tables_print(cx, doc, common->table);
	if (common->budget)
		return pf_render_budget(&cx->style, doc, cx->out,
					(size_t)common->budget, cx->err);
	if (cx->is_page)
		return pf_render_lines(&cx->style, doc, cx->out, PAGE_LINES,
				       cx->err);
	return pf_render_doc(&cx->style, doc, cx->out, cx->err);
}

/* A document is there: in the order and to the length asked for. */
static int settle_and_print(const struct pf_cmd *cmd, struct pf_ctx *cx,
			    void *args, const struct common *common,
			    struct pf_doc *doc)
{
	PF_TRY(pf_doc_settle(doc, cx->err) < 0);
	return print_doc(cmd, cx, args, common, doc);
}

static int answer_of_fleet(const struct pf_cmd *cmd, struct pf_ctx *cx,
			   void *args, const struct common *common)
{
	bool is_limited = common->limit != LIMIT_UNSET;
	PF_AUTO(pf_doc_release)
	struct pf_doc doc = {
		.lists = cmd->lists,
		.order = { common->sort,
			   fleet_limit(cmd, cx, args, is_limited) },
	};

	PF_TRY(cmd->fleet(cx->db, &doc));
	cx->is_page = !is_limited && cx->style.format->flags & PF_SHORT;
	return settle_and_print(cmd, cx, args, common, &doc);
}

/* An analysis. */
static int answer_and_print(const struct pf_cmd *cmd, struct pf_ctx *cx,
			    void *args, const struct common *common)
{
	PF_AUTO(pf_doc_release)
	struct pf_doc doc = { .lists = cmd->lists,
			      .order = { common->sort, cx->limit } };
	int rc = cmd->answer(cx, args, &doc);

	for (size_t i = 0; rc >= 0 && i < doc.failed_count; i++)
		pf_log(PF_LOG_ERROR, "%s: %s", cmd->name, doc.notes[i]);
	if (rc >= 0 && !cx->wide && common->limit != -1 && !common->table)
		cx->is_page = (pf_doc_fold(&doc) || doc.is_of_many) &&
			      !cx->is_limit_given &&
			      cx->style.format->flags & PF_SHORT;
	if (rc >= 0 && settle_and_print(cmd, cx, args, common, &doc) < 0)
		rc = -1;
	return rc;
}

static int run_command(const struct pf_cmd *cmd, struct pf_ctx *cx, void *args,
		       const struct common *common)
{
	return cmd->run ? cmd->run(cx, args)
			: answer_and_print(cmd, cx, args, common);
}

/* ---- databases that stay open ---- */

struct pf_cmd_kept_db {
	struct pf_db db;
	bool with_tables; /* as well for who needs none */
};

static void close_kept(struct pf_cmd_kept_db *k)
{
	if (k)
		pf_db_close(&k->db);
	free(k);
}

void pf_cmd_kept_release(struct pf_cmd_kept *kept)
{
	for (size_t i = 0; i < PF_CMD_KEPT; i++)
		close_kept(kept->items[i]);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Taken out of those that are kept; NULL: it is not among them. */
static struct pf_cmd_kept_db *take_kept(struct pf_cmd_kept *kept,
					const char *path, bool with_tables)
{
	struct pf_cmd_kept_db **at = kept->items, *k;
	struct stat info;

	for (size_t i = 0; i < PF_CMD_KEPT; i++) {
		k = at[i];
		if (!k || k->with_tables < with_tables ||
		    strcmp(k->db.path, path) != 0)
			continue;
		memmove(at + i, at + i + 1,
			(PF_CMD_KEPT - 1 - i) * sizeof(*at));
		at[PF_CMD_KEPT - 1] = NULL;
		if (!stat(path, &info) && is_same_file(&info, &k->db.file))
			return k;
		close_kept(k);
		break;
	}
	return NULL;
}

/* NULL on error. */
static struct pf_cmd_kept_db *open_db(struct pf_ctx *cx, const char *path,
				      bool with_tables)
{
	struct pf_cmd_kept_db *k =
		cx->kept ? take_kept(cx->kept, path, with_tables) : NULL;

	if (k) {
		k->db.err = cx->err;
		return k;
	}
	k = pf_calloc(1, sizeof(*k));
	k->with_tables = with_tables;
	if (!pf_db_open(&k->db, path, with_tables, cx->err))
		return k;
	free(k);
	return NULL;
}

/* One that holds decoded blocks is not kept: they are many. */
static void leave_db(struct pf_ctx *cx, struct pf_cmd_kept_db *k, bool is_good)
{
	struct pf_cmd_kept_db **at = cx->kept ? cx->kept->items : NULL;

	if (!at || !is_good || k->db.kept) {
		close_kept(k);
		return;
	}
	k->db.inputs = NULL;
	k->db.input_count = 0;
	close_kept(at[PF_CMD_KEPT - 1]);
	memmove(at + 1, at, (PF_CMD_KEPT - 1) * sizeof(*at));
	at[0] = k;
}

static int run_on(const struct pf_cmd *cmd, struct pf_ctx *cx,
		  const struct pf_cached *cached, void *args,
		  const struct common *common)
{
	size_t count = cached->files->count;
	PF_OWN const char **inputs = NULL;
	struct pf_cmd_kept_db *k =
		open_db(cx, cached->path, cmd->needs & PF_NEEDS_TABLES);
	int rc;

	PF_TRY(!k);
	inputs = pf_calloc(count + 1, sizeof(*inputs));
	inputs[0] = cached->path;
	for (size_t i = 0; i < count; i++)
		inputs[i + 1] = cached->files->items[i];
	k->db.inputs = inputs;
	k->db.input_count = count + 1;
	cx->db = &k->db;
	rc = run_command(cmd, cx, args, common);
	leave_db(cx, k, rc >= 0);
	return rc;
}

static int run_on_fleet(const struct pf_cmd *cmd, struct pf_ctx *cx,
			const char *path, void *args,
			const struct common *common)
{
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };

	PF_TRY(pf_db_open_kind(&db, path, &pf_fleet_kind, cx->err));
	cx->db = &db;
	return cmd->fleet ? answer_of_fleet(cmd, cx, args, common)
			  : run_command(cmd, cx, args, common);
}

/* A fleet is what it is, or leads to the database of a rank. */
static int run_on_any(const struct pf_cmd *cmd, struct pf_ctx *cx,
		      struct pf_cached *cached, void *args,
		      const struct common *common)
{
	int rc = 0;

	if (pf_is_fleet(cached->path)) {
		rc = fleet_choose(cmd, args, &cached->path, cx->err);
		cx->db_name = cached->path;
	}
	PF_TRY(rc < 0);
	return rc ? run_on_fleet(cmd, cx, cached->path, args, common)
		  : run_on(cmd, cx, cached, args, common);
}

static int open_and_run(const struct pf_cmd *cmd, struct pf_ctx *cx, void *args,
			const struct common *common)
{
	PF_AUTO(pf_cache_close) struct pf_cached cached = { 0 };
	struct source source = { 0 };

	take_word(cmd, cx);
	if (cmd->needs & PF_NEEDS_DB)
		take_source(cmd, cx, &source);
	PF_TRY(check_arg_count(cmd, cx) < 0);
	if (!(cmd->needs & PF_NEEDS_DB))
		return run_command(cmd, cx, args, common);
	if (pf_cache_open(&cached, source.items, source.count, cx->err) < 0)
		return explain_path(cmd, cx);
	if (source.count > 1)
		cx->db_name = cached.path;
	return run_on_any(cmd, cx, &cached, args, common);
}

/* Which of the words of a command's --format this is. */
static const struct pf_format *find_format(const struct pf_cmd *cmd, int n)
{
	const struct pf_opt *sets[PF_CMD_OPT_SETS];
	const char *word = NULL;
	size_t len, i = 0;

	pf_cmd_opts(cmd, sets);
	if (sets[2])
		word = pf_opt_choice(sets[2]->arg, n, &len);
	while (word && (strlen(pf_formats[i]->name) != len ||
			strncmp(pf_formats[i]->name, word, len) != 0))
		i++;
	return pf_formats[i];
}

/* What the common options come to. */
static void set_up(struct pf_ctx *cx, const struct pf_cmd *cmd,
		   const struct common *common)
{
	const struct pf_format *format = find_format(cmd, common->format);
	int64_t rows;

	if (common->output_dir && format == &pf_format_text)
		format = &pf_format_csv; /* files are for programs */
	cx->quiet = common->quiet;
	cx->style.command = cmd->name;
	cx->style.format = format;
	cx->style.width =
		common->width < 0 ? find_width(cx->out) : (int)common->width;
	cx->style.is_color = common->color == ALWAYS ||
			     (common->color == AUTO && has_colors(cx->out));
	cx->wide = format->flags & PF_WIDE;
	rows = format->flags & PF_SHORT ? cmd->text_rows : cmd->data_rows;
	cx->is_limit_given = common->limit != LIMIT_UNSET;
	cx->limit = common->limit != LIMIT_UNSET ? common->limit
		    : rows                       ? rows
						 : -1;
	if (common->quiet)
		pf_log_set_level(PF_LOG_ERROR);
}

/* How many arguments follow the first "--"; -1: there is none. */
static int count_after_dashes(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return argc - i - 1;
	return -1;
}

/* cx has what is not of the words. */
static int run_words(const struct pf_cmd *cmd, int argc, char **argv,
		     struct pf_ctx *cx)
{
	PF_OWN void *args = pf_calloc(1, cmd->args_bytes + 1);
	struct common common = common_defaults;
	const struct pf_opt *opts[PF_CMD_OPT_SETS];
	struct pf_opt_set sets[PF_CMD_OPT_SETS];
	int after = count_after_dashes(argc, argv);
	int rc;

	pf_cmd_opts(cmd, opts);
	sets[0] = (struct pf_opt_set){ opts[0], args, cmd->defaults };
	for (size_t i = 1; i < PF_CMD_OPT_SETS; i++)
		sets[i] = (struct pf_opt_set){ opts[i], &common,
					       &common_defaults };
	if (cmd->defaults)
		memcpy(args, cmd->defaults, cmd->args_bytes);
	rc = pf_opt_parse(sets, PF_CMD_OPT_SETS, cmd->needs & PF_RUNS_PROGRAM,
			  &argc, argv, cx->err);
	cx->argv = argv;
	cx->argc = argc;
	cx->dashes = after < 0 ? -1 : argc - after;
	set_up(cx, cmd, &common);
	if (!rc && common.is_help)
		pf_cmd_usage(cmd, cx->out);
	else if (!rc)
		rc = cx->db ? run_command(cmd, cx, args, &common)
			    : open_and_run(cmd, cx, args, &common);
	pf_opt_release(sets, PF_CMD_OPT_SETS);
	if (cmd->release)
		cmd->release(args);
	return rc;
}

int pf_cmd_run(const struct pf_cmd *cmd, int argc, char **argv, FILE *out,
	       struct pf_cmd_kept *kept, struct pf_err *err)
{
	struct pf_ctx cx = { .err = err, .out = out, .kept = kept };

	return run_words(cmd, argc, argv, &cx);
}

int pf_cmd_run_on(const struct pf_cmd *cmd, int argc, char **argv,
		  struct pf_db *db, const char *db_name, FILE *out,
		  struct pf_err *err)
{
	struct pf_err *given = db->err;
	struct pf_ctx cx = {
		.err = err, .db = db, .db_name = db_name, .out = out
	};
	int rc;

	db->err = err;
	rc = run_words(cmd, argc, argv, &cx);
	db->err = given;
	return rc;
}
