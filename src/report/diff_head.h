/* SPDX-License-Identifier: MIT */
/* The top of the page of a comparison; each appends HTML. */
#ifndef PF_REPORT_DIFF_HEAD_H
#define PF_REPORT_DIFF_HEAD_H

#include "base/buf.h"
#include "table/doc.h"

/* "a.json → b.json". */
void pf_diff_head_title(struct pf_buf *out, const struct pf_doc *doc);

/* Both sides, what they have in common, and what not. */
void pf_diff_head_facts(struct pf_buf *out, const struct pf_doc *doc);

/* The finding, and what it consists of: parts that add up to it. */
void pf_diff_head_verdict(struct pf_buf *out, const struct pf_doc *doc);

void pf_diff_head_tiles(struct pf_buf *out, const struct pf_doc *doc);

#endif
