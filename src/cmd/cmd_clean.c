/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "base/outplace.h"
#include "cmd/cache.h"
#include "cmd/cmd.h"
#include "ingest/files.h"

struct clean_args {
	bool dry_run;
};

static const struct pf_opt opts[] = {
	{ 'n', "dry-run", NULL, "only say what would be removed", PF_OPT_FLAG,
	  offsetof(struct clean_args, dry_run), 0, 0 },
	{ 0 }
};

static int remove_cache(const char *path, bool dry_run, struct pf_err *err)
{
	struct stat info;
	int rc = 0, fd;

	if (stat(path, &info))
		return errno == ENOENT
			       ? 0 /* named twice */
			       : pf_fail_errno(err, "cannot look at '%s'",
					       path);
	fd = pf_outplace_lock(path, true);
	if (fd < 0 && errno == EWOULDBLOCK)
		pf_log_note("left %s, which another command reads", path);
	else if (fd < 0 && errno != ENOENT)
		rc = pf_fail_errno(err, "cannot open '%s'", path);
	else if (!dry_run && unlink(path) && errno != ENOENT)
		rc = pf_fail_errno(err, "cannot remove '%s'", path);
	else
		pf_log_note("%s %s, %s", dry_run ? "would remove" : "removed",
			    path, PF_SHOW_BYTES(info.st_size));
	if (fd >= 0)
		close(fd);
	return rc;
}

static int run(struct pf_ctx *cx, void *argv)
{
	const struct clean_args *args = argv;
	PF_AUTO(pf_paths_release) struct pf_paths caches = { 0 };

	PF_TRY(cx->argc ? 0 : pf_cache_find(".", &caches, cx->err));
	for (int i = 0; i < cx->argc; i++)
		PF_TRY(pf_cache_find(cx->argv[i], &caches, cx->err));
	for (size_t i = 0; i < caches.count; i++)
		PF_TRY(remove_cache(caches.items[i], args->dry_run, cx->err));
	if (!caches.count)
		pf_log_note("there is nothing to remove");
	return 0;
}

PF_COMMAND(120, clean) = {
	.name = "clean",
	.group = PF_GROUP_READ,
	.args = "[PATH]...",
	.summary = "remove databases that commands made of traces",
	.details = "A command that is given a trace, several or a folder "
		   "reads them into TRACE.profan.db or "
		   "FOLDER/traces.profan.db beside them and uses that again "
		   "until a size or a time of a source changes.  PATH is such "
		   "a database, the trace that it is of, or a folder, which "
		   "is entered 32 folders deep; without it this folder is "
		   "meant.  Such a database has a mark; those of 'profan "
		   "ingest' and other files are not touched, and one that "
		   "another command reads is left.",
	.max_args = -1,
	.opts = opts,
	.args_bytes = sizeof(struct clean_args),
	.examples = "profan clean\n"
		    "profan clean --dry-run runs\n"
		    "profan clean trace.json.gz\n",
	.run = run,
};
