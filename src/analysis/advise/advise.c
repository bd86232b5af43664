/* SPDX-License-Identifier: MIT */
/*
 * Advice: what it rests on, read side by side and handed to the judge, and how
 * it is shown.
 */
#include "config.h"

#include "analysis/advise/advise.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "analysis/advise/impl.h"
#include "events/gpu.h"
#include "events/trust.h"
#include "show/escape.h"
#include "store/kept.h"
#include "store/threads.h"

/* The analyses that advice rests on, beside the path. */

#define KEPT_BYTES (32u << 20) /* of blocks that several read */

struct beside {
	const struct pf_window_args *window;
	struct pf_kernels callers;
	struct pf_launches launches;
	struct pf_overlap overlap;
	struct pf_step_times steps;
	struct pf_usage memory;
	struct pf_info own_info;
	const struct pf_info *info; /* of all traces: it, or another's */
	struct pf_roofline roofline;
	struct pf_gaps gaps;   /* where there is no path */
	struct pf_syncs syncs; /* and of several traces */
};

static int find_callers(struct pf_db *db, struct beside *b)
{
	const struct pf_kernels_args args = {
		.window = *b->window,
		.group = PF_KERNELS_BY_NAME_OP,
		.no_ranks = true,
	};

	return pf_kernels_find(db, &args, &b->callers);
}

static int find_launches(struct pf_db *db, struct beside *b)
{
	const struct pf_launches_args args = { .window = *b->window,
					       .only_counts = true };

	return pf_launches_find(db, &args, 0, &b->launches);
}

static int find_overlap(struct pf_db *db, struct beside *b)
{
	const struct pf_overlap_args args = { .window = *b->window };

	return pf_overlap_find(db, &args, &b->overlap);
}

static int find_steps(struct pf_db *db, struct beside *b, bool only_times)
{
	const struct pf_steps_args args = { .window = *b->window,
					    .only_times = only_times };

	return pf_step_times_find(db, &args, &b->steps);
}

static int find_step_times(struct pf_db *db, struct beside *b)
{
	return find_steps(db, b, true);
}

static int find_memory(struct pf_db *db, struct beside *b)
{
	const struct pf_usage_args args = { .window = *b->window,
					    .no_sites = true };

	return pf_usage_find(db, &args, NULL, &b->memory);
}

static int find_info(struct pf_db *db, struct beside *b)
{
	struct pf_doc doc = { 0 };
	int rc;

	if (b->info != &b->own_info)
		return 0;
	rc = pf_info(db, &b->own_info, &doc);

	pf_doc_release(&doc);
	return rc;
}

static int find_roofs(struct pf_db *db, struct beside *b)
{
	const struct pf_roofline_args args = { .window = *b->window,
					       .group = PF_ROOFLINE_BY_OP };
	bool has_shapes;

	PF_TRY(pf_trust_has_shapes(db, &has_shapes) < 0);
	return has_shapes ? pf_roofline_find(db, &args, &b->roofline) : 0;
}

static int find_gaps_for(struct pf_db *db, struct pf_gap_sink *also, void *p)
{
	struct beside *b = p;
	const struct pf_gaps_args args = { .window = *b->window,
					   .micro_ns = PF_GAPS_MICRO_NS,
					   .also = also };

	return pf_gaps_find(db, &args, &b->gaps);
}

static int find_gaps(struct pf_db *db, struct beside *b)
{
	return find_gaps_for(db, NULL, b);
}

/* And gaps, of which it needs some. */
static int find_syncs(struct pf_db *db, struct beside *b)
{
	const struct pf_gap_source gaps = { find_gaps_for, b };
	const struct pf_syncs_args args = { .window = *b->window,
					    .max_per_step = -1,
					    .fail_on = -1,
					    .gaps = &gaps };
	struct pf_doc doc = { 0 };
	bool is_failed;
	int rc = pf_syncs(db, &args, &b->syncs, &doc, &is_failed);

	pf_doc_release(&doc);
	return rc;
}

/* By the time they take: the last are short ones. */
static int (*const finders[])(struct pf_db *db, struct beside *b) = {
	find_callers, find_launches, find_roofs,      find_memory,
	find_info,    find_overlap,  find_step_times,
};
#define FINDERS (sizeof(finders) / sizeof(*finders))

/* One thread begins with the path; what is left is for who has time. */
struct gathering {
	struct pf_db *db, other;
	const struct pf_advise_args *args;
	struct pf_advise *out;
	struct beside *beside;
	bool has_many; /* traces, and so no path */
	atomic_size_t next;
	int rc[1 + FINDERS]; /* the path's first */
	struct pf_err err[1 + FINDERS];
};

static void find_on(struct gathering *g, struct pf_db *db)
{
	size_t n;

	while ((n = atomic_fetch_add(&g->next, 1)) < FINDERS) {
		db->err = &g->err[1 + n];
		g->rc[1 + n] = finders[n](db, g->beside);
	}
}

static void find_path(void *p)
{
	struct gathering *g = p;

	g->db->err = &g->err[0];
	g->rc[0] = g->has_many ? find_syncs(g->db, g->beside)
			       : pf_advise_read(g->db, g->args, g->out);
	/* all has its end, and yet of nothing that is known why */
	if (!g->rc[0] && !g->has_many && !g->out->tiles->path->category_count)
		g->rc[0] = find_gaps(g->db, g->beside);
	if (!g->rc[0])
		find_on(g, g->db);
}

static void find_beside(void *p)
{
	struct gathering *g = p;

	find_on(g, &g->other);
}

static void release(struct beside *b)
{
	pf_kernels_release(&b->callers);
	pf_launches_release(&b->launches);
	pf_overlap_release(&b->overlap);
	pf_step_times_release(&b->steps);
	pf_usage_release(&b->memory);
	pf_info_release(&b->own_info);
	pf_roofline_release(&b->roofline);
	pf_gaps_release(&b->gaps);
	pf_syncs_release(&b->syncs);
}

static int gather(struct pf_db *db, const struct pf_advise_args *args,
		  bool has_many, struct beside *b, struct pf_advise *a)
{
	struct gathering *g = pf_calloc(1, sizeof(*g));
	struct pf_err *given = db->err;
	int rc;

	g->db = db;
	g->args = args;
	g->out = a;
	g->beside = b;
	g->has_many = has_many;
	pf_kept_start(db, KEPT_BYTES);
	/* most read these rows: they come before blocks take the room */
	rc = pf_gpu_links_keep(db);
	if (!rc)
		rc = pf_db_open_beside(&g->other, db, db->err);
	if (!rc)
		pf_threads_both(find_path, g, find_beside, g);
	db->err = given;
	for (size_t i = 0; !rc && i < 1 + FINDERS; i++) {
		rc = g->rc[i];
		if (rc)
			*db->err = g->err[i];
	}
	pf_db_close(&g->other);
	free(g);
	return rc;
}

/* A path is of one trace. */
static int count_traces(struct pf_db *db, const struct pf_window_args *args,
			size_t *count)
{
	struct pf_window window = { 0 };
	int rc = pf_window_resolve(db, args, &window);

	*count = window.count;
	pf_window_release(&window);
	return rc;
}

/*
 * What was found is kept in "b", which the result rests on; info of all traces
 * may be known.
 */
static int find(struct pf_db *db, const struct pf_advise_args *args,
		const struct pf_info *info, struct beside *b,
		struct pf_advise *out)
{
	const struct pf_advise_from from = {
		&b->callers,  &b->launches, &b->overlap,
		&b->steps,    &b->memory,   info ? info : &b->own_info,
		&b->roofline, &b->gaps,     &b->syncs
	};
	size_t count;
	int rc = count_traces(db, &args->window, &count);

	b->window = &args->window;
	b->info = from.info;
	if (!rc)
		rc = gather(db, args, count > 1, b, out);
	/* without a path, and without GPU work, classes of steps are all */
	if (!rc && ((b->gaps.window.count && !b->gaps.all.event_count) ||
		    pf_step_times_warm_up(&b->steps).most)) {
		pf_step_times_release(&b->steps);
		rc = find_steps(db, b, false);
	}
	if (!rc)
		rc = pf_advise_each(db, args, &from, out);
	if (!rc)
		pf_advise_judge(out, args, &from);
	return rc;
}

static int find_with(struct pf_db *db, const struct pf_advise_args *args,
		     const struct pf_info *info, struct pf_advise *out)
{
	struct beside *b = pf_calloc(1, sizeof(*b));
	int rc;

	rc = find(db, args, info, b, out);
	release(b);
	free(b);
	return rc;
}

int pf_advise_find(struct pf_db *db, const struct pf_advise_args *args,
		   struct pf_advise *out)
{
	return find_with(db, args, NULL, out);
}

/* One of several traces alone, of which the words are kept. */
static int find_alone(struct pf_db *db, const struct pf_advise_args *args,
		      const struct pf_advise_from *from, size_t i,
		      struct pf_advise *out)
{
	const struct pf_window *w = &from->gaps->window;
	struct pf_advise_args one = *args;
	struct pf_advise rows = { 0 };
	char rank[24];
	int rc;

	snprintf(rank, sizeof(rank), "%" PRId64, w->traces[i].rank);
	if (pf_window_has_ranks(w))
		one.window.rank = rank;
	else
		one.window.trace = w->traces[i].trace_id;
	rc = find_with(db, &one, from->info, out);
	rows.tiles = out->tiles;
	out->tiles = NULL;
	pf_advise_release(&rows);
	for (size_t k = 0; k < out->count; k++)
		out->all[k].place_count = 0; /* its texts were the rows' */
	return rc;
}

static int find_late(struct pf_db *db, const struct pf_advise_args *args,
		     const struct pf_advise_from *from, struct pf_advise *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf who = { 0 };
	const struct pf_window *w = &from->gaps->window;
	const struct pf_ranks_rank *late =
		pf_ranks_say_late(&from->overlap->arrivals.of, &who);

	for (size_t i = 0; late && i < w->count; i++) {
		if (w->traces[i].trace_id != late->trace_id)
			continue;
		out->late = pf_calloc(1, sizeof(*out->late));
		return find_alone(db, args, from, i, out->late);
	}
	return 0;
}

#define ALONE_MOST 256 /* traces: each looks at the rows of all */

static int find_each(struct pf_db *db, const struct pf_advise_args *args,
		     const struct pf_advise_from *from, struct pf_advise *out)
{
	const size_t count = from->gaps->window.count;

	out->alone = pf_calloc(count, sizeof(*out->alone));
	while (out->alone_count < count) {
		size_t i = out->alone_count++;

		PF_TRY(find_alone(db, args, from, i, &out->alone[i]));
	}
	return 0;
}

int pf_advise_each(struct pf_db *db, const struct pf_advise_args *args,
		   const struct pf_advise_from *from, struct pf_advise *out)
{
	const struct pf_window *w = &from->gaps->window;
	struct pf_advise left = { 0 };
	int rc = 0;

	if (w->count < 2)
		return 0;
	if (from->gaps->all.event_count)
		rc = find_late(db, args, from, out);
	else if (w->count <= ALONE_MOST)
		rc = find_each(db, args, from, out);
	if (!rc || db->err->code != PF_EDATA)
		return rc;
	/* one has no path: what all wait for is judged without it */
	left.alone = out->alone;
	left.alone_count = out->alone_count;
	left.late = out->late;
	out->alone = out->late = NULL;
	out->alone_count = 0;
	pf_advise_release(&left);
	*db->err = (struct pf_err){ 0 };
	return 0;
}

static void advise_show(const struct pf_advise *a,
			const struct pf_advise_args *args, struct pf_doc *doc);

int pf_advise(struct pf_db *db, const struct pf_advise_args *args,
	      struct pf_doc *doc)
{
	struct beside *b = pf_calloc(1, sizeof(*b));
	struct pf_advise a = { 0 };
	int rc = find(db, args, NULL, b, &a);

	if (!rc) {
		advise_show(&a, args, doc);
		rc = pf_trust_note(db, a.window, PF_TRUST_WORK | PF_TRUST_LINKS,
				   doc);
	}
	pf_advise_release(&a);
	release(b);
	free(b);
	return rc;
}

/* ---- advise show ---- */

struct advice_row {
	const char *id, *kind, *title, *confidence, *framework;
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
	ADVICE(kind, "kind", "Cause", PF_TEXT | PF_OURS | PF_FULL),
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
	EVIDENCE(ns, "ns", "Holds", PF_NS),
	EVIDENCE(count, "count", "Pieces", PF_COUNT),
	EVIDENCE(what, "what", "Of it", PF_TEXT | PF_OURS | PF_FULL),
	EVIDENCE(name, "name", "Name", PF_TEXT),
	EVIDENCE(at, "at", "Line or operator", PF_PATH),
	EVIDENCE(longest_ns, "longest_ns", "Longest", PF_NS | PF_FULL),
	EVIDENCE(from_ns, "from_ns", "From", PF_NS | PF_MAYBE | PF_FULL),
	EVIDENCE(to_ns, "to_ns", "To", PF_NS | PF_MAYBE | PF_FULL),
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

/* Is the first advice worth a first line? */
static bool has_first(const struct pf_advise *a)
{
	const struct pf_advice *best = &a->all[0];

	return a->given && best->measured >= PF_ADVISE_FIRST &&
	       (best->at_most_ns != PF_NO_INT || best->on_path_ns > 0);
}

/* Was no cause of lost time looked for? */
static bool is_blank(const struct pf_advise *a)
{
	size_t i = a->given;

	while (i < a->count && a->all[i].state == PF_ADVICE_NOT_JUDGED)
		i++;
	return a->given < a->count &&
	       (i == a->count ||
		(!a->has_path && !a->has_work && a->window->count < 2));
}

/* What holds more than the first advice; then that, or that there is none. */
static void add_finding(const struct pf_advise *a,
			const struct pf_advise_args *args, struct pf_doc *doc)
{
	const struct pf_advice *best = &a->all[0];
	struct pf_buf out = { 0 }, text = { 0 };

	/* without a path, what is behind it says nothing of causes */
	if ((a->has_path || !has_first(a)) &&
	    pf_advise_say_rest(a, args, &out)) {
		pf_say_plain(&text, &out);
		pf_buf_adds(&text, ". ");
		pf_buf_clear(&out);
	}
	if (has_first(a)) {
		pf_buf_add(&out, best->sentence.data, best->sentence.len);
		if (best->variant && best->detail.len)
			pf_buf_addf(&out, ". %s", best->detail.data);
		if (best->at_most_ns != PF_NO_INT && !best->is_said)
			pf_buf_adds(&out, ". ");
		pf_advice_say_gain(best, &out);
	} else if (is_blank(a)) {
		pf_buf_addf(&out, "Nothing can be judged: %s",
			    a->all[a->count - 1].sentence.data);
	} else {
		pf_buf_addf(&out,
			    "Nothing that could be judged would save %s or "
			    "more",
			    PF_SHOW_RATIO(PF_ADVISE_FIRST));
	}
	pf_say_plain(&text, &out);
	if (!a->has_path && !a->alone && !a->late && a->window->count > 1 &&
	    !is_blank(a))
		pf_buf_adds(&text, ". The critical path of each trace alone "
				   "may name another cause: --rank N");
	pf_doc_finding(doc, "%s", text.data);
	pf_buf_release(&out);
	pf_buf_release(&text);
}

/* All of it as text: what holds how much and where, and what is beside. */
static void say_why(const struct pf_advice *v, struct pf_buf *out)
{
	pf_say_plain(out, &v->sentence);
	if (v->detail.len)
		pf_buf_addf(out, ". %s", v->detail.data);
}

static void add_advice(const struct pf_advise *a, struct pf_doc *doc)
{
	struct pf_table *t = pf_doc_fields(doc, "advice", "What to try",
					   PF_FIELDS(advice_fields));

	for (size_t i = 0; i < a->given; i++) {
		const struct pf_advice *v = &a->all[i];
		bool is_known = v->at_most_ns != PF_NO_INT;
		struct pf_buf why = { 0 };
		struct advice_row row = {
			.id = v->id,
			.kind = v->kind,
			.title = v->title,
			.confidence = v->confidence,
			.framework = a->framework,
			.remedy = v->remedy,
			.code = v->code,
			.command = text_of(&v->command),
			.at_most_ns = v->at_most_ns,
			.likely_ns = v->likely_ns,
			.on_path_ns = is_known || v->on_path_ns ? v->on_path_ns
								: PF_NO_INT,
			.share = is_known || v->on_path_ns ? v->measured : NAN,
		};

		say_why(v, &why);
		row.sentence = why.data;
		PF_PUT(t, advice_fields, row);
		pf_buf_release(&why);
	}
}

/* Beside its name the line or operator, else a range that holds all of it. */
static const char *where_of(const struct pf_advice_place *p)
{
	const char *name = p->name ? p->name : "";

	if (p->at && strcmp(p->at, name) != 0)
		return p->at;
	return p->range.name && p->range.is_all && strcmp(p->range.name, name)
		       ? p->range.name
		       : NULL;
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
				where_of(p),
				p->ns,
				p->count,
				p->longest_ns,
				p->from_ns,
				p->from_ns == PF_NO_INT
					? PF_NO_INT
					: p->from_ns + p->longest_ns
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

	if (!len)
		return;
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
		struct pf_buf why = { 0 }, gain = { 0 };

		say_why(v, &why);
		pf_advice_say_gain(v, &gain);
		add_line(t, v->id, "", why.data, why.len, ".");
		add_line(t, v->id, "", gain.data, gain.len, ".");
		pf_buf_release(&why);
		pf_buf_release(&gain);
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

/* The time that the first of what is given touch together. */
static int64_t together_ns(const struct pf_advise *a, size_t first)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < first && i < a->given; i++)
		bits |= a->all[i].bit;
	return advise_held(a, bits, 0);
}

/* Without a path, and of no advice, there is no time to speak of. */
static void add_times(const struct pf_advise *a, size_t first,
		      struct pf_doc *doc)
{
	char title[32] = "The first holds"; /* of five at most */

	if (a->window_ns)
		pf_doc_int(doc, "window_ns", "Window", PF_NS, a->window_ns);
	else
		pf_doc_null(doc, "window_ns", "Window", PF_NS);
	if (first > 1)
		snprintf(title, sizeof(title), "The first %zu hold together",
			 first);
	if (together_ns(a, first))
		pf_doc_int(doc, "together_ns", title, PF_NS,
			   together_ns(a, first));
	else
		pf_doc_null(doc, "together_ns", title, PF_NS);
}

static void advise_show(const struct pf_advise *a,
			const struct pf_advise_args *args, struct pf_doc *doc)
{
	char all[PF_NUM_MAX];
	size_t first = a->given < 5 ? a->given : 5;
	struct pf_table *t;

	add_finding(a, args, doc);
	add_times(a, first, doc);
	add_advice(a, doc);
	add_how(a, doc);
	add_evidence(a, doc);
	t = pf_doc_fields(doc, "not_judged", "Not judged",
			  PF_FIELDS(open_fields));
	add_rest(a, PF_ADVICE_NOT_JUDGED, t, PF_FIELDS(open_fields));
	t = pf_doc_fields(doc, "fine", "Nothing to do", PF_FIELDS(fine_fields));
	add_rest(a, PF_ADVICE_FINE, t, PF_FIELDS(fine_fields));
	if (first > 1 && a->has_path)
		pf_doc_note(doc,
			    "advice may be about the same time: the first %zu "
			    "hold %s of the %s of the critical path together",
			    first, pf_num_show_ns(all, together_ns(a, first)),
			    PF_SHOW_NS(a->window_ns));
	if (a->alone)
		pf_doc_note(doc,
			    "of several traces without GPU work each is judged "
			    "alone, and what they hold is added up: how much "
			    "of that all would save together is not known");
	else if (!a->has_path)
		pf_doc_note(doc,
			    "without a critical path, which is of one trace, "
			    "causes are judged by what GPUs wait for: how much "
			    "of that would be saved is not known");
	else if (a->given)
		pf_doc_note(doc,
			    "at most is what the change takes off the critical "
			    "path (sure), or what the path worked out anew "
			    "saves (model), where all else takes as long as "
			    "it did");
}
