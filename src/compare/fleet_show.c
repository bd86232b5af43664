/* SPDX-License-Identifier: MIT */
/* Rows come from schema/fleet/show_*.sql; what differs by rank is in spread.c. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "compare/fleet.h"
#include "compare/fleet_show.h"
#include "compare/fleet_spread.h"
#include "store/query.h"
#include "show/find.h"

#define SUMMARY_ROWS 5 /* of a list */

#define FILL(doc, db, name, title, cols, err)                                  \
	fill(doc, db, name, title, cols, sizeof(cols) / sizeof(*(cols)), err)

/* "name" is also that of the statement. */
static int fill(struct pf_doc *doc, struct pf_db *db, const char *name,
		const char *title, const struct pf_col *cols, size_t count,
		struct pf_err *err)
{
	struct pf_table *t = pf_doc_table(doc, name, title, cols, count);
	struct pf_buf statement = { 0 };
	int rc;

	pf_buf_addf(&statement, "fleet/show_%s", name);
	rc = pf_named_fill(db, statement.data, t, err);
	pf_buf_release(&statement);
	return rc;
}

/* ---- info ---- */

static const struct pf_col capture_cols[] = {
	{ "capture", "Capture", PF_TEXT },
	{ "taken", "Taken", PF_TEXT },
	{ "rank_count", "Ranks", PF_COUNT },
	{ "failed", "Failed", PF_COUNT },
	{ "world_size", "World", PF_COUNT },
	{ "missing_count", "Missing", PF_COUNT },
	{ "event_count", "Events", PF_COUNT },
	{ "skipped_count", "Skipped", PF_COUNT | PF_FULL },
	{ "file_bytes", "Traces", PF_BYTES },
	{ "kept_count", "Databases", PF_COUNT | PF_FULL },
};

static const struct pf_col failed_cols[] = {
	{ "capture", "Capture", PF_TEXT | PF_FULL },
	{ "rank", "Rank", PF_INT },
	{ "path", "Trace", PF_PATH | PF_FULL },
	{ "error", "Why", PF_TEXT },
};

static const struct pf_col label_cols[] = {
	{ "label", "Label", PF_TEXT },
	{ "rank_count", "Ranks", PF_COUNT },
	{ "value_count", "Values", PF_COUNT },
	{ "first", "First", PF_TEXT },
	{ "last", "Last", PF_TEXT },
};

/* Sums over the captures. */
static int64_t sum_of(const struct pf_table *t, const char *key)
{
	int64_t sum = 0;

	for (size_t i = 0; i < pf_table_row_count(t); i++)
		sum += pf_table_int_at(t, i, key);
	return sum;
}

static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

static void say_ranks(struct pf_doc *doc, const struct pf_table *captures)
{
	int64_t ranks = sum_of(captures, "rank_count");
	int64_t failed = sum_of(captures, "failed");
	int64_t missing = sum_of(captures, "missing_count");
	int64_t count = (int64_t)pf_table_row_count(captures);
	struct pf_buf more = { 0 };
	char a[PF_NUM_MAX], b[PF_NUM_MAX];

	if (failed)
		pf_buf_addf(&more, "; %s could not be read",
			    pf_num_show_count(a, failed));
	if (missing > 0)
		pf_buf_addf(&more, "; %s of the job %s not there",
			    pf_num_show_count(b, missing),
			    missing == 1 ? "is" : "are");
	pf_doc_finding(doc, "A fleet of %s rank%s of %" PRId64 " capture%s%s",
		       pf_num_show_count(b, ranks), plural(ranks), count,
		       plural(count), more.data ? more.data : "");
	pf_buf_release(&more);
}

/* The finding stands first, and is of what is read after it. */
static int read_captures(struct pf_db *db, struct pf_doc *doc,
			 struct pf_err *err)
{
	struct pf_doc of = { 0 };
	int rc = FILL(&of, db, "captures", "Captures", capture_cols, err);

	if (!rc)
		say_ranks(doc, pf_doc_find_table(&of, "captures"));
	pf_doc_release(&of);
	return rc;
}

static int add_captures(struct pf_db *db, struct pf_doc *doc,
			struct pf_err *err)
{
	return FILL(doc, db, "captures", "Captures", capture_cols, err);
}

int pf_fleet_info(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	doc->lists = "failed captures labels";
	if (read_captures(db, doc, err) || add_captures(db, doc, err) ||
	    FILL(doc, db, "labels", "Labels", label_cols, err) ||
	    FILL(doc, db, "failed", "Could not be read", failed_cols, err))
		return -1;
	return 0;
}

/* ---- lists ---- */

static const struct pf_col kernel_cols[] = {
	{ "name", "Kernel", PF_TEXT },
	{ "class", "Class", PF_TEXT | PF_FULL },
	{ "rank_count", "Ranks", PF_COUNT },
	{ "calls", "Calls", PF_COUNT },
	{ "total_ns", "Time", PF_NS },
	{ "share", "Share", PF_RATIO },
	{ "mean_ns", "Mean", PF_NS | PF_FULL },
	{ "rank_min_ns", "Least", PF_NS },
	{ "rank_max_ns", "Most", PF_NS },
	{ "min_ns", "Min", PF_NS | PF_FULL },
	{ "max_ns", "Max", PF_NS | PF_FULL },
};

int pf_fleet_kernels(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	if (read_captures(db, doc, err))
		return -1;
	return FILL(doc, db, "kernels",
		    "Kernels, summed over ranks; least and most of a rank",
		    kernel_cols, err);
}

static const struct pf_col table_cols[] = {
	{ "name", "Name", PF_TEXT },
	{ "device_type", "Device", PF_TEXT },
	{ "rank_count", "Ranks", PF_COUNT },
	{ "count", "Calls", PF_COUNT },
	{ "self_cpu_ns", "Self CPU", PF_NS },
	{ "cpu_total_ns", "CPU total", PF_NS | PF_FULL },
	{ "self_device_ns", "Self device", PF_NS },
	{ "device_total_ns", "Device total", PF_NS | PF_FULL },
	{ "self_cpu_mem_bytes", "Self CPU memory", PF_BYTES | PF_FULL },
	{ "self_device_mem_bytes", "Self device memory", PF_BYTES | PF_FULL },
	{ "flops", "FLOPs", PF_COUNT | PF_FULL },
};

int pf_fleet_table(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	doc->lists = "table";
	if (read_captures(db, doc, err))
		return -1;
	return FILL(doc, db, "table", "key_averages(), summed over ranks",
		    table_cols, err);
}

static const struct pf_col idle_cols[] = {
	{ "cause", "Cause", PF_TEXT },
	{ "rank_count", "Ranks", PF_COUNT },
	{ "ns", "Idle", PF_NS },
	{ "share", "Share", PF_RATIO },
	{ "longest_ns", "Longest", PF_NS },
};

static int add_idle(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	return FILL(doc, db, "idle", "Idle time of GPUs, summed over ranks",
		    idle_cols, err);
}

int pf_fleet_gaps(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	doc->lists = "idle";
	return read_captures(db, doc, err) || add_idle(db, doc, err) ? -1 : 0;
}

static const struct pf_col finding_cols[] = {
	{ "check_name", "Check", PF_TEXT },  { "verdict", "Verdict", PF_TEXT },
	{ "rank_count", "Ranks", PF_COUNT }, { "count", "Count", PF_COUNT },
	{ "gpu_ns", "GPU time", PF_NS },
};

static int add_findings(struct pf_db *db, struct pf_doc *doc,
			struct pf_err *err)
{
	return FILL(doc, db, "findings", "What doctor found", finding_cols,
		    err);
}

int pf_fleet_doctor(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	doc->lists = "findings";
	return read_captures(db, doc, err) || add_findings(db, doc, err) ? -1
									 : 0;
}

/* ---- how ranks differ ---- */

static int add_steps(struct pf_db *db, struct pf_doc *doc, bool is_told,
		     struct pf_err *err)
{
	struct pf_fleet_spreads s = { 0 };
	int rc = pf_fleet_spreads_read(&s, db, &pf_fleet_by_step, err);

	if (!rc && is_told)
		pf_fleet_spreads_say(&s, doc);
	if (!rc)
		pf_fleet_spreads_show(&s, doc);
	pf_fleet_spreads_release(&s);
	return rc;
}

int pf_fleet_steps(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	doc->lists = "ranks";
	return add_steps(db, doc, true, err);
}

int pf_fleet_overlap(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	struct pf_fleet_spreads s = { 0 };
	int rc = pf_fleet_spreads_read(&s, db, &pf_fleet_by_device, err);

	doc->lists = "devices";
	if (!rc) {
		pf_fleet_spreads_say(&s, doc);
		pf_fleet_spreads_show(&s, doc);
	}
	pf_fleet_spreads_release(&s);
	return rc;
}

int pf_fleet_summary(struct pf_db *db, struct pf_doc *doc, struct pf_err *err)
{
	doc->lists = "ranks captures idle findings";
	if (doc->order.limit > SUMMARY_ROWS)
		doc->order.limit = SUMMARY_ROWS;
	if (read_captures(db, doc, err) || add_captures(db, doc, err) ||
	    add_steps(db, doc, false, err) || add_idle(db, doc, err) ||
	    add_findings(db, doc, err))
		return -1;
	return 0;
}
