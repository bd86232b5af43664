/* SPDX-License-Identifier: MIT */
/*
 * Everything but the count of events by category comes from small tables;
 * that one reads the TYPE column of every block, which is a pass of
 * milliseconds.  Type ids of a damaged database may be anything: they are
 * looked up, never used as an index.
 */
#include "config.h"

#include "analysis/trust/info.h"

#include <stdio.h>

#include "base/order.h"
#include "base/search.h"
#include "events/hints.h"
#include "store/cursor.h"
#include "store/query.h"
#include "torch/rules.h"

/* SQLite's own words have several lines; the last says what is wrong. */
static const char *last_line(const char *text)
{
	const char *newline = strrchr(text, '\n');

	return newline ? newline + 1 : text;
}

static int check_pages(struct pf_db *db)
{
	PF_STMT(st) =
		pf_db_prepare(db, "PRAGMA main.integrity_check(1)", db->err);
	const char *said;
	int rc = pf_db_step(db, st, db->err);

	said = rc == 1 ? pf_sqlite_text(st, 0) : NULL;
	if (rc >= 0 && (!said || strcmp(said, "ok") != 0))
		return pf_fail(db->err, PF_EDB, "damaged: %s",
			       said ? last_line(said) : "nothing can be said");
	return rc < 0 ? -1 : 0;
}

static int check_track(struct pf_db *db, const struct pf_track *track,
		       int64_t *event_count)
{
	struct pf_cursor *c = pf_cursor_new(db, track->id, PF_COLS_ALL);
	const struct pf_block *block;
	uint32_t first;
	int64_t count = 0;
	int rc;

	while ((rc = pf_cursor_block(c, &block, &first, db->err)) == 1)
		count += block->count;
	pf_cursor_free(c);
	if (!rc && count != track->event_count)
		rc = pf_fail(db->err, PF_EDB,
			     "damaged: track %u holds %lld of %lld events",
			     track->id, (long long)count,
			     (long long)track->event_count);
	*event_count += count;
	return rc;
}

static int check_tracks(struct pf_db *db, int64_t *event_count)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(db, 0, &tracks, &count, db->err);

	for (size_t i = 0; !rc && i < count; i++)
		rc = check_track(db, &tracks[i], event_count);
	pf_tracks_free(tracks, count);
	return rc;
}

/* Tracks that are gone as a whole are missed by the traces alone. */
static int check_traces(struct pf_db *db)
{
	PF_STMT(st) = pf_db_prepare(
		db,
		"SELECT id, stored_count, (SELECT coalesce(sum(event_count), 0)"
		" FROM track WHERE trace_id = trace.id) AS held FROM trace"
		" WHERE stored_count <> held ORDER BY id LIMIT 1",
		db->err);
	int rc;

	rc = pf_db_step(db, st, db->err);
	if (rc == 1)
		rc = pf_fail(db->err, PF_EDB,
			     "damaged: trace %lld holds %lld of %lld events",
			     (long long)sqlite3_column_int64(st, 0),
			     (long long)sqlite3_column_int64(st, 2),
			     (long long)sqlite3_column_int64(st, 1));
	return rc;
}

int pf_check(struct pf_db *db, int64_t *event_count)
{
	*event_count = 0;
	if (check_pages(db) || check_tracks(db, event_count) ||
	    check_traces(db))
		return pf_while(db->err, "'%s'", db->path);
	return 0;
}

#define FIELD(...) PF_FIELD(struct pf_info_trace, __VA_ARGS__)
static const struct pf_field trace_fields[] = {
	FIELD(trace_id, "Trace", PF_INT | PF_MAYBE),
	FIELD(rank, "Rank", PF_INT | PF_MAYBE),
	FIELD(world_size, "World", PF_INT | PF_MAYBE),
	FIELD(path, "Path", PF_PATH),
	FIELD(format, "Format", PF_TEXT),
	FIELD(compression, "Packed", PF_TEXT),
	FIELD(file_bytes, "File", PF_BYTES | PF_MAYBE),
	FIELD(span_ns, "Time span", PF_NS | PF_MAYBE),
	FIELD(xxh128, "XXH128", PF_TEXT),
	FIELD(worker, "Worker", PF_PATH | PF_FULL),
	FIELD(span, "Span", PF_INT | PF_FULL | PF_MAYBE),
	FIELD(cycle, "Cycle", PF_INT | PF_MAYBE),
};
#undef FIELD

static const struct pf_col unread_cols[] = {
	{ "trace_id", "Trace", PF_INT }, { "rank", "Rank", PF_INT },
	{ "path", "Path", PF_PATH },     { "file_bytes", "File", PF_BYTES },
	{ "why", "Why", PF_TEXT },
};

static const struct pf_col account_cols[] = {
	{ "trace_id", "Trace", PF_INT },
	{ "event_count", "Events", PF_COUNT },
	{ "stored_count", "Stored", PF_COUNT },
	{ "paired_count", "Paired", PF_COUNT },
	{ "metadata_count", "Metadata", PF_COUNT },
	{ "skipped_count", "Skipped", PF_COUNT },
	{ "lost_count", "Lost", PF_COUNT },
	{ "json_bytes", "JSON", PF_BYTES },
};

#define FIELD(...) PF_FIELD(struct pf_info_device, __VA_ARGS__)
static const struct pf_field device_fields[] = {
	FIELD(name, "Device", PF_TEXT),
	FIELD(compute, "Compute", PF_TEXT),
	FIELD(sm_count, "SMs", PF_INT | PF_MAYBE),
	FIELD(memory_bytes, "Memory", PF_BYTES | PF_MAYBE),
	FIELD(devices, "Numbers", PF_TEXT),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_info_option, __VA_ARGS__)
static const struct pf_field option_fields[] = {
	FIELD(key, "Key", PF_TEXT),
	FIELD(trace_count, "Traces", PF_COUNT | PF_MAYBE),
	FIELD(value, "Value", PF_TEXT),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_info_steps, __VA_ARGS__)
static const struct pf_field step_fields[] = {
	FIELD(trace_id, "Trace", PF_INT | PF_MAYBE),
	FIELD(step_count, "Steps", PF_COUNT | PF_MAYBE),
	FIELD(first_step, "First", PF_INT | PF_MAYBE),
	FIELD(last_step, "Last", PF_INT | PF_MAYBE),
	FIELD(min_ns, "Shortest", PF_NS | PF_MAYBE),
	FIELD(mean_ns, "Mean", PF_NS | PF_MAYBE),
	FIELD(max_ns, "Longest", PF_NS | PF_MAYBE),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_info_tracks, __VA_ARGS__)
static const struct pf_field track_fields[] = {
	FIELD(class, "Class", PF_TEXT),
	FIELD(track_count, "Tracks", PF_COUNT | PF_MAYBE),
	FIELD(event_count, "Events", PF_COUNT | PF_MAYBE),
};
#undef FIELD

static const struct pf_col repair_cols[] = {
	{ "trace_id", "Trace", PF_INT },
	{ "kind", "What", PF_TEXT },
	{ "action", "Done", PF_TEXT },
	{ "count", "Times", PF_COUNT },
	{ "first_offset", "First at byte", PF_INT },
};

static const struct pf_col storage_cols[] = {
	{ "name", "Table", PF_TEXT },
	{ "size_bytes", "Size", PF_BYTES },
};

#define COLS(c) c, sizeof(c) / sizeof(*(c))

static int fill(struct pf_db *db, const char *query, const char *name,
		const char *title, const struct pf_col *cols, size_t count,
		struct pf_doc *doc)
{
	return pf_named_fill(db, query,
			     pf_doc_table(doc, name, title, cols, count));
}

/* The rows of a statement, in a struct and in the document. */
static void *take(struct pf_db *db, const char *query, const char *name,
		  const char *title, const struct pf_field *fields,
		  size_t count, struct pf_info *info, size_t *row_count,
		  struct pf_doc *doc)
{
	void *rows = pf_named_read(db, query, fields, count, &info->texts,
				   row_count);

	if (rows)
		pf_doc_rows(doc, name, title, fields, count, rows, *row_count,
			    fields->row_bytes);
	return rows;
}

static int add_before(struct pf_db *db, struct pf_info *info,
		      struct pf_doc *doc)
{
	info->traces =
		take(db, "info_traces", "traces", "Traces",
		     PF_FIELDS(trace_fields), info, &info->trace_count, doc);
	PF_TRY(!info->traces ||
	       fill(db, "info_unread", "unread", "Files that could not be read",
		    COLS(unread_cols), doc) < 0 ||
	       fill(db, "info_accounts", "accounts",
		    "Where the events of each file went", COLS(account_cols),
		    doc) < 0);
	info->devices =
		take(db, "info_devices", "devices", "Devices",
		     PF_FIELDS(device_fields), info, &info->device_count, doc);
	PF_TRY(!info->devices);
	info->steps =
		take(db, "info_steps", "steps", "Profiler steps as recorded",
		     PF_FIELDS(step_fields), info, &info->step_count, doc);
	PF_TRY(!info->steps);
	info->tracks =
		take(db, "info_tracks", "tracks",
		     "Threads, streams and other tracks",
		     PF_FIELDS(track_fields), info, &info->tracks_count, doc);
	return info->tracks ? 0 : -1;
}

static int add_after(struct pf_db *db, struct pf_info *info, struct pf_doc *doc)
{
	PF_TRY(fill(db, "info_repairs", "repairs",
		    "Mended or skipped while reading", COLS(repair_cols),
		    doc) < 0);
	info->options =
		take(db, "info_options", "options",
		     "What the traces say about themselves",
		     PF_FIELDS(option_fields), info, &info->option_count, doc);
	return info->options ? 0 : -1;
}

int pf_info_storage(struct pf_db *db, struct pf_doc *doc)
{
	return fill(db, "info_storage", "storage", "Storage",
		    COLS(storage_cols), doc);
}

/* ---- events by category ---- */

struct type_count {
	int64_t id, count;
	char *category, *ph;
};

struct types {
	struct type_count *items; /* by id, ascending */
	size_t count, cap;
};

static char *column_text(sqlite3_stmt *stmt, int i)
{
	const void *text = sqlite3_column_blob(stmt, i);

	return pf_memdup0(text, (size_t)sqlite3_column_bytes(stmt, i));
}

static int load_types(struct pf_db *db, struct types *types)
{
	PF_STMT(stmt) = pf_named_prepare(db, "info_types", db->err);
	int rc;

	while ((rc = pf_db_step(db, stmt, db->err)) == 1) {
		struct type_count *t;

		t = PF_ONE_MORE(types->items, types->count, types->cap);
		t->id = sqlite3_column_int64(stmt, 0);
		t->count = 0;
		t->category = column_text(stmt, 1);
		t->ph = column_text(stmt, 2);
	}
	return rc;
}

static struct type_count *find_type(const struct types *types, int64_t id)
{
	size_t low;

	/* ids are 0, 1, 2... or 1, 2, 3... unless the database is odd */
	if ((size_t)id < types->count && types->items[id].id == id)
		return &types->items[id];
	low = PF_SEARCH(i, types->count, types->items[i].id < id);
	if (low < types->count && types->items[low].id == id)
		return &types->items[low];
	return NULL;
}

static int count_track(struct pf_db *db, uint32_t track_id,
		       const struct types *types, int64_t *unknown)
{
	struct pf_cursor *c =
		pf_cursor_new(db, track_id, PF_COLBIT(PF_COL_TYPE));
	const struct pf_block *block;
	uint32_t first;
	int rc;

	while ((rc = pf_cursor_block(c, &block, &first, db->err)) == 1) {
		for (uint32_t i = 0; i < block->count; i++) {
			struct type_count *t = find_type(types, block->type[i]);

			*(t ? &t->count : unknown) += 1;
		}
	}
	pf_cursor_free(c);
	return rc;
}

static int count_events(struct pf_db *db, const struct types *types,
			int64_t *unknown)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(db, 0, &tracks, &count, db->err);

	for (size_t i = 0; !rc && i < count; i++)
		rc = count_track(db, tracks[i].id, types, unknown);
	pf_tracks_free(tracks, count);
	return rc;
}

PF_ORDER(by_text, struct type_count, PF_ALPHA(category) PF_ALPHA(ph) PF_UP(id))

/* Types that differ only in what their events mean are one row. */
static void unite(struct types *types)
{
	struct type_count *t = types->items;

	pf_sort(t, types->count, sizeof(*t), by_text);
	for (size_t i = 0, first = 0; i < types->count; i++) {
		if (strcmp(t[i].category, t[first].category) != 0 ||
		    strcmp(t[i].ph, t[first].ph) != 0)
			first = i;
		if (i == first)
			continue;
		t[first].count += t[i].count;
		t[i].count = 0;
	}
}

PF_ORDER(by_count, struct type_count, PF_DOWN(count) PF_UP(id))

static void add_types(struct pf_doc *doc, struct types *types)
{
	static const struct pf_col cols[] = {
		{ "category", "Category", PF_TEXT },
		{ "ph", "Phase", PF_TEXT },
		{ "event_count", "Events", PF_COUNT },
		{ "share", "Share", PF_RATIO },
	};
	struct pf_table *t = pf_doc_table(
		doc, "categories", "Stored events by category", COLS(cols));
	int64_t total = 0;

	for (size_t i = 0; i < types->count; i++)
		total += types->items[i].count;
	unite(types);
	pf_sort(types->items, types->count, sizeof(*types->items), by_count);
	for (size_t i = 0; i < types->count; i++) {
		const struct type_count *item = &types->items[i];

		if (!item->count)
			continue;
		pf_table_string(t, item->category);
		pf_table_string(t, item->ph);
		pf_table_int(t, item->count);
		pf_table_real(t, (double)item->count / (double)total);
	}
}

static int add_categories(struct pf_db *db, struct pf_doc *doc)
{
	struct types types = { 0 };
	int64_t unknown = 0;
	int rc = load_types(db, &types);

	if (!rc)
		rc = count_events(db, &types, &unknown);
	if (!rc)
		add_types(doc, &types);
	if (!rc && unknown)
		pf_doc_note(doc, "%lld %s a type that is not listed",
			    (long long)unknown,
			    unknown == 1 ? "event has" : "events have");
	for (size_t i = 0; i < types.count; i++) {
		free(types.items[i].category);
		free(types.items[i].ph);
	}
	free(types.items);
	return rc;
}

/* ---- the whole ---- */

static int single_int(struct pf_db *db, const char *sql, int64_t *out)
{
	PF_STMT(stmt) = pf_db_prepare(db, sql, db->err);
	int rc;

	rc = pf_db_step(db, stmt, db->err);
	*out = rc == 1 ? sqlite3_column_int64(stmt, 0) : 0;
	return rc < 0 ? -1 : 0;
}

static int add_scalars(struct pf_db *db, struct pf_doc *doc)
{
	int64_t traces, pages, page_bytes, version;

	PF_TRY(single_int(db, "SELECT count(*) FROM trace", &traces));
	PF_TRY(single_int(db, "PRAGMA page_count", &pages));
	PF_TRY(single_int(db, "PRAGMA page_size", &page_bytes));
	PF_TRY(single_int(db, "PRAGMA user_version", &version));
	pf_doc_string(doc, "database", "Database", db->path);
	pf_doc_int(doc, "size_bytes", "Size", PF_BYTES, pages * page_bytes);
	pf_doc_int(doc, "schema_version", "Schema version", PF_INT, version);
	pf_doc_int(doc, "trace_count", "Traces", PF_COUNT, traces);
	return 0;
}

/* Traces first..last, in order of id, have the rules of one torch release. */
static void note_rules(struct pf_doc *doc, int torch, int64_t first,
		       int64_t last)
{
	char which[64];

	if (!torch)
		return;
	if (last == first)
		snprintf(which, sizeof(which), "trace %lld", (long long)first);
	else
		snprintf(which, sizeof(which), "traces %lld to %lld",
			 (long long)first, (long long)last);
	pf_doc_note(doc, "averages of %s follow the rules of torch %d.%d",
		    which, torch / 100, torch % 100);
}

/*
 * One note for each run of traces with the same rules for key_averages(); what
 * another profiler wrote has nothing that they are about.
 */
static int add_rules(struct pf_db *db, struct pf_doc *doc)
{
	enum pf_producer producer;
	PF_STMT(stmt) = NULL;
	int64_t first = 0, last = 0;
	int rc, torch = 0;

	PF_TRY(pf_hint_producer(db, &producer));
	if (producer == PF_FROM_OTHERS || producer == PF_FROM_SNAPSHOT ||
	    producer == PF_FROM_TABLES)
		return 0;
	stmt = pf_db_prepare(db,
			     "SELECT id FROM trace WHERE format != 'memsnap'"
			     " ORDER BY id",
			     db->err);
	while ((rc = pf_db_step(db, stmt, db->err)) == 1) {
		int64_t id = sqlite3_column_int64(stmt, 0);
		struct pf_rule_facts facts = { 0 };
		int own;

		rc = pf_rules_read_facts(db, id, &facts, db->err);
		if (rc < 0)
			break;
		own = pf_rules_for(&facts, 0, 0).torch;
		if (own != torch || id != last + 1) {
			note_rules(doc, torch, first, last);
			torch = own;
			first = id;
		}
		last = id;
	}
	if (!rc)
		note_rules(doc, torch, first, last);
	return rc;
}

void pf_info_release(struct pf_info *info)
{
	pf_arena_release(&info->texts);
	*info = (struct pf_info){ 0 };
}

int pf_info(struct pf_db *db, struct pf_info *kept, struct pf_doc *doc)
{
	PF_AUTO(pf_info_release) struct pf_info own = { 0 };
	struct pf_info *info = kept ? kept : &own;
	int rc = 0;

	if (add_scalars(db, doc) < 0 || add_before(db, info, doc) < 0 ||
	    add_categories(db, doc) < 0 || add_after(db, info, doc) < 0 ||
	    add_rules(db, doc) < 0)
		rc = pf_while(db->err, "'%s'", db->path);
	return rc;
}
