/* SPDX-License-Identifier: MIT */
/*
 * The summary of a rank: what the commands find in its database, with their
 * defaults, as rows of a fleet.  Figures are those of the analyses; none is
 * worked out here.
 */
#ifndef PF_COMPARE_FLEET_SUMMARY_H
#define PF_COMPARE_FLEET_SUMMARY_H

#include "compare/fleet_put.h"

/* Places of idle time that are kept. */
#define PF_FLEET_SITES 64

/*
 * Write the summary of the only trace of an open database as the next rank.
 * capture NULL: the name of the folder of its run.  db_path: where the
 * database will be found, or NULL.  PF_EDATA if there are several traces.
 * After a failure that is the database's, nothing of the rank is there; one
 * of the output is *is_fatal.
 */
int pf_fleet_summarise(struct pf_fleet_out *out, struct pf_db *db,
		       const char *capture, const char *db_path, bool *is_fatal,
		       struct pf_err *err);

/* The next rank is one that failed: error, path and what else is known. */
int pf_fleet_put_rank(struct pf_fleet_out *out,
		      const struct pf_fleet_rank *rank, struct pf_err *err);

/* What a capture is called, of the path of a trace; the caller frees it. */
char *pf_fleet_capture_name(const char *path);

#endif
