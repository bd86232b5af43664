/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "ingest/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/path.h"
#include "formats/refusal.h"
#include "ingest/ingest.h"
#include "ingest/source_name.h"
#include "show/doc.h"

#define NAMED 3 /* of the files that are passed over */

void pf_paths_add(struct pf_paths *list, const char *path)
{
	list->items = pf_grow(list->items, &list->cap, list->count + 1,
			      sizeof(*list->items));
	list->items[list->count++] = pf_strdup(path);
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

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (has_suffix(name, suffixes[i]))
			return true;
	return false;
}

/* Kineto writes NAME.tmp, and renames it when it is complete. */
static bool is_unfinished(const char *name)
{
	char *finished;
	bool is = has_suffix(name, ".tmp");

	if (!is)
		return false;
	finished = pf_strdup(name);
	finished[strlen(name) - 4] = '\0';
	is = is_named_as_trace(finished);
	free(finished);
	return is;
}

static bool is_named_as_any(const char *name)
{
	return is_named_as_trace(name) || is_unfinished(name);
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Numbers in names as numbers: step_9 is before step_10. */
static int by_version(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
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
		return 0; /* a link to nothing, or gone */
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
	struct dirent **found;
	int rc = 0, n = scandir(folder, &found, is_shown, by_version);

	if (n < 0)
		return pf_fail_errno(err, "cannot read folder '%s'", folder);
	for (int i = 0; i < n; i++) {
		char *path = join(folder, found[i]->d_name);

		if (!rc)
			rc = visit(w, path, found[i]->d_name, depth, err);
		free(path);
		free(found[i]);
	}
	free(found);
	return rc;
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
	struct pf_buf key = { 0 };
	uint32_t n;

	pf_buf_addc(&key, what);
	pf_buf_add(&key, path, len);
	n = pf_intern_add(&b->keys, key.data, key.len);
	pf_buf_release(&key);
	return n;
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
	struct pf_buf raw = { 0 };
	size_t stem = strlen(path);
	bool is;

	if (has_suffix(path, ".json"))
		stem -= 5;
	else if (has_suffix(path, ".json.gz"))
		stem -= 8;
	else
		return false;
	pf_buf_add(&raw, path, stem);
	pf_buf_adds(&raw, ".raw.json.gz");
	is = has_key(b, 'f', raw.data, raw.len);
	pf_buf_release(&raw);
	return is;
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
	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++)
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

	choice->items = pf_grow(choice->items, &choice->cap, choice->count + 1,
				sizeof(*choice->items));
	c = &choice->items[choice->count++];
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

static bool is_of_rank(const char *path)
{
	struct pf_source_name name;

	pf_source_name_read(&name, path);
	free(name.worker);
	return name.rank >= 0;
}

/* in_folder: nobody named it, so it is read only if nothing more is needed. */
static int look_at(const struct pf_selection *choice, struct pf_chosen *c,
		   bool in_folder, struct pf_err *err)
{
	struct pf_seen seen;
	int rc = pf_ingest_probe(c->path, &seen, err);

	if (rc < 0 && choice->keep_going && err->code == PF_EIO) {
		memset(err, 0, sizeof(*err));
		return 0;
	}
	if (rc < 0)
		return pf_while(err, "'%s'", c->path);
	if (!rc && choice->keep_going && seen.is_broken && is_of_rank(c->path))
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
static bool is_other_text(const char *path)
{
	static const char *const formats[] = { "smi", "dmon", "dcgmi",
					       "folded" };
	struct pf_err ignored = { 0 };
	struct pf_seen seen;

	if (!has_suffix(path, ".log") && !has_suffix(path, ".txt"))
		return false;
	if (pf_ingest_probe(path, &seen, &ignored) != 1)
		return true;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(seen.format, formats[i]))
			return false;
	return true;
}

/* Most files of that name are profan's own databases, or anybody's. */
static bool is_other_database(const char *path)
{
	bool is;
	int fd;

	if (!has_suffix(path, ".db"))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	is = !pf_ingest_is_foreign(fd);
	if (fd >= 0)
		close(fd);
	return is;
}

/* What has the name of a trace and is none that anybody means goes. */
static void drop_others(struct pf_paths *found, size_t *others)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		if (is_other_database(found->items[i]) ||
		    is_other_text(found->items[i])) {
			free(found->items[i]);
			++*others;
		} else {
			found->items[kept++] = found->items[i];
		}
	}
	found->count = kept;
}

/* The files of a folder that are called as traces, each run once. */
static int find_named(const char *folder, struct pf_selection *out,
		      struct pf_err *err)
{
	struct pf_paths found = { 0 };
	struct beside b = { 0 };
	int rc = pf_walk_folder(
		folder, out->salvage ? is_named_as_any : is_named_as_trace,
		&found, &out->others, err);

	if (!rc)
		drop_others(&found, &out->others);
	if (!rc && found.count > PF_CHOOSE_FILES)
		rc = pf_fail(err, PF_ELIMIT,
			     "folder '%s' has %zu files that are called as "
			     "traces, and at most %d are looked at: name a "
			     "folder in it",
			     folder, found.count, PF_CHOOSE_FILES);
	pf_intern_init(&b.keys);
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
	pf_paths_release(&found);
	return rc;
}

/* Files of which another program makes traces may be what was meant. */
static int fail_empty(const char *folder, size_t looked, struct pf_err *err)
{
	struct pf_err ignored = { 0 };
	struct pf_paths found = { 0 };

	if (!pf_walk_folder(folder, pf_refusal_is_named, &found, NULL,
			    &ignored) &&
	    found.count)
		pf_fail(err, PF_EDATA,
			"folder '%s' has no traces, but '%s'%s, which %s",
			folder, pf_path_base(found.items[0]),
			found.count > 1 ? " and others" : "",
			pf_refusal_of_name(found.items[0]));
	else
		pf_fail(err, PF_EDATA,
			"folder '%s' has no traces: looked %d folders deep for "
			"*.json, *.xplane.pb, *.pfr and *.pickle, also .gz and "
			".zst, *.sqlite, *.db, *.rpd and *.csv, and for logs "
			"of GPUs (*.log) and stacks (*_stacks.txt, *.folded); "
			"%zu such files, none of them a trace",
			folder, PF_CHOOSE_DEPTH, looked);
	pf_paths_release(&found);
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

	if (look && strcmp(path, "-") != 0 && look_at(out, c, false, err))
		return -1;
	out->read_count += !c->why;
	return 0;
}

int pf_choose(char *const *arguments, size_t count, bool look,
	      struct pf_selection *out, struct pf_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++)
		rc = pf_is_folder(arguments[i])
			     ? add_folder(out, arguments[i], err)
			     : add_file(out, arguments[i], look, err);
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
	struct pf_buf names = { 0 };
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
	pf_buf_release(&names);
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
	struct pf_selection choice = { 0 };
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++)
		rc = pf_is_folder(arguments[i])
			     ? find_named(arguments[i], &choice, err)
			     : add_file(&choice, arguments[i], false, err);
	if (!rc)
		pf_selection_paths(&choice, out);
	pf_selection_release(&choice);
	return rc;
}

/* ---- runs ---- */

static void add_run(struct pf_plan *plan, char *name)
{
	plan->runs = pf_grow(plan->runs, &plan->runs_cap, plan->run_count + 1,
			     sizeof(*plan->runs));
	plan->runs[plan->run_count++] = (struct pf_plan_run){ .name = name };
}

static bool is_rave(const struct pf_chosen *c)
{
	return c->format && !strcmp(c->format, "rave");
}

/*
 * RAVE writes rows into the folder of its logger and traces where it was
 * started: they are of the only run that has traces.
 */
static void find_runs(struct pf_plan *plan)
{
	const struct pf_selection *choice = plan->choice;
	const char **paths = pf_calloc(choice->count + 1, sizeof(*paths));
	size_t *files = pf_calloc(choice->count + 1, sizeof(*files));
	size_t count = 0, own_count = 0, *first;

	for (int rave = 0; rave < 2; rave++)
		for (size_t i = 0; i < choice->count; i++) {
			const struct pf_chosen *c = &choice->items[i];

			if (c->why || is_rave(c) != rave)
				continue;
			files[count] = i;
			paths[count++] = c->path;
		}
	first = pf_source_runs(paths, count);
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
	free(first);
	free(files);
	free(paths);
}

/* Files of one trace have one number. */
static void find_joins(struct pf_plan *plan)
{
	const struct pf_selection *choice = plan->choice;
	const char **paths = pf_calloc(choice->count + 1, sizeof(*paths));
	size_t *joins;

	for (size_t i = 0; i < choice->count; i++)
		paths[i] = choice->items[i].why ? "" : choice->items[i].path;
	joins = pf_source_joins(paths, choice->count);
	for (size_t i = 0; i < choice->count; i++) {
		plan->files[i].first = joins[i];
		if (!choice->items[i].why && joins[i] == i)
			plan->runs[plan->files[i].run].trace_count++;
	}
	free(joins);
	free(paths);
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
	struct span *spans = pf_calloc(choice->count + 1, sizeof(*spans));
	struct pf_paths paths = { 0 };
	struct pf_intern workers;
	size_t count = 0, read = 0;
	int64_t *ranks;

	pf_selection_paths(choice, &paths);
	ranks = pf_source_ranks((const char *const *)paths.items, paths.count);
	pf_intern_init(&workers);
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
	pf_intern_release(&workers);
	pf_paths_release(&paths);
	free(ranks);
	free(spans);
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
	struct pf_selection choice = { 0 };
	struct pf_plan plan;
	int rc = pf_choose(arguments, count, false, &choice, err);

	if (!rc) {
		pf_selection_say(&choice);
		pf_plan_make(&plan, &choice);
		pf_plan_say(&plan);
		pf_plan_release(&plan);
		pf_selection_paths(&choice, out);
	}
	pf_selection_release(&choice);
	return rc;
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
	struct pf_intern names;
	int rc = 0;

	pf_intern_init(&names);
	for (size_t i = 0; i < choice->count && !rc; i++) {
		struct pf_plan_run *run = &plan->runs[plan->files[i].run];
		size_t before = names.count;

		if (choice->items[i].why || run->database)
			continue;
		run->database =
			database_of(folder, run->name, choice->items[i].under);
		pf_intern_add(&names, run->database, strlen(run->database));
		if (names.count == before)
			rc = pf_fail(err, PF_EUSAGE,
				     "two runs would be '%s': ingest them one "
				     "by one",
				     run->database);
	}
	pf_intern_release(&names);
	return rc;
}

/* ---- what it is ---- */

struct row {
	int64_t number, run, rank, world_size, cycle, file_bytes;
	const char *run_path, *format, *path;
};
#define FIELD(member, title, kind)                                             \
	PF_FIELD(struct row, member, #member, title, kind)
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
	PF_FIELD(struct run_row, run, "run", "Run", PF_INT),
	PF_FIELD(struct run_row, trace_count, "trace_count", "Traces",
		 PF_COUNT),
	PF_FIELD(struct run_row, run_path, "run_path", "Folder", PF_PATH),
	PF_FIELD(struct run_row, database, "database", "Database", PF_PATH),
};

struct passed_row {
	const char *path, *why;
};
static const struct pf_field passed_fields[] = {
	PF_FIELD(struct passed_row, path, "path", "File", PF_PATH),
	PF_FIELD(struct passed_row, why, "why", "It ...", PF_TEXT),
};

/* A trace has the number that it gets in its database. */
static void show_files(const struct pf_plan *plan, struct pf_doc *doc)
{
	struct pf_table *t = pf_doc_fields(doc, "files", "Files that are read",
					   PF_FIELDS(file_fields));
	int64_t *counts = pf_calloc(plan->run_count + 1, sizeof(*counts));
	int64_t all = 0;

	for (size_t i = 0; i < plan->choice->count; i++) {
		const struct pf_chosen *c = &plan->choice->items[i];
		const struct pf_plan_file *f = &plan->files[i];
		const struct pf_plan_run *run = &plan->runs[f->run];
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
		row.run = (int64_t)f->run + 1;
		row.run_path = run->name;
		if (plan->files[i].first == i)
			plan->files[i].number =
				run->database ? ++counts[f->run] : ++all;
		row.number = plan->files[plan->files[i].first].number;
		PF_PUT(t, file_fields, row);
	}
	free(counts);
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

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
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
		       traces, plural(traces), plan->run_count,
		       plural(plan->run_count), passed, plural(passed),
		       passed == 1 ? "is" : "are");
	show_runs(plan, out, doc);
	show_files(plan, doc);
	show_passed(plan, doc);
	if (choice->others)
		pf_doc_note(doc,
			    "%zu other file%s in these folders %s not called "
			    "as a trace",
			    choice->others, plural(choice->others),
			    choice->others == 1 ? "is" : "are");
	if (plan->run_count > 1 && !plan->runs[0].database)
		pf_doc_note(doc, "-o DIR makes a database of each run");
}
