/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/slice_impl.h"
#include "base/json.h"
#include "base/num.h"
#include "base/sat.h"
#include "store/argtext.h"
#include "store/query.h"
#include "formats/event.h"

#define FLUSH_BYTES 65536

/* ---- pieces ---- */

/* What a reader makes of it that multiplies a double by 1000 and cuts. */
static bool is_read_right(const char *us, int64_t ns)
{
	double read = strtod(us, NULL) * 1000.0;

	return read < 9e18 && (int64_t)read == ns;
}

void pf_slice_put_time(struct pf_buf *out, int64_t ns, bool is_whole_us)
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

void pf_slice_put_id(struct pf_buf *out, const char *text)
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

void pf_slice_put_tid(struct pf_buf *out, const char *tid, int lane)
{
	struct pf_buf text = { 0 };

	if (!lane) {
		pf_slice_put_id(out, tid);
		return;
	}
	pf_buf_addf(&text, "%s overlap %d", tid, lane);
	pf_jsonw_quote(out, text.data, text.len, false);
	pf_buf_release(&text);
}

static int flush(struct pf_slice_writer *w, struct pf_err *err)
{
	int rc = pf_outfile_write(w->file, w->buf.data ? w->buf.data : "",
				  w->buf.len, err);

	pf_buf_clear(&w->buf);
	return rc;
}

static void begin_event(struct pf_slice_writer *w)
{
	pf_buf_adds(&w->buf, w->has_events ? ",\n" : "\n");
	w->has_events = true;
}

int pf_slice_raw(struct pf_slice_writer *w, const char *json, size_t len,
		 struct pf_err *err)
{
	begin_event(w);
	pf_buf_add(&w->buf, json, len);
	return w->buf.len < FLUSH_BYTES ? 0 : flush(w, err);
}

/* ---- arguments ---- */

/* The arguments as JSON in w->args; empty if there are none. */
static int build_args(struct pf_slice_writer *w, const struct pf_span *e,
		      struct pf_err *err)
{
	const char *text = e->inline_args;
	size_t len = e->inline_args_len;

	pf_buf_clear(&w->args);
	if (e->args == PF_ID_NONE)
		return 0;
	if (e->args != PF_ID_INLINE &&
	    pf_lexicon_args_text(w->lexicon, e->args, &text, &len, err) <= 0)
		return err->code ? -1
				 : pf_fail(err, PF_EDB,
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

/* ---- events ---- */

static int put_name(struct pf_slice_writer *w, const struct pf_span *e,
		    struct pf_err *err)
{
	const char *text = e->inline_name;
	uint32_t len = e->inline_name_len;

	if (e->name != PF_ID_INLINE &&
	    pf_lexicon_string(w->lexicon, e->name, &text, &len, err) <= 0)
		return err->code ? -1
				 : pf_fail(err, PF_EDB,
					   "name %" PRIu32 " is missing",
					   e->name);
	pf_buf_adds(&w->buf, ",\"name\":");
	pf_jsonw_quote(&w->buf, text, len, false);
	return 0;
}

int pf_slice_event(struct pf_slice_writer *w, const struct pf_span *e,
		   const struct pf_slice_place *at, struct pf_err *err)
{
	const struct pf_track *t = at->track;
	const struct pf_lexicon_type *type;
	bool is_range;

	if (e->type >= w->lexicon->type_count || !w->lexicon->type[e->type].ph)
		return pf_fail(err, PF_EDB, "event type %" PRIu32 " is missing",
			       e->type);
	type = &w->lexicon->type[e->type];
	is_range = *type->ph == 'X' || *type->ph == 'B';
	if (build_args(w, e, err) < 0)
		return -1;
	begin_event(w);
	pf_buf_addf(&w->buf, "{\"ph\":\"%c\"", is_range ? 'X' : *type->ph);
	if (*type->category) {
		pf_buf_adds(&w->buf, ",\"cat\":");
		pf_jsonw_quote(&w->buf, type->category, strlen(type->category),
			       false);
	}
	if (put_name(w, e, err) < 0)
		return -1;
	if (*t->pid) {
		pf_buf_adds(&w->buf, ",\"pid\":");
		pf_slice_put_id(&w->buf, t->pid);
	}
	if (*t->tid || at->lane) {
		pf_buf_adds(&w->buf, ",\"tid\":");
		pf_slice_put_tid(&w->buf, t->tid, at->lane);
	}
	pf_buf_adds(&w->buf, ",\"ts\":");
	pf_slice_put_time(&w->buf, pf_sat_sub(at->start_ns, w->shift_ns),
			  w->is_whole_us);
	if (is_range) {
		pf_buf_adds(&w->buf, ",\"dur\":");
		pf_slice_put_time(&w->buf, pf_sat_sub(at->end_ns, at->start_ns),
				  w->is_whole_us);
	}
	put_members(w);
	put_args(w, e, at);
	pf_buf_addc(&w->buf, '}');
	return w->buf.len < FLUSH_BYTES ? 0 : flush(w, err);
}

/* ---- begin and end ---- */

static void put_member(struct pf_slice_writer *w, sqlite3_stmt *stmt)
{
	const char *key = (const char *)sqlite3_column_text(stmt, 0);
	size_t key_len = (size_t)sqlite3_column_bytes(stmt, 0);
	const char *value = (const char *)sqlite3_column_text(stmt, 1);
	size_t len = (size_t)sqlite3_column_bytes(stmt, 1);

	if (!key || !value || !len)
		return;
	pf_jsonw_quote(&w->buf, key, key_len, false);
	pf_buf_addc(&w->buf, ':');
	pf_buf_add(&w->buf, value, len);
	pf_buf_adds(&w->buf, ",\n");
}

static int put_base(struct pf_slice_writer *w, struct pf_db *db,
		    int64_t trace_id, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_db_prepare(
		db, "SELECT base_ns FROM trace WHERE id = ?1", err);
	int rc;

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, trace_id);
	rc = pf_db_step(db, stmt, err);
	if (rc == 1 && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		pf_buf_addf(
			&w->buf, "\"baseTimeNanoseconds\":%" PRId64 ",\n",
			pf_sat_add(sqlite3_column_int64(stmt, 0), w->shift_ns));
	sqlite3_finalize(stmt);
	return rc < 0 ? -1 : 0;
}

int pf_slice_begin(struct pf_slice_writer *w, struct pf_db *db,
		   int64_t trace_id, const struct pf_slice_result *r,
		   struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "slice_meta", err);
	int rc;

	if (!stmt)
		return -1;
	pf_buf_adds(&w->buf, "{\n");
	sqlite3_bind_int64(stmt, 1, trace_id);
	while ((rc = pf_db_step(db, stmt, err)) == 1)
		put_member(w, stmt);
	sqlite3_finalize(stmt);
	if (rc < 0 || put_base(w, db, trace_id, err) < 0)
		return -1;
	pf_buf_addf(&w->buf,
		    "\"profan_slice\":{\"from_ns\":%" PRId64
		    ",\"to_ns\":%" PRId64 ",\"shift_ns\":%" PRId64 "},\n",
		    r->from_ns, r->to_ns, w->shift_ns);
	pf_buf_adds(&w->buf, "\"traceEvents\":[");
	return 0;
}

int pf_slice_end(struct pf_slice_writer *w, struct pf_err *err)
{
	pf_buf_adds(&w->buf, "\n]}\n");
	if (flush(w, err) < 0)
		return -1;
	return pf_outfile_commit(w->file, err);
}
