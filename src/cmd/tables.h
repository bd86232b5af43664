/* SPDX-License-Identifier: MIT */
/*
 * Single tables of a document: one alone on the output (--table), or each in
 * a file of its own (--output-dir), so that what reads csv can read them.
 * The figures of a document are its table "figures".
 */
#ifndef PF_CMD_TABLES_H
#define PF_CMD_TABLES_H

#include "cmd/cmd.h"
#include "table/doc.h"

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
