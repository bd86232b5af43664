/* SPDX-License-Identifier: MIT */
/*
 * Databases of traces that were not ingested: every command that reads a
 * database takes a trace, a folder of traces or several of both, and this is
 * where they become one.
 *
 *	trace.json.gz             trace.json.gz.profan.db
 *	runs                      runs/traces.profan.db
 *	rank0.json rank1.json     rank0.json+1.profan.db
 *
 * A cache has a mark that names its sources, their sizes and times and the
 * version of profan: it is used as long as they are what they were, and made
 * again if not.  Only a file with such a mark is replaced or removed, and only one
 * that the user owns is believed.  In a folder that others can write it lies in
 * the user's own ($XDG_CACHE_HOME/profan).  Where none can be written, or
 * another is writing it, the database is a temporary one, and so it is of pipes.
 * Who reads a cache holds a lock on it, and what is held is not removed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/outplace.h"
#include "cmd/cmd.h"
#include "events/hints.h"

struct pf_cached {
	char *path;                 /* of the database */
	struct pf_outfolder folder; /* that goes with it */
	size_t slot;                /* of the database, where there is one */
	struct pf_paths *files;     /* that it was made of */
	int fd;                     /* holds a cache, if is_held */
	bool is_held;
};

/*
 * The database of the sources: itself, if the only one is a database; of none
 * $PROFAN_DB or profan.db.  A note says so where traces are read.  After a
 * failure there is nothing to close.
 */
int pf_cache_open(struct pf_cached *c, char *const *sources, size_t count,
		  struct pf_err *err);
void pf_cache_close(struct pf_cached *c);

/* Is it a database of SQLite, and not the trace of another program? */
bool pf_cache_is_database(const char *path);

/*
 * Add the caches that a path means: itself, that of a trace, or those below a
 * folder.  PF_EIO if it cannot be read.
 */
struct pf_paths;
int pf_cache_find(const char *path, struct pf_paths *out, struct pf_err *err);

/* Several arguments, each a database of its own; diff and trend. */
struct pf_inputs {
	struct pf_cached *items;
	const char **paths; /* of the databases */
	size_t count;
};

int pf_inputs_open(struct pf_inputs *in, char *const *arguments, size_t count,
		   struct pf_err *err);
void pf_inputs_close(struct pf_inputs *in);
/* Are all of one producer?  1 yes, 0 no. */
int pf_inputs_are(const struct pf_inputs *in, enum pf_producer producer,
		  struct pf_err *err);

/*
 * Commands that are given a fleet database: with --rank N the database of that
 * rank takes its place; else those that have fleet() answer, and the others
 * say what to do.
 */

/* Is this file one? */
bool pf_is_fleet(const char *path);
