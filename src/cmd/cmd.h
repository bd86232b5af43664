/* SPDX-License-Identifier: MIT */
/*
 * A command is an entry and a short function.  The dispatcher parses the
 * options of the entry's table (and the common ones: --help, --quiet; --format
 * and --width where a document is shown; --sort and --limit where it has
 * lists), opens the database when the entry says so, calls the function and
 * checks that all output was written.
 *
 * An analysis has answer(), which fills a document in: the dispatcher then
 * puts its lists in order, cuts them to --limit and prints it.  Such a
 * function adds every row and every column (show/doc.h: PF_FULL and
 * PF_BRIEF say which formats have a column) and knows of neither format,
 * order nor limit.  Any other command has run() and prints itself.
 *
 * To add one: write cmd/cmd_NAME.c like this, and the rest of its man page,
 * cmd/NAME.1: its options and what .details, with which the page begins, has
 * no room for (tests/docs.sh holds one against the other).
 *
 *	static const struct pf_gaps_args defaults = { PF_WINDOW_DEFAULTS, ... };
 *	static const struct pf_opt opts[] = { PF_WINDOW_OPTS(...), ..., { 0 } };
 *
 *	static int answer(struct pf_ctx *cx, void *args, struct pf_doc *doc)
 *	{
 *		return pf_gaps(cx->db, args, doc);
 *	}
 *
 *	PF_COMMAND(305, gaps) = {
 *		.name = "gaps",
 *		.group = PF_GROUP_WHY,
 *		.args = "[DB]",
 *		.summary = "show why the GPU is idle",
 *		.needs = PF_NEEDS_DB | PF_SHOWS_DOC,
 *		.opts = opts,
 *		PF_DEFAULTS(defaults),
 *		.lists = "culprits gaps",
 *		.text_rows = 10,
 *		.examples = "profan gaps --micro 10us\n"
 *			    "profan gaps job.db --format csv\n",
 *		.answer = answer,
 *	};
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/outplace.h"
#include "show/doc.h"
#include "show/render.h"
#include "store/db.h"

enum pf_needs {
	/*
	 * The database is the first argument if there is one more than
	 * max_args, else $PROFAN_DB, else "profan.db".  It may be one or
	 * several traces or folders instead (cmd/cache.h).
	 */
	PF_NEEDS_DB = 1,
	PF_NEEDS_TABLES = 2, /* and with the virtual tables registered */
	PF_SHOWS_DOC = 4,    /* has --format and --width */
	PF_RUNS_PROGRAM = 8, /* arguments are a program and its own */
	PF_TAKES_FLEET = 16, /* run() reads the database of a fleet, too */
	PF_HAS_CHECKS = 32,  /* exits with 1 if one that was asked for failed */
};

struct pf_ctx {
	struct pf_err *err;  /* what went wrong, also of db */
	struct pf_db *db;    /* open if PF_NEEDS_DB, else NULL */
	const char *db_name; /* what it was asked for as, or NULL */
	bool is_db_given;    /* as an argument */
	int word;            /* the first argument as one of the words, or -1 */
	int argc;            /* arguments that are no options, without DB */
	char **argv;
	int dashes;               /* arguments before "--"; -1: there is none */
	struct pf_style style;    /* for pf_render_doc() */
	FILE *out;                /* where output goes */
	bool quiet;               /* -q */
	int64_t limit;            /* of rows in lists; -1: all */
	bool is_limit_given;      /* with --limit */
	bool is_page;             /* of many ranks, for people: no longer */
	bool wide;                /* the format shows every column */
	struct pf_cmd_kept *kept; /* or NULL: nothing stays open */
};

/*
 * Databases that stay open from one command to the next, for a process that
 * runs many: those used last, as long as their files are what they were.
 */
#define PF_CMD_KEPT 8
struct pf_cmd_kept {
	struct pf_cmd_kept_db *items[PF_CMD_KEPT]; /* the last used first */
};
void pf_cmd_kept_release(struct pf_cmd_kept *kept);

/* Titles of help and of profan(1) above commands that belong together. */
#define PF_GROUP_READ    "Read traces"
#define PF_GROUP_TIME    "Where the time goes"
#define PF_GROUP_WHY     "Why it goes there"
#define PF_GROUP_COMPARE "Compare"
#define PF_GROUP_GIVE    "Give to others and look up"

struct pf_cmd {
	const char *name;
	const char *group;         /* PF_GROUP_... */
	const char *args;          /* as usage shows them: "[DB] 'SQL'" */
	const char *summary;       /* one line, lower case, no full stop */
	const char *details;       /* of --help and its page, or NULL */
	unsigned needs;            /* enum pf_needs */
	int min_args, max_args;    /* without DB; max_args -1: any number */
	const char *words;         /* one of them may stand first: "a|b" */
	const struct pf_opt *opts; /* or NULL */
	size_t args_bytes;         /* of the struct that opts fill in */
	const void *defaults;      /* what it holds at first; NULL: zero */
	const char *examples;      /* one command line per line, or NULL */
	/* 0 done; 1 a check that was asked for failed; -1 cx->err is set. */
	int (*run)(struct pf_ctx *cx, void *args);
	/* Instead of run(), with the same results: see above. */
	int (*answer)(struct pf_ctx *cx, void *args, struct pf_doc *doc);
	/* Or NULL: the same of a fleet database (compare/fleet_show.h). */
	int (*fleet)(struct pf_db *db, struct pf_doc *doc);
	/* Or NULL: --format html, of the document that answer() made. */
	int (*page)(struct pf_ctx *cx, void *args, struct pf_doc *doc);
	/* Or NULL: frees what these left in args; called last, always. */
	void (*release)(void *args);
	/*
	 * Names of the tables that --limit cuts, a space between them; --sort
	 * orders the first.  NULL: neither option.
	 */
	const char *lists;
	const char *sorts; /* columns that completion offers: "ns|count" */
	/* Rows without --limit in text, and in other formats; 0: all. */
	int64_t text_rows, data_rows;
};

/*
 * Defines a command and enters it in the list, which src/entries.sh makes;
 * help shows them in the order of the numbers, whose hundreds are the groups.
 */
#define PF_COMMAND(number, name) const struct pf_cmd pf_cmd_##name
/* Of its entry: the struct that opts fill in, and what that holds at first. */
#define PF_DEFAULTS(args) .args_bytes = sizeof(args), .defaults = &(args)

/* Every command in the order of help; ends with NULL. */
extern const struct pf_cmd *const pf_cmds[];

/*
 * The tables of options that a command has, NULL for one that it has not: its
 * own, those of lists, those of documents, those of all commands.
 */
#define PF_CMD_OPT_SETS 4
void pf_cmd_opts(const struct pf_cmd *cmd,
		 const struct pf_opt *sets[PF_CMD_OPT_SETS]);
/* What all but a command's own write to, as it is at first. */
extern const void *const pf_cmd_common;

/* Find by name; PF_EUSAGE with a suggestion and NULL if there is none. */
const struct pf_cmd *pf_cmd_find(const char *name, struct pf_err *err);

/*
 * Run a command with the arguments after its name.  Returns what run()
 * returned, or -1.
 */
int pf_cmd_run(const struct pf_cmd *cmd, int argc, char **argv, FILE *out,
	       struct pf_cmd_kept *kept, struct pf_err *err);

/*
 * The same of a database that is open, with another name for it, without the
 * argument that names one: what another command would say.
 */
int pf_cmd_run_on(const struct pf_cmd *cmd, int argc, char **argv,
		  struct pf_db *db, const char *db_name, FILE *out,
		  struct pf_err *err);

/*
 * cmd_ingest.c: files into a database, as "profan ingest" does it without
 * options, with its warnings and progress; cache: pf_ingest_options.
 */
int pf_cmd_ingest_files(const char *const *paths, size_t count, const char *out,
			const char *cache, struct pf_err *err);

/*
 * cmd_graphs.c: what graphs replay, named by what was asked for; nothing is
 * read if nothing was, and *named is NULL then.  *out is to be released also
 * after an error.
 */
struct pf_graph_evidence;
struct pf_graphs;
struct pf_window_args;
int pf_cmd_name_graphs(struct pf_db *db, const struct pf_graph_evidence *e,
		       const struct pf_window_args *window,
		       struct pf_graphs *out, struct pf_graphs **named);

/*
 * The same of all time of these traces, for who looks beyond the window, with
 * the arguments of captured operators.
 */
int pf_cmd_name_all_graphs(struct pf_db *db, const struct pf_graph_evidence *e,
			   const struct pf_window_args *window,
			   struct pf_graphs *out, struct pf_graphs **named);

/* Print help for everything (cmd NULL) or one command, for 80 columns. */
void pf_cmd_usage(const struct pf_cmd *cmd, FILE *out);

/* Files that commands write besides databases. */

/*
 * Open a file under the rules of base/outplace.h.  An earlier page or summary
 * of ours may be replaced.  A path of NULL or "-" is the standard output.
 */
struct pf_outfile *pf_output_open(struct pf_ctx *cx, const char *path,
				  const struct pf_outrule *rule);

/* Write a text to such a file, or not at all. */
int pf_output_write(struct pf_ctx *cx, const char *path,
		    const struct pf_outrule *rule, const struct pf_buf *text);

/* As pf_output_write(), and say so. */
int pf_output_page(struct pf_ctx *cx, const char *path,
		   const struct pf_outrule *rule, const struct pf_buf *text);
