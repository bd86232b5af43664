/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "store/query.h"
#include "analysis/time/training.h"

#include <inttypes.h>

static const struct pf_col times_cols[] = {
	{ "trace_id", "Trace", PF_INT },
	{ "row_count", "Rows", PF_COUNT },
	{ "first_ns", "First", PF_NS },
	{ "mean_ns", "Mean of others", PF_NS },
	{ "median_ns", "Median", PF_NS },
	{ "p90_ns", "90 %", PF_NS },
	{ "p99_ns", "99 %", PF_NS },
	{ "longest_ns", "Longest", PF_NS },
};

static const struct pf_col batch_cols[] = {
	{ "trace_id", "Trace", PF_INT },
	{ "ordinal", "Row", PF_INT },
	{ "step", "Step after it", PF_INT },
	{ "batch_idx", "Batch", PF_INT },
	{ "batch_ns", "Time", PF_NS },
	{ "rate", "Rate", PF_REAL },
	{ "implied_count", "Rate x time", PF_REAL },
};

static const struct pf_col memory_cols[] = {
	{ "trace_id", "Trace", PF_INT },
	{ "ordinal", "Row", PF_INT },
	{ "step", "Step before it", PF_INT },
	{ "batch_idx", "Batch", PF_INT },
	{ "allocated_bytes", "Allocated", PF_BYTES },
	{ "reserved_bytes", "Reserved", PF_BYTES },
	{ "slack_bytes", "Slack", PF_BYTES },
	{ "host_percent", "Host memory %", PF_REAL },
};

static const struct pf_col category_cols[] = {
	{ "trace_id", "Trace", PF_INT },
	{ "category", "Category", PF_TEXT },
	{ "peak_bytes", "At the peak", PF_BYTES },
	{ "end_bytes", "At the end", PF_BYTES },
};

static const struct pf_col summary_cols[] = {
	{ "trace_id", "Trace", PF_INT },
	{ "key", "Key", PF_TEXT },
	{ "value", "Value", PF_REAL },
};

#define COLS(c) (c), sizeof(c) / sizeof(*(c))

/* Add a table, if it has a row: has it? */
static bool add(struct pf_db *db, const char *query, const char *name,
		const char *title, const struct pf_col *cols, size_t count,
		struct pf_doc *doc)
{
	struct pf_table *t = pf_table_new(name, title, cols, count);

	if (!pf_named_fill(db, query, t) && pf_table_row_count(t)) {
		pf_doc_adopt(doc, t);
		return true;
	}
	pf_table_free(t);
	return false;
}

/* The largest of a column, in the words of its units. */
static const char *most(const struct pf_doc *doc, const char *table,
			const char *key, char text[PF_NUM_MAX])
{
	const struct pf_table *t = pf_doc_find_table(doc, table);
	int64_t value = 0;

	for (size_t i = 0; i < pf_table_rows(t); i++) {
		int64_t at = pf_table_int_at(t, i, key);

		PF_AT_LEAST(value, at);
	}
	return pf_num_show_bytes(text, value);
}

/* In place of a sentence that there is nothing. */
static void say_times(struct pf_doc *doc)
{
	const struct pf_table *t = pf_doc_find_table(doc, "training_times");
	const struct pf_cell *median = pf_table_at(t, 0, "median_ns");
	const struct pf_scalar *steps = pf_doc_find(doc, "step_count");

	if (median && (!steps || !steps->cell.v.i))
		pf_doc_finding(doc,
			       "There are no steps of a trace; batches that "
			       "the training script timed take %s in the "
			       "median",
			       PF_SHOW_NS(median->v.i));
	doc->is_nothing = false;
}

static void say_categories(struct pf_doc *doc)
{
	char text[PF_NUM_MAX];

	if (doc->is_nothing)
		pf_doc_finding(doc,
			       "Tensors of all categories hold at most %s "
			       "together; there are no records of single "
			       "allocations",
			       most(doc, "categories", "peak_bytes", text));
	doc->is_nothing = false;
}

static void say_memory(struct pf_doc *doc)
{
	char text[PF_NUM_MAX], more[PF_NUM_MAX];

	if (doc->is_nothing)
		pf_doc_finding(
			doc,
			"The training script saw at most %s of the GPU "
			"allocated and %s reserved; there are no "
			"records of single allocations",
			most(doc, "training_memory", "allocated_bytes", text),
			most(doc, "training_memory", "reserved_bytes", more));
	doc->is_nothing = false;
}

int pf_training_steps(struct pf_db *db, struct pf_doc *doc)
{
	if (add(db, "training_times", "training_times",
		"Batches that the training script timed", COLS(times_cols),
		doc)) {
		say_times(doc);
		pf_doc_note(doc,
			    "the rate of these batches is the length of the "
			    "first tensor's first item over the time, as the "
			    "script computes it: it need not be samples");
		add(db, "training_batches", "training_batches", "Each of them",
		    COLS(batch_cols), doc);
	}
	return db->err->code ? -1 : 0;
}

int pf_training_memory(struct pf_db *db, struct pf_doc *doc)
{
	if (add(db, "memory_categories", "categories", "Memory by category",
		COLS(category_cols), doc))
		say_categories(doc);
	if (!db->err->code &&
	    add(db, "training_memory", "training_memory",
		"Memory of the GPU as the training script saw it",
		COLS(memory_cols), doc)) {
		say_memory(doc);
		pf_doc_note(doc, "slack is what is reserved and not allocated: "
				 "cache as well as fragmentation");
	}
	return db->err->code ? -1 : 0;
}

struct check {
	int64_t trace_id, total_steps, last_step;
};
static const struct pf_field check_fields[] = {
	PF_FIELD(struct check, trace_id, "", PF_INT),
	PF_FIELD(struct check, total_steps, "", PF_INT),
	PF_FIELD(struct check, last_step, "", PF_INT),
};

int pf_training_summary(struct pf_db *db, struct pf_doc *doc)
{
	PF_AUTO(pf_arena_release) struct pf_arena texts = { 0 };
	const struct check *checks;
	size_t count;

	if (add(db, "training_summary", "training_summary",
		"What the training script says of itself", COLS(summary_cols),
		doc))
		doc->is_nothing = false;
	checks = pf_named_read(db, "training_check", PF_FIELDS(check_fields),
			       &texts, &count);
	for (size_t i = 0; checks && i < count; i++)
		pf_doc_note(doc,
			    "the last step that was timed is %" PRId64
			    " of the %" PRId64 " that were asked for: where "
			    "training stopped early, averages of the summary "
			    "are per step that was asked for",
			    checks[i].last_step, checks[i].total_steps);
	return db->err->code ? -1 : 0;
}

/* ---- several ---- */

struct times {
	const char *capture;
	int64_t trace_id, row_count, first_ns, mean_ns, median_ns;
	int64_t p90_ns, p99_ns, longest_ns;
};

#define FIELD(...) PF_FIELD(struct times, __VA_ARGS__)
static const struct pf_field times_fields[] = {
	FIELD(capture, "Capture", PF_PATH),
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
	FIELD(row_count, "Rows", PF_COUNT),
	FIELD(first_ns, "First", PF_NS | PF_MAYBE),
	FIELD(mean_ns, "Mean of others", PF_NS | PF_MAYBE),
	FIELD(median_ns, "Median", PF_NS | PF_MAYBE),
	FIELD(p90_ns, "90 %", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(p99_ns, "99 %", PF_NS | PF_MAYBE | PF_FULL),
	FIELD(longest_ns, "Longest", PF_NS | PF_MAYBE),
};
#undef FIELD

/* Rows of one database; the last one's median goes to *median_ns. */
static int add_times(const char *path, const char *name, struct pf_table *t,
		     int64_t *median_ns, struct pf_err *err)
{
	PF_AUTO(pf_arena_release) struct pf_arena texts = { 0 };
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };
	struct times *rows = NULL;
	size_t count = 0;

	/* all but the capture are columns of the query */
	if (!pf_db_open(&db, path, false, err))
		rows = pf_named_read(&db, "training_times", times_fields + 1,
				     PF_LEN(times_fields) - 1, &texts, &count);
	for (size_t i = 0; rows && i < count; i++) {
		rows[i].capture = name;
		*median_ns = rows[i].median_ns;
		PF_PUT(t, times_fields, rows[i]);
	}
	return err->code ? -1 : 0;
}

int pf_training_trend(const char *const *paths, char *const *names,
		      size_t count, struct pf_doc *doc, struct pf_err *err)
{
	struct pf_table *t = pf_fields_table(
		"training_trend", "Batches that training scripts timed",
		PF_FIELDS(times_fields));
	int64_t first_ns = PF_NO_INT, last_ns = PF_NO_INT;
	int rc = 0;

	for (size_t i = 0; !rc && i < count; i++) {
		rc = add_times(paths[i], names[i], t, &last_ns, err);
		if (first_ns == PF_NO_INT)
			first_ns = last_ns;
	}
	if (rc || first_ns == PF_NO_INT) {
		pf_table_free(t);
		return rc;
	}
	pf_doc_finding(doc,
		       "The median batch that the training script timed takes "
		       "%s in the first and %s in the last",
		       PF_SHOW_NS(first_ns), PF_SHOW_NS(last_ns));
	if (count > 1 && last_ns != PF_NO_INT)
		pf_doc_int(doc, "batch_change_ns", "Median batch, change",
			   PF_NS | PF_SIGNED, pf_sat_sub(last_ns, first_ns));
	pf_doc_adopt(doc, t);
	return 1;
}
