/* SPDX-License-Identifier: MIT */
/*
 * Which files an argument of a command means.  A file is itself, and "-" is
 * standard input.  A folder is the traces in it and in the folders in it, as
 * frameworks write them (TensorBoard's runs/NAME, profiler_logs), in the order
 * of their names with numbers as numbers, so that the same folder gives the
 * same database.  Other files of such names that hold no trace
 * (config.json, training_summary.json) are passed over, and one note says so.
 *
 * Folders are entered PF_CHOOSE_DEPTH deep; those that are links or hidden
 * are not, so that no loop is walked and nothing is read twice.
 */
#ifndef PF_INGEST_CHOOSE_H
#define PF_INGEST_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define PF_CHOOSE_DEPTH 8

struct pf_paths {
	char **items; /* owned */
	size_t count, cap;
};

void pf_paths_add(struct pf_paths *list, const char *path);
void pf_paths_release(struct pf_paths *list);

bool pf_is_folder(const char *path);

/*
 * Every regular file below "folder" whose name "wanted" accepts, in order, is
 * added to out.  PF_EIO if a folder cannot be read.
 */
int pf_walk_folder(const char *folder, bool (*wanted)(const char *name),
		   struct pf_paths *out, struct pf_err *err);

/*
 * Add the files that may be meant: those of folders by their names, none of
 * which has been read.
 */
int pf_choose_files(char *const *arguments, size_t count, struct pf_paths *out,
		    struct pf_err *err);

/*
 * Add what the arguments mean to out.  PF_EDATA if a folder has no trace,
 * PF_EIO if something cannot be read.
 */
int pf_choose_traces(char *const *arguments, size_t count, struct pf_paths *out,
		     struct pf_err *err);

#endif
