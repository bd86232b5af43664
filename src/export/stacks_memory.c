/* SPDX-License-Identifier: MIT */
/*
 * Memory by call stack.  At the end of a snapshot: a line for each block, as
 * torch's _memory_viz.memory() writes them, with what rounding up takes as
 * "<gaps>", which is negative where a free block is smaller than what was asked
 * for when it was in use: so the lines of a block add up to its size.  At the peak: a line for each stack that holds any.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/sat.h"
#include "export/stack_tree.h"
#include "export/stacks_impl.h"
#include "analysis/memory/usage.h"
#include "store/query.h"
#include "store/texts.h"

struct writer {
	struct pf_db *db;
	const struct pf_stacks_args *args;
	struct pf_stacks_result *result;
	struct pf_texts texts;
	struct pf_stack_tree masked; /* frames as they are written */
	struct pf_map lines;         /* stack.id -> text in the arena */
	struct pf_arena arena;
	sqlite3_stmt *frames, *pasts; /* the latter by block */
	int64_t past_block;           /* of the row at hand; or INT64_MAX */
	struct pf_outfile *out;
	struct pf_buf line;
};

/* ---- stacks ---- */

static int add_frame(struct writer *w, struct pf_buf *out, struct pf_err *err)
{
	struct pf_buf text = { 0 };
	const char *file, *name;
	size_t len, name_len;
	uint32_t frame;
	int rc = pf_texts_get(&w->texts, PF_TEXT_NAME,
			      sqlite3_column_int64(w->frames, 0), &file, &len,
			      err);

	if (rc < 0)
		return -1;
	pf_buf_add(&text, file, len);
	pf_buf_addc(&text, '\0');
	file = pf_path_base(text.data);
	memmove(text.data, file, strlen(file) + 1);
	text.len = strlen(text.data);
	pf_buf_addf(&text, ":%" PRId64 ":", pf_db_int_or(w->frames, 1, 0));
	rc = pf_texts_get(&w->texts, PF_TEXT_NAME,
			  sqlite3_column_int64(w->frames, 2), &name, &name_len,
			  err);
	if (rc >= 0) {
		pf_buf_add(&text, name, name_len);
		frame = pf_stack_frame(&w->masked, text.data, text.len);
		pf_buf_clear(out);
		file = pf_intern_text(&w->masked.frames, frame, &len);
		pf_buf_add(out, file, len);
	}
	pf_buf_release(&text);
	return rc < 0 ? -1 : 0;
}

/* Frames come with the innermost first. */
static int gather(struct writer *w, int64_t stack, struct pf_buf *out,
		  struct pf_err *err)
{
	struct pf_buf frame = { 0 }, rest = { 0 };
	int rc;

	sqlite3_bind_int64(w->frames, 1, stack);
	while ((rc = pf_db_step(w->db, w->frames, err)) == 1) {
		if (add_frame(w, &frame, err)) {
			rc = -1;
			break;
		}
		pf_buf_clear(&rest);
		pf_buf_add(&rest, out->data, out->len);
		pf_buf_clear(out);
		pf_buf_add(out, frame.data, frame.len);
		if (rest.len)
			pf_buf_addc(out, ';');
		pf_buf_add(out, rest.data, rest.len);
	}
	sqlite3_reset(w->frames);
	pf_buf_release(&frame);
	pf_buf_release(&rest);
	return rc < 0 ? -1 : 0;
}

/* Of a stack.id; NULL on an error. */
static const char *stack_text(struct writer *w, int64_t stack,
			      struct pf_err *err)
{
	uint64_t *known = pf_map_at(&w->lines, (uint64_t)stack);
	struct pf_buf text = { 0 };

	if (*known == UINT64_MAX && !gather(w, stack, &text, err))
		*known = (uintptr_t)pf_arena_string(&w->arena,
						    text.data ? text.data : "");
	pf_buf_release(&text);
	return *known == UINT64_MAX ? NULL : (const char *)(uintptr_t)*known;
}

/* ---- lines ---- */

static int put(struct writer *w, int64_t bytes, struct pf_err *err)
{
	pf_buf_addf(&w->line, " %" PRId64 "\n", bytes);
	w->result->line_count++;
	pf_sat_sum(&w->result->total_ns, bytes);
	return pf_outfile_write(w->out, w->line.data, w->line.len, err);
}

static void begin_block(struct writer *w, sqlite3_stmt *st)
{
	const char *state = (const char *)sqlite3_column_text(st, 3);
	uint32_t frame = pf_stack_frame(&w->masked, state, strlen(state));
	const char *stream = (const char *)sqlite3_column_text(st, 2);
	size_t len;

	pf_buf_clear(&w->line);
	pf_buf_addf(&w->line, "stream_%s;", stream ? stream : "0");
	state = pf_intern_text(&w->masked.frames, frame, &len);
	pf_buf_add(&w->line, state, len);
	pf_buf_addc(&w->line, ';');
}

static int put_line(struct writer *w, sqlite3_stmt *st, int64_t stack,
		    int64_t bytes, struct pf_err *err)
{
	const char *text = stack ? stack_text(w, stack, err) : "<non-python>";

	if (!text)
		return -1;
	begin_block(w, st);
	pf_buf_adds(&w->line, text);
	return put(w, bytes, err);
}

static int next_past(struct writer *w, struct pf_err *err)
{
	int rc = pf_db_step(w->db, w->pasts, err);

	w->past_block = rc == 1 ? sqlite3_column_int64(w->pasts, 0) : INT64_MAX;
	return rc < 0 ? -1 : 0;
}

/* What it holds, what it held before, and what that leaves of its size. */
static int put_block(struct writer *w, sqlite3_stmt *st, struct pf_err *err)
{
	int64_t id = sqlite3_column_int64(st, 7);
	int64_t bytes = sqlite3_column_int64(st, 5);
	int64_t rest = pf_sat_sub(sqlite3_column_int64(st, 4), bytes);
	int rc = put_line(w, st, pf_db_int_or(st, 6, 0), bytes, err);

	while (!rc && w->past_block <= id) {
		bytes = sqlite3_column_int64(w->pasts, 1);
		if (w->past_block == id) {
			rest = pf_sat_sub(rest, bytes);
			rc = put_line(w, st, pf_db_int_or(w->pasts, 2, 0),
				      bytes, err);
		}
		if (!rc)
			rc = next_past(w, err);
	}
	if (rc || !rest)
		return rc;
	begin_block(w, st);
	pf_buf_adds(&w->line, "<gaps>");
	return put(w, rest, err);
}

static int at_end(struct writer *w, struct pf_err *err)
{
	struct pf_window_args args = w->args->window;
	struct pf_window window;
	sqlite3_stmt *st = NULL;
	int rc = -1;

	args.beside = true;
	if (pf_window_resolve(w->db, &args, &window, err))
		return -1;
	w->pasts = pf_named_prepare(w->db, "snap_pasts", err);
	if (w->pasts && !next_past(w, err))
		st = pf_named_prepare(w->db, "snap_blocks", err);
	while (st && (rc = pf_db_step(w->db, st, err)) == 1) {
		if (!pf_window_find(&window, sqlite3_column_int64(st, 0)) ||
		    (window.device >= 0 &&
		     window.device != sqlite3_column_int64(st, 1)))
			continue;
		if (put_block(w, st, err)) {
			rc = -1;
			break;
		}
	}
	sqlite3_finalize(st);
	sqlite3_finalize(w->pasts);
	pf_window_release(&window);
	return rc < 0 ? -1 : 0;
}

static int put_group(struct writer *w, const struct pf_usage_group *g,
		     struct pf_err *err)
{
	const char *text = g->site.stack >= 0
				   ? stack_text(w, g->site.stack, err)
			   : g->site.outer_op ? g->site.outer_op
					      : "<non-python>";

	if (!text)
		return -1;
	pf_buf_clear(&w->line);
	pf_buf_addf(&w->line, "%s;%s", g->at.device, text);
	return put(w, g->bytes, err);
}

static int at_peak(struct writer *w, struct pf_err *err)
{
	const struct pf_usage_args args = { .window = w->args->window };
	struct pf_usage u = { 0 };
	int rc = pf_usage_find(w->db, &args, NULL, &u, err);

	for (size_t i = 0; !rc && i < u.alive_count; i++)
		rc = put_group(w, &u.alive[i], err);
	pf_usage_release(&u);
	return rc;
}

static int write_all(struct writer *w, FILE *out, struct pf_err *err)
{
	struct pf_outrule rule = { .replace = w->args->force,
				   .option = "--force" };
	int rc;

	pf_db_protect(w->db, &rule);
	w->out = pf_outfile_open(w->args->out, &rule, out, err);
	if (!w->out)
		return -1;
	rc = w->args->at_peak ? at_peak(w, err) : at_end(w, err);
	if (!w->result->line_count) {
		w->result->nothing =
			w->args->at_peak
				? "there are no allocations"
				: "there are no blocks of a memory snapshot, "
				  "which torch.cuda.memory._dump_snapshot() "
				  "writes; --at peak takes allocations";
		w->result->hint =
			w->args->at_peak ? PF_HINT_MEMORY : PF_HINT_NONE;
	}
	if (!rc)
		rc = pf_outfile_commit(w->out, err);
	pf_outfile_free(w->out);
	return rc;
}

int pf_stacks_memory(struct pf_db *db, const struct pf_stacks_args *args,
		     FILE *out, struct pf_stacks_result *result,
		     struct pf_err *err)
{
	struct writer w = {
		.db = db, .args = args, .result = result, .texts = { .db = db }
	};
	int rc = -1;

	*result = (struct pf_stacks_result){ .has_python = true };
	pf_stack_tree_init(&w.masked);
	pf_map_init(&w.lines);
	w.frames = pf_named_prepare(db, "snap_frames", err);
	if (w.frames)
		rc = write_all(&w, out, err);
	sqlite3_finalize(w.frames);
	pf_texts_release(&w.texts);
	pf_stack_tree_release(&w.masked);
	pf_map_release(&w.lines);
	pf_arena_release(&w.arena);
	pf_buf_release(&w.line);
	return rc;
}
