/* SPDX-License-Identifier: MIT */
#include "config.h"

#define PF_SCAN_SIMD 0
#include "ingest/ingest.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/asset.h"
#include "base/mem.h"
#include "base/tempfile.h"
#include "base/utf8.h"
#include "events/args.h"
#include "formats/json/scan.h"
#include "formats/refusal.h"
#include "ingest/impl.h"
#include "ingest/source_name.h"

/* ---- ids ---- */

static void ids_release(struct pf_ids *n)
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

/* Forget all but the first "count" ids, which may then be given again. */
static void ids_cut(struct pf_ids *n, size_t count)
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
	if (n->table_size <= n->count * 2 + 2)
		fill(n, n->table_size ? n->table_size * 2 : 1024);
	at = d.low & (n->table_size - 1);
	for (; n->table[at]; at = (at + 1) & (n->table_size - 1)) {
		uint32_t id = n->table[at] - 1;

		if (n->digests[id].low == d.low &&
		    n->digests[id].high == d.high)
			return id;
	}
	if (n->count >= max)
		return PF_ID_INLINE;
	PF_ROOM(n->digests, n->digests_cap, n->count + 1);
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
		PF_TRY(l->fd < 0);
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
#define CONFIG_KEYS  (PF_LEN(config_keys))
#define REAL_COLUMNS 13 /* from here on */
#define NAME_COLUMN  16

/*
 * What TensorFlow, JAX and XLA call the operator of GPU work, the best first;
 * a tf_op that says nothing is none.
 */
static const char *const name_keys[] = { "name", "tf_op", "level 0", "hlo_op" };
#define NAME_KEYS  (PF_LEN(name_keys))
#define NO_NAME    "XlaModule:"
#define NAME_BYTES 1024

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
	PF_AUTO(pf_buf_release) struct pf_buf plain = { 0 };

	pf_json_text(text, &plain);
	if (plain.len)
		sqlite3_bind_text(
			st, NAME_COLUMN, plain.data,
			(int)pf_utf8_head(plain.data, plain.len, NAME_BYTES),
			SQLITE_TRANSIENT);
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
	PF_BIND(w->st, w->in->trace_id, m.last_order);
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
		PF_BIND(w->st, row->a, row->b);
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

/* Write what waits in in->later. */
static int ingest_texts(struct pf_ingest *in, struct pf_err *err)
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
	PF_STMT(st) = pf_db_prepare(
		in->db,
		"INSERT INTO track(id, trace_id, event_count, first_ns,"
		" last_ns, class, pid, tid, name)"
		" VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)",
		err);

	PF_TRY(!st);
	for (size_t i = in->first_track; i < in->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);

		PF_BIND(st, (int64_t)i + 1, in->trace_id, t->event_count,
			t->first_ns, t->last_ns);
		sqlite3_bind_text(st, 6, pf_track_class_name(t->class_letter),
				  -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 7, t->pid, -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 8, t->tid, -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 9, t->name, -1, SQLITE_STATIC);
		PF_TRY(pf_db_put(in->db, st, err));
	}
	return 0;
}

static void bind_known(sqlite3_stmt *st, int i, int64_t value, bool known)
{
	if (known)
		sqlite3_bind_int64(st, i, value);
}

static int put_repairs(struct pf_ingest *in, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		in->db,
		"INSERT INTO repair(trace_id, is_skip, count, kind,"
		" first_offset) VALUES(?1,?2,?3,?4,?5)",
		err);

	PF_TRY(!st);
	for (int k = 0; k < PF_REPAIR_KINDS; k++) {
		if (!in->repairs.of[k].count)
			continue;
		PF_BIND(st, in->trace_id, k >= PF_REPAIR_FIRST_SKIP,
			in->repairs.of[k].count);
		sqlite3_bind_text(st, 4, pf_repair_word((enum pf_repair_kind)k),
				  -1, SQLITE_STATIC);
		bind_known(st, 5, in->repairs.of[k].first_offset,
			   in->repairs.of[k].first_offset >= 0);
		PF_TRY(pf_db_put(in->db, st, err));
	}
	return 0;
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
	PF_STMT(st) = pf_db_prepare(
		in->db, "INSERT INTO trace_fact VALUES(?1, ?2, ?3)", err);
	char key[24];

	PF_TRY(!st);
	for (size_t i = 0; i < PF_LEN(facts); i++)
		PF_TRY(put_fact(in, st, facts[i].key, facts[i].value, err));
	for (int f = 0; f < PF_FACT_EXT_LOWER; f++)
		if (in->facts >> f & 1)
			PF_TRY(put_fact(in, st, pf_fact_key((enum pf_fact)f), 1,
					err));
	for (int k = 0; k < PF_KIND_COUNT; k++) {
		snprintf(key, sizeof(key), "kind_%d", k);
		if (in->kind_count[k])
			PF_TRY(put_fact(in, st, key, in->kind_count[k], err));
	}
	for (size_t i = 0; i < in->extra_fact_count; i++)
		PF_TRY(put_fact(in, st, in->extra_facts[i].key,
				in->extra_facts[i].value, err));
	return 0;
}

static int put_trace(struct pf_ingest *in, struct pf_err *err)
{
	int64_t skipped = 0, rank;
	struct pf_source_name name;
	PF_STMT(st) = pf_db_prepare(
		in->db,
		"INSERT INTO trace(id, json_bytes, event_count, stored_count,"
		" metadata_count, paired_count, skipped_count, path, format,"
		" compression, xxh128, worker, file_bytes, rank, first_ns,"
		" last_ns, span) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,"
		"?12,?13,?14,?15,?16,?17)",
		err);
	int rc;

	PF_TRY(!st);
	pf_source_name_read(&name, in->path);
	/* Before the file's own word (schema/ingest.sql): the user's. */
	rank = in->options->rank >= 0 ? in->options->rank + in->trace_id - 1
				      : (in->owner_rank >= 0 ? in->owner_rank
							     : in->named_rank);
	for (int k = PF_REPAIR_FIRST_SKIP; k < PF_REPAIR_KINDS; k++)
		skipped += in->repairs.of[k].count;
	PF_BIND(st, in->trace_id, in->json_bytes, in->event_count,
		in->stored_count, in->metadata_count, in->paired_count,
		skipped);
	sqlite3_bind_text(st, 8, in->path, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 9, in->format_name, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 10, in->compression, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 11, in->digest, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 12, name.worker, -1, SQLITE_STATIC);
	bind_known(st, 13, in->file_bytes, in->file_bytes >= 0);
	bind_known(st, 14, rank, rank >= 0);
	bind_known(st, 15, in->first_ns, in->stored_count > 0);
	bind_known(st, 16, in->last_ns, in->stored_count > 0);
	bind_known(st, 17, name.span, name.span >= 0);
	rc = pf_db_put(in->db, st, err);
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
		PF_TRY(rc < 0);
	}
	return 0;
}

/* Tracks, steps, facts, repairs, the trace itself. */
static int ingest_trace_rows(struct pf_ingest *in, struct pf_err *err)
{
	PF_TRY(put_trace(in, err));
	PF_TRY(put_tracks(in, err));
	PF_TRY(put_repairs(in, err));
	PF_TRY(put_facts(in, err));
	/* names of processes and threads, base time, rank */
	return run_script(in, "schema/ingest.sql", NULL, err);
}

/* ---- files that could not be read ---- */

static int ingest_unread_row(struct pf_ingest *in, struct pf_err *err)
{
	const int64_t last[2] = { in->mark.stack, in->mark.stack_frame };
	PF_STMT(st) = NULL;

	PF_TRY(in->mark.has_stacks &&
	       run_script(in, "schema/unread.sql", last, err));
	st = pf_db_prepare(in->db, "INSERT INTO unread VALUES(?1,?2,?3,?4,?5)",
			   err);
	PF_TRY(!st);
	sqlite3_bind_int64(st, 1, in->trace_id);
	sqlite3_bind_text(st, 2, in->path, -1, SQLITE_STATIC);
	bind_known(st, 3, in->file_bytes, in->file_bytes >= 0);
	bind_known(st, 4, in->named_rank, in->named_rank >= 0);
	sqlite3_bind_text(st, 5, in->unread, -1, SQLITE_STATIC);
	return pf_db_put(in->db, st, err);
}

/*
 * A trace that was read leaves the ingest that read it.  It takes along what
 * is its own; of what the next traces add to, it gets a copy: kinds of types,
 * metadata and the few names that mean something.
 */

static void *copy(const void *list, size_t count, size_t element_bytes)
{
	void *p = pf_calloc(count + 1, element_bytes);

	if (count)
		memcpy(p, list, count * element_bytes);
	return p;
}

static void begin_next(struct pf_ingest *in)
{
	if (in->file_bytes > 0)
		in->bytes_before += in->file_bytes;
	in->events_before += in->event_count;
	memset(in->later, 0, sizeof(in->later));
	in->tracks = NULL;
	in->tracks_cap = 0;
	in->first_track = in->track_count;
	ids_release(&in->track_names); /* those of the trace before */
	in->mark = (struct pf_ingest_mark){
		.strings = in->strings.count,
		.argsets = in->argsets.count,
		.types = in->types.count,
		.metadata_texts = in->metadata_texts.count,
		.step_names = in->step_name_count,
		.comm_names = in->comm_name_count,
		.empty_name = in->empty_name,
		.window_end_name = in->window_end_name,
	};
	in->runs = NULL;
	memset(&in->process_names, 0, sizeof(in->process_names));
	in->runs_total = 0;
	memset(&in->repairs, 0, sizeof(in->repairs));
	in->event_count = in->metadata_count = in->json_bytes = 0;
	in->file_bytes = in->stored_count = 0;
	in->paired_count = in->no_phase_count = 0;
	in->first_ns = in->last_ns = 0;
	in->format_name = NULL;
	in->found_list = false;
	in->ts_fraction_digits = 0;
	in->facts = 0;
	in->link_equal = in->link_differ = in->link_absent = 0;
	in->ext_lower = 0;
	memset(in->kind_count, 0, sizeof(in->kind_count));
	in->extra_facts = NULL;
	in->extra_fact_count = in->extra_facts_cap = 0;
}

/* An ingest like another, with its own lists of what has a meaning. */
static struct pf_ingest *copy_job(const struct pf_ingest *in)
{
	struct pf_ingest *job = copy(in, 1, sizeof(*in));

	/* How many there are is all that is asked of them from here on. */
	job->strings = (struct pf_ids){ .count = in->strings.count };
	job->argsets = (struct pf_ids){ .count = in->argsets.count };
	job->types = (struct pf_ids){ .count = in->types.count };
	job->track_names = (struct pf_ids){ 0 };
	job->metadata_texts =
		(struct pf_ids){ .count = in->metadata_texts.count };
	job->metadata = copy(in->metadata, in->metadata_texts.count,
			     sizeof(*in->metadata));
	job->type = copy(in->type, in->types.count, sizeof(*in->type));
	job->step_names = copy(in->step_names, in->step_name_count,
			       sizeof(*in->step_names));
	job->comm_names = copy(in->comm_names, in->comm_name_count,
			       sizeof(*in->comm_names));
	job->workers = NULL;
	job->boots = NULL;
	job->boot_count = job->boots_cap = 0;
	return job;
}

/* Once its runs have been merged. */
static void ingest_close_runs(struct pf_ingest *in)
{
	if (in->runs && !in->runs_lent) {
		pf_scratch_close(in->runs);
		free(in->runs);
	}
	in->runs = NULL;
}

static void drop_tracks(struct pf_ingest_track *tracks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(tracks[i].pid);
		free(tracks[i].tid);
		free(tracks[i].name);
		free(tracks[i].runs);
	}
}

/* What is of the trace at hand alone. */
static void drop_trace(struct pf_ingest *in)
{
	ingest_close_runs(in);
	pf_buf_release(&in->process_names);
	for (int i = 0; i < PF_LATER_LISTS; i++)
		pf_later_release(&in->later[i]);
	drop_tracks(in->tracks, in->track_count - in->first_track);
	free(in->tracks);
	for (size_t i = 0; i < in->extra_fact_count; i++)
		free(in->extra_facts[i].key);
	free(in->extra_facts);
}

/*
 * The same of a file that could not be read: what is left of it is that it
 * could not be, and why; "in" is as if it had never been looked at.
 */
static struct pf_ingest *ingest_give_up(struct pf_ingest *in, const char *why)
{
	struct pf_ingest *job = pf_calloc(1, sizeof(*job));
	const struct pf_ingest_mark mark = in->mark;

	job->options = in->options;
	job->db = in->db;
	job->trace_id = in->trace_id;
	job->path = in->path;
	job->is_last = in->is_last;
	job->named_rank = in->named_rank;
	job->file_bytes = in->file_bytes;
	job->mark = mark;
	job->unread = pf_strdup(why);
	drop_trace(in);
	/* readers know names by ids that are given anew now */
	pf_ingest_workers_free(in->workers);
	in->workers = NULL;
	ids_cut(&in->strings, mark.strings);
	ids_cut(&in->argsets, mark.argsets);
	ids_cut(&in->types, mark.types);
	ids_cut(&in->metadata_texts, mark.metadata_texts);
	in->step_name_count = mark.step_names;
	in->comm_name_count = mark.comm_names;
	in->empty_name = mark.empty_name;
	in->window_end_name = mark.window_end_name;
	in->track_count = in->first_track;
	begin_next(in);
	return job;
}

/* what is left of that */
static void ingest_drop(struct pf_ingest *in)
{
	drop_trace(in);
	pf_sorter_free(in->calls);
	pf_ingest_arrows_free(in->arrows);
	free(in->type);
	free(in->unread);
	for (size_t i = 0; i < in->boot_count; i++)
		free(in->boots[i].id);
	free(in->boots);
	free(in->step_names);
	free(in->comm_names);
	free(in->comms);
	free(in->steps);
	ids_release(&in->strings);
	ids_release(&in->argsets);
	ids_release(&in->types);
	ids_release(&in->track_names);
	ids_release(&in->metadata_texts);
	free(in->metadata);
	pf_ingest_workers_free(in->workers);
	free(in);
}

/* ---- the traces of several processes that one file had ---- */

/* What is of one of them before its tracks are counted out. */
struct share {
	struct pf_later members, metadata;
	size_t first, behind; /* of the tracks of all */
	int64_t event_count, metadata_count;
};

/*
 * The trace of each owner, in their order, from the one of all, which it takes
 * over.  What the file says once of all is said of each; what was mended, and
 * the bytes, are the first's.  They are put into the lane in this order: the
 * last has the runs.
 */
struct pf_ingest_shares {
	struct pf_ingest *all;
	const struct pf_ingest_owners *o;
	struct share *of;
	size_t next;
	bool is_only; /* the next is all that is wanted */
};

static int share_member(void *arg, const struct pf_later_row *row,
			struct pf_err *err)
{
	struct pf_ingest_shares *s = arg;

	for (size_t i = 0; i < s->o->count; i++)
		PF_TRY(pf_later_put(&s->of[i].members, s->all->directory, row,
				    err));
	return 0;
}

static int put_metadata(struct pf_ingest_shares *s, size_t i,
			const struct pf_later_row *row, int64_t count,
			struct pf_err *err)
{
	s->of[i].metadata_count += count;
	return pf_later_put(&s->of[i].metadata, s->all->directory, row, err);
}

static int share_metadata(void *arg, const struct pf_later_row *row,
			  struct pf_err *err)
{
	struct pf_ingest_shares *s = arg;
	struct pf_ingest_metadata one = { row->a, 1 };
	struct pf_ingest_metadata *m =
		row->b ? &s->all->metadata[row->b - 1] : &one;
	uint32_t owner = pf_ingest_owner_of_metadata(
		s->o, row->first, row->first_len, m->last_order, m->count);

	if (owner != PF_INGEST_EACH_OWNER)
		return put_metadata(s, owner, row, m->count, err);
	m->count /= (int64_t)s->o->count;
	for (size_t i = 0; i < s->o->count; i++)
		PF_TRY(put_metadata(s, i, row, m->count, err));
	return 0;
}

static void share_tracks(struct pf_ingest_shares *s)
{
	const struct pf_ingest *all = s->all;
	size_t t = all->first_track;

	for (size_t i = 0; i < s->o->count; i++) {
		struct share *own = &s->of[i];

		own->first = t;
		own->event_count = own->metadata_count;
		for (; t < all->track_count &&
		       pf_ingest_track(all, t)->owner == i;
		     t++)
			for (size_t k = 0;
			     k < pf_ingest_track(all, t)->run_count; k++)
				own->event_count +=
					pf_ingest_track(all, t)->runs[k].count;
		own->behind = t;
	}
	/* what was skipped is counted with the first */
	s->of[0].event_count = all->event_count;
	for (size_t i = 1; i < s->o->count; i++)
		s->of[0].event_count -= s->of[i].event_count;
}

static void ingest_shares_free(struct pf_ingest_shares *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->o->count; i++) {
		pf_later_release(&s->of[i].members);
		pf_later_release(&s->of[i].metadata);
	}
	if (s->all) {
		/* those before the next are of others */
		struct pf_ingest *all = s->all;
		size_t gone = s->of[s->next].first - all->first_track;

		memmove(all->tracks, all->tracks + gone,
			(all->track_count - all->first_track - gone) *
				sizeof(*all->tracks));
		all->track_count -= gone;
		ingest_drop(all);
	}
	free(s->of);
	free(s);
}

static struct pf_ingest_shares *ingest_share(struct pf_ingest *all,
					     const struct pf_ingest_owners *o,
					     struct pf_err *err)
{
	struct pf_ingest_shares *s = pf_calloc(1, sizeof(*s));
	const unsigned only = all->options->process;

	s->is_only = only > 0;
	s->next = only ? only - 1 : 0;
	s->all = all;
	s->o = o;
	s->of = pf_calloc(o->count, sizeof(*s->of));
	if (pf_later_each(&all->later[PF_LATER_MEMBER], share_member, s, err) ||
	    pf_later_each(&all->later[PF_LATER_METADATA], share_metadata, s,
			  err)) {
		ingest_shares_free(s);
		return NULL;
	}
	share_tracks(s);
	return s;
}

static void count_kind(void *arg, const struct pf_run_event *ev)
{
	struct pf_ingest *job = arg;

	job->kind_count[job->type[ev->type].kind]++;
}

/* What is the first's alone. */
static void forget_first(struct pf_ingest *all)
{
	memset(&all->repairs, 0, sizeof(all->repairs));
	all->json_bytes = all->paired_count = all->no_phase_count = 0;
	all->file_bytes = -1;
}

static struct pf_ingest *new_share(struct pf_ingest_shares *s, size_t n)
{
	struct pf_ingest *all = s->all, *job = copy_job(all);
	const size_t count = s->of[n].behind - s->of[n].first;

	job->tracks = copy(&all->tracks[s->of[n].first - all->first_track],
			   count, sizeof(*job->tracks));
	job->tracks_cap = count + 1;
	job->extra_facts = NULL;
	job->extra_fact_count = job->extra_facts_cap = 0;
	job->process_names = (struct pf_buf){ 0 };
	job->runs_lent = true;
	if (n)
		return job;
	memset(all->later, 0, sizeof(all->later));
	forget_first(all);
	return job;
}

/* The last is what is left of all, which owns the runs. */
static struct pf_ingest *last_share(struct pf_ingest_shares *s)
{
	struct pf_ingest *all = s->all;
	const struct share *own = &s->of[s->next];
	const size_t from = own->first - all->first_track;
	const size_t to = own->behind - all->first_track;

	if (s->is_only) {
		drop_tracks(all->tracks, from);
		drop_tracks(all->tracks + to, all->track_count - own->behind);
		if (s->next)
			forget_first(all);
	}
	memmove(all->tracks, all->tracks + from,
		(to - from) * sizeof(*all->tracks));
	s->all = NULL;
	return all;
}

void pf_ingest_process_digest(const char *file, size_t process,
			      char out[PF_XXH128_TEXT])
{
	struct pf_xxh128 *digest = pf_xxh128_new();

	const char *number = PF_PRINTED(24, " %zu", process);
	pf_xxh128_add(digest, file, strlen(file));
	pf_xxh128_add(digest, number, strlen(number));
	pf_xxh128_text(digest, out);
	pf_xxh128_free(digest);
}

/* As many as there are owners; NULL on an error. */
static struct pf_ingest *ingest_share_next(struct pf_ingest_shares *s,
					   struct pf_err *err)
{
	const bool is_last = s->is_only || s->next + 1 == s->o->count;
	struct share *own = &s->of[s->next];
	struct pf_ingest *job;

	job = is_last ? last_share(s) : new_share(s, s->next);
	job->later[PF_LATER_MEMBER] = own->members;
	job->later[PF_LATER_METADATA] = own->metadata;
	own->members = own->metadata = (struct pf_later){ 0 };
	job->event_count = own->event_count;
	job->metadata_count = own->metadata_count;
	job->first_track = own->first;
	job->track_count = own->behind;
	job->is_last &= is_last;
	if (!s->is_only)
		job->trace_id += (int64_t)s->next;
	job->owner_rank = s->o->ranks[s->next];
	pf_ingest_note_fact(job, "merged_count", (int64_t)s->o->count);
	pf_ingest_process_digest(job->digest, ++s->next, job->digest);
	memset(job->kind_count, 0, sizeof(job->kind_count));
	for (size_t i = job->first_track; i < job->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(job, i);

		if (pf_run_each(job->runs, t->runs, t->run_count, count_kind,
				job, err)) {
			ingest_drop(job);
			return NULL;
		}
	}
	return job;
}

/* ---- lane ---- */

struct pf_ingest_lane {
	pf_lane_work *finish;
	void *arg;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pf_ingest *ring[PF_LANE_WAITING];
	uint64_t put, taken, finished; /* how many so far */
	struct pf_lane_task *offer;    /* NULL: none, or it is taken */
	pf_lane_help *help;            /* NULL: no help is wanted */
	void *help_arg;
	bool is_helping;
	bool closing;
	_Atomic bool failed;
	struct pf_err err;
};

/* Behind one that failed the rest are only freed. */
static void finish_one(struct pf_ingest_lane *l, struct pf_ingest *job)
{
	struct pf_err err = { 0 };

	if (atomic_load(&l->failed)) {
		ingest_drop(job);
		return;
	}
	if (!l->finish(l->arg, job, &err))
		return;
	l->err = err;
	atomic_store(&l->failed, true);
}

/* The lock is held, and not while it helps. */
static void help_once(struct pf_ingest_lane *l)
{
	pf_lane_help *help = l->help;
	bool has_more;

	l->is_helping = true;
	pthread_mutex_unlock(&l->lock);
	has_more = help(l->help_arg);
	pthread_mutex_lock(&l->lock);
	l->is_helping = false;
	if (!has_more)
		l->help = NULL;
	pthread_cond_broadcast(&l->changed);
}

static void *work(void *arg)
{
	struct pf_ingest_lane *l = arg;
	struct pf_ingest *job;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		if (l->taken == l->put) {
			if (l->closing)
				break;
			if (l->help)
				help_once(l);
			else
				pthread_cond_wait(&l->changed, &l->lock);
			continue;
		}
		job = l->ring[l->taken++ % PF_LANE_WAITING];
		pthread_cond_broadcast(&l->changed);
		pthread_mutex_unlock(&l->lock);
		finish_one(l, job);
		pthread_mutex_lock(&l->lock);
		l->finished++;
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/*
 * Without a thread of its own (or when none can be had) each trace is
 * finished by who puts it.
 */
static struct pf_ingest_lane *lane_new(pf_lane_work *finish, void *arg,
				       bool beside)
{
	struct pf_ingest_lane *l = pf_calloc(1, sizeof(*l));

	l->finish = finish;
	l->arg = arg;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	l->started = beside && !pthread_create(&l->thread, NULL, work, l);
	return l;
}

/* ---- parts of it ---- */

/* The lock is held, and not while it runs. */
static void run_offer(struct pf_ingest_lane *l, struct pf_lane_task *task)
{
	task->is_taken = true;
	l->offer = NULL;
	pthread_mutex_unlock(&l->lock);
	task->run(task->arg);
	pthread_mutex_lock(&l->lock);
	task->is_done = true;
	pthread_cond_broadcast(&l->changed);
}

/* For what comes next; the lock is held. */
static void wait_usefully(struct pf_ingest_lane *l)
{
	if (l->offer)
		run_offer(l, l->offer);
	else
		pthread_cond_wait(&l->changed, &l->lock);
}

bool pf_lane_is_beside(const struct pf_ingest_lane *l)
{
	return l->started;
}

/* One at a time; it is the lane's until it is collected. */
static void lane_offer(struct pf_ingest_lane *l, struct pf_lane_task *task)
{
	pthread_mutex_lock(&l->lock);
	l->offer = task;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

static void lane_collect(struct pf_ingest_lane *l, struct pf_lane_task *task)
{
	pthread_mutex_lock(&l->lock);
	if (!task->is_taken)
		run_offer(l, task);
	while (!task->is_done)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

/* ---- all of it ---- */

bool pf_lane_failed(const struct pf_ingest_lane *l)
{
	return atomic_load(&l->failed);
}

void pf_lane_wait(struct pf_ingest_lane *l)
{
	pthread_mutex_lock(&l->lock);
	while (l->started && l->finished < l->put)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

void pf_lane_ask(struct pf_ingest_lane *l, pf_lane_help *help, void *arg)
{
	pthread_mutex_lock(&l->lock);
	l->help = help;
	l->help_arg = arg;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

void pf_lane_thank(struct pf_ingest_lane *l)
{
	pthread_mutex_lock(&l->lock);
	l->help = NULL;
	while (l->is_helping)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

static int lane_put(struct pf_ingest_lane *l, struct pf_ingest *job)
{
	if (!l->started) {
		finish_one(l, job);
		return atomic_load(&l->failed) ? -1 : 0;
	}
	pthread_mutex_lock(&l->lock);
	while (l->put - l->taken == PF_LANE_WAITING)
		wait_usefully(l);
	l->ring[l->put++ % PF_LANE_WAITING] = job;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return atomic_load(&l->failed) ? -1 : 0;
}

/*
 * Wait until all are finished.  The first that failed is the one that the
 * error is of; those behind it were not finished.  What is still offered can be
 * collected until the lane is freed.
 */
static int lane_finish(struct pf_ingest_lane *l, struct pf_err *err)
{
	int rc;

	if (l->started) {
		pthread_mutex_lock(&l->lock);
		l->closing = true;
		pthread_cond_broadcast(&l->changed);
		while (l->finished < l->put)
			wait_usefully(l);
		pthread_mutex_unlock(&l->lock);
		pthread_join(l->thread, NULL);
	}
	rc = atomic_load(&l->failed) ? -1 : 0;
	if (rc)
		*err = l->err;
	return rc;
}

static void lane_free(struct pf_ingest_lane *l)
{
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->changed);
	free(l);
}

/* a thread's calls ascend: larger pieces only touch more memory */
#define CALLS_BYTES (2u << 20)
#define RUNS_ROOM   (16u << 20) /* in memory, the rest on disk */

/* What is made of an ingest: a database in its place. */
struct making {
	const struct pf_ingest_options *options;
	struct pf_outplace place;
	struct pf_db *db, own; /* the one that is written into */
	char *directory;
	struct extra *before; /* of the trace that was finished last */
	size_t *joins;        /* of each path the first of its trace */
	const int64_t *ranks; /* of each path, by its name */
	int64_t *own_ranks;
	size_t *next;        /* and the next one of it; 0: none */
	size_t last;         /* where the last trace begins */
	size_t unread_count; /* traces that could not be read */
	struct pf_err first; /* why the first of them could not be */
};

/* ---- one trace ---- */

static int check_read(struct pf_ingest *in, struct pf_err *err)
{
	if (!in->json_bytes)
		return pf_fail(err, PF_EDATA, "%s",
			       pf_refusal_of_empty(in->path));
	if (!in->found_list)
		return pf_fail(err, PF_EDATA,
			       "is JSON without a list of trace events");
	if (!pf_ingest_has_events(in->event_count, in->no_phase_count,
				  &in->repairs))
		return pf_fail(err, PF_EDATA,
			       "is a list of other things than trace events "
			       "(none has a \"ph\")");
	if (!in->event_count && in->repairs.of[PF_REPAIR_CUT_OFF].count)
		return pf_fail(err, PF_EDATA, "has no complete event");
	return 0;
}

static int check_strict(const struct pf_ingest *in, struct pf_err *err)
{
	for (int k = 0; in->options->strict && k < PF_REPAIR_KINDS; k++)
		if (in->repairs.of[k].count && k != PF_SKIP_PYTHON &&
		    !pf_repair_is_usual((enum pf_repair_kind)k))
			return pf_fail(
				err, PF_EDATA,
				"%s (%lld times, first at byte %lld), "
				"which --strict refuses",
				pf_repair_text((enum pf_repair_kind)k),
				(long long)in->repairs.of[k].count,
				(long long)in->repairs.of[k].first_offset);
	return 0;
}

static void report(const struct pf_ingest *in)
{
	const struct pf_ingest_report r = {
		.path = in->path,
		.trace_id = in->trace_id,
		.events = in->event_count,
		.json_bytes = in->json_bytes,
		.file_bytes = in->file_bytes,
		.repairs = &in->repairs,
	};

	if (in->options->report)
		in->options->report(&r, in->options->report_arg);
}

/* The line for the user follows the reading as long as there is any. */
static void enter(const struct pf_ingest *in, const char *phase)
{
	if (in->options->phase && in->is_last)
		in->options->phase(phase);
}

/* Of a file, and not of all: what was written before it is whole. */
static bool is_of_file(const struct making *m, struct pf_ingest *in,
		       const struct pf_err *err)
{
	return m->options->keep_going && pf_err_is_of_input(err) &&
	       !pf_lane_failed(in->lane);
}

static int give_up(struct making *m, struct pf_ingest *in, struct pf_err *err)
{
	const struct pf_ingest_options *o = m->options;
	struct pf_err why = *err;
	struct pf_ingest *job;

	memset(err, 0, sizeof(*err));
	if (o->unread)
		o->unread(in->path, why.text, o->report_arg);
	job = ingest_give_up(in, why.text);
	if (!m->unread_count++) {
		m->first = why;
		pf_while(&m->first, "'%s'", job->path);
	}
	return lane_put(in->lane, job);
}

static void join_paths(struct making *m)
{
	size_t count = m->options->path_count;

	m->joins = pf_source_joins(m->options->paths, count);
	if (!m->options->ranks)
		m->own_ranks = pf_source_ranks(m->options->paths, count);
	m->ranks = m->own_ranks ? m->own_ranks : m->options->ranks;
	m->next = pf_calloc(count + 1, sizeof(*m->next));
	for (size_t i = count; i-- > 0;) {
		if (m->joins[i] == i) {
			m->last = m->last > i ? m->last : i;
			continue;
		}
		m->next[i] = m->next[m->joins[i]];
		m->next[m->joins[i]] = i;
	}
}

/* What is read behind the first file, and whether any trace is behind it. */
static void find_parts(const struct making *m, struct pf_ingest *in, size_t i)
{
	in->part_count = in->parts_read = 0;
	in->part_bytes = 0;
	in->is_last = i == m->last;
	in->named_rank = m->ranks[i];
	for (size_t k = m->next[i]; k; k = m->next[k]) {
		*PF_ONE_MORE(in->parts, in->part_count, in->parts_cap) =
			m->options->paths[k];
	}
}

/* What the file itself could not have: it is reserved while it is read. */
#define OWN_TYPE (1u << 16)

/*
 * The types that tracks of devices may need, when a trace has been read: types
 * are numbered in the order of the files, and the next is read while this one
 * is merged.
 */
static void reserve_types(struct pf_ingest *in)
{
	bool is_new;

	/* Nothing is added: the dictionary may hold none. */
	in->plain_type =
		pf_ids_find(&in->types, "", 0,
			    (uint32_t)('X' << 8 | PF_KIND_HOST), 0, &is_new);
	for (unsigned k = 0; k < PF_KIND_COUNT; k++) {
		uint32_t id = pf_ids_find(&in->types, "", 0, OWN_TYPE | k,
					  PF_INGEST_TYPES_MAX, &is_new);

		in->device_type[k] = id == PF_ID_INLINE ? in->plain_type : id;
		if (!is_new)
			continue;
		PF_ROOM(in->type, in->type_cap, (size_t)id + 1);
		in->type[id] = (struct pf_ingest_type){ 'X', (uint8_t)k };
	}
}

/* What was read is one trace, or one of each process (merged.c). */
static int put_traces(struct pf_ingest *in,
		      const struct pf_ingest_owners *owners, struct pf_err *err)
{
	const size_t count = in->options->process ? 1 : owners->count;
	struct pf_ingest_shares *shares;
	struct pf_ingest *job;
	int rc = 0;

	/* Finished beside the reading of the next, for which "in" is ready. */
	reserve_types(in);
	job = copy_job(in);
	begin_next(in);
	if (owners->count == 1)
		return lane_put(in->lane, job);
	shares = ingest_share(job, owners, err);
	for (size_t i = 0; i < count && shares && !rc; i++) {
		job = ingest_share_next(shares, err);
		rc = job ? lane_put(in->lane, job) : -1;
	}
	in->trace_id += (int64_t)count - 1;
	PF_TRY(!shares);
	pf_lane_wait(in->lane); /* nobody has the runs any more */
	ingest_shares_free(shares);
	return rc;
}

static int read_trace(struct making *m, struct pf_ingest *in, size_t i,
		      struct pf_err *err)
{
	struct pf_ingest_owners owners = { 0 };
	int rc;

	in->trace_id++;
	in->path = in->options->paths[i];
	find_parts(m, in, i);
	in->runs = pf_calloc(1, sizeof(*in->runs));
	PF_TRY(pf_scratch_open(in->runs,
			       in->options->room_bytes ? in->options->room_bytes
						       : RUNS_ROOM,
			       in->directory, err));
	rc = pf_ingest_read(in, err) || check_read(in, err) ||
			     pf_ingest_owners_find(in, &owners, err)
		     ? -1
		     : put_traces(in, &owners, err);
	pf_ingest_owners_release(&owners);
	if (!rc || pf_lane_failed(in->lane))
		return rc;
	if (err->code == PF_EDATA && in->json_bytes &&
	    pf_refusal_of_name(in->path))
		pf_fail(err, PF_EDATA, "%s", pf_refusal_of_name(in->path));
	return is_of_file(m, in, err) ? give_up(m, in, err)
				      : pf_while(err, "'%s'", in->path);
}

/*
 * ---- extra work: from the GPU rows on, and beside the merge of the next ----
 */

struct extra {
	struct pf_ingest *in;
	struct pf_lane_task task;
	pthread_t thread;
	enum { NOT_YET, ON_THREAD, OFFERED, DONE } how;
	void *work;
	int rc; /* of preparing it */
	struct pf_err err;
};

static void prepare_extra(void *arg)
{
	struct extra *x = arg;

	x->rc = x->in->options->extra->prepare(x->work, &x->err);
}

static void *prepare_on_thread(void *arg)
{
	prepare_extra(arg);
	return NULL;
}

/*
 * Of two threads none is left for it alone.  When it is prepared depends on
 * the threads; what it begins with does not, as nothing is written meanwhile.
 */
static struct extra *begin_extra(struct pf_ingest *in, struct pf_err *err)
{
	void *work = in->options->extra->begin(in->db, in->trace_id, err);
	struct extra *x;

	if (!work)
		return NULL;
	x = pf_calloc(1, sizeof(*x));
	x->in = in;
	x->work = work;
	x->task = (struct pf_lane_task){ .run = prepare_extra, .arg = x };
	if (pf_ingest_is_pair(in)) {
		x->how = OFFERED;
		lane_offer(in->lane, &x->task);
	} else if (!pthread_create(&x->thread, NULL, prepare_on_thread, x)) {
		x->how = ON_THREAD;
	}
	return x;
}

static void end_extra(struct extra *x)
{
	switch (x->how) {
	case NOT_YET:
		prepare_extra(x);
		break;
	case ON_THREAD:
		pthread_join(x->thread, NULL);
		break;
	case OFFERED:
		lane_collect(x->in->lane, &x->task);
		break;
	case DONE:
		break;
	}
	x->how = DONE;
}

/* "rc" is what came of the trace so far. */
static int finish_extra(struct extra *x, int rc, struct pf_err *err)
{
	const struct pf_ingest_extra *e = x->in->options->extra;

	end_extra(x);
	if (!rc && x->rc) {
		*err = x->err;
		rc = -1;
	}
	if (!rc)
		rc = e->store(x->work, err);
	e->release(x->work);
	free(x);
	return rc;
}

/* Of the trace before, if there is one; its rows stand behind the next's. */
static int finish_before(struct making *m, struct pf_err *err)
{
	struct extra *x = m->before;
	struct pf_ingest *in;
	int rc;

	if (!x)
		return 0;
	m->before = NULL;
	in = x->in;
	rc = finish_extra(x, 0, err);
	if (!rc)
		report(in);
	enter(in, NULL);
	ingest_drop(in);
	return rc;
}

/* Behind those before it; what a format wrote of it while reading goes. */
static int put_unread(struct making *m, struct pf_ingest *in,
		      struct pf_err *err)
{
	int rc = finish_before(m, err);

	if (!rc)
		rc = ingest_unread_row(in, err);
	ingest_drop(in);
	return rc;
}

/* What is written when blocks are; the extra work is left in m->before. */
static int write_rows(struct making *m, struct pf_ingest *in,
		      struct pf_err *err)
{
	struct extra *x;

	PF_TRY(ingest_trace_rows(in, err));
	PF_TRY(pf_ingest_steps(in, err));
	if (!in->options->extra)
		return pf_ingest_gpu_rows(in, err);
	x = begin_extra(in, err);
	PF_TRY(!x);
	if (pf_ingest_gpu_rows(in, err))
		return finish_extra(x, -1, err);
	pf_db_start_sync(in->db);
	if (x->how == NOT_YET)
		end_extra(x);
	pf_sorter_free(in->calls);
	in->calls = NULL;
	m->before = x;
	return 0;
}

/* ---- what follows the reading ---- */

static int merge(struct pf_ingest *in, struct pf_err *err)
{
	in->calls = pf_sorter_new(sizeof(struct pf_ingest_call), CALLS_BYTES,
				  in->directory);
	enter(in, "linking");
	PF_TRY(ingest_texts(in, err));
	PF_TRY(pf_ingest_merge(in, err));
	ingest_close_runs(in); /* their memory and place on the disk */
	pf_db_start_sync(in->db);
	return 0;
}

static int finish_trace(void *arg, struct pf_ingest *in, struct pf_err *err)
{
	struct making *m = arg;
	struct pf_err earlier = { 0 };
	int rc;

	if (in->unread)
		return put_unread(m, in, err);
	rc = merge(in, err);
	if (finish_before(m, &earlier)) {
		*err = earlier;
		rc = -1;
	}
	if (!rc && check_strict(in, err))
		rc = pf_while(err, "'%s'", in->path);
	if (!rc) {
		enter(in, "averages");
		rc = write_rows(m, in, err);
	}
	if (m->before)
		return rc;
	if (!rc)
		report(in);
	enter(in, NULL);
	ingest_drop(in);
	return rc;
}

/* ---- all of them ---- */

static struct pf_ingest *new_reading(struct making *m,
				     struct pf_ingest_lane *lane)
{
	struct pf_ingest *in = pf_calloc(1, sizeof(*in));

	in->options = m->options;
	in->db = m->db;
	in->directory = m->directory;
	in->lane = lane;
	in->owner_rank = -1;
	in->empty_name = in->mark.empty_name = PF_ID_NONE;
	in->window_end_name = in->mark.window_end_name = PF_ID_NONE;
	return in;
}

/* An earlier trace's error comes first; it is why reading was stopped. */
static int ingest_traces(struct making *m, struct pf_err *err)
{
	const struct pf_ingest_options *o = m->options;
	struct pf_ingest_lane *lane;
	struct pf_err earlier = { 0 };
	struct pf_ingest *in;
	size_t traces = 0;
	int rc = 0;

	join_paths(m);
	lane = lane_new(finish_trace, m,
			o->path_count > 1 && pf_ingest_threads(o) > 1);
	in = new_reading(m, lane);
	m->db->is_for_one = pf_ingest_is_pair(in);
	for (size_t i = 0; i < o->path_count && !rc; i++) {
		if (m->joins[i] != i)
			continue;
		traces++;
		rc = read_trace(m, in, i, err);
	}
	if (lane_finish(lane, &earlier) || finish_before(m, &earlier)) {
		*err = earlier;
		rc = -1;
	}
	lane_free(lane);
	free(in->parts);
	ingest_drop(in);
	if (!rc && m->unread_count == traces) {
		*err = m->first;
		rc = traces == 1 ? -1 : pf_while(err, "no file could be read");
	}
	return rc;
}

/* A cache that others can write is not believed (pf_db_is_cache_of()). */
static void keep_private(int fd)
{
	struct stat info;

	if (!fstat(fd, &info))
		(void)!fchmod(fd, info.st_mode & 0777 & ~(S_IWGRP | S_IWOTH));
}

static int set_up(struct making *m, struct pf_err *err)
{
	const char *out = m->options->out, *slash = strrchr(out, '/');
	const struct pf_outrule rule = {
		.inputs = m->options->paths,
		.input_count = m->options->path_count,
		.is_ours = pf_db_is_ours,
		.is_database = true,
	};

	m->directory = pf_temp_dir_asked() ? pf_strdup(pf_temp_dir_asked())
		       : slash == out      ? pf_strdup("/")
		       : slash ? pf_memdup0(out, (size_t)(slash - out))
			       : pf_strdup(".");
	PF_TRY(pf_outplace_open(&m->place, out, &rule, err));
	/* Others may read what was made while this one came for the lock. */
	if (m->options->cache && pf_db_is_cache_of(out, m->options->cache))
		return pf_fail(err, PF_EMADE, "'%s' was made meanwhile", out);
	if (m->options->cache)
		keep_private(m->place.fd);
	return pf_db_create(m->db, m->place.partial, err);
}

static int put_mark(struct making *m, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		m->db, "INSERT INTO meta VALUES('cache', ?1)", err);

	sqlite3_bind_text(st, 1, m->options->cache, -1, SQLITE_STATIC);
	return pf_db_step(m->db, st, err);
}

static int finish(struct making *m, struct pf_err *err)
{
	if (m->options->phase)
		m->options->phase("writing");
	PF_TRY(m->options->cache && put_mark(m, err));
	PF_TRY(pf_db_finish(m->db, err));
	return pf_outplace_commit(&m->place, err);
}

int pf_ingest(const struct pf_ingest_options *options, struct pf_err *err)
{
	struct making m = { .options = options };
	int rc;

	pf_mem_keep_below(PF_MEM_KEEP_LITTLE); /* bounded: invariant I5 */
	m.db = options->into ? options->into : &m.own;
	rc = options->into ? 0 : set_up(&m, err);
	if (!rc)
		rc = ingest_traces(&m, err);
	if (!rc && !options->into)
		rc = finish(&m, err);
	pf_db_close(&m.own);
	pf_outplace_release(&m.place);
	free(m.directory);
	free(m.joins);
	free(m.own_ranks);
	free(m.next);
	return rc;
}
