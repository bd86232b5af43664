/* SPDX-License-Identifier: MIT */
/*
 * The family of a kernel: what stays the same of its name when the library,
 * its release or the GPU changes.  data/families.csv says what vendors'
 * kernels compute; any other name is its short form without template
 * arguments, architectures, tile sizes and counters.
 */
#ifndef PF_ANALYSIS_FAMILY_H
#define PF_ANALYSIS_FAMILY_H

#include "base/buf.h"
#include "base/err.h"

struct pf_families;
struct pf_families *pf_families_new(struct pf_err *err); /* NULL on error */
void pf_families_free(struct pf_families *f);

/* Add the family of a kernel's name; of copies and fills too. */
void pf_family_name(const struct pf_families *f, const char *kernel,
		    struct pf_buf *out);

#endif
