/* SPDX-License-Identifier: MIT */
#include "analysis/advise/advise_impl.h"

#include "show/rows.h"

struct advice_row {
	const char *id, *title, *confidence, *framework;
	const char *sentence, *remedy, *code, *command;
	int64_t at_most_ns, likely_ns, on_path_ns;
	double share;
};

#define ADVICE(member, key, title, kind)                                       \
	PF_FIELD(struct advice_row, member, key, title, kind)
static const struct pf_field advice_fields[] = {
	ADVICE(id, "id", "Advice", PF_TEXT | PF_OURS),
	ADVICE(at_most_ns, "at_most_ns", "At most", PF_NS | PF_MAYBE),
	ADVICE(share, "share", "Of all", PF_RATIO),
	ADVICE(likely_ns, "likely_ns", "At least", PF_NS | PF_MAYBE | PF_FULL),
	ADVICE(on_path_ns, "on_path_ns", "On the path",
	       PF_NS | PF_MAYBE | PF_FULL),
	ADVICE(confidence, "confidence", "How sure", PF_TEXT | PF_OURS),
	ADVICE(title, "title", "What to change", PF_TEXT | PF_OURS | PF_WHOLE),
	ADVICE(sentence, "sentence", "Why", PF_TEXT | PF_FULL),
	ADVICE(framework, "framework", "Framework",
	       PF_TEXT | PF_OURS | PF_FULL),
	ADVICE(remedy, "remedy", "How", PF_TEXT | PF_OURS | PF_FULL),
	ADVICE(code, "code", "Code", PF_TEXT | PF_OURS | PF_FULL),
	ADVICE(command, "command", "Shown by", PF_TEXT | PF_FULL),
};

struct evidence_row {
	const char *id, *what, *name, *at;
	int64_t ns, count, longest_ns, from_ns, to_ns;
};

#define EVIDENCE(member, key, title, kind)                                     \
	PF_FIELD(struct evidence_row, member, key, title, kind)
static const struct pf_field evidence_fields[] = {
	EVIDENCE(id, "id", "Advice", PF_TEXT | PF_OURS),
	EVIDENCE(ns, "ns", "On the path", PF_NS),
	EVIDENCE(count, "count", "Times", PF_COUNT),
	EVIDENCE(what, "what", "Of it", PF_TEXT | PF_OURS | PF_FULL),
	EVIDENCE(name, "name", "Name", PF_TEXT),
	EVIDENCE(at, "at", "Line or operator", PF_PATH),
	EVIDENCE(longest_ns, "longest_ns", "Longest", PF_NS | PF_FULL),
	EVIDENCE(from_ns, "from_ns", "From", PF_NS | PF_FULL),
	EVIDENCE(to_ns, "to_ns", "To", PF_NS | PF_FULL),
};

struct how_row {
	const char *id, *text;
};

static const struct pf_field how_fields[] = {
	PF_FIELD(struct how_row, id, "id", "Advice", PF_TEXT | PF_OURS),
	PF_FIELD(struct how_row, text, "text", "Why and how",
		 PF_TEXT | PF_WHOLE),
};

struct rest_row {
	const char *id, *title, *reason;
	double measured, threshold;
};

#define REST(member, key, title, kind)                                         \
	PF_FIELD(struct rest_row, member, key, title, kind)
static const struct pf_field open_fields[] = {
	REST(id, "id", "Advice", PF_TEXT | PF_OURS),
	REST(title, "title", "What to change", PF_TEXT | PF_OURS),
	REST(reason, "reason", "Why not", PF_TEXT | PF_OURS | PF_WHOLE),
};

static const struct pf_field fine_fields[] = {
	REST(id, "id", "Advice", PF_TEXT | PF_OURS),
	REST(title, "title", "What to change", PF_TEXT | PF_OURS),
	REST(measured, "measured", "Measured", PF_RATIO | PF_FULL),
	REST(threshold, "threshold", "Threshold", PF_RATIO | PF_FULL),
	REST(reason, "reason", "Why not", PF_TEXT | PF_OURS | PF_WHOLE),
};

static const char *text_of(const struct pf_buf *b)
{
	return b->data ? b->data : "";
}

static void add_finding(const struct pf_advise *a, struct pf_doc *doc)
{
	const struct pf_advice *best = &a->all[0];
	struct pf_buf part = { 0 };

	if (!a->given) {
		pf_doc_finding(doc, "Nothing that could be judged would bring "
				    "enough to advise it");
		return;
	}
	if (best->at_most_ns == PF_NO_INT) {
		pf_doc_finding(doc, "First of all: %s", best->title);
		return;
	}
	pf_window_say_part(&a->tiles->path->window, &part, best->at_most_ns,
			   a->window_ns, a->step_count);
	pf_doc_finding(doc, "First of all: %s, which saves at most %s",
		       best->title, part.data);
	pf_buf_release(&part);
}

static void add_advice(const struct pf_advise *a, struct pf_doc *doc)
{
	struct pf_table *t = pf_doc_fields(doc, "advice", "What to try",
					   PF_FIELDS(advice_fields));

	for (size_t i = 0; i < a->given; i++) {
		const struct pf_advice *v = &a->all[i];
		bool is_known = v->at_most_ns != PF_NO_INT;
		struct advice_row row = {
			.id = v->id,
			.title = v->title,
			.confidence = v->confidence,
			.framework = a->framework,
			.sentence = text_of(&v->sentence),
			.remedy = v->remedy,
			.code = v->code,
			.command = text_of(&v->command),
			.at_most_ns = v->at_most_ns,
			.likely_ns = v->likely_ns,
			.on_path_ns = is_known ? v->on_path_ns : PF_NO_INT,
			.share = is_known ? pf_ratio((double)v->at_most_ns,
						     a->window_ns)
					  : NAN,
		};

		PF_PUT(t, advice_fields, row);
	}
}

static void add_evidence(const struct pf_advise *a, struct pf_doc *doc)
{
	struct pf_table *t = pf_doc_fields(doc, "evidence", "Where it is",
					   PF_FIELDS(evidence_fields));

	for (size_t i = 0; i < a->given; i++) {
		const struct pf_advice *v = &a->all[i];

		for (size_t k = 0; k < v->place_count; k++) {
			const struct pf_advice_place *p = &v->places[k];
			struct evidence_row row = {
				v->id,
				p->what,
				p->name,
				p->at && p->name && !strcmp(p->at, p->name)
					? NULL
					: p->at,
				p->ns,
				p->count,
				p->longest_ns,
				p->from_ns,
				p->from_ns + p->longest_ns
			};

			PF_PUT(t, evidence_fields, row);
		}
	}
}

static void add_line(struct pf_table *t, const char *id, const char *before,
		     const char *text, size_t len, const char *after)
{
	struct pf_buf line = { 0 };
	struct how_row row = { .id = id };

	pf_buf_adds(&line, before);
	pf_buf_add(&line, text, len);
	pf_buf_adds(&line, after);
	row.text = line.data;
	PF_PUT(t, how_fields, row);
	pf_buf_release(&line);
}

/* For people: the sentences, and code line by line. */
static void add_how(const struct pf_advise *a, struct pf_doc *doc)
{
	struct pf_table *t =
		pf_doc_fields(doc, "how", "Why and how", PF_FIELDS(how_fields));

	for (size_t i = 0; i < a->given; i++) {
		const struct pf_advice *v = &a->all[i];
		const char *line = v->code, *end;

		add_line(t, v->id, "", text_of(&v->sentence), v->sentence.len,
			 ".");
		if (v->remedy)
			add_line(t, v->id, "-> ", v->remedy, strlen(v->remedy),
				 v->code ? ":" : "");
		for (; line; line = *end ? end + 1 : NULL) {
			end = line + strcspn(line, "\n");
			add_line(t, v->id, "   ", line, (size_t)(end - line),
				 "");
		}
		add_line(t, v->id, "see: ", text_of(&v->command),
			 v->command.len, "");
	}
}

static void add_rest(const struct pf_advise *a, enum pf_advice_state state,
		     struct pf_table *t, const struct pf_field *fields,
		     size_t count)
{
	for (size_t i = a->given; i < a->count; i++) {
		const struct pf_advice *v = &a->all[i];
		struct rest_row row = { v->id, v->title, text_of(&v->sentence),
					v->measured, v->threshold };

		if (v->state == state)
			pf_table_put(t, fields, count, &row, sizeof(row));
	}
}

/* Without a path, and of no advice, there is no time to speak of. */
static void add_times(const struct pf_advise *a, size_t first,
		      struct pf_doc *doc)
{
	if (a->window_ns)
		pf_doc_int(doc, "window_ns", "Window", PF_NS, a->window_ns);
	else
		pf_doc_null(doc, "window_ns", "Window", PF_NS);
	if (pf_advise_union(a, first))
		pf_doc_int(doc, "together_ns", "The first together", PF_NS,
			   pf_advise_union(a, first));
	else
		pf_doc_null(doc, "together_ns", "The first together", PF_NS);
}

void pf_advise_show(const struct pf_advise *a, struct pf_doc *doc)
{
	char all[PF_NUM_MAX], window[PF_NUM_MAX];
	size_t first = a->given < 5 ? a->given : 5;
	struct pf_table *t;

	add_finding(a, doc);
	add_times(a, first, doc);
	add_advice(a, doc);
	add_how(a, doc);
	add_evidence(a, doc);
	t = pf_doc_fields(doc, "not_judged", "Not judged",
			  PF_FIELDS(open_fields));
	add_rest(a, PF_ADVICE_NOT_JUDGED, t, PF_FIELDS(open_fields));
	t = pf_doc_fields(doc, "fine", "Nothing to do", PF_FIELDS(fine_fields));
	add_rest(a, PF_ADVICE_FINE, t, PF_FIELDS(fine_fields));
	if (first > 1)
		pf_doc_note(doc,
			    "advice may be about the same time: the first %zu "
			    "hold %s of the %s of the critical path together",
			    first,
			    pf_num_show_ns(all, pf_advise_union(a, first)),
			    pf_num_show_ns(window, a->window_ns));
	if (a->given)
		pf_doc_note(doc,
			    "at most is what the change takes off the critical "
			    "path (sure), or what the path worked out anew "
			    "saves (model)");
}
