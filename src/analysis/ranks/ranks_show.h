/* SPDX-License-Identifier: MIT */
/* Ranks as a document, and checks of them for use in CI. */
#ifndef PF_ANALYSIS_RANKS_RANKS_SHOW_H
#define PF_ANALYSIS_RANKS_RANKS_SHOW_H

#include <stdbool.h>

#include "analysis/ranks/ranks.h"
#include "show/doc.h"

/* Beyond so many ranks people see how figures are spread, and the outermost. */
#define PF_RANKS_FEW   16
#define PF_RANKS_OUTER 5

/*
 * The finding, figures and the tables "ranks", "spread", "steps", "clocks"
 * and "collectives".  is_wide: for programs, every rank in its order.
 */
void pf_ranks_show(const struct pf_ranks *r, bool is_wide, struct pf_doc *doc);

/*
 * The table "by": ranks as groups of those with one value under a key, such as
 * "host" or a label.  values[i] is that of ranks[i], or NULL.
 */
void pf_ranks_show_by(const struct pf_ranks *r, const char *key,
		      const char *const *values, bool is_wide,
		      struct pf_doc *doc);

/* pipeline_show.c: bubbles in a sentence, if they are known; tables; notes. */
bool pf_pipeline_finding(const struct pf_ranks *r, struct pf_buf *out);
void pf_pipeline_show(const struct pf_ranks *r, struct pf_doc *doc);

/* Without a full stop: who is slow, why and what it costs, or that none is. */
void pf_ranks_finding(const struct pf_ranks *r, struct pf_buf *out);

/* "straggler>2%", "waste>5%"; PF_EUSAGE if it is no check. */
int pf_ranks_gate_parse(const char *expression, struct pf_err *err);
/* Does it fail?  Then the document says so; what is not known fails. */
int pf_ranks_gate(const char *expression, const struct pf_ranks *r,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err);

#endif
