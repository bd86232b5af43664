/* SPDX-License-Identifier: MIT */
/* The sections of a page between the breakdown and the timeline. */
#ifndef PF_PAGE_SECTIONS_H
#define PF_PAGE_SECTIONS_H

#include "base/buf.h"
#include "page/html.h"

/* Every section that has data. */
void pf_sections_add(struct pf_buf *out, const struct pf_html_page *page);

/* Links to the same, as list items. */
void pf_sections_links(struct pf_buf *out, const struct pf_parts *p);

/* The sections that are absent and why, as list items; "" if there are none. */
void pf_sections_absent(struct pf_buf *out, const struct pf_parts *p);

/* The table of all steps, below the breakdown. */
void pf_sections_steps(struct pf_buf *out, const struct pf_html_page *page);

#endif
