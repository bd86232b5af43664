/* SPDX-License-Identifier: MIT */
/* Batches, made in one thread, become runs in the order of the file. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_impl.h"

#define BATCH_EVENTS   32768u
#define FRAMES_AT_ONCE 4096u

/* ---- batches ---- */

void pf_ingest_batcher_init(struct pf_ingest_batcher *b, struct pf_ingest *in)
{
	*b = (struct pf_ingest_batcher){ .in = in };
	b->sorter = pf_ingest_sorter_new();
	pthread_mutex_init(&b->lock, NULL);
}

void pf_ingest_batcher_release(struct pf_ingest_batcher *b)
{
	pthread_mutex_destroy(&b->lock);
	pf_ingest_sorter_free(b->sorter);
	free(b->type_ids);
}

int pf_ingest_batcher_settle(struct pf_ingest_batcher *b, struct pf_parsed *p,
			     struct pf_err *err)
{
	return pf_ingest_settle(b->in, p, &b->type_ids, &b->type_ids_cap, err);
}

int pf_ingest_batcher_put(struct pf_ingest_batcher *b, struct pf_parsed *p,
			  struct pf_err *err)
{
	int64_t first_order = b->in->event_count;

	pf_ingest_count(b->in, &p->batch);
	if (pf_ingest_batcher_settle(b, p, err))
		return -1;
	return pf_ingest_write_runs(b->in, b->sorter, p, b->type_ids,
				    first_order, &b->lock, err);
}

/* ---- stacks ---- */

int pf_ingest_stacks_begin(struct pf_ingest *in, struct pf_ingest_stacks *s,
			   struct pf_err *err)
{
	return pf_db_number(in->db, "SELECT coalesce(max(id), 0) FROM stack",
			    &s->stack_base, err) ||
			       pf_db_number(in->db,
					    "SELECT coalesce(max(id), 0)"
					    " FROM stack_frame",
					    &s->frame_base, err)
		       ? -1
		       : 0;
}

/* Frames [from, to), whose texts get their ids together. */
static int put_frames(const struct pf_ingest_stacks *s,
		      struct pf_ingest_batcher *b, struct pf_parsed *p,
		      sqlite3_stmt *st, uint32_t from, uint32_t to,
		      struct pf_err *err)
{
	uint32_t entries[FRAMES_AT_ONCE][2];
	struct pf_ingest_frame f;

	for (uint32_t i = from; i < to; i++) {
		s->frame(s->arg, i, &f);
		entries[i - from][0] =
			pf_dict_find(&p->names, f.file, f.file_len, 0);
		entries[i - from][1] =
			pf_dict_find(&p->names, f.name, f.name_len, 0);
	}
	if (pf_ingest_batcher_settle(b, p, err))
		return -1;
	for (uint32_t i = from; i < to; i++) {
		const struct pf_dict_entry *names = p->names.entries;

		s->frame(s->arg, i, &f);
		sqlite3_bind_int64(st, 1, s->frame_base + i + 1);
		sqlite3_bind_int64(st, 2, names[entries[i - from][0]].gid);
		if (f.line >= 0)
			sqlite3_bind_int64(st, 3, f.line);
		sqlite3_bind_int64(st, 4, names[entries[i - from][1]].gid);
		if (pf_db_put(b->in->db, st, err))
			return -1;
	}
	pf_parsed_begin(p);
	return 0;
}

static int put_all_frames(const struct pf_ingest_stacks *s,
			  struct pf_ingest_batcher *b, struct pf_parsed *p,
			  struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		b->in->db, "INSERT INTO stack_frame VALUES(?1,?2,?3,?4)", err);
	uint32_t count = s->frames->count;
	int rc = st ? 0 : -1;

	for (uint32_t i = 0; i < count && !rc; i += FRAMES_AT_ONCE)
		rc = put_frames(s, b, p, st, i,
				count - i < FRAMES_AT_ONCE ? count
							   : i + FRAMES_AT_ONCE,
				err);
	sqlite3_finalize(st);
	return rc;
}

int pf_ingest_stacks_put(const struct pf_ingest_stacks *s,
			 struct pf_ingest_batcher *b, struct pf_parsed *p,
			 struct pf_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if (put_all_frames(s, b, p, err))
		return -1;
	st = pf_db_prepare(b->in->db, "INSERT INTO stack VALUES(?1,?2,?3)",
			   err);
	rc = st ? 0 : -1;
	for (uint32_t i = 0; i < s->stacks->count && !rc; i++) {
		struct pf_snap_stack stack;
		size_t len;

		memcpy(&stack, pf_intern_text(s->stacks, i, &len),
		       sizeof(stack));
		sqlite3_bind_int64(st, 1, s->stack_base + i + 1);
		if (stack.parent)
			sqlite3_bind_int64(st, 2, s->stack_base + stack.parent);
		sqlite3_bind_int64(st, 3, s->frame_base + stack.frame + 1);
		rc = pf_db_put(b->in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

size_t pf_ingest_batch_events(const struct pf_ingest *in)
{
	size_t most = in->options->chunk_bytes;

	return !most || most > BATCH_EVENTS ? BATCH_EVENTS : most;
}

/* ---- readers ---- */

static int read_all(struct pf_ingest_batcher *b, struct pf_reader *reader,
		    struct pf_err *err)
{
	struct pf_ingest *in = b->in;
	int rc;

	do {
		rc = reader->fill(reader, pf_ingest_batch_events(in), err);
		if (rc >= 0 && pf_ingest_batcher_put(b, reader->parsed, err))
			rc = -1;
		if (in->options->progress)
			in->options->progress(in->bytes_before,
					      in->events_before +
						      in->event_count);
	} while (rc == 1);
	return rc;
}

static void note_facts(struct pf_ingest *in, struct pf_reader *reader)
{
	char key[128];
	int64_t value;

	if (!reader->fact)
		return;
	for (size_t i = 0; reader->fact(reader, i, key, sizeof(key), &value);
	     i++)
		pf_ingest_note_fact(in, key, value);
}

int pf_ingest_drain(struct pf_ingest *in, struct pf_reader *reader,
		    struct pf_err *err)
{
	struct pf_ingest_batcher batcher;
	int rc;

	pf_ingest_batcher_init(&batcher, in);
	rc = read_all(&batcher, reader, err);
	if (!rc)
		note_facts(in, reader);
	pf_ingest_batcher_release(&batcher);
	in->found_list = true;
	return rc;
}
