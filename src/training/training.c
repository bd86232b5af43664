/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/mem.h"
#include "store/named.h"
#include "table/rows.h"
#include "training/training.h"

#include <inttypes.h>
#include <stdlib.h>

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

/* A table, if it has a row. */
static int add(struct pf_db *db, const char *query, const char *name,
	       const char *title, const struct pf_col *cols, size_t count,
	       struct pf_doc *doc, struct pf_err *err)
{
	struct pf_table *t = pf_table_new(name, title, cols, count);

	if (pf_named_fill(db, query, t, err) < 0) {
		pf_table_free(t);
		return -1;
	}
	if (!pf_table_row_count(t)) {
		pf_table_free(t);
		return 0;
	}
	doc->is_nothing = false;
	pf_doc_adopt(doc, t);
	return 1;
}

int pf_training_steps(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	int rc = add(db, "training_times", "training_times",
		     "Batches that the training script timed", COLS(times_cols),
		     doc, err);

	if (rc <= 0)
		return rc;
	pf_doc_note(doc, "the rate of these batches is the length of the first "
			 "tensor's first item over the time, as the script "
			 "computes it: it need not be samples");
	return add(db, "training_batches", "training_batches", "Each of them",
		   COLS(batch_cols), doc, err) < 0
		       ? -1
		       : 0;
}

int pf_training_memory(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	int rc = add(db, "memory_categories", "categories",
		     "Memory by category", COLS(category_cols), doc, err);

	if (rc < 0)
		return -1;
	rc = add(db, "training_memory", "training_memory",
		 "Memory of the GPU as the training script saw it",
		 COLS(memory_cols), doc, err);
	if (rc == 1)
		pf_doc_note(doc, "slack is what is reserved and not allocated: "
				 "cache as well as fragmentation");
	return rc < 0 ? -1 : 0;
}

struct check {
	int64_t trace_id, total_steps, last_step;
};
static const struct pf_field check_fields[] = {
	PF_FIELD(struct check, trace_id, "trace_id", "", PF_INT),
	PF_FIELD(struct check, total_steps, "total_steps", "", PF_INT),
	PF_FIELD(struct check, last_step, "last_step", "", PF_INT),
};

int pf_training_summary(struct pf_db *db, struct pf_doc *doc,
			struct pf_err *err)
{
	struct pf_arena texts = { 0 };
	struct check *checks;
	size_t count;

	if (add(db, "training_summary", "training_summary",
		"What the training script says of itself", COLS(summary_cols),
		doc, err) < 0)
		return -1;
	checks = pf_named_rows_take(db, "training_check",
				    PF_FIELDS(check_fields), &texts, &count,
				    err);
	for (size_t i = 0; checks && i < count; i++)
		pf_doc_note(doc,
			    "the last step that was timed is %" PRId64
			    " of the %" PRId64 " that were asked for: where "
			    "training stopped early, averages of the summary "
			    "are per step that was asked for",
			    checks[i].last_step, checks[i].total_steps);
	free(checks);
	pf_arena_release(&texts);
	return checks ? 0 : -1;
}
