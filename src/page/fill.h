/* SPDX-License-Identifier: MIT */
/*
 * Filling in the skeleton of a page (reports/page.html): each {{slot}} is
 * replaced by HTML that is ready.  The policy is made here from the bytes of
 * the style sheet and the program, so that it holds for these and no others.
 */
#ifndef PF_PAGE_FILL_H
#define PF_PAGE_FILL_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * The slots, by their names.  What may be missing has its markup with it:
 * fine, a section, and the link to it.
 */
struct pf_skeleton {
	struct pf_buf title, header, nav, fine_link;
	struct pf_buf verdicts_title, verdicts, tiles;
	struct pf_buf breakdown_title, breakdown, sections, timeline;
	struct pf_buf fine, method, data;
	/* filled in here */
	struct pf_buf style, script, policy, generator;
};

#define PF_FILL_BYTES (64 << 10) /* skeleton, style and program, at most */

/* What the page takes, at most, with the slots as they are. */
int64_t pf_fill_bytes(const struct pf_skeleton *s);

/*
 * Append the page.  A slot that is unknown, or one that the skeleton does not
 * use, is PF_EDATA.
 */
int pf_fill(struct pf_skeleton *s, struct pf_buf *out, struct pf_err *err);

void pf_fill_release(struct pf_skeleton *s);

#endif
