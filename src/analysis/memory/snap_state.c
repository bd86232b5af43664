/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/memory/snap_state.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/num.h"
#include "base/sat.h"
#include "store/query.h"

/* What a line says of who asked for memory: the more the later. */
enum line_rank {
	LINE_NONE,
	LINE_ALLOCATOR, /* its own, which all have */
	LINE_OTHER,
	LINE_OP,    /* of C++: an operator, */
	LINE_NODE,  /* or what it is the backward pass of */
	LINE_TORCH, /* of Python: torch's, any other */
	LINE_USER
};

static enum line_rank rank_of_file(const char *file)
{
	const size_t len = strlen(file);

	if (len < 3 || strcmp(file + len - 3, ".py") != 0)
		return LINE_NONE;
	return strstr(file, "/torch/") || !strncmp(file, "torch/", 6)
		       ? LINE_TORCH
		       : LINE_USER;
}

/* "at::_ops::mm::call(...)", "torch::autograd::generated::MmBackward0::apply" */
static enum line_rank rank_of_function(const char *name, size_t *from,
				       size_t *to)
{
	static const char op[] = "at::_ops::";
	static const char node[] = "torch::autograd::generated::";
	const char *end;

	*from = 0;
	if (!strncmp(name, op, sizeof(op) - 1)) {
		end = strstr(name + sizeof(op) - 1, "::");
		*to = end ? (size_t)(end - name) : strlen(name);
		return LINE_OP;
	}
	if (!strncmp(name, node, sizeof(node) - 1) &&
	    (end = strstr(name, "::apply("))) {
		*from = sizeof(node) - 1;
		*to = (size_t)(end - name);
		return LINE_NODE;
	}
	return strstr(name, "Allocator") ? LINE_ALLOCATOR : LINE_OTHER;
}

static int add_text(struct pf_stack_lines *l, int64_t id, struct pf_buf *out)
{
	const char *text;
	size_t len;
	int rc = pf_texts_get(&l->texts, PF_TEXT_NAME, id, &text, &len,
			      l->db->err);

	if (rc == 1)
		pf_buf_add(out, text, len);
	return rc;
}

/* "file:line:function", or of C++ what it does, and its rank. */
static int put_frame(struct pf_stack_lines *l, struct pf_buf *out,
		     enum line_rank *rank)
{
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };
	int64_t line = pf_db_int_or(l->frames, 1, -1);
	size_t from, to;

	pf_buf_clear(out);
	pf_buf_adds(out, "");
	pf_buf_adds(&name, "");
	PF_TRY(add_text(l, sqlite3_column_int64(l->frames, 0), out) < 0);
	PF_TRY(add_text(l, sqlite3_column_int64(l->frames, 2), &name) < 0);
	*rank = rank_of_file(out->data);
	if (!*rank)
		*rank = rank_of_function(name.data, &from, &to);
	if (*rank == LINE_OP || *rank == LINE_NODE) {
		pf_buf_clear(out);
		pf_buf_add(out, name.data + from, to - from);
		return 0;
	}
	if (line >= 0)
		pf_buf_addf(out, ":%" PRId64, line);
	pf_buf_addf(out, ":%s", name.data);
	return 0;
}

static int find(struct pf_stack_lines *l, int64_t stack, struct pf_buf *line)
{
	PF_AUTO(pf_buf_release) struct pf_buf at = { 0 };
	enum line_rank best = LINE_NONE, rank;
	int rc;

	sqlite3_bind_int64(l->frames, 1, stack);
	while (best < LINE_USER &&
	       (rc = pf_db_step(l->db, l->frames, l->db->err)) == 1) {
		if (put_frame(l, &at, &rank) < 0) {
			rc = -1;
			break;
		}
		if (rank <= best)
			continue;
		best = rank;
		pf_buf_clear(line);
		pf_buf_add(line, at.data, at.len);
	}
	sqlite3_reset(l->frames);
	return rc < 0 ? -1 : 0;
}

const char *pf_stack_line(struct pf_stack_lines *l, int64_t stack)
{
	PF_AUTO(pf_buf_release) struct pf_buf line = { 0 };
	uint64_t *known;
	const char *out = NULL;

	l->texts.db = l->db;
	known = pf_map_at(&l->known, (uint64_t)stack);
	if (*known != UINT64_MAX)
		return (const char *)(uintptr_t)*known;
	if (!l->frames)
		l->frames = pf_named_prepare(l->db, "snap_frames", l->db->err);
	if (l->frames && !find(l, stack, &line))
		out = pf_arena_string(&l->arena,
				      line.data ? line.data : "(no line)");
	if (out)
		*known = (uintptr_t)out;
	return out;
}

void pf_stack_lines_release(struct pf_stack_lines *l)
{
	sqlite3_finalize(l->frames);
	pf_texts_release(&l->texts);
	pf_arena_release(&l->arena);
	pf_map_release(&l->known);
	*l = (struct pf_stack_lines){ 0 };
}

/* ---- all of one ---- */

struct frame_row {
	int64_t depth, line;
	const char *function, *file;
};

#define FIELD(...) PF_FIELD(struct frame_row, __VA_ARGS__)
static const struct pf_field frame_fields[] = {
	FIELD(depth, "Depth", PF_INT),
	FIELD(function, "Function", PF_TEXT),
	FIELD(file, "File", PF_PATH),
	FIELD(line, "Line", PF_INT | PF_KNOWN),
};
#undef FIELD

static int take_text(struct pf_stack_lines *l, int column, const char **out)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int rc = add_text(l, sqlite3_column_int64(l->frames, column), &text);

	*out = text.len ? pf_arena_string(&l->arena, text.data) : NULL;
	return rc < 0 ? -1 : 0;
}

static int add_frames(struct pf_stack_lines *l, int64_t stack,
		      struct pf_table *t, int64_t *count)
{
	int rc;

	sqlite3_bind_int64(l->frames, 1, stack);
	while ((rc = pf_db_step(l->db, l->frames, l->db->err)) == 1) {
		struct frame_row row = { .depth = *count };

		row.line = pf_db_int_or(l->frames, 1, -1);
		if (!row.line)
			row.line = -1; /* as torch says that it knows none */
		if (take_text(l, 0, &row.file) ||
		    take_text(l, 2, &row.function)) {
			rc = -1;
			break;
		}
		PF_PUT(t, frame_fields, row);
		++*count;
	}
	sqlite3_reset(l->frames);
	return rc;
}

/* Blocks of it that are in use, as the snapshot has them. */
static int add_held(struct pf_db *db, int64_t stack, struct pf_doc *doc)
{
	PF_STMT(st) = pf_named_prepare(db, "snap_held", db->err);
	int rc;

	sqlite3_bind_int64(st, 1, stack);
	rc = pf_db_step(db, st, db->err);
	if (rc == 1) {
		pf_doc_int(doc, "held_bytes", "Allocated of it at the end",
			   PF_BYTES, sqlite3_column_int64(st, 0));
		pf_doc_int(doc, "held_count", "  blocks", PF_COUNT,
			   sqlite3_column_int64(st, 1));
	}
	return rc < 0 ? -1 : 0;
}

int pf_stack_show(struct pf_db *db, int64_t stack, struct pf_doc *doc)
{
	PF_AUTO(pf_stack_lines_release)
	struct pf_stack_lines l = { .db = db, .texts.db = db };
	struct pf_table *t;
	const char *line = pf_stack_line(&l, stack);
	int64_t count = 0;

	PF_TRY(!line);
	pf_doc_finding(doc, "Stack %" PRId64 " is %s", stack, line);
	t = pf_doc_fields(doc, "frames", "Lines, the innermost first",
			  PF_FIELDS(frame_fields));
	PF_TRY(add_frames(&l, stack, t, &count));
	if (!count)
		return pf_fail(db->err, PF_EUSAGE,
			       "there is no call stack %" PRId64
			       " in this database: 'profan memory' numbers "
			       "them",
			       stack);
	return add_held(db, stack, doc);
}

#define FIELD(...) PF_FIELD(struct pf_snap_now, __VA_ARGS__)
#define KEYS                                                                   \
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),                            \
		FIELD(device, "Number", PF_INT | PF_FULL)
#define FIGURES                                                                \
	FIELD(segment_count, "Segments", PF_COUNT),                            \
		FIELD(large_count, "Large", PF_COUNT | PF_FULL),               \
		FIELD(small_count, "Small", PF_COUNT | PF_FULL),               \
		FIELD(expandable_count, "Expandable", PF_COUNT | PF_FULL),     \
		FIELD(reserved, "reserved_bytes", "Reserved", PF_BYTES),       \
		FIELD(allocated, "allocated_bytes", "Allocated", PF_BYTES),    \
		FIELD(active, "active_bytes", "Active", PF_BYTES | PF_FULL),   \
		FIELD(rounding, "rounding_bytes", "Rounding",                  \
		      PF_BYTES | PF_FULL),                                     \
		FIELD(free_count, "Free blocks", PF_COUNT | PF_FULL),          \
		FIELD(free, "free_bytes", "Free", PF_BYTES | PF_FULL),         \
		FIELD(whole_count, "Free segments", PF_COUNT | PF_FULL),       \
		FIELD(whole, "whole_bytes", "Free segments", PF_BYTES),        \
		FIELD(split_count, "Split blocks", PF_COUNT | PF_FULL),        \
		FIELD(split, "split_bytes", "Free between", PF_BYTES),         \
		FIELD(split_largest, "split_largest_bytes", "Largest between", \
		      PF_BYTES | PF_FULL),                                     \
		FIELD(largest, "largest_bytes", "Largest", PF_BYTES),          \
		FIELD(free_share, "Free of reserved",                          \
		      PF_RATIO | PF_BAR | PF_FULL),                            \
		FIELD(external_share, "Not in one piece",                      \
		      PF_RATIO | PF_BAR | PF_FULL),                            \
		FIELD(viz_share, "Fragmentation", PF_RATIO | PF_FULL)

static const struct pf_field load_fields[] = { KEYS, FIGURES };
static const struct pf_field show_fields[] = {
	FIELD(name, "gpu", "Device", PF_TEXT), FIGURES, KEYS
};
#undef FIELD
#undef KEYS
#undef FIGURES

#define FIELD(...) PF_FIELD(struct pf_snap_past, __VA_ARGS__, NULL, PF_INT)
static const struct pf_field past_fields[] = {
	FIELD(trace_id),         FIELD(device),
	FIELD(entry_count),      FIELD(before, "before_bytes"),
	FIELD(before_count),     FIELD(early_count),
	FIELD(end, "end_bytes"), FIELD(in_use, "in_use_bytes"),
	FIELD(odd_count),        FIELD(late_count),
	FIELD(fits_reserved),    FIELD(is_untimed),
};
#undef FIELD

struct lost {
	int64_t trace_id, segment_count, entry_count;
};
#define FIELD(...) PF_FIELD(struct lost, __VA_ARGS__, NULL, PF_INT)
static const struct pf_field lost_fields[] = {
	FIELD(trace_id),
	FIELD(segment_count),
	FIELD(entry_count),
};
#undef FIELD

static bool is_wanted(const struct pf_window *w, int64_t trace_id,
		      int64_t device)
{
	return pf_window_find(w, trace_id) &&
	       (w->device < 0 || w->device == device);
}

static const char *name_of(struct pf_snap_state *s, const struct pf_window *w,
			   const struct pf_snap_now *n)
{
	const struct pf_window_trace *t = pf_window_find(w, n->trace_id);
	char text[96];

	if (w->count < 2)
		snprintf(text, sizeof(text), "GPU %" PRId64, n->device);
	else if (t->rank >= 0)
		snprintf(text, sizeof(text), "rank %" PRId64 " GPU %" PRId64,
			 t->rank, n->device);
	else
		snprintf(text, sizeof(text), "trace %" PRId64 " GPU %" PRId64,
			 n->trace_id, n->device);
	return pf_arena_string(&s->texts, text);
}

/* Of what device they were is not known either. */
static int find_lost(struct pf_db *db, const struct pf_window *window,
		     struct pf_snap_state *out)
{
	size_t count;
	struct lost *lost = pf_named_read(
		db, "snap_lost", PF_FIELDS(lost_fields), &out->texts, &count);

	PF_TRY(!lost);
	for (size_t i = 0; i < count; i++)
		if (pf_window_find(window, lost[i].trace_id)) {
			pf_sat_sum(&out->lost_segments, lost[i].segment_count);
			pf_sat_sum(&out->lost_entries, lost[i].entry_count);
		}
	return 0;
}

int pf_snap_state_find(struct pf_db *db, const struct pf_window *window,
		       struct pf_snap_state *out)
{
	struct pf_snap_now *now;
	size_t count, kept = 0;

	now = pf_named_read(db, "snap_now", PF_FIELDS(load_fields), &out->texts,
			    &count);
	PF_TRY(!now);
	out->now = now;
	for (size_t i = 0; i < count; i++)
		if (is_wanted(window, now[i].trace_id, now[i].device)) {
			now[kept] = now[i];
			now[kept].name = name_of(out, window, &now[i]);
			kept++;
		}
	out->now_count = kept;
	out->past = pf_named_read(db, "snap_history", PF_FIELDS(past_fields),
				  &out->texts, &count);
	PF_TRY(!out->past);
	kept = 0;
	for (size_t i = 0; i < count; i++)
		if (is_wanted(window, out->past[i].trace_id,
			      out->past[i].device))
			out->past[kept++] = out->past[i];
	out->past_count = kept;
	return find_lost(db, window, out);
}

void pf_snap_state_release(struct pf_snap_state *s)
{
	pf_arena_release(&s->texts);
	*s = (struct pf_snap_state){ 0 };
}

const struct pf_snap_now *pf_snap_fullest(const struct pf_snap_state *s)
{
	const struct pf_snap_now *best = NULL;

	for (size_t i = 0; i < s->now_count; i++)
		if (!best || s->now[i].reserved > best->reserved)
			best = &s->now[i];
	return best;
}

const struct pf_snap_now *pf_snap_now_of(const struct pf_snap_state *s,
					 int64_t trace_id, int64_t device)
{
	for (size_t i = 0; i < s->now_count; i++)
		if (s->now[i].trace_id == trace_id &&
		    s->now[i].device == device)
			return &s->now[i];
	return NULL;
}

void pf_snap_state_show(const struct pf_snap_state *s, struct pf_doc *doc)
{
	if (pf_snap_state_is(s))
		PF_ROWS(doc, "now", "When the snapshot was taken", show_fields,
			s->now, s->now_count);
}

void pf_snap_note_lost(int64_t segment_count, struct pf_doc *doc)
{
	if (segment_count)
		pf_doc_note(doc,
			    "%s segment%s could not be read: more was reserved "
			    "than is said, and more may have been allocated",
			    PF_SHOW_COUNT(segment_count),
			    pf_plural(segment_count));
}
