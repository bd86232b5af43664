/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "torch/averages.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torch/engine.h"
#include "base/mem.h"
#include "base/tempfile.h"

#define WAITING_MAX 65536 /* events that wait for an earlier one */

bool pf_engine_has(const struct pf_engine *e, uint32_t kinds)
{
	for (size_t i = 0; i < e->track_count; i++)
		for (unsigned k = 0; k < PF_KIND_COUNT; k++)
			if (pf_kind_in(k, kinds) && e->host[i].kind_count[k])
				return true;
	return false;
}

/* ---- stacks ---- */

/* Frames of torch's own that it leaves out. */
static bool is_frame_dropped(const char *p, size_t len)
{
	static const char *const pairs[][2] = {
		{ "autograd/__init__", "_make_grads" },
		{ "autograd/__init__", "backward" },
		{ "torch/tensor", "backward" },
		{ "_internal/common_utils", "prof_callable" },
		{ "_internal/common_utils", "prof_func_call" },
		{ "_internal/common_utils", "prof_meth_call" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (memmem(p, len, pairs[i][0], strlen(pairs[i][0])) &&
		    memmem(p, len, pairs[i][1], strlen(pairs[i][1])))
			return true;
	return false;
}

/* The first n entries of a "Call stack" text, joined by newlines. */
static uint32_t cut_stack(struct pf_facts *f, uint32_t text, unsigned n)
{
	const char *p = pf_intern_text(&f->texts, text, NULL);
	struct pf_buf out = { 0 };
	uint32_t id;

	while (*p && n) {
		size_t len = strcspn(p, ";");

		if (len && !is_frame_dropped(p, len)) {
			if (out.len)
				pf_buf_addc(&out, '\n');
			pf_buf_add(&out, p, len);
			n--;
		}
		p += len + (p[len] == ';');
	}
	id = pf_intern_add(&f->texts, out.data ? out.data : "", out.len);
	pf_buf_release(&out);
	return id;
}

static uint32_t stack_of(struct pf_engine *e, size_t grouping, uint32_t text)
{
	uint64_t *cut = pf_map_at(&e->stacks[grouping], text);

	if (*cut == UINT64_MAX)
		*cut = cut_stack(&e->facts, text,
				 e->args->grouping[grouping].stack);
	return (uint32_t)*cut;
}

/* The groups of a row, both in one number. */
static int find_groups(struct pf_engine *e, const struct pf_engine_row *row,
		       uint64_t *groups, struct pf_err *err)
{
	struct pf_args_fact args = { e->facts.no_shapes, e->facts.empty, 0 };
	uint32_t found[PF_GROUPINGS_MAX] = { 0 };

	if (row->has_args && pf_facts_args(&e->facts, &row->args, &args, err))
		return -1;
	if (row->has_stack)
		args.stack = row->stack;
	for (size_t i = 0; i < e->grouping_count; i++) {
		const struct pf_grouping *g = &e->args->grouping[i];
		struct pf_group_key key = {
			.name = row->name.text,
			.overload = g->by_overload ? row->name.overload
						   : e->facts.empty,
			.shapes = g->by_shape ? args.shapes : e->facts.empty,
			.stack = g->stack ? stack_of(e, i, args.stack)
					  : e->facts.empty,
			.is_device = row->is_device,
			.is_annotation = row->is_annotation,
		};

		found[i] = pf_groups_find(&e->groups[i], &key);
	}
	if (e->grouping_count > 1)
		e->groups[1].group[found[1]].coarse = found[0];
	*groups = (uint64_t)found[1] << 32 | found[0];
	return 0;
}

int pf_engine_begin(struct pf_engine *e, const struct pf_engine_row *row,
		    struct pf_node *node, struct pf_err *err)
{
	uint32_t args = row->has_args ? row->args.id : PF_ID_NONE;
	uint64_t key = (uint64_t)row->name.text << 34 |
		       (uint64_t)row->is_device << 33 |
		       (uint64_t)row->is_annotation << 32 | args;
	bool is_kept = args != PF_ID_INLINE && row->name.text < 1u << 30 &&
		       !row->has_stack && !e->args->grouping[0].by_overload;
	uint64_t groups = UINT64_MAX;

	if (is_kept)
		groups = *pf_map_at(&e->rows, key);
	if (groups == UINT64_MAX) {
		if (find_groups(e, row, &groups, err))
			return -1;
		if (is_kept)
			*pf_map_at(&e->rows, key) = groups;
	}
	node->group[0] = (uint32_t)groups;
	node->group[1] = (uint32_t)(groups >> 32);
	for (size_t i = 0; i < e->grouping_count; i++)
		node->ticket[i] =
			pf_groups_begin(&e->groups[i], node->group[i]);
	return 0;
}

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

static int choose_step(struct pf_engine *e, struct pf_err *err)
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
				   e->args->trace_id, e->args->step, span, err);
	if (found < 0)
		return -1;
	if (!found)
		return pf_fail(err, PF_EUSAGE, "there is no step %lld",
			       (long long)e->args->step);
	e->from_ns = span[0];
	e->to_ns = span[1];
	return 0;
}

int pf_averages_read_trust(struct pf_db *db, int64_t trace_id,
			   struct pf_averages_trust *trust, struct pf_err *err)
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

static int read_trace(struct pf_engine *e, struct pf_err *err)
{
	int64_t row[2] = { 0, 0 };

	if (one_number(e->db,
		       "SELECT coalesce(base_ns, 0), 0 FROM trace"
		       " WHERE id = ?1",
		       e->args->trace_id, 0, row, err) < 0)
		return -1;
	e->base_ns = row[0];
	if (pf_averages_read_trust(e->db, e->args->trace_id, &e->result->trust,
				   err))
		return -1;
	e->result->has_memory =
		meta_is_set(e->db, e->args->trace_id, "profile_memory", err);
	e->result->has_flops =
		e->args->with_flops ||
		meta_is_set(e->db, e->args->trace_id, "with_flops", err);
	return err->code ? -1 : 0;
}

static int load_tracks(struct pf_engine *e, struct pf_err *err)
{
	if (pf_tracks_load(e->db, e->args->trace_id, &e->tracks,
			   &e->track_count, err))
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

static int set_up(struct pf_engine *e, struct pf_err *err)
{
	struct pf_rule_facts facts;

	if (pf_rules_read_facts(e->db, e->args->trace_id, &facts, err))
		return -1;
	e->rules = pf_rules_for(&facts, e->args->torch, e->args->python);
	e->has_finished_key = facts.finished;
	e->has_collections = facts.has_collections;
	e->unfinished_by_rf = facts.rf_id && !facts.finished;
	e->result->rules = e->rules;
	e->is_foreign = facts.is_foreign;
	if (pf_facts_init(&e->facts, e->db, err) || read_trace(e, err) ||
	    load_tracks(e, err) || choose_step(e, err))
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

static int finish_list(struct pf_engine *e, size_t i, struct pf_err *err)
{
	struct pf_average_list *list = &e->result->list[i];
	struct pf_groups *g = &e->groups[i];

	if (pf_groups_finish(g, err))
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

static int finish(struct pf_engine *e, struct pf_err *err)
{
	if (e->grouping_count > 1)
		pf_groups_fold(&e->groups[0], &e->groups[1]);
	for (size_t i = 0; i < e->grouping_count; i++)
		if (finish_list(e, i, err))
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
	struct pf_engine e = { .db = db, .args = args, .result = out };
	char *temp_dir = choose_temp_dir(db);
	int rc = -1;

	memset(out, 0, sizeof(*out));
	e.temp_dir = temp_dir;
	if (set_up(&e, err))
		rc = -1;
	else if (e.is_foreign)
		rc = finish(&e, err);
	else if (!pf_engine_survey(&e, err) && !pf_engine_calls(&e, err) &&
		 !pf_engine_overhead(&e, err) &&
		 !pf_engine_colliders(&e, err) && !pf_engine_device(&e, err) &&
		 !pf_engine_memory(&e, err) && !pf_engine_host(&e, err))
		rc = finish(&e, err);
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
