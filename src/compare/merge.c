/* SPDX-License-Identifier: MIT */
/*
 * A fleet: how a rank is summed up and written, and then how fleets are made of
 * many inputs.  1. Traces and databases become summaries.  2. The ranks of all
 * parts are listed in a database that is in no folder, get their labels, and
 * are put in order there (schema/fleet/plan.sql).  3. They are copied in this
 * order, and so are their strings.
 */
#include "config.h"

#include "compare/merge.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "analysis/idle/gaps.h"
#include "analysis/memory/usage.h"
#include "analysis/ranks/digest.h"
#include "analysis/time/kernels.h"
#include "analysis/time/overlap.h"
#include "analysis/time/steps.h"
#include "analysis/trust/doctor.h"
#include "base/buf.h"
#include "base/inside.h"
#include "base/intern.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/outplace.h"
#include "base/search.h"
#include "base/xxh128.h"
#include "compare/fleet.h"
#include "ingest/files.h"
#include "ingest/ingest.h"
#include "ingest/source_name.h"
#include "show/doc.h"
#include "store/db.h"
#include "store/query.h"
#include "torch/averages.h"

/* Where databases of ranks are, as a fleet that may move with them says it. */

/* The folder that a file is or will be in, without links; NULL: there is none. */
static char *place_folder(const char *path, struct pf_err *err)
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

/* What pf_place_from() makes "path" of; both begin with "/". */
static char *place_relative(const char *folder, const char *path)
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

static int fleet_out_open(struct pf_fleet_out *out, struct pf_db *db)
{
	*out = (struct pf_fleet_out){ .db = db };
	out->text =
		pf_db_prepare(db, "INSERT INTO string VALUES(?1, ?2)", db->err);
	return out->text ? 0 : -1;
}

static void fleet_out_close(struct pf_fleet_out *out)
{
	sqlite3_finalize(out->text);
	pf_intern_release(&out->texts);
	*out = (struct pf_fleet_out){ 0 };
}

/* ---- strings ---- */

/* The number of a string. */
static int fleet_text(struct pf_fleet_out *out, const char *s, size_t len,
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
		PF_TRY(fleet_text(out, cell->v.text.s, cell->v.text.len, &id));
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
	PF_BIND(st, out->rank_id << PF_FLEET_SHIFT | position, out->rank_id);
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
	return pf_digest_put(d, context)
		       ? 0
		       : pf_fail(err, PF_EDATA,
				 "times are too large to be added up");
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
		PF_BIND(st, out->rank_id << PF_FLEET_SHIFT, out->rank_id);
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
			values[i] =
				pf_arena_string(texts, pf_sqlite_text(st, 1));
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

/* Of one trace, which has this digest?  False with err set: it cannot be opened. */
static bool is_of_trace(const char *path, const char *digest,
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
		is = !strcmp(pf_sqlite_text(st, 0), digest);
	return is && pf_db_step(&db, st, err) == 0;
}

/* ---- from a fleet to the database of a rank ---- */

enum { RANK_DB, RANK_XXH128, RANK_ERROR, RANK_PATH, RANK_READ_COUNT };

static int check_row(sqlite3_stmt *st, int64_t rank, struct pf_err *err)
{
	int64_t count = sqlite3_column_int64(st, RANK_READ_COUNT);

	if (pf_sqlite_text(st, RANK_ERROR))
		return pf_fail(err, PF_EDATA,
			       "rank %" PRId64 " could not be read when it was "
			       "merged: %s",
			       rank, pf_sqlite_text(st, RANK_ERROR));
	if (count > 1)
		return pf_fail(err, PF_EUSAGE,
			       "the fleet has %" PRId64 " traces of rank "
			       "%" PRId64 ", of several captures; name a "
			       "database, such as that of '%s'",
			       count, rank, pf_sqlite_text(st, RANK_PATH));
	if (!pf_sqlite_text(st, RANK_DB))
		return pf_fail(err, PF_EDATA,
			       "the database of rank %" PRId64 " was not kept "
			       "('profan merge --keep DIR' does); its trace is "
			       "'%s'",
			       rank, pf_sqlite_text(st, RANK_PATH));
	return 0;
}

static int find_rank(struct pf_db *db, sqlite3_stmt *st, int64_t rank,
		     const char *folder, char **path)
{
	int rc;

	sqlite3_bind_int64(st, 1, rank);
	rc = pf_db_step(db, st, db->err);
	PF_TRY(rc < 0);
	if (!rc)
		return pf_fail(db->err, PF_EUSAGE,
			       "there is no rank %" PRId64 " in this fleet",
			       rank);
	PF_TRY(check_row(st, rank, db->err));
	*path = pf_place_from(folder, pf_sqlite_text(st, RANK_DB));
	if (pf_sqlite_text(st, RANK_XXH128) &&
	    !is_of_trace(*path, pf_sqlite_text(st, RANK_XXH128), db->err)) {
		free(*path);
		*path = NULL;
		PF_TRY(db->err->code);
		return pf_fail(db->err, PF_EDATA,
			       "'%s' is no more the database of rank %" PRId64
			       " that was merged: its trace is another",
			       pf_sqlite_text(st, RANK_DB), rank);
	}
	return 0;
}

int pf_fleet_rank_take(const char *fleet, int64_t rank, char **path,
		       struct pf_err *err)
{
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };
	PF_OWN char *folder = place_folder(fleet, err);
	PF_STMT(st) = NULL;

	*path = NULL;
	PF_TRY(!folder || pf_db_open_kind(&db, fleet, &pf_fleet_kind, err));
	st = pf_named_prepare(&db, "fleet/rank", err);
	return find_rank(&db, st, rank, folder, path);
}

/*
 * All is found before anything is written, so that a rank is there as a whole
 * or not at all.
 */

#define F(row, ...)       PF_FIELD(row, __VA_ARGS__, "", PF_INT)
#define F_KNOWN(row, ...) PF_FIELD(row, __VA_ARGS__, "", PF_KNOWN)
#define F_MAYBE(row, ...) PF_FIELD(row, __VA_ARGS__, "", PF_MAYBE)

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
	F_KNOWN(S, step),
	F(S, is_partial),
	F(S, start_ns),
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
	F(K, first, "name"),
	F(K, class_word, "class"),
	F(K, precision),
	F(K, ns.of.count, "calls"),
	F(K, ns.of.sum, "total_ns"),
	F(K, ns.of.min, "min_ns"),
	F(K, ns.median, "median_ns"),
	F(K, ns.of.max, "max_ns"),
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
	F(struct op, name),
	F(struct op, is_device),
	F(struct op, is_annotation, "is_user_annotation"),
	F(struct op, calls),
	F(struct op, sum.ns[PF_FIG_SELF_CPU], "self_cpu_ns"),
	F(struct op, sum.ns[PF_FIG_CPU], "cpu_total_ns"),
	F(struct op, sum.ns[PF_FIG_SELF_DEVICE], "self_device_ns"),
	F(struct op, sum.ns[PF_FIG_DEVICE], "device_total_ns"),
	F(struct op, sum.bytes[PF_FIG_SELF_CPU], "self_cpu_mem_bytes"),
	F(struct op, sum.bytes[PF_FIG_CPU], "cpu_mem_bytes"),
	F(struct op, sum.bytes[PF_FIG_SELF_DEVICE], "self_device_mem_bytes"),
	F(struct op, sum.bytes[PF_FIG_DEVICE], "device_mem_bytes"),
	F_KNOWN(struct op, flops),
};

static const struct pf_field idle_fields[] = {
	F(struct pf_gap_cause, name, "cause"),
	F(struct pf_gap_cause, ns),
	F(struct pf_gap_cause, count, "gap_count"),
	F(struct pf_gap_cause, longest_ns),
	F(struct pf_gap_cause, recoverable_ns),
};

#define G struct pf_gap_culprit
static const struct pf_field site_fields[] = {
	F(G, cause),      F(G, name), F(G, op),
	F(G, frame),      F(G, ns),   F(G, count, "gap_count"),
	F(G, longest_ns),
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
	F_KNOWN(D, device),
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
	F(C, collective),          F(C, group),
	F(C, description),         F(C, dtype),
	F_KNOWN(C, group_size),    F(C, dur.count, "calls"),
	F(C, dur.sum, "total_ns"), F(C, dur.min, "min_ns"),
	F(C, dur.max, "max_ns"),   F(C, message_count),
	F_KNOWN(C, in_bytes),      F_KNOWN(C, out_bytes),
};
#undef C

static const struct pf_field finding_fields[] = {
	F(struct pf_doctor_check, name, "check"),
	F(struct pf_doctor_check, verdict),
	F(struct pf_doctor_check, count),
	F_KNOWN(struct pf_doctor_check, gpu_ns),
};

#define M struct pf_usage_device
static const struct pf_field memory_fields[] = {
	F(M, at.device, "device"),
	F(M, is_absolute),
	F_MAYBE(M, peak, "peak_bytes"),
	F_MAYBE(M, capacity, "capacity_bytes"),
	F_MAYBE(M, peak_reserved, "peak_reserved_bytes"),
	F_MAYBE(M, unused, "unused_bytes"),
	F_MAYBE(M, allocation_count),
	F_MAYBE(M, allocated, "allocated_bytes"),
	F_MAYBE(M, freed_count),
	F_MAYBE(M, freed, "freed_bytes"),
	F_MAYBE(M, kept_count),
	F_MAYBE(M, kept, "kept_bytes"),
	F_MAYBE(M, oom_count),
};
#undef M

/* As schema/fleet/trace.sql has them, and but for the first the table "rank". */
#define R struct pf_fleet_rank
static const struct pf_field rank_fields[] = {
	F_MAYBE(R, trace_id),
	F_MAYBE(R, rank),
	F_MAYBE(R, world_size),
	F(R, labels),
	F(R, error),
	F(R, path),
	F(R, db),
	F(R, xxh128),
	F(R, format),
	F_MAYBE(R, file_bytes),
	F_MAYBE(R, json_bytes),
	F_MAYBE(R, base_ns),
	F_MAYBE(R, first_ns),
	F_MAYBE(R, last_ns),
	F_MAYBE(R, event_count),
	F_MAYBE(R, stored_count),
	F_MAYBE(R, metadata_count),
	F_MAYBE(R, paired_count),
	F_MAYBE(R, skipped_count),
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
	struct pf_fleet_rank *rows = pf_named_read(
		db, "fleet/trace", PF_FIELDS(rank_fields), &f->texts, &count);

	PF_TRY(!rows);
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

	PF_TRY(find_trace(db, f) || pf_step_times_find(db, &steps, &f->steps) ||
	       pf_kernels_find(db, &kernels, &f->kernels) ||
	       find_averages(db, f) || pf_gaps_find(db, &gaps, &f->gaps) ||
	       pf_overlap_find(db, &overlap, &f->overlap) ||
	       pf_doctor_find(db, &f->doctor) ||
	       pf_usage_find(db, &usage, NULL, &f->usage) ||
	       fleet_digest_make(db, &f->digest));
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

/* The next rank is one that failed: error, path and what else is known. */
static int fleet_put_rank(struct pf_fleet_out *out,
			  const struct pf_fleet_rank *r)
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

static int put_rows(struct pf_fleet_out *out, const struct found *f)
{
	size_t sites = f->gaps.culprit_count < PF_FLEET_SITES
			       ? f->gaps.culprit_count
			       : PF_FLEET_SITES;

	PF_TRY(fleet_put_rank(out, &f->rank) ||
	       fleet_figures_put(out, &pf_fleet_step_figures, f->steps.steps,
				 f->steps.count, sizeof(*f->steps.steps)) ||
	       PUT(out, "kernel", kernel_fields, f->kernels.rows,
		   (size_t)f->kernels.row_count) ||
	       put_ops(out, &f->averages) ||
	       PUT(out, "idle", idle_fields, f->gaps.causes,
		   f->gaps.cause_count) ||
	       PUT(out, "idle_site", site_fields, f->gaps.culprits, sites) ||
	       fleet_figures_put(out, &pf_fleet_device_figures,
				 f->overlap.devices, f->overlap.device_count,
				 sizeof(*f->overlap.devices)) ||
	       PUT(out, "collective", collective_fields, f->overlap.collectives,
		   f->overlap.collective_count) ||
	       put_findings(out, &f->doctor) ||
	       PUT(out, "memory", memory_fields, f->usage.devices,
		   f->usage.device_count) ||
	       fleet_digest_put(out, &f->digest));
	return 0;
}

/* ---- the rank ---- */

/* What a capture is called, of the path of a trace; the caller frees it. */
static char *fleet_capture_name(const char *path)
{
	PF_OWN char *run = pf_source_run(path);
	char *base = strrchr(run, '/');

	base = base ? base + 1 : run;
	return pf_strdup(*base && strcmp(base, ".") && strcmp(base, "..")
				 ? base
				 : "capture");
}

/*
 * Write the summary of the only trace of an open database as the next rank.
 * capture NULL: the name of the folder of its run.  db_path: where the
 * database will be found, or NULL.  PF_EDATA if there are several traces.
 * After a failure that is the database's, nothing of the rank is there; one
 * of the output is *is_fatal.
 */
static int fleet_summarise(struct pf_fleet_out *out, struct pf_db *db,
			   const char *capture, const char *db_path,
			   bool *is_fatal)
{
	PF_AUTO(release) struct found f = { 0 };
	PF_OWN char *name = NULL;

	*is_fatal = false;
	PF_TRY(find(db, &f));
	name = fleet_capture_name(f.rank.path);
	f.rank.capture = capture ? capture : name;
	f.rank.db = db_path;
	*is_fatal = put_rows(out, &f);
	return -*is_fatal;
}

/*
 * What the arguments of a merge mean.  A folder is the traces below it, as
 * for "profan ingest", or, if it has none, the databases below it; fleets are
 * left out of a folder of which only a shard is meant, for what other shards
 * write there is none of it.  A shard is a part of the list without a gap, the
 * same whoever asks as long as the folders do not change.
 */

enum pf_fleet_source { PF_SOURCE_TRACE, PF_SOURCE_DATABASE, PF_SOURCE_FLEET };

struct pf_fleet_inputs {
	struct pf_fleet_input {
		char *path;
		bool is_named; /* not found in a folder */
		int64_t rank;  /* by the names of all; -1: not said */
		enum pf_fleet_source source;
	} * items;
	size_t count, cap;
};

struct pf_fleet_shard {
	int64_t index, count; /* count 0: all */
};

/* ---- shards ---- */

/* "3/64", from 0 on; PF_EUSAGE if it is not. */
static int fleet_shard_read(const char *text, struct pf_fleet_shard *out,
			    struct pf_err *err)
{
	const char *slash = strchr(text, '/');
	PF_OWN char *head =
		pf_memdup0(text, slash ? (size_t)(slash - text) : 0);
	bool ok = slash && !pf_num_int(head, &out->index) &&
		  !pf_num_int(slash + 1, &out->count) && out->index >= 0 &&
		  out->index < out->count && out->count <= 1000000;

	if (ok)
		return 0;
	return pf_fail(err, PF_EUSAGE,
		       "'--shard %s': it is I/N, such as 0/64 to 63/64", text);
}

/* ---- what a path is ---- */

/* What is named may be unreadable, and is a rank that failed. */
static int add(struct pf_fleet_inputs *in, const char *path, bool is_named,
	       struct pf_err *err)
{
	struct pf_err why = { 0 };
	int64_t id = pf_db_peek(path, &why);

	if (why.code && !pf_err_is_of_input(&why)) {
		*err = why;
		return -1;
	}
	*PF_ONE_MORE(in->items, in->count, in->cap) = (struct pf_fleet_input){
		.path = pf_strdup(path),
		.is_named = is_named,
		.source = id == PF_FLEET_APPLICATION_ID ? PF_SOURCE_FLEET
			  : id == PF_APPLICATION_ID     ? PF_SOURCE_DATABASE
							: PF_SOURCE_TRACE,
	};
	return 0;
}

static bool is_called_database(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && !strcmp(name + n - 3, ".db");
}

static bool is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* ---- folders ---- */

static int add_databases(struct pf_fleet_inputs *in, const char *folder,
			 const struct pf_fleet_shard *shard,
			 const char *out_path, struct pf_err *err)
{
	PF_AUTO(pf_paths_release) struct pf_paths found = { 0 };

	PF_TRY(pf_walk_folder(folder, is_called_database, &found, NULL, err));
	for (size_t i = 0; i < found.count; i++) {
		const char *path = found.items[i];
		struct pf_err why = { 0 };
		int64_t id = pf_db_peek(path, &why);
		int is_other = id == PF_FLEET_APPLICATION_ID
				       ? shard->count || is_same(path, out_path)
			       : id == PF_APPLICATION_ID
				       ? pf_db_is_cache(path, &why)
				       : 1;

		if (why.code && !pf_err_is_of_input(&why)) {
			*err = why;
			return -1;
		}
		PF_TRY(!is_other && add(in, path, false, err));
	}
	return 0;
}

static int add_folder(struct pf_fleet_inputs *in, const char *folder,
		      const struct pf_fleet_shard *shard, const char *out_path,
		      struct pf_err *err)
{
	char *one[] = { (char *)folder };
	PF_AUTO(pf_paths_release) struct pf_paths traces = { 0 };
	size_t before = in->count;

	PF_TRY(pf_choose_files(one, 1, &traces, err));
	for (size_t i = 0; i < traces.count; i++)
		PF_TRY(add(in, traces.items[i], false, err));
	if (in->count == before)
		PF_TRY(add_databases(in, folder, shard, out_path, err));
	if (in->count == before)
		return pf_fail(err, PF_EDATA,
			       "folder '%s' has neither traces nor databases",
			       folder);
	return 0;
}

/* ---- all inputs ---- */

static void cut(struct pf_fleet_inputs *in, const struct pf_fleet_shard *shard)
{
	size_t of = (size_t)shard->count, i = (size_t)shard->index, kept = 0;
	size_t from = in->count * i / of, to = in->count * (i + 1) / of;

	for (size_t k = 0; k < in->count; k++)
		if (k >= from && k < to)
			in->items[kept++] = in->items[k];
		else
			free(in->items[k].path);
	in->count = kept;
}

static void find_ranks(struct pf_fleet_inputs *in)
{
	PF_OWN const char **paths = pf_calloc(in->count + 1, sizeof(*paths));
	PF_OWN int64_t *ranks = NULL;

	for (size_t i = 0; i < in->count; i++)
		paths[i] = in->items[i].path;
	ranks = pf_source_ranks(paths, in->count);
	for (size_t i = 0; i < in->count; i++)
		in->items[i].rank = ranks[i];
}

/* out_path: what is written, which is no input of a folder. */
static int fleet_inputs_find(char *const *arguments, size_t count,
			     const struct pf_fleet_shard *shard,
			     const char *out_path, struct pf_fleet_inputs *out,
			     struct pf_err *err)
{
	for (size_t i = 0; i < count; i++) {
		int is;

		if (!strcmp(arguments[i], "-"))
			return pf_fail(
				err, PF_EUSAGE,
				"a merge reads files, not standard input");
		is = pf_input_is_folder(arguments[i], err);
		PF_TRY(is < 0 ||
		       (is ? add_folder(out, arguments[i], shard, out_path, err)
			   : add(out, arguments[i], true, err)));
	}
	find_ranks(out);
	if (shard->count)
		cut(out, shard);
	return 0;
}

static void fleet_inputs_release(struct pf_fleet_inputs *in)
{
	for (size_t i = 0; i < in->count; i++)
		free(in->items[i].path);
	free(in->items);
	*in = (struct pf_fleet_inputs){ 0 };
}

/*
 * Labels of ranks: "--label K=V" is of all, a file has a row for each rank:
 *
 *	rank,host,rack,tp
 *	0,n001,a,0
 *	1,n001,a,1
 *
 * Empty cells say nothing.
 */

/* ---- labels ---- */

#define COLUMNS_MAX 64
#define CELL_MAX    4096

struct reading {
	struct pf_db *scratch;
	sqlite3_stmt *insert;
	const char *file;
	char *names[COLUMNS_MAX]; /* of the first line */
	char *cells[COLUMNS_MAX];
	size_t name_count, cell_count, line;
	size_t rank_column;
	struct pf_err *err;
	int rc;
};

/* rank PF_NO_INT: of all. */
static int add_label(struct reading *r, int64_t rank, const char *key,
		     size_t key_len, const char *value)
{
	if (rank == PF_NO_INT)
		sqlite3_bind_null(r->insert, 1);
	else
		sqlite3_bind_int64(r->insert, 1, rank);
	sqlite3_bind_text(r->insert, 2, key, (int)key_len, SQLITE_STATIC);
	sqlite3_bind_text(r->insert, 3, value, -1, SQLITE_STATIC);
	return pf_db_put(r->scratch, r->insert, r->err);
}

/* ---- the file ---- */

static void forget_cells(struct reading *r)
{
	for (size_t i = 0; i < r->cell_count; i++)
		free(r->cells[i]);
	r->cell_count = 0;
}

static int take_names(struct reading *r)
{
	r->rank_column = COLUMNS_MAX;
	for (size_t i = 0; i < r->cell_count; i++) {
		r->names[i] = r->cells[i];
		if (!strcmp(r->names[i], "rank"))
			r->rank_column = i;
	}
	r->name_count = r->cell_count;
	r->cell_count = 0;
	if (r->rank_column < COLUMNS_MAX)
		return 0;
	return pf_fail(r->err, PF_EDATA,
		       "'%s': the first line has no column 'rank'", r->file);
}

static int take_row(struct reading *r)
{
	int64_t rank;

	if (r->cell_count > r->name_count)
		return pf_fail(r->err, PF_EDATA,
			       "'%s': row %zu has %zu cells, and the first "
			       "row %zu",
			       r->file, r->line, r->cell_count, r->name_count);
	if (r->rank_column >= r->cell_count ||
	    pf_num_int(r->cells[r->rank_column], &rank) || rank < 0)
		return pf_fail(r->err, PF_EDATA,
			       "'%s': row %zu has no number of a rank", r->file,
			       r->line);
	for (size_t i = 0; i < r->cell_count; i++)
		if (i != r->rank_column && *r->cells[i])
			PF_TRY(add_label(r, rank, r->names[i],
					 strlen(r->names[i]), r->cells[i]));
	return 0;
}

static void on_cell(void *text, size_t len, void *arg)
{
	struct reading *r = arg;

	if (r->rc)
		return;
	if (r->cell_count == COLUMNS_MAX || len > CELL_MAX)
		r->rc = pf_fail(r->err, PF_ELIMIT,
				"'%s': row %zu has more than %d columns or a "
				"cell of more than %d bytes",
				r->file, r->line + 1, COLUMNS_MAX, CELL_MAX);
	else
		r->cells[r->cell_count++] = pf_memdup0(text, len);
}

static void on_row(int end, void *arg)
{
	struct reading *r = arg;

	(void)end;
	r->line++;
	if (!r->rc)
		r->rc = r->name_count ? take_row(r) : take_names(r);
	forget_cells(r);
}

static int parse(struct reading *r, FILE *in)
{
	struct csv_parser parser;
	char bytes[4096];
	size_t n;

	if (csv_init(&parser, 0))
		return pf_fail(r->err, PF_EIO, "out of memory");
	while (!r->rc && (n = fread(bytes, 1, sizeof(bytes), in)) > 0)
		if (csv_parse(&parser, bytes, n, on_cell, on_row, r) != n)
			r->rc = pf_fail(r->err, PF_EDATA, "'%s': %s", r->file,
					csv_strerror(csv_error(&parser)));
	if (!r->rc)
		csv_fini(&parser, on_cell, on_row, r);
	csv_free(&parser);
	if (!r->rc && ferror(in))
		r->rc = pf_fail_errno(r->err, "cannot read '%s'", r->file);
	if (!r->rc && !r->name_count)
		r->rc = pf_fail(r->err, PF_EDATA, "'%s' is empty", r->file);
	return r->rc;
}

static int read_file(struct reading *r)
{
	FILE *in = pf_inside_fopen(r->file);
	int rc;

	if (!in)
		return pf_fail_open(r->err, "cannot open '%s'", r->file);
	rc = parse(r, in);
	fclose(in);
	forget_cells(r);
	for (size_t i = 0; i < r->name_count; i++)
		free(r->names[i]);
	return rc;
}

/* ---- both ---- */

static int add_words(struct reading *r, const char *const *labels, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strcspn(labels[i], "=");

		if (!len || labels[i][len] != '=')
			return pf_fail(r->err, PF_EUSAGE,
				       "'--label %s': it is KEY=VALUE",
				       labels[i]);
		PF_TRY(add_label(r, PF_NO_INT, labels[i], len,
				 labels[i] + len + 1));
	}
	return 0;
}

/* Add those of a file, then those of the command line, to the table "label". */
static int fleet_labels_add(struct pf_db *scratch, const char *file,
			    const char *const *labels, size_t count,
			    struct pf_err *err)
{
	PF_STMT(insert) = pf_db_prepare(scratch,
					"INSERT INTO label (rank, key, value)"
					" VALUES(?1, ?2, ?3)",
					err);
	struct reading r = {
		.scratch = scratch, .insert = insert, .file = file, .err = err
	};

	PF_TRY(!insert || (file && read_file(&r)));
	return add_words(&r, labels, count);
}

/*
 * Reading fleets that are merged: few are open at once, for a fleet may be
 * made of thousands.
 */

#define PF_FLEET_OPEN 16 /* at once */

/* A fleet that is merged.  Zero-initialised but for these: */
struct pf_fleet_part {
	const char *path;    /* borrowed; or NULL: */
	struct pf_db *given; /* always open */
	struct pf_db own;
	sqlite3_stmt *rows[PF_FLEET_TABLES], *text;
	struct pf_map texts; /* its strings -> those of the output */
	bool is_open;
	uint64_t used; /* when last */
};

struct pf_fleet_copy {
	struct pf_fleet_out *out; /* borrowed */
	struct pf_err *err;
	struct pf_fleet_part *parts;
	size_t part_count, open_count;
	uint64_t clock;
	struct pf_fleet_columns {
		struct pf_buf list; /* "id, rank_id, name_id" */
		bool is_text[PF_FLEET_COLUMNS];
		int count;
	} columns[PF_FLEET_TABLES];
	sqlite3_stmt *insert[PF_FLEET_TABLES];
};

/* ---- columns ---- */

static bool is_text_column(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && !strcmp(name + n - 3, "_id") && strcmp(name, "rank_id");
}

/* Those of the schema that is written. */
static int read_columns(struct pf_fleet_copy *c, int table)
{
	struct pf_fleet_columns *of = &c->columns[table];
	PF_STMT(st) = pf_db_prepare(
		c->out->db, "SELECT name FROM pragma_table_info(?1)", c->err);
	int rc = st ? 1 : -1;

	PF_TRY(!st);
	sqlite3_bind_text(st, 1, pf_fleet_tables[table], -1, SQLITE_STATIC);
	while (of->count < PF_FLEET_COLUMNS &&
	       (rc = pf_db_step(c->out->db, st, c->err)) == 1) {
		const char *name = pf_sqlite_text(st, 0);

		pf_buf_addf(&of->list, "%s%s", of->count ? ", " : "", name);
		of->is_text[of->count++] = is_text_column(name);
	}
	return rc < 0 ? -1 : 0;
}

static int prepare_insert(struct pf_fleet_copy *c, int table)
{
	PF_AUTO(pf_buf_release) struct pf_buf sql = { 0 };

	pf_buf_addf(&sql, "INSERT INTO %s VALUES(?", pf_fleet_tables[table]);
	for (int i = 1; i < c->columns[table].count; i++)
		pf_buf_adds(&sql, ", ?");
	pf_buf_adds(&sql, ")");
	c->insert[table] = pf_db_prepare(c->out->db, sql.data, c->err);
	return c->insert[table] ? 0 : -1;
}

/* Only where a rank is copied. */
static int prepare_out(struct pf_fleet_copy *c)
{
	for (int t = 0; t < PF_FLEET_TABLES && !c->insert[t]; t++)
		PF_TRY(read_columns(c, t) || prepare_insert(c, t));
	return 0;
}

/* ---- parts ---- */

static void close_part(struct pf_fleet_copy *c, struct pf_fleet_part *p)
{
	if (!p->is_open)
		return;
	for (int t = 0; t < PF_FLEET_TABLES; t++)
		sqlite3_finalize(p->rows[t]);
	sqlite3_finalize(p->text);
	memset(p->rows, 0, sizeof(p->rows));
	p->text = NULL;
	pf_map_release(&p->texts);
	pf_db_close(&p->own);
	p->is_open = false;
	c->open_count -= !p->given;
}

static void fleet_copy_release(struct pf_fleet_copy *c)
{
	for (size_t i = 0; i < c->part_count; i++)
		close_part(c, &c->parts[i]);
	for (int t = 0; t < PF_FLEET_TABLES; t++) {
		sqlite3_finalize(c->insert[t]);
		pf_buf_release(&c->columns[t].list);
	}
	*c = (struct pf_fleet_copy){ 0 };
}

static struct pf_db *db_of(struct pf_fleet_part *p)
{
	return p->given ? p->given : &p->own;
}

static int prepare_rows(struct pf_fleet_copy *c, struct pf_fleet_part *p,
			int table)
{
	PF_AUTO(pf_buf_release) struct pf_buf sql = { 0 };

	pf_buf_addf(&sql,
		    "SELECT %s FROM %s WHERE id >= ?1 AND id < ?2 ORDER BY id",
		    c->columns[table].list.data, pf_fleet_tables[table]);
	p->rows[table] = pf_db_prepare(db_of(p), sql.data, c->err);
	return p->rows[table] ? 0 : -1;
}

static int open_part(struct pf_fleet_copy *c, struct pf_fleet_part *p,
		     struct pf_err *err)
{
	PF_TRY(!p->given &&
	       pf_db_open_kind(&p->own, p->path, &pf_fleet_kind, err));
	if (!p->given)
		p->own.err = c->out->db->err; /* it stays open */
	p->is_open = true;
	c->open_count += !p->given;
	return 0;
}

/* Only of parts that are copied from: they are listed first. */
static int prepare_part(struct pf_fleet_copy *c, struct pf_fleet_part *p)
{
	if (p->text)
		return 0;
	for (int t = 0; t < PF_FLEET_TABLES; t++)
		PF_TRY(prepare_rows(c, p, t));
	p->text = pf_db_prepare(
		db_of(p), "SELECT text FROM string WHERE id = ?1", c->err);
	return p->text ? 0 : -1;
}

/* The one that was not asked for longest. */
static void close_oldest(struct pf_fleet_copy *c)
{
	struct pf_fleet_part *oldest = NULL;

	for (size_t i = 0; i < c->part_count; i++)
		if (c->parts[i].is_open && !c->parts[i].given &&
		    (!oldest || c->parts[i].used < oldest->used))
			oldest = &c->parts[i];
	if (oldest)
		close_part(c, oldest);
}

/* The database of a part, open until another one is asked for. */
static struct pf_db *fleet_part_db(struct pf_fleet_copy *c, size_t part,
				   struct pf_err *err)
{
	struct pf_fleet_part *p = &c->parts[part];

	p->used = ++c->clock;
	if (!p->is_open) {
		if (c->open_count >= PF_FLEET_OPEN)
			close_oldest(c);
		if (open_part(c, p, err))
			return NULL;
	}
	return db_of(p);
}

/* ---- rows ---- */

static int copy_text(struct pf_fleet_copy *c, struct pf_fleet_part *p,
		     int64_t from, int64_t *to)
{
	uint64_t *place = pf_map_at(&p->texts, (uint64_t)from);
	int rc;

	if (*place != UINT64_MAX) {
		*to = (int64_t)*place;
		return 0;
	}
	sqlite3_bind_int64(p->text, 1, from);
	rc = pf_db_step(db_of(p), p->text, c->err);
	if (rc == 1 && sqlite3_column_type(p->text, 0) == SQLITE_TEXT)
		rc = fleet_text(c->out, pf_sqlite_text(p->text, 0),
				(size_t)sqlite3_column_bytes(p->text, 0), to);
	else if (rc >= 0)
		rc = pf_fail(c->err, PF_EDB, "string %lld is missing",
			     (long long)from);
	sqlite3_reset(p->text);
	if (!rc)
		*place = (uint64_t)*to;
	return rc;
}

static int bind_row(struct pf_fleet_copy *c, struct pf_fleet_part *p, int table,
		    int64_t position)
{
	const struct pf_fleet_columns *of = &c->columns[table];
	sqlite3_stmt *to = c->insert[table], *from = p->rows[table];
	int64_t text = 0;

	PF_BIND(to, c->out->rank_id << PF_FLEET_SHIFT | position,
		c->out->rank_id);
	for (int i = 2; i < of->count; i++)
		if (!of->is_text[i] ||
		    sqlite3_column_type(from, i) != SQLITE_INTEGER) {
			sqlite3_bind_value(to, i + 1,
					   sqlite3_column_value(from, i));
		} else {
			PF_TRY(copy_text(c, p, sqlite3_column_int64(from, i),
					 &text));
			sqlite3_bind_int64(to, i + 1, text);
		}
	return 0;
}

static int copy_table(struct pf_fleet_copy *c, struct pf_fleet_part *p,
		      int table, int64_t rank_id)
{
	sqlite3_stmt *from = p->rows[table], *to = c->insert[table];
	int64_t first = rank_id << PF_FLEET_SHIFT, position = 0;
	int rc;

	PF_BIND(from, first, first + (INT64_C(1) << PF_FLEET_SHIFT));
	while ((rc = pf_db_step(db_of(p), from, c->err)) == 1) {
		if (bind_row(c, p, table, position++) ||
		    pf_db_step(c->out->db, to, c->err) < 0) {
			rc = -1;
			break;
		}
		sqlite3_reset(to);
	}
	sqlite3_reset(to);
	sqlite3_reset(from);
	return rc;
}

/* Rows of a rank of a part become those of out->rank_id. */
static int fleet_copy_rank(struct pf_fleet_copy *c, size_t part,
			   int64_t rank_id)
{
	struct pf_fleet_part *p = &c->parts[part];
	int rc = fleet_part_db(c, part, c->err) ? 0 : -1;

	if (!rc && (rank_id < 1 || rank_id >> (62 - PF_FLEET_SHIFT)))
		rc = pf_fail(c->err, PF_EDB, "rank %lld is damaged",
			     (long long)rank_id);
	if (!rc)
		rc = prepare_out(c);
	if (!rc)
		rc = prepare_part(c, p);
	for (int t = 0; t < PF_FLEET_TABLES && !rc; t++)
		rc = copy_table(c, p, t, rank_id);
	return rc && p->path ? pf_while(c->err, "'%s'", p->path) : rc;
}

/*
 * Traces and databases of ranks become summaries: each worker takes the next
 * input, reads it if it is a trace, and adds its summary to a fleet of its
 * own, which is in no folder.  An input that cannot be read costs itself
 * alone, and is a rank with an error.
 */

#define PF_FLEET_WORKERS 16

struct pf_fleet_work {
	const struct pf_fleet_inputs *inputs;
	const char *capture; /* of all; NULL: as their paths say */
	const char *keep;    /* folder of the databases; NULL: none is kept */
	size_t threads;
	/* What came of it: */
	struct pf_db parts[PF_FLEET_WORKERS];
	size_t part_count;
	_Atomic size_t failed; /* inputs */
	_Atomic size_t passed; /* files of folders that are no traces */
	/* What workers share: */
	_Atomic size_t next;
	_Atomic bool is_stopped;
	struct pf_outfolder folder;
};

/*
 * A database that is kept is named after its trace and the digest of it, so
 * that no two traces want one name, and what is there need not be made again.
 * Others are made in a temporary folder, one a worker, and removed at once.
 */

#define NAME_DIGITS 12 /* of the digest, in the name of a database */

struct worker {
	struct pf_fleet_work *work;
	struct pf_fleet_out out;
	char *temporary; /* database */
	size_t slot;
	int64_t named_rank; /* of the input at hand */
	pthread_t thread;
	struct pf_err err; /* that ends the merge */
	int rc;
};

/* ---- which file it is ---- */

static int read_digest(const char *path, char digest[PF_XXH128_TEXT],
		       struct pf_err *err)
{
	int fd = pf_inside_open(path, O_RDONLY | O_CLOEXEC, 0), rc = 0;
	PF_OWN char *bytes = pf_alloc(1 << 18);
	struct pf_xxh128 *d = pf_xxh128_new();
	struct stat info;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &info))
		rc = pf_fail_open(err, "cannot open '%s'", path);
	else if (!S_ISREG(info.st_mode))
		rc = pf_fail(err, PF_EOPEN, "'%s' is not a regular file", path);
	while (!rc && n) {
		n = read(fd, bytes, 1 << 18);
		if (n > 0)
			pf_xxh128_add(d, bytes, (size_t)n);
		else if (n < 0 && errno != EINTR)
			rc = pf_fail_errno(err, "cannot read '%s'", path);
	}
	pf_xxh128_text(d, digest);
	pf_xxh128_free(d);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* ---- its database ---- */

static char *kept_path(const struct pf_fleet_work *work, const char *trace,
		       const char *digest)
{
	const char *base = strrchr(trace, '/');
	struct pf_buf path = { 0 };

	pf_buf_addf(&path, "%s/%s-%.*s.db", work->keep, base ? base + 1 : trace,
		    NAME_DIGITS, digest);
	return path.data;
}

/* Is it there, and whole? */
static bool is_made(const char *path, const char *digest)
{
	struct pf_err ignored = { 0 };

	return !access(path, F_OK) && is_of_trace(path, digest, &ignored);
}

/* process: of a file that was made of several, from 1; 0: all of it */
static int ingest(const struct worker *w, const char *trace, unsigned process,
		  const char *out, struct pf_err *err)
{
	const struct pf_ingest_options options = {
		.paths = &trace,
		.path_count = 1,
		.ranks = &w->named_rank,
		.out = out,
		.rank = -1,
		.process = process,
		.threads = w->work->threads > 1 ? 1 : 0,
		.extra = &pf_averages_extra,
	};

	return pf_ingest(&options, err);
}

static int make_database(struct worker *w, const char *trace, unsigned process,
			 const char *digest, char **path, struct pf_err *err)
{
	const struct pf_fleet_work *work = w->work;

	if (!work->keep) {
		*path = pf_strdup(w->temporary);
		return ingest(w, trace, process, *path, err);
	}
	*path = kept_path(work, trace, digest);
	return is_made(*path, digest) ? 0
				      : ingest(w, trace, process, *path, err);
}

/* Of how many processes the traces were made into one that is read: or 1. */
static int count_processes(const char *path, int64_t *count, struct pf_err *err)
{
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };

	PF_TRY(pf_db_open(&db, path, false, err));
	return pf_db_number(&db,
			    "SELECT ifnull(max(value), 1) FROM trace_fact"
			    " WHERE key = 'merged_count'"
			    " AND (SELECT count(*) FROM trace) = value",
			    count, err);
}

/* ---- its summary ---- */

/* db_path as it is seen from anywhere. */
static int summarise(struct worker *w, const char *path, bool is_kept,
		     bool *is_fatal, struct pf_err *err)
{
	PF_AUTO(pf_db_close) struct pf_db db = { 0 };
	PF_OWN char *folder = is_kept ? place_folder(path, err) : NULL;
	const char *base = strrchr(path, '/');
	PF_OWN char *full = NULL;

	PF_TRY(is_kept && !folder);
	if (folder)
		full = pf_place_from(folder, base ? base + 1 : path);
	PF_TRY(pf_db_open(&db, path, false, err));
	return fleet_summarise(&w->out, &db, w->work->capture, full, is_fatal);
}

static int add_process(struct worker *w, const char *trace, unsigned process,
		       const char *file, bool *is_fatal, struct pf_err *err)
{
	PF_OWN char *path = NULL;
	char digest[PF_XXH128_TEXT];
	bool is_kept = w->work->keep;
	int rc;

	pf_ingest_process_digest(file, process, digest);
	rc = make_database(w, trace, process, digest, &path, err);
	if (!rc)
		rc = summarise(w, path, is_kept, is_fatal, err);
	if (!is_kept)
		unlink(w->temporary);
	return rc;
}

/* A file that was made of those of several ranks is read again for each. */
static int add_trace(struct worker *w, const char *trace, const char *digest,
		     bool *is_fatal, struct pf_err *err)
{
	PF_OWN char *path = NULL;
	bool is_kept = w->work->keep;
	int64_t count = 1;
	int rc = make_database(w, trace, 0, digest, &path, err);

	if (!rc)
		rc = count_processes(path, &count, err);
	if (!rc && count == 1)
		rc = summarise(w, path, is_kept, is_fatal, err);
	/* or the kept folder would have these ranks twice */
	if (!rc && count > 1 && is_kept && unlink(path)) {
		*is_fatal = true;
		rc = pf_fail_errno(err, "cannot remove '%s'", path);
	}
	if (!is_kept)
		unlink(w->temporary);
	for (int64_t i = 1; count > 1 && i <= count && !rc; i++)
		rc = add_process(w, trace, (unsigned)i, digest, is_fatal, err);
	return rc;
}

/* ---- what cannot be read ---- */

static int put_failed(struct worker *w, const char *path, const char *digest,
		      const char *why)
{
	PF_OWN char *name = fleet_capture_name(path);
	const char *capture = w->work->capture;
	struct pf_fleet_rank rank = {
		.capture = capture ? capture : name,
		.rank = w->named_rank < 0 ? PF_NO_INT : w->named_rank,
		.world_size = PF_NO_INT,
		.error = why,
		.path = path,
		.xxh128 = digest,
		.file_bytes = PF_NO_INT,
		.json_bytes = PF_NO_INT,
		.base_ns = PF_NO_INT,
		.first_ns = PF_NO_INT,
		.last_ns = PF_NO_INT,
		.event_count = PF_NO_INT,
		.stored_count = PF_NO_INT,
		.metadata_count = PF_NO_INT,
		.paired_count = PF_NO_INT,
		.skipped_count = PF_NO_INT,
	};
	struct stat info;

	if (!stat(path, &info) && S_ISREG(info.st_mode))
		rank.file_bytes = info.st_size;
	w->work->failed++;
	return fleet_put_rank(&w->out, &rank);
}

/* ---- one input ---- */

/* A file of a folder that is called as traces are, and holds something else. */
static bool is_passed(const struct pf_fleet_input *input)
{
	struct pf_err ignored = { 0 };

	return !input->is_named && input->source == PF_SOURCE_TRACE &&
	       !pf_source_is_of_rank(input->path) &&
	       !pf_ingest_probe(input->path, NULL, &ignored);
}

static int add_input(struct worker *w, const struct pf_fleet_input *input,
		     struct pf_err *err)
{
	char digest[PF_XXH128_TEXT] = "";
	struct pf_err why = { 0 };
	bool is_fatal = false;
	int rc;

	if (is_passed(input)) {
		w->work->passed++;
		return 0;
	}
	w->named_rank = input->rank;
	w->out.db->err = &why;
	rc = read_digest(input->path, digest, &why);
	if (rc)
		digest[0] = '\0';
	else if (input->source == PF_SOURCE_TRACE)
		rc = add_trace(w, input->path, digest, &is_fatal, &why);
	else
		rc = summarise(w, input->path, true, &is_fatal, &why);
	w->out.db->err = err;
	if (!rc)
		return 0;
	if (!is_fatal && pf_err_is_of_input(&why))
		return put_failed(w, input->path, *digest ? digest : NULL,
				  why.text);
	*err = why;
	return -1;
}

static void *work_off(void *arg)
{
	struct worker *w = arg;
	struct pf_fleet_work *s = w->work;
	const struct pf_fleet_inputs *in = s->inputs;
	size_t i;

	while (!w->rc && !s->is_stopped && (i = s->next++) < in->count)
		if (in->items[i].source != PF_SOURCE_FLEET)
			w->rc = add_input(w, &in->items[i], &w->err);
	if (w->rc)
		s->is_stopped = true;
	return NULL;
}

/* ---- workers ---- */

static int set_up_worker(struct worker *w, struct pf_fleet_work *s,
			 struct pf_db *db, struct pf_err *err)
{
	struct pf_buf path = { 0 };

	w->work = s;
	w->slot = PF_OUTPLACE_UNWATCHED;
	PF_TRY(pf_db_create_kind(db, "", &pf_fleet_kind, err));
	PF_TRY(fleet_out_open(&w->out, db));
	if (s->folder.path) {
		pf_buf_addf(&path, "%s/%zu.db", s->folder.path, s->part_count);
		w->temporary = path.data;
		w->slot = pf_outplace_watch(w->temporary);
	}
	return 0;
}

static void release_worker(struct worker *w)
{
	fleet_out_close(&w->out);
	if (w->temporary)
		pf_outplace_unwatch(w->slot);
	free(w->temporary);
}

/* The first takes no thread. */
static int run_workers(struct worker *workers, size_t count, struct pf_err *err)
{
	size_t started = 1;
	int rc = 0;

	pf_mem_keep_below(PF_MEM_KEEP_LITTLE);
	while (started < count &&
	       !pthread_create(&workers[started].thread, NULL, work_off,
			       &workers[started]))
		started++;
	work_off(&workers[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	for (size_t i = 0; i < count && !rc; i++) {
		rc = workers[i].rc;
		if (rc)
			*err = workers[i].err;
	}
	return rc;
}

static int set_up_folder(struct pf_fleet_work *s, struct pf_err *err)
{
	int is;

	if (!s->keep)
		return pf_outfolder_open(&s->folder, err);
	is = pf_input_is_folder(s->keep, err);
	return is ? (is < 0 ? -1 : 0)
		  : pf_fail(err, PF_EUSAGE,
			    "'--keep %s': there is no such folder", s->keep);
}

static int fleet_work(struct pf_fleet_work *work, struct pf_err *err)
{
	struct worker workers[PF_FLEET_WORKERS] = { 0 };
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0; i < work->inputs->count; i++)
		if (work->inputs->items[i].source != PF_SOURCE_FLEET &&
		    count < work->threads)
			count++;
	if (count || work->keep)
		rc = set_up_folder(work, err);
	for (; !rc && work->part_count < count; work->part_count++)
		rc = set_up_worker(&workers[work->part_count], work,
				   &work->parts[work->part_count], err);
	if (!rc && count)
		rc = run_workers(workers, count, err);
	for (size_t i = 0; i < count; i++)
		release_worker(&workers[i]);
	for (size_t i = 0; i < work->part_count; i++)
		work->parts[i].err = err; /* no longer a worker's */
	pf_outfolder_release(&work->folder);
	return rc;
}

static void fleet_work_release(struct pf_fleet_work *work)
{
	for (size_t i = 0; i < PF_FLEET_WORKERS; i++)
		pf_db_close(&work->parts[i]);
}

#define NAMED 8 /* failures that are told */

/* Columns of the table "entry", as schema/fleet/plan.sql has them. */
enum {
	PART,
	PART_RANK,
	CAPTURE,
	RANK,
	WORLD_SIZE,
	LABELS,
	ERROR,
	PATH,
	DB,
	XXH128,
	FORMAT,
	FILE_BYTES,
	JSON_BYTES,
	BASE_NS,
	FIRST_NS,
	ENTRY_COLUMNS = 22
};

static const char *const scratch_schemas[] = { "schema/fleet/scratch.sql",
					       NULL };
static const struct pf_db_kind scratch_kind = {
	.application_id = PF_FLEET_APPLICATION_ID,
	.version = PF_FLEET_VERSION,
	.schemas = scratch_schemas,
};

struct merging {
	struct pf_fleet_merge *m;
	struct pf_err *err;
	struct pf_fleet_inputs inputs;
	struct pf_fleet_work work;
	struct pf_db scratch, db;
	struct pf_fleet_part *parts;
	size_t part_count;
	struct pf_fleet_copy copy;
	struct pf_fleet_out out;
	struct pf_outplace place;
	char *folder; /* of the output */
	/* The capture that is being written. */
	struct {
		char *name;
		int64_t id, taken_ns; /* PF_NO_INT: not known */
	} capture;
};

/* ---- which ranks there are ---- */

/* What is relative is so to the folder of the part. */
static void bind_db(sqlite3_stmt *to, sqlite3_stmt *from, const char *folder)
{
	const char *db = pf_sqlite_text(from, DB - 1);
	PF_OWN char *full =
		db ? pf_place_from(folder ? folder : "/", db) : NULL;

	if (full)
		sqlite3_bind_text(to, DB + 1, full, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(to, DB + 1);
}

static int list_rows(struct merging *g, size_t part, struct pf_db *db,
		     const char *folder, sqlite3_stmt *to)
{
	PF_STMT(from) = pf_named_prepare(db, "fleet/ranks", g->err);
	int rc;

	while ((rc = pf_db_step(db, from, g->err)) == 1) {
		sqlite3_bind_int64(to, PART + 1, (int64_t)part);
		for (int i = PART_RANK; i < ENTRY_COLUMNS; i++)
			sqlite3_bind_value(to, i + 1,
					   sqlite3_column_value(from, i - 1));
		bind_db(to, from, folder);
		PF_TRY(pf_db_put(&g->scratch, to, g->err));
	}
	return rc;
}

/* A fleet that cannot be read is a rank that failed. */
static int list_failed(struct merging *g, size_t part, const char *why,
		       sqlite3_stmt *to)
{
	const char *path = g->parts[part].path;
	PF_OWN char *name = fleet_capture_name(path);

	g->m->made.failed++;
	sqlite3_bind_int64(to, PART + 1, (int64_t)part);
	sqlite3_bind_int64(to, PART_RANK + 1, 0);
	sqlite3_bind_text(to, CAPTURE + 1, g->m->capture ? g->m->capture : name,
			  -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(to, ERROR + 1, why, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(to, PATH + 1, path, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(to, ENTRY_COLUMNS, PACKAGE_VERSION, -1,
			  SQLITE_STATIC);
	return pf_db_put(&g->scratch, to, g->err);
}

/*
 * A part is listed as a whole or not at all: its rows are counted before the
 * first is taken, and what is damaged after that ends the merge.
 */
static int list_part(struct merging *g, size_t part, sqlite3_stmt *to)
{
	const char *path = g->parts[part].path;
	struct pf_err why = { 0 };
	PF_OWN char *folder = NULL;
	struct pf_db *db;

	if (path)
		folder = place_folder(path, &why);
	db = path && !folder ? NULL : fleet_part_db(&g->copy, part, &why);
	if (db)
		return list_rows(g, part, db, folder, to);
	if (pf_err_is_of_input(&why))
		return list_failed(g, part, why.text, to);
	*g->err = why;
	return -1;
}

static int list_all(struct merging *g)
{
	PF_STMT(to) = pf_db_prepare(
		&g->scratch,
		"INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		" ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		g->err);

	PF_TRY(!to);
	for (size_t i = 0; i < g->part_count; i++)
		PF_TRY(list_part(g, i, to));
	return 0;
}

static int add_labels(struct merging *g)
{
	const struct pf_fleet_merge *m = g->m;

	PF_TRY(fleet_labels_add(&g->scratch, m->label_file, m->labels,
				m->label_count, g->err));
	return pf_db_run_file(&g->scratch, "schema/fleet/label.sql", g->err);
}

/* ---- writing them ---- */

static int end_capture(struct merging *g)
{
	PF_STMT(st) = NULL;

	if (!g->capture.name)
		return 0;
	st = pf_db_prepare(&g->db, "INSERT INTO capture VALUES(?1, ?2, ?3)",
			   g->err);
	sqlite3_bind_int64(st, 1, g->capture.id);
	sqlite3_bind_text(st, 2, g->capture.name, -1, SQLITE_STATIC);
	if (g->capture.taken_ns != PF_NO_INT)
		sqlite3_bind_int64(st, 3, g->capture.taken_ns);
	PF_TRY(pf_db_step(&g->db, st, g->err));
	free(g->capture.name);
	g->capture.name = NULL;
	return 0;
}

static int enter_capture(struct merging *g, sqlite3_stmt *plan)
{
	const char *name = pf_sqlite_text(plan, CAPTURE);
	int64_t base = pf_db_int_or(plan, BASE_NS, PF_NO_INT);
	int64_t first = pf_db_int_or(plan, FIRST_NS, PF_NO_INT), at;

	if (!g->capture.name || strcmp(g->capture.name, name) != 0) {
		PF_TRY(end_capture(g));
		g->capture.name = pf_strdup(name);
		g->capture.id++;
		g->capture.taken_ns = PF_NO_INT;
	}
	if (base != PF_NO_INT && first != PF_NO_INT &&
	    !__builtin_add_overflow(base, first, &at) &&
	    (g->capture.taken_ns == PF_NO_INT || at < g->capture.taken_ns))
		g->capture.taken_ns = at;
	return 0;
}

static int put_rank(struct merging *g, sqlite3_stmt *plan, sqlite3_stmt *to)
{
	const char *db = pf_sqlite_text(plan, DB);
	PF_OWN char *relative = db ? place_relative(g->folder, db) : NULL;

	PF_BIND(to, g->out.rank_id, g->capture.id);
	for (int i = RANK; i < ENTRY_COLUMNS; i++)
		sqlite3_bind_value(to, i, sqlite3_column_value(plan, i));
	if (relative)
		sqlite3_bind_text(to, DB, relative, -1, SQLITE_TRANSIENT);
	return pf_db_put(&g->db, to, g->err);
}

static int put_ranks(struct merging *g, sqlite3_stmt *plan, sqlite3_stmt *to)
{
	int rc;

	while ((rc = pf_db_step(&g->scratch, plan, g->err)) == 1) {
		int64_t part = sqlite3_column_int64(plan, PART);
		bool is_bad = sqlite3_column_type(plan, ERROR) != SQLITE_NULL;

		g->out.rank_id++;
		if (is_bad && g->m->made.errors++ < NAMED)
			pf_log_warn("%s", pf_sqlite_text(plan, ERROR));
		PF_TRY(enter_capture(g, plan) || put_rank(g, plan, to) ||
		       (!is_bad && fleet_copy_rank(&g->copy, (size_t)part,
						   sqlite3_column_int64(
							   plan, PART_RANK))));
	}
	g->m->made.ranks = g->out.rank_id;
	g->m->made.captures = g->capture.id;
	return rc ? -1 : end_capture(g);
}

static int write_all(struct merging *g)
{
	PF_STMT(plan) = pf_named_prepare(&g->scratch, "fleet/plan", g->err);
	PF_STMT(to) = pf_db_prepare(
		&g->db,
		"INSERT INTO rank VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		" ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		g->err);

	return plan && to ? put_ranks(g, plan, to) : -1;
}

/* ---- the output ---- */

/* Is this file a fleet database, which a merge may replace? */
static bool is_ours(const char *path)
{
	return pf_db_is_kind(path, &pf_fleet_kind);
}

static int set_up_out(struct merging *g)
{
	PF_OWN const char **inputs =
		pf_calloc(g->inputs.count + 1, sizeof(*inputs));
	const struct pf_outrule rule = {
		.inputs = inputs,
		.input_count = g->inputs.count,
		.is_ours = is_ours,
		.is_database = true,
	};

	for (size_t i = 0; i < g->inputs.count; i++)
		inputs[i] = g->inputs.items[i].path;
	PF_TRY(pf_outplace_open(&g->place, g->m->out, &rule, g->err));
	PF_TRY(pf_db_create_kind(&g->db, g->place.partial, &pf_fleet_kind,
				 g->err));
	return fleet_out_open(&g->out, &g->db);
}

static int finish(struct merging *g)
{
	fleet_copy_release(&g->copy);
	fleet_out_close(&g->out);
	PF_TRY(pf_db_finish_with(&g->db, "schema/fleet/indexes.sql", g->err));
	return pf_outplace_commit(&g->place, g->err);
}

/* ---- the whole ---- */

static int find_inputs(struct merging *g)
{
	struct pf_fleet_merge *m = g->m;
	struct pf_fleet_shard shard = { 0 };

	PF_TRY(m->shard && fleet_shard_read(m->shard, &shard, g->err));
	g->folder = place_folder(m->out, g->err);
	PF_TRY(!g->folder);
	return fleet_inputs_find(m->arguments, m->count, &shard, m->out,
				 &g->inputs, g->err);
}

static int summarise_all(struct merging *g)
{
	const struct pf_fleet_inputs *in = &g->inputs;
	int rc;

	g->work = (struct pf_fleet_work){ .inputs = in,
					  .capture = g->m->capture,
					  .keep = g->m->keep,
					  .threads = g->m->threads };
	rc = fleet_work(&g->work, g->err);
	g->m->made.failed = g->work.failed;
	g->m->made.passed = g->work.passed;
	g->parts = pf_calloc(in->count + PF_FLEET_WORKERS, sizeof(*g->parts));
	for (size_t i = 0; i < g->work.part_count; i++)
		g->parts[g->part_count++].given = &g->work.parts[i];
	for (size_t i = 0; i < in->count; i++)
		if (in->items[i].source == PF_SOURCE_FLEET)
			g->parts[g->part_count++].path = in->items[i].path;
	return rc;
}

static int merge(struct merging *g)
{
	PF_TRY(find_inputs(g) || set_up_out(g) || summarise_all(g) ||
	       pf_db_create_kind(&g->scratch, "", &scratch_kind, g->err));
	g->copy = (struct pf_fleet_copy){ .out = &g->out,
					  .parts = g->parts,
					  .part_count = g->part_count,
					  .err = g->err };
	PF_TRY(list_all(g) || add_labels(g) || write_all(g));
	return finish(g);
}

int pf_fleet_merge(struct pf_fleet_merge *m, struct pf_err *err)
{
	struct merging g = { .m = m, .err = err };
	int rc = merge(&g);

	fleet_copy_release(&g.copy);
	fleet_out_close(&g.out);
	pf_db_close(&g.scratch);
	pf_db_close(&g.db);
	pf_outplace_release(&g.place);
	fleet_work_release(&g.work);
	fleet_inputs_release(&g.inputs);
	free(g.capture.name);
	free(g.parts);
	free(g.folder);
	return rc;
}
