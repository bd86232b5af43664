/* SPDX-License-Identifier: MIT */
/* What to try (advise/advise.h), as a report shows it. */
#ifndef PF_REPORT_ADVICE_H
#define PF_REPORT_ADVICE_H

#include "report/report.h"

/* The path, if advice is wanted and there is one trace; beside the parts. */
int pf_report_advise(struct pf_db *db, const struct pf_parts *p,
		     struct pf_report *r, struct pf_err *err);
/* The advice, of the path and the parts. */
int pf_report_judge(struct pf_report *r, struct pf_err *err);

/* The first of it, or nothing. */
void pf_report_advice_html(const struct pf_report *r, struct pf_buf *out);
void pf_report_advice_md(const struct pf_report *r, struct pf_buf *out);

#endif
