/* SPDX-License-Identifier: MIT */
/* What rules write their sentences with; private to report/. */
#ifndef PF_PAGE_SAY_H
#define PF_PAGE_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page/verdict.h"

/* Append words of ours, or a figure as people read it. */
void pf_say(struct pf_verdict *v, const char *words);
void pf_say_ratio(struct pf_verdict *v, double ratio);
void pf_say_ns(struct pf_verdict *v, int64_t ns);
void pf_say_count(struct pf_verdict *v, int64_t n, const char *one,
		  const char *many);

/* Append a text that may be shown, at most 160 bytes, between its marks. */
void pf_say_name(struct pf_verdict *v, const char *name);

/* Append a text of the trace as a name, and also to "place", or NULL. */
void pf_say_text(const struct pf_parts *p, struct pf_verdict *v,
		 const char *text, struct pf_buf *place);

/* The rule cannot be applied: the reason instead of a sentence. */
void pf_rule_withhold(struct pf_verdict *v, const char *why);

/* Why there is no GPU work to speak of, where there is none. */
const char *pf_rule_no_gpu(const struct pf_parts *p);

/* Is there any GPU work?  If not, the rule is withheld. */
bool pf_rule_has_gpu(const struct pf_parts *p, struct pf_verdict *v);

/* How many steps figures are of; without steps 1, all of the window. */
int64_t pf_rule_steps(const struct pf_parts *p);

/* " per step" or " in the trace". */
const char *pf_rule_each(const struct pf_parts *p);

#endif
