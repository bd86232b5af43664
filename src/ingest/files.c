/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "ingest/files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/inside.h"
#include "base/intern.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/path.h"
#include "base/port.h"
#include "formats/refusal.h"
#include "ingest/ingest.h"
#include "ingest/source_name.h"
#include "store/db.h"

#define NAMED 3 /* of the files that are passed over */

void pf_paths_add(struct pf_paths *list, const char *path)
{
	*PF_ONE_MORE(list->items, list->count, list->cap) = pf_strdup(path);
}

void pf_paths_release(struct pf_paths *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct pf_paths){ 0 };
}

bool pf_is_folder(const char *path)
{
	struct stat info;

	return !stat(path, &info) && S_ISDIR(info.st_mode);
}

int pf_input_is_folder(const char *path, struct pf_err *err)
{
	struct pf_err why = { 0 };
	struct stat info;

	if (!stat(path, &info))
		return S_ISDIR(info.st_mode);
	pf_fail_open(&why, "cannot look at '%s'", path);
	if (pf_err_is_of_input(&why))
		return 0; /* who opens it says so */
	*err = why;
	return -1;
}

int64_t pf_ingest_total_bytes(const struct pf_ingest_options *options)
{
	int64_t total = 0;
	struct stat info;

	for (size_t i = 0; i < options->path_count; i++) {
		if (stat(options->paths[i], &info) || !S_ISREG(info.st_mode))
			return 0;
		total += info.st_size;
	}
	return total;
}

/* ---- what is in a folder ---- */

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcmp(name + n - k, suffix);
}

static bool is_named_as_trace(const char *name)
{
	static const char *const suffixes[] = {
		".json",    ".json.gz",   ".json.zst",     ".pfr",    ".pfr.gz",
		".pfr.zst", ".xplane.pb", ".xplane.pb.gz", ".sqlite", ".pickle",
		".pkl",     ".pickle.gz", ".db",           ".rpd",    ".csv",
		".folded",  ".log",       ".txt",
	};

	for (size_t i = 0; i < PF_LEN(suffixes); i++)
		if (has_suffix(name, suffixes[i]))
			return true;
	return false;
}

/* Kineto writes NAME.tmp, and renames it when it is complete. */
static bool is_unfinished(const char *name)
{
	PF_OWN char *finished = NULL;
	bool is = has_suffix(name, ".tmp");

	if (!is)
		return false;
	finished = pf_strdup(name);
	finished[strlen(name) - 4] = '\0';
	return is_named_as_trace(finished);
}

static bool is_named_as_any(const char *name)
{
	return is_named_as_trace(name) || is_unfinished(name);
}

/* Numbers in names as numbers: step_9 is before step_10. */
static int by_version(const void *a, const void *b)
{
	return pf_strverscmp(*(char *const *)a, *(char *const *)b);
}

/* What is in a folder, in order, but for what is hidden. */
static int list_folder(const char *folder, struct pf_paths *names,
		       struct pf_err *err)
{
	int fd = pf_inside_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int rc = 0;

	while (dir && (errno = 0, entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			pf_paths_add(names, entry->d_name);
	if (!dir || errno)
		rc = pf_fail_open(err, "cannot read folder '%s'", folder);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	pf_sort(names->items, names->count, sizeof(*names->items), by_version);
	return rc;
}

/* "folder/name"; the caller frees it. */
static char *join(const char *folder, const char *name)
{
	struct pf_buf path = { 0 };
	size_t n = strlen(folder);

	if (strcmp(folder, ".") != 0)
		pf_buf_addf(&path, "%s%s", folder,
			    n && folder[n - 1] == '/' ? "" : "/");
	pf_buf_adds(&path, name);
	return path.data;
}

struct walk {
	bool (*wanted)(const char *name);
	struct pf_paths *out;
	size_t *others;
};

static int walk(const struct walk *w, const char *folder, int depth,
		struct pf_err *err);

static int visit(const struct walk *w, const char *path, const char *name,
		 int depth, struct pf_err *err)
{
	struct stat own, info;

	if (lstat(path, &own) || stat(path, &info))
		/* a link to nothing, or gone */
		return errno == ENOENT || errno == ELOOP
			       ? 0
			       : pf_fail_open(err, "cannot look at '%s'", path);
	if (S_ISDIR(own.st_mode))
		return depth < PF_CHOOSE_DEPTH ? walk(w, path, depth + 1, err)
					       : 0;
	if (!S_ISREG(info.st_mode))
		return 0;
	if (!w->wanted(name)) {
		if (w->others)
			++*w->others;
		return 0;
	}
	pf_paths_add(w->out, path);
	return 0;
}

/* As deep as PF_CHOOSE_DEPTH. */
static int walk(const struct walk *w, const char *folder, int depth,
		struct pf_err *err)
{
	PF_AUTO(pf_paths_release) struct pf_paths names = { 0 };

	PF_TRY(list_folder(folder, &names, err));
	for (size_t i = 0; i < names.count; i++) {
		PF_OWN char *path = join(folder, names.items[i]);

		PF_TRY(visit(w, path, names.items[i], depth, err));
	}
	return 0;
}

int pf_walk_folder(const char *folder, bool (*wanted)(const char *name),
		   struct pf_paths *out, size_t *others, struct pf_err *err)
{
	const struct walk w = { wanted, out, others };

	return walk(&w, folder, 1, err);
}

/* ---- what is told twice ---- */

/* Why a file is passed over, by what is beside it. */
enum again {
	NOT_AGAIN,
	BY_XPLANE,
	BY_PLAIN,
	BY_RANKS,
	BY_RAW,
	BY_WHOLE,
	AGAIN_REASONS
};

static const char *const again_texts[AGAIN_REASONS] = {
	[BY_XPLANE] = "tells what the *.xplane.pb beside it tells",
	[BY_PLAIN] = "is the packed copy of the file beside it",
	[BY_RANKS] = "is made of the files of ranks beside it",
	[BY_WHOLE] = "is the unfinished copy of the file beside it",
	[BY_RAW] = "tells what the *.raw.json.gz beside it tells",
};

/* Keys of the files of a folder, by which others know that they are there. */
struct beside {
	struct pf_intern keys;
	uint32_t count; /* once all are there */
};

static uint32_t key_of(struct beside *b, char what, const char *path,
		       size_t len)
{
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };

	pf_buf_addc(&key, what);
	pf_buf_add(&key, path, len);
	return pf_intern_add(&b->keys, key.data, key.len);
}

static size_t folder_length(const char *path)
{
	return (size_t)(pf_path_base(path) - path);
}

/* SGLang: ID-TP-0.trace.json.gz of a rank, merged-ID.trace.json.gz of all. */
static bool is_sglang_rank(const char *path)
{
	return has_suffix(path, ".trace.json.gz") &&
	       strstr(pf_path_base(path), "-TP-");
}

static void add_keys(struct beside *b, const char *path)
{
	if (has_suffix(path, ".xplane.pb"))
		key_of(b, 'x', path, folder_length(path));
	else if (is_sglang_rank(path))
		key_of(b, 'r', path, folder_length(path));
	key_of(b, 'f', path, strlen(path));
}

static bool has_key(struct beside *b, char what, const char *path, size_t len)
{
	return key_of(b, what, path, len) < b->count;
}

/* Memory timelines: NAME.json beside NAME.raw.json.gz, which has more. */
static bool is_level_form(struct beside *b, const char *path)
{
	PF_AUTO(pf_buf_release) struct pf_buf raw = { 0 };
	size_t stem = strlen(path);

	if (has_suffix(path, ".json"))
		stem -= 5;
	else if (has_suffix(path, ".json.gz"))
		stem -= 8;
	else
		return false;
	pf_buf_add(&raw, path, stem);
	pf_buf_adds(&raw, ".raw.json.gz");
	return has_key(b, 'f', raw.data, raw.len);
}

/*
 * JAX writes what is in an XSpace once more as JSON beside it: HOST.trace.json.gz
 * and perfetto_trace.json.gz.
 */
static enum again is_told_again(struct beside *b, const char *path)
{
	static const char *const packed[] = { ".gz", ".zst" };

	if (has_suffix(path, "trace.json.gz") &&
	    has_key(b, 'x', path, folder_length(path)))
		return BY_XPLANE;
	for (size_t i = 0; i < PF_LEN(packed); i++)
		if (has_suffix(path, packed[i]) &&
		    has_key(b, 'f', path, strlen(path) - strlen(packed[i])))
			return BY_PLAIN;
	if (!strncmp(pf_path_base(path), "merged-", 7) &&
	    has_key(b, 'r', path, folder_length(path)))
		return BY_RANKS;
	if (is_level_form(b, path))
		return BY_RAW;
	if (has_suffix(path, ".tmp") && has_key(b, 'f', path, strlen(path) - 4))
		return BY_WHOLE;
	return NOT_AGAIN;
}

/* ---- which of them are traces ---- */

static struct pf_chosen *add(struct pf_selection *choice, const char *path,
			     const char *under)
{
	struct pf_chosen *c;

	c = PF_ONE_MORE(choice->items, choice->count, choice->cap);
	*c = (struct pf_chosen){ .path = pf_strdup(path),
				 .under = under,
				 .rank = -1,
				 .world_size = -1,
				 .file_bytes = -1 };
	return c;
}

void pf_selection_release(struct pf_selection *choice)
{
	for (size_t i = 0; i < choice->count; i++) {
		free(choice->items[i].path);
		free(choice->items[i].why);
	}
	free(choice->items);
	*choice = (struct pf_selection){ 0 };
}

/* in_folder: nobody named it, so it is read only if nothing more is needed. */
static int look_at(const struct pf_selection *choice, struct pf_chosen *c,
		   bool in_folder, struct pf_err *err)
{
	struct pf_seen seen;
	int rc = pf_ingest_probe(c->path, &seen, err);

	if (rc < 0 && choice->keep_going && pf_err_is_of_input(err)) {
		memset(err, 0, sizeof(*err));
		return 0;
	}
	if (rc < 0)
		return pf_while(err, "'%s'", c->path);
	if (!rc && choice->keep_going && seen.is_broken &&
	    pf_source_is_of_rank(c->path))
		return 0;
	c->file_bytes = seen.file_bytes;
	c->rank = seen.rank;
	c->world_size = seen.world_size;
	c->format = seen.format;
	if (!rc || (in_folder && seen.needs_interval && !choice->has_interval))
		c->why = pf_strdup(seen.why);
	return 0;
}

/* Logs and texts are of anything: those of GPUs, and stacks, are ours. */
static bool is_other_text(const char *path, struct pf_err *why)
{
	static const char *const formats[] = { "smi", "dmon", "dcgmi",
					       "folded" };
	struct pf_seen seen;

	if (!has_suffix(path, ".log") && !has_suffix(path, ".txt"))
		return false;
	if (pf_ingest_probe(path, &seen, why) != 1)
		return true;
	for (size_t i = 0; i < PF_LEN(formats); i++)
		if (!strcmp(seen.format, formats[i]))
			return false;
	return true;
}

/* Most files of that name are profan's own databases, or anybody's. */
static bool is_other_database(const char *path, struct pf_err *why)
{
	bool is;
	int fd;

	if (!has_suffix(path, ".db"))
		return false;
	fd = pf_inside_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0) {
		pf_fail_open(why, "cannot open");
		return true;
	}
	is = !pf_ingest_foreign(fd, why);
	close(fd);
	return is;
}

/* What has the name of a trace and is none that anybody means goes. */
static int drop_others(struct pf_paths *found, size_t *others,
		       struct pf_err *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < found->count; i++) {
		struct pf_err why = { 0 };

		if (rc || (!is_other_database(found->items[i], &why) &&
			   !is_other_text(found->items[i], &why))) {
			found->items[kept++] = found->items[i];
			continue;
		}
		if (!why.code || pf_err_is_of_input(&why)) {
			free(found->items[i]);
			++*others;
			continue;
		}
		*err = why;
		rc = pf_while(err, "'%s'", found->items[i]);
		found->items[kept++] = found->items[i];
	}
	found->count = kept;
	return rc;
}

/* The files of a folder that are called as traces, each run once. */
static int find_named(const char *folder, struct pf_selection *out,
		      struct pf_err *err)
{
	PF_AUTO(pf_paths_release) struct pf_paths found = { 0 };
	struct beside b = { 0 };
	int rc = pf_walk_folder(
		folder, out->salvage ? is_named_as_any : is_named_as_trace,
		&found, &out->others, err);

	if (!rc)
		rc = drop_others(&found, &out->others, err);
	if (!rc && found.count > PF_CHOOSE_FILES)
		rc = pf_fail(err, PF_ELIMIT,
			     "folder '%s' has %zu files that are called as "
			     "traces, and at most %d are looked at: name a "
			     "folder in it",
			     folder, found.count, PF_CHOOSE_FILES);
	for (size_t i = 0; i < found.count && !rc; i++)
		add_keys(&b, found.items[i]);
	b.count = b.keys.count;
	for (size_t i = 0; i < found.count && !rc; i++) {
		enum again again = is_told_again(&b, found.items[i]);
		struct pf_chosen *c;

		c = add(out, found.items[i], folder);
		if (again)
			c->why = pf_strdup(again_texts[again]);
	}
	pf_intern_release(&b.keys);
	return rc;
}

static bool is_named_as_database(const char *name)
{
	return has_suffix(name, ".db");
}

/* Is there a database of profan's?  All that are none go. */
static bool has_own(const char *folder, struct pf_paths *found)
{
	struct pf_err ignored = { 0 };
	size_t kept = 0;

	if (pf_walk_folder(folder, is_named_as_database, found, NULL, &ignored))
		return false;
	for (size_t i = 0; i < found->count; i++)
		if (pf_db_is_ours(found->items[i]))
			found->items[kept++] = found->items[i];
		else
			free(found->items[i]);
	found->count = kept;
	return kept;
}

/*
 * Files of which another program makes traces may be what was meant, or
 * databases whose traces are gone.
 */
static int fail_empty(const char *folder, size_t looked, struct pf_err *err)
{
	struct pf_err ignored = { 0 };
	PF_AUTO(pf_paths_release) struct pf_paths found = { 0 };

	if (!pf_walk_folder(folder, pf_refusal_is_named, &found, NULL,
			    &ignored) &&
	    found.count)
		pf_fail(err, PF_EDATA,
			"folder '%s' has no traces, but '%s'%s, which %s",
			folder, pf_path_base(found.items[0]),
			found.count > 1 ? " and others" : "",
			pf_refusal_of_name(found.items[0]));
	else if (has_own(folder, &found))
		pf_fail(err, PF_EDATA,
			"folder '%s' has no traces, but '%s'%s, which profan "
			"made: name it, or several to 'profan trend'",
			folder, pf_path_base(found.items[0]),
			found.count > 1 ? " and others" : "");
	else
		pf_fail(err, PF_EDATA,
			"folder '%s' has no traces: looked %d folders deep for "
			"*.json, *.xplane.pb, *.pfr and *.pickle, also .gz and "
			".zst, *.sqlite, *.db, *.rpd and *.csv, and for logs "
			"of GPUs (*.log) and stacks (*_stacks.txt, *.folded); "
			"%zu such files, none of them a trace",
			folder, PF_CHOOSE_DEPTH, looked);
	return -1;
}

static int add_folder(struct pf_selection *out, const char *folder,
		      struct pf_err *err)
{
	size_t before = out->count, read = 0, looked = 0;

	PF_TRY(find_named(folder, out, err));
	for (size_t i = before; i < out->count; i++) {
		if (out->items[i].why)
			continue;
		looked++;
		PF_TRY(look_at(out, &out->items[i], true, err));
		read += !out->items[i].why;
	}
	out->read_count += read;
	if (read)
		return 0;
	return fail_empty(folder, looked, err);
}

static int add_file(struct pf_selection *out, const char *path, bool look,
		    struct pf_err *err)
{
	struct pf_chosen *c = add(out, path, path);

	PF_TRY(look && strcmp(path, "-") != 0 && look_at(out, c, false, err));
	out->read_count += !c->why;
	return 0;
}

int pf_choose(char *const *arguments, size_t count, bool look,
	      struct pf_selection *out, struct pf_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc >= 0; i++) {
		rc = pf_input_is_folder(arguments[i], err);
		if (rc >= 0)
			rc = rc ? add_folder(out, arguments[i], err)
				: add_file(out, arguments[i], look, err);
	}
	return rc;
}

/* ---- what is said ---- */

static bool is_again(const struct pf_chosen *c, enum again reason)
{
	return c->why && !strcmp(c->why, again_texts[reason]);
}

static void say_again(const struct pf_selection *choice, enum again reason)
{
	size_t n = 0;

	for (size_t i = 0; i < choice->count; i++)
		n += is_again(&choice->items[i], reason);
	if (n == 1)
		pf_log_note("1 file %s, and is passed over",
			    again_texts[reason]);
	else if (n)
		pf_log_note("%zu files are passed over: each %s", n,
			    again_texts[reason]);
}

/* One line for all: it is no damage, but what was read must be plain. */
static void say_no_traces(const struct pf_selection *choice)
{
	PF_AUTO(pf_buf_release) struct pf_buf names = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < choice->count; i++) {
		const struct pf_chosen *c = &choice->items[i];

		if (!c->why || is_again(c, BY_XPLANE) ||
		    is_again(c, BY_PLAIN) || is_again(c, BY_RANKS) ||
		    is_again(c, BY_RAW))
			continue;
		if (n++ < NAMED)
			pf_buf_addf(&names, "%s%s", n > 1 ? ", " : "",
				    pf_path_base(c->path));
	}
	if (n > NAMED)
		pf_buf_adds(&names, ", ...");
	if (n == 1)
		pf_log_note("1 file is no trace: %s", names.data);
	else if (n)
		pf_log_note("%zu files are no traces: %s", n, names.data);
}

void pf_selection_say(const struct pf_selection *choice)
{
	for (int r = NOT_AGAIN + 1; r < AGAIN_REASONS; r++)
		say_again(choice, (enum again)r);
	say_no_traces(choice);
}

/* ---- only paths ---- */

void pf_selection_paths(const struct pf_selection *choice, struct pf_paths *out)
{
	for (size_t i = 0; i < choice->count; i++)
		if (!choice->items[i].why)
			pf_paths_add(out, choice->items[i].path);
}

int pf_choose_files(char *const *arguments, size_t count, struct pf_paths *out,
		    struct pf_err *err)
{
	PF_AUTO(pf_selection_release) struct pf_selection choice = { 0 };
	int rc = 0;

	for (size_t i = 0; i < count && rc >= 0; i++) {
		rc = pf_input_is_folder(arguments[i], err);
		if (rc >= 0)
			rc = rc ? find_named(arguments[i], &choice, err)
				: add_file(&choice, arguments[i], false, err);
	}
	if (!rc)
		pf_selection_paths(&choice, out);
	return rc;
}

/* ---- runs ---- */

static void add_run(struct pf_plan *plan, char *name)
{
	*PF_ONE_MORE(plan->runs, plan->run_count, plan->runs_cap) =
		(struct pf_plan_run){ .name = name };
}

static bool is_rave(const struct pf_chosen *c)
{
	return c->format && !strcmp(c->format, "rave");
}

static size_t *source_runs(const char *const *paths, size_t count);

/*
 * RAVE writes rows into the folder of its logger and traces where it was
 * started: they are of the only run that has traces.
 */
static void find_runs(struct pf_plan *plan)
{
	const struct pf_selection *choice = plan->choice;
	PF_OWN const char **paths =
		pf_calloc(choice->count + 1, sizeof(*paths));
	PF_OWN size_t *files = pf_calloc(choice->count + 1, sizeof(*files));
	PF_OWN size_t *first = NULL;
	size_t count = 0, own_count = 0;

	for (int rave = 0; rave < 2; rave++)
		for (size_t i = 0; i < choice->count; i++) {
			const struct pf_chosen *c = &choice->items[i];

			if (c->why || is_rave(c) != rave)
				continue;
			files[count] = i;
			paths[count++] = c->path;
		}
	first = source_runs(paths, count);
	for (size_t i = 0; i < count; i++) {
		struct pf_plan_file *f = &plan->files[files[i]];

		if (!is_rave(&choice->items[files[i]]))
			own_count += first[i] == i;
		else if (own_count == 1)
			continue; /* run 0 */
		if (first[i] != i) {
			f->run = plan->files[files[first[i]]].run;
			continue;
		}
		f->run = plan->run_count;
		add_run(plan, pf_source_run(paths[i]));
	}
	for (size_t i = 0; i < choice->count; i++)
		if (!choice->items[i].why)
			pf_paths_add(&plan->runs[plan->files[i].run].traces,
				     choice->items[i].path);
}

/* Files of one trace have one number. */
static void find_joins(struct pf_plan *plan)
{
	const struct pf_selection *choice = plan->choice;
	PF_OWN const char **paths =
		pf_calloc(choice->count + 1, sizeof(*paths));
	PF_OWN size_t *joins = NULL;

	for (size_t i = 0; i < choice->count; i++)
		paths[i] = choice->items[i].why ? "" : choice->items[i].path;
	joins = pf_source_joins(paths, choice->count);
	for (size_t i = 0; i < choice->count; i++) {
		plan->files[i].first = joins[i];
		if (!choice->items[i].why && joins[i] == i)
			plan->runs[plan->files[i].run].trace_count++;
	}
}

/* ---- ranks and cycles ---- */

/* As the view trace_cycle has them, of what is not read yet. */
struct span {
	uint32_t worker;
	int64_t rank, span;
	size_t file;
};

static bool is_of_one(const struct span *a, const struct span *b)
{
	return a->worker == b->worker && a->rank == b->rank;
}

PF_ORDER(by_worker, struct span,
	 PF_UP(worker) PF_UP(rank) PF_UP(span) PF_UP(file))

static void number_cycles(struct pf_plan *plan, struct span *spans,
			  size_t count)
{
	int64_t cycle = 0;

	pf_sort(spans, count, sizeof(*spans), by_worker);
	for (size_t i = 0; i < count; i++) {
		bool is_first = !i || !is_of_one(&spans[i - 1], &spans[i]);
		bool is_last =
			i + 1 == count || !is_of_one(&spans[i + 1], &spans[i]);

		cycle = is_first ? 1 : cycle + 1;
		if (!is_first || !is_last)
			plan->files[spans[i].file].cycle = cycle;
	}
}

static void read_names(struct pf_plan *plan)
{
	const struct pf_selection *choice = plan->choice;
	PF_OWN struct span *spans =
		pf_calloc(choice->count + 1, sizeof(*spans));
	PF_AUTO(pf_paths_release) struct pf_paths paths = { 0 };
	PF_AUTO(pf_intern_release) struct pf_intern workers = { 0 };
	size_t count = 0, read = 0;
	PF_OWN int64_t *ranks = NULL;

	pf_selection_paths(choice, &paths);
	ranks = pf_source_ranks((const char *const *)paths.items, paths.count);
	for (size_t i = 0; i < choice->count; i++) {
		const struct pf_chosen *c = &choice->items[i];
		struct pf_source_name name;

		if (c->why)
			continue;
		pf_source_name_read(&name, c->path);
		plan->files[i].rank = c->rank;
		if (c->rank < 0)
			plan->files[i].rank = ranks[read];
		read++;
		if (name.worker)
			spans[count++] = (struct span){
				pf_intern_add(&workers, name.worker,
					      strlen(name.worker)),
				plan->files[i].rank, name.span, i
			};
		free(name.worker);
	}
	number_cycles(plan, spans, count);
}

void pf_plan_make(struct pf_plan *plan, const struct pf_selection *choice)
{
	*plan = (struct pf_plan){ .choice = choice };
	plan->files = pf_calloc(choice->count + 1, sizeof(*plan->files));
	for (size_t i = 0; i < choice->count; i++)
		plan->files[i].rank = plan->files[i].cycle = -1;
	find_runs(plan);
	find_joins(plan);
	read_names(plan);
}

void pf_plan_release(struct pf_plan *plan)
{
	for (size_t i = 0; i < plan->run_count; i++) {
		free(plan->runs[i].name);
		free(plan->runs[i].database);
		pf_paths_release(&plan->runs[i].traces);
	}
	free(plan->runs);
	free(plan->files);
	*plan = (struct pf_plan){ 0 };
}

void pf_plan_say(const struct pf_plan *plan)
{
	bool has_folder = false;

	for (size_t i = 0; i < plan->choice->count; i++)
		has_folder |= pf_is_folder(plan->choice->items[i].under);
	if (has_folder && plan->run_count > 1)
		pf_log_note("%zu runs are put together: 'profan ingest "
			    "--dry-run' lists them, -o DIR keeps them apart",
			    plan->run_count);
}

int pf_plan_traces(char *const *arguments, size_t count, struct pf_paths *out,
		   struct pf_err *err)
{
	PF_AUTO(pf_selection_release) struct pf_selection choice = { 0 };
	struct pf_plan plan;

	PF_TRY(pf_choose(arguments, count, false, &choice, err));
	pf_selection_say(&choice);
	pf_plan_make(&plan, &choice);
	pf_plan_say(&plan);
	pf_plan_release(&plan);
	pf_selection_paths(&choice, out);
	return 0;
}

/* ---- a database each ---- */

/* What of a run's folder is not in the argument, else the argument's name. */
static const char *name_in(const char *run, const char *under)
{
	size_t n = strlen(under);

	while (n > 1 && under[n - 1] == '/')
		n--;
	if (!strncmp(run, under, n) && run[n] == '/' && run[n + 1])
		return run + n + 1;
	if (!strcmp(under, ".") && strcmp(run, ".") != 0)
		return run;
	return pf_path_base(run);
}

static char *database_of(const char *folder, const char *run, const char *under)
{
	const char *name = name_in(run, under);
	struct pf_buf path = { 0 };

	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") ||
	    !strcmp(name, "/"))
		name = "profan";
	pf_buf_addf(&path, "%s%s", folder,
		    folder[strlen(folder) - 1] == '/' ? "" : "/");
	for (; *name; name++)
		pf_buf_addc(&path, *name == '/' ? '_' : *name);
	pf_buf_adds(&path, ".db");
	return path.data;
}

int pf_plan_split(struct pf_plan *plan, const char *folder, struct pf_err *err)
{
	const struct pf_selection *choice = plan->choice;
	PF_AUTO(pf_intern_release) struct pf_intern names = { 0 };

	for (size_t i = 0; i < choice->count; i++) {
		struct pf_plan_run *run = &plan->runs[plan->files[i].run];
		size_t before = names.count;

		if (choice->items[i].why || run->database)
			continue;
		run->database =
			database_of(folder, run->name, choice->items[i].under);
		pf_intern_add(&names, run->database, strlen(run->database));
		if (names.count == before)
			return pf_fail(
				err, PF_EUSAGE,
				"two runs would be '%s': ingest them one "
				"by one",
				run->database);
	}
	return 0;
}

/* ---- what it is ---- */

struct row {
	int64_t number, run, rank, world_size, cycle, file_bytes;
	const char *run_path, *format, *path;
};
#define FIELD(...) PF_FIELD(struct row, __VA_ARGS__)
static const struct pf_field file_fields[] = {
	FIELD(run, "Run", PF_INT),
	FIELD(number, "Trace", PF_INT),
	FIELD(rank, "Rank", PF_INT | PF_KNOWN),
	FIELD(world_size, "World", PF_INT | PF_KNOWN),
	FIELD(cycle, "Cycle", PF_INT | PF_KNOWN),
	FIELD(format, "Format", PF_TEXT),
	FIELD(file_bytes, "Size", PF_BYTES | PF_KNOWN),
	FIELD(path, "File", PF_PATH),
	FIELD(run_path, "Folder", PF_PATH | PF_FULL),
};
#undef FIELD

struct run_row {
	int64_t run, trace_count;
	const char *run_path, *database;
};
static const struct pf_field run_fields[] = {
	PF_FIELD(struct run_row, run, "Run", PF_INT),
	PF_FIELD(struct run_row, trace_count, "Traces", PF_COUNT),
	PF_FIELD(struct run_row, run_path, "Folder", PF_PATH),
	PF_FIELD(struct run_row, database, "Database", PF_PATH),
};

struct passed_row {
	const char *path, *why;
};
static const struct pf_field passed_fields[] = {
	PF_FIELD(struct passed_row, path, "File", PF_PATH),
	PF_FIELD(struct passed_row, why, "It ...", PF_TEXT),
};

/* A trace has the number that it gets in its database. */
static void show_files(const struct pf_plan *plan, struct pf_doc *doc)
{
	struct pf_table *t = pf_doc_fields(doc, "files", "Files that are read",
					   PF_FIELDS(file_fields));
	PF_OWN int64_t *counts =
		pf_calloc(plan->run_count + 1, sizeof(*counts));
	int64_t all = 0;

	for (size_t i = 0; i < plan->choice->count; i++) {
		const struct pf_chosen *c = &plan->choice->items[i];
		const struct pf_plan_file *f = &plan->files[i];
		const struct pf_plan_run *run;
		struct row row = {
			.rank = f->rank,
			.world_size = c->world_size,
			.cycle = f->cycle,
			.file_bytes = c->file_bytes,
			.format = c->format,
			.path = c->path,
		};

		if (c->why)
			continue;
		run = &plan->runs[f->run];
		row.run = (int64_t)f->run + 1;
		row.run_path = run->name;
		if (plan->files[i].first == i)
			plan->files[i].number =
				run->database ? ++counts[f->run] : ++all;
		row.number = plan->files[plan->files[i].first].number;
		PF_PUT(t, file_fields, row);
	}
}

static void show_passed(const struct pf_plan *plan, struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "passed", "Files that are passed over",
			      PF_FIELDS(passed_fields));

	for (size_t i = 0; i < plan->choice->count; i++) {
		const struct pf_chosen *c = &plan->choice->items[i];
		struct passed_row row = { c->path, c->why };

		if (c->why)
			PF_PUT(t, passed_fields, row);
	}
}

static void show_runs(const struct pf_plan *plan, const char *out,
		      struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "runs", "Runs", PF_FIELDS(run_fields));

	for (size_t i = 0; i < plan->run_count; i++) {
		const struct pf_plan_run *run = &plan->runs[i];
		struct run_row row = { (int64_t)i + 1, run->trace_count,
				       run->name,
				       run->database ? run->database : out };

		PF_PUT(t, run_fields, row);
	}
}

void pf_plan_show(const struct pf_plan *plan, const char *out,
		  struct pf_doc *doc)
{
	const struct pf_selection *choice = plan->choice;
	size_t passed = choice->count - choice->read_count, traces = 0;

	for (size_t i = 0; i < plan->run_count; i++)
		traces += (size_t)plan->runs[i].trace_count;

	pf_doc_finding(doc,
		       "%zu trace%s of %zu run%s; %zu file%s %s passed over; "
		       "nothing is written",
		       traces, pf_plural(traces), plan->run_count,
		       pf_plural(plan->run_count), passed, pf_plural(passed),
		       passed == 1 ? "is" : "are");
	show_runs(plan, out, doc);
	show_files(plan, doc);
	show_passed(plan, doc);
	if (choice->others)
		pf_doc_note(doc,
			    "%zu other file%s in these folders %s not called "
			    "as a trace",
			    choice->others, pf_plural(choice->others),
			    choice->others == 1 ? "is" : "are");
	if (plan->run_count > 1 && !plan->runs[0].database)
		pf_doc_note(doc, "-o DIR makes a database of each run");
}

/* ---- source name ---- */

/* A number in a path: [at, end), and the word or dot in front of it. */
struct number {
	size_t head, at, end;
	int64_t value;
};

static bool read_number(const char *path, size_t at, struct number *n)
{
	size_t end = at;
	bool fits = true;

	n->value = 0;
	for (; isdigit((unsigned char)path[end]); end++)
		fits = fits &&
		       !__builtin_mul_overflow(n->value, 10, &n->value) &&
		       !__builtin_add_overflow(n->value, path[end] - '0',
					       &n->value);
	n->at = at;
	n->end = end;
	return end > at && fits;
}

/* The length of a path without what says how it is stored. */
static size_t stem_length(const char *path, bool *is_torch)
{
	static const char *const tails[] = { ".tmp", ".gz", ".zst", ".json",
					     ".pfr" };
	static const char torch[] = ".pt.trace";
	size_t len = strlen(path);

	for (size_t i = 0; i < PF_LEN(tails); i++) {
		size_t n = strlen(tails[i]);

		if (len > n && !memcmp(path + len - n, tails[i], n))
			len -= n;
	}
	*is_torch = len > sizeof(torch) - 1 &&
		    !memcmp(path + len - (sizeof(torch) - 1), torch,
			    sizeof(torch) - 1);
	return *is_torch ? len - (sizeof(torch) - 1) : len;
}

/* torch's own: WORKER.TIMESTAMP, of milli- or nanoseconds. */
static bool find_stamp(const char *path, size_t base, size_t len,
		       struct number *n)
{
	size_t at = len;

	while (at > base && isdigit((unsigned char)path[at - 1]))
		at--;
	n->head = at - (at > base && path[at - 1] == 'T');
	if (n->head <= base || path[n->head - 1] != '.')
		return false;
	n->head--;
	return read_number(path, at, n) && n->end == len;
}

/* "step_20", "iteration-3": a word that counts captures and a number. */
static bool find_counter(const char *path, size_t from, size_t to,
			 struct number *n)
{
	static const char *const words[] = { "step",  "iteration", "iter",
					     "cycle", "span",      "epoch" };

	for (size_t at = from; at < to; at++)
		for (size_t i = 0; i < PF_LEN(words); i++) {
			size_t end = at + strlen(words[i]);

			if (strncasecmp(path + at, words[i],
					strlen(words[i])) != 0 ||
			    (at > from && isalpha((unsigned char)path[at - 1])))
				continue;
			n->head = end;
			end += path[end] == '_' || path[end] == '-';
			if (read_number(path, end, n))
				return true;
		}
	return false;
}

/* The number behind a word, with at most one '-' or '_' between. */
static int64_t find_numbered(const char *name, const char *word)
{
	struct number n;

	while ((name = strcasestr(name, word))) {
		name += strlen(word);
		name += *name == '-' || *name == '_';
		if (read_number(name, 0, &n) && n.end <= 9)
			return n.value;
	}
	return -1;
}

/* "-TP-3-DP-0": the rank of those whose other ways of splitting are not used. */
static int64_t find_tensor_rank(const char *name)
{
	static const char *const others[] = { "-DP-", "-PP-", "-EP-" };

	for (size_t i = 0; i < PF_LEN(others); i++)
		if (find_numbered(name, others[i]) > 0)
			return -1;
	return find_numbered(name, "-TP-");
}

/* "trace_r3.json": the letter alone. */
static int64_t find_letter_rank(const char *name)
{
	struct number n;

	while ((name = strstr(name, "_r"))) {
		name += 2;
		if (read_number(name, 0, &n) && n.end <= 9 &&
		    !isalnum((unsigned char)name[n.end]))
			return n.value;
	}
	return -1;
}

static int64_t find_rank(const char *name)
{
	int64_t rank = find_numbered(name, "rank");

	if (rank < 0)
		rank = find_tensor_rank(name);
	return rank < 0 ? find_letter_rank(name) : rank;
}

/* In the name of the file, else in that of its folder. */
static bool find_span(const char *path, size_t base, size_t *len,
		      struct number *n)
{
	bool is_torch;
	size_t folder = base;

	*len = stem_length(path, &is_torch);
	if (is_torch && find_stamp(path, base, *len, n))
		return true;
	if (find_counter(path, base, *len, n))
		return true;
	for (folder -= folder > 0; folder > 0 && path[folder - 1] != '/';)
		folder--;
	return base > 0 && find_counter(path, folder, base - 1, n);
}

void pf_source_name_read(struct pf_source_name *out, const char *path)
{
	size_t base = (size_t)(pf_path_base(path) - path), len;
	struct pf_buf worker = { 0 };
	struct number n;

	*out = (struct pf_source_name){ .span = -1,
					.rank = find_rank(path + base) };
	if (!find_span(path, base, &len, &n))
		return;
	out->span = n.value;
	pf_buf_add(&worker, path, n.head);
	pf_buf_add(&worker, path + n.end, len - n.end);
	out->worker = worker.data;
}

/* ---- hosts ---- */

/* Do the bytes before "at" end in this word, and in no longer one? */
static bool follows(const char *path, size_t from, size_t at, const char *word)
{
	const size_t n = strlen(word);

	return at >= from + n && !strncasecmp(path + at - n, word, n) &&
	       (at == from + n || !isalpha((unsigned char)path[at - n - 1]));
}

static bool is_mark(char c)
{
	return c == '-' || c == '_' || c == '.';
}

/*
 * The next number of [from, to) that says which of several hosts or processes
 * it is: "host_0", "t1v-n-1a2b-w-0", "dp_rank_0", both of "ray-node-0-1".
 */
static bool next_host(const char *path, size_t from, size_t to,
		      struct number *n)
{
	static const char *const words[] = { "host", "node", "rank",
					     "process" };
	size_t at = n->end > from ? n->end : from;
	const size_t before = n->end;

	for (; at < to; at++) {
		size_t word = at;
		bool is;

		if (!isdigit((unsigned char)path[at]) ||
		    (at > from && isdigit((unsigned char)path[at - 1])))
			continue;
		word -= word > from && is_mark(path[word - 1]);
		is = before && word == before && word < at;
		is = is || (word < at && word > from + 2 &&
			    !memcmp(path + word - 2, "-w", 2));
		for (size_t i = 0; i < PF_LEN(words); i++)
			is = is || follows(path, from, word, words[i]);
		if (is && read_number(path, at, n) && n->end <= to &&
		    (n->end == to || !isalnum((unsigned char)path[n->end]))) {
			n->head = word;
			return true;
		}
	}
	return false;
}

/* ---- runs ---- */

/* A folder of a run's captures, which is none of its own: "iteration_20". */
static bool is_inner(const char *path, size_t from, size_t to)
{
	static const char *const names[] = {
		"profiler_logs",    "profiler_traces", "profiler_output",
		"profile_trace",    "profile_traces",  "memory_snapshot",
		"memory_snapshots",
	};
	struct number n;

	for (size_t i = 0; i < PF_LEN(names); i++)
		if (to - from == strlen(names[i]) &&
		    !memcmp(path + from, names[i], to - from))
			return true;
	if (find_counter(path, from, to, &n) && n.end <= to)
		return true;
	if (to - from > 4 && !strncasecmp(path + from, "rank", 4) &&
	    find_numbered(path + from, "rank") >= 0)
		return true;
	n.end = 0;
	while (next_host(path, from, to, &n))
		if (n.end == to)
			return true;
	return false;
}

/* Where the last name of a path begins that ends at "end". */
static size_t name_start(const char *path, size_t end)
{
	while (end > 0 && path[end - 1] != '/')
		end--;
	return end;
}

/* The length of a folder, a slash at its end, without the inner ones. */
static size_t cut_inner(const char *path, size_t end)
{
	while (end > 0) {
		size_t from;

		end -= end > 1; /* without the slash */
		from = name_start(path, end);
		if (from == end || !is_inner(path, from, end))
			break;
		end = from;
	}
	return end;
}

char *pf_source_run(const char *path)
{
	size_t end = cut_inner(path, (size_t)(pf_path_base(path) - path));

	return end ? pf_memdup0(path, end) : pf_strdup(".");
}

/* Seconds between what the hosts of one job call a capture by. */
#define CAPTURE_S 30

/* A file below plugins/profile/2025_01_31_10_00_00. */
struct session {
	uint32_t job;    /* what is above plugins, without hosts */
	uint32_t host;   /* the path without the time */
	int64_t start_s; /* -1: none */
	size_t file;
};

/* Seconds since some day; -1: it is no such time. */
static int64_t read_session(const char *path, size_t from, size_t to)
{
	static const int64_t most[] = { 9999, 12, 31, 23, 59, 60 };
	int64_t v[6];
	size_t at = from;
	struct number n = { 0 };

	for (int i = 0; i < 6; i++) {
		if (!read_number(path, at, &n) || n.value > most[i] ||
		    n.end - at != (i ? 2 : 4) ||
		    (i < 5 ? path[n.end] != '_' : n.end != to))
			return -1;
		v[i] = n.value;
		at = n.end + 1;
	}
	v[0] -= v[1] < 3; /* years begin in March */
	v[1] = (v[1] + 9) % 12;
	v[2] += 365 * v[0] + v[0] / 4 - v[0] / 100 + v[0] / 400 +
		(153 * v[1] + 2) / 5;
	return ((v[2] * 24 + v[3]) * 60 + v[4]) * 60 + v[5];
}

static struct session find_session(const char *path, struct pf_intern *jobs,
				   struct pf_intern *hosts)
{
	static const char above[] = "plugins/profile/";
	const size_t base = (size_t)(pf_path_base(path) - path);
	const size_t from = base ? name_start(path, base - 1) : 0;
	const size_t n = sizeof(above) - 1;
	struct session s = { .start_s = -1 };
	PF_AUTO(pf_buf_release) struct pf_buf host = { 0 };

	if (from < n || memcmp(path + from - n, above, n) ||
	    (from > n && path[from - n - 1] != '/'))
		return s;
	s.start_s = read_session(path, from, base - 1);
	if (s.start_s < 0)
		return s;
	s.job = pf_intern_add(jobs, path, cut_inner(path, from - n));
	pf_buf_add(&host, path, from);
	pf_buf_adds(&host, path + base);
	s.host = pf_intern_add(hosts, host.data, host.len);
	return s;
}

PF_ORDER(by_start, struct session, PF_UP(job) PF_UP(start_s) PF_UP(file))

/*
 * Each host names the folder by its own clock: folders of almost one time are
 * of one run if no host is in two of them.
 */
static void join_sessions(struct session *s, size_t count, uint32_t host_count,
			  size_t *runs)
{
	PF_OWN size_t *seen = pf_calloc(host_count + 1, sizeof(*seen));
	size_t begin = 0, number = 0, end;

	pf_sort(s, count, sizeof(*s), by_start);
	for (size_t i = 0; i < count; i = end) {
		bool is_next = number && s[i].job == s[begin].job &&
			       s[i].start_s - s[begin].start_s <= CAPTURE_S;

		for (end = i; end < count && s[end].job == s[i].job &&
			      s[end].start_s == s[i].start_s;
		     end++)
			is_next = is_next && seen[s[end].host] != number;
		if (!is_next) {
			begin = i;
			number++;
		}
		for (size_t k = i; k < end; k++) {
			seen[s[k].host] = number;
			runs[s[k].file] = s[begin].file;
		}
	}
}

/* By the first of each run in the list, and not in time. */
static void put_first(size_t *runs, size_t count)
{
	PF_OWN size_t *first = pf_calloc(count + 1, sizeof(*first));

	for (size_t i = 0; i < count; i++) {
		size_t *f = &first[runs[i]];

		if (!*f)
			*f = i + 1;
		runs[i] = *f - 1;
	}
}

/*
 * For each path the first of the list that is of its run, which the caller
 * frees.  A run is a folder, and folders of sessions of TensorBoard
 * (plugins/profile/2025_01_31_10_00_00) that differ by seconds, of one job and
 * of other hosts each: hosts name them by their own clocks.
 */
static size_t *source_runs(const char *const *paths, size_t count)
{
	PF_OWN struct session *sessions =
		pf_calloc(count + 1, sizeof(*sessions));
	size_t *runs = pf_calloc(count + 1, sizeof(*runs));
	PF_OWN size_t *first = pf_calloc(count + 1, sizeof(*first));
	PF_AUTO(pf_intern_release) struct pf_intern folders = { 0 };
	PF_AUTO(pf_intern_release) struct pf_intern jobs = { 0 };
	PF_AUTO(pf_intern_release) struct pf_intern hosts = { 0 };
	size_t session_count = 0;

	for (size_t i = 0; i < count; i++) {
		struct session s = find_session(paths[i], &jobs, &hosts);
		const size_t before = folders.count;
		char *folder;
		uint32_t n;

		if (s.start_s >= 0) {
			s.file = i;
			sessions[session_count++] = s;
			continue;
		}
		folder = pf_source_run(paths[i]);
		n = pf_intern_add(&folders, folder, strlen(folder));
		if (n == before)
			first[n] = i;
		runs[i] = first[n];
		free(folder);
	}
	join_sessions(sessions, session_count, hosts.count, runs);
	put_first(runs, count);
	return runs;
}

/* ---- ranks of the files of a run ---- */

/* Files of one run and one way of storing. */
struct peer {
	size_t run, file;
	const char *suffix;
};

PF_ORDER(by_peer, struct peer, PF_UP(run) PF_ALPHA(suffix) PF_UP(file))

/* Of files that are called by their hosts or processes; others say pids. */
static const char *const host_suffixes[] = { ".xplane.pb", ".xplane.pb.gz",
					     ".sqlite" };
#define HOST_SUFFIXES (PF_LEN(host_suffixes))

static bool is_of_host(const char *suffix)
{
	for (size_t i = 0; i < HOST_SUFFIXES; i++)
		if (!strcmp(suffix, host_suffixes[i]))
			return true;
	return false;
}

static const char *suffix_of(const char *path)
{
	const char *base = pf_path_base(path), *dot = strrchr(base, '.');
	const size_t n = strlen(base);

	for (size_t i = 0; i < HOST_SUFFIXES; i++) {
		const size_t k = strlen(host_suffixes[i]);

		if (n > k && !strcmp(base + n - k, host_suffixes[i]))
			return base + n - k;
	}
	return dot ? dot : base + n;
}

/* Where in its path each file of a run says which it is. */
struct place {
	bool is_name;  /* of the file, not of a folder */
	bool is_plain; /* "report.0.sqlite": no word says what is counted */
	size_t from;   /* of the folder */
	int which;     /* of the numbers there */
};

static bool find_place(const char *path, const char *suffix,
		       const struct place *at, struct number *n)
{
	const size_t base = (size_t)(pf_path_base(path) - path);
	const size_t len = (size_t)(suffix - path);
	size_t from = at->is_name ? base : at->from, to = from;

	*n = (struct number){ 0 };
	if (at->is_plain) {
		for (to = len;
		     to > base && isdigit((unsigned char)path[to - 1]);)
			to--;
		return to > base && path[to - 1] == '.' &&
		       read_number(path, to, n) && n->end == len;
	}
	if (at->is_name) {
		to = len;
	} else {
		if (from >= base || (from && path[from - 1] != '/'))
			return false;
		to += strcspn(path + to, "/");
	}
	for (int i = 0; i <= at->which; i++)
		if (!next_host(path, from, to, n))
			return false;
	return true;
}

/* What must be the same of all files: it, without the number. */
static uint32_t rest_of(struct pf_intern *rests, const char *path,
			const char *suffix, const struct place *at,
			const struct number *n)
{
	const bool is_file = at->is_name || at->is_plain;
	const size_t from = is_file ? (size_t)(pf_path_base(path) - path) : 0;
	size_t to = n->end;
	PF_AUTO(pf_buf_release) struct pf_buf rest = { 0 };

	to = is_file ? (size_t)(suffix - path) : to + strcspn(path + to, "/");
	pf_buf_add(&rest, path + from, n->at - from);
	pf_buf_addc(&rest, '/');
	pf_buf_add(&rest, path + n->end, to - n->end);
	return pf_intern_add(rests, rest.data, rest.len);
}

/* What the files of a run say of their ranks. */
struct telling {
	const char *const *paths;
	const struct peer *peers;
	size_t count;
	int64_t *ranks, *found; /* of one place; NULL until there is one */
	bool is_doubtful;       /* two places say different things */
};

/* Do all of them say a number there, each another one? */
static bool is_told(struct telling *t, const struct place *at)
{
	PF_AUTO(pf_intern_release) struct pf_intern rests = { 0 };
	PF_AUTO(pf_map_release) struct pf_map seen = { 0 };
	bool is = true;

	for (size_t i = 0; i < t->count && is; i++) {
		const char *path = t->paths[t->peers[i].file];
		const char *suffix = t->peers[i].suffix;
		struct number n;

		is = find_place(path, suffix, at, &n) &&
		     !rest_of(&rests, path, suffix, at, &n) &&
		     n.value <= INT32_MAX &&
		     !pf_map_has(&seen, (uint64_t)n.value) &&
		     (!at->is_plain || (uint64_t)n.value < t->count);
		if (!is)
			break;
		*pf_map_at(&seen, (uint64_t)n.value) = 1;
		t->ranks[i] = n.value;
	}
	return is;
}

static void try_place(struct telling *t, struct place at)
{
	const struct peer *p = t->peers;
	const size_t bytes = t->count * sizeof(*t->ranks);
	struct number n;

	for (; find_place(t->paths[p->file], p->suffix, &at, &n); at.which++) {
		if (is_told(t, &at)) {
			if (!t->found)
				t->found = memcpy(pf_calloc(1, bytes), t->ranks,
						  bytes);
			t->is_doubtful |=
				memcmp(t->found, t->ranks, bytes) != 0;
		}
		if (at.is_plain)
			break;
	}
}

static void rank_peers(const char *const *paths, const struct peer *p,
		       size_t count, int64_t *out)
{
	const char *path = paths[p->file], *slash;
	struct telling t = { .paths = paths, .peers = p, .count = count };

	t.ranks = pf_calloc(count, sizeof(*t.ranks));
	for (size_t from = 0; (slash = strchr(path + from, '/'));
	     from = (size_t)(slash - path) + 1)
		try_place(&t, (struct place){ .from = from });
	if (is_of_host(p->suffix)) {
		try_place(&t, (struct place){ .is_name = true });
		try_place(&t, (struct place){ .is_plain = true });
	}
	for (size_t i = 0; i < count && t.found && !t.is_doubtful; i++)
		out[p[i].file] = t.found[i];
	free(t.found);
	free(t.ranks);
}

int64_t *pf_source_ranks(const char *const *paths, size_t count)
{
	PF_OWN struct peer *peers = pf_calloc(count + 1, sizeof(*peers));
	int64_t *ranks = pf_calloc(count + 1, sizeof(*ranks));
	PF_OWN size_t *runs = source_runs(paths, count);
	size_t end;

	for (size_t i = 0; i < count; i++) {
		ranks[i] = find_rank(pf_path_base(paths[i]));
		peers[i] = (struct peer){ runs[i], i, suffix_of(paths[i]) };
	}
	pf_sort(peers, count, sizeof(*peers), by_peer);
	for (size_t i = 0; i < count; i = end) {
		bool is_named = false;

		for (end = i; end < count && peers[end].run == peers[i].run &&
			      !strcmp(peers[end].suffix, peers[i].suffix);
		     end++)
			is_named = is_named || ranks[peers[end].file] >= 0;
		if (!is_named && end - i > 1)
			rank_peers(paths, peers + i, end - i, ranks);
	}
	return ranks;
}

/* The length of a path up to the domain of rocprofv3's CSV; 0: none is said. */
static size_t csv_stem(const char *path)
{
	static const char *const domains[] = {
		"_kernel",
		"_memory_copy",
		"_memory_allocation",
		"_hip",
		"_hip_api",
		"_hip_runtime_api",
		"_hsa",
		"_hsa_api",
		"_hip_compiler_api",
		"_marker",
		"_marker_api",
		"_hsa_core_api",
		"_rccl",
		"_rccl_api",
		"_hsa_amd_ext_api",
		"_hsa_image",
		"_hsa_finalize_ext_api",
		"_scratch_memory",
		"_hip_runtime",
		"_hsa_image_ext_api",
		"_hip_compiler",
	};
	static const char tail[] = "_trace.csv";
	const size_t base = (size_t)(pf_path_base(path) - path);
	size_t len = strlen(path), most = 0;

	if (len < sizeof(tail) || strcmp(path + len - sizeof(tail) + 1, tail))
		return 0;
	len -= sizeof(tail) - 1;
	for (size_t i = 0; i < PF_LEN(domains); i++) {
		size_t n = strlen(domains[i]);

		if (n > most && len > base + n &&
		    !memcmp(path + len - n, domains[i], n))
			most = n;
	}
	return most ? len - most : 0;
}

size_t *pf_source_joins(const char *const *paths, size_t count)
{
	size_t *joins = pf_calloc(count + 1, sizeof(*joins));
	PF_OWN size_t *first = pf_calloc(count + 1, sizeof(*first));
	PF_AUTO(pf_intern_release) struct pf_intern stems = { 0 };

	for (size_t i = 0; i < count; i++) {
		const size_t len = csv_stem(paths[i]);
		const size_t before = stems.count;
		uint32_t stem = 0;

		joins[i] = i;
		if (!len)
			continue;
		stem = pf_intern_add(&stems, paths[i], len);
		if (stem == before)
			first[stem] = i;
		joins[i] = first[stem];
	}
	return joins;
}
