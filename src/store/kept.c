/* SPDX-License-Identifier: MIT */
/*
 * An array that has been decoded is never written again, so that those who
 * were given it need no lock; one is held while columns are added.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/intern.h"
#include "base/mem.h"
#include "store/block_load.h"
#include "store/kept.h"

struct entry {
	struct pf_block block;
	uint64_t columns; /* decoded */
};

struct pf_kept {
	pthread_mutex_t lock;
	struct pf_map places; /* block id -> entries */
	struct pf_arena arrays;
	struct entry *entries;
	size_t count, cap;
	size_t used_bytes, max_bytes;
};

void pf_kept_start(struct pf_db *db, size_t max_bytes)
{
	struct pf_kept *k;

	if (db->kept)
		return;
	k = pf_calloc(1, sizeof(*k));
	pthread_mutex_init(&k->lock, NULL);
	pf_map_init(&k->places);
	k->max_bytes = max_bytes;
	db->kept = k;
}

static void drop_blocks(struct pf_kept *k)
{
	for (size_t i = 0; i < k->count; i++)
		pf_buf_release(&k->entries[i].block.inline_text);
	free(k->entries);
	k->entries = NULL;
	k->count = k->cap = 0;
	pf_arena_release(&k->arrays);
	pf_map_release(&k->places);
}

void pf_kept_stop(struct pf_db *db)
{
	struct pf_kept *k = db->kept;

	pthread_mutex_lock(&k->lock);
	drop_blocks(k);
	pf_map_init(&k->places);
	k->max_bytes = 0;
	pthread_mutex_unlock(&k->lock);
}

void pf_kept_free(struct pf_kept *k)
{
	if (!k)
		return;
	drop_blocks(k);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

bool pf_kept_take(struct pf_db *db, size_t bytes)
{
	struct pf_kept *k = db->kept;
	bool has_room;

	pthread_mutex_lock(&k->lock);
	has_room = k->used_bytes + bytes <= k->max_bytes;
	if (has_room)
		k->used_bytes += bytes;
	pthread_mutex_unlock(&k->lock);
	return has_room;
}

void pf_kept_give_back(struct pf_db *db, size_t bytes)
{
	pthread_mutex_lock(&db->kept->lock);
	db->kept->used_bytes -= bytes;
	pthread_mutex_unlock(&db->kept->lock);
}

static struct entry *find_entry(struct pf_kept *k, int64_t block_id,
				uint32_t count)
{
	uint64_t *place = pf_map_at(&k->places, (uint64_t)block_id);

	if (*place == UINT64_MAX) {
		*place = k->count;
		k->entries = pf_grow(k->entries, &k->cap, k->count + 1,
				     sizeof(*k->entries));
		k->entries[k->count++] =
			(struct entry){ .block = { .count = count,
						   .capacity = count } };
	}
	return &k->entries[*place];
}

static size_t width_of(int column)
{
	if (column >= PF_COL_INLINE && column < PF_COL_SLOT)
		return 0;
	return column >= PF_COL_NAME && column < PF_COL_INLINE ? 4 : 8;
}

static size_t bytes_of(uint64_t columns, uint32_t count)
{
	size_t sum = 0;

	for (int c = 0; c < PF_COL_COUNT; c++)
		if (columns >> c & 1)
			sum += width_of(c) * count;
	return sum;
}

static void set_array(struct pf_block *b, int column, void *array)
{
	switch (column) {
	case PF_COL_START:
		b->start_ns = array;
		break;
	case PF_COL_DUR:
		b->dur_ns = array;
		break;
	case PF_COL_ORDER:
		b->order = array;
		break;
	case PF_COL_NAME:
		b->name = array;
		break;
	case PF_COL_TYPE:
		b->type = array;
		break;
	case PF_COL_ARGS:
		b->args = array;
		break;
	case PF_COL_PARENT:
		b->parent = array;
		break;
	case PF_COL_MASK:
		b->mask = array;
		break;
	default:
		b->slot[column - PF_COL_SLOT] = array;
	}
}

static int add_columns(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		       struct entry *e, uint64_t columns, struct pf_err *err)
{
	struct pf_block *b = &e->block;

	for (int c = 0; c < PF_COL_COUNT; c++)
		if ((columns >> c & 1) && width_of(c))
			set_array(b, c,
				  pf_arena_alloc(&db->kept->arrays,
						 width_of(c) * b->capacity));
	if (pf_block_load(db, st, block_id, b->count, columns, b, err))
		return -1;
	e->columns |= columns;
	return 0;
}

/* With the lock. */
static int load(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		uint32_t count, uint64_t columns, struct pf_block *out,
		struct pf_err *err)
{
	struct pf_kept *k = db->kept;
	struct entry *e = find_entry(k, block_id, count);
	uint64_t missing = columns & ~e->columns;

	if (e->block.count != count)
		return 0;
	if (missing) {
		size_t bytes = sizeof(*e) + bytes_of(missing, count);

		if (k->used_bytes + bytes > k->max_bytes)
			return 0;
		if (add_columns(db, st, block_id, e, missing, err))
			return -1;
		k->used_bytes += bytes;
		if (missing & PF_COLBIT(PF_COL_INLINE))
			k->used_bytes += e->block.inline_text.len;
	}
	*out = e->block;
	for (int c = 0; c < PF_COL_COUNT; c++)
		if (!(columns >> c & 1) && width_of(c))
			set_array(out, c, NULL);
	return 1;
}

int pf_kept_load(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		 uint32_t count, uint64_t columns, struct pf_block *out,
		 struct pf_err *err)
{
	int rc;

	if (!db->kept)
		return 0;
	pthread_mutex_lock(&db->kept->lock);
	rc = load(db, st, block_id, count, columns, out, err);
	pthread_mutex_unlock(&db->kept->lock);
	return rc;
}
