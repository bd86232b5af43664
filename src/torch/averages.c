/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/averages.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/tempfile.h"
#include "torch/engine.h"

#define WAITING_MAX 65536 /* events that wait for an earlier one */

/* ---- setting up ---- */

static bool meta_is_set(struct pf_db *db, int64_t trace_id, const char *key,
			struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(db,
					 "SELECT value FROM trace_meta WHERE"
					 " trace_id = ?1 AND key = ?2",
					 err);
	bool is_set = false;

	if (!st)
		return false;
	sqlite3_bind_int64(st, 1, trace_id);
	sqlite3_bind_text(st, 2, key, -1, SQLITE_STATIC);
	if (pf_db_step(db, st, err) == 1) {
		const char *v = (const char *)sqlite3_column_text(st, 0);

		is_set = v && (!strcmp(v, "1") || !strcmp(v, "true") ||
			       !strcmp(v, "\"1\""));
	}
	sqlite3_finalize(st);
	return is_set;
}

static int one_number(struct pf_db *db, const char *sql, int64_t trace_id,
		      int64_t step, int64_t out[2], struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(db, sql, err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, trace_id);
	if (sqlite3_bind_parameter_count(st) > 1)
		sqlite3_bind_int64(st, 2, step);
	rc = pf_db_step(db, st, err);
	if (rc == 1) {
		out[0] = sqlite3_column_int64(st, 0);
		out[1] = sqlite3_column_int64(st, 1);
		if (sqlite3_column_type(st, 1) == SQLITE_NULL &&
		    sqlite3_column_type(st, 0) == SQLITE_NULL)
			rc = 0;
	}
	sqlite3_finalize(st);
	return rc;
}

static int choose_step(struct pf_engine *e)
{
	int64_t span[2] = { INT64_MIN, INT64_MAX };
	int found = 1;

	if (e->args->step >= 0)
		found = one_number(e->db,
				   "SELECT min(s.start_ns),"
				   " max(s.start_ns + s.dur_ns) FROM step s"
				   " JOIN track t ON t.id = s.track_id"
				   " WHERE s.trace_id = ?1 AND s.step = ?2"
				   " AND t.class = 'host'",
				   e->args->trace_id, e->args->step, span,
				   e->err);
	if (found < 0)
		return -1;
	if (!found)
		return pf_fail(e->err, PF_EUSAGE, "there is no step %lld",
			       (long long)e->args->step);
	e->from_ns = span[0];
	e->to_ns = span[1];
	return 0;
}

/* Set trust->skipped and trust->repaired from what ingest wrote. */
static int averages_read_trust(struct pf_db *db, int64_t trace_id,
			       struct pf_averages_trust *trust,
			       struct pf_err *err)
{
	int64_t row[2] = { 0, 0 };

	/* Empty objects and picoseconds (pf_repair_is_usual) take nothing away. */
	if (one_number(db,
		       "SELECT coalesce(sum(count), 0), 0 FROM repair"
		       " WHERE trace_id = ?1 AND is_skip AND kind NOT IN"
		       " ('empty', 'unread_table')",
		       trace_id, 0, row, err) < 0)
		return -1;
	trust->skipped = row[0];
	row[0] = 0;
	if (one_number(db,
		       "SELECT coalesce(sum(count), 0), 0 FROM repair"
		       " WHERE trace_id = ?1 AND NOT is_skip"
		       " AND kind NOT IN ('skipped_bytes', 'rounded_time')",
		       trace_id, 0, row, err) < 0)
		return -1;
	trust->repaired = row[0];
	return 0;
}

static int read_trace(struct pf_engine *e)
{
	int64_t row[2] = { 0, 0 };

	if (one_number(e->db,
		       "SELECT coalesce(base_ns, 0), 0 FROM trace"
		       " WHERE id = ?1",
		       e->args->trace_id, 0, row, e->err) < 0)
		return -1;
	e->base_ns = row[0];
	if (averages_read_trust(e->db, e->args->trace_id, &e->result->trust,
				e->err))
		return -1;
	e->result->has_memory =
		meta_is_set(e->db, e->args->trace_id, "profile_memory", e->err);
	e->result->has_flops =
		e->args->with_flops ||
		meta_is_set(e->db, e->args->trace_id, "with_flops", e->err);
	return e->err->code ? -1 : 0;
}

static int load_tracks(struct pf_engine *e)
{
	if (pf_tracks_load(e->db, e->args->trace_id, &e->tracks,
			   &e->track_count, e->err))
		return -1;
	e->is_host = pf_calloc(e->track_count + 1, sizeof(bool));
	e->is_device = pf_calloc(e->track_count + 1, sizeof(bool));
	e->host = pf_calloc(e->track_count + 1, sizeof(*e->host));
	for (size_t i = 0; i < e->track_count; i++) {
		e->is_host[i] = !strcmp(e->tracks[i].class_name, "host");
		e->is_device[i] = !strcmp(e->tracks[i].class_name, "gpu");
	}
	return 0;
}

/*
 * The second grouping is finer than the first; without any shapes in the
 * trace it is the first one again.
 */
static void choose_groupings(struct pf_engine *e,
			     const struct pf_rule_facts *facts)
{
	e->grouping_count = e->args->grouping_count;
	if (e->grouping_count > 1 && !facts->input_dims)
		e->grouping_count = 1;
}

static int set_up(struct pf_engine *e)
{
	struct pf_rule_facts facts;

	if (e->args->facts)
		facts = *e->args->facts;
	else if (pf_rules_read_facts(e->db, e->args->trace_id, &facts, e->err))
		return -1;
	e->rules = pf_rules_for(&facts, e->args->torch, e->args->python);
	e->has_finished_key = facts.finished;
	e->has_collections = facts.has_collections;
	e->unfinished_by_rf = facts.rf_id && !facts.finished;
	e->result->rules = e->rules;
	e->is_foreign = facts.is_foreign;
	if (pf_facts_init(&e->facts, e->db, e->err) || read_trace(e) ||
	    load_tracks(e) || choose_step(e))
		return -1;
	e->facts.plain_names = e->rules.is_capture;
	e->facts.has_overloads = facts.has_overloads;
	choose_groupings(e, &facts);
	pf_engine_backward_init(e, &facts);
	for (size_t i = 0; i < e->grouping_count; i++) {
		pf_groups_init(&e->groups[i], WAITING_MAX, e->temp_dir);
		e->groups[i].count_max = e->args->groups_max;
		pf_map_init(&e->stacks[i]);
	}
	e->groups[0].is_coarse = e->grouping_count > 1;
	pf_map_init(&e->rows);
	/* Two threads more: of nobody, and of calls before 1.13. */
	pf_tree_init(&e->tree, e->groups, e->grouping_count, e->track_count + 2,
		     e->rules.compensated);
	return 0;
}

static void tear_down(struct pf_engine *e)
{
	pf_engine_backward_release(e);
	for (size_t i = 0; e->host && i < e->track_count; i++)
		free(e->host[i].open);
	for (size_t i = 0; i < PF_GROUPINGS_MAX; i++) {
		pf_groups_release(&e->groups[i]);
		pf_map_release(&e->stacks[i]);
	}
	pf_map_release(&e->rows);
	pf_tree_release(&e->tree);
	pf_tracks_free(e->tracks, e->track_count);
	free(e->is_host);
	free(e->is_device);
	free(e->host);
	pf_sorter_free(e->collider_sorter);
	for (size_t i = 0; i <= PF_NUMBER_LISTS_MAX; i++)
		pf_spool_free(e->numbers[i].spool);
	pf_spool_free(e->call_links);
	pf_spool_free(e->overhead_ids);
	pf_spool_free(e->op_kernels);
	pf_spool_free(e->call_kernels);
	pf_memory_free(e->memory);
	pf_facts_release(&e->facts);
}

/* ---- results ---- */

static void copy_row(const struct pf_engine *e, const struct pf_group *g,
		     struct pf_average *row)
{
	const struct pf_intern *t = &e->facts.texts;

	row->name = pf_intern_text(t, g->key.name, NULL);
	row->shapes = pf_intern_text(t, g->key.shapes, NULL);
	row->stack = pf_intern_text(t, g->key.stack, NULL);
	row->overload = pf_intern_text(t, g->key.overload, NULL);
	row->is_device = g->key.is_device;
	row->is_annotation = g->key.is_annotation;
	row->is_async = g->is_async;
	row->has_parent = g->has_parent;
	row->count = g->count;
	row->sum = g->sum;
}

static int finish_list(struct pf_engine *e, size_t i)
{
	struct pf_average_list *list = &e->result->list[i];
	struct pf_groups *g = &e->groups[i];

	if (pf_groups_finish(g, e->err))
		return -1;
	list->count = g->count;
	list->rows = pf_calloc(g->count + 1, sizeof(*list->rows));
	for (size_t n = 0; n < g->count; n++)
		copy_row(e, &g->group[n], &list->rows[n]);
	return 0;
}

/* The second grouping of a trace without shapes. */
static void repeat_list(struct pf_engine *e)
{
	const struct pf_average_list *from = &e->result->list[0];
	struct pf_average_list *to = &e->result->list[1];

	to->count = from->count;
	to->rows = pf_calloc(from->count + 1, sizeof(*to->rows));
	for (size_t n = 0; n < from->count; n++) {
		to->rows[n] = from->rows[n];
		to->rows[n].shapes = "[]";
	}
}

static int finish(struct pf_engine *e)
{
	if (e->grouping_count > 1)
		pf_groups_fold(&e->groups[0], &e->groups[1]);
	for (size_t i = 0; i < e->grouping_count; i++)
		if (finish_list(e, i))
			return -1;
	if (e->args->grouping_count > e->grouping_count)
		repeat_list(e);
	if (pf_engine_has(e, PF_KINDS_MEMORY))
		e->result->has_memory = true;
	e->result->trust.too_deep = e->tree.too_deep;
	for (size_t i = 0; i < e->result->list[0].count; i++)
		e->result->trust.flops_unknown_count +=
			e->result->list[0].rows[i].sum.flops.unknown_count;
	/* The rows point into these bytes: they move to the result. */
	e->result->text = e->facts.texts.bytes;
	e->facts.texts.bytes = NULL;
	return 0;
}

/* Beside the database if that can be: /tmp may be memory. */
static char *choose_temp_dir(const struct pf_db *db)
{
	const char *slash = db->path ? strrchr(db->path, '/') : NULL;
	const char *asked = pf_temp_dir_asked();
	char *dir = asked    ? pf_strdup(asked)
		    : !slash ? pf_strdup(".")
		    : slash == db->path
			    ? pf_strdup("/")
			    : pf_memdup0(db->path, (size_t)(slash - db->path));

	if (!access(dir, W_OK))
		return dir;
	free(dir);
	return pf_strdup(pf_temp_dir());
}

int pf_averages(struct pf_db *db, const struct pf_averages_args *args,
		struct pf_averages *out, struct pf_err *err)
{
	struct pf_engine e = {
		.db = db, .err = err, .args = args, .result = out
	};
	char *temp_dir = choose_temp_dir(db);
	int rc = -1;

	memset(out, 0, sizeof(*out));
	e.temp_dir = temp_dir;
	if (set_up(&e))
		rc = -1;
	else if (e.is_foreign)
		rc = finish(&e);
	else if (!pf_engine_survey(&e) && !pf_engine_calls(&e) &&
		 !pf_engine_overhead(&e) && !pf_engine_colliders(&e) &&
		 !pf_engine_device(&e) && !pf_engine_memory(&e) &&
		 !pf_engine_host(&e))
		rc = finish(&e);
	tear_down(&e);
	free(temp_dir);
	if (rc)
		pf_averages_release(out);
	return rc;
}

void pf_averages_release(struct pf_averages *a)
{
	for (size_t i = 0; i < 2; i++)
		free(a->list[i].rows);
	free(a->text);
	memset(a, 0, sizeof(*a));
}

/*
 * The table "average": groupings 0 (none) and 1 (by input shape) under the
 * rules recognised at ingest.  What else a reader needs is in trace_fact
 * under "averages_...".
 */

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

struct stored {
	struct pf_db *db;
	int64_t trace_id;
	struct pf_rule_facts facts; /* of before the next trace's texts */
	struct pf_averages averages;
};

static void *begin(struct pf_db *db, int64_t trace_id, struct pf_err *err)
{
	struct stored *s = pf_calloc(1, sizeof(*s));

	s->db = db;
	s->trace_id = trace_id;
	if (!pf_rules_read_facts(db, trace_id, &s->facts, err))
		return s;
	free(s);
	pf_while(err, "averages");
	return NULL;
}

static int prepare(void *work, struct pf_err *err)
{
	struct stored *s = work;
	struct pf_averages *out = &s->averages;
	const struct pf_averages_args args = {
		.trace_id = s->trace_id,
		.facts = &s->facts,
		.step = -1,
		.groups_max = STORED_GROUPS_MAX,
		.grouping = { { .by_shape = false }, { .by_shape = true } },
		.grouping_count = 2,
	};

	if (!pf_averages(s->db, &args, out, err)) {
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

static int store(void *work, struct pf_err *err)
{
	const struct stored *s = work;
	const struct pf_averages *a = &s->averages;
	int rc;

	if (a->is_left_out)
		return 0;
	rc = insert_facts(s->db, s->trace_id, a, err);
	for (int i = 0; !rc && i < 2; i++)
		rc = insert_list(s->db, s->trace_id, i, &a->list[i], err);
	return rc ? pf_while(err, "averages") : 0;
}

static void release(void *work)
{
	struct stored *s = work;

	pf_averages_release(&s->averages);
	free(s);
}

const struct pf_ingest_extra pf_averages_extra = { begin, prepare, store,
						   release };

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

	*PF_ONE_MORE(t->start, t->count, t->cap) = t->bytes.len;
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
		rc = averages_read_trust(db, args->trace_id, &out->trust, err);
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
