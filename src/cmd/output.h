/* SPDX-License-Identifier: MIT */
/* Files that commands write besides databases. */
#ifndef PF_CMD_OUTPUT_H
#define PF_CMD_OUTPUT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/outplace.h"
#include "cmd/cmd.h"
#include "show/doc.h"

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

/*
 * tables.c: single tables of a document, one alone on the output (--table), or
 * each in a file of its own (--output-dir), so that what reads csv can read
 * them.  The figures of a document are its table "figures".
 */

/* Print one table; PF_EUSAGE says which there are if it is none of them. */
int pf_tables_print(const struct pf_ctx *cx, const struct pf_doc *doc,
		    const char *name, struct pf_err *err);

/*
 * Write each into FOLDER/NAME.csv (.json, .md), and make the folder if it is
 * not there.  Files that are there are not overwritten.
 */
int pf_tables_write(const struct pf_ctx *cx, const struct pf_doc *doc,
		    const char *folder, struct pf_err *err);

#endif
