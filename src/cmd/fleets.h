/* SPDX-License-Identifier: MIT */
/*
 * Commands that are given a fleet database: with --rank N the database of that
 * rank takes its place; else those that have fleet() answer, and the others
 * say what to do.
 */
#ifndef PF_CMD_FLEETS_H
#define PF_CMD_FLEETS_H

#include <stdbool.h>

#include "cmd/cmd.h"

/* Is this file one? */
bool pf_is_fleet(const char *path);

/*
 * *path, which is owned, is a fleet: make it that of the rank that the options
 * ask for (0), or leave it (1).  PF_EUSAGE if the command cannot read it, or
 * has options that are of events.
 */
int pf_fleet_choose(const struct pf_cmd *cmd, const void *args, char **path,
		    struct pf_err *err);

/* The rows of a list that an option of the command asks for; -1: all. */
int64_t pf_fleet_limit(const struct pf_cmd *cmd, const struct pf_ctx *cx,
		       const void *args, bool is_limited);

#endif
