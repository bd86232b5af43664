/* SPDX-License-Identifier: MIT */
/*
 * Rows of gpu_event ascend by trace and start, so the rows of a window are
 * found by halving.  A damaged database gives wrong counts, nothing worse.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "events/trust.h"
#include "base/buf.h"
#include "base/num.h"
#include "base/sat.h"
#include "store/kept.h"
#include "store/query.h"

/* Of a trace, or of those of a window. */
struct trust {
	int64_t trace_id;
	int64_t work_count, work_ns, orphan_count, orphan_ns;
	int64_t cut_count, dropped_count, skipped_count, left_out_count;
	int64_t range_count, range_ns;
	bool any_work, any_call, any_stack, any_op, any_range;
	bool is_capped;
	bool is_known; /* ingest counted the first four */
};

static void *read_facts(struct pf_db *db, const char *name)
{
#define F(member) PF_FIELD(struct trust, member, "", PF_INT)
	static const struct pf_field fields[] = {
		F(trace_id),      F(work_count),    F(work_ns),
		F(orphan_count),  F(orphan_ns),     F(is_known),
		F(any_work),      F(any_call),      F(any_stack),
		F(any_op),        F(any_range),     F(cut_count),
		F(dropped_count), F(skipped_count), F(left_out_count),
		F(is_capped),     F(range_count),   F(range_ns),
	};
#undef F

	return pf_named_rows_new(db, name, PF_FIELDS(fields));
}

static void add_work(struct trust *t, const struct trust *of)
{
	pf_sat_sum(&t->work_count, of->work_count);
	pf_sat_sum(&t->work_ns, of->work_ns);
	pf_sat_sum(&t->orphan_count, of->orphan_count);
	pf_sat_sum(&t->orphan_ns, of->orphan_ns);
}

/*
 * A range of a thread that often: steps of small kernels took 1.4 to 2.4 times
 * as long as without torch's profiler, 1 to 4 us a range; without stacks there
 * were fewer, and steps took 1.5 to 2 times as long.
 */
#define DENSE_NS    20000
#define DENSE_LEAST 1000 /* ranges: fewer are no program */

static void add_facts(struct trust *t, const struct trust *of)
{
	add_work(t, of);
	t->is_known &= of->is_known;
	t->any_work |= of->any_work;
	t->any_call |= of->any_call;
	t->any_stack |= of->any_stack;
	t->any_op |= of->any_op;
	t->any_range |= of->any_range;
	pf_sat_sum(&t->cut_count, of->cut_count);
	pf_sat_sum(&t->dropped_count, of->dropped_count);
	pf_sat_sum(&t->skipped_count, of->skipped_count);
	pf_sat_sum(&t->left_out_count, of->left_out_count);
	t->is_capped |= of->is_capped;
	if (of->range_count >= DENSE_LEAST &&
	    of->range_ns / of->range_count < DENSE_NS) {
		pf_sat_sum(&t->range_count, of->range_count);
		pf_sat_sum(&t->range_ns, of->range_ns);
	}
}

static int find_facts(struct pf_db *db, const struct pf_window *w,
		      struct trust *t)
{
	/* every command asks for them several times */
	const struct pf_named_rows *all =
		pf_memo_get(db, read_facts, pf_named_rows_free, "trust_facts");

	*t = (struct trust){ .is_known = true };
	for (size_t i = 0; all && i < all->count; i++) {
		const struct trust *of = (struct trust *)all->rows + i;

		if (!w || pf_window_find(w, of->trace_id))
			add_facts(t, of);
	}
	return all ? 0 : -1;
}

int pf_trust_lost(struct pf_db *db, const struct pf_window *window,
		  struct pf_trust_lost *out)
{
	struct trust t;
	int rc = find_facts(db, window, &t);

	*out = (struct pf_trust_lost){ t.cut_count, t.dropped_count,
				       t.skipped_count };
	if (t.is_capped && !out->cut_count)
		out->cut_count = 1;
	return rc;
}

int pf_trust_recorded(struct pf_db *db, const struct pf_window *window,
		      struct pf_recorded *out)
{
	struct trust t;
	int rc = find_facts(db, window, &t);

	*out = (struct pf_recorded){ .has_work = t.any_work,
				     .has_calls = t.any_call,
				     .has_ops = t.any_op,
				     .has_ranges = t.any_range,
				     .has_stacks = t.any_stack,
				     .has_orphans = !t.is_known ||
						    t.orphan_count > 0 };
	PF_TRY(rc < 0 || pf_hint_producer(db, &out->producer) < 0);
	/* others record less of a host, or at another price */
	if (pf_producer_is_torch(out->producer)) {
		out->dense_count = t.range_count;
		out->dense_ns = t.range_ns;
	}
	return 0;
}

void pf_recorded_say(const struct pf_recorded *r, struct pf_buf *out)
{
	if (r->dense_count)
		pf_buf_addf(
			out,
			"the profiler recorded a range of the host every %s, "
			"which slowed it: time steps without the profiler, too",
			PF_SHOW_NS(r->dense_ns / r->dense_count));
}

/* ---- the work of a window ---- */

/* The first id whose row is not before (trace_id, start_ns). */
static int find_row(struct pf_db *db, sqlite3_stmt *row, int64_t trace_id,
		    int64_t start_ns, int64_t *out)
{
	int64_t low = 0, high = INT64_MAX;

	while (low < high) {
		/* no further than ids go: twice as far as is known */
		int64_t half = (high - low) / 2;
		int64_t middle = low + (half <= low ? half : low + 1);
		bool is_before = false;
		int64_t id = 0;
		int rc;

		sqlite3_reset(row);
		sqlite3_bind_int64(row, 1, middle);
		rc = pf_db_step(db, row, db->err);
		PF_TRY(rc < 0);
		if (rc == 1) {
			int64_t trace = sqlite3_column_int64(row, 1);

			id = sqlite3_column_int64(row, 0);
			is_before = trace < trace_id ||
				    (trace == trace_id &&
				     sqlite3_column_int64(row, 2) < start_ns);
		}
		if (is_before)
			low = id < INT64_MAX ? id + 1 : high;
		else
			high = middle;
	}
	*out = low;
	return 0;
}

static int count_trace(struct pf_db *db, sqlite3_stmt *row,
		       const struct pf_window_trace *trace, int64_t device,
		       const char *query, struct trust *t)
{
	sqlite3_stmt *st;
	struct trust of = { 0 };
	int64_t first, end;
	int rc;

	PF_TRY(find_row(db, row, trace->trace_id, trace->from_ns, &first));
	PF_TRY(find_row(db, row, trace->trace_id + (trace->to_ns == INT64_MAX),
			trace->to_ns == INT64_MAX ? INT64_MIN : trace->to_ns,
			&end));
	st = pf_named_prepare(db, query, db->err);
	sqlite3_bind_int64(st, 1, first);
	sqlite3_bind_int64(st, 2, end);
	sqlite3_bind_int64(st, 3, device);
	rc = pf_db_step(db, st, db->err);
	if (rc == 1)
		of = (struct trust){
			.work_count = sqlite3_column_int64(st, 0),
			.work_ns = sqlite3_column_int64(st, 1),
			.orphan_count = sqlite3_column_int64(st, 2),
			.orphan_ns = sqlite3_column_int64(st, 3),
		};
	pf_db_keep(db, st);
	add_work(t, &of);
	return rc < 0 ? -1 : 0;
}

/* Where there are no orphans at all, is there work in the window? */
static int count_window(struct pf_db *db, const struct pf_window *w,
			struct trust *t)
{
	sqlite3_stmt *row = pf_named_prepare(db, "trust_row", db->err);
	bool is_any_enough = t->is_known && !t->orphan_count;
	int rc = row ? 0 : -1;

	t->work_count = t->work_ns = t->orphan_count = t->orphan_ns = 0;
	for (size_t i = 0; !rc && i < w->count; i++)
		rc = count_trace(db, row, &w->traces[i], w->device,
				 is_any_enough ? "trust_any" : "trust_orphans",
				 t);
	pf_db_keep(db, row);
	return rc;
}

/* ---- the notes ---- */

/* "; 1,234 events WHAT", or "; 1 event WHAT". */
static void add_count(struct pf_buf *text, int64_t count, const char *noun,
		      const char *what)
{
	if (count)
		pf_buf_addf(text, "; %s %s%s %s", PF_SHOW_COUNT(count), noun,
			    pf_plural(count), what);
}

static void add_orphans(struct pf_buf *text, const struct trust *t,
			const char *scope)
{
	double share =
		t->work_ns > 0 ? (double)t->orphan_ns / (double)t->work_ns : 0;

	add_count(text, t->orphan_count, "GPU event",
		  PF_PRINTED(96, "(%s of GPU time%s) %s no launch call",
			     PF_SHOW_RATIO(share), scope,
			     t->orphan_count == 1 ? "has" : "have"));
}

static void add_line(const struct trust *t, unsigned needs, const char *scope,
		     struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (needs & PF_TRUST_LINKS)
		add_orphans(&text, t, scope);
	add_count(&text, t->cut_count, "trace", "cut off or damaged");
	add_count(&text, t->dropped_count, "event", "lost while capturing");
	add_count(&text, t->skipped_count, "event", "that could not be read");
	if (t->is_capped)
		pf_buf_adds(&text, "; a trace ends at 1,000,000 events");
	if (needs & PF_TRUST_STACKS)
		add_count(&text, t->left_out_count, "Python function",
			  "left out on request");
	if (text.len)
		pf_doc_note(doc, "%s", text.data + 2);
}

int pf_trust_has_shapes(struct pf_db *db, bool *yes)
{
	PF_STMT(st) = pf_named_prepare(db, "doctor_shapes", db->err);
	int rc = pf_db_step(db, st, db->err);

	*yes = rc == 1 && sqlite3_column_int64(st, 0);
	return rc < 0 ? -1 : 0;
}

static void note_hint(struct pf_doc *doc, enum pf_producer producer,
		      enum pf_hint hint)
{
	const char *text = pf_hint(producer, hint);

	/* some say the same of all that is missing */
	if (doc->note_count && !strcmp(doc->notes[doc->note_count - 1], text))
		return;
	pf_doc_note(doc, "%s", text);
}

int pf_trust_versions(struct pf_db *db, const struct pf_window *window,
		      struct pf_doc *doc)
{
	PF_STMT(st) = pf_named_prepare(db, "trust_versions", db->err);
	int rc;

	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		if (!pf_window_find(window, sqlite3_column_int64(st, 0)))
			continue;
		pf_doc_note(doc,
			    "%s rows of the table %s are in no figure: the "
			    "columns of this version are not known",
			    PF_SHOW_COUNT(sqlite3_column_int64(st, 2)),
			    pf_sqlite_text(st, 1));
	}
	return rc;
}

/* Is there work that is not recognised as such? */
static int add_foreign(struct pf_db *db, struct pf_doc *doc, bool *found)
{
	PF_STMT(st) = pf_named_prepare(db, "trust_foreign", db->err);
	int rc = pf_db_step(db, st, db->err);
	int64_t count = rc == 1 ? sqlite3_column_int64(st, 1) : 0;

	*found = count > 0;
	if (*found)
		pf_doc_note(
			doc,
			"%s %s of %s %s not taken for GPU work: what is said "
			"of the GPU leaves %s out",
			PF_SHOW_COUNT(count), count == 1 ? "event" : "events",
			pf_sqlite_text(st, 0), count == 1 ? "is" : "are",
			count == 1 ? "it" : "them");
	return rc < 0 ? -1 : 0;
}

/* Why there is no GPU work, if there is none. */
static int add_no_work(struct pf_db *db, const struct trust *t,
		       enum pf_producer producer, const struct pf_window *w,
		       unsigned needs, struct pf_doc *doc)
{
	PF_STMT(st) = NULL;
	bool is_foreign = false;
	int rc;

	if (!t->any_work && w->is_tpu && needs & PF_TRUST_TPUS)
		return 0;
	if (!t->any_work) {
		rc = add_foreign(db, doc, &is_foreign);
		if (!rc && !is_foreign && !w->has_unread)
			note_hint(doc, producer, PF_HINT_WORK);
		return rc;
	}
	if (t->work_count)
		return 0;
	if (w->device < 0) {
		pf_doc_note(doc, "no GPU work starts in this window");
		return 0;
	}
	st = pf_named_prepare(db, "trust_devices", db->err);
	rc = pf_db_step(db, st, db->err);
	if (rc == 1)
		pf_doc_note(doc,
			    "no GPU work on GPU %" PRId64 "; there is "
			    "some on %s",
			    w->device, pf_sqlite_text(st, 0));
	return rc < 0 ? -1 : 0;
}

/* Devices that have steps of their own: only one's are the steps. */
static int add_step_device(struct pf_db *db, const struct pf_window *w,
			   struct pf_doc *doc)
{
	sqlite3_stmt *st = pf_named_prepare(db, "trust_steps", db->err);
	int64_t others;
	int rc;

	PF_BIND(st, 0, INT64_MAX);
	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		if (!pf_window_find(w, sqlite3_column_int64(st, 0)))
			continue;
		others = sqlite3_column_int64(st, 2);
		pf_doc_note(doc,
			    "steps are those of the line 'Steps' of GPU %s; "
			    "%" PRId64 " other GPU%s steps of %s own, at "
			    "other times",
			    pf_sqlite_text(st, 1), others,
			    others == 1 ? " has" : "s have",
			    others == 1 ? "its" : "their");
	}
	pf_db_keep(db, st);
	return rc;
}

static int add_needs(struct pf_db *db, const struct trust *t,
		     const struct pf_window *w, unsigned needs,
		     struct pf_doc *doc)
{
	enum pf_producer from;
	bool shapes = true;

	PF_TRY(pf_hint_producer(db, &from));
	PF_TRY((needs & PF_TRUST_WORK) &&
	       add_no_work(db, t, from, w, needs, doc) < 0);
	PF_TRY((needs & PF_TRUST_WORK) && t->any_work &&
	       add_step_device(db, w, doc) < 0);
	if ((needs & PF_TRUST_LINKS) && t->any_work && !t->any_call &&
	    !w->has_unread)
		note_hint(doc, from, PF_HINT_CALLS);
	if ((needs & PF_TRUST_STACKS) && t->any_work && !t->any_stack)
		note_hint(doc, from, PF_HINT_STACKS);
	if (needs & PF_TRUST_STEPS)
		note_hint(doc, from, PF_HINT_STEPS);
	PF_TRY((needs & PF_TRUST_SHAPES) &&
	       pf_trust_has_shapes(db, &shapes) < 0);
	if (!shapes)
		note_hint(doc, from, PF_HINT_SHAPES);
	return 0;
}

int pf_trust_note(struct pf_db *db, const struct pf_window *window,
		  unsigned needs, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf cut = { 0 };
	struct trust t;
	bool is_whole;

	PF_TRY(find_facts(db, window, &t));
	is_whole = t.is_known && window->device < 0 && !window->is_restricted;
	PF_TRY((needs & (PF_TRUST_LINKS | PF_TRUST_WORK)) && t.any_work &&
	       !is_whole && count_window(db, window, &t) < 0);
	add_line(&t, needs, window->device < 0 ? pf_window_scope(window) : "",
		 doc);
	pf_window_say_cut(window->cut_count, &cut);
	if (cut.len)
		pf_doc_note(doc, "%s", cut.data);
	PF_TRY(window->has_unread && pf_trust_versions(db, window, doc) < 0);
	return add_needs(db, &t, window, needs, doc);
}
