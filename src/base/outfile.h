/* SPDX-License-Identifier: MIT */
/*
 * A file that is there when it is complete and not before, under the rules of
 * base/outplace.h.  A path that ends in ".gz" is
 * compressed, with a header that says no time and no system, so that the same
 * bytes in give the same bytes out (of one zlib).  The path "-" is standard
 * output, never compressed.
 */
#ifndef PF_BASE_OUTFILE_H
#define PF_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "base/outplace.h"

struct pf_outfile;

/* NULL on error. */
struct pf_outfile *pf_outfile_open(const char *path,
				   const struct pf_outrule *rule, FILE *out,
				   struct pf_err *err);
int pf_outfile_write(struct pf_outfile *f, const void *data, size_t len,
		     struct pf_err *err);
/* Write what is left and put the file in its place. */
int pf_outfile_commit(struct pf_outfile *f, struct pf_err *err);
/* Free it; what was not committed is removed.  NULL is fine. */
void pf_outfile_free(struct pf_outfile *f);

#endif
