/* SPDX-License-Identifier: MIT */
/*
 * Each rule reads figures of the parts and of nothing else.  Idle time has
 * one cause per piece, and a cause belongs to one rule besides the first, so
 * what the rules say can be won adds up to no more than the idle time.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure.h"
#include "report/rules.h"
#include "table/find.h"

const char *pf_severity_word(enum pf_severity s)
{
	static const char *const words[] = { "note", "warning", "severe" };

	return words[s];
}

static const struct pf_report_rule *const rules[] = {
	&pf_rule_idle,  &pf_rule_sync,      &pf_rule_input,   &pf_rule_launch,
	&pf_rule_comm,  &pf_rule_straggler, &pf_rule_copies,  &pf_rule_memory,
	&pf_rule_trust, &pf_rule_precision, &pf_rule_warm_up,
};

_Static_assert(sizeof(rules) / sizeof(*rules) < PF_VERDICTS, "one for V0");

/* Trouble with the trace comes first, then what can be won. */
static int by_rank(const void *a, const void *b)
{
	const struct pf_verdict *x = a, *y = b;
	int trust_x = x->part == PF_PART_DOCTOR && x->severity == PF_BAD;
	int trust_y = y->part == PF_PART_DOCTOR && y->severity == PF_BAD;

	if (x->state != y->state)
		return (int)x->state - (int)y->state;
	if (x->state == PF_RULE_FIRED && x->is_folded != y->is_folded)
		return x->is_folded - y->is_folded;
	if (x->state == PF_RULE_FIRED && trust_x != trust_y)
		return trust_y - trust_x;
	if (x->state == PF_RULE_FIRED && x->recoverable_ns != y->recoverable_ns)
		return x->recoverable_ns > y->recoverable_ns ? -1 : 1;
	if (strlen(x->id) != strlen(y->id))
		return strlen(x->id) < strlen(y->id) ? -1 : 1;
	return strcmp(x->id, y->id);
}

static void set_state(struct pf_verdict *v)
{
	if (v->state == PF_RULE_WITHHELD)
		return;
	v->state = PF_RULE_FINE;
	if (v->warn > 0 && v->measured > v->warn) {
		v->state = PF_RULE_FIRED;
		v->severity =
			v->bad > 0 && v->measured > v->bad ? PF_BAD : PF_WARN;
	}
}

/* What is left when nothing fired. */
static void add_clean(const struct pf_parts *p, struct pf_verdicts *out)
{
	struct pf_verdict *v = &out->all[out->count++];
	double busy = 1 - pf_doc_find_real(&p->doc[PF_PART_GAPS], "idle_share");

	*v = (struct pf_verdict){ .id = "V0",
				  .title = "nothing found",
				  .section = "fine",
				  .part = PF_PART_GAPS,
				  .recoverable_ns = -1,
				  .affected_ns = -1,
				  .from_ns = -1 };
	pf_buf_adds(&v->sentence, "Nothing is above its threshold");
	if (pf_doc_find_int(&p->doc[PF_PART_GAPS], "window_ns")) {
		pf_buf_adds(&v->sentence, "; the GPU is busy ");
		pf_figure_ratio(&v->sentence, busy);
		pf_buf_adds(&v->sentence, " of the time");
	} else {
		pf_buf_adds(&v->sentence,
			    "; there is no GPU activity in this trace");
	}
}

void pf_verdicts_find(const struct pf_parts *p, struct pf_verdicts *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		struct pf_verdict *v = &out->all[out->count++];

		*v = (struct pf_verdict){ .id = rules[i]->id,
					  .title = rules[i]->title,
					  .section = rules[i]->section,
					  .part = rules[i]->part,
					  .severity = PF_NOTE,
					  .recoverable_ns = -1,
					  .affected_ns = -1,
					  .from_ns = -1,
					  .warn = rules[i]->warn,
					  .bad = rules[i]->bad };
		rules[i]->apply(p, v);
		set_state(v);
		out->fired += v->state == PF_RULE_FIRED && !v->is_folded;
	}
	pf_rules_fold(p, out);
	out->fired = 0;
	for (size_t i = 0; i < out->count; i++)
		out->fired += out->all[i].state == PF_RULE_FIRED &&
			      !out->all[i].is_folded;
	if (!out->fired) {
		add_clean(p, out);
		out->fired = 1;
	}
	qsort(out->all, out->count, sizeof(*out->all), by_rank);
}

void pf_verdicts_release(struct pf_verdicts *v)
{
	for (size_t i = 0; i < v->count; i++) {
		pf_buf_release(&v->all[i].sentence);
		pf_buf_release(&v->all[i].place);
	}
	v->count = 0;
}

void pf_verdict_command(const struct pf_verdict *v, const struct pf_parts *p,
			struct pf_buf *out)
{
	if (v->from_ns < 0)
		return;
	pf_buf_adds(out, "profan slice ");
	pf_shell_word(out, p->db_name);
	pf_buf_addf(out, " --from %" PRId64 "ns --to %" PRId64 "ns", v->from_ns,
		    v->to_ns);
	pf_buf_adds(out, " -o slice.json");
}

void pf_say_plain(struct pf_buf *out, const struct pf_buf *sentence)
{
	for (size_t i = 0; i < sentence->len; i++)
		if (sentence->data[i] != PF_SAY_NAME &&
		    sentence->data[i] != PF_SAY_END)
			pf_buf_addc(out, sentence->data[i]);
}

static void add_number(struct pf_table *t, int64_t n)
{
	if (n >= 0)
		pf_table_int(t, n);
	else
		pf_table_null(t);
}

static void add_sentence(struct pf_table *t, const struct pf_buf *sentence)
{
	struct pf_buf plain = { 0 };

	pf_say_plain(&plain, sentence);
	pf_table_text(t, plain.data ? plain.data : "", plain.len);
	pf_buf_release(&plain);
}

static void add_verdicts(const struct pf_verdicts *v, const struct pf_parts *p,
			 struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "severity", "Severity", PF_TEXT },
		{ "sentence", "Verdict", PF_TEXT },
		{ "id", "Rule", PF_TEXT },
		{ "recoverable_ns", "Recoverable", PF_NS },
		{ "affected_ns", "Affected", PF_NS },
		{ "place", "Place", PF_PATH },
		{ "from_ns", "From", PF_NS },
		{ "to_ns", "To", PF_NS },
		{ "query", "Query", PF_TEXT },
		{ "command", "Shown by", PF_TEXT },
	};
	struct pf_table *t = pf_doc_table(doc, "verdicts", "Verdicts", cols,
					  sizeof(cols) / sizeof(*cols));

	for (size_t i = 0; i < v->fired; i++) {
		const struct pf_verdict *a = &v->all[i];
		struct pf_buf command = { 0 };

		pf_table_string(t, pf_severity_word(a->severity));
		add_sentence(t, &a->sentence);
		pf_table_string(t, a->id);
		add_number(t, a->recoverable_ns);
		add_number(t, a->affected_ns);
		pf_table_string(t, a->place.len ? a->place.data : NULL);
		add_number(t, a->from_ns);
		add_number(t, a->from_ns < 0 ? -1 : a->to_ns);
		pf_table_string(t, pf_parts_query(a->part));
		pf_verdict_command(a, p, &command);
		if (!command.len)
			pf_parts_command(p, a->part, &command);
		pf_table_string(t, command.data);
		pf_buf_release(&command);
	}
}

void pf_verdicts_tables(const struct pf_verdicts *v, const struct pf_parts *p,
			struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "id", "Rule", PF_TEXT },
		{ "title", "Checked", PF_TEXT },
		{ "state", "Result", PF_TEXT },
		{ "measured", "Measured", PF_RATIO },
		{ "threshold", "Threshold", PF_RATIO },
		{ "reason", "Why not", PF_TEXT },
	};
	static const char *const states[] = { "fired", "fine", "withheld" };
	struct pf_table *t;

	add_verdicts(v, p, doc);
	t = pf_doc_table(doc, "checks", "Checked", cols,
			 sizeof(cols) / sizeof(*cols));
	for (size_t i = v->fired; i < v->count; i++) {
		const struct pf_verdict *a = &v->all[i];
		bool is_withheld = a->state == PF_RULE_WITHHELD;

		pf_table_string(t, a->id);
		pf_table_string(t, a->title);
		pf_table_string(t,
				a->is_folded ? "part of V1" : states[a->state]);
		if (is_withheld || a->warn <= 0)
			pf_table_null(t);
		else
			pf_table_real(t, a->measured);
		if (a->warn > 0)
			pf_table_real(t, a->warn);
		else
			pf_table_null(t);
		if (is_withheld)
			add_sentence(t, &a->sentence);
		else
			pf_table_null(t);
	}
}
