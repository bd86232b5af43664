/* SPDX-License-Identifier: MIT */
/* Files that commands write besides databases. */
#ifndef PF_CMD_OUTPUT_H
#define PF_CMD_OUTPUT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/outplace.h"
#include "cmd/cmd.h"

/*
 * Write a text to a file, under the rules of base/outplace.h, or not at all.
 * An earlier page or summary of ours may be replaced.  A path of NULL or "-"
 * is the standard output.
 */
int pf_output_write(struct pf_ctx *cx, const char *path,
		    const struct pf_outrule *rule, const struct pf_buf *text,
		    struct pf_err *err);

/* The same, and say so. */
int pf_output_page(struct pf_ctx *cx, const char *path,
		   const struct pf_outrule *rule, const struct pf_buf *text,
		   struct pf_err *err);

#endif
