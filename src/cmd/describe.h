/* SPDX-License-Identifier: MIT */
/*
 * Commands for programs: everything that help says, as JSON, and the schemas
 * of documents.  Options are those of the tables that parse them.  Figures,
 * tables and columns are those of data/documents/COMMAND.csv: which there are
 * is only known when a document is made, so this is what documents were seen
 * to have; tests/documents.sh holds it against what commands print, and with
 * UPDATE=1 writes it.  It is the promise that render.h makes for a version.
 */
#ifndef PF_CMD_DESCRIBE_H
#define PF_CMD_DESCRIBE_H

#include "cmd/cmd.h"

/* All commands, or one. */
int pf_describe_json(const struct pf_cmd *cmd, FILE *out, struct pf_err *err);

/* PF_EUSAGE if the command prints no document. */
int pf_describe_schema(const struct pf_cmd *cmd, FILE *out, struct pf_err *err);

#endif
