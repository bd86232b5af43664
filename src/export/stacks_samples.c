/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/mem.h"
#include "export/stack_tree.h"
#include "export/stacks_impl.h"
#include "store/query.h"
#include "store/texts.h"

#include <stdlib.h>

struct samples {
	struct pf_db *db;
	struct pf_stack_tree *tree;
	struct pf_texts texts;
	sqlite3_stmt *frames;
	uint32_t *path; /* frames of a stack, the innermost first */
	size_t path_cap;
};

static int add(struct samples *s, int64_t stack, int64_t value,
	       struct pf_err *err)
{
	uint32_t node = PF_STACK_ROOT;
	const char *text;
	size_t count = 0, len;
	int rc;

	sqlite3_bind_int64(s->frames, 1, stack);
	while ((rc = pf_db_step(s->db, s->frames, err)) == 1) {
		rc = pf_texts_get(&s->texts, PF_TEXT_NAME,
				  sqlite3_column_int64(s->frames, 2), &text,
				  &len, err);
		if (rc < 0)
			break;
		s->path = pf_grow(s->path, &s->path_cap, count + 1,
				  sizeof(*s->path));
		s->path[count++] = pf_stack_frame(s->tree, text, len);
	}
	sqlite3_reset(s->frames);
	while (rc >= 0 && count--) {
		node = pf_stack_child(s->tree, node, s->path[count], err);
		if (node == UINT32_MAX)
			return -1;
	}
	if (rc >= 0)
		pf_stack_add(s->tree, node, value);
	return rc < 0 ? -1 : 0;
}

static int add_all(struct samples *s, const struct pf_window *window,
		   struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(s->db, "stack_samples", err);
	int rc = -1, any = 0;

	while (st && (rc = pf_db_step(s->db, st, err)) == 1) {
		if (!pf_window_find(window, sqlite3_column_int64(st, 0)))
			continue;
		any = 1;
		if (add(s, sqlite3_column_int64(st, 1),
			sqlite3_column_int64(st, 2), err)) {
			rc = -1;
			break;
		}
	}
	sqlite3_finalize(st);
	return rc < 0 ? -1 : any;
}

int pf_stacks_samples(struct pf_db *db, const struct pf_window *window,
		      struct pf_stack_tree *tree, struct pf_err *err)
{
	struct samples s = { .db = db, .tree = tree, .texts = { .db = db } };
	int rc = -1;

	s.frames = pf_named_prepare(db, "snap_frames", err);
	if (s.frames)
		rc = add_all(&s, window, err);
	sqlite3_finalize(s.frames);
	pf_texts_release(&s.texts);
	free(s.path);
	return rc;
}

int pf_stacks_only_samples(struct pf_db *db, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(db, "stack_samples_only", err);
	int rc = st ? pf_db_step(db, st, err) : -1;

	if (rc == 1)
		rc = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return rc;
}
