/* SPDX-License-Identifier: MIT */
/* The top of the page of a comparison; each appends HTML. */
#ifndef PF_PAGE_DIFF_HEAD_H
#define PF_PAGE_DIFF_HEAD_H

#include "base/buf.h"
#include "compare/diff.h"
#include "show/doc.h"
#include "page/redact.h"

/* What the page is of; all borrowed. */
struct pf_diff_view {
	const struct pf_diff *diff;
	const struct pf_doc *doc;       /* of it: its sentences and tables */
	const struct pf_redact *redact; /* for texts of diff, or NULL */
};

/* "a.json → b.json". */
void pf_diff_head_title(struct pf_buf *out, const struct pf_diff_view *v);

/* Both sides, what they have in common, and what not. */
void pf_diff_head_facts(struct pf_buf *out, const struct pf_diff_view *v);

/* The finding, and what it consists of: parts that add up to it. */
void pf_diff_head_verdict(struct pf_buf *out, const struct pf_diff_view *v);

void pf_diff_head_tiles(struct pf_buf *out, const struct pf_diff_view *v);

#endif
