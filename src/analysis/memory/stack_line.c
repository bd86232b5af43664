/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "analysis/memory/stack_line.h"
#include "store/query.h"
#include "show/rows.h"

static bool is_users(const char *file, size_t len)
{
	return len > 3 && !memcmp(file + len - 3, ".py", 3) &&
	       !memmem(file, len, "/torch/", 7) &&
	       (len < 6 || memcmp(file, "torch/", 6) != 0);
}

static int add_text(struct pf_stack_lines *l, int64_t id, struct pf_buf *out,
		    struct pf_err *err)
{
	const char *text;
	size_t len;
	int rc = pf_texts_get(&l->texts, PF_TEXT_NAME, id, &text, &len, err);

	if (rc == 1)
		pf_buf_add(out, text, len);
	return rc;
}

/* "file:line:function"; 1 if it is a line of the user's. */
static int put_frame(struct pf_stack_lines *l, struct pf_buf *out,
		     struct pf_err *err)
{
	int64_t line = pf_db_int_or(l->frames, 1, -1);
	bool is_ours;

	pf_buf_clear(out);
	if (add_text(l, sqlite3_column_int64(l->frames, 0), out, err) < 0)
		return -1;
	is_ours = out->len && is_users(out->data, out->len);
	if (line >= 0)
		pf_buf_addf(out, ":%" PRId64, line);
	pf_buf_addc(out, ':');
	if (add_text(l, sqlite3_column_int64(l->frames, 2), out, err) < 0)
		return -1;
	return is_ours;
}

static int find(struct pf_stack_lines *l, int64_t stack, struct pf_buf *line,
		struct pf_err *err)
{
	struct pf_buf at = { 0 };
	int rc, found = 0;

	sqlite3_bind_int64(l->frames, 1, stack);
	while (!found && (rc = pf_db_step(l->db, l->frames, err)) == 1) {
		found = put_frame(l, &at, err);
		if (found < 0)
			rc = -1;
		if (found < 0 || !(found || !line->len))
			continue;
		pf_buf_clear(line);
		pf_buf_add(line, at.data, at.len);
	}
	sqlite3_reset(l->frames);
	pf_buf_release(&at);
	return found < 0 || rc < 0 ? -1 : 0;
}

const char *pf_stack_line(struct pf_stack_lines *l, int64_t stack,
			  struct pf_err *err)
{
	struct pf_buf line = { 0 };
	uint64_t *known;
	const char *out = NULL;

	if (!l->has_known)
		pf_map_init(&l->known);
	l->has_known = true;
	l->texts.db = l->db;
	known = pf_map_at(&l->known, (uint64_t)stack);
	if (*known != UINT64_MAX)
		return (const char *)(uintptr_t)*known;
	if (!l->frames)
		l->frames = pf_named_prepare(l->db, "snap_frames", err);
	if (l->frames && !find(l, stack, &line, err))
		out = pf_arena_string(&l->arena,
				      line.data ? line.data : "(no line)");
	if (out)
		*known = (uintptr_t)out;
	pf_buf_release(&line);
	return out;
}

void pf_stack_lines_release(struct pf_stack_lines *l)
{
	sqlite3_finalize(l->frames);
	pf_texts_release(&l->texts);
	pf_arena_release(&l->arena);
	if (l->has_known)
		pf_map_release(&l->known);
	*l = (struct pf_stack_lines){ 0 };
}

/* ---- all of one ---- */

struct frame_row {
	int64_t depth, line;
	const char *function, *file;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct frame_row, member, key, title, kind)
static const struct pf_field frame_fields[] = {
	FIELD(depth, "depth", "Depth", PF_INT),
	FIELD(function, "function", "Function", PF_TEXT),
	FIELD(file, "file", "File", PF_PATH),
	FIELD(line, "line", "Line", PF_INT | PF_KNOWN),
};
#undef FIELD

static int take_text(struct pf_stack_lines *l, int column, const char **out,
		     struct pf_err *err)
{
	struct pf_buf text = { 0 };
	int rc = add_text(l, sqlite3_column_int64(l->frames, column), &text,
			  err);

	*out = text.len ? pf_arena_string(&l->arena, text.data) : NULL;
	pf_buf_release(&text);
	return rc < 0 ? -1 : 0;
}

static int add_frames(struct pf_stack_lines *l, int64_t stack,
		      struct pf_table *t, int64_t *count, struct pf_err *err)
{
	int rc;

	sqlite3_bind_int64(l->frames, 1, stack);
	while ((rc = pf_db_step(l->db, l->frames, err)) == 1) {
		struct frame_row row = { .depth = *count };

		row.line = pf_db_int_or(l->frames, 1, -1);
		if (!row.line)
			row.line = -1; /* as torch says that it knows none */
		if (take_text(l, 0, &row.file, err) ||
		    take_text(l, 2, &row.function, err)) {
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
static int add_held(struct pf_db *db, int64_t stack, struct pf_doc *doc,
		    struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(db, "snap_held", err);
	int rc = -1;

	if (st) {
		sqlite3_bind_int64(st, 1, stack);
		rc = pf_db_step(db, st, err);
	}
	if (rc == 1) {
		pf_doc_int(doc, "held_bytes", "Allocated of it at the end",
			   PF_BYTES, sqlite3_column_int64(st, 0));
		pf_doc_int(doc, "held_count", "  blocks", PF_COUNT,
			   sqlite3_column_int64(st, 1));
	}
	sqlite3_finalize(st);
	return rc < 0 ? -1 : 0;
}

int pf_stack_show(struct pf_db *db, int64_t stack, struct pf_doc *doc,
		  struct pf_err *err)
{
	struct pf_stack_lines l = { .db = db, .texts.db = db };
	struct pf_table *t;
	const char *line = pf_stack_line(&l, stack, err);
	int64_t count = 0;
	int rc = line ? 0 : -1;

	if (!rc)
		pf_doc_finding(doc, "Stack %" PRId64 " is %s", stack, line);
	t = pf_doc_fields(doc, "frames", "Lines, the innermost first",
			  PF_FIELDS(frame_fields));
	if (!rc)
		rc = add_frames(&l, stack, t, &count, err);
	if (!rc && !count)
		rc = pf_fail(err, PF_EUSAGE,
			     "there is no call stack %" PRId64
			     " in this database: 'profan memory' numbers them",
			     stack);
	if (!rc)
		rc = add_held(db, stack, doc, err);
	pf_stack_lines_release(&l);
	return rc;
}
