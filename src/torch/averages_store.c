/* SPDX-License-Identifier: MIT */
/*
 * The table "average": groupings 0 (none) and 1 (by input shape) under the
 * rules recognised at ingest.  What else a reader needs is in trace_fact
 * under "averages_...".
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "torch/averages.h"
#include "base/buf.h"
#include "base/mem.h"

/*
 * Ingest takes no more memory than this many groups need.  A trace with more
 * (an address in every name) has no stored averages: "table" works them out,
 * as it does where FLOPs are more than a column holds.
 */
#define STORED_GROUPS_MAX 65536

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

static int insert_row(struct pf_db *db, sqlite3_stmt *st,
		      const struct pf_average *r, size_t position,
		      struct pf_err *err)
{
	int at = 3;

	sqlite3_bind_int64(st, at++, (int64_t)position);
	bind_text(st, at++, r->name);
	bind_text(st, at++, r->shapes);
	bind_text(st, at++, r->is_device ? "CUDA" : "CPU");
	sqlite3_bind_int(st, at++, r->is_annotation);
	sqlite3_bind_int(st, at++, r->is_async);
	sqlite3_bind_int(st, at++, r->has_parent);
	sqlite3_bind_int64(st, at++, (int64_t)r->count);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		sqlite3_bind_int64(st, at++, r->sum.ns[i]);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		sqlite3_bind_double(st, at++, r->sum.us[i]);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		sqlite3_bind_int64(st, at++, r->sum.bytes[i]);
	if (r->sum.flops.unknown_count)
		sqlite3_bind_null(st, at++);
	else
		sqlite3_bind_int64(st, at++, pf_flops_known(&r->sum.flops));
	if (pf_db_step(db, st, err) < 0)
		return -1;
	sqlite3_reset(st);
	return 0;
}

static int insert_list(struct pf_db *db, int64_t trace_id, int grouping,
		       const struct pf_average_list *list, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		db,
		"INSERT INTO average VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
		" ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,"
		" ?21, ?22, ?23)",
		err);
	int rc = st ? 0 : -1;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, trace_id);
	sqlite3_bind_int(st, 2, grouping);
	for (size_t i = 0; !rc && i < list->count; i++)
		rc = insert_row(db, st, &list->rows[i], i, err);
	sqlite3_finalize(st);
	return rc;
}

/* The facts that go with the rows, and where they are kept in memory. */
#define FACTS(a)                                                               \
	{                                                                      \
		{ "averages_device_ns", (a)->trust.device_ns },                \
			{ "averages_unlinked_ns", (a)->trust.unlinked_ns },    \
			{ "averages_unlinked_count",                           \
			  (int64_t)(a)->trust.unlinked_count },                \
			{ "averages_too_deep", (int64_t)(a)->trust.too_deep }, \
			{ "averages_flops_unknown",                            \
			  (int64_t)(a)->trust.flops_unknown_count },           \
			{ "averages_has_memory", (a)->has_memory },            \
			{ "averages_has_flops", (a)->has_flops },              \
	}

static int insert_facts(struct pf_db *db, int64_t trace_id,
			const struct pf_averages *a, struct pf_err *err)
{
	const struct {
		const char *key;
		int64_t value;
	} facts[] = FACTS(a);
	sqlite3_stmt *st = pf_db_prepare(
		db, "INSERT OR REPLACE INTO trace_fact VALUES (?1, ?2, ?3)",
		err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < sizeof(facts) / sizeof(*facts); i++) {
		sqlite3_bind_int64(st, 1, trace_id);
		bind_text(st, 2, facts[i].key);
		sqlite3_bind_int64(st, 3, facts[i].value);
		rc = pf_db_step(db, st, err) < 0 ? -1 : 0;
		sqlite3_reset(st);
	}
	sqlite3_finalize(st);
	return rc;
}

/* Columns hold FLOPs below 2^63, and NULL where they are not known. */
static bool has_large_flops(const struct pf_averages *a)
{
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < a->list[i].count; k++) {
			const struct pf_flops_sum *f =
				&a->list[i].rows[k].sum.flops;

			if (!f->unknown_count && pf_flops_known(f) < 0)
				return true;
		}
	return false;
}

static int work_out(struct pf_db *db, int64_t trace_id, struct pf_averages *out,
		    struct pf_err *err)
{
	const struct pf_averages_args args = {
		.trace_id = trace_id,
		.step = -1,
		.groups_max = STORED_GROUPS_MAX,
		.grouping = { { .by_shape = false }, { .by_shape = true } },
		.grouping_count = 2,
	};

	if (!pf_averages(db, &args, out, err)) {
		out->is_left_out = has_large_flops(out);
		return 0;
	}
	if (err->code != PF_ELIMIT)
		return pf_while(err, "averages");
	memset(err, 0, sizeof(*err));
	memset(out, 0, sizeof(*out));
	out->is_left_out = true;
	return 0;
}

static void *prepare(struct pf_db *db, int64_t trace_id, struct pf_err *err)
{
	struct pf_averages *a = pf_calloc(1, sizeof(*a));

	if (!work_out(db, trace_id, a, err))
		return a;
	free(a);
	return NULL;
}

static int store(struct pf_db *db, int64_t trace_id, void *prepared,
		 struct pf_err *err)
{
	const struct pf_averages *a = prepared;
	int rc;

	if (a->is_left_out)
		return 0;
	rc = insert_facts(db, trace_id, a, err);
	for (int i = 0; !rc && i < 2; i++)
		rc = insert_list(db, trace_id, i, &a->list[i], err);
	return rc ? pf_while(err, "averages") : 0;
}

static void release(void *prepared)
{
	pf_averages_release(prepared);
	free(prepared);
}

const struct pf_ingest_extra pf_averages_extra = { prepare, store, release };

/* ---- reading ---- */

/* Texts gather in one buffer; rows hold offsets until all are there. */
struct texts {
	struct pf_buf bytes;
	size_t *start; /* name and shapes of each row */
	size_t cap, count;
};

static void keep_text(struct texts *t, sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	t->start = pf_grow(t->start, &t->cap, t->count + 1, sizeof(*t->start));
	t->start[t->count++] = t->bytes.len;
	pf_buf_adds(&t->bytes, text ? text : "");
	pf_buf_addc(&t->bytes, '\0');
}

static void read_row(sqlite3_stmt *st, struct texts *texts,
		     struct pf_average *r)
{
	const char *device = (const char *)sqlite3_column_text(st, 2);
	int at = 3;

	keep_text(texts, st, 0);
	keep_text(texts, st, 1);
	r->is_device = device && strcmp(device, "CPU");
	r->is_annotation = sqlite3_column_int(st, at++);
	r->is_async = sqlite3_column_int(st, at++);
	r->has_parent = sqlite3_column_int(st, at++);
	r->count = (uint64_t)sqlite3_column_int64(st, at++);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		r->sum.ns[i] = sqlite3_column_int64(st, at++);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		r->sum.us[i] = sqlite3_column_double(st, at++);
	for (int i = 0; i < PF_FIG_COUNT; i++)
		r->sum.bytes[i] = sqlite3_column_int64(st, at++);
	r->sum.flops.unknown_count = sqlite3_column_type(st, at) == SQLITE_NULL;
	r->sum.flops.low = (uint64_t)sqlite3_column_int64(st, at++);
}

static int read_list(struct pf_db *db, int64_t trace_id, bool by_shape,
		     struct pf_averages *out, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		db,
		"SELECT name, input_shapes, device_type, is_user_annotation,"
		" is_async, has_parent, count, self_cpu_ns, cpu_total_ns,"
		" self_device_ns, device_total_ns, self_cpu_us, cpu_total_us,"
		" self_device_us, device_total_us, self_cpu_mem_bytes,"
		" cpu_mem_bytes, self_device_mem_bytes, device_mem_bytes,"
		" flops FROM average WHERE trace_id = ?1 AND grouping = ?2"
		" ORDER BY position",
		err);
	struct pf_average_list *list = &out->list[0];
	struct texts texts = { 0 };
	size_t cap = 0;
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, trace_id);
	sqlite3_bind_int(st, 2, by_shape);
	while ((rc = pf_db_step(db, st, err)) == 1) {
		list->rows = pf_grow(list->rows, &cap, list->count + 1,
				     sizeof(*list->rows));
		memset(&list->rows[list->count], 0, sizeof(*list->rows));
		read_row(st, &texts, &list->rows[list->count++]);
	}
	sqlite3_finalize(st);
	out->text = texts.bytes.data;
	for (size_t i = 0; i < list->count; i++) {
		list->rows[i].name = out->text + texts.start[2 * i];
		list->rows[i].shapes = out->text + texts.start[2 * i + 1];
		list->rows[i].stack = "";
		list->rows[i].overload = "";
	}
	free(texts.start);
	return rc;
}

static void set_fact(struct pf_averages *out, const char *key, int64_t v)
{
	if (!strcmp(key, "averages_device_ns"))
		out->trust.device_ns = v;
	else if (!strcmp(key, "averages_unlinked_ns"))
		out->trust.unlinked_ns = v;
	else if (!strcmp(key, "averages_unlinked_count"))
		out->trust.unlinked_count = (uint64_t)v;
	else if (!strcmp(key, "averages_too_deep"))
		out->trust.too_deep = (uint64_t)v;
	else if (!strcmp(key, "averages_flops_unknown"))
		out->trust.flops_unknown_count = (uint64_t)v;
	else if (!strcmp(key, "averages_has_memory"))
		out->has_memory = v;
	else if (!strcmp(key, "averages_has_flops"))
		out->has_flops = v;
}

/* 1 if they were stored. */
static int read_facts(struct pf_db *db, int64_t trace_id,
		      struct pf_averages *out, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		db,
		"SELECT key, value FROM trace_fact WHERE trace_id = ?1"
		" AND key GLOB 'averages_*'",
		err);
	bool is_stored = false;
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, trace_id);
	while ((rc = pf_db_step(db, st, err)) == 1) {
		const char *key = (const char *)sqlite3_column_text(st, 0);

		is_stored = true;
		if (key)
			set_fact(out, key, sqlite3_column_int64(st, 1));
	}
	sqlite3_finalize(st);
	return rc < 0 ? -1 : is_stored;
}

int pf_averages_load(struct pf_db *db, const struct pf_averages_args *args,
		     struct pf_averages *out, struct pf_err *err)
{
	struct pf_rule_facts facts;
	int rc;

	memset(out, 0, sizeof(*out));
	if (args->torch || args->python || args->step >= 0 ||
	    args->grouping_count != 1 || args->grouping[0].stack ||
	    args->grouping[0].by_overload)
		return 0;
	if (pf_rules_read_facts(db, args->trace_id, &facts, err))
		return -1;
	out->rules = pf_rules_for(&facts, 0, 0);
	rc = read_facts(db, args->trace_id, out, err);
	if (rc == 1)
		rc = pf_averages_read_trust(db, args->trace_id, &out->trust,
					    err);
	else
		return rc;
	if (!rc)
		rc = read_list(db, args->trace_id, args->grouping[0].by_shape,
			       out, err);
	if (!rc && args->with_flops && !out->has_flops) {
		pf_averages_release(out);
		return 0;
	}
	if (!rc)
		return 1;
	pf_averages_release(out);
	return -1;
}
