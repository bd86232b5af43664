/* SPDX-License-Identifier: MIT */
/*
 * rocpd, the databases of rocprofv3 (schema 3).  All tables of a run have its
 * GUID in their names, and a file may hold several runs (merged ones do); the
 * views that put them together are not read.  A row's event says its domain
 * and what links a call to its work.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "formats/rocm/rocpd_impl.h"

#define RUNS_MAX 4096

static const char stem[] = "rocpd_kernel_dispatch";

bool pf_rocpd_claims(struct pf_foreign *f)
{
	return pf_foreign_has_prefix(f, stem);
}

/* ---- texts ---- */

int pf_rocpd_text(struct pf_rocpd *r, int64_t id, const char **text,
		  size_t *len, struct pf_err *err)
{
	int rc = pf_lookup_find(&r->lookups[PF_ROCPD_STRINGS], id, err);

	return rc == 1 ? pf_rows_text(&r->lookups[PF_ROCPD_STRINGS].rows, 0,
				      text, len)
		       : rc;
}

/* ---- events: what is said of a row beside its times ---- */

static const char *const event_columns[] = { "category_id", "stack_id",
					     "extdata" };

int pf_rocpd_event(struct pf_rocpd *r, const struct pf_rows *row, int column,
		   struct pf_rocpd_event *e, struct pf_err *err)
{
	struct pf_lookup *events = &r->lookups[PF_ROCPD_EVENTS];
	int64_t id;
	int rc;

	*e = (struct pf_rocpd_event){ .category = -1 };
	if (pf_rows_int(row, column, &id) != PF_CELL_INT)
		return 0;
	rc = pf_lookup_find(events, id, err);
	if (rc <= 0)
		return rc;
	e->category = pf_rows_int_or(&events->rows, 0, -1);
	e->link = pf_rows_int_or(&events->rows, 1, 0);
	return 0;
}

bool pf_rocpd_message(struct pf_rocpd *r, const char **text, size_t *len)
{
	static const char key[] = "\"message\":";
	const char *json, *p, *end;
	size_t n;

	if (!pf_rows_text(&r->lookups[PF_ROCPD_EVENTS].rows, 2, &json, &n))
		return false;
	end = json + n;
	p = memmem(json, n, key, sizeof(key) - 1);
	if (!p)
		return false;
	for (p += sizeof(key) - 1; p < end && *p == ' ';)
		p++;
	if (p == end || *p++ != '"')
		return false;
	for (json = p; p < end && *p != '"'; p++)
		p += *p == '\\';
	if (p >= end)
		return false;
	pf_buf_clear(&r->text);
	pf_json_unescape(json, (size_t)(p - json), &r->text);
	*text = r->text.data ? r->text.data : "";
	*len = r->text.len;
	return true;
}

/* ---- runs ---- */

static const char *const text_columns[] = { "string" };

static const char *const symbol_columns[] = {
	"display_name",
	"kernel_name",
	"arch_vgpr_count",
	"accum_vgpr_count",
};
static const char *const thread_columns[] = { "tid" };
static const char *const process_columns[] = { "pid" };

static const struct {
	const char *table;
	const char *const *columns;
	size_t count;
} lookups[PF_ROCPD_LOOKUPS] = {
	[PF_ROCPD_STRINGS] = { "rocpd_string", PF_COLUMNS(text_columns) },
	[PF_ROCPD_EVENTS] = { "rocpd_event", PF_COLUMNS(event_columns) },
	[PF_ROCPD_SYMBOLS] = { "rocpd_info_kernel_symbol",
			       PF_COLUMNS(symbol_columns) },
	[PF_ROCPD_THREADS] = { "rocpd_info_thread",
			       PF_COLUMNS(thread_columns) },
	[PF_ROCPD_PROCESSES] = { "rocpd_info_process",
				 PF_COLUMNS(process_columns) },
};

static int open_lookups(struct pf_rocpd *r, struct pf_err *err)
{
	for (size_t i = 0; i < PF_ROCPD_LOOKUPS; i++) {
		const char *table =
			pf_reading_find(&r->reading, lookups[i].table);

		if (pf_lookup_open(&r->lookups[i], r->f, table, "id",
				   lookups[i].columns, lookups[i].count, err))
			return -1;
	}
	return 0;
}

static void close_lookups(struct pf_rocpd *r)
{
	for (size_t i = 0; i < PF_ROCPD_LOOKUPS; i++)
		pf_lookup_close(&r->lookups[i]);
}

/* The ends of names, with one table of a kind that only rocpd has. */
static void find_runs(struct pf_rocpd *r)
{
	size_t n = sizeof(stem) - 1;

	for (size_t i = 0; i < r->f->table_count; i++) {
		const char *name = r->f->tables[i];

		if (strncasecmp(name, stem, n) != 0 || r->run_count == RUNS_MAX)
			continue;
		r->runs = pf_grow(r->runs, &r->runs_cap, r->run_count + 1,
				  sizeof(*r->runs));
		r->runs[r->run_count++] = name + n;
	}
}

/* ---- reading ---- */

/* Tables that describe, and hold no events. */
static bool describes(const char *name)
{
	static const char *const prefixes[] = {
		"sqlite_",     "rocpd_metadata", "rocpd_string", "rocpd_info_",
		"rocpd_track", "rocpd_event",    "rocpd_arg",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncasecmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Rows that were not read, by kind of table: runs are not told apart. */
static void note_rest(struct pf_rocpd *r)
{
	size_t cut = strlen(r->reading.suffix);

	for (size_t i = r->rest_seen; i < r->reading.rest_count; i++) {
		const struct pf_reading_rest *rest = &r->reading.rest[i];
		size_t len = strlen(rest->table) - cut, k = 0;

		while (k < r->rest_count &&
		       (strlen(r->rest[k].table) != len ||
			memcmp(r->rest[k].table, rest->table, len) != 0))
			k++;
		if (k == PF_ROCPD_REST_MAX)
			continue;
		if (k == r->rest_count) {
			snprintf(r->rest[k].table, sizeof(r->rest[k].table),
				 "%.*s", (int)len, rest->table);
			r->rest_count++;
		}
		r->rest[k].rows += rest->rows;
	}
	r->rest_seen = r->reading.rest_count;
}

static int read_run(struct pf_rocpd *r, size_t most, struct pf_err *err)
{
	int rc;

	if (!r->is_open) {
		r->reading.at = 0;
		r->reading.suffix = r->runs[r->run];
		if (open_lookups(r, err))
			return -1;
		r->is_open = true;
	}
	rc = pf_reading_fill(&r->reading, most, err);
	if (rc)
		return rc;
	if (pf_reading_count_rest(&r->reading, describes, err) ||
	    pf_rocpd_name_all(r, err))
		return -1;
	note_rest(r);
	close_lookups(r);
	r->is_open = false;
	r->run++;
	/* What was found of this run's numbers is void. */
	r->map.sink.memos.generation++;
	r->has_pid = r->has_tid = false;
	memset(r->domains, 0, sizeof(r->domains));
	r->agent = NULL;
	return 0;
}

static int fill(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct pf_rocpd *r = (struct pf_rocpd *)base;
	int rc;

	pf_sink_begin(&r->map.sink);
	if (!r->is_described && pf_rocpd_describe(r, err))
		return -1;
	r->is_described = true;
	while (r->run < r->run_count) {
		rc = read_run(r, most, err);
		if (rc)
			return rc;
	}
	return 0;
}

static bool fact(struct pf_reader *base, size_t i, char *key, size_t key_size,
		 int64_t *value)
{
	struct pf_rocpd *r = (struct pf_rocpd *)base;

	if (i >= r->rest_count)
		return false;
	snprintf(key, key_size, "rocpd_unread_%s", r->rest[i].table);
	*value = r->rest[i].rows;
	return true;
}

/* ---- opening ---- */

static void free_reader(struct pf_reader *base)
{
	struct pf_rocpd *r = (struct pf_rocpd *)base;

	close_lookups(r);
	pf_reading_release(&r->reading);
	pf_rocm_release(&r->map);
	pf_map_release(&r->threads);
	pf_buf_release(&r->text);
	free(r->runs);
	free(r);
}

static const struct pf_reading_table *const tables[] = {
	&pf_rocpd_regions,
	&pf_rocpd_dispatches,
	&pf_rocpd_copies,
	&pf_rocpd_allocations,
};

struct pf_reader *pf_rocpd_new(struct pf_foreign *f,
			       const struct pf_reader_options *options,
			       struct pf_err *err)
{
	struct pf_rocpd *r = pf_calloc(1, sizeof(*r));

	(void)options;
	(void)err;
	pf_rocm_init(&r->map);
	pf_map_init(&r->threads);
	r->f = f;
	r->base = (struct pf_reader){ &r->map.sink.parsed, fill, fact,
				      free_reader };
	r->reading = (struct pf_reading){
		.f = f,
		.sink = &r->map.sink,
		.reader = r,
		.tables = tables,
		.table_count = sizeof(tables) / sizeof(*tables),
	};
	find_runs(r);
	return &r->base;
}
