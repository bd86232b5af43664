/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "compare/fleet.h"

#include <inttypes.h>
#include <libgen.h>
#include <zstd.h>

#include "analysis/idle/gaps.h"
#include "analysis/memory/usage.h"
#include "analysis/ranks/digest.h"
#include "analysis/time/kernels.h"
#include "analysis/time/overlap.h"
#include "analysis/time/steps.h"
#include "analysis/trust/doctor.h"
#include "base/search.h"
#include "ingest/source_name.h"
#include "store/query.h"
#include "torch/averages.h"

char *pf_place_folder(const char *path, struct pf_err *err)
{
	PF_OWN char *copy = pf_strdup(path);
	char *folder = realpath(dirname(copy), NULL);

	if (!folder)
		pf_fail_open(err, "cannot open the folder of '%s'", path);
	return folder;
}

/* Append the parts of a path, which begins at "/". */
static void add_parts(struct pf_buf *out, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !strncmp(path, "..", 2)) {
			while (out->len && out->data[--out->len] != '/')
				;
			if (out->data)
				out->data[out->len] = '\0';
		} else if (len && !(len == 1 && *path == '.')) {
			pf_buf_addc(out, '/');
			pf_buf_add(out, path, len);
		}
		path += len + (path[len] == '/');
	}
}

char *pf_place_from(const char *folder, const char *path)
{
	struct pf_buf out = { 0 };

	if (*path != '/')
		add_parts(&out, folder);
	add_parts(&out, path);
	if (!out.len)
		pf_buf_addc(&out, '/');
	return out.data;
}

char *pf_place_relative(const char *folder, const char *path)
{
	struct pf_buf out = { 0 };
	size_t same = 0, i = 0;

	for (; folder[i] && folder[i] == path[i]; i++)
		if (folder[i] == '/')
			same = i;
	if (!folder[i] && path[i] == '/')
		same = i;
	if (!strcmp(folder, "/"))
		folder = "";
	for (const char *p = folder + (folder[0] ? same : 0); *p; p++)
		if (*p == '/' && p[1])
			pf_buf_adds(&out, "../");
	pf_buf_adds(&out, path + same + 1);
	return out.data;
}

/* ---- writing one ---- */

int pf_fleet_out_open(struct pf_fleet_out *out, struct pf_db *db)
{
	*out = (struct pf_fleet_out){ .db = db };
	out->text =
		pf_db_prepare(db, "INSERT INTO string VALUES(?1, ?2)", db->err);
	return out->text ? 0 : -1;
}

void pf_fleet_out_close(struct pf_fleet_out *out)
{
	sqlite3_finalize(out->text);
	pf_intern_release(&out->texts);
	*out = (struct pf_fleet_out){ 0 };
}

/* ---- strings ---- */

int pf_fleet_text(struct pf_fleet_out *out, const char *s, size_t len,
		  int64_t *id)
{
	uint32_t before = out->texts.count;
	uint32_t n = pf_intern_add(&out->texts, s, len);

	*id = (int64_t)n + 1;
	if (n < before)
		return 0;
	sqlite3_bind_int64(out->text, 1, *id);
	sqlite3_bind_text64(out->text, 2, s, len, SQLITE_STATIC, SQLITE_UTF8);
	return pf_db_put(out->db, out->text, out->db->err);
}

/* ---- rows ---- */

static sqlite3_stmt *prepare(struct pf_fleet_out *out, const char *table,
			     const struct pf_field *fields, size_t count)
{
	PF_AUTO(pf_buf_release) struct pf_buf names = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf places = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf sql = { 0 };

	for (size_t i = 0; i < count; i++) {
		bool is_text = fields[i].type == PF_FIELD_TEXT;

		pf_buf_addf(&names, ", %s%s", fields[i].col.key,
			    is_text ? "_id" : "");
		pf_buf_adds(&places, ", ?");
	}
	pf_buf_addf(&sql, "INSERT INTO %s (id, rank_id%s) VALUES (?, ?%s)",
		    table, names.data, places.data);
	return pf_db_prepare(out->db, sql.data, out->db->err);
}

/* A text by its number; out NULL: as it is. */
static int bind(struct pf_fleet_out *out, sqlite3_stmt *st, int at,
		const struct pf_cell *cell)
{
	int64_t id;

	switch (cell->type) {
	case PF_CELL_INT:
		sqlite3_bind_int64(st, at, cell->v.i);
		return 0;
	case PF_CELL_REAL:
		sqlite3_bind_double(st, at, cell->v.d);
		return 0;
	case PF_CELL_TEXT:
		if (!out) {
			sqlite3_bind_text(st, at, cell->v.text.s,
					  (int)cell->v.text.len, SQLITE_STATIC);
			return 0;
		}
		PF_TRY(pf_fleet_text(out, cell->v.text.s, cell->v.text.len,
				     &id));
		sqlite3_bind_int64(st, at, id);
		return 0;
	default:
		sqlite3_bind_null(st, at);
		return 0;
	}
}

static int put_row(struct pf_fleet_out *out, sqlite3_stmt *st,
		   const struct pf_field *fields, size_t count, const void *row,
		   int64_t position)
{
	sqlite3_bind_int64(st, 1, out->rank_id << PF_FLEET_SHIFT | position);
	sqlite3_bind_int64(st, 2, out->rank_id);
	for (size_t i = 0; i < count; i++) {
		struct pf_cell cell = pf_field_cell(&fields[i], row);

		PF_TRY(bind(out, st, (int)i + 3, &cell));
	}
	return pf_db_put(out->db, st, out->db->err);
}

/*
 * Rows of a table of the rank.  The key of a field is the name of its column;
 * that of a text has "_id" behind it.
 */
#define PUT(out, table, fields, rows, row_count)                               \
	put(out, table, PF_FIELDS(fields), rows, row_count, sizeof(*(rows)))
static int put(struct pf_fleet_out *out, const char *table,
	       const struct pf_field *fields, size_t count, const void *rows,
	       size_t row_count, size_t row_bytes)
{
	PF_STMT(st) = NULL;

	if (!row_count)
		return 0;
	if (row_count >> PF_FLEET_SHIFT)
		return pf_fail(out->db->err, PF_ELIMIT,
			       "%zu rows of the table '%s' are too many for a "
			       "summary",
			       row_count, table);
	st = prepare(out, table, fields, count);
	PF_TRY(!st);
	for (size_t i = 0; i < row_count; i++)
		PF_TRY(put_row(out, st, fields, count,
			       (const char *)rows + i * row_bytes, (int64_t)i));
	return 0;
}

static int fleet_figures_put(struct pf_fleet_out *out,
			     const struct pf_fleet_figures *figures,
			     const void *rows, size_t row_count,
			     size_t row_bytes)
{
	struct pf_field fields[PF_FLEET_COLUMNS];
	size_t count = 0;

	for (size_t i = 0; i < figures->count; i++)
		fields[count++] = figures->items[i].of;
	for (size_t i = 0; i < figures->other_count; i++)
		fields[count++] = figures->others[i];
	return put(out, figures->table, fields, count, rows, row_count,
		   row_bytes);
}

sqlite3_stmt *pf_fleet_sums_prepare(struct pf_db *db,
				    const struct pf_fleet_figures *figures)
{
	PF_AUTO(pf_buf_release) struct pf_buf sql = { 0 };

	pf_buf_addf(&sql, "SELECT r.capture_id, ifnull(c.name, ''), r.rank, %s",
		    figures->unit);
	for (size_t i = 0; i < figures->count; i++)
		pf_buf_addf(&sql, ", sum(t.%s)", figures->items[i].of.col.key);
	pf_buf_addf(&sql,
		    " FROM %s AS t JOIN rank AS r ON r.id = t.rank_id"
		    " JOIN capture AS c ON c.id = r.capture_id"
		    " WHERE r.error IS NULL AND %s GROUP BY %s ORDER BY %s",
		    figures->table, figures->of, figures->each, figures->each);
	return pf_db_prepare(db, sql.data, db->err);
}

/*
 * A digest is one zstd frame that says its length.  Nothing of it is trusted:
 * the length is bounded before memory is asked for, and what comes out is
 * checked by pf_digest_get().
 */

#define LEVEL     9 /* once a rank, and kept */
#define BYTES_MAX (UINT64_C(1) << 31)

/* ---- digests ---- */

static int take(void *context, struct pf_digest *d, struct pf_err *err)
{
	(void)err;
	pf_digest_put(d, context);
	return 0;
}

/* The digest of the only trace of a database, as bytes. */
static int fleet_digest_make(struct pf_db *db, struct pf_buf *bytes)
{
	const struct pf_window_args args = PF_WINDOW_DEFAULTS;
	const struct pf_digest_sink sink = { take, bytes };
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };

	PF_TRY(pf_window_resolve(db, &args, &window));
	return pf_digests_make(db, &window, &sink);
}

/* Write it, of the rank that is being written. */
static int fleet_digest_put(struct pf_fleet_out *out,
			    const struct pf_buf *bytes)
{
	size_t most = ZSTD_compressBound(bytes->len), len;
	PF_AUTO(pf_buf_release) struct pf_buf packed = { 0 };
	PF_STMT(st) = NULL;
	int rc = -1;

	if (!bytes->len)
		return 0;
	st = pf_db_prepare(out->db, "INSERT INTO digest VALUES(?1, ?2, ?3)",
			   out->db->err);
	pf_buf_reserve(&packed, most);
	len = ZSTD_compress(packed.data, most, bytes->data, bytes->len, LEVEL);
	if (ZSTD_isError(len)) {
		pf_fail(out->db->err, PF_ELIMIT,
			"a digest cannot be packed: %s",
			ZSTD_getErrorName(len));
	} else if (st) {
		sqlite3_bind_int64(st, 1, out->rank_id << PF_FLEET_SHIFT);
		sqlite3_bind_int64(st, 2, out->rank_id);
		sqlite3_bind_blob64(st, 3, packed.data, len, SQLITE_STATIC);
		rc = pf_db_put(out->db, st, out->db->err);
	}
	return rc;
}

/* ---- digests that are read ---- */

static int unpack(const void *data, size_t len, struct pf_buf *out,
		  struct pf_err *err)
{
	unsigned long long size = ZSTD_getFrameContentSize(data, len);

	pf_buf_clear(out);
	/* both words for what is not known are above this */
	if (data && size <= BYTES_MAX) {
		pf_buf_reserve(out, size + 1);
		out->len = ZSTD_decompress(out->data, size, data, len);
		if (!ZSTD_isError(out->len) && out->len == size)
			return 0;
	}
	return pf_fail(err, PF_EDATA, "a digest of a rank is damaged");
}

static int check_capture(struct pf_db *db, const char *capture)
{
	PF_STMT(st) = pf_db_prepare(
		db,
		"SELECT count(*) FROM capture WHERE ?1 IS NULL OR name = ?1",
		db->err);
	int64_t count;

	sqlite3_bind_text(st, 1, capture, -1, SQLITE_STATIC);
	PF_TRY(pf_db_step(db, st, db->err) < 0);
	count = sqlite3_column_int64(st, 0);
	/* an empty fleet has nothing to choose from */
	if (count == 1 || (!count && !capture))
		return 0;
	if (capture)
		return pf_fail(db->err, PF_EUSAGE,
			       "'%s' has no capture '%s'; 'profan info %s' "
			       "lists them",
			       db->path, capture, db->path);
	return pf_fail(db->err, PF_EUSAGE,
		       "'%s' has %" PRId64 " captures, of which ranks are "
		       "compared with those of their own: choose it with "
		       "--capture",
		       db->path, count);
}

int pf_fleet_digests_read(struct pf_db *db, const char *capture,
			  const struct pf_fleet_digest_sink *sink)
{
	PF_AUTO(pf_buf_release) struct pf_buf bytes = { 0 };
	PF_STMT(st) = NULL;
	int rc;

	PF_TRY(check_capture(db, capture));
	st = pf_named_prepare(db, "fleet/digests", db->err);
	sqlite3_bind_text(st, 1, capture, -1, SQLITE_STATIC);
	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		const void *data = sqlite3_column_blob(st, 0);

		if (unpack(data, (size_t)sqlite3_column_bytes(st, 0), &bytes,
			   db->err) ||
		    sink->take(sink->context, bytes.data, bytes.len, db->err))
			return pf_while(db->err, "'%s'", db->path);
	}
	return rc;
}

/* ---- labels ---- */

int pf_fleet_label_of(struct pf_db *db, const char *capture, const char *key,
		      const int64_t *ranks, size_t count, const char **values,
		      struct pf_arena *texts)
{
	PF_STMT(st) = pf_named_prepare(db, "fleet/label_of", db->err);
	int rc;

	sqlite3_bind_text(st, 1, capture, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, key, -1, SQLITE_STATIC);
	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		int64_t rank = sqlite3_column_int64(st, 0);
		size_t i = PF_SEARCH(k, count, ranks[k] < rank);

		if (i < count && ranks[i] == rank)
			values[i] = pf_arena_string(
				texts,
				(const char *)sqlite3_column_text(st, 1));
	}
	return rc;
}

static const char *const schemas[] = { "schema/fleet/tables.sql", NULL };

const struct pf_db_kind pf_fleet_kind = {
	.application_id = PF_FLEET_APPLICATION_ID,
	.version = PF_FLEET_VERSION,
	.what = "a fleet database",
	.other = "merge the ranks again",
	.schemas = schemas,
};

const char *const pf_fleet_tables[PF_FLEET_TABLES] = {
	"step",   "kernel",     "op",      "idle",   "idle_site",
	"device", "collective", "finding", "memory", "digest",
};

bool pf_fleet_is_of_trace(const char *path, const char *digest,
			  struct pf_err *err)
{
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };
	PF_STMT(st) = NULL;
	bool is = false;

	if (pf_db_open(&db, path, false, err))
		return false;
	st = pf_db_prepare(&db, "SELECT xxh128 FROM trace LIMIT 2", err);
	if (st && pf_db_step(&db, st, err) == 1 &&
	    sqlite3_column_type(st, 0) == SQLITE_TEXT)
		is = !strcmp((const char *)sqlite3_column_text(st, 0), digest);
	return is && pf_db_step(&db, st, err) == 0;
}

/*
 * All is found before anything is written, so that a rank is there as a whole
 * or not at all.
 */

#define F(row, member, key)       PF_FIELD(row, member, key, key, PF_INT)
#define F_KNOWN(row, member, key) PF_FIELD(row, member, key, key, PF_KNOWN)
#define F_MAYBE(row, member, key) PF_FIELD(row, member, key, key, PF_MAYBE)

/* ---- columns ---- */

#define STEP(member, key, title, kind, id, night)                              \
	{                                                                      \
		PF_FIELD(struct pf_step_time, member, key, title, kind),       \
			PF_FIGURE_##id, night                                  \
	}
#define CLASS(class, key, title, full, night)                                  \
	STEP(class_ns[class], key, title, PF_NS | (full), CLASS + (class),     \
	     night)
#define COUNT(member, key, title, id)                                          \
	STEP(member, key, title, PF_COUNT | PF_ABSENT, id, PF_FULL)

static const struct pf_fleet_figure step_figures[] = {
	STEP(dur_ns, "dur_ns", "Step", PF_NS, TIME, 0),
	CLASS(PF_STEP_KERNEL, "kernel_ns", "Kernel", 0, 0),
	CLASS(PF_STEP_COPY, "copy_ns", "Copy", PF_FULL, PF_FULL),
	CLASS(PF_STEP_MEMSET, "memset_ns", "Memset", PF_FULL, PF_FULL),
	CLASS(PF_STEP_COMM, "comm_ns", "Comm", 0, 0),
	CLASS(PF_STEP_RUNTIME, "runtime_ns", "Runtime", 0, PF_FULL),
	CLASS(PF_STEP_DATA, "data_ns", "Data", PF_FULL, PF_FULL),
	CLASS(PF_STEP_CPU, "cpu_ns", "CPU", 0, PF_FULL),
	CLASS(PF_STEP_OTHER, "other_ns", "Other", 0, PF_SPARE),
	STEP(busy_ns, "busy_ns", "Busy", PF_NS | PF_FULL, BUSY, PF_FULL),
	COUNT(kernels, "kernel_count", "Kernels", KERNELS),
	COUNT(copies, "copy_count", "Copies", COPIES),
	COUNT(launches, "launch_count", "Launches", LAUNCHES),
	COUNT(syncs, "sync_count", "Syncs", SYNCS),
};

#define S struct pf_step_time
static const struct pf_field step_others[] = {
	F(S, memsets, "memset_count"),
	F_KNOWN(S, step, "step"),
	F(S, is_partial, "is_partial"),
	F(S, start_ns, "start_ns"),
};
#undef S

_Static_assert(PF_LEN(step_figures) <= PF_FLEET_FIGURES,
	       "more figures than are kept of a night");

#define TABLE(figures, fields)                                                 \
	.items = figures, .count = sizeof(figures) / sizeof(*(figures)),       \
	.others = fields, .other_count = sizeof(fields) / sizeof(*(fields))
const struct pf_fleet_figures pf_fleet_step_figures = {
	.table = "step",
	.unit = "count(*)",
	.of = "t.is_partial = 0",
	.each = "t.rank_id",
	TABLE(step_figures, step_others),
	.what = "step",
	.list = "ranks",
	.list_title = "Ranks by the mean of their steps, the slowest first",
	.spread_title = "Steps of a rank, over ranks",
	.unit_col = { "step_count", "Steps", PF_INT },
	.is_mean = true,
};

#define K struct pf_kernel_row
static const struct pf_field kernel_fields[] = {
	F(K, first, "name"),          F(K, class_word, "class"),
	F(K, precision, "precision"), F(K, ns.of.count, "calls"),
	F(K, ns.of.sum, "total_ns"),  F(K, ns.of.min, "min_ns"),
	F(K, ns.median, "median_ns"), F(K, ns.of.max, "max_ns"),
	F(K, ns.sd, "sd_ns"),
};
#undef K

/* Counts of averages are unsigned. */
struct op {
	const char *name;
	int64_t calls, flops;
	bool is_device, is_annotation;
	struct pf_figures sum;
};

static const struct pf_field op_fields[] = {
	F(struct op, name, "name"),
	F(struct op, is_device, "is_device"),
	F(struct op, is_annotation, "is_user_annotation"),
	F(struct op, calls, "calls"),
	F(struct op, sum.ns[PF_FIG_SELF_CPU], "self_cpu_ns"),
	F(struct op, sum.ns[PF_FIG_CPU], "cpu_total_ns"),
	F(struct op, sum.ns[PF_FIG_SELF_DEVICE], "self_device_ns"),
	F(struct op, sum.ns[PF_FIG_DEVICE], "device_total_ns"),
	F(struct op, sum.bytes[PF_FIG_SELF_CPU], "self_cpu_mem_bytes"),
	F(struct op, sum.bytes[PF_FIG_CPU], "cpu_mem_bytes"),
	F(struct op, sum.bytes[PF_FIG_SELF_DEVICE], "self_device_mem_bytes"),
	F(struct op, sum.bytes[PF_FIG_DEVICE], "device_mem_bytes"),
	F_KNOWN(struct op, flops, "flops"),
};

static const struct pf_field idle_fields[] = {
	F(struct pf_gap_cause, name, "cause"),
	F(struct pf_gap_cause, ns, "ns"),
	F(struct pf_gap_cause, count, "gap_count"),
	F(struct pf_gap_cause, longest_ns, "longest_ns"),
	F(struct pf_gap_cause, recoverable_ns, "recoverable_ns"),
};

#define G struct pf_gap_culprit
static const struct pf_field site_fields[] = {
	F(G, cause, "cause"),
	F(G, name, "name"),
	F(G, op, "op"),
	F(G, frame, "frame"),
	F(G, ns, "ns"),
	F(G, count, "gap_count"),
	F(G, longest_ns, "longest_ns"),
};
#undef G

#define D struct pf_overlap_device
#define GPU(member, key, title, full)                                          \
	{                                                                      \
		.of = PF_FIELD(D, f.member, key, title, PF_NS | (full))        \
	}
static const struct pf_fleet_figure device_figures[] = {
	GPU(total_ns, "total_ns", "Window", 0),
	GPU(busy_ns, "busy_ns", "Busy", PF_FULL),
	GPU(idle_ns, "idle_ns", "Idle", 0),
	GPU(computation_ns, "computation_ns", "Computation", 0),
	GPU(exposed_comm_ns, "exposed_comm_ns", "Exposed comm", 0),
	GPU(exposed_copy_ns, "exposed_copy_ns", "Exposed copy", PF_FULL),
	GPU(exposed_memset_ns, "exposed_memset_ns", "Exposed memset", PF_FULL),
	GPU(comm_ns, "comm_ns", "Comm", 0),
	GPU(overlap_ns, "overlap_ns", "Comm hidden", PF_FULL),
};

static const struct pf_field device_others[] = {
	F_KNOWN(D, device, "device"),
	F(D, f.copy_ns, "copy_ns"),
	F(D, f.memset_ns, "memset_ns"),
	F(D, f.event_count, "event_count"),
};
#undef D

const struct pf_fleet_figures pf_fleet_device_figures = {
	.table = "device",
	.unit = "t.device",
	.of = "1",
	.each = "t.id",
	TABLE(device_figures, device_others),
	.what = "GPU",
	.list = "devices",
	.list_title = "GPUs, the longest window first",
	.spread_title = "Times of a GPU, over GPUs",
	.unit_col = { "device", "GPU", PF_INT },
};

#define C struct pf_comm_row
static const struct pf_field collective_fields[] = {
	F(C, collective, "collective"),
	F(C, group, "group"),
	F(C, description, "description"),
	F(C, dtype, "dtype"),
	F_KNOWN(C, group_size, "group_size"),
	F(C, dur.count, "calls"),
	F(C, dur.sum, "total_ns"),
	F(C, dur.min, "min_ns"),
	F(C, dur.max, "max_ns"),
	F(C, message_count, "message_count"),
	F_KNOWN(C, in_bytes, "in_bytes"),
	F_KNOWN(C, out_bytes, "out_bytes"),
};
#undef C

static const struct pf_field finding_fields[] = {
	F(struct pf_doctor_check, name, "check"),
	F(struct pf_doctor_check, verdict, "verdict"),
	F(struct pf_doctor_check, count, "count"),
	F_KNOWN(struct pf_doctor_check, gpu_ns, "gpu_ns"),
};

#define M struct pf_usage_device
static const struct pf_field memory_fields[] = {
	F(M, at.device, "device"),
	F(M, is_absolute, "is_absolute"),
	F_MAYBE(M, peak, "peak_bytes"),
	F_MAYBE(M, capacity, "capacity_bytes"),
	F_MAYBE(M, peak_reserved, "peak_reserved_bytes"),
	F_MAYBE(M, unused, "unused_bytes"),
	F_MAYBE(M, allocation_count, "allocation_count"),
	F_MAYBE(M, allocated, "allocated_bytes"),
	F_MAYBE(M, freed_count, "freed_count"),
	F_MAYBE(M, freed, "freed_bytes"),
	F_MAYBE(M, kept_count, "kept_count"),
	F_MAYBE(M, kept, "kept_bytes"),
	F_MAYBE(M, oom_count, "oom_count"),
};
#undef M

/* As schema/fleet/trace.sql has them, and but for the first the table "rank". */
#define R struct pf_fleet_rank
static const struct pf_field rank_fields[] = {
	F_MAYBE(R, trace_id, "trace_id"),
	F_MAYBE(R, rank, "rank"),
	F_MAYBE(R, world_size, "world_size"),
	F(R, labels, "labels"),
	F(R, error, "error"),
	F(R, path, "path"),
	F(R, db, "db"),
	F(R, xxh128, "xxh128"),
	F(R, format, "format"),
	F_MAYBE(R, file_bytes, "file_bytes"),
	F_MAYBE(R, json_bytes, "json_bytes"),
	F_MAYBE(R, base_ns, "base_ns"),
	F_MAYBE(R, first_ns, "first_ns"),
	F_MAYBE(R, last_ns, "last_ns"),
	F_MAYBE(R, event_count, "event_count"),
	F_MAYBE(R, stored_count, "stored_count"),
	F_MAYBE(R, metadata_count, "metadata_count"),
	F_MAYBE(R, paired_count, "paired_count"),
	F_MAYBE(R, skipped_count, "skipped_count"),
};
#undef R

/* ---- finding ---- */

struct found {
	struct pf_fleet_rank rank;
	struct pf_arena texts;
	struct pf_step_times steps;
	struct pf_kernels kernels;
	struct pf_averages averages;
	struct pf_gaps gaps;
	struct pf_overlap overlap;
	struct pf_doctor doctor;
	struct pf_usage usage;
	struct pf_buf digest;
};

static int find_trace(struct pf_db *db, struct found *f)
{
	size_t count;
	PF_OWN struct pf_fleet_rank *rows = pf_named_rows_take(
		db, "fleet/trace", PF_FIELDS(rank_fields), &f->texts, &count);

	if (!rows)
		return -1;
	if (count != 1)
		return pf_fail(
			db->err, PF_EDATA,
			"'%s' holds %zu traces, and a rank of a fleet is "
			"one: merge the traces themselves",
			db->path, count);
	f->rank = rows[0];
	return 0;
}

/* What is no trace of torch's has no key_averages(). */
static int find_averages(struct pf_db *db, struct found *f)
{
	const struct pf_averages_args args = {
		.trace_id = f->rank.trace_id,
		.step = -1,
		.grouping_count = 1,
	};

	if (f->rank.format && (!strcmp(f->rank.format, "xspace") ||
			       !strcmp(f->rank.format, "tf-json")))
		return 0;
	return pf_averages_get(db, &args, &f->averages, db->err);
}

static int find(struct pf_db *db, struct found *f)
{
	const struct pf_window_args window = PF_WINDOW_DEFAULTS;
	const struct pf_steps_args steps = { .window = window };
	const struct pf_kernels_args kernels = { .window = window };
	const struct pf_overlap_args overlap = { .window = window };
	const struct pf_gaps_args gaps = { .window = window,
					   .micro_ns = PF_GAPS_MICRO_NS };
	const struct pf_usage_args usage = { .window = window };

	if (find_trace(db, f) || pf_step_times_find(db, &steps, &f->steps) ||
	    pf_kernels_find(db, &kernels, &f->kernels) ||
	    find_averages(db, f) || pf_gaps_find(db, &gaps, &f->gaps) ||
	    pf_overlap_find(db, &overlap, &f->overlap) ||
	    pf_doctor_find(db, &f->doctor) ||
	    pf_usage_find(db, &usage, NULL, &f->usage) ||
	    fleet_digest_make(db, &f->digest))
		return -1;
	return 0;
}

static void release(struct found *f)
{
	pf_step_times_release(&f->steps);
	pf_kernels_release(&f->kernels);
	pf_averages_release(&f->averages);
	pf_gaps_release(&f->gaps);
	pf_overlap_release(&f->overlap);
	pf_doctor_release(&f->doctor);
	pf_usage_release(&f->usage);
	pf_buf_release(&f->digest);
	pf_arena_release(&f->texts);
}

/* ---- writing ---- */

static int put_ops(struct pf_fleet_out *out, const struct pf_averages *a)
{
	const struct pf_average_list *list = &a->list[0];
	PF_OWN struct op *ops = pf_calloc(list->count + 1, sizeof(*ops));

	for (size_t i = 0; i < list->count; i++) {
		const struct pf_average *from = &list->rows[i];

		ops[i] = (struct op){ .name = from->name,
				      .calls = (int64_t)from->count,
				      .flops = pf_flops_known(&from->sum.flops),
				      .is_device = from->is_device,
				      .is_annotation = from->is_annotation,
				      .sum = from->sum };
	}
	return PUT(out, "op", op_fields, ops, list->count);
}

static int put_findings(struct pf_fleet_out *out, const struct pf_doctor *d)
{
	struct pf_doctor_check bad[PF_DOCTOR_CHECKS];
	size_t count = 0;

	for (size_t i = 0; i < PF_DOCTOR_CHECKS; i++)
		if (d->checks[i].name && strcmp(d->checks[i].verdict, "ok"))
			bad[count++] = d->checks[i];
	return PUT(out, "finding", finding_fields, bad, count);
}

static int put_rows(struct pf_fleet_out *out, const struct found *f)
{
	size_t sites = f->gaps.culprit_count < PF_FLEET_SITES
			       ? f->gaps.culprit_count
			       : PF_FLEET_SITES;

	if (pf_fleet_put_rank(out, &f->rank) ||
	    fleet_figures_put(out, &pf_fleet_step_figures, f->steps.steps,
			      f->steps.count, sizeof(*f->steps.steps)) ||
	    PUT(out, "kernel", kernel_fields, f->kernels.rows,
		(size_t)f->kernels.row_count) ||
	    put_ops(out, &f->averages) ||
	    PUT(out, "idle", idle_fields, f->gaps.causes,
		f->gaps.cause_count) ||
	    PUT(out, "idle_site", site_fields, f->gaps.culprits, sites) ||
	    fleet_figures_put(out, &pf_fleet_device_figures, f->overlap.devices,
			      f->overlap.device_count,
			      sizeof(*f->overlap.devices)) ||
	    PUT(out, "collective", collective_fields, f->overlap.collectives,
		f->overlap.collective_count) ||
	    put_findings(out, &f->doctor) ||
	    PUT(out, "memory", memory_fields, f->usage.devices,
		f->usage.device_count) ||
	    fleet_digest_put(out, &f->digest))
		return -1;
	return 0;
}

/* ---- the rank ---- */

char *pf_fleet_capture_name(const char *path)
{
	PF_OWN char *run = pf_source_run(path);
	char *base = strrchr(run, '/');

	base = base ? base + 1 : run;
	return pf_strdup(*base && strcmp(base, ".") && strcmp(base, "..")
				 ? base
				 : "capture");
}

/* A capture of its own: the merge puts those of one name together. */
static int put_capture(struct pf_fleet_out *out, const char *name)
{
	PF_STMT(st) = pf_db_prepare(out->db,
				    "INSERT INTO capture VALUES(?1, ?2, NULL)",
				    out->db->err);

	sqlite3_bind_int64(st, 1, out->rank_id);
	sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
	return pf_db_put(out->db, st, out->db->err);
}

int pf_fleet_put_rank(struct pf_fleet_out *out, const struct pf_fleet_rank *r)
{
	PF_STMT(st) = pf_db_prepare(
		out->db,
		"INSERT INTO rank VALUES(?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
		" ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
		out->db->err);
	int count = PF_LEN(rank_fields), rc = -1;

	out->rank_id++;
	if (st) {
		sqlite3_bind_int64(st, 1, out->rank_id);
		for (int i = 1; i < count; i++) {
			struct pf_cell cell = pf_field_cell(&rank_fields[i], r);

			bind(NULL, st, i + 1, &cell);
		}
		sqlite3_bind_text(st, count + 1, PACKAGE_VERSION, -1,
				  SQLITE_STATIC);
		rc = pf_db_put(out->db, st, out->db->err);
	}
	return rc < 0 ? -1 : put_capture(out, r->capture);
}

int pf_fleet_summarise(struct pf_fleet_out *out, struct pf_db *db,
		       const char *capture, const char *db_path, bool *is_fatal)
{
	PF_AUTO(release) struct found f = { 0 };
	PF_OWN char *name = NULL;

	*is_fatal = false;
	PF_TRY(find(db, &f));
	name = pf_fleet_capture_name(f.rank.path);
	f.rank.capture = capture ? capture : name;
	f.rank.db = db_path;
	*is_fatal = put_rows(out, &f);
	return -*is_fatal;
}
