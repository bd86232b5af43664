/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "memory/stack_line.h"
#include "store/named.h"

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
