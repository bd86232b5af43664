/* SPDX-License-Identifier: MIT */
/*
 * Arguments that may be databases or traces.  A trace is read into a database
 * beside it, TRACE.profan.db, which is used again as long as it is newer than
 * the trace; where that folder cannot be written to, into a temporary one.
 */
#ifndef PF_CMD_INPUT_H
#define PF_CMD_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct pf_input_db {
	char *path;   /* of the database */
	char *folder; /* to be removed with it, or NULL */
};

struct pf_inputs {
	struct pf_input_db *items;
	const char **paths; /* of the databases */
	size_t count;
};

int pf_inputs_open(struct pf_inputs *in, char *const *arguments, size_t count,
		   struct pf_err *err);
void pf_inputs_close(struct pf_inputs *in);

#endif
