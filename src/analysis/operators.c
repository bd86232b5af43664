/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/operators.h"
#include "base/num.h"
#include "base/sat.h"
#include "store/named.h"
#include "table/rows.h"

struct row {
	const char *name;
	int64_t calls, cpu_ns, work_count, gpu_ns;
	double share;
};

static const struct pf_field fields[] = {
	PF_FIELD(struct row, name, "name", "Operator", PF_TEXT),
	PF_FIELD(struct row, calls, "calls", "Calls", PF_COUNT | PF_KNOWN),
	PF_FIELD(struct row, cpu_ns, "cpu_ns", "CPU", PF_NS | PF_KNOWN),
	PF_FIELD(struct row, work_count, "work_count", "GPU events",
		 PF_COUNT | PF_KNOWN),
	PF_FIELD(struct row, gpu_ns, "gpu_ns", "GPU", PF_NS | PF_KNOWN),
	PF_FIELD(struct row, share, "share", "Share", PF_RATIO),
};

struct sums {
	int64_t operators, work_count, gpu_ns, none_count, none_ns;
};

static const struct pf_field sum_fields[] = {
	PF_FIELD(struct sums, operators, "operators", "Operators",
		 PF_COUNT | PF_KNOWN),
	PF_FIELD(struct sums, work_count, "work_count", "GPU events",
		 PF_COUNT | PF_KNOWN),
	PF_FIELD(struct sums, gpu_ns, "gpu_ns", "GPU time, summed",
		 PF_NS | PF_KNOWN),
};

static sqlite3_stmt *prepare(struct pf_db *db, int64_t trace_id,
			     struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(db, "operators", err);

	if (st)
		sqlite3_bind_int64(st, 1, trace_id);
	return st;
}

static struct row read_row(sqlite3_stmt *st)
{
	return (struct row){
		.name = (const char *)sqlite3_column_text(st, 0),
		.calls = sqlite3_column_int64(st, 1),
		.cpu_ns = sqlite3_column_int64(st, 2),
		.work_count = sqlite3_column_int64(st, 3),
		.gpu_ns = sqlite3_column_int64(st, 4),
	};
}

/* Shares are of all GPU work, which the rows give together. */
static int add_up(struct pf_db *db, int64_t trace_id, struct sums *sums,
		  struct pf_err *err)
{
	sqlite3_stmt *st = prepare(db, trace_id, err);
	int rc;

	if (!st)
		return -1;
	while ((rc = pf_db_step(db, st, err)) == 1) {
		struct row row = read_row(st);

		if (row.name && *row.name) {
			sums->operators++;
		} else {
			sums->none_count = row.work_count;
			sums->none_ns = row.gpu_ns;
		}
		pf_sat_sum(&sums->work_count, row.work_count);
		pf_sat_sum(&sums->gpu_ns, row.gpu_ns);
	}
	sqlite3_finalize(st);
	return rc;
}

static void show_sums(const struct sums *sums, struct pf_doc *doc)
{
	char ns[PF_NUM_MAX], count[PF_NUM_MAX];
	struct sums shown = *sums; /* what nobody recorded is not known */

	pf_doc_finding(
		doc, "%s",
		sums->operators
			? "Operators by name; this is not torch's table, "
			  "whose profiler did not write this trace"
		: sums->work_count
			? "No operators were recorded; all GPU work is "
			  "of no operator"
			: "No operators were recorded, and no GPU work");
	doc->is_nothing = !sums->operators && !sums->work_count;
	if (!sums->operators)
		shown.operators = -1;
	if (!sums->work_count)
		shown.work_count = shown.gpu_ns = -1;
	PF_SCALARS(doc, sum_fields, shown);
	if (sums->none_count)
		pf_doc_note(doc,
			    "%s GPU events (%s) say no operator, and their "
			    "launch calls are in none",
			    pf_num_show_count(count, sums->none_count),
			    pf_num_show_ns(ns, sums->none_ns));
}

int pf_operators(struct pf_db *db, int64_t trace_id, struct pf_doc *doc,
		 struct pf_err *err)
{
	struct sums sums = { 0 };
	struct pf_table *t;
	sqlite3_stmt *st;
	int rc;

	if (add_up(db, trace_id, &sums, err))
		return -1;
	show_sums(&sums, doc);
	t = pf_doc_fields(doc, "operators", "Operators", PF_FIELDS(fields));
	st = prepare(db, trace_id, err);
	if (!st)
		return -1;
	while ((rc = pf_db_step(db, st, err)) == 1) {
		struct row row = read_row(st);

		if (!row.name || !*row.name)
			row.name = "(none)";
		/* Not recorded on the host: unknown. */
		if (!row.calls)
			row.calls = row.cpu_ns = -1;
		if (!sums.work_count)
			row.work_count = row.gpu_ns = -1;
		row.share = sums.gpu_ns > 0
				    ? (double)row.gpu_ns / (double)sums.gpu_ns
				    : NAN;
		PF_PUT(t, fields, row);
	}
	sqlite3_finalize(st);
	return rc;
}
