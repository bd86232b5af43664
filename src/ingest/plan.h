/* SPDX-License-Identifier: MIT */
/*
 * What ingest would do with files that were chosen, before it does it: the
 * runs that they are of, ranks and cycles, and the database of each run.
 *
 * A run is a folder, or several (source_name.h); cycles are captures of one worker of it,
 * in the order of the numbers in their names, from 1.
 */
#ifndef PF_INGEST_PLAN_H
#define PF_INGEST_PLAN_H

#include "ingest/choose.h"
#include "show/doc.h"

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

#endif
