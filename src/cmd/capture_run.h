/* SPDX-License-Identifier: MIT */
/*
 * A program as a child that does not notice: it has our standard files, our
 * signal mask and dispositions; signals sent to us alone reach it too (those
 * of a terminal reach it anyway).
 */
#ifndef PF_CMD_CAPTURE_RUN_H
#define PF_CMD_CAPTURE_RUN_H

#include "base/err.h"

/*
 * Run argv[0], found in PATH, until it ends.  *status: its exit code, 128 + n
 * if signal n ended it, 127 if there is no such program, 126 if it cannot be
 * run (and then err says why and -1 is returned).
 */
int pf_capture_run(char *const *argv, int *status, struct pf_err *err);

/* Become the program instead: returns only if that fails, as above. */
int pf_capture_become(char *const *argv, int *status, struct pf_err *err);

#endif
