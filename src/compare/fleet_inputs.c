/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "compare/fleet.h"
#include "compare/fleet_inputs.h"
#include "ingest/files.h"
#include "ingest/source_name.h"

/* ---- shards ---- */

int pf_fleet_shard_read(const char *text, struct pf_fleet_shard *out,
			struct pf_err *err)
{
	const char *slash = strchr(text, '/');
	char *head = pf_memdup0(text, slash ? (size_t)(slash - text) : 0);
	bool ok = slash && !pf_num_int(head, &out->index) &&
		  !pf_num_int(slash + 1, &out->count) && out->index >= 0 &&
		  out->index < out->count && out->count <= 1000000;

	free(head);
	if (ok)
		return 0;
	return pf_fail(err, PF_EUSAGE,
		       "'--shard %s': it is I/N, such as 0/64 to 63/64", text);
}

/* ---- what a path is ---- */

static void add(struct pf_fleet_inputs *in, const char *path, bool is_named)
{
	int64_t id = pf_db_peek(path);

	in->items =
		pf_grow(in->items, &in->cap, in->count + 1, sizeof(*in->items));
	in->items[in->count++] = (struct pf_fleet_input){
		.path = pf_strdup(path),
		.is_named = is_named,
		.source = id == PF_FLEET_APPLICATION_ID ? PF_SOURCE_FLEET
			  : id == PF_APPLICATION_ID     ? PF_SOURCE_DATABASE
							: PF_SOURCE_TRACE,
	};
}

static bool is_called_database(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && !strcmp(name + n - 3, ".db");
}

static bool is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* ---- folders ---- */

static int add_databases(struct pf_fleet_inputs *in, const char *folder,
			 const struct pf_fleet_shard *shard,
			 const char *out_path, struct pf_err *err)
{
	struct pf_paths found = { 0 };
	int rc = pf_walk_folder(folder, is_called_database, &found, NULL, err);

	for (size_t i = 0; i < found.count && !rc; i++) {
		const char *path = found.items[i];
		int64_t id = pf_db_peek(path);

		if (id == PF_FLEET_APPLICATION_ID
			    ? !shard->count && !is_same(path, out_path)
			    : id == PF_APPLICATION_ID && !pf_db_is_cache(path))
			add(in, path, false);
	}
	pf_paths_release(&found);
	return rc;
}

static int add_folder(struct pf_fleet_inputs *in, const char *folder,
		      const struct pf_fleet_shard *shard, const char *out_path,
		      struct pf_err *err)
{
	char *one[] = { (char *)folder };
	struct pf_paths traces = { 0 };
	size_t before = in->count;
	int rc = pf_choose_files(one, 1, &traces, err);

	for (size_t i = 0; i < traces.count && !rc; i++)
		add(in, traces.items[i], false);
	pf_paths_release(&traces);
	if (!rc && in->count == before)
		rc = add_databases(in, folder, shard, out_path, err);
	if (!rc && in->count == before)
		rc = pf_fail(err, PF_EDATA,
			     "folder '%s' has neither traces nor databases",
			     folder);
	return rc;
}

/* ---- all ---- */

static void cut(struct pf_fleet_inputs *in, const struct pf_fleet_shard *shard)
{
	size_t of = (size_t)shard->count, i = (size_t)shard->index, kept = 0;
	size_t from = in->count * i / of, to = in->count * (i + 1) / of;

	for (size_t k = 0; k < in->count; k++)
		if (k >= from && k < to)
			in->items[kept++] = in->items[k];
		else
			free(in->items[k].path);
	in->count = kept;
}

static void find_ranks(struct pf_fleet_inputs *in)
{
	const char **paths = pf_calloc(in->count + 1, sizeof(*paths));
	int64_t *ranks;

	for (size_t i = 0; i < in->count; i++)
		paths[i] = in->items[i].path;
	ranks = pf_source_ranks(paths, in->count);
	for (size_t i = 0; i < in->count; i++)
		in->items[i].rank = ranks[i];
	free(ranks);
	free(paths);
}

int pf_fleet_inputs_find(char *const *arguments, size_t count,
			 const struct pf_fleet_shard *shard,
			 const char *out_path, struct pf_fleet_inputs *out,
			 struct pf_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++)
		if (!strcmp(arguments[i], "-"))
			rc = pf_fail(err, PF_EUSAGE,
				     "a merge reads files, not standard input");
		else if (pf_is_folder(arguments[i]))
			rc = add_folder(out, arguments[i], shard, out_path,
					err);
		else
			add(out, arguments[i], true);
	if (!rc)
		find_ranks(out);
	if (!rc && shard->count)
		cut(out, shard);
	return rc;
}

void pf_fleet_inputs_release(struct pf_fleet_inputs *in)
{
	for (size_t i = 0; i < in->count; i++)
		free(in->items[i].path);
	free(in->items);
	*in = (struct pf_fleet_inputs){ 0 };
}
