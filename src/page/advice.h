/* SPDX-License-Identifier: MIT */
/* What to try (analysis/advise/advise.h), as a report shows it. */
#ifndef PF_PAGE_ADVICE_H
#define PF_PAGE_ADVICE_H

#include "page/report.h"

/* The advice, of the path and the parts. */
int pf_report_judge(struct pf_report *r, struct pf_err *err);

/* The first of it, or nothing. */
void pf_report_advice_html(const struct pf_report *r, struct pf_buf *out);
void pf_report_advice_md(const struct pf_report *r, struct pf_buf *out);

#endif
