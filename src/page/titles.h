/* SPDX-License-Identifier: MIT */
/*
 * Tooltips of cells whose text is cut or shortened.  Names come back in many
 * rows, so a tooltip is written only where it differs from the one that the
 * same text had before on the page (at first: itself); reports/app.js gives
 * it to the cells between.
 */
#ifndef PF_PAGE_TITLES_H
#define PF_PAGE_TITLES_H

#include "base/intern.h"
#include "base/buf.h"

struct pf_titles {
	struct pf_intern texts; /* escaped: what is shown, and tooltips */
	uint32_t *in_force;     /* tooltip of each as a shown text */
	size_t cap;
};

void pf_titles_init(struct pf_titles *t);
void pf_titles_release(struct pf_titles *t);

/* Append ' title="..."' if it is needed.  Both texts are escaped. */
void pf_titles_add(struct pf_titles *t, const struct pf_buf *shown,
		   const struct pf_buf *title, struct pf_buf *out);

#endif
