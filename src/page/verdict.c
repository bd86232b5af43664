/* SPDX-License-Identifier: MIT */
/*
 * Each rule reads figures of the parts and of nothing else.  Idle time has
 * one cause per piece, and a cause belongs to one rule besides the first, so
 * what the rules say can be won adds up to no more than the idle time.
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/order.h"
#include "page/figure.h"
#include "page/rules.h"
#include "page/say.h"
#include "show/rows.h"

const char *pf_severity_word(enum pf_severity s)
{
	static const char *const words[] = { "note", "warning", "severe" };

	return words[s];
}

void pf_verdict_stake(struct pf_buf *out, const struct pf_verdict *v)
{
	pf_figure_ns(out, v->recoverable_ns);
	pf_buf_adds(out, " at stake");
}

static const struct pf_report_rule *const rules[] = {
	&pf_rule_idle,      &pf_rule_sync,      &pf_rule_input,
	&pf_rule_launch,    &pf_rule_comm,      &pf_rule_straggler,
	&pf_rule_copies,    &pf_rule_memory,    &pf_rule_trust,
	&pf_rule_precision, &pf_rule_warm_up,   &pf_rule_operators,
	&pf_rule_host_data, &pf_rule_host_comm, &pf_rule_path,
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
		pf_buf_addf(&v->sentence, "; the %s is busy ",
			    pf_window_device(&p->traces));
		pf_figure_ratio(&v->sentence, busy);
		pf_buf_adds(&v->sentence, " of the time");
	} else if (p->steps.recorded.producer != PF_FROM_TABLES) {
		/* That a log of a GPU has no work in it means nothing. */
		pf_buf_adds(&v->sentence, "; ");
		pf_buf_adds(&v->sentence, pf_rule_no_gpu(p));
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
	pf_sort(out->all, out->count, sizeof(*out->all), by_rank);
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

/* A rule, whether it fired or not: what tables show of it. */
struct row {
	const char *id, *title, *state, *severity, *place, *query;
	const char *part_command, *command; /* that shows its part, its place */
	const char *sentence, *reason,
		*found;             /* of a verdict, why not, either */
	double measured, warn, bad; /* not a number: there is none */
	int64_t recoverable_ns, affected_ns, from_ns, to_ns, trace_id;
};

/* The texts that are made here; they are kept in "texts". */
static void add_texts(const struct pf_verdict *v, const struct pf_parts *p,
		      struct pf_arena *texts, struct row *row)
{
	struct pf_buf place = { 0 }, part = { 0 }, sentence = { 0 };

	pf_parts_command(p, v->part, &part);
	pf_verdict_command(v, p, &place);
	pf_buf_adds(&sentence, "");
	pf_say_plain(&sentence, &v->sentence);
	row->part_command = pf_arena_string(texts, part.data);
	row->command = place.len ? pf_arena_string(texts, place.data)
				 : row->part_command;
	if (v->state != PF_RULE_FINE)
		row->found = pf_arena_string(texts, sentence.data);
	if (v->state == PF_RULE_FIRED)
		row->sentence = row->found;
	else
		row->reason = row->found;
	pf_buf_release(&place);
	pf_buf_release(&part);
	pf_buf_release(&sentence);
}

static struct row row_of(const struct pf_verdict *v, const struct pf_parts *p,
			 struct pf_arena *texts)
{
	bool has_fired = v->state == PF_RULE_FIRED;
	bool has_place = has_fired && v->from_ns >= 0;
	bool has_scale = v->part != PF_PART_DOCTOR;
	struct row row = {
		.id = v->id,
		.title = v->title,
		.state = state_word(v),
		.severity = has_fired ? pf_severity_word(v->severity) : NULL,
		.place = has_fired && v->place.len ? v->place.data : NULL,
		.query = pf_parts_query(v->part),
		.measured = is_measured(v) ? v->measured : NAN,
		.warn = has_scale && v->warn > 0 ? v->warn : NAN,
		.bad = has_scale && v->bad > 0 ? v->bad : NAN,
		.recoverable_ns = has_fired ? v->recoverable_ns : -1,
		.affected_ns = has_fired ? v->affected_ns : -1,
		.from_ns = has_place ? v->from_ns : -1,
		.to_ns = has_place ? v->to_ns : -1,
		.trace_id = has_place ? v->trace_id : -1
	};

	add_texts(v, p, texts, &row);
	return row;
}

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct row, member, key, title, kind)
static const struct pf_field verdict_fields[] = {
	FIELD(severity, "severity", "Severity", PF_TEXT),
	FIELD(sentence, "sentence", "Verdict", PF_TEXT | PF_WHOLE),
	FIELD(id, "id", "Rule", PF_TEXT),
	FIELD(recoverable_ns, "recoverable_ns", "Recoverable",
	      PF_NS | PF_KNOWN),
	FIELD(affected_ns, "affected_ns", "Affected", PF_NS | PF_KNOWN),
	FIELD(place, "place", "Place", PF_PATH | PF_SPARE),
	FIELD(from_ns, "from_ns", "From", PF_NS | PF_KNOWN | PF_SPARE),
	FIELD(to_ns, "to_ns", "To", PF_NS | PF_KNOWN | PF_SPARE),
	FIELD(query, "query", "Query", PF_TEXT | PF_SPARE),
	FIELD(command, "command", "Shown by", PF_TEXT | PF_WHOLE),
};

static const struct pf_field check_fields[] = {
	FIELD(id, "id", "Rule", PF_TEXT),
	FIELD(title, "title", "Checked", PF_TEXT),
	FIELD(state, "state", "Result", PF_TEXT),
	FIELD(measured, "measured", "Measured", PF_RATIO),
	FIELD(warn, "threshold", "Threshold", PF_RATIO),
	FIELD(reason, "reason", "Why not", PF_TEXT | PF_WHOLE),
};

static const struct pf_field rule_fields[] = {
	FIELD(id, "id", "Rule", PF_TEXT),
	FIELD(title, "title", "Checked", PF_TEXT),
	FIELD(state, "state", "Result", PF_TEXT),
	FIELD(severity, "severity", "Severity", PF_TEXT),
	FIELD(measured, "measured", "Measured", PF_RATIO),
	FIELD(warn, "warn_above", "Warns above", PF_RATIO | PF_FULL),
	FIELD(bad, "bad_above", "Severe above", PF_RATIO | PF_FULL),
	FIELD(recoverable_ns, "recoverable_ns", "Recoverable",
	      PF_NS | PF_KNOWN),
	FIELD(affected_ns, "affected_ns", "Affected",
	      PF_NS | PF_FULL | PF_KNOWN),
	FIELD(place, "place", "Place", PF_PATH | PF_FULL),
	FIELD(from_ns, "t0_ns", "From", PF_NS | PF_FULL | PF_KNOWN),
	FIELD(to_ns, "t1_ns", "To", PF_NS | PF_FULL | PF_KNOWN),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL | PF_KNOWN),
	FIELD(query, "query", "Query", PF_TEXT | PF_FULL),
	FIELD(part_command, "command", "Shown by", PF_TEXT | PF_FULL),
	FIELD(sentence, "sentence", "Verdict", PF_TEXT | PF_FULL),
	FIELD(reason, "reason", "Why not", PF_TEXT | PF_FULL),
	FIELD(found, "found", "Verdict, or why not",
	      PF_TEXT | PF_BRIEF | PF_WHOLE),
};
#undef FIELD

void pf_verdicts_tables(const struct pf_verdicts *v, const struct pf_parts *p,
			struct pf_doc *doc)
{
	struct pf_table *fired = pf_doc_fields(doc, "verdicts", "Verdicts",
					       PF_FIELDS(verdict_fields));
	struct pf_table *checks = pf_doc_fields(doc, "checks", "Checked",
						PF_FIELDS(check_fields));
	struct pf_arena texts = { 0 };

	for (size_t i = 0; i < v->count; i++) {
		struct row row = row_of(&v->all[i], p, &texts);

		if (i < v->fired)
			PF_PUT(fired, verdict_fields, row);
		else
			PF_PUT(checks, check_fields, row);
	}
	pf_arena_release(&texts);
}

void pf_verdicts_list(const struct pf_verdicts *v, const struct pf_parts *p,
		      struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "verdicts", NULL, PF_FIELDS(rule_fields));
	struct pf_arena texts = { 0 };

	for (size_t i = 0; i < v->count; i++) {
		struct row row = row_of(&v->all[i], p, &texts);

		PF_PUT(t, rule_fields, row);
	}
	pf_arena_release(&texts);
}
