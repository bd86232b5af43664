/* SPDX-License-Identifier: MIT */
#include "config.h"

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
#include "base/path.h"
#include "ingest/choose.h"
#include "ingest/ingest.h"
#include "ingest/source_name.h"
#include "formats/refusal.h"

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

	if (find_named(folder, out, err))
		return -1;
	for (size_t i = before; i < out->count; i++) {
		if (out->items[i].why)
			continue;
		looked++;
		if (look_at(out, &out->items[i], true, err))
			return -1;
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
