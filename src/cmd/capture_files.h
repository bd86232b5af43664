/* SPDX-License-Identifier: MIT */
/*
 * The files that a captured run leaves: the agent names them after a pattern
 * (agent/FORMAT.md, %p %h %t %n %q{VAR} %%) in one folder.  Whatever fits the
 * pattern and was not there before is the run's.
 */
#ifndef PF_CMD_CAPTURE_FILES_H
#define PF_CMD_CAPTURE_FILES_H

#include <regex.h>
#include <stddef.h>

#include "base/err.h"

struct pf_capture_names {
	char **items; /* owned; in order of name, numbers by value */
	size_t count, cap;
};

struct pf_capture_files {
	char *pattern; /* absolute, for the agent */
	char *folder;
	regex_t names;
	struct pf_capture_names before;
};

/*
 * Make the pattern absolute, make its folder if it is missing, and see what
 * is there.  PF_EUSAGE if the folder's part has a % sequence.
 */
int pf_capture_files_init(struct pf_capture_files *f, const char *pattern,
			  struct pf_err *err);
void pf_capture_files_release(struct pf_capture_files *f);

/* Paths of the files that are new; released by the caller. */
int pf_capture_files_new(const struct pf_capture_files *f,
			 struct pf_capture_names *out, struct pf_err *err);
void pf_capture_names_release(struct pf_capture_names *n);

#endif
