/* SPDX-License-Identifier: MIT */
/*
 * What a reviewer must know: the advice (analysis/advise/advise.h), and facts
 * of the capture that it is not about, each with its figures, its place and
 * the command that shows it.  A rule that did not fire says what it measured,
 * one that could not be applied says why.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "page/gather.h"
#include "show/doc.h"

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
	int64_t recoverable_ns; /* what it would save at most, or -1 */
	int64_t affected_ns;    /* or -1 */
	int64_t from_ns, to_ns; /* after the first event; from -1: no place */
	int64_t trace_id;
	double measured, warn, bad;     /* shares; warn 0: none */
	struct pf_buf sentence;         /* or why it is withheld */
	struct pf_buf place;            /* file:line, op; may be empty */
	const struct pf_advice *advice; /* that it is, borrowed; or NULL */
	bool is_folded;                 /* advice says it */
	bool is_note;                   /* said even below the threshold */
	bool is_first; /* what the trace is of, or doubt about all else */
};

#define PF_VERDICTS (10 + PF_ADVICE_MAX)

struct pf_verdicts {
	struct pf_verdict all[PF_VERDICTS]; /* those that fired first, ranked */
	size_t count, fired;
};

/* At most so many are shown at once. */
#define PF_VERDICTS_SHOWN 3

void pf_verdicts_find(const struct pf_parts *p, struct pf_verdicts *out);
void pf_verdicts_release(struct pf_verdicts *v);

/* Append the command that cuts the place of a verdict out of the trace. */
void pf_verdict_command(const struct pf_verdict *v, const struct pf_parts *p,
			struct pf_buf *out);

/* What it would save, after what goes before; nothing where no one knows. */
void pf_verdict_say_gain(const struct pf_verdict *v, const char *before,
			 struct pf_buf *out);

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
