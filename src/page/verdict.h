/* SPDX-License-Identifier: MIT */
/*
 * What a reviewer must know: at most one sentence per rule, with its figures,
 * its place and the command that shows it.  A rule that did not fire says
 * what it measured, one that could not be applied says why.
 *
 * A sentence holds names of the trace between PF_SAY_NAME and PF_SAY_END, so
 * that whoever shows it can set them apart; those bytes never come from a
 * trace.
 */
#ifndef PF_PAGE_VERDICT_H
#define PF_PAGE_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "page/gather.h"
#include "show/doc.h"

#define PF_SAY_NAME '\x01'
#define PF_SAY_END  '\x02'

/* In order of weight. */
enum pf_severity { PF_NOTE, PF_WARN, PF_BAD };
/* "note", "warning", "severe". */
const char *pf_severity_word(enum pf_severity s);

enum pf_rule_state { PF_RULE_FIRED, PF_RULE_FINE, PF_RULE_WITHHELD };

struct pf_verdict {
	const char *id, *title; /* "V1", "idle time" */
	const char *section;    /* of the page: "idle" */
	enum pf_part part;      /* where its figures are from */
	enum pf_rule_state state;
	enum pf_severity severity;
	int64_t recoverable_ns; /* upper bound of what can be won, or -1 */
	int64_t affected_ns;    /* or -1 */
	int64_t from_ns, to_ns; /* after the first event; from -1: no place */
	int64_t trace_id;
	double measured, warn, bad; /* shares; warn 0: none */
	struct pf_buf sentence;     /* or why it is withheld */
	struct pf_buf place;        /* file:line, op; may be empty */
	bool is_folded;             /* said by the verdict on idle time */
	bool is_note;               /* said even below the threshold */
};

#define PF_VERDICTS 18

struct pf_verdicts {
	struct pf_verdict all[PF_VERDICTS]; /* those that fired first, ranked */
	size_t count, fired;
};

/* At most so many are shown at once. */
#define PF_VERDICTS_SHOWN 5

void pf_verdicts_find(const struct pf_parts *p, struct pf_verdicts *out);
void pf_verdicts_release(struct pf_verdicts *v);

/* Append the command that cuts the place of a verdict out of the trace. */
void pf_verdict_command(const struct pf_verdict *v, const struct pf_parts *p,
			struct pf_buf *out);

/*
 * Append "holds 352 ms": time that what it names holds, if any.  It bounds
 * nothing: with that gone, other things may come earlier and overlap.
 */
void pf_verdict_stake(struct pf_buf *out, const struct pf_verdict *v);

/* Append a sentence without its marks. */
void pf_say_plain(struct pf_buf *out, const struct pf_buf *sentence);

/* "verdicts" and "checks", as tables at the end of a document. */
void pf_verdicts_tables(const struct pf_verdicts *v, const struct pf_parts *p,
			struct pf_doc *doc);

/*
 * "verdicts", a row for every rule, whether it fired or not, in the same
 * order: the measured value beside its thresholds, and the sentence or why
 * there is none.
 */
void pf_verdicts_list(const struct pf_verdicts *v, const struct pf_parts *p,
		      struct pf_doc *doc);

#endif
