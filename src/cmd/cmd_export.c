/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cmd/cmd.h"
#include "store/query.h"

struct export_args {
	bool rows, force;
	const char *out;
};

static const struct pf_opt opts[] = {
	{ 0, "rows", NULL, "as plain tables for any SQLite tool", PF_OPT_FLAG,
	  offsetof(struct export_args, rows), 0, 0 },
	{ 'o', "output", "FILE", "the file to write", PF_OPT_STRING,
	  offsetof(struct export_args, out), 0, 0 },
	{ 0, "force", NULL, "replace FILE if it exists", PF_OPT_FLAG,
	  offsetof(struct export_args, force), 0, 0 },
	{ 0 }
};

static int run(struct pf_ctx *cx, void *args)
{
	const struct export_args *a = args;

	if (!a->rows)
		return pf_fail(cx->err, PF_EUSAGE,
			       "say what to export: '--rows' is all there is");
	if (!a->out)
		return pf_fail(cx->err, PF_EUSAGE, "'--output' is missing");
	return pf_export_rows(cx->db, a->out, a->force, cx->err);
}

PF_COMMAND(520, export) = {
	.name = "export",
	.group = PF_GROUP_GIVE,
	.args = "--rows -o FILE [DB]",
	.summary = "write a database as plain tables",
	.details = "Every table, with the compressed columns as the plain "
		   "tables event and arg, in a new SQLite file for any tool.  "
		   "It is many times larger than the database; 'profan query' "
		   "and the SQLite extension profan_sqlite show the same "
		   "tables without it.",
	.needs = PF_NEEDS_DB | PF_NEEDS_TABLES,
	.opts = opts,
	.args_bytes = sizeof(struct export_args),
	.examples = "profan export --rows -o rows.db\n"
		    "profan export --rows -o rows.db --force job.db\n",
	.run = run,
};
