/* SPDX-License-Identifier: MIT */
/* The rule about ranks that wait for each other. */
#include "config.h"

#include "report/rules.h"
#include "report/say.h"

static void apply_straggler(const struct pf_parts *p, struct pf_verdict *v)
{
	pf_rule_withhold(v,
			 p->traces.count > 1
				 ? "arrival at collectives is not compared yet"
				 : "needs traces of several ranks");
}

const struct pf_report_rule pf_rule_straggler = {
	"V6", "stragglers", "comm", PF_PART_OVERLAP, 0.05, 0.15, apply_straggler
};
