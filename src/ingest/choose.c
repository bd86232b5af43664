/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "ingest/choose.h"
#include "ingest/ingest.h"

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
		".pfr.zst", ".xplane.pb", ".xplane.pb.gz", ".sqlite",
	};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (has_suffix(name, suffixes[i]))
			return true;
	return false;
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
	if (S_ISREG(info.st_mode) && w->wanted(name))
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
		   struct pf_paths *out, struct pf_err *err)
{
	const struct walk w = { wanted, out };

	return walk(&w, folder, 1, err);
}

/* ---- which of them are traces ---- */

/* One line for all: it is no damage, but what was read must be plain. */
static void say_passed(const struct pf_paths *passed)
{
	struct pf_buf names = { 0 };

	if (!passed->count)
		return;
	for (size_t i = 0; i < passed->count && i < NAMED; i++)
		pf_buf_addf(&names, "%s%s", i ? ", " : "",
			    pf_path_base(passed->items[i]));
	if (passed->count > NAMED)
		pf_buf_adds(&names, ", ...");
	if (passed->count == 1)
		pf_log_note("1 file is no trace: %s", names.data);
	else
		pf_log_note("%zu files are no traces: %s", passed->count,
			    names.data);
	pf_buf_release(&names);
}

/*
 * JAX writes what is in an XSpace once more as JSON beside it: HOST.trace.json.gz
 * and perfetto_trace.json.gz.
 */
static bool is_told_again(const struct pf_paths *found, const char *path)
{
	size_t folder = (size_t)(pf_path_base(path) - path);

	if (!has_suffix(path, "trace.json.gz"))
		return false;
	for (size_t i = 0; i < found->count; i++) {
		const char *other = found->items[i];

		if (has_suffix(other, ".xplane.pb") &&
		    (size_t)(pf_path_base(other) - other) == folder &&
		    !memcmp(other, path, folder))
			return true;
	}
	return false;
}

/* The files of a folder that are called as traces are, each run once. */
static int find_named(const char *folder, struct pf_paths *out,
		      struct pf_err *err)
{
	struct pf_paths found = { 0 };
	size_t again = 0;
	int rc = pf_walk_folder(folder, is_named_as_trace, &found, err);

	for (size_t i = 0; i < found.count && rc >= 0; i++) {
		if (is_told_again(&found, found.items[i]))
			again++;
		else
			pf_paths_add(out, found.items[i]);
	}
	if (again)
		pf_log_note("%zu %s what the *.xplane.pb beside %s, and %s "
			    "passed over",
			    again, again == 1 ? "file tells" : "files tell",
			    again == 1 ? "it tells" : "them tell",
			    again == 1 ? "is" : "are");
	pf_paths_release(&found);
	return rc;
}

static int add_folder(struct pf_paths *out, const char *folder,
		      struct pf_paths *passed, struct pf_err *err)
{
	struct pf_paths found = { 0 };
	size_t before = out->count;
	int rc = find_named(folder, &found, err);

	for (size_t i = 0; i < found.count && rc >= 0; i++) {
		rc = pf_ingest_probe(found.items[i], err);
		if (rc >= 0)
			pf_paths_add(rc ? out : passed, found.items[i]);
	}
	if (rc >= 0 && out->count == before)
		rc = pf_fail(
			err, PF_EDATA,
			"folder '%s' has no traces: looked %d folders "
			"deep for *.json, *.xplane.pb and *.pfr, also .gz and "
			".zst, and *.sqlite; "
			"%zu such files, none of them a trace",
			folder, PF_CHOOSE_DEPTH, found.count);
	pf_paths_release(&found);
	return rc < 0 ? -1 : 0;
}

int pf_choose_traces(char *const *arguments, size_t count, struct pf_paths *out,
		     struct pf_err *err)
{
	struct pf_paths passed = { 0 };
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		if (pf_is_folder(arguments[i]))
			rc = add_folder(out, arguments[i], &passed, err);
		else
			pf_paths_add(out, arguments[i]);
	}
	if (!rc)
		say_passed(&passed);
	pf_paths_release(&passed);
	return rc;
}

int pf_choose_files(char *const *arguments, size_t count, struct pf_paths *out,
		    struct pf_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		if (pf_is_folder(arguments[i]))
			rc = find_named(arguments[i], out, err);
		else
			pf_paths_add(out, arguments[i]);
	}
	return rc;
}
