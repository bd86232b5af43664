/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/stats.h"
#include "compare/fleet_spread.h"
#include "store/query.h"

/* Columns of the statements: these, then the figures. */
enum { RANK, CAPTURE, UNIT, FIGURES };

const struct pf_fleet_by pf_fleet_by_step = {
	.statement = "fleet/show_steps",
	.unit = "step",
	.unit_key = "step_count",
	.list = "ranks",
	.list_title = "Ranks by the mean of their steps, the slowest first",
	.figures = {
		{ "dur_ns", "Step", true },
		{ "kernel_ns", "Kernel", true },
		{ "copy_ns", "Copy", false },
		{ "memset_ns", "Memset", false },
		{ "comm_ns", "Comm", true },
		{ "runtime_ns", "Runtime", true },
		{ "data_ns", "Data", false },
		{ "cpu_ns", "CPU", true },
		{ "other_ns", "Other", true },
		{ "busy_ns", "Busy", false },
	},
	.count = 10,
};

const struct pf_fleet_by pf_fleet_by_device = {
	.statement = "fleet/show_overlap",
	.unit = "GPU",
	.list = "devices",
	.list_title = "GPUs, the longest window first",
	.figures = {
		{ "total_ns", "Window", true },
		{ "busy_ns", "Busy", false },
		{ "idle_ns", "Idle", true },
		{ "computation_ns", "Computation", true },
		{ "exposed_comm_ns", "Exposed comm", true },
		{ "exposed_copy_ns", "Exposed copy", false },
		{ "exposed_memset_ns", "Exposed memset", false },
		{ "comm_ns", "Comm", true },
		{ "overlap_ns", "Comm hidden", false },
	},
	.count = 9,
};

/* ---- reading ---- */

PF_ORDER(compare, struct pf_fleet_one,
	 PF_DOWN(value_ns[0]) PF_UP(rank) PF_UP(unit) PF_ALPHA(capture))

static void take(struct pf_fleet_spreads *s, sqlite3_stmt *st)
{
	struct pf_fleet_one *one = &s->items[s->count++];
	int64_t of = s->by->unit_key ? sqlite3_column_int64(st, UNIT) : 1;

	*one = (struct pf_fleet_one){
		.capture = pf_arena_string(
			&s->texts,
			(const char *)sqlite3_column_text(st, CAPTURE)),
		.rank = pf_db_int_or(st, RANK, PF_NO_INT),
		.unit = pf_db_int_or(st, UNIT, PF_NO_INT),
	};
	for (size_t i = 0; i < s->by->count; i++) {
		int64_t total = sqlite3_column_int64(st, FIGURES + (int)i);

		one->total_ns[i] = total;
		one->value_ns[i] =
			of > 0 ? total / of + (total % of >= of - of / 2) : 0;
	}
	if (strcmp(one->capture, s->items[0].capture) != 0)
		s->has_captures = true;
}

int pf_fleet_spreads_read(struct pf_fleet_spreads *s, struct pf_db *db,
			  const struct pf_fleet_by *by, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(db, by->statement, err);
	size_t cap = 0;
	int rc = st ? 0 : -1;

	s->by = by;
	while (!rc && (rc = pf_db_step(db, st, err)) == 1) {
		s->items = pf_grow(s->items, &cap, s->count + 1,
				   sizeof(*s->items));
		take(s, st);
		rc = 0;
	}
	sqlite3_finalize(st);
	pf_sort(s->items, s->count, sizeof(*s->items), compare);
	return rc;
}

void pf_fleet_spreads_release(struct pf_fleet_spreads *s)
{
	free(s->items);
	pf_arena_release(&s->texts);
	*s = (struct pf_fleet_spreads){ 0 };
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

void pf_fleet_spreads_say(const struct pf_fleet_spreads *s, struct pf_doc *doc)
{
	char median[PF_NUM_MAX], most[PF_NUM_MAX], least[PF_NUM_MAX];
	char count[PF_NUM_MAX];
	struct pf_buf who = { 0 };
	int64_t *values;

	if (!s->count) {
		pf_doc_finding(doc, "No rank has a whole %s", s->by->unit);
		return;
	}
	values = values_take(s, 0);
	say_rank(&who, s, &s->items[0]);
	pf_doc_finding(
		doc, "%s: %s in the median of %s%s, from %s to %s (%s)",
		s->by->figures[0].title,
		pf_num_show_ns(median, pf_stats_quantile(values, s->count, 50)),
		pf_num_show_count(count, (int64_t)s->count),
		s->by->unit_key ? " ranks" : " GPUs",
		pf_num_show_ns(least, values[0]),
		pf_num_show_ns(most, s->items[0].value_ns[0]), who.data);
	free(values);
	pf_buf_release(&who);
}

/* ---- tables ---- */

struct row {
	const char *figure;
	int64_t sum_ns;
	double share;
	int64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns, max_rank;
};

static const struct pf_field spread_fields[] = {
	PF_FIELD(struct row, figure, "figure", "Of each", PF_TEXT),
	PF_FIELD(struct row, sum_ns, "sum_ns", "All", PF_NS),
	PF_FIELD(struct row, share, "share", "Share", PF_RATIO | PF_SPARE),
	PF_FIELD(struct row, min_ns, "min_ns", "Min", PF_NS),
	PF_FIELD(struct row, p50_ns, "p50_ns", "Median", PF_NS),
	PF_FIELD(struct row, p90_ns, "p90_ns", "p90", PF_NS | PF_KNOWN),
	PF_FIELD(struct row, p99_ns, "p99_ns", "p99",
		 PF_NS | PF_KNOWN | PF_SPARE),
	PF_FIELD(struct row, max_ns, "max_ns", "Max", PF_NS),
	PF_FIELD(struct row, max_rank, "max_rank", "Rank", PF_INT | PF_MAYBE),
};

#define SPREADS (sizeof(spread_fields) / sizeof(*spread_fields))

static int64_t quantile(const int64_t *values, size_t count, unsigned percent)
{
	return pf_stats_carries(count, percent)
		       ? pf_stats_quantile(values, count, percent)
		       : -1;
}

static void add_spread(const struct pf_fleet_spreads *s, size_t figure,
		       int64_t whole, struct pf_table *t)
{
	int64_t *values = values_take(s, figure);
	struct row row = {
		.figure = s->by->figures[figure].title,
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
	free(values);
}

static void add_one(const struct pf_fleet_spreads *s,
		    const struct pf_fleet_one *one, struct pf_table *t)
{
	pf_table_string(t, one->capture);
	if (one->rank == PF_NO_INT)
		pf_table_null(t);
	else
		pf_table_int(t, one->rank);
	if (one->unit == PF_NO_INT)
		pf_table_null(t);
	else
		pf_table_int(t, one->unit);
	for (size_t i = 0; i < s->by->count; i++)
		pf_table_int(t, one->value_ns[i]);
}

static void list_all(const struct pf_fleet_spreads *s, struct pf_doc *doc)
{
	struct pf_col cols[FIGURES + PF_FLEET_FIGURES] = {
		{ "capture", "Capture",
		  PF_TEXT | (s->has_captures ? 0 : PF_FULL) },
		{ "rank", "Rank", PF_INT },
		{ s->by->unit_key ? s->by->unit_key : "device",
		  s->by->unit_key ? "Steps" : "GPU", PF_INT },
	};
	struct pf_table *t;

	for (size_t i = 0; i < s->by->count; i++)
		cols[FIGURES + i] = (struct pf_col){
			s->by->figures[i].key, s->by->figures[i].title,
			PF_NS | (s->by->figures[i].is_shown ? 0 : PF_FULL)
		};
	t = pf_doc_table(doc, s->by->list, s->by->list_title, cols,
			 FIGURES + s->by->count);
	for (size_t i = 0; i < s->count; i++)
		add_one(s, &s->items[i], t);
}

/* People see no column of percentiles that so few do not carry. */
static bool is_too_high(const struct pf_fleet_spreads *s, const char *key)
{
	return (!strcmp(key, "p90_ns") && !pf_stats_carries(s->count, 90)) ||
	       (!strcmp(key, "p99_ns") && !pf_stats_carries(s->count, 99));
}

void pf_fleet_spreads_show(const struct pf_fleet_spreads *s, struct pf_doc *doc)
{
	struct pf_field fields[SPREADS];
	struct pf_table *t;
	int64_t whole = 0;

	memcpy(fields, spread_fields, sizeof(fields));
	for (size_t i = 0; i < SPREADS; i++)
		if (is_too_high(s, fields[i].col.key))
			fields[i].col.kind |= PF_FULL;
	t = pf_doc_fields(doc, "spread",
			  s->by->unit_key ? "Steps of a rank, over ranks"
					  : "Times of a GPU, over GPUs",
			  PF_FIELDS(fields));

	for (size_t i = 0; i < s->count; i++)
		whole = pf_sat_add(whole, s->items[i].total_ns[0]);
	for (size_t i = 0; s->count && i < s->by->count; i++)
		add_spread(s, i, whole, t);
	list_all(s, doc);
}
