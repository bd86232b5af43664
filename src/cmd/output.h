/* SPDX-License-Identifier: MIT */
/* Files that commands write besides databases. */
#ifndef PF_CMD_OUTPUT_H
#define PF_CMD_OUTPUT_H

#include "base/buf.h"
#include "base/err.h"
#include "cmd/cmd.h"

/*
 * Write the whole text to a file or not at all: it is renamed into place.  A
 * path of NULL or "-" is the standard output.
 */
int pf_output_write(struct pf_ctx *cx, const char *path,
		    const struct pf_buf *text, struct pf_err *err);

/* The same, and say so. */
int pf_output_page(struct pf_ctx *cx, const char *path,
		   const struct pf_buf *text, struct pf_err *err);

#endif
