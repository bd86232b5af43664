/* SPDX-License-Identifier: MIT */
/* The rules behind the verdicts; private to report/. */
#ifndef PF_PAGE_RULES_H
#define PF_PAGE_RULES_H

#include "page/verdict.h"

struct pf_report_rule {
	const char *id, *title, *section;
	enum pf_part part;
	double warn, bad; /* it fires above; 0: it decides itself */
	/*
	 * Fill in what was measured, and the sentence as if it had fired; or
	 * state PF_RULE_WITHHELD and why.
	 */
	void (*apply)(const struct pf_parts *p, struct pf_verdict *v);
};

extern const struct pf_report_rule pf_rule_idle, pf_rule_sync, pf_rule_input,
	pf_rule_launch, pf_rule_comm, pf_rule_straggler, pf_rule_copies,
	pf_rule_memory, pf_rule_trust, pf_rule_precision, pf_rule_warm_up,
	pf_rule_operators, pf_rule_host_data, pf_rule_host_comm, pf_rule_path;

/*
 * Where the verdict on idle time names a cause, the verdict on that cause
 * would say the same again: fold it.
 */
void pf_rules_fold(const struct pf_parts *p, struct pf_verdicts *v);

#endif
