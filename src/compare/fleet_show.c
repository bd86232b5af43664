/* SPDX-License-Identifier: MIT */
/* Rows come from schema/fleet/show_*.sql. */
#include "config.h"

#include "compare/fleet_show.h"

#include <inttypes.h>

#include "analysis/ranks/ranks.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/stats.h"
#include "compare/fleet.h"
#include "store/query.h"

/*
 * How a figure differs over ranks: its sum, and the quantiles
 * (base/stats.h) of what each rank has of it.
 */

struct pf_fleet_spreads {
	const struct pf_fleet_figures *by;
	struct pf_fleet_one {
		const char *capture;
		int64_t rank; /* PF_NO_INT: not known */
		int64_t unit; /* steps, or the number of the GPU */
		int64_t total_ns[PF_FLEET_FIGURES];
		int64_t value_ns[PF_FLEET_FIGURES];
	} * items; /* the largest first */
	size_t count;
	size_t figure_count; /* that are listed, the first of those there are */
	struct pf_arena texts;
	bool has_captures; /* several */
};

static const struct pf_col *col_of(const struct pf_fleet_figures *by,
				   size_t figure)
{
	return &by->items[figure].of.col;
}

/* ---- reading ---- */

PF_ORDER(compare, struct pf_fleet_one,
	 PF_DOWN(value_ns[0]) PF_UP(rank) PF_UP(unit) PF_ALPHA(capture))

static void take(struct pf_fleet_spreads *s, sqlite3_stmt *st)
{
	struct pf_fleet_one *one = &s->items[s->count++];
	int64_t of =
		s->by->is_mean ? sqlite3_column_int64(st, PF_FLEET_UNIT) : 1;

	*one = (struct pf_fleet_one){
		.capture = pf_arena_string(
			&s->texts, pf_sqlite_text(st, PF_FLEET_CAPTURE)),
		.rank = pf_db_int_or(st, PF_FLEET_RANK, PF_NO_INT),
		.unit = pf_db_int_or(st, PF_FLEET_UNIT, PF_NO_INT),
	};
	for (size_t i = 0; i < s->figure_count; i++) {
		int64_t total =
			sqlite3_column_int64(st, PF_FLEET_SUMS + (int)i);

		one->total_ns[i] = total;
		one->value_ns[i] =
			of > 0 ? total / of + (total % of >= of - of / 2) : 0;
	}
	if (strcmp(one->capture, s->items[0].capture) != 0)
		s->has_captures = true;
}

static int fleet_spreads_read(struct pf_fleet_spreads *s, struct pf_db *db,
			      const struct pf_fleet_figures *by)
{
	PF_STMT(st) = pf_fleet_sums_prepare(db, by);
	size_t cap = 0;
	int rc;

	s->by = by;
	while (s->figure_count < by->count &&
	       !(col_of(by, s->figure_count)->kind & PF_ABSENT))
		s->figure_count++;
	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		PF_ROOM(s->items, cap, s->count + 1);
		take(s, st);
	}
	pf_sort(s->items, s->count, sizeof(*s->items), compare);
	return rc;
}

static void release_spreads(struct pf_fleet_spreads *s)
{
	free(s->items);
	pf_arena_release(&s->texts);
}

/* ---- sentences ---- */

/* Ascending, of one figure; the caller frees it. */
static int64_t *values_take(const struct pf_fleet_spreads *s, size_t figure)
{
	int64_t *values = pf_calloc(s->count + 1, sizeof(*values));

	for (size_t i = 0; i < s->count; i++)
		values[i] = s->items[i].value_ns[figure];
	pf_sort(values, s->count, sizeof(*values), pf_stats_compare);
	return values;
}

static void say_rank(struct pf_buf *out, const struct pf_fleet_spreads *s,
		     const struct pf_fleet_one *one)
{
	if (one->rank == PF_NO_INT)
		pf_buf_adds(out, "one that says no rank");
	else
		pf_buf_addf(out, "rank %" PRId64, one->rank);
	if (s->has_captures)
		pf_buf_addf(out, " of %s", one->capture);
}

/* The finding: the median, and the largest. */
static void fleet_spreads_say(const struct pf_fleet_spreads *s,
			      struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf who = { 0 };
	PF_OWN int64_t *values = NULL;

	if (!s->count) {
		pf_doc_finding(doc, "No rank has a whole %s", s->by->what);
		return;
	}
	values = values_take(s, 0);
	say_rank(&who, s, &s->items[0]);
	pf_doc_finding(doc, "%s: %s in the median of %s%s, from %s to %s (%s)",
		       col_of(s->by, 0)->title,
		       PF_SHOW_NS(pf_stats_quantile(values, s->count, 50)),
		       PF_SHOW_COUNT((int64_t)s->count),
		       s->by->is_mean ? " ranks" : " GPUs",
		       PF_SHOW_NS(values[0]),
		       PF_SHOW_NS(s->items[0].value_ns[0]), who.data);
}

/* ---- tables ---- */

struct row {
	const char *figure;
	int64_t sum_ns;
	double share;
	int64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns, max_rank;
};

static const struct pf_field spread_fields[] = {
	PF_FIELD(struct row, figure, "Of each", PF_TEXT),
	PF_FIELD(struct row, sum_ns, "All", PF_NS),
	PF_FIELD(struct row, share, "Share", PF_RATIO | PF_SPARE),
	PF_FIELD(struct row, min_ns, "Least", PF_NS),
	PF_FIELD(struct row, p50_ns, "Median", PF_NS),
	PF_FIELD(struct row, p90_ns, "p90", PF_NS | PF_KNOWN),
	PF_FIELD(struct row, p99_ns, "p99", PF_NS | PF_KNOWN | PF_SPARE),
	PF_FIELD(struct row, max_ns, "Most", PF_NS),
	PF_FIELD(struct row, max_rank, "Rank", PF_INT | PF_MAYBE),
};

#define SPREADS (PF_LEN(spread_fields))

static int64_t quantile(const int64_t *values, size_t count, unsigned percent)
{
	return pf_stats_carries(count, percent)
		       ? pf_stats_quantile(values, count, percent)
		       : -1;
}

static void add_spread(const struct pf_fleet_spreads *s, size_t figure,
		       int64_t whole, struct pf_table *t)
{
	PF_OWN int64_t *values = values_take(s, figure);
	struct row row = {
		.figure = col_of(s->by, figure)->title,
		.min_ns = values[0],
		.p50_ns = pf_stats_quantile(values, s->count, 50),
		.p90_ns = quantile(values, s->count, 90),
		.p99_ns = quantile(values, s->count, 99),
		.max_ns = values[s->count - 1],
		.max_rank = PF_NO_INT,
	};
	bool is_alike = row.min_ns == row.max_ns;

	for (size_t i = s->count; i-- > 0;) {
		row.sum_ns =
			pf_sat_add(row.sum_ns, s->items[i].total_ns[figure]);
		if (!is_alike && s->items[i].value_ns[figure] == row.max_ns)
			row.max_rank = s->items[i].rank;
	}
	row.share = pf_ratio((double)row.sum_ns, whole);
	PF_PUT(t, spread_fields, row);
}

static void put_known(struct pf_table *t, int64_t n)
{
	if (n == PF_NO_INT)
		pf_table_null(t);
	else
		pf_table_int(t, n);
}

#define OF_ONE 3 /* columns before its figures */

static void list_all(const struct pf_fleet_spreads *s, struct pf_doc *doc)
{
	struct pf_col cols[OF_ONE + PF_FLEET_FIGURES] = {
		{ "capture", "Capture",
		  PF_TEXT | (s->has_captures ? 0 : PF_FULL) },
		{ "rank", "Rank", PF_INT },
		s->by->unit_col,
	};
	struct pf_table *t;

	for (size_t i = 0; i < s->figure_count; i++)
		cols[OF_ONE + i] = *col_of(s->by, i);
	t = pf_doc_table(doc, s->by->list, s->by->list_title, cols,
			 OF_ONE + s->figure_count);
	for (size_t i = 0; i < s->count; i++) {
		const struct pf_fleet_one *one = &s->items[i];

		pf_table_string(t, one->capture);
		put_known(t, one->rank);
		put_known(t, one->unit);
		for (size_t k = 0; k < s->figure_count; k++)
			pf_table_int(t, one->value_ns[k]);
	}
}

/* People see no column of percentiles that so few do not carry. */
static bool is_too_high(const struct pf_fleet_spreads *s, const char *key)
{
	return (!strcmp(key, "p90_ns") && !pf_stats_carries(s->count, 90)) ||
	       (!strcmp(key, "p99_ns") && !pf_stats_carries(s->count, 99));
}

/* The tables "spread" and that of all, by->list. */
static void fleet_spreads_show(const struct pf_fleet_spreads *s,
			       struct pf_doc *doc)
{
	struct pf_field fields[SPREADS];
	struct pf_table *t;
	int64_t whole = 0;

	memcpy(fields, spread_fields, sizeof(fields));
	for (size_t i = 0; i < SPREADS; i++)
		if (is_too_high(s, fields[i].col.key))
			fields[i].col.kind |= PF_FULL;
	t = pf_doc_fields(doc, "spread", s->by->spread_title,
			  PF_FIELDS(fields));

	for (size_t i = 0; i < s->count; i++)
		whole = pf_sat_add(whole, s->items[i].total_ns[0]);
	for (size_t i = 0; s->count && i < s->figure_count; i++)
		add_spread(s, i, whole, t);
	list_all(s, doc);
}

#define SUMMARY_ROWS 5 /* of a list */

/* ---- lists ---- */

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
	{ "min_ns", "Shortest", PF_NS | PF_FULL },
	{ "max_ns", "Longest", PF_NS | PF_FULL },
};

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

static const struct pf_col idle_cols[] = {
	{ "cause", "Cause", PF_TEXT },
	{ "rank_count", "Ranks", PF_COUNT },
	{ "ns", "Idle", PF_NS },
	{ "share", "Share", PF_RATIO },
	{ "longest_ns", "Longest", PF_NS },
};

static const struct pf_col finding_cols[] = {
	{ "check_name", "Check", PF_TEXT },  { "verdict", "Verdict", PF_TEXT },
	{ "rank_count", "Ranks", PF_COUNT }, { "count", "Count", PF_COUNT },
	{ "gpu_ns", "GPU time", PF_NS },
};

enum list { CAPTURES, LABELS, FAILED, KERNELS, TABLE, IDLE, FINDINGS };

#define LIST(name, title, cols)                                                \
	{                                                                      \
		name, title, cols, sizeof(cols) / sizeof(*(cols))              \
	}
static const struct {
	const char *name, *title; /* the statement is "fleet/show_NAME" */
	const struct pf_col *cols;
	size_t count;
} lists[] = {
	[CAPTURES] = LIST("captures", "Captures", capture_cols),
	[LABELS] = LIST("labels", "Labels", label_cols),
	[FAILED] = LIST("failed", "Could not be read", failed_cols),
	[KERNELS] = LIST("kernels",
			 "Kernels, summed over ranks; least and most of a rank",
			 kernel_cols),
	[TABLE] =
		LIST("table", "key_averages(), summed over ranks", table_cols),
	[IDLE] =
		LIST("idle", "Idle time of GPUs, summed over ranks", idle_cols),
	[FINDINGS] = LIST("findings", "What doctor found", finding_cols),
};

static int add_list(struct pf_db *db, struct pf_doc *doc, enum list list)
{
	struct pf_table *t =
		pf_doc_table(doc, lists[list].name, lists[list].title,
			     lists[list].cols, lists[list].count);
	PF_AUTO(pf_buf_release) struct pf_buf statement = { 0 };

	pf_buf_addf(&statement, "fleet/show_%s", lists[list].name);
	return pf_named_fill(db, statement.data, t);
}

/* Sums over the captures. */
static int64_t sum_of(const struct pf_table *t, const char *key)
{
	int64_t sum = 0;

	for (size_t i = 0; i < pf_table_row_count(t); i++)
		sum += pf_table_int_at(t, i, key);
	return sum;
}

static void say_ranks(struct pf_doc *doc, const struct pf_table *captures)
{
	int64_t ranks = sum_of(captures, "rank_count");
	int64_t failed = sum_of(captures, "failed");
	int64_t missing = sum_of(captures, "missing_count");
	int64_t count = (int64_t)pf_table_row_count(captures);
	PF_AUTO(pf_buf_release) struct pf_buf more = { 0 };

	if (failed)
		pf_buf_addf(&more, "; %s could not be read",
			    PF_SHOW_COUNT(failed));
	if (missing > 0)
		pf_buf_addf(&more, "; %s of the job %s not there",
			    PF_SHOW_COUNT(missing),
			    missing == 1 ? "is" : "are");
	pf_doc_finding(doc, "A fleet of %s rank%s of %" PRId64 " capture%s%s",
		       PF_SHOW_COUNT(ranks), pf_plural(ranks), count,
		       pf_plural(count), more.data ? more.data : "");
}

/* The finding stands first, and is of what is read after it. */
static int add_finding(struct pf_db *db, struct pf_doc *doc)
{
	PF_AUTO(pf_doc_release) struct pf_doc of = { 0 };

	PF_TRY(add_list(db, &of, CAPTURES));
	say_ranks(doc, pf_doc_find_table(&of, "captures"));
	return 0;
}

/* The finding and one list. */
static int show_list(struct pf_db *db, struct pf_doc *doc, enum list list)
{
	PF_TRY(add_finding(db, doc));
	return add_list(db, doc, list);
}

int pf_fleet_info(struct pf_db *db, struct pf_doc *doc)
{
	doc->lists = "failed captures labels";
	PF_TRY(show_list(db, doc, CAPTURES));
	PF_TRY(add_list(db, doc, LABELS));
	return add_list(db, doc, FAILED);
}

int pf_fleet_kernels(struct pf_db *db, struct pf_doc *doc)
{
	return show_list(db, doc, KERNELS);
}

int pf_fleet_table(struct pf_db *db, struct pf_doc *doc)
{
	doc->lists = "table";
	return show_list(db, doc, TABLE);
}

int pf_fleet_gaps(struct pf_db *db, struct pf_doc *doc)
{
	doc->lists = "idle";
	return show_list(db, doc, IDLE);
}

int pf_fleet_doctor(struct pf_db *db, struct pf_doc *doc)
{
	doc->lists = "findings";
	return show_list(db, doc, FINDINGS);
}

/* ---- how ranks differ ---- */

static int add_spreads(struct pf_db *db, struct pf_doc *doc,
		       const struct pf_fleet_figures *by, bool is_told)
{
	PF_AUTO(release_spreads) struct pf_fleet_spreads s = { 0 };

	PF_TRY(fleet_spreads_read(&s, db, by));
	if (is_told)
		fleet_spreads_say(&s, doc);
	fleet_spreads_show(&s, doc);
	return 0;
}

int pf_fleet_steps(struct pf_db *db, struct pf_doc *doc)
{
	doc->lists = "ranks";
	return add_spreads(db, doc, &pf_fleet_step_figures, true);
}

int pf_fleet_overlap(struct pf_db *db, struct pf_doc *doc)
{
	doc->lists = "devices";
	return add_spreads(db, doc, &pf_fleet_device_figures, true);
}

static int take_digest(void *context, const void *data, size_t len,
		       struct pf_err *err)
{
	return pf_ranks_add_bytes(context, data, len, NULL, err) < 0 ? -1 : 0;
}

/*
 * Who is late, as 'profan ranks' says it, which asks for one of several captures;
 * or what is damaged.
 */
static int say_late(struct pf_db *db, struct pf_doc *doc)
{
	const struct pf_ranks_args args = { 0 };
	PF_AUTO(pf_ranks_freed) struct pf_ranks_job *job = pf_ranks_new(&args);
	PF_AUTO(pf_ranks_release) struct pf_ranks found = { 0 };
	PF_AUTO(pf_doc_release) struct pf_doc of = { 0 };
	const struct pf_fleet_digest_sink sink = { take_digest, job };
	int rc = pf_fleet_digests_read(db, NULL, &sink);

	if (!rc)
		rc = pf_ranks_find(job, &found, db->err);
	if (!rc && found.rank_count > 1) {
		pf_ranks_show(&found, false, &of);
		pf_doc_string(doc, "late", "Late to collectives",
			      pf_doc_find_finding(&of));
	}
	if (rc && db->err->code == PF_EDATA) {
		pf_doc_string(doc, "late", "Late to collectives",
			      db->err->text);
		*db->err = (struct pf_err){ 0 };
		rc = 0;
	}
	return rc;
}

int pf_fleet_summary(struct pf_db *db, struct pf_doc *doc)
{
	doc->lists = "ranks captures idle findings";
	PF_AT_MOST(doc->order.limit, SUMMARY_ROWS);
	PF_TRY(show_list(db, doc, CAPTURES));
	if (pf_table_row_count(pf_doc_find_table(doc, "captures")) == 1)
		PF_TRY(say_late(db, doc));
	PF_TRY(add_spreads(db, doc, &pf_fleet_step_figures, false));
	PF_TRY(add_list(db, doc, IDLE));
	return add_list(db, doc, FINDINGS);
}
