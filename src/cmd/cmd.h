/* SPDX-License-Identifier: MIT */
/*
 * A command is an entry and a short run().  The dispatcher parses the options
 * of the entry's table (and the common ones: --help, --quiet, and --format,
 * --width where a document is shown), opens the database when the entry says
 * so, calls run() and checks that all output was written.
 *
 * To add one: write cmd/cmd_NAME.c like this, declare the entry below, add it
 * to the table in cmd.c, describe it in profan.1 (tests/docs.sh checks).
 *
 *	static const struct gaps_args defaults = { .limit = 20 };
 *	static const struct pf_opt opts[] = { ..., { 0 } };
 *
 *	static int run(struct pf_ctx *cx, void *args, struct pf_err *err)
 *	{
 *		struct pf_doc doc = { 0 };
 *		int rc = pf_gaps(cx->db, args, &doc, err);
 *
 *		if (!rc)
 *			rc = pf_render_doc(&cx->style, &doc, cx->out, err);
 *		pf_doc_release(&doc);
 *		return rc;
 *	}
 *
 *	const struct pf_cmd pf_cmd_gaps = {
 *		.name = "gaps",
 *		.args = "[DB]",
 *		.summary = "show idle time on each stream",
 *		.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
 *		.opts = opts,
 *		.args_bytes = sizeof(struct gaps_args),
 *		.defaults = &defaults,
 *		.examples = "profan gaps --min 10us\n"
 *			    "profan gaps job.db --format csv\n",
 *		.run = run,
 *	};
 */
#ifndef PF_CMD_CMD_H
#define PF_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "base/opt.h"
#include "render/render.h"
#include "store/db.h"

enum pf_needs {
	/*
	 * The database is the first argument if there is one more than
	 * max_args, else $PROFAN_DB, else "profan.db".
	 */
	PF_NEEDS_DB = 1,
	PF_NEEDS_TABLES = 2, /* and with the virtual tables registered */
	PF_SHOWS_DOC = 4,    /* has --format and --width */
};

struct pf_ctx {
	struct pf_db *db;    /* open if PF_NEEDS_DB, else NULL */
	const char *db_path; /* the same file, or NULL */
	bool is_db_given;    /* as an argument */
	int argc;            /* arguments that are no options, without DB */
	char **argv;
	struct pf_style style; /* for pf_render_doc() */
	FILE *out;             /* where output goes */
	bool quiet;            /* -q */
};

struct pf_cmd {
	const char *name;
	const char *args;          /* as usage shows them: "[DB] 'SQL'" */
	const char *summary;       /* one line, lower case, no full stop */
	const char *details;       /* paragraphs for --help, or NULL */
	unsigned needs;            /* enum pf_needs */
	int min_args, max_args;    /* without DB; max_args -1: any number */
	const struct pf_opt *opts; /* or NULL */
	size_t args_bytes;         /* of the struct that opts fill in */
	const void *defaults;      /* what it holds at first; NULL: zero */
	const char *examples;      /* one command line per line, or NULL */
	/* 0 done; 1 a check that was asked for failed; -1 err is set. */
	int (*run)(struct pf_ctx *cx, void *args, struct pf_err *err);
};

extern const struct pf_cmd pf_cmd_export;
extern const struct pf_cmd pf_cmd_gaps;
extern const struct pf_cmd pf_cmd_help;
extern const struct pf_cmd pf_cmd_info;
extern const struct pf_cmd pf_cmd_ingest;
extern const struct pf_cmd pf_cmd_kernels;
extern const struct pf_cmd pf_cmd_launches;
extern const struct pf_cmd pf_cmd_overlap;
extern const struct pf_cmd pf_cmd_query;
extern const struct pf_cmd pf_cmd_steps;
extern const struct pf_cmd pf_cmd_syncs;
extern const struct pf_cmd pf_cmd_table;

/* Every command in the order of help; ends with NULL. */
extern const struct pf_cmd *const pf_cmds[];

/* Rows that every command has; the second ones only with PF_SHOWS_DOC. */
extern const struct pf_opt pf_common_opts[];
extern const struct pf_opt pf_doc_opts[];

/* Find by name; PF_EUSAGE with a suggestion and NULL if there is none. */
const struct pf_cmd *pf_cmd_find(const char *name, struct pf_err *err);

/*
 * Run a command with the arguments after its name.  Returns what run()
 * returned, or -1.
 */
int pf_cmd_run(const struct pf_cmd *cmd, int argc, char **argv, FILE *out,
	       struct pf_err *err);

/* Print help for everything (cmd NULL) or one command, for 80 columns. */
void pf_cmd_usage(const struct pf_cmd *cmd, FILE *out);

#endif
