/* SPDX-License-Identifier: MIT */
#include "config.h"

#define XXH_INLINE_ALL
#include "export/slice.h"

#include <inttypes.h>
#include <xxhash.h>

#include "analysis/idle/gaps.h"
#include "analysis/path/path.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "base/spool.h"
#include "events/args.h"
#include "events/interval.h"
#include "events/nest.h"
#include "events/traces.h"
#include "formats/event.h"
#include "store/argtext.h"
#include "store/query.h"
#include "base/intern.h"
#include "base/outplace.h"
#include "store/cursor.h"
#include "store/lexicon.h"

struct pf_slice_writer {
	struct pf_err *err;
	struct pf_outfile *file;
	struct pf_lexicon *lexicon;
	struct pf_buf buf, args;
	int64_t shift_ns; /* what is subtracted from times */
	bool is_whole_us; /* the trace has no fractions */
	bool has_events;  /* a comma is needed */
};

/* Where an event is written. */
struct pf_slice_place {
	const struct pf_track *track;
	int lane;
	int64_t start_ns, end_ns; /* as written */
	bool is_cut;
};

struct pf_slice_used {
	struct pf_intern pids, tids; /* "PID", "PID\nTID" */
};

/* Of ranges of one thread that nest; ranges come in order of their start. */
struct lanes {
	struct pf_nest *items; /* of int64_t: ends of what is open */
	size_t count, cap;
};

#define LANES_MAX 1024

static void lanes_clear(struct lanes *l)
{
	for (size_t i = 0; i < l->count; i++)
		pf_nest_clear(&l->items[i]);
	l->count = 0;
}

static void lanes_release(struct lanes *l)
{
	for (size_t i = 0; i < l->cap; i++)
		pf_nest_release(&l->items[i]);
	free(l->items);
	*l = (struct lanes){ 0 };
}

static bool place(struct pf_nest *lane, int64_t start_ns, int64_t end_ns)
{
	const int64_t *around_ns;

	pf_nest_drop(lane, start_ns);
	around_ns = pf_nest_top(lane);
	return (!around_ns || *around_ns >= end_ns) &&
	       pf_nest_push(lane, end_ns);
}

static const int64_t nothing;

/* The first lane in which a range nests; -1: there would be too many. */
static int lanes_place(struct lanes *l, int64_t start_ns, int64_t end_ns)
{
	for (size_t i = 0; i < l->count; i++)
		if (place(&l->items[i], start_ns, end_ns))
			return (int)i;
	if (l->count == LANES_MAX)
		return -1;
	if (l->count == l->cap) {
		size_t old = l->cap;

		PF_ROOM(l->items, l->cap, l->count + 1);
		for (size_t i = old; i < l->cap; i++)
			l->items[i] = (struct pf_nest){ .width = sizeof(end_ns),
							.outermost = &nothing };
	}
	place(&l->items[l->count], start_ns, end_ns);
	return (int)l->count++;
}

/*
 * Which flow events have their partner in the window.  Events of one arrow
 * have the same category, name and id; they are brought together by a sort of
 * fixed memory, and those of arrows with a start and an end by another.
 */

#define ARROW_MAX 65536u

struct seen {
	int64_t arrow, event_id, ph;
};

struct kept {
	int64_t event_id, zero;
};

/* The events of one arrow. */
struct arrow {
	int64_t key;
	bool has_start, has_end;
	int64_t *ids;
	size_t count, cap;
};

struct pf_slice_flows {
	struct pf_err *err;
	struct pf_sorter *seen, *kept;
	const struct kept *next; /* of those kept */
};

/* Two arrows that collide would only keep one end too many. */
static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	return XXH3_64bits_withSeed(data, len, h);
}

static int64_t id_of(uint32_t track, uint32_t seq)
{
	return (int64_t)((uint64_t)track << 32 | seq);
}

static int slice_flows_see(struct pf_slice_flows *f, struct pf_lexicon *lexicon,
			   uint32_t track, const struct pf_span *e)
{
	const struct pf_lexicon_type *type;
	struct pf_json args = { e->inline_args, e->inline_args_len }, id;
	struct seen s = { .event_id = id_of(track, e->seq) };
	uint64_t h = 0;
	int rc;

	if (e->type >= lexicon->type_count || !lexicon->type[e->type].ph)
		return 0;
	type = &lexicon->type[e->type];
	h = hash(h, type->category, strlen(type->category));
	h = hash(h, &e->name, sizeof(e->name));
	if (e->mask >> PF_SLOT_FLOW_ID & 1) {
		h = hash(h, &e->slot[PF_SLOT_FLOW_ID], sizeof(int64_t));
	} else if (e->args != PF_ID_NONE) {
		rc = e->args == PF_ID_INLINE
			     ? 1
			     : pf_lexicon_args_text(lexicon, e->args, &args.p,
						    &args.len, lexicon->db.err);
		PF_TRY(rc < 0);
		id = rc ? pf_json_get(args, "@id") : (struct pf_json){ 0 };
		if (id.p)
			h = hash(h, id.p, id.len);
	}
	s.arrow = (int64_t)h;
	s.ph = *type->ph;
	return pf_sorter_add(f->seen, &s, lexicon->db.err);
}

/* Keep what was gathered of an arrow. */
static void keep(struct pf_slice_flows *f, struct arrow *a)
{
	for (size_t i = 0; i < a->count; i++)
		pf_sorter_add(f->kept, &(struct kept){ a->ids[i], 0 }, f->err);
	a->count = 0;
}

static void end_arrow(struct pf_slice_flows *f, struct arrow *a)
{
	if (a->has_start && a->has_end)
		keep(f, a);
	a->count = 0;
	a->has_start = a->has_end = false;
}

static void add_to_arrow(struct pf_slice_flows *f, struct arrow *a,
			 const struct seen *s)
{
	if (a->key != s->arrow)
		end_arrow(f, a);
	a->key = s->arrow;
	a->has_start |= s->ph == 's';
	a->has_end |= s->ph == 'f';
	/* that many are no arrow of a profiler: all of them */
	if (a->count == ARROW_MAX) {
		a->has_start = a->has_end = true;
		keep(f, a);
	}
	*PF_ONE_MORE(a->ids, a->count, a->cap) = s->event_id;
}

/* All were seen: which have a partner? */
static int slice_flows_settle(struct pf_slice_flows *f)
{
	struct arrow a = { 0 };
	const struct seen *s;

	PF_TRY(pf_sorter_finish(f->seen, f->err));
	while (!f->err->code && (s = pf_sorter_next(f->seen, f->err)))
		add_to_arrow(f, &a, s);
	end_arrow(f, &a);
	free(a.ids);
	if (!f->err->code && !pf_sorter_finish(f->kept, f->err))
		f->next = pf_sorter_next(f->kept, f->err);
	return f->err->code ? -1 : 0;
}

/* Is this one of them?  Asked in order of id: 1, 0, -1. */
static int slice_flows_take(struct pf_slice_flows *f, uint32_t track,
			    uint32_t seq)
{
	if (!f->next || f->next->event_id != id_of(track, seq))
		return 0;
	f->next = pf_sorter_next(f->kept, f->err);
	return f->err->code ? -1 : 1;
}

/* ---- write ---- */

#define FLUSH_BYTES 65536

/* ---- pieces ---- */

/* What a reader makes of it that multiplies a double by 1000 and cuts. */
static bool is_read_right(const char *us, int64_t ns)
{
	double read = strtod(us, NULL) * 1000.0;

	return read < 9e18 && (int64_t)read == ns;
}

/* us, so that a reader that cuts doubles to ns gets them right. */
static void slice_put_time(struct pf_buf *out, int64_t ns, bool is_whole_us)
{
	char text[48];

	if (is_whole_us && ns % 1000 == 0) {
		pf_buf_addf(out, "%" PRId64, ns / 1000);
		return;
	}
	snprintf(text, sizeof(text), "%s%" PRId64 ".%03d", ns < 0 ? "-" : "",
		 ns < 0 ? -(ns / 1000) : ns / 1000, abs((int)(ns % 1000)));
	pf_buf_adds(out, text);
	if (is_read_right(text, ns))
		return;
	strncat(text, "001", sizeof(text) - strlen(text) - 1);
	if (is_read_right(text, ns))
		pf_buf_adds(out, "001");
}

/*
 * A pid or tid: a number if the text is one that Perfetto takes.  It puts the
 * events of others, such as the negative threads of old traces, on the
 * process's main thread, and drops what does not nest there.
 */
static void slice_put_id(struct pf_buf *out, const char *text)
{
	char digits[PF_NUM_MAX];
	int64_t n;

	if (!pf_num_int(text, &n) && n >= 0 && n <= UINT32_MAX) {
		snprintf(digits, sizeof(digits), "%" PRId64, n);
		if (!strcmp(digits, text)) {
			pf_buf_adds(out, text);
			return;
		}
	}
	pf_jsonw_quote(out, text, strlen(text), false);
}

/* "TID overlap N"; the tid itself in lane 0. */
static void slice_put_tid(struct pf_buf *out, const char *tid, int lane)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (!lane) {
		slice_put_id(out, tid);
		return;
	}
	pf_buf_addf(&text, "%s overlap %d", tid, lane);
	pf_jsonw_quote(out, text.data, text.len, false);
}

static int flush(struct pf_slice_writer *w)
{
	int rc = pf_outfile_write(w->file, w->buf.data ? w->buf.data : "",
				  w->buf.len, w->err);

	pf_buf_clear(&w->buf);
	return rc;
}

static void begin_event(struct pf_slice_writer *w)
{
	pf_buf_adds(&w->buf, w->has_events ? ",\n" : "\n");
	w->has_events = true;
}

/* A piece of JSON for the list of events. */
static int slice_raw(struct pf_slice_writer *w, const char *json, size_t len)
{
	begin_event(w);
	pf_buf_add(&w->buf, json, len);
	return w->buf.len < FLUSH_BYTES ? 0 : flush(w);
}

/* ---- arguments ---- */

/* The arguments as JSON in w->args; empty if there are none. */
static int build_args(struct pf_slice_writer *w, const struct pf_span *e)
{
	const char *text = e->inline_args;
	size_t len = e->inline_args_len;

	pf_buf_clear(&w->args);
	if (e->args == PF_ID_NONE)
		return 0;
	if (e->args != PF_ID_INLINE &&
	    pf_lexicon_args_text(w->lexicon, e->args, &text, &len, w->err) <= 0)
		return w->err->code
			       ? -1
			       : pf_fail(w->err, PF_EDB,
					 "arguments %" PRIu32 " are missing",
					 e->args);
	pf_argtext_build(text, len, e->mask, e->slot, &w->args);
	return 0;
}

/* Members of the event itself are kept as arguments "@key". */
static void put_members(struct pf_slice_writer *w)
{
	struct pf_argtext it = { w->args.data, w->args.len, 0 };
	struct pf_arg a;

	while (w->args.len && pf_argtext_next(&it, &a)) {
		if (!a.key_len || *a.key != '@')
			continue;
		pf_buf_adds(&w->buf, ",\"");
		pf_buf_add(&w->buf, a.key + 1, a.key_len - 1);
		pf_buf_adds(&w->buf, "\":");
		pf_buf_add(&w->buf, a.value, a.value_len);
	}
}

static void put_args(struct pf_slice_writer *w, const struct pf_span *e,
		     const struct pf_slice_place *at)
{
	struct pf_argtext it = { w->args.data, w->args.len, 0 };
	const char *separator = ",\"args\":{\"";
	struct pf_arg a;

	while (w->args.len && pf_argtext_next(&it, &a)) {
		if (a.key_len && *a.key == '@')
			continue;
		pf_buf_adds(&w->buf, separator);
		pf_buf_add(&w->buf, a.key, a.key_len);
		pf_buf_adds(&w->buf, "\":");
		pf_buf_add(&w->buf, a.value, a.value_len);
		separator = ",\"";
	}
	if (at->is_cut) {
		pf_buf_addf(&w->buf,
			    "%sprofan cut\":{\"start_ns\":%" PRId64
			    ",\"dur_ns\":%" PRId64 "}",
			    separator, pf_sat_sub(e->start_ns, w->shift_ns),
			    e->dur_ns);
		separator = ",\"";
	}
	if (separator[2] == '\0')
		pf_buf_addc(&w->buf, '}');
}

/* ---- writing events ---- */

static int put_name(struct pf_slice_writer *w, const struct pf_span *e)
{
	const char *text = e->inline_name;
	uint32_t len = e->inline_name_len;

	if (e->name != PF_ID_INLINE &&
	    pf_lexicon_string(w->lexicon, e->name, &text, &len, w->err) <= 0)
		return w->err->code ? -1
				    : pf_fail(w->err, PF_EDB,
					      "name %" PRIu32 " is missing",
					      e->name);
	pf_buf_adds(&w->buf, ",\"name\":");
	pf_jsonw_quote(&w->buf, text, len, false);
	return 0;
}

static int slice_event(struct pf_slice_writer *w, const struct pf_span *e,
		       const struct pf_slice_place *at)
{
	const struct pf_track *t = at->track;
	const struct pf_lexicon_type *type;
	bool is_range;

	if (e->type >= w->lexicon->type_count || !w->lexicon->type[e->type].ph)
		return pf_fail(w->err, PF_EDB,
			       "event type %" PRIu32 " is missing", e->type);
	type = &w->lexicon->type[e->type];
	is_range = *type->ph == 'X' || *type->ph == 'B';
	PF_TRY(build_args(w, e));
	begin_event(w);
	pf_buf_addf(&w->buf, "{\"ph\":\"%c\"", is_range ? 'X' : *type->ph);
	if (*type->category) {
		pf_buf_adds(&w->buf, ",\"cat\":");
		pf_jsonw_quote(&w->buf, type->category, strlen(type->category),
			       false);
	}
	PF_TRY(put_name(w, e));
	if (*t->pid) {
		pf_buf_adds(&w->buf, ",\"pid\":");
		slice_put_id(&w->buf, t->pid);
	}
	if (*t->tid || at->lane) {
		pf_buf_adds(&w->buf, ",\"tid\":");
		slice_put_tid(&w->buf, t->tid, at->lane);
	}
	pf_buf_adds(&w->buf, ",\"ts\":");
	slice_put_time(&w->buf, pf_sat_sub(at->start_ns, w->shift_ns),
		       w->is_whole_us);
	if (is_range) {
		pf_buf_adds(&w->buf, ",\"dur\":");
		slice_put_time(&w->buf, pf_sat_sub(at->end_ns, at->start_ns),
			       w->is_whole_us);
	}
	put_members(w);
	put_args(w, e, at);
	pf_buf_addc(&w->buf, '}');
	return w->buf.len < FLUSH_BYTES ? 0 : flush(w);
}

/* ---- begin and end ---- */

static void put_member(struct pf_slice_writer *w, sqlite3_stmt *stmt)
{
	const char *key = pf_sqlite_text(stmt, 0);
	size_t key_len = (size_t)sqlite3_column_bytes(stmt, 0);
	const char *value = pf_sqlite_text(stmt, 1);
	size_t len = (size_t)sqlite3_column_bytes(stmt, 1);

	if (!key || !value || !len)
		return;
	pf_jsonw_quote(&w->buf, key, key_len, false);
	pf_buf_addc(&w->buf, ':');
	pf_buf_add(&w->buf, value, len);
	pf_buf_adds(&w->buf, ",\n");
}

static int put_base(struct pf_slice_writer *w, struct pf_db *db,
		    int64_t trace_id)
{
	PF_STMT(stmt) = pf_db_prepare(
		db, "SELECT base_ns FROM trace WHERE id = ?1", db->err);
	int rc;

	sqlite3_bind_int64(stmt, 1, trace_id);
	rc = pf_db_step(db, stmt, db->err);
	if (rc == 1 && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		pf_buf_addf(
			&w->buf, "\"baseTimeNanoseconds\":%" PRId64 ",\n",
			pf_sat_add(sqlite3_column_int64(stmt, 0), w->shift_ns));
	return rc;
}

/* Everything before the first event. */
static int slice_begin(struct pf_slice_writer *w, struct pf_db *db,
		       int64_t trace_id, const struct pf_slice_result *r)
{
	PF_STMT(stmt) = pf_named_prepare(db, "slice_meta", db->err);
	int rc;

	PF_TRY(!stmt);
	pf_buf_adds(&w->buf, "{\n");
	sqlite3_bind_int64(stmt, 1, trace_id);
	while ((rc = pf_db_step(db, stmt, db->err)) == 1)
		put_member(w, stmt);
	PF_TRY(rc || put_base(w, db, trace_id) < 0);
	pf_buf_addf(&w->buf,
		    "\"profan_slice\":{\"from_ns\":%" PRId64
		    ",\"to_ns\":%" PRId64 ",\"shift_ns\":%" PRId64 "},\n",
		    r->from_ns, r->to_ns, w->shift_ns);
	pf_buf_adds(&w->buf, "\"traceEvents\":[");
	return 0;
}

static int slice_end(struct pf_slice_writer *w)
{
	pf_buf_adds(&w->buf, "\n]}\n");
	PF_TRY(flush(w) < 0);
	return pf_outfile_commit(w->file, w->err);
}

/* ---- the file's own numbers ---- */

static bool is_of(const struct pf_track *t, const struct pf_device_place *place,
		  const char *line)
{
	return !strcmp(t->class_name, "gpu") && !strcmp(t->pid, place->pid) &&
	       !strcmp(t->tid, *place->tid ? place->tid : line) &&
	       t->thread_name && !strcmp(t->thread_name, line);
}

static void replace(const char **text, const char *with)
{
	free((char *)*text);
	*text = pf_strdup(with ? with : "");
}

/* Is it this line of an NPU, or (without a tid) one of its streams? */
static bool is_npu_line(const struct pf_track *t, const char *tid,
			const char *process, const char *line,
			const char *device)
{
	bool is_stream = pf_device_npu_line(process, line) == PF_LINE_TASKS;

	if (strcmp(t->class_name, "gpu") != 0 || strcmp(t->pid, device) != 0)
		return false;
	if (!tid)
		return is_stream && pf_num_or_none(t->tid) >= 0;
	return !strcmp(t->tid, is_stream ? tid : line);
}

static int npu_ids(struct pf_db *db, int64_t trace_id, struct pf_track *tracks,
		   bool *is_done, size_t count)
{
	PF_STMT(st) = pf_named_prepare(db, "npu_lines", db->err);
	const char *text[5];
	int rc;

	sqlite3_bind_int64(st, 1, trace_id);
	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		for (int i = 0; i < 5; i++)
			text[i] = pf_sqlite_text(st, i);
		for (size_t t = 0; t < count; t++) {
			if (is_done[t] ||
			    !is_npu_line(&tracks[t], text[1], text[2], text[3],
					 text[4]))
				continue;
			replace(&tracks[t].pid, text[0]);
			if (text[1])
				replace(&tracks[t].tid, text[1]);
			is_done[t] = true;
		}
	}
	return rc;
}

/*
 * Tracks of devices that only their names told (TensorFlow, JAX) get the pid
 * and tid back that the file has, with which its metadata names them.
 */
static int slice_file_ids(struct pf_db *db, int64_t trace_id,
			  struct pf_track *tracks, size_t count)
{
	sqlite3_stmt *st = pf_named_prepare(db, "device_lines", db->err);
	PF_OWN bool *is_done = pf_calloc(count + 1, sizeof(*is_done));
	const char *text[4];
	int rc;

	sqlite3_bind_int64(st, 1, trace_id);
	while ((rc = pf_db_step(db, st, db->err)) == 1) {
		struct pf_device_place place;
		size_t t = 0;

		for (int i = 0; i < 4; i++) {
			text[i] = pf_sqlite_text(st, i);
			text[i] = text[i] ? text[i] : "";
		}
		place = pf_device_place(text[2], text[3]);
		while (t < count &&
		       (is_done[t] || !is_of(&tracks[t], &place, text[3])))
			t++;
		if (!place.line || t == count)
			continue;
		replace(&tracks[t].pid, text[0]);
		replace(&tracks[t].tid, text[1]);
		is_done[t] = true;
	}
	sqlite3_finalize(st);
	if (!rc)
		rc = npu_ids(db, trace_id, tracks, is_done, count);
	return rc;
}

/* ---- names ---- */

static void add_key(struct pf_buf *key, const char *pid, size_t pid_len,
		    const char *tid, size_t tid_len)
{
	pf_buf_clear(key);
	pf_buf_add(key, pid, pid_len);
	pf_buf_addc(key, '\n');
	pf_buf_add(key, tid, tid_len);
}

static void slice_use(struct pf_slice_used *u, const struct pf_track *t)
{
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };

	pf_intern_add(&u->pids, t->pid, strlen(t->pid));
	add_key(&key, t->pid, strlen(t->pid), t->tid, strlen(t->tid));
	pf_intern_add(&u->tids, key.data, key.len);
}

/* Is it there?  The set must not grow, so a new one is taken back. */
static bool has(const struct pf_intern *set, const char *p, size_t len)
{
	for (uint32_t i = 0; i < set->count; i++) {
		size_t have;
		const char *text = pf_intern_text(set, i, &have);

		if (have == len && !memcmp(text, p, len))
			return true;
	}
	return false;
}

static bool is_used(const struct pf_slice_used *u, struct pf_json event)
{
	PF_AUTO(pf_buf_release) struct pf_buf pid = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf tid = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };
	bool is_thread;

	pf_json_text(pf_json_get(event, "name"), &name);
	pf_json_text(pf_json_get(event, "pid"), &pid);
	pf_json_text(pf_json_get(event, "tid"), &tid);
	pf_buf_add(&pid, "", 0);
	pf_buf_add(&tid, "", 0);
	add_key(&key, pid.data, pid.len, tid.data, tid.len);
	is_thread = name.data && !strncmp(name.data, "thread_", 7);
	return has(&u->pids, pid.data, pid.len) &&
	       (!is_thread || has(&u->tids, key.data, key.len));
}

/* Without its time, which would be one of the other timeline. */
static void copy_members(struct pf_json event, struct pf_buf *out)
{
	struct pf_json rest = event, key, value;
	const char *separator = "{\"";
	PF_AUTO(pf_buf_release) struct pf_buf id = { 0 };

	pf_buf_clear(out);
	while (pf_json_member(&rest, &key, &value)) {
		if (pf_json_is(key, "ts") || pf_json_is(key, "dur") ||
		    pf_json_is(key, "tts"))
			continue;
		pf_buf_adds(out, separator);
		pf_buf_add(out, key.p, key.len);
		pf_buf_adds(out, "\":");
		if (pf_json_is(key, "pid") || pf_json_is(key, "tid")) {
			pf_buf_clear(&id);
			pf_json_text(value, &id);
			slice_put_id(out, id.len ? id.data : "");
		} else {
			pf_buf_add(out, value.p, value.len);
		}
		separator = ",\"";
	}
	pf_buf_adds(out, out->len ? "}" : "{}");
}

/* Metadata of what was used, and of the lanes: count lanes of each track. */
static int slice_metadata(struct pf_slice_writer *w, struct pf_db *db,
			  int64_t trace_id, const struct pf_slice_used *u)
{
	PF_STMT(stmt) = pf_named_prepare(db, "slice_names", db->err);
	PF_AUTO(pf_buf_release) struct pf_buf copy = { 0 };
	int rc;

	sqlite3_bind_int64(stmt, 1, trace_id);
	while ((rc = pf_db_step(db, stmt, db->err)) == 1) {
		struct pf_json event = { pf_sqlite_text(stmt, 0),
					 (size_t)sqlite3_column_bytes(stmt,
								      0) };

		if (!event.p || !is_used(u, event))
			continue;
		copy_members(event, &copy);
		rc = slice_raw(w, copy.data, copy.len);
		if (rc < 0)
			break;
	}
	return rc < 0 ? -1 : 0;
}

static int slice_lanes(struct pf_slice_writer *w, const struct pf_track *t,
		       size_t lanes)
{
	PF_AUTO(pf_buf_release) struct pf_buf json = { 0 }, name = { 0 };
	int rc = 0;

	for (size_t i = 1; !rc && i < lanes; i++) {
		pf_buf_clear(&json);
		pf_buf_clear(&name);
		pf_buf_addf(&name, "%s (overlap %zu)",
			    t->thread_name ? t->thread_name : t->tid, i);
		pf_buf_adds(&json, "{\"ph\":\"M\",\"name\":\"thread_name\"");
		if (*t->pid) {
			pf_buf_adds(&json, ",\"pid\":");
			slice_put_id(&json, t->pid);
		}
		pf_buf_adds(&json, ",\"tid\":");
		slice_put_tid(&json, t->tid, (int)i);
		pf_buf_adds(&json, ",\"args\":{\"name\":");
		pf_jsonw_quote(&json, name.data, name.len, false);
		pf_buf_adds(&json, "}}");
		rc = slice_raw(w, json.data, json.len);
	}
	return rc;
}

/* The critical path as a track of its own, tile behind tile. */

#define TRACK "critical path"

static void put_text(struct pf_buf *out, const char *separator, const char *key,
		     const char *text)
{
	if (!text)
		return;
	pf_buf_addf(out, "%s\"%s\":", separator, key);
	pf_jsonw_quote(out, text, strlen(text), false);
}

static void put_window(struct pf_buf *out, const struct pf_path_item *t,
		       int64_t start_ns, int64_t end_ns)
{
	put_text(out, ",\"args\":{", "on the path", t->category);
	put_text(out, ",", "kind", t->kind);
	put_text(out, ",", "op", t->op);
	put_text(out, ",", "line", t->frame);
	put_text(out, ",", "module", t->module);
	put_text(out, ",", "thread", t->thread);
	if (t->device >= 0)
		pf_buf_addf(out, ",\"GPU\":%" PRId64, t->device);
	if (t->stream >= 0)
		pf_buf_addf(out, ",\"stream\":%" PRId64, t->stream);
	if (t->is_inferred)
		pf_buf_adds(out, ",\"inferred\":true");
	if (end_ns - start_ns < t->ns)
		pf_buf_addf(out,
			    ",\"profan cut\":{\"start_ns\":%" PRId64
			    ",\"dur_ns\":%" PRId64 "}",
			    t->start_ns, t->ns);
	pf_buf_addc(out, '}');
}

/* Times of tiles count from the trace's first event. */
static void put_tile(const struct pf_slice_writer *w,
		     const struct pf_path_item *t, int64_t first_ns,
		     int64_t start_ns, int64_t end_ns, struct pf_buf *out)
{
	pf_buf_clear(out);
	pf_buf_adds(out, "{\"ph\":\"X\",\"cat\":\"critical_path\",\"name\":");
	pf_jsonw_quote(out, t->name ? t->name : t->category,
		       strlen(t->name ? t->name : t->category), false);
	pf_buf_adds(out,
		    ",\"pid\":\"" TRACK "\",\"tid\":\"" TRACK "\",\"ts\":");
	slice_put_time(out, first_ns + start_ns - w->shift_ns, w->is_whole_us);
	pf_buf_adds(out, ",\"dur\":");
	slice_put_time(out, end_ns - start_ns, w->is_whole_us);
	put_window(out, t, start_ns, end_ns);
	pf_buf_addc(out, '}');
}

static int put_all(struct pf_slice_writer *w, const struct pf_path *path,
		   const struct pf_slice_args *args, struct pf_slice_result *r)
{
	const int64_t first_ns = path->window.traces[0].first_ns;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < path->item_count; i++) {
		const struct pf_path_item *t = &path->items[i];
		int64_t start = t->start_ns, end = t->start_ns + t->ns;

		if (end <= r->from_ns || start >= r->to_ns)
			continue;
		if (!args->whole) {
			start = start > r->from_ns ? start : r->from_ns;
			end = end < r->to_ns ? end : r->to_ns;
		}
		put_tile(w, t, first_ns, start, end, &text);
		rc = slice_raw(w, text.data, text.len);
		r->tile_count++;
	}
	return rc;
}

/* The tiles of the critical path that the slice holds. */
static int slice_path(struct pf_slice_writer *w, struct pf_db *db,
		      const struct pf_slice_args *args,
		      struct pf_slice_result *r)
{
	static const char name[] =
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\"" TRACK
		"\",\"args\":{\"name\":\"" TRACK "\"}}";
	const struct pf_path_args asked = { .window = args->window,
					    .list = true,
					    .is_bare = true };
	PF_AUTO(pf_path_release) struct pf_path path = { 0 };

	PF_TRY(pf_path_find(db, &asked, &path));
	PF_TRY(put_all(w, &path, args, r));
	if (r->tile_count)
		return slice_raw(w, name, sizeof(name) - 1);
	return 0;
}

#define LEXICON_BYTES (1u << 20)
#define GAP_MARGIN_NS 50000 /* at least, and a tenth of the gap */
#define COLUMNS_EVENT ((PF_COLBIT(PF_COL_INLINE + 1) - 1))
#define COLUMNS_SLOTS (((UINT64_C(1) << PF_SLOT_COUNT) - 1) << PF_COL_SLOT)

struct slice {
	struct pf_db *db;
	const struct pf_slice_args *args;
	struct pf_slice_result *result;
	struct pf_slice_writer writer;
	struct pf_slice_used used;
	struct pf_slice_flows flows;
	struct pf_track *tracks;
	bool *is_unwanted; /* by track: of another GPU than the chosen one */
	size_t track_count;
	struct lanes lanes;
	struct pf_map moved; /* where ranges with a number went */
	int64_t from_ns, to_ns, device;
};

/* ---- the window ---- */

struct gap_span {
	int64_t start_ns, end_ns;
};

struct gap_sink {
	struct pf_gap_sink sink; /* first */
	struct gap_span *items;  /* the longest, longest first */
	size_t count, max;
};

static bool is_longer(const struct gap_span *a, const struct gap_span *b)
{
	int64_t a_ns = a->end_ns - a->start_ns, b_ns = b->end_ns - b->start_ns;

	return a_ns > b_ns || (a_ns == b_ns && a->start_ns <= b->start_ns);
}

static void on_gap(struct pf_gap_sink *sink, const struct pf_gap *gap)
{
	const struct gap_span span = { gap->start_ns, gap->end_ns };
	struct gap_sink *s = (struct gap_sink *)sink;
	size_t at = s->count;

	while (at && !is_longer(&s->items[at - 1], &span))
		at--;
	if (at == s->max)
		return;
	if (s->count < s->max)
		s->count++;
	memmove(s->items + at + 1, s->items + at,
		(s->count - at - 1) * sizeof(*s->items));
	s->items[at] = span;
}

/* In the window of profan gaps.  Gaps are not explained: they are one piece each. */
static int find_gaps(struct pf_db *db, const struct pf_window *window,
		     struct gap_sink *s)
{
	struct pf_pageable none = { 0 };
	PF_AUTO(pf_names_freed) struct pf_names *names = pf_names_new(db);

	return names ? pf_gap_find(db, window, names, &none, INT64_MAX,
				   &s->sink)
		     : -1;
}

static int cut_to_gap(struct slice *s, struct pf_window *window)
{
	struct gap_sink g = { .sink = { .gap = on_gap },
			      .max = (size_t)s->args->gap };
	PF_OWN struct gap_span *items = pf_calloc(g.max + 1, sizeof(*items));
	int64_t ignored;

	g.items = items;
	PF_TRY(pf_window_to_steps(s->db, window, &ignored, NULL) ||
	       find_gaps(s->db, window, &g));
	if (g.count < g.max)
		return pf_fail(s->db->err, PF_EDATA,
			       "there is no gap %" PRId64 ": %zu in all",
			       s->args->gap, g.count);
	s->from_ns = items[g.max - 1].start_ns;
	s->to_ns = items[g.max - 1].end_ns;
	return 0;
}

static void add_margin(struct slice *s, const struct pf_window_trace *t)
{
	int64_t margin = s->args->margin_ns;
	int64_t length = pf_sat_sub(s->to_ns, s->from_ns);

	if (margin < 0 && s->args->gap)
		margin = length / 10 > GAP_MARGIN_NS ? length / 10
						     : GAP_MARGIN_NS;
	if (margin > 0) {
		s->from_ns = pf_sat_sub(s->from_ns, margin);
		pf_sat_sum(&s->to_ns, margin);
	}
	PF_AT_LEAST(s->from_ns, t->first_ns);
	/* what begins with the last event belongs to all of the trace */
	if (s->to_ns > t->last_ns)
		s->to_ns = pf_sat_add(t->last_ns, 1);
}

/* The first event, but whole microseconds stay whole, and all times fit. */
static int64_t find_shift(const struct pf_window_trace *t)
{
	int64_t shift, span;

	if (__builtin_sub_overflow(
		    t->first_ns, (t->first_ns % 1000 + 1000) % 1000, &shift) ||
	    __builtin_sub_overflow(t->last_ns, shift, &span))
		return 0;
	return shift;
}

static int set_window(struct slice *s, struct pf_window *window)
{
	const struct pf_window_trace *t = window->traces;

	if (window->count != 1)
		return pf_fail(
			s->db->err, PF_EUSAGE,
			"there are %zu traces; choose one with --rank or "
			"--trace",
			window->count);
	s->device = window->device;
	s->from_ns = t->from_ns;
	s->to_ns = t->to_ns;
	PF_TRY(s->args->gap && cut_to_gap(s, window) < 0);
	add_margin(s, t);
	if (s->from_ns >= s->to_ns)
		return pf_fail(s->db->err, PF_EDATA,
			       "no event is in the window");
	s->result->from_ns = pf_sat_sub(s->from_ns, t->first_ns);
	s->result->to_ns = pf_sat_sub(s->to_ns, t->first_ns);
	s->writer.shift_ns = find_shift(t);
	return 0;
}

/* ---- events ---- */

static uint64_t moved_key(uint32_t track, int64_t start_ns, int64_t number)
{
	const int64_t key[] = { start_ns, number, track };

	return XXH3_64bits(key, sizeof(key));
}

/* Where a range is written. */
static int place_range(struct slice *s, const struct pf_span *e,
		       struct pf_slice_place *at)
{
	int64_t number = -1;

	if (!s->args->whole) {
		PF_AT_LEAST(at->start_ns, s->from_ns);
		PF_AT_MOST(at->end_ns, s->to_ns);
	}
	at->is_cut = at->start_ns != e->start_ns ||
		     at->end_ns != pf_span_end(e->start_ns, e->dur_ns);
	s->result->cut_count += at->is_cut;
	at->lane = lanes_place(&s->lanes, at->start_ns, at->end_ns);
	if (at->lane < 0)
		return pf_fail(s->db->err, PF_ELIMIT,
			       "more than %d ranges of thread '%s' overlap",
			       LANES_MAX, at->track->tid);
	if (!at->lane)
		return 0;
	s->result->moved_count++;
	if (e->mask >> PF_SLOT_CORRELATION & 1)
		number = e->slot[PF_SLOT_CORRELATION];
	*pf_map_at(&s->moved, moved_key(at->track->id, e->start_ns, number)) =
		(uint64_t)at->lane;
	return 0;
}

static bool is_range(const struct slice *s, const struct pf_span *e)
{
	const struct pf_lexicon *d = s->writer.lexicon;
	const char *ph = e->type < d->type_count ? d->type[e->type].ph : NULL;

	return ph && (*ph == 'X' || *ph == 'B');
}

static int write_event(struct slice *s, const struct pf_track *t,
		       const struct pf_span *e)
{
	struct pf_slice_place at = { .track = t,
				     .start_ns = e->start_ns,
				     .end_ns = pf_span_end(e->start_ns,
							   e->dur_ns) };

	if (at.end_ns <= s->from_ns && e->start_ns < s->from_ns)
		return 0;
	if (is_range(s, e)) {
		PF_TRY(place_range(s, e, &at));
	} else if (e->start_ns < s->from_ns) {
		return 0;
	}
	s->result->event_count++;
	return slice_event(&s->writer, e, &at);
}

typedef int take_fn(struct slice *s, const struct pf_track *t,
		    const struct pf_span *e);

/* What overlaps the window. */
static int read_track(struct slice *s, const struct pf_track *t, take_fn *take)
{
	PF_AUTO(pf_cursor_freed)
	struct pf_cursor *c =
		pf_cursor_new(s->db, t->id, COLUMNS_EVENT | COLUMNS_SLOTS);
	struct pf_span e;
	int rc = 0;

	pf_cursor_overlap(c, s->from_ns, s->to_ns);
	while (!rc && (rc = pf_cursor_next(c, &e, s->db->err)) == 1 &&
	       e.start_ns < s->to_ns)
		rc = take(s, t, &e);
	return rc < 0 ? -1 : 0;
}

static int write_track(struct slice *s, const struct pf_track *t)
{
	int64_t before = s->result->event_count;

	lanes_clear(&s->lanes);
	PF_TRY(read_track(s, t, write_event));
	if (s->result->event_count == before)
		return 0;
	slice_use(&s->used, t);
	return slice_lanes(&s->writer, t, s->lanes.count);
}

/* ---- arrows ---- */

static bool is_flow_track(const struct pf_track *t)
{
	return !strcmp(t->class_name, "flow");
}

/* The lane of the range that a flow event is bound to. */
static int lane_of(struct slice *s, const struct pf_track *flow,
		   const struct pf_span *e)
{
	for (size_t i = 0; s->moved.count && i < s->track_count; i++) {
		const struct pf_track *t = &s->tracks[i];
		int64_t numbers[] = { e->slot[PF_SLOT_FLOW_ID], -1 };

		if (is_flow_track(t) || strcmp(t->pid, flow->pid) ||
		    strcmp(t->tid, flow->tid))
			continue;
		for (size_t k = 0; k < 2; k++) {
			uint64_t key =
				moved_key(t->id, e->start_ns, numbers[k]);
			uint64_t *lane = pf_map_at(&s->moved, key);

			if (*lane < LANES_MAX)
				return (int)*lane;
		}
	}
	return 0;
}

static int see_flow(struct slice *s, const struct pf_track *t,
		    const struct pf_span *e)
{
	return e->start_ns < s->from_ns
		       ? 0
		       : slice_flows_see(&s->flows, s->writer.lexicon, t->id,
					 e);
}

static int write_flow(struct slice *s, const struct pf_track *t,
		      const struct pf_span *e)
{
	struct pf_slice_place at = { .track = t,
				     .start_ns = e->start_ns,
				     .end_ns = e->start_ns };
	int rc;

	if (e->start_ns < s->from_ns)
		return 0;
	rc = slice_flows_take(&s->flows, t->id, e->seq);
	PF_TRY(rc < 0);
	if (!rc) {
		s->result->arrow_count++;
		return 0;
	}
	at.lane = lane_of(s, t, e);
	s->result->event_count++;
	return slice_event(&s->writer, e, &at);
}

/* The arrows of such a GPU. */
static bool is_unwanted_flow(const struct slice *s, const struct pf_track *flow)
{
	for (size_t i = 0; i < s->track_count; i++) {
		const struct pf_track *t = &s->tracks[i];

		if (s->is_unwanted[i] && !strcmp(t->pid, flow->pid) &&
		    !strcmp(t->tid, flow->tid))
			return true;
	}
	return false;
}

static int read_flows(struct slice *s, take_fn *take)
{
	for (size_t i = 0; i < s->track_count; i++)
		PF_TRY(is_flow_track(&s->tracks[i]) &&
		       !is_unwanted_flow(s, &s->tracks[i]) &&
		       read_track(s, &s->tracks[i], take));
	return 0;
}

/* Once to see which flow events have a partner, once to write them. */
static int write_flows(struct slice *s)
{
	s->flows = (struct pf_slice_flows){
		.err = s->db->err,
		.seen = pf_sorter_temp(sizeof(struct seen)),
		.kept = pf_sorter_temp(sizeof(struct kept)),
	};
	return read_flows(s, see_flow) || slice_flows_settle(&s->flows) ||
			       read_flows(s, write_flow)
		       ? -1
		       : 0;
}

/* ---- the whole ---- */

static int write_all(struct slice *s, int64_t trace_id)
{
	PF_TRY(slice_begin(&s->writer, s->db, trace_id, s->result));
	for (size_t i = 0; i < s->track_count; i++)
		PF_TRY(!is_flow_track(&s->tracks[i]) && !s->is_unwanted[i] &&
		       write_track(s, &s->tracks[i]) < 0);
	PF_TRY(write_flows(s) < 0 ||
	       (s->args->path &&
		slice_path(&s->writer, s->db, s->args, s->result) < 0) ||
	       slice_metadata(&s->writer, s->db, trace_id, &s->used) < 0);
	if (!s->result->event_count)
		return pf_fail(s->db->err, PF_EDATA,
			       "no event is in the window");
	return slice_end(&s->writer);
}

/* Is there a count above 0 of a key like this?  Or -1. */
static int has_fact(struct pf_db *db, int64_t trace_id, const char *key)
{
	PF_STMT(stmt) =
		pf_db_prepare(db,
			      "SELECT 1 FROM trace_fact WHERE trace_id = ?1"
			      " AND key GLOB ?2 AND value > 0",
			      db->err);

	sqlite3_bind_int64(stmt, 1, trace_id);
	sqlite3_bind_text(stmt, 2, key, -1, SQLITE_STATIC);
	return pf_db_step(db, stmt, db->err);
}

/* Which are of another GPU is asked before they get the file's numbers. */
static int load_tracks(struct slice *s, int64_t trace_id)
{
	PF_TRY(pf_tracks_load(s->db, trace_id, &s->tracks, &s->track_count,
			      s->db->err));
	s->is_unwanted = pf_calloc(s->track_count + 1, sizeof(bool));
	const char *device = PF_PRINTED(24, "%" PRId64, s->device);
	for (size_t i = 0; s->device >= 0 && i < s->track_count; i++)
		s->is_unwanted[i] = !strcmp(s->tracks[i].class_name, "gpu") &&
				    strcmp(s->tracks[i].pid, device) != 0;
	return slice_file_ids(s->db, trace_id, s->tracks, s->track_count);
}

static int set_up(struct slice *s, struct pf_window *window)
{
	int64_t trace_id = window->traces->trace_id;
	int has_fraction, is_untimed;

	PF_TRY(set_window(s, window) < 0);
	has_fraction = has_fact(s->db, trace_id, "ts_fraction_digits");
	is_untimed = has_fact(s->db, trace_id, "snap_untimed_*");
	PF_TRY(has_fraction < 0 || is_untimed < 0);
	s->writer.is_whole_us = !has_fraction;
	s->result->is_untimed = is_untimed;
	s->writer.lexicon = pf_lexicon_open(s->db->sql, LEXICON_BYTES);
	return pf_lexicon_load(s->writer.lexicon, s->db->err) < 0
		       ? -1
		       : load_tracks(s, trace_id);
}

static void tear_down(struct slice *s)
{
	if (s->writer.lexicon)
		pf_lexicon_close(s->writer.lexicon);
	pf_outfile_free(s->writer.file);
	pf_buf_release(&s->writer.buf);
	pf_buf_release(&s->writer.args);
	pf_sorter_free(s->flows.seen);
	pf_sorter_free(s->flows.kept);
	pf_intern_release(&s->used.pids);
	pf_intern_release(&s->used.tids);
	pf_map_release(&s->moved);
	lanes_release(&s->lanes);
	pf_tracks_free(s->tracks, s->track_count);
	free(s->is_unwanted);
}

int pf_slice(struct pf_db *db, const struct pf_slice_args *args, FILE *out,
	     struct pf_slice_result *result)
{
	struct pf_outrule rule = { .replace = args->force,
				   .option = "--force" };
	struct slice s = { .db = db,
			   .args = args,
			   .result = result,
			   .writer = { .err = db->err } };
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };
	int rc = -1;

	pf_db_protect(db, &rule);
	*result = (struct pf_slice_result){ 0 };
	PF_TRY(pf_window_resolve(db, &args->window, &window));
	if (!set_up(&s, &window))
		s.writer.file = pf_outfile_open(args->out, &rule, out, db->err);
	if (s.writer.file)
		rc = write_all(&s, window.traces->trace_id);
	tear_down(&s);
	return rc;
}
