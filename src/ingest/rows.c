/* SPDX-License-Identifier: MIT */
#include "config.h"

#define PF_SCAN_SIMD 0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asset.h"
#include "base/mem.h"
#include "base/tempfile.h"
#include "base/utf8.h"
#include "events/args.h"
#include "formats/json/scan.h"
#include "ingest/impl.h"
#include "ingest/source_name.h"

void pf_ids_release(struct pf_ids *n)
{
	free(n->digests);
	free(n->table);
	memset(n, 0, sizeof(*n));
}

static void put(struct pf_ids *n, size_t id)
{
	size_t at = n->digests[id].low & (n->table_size - 1);

	while (n->table[at])
		at = (at + 1) & (n->table_size - 1);
	n->table[at] = (uint32_t)id + 1;
}

static void fill(struct pf_ids *n, size_t table_size)
{
	free(n->table);
	n->table_size = table_size;
	n->table = pf_calloc(n->table_size, sizeof(*n->table));
	for (size_t id = 0; id < n->count; id++)
		put(n, id);
}

static void grow(struct pf_ids *n)
{
	if (n->table_size <= n->count * 2 + 2)
		fill(n, n->table_size ? n->table_size * 2 : 1024);
}

void pf_ids_cut(struct pf_ids *n, size_t count)
{
	if (count >= n->count)
		return;
	n->count = count;
	fill(n, n->table_size);
}

uint32_t pf_ids_find(struct pf_ids *n, const void *text, size_t len,
		     uint32_t salt, size_t max, bool *is_new)
{
	struct pf_dict_hash d = pf_dict_hash(text, len, salt);
	size_t at;

	*is_new = false;
	grow(n);
	at = d.low & (n->table_size - 1);
	for (; n->table[at]; at = (at + 1) & (n->table_size - 1)) {
		uint32_t id = n->table[at] - 1;

		if (n->digests[id].low == d.low &&
		    n->digests[id].high == d.high)
			return id;
	}
	if (n->count >= max)
		return PF_ID_INLINE;
	n->digests = pf_grow(n->digests, &n->digests_cap, n->count + 1,
			     sizeof(*n->digests));
	n->digests[n->count] = d;
	put(n, n->count);
	*is_new = true;
	return (uint32_t)n->count++;
}

/* ---- later ---- */

#define BUFFER_BYTES (256u << 10)

struct head {
	int64_t a, b;
	uint32_t first_len, second_len;
};

void pf_later_release(struct pf_later *l)
{
	if (l->has_file)
		close(l->fd);
	pf_buf_release(&l->buf);
	memset(l, 0, sizeof(*l));
}

static int flush(struct pf_later *l, const char *dir, struct pf_err *err)
{
	if (!l->has_file) {
		l->fd = pf_tempfile_open(dir, err);
		if (l->fd < 0)
			return -1;
		l->has_file = true;
	}
	PF_TRY(pf_tempfile_write(l->fd, l->buf.data, l->buf.len, l->written,
				 err));
	l->written += l->buf.len;
	pf_buf_clear(&l->buf);
	return 0;
}

int pf_later_put(struct pf_later *l, const char *dir,
		 const struct pf_later_row *row, struct pf_err *err)
{
	const struct head h = { row->a, row->b, row->first_len,
				row->second_len };

	pf_buf_add(&l->buf, &h, sizeof(h));
	pf_buf_add(&l->buf, row->first, row->first_len);
	pf_buf_add(&l->buf, row->second, row->second_len);
	return l->buf.len < BUFFER_BYTES ? 0 : flush(l, dir, err);
}

/* Reads the rows back: from the file, then from the buffer. */
struct reading {
	struct pf_later *l;
	uint64_t at; /* of the next byte in file and buffer together */
	struct pf_buf text;
};

static int read_bytes(struct reading *r, void *to, size_t len,
		      struct pf_err *err)
{
	struct pf_later *l = r->l;
	size_t from_file = 0;

	if (r->at < l->written) {
		uint64_t left = l->written - r->at;

		from_file = left < len ? (size_t)left : len;
		PF_TRY(pf_tempfile_read(l->fd, to, from_file, r->at, err));
	}
	if (len > from_file)
		memcpy((char *)to + from_file,
		       l->buf.data + (r->at + from_file - l->written),
		       len - from_file);
	r->at += len;
	return 0;
}

static int read_row(struct reading *r, struct pf_later_row *row,
		    struct pf_err *err)
{
	struct head h;

	PF_TRY(read_bytes(r, &h, sizeof(h), err));
	pf_buf_clear(&r->text);
	pf_buf_reserve(&r->text, (size_t)h.first_len + h.second_len);
	PF_TRY(read_bytes(r, r->text.data, (size_t)h.first_len + h.second_len,
			  err));
	*row = (struct pf_later_row){
		h.a,          h.b,          h.first_len,
		h.second_len, r->text.data, r->text.data + h.first_len
	};
	return 0;
}

int pf_later_each(struct pf_later *l,
		  int (*call)(void *arg, const struct pf_later_row *row,
			      struct pf_err *err),
		  void *arg, struct pf_err *err)
{
	struct reading r = { .l = l };
	struct pf_later_row row;
	int rc = 0;

	while (!rc && r.at < l->written + l->buf.len)
		rc = read_row(&r, &row, err) || call(arg, &row, err);
	pf_buf_release(&r.text);
	pf_later_release(l);
	return rc ? -1 : 0;
}

/* ---- config ---- */

/* Column no. (1 is the id) of the value under a key of the arguments. */
static const struct {
	const char *key;
	int column, values;
} config_keys[] = {
	{ "device", 2, 1 },         { "stream", 3, 1 },
	{ "context", 4, 1 },        { "grid", 5, 3 },
	{ "block", 8, 3 },          { "registers per thread", 11, 1 },
	{ "shared memory", 12, 1 }, { "blocks per SM", 13, 1 },
	{ "warps per SM", 14, 1 },  { "est. achieved occupancy %", 15, 1 },
};
#define CONFIG_KEYS  (sizeof(config_keys) / sizeof(*config_keys))
#define REAL_COLUMNS 13 /* from here on */
#define NAME_COLUMN  16

/*
 * What TensorFlow, JAX and XLA call the operator of GPU work, the best first;
 * a tf_op that says nothing is none.
 */
static const char *const name_keys[] = { "name", "tf_op", "level 0", "hlo_op" };
#define NAME_KEYS  (sizeof(name_keys) / sizeof(*name_keys))
#define NO_NAME    "XlaModule:"
#define NAME_BYTES 1024

/* ---- configurations of launches ---- */

/*
 * Bind a number: as an integer in the columns of integers, which have NULL
 * for any that is none, such as a stream 7.5.
 */
static void bind_real(sqlite3_stmt *st, int column, double value)
{
	if (column >= REAL_COLUMNS)
		sqlite3_bind_double(st, column, value);
	else if (value >= -9e15 && value <= 9e15 &&
		 value == (double)(int64_t)value)
		sqlite3_bind_int64(st, column, (int64_t)value);
}

/* Other values than numbers stay NULL. */
static const char *bind_number(sqlite3_stmt *st, int column, const char *p,
			       const char *end)
{
	char text[PF_JSON_MAX_NUMBER + 1];
	size_t len = 0;
	bool real = false;

	while (p + len < end && len < PF_JSON_MAX_NUMBER && p[len] &&
	       strchr("0123456789+-.eE", p[len])) {
		real |= !(p[len] == '-' || (p[len] >= '0' && p[len] <= '9'));
		text[len] = p[len];
		len++;
	}
	text[len] = '\0';
	if (len && (real || column >= REAL_COLUMNS))
		bind_real(st, column, strtod(text, NULL));
	else if (len && len < 19)
		sqlite3_bind_int64(st, column, strtoll(text, NULL, 10));
	return p + len;
}

static void bind_value(sqlite3_stmt *st, size_t k, const char *p,
		       const char *end)
{
	int column = config_keys[k].column;

	if (config_keys[k].values == 1) {
		bind_number(st, column, p, end);
		return;
	}
	for (int i = 0; i < 3 && p < end && (*p == '[' || *p == ','); i++)
		p = bind_number(st, column + i, p + 1, end);
}

struct name {
	const char *value, *end; /* its text in quotes */
	size_t rank;             /* of its key */
};

static void take_name(struct name *name, const char *key, size_t key_len,
		      const char *p, const char *end)
{
	size_t rank = 0;

	while (rank < NAME_KEYS && (strlen(name_keys[rank]) != key_len ||
				    memcmp(name_keys[rank], key, key_len) != 0))
		rank++;
	if (rank >= name->rank || p == end || *p != '"')
		return;
	if ((size_t)(end - p) > sizeof(NO_NAME) &&
	    !memcmp(p + 1, NO_NAME "\"", sizeof(NO_NAME)))
		return;
	*name = (struct name){ p, end, rank };
}

static void bind_name(sqlite3_stmt *st, const struct name *name)
{
	struct pf_json text = { name->value,
				(size_t)(name->end - name->value) };
	struct pf_buf plain = { 0 };

	pf_json_text(text, &plain);
	if (plain.len)
		sqlite3_bind_text(
			st, NAME_COLUMN, plain.data,
			(int)pf_utf8_head(plain.data, plain.len, NAME_BYTES),
			SQLITE_TRANSIENT);
	pf_buf_release(&plain);
}

/* Write the row of an argset if it has a stream; its id is the argset's. */
static int config_put(struct pf_ingest *in, uint32_t id, const char *text,
		      size_t len, struct pf_err *err)
{
	sqlite3_stmt *st = in->put_config;
	const char *p = text, *end = text + len, *key, *value;
	struct name name = { .rank = NAME_KEYS };
	bool has_stream = false;
	size_t key_len;

	if (!memmem(text, len, "\"stream\":", 9))
		return 0;
	sqlite3_clear_bindings(st);
	sqlite3_bind_int64(st, 1, id);
	while ((p = pf_next_member(p, end, &key, &key_len, &value))) {
		take_name(&name, key, key_len, value, p);
		for (size_t k = 0; k < CONFIG_KEYS; k++) {
			if (strlen(config_keys[k].key) != key_len ||
			    memcmp(config_keys[k].key, key, key_len))
				continue;
			bind_value(st, k, value, end);
			has_stream |= config_keys[k].column == 3;
		}
	}
	if (!has_stream)
		return 0;
	if (name.rank < NAME_KEYS)
		bind_name(st, &name);
	return pf_db_put(in->db, st, err);
}

/* Texts found while reading, written table by table. */

struct writing {
	struct pf_ingest *in;
	enum pf_ingest_later list;
	sqlite3_stmt *st;
};

static const char *const statements[PF_LATER_LISTS] = {
	[PF_LATER_STRING] = "INSERT INTO string(id, text) VALUES(?1, ?2)",
	[PF_LATER_ARGSET] =
		"INSERT INTO argset(id, mask, text) VALUES(?1, ?2, ?3)",
	[PF_LATER_TYPE] = "INSERT INTO event_type(id, ph, category, kind)"
			  " VALUES(?1, ?2, ?3, ?4)",
	[PF_LATER_MEMBER] =
		"INSERT OR REPLACE INTO trace_meta(trace_id, key, value)"
		" VALUES(?1, ?2, ?3)",
	[PF_LATER_METADATA] =
		"INSERT INTO metadata_event(trace_id, file_order, json, count)"
		" VALUES(?1, ?2, ?3, ?4)",
};

static void bind_text(sqlite3_stmt *st, int i, const char *p, size_t len)
{
	sqlite3_bind_text(st, i, len ? p : "", (int)len, SQLITE_STATIC);
}

static void bind_metadata(const struct writing *w,
			  const struct pf_later_row *row)
{
	struct pf_ingest_metadata m = { row->a, 1 };

	if (row->b)
		m = w->in->metadata[row->b - 1];
	sqlite3_bind_int64(w->st, 1, w->in->trace_id);
	sqlite3_bind_int64(w->st, 2, m.last_order);
	bind_text(w->st, 3, row->first, row->first_len);
	sqlite3_bind_int64(w->st, 4, m.count);
}

static void bind_row(const struct writing *w, const struct pf_later_row *row)
{
	switch (w->list) {
	case PF_LATER_STRING:
		sqlite3_bind_int64(w->st, 1, row->a);
		bind_text(w->st, 2, row->first, row->first_len);
		break;
	case PF_LATER_ARGSET:
		sqlite3_bind_int64(w->st, 1, row->a);
		sqlite3_bind_int64(w->st, 2, row->b);
		bind_text(w->st, 3, row->first, row->first_len);
		break;
	case PF_LATER_TYPE:
		sqlite3_bind_int64(w->st, 1, row->a);
		bind_text(w->st, 2, row->first, row->first_len);
		bind_text(w->st, 3, row->second, row->second_len);
		sqlite3_bind_int64(w->st, 4, row->b);
		break;
	case PF_LATER_MEMBER:
		sqlite3_bind_int64(w->st, 1, w->in->trace_id);
		bind_text(w->st, 2, row->first, row->first_len);
		bind_text(w->st, 3, row->second, row->second_len);
		break;
	case PF_LATER_METADATA:
		bind_metadata(w, row);
		break;
	case PF_LATER_LISTS:
		break;
	}
}

static int write_row(void *arg, const struct pf_later_row *row,
		     struct pf_err *err)
{
	struct writing *w = arg;

	bind_row(w, row);
	PF_TRY(pf_db_put(w->in->db, w->st, err));
	if (w->list != PF_LATER_ARGSET)
		return 0;
	return config_put(w->in, (uint32_t)row->a, row->first, row->first_len,
			  err);
}

int pf_ingest_texts(struct pf_ingest *in, struct pf_err *err)
{
	int rc;

	in->put_config = pf_db_prepare(
		in->db,
		"INSERT INTO gpu_config VALUES"
		"(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,"
		"?16)",
		err);
	rc = in->put_config ? 0 : -1;
	for (int list = 0; list < PF_LATER_LISTS && !rc; list++) {
		struct writing w = { .in = in,
				     .list = (enum pf_ingest_later)list };

		w.st = pf_db_prepare(in->db, statements[list], err);
		rc = w.st ? pf_later_each(&in->later[list], write_row, &w, err)
			  : -1;
		sqlite3_finalize(w.st);
	}
	sqlite3_finalize(in->put_config);
	in->put_config = NULL;
	return rc;
}

/* What is written once a trace is complete, apart from its events. */

static int put_tracks(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		in->db,
		"INSERT INTO track(id, trace_id, class, pid, tid, event_count,"
		" first_ns, last_ns, name) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)",
		err);
	int rc = st ? 0 : -1;

	for (size_t i = in->first_track; i < in->track_count && !rc; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);

		sqlite3_bind_int64(st, 1, (int64_t)i + 1);
		sqlite3_bind_int64(st, 2, in->trace_id);
		sqlite3_bind_text(st, 3, pf_track_class_name(t->class_letter),
				  -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 4, t->pid, -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 5, t->tid, -1, SQLITE_STATIC);
		sqlite3_bind_int64(st, 6, t->event_count);
		sqlite3_bind_int64(st, 7, t->first_ns);
		sqlite3_bind_int64(st, 8, t->last_ns);
		sqlite3_bind_text(st, 9, t->name, -1, SQLITE_STATIC);
		rc = pf_db_put(in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int put_repairs(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		in->db,
		"INSERT INTO repair(trace_id, kind, is_skip, count,"
		" first_offset) VALUES(?1,?2,?3,?4,?5)",
		err);
	int rc = st ? 0 : -1;

	for (int k = 0; k < PF_REPAIR_KINDS && !rc; k++) {
		if (!in->repairs.of[k].count)
			continue;
		sqlite3_bind_int64(st, 1, in->trace_id);
		sqlite3_bind_text(st, 2, pf_repair_word((enum pf_repair_kind)k),
				  -1, SQLITE_STATIC);
		sqlite3_bind_int64(st, 3, k >= PF_REPAIR_FIRST_SKIP);
		sqlite3_bind_int64(st, 4, in->repairs.of[k].count);
		if (in->repairs.of[k].first_offset >= 0)
			sqlite3_bind_int64(st, 5,
					   in->repairs.of[k].first_offset);
		rc = pf_db_put(in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int put_fact(struct pf_ingest *in, sqlite3_stmt *st, const char *key,
		    int64_t value, struct pf_err *err)
{
	sqlite3_bind_int64(st, 1, in->trace_id);
	sqlite3_bind_text(st, 2, key, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(st, 3, value);
	return pf_db_put(in->db, st, err);
}

static int put_facts(struct pf_ingest *in, struct pf_err *err)
{
	const struct {
		const char *key;
		int64_t value;
	} facts[] = {
		{ "ts_fraction_digits", in->ts_fraction_digits },
		{ "link_equal", in->link_equal },
		{ "link_differ", in->link_differ },
		{ "link_absent", in->link_absent },
		{ "ext_lower", in->ext_lower },
	};
	sqlite3_stmt *st = pf_db_prepare(
		in->db, "INSERT INTO trace_fact VALUES(?1, ?2, ?3)", err);
	int rc = st ? 0 : -1;
	char key[16];

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts) && !rc; i++)
		rc = put_fact(in, st, facts[i].key, facts[i].value, err);
	for (int f = 0; f < PF_FACT_EXT_LOWER && !rc; f++)
		if (in->facts >> f & 1)
			rc = put_fact(in, st, pf_fact_key((enum pf_fact)f), 1,
				      err);
	for (int k = 0; k < PF_KIND_COUNT && !rc; k++) {
		snprintf(key, sizeof(key), "kind_%d", k);
		if (in->kind_count[k])
			rc = put_fact(in, st, key, in->kind_count[k], err);
	}
	for (size_t i = 0; i < in->extra_fact_count && !rc; i++)
		rc = put_fact(in, st, in->extra_facts[i].key,
			      in->extra_facts[i].value, err);
	sqlite3_finalize(st);
	return rc;
}

static void bind_known(sqlite3_stmt *st, int i, int64_t value, bool known)
{
	if (known)
		sqlite3_bind_int64(st, i, value);
}

static int put_trace(struct pf_ingest *in, struct pf_err *err)
{
	int64_t skipped = 0, rank;
	struct pf_source_name name;
	sqlite3_stmt *st = pf_db_prepare(
		in->db,
		"INSERT INTO trace(id, path, format, compression, file_bytes,"
		" json_bytes, rank, first_ns, last_ns, event_count,"
		" stored_count, metadata_count, paired_count, skipped_count,"
		" xxh128, worker, span) VALUES"
		"(?1,?2,?14,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?15,?16,?17)",
		err);
	int rc;

	if (!st)
		return -1;
	pf_source_name_read(&name, in->path);
	/* Before the file's own word (schema/ingest.sql): the user's. */
	rank = in->options->rank >= 0 ? in->options->rank + in->trace_id - 1
				      : (in->owner_rank >= 0 ? in->owner_rank
							     : in->named_rank);
	for (int k = PF_REPAIR_FIRST_SKIP; k < PF_REPAIR_KINDS; k++)
		skipped += in->repairs.of[k].count;
	sqlite3_bind_int64(st, 1, in->trace_id);
	sqlite3_bind_text(st, 2, in->path, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, in->compression, -1, SQLITE_STATIC);
	bind_known(st, 4, in->file_bytes, in->file_bytes >= 0);
	sqlite3_bind_int64(st, 5, in->json_bytes);
	bind_known(st, 6, rank, rank >= 0);
	bind_known(st, 7, in->first_ns, in->stored_count > 0);
	bind_known(st, 8, in->last_ns, in->stored_count > 0);
	sqlite3_bind_int64(st, 9, in->event_count);
	sqlite3_bind_int64(st, 10, in->stored_count);
	sqlite3_bind_int64(st, 11, in->metadata_count);
	sqlite3_bind_int64(st, 12, in->paired_count);
	sqlite3_bind_int64(st, 13, skipped);
	sqlite3_bind_text(st, 14, in->format_name, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 15, in->digest, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 16, name.worker, -1, SQLITE_STATIC);
	bind_known(st, 17, name.span, name.span >= 0);
	rc = pf_db_put(in->db, st, err);
	sqlite3_finalize(st);
	free(name.worker);
	return rc;
}

/*
 * The statements of a file, each with the trace's id as ?1, those behind it
 * if it has them.
 */
static int run_script(struct pf_ingest *in, const char *name,
		      const int64_t more[2], struct pf_err *err)
{
	size_t len;
	const char *sql = pf_asset(name, &len);

	if (!sql)
		return pf_fail(err, PF_EDB, "%s is missing", name);
	while (*sql) {
		sqlite3_stmt *st;
		int rc;

		if (sqlite3_prepare_v2(in->db->sql, sql, -1, &st, &sql))
			return pf_db_fail(in->db, name, err);
		if (!st)
			continue;
		sqlite3_bind_int64(st, 1, in->trace_id);
		for (int i = 2; i <= sqlite3_bind_parameter_count(st); i++)
			sqlite3_bind_int64(st, i, more[i - 2]);
		rc = pf_db_step(in->db, st, err);
		sqlite3_finalize(st);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int pf_ingest_trace_rows(struct pf_ingest *in, struct pf_err *err)
{
	if (put_trace(in, err) || put_tracks(in, err) || put_repairs(in, err) ||
	    put_facts(in, err))
		return -1;
	/* names of processes and threads, base time, rank */
	return run_script(in, "schema/ingest.sql", NULL, err);
}

/* ---- files that could not be read ---- */

int pf_ingest_mark_stacks(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st =
		pf_db_prepare(in->db,
			      "SELECT (SELECT coalesce(max(id), 0) FROM stack),"
			      " (SELECT coalesce(max(id), 0) FROM stack_frame)",
			      err);
	int rc = st ? pf_db_step(in->db, st, err) : -1;

	if (rc == 1) {
		in->mark.stack = sqlite3_column_int64(st, 0);
		in->mark.stack_frame = sqlite3_column_int64(st, 1);
		in->mark.has_stacks = true;
	}
	sqlite3_finalize(st);
	return rc < 0 ? -1 : 0;
}

int pf_ingest_unread_row(struct pf_ingest *in, struct pf_err *err)
{
	const int64_t last[2] = { in->mark.stack, in->mark.stack_frame };
	sqlite3_stmt *st;
	int rc = -1;

	if (in->mark.has_stacks &&
	    run_script(in, "schema/unread.sql", last, err))
		return -1;
	st = pf_db_prepare(in->db, "INSERT INTO unread VALUES(?1,?2,?3,?4,?5)",
			   err);
	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, in->trace_id);
	sqlite3_bind_text(st, 2, in->path, -1, SQLITE_STATIC);
	bind_known(st, 3, in->file_bytes, in->file_bytes >= 0);
	bind_known(st, 4, in->named_rank, in->named_rank >= 0);
	sqlite3_bind_text(st, 5, in->unread, -1, SQLITE_STATIC);
	rc = pf_db_put(in->db, st, err);
	sqlite3_finalize(st);
	return rc;
}
