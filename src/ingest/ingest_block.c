/* SPDX-License-Identifier: MIT */
/*
 * Blocks are filled by one thread and encoded and inserted by another, in the
 * order in which they were put, through a ring of a few; without another by
 * the one that fills them.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "ingest/ingest_impl.h"

#define RING 3

/* Handing over costs more than inserting as many events as these. */
#define SMALL_EVENTS 64

struct pf_block_writer {
	struct pf_ingest *in;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct {
		struct pf_block block;
		uint32_t track_id, block_no;
	} ring[RING];
	uint64_t put, written; /* how many so far */
	bool closing, failed;
	bool after_small; /* the last one put was small */
	bool is_inline;   /* its own thread inserts the one that was put */
	struct pf_err err;
	sqlite3_stmt *put_block, *put_column;
	struct pf_buf bytes;
	uint32_t *names; /* of the block at hand */
	uint8_t *seen;   /* by string id */
	size_t seen_size;
};

/* ---- one block into the database ---- */

PF_ORDER(compare_ids, uint32_t, PF_UP_VALUE)

static void add_varint(struct pf_buf *out, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		pf_buf_addc(out, (char)(v | 0x80));
	pf_buf_addc(out, (char)v);
}

/* block.names: the distinct string ids, ascending, as varint differences. */
static void name_list(struct pf_block_writer *w, const struct pf_block *b)
{
	size_t count = 0;
	uint32_t last = 0;
	bool has_inline = false;

	for (uint32_t i = 0; i < b->count; i++) {
		uint32_t id = b->name[i];

		if (id >= w->seen_size)
			has_inline = true;
		else if (!w->seen[id]++)
			w->names[count++] = id;
		else
			w->seen[id] = 1;
	}
	pf_sort(w->names, count, sizeof(*w->names), compare_ids);
	for (size_t i = 0; i < count; i++) {
		add_varint(&w->bytes, w->names[i] - last);
		last = w->names[i];
		w->seen[last] = 0;
	}
	if (has_inline)
		add_varint(&w->bytes, PF_ID_INLINE - last);
}

static int insert_columns(struct pf_block_writer *w, const struct pf_block *b,
			  int64_t block_id, struct pf_err *err)
{
	sqlite3_stmt *st = w->put_column;

	for (int c = 0; c < PF_COL_COUNT; c++) {
		int rc;

		if ((c > PF_COL_INLINE && c < PF_COL_SLOT) ||
		    (c >= PF_COL_SLOT && !b->slot_count[c - PF_COL_SLOT]) ||
		    (c == PF_COL_INLINE && !b->inline_text.len))
			continue;
		pf_buf_clear(&w->bytes);
		pf_column_encode(b, (enum pf_column)c, &w->bytes);
		sqlite3_bind_int64(st, 1, block_id);
		sqlite3_bind_int64(st, 2, c);
		sqlite3_bind_blob(st, 3, w->bytes.data, (int)w->bytes.len,
				  SQLITE_STATIC);
		rc = pf_db_step(w->in->db, st, err);
		sqlite3_reset(st);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int insert_block(struct pf_block_writer *w, const struct pf_block *b,
			uint32_t track_id, uint32_t block_no,
			struct pf_err *err)
{
	int64_t id = (int64_t)track_id << 18 | block_no, end = INT64_MIN;
	sqlite3_stmt *st = w->put_block;
	int rc;

	for (uint32_t i = 0; i < b->count; i++)
		if (b->start_ns[i] + b->dur_ns[i] > end)
			end = b->start_ns[i] + b->dur_ns[i];
	pf_buf_clear(&w->bytes);
	pf_buf_reserve(&w->bytes, 1);
	name_list(w, b);
	sqlite3_bind_int64(st, 1, id);
	sqlite3_bind_int64(st, 2, track_id);
	sqlite3_bind_int64(st, 3, block_no);
	sqlite3_bind_int64(st, 4, b->count);
	sqlite3_bind_int64(st, 5, b->start_ns[0]);
	sqlite3_bind_int64(st, 6, b->start_ns[b->count - 1]);
	sqlite3_bind_int64(st, 7, end);
	sqlite3_bind_blob(st, 8, w->bytes.data, (int)w->bytes.len,
			  SQLITE_STATIC);
	rc = pf_db_step(w->in->db, st, err);
	sqlite3_reset(st);
	return rc < 0 ? -1 : insert_columns(w, b, id, err);
}

/* ---- the ring ---- */

/* The oldest that waits; the lock is held, and not while it is inserted. */
static void write_next(struct pf_block_writer *w)
{
	size_t at = w->written % RING;
	struct pf_err err = { 0 };

	pthread_mutex_unlock(&w->lock);
	if (!w->failed &&
	    insert_block(w, &w->ring[at].block, w->ring[at].track_id,
			 w->ring[at].block_no, &err))
		w->failed = true;
	pthread_mutex_lock(&w->lock);
	if (w->failed && !w->err.code)
		w->err = err;
	w->written++;
}

static void *write_blocks(void *arg)
{
	struct pf_block_writer *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		if (w->written == w->put || w->is_inline) {
			if (w->closing)
				break;
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		write_next(w);
		pthread_cond_signal(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct pf_block_writer *pf_block_writer_new(struct pf_ingest *in)
{
	struct pf_block_writer *w = pf_calloc(1, sizeof(*w));

	w->in = in;
	for (int i = 0; i < RING; i++)
		pf_block_init(&w->ring[i].block);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	w->names = pf_alloc(PF_BLOCK_EVENTS * sizeof(*w->names));
	w->seen_size = in->strings.count;
	w->seen = pf_calloc(w->seen_size + 1, 1);
	w->put_block = pf_db_prepare(
		in->db, "INSERT INTO block VALUES(?1,?2,?3,?4,?5,?6,?7,?8)",
		&w->err);
	w->put_column = pf_db_prepare(
		in->db, "INSERT INTO block_column VALUES(?1,?2,?3)", &w->err);
	if (!w->put_block || !w->put_column)
		w->failed = true;
	else if (!pf_ingest_is_pair(in))
		w->started = !pthread_create(&w->thread, NULL, write_blocks, w);
	return w;
}

struct pf_block *pf_block_writer_take(struct pf_block_writer *w)
{
	struct pf_block *b = NULL;

	pthread_mutex_lock(&w->lock);
	while (w->put - w->written == RING)
		pthread_cond_wait(&w->changed, &w->lock);
	if (!w->err.code)
		b = &w->ring[w->put % RING].block;
	pthread_mutex_unlock(&w->lock);
	if (b) {
		b->count = 0;
		memset(b->slot_count, 0, sizeof(b->slot_count));
		pf_buf_clear(&b->inline_text);
	}
	return b;
}

void pf_block_writer_put(struct pf_block_writer *w, struct pf_block *b,
			 uint32_t track_id, uint32_t block_no)
{
	bool small = b->count < SMALL_EVENTS; /* b: the one taken last */

	pthread_mutex_lock(&w->lock);
	while (small && w->after_small && w->written != w->put)
		pthread_cond_wait(&w->changed, &w->lock);
	w->is_inline = !w->started || (small && w->after_small);
	w->after_small = small;
	w->ring[w->put % RING].track_id = track_id;
	w->ring[w->put % RING].block_no = block_no;
	w->put++;
	if (w->is_inline)
		write_next(w);
	else
		pthread_cond_signal(&w->changed);
	w->is_inline = false;
	pthread_mutex_unlock(&w->lock);
}

int pf_block_writer_finish(struct pf_block_writer *w, struct pf_err *err)
{
	int rc;

	if (w->started) {
		pthread_mutex_lock(&w->lock);
		w->closing = true;
		pthread_cond_signal(&w->changed);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	rc = w->err.code ? -1 : 0;
	if (rc && !err->code)
		*err = w->err;
	for (int i = 0; i < RING; i++)
		pf_block_release(&w->ring[i].block);
	sqlite3_finalize(w->put_block);
	sqlite3_finalize(w->put_column);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	pf_buf_release(&w->bytes);
	free(w->names);
	free(w->seen);
	free(w);
	return rc;
}
