/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "events/args.h"
#include "events/traces.h"
#include "export/slice_impl.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "store/query.h"

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
		   bool *is_done, size_t count, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(db, "npu_lines", err);
	const char *text[5];
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, trace_id);
	while ((rc = pf_db_step(db, st, err)) == 1) {
		for (int i = 0; i < 5; i++)
			text[i] = (const char *)sqlite3_column_text(st, i);
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
	sqlite3_finalize(st);
	return rc;
}

int pf_slice_file_ids(struct pf_db *db, int64_t trace_id,
		      struct pf_track *tracks, size_t count, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(db, "device_lines", err);
	bool *is_done = pf_calloc(count + 1, sizeof(*is_done));
	const char *text[4];
	int rc = -1;

	if (st)
		sqlite3_bind_int64(st, 1, trace_id);
	while (st && (rc = pf_db_step(db, st, err)) == 1) {
		struct pf_device_place place;
		size_t t = 0;

		for (int i = 0; i < 4; i++) {
			text[i] = (const char *)sqlite3_column_text(st, i);
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
		rc = npu_ids(db, trace_id, tracks, is_done, count, err);
	free(is_done);
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

void pf_slice_use(struct pf_slice_used *u, const struct pf_track *t)
{
	struct pf_buf key = { 0 };

	pf_intern_add(&u->pids, t->pid, strlen(t->pid));
	add_key(&key, t->pid, strlen(t->pid), t->tid, strlen(t->tid));
	pf_intern_add(&u->tids, key.data, key.len);
	pf_buf_release(&key);
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
	struct pf_buf pid = { 0 }, tid = { 0 }, key = { 0 }, name = { 0 };
	bool is_thread, out;

	pf_json_text(pf_json_get(event, "name"), &name);
	pf_json_text(pf_json_get(event, "pid"), &pid);
	pf_json_text(pf_json_get(event, "tid"), &tid);
	pf_buf_add(&pid, "", 0);
	pf_buf_add(&tid, "", 0);
	add_key(&key, pid.data, pid.len, tid.data, tid.len);
	is_thread = name.data && !strncmp(name.data, "thread_", 7);
	out = has(&u->pids, pid.data, pid.len) &&
	      (!is_thread || has(&u->tids, key.data, key.len));
	pf_buf_release(&pid);
	pf_buf_release(&tid);
	pf_buf_release(&key);
	pf_buf_release(&name);
	return out;
}

/* Without its time, which would be one of the other timeline. */
static void copy_members(struct pf_json event, struct pf_buf *out)
{
	struct pf_json rest = event, key, value;
	const char *separator = "{\"";
	struct pf_buf id = { 0 };

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
			pf_slice_put_id(out, id.len ? id.data : "");
		} else {
			pf_buf_add(out, value.p, value.len);
		}
		separator = ",\"";
	}
	pf_buf_release(&id);
	pf_buf_adds(out, out->len ? "}" : "{}");
}

int pf_slice_metadata(struct pf_slice_writer *w, struct pf_db *db,
		      int64_t trace_id, const struct pf_slice_used *u,
		      struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "slice_names", err);
	struct pf_buf copy = { 0 };
	int rc;

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, trace_id);
	while ((rc = pf_db_step(db, stmt, err)) == 1) {
		struct pf_json event = {
			(const char *)sqlite3_column_text(stmt, 0),
			(size_t)sqlite3_column_bytes(stmt, 0)
		};

		if (!event.p || !is_used(u, event))
			continue;
		copy_members(event, &copy);
		rc = pf_slice_raw(w, copy.data, copy.len, err);
		if (rc < 0)
			break;
	}
	sqlite3_finalize(stmt);
	pf_buf_release(&copy);
	return rc < 0 ? -1 : 0;
}

int pf_slice_lanes(struct pf_slice_writer *w, const struct pf_track *t,
		   size_t lanes, struct pf_err *err)
{
	struct pf_buf json = { 0 }, name = { 0 };
	int rc = 0;

	for (size_t i = 1; !rc && i < lanes; i++) {
		pf_buf_clear(&json);
		pf_buf_clear(&name);
		pf_buf_addf(&name, "%s (overlap %zu)",
			    t->thread_name ? t->thread_name : t->tid, i);
		pf_buf_adds(&json, "{\"ph\":\"M\",\"name\":\"thread_name\"");
		if (*t->pid) {
			pf_buf_adds(&json, ",\"pid\":");
			pf_slice_put_id(&json, t->pid);
		}
		pf_buf_adds(&json, ",\"tid\":");
		pf_slice_put_tid(&json, t->tid, (int)i);
		pf_buf_adds(&json, ",\"args\":{\"name\":");
		pf_jsonw_quote(&json, name.data, name.len, false);
		pf_buf_adds(&json, "}}");
		rc = pf_slice_raw(w, json.data, json.len, err);
	}
	pf_buf_release(&json);
	pf_buf_release(&name);
	return rc;
}
