/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "events/traces.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "base/search.h"
#include "events/names.h"
#include "formats/planes.h"
#include "store/argtext.h"
#include "store/kept.h"
#include "store/query.h"

int pf_window_range(const char **list, int64_t *first, int64_t *last)
{
	const char *from = *list;
	size_t len = strcspn(from, ",");

	if (!*from)
		return 0;
	*list = from + len + (from[len] == ',' && from[len + 1]);
	return pf_num_range(from, len, first, last) && *first >= 0 ? 1 : -1;
}

bool pf_window_names_rank(const char *list, int64_t rank)
{
	int64_t first, last;

	while (pf_window_range(&list, &first, &last) == 1)
		if (rank >= first && rank <= last)
			return true;
	return false;
}

struct row {
	struct pf_window_trace trace;
	int64_t tpu_count, cycle; /* 0: of none */
	bool is_beside, has_unread;
};

static void *read_traces(struct pf_db *db, const char *name)
{
#define F(member, key) PF_FIELD(struct row, member, key, "", PF_INT)
	static const struct pf_field fields[] = {
		F(trace.trace_id, "id"),
		F(trace.rank, "rank"),
		F(trace.first_ns, "first_ns"),
		F(trace.last_ns, "last_ns"),
		F(trace.is_empty, "is_empty"),
		F(trace.worker_id, "worker_id"),
		F(tpu_count, "tpu_count"),
		F(trace.is_side, "is_side"),
		F(is_beside, "is_beside"),
		F(cycle, "cycle"),
		F(trace.is_tpu, "is_tpu"),
		F(has_unread, "has_unread"),
		F(trace.is_pooled, "is_pooled"),
		F(trace.program_ns, "program_ns"),
	};
#undef F

	return pf_named_rows_new(db, name, PF_FIELDS(fields));
}

static bool is_wanted(const struct pf_window_args *args, const struct row *r)
{
	if (r->is_beside && !args->beside && args->trace < 0)
		return false;
	if (args->rank && (r->trace.rank < 0 ||
			   !pf_window_names_rank(args->rank, r->trace.rank)))
		return false;
	if (args->trace >= 0 && r->trace.trace_id != args->trace)
		return false;
	return !args->cycle || r->cycle == args->cycle;
}

static int refuse_traces(const struct pf_window_args *args, struct pf_err *err)
{
	if (args->cycle)
		return pf_fail(
			err, PF_EDATA,
			"there is no cycle %lld of such a trace; 'profan "
			"info' says which captures of a process there "
			"are, by the numbers in the names of their files",
			(long long)args->cycle);
	if (args->trace >= 0 && args->rank)
		return pf_fail(err, PF_EDATA,
			       "there is no trace %lld of rank %s",
			       (long long)args->trace, args->rank);
	if (args->trace >= 0)
		return pf_fail(err, PF_EDATA,
			       "there is no trace %lld; 'profan info' lists "
			       "them",
			       (long long)args->trace);
	if (args->rank)
		return pf_fail(err, PF_EDATA, "there is no trace of rank %s",
			       args->rank);
	return pf_fail(err, PF_EDATA, "there is no trace");
}

int pf_window_load(struct pf_db *db, const struct pf_window_args *args,
		   struct pf_window *w)
{
	/* every command asks for them several times */
	const struct pf_named_rows *rows = pf_memo_get(
		db, read_traces, pf_named_rows_free, "window_traces");
	struct pf_window_trace *t;
	size_t cap = 0;

	PF_TRY(!rows);
	w->is_tpu = true;
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *r = (struct row *)rows->rows + i;

		if (!is_wanted(args, r))
			continue;
		t = PF_ONE_MORE(w->traces, w->count, cap);
		*t = r->trace;
		t->from_ns = INT64_MIN;
		t->to_ns = INT64_MAX;
		pf_sat_sum(&w->tpu_count, r->tpu_count);
		w->has_unread |= r->has_unread;
		w->is_tpu &= r->trace.is_tpu || r->trace.is_side;
	}
	w->is_tpu &= w->tpu_count > 0;
	return w->count ? 0 : refuse_traces(args, db->err);
}

void pf_window_release(struct pf_window *w)
{
	free(w->traces);
	*w = (struct pf_window){ 0 };
}

const struct pf_window_trace *pf_window_find(const struct pf_window *w,
					     int64_t trace_id)
{
	const struct pf_window_trace *t = w->traces;
	size_t low = PF_SEARCH(i, w->count, t[i].trace_id < trace_id);

	return low < w->count && t[low].trace_id == trace_id ? &t[low] : NULL;
}

/* ---- lines of devices ---- */

struct pf_device_place pf_device_place(const char *process, const char *line)
{
	struct pf_plane plane = pf_plane_of(process, strlen(process));
	struct pf_line row = pf_line_of(plane.kind, line, strlen(line));
	struct pf_device_place out = { 0 };

	if (plane.kind == PF_PLANE_HOST)
		out.line = pf_is_pool(line, strlen(line)) ? PF_LINE_POOL
							  : PF_LINE_THREAD;
	if (!*line || plane.device < 0)
		return out;
	snprintf(out.pid, sizeof(out.pid), "%s%" PRId64,
		 plane.kind == PF_PLANE_TPU ? "TPU " : "", plane.device);
	if (row.kind == PF_ROW_STREAM)
		snprintf(out.tid, sizeof(out.tid), "%" PRId64, row.stream);
	out.line = row.kind == PF_ROW_STREAM               ? PF_LINE_STREAM
		   : row.kind != PF_ROW_AGAIN              ? PF_LINE_OTHER
		   : pf_line_has_steps(line, strlen(line)) ? PF_LINE_STEPS
							   : PF_LINE_DERIVED;
	return out;
}

enum pf_device_line pf_device_npu_line(const char *process, const char *line)
{
	enum pf_plane_kind plane = pf_npu_plane_of(process, strlen(process));

	if (plane == PF_PLANE_OTHER)
		return PF_LINE_HOST;
	switch (pf_line_of(plane, line, strlen(line)).kind) {
	case PF_ROW_TASKS:
		return PF_LINE_TASKS;
	case PF_ROW_COLLECTIVES:
		return PF_LINE_COLLECTIVES;
	case PF_ROW_AGAIN:
		return PF_LINE_DERIVED;
	default:
		return PF_LINE_CALLS;
	}
}

static bool has(const char *text, size_t len, const char *part)
{
	return memmem(text, len, part, strlen(part)) != NULL;
}

/* The text of a member; NULL: there is none. */
static const char *text_of(const char *args, size_t len, const char *key,
			   size_t *out_len)
{
	struct pf_argtext it = { args, len, 0 };
	struct pf_arg arg;

	while (pf_argtext_next(&it, &arg))
		if (arg.key_len == strlen(key) &&
		    !memcmp(arg.key, key, arg.key_len) && arg.value_len > 2 &&
		    *arg.value == '"') {
			*out_len = arg.value_len - 2;
			return arg.value + 1;
		}
	return NULL;
}

/* The number that a member says as text: "key":"123"; or none. */
static int64_t number_of(const char *args, size_t len, const char *key,
			 int64_t none)
{
	size_t text_len;
	const char *text = text_of(args, len, key, &text_len);
	int64_t value;

	return text && pf_step_of(text, text_len, &value) ? value : none;
}

static bool is_operator(const char *name, size_t name_len, const char *args,
			size_t args_len)
{
	size_t len;
	const char *whole;

	if (has(args, args_len, "\"tf_op\":") ||
	    has(args, args_len, "\"kernel_name\":") ||
	    has(args, args_len, "\"hlo_op\":"))
		return true;
	whole = text_of(args, args_len, "long_name", &len);
	return whole && pf_is_operator(whole, len, name, name_len);
}

static bool is_of_runtime(const char *args, size_t len)
{
	struct pf_argtext it = { args, len, 0 };
	struct pf_arg arg;

	while (pf_argtext_next(&it, &arg))
		if (pf_is_runtime_stat(arg.key, arg.key_len))
			return true;
	return false;
}

static enum pf_kind thread_kind(enum pf_device_line line, const char *name,
				size_t name_len, const char *args,
				size_t args_len)
{
	enum pf_kind kind = pf_host_kind(name, name_len);

	/* the JSON does not say what is allocated as numbers */
	if (kind == PF_KIND_MEMORY)
		return PF_KIND_HOST;
	if (kind != PF_KIND_HOST && kind != PF_KIND_ANNOTATION)
		return kind;
	return pf_range_kind(kind, pf_is_tf_data(name, name_len),
			     has(args, args_len, "\"step_num\":"),
			     has(args, args_len, "\"correlation_id\":"),
			     is_operator(name, name_len, args, args_len),
			     line == PF_LINE_POOL ||
				     is_of_runtime(args, args_len));
}

/* A task of an NPU's stream by its type; of none that is known: no work. */
static enum pf_kind task_kind(const char *args, size_t args_len)
{
	size_t len;
	const char *type = text_of(args, args_len, "Task Type", &len);

	if (!type)
		return PF_KIND_GPU_OTHER;
	if (pf_word_n(PF_WORD_NPU_WAIT, type, len))
		return PF_KIND_GPU_SYNC;
	if (pf_word_n(PF_WORD_NPU_COPY, type, len))
		return PF_KIND_MEMCPY;
	return pf_word_n(PF_WORD_NPU_KERNEL, type, len) ? PF_KIND_KERNEL
							: PF_KIND_GPU_OTHER;
}

static enum pf_kind kind_of(enum pf_device_line line, const char *name,
			    size_t name_len, const char *args, size_t args_len)
{
	switch (line) {
	case PF_LINE_OTHER:
		return PF_KIND_GPU_OTHER;
	case PF_LINE_THREAD:
	case PF_LINE_POOL:
		return thread_kind(line, name, name_len, args, args_len);
	case PF_LINE_STREAM: /* XLA writes Memset_details, too */
		return pf_work_kind(name, name_len,
				    has(args, args_len, "kernel_details"),
				    has(args, args_len, "memcpy_details"),
				    has(args, args_len, "emset_details"));
	case PF_LINE_TASKS:
		return task_kind(args, args_len);
	case PF_LINE_COLLECTIVES:
		return PF_KIND_KERNEL;
	case PF_LINE_CALLS:
		return PF_KIND_RUNTIME;
	default:
		return PF_KIND_GPU_ANNOTATION;
	}
}

struct pf_device_event pf_device_event(enum pf_device_line line,
				       const char *name, size_t name_len,
				       const char *args, size_t args_len)
{
	struct pf_device_event out = { .step = -1 };
	int64_t step;

	out.kind = kind_of(line, name, name_len, args, args_len);
	if (out.kind == PF_KIND_RUNTIME || out.kind == PF_KIND_DRIVER ||
	    pf_kind_is_gpu_work(out.kind))
		out.correlation =
			number_of(args, args_len, "correlation_id", 0);
	if (line == PF_LINE_THREAD || line == PF_LINE_POOL)
		out.step = number_of(args, args_len, "step_num", -1);
	out.is_sure = out.step >= 0 || pf_is_tf_data(name, name_len);
	if (line == PF_LINE_STEPS && pf_step_of(name, name_len, &step))
		out.step = step;
	return out;
}

/* ---- work of devices ---- */

#define TPU "TPU " /* of its tracks' processes: "TPU 0", "TPU 0 SparseCore 1" */

static bool is_of_tpu(const struct pf_track *track)
{
	return !strncmp(track->pid, TPU, sizeof(TPU) - 1);
}

enum pf_device_row pf_work_row(const struct pf_track *track, bool is_tpu)
{
	if (strcmp(track->class_name, "gpu") != 0)
		return PF_WORK_NONE;
	if (!is_tpu || !is_of_tpu(track))
		return PF_WORK_GPU;
	if (pf_line_has_programs(track->tid, strlen(track->tid)))
		return PF_WORK_PROGRAMS;
	switch (pf_line_of(PF_PLANE_TPU, track->tid, strlen(track->tid)).kind) {
	case PF_ROW_TPU:
		return PF_WORK_OPS;
	case PF_ROW_FLIGHT:
		return PF_WORK_FLIGHT;
	default:
		return PF_WORK_NONE;
	}
}

int64_t pf_work_device(const struct pf_track *track)
{
	const char *at = track->pid + sizeof(TPU) - 1;
	int64_t device = 0;
	size_t digits;

	if (!is_of_tpu(track))
		return pf_num_or_none(track->pid);
	digits = strspn(at, "0123456789");
	for (size_t i = 0; i < digits && digits <= 9; i++)
		device = device * 10 + (at[i] - '0');
	return digits && digits <= 9 ? device : -1;
}

int64_t pf_work_stream(const struct pf_track *track)
{
	return pf_num_or_none(track->tid);
}

/* ---- tracks ---- */

int pf_track_read(struct pf_db *db, const struct pf_track *t,
		  const struct pf_track_reader *reader, void *context)
{
	struct pf_cursor *c =
		pf_cursor_new(db, t->id,
			      PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
				      PF_COLBIT(PF_COL_NAME) |
				      PF_COLBIT(PF_COL_TYPE) | reader->columns);
	const int64_t id = (int64_t)((uint64_t)t->id << 32);
	const struct pf_block *b;
	uint32_t first;
	int rc = 1;

	if (reader->within)
		pf_cursor_overlap(c, reader->within->from_ns,
				  reader->within->to_ns);
	pf_cursor_ahead(c);
	while (rc == 1) {
		if (reader->wants_more && !reader->wants_more(context, t))
			rc = 0;
		else
			rc = pf_cursor_block(c, &b, &first, db->err);
		for (uint32_t i = 0; rc == 1 && i < b->count; i++)
			if (reader->event(context, b, i,
					  id | (int64_t)(first + i)) < 0)
				rc = -1;
	}
	pf_cursor_free(c);
	return rc;
}

int pf_host_tracks(struct pf_db *db, int64_t trace_id,
		   int (*track)(void *context, const struct pf_track *t),
		   void *context)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(db, trace_id, &tracks, &count, db->err);

	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			rc = track(context, &tracks[i]);
	pf_tracks_free(tracks, count);
	return rc;
}

/* ---- ranges of no thread ---- */

/* Has the trace any?  Most have none, and cost no more than this. */
static int has_lanes(struct pf_db *db, int64_t trace_id)
{
	PF_STMT(st) = pf_named_prepare(db, "async_lanes", db->err);

	sqlite3_bind_int64(st, 1, trace_id);
	return pf_db_step(db, st, db->err);
}

int pf_async_open(struct pf_async *a, struct pf_db *db, int64_t trace_id)
{
	int rc = has_lanes(db, trace_id);

	*a = (struct pf_async){ 0 };
	if (rc <= 0)
		return rc;
	/* a connection of its own, which has the tables of events */
	PF_TRY(pf_db_open(&a->db, db->path, true, db->err));
	a->st = pf_named_prepare(&a->db, "async_ranges", db->err);
	PF_TRY(!a->st);
	sqlite3_bind_int64(a->st, 1, trace_id);
	return 0;
}

int pf_async_next(struct pf_async *a, struct pf_async_range *out)
{
	int rc = 0;

	while (a->st && (rc = pf_db_step(&a->db, a->st, a->db.err)) == 1) {
		const char *name = pf_sqlite_text(a->st, 1);

		if (sqlite3_column_type(a->st, 3) == SQLITE_NULL) {
			a->half_count++;
			continue;
		}
		*out = (struct pf_async_range){
			.track_id = (uint32_t)sqlite3_column_int64(a->st, 0),
			.name = name ? name : "",
			.start_ns = sqlite3_column_int64(a->st, 2),
			.dur_ns = sqlite3_column_int64(a->st, 3),
		};
		return 1;
	}
	return rc;
}

void pf_async_close(struct pf_async *a)
{
	sqlite3_finalize(a->st);
	pf_db_close(&a->db);
	*a = (struct pf_async){ .half_count = a->half_count };
}
