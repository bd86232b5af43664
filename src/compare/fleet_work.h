/* SPDX-License-Identifier: MIT */
/*
 * Traces and databases of ranks become summaries: each worker takes the next
 * input, reads it if it is a trace, and adds its summary to a fleet of its
 * own, which is in no folder.  An input that cannot be read costs itself
 * alone, and is a rank with an error.
 */
#ifndef PF_COMPARE_FLEET_WORK_H
#define PF_COMPARE_FLEET_WORK_H

#include "compare/fleet_inputs.h"
#include "compare/fleet_put.h"

#define PF_FLEET_WORKERS 16

struct pf_fleet_work {
	const struct pf_fleet_inputs *inputs;
	const char *capture; /* of all; NULL: as their paths say */
	const char *keep;    /* folder of the databases; NULL: none is kept */
	size_t threads;
	/* What came of it: */
	struct pf_db parts[PF_FLEET_WORKERS];
	size_t part_count;
	size_t failed; /* inputs */
	size_t passed; /* files of folders that are no traces */
};

int pf_fleet_work(struct pf_fleet_work *work, struct pf_err *err);
void pf_fleet_work_release(struct pf_fleet_work *work);

#endif
