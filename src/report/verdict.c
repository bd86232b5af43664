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

const char *pf_severity_word(enum pf_severity s)
{
	static const char *const words[] = { "note", "warning", "severe" };

	return words[s];
}

static const struct pf_report_rule *const rules[] = {
	&pf_rule_idle,      &pf_rule_sync,      &pf_rule_input,
	&pf_rule_launch,    &pf_rule_comm,      &pf_rule_straggler,
	&pf_rule_copies,    &pf_rule_memory,    &pf_rule_trust,
	&pf_rule_precision, &pf_rule_warm_up,   &pf_rule_operators,
	&pf_rule_host_data, &pf_rule_host_comm,
};

_Static_assert(sizeof(rules) / sizeof(*rules) < PF_VERDICTS, "one for V0");

/* Trouble with the trace comes first, then the severe, most to win first. */
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
	if (x->state == PF_RULE_FIRED && x->severity != y->severity)
		return (int)y->severity - (int)x->severity;
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
	v->state = v->is_note ? PF_RULE_FIRED : PF_RULE_FINE;
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
	double busy = 1 - p->gaps.all.idle_share;

	*v = (struct pf_verdict){ .id = "V0",
				  .title = "nothing found",
				  .section = "fine",
				  .part = PF_PART_GAPS,
				  .recoverable_ns = -1,
				  .affected_ns = -1,
				  .from_ns = -1 };
	pf_buf_adds(&v->sentence, "Nothing is above its threshold");
	if (p->gaps.all.window_ns) {
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
	if (p->traces.count > 1)
		pf_buf_addf(out, " --trace %" PRId64, v->trace_id);
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

static const char *const states[] = { "fired", "fine", "withheld" };

/* How a rule came out. */
static const char *state_word(const struct pf_verdict *v)
{
	return v->is_folded ? "part of V1" : states[v->state];
}

/* The quality of a trace is graded: there is no figure. */
static bool is_measured(const struct pf_verdict *v)
{
	return v->state != PF_RULE_WITHHELD && v->warn > 0 &&
	       v->part != PF_PART_DOCTOR;
}

static void add_share(struct pf_table *t, bool is_known, double share)
{
	if (is_known)
		pf_table_real(t, share);
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
		pf_table_known(t, a->recoverable_ns);
		pf_table_known(t, a->affected_ns);
		pf_table_string(t, a->place.len ? a->place.data : NULL);
		pf_table_known(t, a->from_ns);
		pf_table_known(t, a->from_ns < 0 ? -1 : a->to_ns);
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
	struct pf_table *t;

	add_verdicts(v, p, doc);
	t = pf_doc_table(doc, "checks", "Checked", cols,
			 sizeof(cols) / sizeof(*cols));
	for (size_t i = v->fired; i < v->count; i++) {
		const struct pf_verdict *a = &v->all[i];

		pf_table_string(t, a->id);
		pf_table_string(t, a->title);
		pf_table_string(t, state_word(a));
		add_share(t, is_measured(a), a->measured);
		add_share(t, a->warn > 0 && a->part != PF_PART_DOCTOR, a->warn);
		if (a->state == PF_RULE_WITHHELD)
			add_sentence(t, &a->sentence);
		else
			pf_table_null(t);
	}
}

/* ---- every rule, a row each ---- */

static void add_rule(struct pf_table *t, const struct pf_verdict *v,
		     const struct pf_parts *p)
{
	/* Columns of the sentence: of a verdict, why not, either. */
	static const bool shows[3][3] = {
		{ [PF_RULE_FIRED] = true },
		{ [PF_RULE_WITHHELD] = true },
		{ [PF_RULE_FIRED] = true, [PF_RULE_WITHHELD] = true },
	};
	bool has_fired = v->state == PF_RULE_FIRED;
	bool has_place = has_fired && v->from_ns >= 0;
	bool has_scale = v->part != PF_PART_DOCTOR;
	struct pf_buf command = { 0 };

	pf_table_string(t, v->id);
	pf_table_string(t, v->title);
	pf_table_string(t, state_word(v));
	pf_table_string(t, has_fired ? pf_severity_word(v->severity) : NULL);
	add_share(t, is_measured(v), v->measured);
	add_share(t, has_scale && v->warn > 0, v->warn);
	add_share(t, has_scale && v->bad > 0, v->bad);
	pf_table_known(t, has_fired ? v->recoverable_ns : -1);
	pf_table_known(t, has_fired ? v->affected_ns : -1);
	pf_table_string(t, has_fired && v->place.len ? v->place.data : NULL);
	pf_table_known(t, has_place ? v->from_ns : -1);
	pf_table_known(t, has_place ? v->to_ns : -1);
	pf_table_known(t, has_place ? v->trace_id : -1);
	pf_table_string(t, pf_parts_query(v->part));
	pf_parts_command(p, v->part, &command);
	pf_table_string(t, command.data);
	pf_buf_release(&command);
	for (int column = 0; column < 3; column++)
		if (shows[column][v->state])
			add_sentence(t, &v->sentence);
		else
			pf_table_null(t);
}

void pf_verdicts_list(const struct pf_verdicts *v, const struct pf_parts *p,
		      struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "id", "Rule", PF_TEXT },
		{ "title", "Checked", PF_TEXT },
		{ "state", "Result", PF_TEXT },
		{ "severity", "Severity", PF_TEXT },
		{ "measured", "Measured", PF_RATIO },
		{ "warn_above", "Warns above", PF_RATIO | PF_FULL },
		{ "bad_above", "Severe above", PF_RATIO | PF_FULL },
		{ "recoverable_ns", "Recoverable", PF_NS },
		{ "affected_ns", "Affected", PF_NS | PF_FULL },
		{ "place", "Place", PF_PATH | PF_FULL },
		{ "t0_ns", "From", PF_NS | PF_FULL },
		{ "t1_ns", "To", PF_NS | PF_FULL },
		{ "trace_id", "Trace", PF_INT | PF_FULL },
		{ "query", "Query", PF_TEXT | PF_FULL },
		{ "command", "Shown by", PF_TEXT | PF_FULL },
		{ "sentence", "Verdict", PF_TEXT | PF_FULL },
		{ "reason", "Why not", PF_TEXT | PF_FULL },
		{ "found", "Verdict, or why not", PF_TEXT | PF_BRIEF },
	};
	struct pf_table *t = pf_doc_table(doc, "verdicts", NULL, cols,
					  sizeof(cols) / sizeof(*cols));

	for (size_t i = 0; i < v->count; i++)
		add_rule(t, &v->all[i], p);
}
