/* SPDX-License-Identifier: MIT */
/*
 * Which files an argument of a command means.  A file is itself, and "-" is
 * standard input.  A folder is the traces in it and in the folders in it, as
 * frameworks write them (TensorBoard's runs/NAME, profiler_logs,
 * plugins/profile/RUN), in the order of their names with numbers as numbers,
 * so that the same folder gives the same database.  Other files of such names
 * that hold no trace (config.json, training_summary.json) are passed over, and
 * so is what tells again what a file beside it tells.
 *
 * Folders are entered PF_CHOOSE_DEPTH deep; those that are links or hidden
 * are not, so that no loop is walked and nothing is read twice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "show/doc.h"

#define PF_CHOOSE_DEPTH 32
#define PF_CHOOSE_FILES 10000 /* of one folder, by their names */

struct pf_paths {
	char **items; /* owned */
	size_t count, cap;
};

void pf_paths_add(struct pf_paths *list, const char *path);
void pf_paths_release(struct pf_paths *list);

bool pf_is_folder(const char *path);
/* The same of an input: -1 if the machine cannot say. */
int pf_input_is_folder(const char *path, struct pf_err *err);

/*
 * Every regular file below "folder" whose name "wanted" accepts, in order, is
 * added to out.  How many others there are is added to *others, if it is not
 * NULL.  PF_EIO if a folder cannot be read.
 */
int pf_walk_folder(const char *folder, bool (*wanted)(const char *name),
		   struct pf_paths *out, size_t *others, struct pf_err *err);

/* A file that an argument means, or that is in a folder that one means. */
struct pf_chosen {
	char *path;         /* owned */
	const char *under;  /* the argument, borrowed */
	const char *format; /* trace.format; NULL: unknown, or passed over */
	char *why;          /* owned: why it is passed over; NULL: it is not */
	int64_t rank, world_size, file_bytes; /* -1: not known */
};

struct pf_selection {
	struct pf_chosen *items;
	size_t count, cap;
	size_t read_count; /* of them, those that are not passed over */
	size_t others;     /* files in folders that are not called as traces */
	/*
	 * Set by who asks: files that cannot be read, and broken ones called as
	 * those of a rank, are chosen too, so that whoever reads says why not.
	 */
	bool keep_going;
	bool salvage;      /* unfinished files NAME.tmp of folders, too */
	bool has_interval; /* logs of folders without times, too */
};

void pf_selection_release(struct pf_selection *choice);

/*
 * Add what the arguments mean.  Folders are looked through; with "look" at
 * files that are named, too.  PF_EDATA if a folder has no trace: what was
 * found is in the choice all the same.  PF_EIO if something cannot be read.
 */
int pf_choose(char *const *arguments, size_t count, bool look,
	      struct pf_selection *out, struct pf_err *err);

/* Add the paths of what is not passed over. */
void pf_selection_paths(const struct pf_selection *choice,
			struct pf_paths *out);

/* One line for each reason why files are passed over. */
void pf_selection_say(const struct pf_selection *choice);

/*
 * Add the files that may be meant: those of folders by their names, none of
 * which has been read.
 */
int pf_choose_files(char *const *arguments, size_t count, struct pf_paths *out,
		    struct pf_err *err);

/*
 * What ingest would do with files that were chosen, before it does it: the
 * runs that they are of, ranks and cycles, and the database of each run.
 *
 * A run is a folder, or several (source_name.h); cycles are captures of one worker of it,
 * in the order of the numbers in their names, from 1.
 */

struct pf_plan_run {
	char *name;     /* owned; its folder */
	char *database; /* owned; NULL: all are one, which is named */
	struct pf_paths traces;
	int64_t trace_count; /* of several files some are one */
};

struct pf_plan {
	const struct pf_selection *choice; /* borrowed */
	struct pf_plan_run *runs;
	size_t run_count, runs_cap;
	struct pf_plan_file {
		size_t run;          /* of the files that are not passed over */
		int64_t rank, cycle; /* -1: not known; the only one */
		size_t first;        /* file that it is one trace with */
		int64_t number;      /* of the trace, once it is shown */
	} * files;                   /* as those of the choice */
};

void pf_plan_make(struct pf_plan *plan, const struct pf_selection *choice);
void pf_plan_release(struct pf_plan *plan);

/* One line, if several runs of folders are to be in one database. */
void pf_plan_say(const struct pf_plan *plan);

/* pf_choose() and what is said of it: the paths that are to be read as one. */
int pf_plan_traces(char *const *arguments, size_t count, struct pf_paths *out,
		   struct pf_err *err);

/*
 * Name a database of each run in a folder, by the folder of the run.
 * PF_EUSAGE if two would have one name.
 */
int pf_plan_split(struct pf_plan *plan, const char *folder, struct pf_err *err);

/* out: the only database, if the plan was not split. */
void pf_plan_show(const struct pf_plan *plan, const char *out,
		  struct pf_doc *doc);
